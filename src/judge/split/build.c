/* SPDX-License-Identifier: MIT */
#include "judge/split/build.h"

#include <pthread.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "base/text/sha256.h"
#include "judge/common/verdict.h"
#include "judge/common/settings.h"
#include "proto/plan.h"
#include "sandbox/compile.h"

struct kept {
	char key[FH_SHA256_HEX];
	bool done;
	struct fh_artifact artifact;
};

struct fh_builds {
	const struct fh_judge_settings *settings;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct kept **items;
	size_t count, capacity, bytes;
};

void fh_artifact_release(struct fh_artifact *a)
{
	free(a->data);
	free(a->error);
	*a = (struct fh_artifact){ 0 };
}

struct fh_builds *fh_builds_new(const struct fh_judge_settings *settings)
{
	struct fh_builds *b = FH_NEW(struct fh_builds);
	b->settings = settings;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	return b;
}

void fh_builds_free(struct fh_builds *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->count; i++) {
		fh_artifact_release(&b->items[i]->artifact);
		free(b->items[i]);
	}
	free(b->items);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->changed);
	free(b);
}

/* ------------------------------------------------------------------------------------------------ one compilation */

/* Uses the linker if the host has it beside the compiler. In an image this is not checked. */
static void use_linker(struct fh_plan *plan, const char *linker)
{
	fh_auto_free char *folder = fh_path_dir(plan->interpreter);
	fh_auto_free char *name = fh_xasprintf("ld.%s", linker);
	fh_auto_free char *path = fh_path_join(folder, name);
	fh_auto_free char *option = fh_xasprintf("-fuse-ld=%s", linker);
	if (!plan->image && access(path, X_OK) == 0)
		fh_plan_add_string(&plan->compile->argv, option);
}

static int build_plan(const struct fh_builds *b, const struct fh_compilation *build, struct fh_plan **ret,
                      struct fh_error *err)
{
	struct fh_request request;
	fh_request_init(&request);
	request.language = build->language;
	request.code = (struct fh_bytes){ build->code.p, build->code.n };
	request.code_name = build->code_name;
	request.limits = b->settings->limits;
	request.flags = build->flags;
	request.interpreter = b->settings->interpreter;
	request.standard_library_only = !b->settings->packages;
	int r = fh_plan_build(&request, ret, err);
	if (r < 0)
		return r;
	if (build->linker)
		use_linker(*ret, build->linker);
	for (size_t i = 0; i < build->file_count; i++) {
		const struct fh_file *f = &build->files[i];
		fh_plan_add_file((*ret)->compile, f->name, f->content.data, f->content.size, f->mode);
	}
	return 0;
}

/* The compiler's first error message, from either stream. */
static char *reason_of(const struct fh_result *r, const char *mark)
{
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(64 << 10);
	for (int i = FH_STDERR; i >= FH_STDOUT && why.n == 0; i--) {
		struct fh_str said = { (const char *)r->stream_data[i], r->stream_size[i] };
		fh_verdict_add_line(&why, "", fh_verdict_telling_line(said, mark ? mark : "error"));
	}
	if (r->status != FH_STATUS_OK && r->status != FH_STATUS_RUNTIME_ERROR)
		fh_buf_addf(&why, "%sthe compiler reached its %s", why.n ? "; " : "", fh_status_name(r->status));
	if (why.n == 0)
		fh_buf_adds(&why, "the compiler left no program");
	return fh_verdict_finish(&why);
}

int fh_builds_run(struct fh_builds *b, struct fh_client *client, const struct fh_compilation *build,
                  struct fh_artifact *ret, struct fh_error *err)
{
	struct fh_plan *plan = NULL;
	struct fh_result *result = NULL;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	options.cancel = b->settings->cancel;
	int r = build_plan(b, build, &plan, err);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	r = fh_compile(client, plan, &options, &result, err);
	fh_plan_free(plan);
	if (r < 0)
		return r;
	if (result->status == FH_STATUS_ENGINE_ERROR) {
		*err = result->error;
		r = -(int)err->code;
	} else if (result->status == FH_STATUS_OK && result->out_count > 0 && !result->outs[0].refused) {
		*ret = (struct fh_artifact){ .data = result->outs[0].data, .size = result->outs[0].size };
		result->outs[0].data = NULL;
	} else {
		*ret = (struct fh_artifact){ .error = reason_of(result, build->mark) };
	}
	fh_result_free(result);
	return r;
}

