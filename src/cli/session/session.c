/* SPDX-License-Identifier: MIT */
#include "cli/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/fd.h"
#include "base/text/sha256.h"
#include "cli/shared/commands.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "fumehood/context.h"
#include "json/json.h"
#include "proto/plan.h"
#include "sandbox/connection/service.h"

struct fh_session_options fh_session_options;
#define O fh_session_options

#define FOR_COMMANDS "exec run attach"
static const struct fh_opt options[] = {
	{ "", .help = "A new session" },
	{ "name", 'n', FH_OPT_STRING, &O.name, "NAME", "The session's name, in lists and in the other commands.",
	  .actions = "new branch" },
	{ "lease", 0, FH_OPT_DURATION, &O.lease_ms, "SECONDS", "How long it lives unless renewed.", .default_text = "1h",
	  .least = 1, .actions = "new branch" },
	{ "language", 'l', FH_OPT_STRING, &O.language, "LANG",
	  "new: show that language's tools in it. run: the language of the program.",
	  .default_words = "the host's programs; for run what FILE's name says", .actions = "new run" },
	{ "image", 0, FH_OPT_STRING, &O.image, "DIR", "A folder that holds a root file system.", .actions = "new" },
	{ "from", 0, FH_OPT_STRING, &O.from, "FILE", "Start from a file that `snapshot` wrote; - is standard input.",
	  .actions = "new" },
	{ "as-root", 0, FH_OPT_FLAG, &O.root, NULL, "Programs see themselves as root (uid 0, without capabilities).",
	  .actions = "new" },
	{ "memory", 'm', FH_OPT_SIZE, &O.memory, "SIZE", "Memory of all of it.",
	  .default_number = &fh_limit_table[FH_LIMIT_MEMORY].run_default, .least = 1, .actions = "new" },
	{ "disk", 0, FH_OPT_SIZE, &O.disk, "SIZE", "Size of its writable folders, three quarters of the memory at most.",
	  .default_number = &fh_limit_table[FH_LIMIT_DISK].run_default, .least = 1, .actions = "new" },
	{ "processes", 0, FH_OPT_U64, &O.processes, "N", "Processes and threads at once.",
	  .default_number = &fh_limit_table[FH_LIMIT_PROCESSES].run_default, .least = 1, .actions = "new" },
	{ "", .help = "A command in it" },
	{ "user", 'u', FH_OPT_STRING, &O.user, "USER", "Run it as user or root.", .default_words = "as the session's",
	  .actions = FOR_COMMANDS " cp ls watch" },
	{ "cwd", 'w', FH_OPT_STRING, &O.cwd, "DIR", "The folder that it starts in.", .actions = FOR_COMMANDS },
	{ "env", 'e', FH_OPT_LIST, &O.env, "NAME=VALUE", "A variable of its environment, beside PATH, HOME and the like.",
	  .actions = FOR_COMMANDS },
	{ "code", 'c', FH_OPT_STRING, &O.code, "CODE", "run: the program's text, instead of FILE.", .actions = "run" },
	{ "tty", 't', FH_OPT_FLAG, &O.terminal, NULL, "Give it a terminal.", .actions = FOR_COMMANDS },
	{ "interactive", 'i', FH_OPT_FLAG, &O.interactive, NULL,
	  "With --detach: keep its stdin open for who attaches. It is joined without, else, as docker joins it with -i.",
	  .actions = FOR_COMMANDS },
	{ "detach", 'd', FH_OPT_FLAG, &O.detach, NULL,
	  "Do not wait for the command: print its id. Of its output that is not read, only the newest is kept.",
	  .actions = "exec run" },
	{ "tag", 0, FH_OPT_STRING, &O.tag, "TAG", "A name for it in lists.", .actions = FOR_COMMANDS },
	{ "wall-time", 0, FH_OPT_DURATION, &O.wall_ms, "SECONDS",
	  "End the command, and all that it started, after this time.", FH_OPT_UNLIMITED, .least = 1,
	  .actions = FOR_COMMANDS },
	{ "cpu-time", 0, FH_OPT_DURATION, &O.cpu_ms, "SECONDS", "The same for CPU time.", FH_OPT_UNLIMITED, .least = 1,
	  .actions = FOR_COMMANDS },
	{ "output", 0, FH_OPT_SIZE, &O.output, "SIZE", "The same for its output.", FH_OPT_UNLIMITED, .least = 1,
	  .actions = FOR_COMMANDS },
	{ "command-memory", 0, FH_OPT_SIZE, &O.command_memory, "SIZE",
	  "The same for its memory, where control groups can limit it.", .least = 1, .actions = FOR_COMMANDS },
	{ "", .help = "All" },
	{ "recursive", 'r', FH_OPT_FLAG, &O.recursive, NULL, "ls, watch: folders below, too.", .actions = "ls watch" },
	{ "json", 0, FH_OPT_FLAG, &O.json, NULL,
	  "Print JSON: an object or array when it is over, for watch one object a line." },
	{ 0 },
};

