/* SPDX-License-Identifier: MIT */
/* Runs the steps of a build inside a sandbox. Each text of a step is passed as an argument; only the commands of RUN,
 * which are scripts by nature, become part of a script. */
#include "e2b/control/build_run.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "e2b/control/build_text.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/start_command.h"
#include "e2b/registry/boot.h"
#include "e2b/registry/registry.h"
#include "e2b/registry/templates.h"
#include "fumehood/session.h"

enum { LOG_LINES_MAX = 20000, LINE_MAX_BYTES = 4096, STEPS_MAX = 1000, PIECE = 32 << 10 };
#define BUILD_LIFETIME_MS ((uint64_t)3600 * 1000)
#define ARCHIVE_PATH "/tmp/.fumehood-copy.tar"

static void note(struct fh_template_build *b, const char *level, struct fh_str text)
{
	char time[32];
	json_t *o = json_object();
	text.n = FH_MIN(text.n, (size_t)LINE_MAX_BYTES);
	json_object_set_new(o, "timestamp", json_string(fh_iso_time(fh_wall_ms(), time)));
	json_object_set_new(o, "level", json_string(level));
	json_object_set_new(o, "message", fh_json_bytes(text));
	pthread_mutex_lock(&b->lock);
	if (json_array_size(b->log) < LOG_LINES_MAX)
		json_array_append(b->log, o);
	pthread_mutex_unlock(&b->lock);
	json_decref(o);
}

/* The build, and the settings that its steps have made so far for later commands. */
struct work {
	struct fh_template_build *build;
	struct fh_hosted *hosted;
	json_t *env; /* environment of later commands: {NAME: text} */
	char *user, *cwd;
};

/* ------------------------------------------------------------------------------------------------------- commands */

static void note_lines(struct work *w, struct fh_buf *pending, bool all)
{
	for (;;) {
		const char *end = pending->n ? memchr(pending->p, '\n', pending->n) : NULL;
		size_t n = end ? (size_t)(end - pending->p) : pending->n;
		if (!end && (pending->n < LINE_MAX_BYTES && !(all && pending->n)))
			return;
		note(w->build, "info", (struct fh_str){ pending->p, n });
		fh_buf_drop(pending, n + (end ? 1 : 0));
	}
}

/* Runs a command; its output goes to the log. Returns the exit status, or -1 with *err. */
static int command(struct work *w, const char *user, const char *const *argv, const char *cwd, struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	struct fh_exit x = { .exit_code = -1 };
	fh_auto_buf struct fh_buf pending = FH_BUF_INIT(PIECE + LINE_MAX_BYTES);
	char piece[PIECE];
	ssize_t n;
	char **env = fh_account_env(w->hosted, user, false, w->env);
	o.argv = argv;
	o.env = (const char *const *)env;
	o.cwd = cwd;
	o.user = fh_account_for(w->hosted, user);
	o.no_stdin = true;
	int r = fh_process_spawn(w->hosted->sandbox, &o, &p, err);
	fh_strings_free(env);
	if (r < 0)
		return -1;
	while ((n = fh_process_read(p, FH_STDOUT, piece, sizeof(piece), -1, NULL)) > 0) {
		(void)fh_buf_add(&pending, piece, (size_t)n);
		note_lines(w, &pending, false);
	}
	note_lines(w, &pending, true);
	r = fh_process_wait(p, -1, &x, err);
	fh_process_free(p);
	return r < 0 ? -1 : x.signal ? 128 + x.signal : x.exit_code;
}

/* Runs the script `text` with arguments as `user` in `cwd`, with stderr joined to stdout. 0, or -FH_E_ARGUMENT. */
static int script(struct work *w, const char *user, const char *text, const char *const *arguments, const char *cwd,
                  struct fh_error *err)
{
	const char *argv[16] = { "/bin/bash", "-c", text, "build" };
	size_t n = 4;
	for (; *arguments && n + 1 < FH_ARRAY_SIZE(argv); arguments++)
		argv[n++] = *arguments;
	argv[n] = NULL;
	int status = command(w, user, argv, cwd, err);
	if (status < 0)
		return -FH_E_ARGUMENT;
	return status ? fh_error_set(err, FH_E_ARGUMENT, "the command exited with status %d (steps run without a network)",
	                             status)
	              : 0;
}

/* ---------------------------------------------------------------------------------------------------------- steps */

static const char *argument(const json_t *args, size_t i)
{
	const char *text = json_string_value(json_array_get(args, i));
	return text && *text ? text : NULL;
}

