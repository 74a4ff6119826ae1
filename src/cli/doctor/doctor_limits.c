/* SPDX-License-Identifier: MIT */
/* Tests each limit with a program that exceeds it: how exact the engine says the limit is here, and what happened. */
#include "cli/doctor/doctor.h"

#include <stdio.h>

#include "proto/plan.h"

enum { WALL_MS = 20000, RATE_MS = 400 };
#define SEE_DELEGATION "see the line of delegation"

/* A test. `held` says whether the result shows that the limit worked, and describes what happened. */
struct trial {
	enum fh_limit limit;
	uint64_t value;
	const char *script; /* shell script that runs in the sandbox */
	bool (*held)(const struct fh_result *r, char *ret, size_t size);
};

static bool held_time(const struct fh_result *r, char *ret, size_t size)
{
	uint64_t cpu = r->usage.cpu_user_us + r->usage.cpu_sys_us;
	snprintf(ret, size, "a busy program was ended after %.3f s of CPU time", (double)cpu / 1e6);
	return r->status == FH_STATUS_CPU_TIME_LIMIT;
}

static bool held_wall(const struct fh_result *r, char *ret, size_t size)
{
	snprintf(ret, size, "a sleeping program was ended after %.3f s", (double)r->usage.wall_us / 1e6);
	return r->status == FH_STATUS_WALL_TIME_LIMIT;
}

static bool held_memory(const struct fh_result *r, char *ret, size_t size)
{
	snprintf(ret, size, "a program that takes more and more was ended at %.1f MiB",
	         (double)r->usage.memory_peak_bytes / (1 << 20));
	return r->status == FH_STATUS_MEMORY_LIMIT;
}

static bool held_processes(const struct fh_result *r, char *ret, size_t size)
{
	const char *said = (const char *)r->stream_data[FH_STDERR]; /* a shell's "Cannot fork", which samples may miss */
	snprintf(ret, size, "one fork too many failed inside");
	return r->fired >> FH_LIMIT_PROCESSES & 1 || (said && strcasestr(said, "fork"));
}

/* This limit cannot be exceeded, it only slows the program: a tenth of a processor for 0.4 s is 0.04 s of CPU time;
 * even four times that is far from 0.4 s. */
static bool held_rate(const struct fh_result *r, char *ret, size_t size)
{
	uint64_t cpu = r->usage.cpu_user_us + r->usage.cpu_sys_us;
	snprintf(ret, size, "a busy program got %.3f s of CPU time in %.3f s", (double)cpu / 1e6,
	         (double)r->usage.wall_us / 1e6);
	return cpu * 5 < r->usage.wall_us * 2;
}

static bool held_output(const struct fh_result *r, char *ret, size_t size)
{
	snprintf(ret, size, "what a program wrote without end was cut at byte %zu", r->stream_size[FH_STDOUT]);
	return r->status == FH_STATUS_OUTPUT_LIMIT;
}

static bool held_file(const struct fh_result *r, char *ret, size_t size)
{
	snprintf(ret, size, "a file grew that far and no farther");
	return r->fired >> FH_LIMIT_FILE_SIZE & 1;
}

static bool held_disk(const struct fh_result *r, char *ret, size_t size)
{
	snprintf(ret, size, "the disk was full inside when it was reached");
	return r->fired >> FH_LIMIT_DISK & 1;
}

static bool held_files(const struct fh_result *r, char *ret, size_t size)
{
	struct fh_str said = { (const char *)r->stream_data[FH_STDOUT], r->stream_size[FH_STDOUT] };
	snprintf(ret, size, "the kernel reports the program's limit as asked for");
	return fh_str_eq(said, "16\n");
}

static const struct trial trials[] = {
	{ FH_LIMIT_CPU_TIME, 200, "while :; do :; done", held_time },
	{ FH_LIMIT_WALL_TIME, 200, "sleep 60", held_wall },
	{ FH_LIMIT_MEMORY, 48 << 20, "exec tail /dev/zero", held_memory },
	{ FH_LIMIT_PROCESSES, 6, "for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; kill 0", held_processes },
	{ FH_LIMIT_CPU_RATE, 100, "while :; do :; done", held_rate },
	{ FH_LIMIT_OUTPUT, 4096, "while :; do echo word; done", held_output },
	{ FH_LIMIT_FILE_SIZE, 65536, "exec head -c 1000000 /dev/zero > file", held_file },
	{ FH_LIMIT_DISK, 1 << 20, "head -c 8000000 /dev/zero > file", held_disk },
	{ FH_LIMIT_OPEN_FILES, 16, "ulimit -n", held_files },
};

static const char *const overshoot[FH_LIMIT_COUNT_] = {
	[FH_LIMIT_CPU_TIME] = " (sampled: by up to 10 ms for each processor)",
	[FH_LIMIT_MEMORY] = " (sampled: by what the tree touches in 10 ms)",
};

static void prepare(const struct trial *t, struct fh_doctor_job *j)
{
	const char *argv[] = { "sh", "-c", t->script, NULL };
	struct fh_request request;
	fh_request_init(&request);
	request.argv = argv;
	request.limits.value[FH_LIMIT_WALL_TIME] = t->limit == FH_LIMIT_CPU_RATE ? RATE_MS : WALL_MS;
	request.limits.value[t->limit] = t->value;
	(void)fh_plan_build(&request, &j->plan, &j->err);
}

static void report(struct fh_checkup *c, const struct trial *t, const struct fh_doctor_job *j)
{
	const char *name = fh_limit_table[t->limit].name;
	enum fh_enforced enforced = c->sandbox->enforced[t->limit];
	char words[128];
	if (enforced == FH_ENFORCED_NONE)
		(void)fh_finding_add(c, name, FH_WORTH_WEAKER, SEE_DELEGATION, "none: nothing on this host keeps it");
	else if (!j->result)
		(void)fh_finding_add(c, name, FH_WORTH_WEAKER, j->err.hint[0] ? j->err.hint : NULL, "not tried: %s",
		                     j->err.message);
	else if (!t->held(j->result, words, sizeof(words)))
		(void)fh_finding_add(c, name, FH_WORTH_WEAKER, "report it, with the output of `fumehood doctor --json`",
		                     "%s is claimed, but a program that went over it ended as %s", fh_enforced_name(enforced),
		                     fh_status_name(j->result->status));
	else if (enforced == FH_ENFORCED_EXACT)
		(void)fh_finding_add(c, name, FH_WORTH_OK, NULL, "exact: %s", words);
	else
		(void)fh_finding_add(c, name, FH_WORTH_WEAKER, SEE_DELEGATION, "bounded%s: %s",
		                     overshoot[t->limit] ? overshoot[t->limit] : "", words);
}

void fh_doctor_limits(struct fh_checkup *c)
{
	struct fh_doctor_job jobs[FH_ARRAY_SIZE(trials)] = { 0 };
	if (!c->sandbox)
		return;
	for (size_t i = 0; i < FH_ARRAY_SIZE(trials); i++)
		prepare(&trials[i], &jobs[i]);
	fh_doctor_run(c, jobs, FH_ARRAY_SIZE(trials));
	for (size_t i = 0; i < FH_ARRAY_SIZE(trials); i++) {
		report(c, &trials[i], &jobs[i]);
		fh_doctor_job_release(&jobs[i]);
	}
}
