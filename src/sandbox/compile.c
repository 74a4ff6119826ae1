/* SPDX-License-Identifier: MIT */
#include "sandbox/compile.h"

#include "sandbox/connection/client.h"
#include "sandbox/planning/compile_cache.h"
#include "sandbox/prepare.h"
#include "sandbox/connection/result.h"
#include "sandbox/run.h"

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
		r = fh_execute(client, plan->compile, options, &result, err);
	if (r < 0)
		return r;
	const struct fh_out_file *made = fh_compile_artifact(result, plan->artifact);
	if (cacheable && result->status == FH_STATUS_OK && made)
		keep(plan, key, made);
	*ret = result;
	return 0;
}
