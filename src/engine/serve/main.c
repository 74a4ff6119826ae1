/* SPDX-License-Identifier: MIT */
/*
 * fumehood-engine: makes sandboxes for its clients.
 *
 *     fumehood-engine              frames on stdin and stdout (through sh -c, ssh, docker exec -i)
 *     fumehood-engine --socket     frames on the socket that is descriptor 0
 *     fumehood-engine --service [--idle-ms=N]
 *                                  listens on the bound socket that is descriptor 0 (or that systemd passed) for
 *                                  clients of its own uid, until a signal, or for N ms without any client
 *     fumehood-engine --gc         removes what dead engines left; prints the number of things removed
 *     fumehood-engine --policy     prints the seccomp policy with the reason for each entry
 *     fumehood-engine --holder     started by an engine, inside a template (holder.h)
 *     fumehood-engine --survey     started by an engine: answers a survey (survey/survey_answer.h)
 *     fumehood-engine --version
 *
 * It also listens on the abstract socket "fumehood/UID/PID" for further clients of the same user (attach, ps, kill).
 */
#include "engine/core/connection.h"
#include "engine/core/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/core/sandbox.h"
#include "engine/host/own_namespace.h"
#include "engine/make/holder.h"
#include "engine/make/seccomp_policy.h"
#include "engine/serve/handler.h"
#include "engine/serve/peer.h"
#include "engine/warm/template.h"
#include "survey/survey_answer.h"

static void on_attach_request(struct fh_watch *w, uint32_t events)
{
	struct fh_engine *e = w->owner;
	(void)events;
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { 0 };
	socklen_t n = sizeof(peer);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE) && e->spare >= 0) {
		/* A client that stays in the queue would wake the loop without end: accepts it in place of the spare
		 * descriptor, and closes it at once. */
		close(e->spare);
		fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		e->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return;
	}
	if (fd < 0)
		return;
	if (e->connection_count >= FH_CONNECTIONS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
	    !fh_peer_may_ask(fd, &peer)) {
		close(fd);
		return;
	}
	fh_connection_new(e, fd, fd, peer.pid)->peer_uid = peer.uid;
	e->used_ns = fh_now_ns();
}

/* An abstract socket leaves no file behind when we are killed, and the kernel tells both ends the uid of the other. */
static void listen_for_others(struct fh_engine *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "fumehood/%u/%d", (unsigned)geteuid(), (int)getpid());
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0 ||
	    listen(fd, 64) < 0) {
		close(fd);
		return;
	}
	e->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	e->listener = (struct fh_watch){ .fd = -1, .on_event = on_attach_request, .owner = e };
	(void)fh_watch_set(e->loop, &e->listener, fd, EPOLLIN);
}

