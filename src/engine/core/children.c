/* SPDX-License-Identifier: MIT */
#include "engine/core/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/engine.h"

/* From the kernel's linux/pidfd.h (6.13); older headers lack it. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t pid, rest[11];
};
_Static_assert(sizeof(struct pidfd_info) == 64, "the kernel knows the struct by its size");

static pid_t ask_kernel(int pidfd)
{
	struct pidfd_info info = { .mask = 1 /* PIDFD_INFO_PID */ };
	return ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_info), &info) == 0 ? (pid_t)info.pid : -1;
}

pid_t fh_pid_of(int pidfd)
{
	char path[64], text[256];
	pid_t pid = ask_kernel(pidfd);
	if (pid > 0)
		return pid;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[FH_MAX(n, 0)] = 0;
	const char *line = strstr(text, "\nPid:");
	return line ? (pid_t)strtol(line + 5, NULL, 10) : -1;
}

bool fh_child_ended(int pidfd, siginfo_t *ret, struct rusage *ret_use)
{
	siginfo_t info = { 0 };
	struct rusage use = { 0 };
	if (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG, &use) < 0) {
		if (errno != ECHILD)
			return false;
		info.si_code = CLD_KILLED;
		info.si_status = SIGKILL;
	} else if (info.si_pid == 0) {
		return false;
	}
	*ret = info;
	*ret_use = use;
	return true;
}

struct stray {
	struct fh_loop *loop;
	struct fh_watch watch;
	int pidfd;
};

static void on_stray(struct fh_watch *w, uint32_t events)
{
	struct stray *s = w->owner;
	siginfo_t info = { 0 };
	(void)events;
	if (waitid(P_PIDFD, (id_t)s->pidfd, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0)
		return;
	fh_watch_stop(s->loop, &s->watch);
	close(s->pidfd);
	fh_loop_free(s->loop, s);
}

void fh_reap_later(struct fh_loop *l, int pidfd)
{
	struct stray *s = FH_NEW(struct stray);
	*s = (struct stray){ .loop = l, .pidfd = pidfd };
	s->watch = (struct fh_watch){ .fd = -1, .on_event = on_stray, .owner = s };
	(void)fh_watch_set(l, &s->watch, pidfd, EPOLLIN);
}

void fh_reap_unknown(const struct fh_loop *l, struct fh_unknown *last)
{
	siginfo_t seen = { 0 }, reaped;
	uint64_t turn = fh_loop_turns(l);
	bool there = waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid;
	if (!there || seen.si_pid != last->pid) {
		*last = (struct fh_unknown){ there ? seen.si_pid : 0, turn };
	} else if (turn > last->turn) {
		(void)waitid(P_PID, (id_t)seen.si_pid, &reaped, WEXITED | WNOHANG);
		last->pid = 0;
	}
}
