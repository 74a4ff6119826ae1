/* SPDX-License-Identifier: MIT */
/* Runs a program's text in a session: in the language's interpreter there, or compiled in a sandbox of its own before.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/session/session.h"
#include "cli/shared/print.h"
#include "cli/shared/program.h"
#include "proto/frame.h"
#include "proto/plan.h"
#include "sandbox/compile.h"
#include "sandbox/planning/result_json.h"

#define O fh_session_options

/* A name for a file that is put into the session for the run only. */
static char *passing_name(const char *ending)
{
	struct fh_id id;
	char hex[FH_ID_HEX];
	fh_id_random(&id);
	fh_id_hex(id, hex);
	return fh_xasprintf(".run-%.8s%s", hex, ending);
}

static bool is_shown(const struct fh_plan *session, const char *path)
{
	for (size_t i = 0; i < session->mount_count; i++)
		if (session->mounts[i].kind == FH_MOUNT_BIND && fh_path_within(path, session->mounts[i].target))
			return true;
	return false;
}

/* The session's own plan says what its programs are: an image's, or the host's. An interpreter that a new sandbox would
 * show, and the session does not, gives way to the one that the session's PATH has. */
static int build_plan(struct fh_session_handle *h, const struct fh_program *p, const char *name, struct fh_plan **ret,
                      struct fh_error *err)
{
	struct fh_plan *session;
	struct fh_request request;
	int r = fh_sandbox_plan(h->sandbox, &session, err);
	if (r < 0)
		return r;
	fh_request_init(&request);
	request.language = p->language->name;
	request.code = (struct fh_bytes){ fh_buf_cstr(&p->code), p->code.n };
	request.code_name = name;
	request.args = p->args;
	request.image = session->image;
	r = fh_plan_build(&request, ret, err);
	char **program = r == 0 ? (*ret)->argv : NULL;
	if (program && program[0][0] == '/' && !session->image && !is_shown(session, program[0])) {
		fh_auto_free char *found = fh_xstrdup(fh_path_base(program[0]));
		fh_plan_set_text(&program[0], found);
	}
	fh_plan_free(session);
	return r;
}

/* What the program needs beside the session's own variables; those of the command line come last. NULL-terminated, to
 * be freed; the items are the plan's and the options'. */
static const char **variables(const struct fh_plan *plan)
{
	static const char *const sessions[] = { "HOME=", "USER=", "LANG=" };
	size_t n = 0, count = O.env.count;
	while (plan->env[n])
		n++;
	const char **all = fh_xcalloc(n + count + 1, sizeof(*all));
	n = 0;
	for (char **one = plan->env; *one; one++) {
		bool own = true;
		for (size_t i = 0; i < FH_ARRAY_SIZE(sessions); i++)
			own = own && !fh_starts_with(*one, sessions[i]);
		if (own)
			all[n++] = *one;
	}
	for (size_t i = 0; i < count; i++)
		all[n++] = O.env.items[i];
	return all;
}

/* The program's artifact gets another name, as one of the session's files may have its own. */
static void rename_artifact(struct fh_plan *plan, const char *name)
{
	fh_auto_free char *here = fh_xasprintf("./%s", plan->artifact), *renamed = fh_xasprintf("./%s", name);
	for (char **word = plan->argv; *word; word++) {
		bool bare = fh_streq(*word, plan->artifact);
		if (!bare && !fh_streq(*word, here))
			continue;
		fh_plan_set_text(word, bare ? name : renamed);
		return; /* only the first such word is the program's file; later ones may be the program's own arguments */
	}
}

static int put(struct fh_session_handle *h, const char *name, struct fh_bytes content, unsigned mode,
               struct fh_error *err)
{
	fh_auto_free char *path = O.cwd ? fh_path_join(O.cwd, name) : fh_xstrdup(name);
	const struct fh_file file = { path, content, mode };
	return fh_sandbox_put_file(h->sandbox, &file, err);
}