static void on_signals(struct fh_watch *w, uint32_t events)
{
	struct fh_engine *e = w->owner;
	struct signalfd_siginfo info;
	(void)events;
	while (read(w->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		e->leaving = true;
		for (struct fh_sandbox *b = e->sandboxes; b; b = b->next)
			fh_sandbox_destroy_now(b);
		e->handler->settle(e);
	}
}

static void watch_signals(struct fh_engine *e)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* If our parent ignored it, our children would be reaped by the kernel and their exit status lost. */
	signal(SIGCHLD, SIG_DFL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	e->signals = (struct fh_watch){ .fd = -1, .on_event = on_signals, .owner = e };
	if (fd >= 0)
		(void)fh_watch_set(e->loop, &e->signals, fd, EPOLLIN);
}

/* The number of processors that a sandbox may use at the same time. */
static unsigned count_cpus(void)
{
	cpu_set_t ours, all, widest;
	if (sched_getaffinity(0, sizeof(ours), &ours) < 0)
		return 1;
	/* A program may widen its affinity up to the cpuset, so the processors of the cpuset count, not those of our own
	 * affinity. */
	memset(&all, 0xff, sizeof(all));
	widest = ours;
	if (sched_setaffinity(0, sizeof(all), &all) == 0) {
		(void)sched_getaffinity(0, sizeof(widest), &widest);
		(void)sched_setaffinity(0, sizeof(ours), &ours);
	}
	return FH_MAX((unsigned)CPU_COUNT(&widest), 1u);
}

/* Raises the soft limit on descriptors. A sandbox takes about a dozen; 1,024, the usual soft limit, suffices for about
 * eighty. */
static void allow_descriptors(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* Inherited by all processes that the engine starts. The limit is 1 byte: no file of that size is written, and at
 * exactly 1 the kernel does not start a core dump handler of the host either (core(5)). The seccomp filter keeps
 * programs from changing it. */
static void forbid_core_dumps(void)
{
	struct rlimit none = { 1, 1 };
	(void)setrlimit(RLIMIT_CORE, &none); /* fails if the host's own hard limit is 0 */
}

/* Ends a service that was unused for idle_ns. Having templates does not count as use. */
static void on_idle(struct fh_timer *t)
{
	struct fh_engine *e = t->owner;
	int64_t now = fh_now_ns();
	for (const struct fh_sandbox *b = e->sandboxes; b; b = b->next)
		if (!b->parked)
			e->used_ns = now;
	if (e->connections)
		e->used_ns = now;
	if (now - e->used_ns < e->idle_ns) {
		fh_timer_set(e->loop, t, e->used_ns + e->idle_ns);
		return;
	}
	e->leaving = true;
	e->handler->settle(e);
}

/* systemd passes its socket as descriptor 3 (sd_listen_fds(3)). */
static int service_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	bool passed = pid && count && strtol(pid, NULL, 10) == (long)getpid() && fh_streq(count, "1");
	return passed ? 3 : 0;
}

static bool listen_as_service(struct fh_engine *e)
{
	int fd = fcntl(service_socket(), F_DUPFD_CLOEXEC, 10), type = 0;
	socklen_t n = sizeof(type);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_STREAM || listen(fd, 64) < 0) {
		fprintf(stderr, "fumehood-engine: --service needs a bound socket as descriptor 0, or one from systemd\n");
		return false;
	}
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	close(service_socket());
	(void)open("/dev/null", O_RDWR | O_CLOEXEC);
	e->service = true;
	e->used_ns = fh_now_ns();
	e->service_listener = (struct fh_watch){ .fd = -1, .on_event = on_attach_request, .owner = e };
	(void)fh_watch_set(e->loop, &e->service_listener, fd, EPOLLIN);
	fh_timer_prepare(e->loop, &e->idle_timer, on_idle, e);
	if (e->idle_ns)
		fh_timer_set(e->loop, &e->idle_timer, e->used_ns + e->idle_ns);
	return true;
}

static int finish(struct fh_engine *e)
{
	while (e->connections) /* clients that attached, and were connected when the last sandbox ended */
		fh_connection_close(e->connections);
	fh_cgroup_host_close(&e->cgroups);
	fh_keeper_end(&e->keeper);
	fh_id_pool_close(&e->ids);
	fh_loop_free_loop(e->loop);
	free(e->seen);
	return 0;
}

enum { SERVE_PIPES, SERVE_SOCKET, SERVE_SERVICE };

/* A run takes about 100 KiB and frees them when it ends: keeps freed memory, so that it is not requested from the
 * kernel each time. */
static void keep_some_memory(void)
{
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

static int serve(int how, uint64_t idle_ms)
{
	bool socket = how == SERVE_SOCKET;
	struct fh_error err = { 0 };
	char text[512];
	if (fh_own_namespace_enter(&err) < 0) {
		fprintf(stderr, "fumehood-engine: %s\n", fh_error_text(&err, text, sizeof(text)));
		return 1;
	}
	struct fh_engine e = {
		.handler = &fh_request_handler, .keeper = { .pid = -1, .pipe = -1 }, .cpus = count_cpus(), .spare = -1
	};
	e.idle_ns = (int64_t)FH_MIN(idle_ms, (uint64_t)INT64_MAX / 4 / FH_NS_PER_MS) * FH_NS_PER_MS;
	keep_some_memory();
	/* If one of 0 to 2 were closed, a pipe of ours would get its number. */
	while (open("/dev/null", O_RDWR) < 3 && fcntl(2, F_GETFD) < 0)
		;
	prctl(PR_SET_DUMPABLE, 0);
	allow_descriptors();
	forbid_core_dumps();
	e.loop = fh_loop_new();
	if (!e.loop) {
		fprintf(stderr, "fumehood-engine: cannot make an event loop\n");
		return 1;
	}
	watch_signals(&e);
	fh_cgroup_host_open(&e.cgroups);
	bool has_groups = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		has_groups = has_groups || e.cgroups.version[c];
	fh_keeper_start(&e.keeper, has_groups);
	fh_id_pool_open(&e.ids);
	listen_for_others(&e);
	if (how == SERVE_SERVICE) {
		if (!listen_as_service(&e))
			return 1;
		fh_loop_run(e.loop, &e.stop);
		return finish(&e);
	}
	struct ucred peer = { 0 };
	socklen_t n = sizeof(peer);
	if (socket)
		(void)getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &n);
	e.main = fh_connection_new(&e, 0, socket ? 0 : 1, peer.pid);
	if (!e.main->closing && !e.main->in.events) { /* stdin is a regular file or /dev/null */
		fprintf(stderr, "fumehood-engine: stdin is neither a pipe nor a socket: give it one\n");
		fh_connection_close(e.main);
	}
	fh_loop_run(e.loop, &e.stop);
	return finish(&e);
}