static const struct fh_command_line command_line = {
	.program = "fumehood session",
	.synopsis = "[OPTIONS] new | list | exec S -- CMD… | run S [-l LANG] [-c CODE | FILE | -] [-- ARGS…] | "
	            "attach S [PROCESS] | cp FROM TO | ls S[:DIR] | watch S[:DIR] "
	            "| branch S [NAME] | "
	            "snapshot S FILE | pause S | resume S | rm S… | driver LANG",
	.about = "Sandboxes that live on: programs run in them one after the other or side by side, and find the files "
	         "that others "
	         "left. S is the name of a session or the first letters of its id, at least four; S:PATH is a file in it.",
	.details =
	    "`attach S` gives a shell in a terminal, `attach S PROCESS` the output and input of a program that runs "
	    "there. Ctrl-C goes "
	    "to the program. From a terminal, Ctrl-P Ctrl-Q leaves a program that has one to itself, and it runs on.\n\n"
	    "`run S FILE` copies the file into the working folder, as cp does, and runs it there in its language; "
	    "text of -c or - is "
	    "there while it runs. A language that is compiled is compiled in a sandbox of its own before.\n\n"
	    "In cp and snapshot - is standard output, of cp FROM standard input.\n\n"
	    "`driver LANG` prints, as JSON, how a code context in that language is started, for clients that speak the "
	    "engine's protocol themselves.\n\n"
	    "Exit status: of exec, run and attach that of the program (128 and the signal's number when one ended it); "
	    "otherwise 0, or 1 "
	    "when it could not be done.",
	.options = options,
};

/* --------------------------------------------------------------------------------------------------------- finding */

/* Finds a session by its complete name, or else by the beginning of its id. NULL: there is none, or more than one
 * (*ret_many). */
static const struct fh_sandbox_info *find(const struct fh_sandbox_info *all, size_t n, const char *name, bool *ret_many)
{
	const struct fh_sandbox_info *match = NULL;
	for (int by_id = 0; by_id < 2 && !match; by_id++)
		for (size_t i = 0; i < n; i++) {
			bool fits = by_id ? strlen(name) >= 4 && fh_starts_with(all[i].id, name) : fh_streq(all[i].name, name);
			if (!fits || !all[i].session)
				continue;
			*ret_many = match != NULL;
			match = &all[i];
		}
	return *ret_many ? NULL : match;
}

int fh_session_open(const char *name, struct fh_session_handle *ret, struct fh_error *err)
{
	/* Engines are found in the kernel's list of sockets, which may miss one while others come and go: so it is read
	 * several times. */
	enum { LOOKS = 4 };
	fh_auto_free struct fh_sandbox_info *all = NULL;
	const struct fh_sandbox_info *match = NULL;
	bool many = false;
	for (int look = 0; look < LOOKS && !match && !many; look++) {
		size_t n = 0;
		free(FH_TAKE_PTR(all));
		int r = fh_list(&all, &n, err);
		if (r < 0)
			return r;
		match = find(all, n, name, &many);
	}
	int r;
	if (many) {
		(void)fh_error_set(err, FH_E_ARGUMENT, "more than one session is named %s, or has an id that begins with that",
		                   name);
		fh_error_hint(err, "use the first letters of its id: `fumehood session list` lists them");
		return -FH_E_ARGUMENT;
	}
	if (!match) {
		(void)fh_error_set(err, FH_E_NOT_FOUND, "no session is named %s, and no session's id begins with that", name);
		fh_error_hint(err, "`fumehood session list` lists them");
		return -FH_E_NOT_FOUND;
	}
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	o.placement = "attach";
	o.engine_pid = match->engine_pid;
	*ret = (struct fh_session_handle){ .info = *match };
	r = fh_client_open(&o, &ret->client, err);
	if (r == 0)
		r = fh_sandbox_attach(ret->client, match->id, &ret->sandbox, err);
	return r;
}

