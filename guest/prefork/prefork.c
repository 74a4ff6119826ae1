/* SPDX-License-Identifier: MIT */
/*
 * The prefork server: an interpreter that is started once in the sandbox of a session, stopped before it opens its main
 * file, and forked for each program.
 *
 *     prefork serve SOCKET LIBRARY MAIN INTERPRETER [FLAG …] MAIN
 *     prefork run SOCKET MAIN CODE INTERPRETER [FLAG …] MAIN [ARGUMENT …]
 *
 * `serve` executes the interpreter with the warm library as a zygote (init/zygote.h), listens at SOCKET, and has a
 * program forked for each `run`. One program is always forked ahead. `run` writes CODE to MAIN (unless it is "-"; else
 * its first byte is "+", which is not written), hands over its descriptors, folder, arguments and environment, and then
 * stands for the program: it ends with the program's exit status or signal, and the program is killed when it is
 * killed. If the program cannot be started in this way, `run` executes the interpreter itself.
 *
 * An interpreter that is still starting, or cannot be stopped, may read MAIN itself, and a program that stood there
 * would run twice. So MAIN stays empty until the zygote says that it is ready or has ended: a `run` that comes earlier
 * waits.
 *
 * All this runs with the rights of the sandbox's programs, which can stop it or change it, as they can each other's
 * files: it lies within what a session trusts itself with, and nothing outside of the sandbox relies on it.
 *
 * Freestanding, like fumehood-init: it runs under any root file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "execute.h"
#include "init/lib/lib.h"
#include "init/lib/packet.h"
#include "init/zygote.h"

FH_START;
void fh_init_main(const long *stack) __attribute__((noreturn, used));

enum {
	RUNS_MAX = 64,
	ENV_MAX = 4096,
	PATIENCE_S = 10,
	START_S = 8,       /* how long a `run` waits for the zygote, which is killed then */
	NAMED_TRIES = 200, /* how often `run` looks for a server that has no name yet, NAMED_MS apart */
	NAMED_MS = 2,
	NO_REPLACE = 1, /* renameat2's RENAME_NOREPLACE */
	AWAY = 20,      /* lowest number for our own descriptors, above those that the zygote is started with */
};

/* What `serve` tells `run`, one packet each. */
enum verdict { READY = 1, STARTED, REFUSED, ENDED };
struct told {
	uint32_t verdict;
	int32_t status; /* how the program ended, as fh_end_as takes it; set in ENDED */
};

struct time {
	int64_t s, ns;
};

static _Alignas(8) char packet[FH_ZYGOTE_PACKET_MAX];

/* ------------------------------------------------------------------------------------------------------- messages */

static void tell(int socket, enum verdict verdict, int status)
{
	const struct told told = { verdict, status };
	(void)fh_send_packet(socket, &told, sizeof(told), NULL, 0);
}

/* False: the name is too long. */
static bool address(struct sockaddr_un *ret, const char *path)
{
	size_t n = strlen(path);
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n >= sizeof(ret->sun_path))
		return false;
	memcpy(ret->sun_path, path, n + 1);
	return true;
}

