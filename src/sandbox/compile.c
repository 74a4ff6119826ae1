/* SPDX-License-Identifier: MIT */
#include "sandbox/compile.h"

#include "sandbox/connection/client.h"
#include "sandbox/planning/compile_cache.h"
#include "sandbox/prepare.h"
#include "sandbox/connection/result.h"
#include "sandbox/run.h"
#include "sandbox/planning/share.h"

const struct fh_out_file *fh_compile_artifact(const struct fh_result *r, const char *name)
{
	for (size_t i = 0; i < r->out_count; i++)
		if (fh_streq(r->outs[i].name, name) && !r->outs[i].refused)
			return &r->outs[i];
	return NULL;
}

static struct fh_result *kept_result(const struct fh_plan *plan, struct fh_buf *bytes)
{
	struct fh_result *r = fh_result_new(plan->compile);
	r->status = FH_STATUS_OK;
	r->exit_code = 0;
	r->outs = fh_xcalloc(1, sizeof(*r->outs));
	r->out_count = 1;
	r->outs[0].name = fh_xstrdup(plan->artifact);
	r->outs[0].data = (uint8_t *)fh_buf_take(bytes, &r->outs[0].size);
	return r;
}

/* Stores the artifact, unless the compiler or its inputs were replaced during the compilation. */
static void keep(const struct fh_plan *plan, const char *key, const struct fh_out_file *made)
{
	char now[FH_SHA256_HEX];
	if (fh_compile_key(plan->compile, plan->artifact, now) && fh_streq(now, key))
		fh_compile_cache_store(key, made->data, made->size);
}

/* Runs the compiler; once more with a larger wall time limit where it came to that limit while it computed, because the
 * machine gave it a small share of a processor. */
static int execute(struct fh_client *client, const struct fh_plan *compile, const struct fh_run_options *options,
                   struct fh_result **ret, struct fh_error *err)
{
	struct fh_result *first;
	int r = fh_execute(client, compile, options, &first, err);
	if (r < 0)
		return r;
	uint64_t computed = first->usage.cpu_user_us + first->usage.cpu_sys_us;
	unsigned factor = 1;
	if (first->status == FH_STATUS_WALL_TIME_LIMIT)
		factor = fh_share_wall_factor(&compile->limits, computed, fh_share_measure());
	if (factor == 1) {
		*ret = first;
		return 0;
	}
	struct fh_plan *longer = fh_plan_copy(compile);
	longer->limits.value[FH_LIMIT_WALL_TIME] *= factor;
	r = fh_execute(client, longer, options, ret, err);
	fh_result_free(first);
	fh_plan_free(longer);
	return r;
}

int fh_compile(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
               struct fh_result **ret, struct fh_error *err)
{
	char key[FH_SHA256_HEX];
	fh_auto_buf struct fh_buf kept = FH_BUF_INIT(FH_COMPILE_ENTRY_MAX);
	/* An engine on another machine has other compilers. */
	bool cacheable = !client->placement->tool && fh_compile_key(plan->compile, plan->artifact, key);
	if (cacheable && fh_compile_cache_load(key, &kept) == 0) {
		*ret = kept_result(plan, &kept);
		return 0;
	}
	struct fh_result *result;
	int r = client->placement->tool ? 0 : fh_prepare(client, plan->compile, options, err);
	if (r == 0)
		r = execute(client, plan->compile, options, &result, err);
	if (r < 0)
		return r;
	const struct fh_out_file *made = fh_compile_artifact(result, plan->artifact);
	if (cacheable && result->status == FH_STATUS_OK && made)
		keep(plan, key, made);
	*ret = result;
	return 0;
}
