/* SPDX-License-Identifier: MIT */
/*
 * Sessions and runs with a real engine, as a program of libfumehood has them. test_session.py runs each test by name,
 * over a socket pair and over pipes through a shell:
 *
 *     session-driver PLACEMENT NAME      0: as it should be; otherwise what is not, on stderr
 *     session-driver --list              all names
 *
 * What both kinds of tests need is here; a failure ends the program.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fumehood/sandbox.h"

struct driver_test {
	const char *name; /* NULL after the last one */
	void (*run)(void);
};
extern const struct driver_test session_tests[], run_tests[], file_tests[], live_tests[], copy_tests[], survey_tests[];
#define DRIVER_TEST(name)                                                                                              \
	{                                                                                                                  \
#name, name                                                                                                    \
	}

extern struct fh_error err; /* of the last call */
#define CHECK(x) ((x) ? (void)0 : fail(__FILE__, __LINE__, #x, &err))
#define OK(call) CHECK((call) == 0)
_Noreturn void fail(const char *file, int line, const char *what, const struct fh_error *why);
/* How long a test waits for what has to happen: far longer than a busy machine takes. */
enum { PATIENCE_MS = 120 * 1000 };
double now(void);
void nap(double s);
/* A bound in time that the project states, with slack: tenfold, and as many times more as programs want each processor.
 */
double bound(double s);
struct fh_client *open_client(void);
struct fh_plan *shell_plan(const char *script);
struct fh_sandbox *create(struct fh_client *client, uint64_t lease_ms);
struct fh_process *spawn(struct fh_sandbox *s, const char *script);
struct fh_spawn_options;
struct fh_process *spawn_with(struct fh_sandbox *s, const struct fh_spawn_options *options, const char *script);
/* Reads until `text` was seen (or the end, when text is NULL); what came stays in buf. */
size_t read_until(struct fh_process *p, enum fh_stream stream, const char *text, char *buf, size_t size);
struct fh_exit wait_for(struct fh_process *p);
void finish(struct fh_process *p, int exit_code); /* waits, checks its exit code, and frees it */
bool is_listed(const char *id, pid_t *ret_engine);