static void be_patient(int socket)
{
	const struct {
		int64_t s, us;
	} limit = { PATIENCE_S, 0 };
	fh_sys(__NR_setsockopt, socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* ------------------------------------------------------------------------------------------------------------- run */

/* Writes the program's file, in a folder that is made if it is missing. */
static bool write_main(const char *path, const char *code, size_t n)
{
	static char folder[FH_INIT_PATH_MAX];
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, flags, 0644);
	if (fd == -ENOENT && strlen(path) < sizeof(folder)) {
		for (size_t i = 1; path[i]; i++)
			if (path[i] == '/') {
				memcpy(folder, path, i);
				folder[i] = 0;
				fh_sys(__NR_mkdirat, AT_FDCWD, folder, 0755);
			}
		fd = fh_sys(__NR_openat, AT_FDCWD, path, flags, 0644);
	}
	if (fd < 0)
		return false;
	bool written = fh_write_full((int)fd, code, n) == 0;
	fh_sys(__NR_close, fd);
	return written;
}

/* Appends a text with its NUL. */
static bool append(size_t *at, const char *text)
{
	size_t n = strlen(text) + 1;
	if (n > sizeof(packet) - *at)
		return false;
	memcpy(packet + *at, text, n);
	*at += n;
	return true;
}

/* The size of the RUN message for this program; 0: the message would be too large. */
static size_t compose(char **argv, char **env)
{
	struct fh_zygote_run *m = (void *)packet;
	size_t at = sizeof(*m);
	*m = (struct fh_zygote_run){ .h = { FH_ZYGOTE_RUN, 0 } };
	long n = fh_sys(__NR_getcwd, packet + at, FH_INIT_PATH_MAX); /* with its NUL */
	if (n <= 0)
		return 0;
	at += (size_t)n;
	for (; argv[m->argv_count]; m->argv_count++)
		if (!append(&at, argv[m->argv_count]))
			return 0;
	for (; env[m->env_count]; m->env_count++)
		if (!append(&at, env[m->env_count]))
			return 0;
	m->text_size = (uint32_t)(at - sizeof(*m));
	return at;
}

/* Waits for what the server tells. False: something else, or nothing. */
static bool is_told(int s, enum verdict expected)
{
	struct pollfd p = { s, POLLIN, 0 };
	struct time patience = { PATIENCE_S, 0 };
	struct told told;
	int fds[FH_SENT_FDS_MAX];
	int count;
	return fh_sys(__NR_ppoll, &p, 1, &patience, 0, 8) == 1 &&
	       fh_receive_packet(s, &told, sizeof(told), fds, &count) == sizeof(told) && told.verdict == expected;
}

/* Connects to the server. A server that has just been started may have no name yet; one that has none for long gets
 * none: a file of ours takes it, so that no zygote is started any more. */
static bool reach(int s, const char *path)
{
	struct sockaddr_un server;
	const struct time pause = { 0, NAMED_MS * 1000000L };
	long r = address(&server, path) ? fh_sys(__NR_connect, s, &server, sizeof(server)) : -ENAMETOOLONG;
	for (int tries = 0; r == -ENOENT && tries < NAMED_TRIES; tries++) {
		fh_sys(__NR_ppoll, 0, 0, &pause, 0, 8);
		r = fh_sys(__NR_connect, s, &server, sizeof(server));
	}
	if (r == -ENOENT) {
		long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		r = fd == -EEXIST ? fh_sys(__NR_connect, s, &server, sizeof(server)) : r;
		if (fd >= 0)
			fh_sys(__NR_close, fd);
	}
	return r == 0;
}

/* Returns a connection to the server, once its zygote is ready; -1: there is none, and none reads MAIN any more. */
static int reach_ready(const char *path)
{
	/* the socket does not block, because a server that is stopped accepts no further connections */
	long s = fh_sys(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s >= 0 && reach((int)s, path) && is_told((int)s, READY))
		return (int)s;
	if (s >= 0)
		fh_sys(__NR_close, s);
	return -1;
}

/* Asks the server to start the program. False: it cannot; the connection is closed. */
static bool ask(int s, char **argv, char **env)
{
	static const int streams[3] = { 0, 1, 2 };
	size_t size = compose(argv, env);
	if (size && fh_send_packet(s, packet, size, streams, 3) == (long)size && is_told(s, STARTED))
		return true;
	fh_sys(__NR_close, s);
	return false;
}

static void run(int argc, char **argv, char **env) __attribute__((noreturn));
static void run(int argc, char **argv, char **env)
{
	static const char words[] = ": not found in the sandbox\n", unwritten[] = ": cannot be written\n";
	enum { SOCKET = 2, MAIN, CODE, PROGRAM };
	struct told told = { ENDED, 256 + SIGKILL }; /* the end that is reported if the server is killed */
	int fds[FH_SENT_FDS_MAX];
	int count;
	if (argc <= PROGRAM)
		fh_end_as(2);
	int s = reach_ready(argv[SOCKET]);
	if (argv[CODE][0] == '+' && !write_main(argv[MAIN], argv[CODE] + 1, strlen(argv[CODE] + 1))) {
		(void)fh_write_full(2, argv[MAIN], strlen(argv[MAIN]));
		(void)fh_write_full(2, unwritten, sizeof(unwritten) - 1);
		fh_end_as(126);
	}
	if (s < 0 || !ask(s, argv + PROGRAM, env)) {
		fh_execute_program(argv + PROGRAM, env);
		(void)fh_write_full(2, argv[PROGRAM], strlen(argv[PROGRAM]));
		(void)fh_write_full(2, words, sizeof(words) - 1);
		fh_end_as(127);
	}
	for (int fd = 0; fd < 3;
	     fd++) /* from now on only the program holds these descriptors, so that readers see when it closes them */
		fh_sys(__NR_close, fd);
	struct pollfd p = { s, POLLIN, 0 };
	while (fh_sys(__NR_ppoll, &p, 1, 0, 0, 8) < 0)
		;
	(void)fh_receive_packet(s, &told, sizeof(told), fds, &count);
	fh_end_as(told.status);
}

/* ----------------------------------------------------------------------------------------------------------- serve */

struct program {
	int pid;        /* 0: unused */
	int socket;     /* for the program that was forked ahead: the socket on which it waits for RUN; else -1 */
	int connection; /* for a running program: the connection of its `run`; else -1 */
};
static struct program programs[RUNS_MAX];
static struct program ahead;
static int zygote = -1, zygote_pid;
static bool ready;
static uint32_t last_token;

static long away(long fd)
{
	long copy = fh_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, AWAY);
	fh_sys(__NR_close, fd);
	return copy;
}

