/* SPDX-License-Identifier: MIT */
#include "cli/run/run_keep.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/proc.h"
#include "cli/shared/commands.h"
#include "json/json.h"
#include "proto/plan.h"

enum { SAID_MAX = 64 << 10, FAILED = 1, ERROR = 2 };

int fh_run_keep_begin(struct fh_run_keep *k, struct fh_error *err)
{
	k->program = fh_command_program("store");
	if (!k->program) {
		int r = fh_error_set(err, FH_E_UNAVAILABLE, "option --keep: this installation of fumehood has no store");
		fh_error_hint(err, "without --keep the program runs; --json prints its result");
		return r;
	}
	k->created_ms = fh_wall_ms();
	return 0;
}

void fh_run_keep_release(struct fh_run_keep *k)
{
	free(k->program);
	k->program = NULL;
}

/* The program's text; for a compiled language, the source that the compiler read. */
static struct fh_str code_of(const struct fh_plan *plan)
{
	const struct fh_plan *p = plan->compile ? plan->compile : plan;
	for (size_t i = 0; *plan->code_name && i < p->file_count; i++)
		if (fh_streq(p->files[i].name, plan->code_name))
			return (struct fh_str){ (const char *)p->files[i].content.data, p->files[i].content.size };
	return fh_str("");
}

static json_t *head_json(const struct fh_run_keep *k, const struct fh_plan *plan, const struct fh_result *r)
{
	char cwd[4096];
	bool ok = r->status == FH_STATUS_OK;
	json_t *o = json_object(), *argv = json_array();
	for (int i = 1; i < k->argc; i++)
		json_array_append_new(argv, fh_json_bytes(fh_str(k->argv[i])));
	json_object_set_new(o, "description", fh_json_bytes(fh_str(k->description ? k->description : "")));
	json_object_set_new(o, "created_ms", json_integer(k->created_ms));
	json_object_set_new(o, "duration_ms", json_integer(fh_wall_ms() - k->created_ms));
	json_object_set_new(o, "argv", argv);
	json_object_set_new(o, "cwd", fh_json_bytes(fh_str(getcwd(cwd, sizeof(cwd)) ? cwd : "")));
	json_object_set_new(o, "status", json_string(fh_status_name(r->status)));
	json_object_set_new(o, "language", fh_json_bytes(fh_str(plan->language)));
	json_object_set_new(o, "name", fh_json_bytes(fh_str(*plan->code_name ? plan->code_name : plan->argv[0])));
	json_object_set_new(o, "success", json_boolean(ok));
	json_object_set_new(o, "failure", json_integer(ok ? 0 : r->status == FH_STATUS_ENGINE_ERROR ? ERROR : FAILED));
	json_object_set_new(o, "latency_ms", json_real((double)r->usage.wall_us / 1000));
	return o;
}

/* Writes the line that fumehood-store reads. */
static void write_row(const struct fh_run_keep *k, const struct fh_plan *plan, const struct fh_result *r,
                      struct fh_buf *out)
{
	fh_auto_json json_t *head = head_json(k, plan, r), *argv = json_array();
	for (size_t i = 0; plan->argv[i]; i++)
		json_array_append_new(argv, fh_json_bytes(fh_str(plan->argv[i])));
	fh_auto_free char *result = fh_result_json(r, 0);
	fh_json_write(out, head, 0);
	fh_buf_addc(out, '\n');
	fh_buf_add(out, result, strlen(result) - 1);
	fh_buf_adds(out, ",\"language\":");
	fh_json_write_string(out, fh_str(plan->language));
	fh_buf_adds(out, ",\"argv\":");
	fh_json_write(out, argv, 0);
	fh_buf_adds(out, ",\"code\":");
	fh_json_write_string(out, code_of(plan));
	fh_buf_addc(out, '}');
}

int fh_run_keep(const struct fh_run_keep *k, const struct fh_plan *plan, const struct fh_result *result,
                struct fh_error *err)
{
	const char *const argv[] = { k->program, "keep", NULL };
	const struct fh_proc_options o = { .argv = argv, .stdio = { FH_STDIO_PIPE, FH_STDIO_PIPE, FH_STDIO_INHERIT } };
	fh_auto_buf struct fh_buf row = FH_BUF_INIT(0), id = FH_BUF_INIT(SAID_MAX);
	int status = 0;
	write_row(k, plan, result, &row);
	if (row.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the run is not in the store: its result is larger than 1 GiB");
	int r = fh_proc_run(&o, fh_buf_str(&row), -1, &id, NULL, &status, err);
	if (r < 0)
		return fh_error_wrap(err, "the run is not in the store");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || id.n == 0)
		return fh_error_set(err, FH_E_SYSTEM, "the run is not in the store");
	fprintf(stderr, "fumehood: kept as %.*s\n", (int)strcspn(fh_buf_cstr(&id), "\n"), fh_buf_cstr(&id));
	return 0;
}
