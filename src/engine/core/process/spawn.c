/* SPDX-License-Identifier: MIT */
/* How a process is started: its pipes, its limits, and the request to init or to a program forked from a zygote. */
#include "engine/core/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/engine.h"
#include "engine/core/enforcement.h"
#include "engine/core/limits.h"
#include "engine/core/process/program_group.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"

static void describe(struct fh_process *p, char *const *argv, const char *cwd)
{
	size_t n = 0;
	snprintf(p->cwd, sizeof(p->cwd), "%s", cwd);
	for (; *argv && n + 2 < sizeof(p->command); argv++) {
		size_t part = FH_MIN(strlen(*argv), sizeof(p->command) - n - 2);
		memcpy(p->command + n, *argv, part);
		n += part;
		p->command[n++] = ' ';
	}
	p->command[n ? n - 1 : 0] = 0;
}

static int add_text(struct fh_buf *b, const char *s)
{
	return fh_buf_add(b, s, strlen(s) + 1);
}

static uint32_t add_list(struct fh_buf *b, char *const *list)
{
	uint32_t n = 0;
	for (; list[n]; n++)
		(void)add_text(b, list[n]);
	return n;
}

/* fds must have room for the descriptors added here. files: send the plan's files along. */
static int send_spawn(struct fh_process *p, const struct fh_spawn *s, int *fds, int fd_count, bool files,
                      struct fh_error *err)
{
	struct fh_init_spawn m = { .h = { FH_INIT_SPAWN, p->token }, .rows = s->rows, .columns = s->columns };
	fh_auto_buf struct fh_buf packet = FH_BUF_INIT(FH_INIT_PACKET_MAX);
	m.flags = (s->pty ? FH_SPAWN_PTY : 0) | (s->one_shot ? FH_SPAWN_ONE_SHOT : 0) | (s->helper ? FH_SPAWN_HELPER : 0);
	m.uid = s->uid;
	m.gid = s->gid;
	m.rlimit_count = (uint32_t)fh_limits_rlimits(p->sandbox, m.rlimits);
	const struct fh_plan *plan = p->sandbox->plan;
	m.descriptor_count = s->pty || s->helper ? 0 : (uint32_t)plan->descriptor_count;
	for (uint32_t i = 0; i < m.descriptor_count; i++)
		m.descriptors[i] = plan->descriptors[i].number;
	(void)fh_buf_add(&packet, &m, sizeof(m));
	(void)add_text(&packet, s->cwd);
	m.argv_count = add_list(&packet, s->argv);
	m.env_count = add_list(&packet, s->env);
	if (packet.overflowed || packet.n - sizeof(m) > FH_INIT_TEXT_MAX)
		return fh_error_set(err, FH_E_LIMIT, "arguments and environment are larger than %d bytes", FH_INIT_TEXT_MAX);
	if (m.argv_count == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "there is no command to run");
	m.text_size = (uint32_t)(packet.n - sizeof(m));
	fh_auto_close int entries = files ? fh_transfer_entries(plan->files, plan->file_count, NULL, err) : -1;
	if (files && entries < 0)
		return entries;
	if (files) {
		m.flags |= FH_SPAWN_FILES;
		fds[fd_count++] = entries;
	}
	if (p->has_group)
		m.group_count = (uint32_t)fh_cgroup_entries(&p->group, false, fds + fd_count);
	fd_count += (int)m.group_count;
	memcpy(packet.p, &m, sizeof(m));
	return fh_sandbox_send(p->sandbox, packet.p, packet.n, fds, fd_count, err);
}