/* The text with the variables of the steps so far. -FH_E_LIMIT: it becomes too long. */
static int expanded(struct work *w, const char *text, FH_OWN char **ret, struct fh_error *err)
{
	char **env = fh_account_env(w->hosted, w->user, false, w->env);
	*ret = fh_build_expand(text, (const char *const *)env);
	fh_strings_free(env);
	return *ret ? 0 : fh_error_set(err, FH_E_LIMIT, "%.64s: the text is too long with its variables", text);
}

static int step_env(struct work *w, const json_t *step, const json_t *args, struct fh_error *err)
{
	for (size_t i = 0; i + 1 < json_array_size(args); i += 2) {
		const char *text = json_string_value(json_array_get(args, i + 1));
		fh_auto_free char *value = NULL;
		if (!argument(args, i) || !text)
			continue;
		int r = expanded(w, text, &value, err);
		if (r < 0)
			return r;
		json_object_set_new(w->env, argument(args, i), fh_json_bytes(fh_str(value)));
	}
	return 0;
}

static int step_user(struct work *w, const json_t *step, const json_t *args, struct fh_error *err)
{
	fh_auto_free char *name = NULL;
	int r = expanded(w, argument(args, 0) ? argument(args, 0) : "", &name, err);
	const char *user = r == 0 && *name ? fh_account_named(name) : NULL;
	if (r < 0)
		return r;
	if (!user)
		return fh_error_set(err, FH_E_ARGUMENT, "unknown user %.64s: there are the users user and root",
		                    *name ? name : "\"\"");
	free(w->user);
	w->user = fh_xstrdup(user);
	return 0;
}

/* The owner for files that a script makes, for chown; "" in a sandbox with one id. */
static const char *owner_of(const struct work *w, const char *user)
{
	return w->hosted->one_id ? "" : user;
}

/* A path of a step, which is relative to the folder that the steps have chosen. */
static FH_OWN char *path_of(const struct work *w, const char *path)
{
	return path[0] == '/' || path[0] == '~' ? fh_account_path(w->user, path) : fh_xasprintf("%s/%s", w->cwd, path);
}

static int step_workdir(struct work *w, const json_t *step, const json_t *args, struct fh_error *err)
{
	static const char make[] =
	    "exec 2>&1; [ -d \"$1\" ] || { mkdir -p -- \"$1\" && { [ -z \"$2\" ] || chown -- \"$2:\" \"$1\"; }; }";
	fh_auto_free char *name = NULL, *path = NULL;
	int r = expanded(w, argument(args, 0) ? argument(args, 0) : "", &name, err);
	if (r < 0)
		return r;
	if (!*name)
		return fh_error_set(err, FH_E_ARGUMENT, "WORKDIR names no folder");
	path = path_of(w, name);
	const char *const arguments[] = { path, owner_of(w, w->user), NULL };
	r = script(w, "root", make, arguments, "/", err);
	if (r == 0) {
		free(w->cwd);
		w->cwd = FH_TAKE_PTR(path);
	}
	return r;
}

static int step_run(struct work *w, const json_t *step, const json_t *args, struct fh_error *err)
{
	static const char run[] = "exec 2>&1; exec /bin/bash -l -c \"$1\"";
	const char *user = fh_account_named(argument(args, 1) ? argument(args, 1) : w->user);
	const char *const arguments[] = { argument(args, 0), NULL };
	if (!user) /* in the words of E2B's builders, which clients look for */
		return fh_error_set(
		    err, FH_E_ARGUMENT,
		    "failed to run command '%.200s': command failed: unauthenticated: invalid username: '%.64s'",
		    arguments[0] ? arguments[0] : "", argument(args, 1));
	return arguments[0] ? script(w, user, run, arguments, w->cwd, err) : 0;
}

/* Copies the archive into the sandbox with pread(), as other builds may be reading from the same descriptor. */
static int put_archive(struct work *w, int fd, struct fh_error *err)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *file;
	char piece[PIECE];
	off_t at = 0;
	o.user = fh_account_for(w->hosted, "root");
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | FH_OPEN_TRUNCATE;
	int r = fh_file_stream_open(w->hosted->sandbox, ARCHIVE_PATH, &o, &file, err);
	for (ssize_t n; r == 0 && (n = pread(fd, piece, sizeof(piece), at)) > 0; at += n)
		r = fh_file_stream_write(file, piece, (size_t)n, err);
	return r < 0 ? r : fh_file_stream_close(file, err);
}

/* Arguments: $1 archive, $2 source (a pattern), $3 destination, $4 owner or "", $5 mode or "". tar recognizes the
 * compression. */
