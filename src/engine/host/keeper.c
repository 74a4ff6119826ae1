/* SPDX-License-Identifier: MIT */
#include "engine/host/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fd.h"
#include "engine/host/cgroup.h"

struct fh_watched {
	_Atomic uint64_t call; /* odd: the engine is in the call of that number */
	_Atomic pid_t init;
	_Atomic pid_t killed; /* the last init that the keeper killed; 0: none that the engine has not heard of */
	_Atomic bool asleep;  /* the keeper waits for a byte */
};

char fh_state_of(pid_t pid)
{
	char path[32], text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[FH_MAX(n, 0)] = 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : '?';
}

static bool pid_namespace(const char *pid, ino_t *ret)
{
	char path[300];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	if (stat(path, &st) < 0)
		return false;
	*ret = st.st_ino;
	return true;
}

/* Whether the process is there, if only as a zombie: its pid has not passed to another. */
static bool is_there(int pidfd)
{
	return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
}

void fh_kill_all_of(pid_t init, int init_pidfd)
{
	char name[16];
	ino_t ours, theirs, its;
	snprintf(name, sizeof(name), "%d", (int)init);
	bool known = pid_namespace(name, &theirs) && pid_namespace("self", &ours) && ours != theirs;
	DIR *d = known && is_there(init_pidfd) ? opendir("/proc") : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		pid_t pid = (pid_t)atol(e->d_name);
		if (pid <= 0)
			continue;
		fh_auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* before the look: a pid may pass to another */
		if (pid_namespace(e->d_name, &its) && its == theirs)
			(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	}
	if (d)
		closedir(d);
}

/* The sandbox in a call of which the engine was seen asleep last. */
struct suspect {
	pid_t init;
	int pidfd;
	uint32_t seen; /* a bit for each of the last looks: whether the engine was asleep in a call of that sandbox */
};

/* The engine sleeps in this call. What was opened is that init: as long as the call lasts, the engine does not reap it.
 */
static void suspect(struct suspect *s, struct fh_watched *w, uint64_t call)
{
	pid_t init = w->init;
	if (s->pidfd < 0 || s->init != init || !is_there(s->pidfd)) {
		if (s->pidfd >= 0)
			close(s->pidfd);
		*s = (struct suspect){ .init = init, .pidfd = (int)syscall(SYS_pidfd_open, init, 0) };
		if (w->call != call)
			s->init = 0;
	}
	s->seen |= 1;
	if (__builtin_popcount(s->seen) < FH_STUCK_MOST || !s->init)
		return;
	w->killed = init;
	(void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
	fh_kill_all_of(init, s->pidfd);
	s->seen = 0;
}

/* Returns when the engine is dead. Sleeps while the engine touches no pipe. */
static void watch(struct fh_watched *w, pid_t engine)
{
	char bytes[64];
	struct suspect s = { .pidfd = -1 };
	for (uint64_t last = 0, call = 0;; last = call, call = w->call) {
		w->asleep = call == last && call % 2 == 0;
		bool quiet = w->asleep && w->call == call; /* a call that began meanwhile may not have seen that we sleep */
		struct pollfd p = { .fd = 0, .events = POLLIN };
		if (poll(&p, 1, quiet ? -1 : FH_STUCK_LOOK_MS) > 0 && read(0, bytes, sizeof(bytes)) <= 0)
			return;
		w->asleep = false;
		s.seen <<= 1;
		if (w->call == call && call % 2 && fh_state_of(engine) == FH_STUCK)
			suspect(&s, w, call);
	}
}

/* The keeper's life. It holds only the read end of a pipe. First it removes the groups of engines that were killed
 * together with their keepers; it does so here because no client waits for it. Then it watches the engine until end of
 * file, which means that its engine died: it kills all processes in the engine's control groups (the parent-death
 * signal of each init has usually done so already) and removes the groups. An engine that ends normally cleans up
 * itself and ends its keeper. */
static FH_NORETURN void keep(int read_end, struct fh_watched *w, pid_t engine, const char *groups)
{
	(void)setsid();
	prctl(PR_SET_NAME, "fumehood-keeper");
	for (int s = 1; s < 32; s++) /* only the pipe ends the keeper; SIGKILL cannot be ignored */
		signal(s, SIG_IGN);
	if (dup2(read_end, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1, ~0U, 0);
	if (groups)
		(void)fh_cgroup_collect();
	watch(w, engine);
	if (groups)
		fh_cgroup_remove_engine(groups);
	_exit(0);
}

void fh_keeper_start(struct fh_keeper *k, bool has_groups)
{
	int ends[2];
	*k = (struct fh_keeper){ .pid = -1, .pipe = -1 };
	char name[96]; /* looked up before the fork: when the child runs, its parent may be dead */
	pid_t engine = getpid();
	if (has_groups && !fh_cgroup_engine_name_of(engine, name, sizeof(name)))
		return;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	void *page = mmap(NULL, sizeof(struct fh_watched), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		close(ends[0]);
		close(ends[1]);
		return;
	}
	k->pid = fork();
	if (k->pid == 0) {
		close(ends[1]);
		keep(ends[0], page, engine, has_groups ? name : NULL);
	}
	close(ends[0]);
	(void)madvise(page, sizeof(struct fh_watched), MADV_DONTFORK); /* no other process of ours has to do with it */
	if (k->pid < 0) {
		close(ends[1]);
		(void)munmap(page, sizeof(struct fh_watched));
		return;
	}
	k->pipe = ends[1];
	k->watched = page;
}

void fh_keeper_watch(struct fh_keeper *k, pid_t init)
{
	struct fh_watched *w = k->watched;
	if (!w)
		return;
	w->init = init;
	w->call++;
	if (w->asleep) {
		w->asleep = false;
		(void)!write(k->pipe, "", 1);
	}
}

void fh_keeper_unwatch(struct fh_keeper *k)
{
	if (k->watched)
		k->watched->call++;
}

bool fh_keeper_killed(struct fh_keeper *k, pid_t init)
{
	return k->watched && atomic_compare_exchange_strong(&k->watched->killed, &init, 0);
}

void fh_keeper_end(struct fh_keeper *k)
{
	if (k->pid <= 0)
		return;
	kill(k->pid, SIGKILL);
	waitpid(k->pid, NULL, 0);
	close(k->pipe);
	(void)munmap(k->watched, sizeof(*k->watched));
	*k = (struct fh_keeper){ .pid = -1, .pipe = -1 };
}
