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
		ret->overrides.concurrency = ret->jobs = given->jobs;
	ret->table = ret->table && given->table;
	ret->progress_bar = ret->progress_bar && given->progress_bar;
	if (given->color_given) {
		ret->color = given->color;
		ret->color_given = true;
	}
	return 0;
}