static const char copy_script[] =
    "exec 2>&1; set -e; t=$(mktemp -d); trap 'rm -rf -- \"$t\" \"$1\"' EXIT; tar --no-same-owner -xf \"$1\" -C \"$t\"; "
    "cd \"$t\"; shopt -s nullglob dotglob; IFS=; src=${2#/}; [ -n \"$src\" ] || src=.; found=($src); "
    "[ -e \"$src\" ] && found=(\"$src\"); [ ${#found[@]} -gt 0 ] || { echo \"nothing in the upload is called $2\"; "
    "exit 1; }; "
    "own() { [ -z \"$o\" ] || chown -h -- \"$o:\" \"$@\"; }; o=$4; "
    "folder() { [ -d \"$1\" ] || { mkdir -p -- \"$1\" && own \"$1\"; }; }; "
    "[ -z \"$4\" ] || chown -hR -- \"$4:\" .; [ -z \"$5\" ] || chmod -R -- \"$5\" \"${found[@]}\"; "
    "for f in \"${found[@]}\"; do "
    "if [ -d \"$f\" ] && [ ! -L \"$f\" ]; then mkdir -p -- \"$3\"; [ -z \"$4\" ] || chown -- \"$4:\" \"$3\"; cp -a -- "
    "\"$f/.\" \"$3/\"; "
    "elif [ \"${3%/}\" != \"$3\" ] || [ -d \"$3\" ] || [ ${#found[@]} -gt 1 ]; then folder \"$3\"; "
    "cp -a -- \"$f\" \"$3/\"; "
    "else mkdir -p -- \"$(dirname -- \"$3\")\"; cp -a -- \"$f\" \"$3\"; fi; done";

static int step_copy(struct work *w, const json_t *step, const json_t *args, struct fh_error *err)
{
	const char *hash = fh_json_str(step, "filesHash", ""), *source = argument(args, 0);
	fh_auto_free char *target = NULL;
	int r = expanded(w, argument(args, 1) ? argument(args, 1) : "", &target, err);
	const char *user = fh_account_named(argument(args, 2) ? argument(args, 2) : w->user), *mode = argument(args, 3);
	if (r < 0)
		return r;
	if (!source || !*target || !user)
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "COPY needs a source and a destination, and its owner must be user or root");
	fh_auto_close int fd = fh_template_build_archive_read(w->build->server, w->build->owner, hash);
	if (fd < 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the files of COPY %.128s were not uploaded", source);
	fh_auto_free char *path = path_of(w, target);
	bool folder = target[strlen(target) - 1] == '/';
	fh_auto_free char *to = fh_xasprintf("%s%s", path, folder && path[1] ? "/" : "");
	const char *const arguments[] = { ARCHIVE_PATH, source, to, owner_of(w, user), mode ? mode : "", NULL };
	r = put_archive(w, fd, err);
	return r < 0 ? r : script(w, w->hosted->one_id ? "user" : "root", copy_script, arguments, "/", err);
}

static const struct {
	const char *type;
	int (*run)(struct work *w, const json_t *step, const json_t *args, struct fh_error *err);
} kinds[] = {
	{ "ENV", step_env }, { "USER", step_user }, { "WORKDIR", step_workdir }, { "RUN", step_run }, { "COPY", step_copy },
};

static int run_step(struct work *w, const json_t *step, struct fh_error *err)
{
	const char *type = fh_json_str(step, "type", "");
	const json_t *args = json_object_get(step, "args");
	fh_auto_free char *line = fh_xasprintf("%s %s", type, argument(args, 0) ? argument(args, 0) : "");
	note(w->build, "info", fh_str(line));
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].run(w, step, args, err);
	return fh_error_set(err, FH_E_ARGUMENT,
	                    "unknown type of step %.32s: the types are ENV, USER, WORKDIR, RUN and COPY", type);
}

/* Says which step runs: its number from 1, "finalize" as E2B's builders call what follows the last one, or "". */
static void set_step(struct fh_template_build *b, const char *step)
{
	pthread_mutex_lock(&b->lock);
	snprintf(b->step, sizeof(b->step), "%s", step);
	pthread_mutex_unlock(&b->lock);
}

static int run_steps(struct work *w, struct fh_error *err)
{
	const json_t *steps = json_object_get(w->build->request, "steps"), *step;
	size_t i;
	if (json_array_size(steps) > STEPS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "a template has at most %d steps", STEPS_MAX);
	json_array_foreach(steps, i, step)
	{
		char number[24];
		snprintf(number, sizeof(number), "%zu", i + 1);
		set_step(w->build, number);
		int r = run_step(w, step, err);
		if (r < 0)
			return r;
	}
	set_step(w->build, "");
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- build */

/* The template that this one is based on: a built-in one, or the one that replaces a known image. */
static int base_of(const struct fh_template_build *b, const char **ret, struct fh_error *err)
{
	static const char *const images[] = { "e2bdev/base", "e2bdev/code-interpreter" };
	const char *image = fh_json_str(b->request, "fromImage", NULL),
	           *from = fh_json_str(b->request, "fromTemplate", NULL);
	*ret = from ? from : "base";
	if (from && !fh_templates_have(b->server->templates, b->owner, from))
		return fh_error_set(err, FH_E_NOT_FOUND, "template '%.64s' not found", from);
	if (from || !image)
		return 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(images); i++) {
		size_t n = strlen(images[i]);
		if (strncmp(image, images[i], n) == 0 && (!image[n] || image[n] == ':'))
			return 0;
	}
	return fh_error_set(err, FH_E_ARGUMENT,
	                    "fromImage %.128s: images from a registry are not available here; build from e2bdev/base, "
	                    "which has this machine's own tools, or from a template",
	                    image);
}

