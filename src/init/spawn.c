/* SPDX-License-Identifier: MIT */
/* Starts a program: fork, become the user, exec. The child reports over a pipe what the kernel says about it. */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "init/helpers/helpers.h"

enum { PATHS_MAX = FH_INIT_PATH_MAX };

struct report {
	int32_t error;
	uint32_t step, detail, refused;
	struct fh_init_state state;
};

/* Static because they are too large for the stack; a child works on its own copy. */
static char *argv[4096 + 1], *env[4096 + 1];

static long open_terminal_slave(int master)
{
	/* the terminal is opened through its master, so that no path in the image is used */
	long fd = fh_sys(__NR_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	if (fd >= 0) {
		long r = fh_sys(__NR_ioctl, fd, TIOCSCTTY, 0);
		if (r < 0)
			return r;
	}
	return fd;
}

/* Moves fds to 0, 1, 2 and the numbers of m's descriptors, and marks all others close-on-exec. */
static long place_descriptors(const struct fh_init_spawn *m, int *fds)
{
	int count = 3 + (int)m->descriptor_count;
	for (int i = 0; i < count; i++) /* moves them out of the way first, since they may have numbers that are needed */
		if (fds[i] < 3 + FH_INIT_DESCRIPTORS_MAX) {
			long r = fh_sys(__NR_fcntl, fds[i], F_DUPFD_CLOEXEC, 3 + FH_INIT_DESCRIPTORS_MAX);
			if (r < 0)
				return r;
			fds[i] = (int)r;
		}
	long r = fh_sys(__NR_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */);
	for (int i = 0; i < count && r >= 0; i++)
		r = fh_sys(__NR_dup3, fds[i], i < 3 ? i : m->descriptors[i - 3], 0);
	return r;
}

static int descriptors_are_good(const struct fh_init_spawn *m)
{
	if (m->descriptor_count > FH_INIT_DESCRIPTORS_MAX)
		return 0;
	for (uint32_t i = 0; i < m->descriptor_count; i++)
		if (m->descriptors[i] < 3 || m->descriptors[i] >= 3 + FH_INIT_DESCRIPTORS_MAX)
			return 0;
	return 1;
}

static const char *path_variable(void)
{
	for (char **e = env; *e; e++)
		if (memcmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* Executes a program found as a shell finds it: a name with a slash is a path; otherwise each folder of PATH is
 * tried. */
static long exec_program(void)
{
	static char file[PATHS_MAX];
	const char *name = argv[0];
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++)
		if (name[i] == '/')
			return fh_sys(__NR_execve, name, argv, env);
	long error = -ENOENT;
	for (const char *p = path_variable(); n;) {
		size_t dir = 0;
		while (p[dir] && p[dir] != ':')
			dir++;
		if (dir && dir + 1 + n < sizeof(file)) {
			memcpy(file, p, dir);
			file[dir] = '/';
			memcpy(file + dir + 1, name, n + 1);
			long r = fh_sys(__NR_execve, file, argv, env);
			if (r != -ENOENT && r != -ENOTDIR)
				error = r;
			if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
				break;
		}
		if (!p[dir])
			break;
		p += dir + 1;
	}
	return error;
}

static void write_text_file(const char *path, const char *text)
{
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		fh_write_full((int)fd, text, strlen(text));
		fh_sys(__NR_close, fd);
	}
}

/* Writes the run's files, as the program's user. */
static long write_files(const char *base, int from, struct report *r)
{
	struct fh_init_done done = { .refused = FH_REFUSED_NO };
	fh_init_put(base, from, &done);
	r->detail = (uint32_t)done.size;
	r->refused = done.refused;
	return done.refused ? done.error ? -done.error : -EIO : 0;
}

/* Moves a descriptor above the numbers of the program's descriptors. */
static long put_aside(int *fd)
{
	long e = fh_sys(__NR_fcntl, *fd, F_DUPFD_CLOEXEC, 20);
	if (e < 0)
		return e;
	*fd = (int)e;
	return 0;
}

/* Runs a helper in the child. It keeps no descriptors but its three streams. */
static void become_helper(const struct fh_init_spawn *m, const struct fh_init_start *as, const char *cwd,
                          struct report *r, int pipe)
{
	uint64_t none = 0;
	r->step = FH_STEP_IDS;
	long e = fh_init_become_helper(as);
	if (e == 0) {
		r->step = FH_STEP_RLIMIT;
		e = fh_init_lower_limits(m->rlimits, m->rlimit_count, &r->detail);
	}
	r->error = (int32_t)-e;
	fh_init_read_state(&r->state);
	r->state.landlock = as->rules;
	fh_write_full(pipe, r, sizeof(*r));
	if (e < 0)
		fh_sys(__NR_exit_group, 127);
	fh_sys(__NR_close_range, 3, ~0U, 0);
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
	fh_helper_main((const char *const *)argv, m->argv_count, cwd);
}

/* files: the descriptor that came with FH_SPAWN_FILES, or -1 */
static void child(struct fh_init *in, const struct fh_init_spawn *m, const char *cwd, int *fds, int files,
                  const int *groups, int pipe)
{
	struct report r = { 0 };
	uint64_t none = 0;
	struct fh_init_start as = in->start;
	long e = 0;

	as.uid = m->uid;
	as.gid = m->gid;
	r.step = FH_STEP_GROUP;
	e = fh_init_enter_memory_group(in);
	for (uint32_t i = 0; e == 0 && i < m->group_count; i++)
		e = fh_write_full(groups[i], "0", 1);
	if (e < 0)
		goto failed;
	r.step = FH_STEP_TERMINAL;
	fh_sys(__NR_setsid);
	if (m->flags & FH_SPAWN_PTY) {
		e = open_terminal_slave(fds[0]);
		if (e < 0)
			goto failed;
		fds[0] = fds[1] = fds[2] = (int)e;
	}
	/* moves these descriptors away before the limit on open files is set, which would forbid high numbers */
	e = put_aside(&pipe);
	if (e == 0 && files >= 0)
		e = put_aside(&files);
	if (e == 0)
		e = place_descriptors(m, fds);
	if (e < 0)
		goto failed;
	if (m->flags & FH_SPAWN_HELPER)
		become_helper(m, &as, cwd, &r, pipe);
	/* When memory runs out, the program should be killed before init. If /proc is missing, the default stays, which
	 * does no harm. */
	write_text_file("/proc/self/oom_score_adj", "1000");

	r.step = FH_STEP_IDS;
	e = fh_init_become_user(&as);
	if (e < 0)
		goto failed;
	r.step = FH_STEP_FILES;
	e = files >= 0 ? write_files(cwd, files, &r) : 0;
	if (e < 0)
		goto failed;
	r.step = FH_STEP_RLIMIT;
	e = fh_init_lower_limits(m->rlimits, m->rlimit_count, &r.detail);
	if (e < 0)
		goto failed;
	r.step = FH_STEP_CWD;
	e = fh_sys(__NR_chdir, cwd);
	if (e < 0)
		goto failed;
	fh_sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
	fh_sys(__NR_umask, 022);
	r.step = FH_STEP_EXEC;
	fh_init_read_state(&r.state);
	r.state.landlock = in->start.rules;
	fh_write_full(pipe, &r, sizeof(r));
	e = exec_program();
failed:
	r.error = (int32_t)-e;
	fh_write_full(pipe, &r, sizeof(r));
	fh_sys(__NR_exit_group, 127);
}

/* Splits text into cwd, argv and env; 0 when a NUL is missing. */
static int split_text(const struct fh_init_spawn *m, const char *text, const char **ret_cwd)
{
	const char *p = text, *end = text + m->text_size;
	uint32_t strings = 1 + m->argv_count + m->env_count;
	if (m->argv_count == 0 || m->argv_count > 4096 || m->env_count > 4096)
		return 0;
	for (uint32_t i = 0; i < strings; i++) {
		const char *start = p;
		while (p < end && *p)
			p++;
		if (p == end)
			return 0;
		p++;
		if (i == 0)
			*ret_cwd = start;
		else if (i <= m->argv_count)
			argv[i - 1] = (char *)(uintptr_t)start;
		else
			env[i - 1 - m->argv_count] = (char *)(uintptr_t)start;
	}
	argv[m->argv_count] = 0;
	env[m->env_count] = 0;
	return 1;
}

static long open_terminal(const struct fh_init_spawn *m)
{
	struct winsize size = { .ws_row = m->rows, .ws_col = m->columns };
	int unlock = 0;
	long master = fh_sys(__NR_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
	if (master < 0)
		return master;
	long r = fh_sys(__NR_ioctl, master, TIOCSPTLCK, &unlock);
	if (r == 0)
		r = fh_sys(__NR_ioctl, master, TIOCSWINSZ, &size);
	return r < 0 ? r : master;
}

/* Waits until the child has executed its program or ended, which closes the pipe: what it reports before that does not
 * wake init. Before exec the child has the program's user id, so other programs of that user can stop it. It is
 * continued then, and killed if that does not help, because init serves no other request meanwhile. */
static void await_exec(int pipe, long pid)
{
	enum { LOOK_NS = 20000000, STOPS_MAX = 50 };
	struct pollfd p = { .fd = pipe, .events = 0 };
	for (unsigned stops = 0;;) {
		struct timespec t = { 0, LOOK_NS };
		siginfo_t stopped = { .si_signo = 0 };
		if (fh_sys(__NR_ppoll, &p, 1, &t, NULL, 8) > 0)
			return;
		if (fh_sys(__NR_waitid, P_PID, pid, &stopped, WSTOPPED | WNOHANG, NULL) == 0 && stopped.si_signo != 0)
			fh_sys(__NR_kill, pid, ++stops < STOPS_MAX ? SIGCONT : SIGKILL);
	}
}

int fh_init_spawn(struct fh_init *in, const struct fh_init_spawn *m, const char *text, const int *given, int fd_count,
                  struct fh_init_spawned *ret, int *ret_terminal)
{
	int fds[3 + FH_INIT_DESCRIPTORS_MAX] = { -1, -1, -1 }, pipe[2], files = -1;
	int count = m->flags & FH_SPAWN_PTY ? 0 : 3 + (int)m->descriptor_count;
	int expected = count + !!(m->flags & FH_SPAWN_FILES) + (int)m->group_count;
	const char *cwd = "/";
	long e = -EINVAL;
	*ret_terminal = -1;
	ret->step = FH_STEP_TERMINAL;
	if (!split_text(m, text, &cwd) || m->rlimit_count > FH_INIT_RLIMITS_MAX || !descriptors_are_good(m) ||
	    m->group_count > FH_INIT_GROUPS_MAX || fd_count != expected)
		goto failed;
	const int *groups = given + fd_count - m->group_count;
	if (m->flags & FH_SPAWN_PTY) {
		e = open_terminal(m);
		if (e < 0)
			goto failed;
		*ret_terminal = (int)e;
		fds[0] = fds[1] = fds[2] = (int)e;
	} else {
		memcpy(fds, given, (size_t)count * sizeof(*fds));
		files = m->flags & FH_SPAWN_FILES ? given[count] : -1;
	}
	ret->step = FH_STEP_FORK;
	e = fh_sys(__NR_pipe2, pipe, O_CLOEXEC);
	if (e < 0)
		goto failed;
	e = fh_sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (e == 0) {
		fh_sys(__NR_close, pipe[0]);
		child(in, m, cwd, fds, files, groups, pipe[1]);
	}
	fh_sys(__NR_close, pipe[1]);
	if (e < 0) {
		fh_sys(__NR_close, pipe[0]);
		goto failed;
	}
	ret->pid = (uint32_t)e;
	/* The child sends one report before exec, and a second one, or only that, if it failed. */
	struct report r = { .error = EPROTO }, next;
	await_exec(pipe[0], e);
	while (fh_read_full(pipe[0], &next, sizeof(next)) == 1)
		r = next;
	fh_sys(__NR_close, pipe[0]);
	ret->error = r.error;
	ret->step = r.error ? r.step : FH_STEP_NONE;
	ret->detail = r.detail;
	ret->refused = r.refused;
	ret->state = r.state;
	return r.error ? -r.error : 0;
failed:
	ret->error = (int32_t)-e;
	if (*ret_terminal >= 0)
		fh_sys(__NR_close, *ret_terminal);
	*ret_terminal = -1;
	return (int)e;
}
