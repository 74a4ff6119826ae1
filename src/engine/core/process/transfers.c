/* SPDX-License-Identifier: MIT */
/* Files into and out of a sandbox, moved by children of init. */
#include "engine/core/connection.h"
#include "engine/core/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "proto/wire.h"

static void track(struct fh_sandbox *b, struct fh_transfer *t, uint32_t op)
{
	t->token = ++b->next_token;
	t->op = op;
	t->next = b->transfers;
	b->transfers = t;
}

static void untrack(struct fh_sandbox *b, struct fh_transfer *t)
{
	for (struct fh_transfer **p = &b->transfers; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			return;
		}
}

/* Writes the entries to memory, which a child of init reads to its end; a pipe would have to be fed. */
static int write_entries(int fd, const struct fh_plan_file *files, size_t count, const uint64_t *append)
{
	for (size_t i = 0; i < count; i++) {
		struct fh_init_entry e = {
			.path_size = (uint32_t)strlen(files[i].name),
			.mode = files[i].mode ? files[i].mode : 0644,
			.size = files[i].content.size,
			.append = append && append[i],
		};
		if (fh_write_all(fd, &e, sizeof(e)) < 0 || fh_write_all(fd, files[i].name, e.path_size) < 0 ||
		    fh_write_all(fd, files[i].content.data, files[i].content.size) < 0)
			return -errno;
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

int fh_transfer_entries(const struct fh_plan_file *files, size_t count, const uint64_t *append, struct fh_error *err)
{
	fh_auto_close int fd = memfd_create("fumehood-files", MFD_CLOEXEC);
	int e = fd < 0 ? -errno : write_entries(fd, files, count, append);
	return e < 0 ? fh_error_sys(err, -e, "cannot hold the files of a sandbox in memory") : FH_TAKE_FD(fd);
}

int fh_transfer_put(struct fh_sandbox *b, const struct fh_plan_file *files, size_t count, const char *base,
                    const uint64_t *append, struct fh_transfer *t, struct fh_error *err)
{
	struct fh_init_put m = { .h = { .op = FH_INIT_PUT } };
	fh_auto_close int fd = fh_transfer_entries(files, count, append, err);
	if (fd < 0)
		return fd;
	if (strlen(base) >= sizeof(m.base))
		return fh_error_set(err, FH_E_ARGUMENT, "the working directory's name is too long");
	memcpy(m.base, base, strlen(base) + 1);
	track(b, t, FH_INIT_PUT);
	m.h.token = t->token;
	int r = fh_sandbox_send(b, &m, sizeof(m), &fd, 1, err);
	if (r)
		untrack(b, t);
	return r;
}

int fh_transfer_get(struct fh_sandbox *b, const char *name, uint64_t max_bytes, struct fh_transfer *t,
                    struct fh_error *err)
{
	struct fh_init_get m = { .h = { .op = FH_INIT_GET }, .max_bytes = max_bytes };
	fh_auto_free char *path = fh_path_join(b->plan->cwd, name);
	int pipe[2];
	if (strlen(path) >= sizeof(m.path))
		return fh_error_set(err, FH_E_ARGUMENT, "the name of a file is longer than %zu bytes", sizeof(m.path) - 1);
	memcpy(m.path, path, strlen(path) + 1);
	if (pipe2(pipe, O_CLOEXEC) < 0)
		return fh_error_sys(err, errno, "cannot make a pipe for a file");
	track(b, t, FH_INIT_GET);
	m.h.token = t->token;
	int r = fh_sandbox_send(b, &m, sizeof(m), &pipe[1], 1, err);
	close(pipe[1]);
	if (r) {
		untrack(b, t);
		close(pipe[0]);
		return r;
	}
	fh_output_open(b->engine, t->stream, pipe[0]);
	return 0;
}

void fh_transfer_announce(const struct fh_output *s, struct fh_connection *c, uint64_t request, uint64_t index)
{
	if (!c || c->closing)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_FILE, 0, request, s->sandbox->id);
	fh_wire_u64(out, F_COUNT, index);
	fh_wire_bytes(out, F_STREAM, s->id.b, 16);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
}

static const char *const refusals[FH_REFUSED_COUNT_] = {
	[FH_REFUSED_NO] = "",
	[FH_REFUSED_MISSING] = "there is no such file",
	[FH_REFUSED_LINK] = "a symbolic link is on the way; links are not followed",
	[FH_REFUSED_NOT_REGULAR] = "it is not a regular file",
	[FH_REFUSED_TOO_LARGE] = "it is larger than allowed",
	[FH_REFUSED_DENIED] = "the program's user may not read it",
	[FH_REFUSED_ERROR] = "it could not be moved",
};

const char *fh_transfer_refused(const struct fh_init_done *m, char *buffer, size_t size)
{
	uint32_t why = m->refused < FH_REFUSED_COUNT_ ? m->refused : FH_REFUSED_ERROR;
	if (why == FH_REFUSED_TOO_LARGE)
		snprintf(buffer, size, "it is larger than allowed (%llu bytes)", (unsigned long long)m->size);
	else if (why == FH_REFUSED_ERROR)
		snprintf(buffer, size, "it could not be moved: %s", strerror(m->error));
	else
		snprintf(buffer, size, "%s", refusals[why]);
	return buffer;
}

void fh_transfer_explain(const struct fh_plan *plan, const struct fh_init_done *m, struct fh_error *err)
{
	const char *name = m->size < plan->file_count ? plan->files[m->size].name : plan->cwd;
	bool full = m->error == ENOSPC;
	char why[160];
	fh_error_set(err, full ? FH_E_LIMIT : FH_E_SYSTEM, "cannot put file %s into the sandbox: %s", name,
	             full ? "the limit on disk leaves no room" : fh_transfer_refused(m, why, sizeof(why)));
	if (full)
		fh_error_hint(err, "raise --disk");
	err->phase = FH_PHASE_FILES;
}

void fh_transfer_on_done(struct fh_sandbox *b, const struct fh_init_done *m)
{
	uint32_t op = m->h.op == FH_INIT_PUT_DONE ? FH_INIT_PUT : FH_INIT_GET;
	for (struct fh_transfer *t = b->transfers; t; t = t->next)
		if (t->token == m->h.token && t->op == op) {
			untrack(b, t);
			t->done(b, t, m);
			return;
		}
}

void fh_transfer_drop_all(struct fh_sandbox *b)
{
	while (b->transfers) {
		struct fh_transfer *t = b->transfers;
		untrack(b, t);
		t->done(b, t, NULL);
	}
}
