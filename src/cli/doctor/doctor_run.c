/* SPDX-License-Identifier: MIT */
/* The engine, one plain run and its layers, and one run of each language. */
#include "cli/doctor/doctor.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process/launcher.h"
#include "cli/shared/progress.h"
#include "proto/plan.h"
#include "sandbox/planning/language.h"

void fh_doctor_engine(struct fh_checkup *c)
{
	struct fh_error err = FH_ERROR_INIT;
	if (fh_client_open(NULL, &c->client, &err) < 0) {
		(void)fh_finding_add(c, "engine", FH_WORTH_BLOCKS, err.hint[0] ? err.hint : NULL, "%s", err.message);
		return;
	}
	(void)fh_finding_add(c, "engine", FH_WORTH_OK, NULL, "starts and answers");
	if (fh_launcher_forgo(&err) < 0)
		(void)fh_finding_add(c, "root's rights", FH_WORTH_WEAKER, NULL, "%s", err.message);
}

struct worker {
	struct fh_client *client;
	struct fh_doctor_job *job;
	struct fh_progress *bar;
	_Atomic unsigned *done;
	pthread_t thread;
	bool started;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	struct fh_doctor_job *j = w->job;
	if (fh_run(w->client, j->plan, NULL, &j->result, &j->err) == 0 && j->result->status == FH_STATUS_ENGINE_ERROR) {
		j->err = j->result->error;
		fh_result_free(FH_TAKE_PTR(j->result));
	}
	fh_progress_step(w->bar, ++*w->done, NULL);
	return NULL;
}

