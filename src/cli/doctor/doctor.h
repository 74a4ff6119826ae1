/* SPDX-License-Identifier: MIT */
/*
 * `fumehood doctor`: reports how well each thing that fumehood builds on works on this machine.
 *
 * Each group of probes is a function that adds findings; a table in doctor.c lists them. Probes ask the kernel or a
 * run, and do not rely on what should be there. A finding is one line: its name, how well it works here, and how to
 * improve it where possible.
 */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

enum fh_worth {
	FH_WORTH_OK,
	FH_WORTH_NOTE,   /* for information: nothing is missing or weak */
	FH_WORTH_WEAKER, /* runs are possible, but something is missing or protects less */
	FH_WORTH_BLOCKS, /* no run is possible because of this finding */
	FH_WORTH_COUNT_
};

struct fh_finding {
	const char *group; /* name of the group of probes; a constant string */
	char *name;
	enum fh_worth worth;
	char *here; /* one sentence without a full stop; text from elsewhere in it is not yet escaped */
	char *mend; /* a command, or what to do; NULL: nothing to improve */
};

struct fh_checkup {
	struct fh_finding *findings;
	size_t count, capacity;
	const char *group;         /* group of the findings that are being added */
	struct fh_client *client;  /* NULL: no engine could be started, and a finding says why */
	struct fh_result *sandbox; /* result of a plain run; NULL: the run failed, and a finding says why */
};

/* Adds a finding; the pointer is valid until the next one is added. mend: NULL, or text that is copied. */
struct fh_finding *fh_finding_add(struct fh_checkup *c, const char *name, enum fh_worth worth,
                                  FH_NULLABLE const char *mend, const char *format, ...) FH_PRINTF(5, 6);

/* The groups, in order. The first four need the rights that we were started with; the others use sandboxes. */
void fh_doctor_kernel(struct fh_checkup *c);    /* doctor_kernel.c: the system calls that sandboxes need */
void fh_doctor_host(struct fh_checkup *c);      /* doctor_host.c: settings, mounts, devices */
void fh_doctor_programs(struct fh_checkup *c);  /* doctor_programs.c: whether the commands' programs can start */
void fh_doctor_engine(struct fh_checkup *c);    /* doctor_run.c: starts the engine, and gives up root's rights */
void fh_doctor_sandbox(struct fh_checkup *c);   /* doctor_run.c: a plain run and its layers of isolation */
void fh_doctor_limits(struct fh_checkup *c);    /* doctor_limits.c: a program that exceeds each limit */
void fh_doctor_groups(struct fh_checkup *c);    /* doctor_host.c: control groups, after the limits */
void fh_doctor_languages(struct fh_checkup *c); /* doctor_run.c: a program of each language */

/* A run by the checkup's engine. */
struct fh_doctor_job {
	FH_NULLABLE struct fh_plan *plan; /* NULL: no plan could be made, and err says why */
	struct fh_result *result;         /* NULL: the run failed, and err says why */
	struct fh_error err;
};
/* Runs all jobs that have a plan, concurrently. Release each one. */
void fh_doctor_run(struct fh_checkup *c, struct fh_doctor_job *jobs, size_t n);
void fh_doctor_job_release(struct fh_doctor_job *j);
/* How to allow executing files in a folder whose mount forbids it; NULL when it is allowed. free() it. */
FH_NULLABLE char *fh_doctor_noexec(const char *path);
