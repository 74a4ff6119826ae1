/* SPDX-License-Identifier: MIT */
/* The parts of the soak program: what is run (kinds.c), what is left on the host (watch.c), and the loop (soak.c). */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

/* One kind of run: a program whose end is known. */
struct kind {
	const char *name;
	bool hostile;
	const char *language; /* NULL: script is for sh */
	const char *script;
	struct {
		enum fh_limit limit;
		uint64_t value;
	} limits[3];       /* value 0: none */
	uint32_t expected; /* bits 1 << enum fh_status */
	const char *says;  /* the whole of stdout; NULL: whatever */
	size_t fed, bytes; /* bytes of stdin; of stdout, when says is NULL; 0: not looked at */
	const char *out;   /* brings this file back, or is refused it */
	bool refused;
};
extern const struct kind kinds[];
extern const size_t kind_count;

/* Plans are built once, and used by all runs of their kind. Exits when one cannot be built. */
struct fh_plan **kinds_plan(enum fh_start start);

/* What one run came to. */
struct ending {
	bool answered; /* there was a result, or an engine_error; otherwise the connection broke */
	enum fh_status status;
	bool said, brought; /* stdout and the file are as they should be */
	char error[160];    /* of an engine_error, or of the connection */
};
/* A failing program that passed, a passing one that did not say its words, or a file that had to be refused: what no
 * fault may bring. A good file that could not be brought back is refused with the reason, and changes no status. */
bool kind_is_betrayed(const struct kind *k, const struct ending *e);
bool kind_is_as_expected(const struct kind *k, const struct ending *e);

/* What lies on the host, that belongs to us. -1: cannot be seen by this user. */
struct host {
	long engine_descriptors, engine_kib, processes, mounts, groups, files, own_descriptors;
};
enum { HOST_COUNT = sizeof(struct host) / sizeof(long) };
extern const char *const host_names[HOST_COUNT];
pid_t host_engine(void); /* our child, or 0 */
void host_look(pid_t engine, struct host *ret);