/* ------------------------------------------------------------------------------------------------- kept artifacts */

static void make_key(const struct fh_compilation *build, char ret_key[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, fh_str(build->language));
	fh_sha256_add_field(&h, fh_str(build->code_name ? build->code_name : ""));
	fh_sha256_add_field(&h, build->code);
	for (const char *const *flag = build->flags; flag && *flag; flag++)
		fh_sha256_add_field(&h, fh_str(*flag));
	for (size_t i = 0; i < build->file_count; i++) {
		fh_sha256_add_field(&h, fh_str(build->files[i].name));
		fh_sha256_add_field(&h, (struct fh_str){ build->files[i].content.data, build->files[i].content.size });
	}
	fh_sha256_hex(&h, ret_key);
}

/* The following functions must be called with the lock held. */

static struct kept *find(const struct fh_builds *b, const char *key)
{
	for (size_t i = 0; i < b->count; i++)
		if (fh_streq(b->items[i]->key, key))
			return b->items[i];
	return NULL;
}

static void forget(struct fh_builds *b, size_t i)
{
	b->bytes -= b->items[i]->artifact.size;
	fh_artifact_release(&b->items[i]->artifact);
	free(b->items[i]);
	memmove(&b->items[i], &b->items[i + 1], (--b->count - i) * sizeof(*b->items));
}

static void forget_oldest(struct fh_builds *b)
{
	for (size_t i = 0; b->bytes > FH_BUILDS_KEPT_MAX && i < b->count;) {
		if (b->items[i]->done)
			forget(b, i);
		else
			i++;
	}
}

static void copy(struct fh_artifact *to, const struct fh_artifact *from)
{
	*to = (struct fh_artifact){ .size = from->size };
	if (from->data)
		to->data = fh_xmemdup(from->data, from->size);
	if (from->error)
		to->error = fh_xstrdup(from->error);
}

/* Returns true with a copy of a kept artifact, waiting if another thread is making it. False: the caller must make it,
 * and others will wait. */
static bool find_done(struct fh_builds *b, const char *key, struct fh_artifact *ret)
{
	struct kept *k;
	while ((k = find(b, key)) && !k->done)
		pthread_cond_wait(&b->changed, &b->lock);
	if (k) {
		copy(ret, &k->artifact);
		return true;
	}
	k = FH_NEW(struct kept);
	memcpy(k->key, key, FH_SHA256_HEX);
	FH_PUSH(b->items, b->count, b->capacity) = k;
	return false;
}

static void finish(struct fh_builds *b, const char *key, const struct fh_artifact *made)
{
	struct kept *k = find(b, key);
	if (made) {
		copy(&k->artifact, made);
		k->done = true;
		b->bytes += made->size;
		forget_oldest(b);
	} else {
		size_t i = 0;
		while (b->items[i] != k)
			i++;
		forget(b, i);
	}
	pthread_cond_broadcast(&b->changed);
}

int fh_builds_keep(struct fh_builds *b, struct fh_client *client, const struct fh_compilation *build,
                   struct fh_artifact *ret, struct fh_error *err)
{
	char key[FH_SHA256_HEX];
	struct fh_artifact made = { 0 };
	make_key(build, key);
	pthread_mutex_lock(&b->lock);
	bool done = find_done(b, key, ret);
	pthread_mutex_unlock(&b->lock);
	if (done)
		return 0;
	int r = fh_builds_run(b, client, build, &made, err);
	pthread_mutex_lock(&b->lock);
	finish(b, key, r >= 0 ? &made : NULL);
	pthread_mutex_unlock(&b->lock);
	if (r >= 0)
		*ret = made;
	return r;
}
