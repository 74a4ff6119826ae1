/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"

static bool as_json, ids_only;
static uint64_t limit;
static const char *kind, *text, *tag;
static const struct fh_opt options[] = {
	{ .name = "limit",
	  .letter = 'n',
	  .kind = FH_OPT_U64,
	  .target = &limit,
	  .argument = "N",
	  .help = "List the newest N; 0: all.",
	  .default_text = "25" },
	{ .name = "kind", .kind = FH_OPT_STRING, .target = &kind, .argument = "KIND", .help = "Only eval, judge or run." },
	{ .name = "filter",
	  .kind = FH_OPT_STRING,
	  .target = &text,
	  .argument = "TEXT",
	  .help = "Only those with this text in id or description." },
	{ .name = "tag",
	  .kind = FH_OPT_STRING,
	  .target = &tag,
	  .argument = "NAME[=VALUE]",
	  .help = "Only those with this tag." },
	{ .name = "ids-only", .kind = FH_OPT_FLAG, .target = &ids_only, .help = "Print only ids, one on each line." },
	{ .name = "json",
	  .kind = FH_OPT_FLAG,
	  .target = &as_json,
	  .help = "Print one JSON array, an object for each eval." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood list",
	.synopsis = "[OPTIONS] [evals]",
	.about = "Lists the evals, judgements and runs of the store, the newest first.",
	.details = "Exit status: 0; 1 when the store cannot be read; 2 when the command line is wrong.",
	.options = options,
};

static void add_row(struct fh_table *t, const struct fh_store_eval *e)
{
	char buf[64], when[32];
	uint64_t done = e->passed + e->failed + e->errors;
	fh_table_text(t, FH_STYLE_NONE, e->id);
	fh_table_text(t, FH_STYLE_NONE, fh_store_when(e->created_ms, when));
	snprintf(buf, sizeof(buf), e->state == FH_STORE_COMPLETE ? "%s" : "%s %llu/%llu", fh_store_state_name(e->state),
	         (unsigned long long)done, (unsigned long long)e->total);
	fh_table_text(t, e->state == FH_STORE_COMPLETE ? FH_STYLE_NONE : FH_STYLE_WARN, buf);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)e->passed);
	fh_table_text(t, FH_STYLE_NONE, buf);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)e->failed);
	fh_table_text(t, e->failed ? FH_STYLE_BAD : FH_STYLE_NONE, buf);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)e->errors);
	fh_table_text(t, e->errors ? FH_STYLE_WARN : FH_STYLE_NONE, buf);
	fh_table_text(t, FH_STYLE_NONE, e->description);
	fh_table_row_end(t);
}

static void print_table(const struct fh_store_eval_list *l)
{
	static const char *const heads[] = { "ID", "BEGUN", "STATE", "PASSED", "FAILED", "ERRORS", "DESCRIPTION" };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_table *t = fh_table_headed(FH_STYLE_BOLD, heads, FH_ARRAY_SIZE(heads));
	for (size_t i = 0; i < l->count; i++)
		add_row(t, &l->items[i]);
	fh_table_print(t, &out, fh_term_list_width(STDOUT_FILENO), fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO));
	fh_table_free(t);
	if (l->total > l->count)
		fh_buf_addf(&out, "%llu more; -n 0 lists all\n", (unsigned long long)(l->total - l->count));
	fh_print(&out);
}

static void print_all(const struct fh_store_eval_list *l)
{
	fh_auto_json json_t *array = json_array();
	if (!as_json && !ids_only && l->count > 0)
		print_table(l);
	else if (!as_json && !ids_only)
		fh_printf(kind || text || tag
		              ? "The store has no such entries; `fumehood list` without options shows all.\n"
		              : "Nothing is stored yet: `fumehood eval`, `fumehood judge` and `fumehood run --keep` "
		                "keep what they do.\n");
	for (size_t i = 0; i < l->count; i++) {
		if (ids_only)
			fh_print_line(l->items[i].id);
		else
			json_array_append_new(array, fh_store_eval_json(&l->items[i]));
	}
	if (as_json && !ids_only)
		fh_store_print_json(array);
}

int fh_store_command_list(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	enum fh_store_kind k;
	size_t wrong = args.count > 0 && fh_streq(args.items[0], "evals"); /* accepts promptfoo's form: list evals */
	if (r == 0 && !help && args.count > wrong) {
		r = fh_error_set(&err, FH_E_ARGUMENT, "list takes no argument %s", args.items[wrong]);
		fh_error_hint(&err, "--kind judge lists judgements, --filter TEXT what has a text in its id or description");
	}
	if (r == 0 && !help && kind && !fh_store_kind_of_name(kind, &k))
		r = fh_error_set(&err, FH_E_ARGUMENT, "--kind %s: not one of eval, judge and run", kind);
	fh_opt_list_release(&args);
	if (r < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	if (help) {
		fh_options_help(&command_line, help);
		return FH_EXIT_OK;
	}
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval_list list = { 0 };
	r = fh_store_open(NULL, true, &s, &err);
	if (r == -FH_E_NOT_FOUND)
		r = 0; /* a missing store counts as empty */
	else if (r == 0)
		r = fh_store_evals(s, &(struct fh_store_eval_filter){ kind, text, tag }, 0, limit, &list, &err);
	if (r == 0)
		print_all(&list);
	fh_store_eval_list_release(&list);
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