static void close_all(int (*pipes)[2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (int end = 0; end < 2; end++)
			if (pipes[i][end] >= 0)
				close(pipes[i][end]);
}

/* Gives the program its pipes: /dev/stdin, /dev/stdout and /dev/stderr open them anew, by name, and the kernel asks
 * then who owns them. Without ranges of ids the engine's user and the program's are the same. A failure costs these
 * names only. */
static void give_pipes(const struct fh_sandbox *b, const struct fh_spawn *s, int (*pipes)[2])
{
	static const int own[3] = { 0, 1, 1 };
	for (int i = 0; i < 3 && b->ids.ranges; i++)
		(void)!fchown(pipes[i][own[i]], b->ids.base + s->uid, b->ids.base + s->gid);
}

static void add_stream(struct fh_process *p, enum fh_stream_kind kind, const struct fh_spawn *s, int fd)
{
	struct fh_engine *e = p->sandbox->engine;
	struct fh_output *x = fh_output_new(e, kind, p->connection, s->window, s->limits.output_bytes), **end = &p->streams;
	x->sandbox = p->sandbox;
	x->process = p;
	x->drop = s->drop;
	x->on_end = s->helper ? fh_process_on_helper_stream_end : NULL;
	while (*end)
		end = &(*end)->next;
	*end = x;
	x->fd = fd; /* the stream is read only after the client was told of it */
	if (fd >= 0)
		(void)fh_set_nonblock(fd, true);
}

/* Opens the program's descriptors beyond the first three: the ends of its links, and a pipe for its driver stream,
 * whose other end goes to *driver. A process with a terminal gets none. */
static int open_descriptors(struct fh_sandbox *b, int *fds, int (*driver)[2], struct fh_error *err)
{
	for (size_t i = 0; i < b->plan->descriptor_count; i++) {
		const struct fh_descriptor *d = &b->plan->descriptors[i];
		if (d->kind == FH_DESCRIPTOR_DRIVER) {
			if (pipe2(*driver, O_CLOEXEC) < 0)
				return fh_error_sys(err, errno, "cannot make the pipes of a process");
			fds[i] = (*driver)[1];
		} else {
			fds[i] = b->links[d->number - FH_DESCRIPTOR_FIRST];
		}
		if (fds[i] < 0)
			return fh_error_set(err, FH_E_ARGUMENT, "descriptor %d of the plan (%s) has no link", d->number,
			                    fh_descriptor_kind_name(d->kind));
	}
	return 0;
}

static void close_links(struct fh_sandbox *b)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(b->links); i++)
		if (b->links[i] >= 0)
			close(FH_TAKE_FD(b->links[i]));
}

/* Only for the program of a RUN: it has the sandbox to itself, and no files were written there before. */
static bool bring_files(const struct fh_sandbox *b, const struct fh_spawn *s)
{
	return s->one_shot && b->files_come_along && b->plan->file_count;
}

static struct fh_process *new_process(struct fh_sandbox *b, const struct fh_spawn *s, struct fh_connection *c,
                                      uint64_t request)
{
	struct fh_process *p = FH_NEW(struct fh_process);
	p->sandbox = b;
	p->token = ++b->next_token;
	p->connection = c;
	p->request = request;
	p->pty = s->pty;
	p->one_shot = s->one_shot;
	p->limits = s->limits;
	p->helper = s->helper;
	p->counts_whole = s->counts_whole;
	p->uid = s->uid;
	if (s->into)
		p->into = s->into->id;
	snprintf(p->tag, sizeof(p->tag), "%s", s->tag ? s->tag : "");
	p->oom_kills_before = b->oom_kills;
	p->tasks_refused_before = b->tasks_refused;
	p->input = (struct fh_input){ .process = p, .fd = -1, .terminal = s->pty };
	fh_id_random(&p->id);
	describe(p, s->argv, s->cwd);
	if (s->stdin_open)
		fh_id_random(&p->input.id);
	else
		p->input.end_seen = true;
	(void)fh_buf_add(&p->input.buffer, s->stdin_data.p, s->stdin_data.n);
	return p;
}

static int make_pipe(int pipe[2], struct fh_error *err)
{
	return pipe2(pipe, O_CLOEXEC) < 0 ? fh_error_sys(err, errno, "cannot make the pipes of a process") : 0;
}

/* The pipe by which one helper's stdout becomes another's stdin: bytes go through neither engine nor client. */
static int take_pipe(struct fh_process *into, int pipe[2], struct fh_error *err)
{
	enum { LARGE = 1 << 20 };
	pipe[1] = fh_input_take(into->sandbox->engine, &into->input);
	if (pipe[1] < 0)
		return fh_error_set(err, FH_E_ARGUMENT, "the stdin of the other helper is closed, or was written to");
	(void)fcntl(
	    pipe[1], F_SETPIPE_SZ,
	    LARGE); /* a user who has used up their quota of pipe memory gets an error, and the pipe keeps its size */
	into->joined = true;
	return 0;
}