/* The pid behind a pidfd, by /proc. 0: it is not known. */
static int pid_of(int pidfd)
{
	static const char label[] = "\nPid:\t";
	static char text[512];
	char path[32] = "/proc/self/fdinfo/";
	size_t at = strlen(path), digits = 0;
	int pid = 0;
	for (int rest = pidfd; rest || !digits; rest /= 10)
		digits++;
	for (size_t i = digits; i--; pidfd /= 10)
		path[at + i] = (char)('0' + pidfd % 10);
	path[at + digits] = 0;
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? fd : fh_sys(__NR_read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	for (long i = 0; i + (long)sizeof(label) - 1 < n; i++)
		if (memcmp(text + i, label, sizeof(label) - 1) == 0) {
			for (i += (long)sizeof(label) - 1; i < n && text[i] >= '0' && text[i] <= '9'; i++)
				pid = pid * 10 + text[i] - '0';
			return pid;
		}
	return 0;
}

static void kill_program(const struct program *p)
{
	fh_sys(__NR_kill, -p->pid, SIGKILL); /* the program leads a session, so its group has its pid */
	fh_sys(__NR_kill, p->pid, SIGKILL);
}

/* Has the zygote fork a program, which then waits for its RUN message. */
static bool fork_ahead(void)
{
	struct fh_zygote_fork ask = { .h = { FH_ZYGOTE_FORK, ++last_token } };
	struct fh_zygote_forked forked = { 0 };
	struct fh_zygote_parked parked = { 0 };
	int pair[2], fds[FH_SENT_FDS_MAX];
	int count = 0;
	ask.flags =
	    FH_FORK_SOCKET |
	    FH_FORK_KEEP_CAPABILITIES; /* in a session, the program is in its sandbox already and has its final rights */
	if (fh_sys(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	be_patient(pair[0]);
	bool sent = fh_send_packet(zygote, &ask, sizeof(ask), &pair[1], 1) == sizeof(ask);
	fh_sys(__NR_close, pair[1]);
	if (sent && fh_receive_packet(zygote, &forked, sizeof(forked), fds, &count) == sizeof(forked) && !forked.error &&
	    count == 1)
		ahead = (struct program){ pid_of(fds[0]), pair[0], -1 };
	fh_close_all(fds, count);
	if (ahead.pid && fh_receive_packet(pair[0], &parked, sizeof(parked), fds, &count) == sizeof(parked) &&
	    !parked.error)
		return true;
	fh_close_all(fds, count);
	if (ahead.pid)
		kill_program(&ahead);
	ahead = (struct program){ 0 };
	fh_sys(__NR_close, pair[0]);
	return false;
}

static struct program *free_slot(void)
{
	for (int i = 0; i < RUNS_MAX; i++)
		if (!programs[i].pid)
			return &programs[i];
	return NULL;
}

/* Gives the program that was forked ahead to a `run`. False: there is none, or it cannot become that program. */
static bool start(int connection, size_t size, const int *fds)
{
	struct program *slot = free_slot();
	struct fh_zygote_failed failed;
	int back[FH_SENT_FDS_MAX];
	int count = 0;
	if (!slot || !ready || (!ahead.pid && !fork_ahead()))
		return false;
	*slot = ahead;
	ahead = (struct program){ 0 };
	bool sent = fh_send_packet(slot->socket, packet, size, fds, 3) == (long)size;
	/* the program closes its socket right before its own code begins; a message on it says what has failed */
	long answer = sent ? fh_receive_packet(slot->socket, &failed, sizeof(failed), back, &count) : -EPIPE;
	fh_close_all(back, count);
	fh_sys(__NR_close, slot->socket);
	slot->socket = -1;
	slot->connection = answer == 0 ? connection : -1;
	if (answer < 0)
		kill_program(slot);
	return answer == 0;
}

static void on_connection(int listener)
{
	int fds[FH_SENT_FDS_MAX];
	int count = 0;
	long c = fh_sys(__NR_accept4, listener, 0, 0, SOCK_CLOEXEC);
	if (c < 0)
		return;
	be_patient((int)c);
	tell((int)c, READY, 0);
	long n = fh_receive_packet((int)c, packet, sizeof(packet), fds, &count);
	const struct fh_zygote_run *m = (const void *)packet;
	bool started = n > (long)sizeof(*m) && m->h.op == FH_ZYGOTE_RUN && count == 3 && start((int)c, (size_t)n, fds);
	fh_close_all(fds, count);
	tell((int)c, started ? STARTED : REFUSED, 0);
	if (!started)
		fh_sys(__NR_close, c);
}

/* The server's end before it ever served: afterwards nothing reads MAIN. */
static void give_up(void) __attribute__((noreturn));
static void give_up(void)
{
	siginfo_t i;
	fh_sys(__NR_kill, -zygote_pid, SIGKILL); /* also what a script that stands for the interpreter has started */
	fh_sys(__NR_kill, zygote_pid, SIGKILL);
	while (fh_sys(__NR_waitid, P_PID, zygote_pid, &i, WEXITED, 0) == -EINTR)
		;
	fh_end_as(1);
}

static void on_ready(void)
{
	static struct fh_zygote_ready m;
	int fds[FH_SENT_FDS_MAX];
	int count = 0;
	long n = fh_receive_packet(zygote, &m, sizeof(m), fds, &count);
	fh_close_all(fds, count); /* descriptors of the stem, which is not needed and ends */
	if (n != sizeof(m) || m.why[0]) {
		m.why[sizeof(m.why) - 1] = 0;
		(void)fh_write_full(2, m.why, n == sizeof(m) ? strlen(m.why) : 0);
		give_up();
	}
	ready = true;
	be_patient(zygote);
	(void)fork_ahead();
	(void)fh_write_full(1, "\n", 1); /* reports that the server is ready */
}

/* Reaps all children that have ended. False: the zygote was one of them. */
static bool reap(void)
{
	bool alive = true;
	for (;;) {
		siginfo_t i;
		i.si_pid = 0;
		if (fh_sys(__NR_waitid, P_ALL, 0, &i, WEXITED | WNOHANG, 0) < 0 || i.si_pid == 0)
			return alive;
		alive = alive && i.si_pid != zygote_pid;
		if (ahead.pid == i.si_pid) {
			fh_sys(__NR_close, ahead.socket);
			ahead = (struct program){ 0 };
		}
		for (int k = 0; k < RUNS_MAX; k++)
			if (programs[k].pid == i.si_pid) {
				if (programs[k].connection >= 0) {
					tell(programs[k].connection, ENDED, i.si_code == CLD_EXITED ? i.si_status : 256 + i.si_status);
					fh_sys(__NR_close, programs[k].connection);
				}
				programs[k] = (struct program){ 0 };
			}
	}
}

static bool on_signal(int signals)
{
	struct signalfd_siginfo info;
	fh_sys(__NR_read, signals, &info, sizeof(info));
	return reap();
}

static void start_zygote(int theirs, const char *library, const char *main, char **argv, char **env)
{
	static char *with[ENV_MAX + 4], name[sizeof(FH_ZYGOTE_ENV_FILE) + FH_INIT_PATH_MAX] = FH_ZYGOTE_ENV_FILE "=";
	static char preload[] = "LD_PRELOAD=/proc/self/fd/9", number[] = FH_ZYGOTE_ENV_SOCKET "=3";
	int streams[3][2];
	size_t n = 0;
	long image = fh_sys(__NR_openat, AT_FDCWD, library, O_RDONLY | O_CLOEXEC, 0);
	image = image < 0 ? image : away(image);
	fh_sys(__NR_unlinkat, AT_FDCWD, library, 0);
	for (int i = 0; i < 3; i++) {
		if (fh_sys(__NR_pipe2, streams[i], O_CLOEXEC) < 0)
			fh_end_as(126);
		streams[i][0] = (int)away(streams[i][0]); /* what an interpreter says as it starts stays in a pipe */
		streams[i][1] = (int)away(streams[i][1]);
	}
	for (; env[n] && n < ENV_MAX; n++)
		with[n] = env[n];
	if (image < 0 || env[n] || strlen(main) >= FH_INIT_PATH_MAX)
		fh_end_as(126);
	memcpy(name + strlen(name), main, strlen(main) + 1);
	with[n++] = preload;
	with[n++] = number;
	with[n++] = name;
	zygote_pid = (int)fh_sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (zygote_pid < 0)
		fh_end_as(126);
	if (zygote_pid == 0) {
		uint64_t mask = 0;
		fh_sys(__NR_dup3, streams[0][0], 0, 0);
		fh_sys(__NR_dup3, streams[1][1], 1, 0);
		fh_sys(__NR_dup3, streams[2][1], 2, 0);
		fh_sys(__NR_dup3, theirs, FH_ZYGOTE_SOCKET, 0);
		fh_sys(__NR_dup3, image, FH_ZYGOTE_LIBRARY, 0);
		fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
		fh_sys(__NR_setpgid, 0, 0);
		fh_execute_program(argv, with);
		fh_end_as(127);
	}
	fh_sys(__NR_close, theirs);
	fh_sys(__NR_close, image);
	fh_sys(__NR_close, streams[0][1]);
}

/* The socket has its name only once it listens, and not if a `run` has taken it (reach). */
static int listen_at(const char *path)
{
	struct sockaddr_un here;
	long s = address(&here, path) ? fh_sys(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
	size_t n = s < 0 ? 0 : strlen(here.sun_path);
	if (s < 0 || n + 1 >= sizeof(here.sun_path))
		fh_end_as(126);
	here.sun_path[n] = '-';
	here.sun_path[n + 1] = 0;
	if (fh_sys(__NR_bind, s, &here, sizeof(here)) < 0 || fh_sys(__NR_listen, s, RUNS_MAX) < 0 ||
	    fh_sys(__NR_renameat2, AT_FDCWD, here.sun_path, AT_FDCWD, path, NO_REPLACE) < 0)
		fh_end_as(126);
	return (int)away(s);
}

static int64_t now_ms(void)
{
	struct time t = { 0, 0 };
	fh_sys(__NR_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.s * 1000 + t.ns / 1000000;
}

/* While the zygote starts: waits for it, with an end as soon as a `run` waits, too. */
static void start_up(int signals, int listener)
{
	int64_t until = 0;
	while (!ready) {
		struct pollfd p[3] = { { signals, POLLIN, 0 }, { zygote, POLLIN, 0 }, { until ? -1 : listener, POLLIN, 0 } };
		int64_t left = until ? until - now_ms() : 0;
		struct time limit = { left / 1000, left % 1000 * 1000000 };
		if (until && left <= 0)
			give_up();
		if (fh_sys(__NR_ppoll, p, 3, until ? &limit : 0, 0, 8) < 0)
			continue;
		if (p[2].revents)
			until = now_ms() + START_S * 1000;
		if (p[1].revents)
			on_ready();
		else if (p[0].revents && !on_signal(signals))
			give_up();
	}
}

/* One turn: waits for what happens next, and does it. False: the zygote has ended. */
static bool turn(int signals, int listener)
{
	struct pollfd p[2 + RUNS_MAX] = { { signals, POLLIN, 0 }, { listener, POLLIN, 0 } };
	bool alive = true;
	for (int i = 0; i < RUNS_MAX; i++)
		p[2 + i] = (struct pollfd){ programs[i].pid ? programs[i].connection : -1, POLLIN, 0 };
	if (fh_sys(__NR_ppoll, p, 2 + RUNS_MAX, 0, 0, 8) < 0)
		return true;
	for (int i = 0; i < RUNS_MAX; i++)
		if (p[2 + i].revents && programs[i].pid) { /* `run` sends nothing more, so end of file means that it is gone */
			kill_program(&programs[i]);
			fh_sys(__NR_close, programs[i].connection);
			programs[i].connection = -1;
		}
	if (p[0].revents)
		alive = on_signal(signals);
	if (alive && p[1].revents)
		on_connection(listener);
	else if (alive && !ahead.pid && p[0].revents)
		(void)fork_ahead(); /* only when no request waits */
	return alive;
}

static bool is_busy(void)
{
	for (int i = 0; i < RUNS_MAX; i++)
		if (programs[i].pid && programs[i].connection >= 0)
			return true;
	return false;
}

static void serve(int argc, char **argv, char **env) __attribute__((noreturn));
static void serve(int argc, char **argv, char **env)
{
	enum { SOCKET = 2, LIBRARY, MAIN, INTERPRETER };
	int pair[2];
	uint64_t mask = 1ULL << (SIGCHLD - 1) | 1ULL << (SIGPIPE - 1), children = 1ULL << (SIGCHLD - 1);
	if (argc <= INTERPRETER)
		fh_end_as(2);
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
	int signals = (int)away(fh_sys(__NR_signalfd4, -1, &children, 8, SFD_CLOEXEC | SFD_NONBLOCK));
	if (fh_sys(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		fh_end_as(126);
	zygote = (int)away(pair[0]);
	int listener = listen_at(argv[SOCKET]);
	start_zygote((int)away(pair[1]), argv[LIBRARY], argv[MAIN], argv + INTERPRETER, env);
	start_up(signals, listener);
	while (turn(signals, listener))
		;
	/* starts no further programs; those that run continue, and their ends are reported. The name stays, for `run` to
	 * see that it need not wait */
	fh_sys(__NR_close, listener);
	while (is_busy())
		(void)turn(signals, -1);
	fh_end_as(0);
}

void fh_init_main(const long *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(uintptr_t)(stack + 1), **env = argv + argc + 1;
	if (argc > 1 && strlen(argv[1]) == 5 && memcmp(argv[1], "serve", 5) == 0)
		serve(argc, argv, env);
	run(argc, argv, env);
}
