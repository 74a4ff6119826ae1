/* SPDX-License-Identifier: MIT */
/* The engine's side of init/zygote.h: zygotes and the programs that they fork. */
#include "engine/warm/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/children.h"
#include "engine/core/isolation.h"
#include "engine/core/enforcement.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/transfer.h"
#include "engine/host/packet.h"
#include "engine/make/seccomp.h"
#include "engine/warm/branch.h"
#include "engine/warm/made.h"
#include "engine/warm/warm_image.h"

int fh_zygote_library(struct fh_error *err)
{
	static int library = -1; /* made once, kept until the engine ends */
	if (library >= 0)
		return library;
	library = fh_memory_program("fumehood-warm", fh_warm_image, fh_warm_image_size);
	if (library < 0)
		fh_error_sys(err, errno, "cannot put the warm library into memory");
	return library;
}

static void fail(struct fh_sandbox *b, const char *format, ...) FH_PRINTF(2, 3);
static void fail(struct fh_sandbox *b, const char *format, ...)
{
	struct fh_error err = FH_ERROR_INIT;
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fh_error_set(&err, FH_E_SYSTEM, "%s", text);
	err.phase = FH_PHASE_CREATE;
	err.retryable = true;
	fh_made_failed(b, &err);
}

/* ----------------------------------------------------------------------------------------------------------- fork */

/* The sandbox's namespaces, for the zygote to enter; that of control groups only where the kernel has one. */
static uint32_t namespaces_of(const struct fh_sandbox *b)
{
	uint32_t flags = CLONE_NEWUSER | (uint32_t)fh_launch_namespaces(b->plan);
	if (b->layers & 1u << FH_LAYER_CGROUP)
		flags |= CLONE_NEWCGROUP;
	return flags;
}

/* Opens the sandbox's namespaces, by which the zygote enters them. False: not all could be opened. */
static bool open_namespaces(pid_t init, uint32_t wanted, int *fds, size_t *count)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns", (int)init);
	fh_auto_close int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool all = folder >= 0;
	for (size_t i = 0; all && i < FH_ZYGOTE_NAMESPACES; i++) {
		if (!(wanted & fh_zygote_namespaces[i].flag))
			continue;
		int fd = openat(folder, fh_zygote_namespaces[i].name, O_RDONLY | O_CLOEXEC);
		all = fd >= 0;
		if (all)
			fds[(*count)++] = fd;
	}
	return all;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

void fh_zygote_fork(struct fh_sandbox *b)
{
	struct stat st;
	struct fh_template *t = b->template;
	struct fh_zygote_fork m = { .h = { FH_ZYGOTE_FORK, b->token } };
	char packet[sizeof(m) + FH_ZYGOTE_SEAL_MAX * sizeof(struct sock_filter)];
	int fds[FH_ZYGOTE_NAMESPACES + 3 + FH_CG_COUNT_], pair[2], size = 1 << 20, rules = b->rules;
	size_t namespaces = 0;
	if (t->zygote_socket < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		fail(b, "the template has no zygote, or there are no descriptors left");
		return;
	}
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	(void)fh_set_nonblock(pair[0], true);
	b->program.far_end = fstat(pair[1], &st) == 0 ? st.st_ino : 0;
	b->program.socket = pair[0];
	b->program_baseline = t->resident_bytes;
	m.namespaces = namespaces_of(b);
	if (!open_namespaces(b->child.pid, m.namespaces, fds, &namespaces)) {
		close_all(fds, namespaces);
		close(pair[1]);
		fail(b, "the namespaces of a sandbox cannot be opened");
		return;
	}
	size_t count = namespaces;
	m.flags = FH_FORK_SOCKET;
	fds[count++] = pair[1];
	if (rules >= 0) {
		m.flags |= FH_FORK_LANDLOCK;
		fds[count++] = rules;
	}
	int group = b->cgroup.host ? fh_cgroup_v2_dir(&b->cgroup) : -1;
	if (group >= 0 && !t->trunk->ids.ranges) {
		m.flags |= FH_FORK_CGROUP;
		fds[count++] = group;
	}
	if (b->cgroup.host) {
		m.cgroups = (uint32_t)fh_cgroup_entries(&b->cgroup, t->trunk->ids.ranges, fds + count);
		count += m.cgroups;
	}
	if (b->ids.ranges)
		m.flags |= FH_FORK_SWITCH_IDS;
	if (!(b->plan->layers & 1u << FH_LAYER_CAPABILITIES))
		m.flags |= FH_FORK_KEEP_CAPABILITIES;
	if (b->plan->layers & 1u << FH_LAYER_NO_NEW_PRIVS)
		m.flags |= FH_FORK_NO_NEW_PRIVS;
	m.uid = b->plan->uid;
	m.gid = b->plan->gid;
	m.seal_count = b->plan->layers & 1u << FH_LAYER_SECCOMP ? fh_seccomp_seal_size : 0;
	memcpy(packet, &m, sizeof(m));
	memcpy(packet + sizeof(m), fh_seccomp_seal, m.seal_count * sizeof(struct sock_filter));
	int r = fh_packet_send(t->zygote_socket, packet, sizeof(m) + m.seal_count * sizeof(struct sock_filter), fds, count);
	close(pair[1]);
	close_all(fds, namespaces);
	if (r < 0)
		fail(b, "cannot ask the zygote for a program: %s", strerror(-r));
	t->trunk->forks++;
}