void fh_session_close(struct fh_session_handle *h)
{
	if (h->sandbox)
		fh_sandbox_free(h->sandbox);
	if (h->client)
		fh_client_close(h->client);
	h->sandbox = NULL;
	h->client = NULL;
}

bool fh_session_split(const char *text, char **ret_name, const char **ret_path)
{
	const char *colon = strchr(text, ':'), *slash = strchr(text, '/');
	if (!colon || (slash && slash < colon))
		return false;
	*ret_name = fh_xstrndup(text, (size_t)(colon - text));
	*ret_path = colon[1] ? colon + 1 : ".";
	return true;
}

/* ------------------------------------------------------------------------------------------------------ new, branch */

/* Whether the other actions find a session of this name: in SESSION:PATH, behind their options, and by its look. */
static bool is_name(const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || name[i] == ':' || name[i] == '/')
			return false;
	return n > 0 && n <= 63 && name[0] != '-';
}

/* Who makes sessions of one name at the same time finds none of them: the first to come locks the name, a byte of a
 * file of the user's, until its session is there. *ret_fd: what holds the lock; -1: the host has no place for the file.
 */
static int lock_name(int *ret_fd, struct fh_error *err)
{
	char path[FH_SERVICE_PATH_MAX], lock_path[FH_SERVICE_PATH_MAX + 8];
	struct fh_sha256 hash = FH_SHA256_INIT;
	uint8_t digest[FH_SHA256_SIZE];
	uint64_t place;
	*ret_fd = -1;
	if (!O.name || fh_service_path(true, path, NULL) < 0)
		return 0;
	fh_sha256_add(&hash, O.name, strlen(O.name));
	fh_sha256_end(&hash, digest);
	memcpy(&place, digest, sizeof(place));
	snprintf(lock_path, sizeof(lock_path), "%s.names", path);
	fh_auto_close int fd = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct flock byte = { .l_type = F_WRLCK, .l_start = (off_t)(place >> 2), .l_len = 1 };
	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte) < 0 && (errno == EAGAIN || errno == EACCES))
		return fh_error_set(err, FH_E_ARGUMENT, "a session that is named %s is being made by another command", O.name);
	*ret_fd = FH_TAKE_FD(fd);
	return 0;
}

/* A second session of a name could be reached by that name no more, nor could the first. */
static int check_name(struct fh_error *err)
{
	fh_auto_free struct fh_sandbox_info *all = NULL;
	size_t n = 0;
	if (O.name && !is_name(O.name)) {
		(void)fh_error_set(err, FH_E_ARGUMENT, "'%.80s' cannot be a session's name", O.name);
		fh_error_hint(
		    err, "a name has 1 to 63 bytes, none of them a colon, slash or control character, and begins with no -");
		return -FH_E_ARGUMENT;
	}
	int r = O.name ? fh_list(&all, &n, err) : 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!all[i].session || !fh_streq(all[i].name, O.name))
			continue;
		(void)fh_error_set(err, FH_E_ARGUMENT, "there is a session that is named %s", O.name);
		fh_error_hint(err, "choose another name, or end that one before: fumehood session rm %.12s", all[i].id);
		r = -FH_E_ARGUMENT;
	}
	return r;
}

/* Says which files of the original are not in a branch, or a session from a snapshot; returns them as JSON. */
static json_t *name_left_out(const struct fh_sandbox *made)
{
	json_t *list = json_array();
	for (const char *const *one = fh_sandbox_left_out(made); *one; one++) {
		char shown[512];
		fh_escape_terminal_line(shown, sizeof(shown), fh_str(*one));
		json_array_append_new(list, fh_json_bytes(fh_str(*one)));
		fprintf(stderr, "fumehood: not copied: %s\n", shown);
	}
	return list;
}