static int collect(void)
{
	printf("%zu\n", fh_cgroup_collect());
	return 0;
}

static void print_condition(const struct fh_condition *c, bool first)
{
	if (c->test == FH_TEST_NONE)
		return;
	printf(first ? " when arg%u" : " and arg%u", c->arg);
	if (c->test == FH_TEST_ANY || (c->test == FH_TEST_IS && c->mask != UINT32_MAX))
		printf(" & 0x%x", c->mask);
	if (c->test == FH_TEST_NULL || c->test == FH_TEST_IS)
		printf(" == 0x%x", c->value);
	if (c->test == FH_TEST_ABOVE)
		printf(" > %u", c->value);
}

static const char *verdict_text(const struct fh_policy_entry *x)
{
	static const struct {
		int error;
		const char *name;
	} errors[] = {
		{ 0, "done" },
		{ EPERM, "EPERM" },
		{ ENOSYS, "ENOSYS" },
		{ EINVAL, "EINVAL" },
		{ ENOMEM, "ENOMEM" },
		{ ENOTTY, "ENOTTY" },
		{ ENOENT, "ENOENT" },
		{ EPROTONOSUPPORT, "EPROTONOSUPPORT" },
		{ ENOPROTOOPT, "ENOPROTOOPT" },
		{ EOPNOTSUPP, "EOPNOTSUPP" },
	};
	for (size_t i = 0; x->action != FH_ALLOW && i < FH_ARRAY_SIZE(errors); i++)
		if (errors[i].error == x->error)
			return errors[i].name;
	return x->action == FH_ALLOW ? "allow" : strerror(x->error);
}

static int print_policy(void)
{
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *x = &fh_seccomp_policy[i];
		printf("%-24s %-15s", x->call, verdict_text(x));
		for (size_t k = 0; k < FH_CONDITIONS_MAX; k++)
			print_condition(&x->when[k], k == 0);
		printf("  %s\n", x->reason);
	}
	printf("%-24s %-15s  what is not named here, on any architecture: programs fall back\n", "(others)", "ENOSYS");
	return 0;
}

static int print_version(void)
{
	printf("fumehood-engine %s\n", FH_VERSION);
	return 0;
}

/* The exit status of a command that prints: 1, with an error message, if its output could not be written. */
static int ended(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "fumehood-engine: cannot write to standard output: %s\n", strerror(errno));
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *option;
		int (*run)(void);
	} others[] = { { "--gc", collect },
		           { "--policy", print_policy },
		           { "--holder", fh_holder_main },
		           { "--survey", fh_survey_answer_main },
		           { "--version", print_version } };
	uint64_t idle_ms = 0;
	if (argc == 1)
		return serve(SERVE_PIPES, 0);
	if (argc == 2 && fh_streq(argv[1], "--socket"))
		return serve(SERVE_SOCKET, 0);
	if (argc <= 3 && fh_streq(argv[1], "--service")) {
		char *end = NULL;
		if (argc == 3 && fh_starts_with(argv[2], "--idle-ms="))
			idle_ms = strtoull(argv[2] + strlen("--idle-ms="), &end, 10);
		if (argc == 2 || (end && *end == 0 && end != argv[2] + strlen("--idle-ms=")))
			return serve(SERVE_SERVICE, idle_ms);
	}
	signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe then fails instead of killing the process */
	for (size_t i = 0; argc == 2 && i < FH_ARRAY_SIZE(others); i++)
		if (fh_streq(argv[1], others[i].option))
			return ended(others[i].run());
	fprintf(stderr, "usage: fumehood-engine [--socket | --service [--idle-ms=N] | --gc | --policy | --version]\n");
	return 2;
}
