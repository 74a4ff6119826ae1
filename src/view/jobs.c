/* SPDX-License-Identifier: MIT */
#include "view/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum {
	CONFIGS_MAX = 200,
	LOG_SHOWN = 16 << 10,
	PROMPT_MAX = 3 << 20, /* maximum bytes of a prompt; smaller than the server's limit for a body */
	SOME_FAILED = 100     /* exit status of an eval whose tests did not pass */
};

void fh_view_jobs_init(struct fh_view_jobs *j)
{
	memset(j, 0, sizeof(*j));
	pthread_mutex_init(&j->lock, NULL);
}

static void drop(struct fh_view_job *job)
{
	if (!job->ended)
		fh_child_forget(&job->child);
	fh_closep(&job->log);
	free(job->what);
}

void fh_view_jobs_release(struct fh_view_jobs *j)
{
	for (size_t i = 0; i < j->count; i++)
		drop(&j->items[i]);
	pthread_mutex_destroy(&j->lock);
}

/* ------------------------------------------------------------------------------------------------- configurations */

static bool is_config(const char *name)
{
	const char *extension = fh_path_ext(name);
	struct stat st;
	return *name != '.' && *name != '-' && (strcmp(extension, ".yaml") == 0 || strcmp(extension, ".yml") == 0) &&
	       (strstr(name, "promptfoo") || strstr(name, "config") || strstr(name, "eval")) && stat(name, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

/* The names of configurations in the folder, unsorted. */
static json_t *configs(void)
{
	json_t *names = json_array();
	DIR *d = opendir(".");
	for (const struct dirent *e; d && json_array_size(names) < CONFIGS_MAX && (e = readdir(d));)
		if (is_config(e->d_name))
			json_array_append_new(names, fh_json_bytes(fh_str(e->d_name)));
	if (d)
		closedir(d);
	return names;
}

static void get_configs(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_free char *folder = getcwd(NULL, 0);
	fh_http_reply_json(
	    r, 200, json_pack("{s:o, s:o}", "folder", fh_json_bytes(fh_str(folder ? folder : "")), "configs", configs()));
}

/* ----------------------------------------------------------------------------------------------------------- jobs */

static void look_after(struct fh_view_job *job)
{
	if (!job->ended && fh_child_wait(&job->child, 0, &job->status, NULL) == 0)
		job->ended = true;
}

static json_t *job_json(const struct fh_view_job *job)
{
	char log[LOG_SHOWN], began[32];
	off_t size = lseek(job->log, 0, SEEK_END), from = size > LOG_SHOWN ? size - LOG_SHOWN : 0;
	ssize_t n = size > 0 ? pread(job->log, log, LOG_SHOWN, from) : 0;
	int code = job->ended && WIFEXITED(job->status) ? WEXITSTATUS(job->status) : -1;
	const char *state = !job->ended ? "running" : code == 0 || code == SOME_FAILED ? "complete" : "failed";
	return json_pack("{s:i, s:o, s:s, s:o, s:s, s:o}", "number", (int)job->number, "what",
	                 fh_json_bytes(fh_str(job->what)), "state", state, "exitCode",
	                 code < 0 ? json_null() : json_integer(code), "began", fh_iso_time(job->began_ms, began), "log",
	                 fh_json_bytes((struct fh_str){ log, n > 0 ? (size_t)n : 0 }));
}

static void get_jobs(struct fh_http_request *r, struct fh_str body)
{
	struct fh_view_jobs *j = &((struct fh_view *)fh_http_context(r))->jobs;
	json_t *list = json_array();
	pthread_mutex_lock(&j->lock);
	for (size_t i = 0; i < j->count; i++) {
		look_after(&j->items[i]);
		json_array_append_new(list, job_json(&j->items[i]));
	}
	pthread_mutex_unlock(&j->lock);
	fh_http_reply_json(r, 200, json_pack("{s:o}", "jobs", list));
}

/* A free place for a job, if necessary that of an ended one. NULL: too many are running. */
static struct fh_view_job *room(struct fh_view_jobs *j)
{
	size_t running = 0;
	for (size_t i = 0; i < j->count; i++) {
		look_after(&j->items[i]);
		running += !j->items[i].ended;
	}
	if (running >= FH_VIEW_JOBS_AT_ONCE)
		return NULL;
	for (size_t i = 0; j->count == FH_VIEW_JOBS_MAX && i < j->count; i++)
		if (j->items[i].ended) {
			drop(&j->items[i]);
			memmove(&j->items[i], &j->items[i + 1], (j->count - i - 1) * sizeof(*j->items));
			j->count--;
		}
	return &j->items[j->count];
}

/* A memory file with the text, to be read from its beginning. Negative: errno says why there is none. */
static int file_of(const char *text)
{
	fh_auto_close int fd = memfd_create("fumehood-view-prompt", MFD_CLOEXEC);
	if (fd < 0 || fh_write_all(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return FH_TAKE_FD(fd);
}

static int start(struct fh_view_job *job, const char *what, const char *const *argv, FH_NULLABLE const char *input,
                 struct fh_error *err)
{
	fh_auto_free char *dir = fh_path_self_dir(), *program = fh_xasprintf("%s/fumehood-eval", dir ? dir : ".");
	fh_auto_close int log = memfd_create("fumehood-view-job", MFD_CLOEXEC);
	fh_auto_close int in = input ? file_of(input) : -1;
	if (log < 0 || (input && in < 0))
		return fh_error_sys(err, errno, "cannot keep what the eval prints");
	struct fh_child_options o = { .file = program, .argv = argv, .stdio = { in, log, log }, .flags = FH_CHILD_SESSION };
	struct fh_view_job fresh = { .began_ms = fh_wall_ms() };
	int r = fh_child_start(&fresh.child, &o, err);
	if (r < 0)
		return r;
	fresh.what = fh_xstrdup(what);
	fresh.log = FH_TAKE_FD(log);
	*job = fresh;
	return 0;
}

static void begin(struct fh_http_request *r, const char *what, const char *const *argv, FH_NULLABLE const char *input)
{
	struct fh_view_jobs *j = &((struct fh_view *)fh_http_context(r))->jobs;
	struct fh_error err = FH_ERROR_INIT;
	pthread_mutex_lock(&j->lock);
	struct fh_view_job *job = room(j);
	int e = job ? start(job, what, argv, input, &err) : 0;
	json_t *answer = NULL;
	if (job && e == 0) {
		job->number = j->begun++;
		j->count++;
		answer = job_json(job);
	}
	pthread_mutex_unlock(&j->lock);
	if (answer)
		fh_http_reply_json(r, 200, answer);
	else if (e < 0)
		fh_view_fail_from(r, &err);
	else
		fh_view_fail(r, 429, "%d evals that were started here are running already", FH_VIEW_JOBS_AT_ONCE);
}

/* Whether the text is "ROW.COLUMN". */
static bool is_place(const char *text)
{
	static const char digits[] = "0123456789";
	size_t row = strspn(text, digits), column = text[row] == '.' ? strspn(text + row + 1, digits) : 0;
	return row > 0 && column > 0 && row + column < 20 && !text[row + 1 + column];
}

/* Runs one cell again, as a new eval with the tag "cell-of". */
static void begin_cell(struct fh_http_request *r, const char *id, const char *cell, FH_NULLABLE const json_t *prompt)
{
	fh_auto_free char *what = fh_xasprintf("retry %s, cell %s", id, cell);
	const char *const own[] = { "retry", "--no-table", "--cell", cell, "--", id, NULL };
	const char *const other[] = { "retry", "--no-table", "--cell", cell, "--prompt-file", "-", "--", id, NULL };
	begin(r, what, prompt ? other : own, json_string_value(prompt));
}

/* The request's body is {config: NAME}, {retry: ID} or {retry: ID, cell: "ROW.COLUMN", prompt: TEXT}. */
static void post_job(struct fh_http_request *r, struct fh_str body)
{
	fh_auto_json json_t *given = fh_json_parse(body, NULL, NULL);
	const char *config = fh_json_str(given, "config", NULL), *retry = fh_json_str(given, "retry", NULL);
	if (config && !strchr(config, '/') && is_config(config)) {
		const char *const argv[] = { "eval", "-c", config, NULL };
		begin(r, config, argv, NULL);
	} else if (retry) {
		fh_auto_visit struct fh_view_visit v = { 0 };
		const char *cell = fh_json_str(given, "cell", NULL);
		const json_t *prompt = json_object_get(given, "prompt");
		if (!fh_view_visit_named(r, retry, &v))
			return;
		if (cell &&
		    (!is_place(cell) || (prompt && !json_is_string(prompt)) || json_string_length(prompt) > PROMPT_MAX)) {
			fh_view_fail(r, 400, "\"cell\" is \"ROW.COLUMN\", and \"prompt\" a text of at most %d MiB",
			             PROMPT_MAX >> 20);
			return;
		}
		if (cell) {
			begin_cell(r, v.eval.id, cell, prompt);
			return;
		}
		fh_auto_free char *what = fh_xasprintf("retry %s", v.eval.id);
		const char *const argv[] = { "retry", "--", v.eval.id, NULL };
		begin(r, what, argv, NULL);
	} else {
		fh_view_fail(r, 400, "the body must be {\"config\": NAME}, a configuration of the folder, or {\"retry\": ID}");
	}
}

/* Sends SIGINT, as Ctrl-C does: the eval keeps its finished cells. */
static void delete_job(struct fh_http_request *r, struct fh_str body)
{
	struct fh_view_jobs *j = &((struct fh_view *)fh_http_context(r))->jobs;
	char *end;
	const char *text = fh_http_segment(r, 0);
	unsigned long number = strtoul(text, &end, 10);
	bool there = *text && !*end;
	size_t i = 0;
	pthread_mutex_lock(&j->lock);
	while (i < j->count && j->items[i].number != number)
		i++;
	there = there && i < j->count;
	if (there)
		look_after(&j->items[i]);
	if (there && !j->items[i].ended)
		(void)kill(j->items[i].child.pid, SIGINT);
	pthread_mutex_unlock(&j->lock);
	if (there)
		fh_http_reply_empty(r, 204);
	else
		fh_view_fail(r, 404, "there is no job %s", text);
}

const struct fh_http_route fh_view_job_routes[] = {
	{ "GET", "/api/view/configs", get_configs },
	{ "GET", "/api/view/jobs", get_jobs },
	{ "POST", "/api/view/jobs", post_job },
	{ "DELETE", "/api/view/jobs/{number}", delete_job },
	{ 0 },
};