/* not_branched: of a branch, an array that becomes part of the JSON; NULL: it is no branch. */
static void say_made(const struct fh_sandbox *made, json_t *not_branched)
{
	fh_auto_json json_t *left_out = not_branched || O.from ? name_left_out(made) : NULL;
	const char *id = fh_sandbox_id(made), *why;
	if (!O.json) {
		fh_print_line(O.name ? O.name : id);
		return;
	}
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, "id", json_string(id));
	json_object_set_new(o, "name", O.name ? json_string(O.name) : json_null());
	fh_auto_json json_t *start = json_object();
	enum fh_start path = fh_sandbox_start(made, &why);
	json_object_set_new(start, "path", path == FH_START_AUTO ? json_null() : json_string(fh_start_name(path)));
	if (*why)
		json_object_set_new(start, "why", fh_json_bytes(fh_str(why)));
	json_object_set(o, "start", start);
	if (not_branched)
		json_object_set(o, "not_branched", not_branched);
	if (left_out)
		json_object_set(o, "left_out", left_out);
	fh_auto_free char *text = fh_json_text(o, 0);
	fh_print_line(text);
}

static int make_plan(struct fh_plan **ret, struct fh_error *err)
{
	static const char *const nothing[] = { "true", NULL };
	struct fh_request r;
	fh_request_init(&r);
	r.language = O.language;
	r.argv = O.language ? NULL : nothing;
	r.no_program = O.language != NULL;
	r.image = O.image;
	r.user = O.root ? "root" : NULL;
	/* A session lives long: time and output are limited for each command instead. */
	r.limits.value[FH_LIMIT_WALL_TIME] = r.limits.value[FH_LIMIT_CPU_TIME] = FH_UNLIMITED;
	r.limits.value[FH_LIMIT_OUTPUT] = FH_UNLIMITED;
	if (O.memory)
		r.limits.value[FH_LIMIT_MEMORY] = O.memory;
	if (O.disk)
		r.limits.value[FH_LIMIT_DISK] = O.disk;
	if (O.processes)
		r.limits.value[FH_LIMIT_PROCESSES] = O.processes;
	return fh_plan_build(&r, ret, err);
}

static int new_session(const char *const *args, size_t count, struct fh_error *err)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_client *client;
	struct fh_plan *plan = NULL;
	struct fh_sandbox *s = NULL;
	(void)args;
	(void)count;
	o.name = O.name;
	o.lease_ms = O.lease_ms;
	fh_auto_close int from = fh_streq(O.from, "-") ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
	                         : O.from              ? fh_file_open_waiting(O.from)
	                                               : -1;
	if (O.from && from < 0)
		return fh_error_sys(err, errno, "cannot open %s", O.from);
	fh_auto_close int name_lock = -1;
	int r = lock_name(&name_lock, err);
	if (r == 0)
		r = check_name(err);
	if (r == 0 && !O.from)
		r = make_plan(&plan, err);
	if (r == 0)
		r = fh_client_open(NULL, &client, err);
	if (r == 0) {
		r = O.from ? fh_sandbox_restore(client, from, &o, &s, err) : fh_sandbox_create(client, plan, &o, &s, err);
		if (r < 0 && O.from)
			r = fh_error_wrap(err, "%s", O.from);
		if (r == 0) {
			say_made(s, NULL);
			fh_sandbox_free(s);
		}
		fh_client_close(client);
	}
	fh_plan_free(plan);
	return r;
}

/* Says which processes a branch lacks, and returns them as JSON. */
static json_t *name_processes(const struct fh_process_info *processes, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct fh_process_info *p = &processes[i];
		bool context = fh_streq(p->tag, "context");
		if (p->ended)
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "pid", json_integer(p->pid));
		json_object_set_new(o, "tag", p->tag[0] ? fh_json_bytes(fh_str(p->tag)) : json_null());
		json_object_set_new(o, "command", fh_json_bytes(fh_str(p->command)));
		json_array_append_new(list, o);
		fprintf(stderr, "fumehood: not in the branch: process %u (%s)\n", p->pid,
		        context ? "a code context, which branches within its session" : p->command);
	}
	return list;
}