void fh_doctor_run(struct fh_checkup *c, struct fh_doctor_job *jobs, size_t n)
{
	fh_auto_free struct worker *workers = fh_xcalloc(n, sizeof(*workers));
	_Atomic unsigned done = 0;
	unsigned total = 0;
	for (size_t i = 0; i < n; i++)
		total += jobs[i].plan != NULL;
	/* on a terminal only: many keep what doctor says on both streams */
	struct fh_progress *bar = fh_progress_new(c->group, total, !isatty(STDERR_FILENO));
	fh_progress_step(bar, 0, NULL);
	for (size_t i = 0; i < n; i++) {
		workers[i] = (struct worker){ .client = c->client, .job = &jobs[i], .bar = bar, .done = &done };
		if (!jobs[i].plan)
			continue;
		workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
		if (!workers[i].started)
			work(&workers[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
	fh_progress_free(bar);
}

void fh_doctor_job_release(struct fh_doctor_job *j)
{
	fh_plan_free(j->plan);
	fh_result_free(j->result);
}

/* --------------------------------------------------------------------------------------------------------- layers */

static const char *worth_of_user(void)
{
	return geteuid() == 0 ? "ids that count for nothing outside; as root a range of host ids for each live sandbox"
	                      : "ids that count for nothing outside; on the host the sandbox is you, under one id";
}

static const char *worth_of_landlock(void)
{
	enum { VERSION = 1, WITH_SCOPES = 6 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
	return abi >= WITH_SCOPES
	           ? "a second wall for files, signals and abstract sockets"
	           : "a second wall for files; signals and abstract sockets only from Linux 6.12 on (the pid and "
	             "network namespaces keep those in)";
}

/* Tells what is lost without a layer. All of these are optional: without a required layer there would be no run. */
static const struct {
	const char *worth;
	const char *(*worth_here)(void);
	const char *mend;
} layers[FH_LAYER_COUNT_] = {
	[FH_LAYER_USER] = { NULL, worth_of_user, NULL },
	[FH_LAYER_PID] = { "sees and signals only its own processes, which all die with it", NULL, NULL },
	[FH_LAYER_MOUNT] = { "sees only what its plan lists, read-only but for its own folders", NULL, NULL },
	[FH_LAYER_NETWORK] = { "reaches nothing but its own loopback", NULL, NULL },
	[FH_LAYER_IPC] = { "shares no memory or message queue with others", NULL, NULL },
	[FH_LAYER_UTS] = { "has a host name of its own", NULL, NULL },
	[FH_LAYER_CGROUP] = { "does not see the host's control groups", NULL,
	                      "Linux 4.6 or newer with CONFIG_CGROUPS; in a container: a seccomp profile that allows "
	                      "unshare(CLONE_NEWCGROUP)" },
	[FH_LAYER_NO_NEW_PRIVS] = { "gains no right by executing a program", NULL, NULL },
	[FH_LAYER_CAPABILITIES] = { "holds none, not even in its own namespaces", NULL, NULL },
	[FH_LAYER_SECCOMP] = { "may call what the list allows (`fumehood-engine --policy`); the rest is not there", NULL,
	                       NULL },
	[FH_LAYER_LANDLOCK] = { NULL, worth_of_landlock, "see the line of the kernel's landlock" },
	[FH_LAYER_PROC] = { "a /proc of its own, with the host's facts covered", NULL, NULL },
	[FH_LAYER_INODES] = { "inodes of its own for the host's system: its locks and watches concern nobody outside", NULL,
	                      "the overlay file system (modprobe overlay; Linux 5.11 for users), /usr and /etc on the "
	                      "root's "
	                      "own file system, and nothing mounted inside what sandboxes see of them" },
};

void fh_doctor_sandbox(struct fh_checkup *c)
{
	const char *const argv[] = { "true", NULL };
	struct fh_request request;
	fh_request_init(&request);
	request.argv = argv;
	if (!c->client)
		return;
	struct fh_doctor_job job = { 0 };
	if (fh_plan_build(&request, &job.plan, &job.err) == 0)
		fh_doctor_run(c, &job, 1);
	c->sandbox = FH_TAKE_PTR(job.result);
	fh_doctor_job_release(&job);
	if (!c->sandbox) {
		(void)fh_finding_add(c, "sandbox", FH_WORTH_BLOCKS, job.err.hint[0] ? job.err.hint : NULL, "%s",
		                     job.err.message);
		return;
	}
	for (int l = 0; l < FH_LAYER_COUNT_; l++) {
		const char *worth = layers[l].worth_here ? layers[l].worth_here() : layers[l].worth;
		if (c->sandbox->layers >> l & 1)
			(void)fh_finding_add(c, fh_layer_name(l), FH_WORTH_OK, NULL, "%s", worth);
		else
			(void)fh_finding_add(c, fh_layer_name(l), FH_WORTH_WEAKER, layers[l].mend, "missing: %s",
			                     c->sandbox->layer_missing[l] ? c->sandbox->layer_missing[l]
			                                                  : "the engine says nothing");
	}
}

/* ------------------------------------------------------------------------------------------------------ languages */

/* The first line of a failed program's output. */
static char *first_words(const struct fh_result *r)
{
	const char *text = (const char *)r->stream_data[FH_STDERR];
	size_t n = r->stream_size[FH_STDERR];
	const char *end = n ? memchr(text, '\n', n) : NULL;
	return fh_xstrndup(text ? text : "", FH_MIN(end ? (size_t)(end - text) : n, (size_t)200));
}

static char *mend_install(const struct fh_language *l)
{
	return fh_xasprintf("sudo apt-get install %s (that is its name on Debian and Ubuntu)", l->package);
}

static void prepare(const struct fh_language *l, struct fh_doctor_job *j)
{
	struct fh_request request;
	fh_request_init(&request);
	request.language = l->name;
	request.code = (struct fh_bytes){ l->hello ? l->hello : "", l->hello ? strlen(l->hello) : 0 };
	(void)fh_plan_build(&request, &j->plan, &j->err);
}

static const char *tool_of(const struct fh_language *l, const struct fh_doctor_job *j)
{
	const char *tool = j->plan->compile ? j->plan->compile->interpreter : j->plan->interpreter;
	return tool ? tool : l->tools[0];
}

static void report(struct fh_checkup *c, const struct fh_language *l, const struct fh_doctor_job *j)
{
	fh_auto_free char *install = mend_install(l);
	if (!j->plan) { /* a missing language matters only to users who want to run it */
		enum fh_worth worth = j->err.code == FH_E_NOT_FOUND ? FH_WORTH_NOTE : FH_WORTH_WEAKER;
		(void)fh_finding_add(c, l->name, worth, install, "%s", j->err.message);
		return;
	}
	const char *tool = tool_of(l, j);
	if (!j->err.code && !j->result) {
		(void)fh_finding_add(c, l->name, FH_WORTH_NOTE, NULL, "%s is there; it was not tried: %s", tool,
		                     l->hello ? "there is no sandbox" : "its data file has no \"hello\"");
		return;
	}
	fh_auto_free char *noexec = fh_doctor_noexec(tool);
	if (!j->result) {
		(void)fh_finding_add(c, l->name, FH_WORTH_WEAKER,
		                     noexec           ? noexec
		                     : j->err.hint[0] ? j->err.hint
		                                      : NULL,
		                     "%s", j->err.message);
		return;
	}
	const struct fh_result *r = j->result;
	struct fh_str said = { (const char *)r->stream_data[FH_STDOUT], r->stream_size[FH_STDOUT] };
	if (r->status == FH_STATUS_OK && fh_str_eq(said, "hello\n")) {
		(void)fh_finding_add(c, l->name, FH_WORTH_OK, NULL, "%s", tool);
		return;
	}
	fh_auto_free char *words = first_words(r);
	(void)fh_finding_add(c, l->name, FH_WORTH_WEAKER, noexec ? noexec : install, "%s does not work inside: %s%s%s",
	                     tool, fh_status_name(r->status), words[0] ? ": " : "", words);
}

void fh_doctor_languages(struct fh_checkup *c)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_language **all = NULL;
	size_t n = 0;
	if (fh_language_all(&all, &n, &err) < 0) {
		(void)fh_finding_add(c, "languages", FH_WORTH_WEAKER, err.hint[0] ? err.hint : NULL, "%s", err.message);
		return;
	}
	fh_auto_free struct fh_doctor_job *jobs = fh_xcalloc(n + 1, sizeof(*jobs)), *run = fh_xcalloc(n + 1, sizeof(*run));
	for (size_t i = 0; i < n; i++)
		prepare(all[i], &jobs[i]);
	for (size_t i = 0; i < n; i++)
		run[i].plan = c->sandbox && all[i]->hello ? jobs[i].plan : NULL;
	fh_doctor_run(c, run, n);
	for (size_t i = 0; i < n; i++) {
		if (run[i].plan)
			jobs[i] = run[i];
		report(c, all[i], &jobs[i]);
		fh_doctor_job_release(&jobs[i]);
		fh_language_free(all[i]);
	}
	free(all);
}
