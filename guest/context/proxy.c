/* SPDX-License-Identifier: MIT */
/*
 * The proxy: the process by which the engine knows the branch of a code context.
 *
 *     proxy SOCKET
 *
 * A branch is forked by the interpreter of another context, so it is no child of init and has the streams of its
 * parent. The proxy is started by init like any program, with streams that nobody else has. It gives its stdin and
 * stdout to the first process that connects to SOCKET, which is the branch, and from then on stands for it:
 *
 *   - A signal that it gets is sent to the process group of the branch.
 *   - When the branch has ended, it ends in the same way, or with UNKNOWN where the kernel does not tell how.
 *   - When it is killed, the branch's process group is killed by a process that waits for that (python_branch.py).
 *
 * The process that connects is code of the sandbox's user, as all other programs of the sandbox: it gets one context's
 * streams, and nothing here trusts it for more.
 *
 * Freestanding, like fumehood-init: it runs under any root file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "execute.h"
#include "init/lib/packet.h"
#include "init/lib/sys.h"
#include "sandbox/session/proxy.h"

FH_START;
void fh_init_main(const long *stack) __attribute__((noreturn, used));
void *memcpy(void *to, const void *from, size_t n);
size_t strlen(const char *s);

enum {
	AWAY = 20,
	REAP_MS = 1000, /* time for init to reap the branch; its exit status can be read afterwards */
};

/* As struct pidfd_info of linux/pidfd.h in its first form, whose exit code came with Linux 6.15. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
enum { PIDFD_EXIT = 1 << 3 };
#define PIDFD_INFO _IOWR(0xFF, 11, struct pidfd_info)

static long away(long fd)
{
	long copy = fh_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, AWAY);
	fh_sys(__NR_close, fd);
	return copy;
}

static int listen_at(const char *path)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	long s = n < sizeof(here.sun_path) ? fh_sys(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
	if (s < 0)
		fh_end_as(126);
	memcpy(here.sun_path, path, n + 1);
	if (fh_sys(__NR_bind, s, &here, sizeof(here)) < 0 || fh_sys(__NR_listen, s, 1) < 0)
		fh_end_as(126);
	return (int)away(s);
}

/* How the branch ended: an exit code, or 256 + a signal, as fh_end_as takes it. */
static int status_of(int pidfd)
{
	struct pollfd p = { pidfd, 0, 0 }; /* poll always reports POLLHUP, which here means that the branch was reaped */
	const struct timespec patience = { REAP_MS / 1000, 0 };
	struct pidfd_info info = { .mask = PIDFD_EXIT };
	(void)fh_sys(__NR_ppoll, &p, 1, &patience, 0, 8);
	if (fh_sys(__NR_ioctl, pidfd, PIDFD_INFO, &info) < 0 || !(info.mask & PIDFD_EXIT))
		return FH_PROXY_UNKNOWN;
	return WIFSIGNALED(info.exit_code) ? 256 + WTERMSIG(info.exit_code) : WEXITSTATUS(info.exit_code);
}

/* Sends a signal to the branch and to what it has started in its process group. */
static void pass_on(int pid, int number)
{
	if (fh_sys(__NR_kill, -pid, number) < 0)
		fh_sys(__NR_kill, pid, number);
}

static int read_signal(int signals)
{
	struct signalfd_siginfo info;
	return fh_sys(__NR_read, signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static void stand_for(int branch, int signals) __attribute__((noreturn));
static void stand_for(int branch, int signals)
{
	struct ucred who = { .pid = 0 };
	unsigned size = sizeof(who);
	if (fh_sys(__NR_getsockopt, branch, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.pid <= 1)
		fh_end_as(126);
	long pidfd = fh_sys(__NR_pidfd_open, who.pid, 0);
	static const int streams[2] = { 0, 1 };
	if (fh_send_packet(branch, "", 1, streams, 2) < 0)
		fh_end_as(126);
	for (int fd = 0; fd < 3;
	     fd++) /* from now on only the branch holds these descriptors, so that a reader sees when it closes them */
		fh_sys(__NR_close, fd);
	for (;;) {
		struct pollfd p[3] = { { signals, POLLIN, 0 }, { (int)pidfd, POLLIN, 0 }, { branch, POLLIN, 0 } };
		if (fh_sys(__NR_ppoll, p, 3, 0, 0, 8) < 0)
			continue;
		if (p[1].revents)
			fh_end_as(status_of((int)pidfd));
		/* the branch ended, or its code has closed all descriptors, so that nothing could end it any more */
		if (p[2].revents) {
			pass_on(who.pid, SIGKILL);
			fh_end_as(pidfd < 0 ? FH_PROXY_UNKNOWN : status_of((int)pidfd));
		}
		int number = p[0].revents ? read_signal(signals) : 0;
		if (number && number != SIGCHLD)
			pass_on(who.pid, number);
	}
}

void fh_init_main(const long *stack)
{
	long argc = stack[0];
	char **argv = (char **)(uintptr_t)(stack + 1);
	uint64_t all = ~0ULL;
	if (argc < 2)
		fh_end_as(2);
	fh_sys(__NR_unlinkat, AT_FDCWD, argv[0], 0);
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
	int signals = (int)away(fh_sys(__NR_signalfd4, -1, &all, 8, SFD_CLOEXEC | SFD_NONBLOCK));
	int listener = listen_at(argv[1]);
	fh_sys(__NR_write, 1, FH_PROXY_LISTENS "\n", sizeof(FH_PROXY_LISTENS));
	long branch = fh_sys(__NR_accept4, listener, 0, 0, SOCK_CLOEXEC);
	fh_sys(__NR_unlinkat, AT_FDCWD, argv[1], 0);
	fh_sys(__NR_close, listener);
	if (branch < 0)
		fh_end_as(126);
	stand_for((int)away(branch), signals);
}
