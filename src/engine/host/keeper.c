/* SPDX-License-Identifier: MIT */
#include "engine/host/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/host/cgroup.h"

/* The keeper's life. It holds only the read end of a pipe. First it removes the groups of engines that were killed
 * together with their keepers; it does so here because no client waits for it. Then it waits for end of file, which
 * means that its engine died: it kills all processes in the engine's control groups (the parent-death signal of each
 * init has usually done so already) and removes the groups. An engine that ends normally cleans up itself and ends its
 * keeper. */
static FH_NORETURN void keep(int read_end, const char *engine)
{
	char byte;
	(void)setsid();
	prctl(PR_SET_NAME, "fumehood-keeper");
	for (int s = 1; s < 32; s++) /* only the pipe ends the keeper; SIGKILL cannot be ignored */
		signal(s, SIG_IGN);
	if (dup2(read_end, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1, ~0U, 0);
	(void)fh_cgroup_collect();
	while (read(0, &byte, 1) > 0)
		;
	fh_cgroup_remove_engine(engine);
	_exit(0);
}

void fh_keeper_start(struct fh_keeper *k)
{
	int ends[2];
	*k = (struct fh_keeper){ .pid = -1, .pipe = -1 };
	char name[96]; /* looked up before the fork: when the child runs, its parent may be dead */
	if (!fh_cgroup_engine_name_of(getpid(), name, sizeof(name)) || pipe2(ends, O_CLOEXEC) < 0)
		return;
	k->pid = fork();
	if (k->pid == 0) {
		close(ends[1]);
		keep(ends[0], name);
	}
	close(ends[0]);
	if (k->pid < 0)
		close(ends[1]);
	else
		k->pipe = ends[1];
}

void fh_keeper_end(struct fh_keeper *k)
{
	if (k->pid <= 0)
		return;
	kill(k->pid, SIGKILL);
	waitpid(k->pid, NULL, 0);
	close(k->pipe);
	*k = (struct fh_keeper){ .pid = -1, .pipe = -1 };
}