static void take_away(struct fh_session_handle *h, const char *name)
{
	fh_auto_free char *path = O.cwd ? fh_path_join(O.cwd, name) : fh_xstrdup(name);
	(void)fh_files_remove(h->sandbox, NULL, path, false, NULL);
}

static int say_not_compiled(struct fh_result *r)
{
	if (r->fired)
		fprintf(stderr, "fumehood: the compiler reached a limit of its own\n");
	r->status = FH_STATUS_COMPILE_ERROR; /* from here on, the result describes the compiler, not the program */
	r->exit_code = -1;
	r->signal = 0;
	r->fired = 0;
	if (O.json)
		fh_session_print_result(r);
	for (int i = FH_STDOUT; i <= FH_STDERR && !O.json; i++)
		fh_print_bytes(STDERR_FILENO, (struct fh_str){ (const char *)r->stream_data[i], r->stream_size[i] });
	return FH_EXIT_FAILED;
}

/* Compiles, and puts the artifact into the session. Returns 1 when it is there, or 0 with the exit status that says
 * that it does not compile. */
static int compile(struct fh_session_handle *h, struct fh_plan *plan, const char *name, int *ret_status,
                   struct fh_error *err)
{
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_result *compiled;
	int r = fh_compile(h->client, plan, &o, &compiled, err);
	if (r < 0)
		return r;
	const struct fh_out_file *artifact = fh_compile_artifact(compiled, plan->artifact);
	if (compiled->status == FH_STATUS_ENGINE_ERROR) {
		*err = compiled->error;
		r = -(int)compiled->error.code;
	} else if (compiled->status != FH_STATUS_OK || !artifact) {
		*ret_status = say_not_compiled(compiled);
	} else {
		rename_artifact(plan, name);
		r = put(h, name, (struct fh_bytes){ artifact->data, artifact->size }, 0755, err);
		r = r < 0 ? r : 1;
	}
	fh_result_free(compiled);
	return r;
}

/* Runs the program that `p` is in the session. */
static int run(struct fh_session_handle *h, const struct fh_program *p, struct fh_error *err)
{
	fh_auto_free char *passing = passing_name(p->name ? "" : fh_path_ext(p->language->file));
	struct fh_plan *plan = NULL;
	int status = FH_EXIT_OK;
	int r = build_plan(h, p, p->language->compile[0] || p->name ? p->name : passing, &plan, err);
	if (r < 0)
		return r;
	bool stays = p->name && !plan->compile;
	if (plan->compile)
		r = compile(h, plan, passing, &status, err);
	else
		r = put(h, plan->code_name, (struct fh_bytes){ fh_buf_cstr(&p->code), p->code.n }, 0644, err) < 0
		        ? -(int)err->code
		        : 1;
	if (r == 1) {
		fh_auto_free const char **env = variables(plan);
		status = fh_session_command(h, (const char *const *)plan->argv, env, p->took_stdin, err);
		if (status == -FH_E_NOT_FOUND)
			fh_error_hint(err, "the session lacks %s: `fumehood session new -l %s` makes one that has it",
			              plan->argv[0], p->language->name);
		if (!stays)
			take_away(h, plan->compile ? passing : plan->code_name);
	}
	fh_plan_free(plan);
	return r < 0 ? r : status;
}

int fh_session_run(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	struct fh_program p = FH_PROGRAM_INIT;
	int r = fh_program_read(&p, O.language, O.code, args + 1, count - 1, err);
	if (r == 0 && O.detach && (!p.name || p.language->compile[0])) {
		r = fh_error_set(err, FH_E_ARGUMENT, "--detach needs a program that stays in the session");
		fh_error_hint(err, "copy it there with `session cp`, and start it with `session exec -d`");
	}
	if (r == 0)
		r = fh_session_open(args[0], &h, err);
	if (r == 0)
		r = run(&h, &p, err);
	fh_program_release(&p);
	return r;
}