/* The template's settings, initially those of its base. */
static json_t *settings_of(const struct work *w)
{
	json_t *o = json_object();
	const char *start = fh_json_str(w->build->request, "startCmd", fh_json_str(w->hosted->settings, "start", NULL));
	const char *ready = fh_json_str(w->build->request, "readyCmd", fh_json_str(w->hosted->settings, "ready", NULL));
	json_object_update(o, w->build->size);
	json_object_set(o, "env", w->env);
	json_object_set_new(o, "user", json_string(w->user));
	json_object_set_new(o, "cwd", fh_json_bytes(fh_str(w->cwd)));
	if (start)
		json_object_set_new(o, "start", json_string(start));
	if (ready)
		json_object_set_new(o, "ready", json_string(ready));
	return o;
}

static int add_names(struct fh_template_build *b, struct fh_sandbox *copy, json_t *settings, struct fh_error *err)
{
	struct fh_templates *t = b->server->templates;
	const char *first = json_string_value(json_array_get(b->tags, 0));
	fh_auto_free char *name = fh_xasprintf("%s:%s", b->name, first ? first : "default"), *id = NULL;
	const struct fh_template_made made = { name, "", copy, settings, b->id };
	char build_id[FH_UUID_SIZE];
	int r = fh_templates_add(t, b->owner, &made, &id, err);
	if (r < 0) {
		(void)fh_sandbox_destroy(copy, NULL);
		fh_sandbox_free(copy);
	}
	for (size_t i = 1; r == 0 && i < json_array_size(b->tags); i++)
		r = fh_templates_tag(t, b->owner, name, json_string_value(json_array_get(b->tags, i)), build_id, err);
	return r;
}

static int build_in(struct work *w, struct fh_error *err)
{
	struct fh_sandbox *copy = NULL;
	int r = run_steps(w, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *settings = settings_of(w);
	if (fh_json_str(settings, "start", NULL)) {
		note(w->build, "info", fh_str("START"));
		set_step(w->build, "finalize");
		r = fh_start_command(w->hosted, settings, FH_START_BUILD_MS, err);
	}
	if (r == 0) {
		set_step(w->build, "");
		fh_hosted_end_programs(w->hosted);
		r = fh_sandbox_branch(w->hosted->sandbox, NULL, &copy, err);
	}
	return r < 0 ? r : add_names(w->build, copy, settings, err);
}

static int build(struct fh_template_build *b, struct fh_error *err)
{
	struct fh_hosted_request q = { .owner = b->owner, .builds = true };
	fh_auto_hosted struct fh_hosted *h = NULL;
	uint64_t lifetime = b->owner->ceilings.value[FH_CEILING_LIFETIME];
	int r = base_of(b, &q.template_id, err);
	q.lifetime_ms = FH_MIN(lifetime, BUILD_LIFETIME_MS);
	if (r < 0 || (r = fh_hosted_create(b->server->registry, &q, &h, err)) < 0)
		return r;
	const char *user = fh_json_str(h->settings, "user", "user");
	struct work w = { .build = b, .hosted = h, .env = json_object(), .user = fh_xstrdup(user) };
	w.cwd = fh_xstrdup(fh_json_str(h->settings, "cwd", fh_account_home(user)));
	json_object_update(w.env, json_object_get(h->settings, "env"));
	r = build_in(&w, err);
	json_decref(w.env);
	free(w.user);
	free(w.cwd);
	(void)fh_hosted_end(h);
	return r;
}

void *fh_template_build_run(void *context)
{
	struct fh_template_build *b = context;
	struct fh_error err = FH_ERROR_INIT;
	int r = build(b, &err);
	note(b, r < 0 ? "error" : "info", fh_str(r < 0 ? err.message : "the template is ready"));
	pthread_mutex_lock(&b->lock);
	b->state = r < 0 ? FH_BUILD_FAILED : FH_BUILD_READY;
	b->reason = r < 0 ? fh_xstrdup(err.message) : NULL;
	pthread_mutex_unlock(&b->lock);
	fh_template_build_drop(b);
	return NULL;
}
