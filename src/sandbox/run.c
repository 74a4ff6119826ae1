/* SPDX-License-Identifier: MIT */
/* Implements fh_run: a program that has to be compiled is compiled first, in a sandbox of its own. */
#include "sandbox/run.h"

#include "base/error.h"
#include "sandbox/compile.h"

/* The options for the compiler's run: no input, no output callbacks, the same cancel flag. */
static struct fh_run_options compiler_options(const struct fh_run_options *o)
{
	struct fh_run_options c = FH_RUN_OPTIONS_INIT;
	if (o && FH_HAS(o, cancel))
		c.cancel = o->cancel;
	return c;
}

static void add_line(struct fh_result *r, const char *line)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	size_t n = r->stream_size[FH_STDERR];
	(void)fh_buf_add(&b, r->stream_data[FH_STDERR], n);
	if (n && b.p[n - 1] != '\n')
		(void)fh_buf_addc(&b, '\n');
	(void)fh_buf_adds(&b, line);
	(void)fh_buf_addc(&b, '\n');
	fh_result_set_stream(r, FH_STDERR, &b, r->stream_truncated[FH_STDERR]);
}

/* Reports which limits the compiler exceeded; these are its own, not the program's. */
static void explain_limits(struct fh_result *r)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		if (!(r->fired & (1u << i)))
			continue;
		fh_auto_free char *line = fh_xasprintf("the compiler reached its %s limit of %llu %s", fh_limit_table[i].name,
		                                       (unsigned long long)r->limits.value[i], fh_limit_table[i].unit);
		add_line(r, line);
	}
}

/* Makes the compiler's result that of the run, because the program never ran. */
static void become_compile_error(struct fh_result *r, const struct fh_plan *plan, const struct fh_run_options *o)
{
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	if (o)
		memcpy(&options, o, FH_MIN(o->size, sizeof(options)));
	explain_limits(r);
	if (r->signal) {
		fh_auto_free char *line = fh_xasprintf("the compiler was ended by signal %d", r->signal);
		add_line(r, line);
	}
	if (r->status == FH_STATUS_OK) {
		const char *why = r->out_count && r->outs[0].refused ? r->outs[0].refused : "?";
		fh_auto_free char *line = fh_xasprintf("the compiler left no program: %s", why);
		add_line(r, line);
	}
	for (int i = FH_STDOUT; i < FH_STREAM_COUNT_; i++) {
		if (options.on_output && r->stream_size[i])
			options.on_output(options.context, (enum fh_stream)i, r->stream_data[i], r->stream_size[i]);
		if (options.discard_output)
			r->stream_size[i] = 0;
	}
	for (size_t i = 0; i < r->out_count; i++) {
		free(r->outs[i].name);
		free(r->outs[i].refused);
		free(r->outs[i].data);
	}
	r->out_count = 0;
	r->status = FH_STATUS_COMPILE_ERROR;
	r->exit_code = -1;
	r->signal = 0;
	r->fired = 0;
	r->usage = (struct fh_usage){ 0 };
	r->limits = plan->limits;
}

static int run_compiled(struct fh_client *client, const struct fh_plan *plan, const struct fh_out_file *artifact,
                        const struct fh_run_options *o, struct fh_result **ret, struct fh_error *err)
{
	struct fh_plan with = *plan; /* a shallow copy */
	fh_auto_free struct fh_plan_file *files = fh_xcalloc(plan->file_count + 1, sizeof(*files));
	if (plan->file_count)
		memcpy(files, plan->files, plan->file_count * sizeof(*files));
	files[plan->file_count] = (struct fh_plan_file){
		.name = plan->artifact,
		.content = { artifact->data, artifact->size },
		.mode = 0755,
	};
	with.files = files;
	with.file_count = plan->file_count + 1;
	with.compile = NULL;
	with.artifact = NULL;
	return fh_execute(client, &with, o, ret, err);
}

int fh_run(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
           struct fh_result **ret, struct fh_error *err)
{
	if (!plan->compile)
		return fh_execute(client, plan, options, ret, err);
	if (!plan->artifact)
		return fh_error_set(err, FH_E_ARGUMENT, "a plan that compiles must name its artifact");
	struct fh_run_options compiler = compiler_options(options);
	struct fh_result *compiled;
	int r = fh_compile(client, plan, &compiler, &compiled, err);
	if (r < 0)
		return r;
	const struct fh_out_file *artifact = fh_compile_artifact(compiled, plan->artifact);
	if (compiled->status == FH_STATUS_ENGINE_ERROR) {
		compiled->limits = plan->limits;
		*ret = compiled;
		return 0;
	}
	if (compiled->status != FH_STATUS_OK || !artifact) {
		become_compile_error(compiled, plan, options);
		*ret = compiled;
		return 0;
	}
	r = run_compiled(client, plan, artifact, options, ret, err);
	fh_result_free(compiled);
	return r;
}

int fh_run_group(struct fh_client *client, const struct fh_group *group, const struct fh_run_options *options,
                 struct fh_result **ret_results, struct fh_error *err)
{
	return fh_execute_group(client, group, options, ret_results, err);
}