/* Checks with the kernel a program that reported that it is isolated: it must be in the namespaces of its init, with no
 * capabilities left. */
static bool is_isolated(struct fh_sandbox *b, pid_t pid, const struct fh_init_state *state, const char **ret_why)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
	struct fh_namespaces its;
	char status[FH_PROC_STATUS_MAX];
	uint64_t caps = 0;
	fh_namespaces_read(pid, &its);
	for (size_t i = 0; i < FH_NAMESPACES; i++)
		if (!its.inode[i] || its.inode[i] != b->namespaces.inode[i]) {
			*ret_why = fh_namespace_name(i);
			return false;
		}
	(void)fh_proc_text(pid, "status", status, sizeof(status));
	for (size_t i = 0; i < FH_ARRAY_SIZE(sets); i++)
		caps |= fh_proc_number(status, sets[i], 16, ~0ULL);
	uint64_t privs = fh_proc_number(status, "NoNewPrivs", 10, 0), seccomp = fh_proc_number(status, "Seccomp", 10, 0);
	/* line of Linux 5.9 and later */
	uint64_t filters = fh_proc_number(status, "Seccomp_filters", 10, 2);
	uint32_t layers = b->plan->layers;
	*ret_why = fh_proc_number(status, "Threads", 10, 0) != 1                               ? "threads"
	           : layers & 1u << FH_LAYER_CAPABILITIES && caps                              ? "capabilities"
	           : layers & 1u << FH_LAYER_NO_NEW_PRIVS && !privs                            ? "no_new_privs"
	           : layers & 1u << FH_LAYER_SECCOMP && (seccomp != 2 || filters < 2)          ? "seccomp"
	           : layers & 1u << FH_LAYER_LANDLOCK && b->rules >= 0 && state->landlock != 1 ? "landlock"
	                                                                                       : NULL;
	return *ret_why == NULL;
}

static void on_parked(struct fh_sandbox *b, const struct fh_zygote_parked *m)
{
	const char *why;
	char shared[160];
	pid_t pid = fh_pid_of(b->program.pidfd);
	if (m->error) {
		fail(b, "a program of the zygote cannot be isolated (step %u): %s", m->step, strerror(m->error));
		return;
	}
	if (pid > 0 && !fh_held_apart(&b->template->held, pid, b->program.far_end, shared, sizeof(shared))) {
		fail(b, "a program of the zygote shares something with it: %s", shared);
		return;
	}
	if (pid <= 0 || !is_isolated(b, pid, &m->state, &why)) {
		fail(b, "a program of the zygote is not isolated as its sandbox is: %s", pid <= 0 ? "it has ended" : why);
		return;
	}
	fh_isolation_add_state(b, &m->state);
	fh_made_on_program(b);
}

static void on_program_end(struct fh_watch *w, uint32_t events);

