// SPDX-License-Identifier: MIT
#include "engine/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The keeper holds nothing but the read end of a pipe. End of file is the engine's death: every process left in the
 * engine's control groups is killed (init's own tie to the engine has done so already) and the groups are removed. A
 * byte before it says that the engine has cleaned up after itself. Either way the keeper then looks for what other
 * engines left whose keeper was killed as well: at the end, so that nobody waits for it. */
static FH_NORETURN void keep(int read_end)
{
	char name[96], byte;
	(void)setsid();
	prctl(PR_SET_NAME, "fumehood-keeper");
	for (int s = 1; s < 32; s++) /* it ends by the pipe alone; SIGKILL is not ours to ignore */
		signal(s, SIG_IGN);
	if (!fh_cgroup_engine_name_of(getppid(), name, sizeof(name)))
		_exit(0);
	if (dup2(read_end, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1, ~0U, 0);
	if (read(0, &byte, 1) <= 0)
		fh_cgroup_remove_engine(name);
	(void)!nice(19);
	(void)fh_cgroup_collect();
	_exit(0);
}

int fh_keeper_start(void)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		keep(ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -1;
	}
	return ends[1];
}
