/* SPDX-License-Identifier: MIT */
/*
 * `fumehood doctor`: what each thing that fumehood builds on is worth on this machine.
 *
 * A group of probes is a function that adds findings, in one table (doctor.c); each looks at the kernel or at a run,
 * never at what ought to be. A finding is one line: what it is, what it is worth here, and what mends it where that is
 * less than it could be.
 */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

enum fh_worth {
	FH_WORTH_OK,
	FH_WORTH_NOTE,   /* good to know; nothing is lost */
	FH_WORTH_WEAKER, /* runs are possible, and something is not there or holds less */
	FH_WORTH_BLOCKS, /* no run is possible because of this */
	FH_WORTH_COUNT_
};

struct fh_finding {
	const char *group; /* constant */
	char *name;
	enum fh_worth worth;
	char *here; /* one sentence without a full stop; text of others in it is not escaped yet */
	char *mend; /* a command, or what to do; NULL: there is nothing to mend */
};

struct fh_checkup {
	struct fh_finding *findings;
	size_t count, capacity;
	const char *group;         /* whose findings are being added */
	struct fh_client *client;  /* NULL: there is no engine, and a finding says why */
	struct fh_result *sandbox; /* of a plain run that worked; NULL: no sandbox could be made, and a finding says why */
};

/* The pointer is good until the next one is added. mend: NULL, or text that is copied. */
struct fh_finding *fh_finding_add(struct fh_checkup *c, const char *name, enum fh_worth worth,
                                  FH_NULLABLE const char *mend, const char *format, ...) FH_PRINTF(5, 6);

/* The groups. The first four need whatever rights we were started with, the others run in sandboxes. */
void fh_doctor_kernel(struct fh_checkup *c);    /* doctor_kernel.c: the system calls that a sandbox is made of */
void fh_doctor_host(struct fh_checkup *c);      /* doctor_host.c: settings, mounts, devices */
void fh_doctor_programs(struct fh_checkup *c);  /* doctor_programs.c: whether the commands' programs can start */
void fh_doctor_engine(struct fh_checkup *c);    /* doctor_run.c: starts the engine, and gives up root's rights */
void fh_doctor_sandbox(struct fh_checkup *c);   /* doctor_run.c: one plain run, and the layers that it had */
void fh_doctor_limits(struct fh_checkup *c);    /* doctor_limits.c: a program that goes over each limit */
void fh_doctor_groups(struct fh_checkup *c);    /* doctor_host.c: control groups, by what the limits were worth */
void fh_doctor_languages(struct fh_checkup *c); /* doctor_run.c: a program of each language */

/* One run of the checkup's engine. */
struct fh_doctor_job {
	FH_NULLABLE struct fh_plan *plan; /* NULL: there is none, and err says why */
	struct fh_result *result;         /* NULL: it did not take place, and err says why */
	struct fh_error err;
};
/* Runs those that have a plan, all at the same time; release each. */
void fh_doctor_run(struct fh_checkup *c, struct fh_doctor_job *jobs, size_t n);
void fh_doctor_job_release(struct fh_doctor_job *j);
/* What mends a folder that is mounted without the right to execute; NULL when it is not. free() it. */
FH_NULLABLE char *fh_doctor_noexec(const char *path);