static void on_program_socket(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct fh_zygote_parked m;
	int fds[FH_PACKET_FDS_MAX], count;
	(void)events;
	if (b->program.starting) {
		fh_zygote_settle(b, false);
		return;
	}
	ssize_t n = fh_packet_receive(b->program.socket, &m, sizeof(m), fds, &count);
	if (n == -EAGAIN)
		return;
	for (int i = 0; i < count; i++)
		close(fds[i]);
	fh_watch_stop(b->engine->loop, &b->program.socket_watch);
	if (n == (ssize_t)sizeof(m) && m.h.op == FH_ZYGOTE_PARKED && m.h.token == b->token)
		on_parked(b, &m);
	else
		fail(b, "a program of the zygote %s", n == 0 ? "ended before it was parked" : "sent an invalid message");
}

static void on_forked(struct fh_template *t, const struct fh_zygote_forked *m, int pidfd)
{
	struct fh_sandbox *b = t->engine->sandboxes;
	while (b && (b->token != m->h.token || b->template != t))
		b = b->next;
	if (!b || b->program.pidfd >= 0 || b->state == FH_SWEEPING || m->error || pidfd < 0) {
		if (pidfd >= 0)
			fh_reap_later(t->engine->loop, pidfd);
		if (b && b->program.pidfd < 0)
			fail(b, "the zygote cannot fork (step %u): %s", m->step, strerror(m->error ? m->error : EPROTO));
		return;
	}
	b->program.pidfd = pidfd;
	b->program.pid_watch = (struct fh_watch){ .fd = -1, .on_event = on_program_end, .owner = b };
	b->program.socket_watch = (struct fh_watch){ .fd = -1, .on_event = on_program_socket, .owner = b };
	(void)fh_watch_set(t->engine->loop, &b->program.pid_watch, pidfd, EPOLLIN);
	(void)fh_watch_set(t->engine->loop, &b->program.socket_watch, b->program.socket, EPOLLIN);
}

/* Checks with the kernel a zygote that reported that it is ready, and records what it holds. */
static bool is_confined(struct fh_template *t, char *why, size_t size)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
	char status[FH_PROC_STATUS_MAX];
	uint64_t caps = 0, own = 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_SYS_CHROOT;
	pid_t pid = fh_pid_of(t->zygote.pidfd);
	(void)fh_proc_text(pid, "status", status, sizeof(status));
	for (size_t i = 0; i < FH_ARRAY_SIZE(sets); i++)
		caps |= fh_proc_number(status, sets[i], 16, ~0ULL);
	bool filtered = fh_proc_number(status, "Seccomp", 10, 0) == 2 || !(t->plan->layers & 1u << FH_LAYER_SECCOMP);
	if (pid > 0 && !(caps & ~own) && filtered && fh_held_read(pid, &t->held))
		return true;
	snprintf(why, size, "the zygote %s",
	         pid <= 0      ? "has ended"
	         : caps & ~own ? "has capabilities that it should not have"
	         : !filtered   ? "has no filter of system calls"
	                       : "holds more descriptors than can be looked at");
	return false;
}

void fh_zygote_on_packet(struct fh_watch *w, uint32_t events)
{
	struct fh_template *t = w->owner;
	union {
		struct fh_init_header h;
		struct fh_zygote_ready ready;
		struct fh_zygote_forked forked;
	} m;
	int fds[FH_PACKET_FDS_MAX], count;
	char why[160];
	(void)events;
	while (t->zygote_socket >= 0) {
		ssize_t n = fh_packet_receive(t->zygote_socket, &m, sizeof(m), fds, &count);
		if (n == -EAGAIN)
			return;
		bool ready = n == (ssize_t)sizeof(m.ready) && m.h.op == FH_ZYGOTE_READY && t->state == FH_TEMPLATE_ZYGOTE;
		if (ready && count == 2) {
			fh_template_add_stem(t, fds[0], fds[1]);
			count = 0;
		}
		for (int i = 1; i < count; i++)
			close(fds[i]);
		int fd = count ? fds[0] : -1;
		if (n == (ssize_t)sizeof(m.forked) && m.h.op == FH_ZYGOTE_FORKED && t->state >= FH_TEMPLATE_SERVING) {
			on_forked(t, &m.forked, fd);
			continue;
		}
		if (fd >= 0)
			close(fd);
		if (ready) {
			m.ready.why[sizeof(m.ready.why) - 1] = 0;
			if (m.ready.why[0])
				fh_template_break(t, m.ready.why);
			else if (fh_template_has_printed(t))
				fh_template_break(t, "the zygote printed something when it started");
			else if (!is_confined(t, why, sizeof(why)))
				fh_template_break(t, why);
			else
				fh_template_serve(t, m.ready.resident_bytes);
			continue;
		}
		fh_template_break(t, n == 0 ? "the zygote ended" : "the zygote sent an invalid message");
		return;
	}
}

