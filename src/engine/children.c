// SPDX-License-Identifier: MIT
/* Children of the engine by their pidfd. */
#include "engine/engine.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t fh_pid_of(int pidfd)
{
	char path[64], line[128];
	int pid = -1;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "Pid: %d", &pid);
	if (f)
		fclose(f);
	return pid;
}

struct stray {
	struct fh_engine *engine;
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
	fh_watch_stop(s->engine->loop, &s->watch);
	close(s->pidfd);
	fh_loop_free(s->engine->loop, s);
}

void fh_reap_later(struct fh_engine *e, int pidfd)
{
	struct stray *s = FH_NEW(struct stray);
	*s = (struct stray){ .engine = e, .pidfd = pidfd };
	s->watch = (struct fh_watch){ .fd = -1, .on_event = on_stray, .owner = s };
	(void)fh_watch_set(e->loop, &s->watch, pidfd, EPOLLIN);
}

void fh_reap_unknown(pid_t *last)
{
	siginfo_t seen = { 0 }, reaped;
	if (waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid && seen.si_pid == *last)
		(void)waitid(P_PID, (id_t)seen.si_pid, &reaped, WEXITED | WNOHANG);
	*last = seen.si_pid;
}
