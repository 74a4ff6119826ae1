/* SPDX-License-Identifier: MIT */
/*
 * An error, as a plain value.
 *
 * A struct fh_error belongs to the caller, holds no pointers and is never freed: it can be copied, kept and sent
 * through a pipe. Functions that can fail return 0 or a negative enum fh_code and fill the error that they were given;
 * a NULL error is allowed. On success the error is not changed. Libraries never print an error and never exit.
 *
 * `message` is lower-case, without a full stop, and names the object ("cannot open problems.jsonl: no such file").
 * `hint` says how to fix it, and may be empty. If the user's own input is wrong (a config, a data set), `file`, `line`
 * and `column` point into it; `line` and `column` count from 1, and 0 means unknown.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports. */
#ifndef FH_PUBLIC
#define FH_PUBLIC __attribute__((visibility("default")))
#endif

enum fh_code {
	FH_OK = 0,
	FH_E_ARGUMENT,  /* the call is invalid: an option, or a combination of them */
	FH_E_CONFIG,    /* a file that the user wrote is invalid; file, line and column say where */
	FH_E_NOT_FOUND, /* a file, tool, language, sandbox or process does not exist */
	FH_E_SYSTEM,    /* the kernel or libc reported an error: `sys` holds errno */
	FH_E_LIMIT,     /* one of our own limits was reached (frame, file, queue) */
	FH_E_PROTOCOL,  /* the peer broke the protocol */
	FH_E_TIMEOUT,
	FH_E_CANCELLED,
	FH_E_UNAVAILABLE, /* this host lacks something that was required (a layer, a namespace) */
	FH_E_BUG,         /* an internal invariant does not hold */
	FH_CODE_COUNT_
};

/* The phase of a request in which it failed; FH_PHASE_NONE outside the engine. */
enum fh_phase {
	FH_PHASE_NONE = 0,
	FH_PHASE_CONNECT, /* starting or reaching the engine */
	FH_PHASE_PLAN,    /* making or reading the plan */
	FH_PHASE_CREATE,  /* namespaces, mounts, ids, cgroups of the sandbox */
	FH_PHASE_FILES,   /* files in or out */
	FH_PHASE_SPAWN,   /* starting a process */
	FH_PHASE_RUN,     /* while the program ran */
	FH_PHASE_DESTROY, /* removing the sandbox */
	FH_PHASE_COUNT_
};

struct fh_error {
	enum fh_code code;
	enum fh_phase phase;
	int sys;        /* errno, or 0 */
	bool retryable; /* the same request, unchanged, may succeed later */
	uint32_t line, column;
	char file[256];
	char message[512];
	char hint[384];
};

#define FH_ERROR_INIT                                                                                                  \
	{                                                                                                                  \
		.code = FH_OK                                                                                                  \
	}

/* The names used in JSON: "argument", "config", … and "create", "spawn", … Never NULL. */
FH_PUBLIC FH_PUBLIC const char *fh_code_name(enum fh_code code);
FH_PUBLIC FH_PUBLIC const char *fh_phase_name(enum fh_phase phase);

#ifdef __cplusplus
}
#endif
