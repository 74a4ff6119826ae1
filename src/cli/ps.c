/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

static bool as_json;
static const struct fh_opt options[] = {
	{ "json", 0, FH_OPT_FLAG, &as_json, NULL, "Print one JSON array, an object for each sandbox." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood ps",
	.synopsis = "[--json]",
	.about = "Lists the sandboxes that are alive on this machine and belong to you, oldest first.",
	.details = "Exit status: 0, or 1 when the list is not available.",
	.options = options,
};

static void print_json(const struct fh_sandbox_info *list, size_t n)
{
	fh_auto_json json_t *a = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct fh_sandbox_info *s = &list[i];
		json_t *o = json_object();
		json_object_set_new(o, "id", json_string(s->id));
		json_object_set_new(o, "engine_pid", json_integer(s->engine_pid));
		json_object_set_new(o, "client_pid", s->client_pid ? json_integer(s->client_pid) : json_null());
		json_object_set_new(o, "age_ms", json_integer((json_int_t)s->age_ms));
		json_object_set_new(o, "lease_left_ms",
		                    s->lease_left_ms ? json_integer((json_int_t)s->lease_left_ms) : json_null());
		json_object_set_new(o, "processes", json_integer(s->processes));
		json_object_set_new(o, "command", fh_json_bytes(fh_str(s->command)));
		json_array_append_new(a, o);
	}
	fh_auto_free char *text = fh_json_text(a, isatty(STDOUT_FILENO) ? 2 : 0);
	fh_print_line(text);
}

static void put_seconds(struct fh_table *t, uint64_t ms)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu.%llu s", (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
	fh_table_text(t, FH_STYLE_NONE, text);
}

static void print_table(const struct fh_sandbox_info *list, size_t n)
{
	static const char *const heads[] = { "ID", "AGE", "LEASE", "PROCESSES", "CLIENT", "COMMAND" };
	struct fh_table *t = fh_table_headed(FH_STYLE_NONE, heads, FH_ARRAY_SIZE(heads));
	for (size_t i = 0; i < n; i++) {
		char number[24];
		fh_auto_free char *id = fh_xstrndup(list[i].id, 12);
		fh_table_text(t, FH_STYLE_NONE, id);
		put_seconds(t, list[i].age_ms);
		if (list[i].lease_left_ms)
			put_seconds(t, list[i].lease_left_ms);
		else
			fh_table_text(t, FH_STYLE_NONE, "client's");
		snprintf(number, sizeof(number), "%u", list[i].processes);
		fh_table_text(t, FH_STYLE_NONE, number);
		snprintf(number, sizeof(number), "%d", list[i].client_pid);
		fh_table_text(t, FH_STYLE_NONE, list[i].client_pid ? number : "gone");
		fh_table_text(t, FH_STYLE_NONE, list[i].command);
		fh_table_row_end(t);
	}
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_table_print(t, &out, fh_term_list_width(STDOUT_FILENO), fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO));
	fh_print(&out);
	fh_table_free(t);
}

int fh_command_ps(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	fh_auto_free struct fh_sandbox_info *list = NULL;
	size_t n = 0;
	if (fh_list(&list, &n, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	if (as_json)
		print_json(list, n);
	else if (n > 0)
		print_table(list, n);
	else
		fh_printf("No sandbox is alive.\n");
	return FH_EXIT_OK;
}