/* ------------------------------------------------------------------------------------------------------------ run */

static uint32_t add_list(struct fh_buf *b, char *const *list)
{
	uint32_t n = 0;
	for (; list[n]; n++)
		(void)fh_buf_add(b, list[n], strlen(list[n]) + 1);
	return n;
}

static void add_files(struct fh_buf *packet, struct fh_zygote_run *m, const struct fh_plan *plan)
{
	size_t before = packet->n;
	for (size_t i = 0; i < plan->file_count; i++) {
		const struct fh_plan_file *f = &plan->files[i];
		struct fh_init_entry e = {
			.path_size = (uint32_t)strlen(f->name),
			.mode = f->mode ? f->mode : 0644,
			.size = f->content.size,
		};
		(void)fh_buf_add(packet, &e, sizeof(e));
		(void)fh_buf_add(packet, f->name, e.path_size);
		(void)fh_buf_add(packet, f->content.data, f->content.size);
	}
	m->file_count = (uint32_t)plan->file_count;
	m->files_size = (uint32_t)(packet->n - before);
}

int fh_zygote_run(struct fh_sandbox *b, const struct fh_spawn *s, const int *fds, size_t fd_count, struct fh_error *err)
{
	struct fh_zygote_run m = { .h = { FH_ZYGOTE_RUN, b->token } };
	fh_auto_buf struct fh_buf packet = FH_BUF_INIT(FH_ZYGOTE_PACKET_MAX);
	m.rlimit_count = (uint32_t)fh_limits_rlimits(b, m.rlimits);
	m.extra_count = (uint32_t)b->plan->descriptor_count;
	for (uint32_t i = 0; i < m.extra_count; i++)
		m.extra[i] = (uint32_t)b->plan->descriptors[i].number;
	(void)fh_buf_add(&packet, &m, sizeof(m));
	(void)fh_buf_add(&packet, s->cwd, strlen(s->cwd) + 1);
	m.argv_count = add_list(&packet, s->argv);
	m.env_count = add_list(&packet, s->env);
	if (packet.overflowed || packet.n - sizeof(m) > FH_ZYGOTE_TEXT_MAX)
		return fh_error_set(err, FH_E_LIMIT, "arguments and environment are larger than %d bytes", FH_ZYGOTE_TEXT_MAX);
	m.text_size = (uint32_t)(packet.n - sizeof(m));
	if (b->files_come_along)
		add_files(&packet, &m, b->plan);
	if (packet.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the run's files do not fit into one packet");
	memcpy(packet.p, &m, sizeof(m));
	int r = fh_packet_send(b->program.socket, packet.p, packet.n, fds, fd_count);
	if (r < 0)
		return fh_error_sys(err, -r, "cannot reach the program that was forked for the run");
	b->program.starting = true;
	if (s->stdin_open) /* the client may wait for this before it sends */
		(void)fh_watch_set(b->engine->loop, &b->program.socket_watch, b->program.socket, EPOLLIN);
	return 0;
}

static const char *const step_texts[FH_WARM_COUNT_] = {
	[FH_WARM_RLIMIT] = "set its resource limits",
	[FH_WARM_CWD] = "enter its working directory",
	[FH_WARM_FILE] = "write its files",
	[FH_WARM_DESCRIPTORS] = "place its descriptors",
	[FH_WARM_INTERPRETER] = "begin",
};

/* The program forked from a zygote cannot do this run: init executes another in the same sandbox, where the files are.
 * The forked one has executed nothing of the run and ends by itself. */
static void start_fresh(struct fh_sandbox *b, const char *why, const int *fds, int fd_count)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_watch_stop(b->engine->loop, &b->program.pid_watch);
	if (b->program.pidfd >= 0)
		fh_reap_later(b->engine->loop, FH_TAKE_FD(b->program.pidfd));
	b->program.replaced = true;
	b->start = FH_START_FRESH;
	snprintf(b->start_why, sizeof(b->start_why), "%.159s", why);
	if (fh_process_spawn_again(b->processes, fds, fd_count, &err) < 0) {
		err.phase = FH_PHASE_SPAWN;
		fh_sandbox_fail(b, &err);
	}
}