/* Makes the pipes of a process without a terminal; the fourth is for a driver stream. fds gets the program's ends. */
static int make_pipes(struct fh_sandbox *b, const struct fh_spawn *s, int (*pipes)[2], int *fds, struct fh_error *err)
{
	for (int i = 0; i < 3; i++) {
		int r = i == 1 && s->into ? take_pipe(s->into, pipes[1], err) : make_pipe(pipes[i], err);
		if (r < 0)
			return r;
	}
	fds[0] = pipes[0][0];
	fds[1] = pipes[1][1];
	fds[2] = pipes[2][1];
	if (s->helper)
		return 0;
	give_pipes(b, s, pipes);
	return open_descriptors(b, fds + 3, &pipes[3], err);
}

static int start(struct fh_process *p, const struct fh_spawn *s, int (*pipes)[2], int *fds, struct fh_error *err)
{
	struct fh_sandbox *b = p->sandbox;
	if (!s->pty) /* before the program starts, since it may check at once whether there is something to read */
		fh_input_open(b->engine, &p->input, FH_TAKE_FD(pipes[0][1]));
	if (!fh_process_is_counted(p))
		fh_limits_cpu(b, &p->base);
	p->start_ns = fh_now_ns();
	int count = s->pty ? 0 : s->helper ? 3 : 3 + (int)b->plan->descriptor_count;
	return s->one_shot && b->program.pidfd >= 0 ? b->origin->run_program(b, s, fds, (size_t)count, err)
	                                            : send_spawn(p, s, fds, count, bring_files(b, s), err);
}

/* Closes the program's ends of the pipes, which it may have by now, and makes streams of the others. */
static void add_streams(struct fh_process *p, const struct fh_spawn *s, int (*pipes)[2])
{
	if (s->pty) {
		add_stream(p, FH_KIND_STDOUT, s, -1);
		return;
	}
	fh_watched_close(p->sandbox, FH_TAKE_FD(pipes[0][0]));
	fh_watched_close(p->sandbox, FH_TAKE_FD(pipes[1][1]));
	fh_watched_close(p->sandbox, FH_TAKE_FD(pipes[2][1]));
	if (!s->into)
		add_stream(p, FH_KIND_STDOUT, s, pipes[1][0]);
	add_stream(p, FH_KIND_STDERR, s, pipes[2][0]);
	if (pipes[3][1] >= 0) {
		fh_watched_close(p->sandbox, FH_TAKE_FD(pipes[3][1]));
		add_stream(p, FH_KIND_DRIVER, s, pipes[3][0]);
	}
}

int fh_process_spawn_in(struct fh_sandbox *b, const struct fh_spawn *s, struct fh_connection *c, uint64_t request,
                        struct fh_process **ret, struct fh_error *err)
{
	int pipes[4][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } }, fds[FH_SPAWN_FDS_MAX] = { 0 };
	fh_process_forget_old(b);
	if (b->process_count >= FH_PROCESSES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%d processes of the sandbox run or are remembered; no more are allowed",
		                    FH_PROCESSES_MAX);
	struct fh_process *p = new_process(b, s, c, request);
	int r = s->pty ? 0 : make_pipes(b, s, pipes, fds, err);
	if (r == 0)
		r = fh_program_group_make(p, s, err);
	if (r == 0)
		r = start(p, s, pipes, fds, err);
	/* The program has the link ends now, or starting it failed. If the engine kept one open, the other side would never
	 * see its end. */
	close_links(b);
	if (r) {
		fh_input_close(b->engine, &p->input);
		close_all(pipes, FH_ARRAY_SIZE(pipes));
		fh_program_group_drop(p);
		free(p);
		return r;
	}
	/* Listed before anything is written to the client: if the client is gone, every struct that refers to it must be
	 * found. */
	p->next = b->processes;
	b->processes = p;
	b->process_count++;
	*ret = p;
	add_streams(p, s, pipes);
	return 0;
}

int fh_process_spawn_again(struct fh_process *p, const int *fds, int fd_count, struct fh_error *err)
{
	int room[FH_SPAWN_FDS_MAX];
	memcpy(room, fds, FH_MIN((size_t)fd_count, FH_ARRAY_SIZE(room)) * sizeof(*fds));
	const struct fh_plan *plan = p->sandbox->plan;
	const struct fh_spawn s = { .argv = plan->argv,
		                        .env = plan->env,
		                        .cwd = plan->cwd,
		                        .one_shot = p->one_shot,
		                        .uid = plan->uid,
		                        .gid = plan->gid };
	fh_limits_stop(p); /* stops the clocks until init has started the program */
	p->start_ns = fh_now_ns();
	return send_spawn(p, &s, room, fd_count, false, err); /* the plan's files are in the sandbox already */
}
