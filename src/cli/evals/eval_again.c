/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_again.h"

#include <errno.h>
#include <unistd.h>

#include "store/store.h"

void fh_eval_earlier_release(struct fh_eval_earlier *e)
{
	free(e->id);
	free(e->cwd);
	json_decref(e->argv);
	*e = (struct fh_eval_earlier){ 0 };
}

int fh_eval_earlier_find(const char *name, struct fh_eval_earlier *ret, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	struct fh_store_documents d = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, name, &e, err);
	if (r == 0)
		r = fh_store_documents(s, e.number, &d, err);
	const json_t *argv = json_object_get(d.options, "argv");
	const char *cwd = fh_json_str(d.options, "cwd", NULL);
	if (r == 0 && (e.kind != FH_STORE_EVAL || json_array_size(argv) == 0 || !cwd)) {
		r = fh_error_set(err, FH_E_ARGUMENT, "%s was not made by `fumehood eval` here: it cannot go on", e.id);
		if (e.kind == FH_STORE_JUDGE)
			fh_error_hint(err, "`fumehood judge` goes on by itself when it is called again with the same -o");
	} else if (r == 0) {
		*ret = (struct fh_eval_earlier){ .id = fh_xstrdup(e.id),
			                             .created_ms = e.created_ms,
			                             .argv = json_incref((json_t *)(uintptr_t)argv),
			                             .cwd = fh_xstrdup(cwd) };
	}
	fh_store_documents_release(&d);
	fh_store_eval_release(&e);
	return r;
}

int fh_eval_earlier_options(const struct fh_eval_earlier *e, const struct fh_eval_options *given,
                            struct fh_eval_options *ret, struct fh_error *err)
{
	size_t n = json_array_size(e->argv);
	fh_auto_free char **argv = fh_xcalloc(n + 1, sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)(uintptr_t)json_string_value(json_array_get(e->argv, i));
	if (chdir(e->cwd) < 0)
		return fh_error_sys(err, errno, "cannot go to %s, where %s was begun", e->cwd, e->id);
	int r = fh_eval_options_parse((int)n, argv, ret, err);
	if (r < 0)
		return fh_error_wrap(err, "the options of %s", e->id);
	ret->resume = ret->retry_errors = false;
	if (given->outputs.count) {
		fh_opt_list_release(&ret->outputs);
		for (size_t i = 0; i < given->outputs.count; i++)
			FH_PUSH(ret->outputs.items, ret->outputs.count, ret->outputs.capacity) = given->outputs.items[i];
	}
	if (given->jobs_given)
		ret->overrides.concurrency = given->overrides.concurrency;
	ret->table = ret->table && given->table;
	ret->progress_bar = ret->progress_bar && given->progress_bar;
	if (given->color_given) {
		ret->color = given->color;
		ret->color_given = true;
	}
	return 0;
}

int fh_eval_retry_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err)
{
	const struct fh_opt table[] = {
		{ .name = "failures",
		  .kind = FH_OPT_FLAG,
		  .target = &o->retry_failures,
		  .help = "Run again what failed an assertion, too, and not only what met an error." },
		{ .name = "output",
		  .letter = 'o',
		  .kind = FH_OPT_LIST,
		  .target = &o->outputs,
		  .argument = "FILE",
		  .help = "Write all results there, in place of the files that the eval was begun with; repeatable." },
		{ .name = "max-concurrency",
		  .letter = 'j',
		  .kind = FH_OPT_U64,
		  .target = &o->overrides.concurrency,
		  .given = &o->jobs_given,
		  .argument = "N",
		  .help = "Tests at a time." },
		{ .name = "table",
		  .kind = FH_OPT_FLAG,
		  .target = &o->table,
		  .help = "Show results as a table (the default).",
		  .flags = FH_OPT_NEGATABLE },
		{ .name = "progress-bar",
		  .kind = FH_OPT_FLAG,
		  .target = &o->progress_bar,
		  .help = "Show progress (the default).",
		  .flags = FH_OPT_NEGATABLE },
		{ 0 },
	};
	const struct fh_command_line line = {
		.program = "fumehood retry",
		.synopsis = "[OPTIONS] [ID]",
		.about =
		    "Runs again what met an error in an eval of the store (default: the latest), and what has changed since; "
		    "the rest is kept.",
		.details = "Examples:\n"
		           "  fumehood retry\n"
		           "  fumehood retry --failures eval-aBc -o results.json\n\n"
		           "Exit status: as `fumehood eval`.",
		.options = table
	};
	int r = fh_options_parse(&line, argc, argv, false, &o->args, &o->help, err);
	if (r >= 0 && o->help)
		fh_options_help(&line);
	if (r < 0 || o->help)
		return r;
	if (o->args.count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "retry takes one id");
	o->retry_errors = true;
	return 0;
}