static void could_not_begin(struct fh_sandbox *b, const struct fh_zygote_failed *m)
{
	struct fh_error err = FH_ERROR_INIT;
	uint32_t step = m->step < FH_WARM_COUNT_ && step_texts[m->step] ? m->step : FH_WARM_INTERPRETER;
	if (step == FH_WARM_FILE) {
		const struct fh_init_done refused = { .refused = FH_REFUSED_ERROR, .error = m->error, .size = m->detail };
		fh_transfer_explain(b->plan, &refused, &err);
	} else if (m->step == FH_WARM_INTERPRETER) { /* the plan allows no other start */
		fh_error_set(&err, FH_E_UNAVAILABLE, "a %s start is not possible: %s", fh_start_name(b->plan->start),
		             m->why[0] ? m->why : "the interpreter cannot be brought into the state of a fresh one");
		err.phase = FH_PHASE_SPAWN;
	} else {
		fh_error_set(&err, FH_E_SYSTEM, "the program cannot %s: %s", step_texts[step],
		             m->why[0] ? m->why : strerror(m->error));
		err.phase = FH_PHASE_SPAWN;
		err.retryable = true;
	}
	fh_sandbox_fail(b, &err);
}

void fh_zygote_settle(struct fh_sandbox *b, bool sure)
{
	struct fh_zygote_failed m;
	int fds[FH_PACKET_FDS_MAX], count;
	if (!b->program.starting)
		return;
	ssize_t n = fh_packet_receive(b->program.socket, &m, sizeof(m), fds, &count);
	if (n == -EAGAIN && !sure)
		return;
	b->program.starting = false;
	fh_watch_stop(b->engine->loop, &b->program.socket_watch);
	close(FH_TAKE_FD(b->program.socket));
	bool failed = n == (ssize_t)sizeof(m) && m.h.op == FH_ZYGOTE_FAILED;
	m.why[sizeof(m.why) - 1] = 0;
	if (failed && m.step == FH_WARM_INTERPRETER && b->plan->start == FH_START_AUTO && b->state == FH_READY &&
	    !b->failed && count == 3 + (int)b->plan->descriptor_count)
		start_fresh(b, m.why, fds, count);
	else if (failed)
		could_not_begin(b, &m);
	else if (b->processes)
		fh_process_on_begun(b->processes);
	for (int i = 0; i < count; i++)
		close(fds[i]);
}

static void on_program_end(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct rusage use;
	siginfo_t info;
	(void)events;
	if (!fh_child_ended(b->program.pidfd, &info, &use))
		return;
	fh_watch_stop(b->engine->loop, &b->program.pid_watch);
	close(FH_TAKE_FD(b->program.pidfd));
	if (b->program.starting)
		fh_zygote_settle(b, true);
	if (b->program.replaced)
		return;
	struct fh_init_exited m = { .h = { FH_INIT_EXITED, 0 } };
	m.status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
	m.user_us = (uint64_t)use.ru_utime.tv_sec * 1000000 + (uint64_t)use.ru_utime.tv_usec;
	m.sys_us = (uint64_t)use.ru_stime.tv_sec * 1000000 + (uint64_t)use.ru_stime.tv_usec;
	m.resident_peak_bytes = (uint64_t)use.ru_maxrss * 1024;
	fh_made_on_program_end(b, &m);
}

/* Signals the program's process group, which the program leads; init does the same for programs that it started. The
 * pid is valid, because the engine has not reaped the program. */
bool fh_zygote_signal(struct fh_sandbox *b, int signal)
{
	pid_t pid = b->program.pidfd >= 0 ? fh_pid_of(b->program.pidfd) : -1;
	return pid > 0 && (kill(-pid, signal) == 0 || kill(pid, signal) == 0);
}
