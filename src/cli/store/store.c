/* SPDX-License-Identifier: MIT */
#include "cli/store/store.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/launcher.h"
#include "base/path.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"

const char *fh_store_when(int64_t wall_ms, char buf[32])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm local;
	if (!localtime_r(&seconds, &local) || strftime(buf, 32, "%Y-%m-%d %H:%M", &local) == 0)
		snprintf(buf, 32, "?");
	return buf;
}

json_t *fh_store_eval_json(const struct fh_store_eval *e)
{
	char time[32];
	json_t *o = json_object();
	json_object_set_new(o, "id", fh_json_bytes(fh_str(e->id)));
	json_object_set_new(o, "kind", json_string(fh_store_kind_name(e->kind)));
	json_object_set_new(o, "state", json_string(fh_store_state_name(e->state)));
	json_object_set_new(o, "description", fh_json_bytes(fh_str(e->description)));
	json_object_set_new(o, "created", json_string(fh_iso_time(e->created_ms, time)));
	json_object_set_new(o, "duration_ms", json_integer(e->duration_ms));
	json_object_set_new(o, "total", json_integer((json_int_t)e->total));
	json_object_set_new(o, "rows", json_integer((json_int_t)e->rows));
	json_object_set_new(o, "columns", json_integer((json_int_t)e->columns));
	json_object_set_new(o, "passed", json_integer((json_int_t)e->passed));
	json_object_set_new(o, "failed", json_integer((json_int_t)e->failed));
	json_object_set_new(o, "errors", json_integer((json_int_t)e->errors));
	json_object_set_new(o, "score", json_real(e->score));
	json_object_set_new(o, "tokens", json_integer(e->tokens));
	json_object_set_new(o, "cost", json_real(e->cost));
	json_object_set_new(o, "latency_ms", json_real(e->latency_ms));
	return o;
}

void fh_store_print_json(const json_t *v)
{
	fh_auto_free char *text = fh_json_text(v, isatty(STDOUT_FILENO) ? 2 : 0);
	fh_print_line(text);
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", fh_store_command_list },     { "show", fh_store_command_show },
	{ "export", fh_store_command_export }, { "import", fh_store_command_import },
	{ "delete", fh_store_command_delete }, { "compare", fh_store_command_compare },
	{ "keep", fh_store_command_keep },
};

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_command_inherit_name();
	/* Drops root's rights, which this program does not need: it reads files of other users. */
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_interrupt_catch();
	if (argc > 1 && fh_streq(fh_path_base(argv[0]), "fumehood-store")) { /* how `run --keep` starts this program */
		argc--;
		argv++;
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++)
		if (argc > 0 && fh_streq(fh_path_base(argv[0]), commands[i].name))
			return fh_print_end(commands[i].run(argc, argv), FH_EXIT_FAILED);
	fh_error_set(&err, FH_E_ARGUMENT, "this program is started by commands such as `fumehood list`");
	return fh_command_failed(&err, FH_EXIT_USAGE);
}