static int branch(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	fh_auto_free struct fh_process_info *processes = NULL;
	struct fh_sandbox *s;
	size_t n = 0;
	O.name = count > 1 ? args[1] : O.name;
	o.name = O.name;
	o.lease_ms = O.lease_ms;
	fh_auto_close int name_lock = -1;
	int r = lock_name(&name_lock, err);
	if (r == 0)
		r = check_name(err);
	if (r == 0)
		r = fh_session_open(args[0], &h, err);
	if (r == 0)
		r = fh_sandbox_processes(h.sandbox, &processes, &n, err);
	if (r == 0)
		r = fh_sandbox_branch(h.sandbox, &o, &s, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *not_branched = name_processes(processes, n);
	say_made(s, not_branched);
	fh_sandbox_free(s);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- list */

static json_t *session_json(const struct fh_sandbox_info *s)
{
	json_t *o = json_object();
	json_object_set_new(o, "id", json_string(s->id));
	json_object_set_new(o, "name", s->name[0] ? fh_json_bytes(fh_str(s->name)) : json_null());
	json_object_set_new(o, "state", json_string(s->paused ? "paused" : "running"));
	json_object_set_new(o, "age_ms", json_integer((json_int_t)s->age_ms));
	json_object_set_new(o, "lease_left_ms",
	                    s->lease_left_ms ? json_integer((json_int_t)s->lease_left_ms) : json_null());
	json_object_set_new(o, "processes", json_integer(s->processes));
	return o;
}

static void print_sessions(const struct fh_sandbox_info *all, size_t n)
{
	static const char *const heads[] = { "ID", "NAME", "STATE", "AGE", "LEASE", "PROCESSES" };
	struct fh_table *t = fh_table_headed(FH_STYLE_NONE, heads, FH_ARRAY_SIZE(heads));
	for (size_t i = 0; i < n; i++) {
		char text[3][32];
		fh_auto_free char *id = fh_xstrndup(all[i].id, 12);
		snprintf(text[0], sizeof(text[0]), "%llu s", (unsigned long long)all[i].age_ms / 1000);
		snprintf(text[1], sizeof(text[1]), "%llu s", (unsigned long long)all[i].lease_left_ms / 1000);
		snprintf(text[2], sizeof(text[2]), "%u", all[i].processes);
		fh_table_text(t, FH_STYLE_NONE, id);
		fh_table_text(t, FH_STYLE_NONE, all[i].name);
		fh_table_text(t, FH_STYLE_NONE, all[i].paused ? "paused" : "running");
		fh_table_text(t, FH_STYLE_NONE, text[0]);
		fh_table_text(t, FH_STYLE_NONE, all[i].lease_left_ms ? text[1] : "client's");
		fh_table_text(t, FH_STYLE_NONE, text[2]);
		fh_table_row_end(t);
	}
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_table_print(t, &out, fh_term_list_width(STDOUT_FILENO), fh_term_color(STDOUT_FILENO, FH_COLOR_AUTO));
	fh_print(&out);
	fh_table_free(t);
}

static int list(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_free struct fh_sandbox_info *all = NULL;
	size_t n = 0, sessions = 0;
	(void)args;
	(void)count;
	int r = fh_list(&all, &n, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *a = json_array();
	for (size_t i = 0; i < n; i++)
		if (all[i].session) {
			json_array_append_new(a, session_json(&all[i]));
			all[sessions++] = all[i];
		}
	fh_auto_free char *text = fh_json_text(a, isatty(STDOUT_FILENO) ? 2 : 0);
	if (O.json)
		fh_print_line(text);
	else if (sessions)
		print_sessions(all, sessions);
	else
		fh_printf("There is no session.\n");
	return 0;
}

/* ----------------------------------------------------------------------------------------------- pause, resume, rm */

static int pause_session(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	enum fh_pause how;
	(void)count;
	int r = fh_session_open(args[0], &h, err);
	if (r == 0)
		r = fh_sandbox_pause(h.sandbox, &how, err);
	if (r == 0 && how == FH_PAUSE_SIGNALS)
		fprintf(stderr,
		        "fumehood: this host has no freezer: each process was stopped by a signal, which it can notice\n");
	return r;
}

static int resume_session(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	(void)count;
	int r = fh_session_open(args[0], &h, err);
	return r == 0 ? fh_sandbox_resume(h.sandbox, err) : r;
}

static int remove_sessions(const char *const *args, size_t count, struct fh_error *err)
{
	int status = FH_EXIT_OK;
	for (size_t i = 0; i < count; i++) {
		fh_auto_session struct fh_session_handle h = { NULL };
		int r = fh_session_open(args[i], &h, err);
		if (r == 0)
			r = fh_sandbox_destroy(h.sandbox, err);
		if (r < 0)
			status = fh_command_failed(err, FH_EXIT_FAILED);
	}
	return status;
}

/* ----------------------------------------------------------------------------------------------------------- driver */

static int print_driver(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_free char *text = NULL;
	(void)count;
	int r = fh_context_explain(args[0], &text, err);
	if (r == 0)
		fh_print_line(text);
	return r;
}

static const struct {
	const char *name;
	size_t least, most; /* allowed number of arguments */
	fh_session_action *run;
} actions[] = {
	{ "new", 0, 0, new_session },
	{ "list", 0, 0, list },
	{ "exec", 2, SIZE_MAX, fh_session_exec },
	{ "run", 1, SIZE_MAX, fh_session_run },
	{ "attach", 1, 2, fh_session_attach },
	{ "cp", 2, 2, fh_session_cp },
	{ "ls", 1, 1, fh_session_ls },
	{ "watch", 1, 1, fh_session_watch },
	{ "branch", 1, 2, branch },
	{ "snapshot", 2, 2, fh_session_snapshot },
	{ "pause", 1, 1, pause_session },
	{ "resume", 1, 1, resume_session },
	{ "rm", 1, SIZE_MAX, remove_sessions },
	{ "driver", 1, 1, print_driver },
};

/* The part of the synopsis that is about an action of it: "snapshot S FILE". */
static struct fh_str call_of(const char *action)
{
	size_t n = strlen(action), depth = 0;
	const char *p = command_line.synopsis;
	while (*p && (strncmp(p, action, n) != 0 || (p[n] && p[n] != ' '))) { /* from word to word */
		p += strcspn(p, " ");
		p += *p == ' ';
	}
	const char *end = p;
	for (; *end && (depth > 0 || strncmp(end, " |", 2) != 0); end++)
		depth += (*end == '[') - (size_t)(*end == ']');
	return (struct fh_str){ p, (size_t)(end - p) };
}

static int check_env(struct fh_error *err)
{
	for (size_t i = 0; i < O.env.count; i++)
		if (O.env.items[i][0] == '=' || !strchr(O.env.items[i], '='))
			return fh_error_set(err, FH_E_ARGUMENT, "option --env: %s is not NAME=VALUE", O.env.items[i]);
	return 0;
}

int fh_command_session(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	size_t i = 0;
	if (r == 0 && !help)
		r = check_env(&err);
	while (r == 0 && args.count && i < FH_ARRAY_SIZE(actions) && !fh_streq(args.items[0], actions[i].name))
		i++;
	bool known = args.count && i < FH_ARRAY_SIZE(actions);
	if (r == 0 && !help && (!known || args.count - 1 < actions[i].least || args.count - 1 > actions[i].most)) {
		r = known
		        ? fh_error_set(&err, FH_E_ARGUMENT, "session %s was given too few or too many arguments", args.items[0])
		        : fh_action_refused(&err, "session",
		                            "new, list, exec, run, attach, cp, ls, watch, branch, snapshot, pause, resume, "
		                            "rm and driver",
		                            &args);
		if (known)
			fh_error_hint(&err, "it is called as: fumehood session %.*s", FH_STR_ARGS(call_of(actions[i].name)));
	}
	if (r < 0) {
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	} else if (help) {
		fh_options_help(&command_line, help);
	} else {
		status = actions[i].run(args.items + 1, args.count - 1, &err);
		if (status < 0)
			status = fh_command_failed(&err, FH_EXIT_FAILED);
	}
	fh_opt_list_release(&args);
	fh_opt_list_release(&O.env);
	return status;
}
