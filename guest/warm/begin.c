/* SPDX-License-Identifier: MIT */
/* Turns a parked program into a run. Does what init does before exec (init/spawn.c, init/files.c), in the same order,
 * and what exec does: sets the arguments and the environment that the kernel shows. */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>

static char *argv[FH_WARM_ARGV_MAX + 1], *env[FH_WARM_ARGV_MAX + 1];

static bool split_text(const struct fh_zygote_run *m, char *text, struct fh_warm_run *run)
{
	char *p = text, *end = text + m->text_size;
	if (m->argv_count == 0 || m->argv_count > FH_WARM_ARGV_MAX || m->env_count > FH_WARM_ARGV_MAX)
		return false;
	for (uint32_t i = 0; i < 1 + m->argv_count + m->env_count; i++) {
		char *start = p;
		while (p < end && *p)
			p++;
		if (p == end)
			return false;
		p++;
		if (i == 0)
			run->cwd = start;
		else if (i <= m->argv_count)
			argv[i - 1] = start;
		else
			env[i - 1 - m->argv_count] = start;
	}
	argv[m->argv_count] = NULL;
	env[m->env_count] = NULL;
	run->argv = argv;
	run->argc = m->argv_count;
	run->env = env;
	run->env_count = m->env_count;
	run->extra_count = m->extra_count;
	return p == end;
}

/* --------------------------------------------------------------------------------------------------------- files */

static long make_folders(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		long r = fh_sys(__NR_mkdirat, AT_FDCWD, path, 0755);
		*p = '/';
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

static long write_file(char *path, const struct fh_init_entry *e, const char *data)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (e->append ? O_APPEND : O_TRUNC);
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, flags, 0600);
	if (fd == -ENOENT) {
		long r = make_folders(path);
		fd = r < 0 ? r : fh_sys(__NR_openat, AT_FDCWD, path, flags, 0600);
	}
	if (fd < 0)
		return fd;
	long r = fh_write_full((int)fd, data, e->size);
	if (r == 0)
		r = fh_sys(__NR_fchmod, fd, e->mode & 07777);
	long c = fh_sys(__NR_close, fd);
	return r < 0 ? r : c;
}

static long write_files(const struct fh_zygote_run *m, const char *p, uint32_t *ret_index)
{
	static char path[FH_WARM_PATH_MAX];
	const char *end = p + m->files_size;
	for (uint32_t i = 0; i < m->file_count; i++) {
		struct fh_init_entry e;
		*ret_index = i;
		if ((size_t)(end - p) < sizeof(e))
			return -EBADMSG;
		memcpy(&e, p, sizeof(e));
		p += sizeof(e);
		if (e.path_size == 0 || e.path_size >= sizeof(path) || (size_t)(end - p) < e.path_size ||
		    (size_t)(end - p) - e.path_size < e.size)
			return -EBADMSG;
		memcpy(path, p, e.path_size);
		path[e.path_size] = 0;
		p += e.path_size;
		long r = write_file(path, &e, p);
		if (r < 0)
			return r;
		p += e.size;
	}
	return p == end ? 0 : -EBADMSG;
}

/* --------------------------------------------------------------------------------------------------- descriptors */

/* Moves all descriptors above every number that is needed, then each to its place. */
static long place_descriptors(const struct fh_zygote_run *m, int *fds)
{
	static uint32_t place[3 + FH_ZYGOTE_EXTRAS_MAX];
	uint32_t count = 3 + m->extra_count, above = 3;
	for (uint32_t i = 0; i < count; i++) {
		place[i] = i < 3 ? i : m->extra[i - 3];
		if (i >= 3 && (place[i] < 3 || place[i] > 1000))
			return -EINVAL;
		if (place[i] >= above)
			above = place[i] + 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		long moved = fh_sys(__NR_fcntl, fds[i], F_DUPFD_CLOEXEC, above);
		if (moved < 0)
			return moved;
		fh_sys(__NR_close, fds[i]);
		fds[i] = (int)moved;
	}
	for (uint32_t i = 0; i < count; i++) {
		long r = fh_sys(__NR_dup3, fds[i], place[i], 0);
		if (r < 0)
			return r;
		fh_sys(__NR_close, fds[i]);
	}
	return 0;
}

/* ------------------------------------------------------------------------------------ what the kernel shows of us */

static uint64_t number_at(const char **p)
{
	uint64_t v = 0;
	while (**p && (**p < '0' || **p > '9'))
		(*p)++;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		v = v * 10 + (uint64_t)(**p - '0');
	return v;
}

/* Sets /proc/self/cmdline and environ. prctl(2) PR_SET_MM_MAP sets the whole memory layout, of which only these change.
 * On a kernel without it, the zygote's stay visible; nothing depends on them. */
static void show(const struct fh_warm_run *run)
{
	static char stat[2048];
	struct prctl_mm_map map = { .exe_fd = (uint32_t)-1 };
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? fd : fh_sys(__NR_read, fd, stat, sizeof(stat) - 1);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	if (n <= 0)
		return;
	stat[n] = 0;
	const char *p = stat + n;
	while (p > stat && *p != ')') /* skips the process name, which may contain any character */
		p--;
	uint64_t field[53] = { 0 };
	for (int i = 3; i <= 52 && *p; i++) { /* fields are numbered as in proc_pid_stat(5); the third is a letter */
		if (i == 3) {
			p += 3;
			continue;
		}
		field[i] = number_at(&p);
	}
	map.start_code = field[26];
	map.end_code = field[27];
	map.start_stack = field[28];
	map.start_data = field[45];
	map.end_data = field[46];
	map.start_brk = field[47];
	map.brk = (uint64_t)fh_sys(__NR_brk, 0);
	const char *last_arg = run->argv[run->argc - 1], *last_env = run->env_count ? run->env[run->env_count - 1] : "";
	map.arg_start = (uint64_t)(uintptr_t)run->argv[0];
	map.arg_end = (uint64_t)(uintptr_t)(last_arg + strlen(last_arg) + 1);
	map.env_start = map.arg_end;
	map.env_end = run->env_count ? (uint64_t)(uintptr_t)(last_env + strlen(last_env) + 1) : map.arg_end;
	fh_sys(__NR_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/* -------------------------------------------------------------------------------------------------------- settings */

static const char *variable(char *const *list, uint32_t count, const char *name, size_t size)
{
	for (uint32_t i = 0; i < count; i++) {
		size_t n = 0;
		while (n < size && list[i][n] == name[n])
			n++;
		if (n == size)
			return list[i];
	}
	return NULL;
}

/* Variables that the C library, the dynamic linker and every interpreter read when they start. */
static const char *const common_settings[] = {
	"LD_", "LC_", "LANG", "GLIBC_TUNABLES=", "MALLOC_", "TZ=", "TZDIR=", "OMP_", "OPENBLAS_", "MKL_", NULL
};

static bool is_setting(const char *const *prefixes, const char *line)
{
	for (; prefixes && *prefixes; prefixes++)
		if (fh_text_begins(line, *prefixes))
			return true;
	return false;
}

/* Whether a variable that matters at start-up is missing from the other list, or differs there. */
static bool one_way(const struct fh_warm_interpreter *i, char *const *a, uint32_t a_count, char *const *b,
                    uint32_t b_count, char *why)
{
	for (uint32_t k = 0; k < a_count; k++) {
		size_t n = 0;
		while (a[k][n] && a[k][n] != '=')
			n++;
		if (!is_setting(common_settings, a[k]) && !is_setting(i->settings, a[k]))
			continue;
		const char *other = variable(b, b_count, a[k], n + 1);
		if (other && fh_text_equal(other, a[k]))
			continue;
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the interpreter has read another value of a variable: ");
		fh_text_add(why, FH_ZYGOTE_WHY_MAX, a[k]);
		return true;
	}
	return false;
}

bool fh_warm_settings_differ(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why)
{
	const struct fh_warm_start *s = &fh_warm_start;
	return one_way(i, run->env, run->env_count, s->env, s->env_count, why) ||
	       one_way(i, s->env, s->env_count, run->env, run->env_count, why);
}

const char *fh_warm_variable(const char *name_and_equals)
{
	const struct fh_warm_start *s = &fh_warm_start;
	const char *line = variable(s->env, s->env_count, name_and_equals, strlen(name_and_equals));
	return line ? line + strlen(name_and_equals) : NULL;
}

bool fh_warm_is_there(const char *folder, size_t n, const char *name)
{
	char path[FH_WARM_PATH_MAX];
	if (n + 1 + strlen(name) >= sizeof(path))
		return false;
	memcpy(path, folder, n);
	path[n] = '/';
	memcpy(path + n + 1, name, strlen(name) + 1);
	return fh_sys(__NR_faccessat, AT_FDCWD, path, 0 /* F_OK */) == 0;
}

static bool same_lists(char *const *a, uint32_t a_count, char *const *b, uint32_t b_count)
{
	if (a_count != b_count)
		return false;
	for (uint32_t i = 0; i < a_count; i++)
		if (!fh_text_equal(a[i], b[i]))
			return false;
	return true;
}

/* The index of MAIN in argv; 0 if the run's arguments up to MAIN differ from the zygote's. */
static uint32_t position_of_main(const struct fh_warm_run *run)
{
	const struct fh_warm_start *s = &fh_warm_start;
	for (uint32_t i = 0; i < s->argc && i < run->argc && fh_text_equal(s->argv[i], run->argv[i]); i++)
		if (i > 0 && fh_text_equal(s->argv[i], s->file))
			return i;
	return 0;
}

static bool refuse(char *why, const char *text)
{
	fh_text_set(why, FH_ZYGOTE_WHY_MAX, text);
	return false;
}

bool fh_warm_become(const struct fh_warm_interpreter *i, const struct fh_warm_run *run, char *why)
{
	const struct fh_warm_start *s = &fh_warm_start;
	uint32_t main = position_of_main(run);
	if (!main)
		return refuse(why, "the command line is not the zygote's");
	bool same_environment = !s->has_own_environment && same_lists(run->env, run->env_count, s->env, s->env_count);
	/* otherwise environ is not replaced, since some interpreters free theirs at the end (Perl) */
	if (environ && (!same_environment || i->variable))
		environ = run->env;
	if (!same_environment &&
	    !(i->environment ? i->environment(run, why)
	                     : refuse(why, "this interpreter has read the environment, and the run's is another one")))
		return false;
	if (!same_lists(run->argv, run->argc, s->argv, s->argc) &&
	    !(i->arguments ? i->arguments(run, main, why)
	                   : refuse(why, "this interpreter takes its arguments only when it starts, and the run has some")))
		return false;
	return (!i->begin || i->begin(run, why)) && (!(i->calls & FH_CALL_READ) || fh_warm_take_main(run, why));
}

bool fh_warm_live_environment(const struct fh_warm_run *run, char *why)
{
	(void)run, (void)why;
	return true;
}

bool fh_warm_live_arguments(const struct fh_warm_run *run, uint32_t main, char *why)
{
	(void)run, (void)main, (void)why;
	return true;
}

int fh_warm_begin(const struct fh_zygote_run *m, size_t size, int *fds, int fd_count, struct fh_warm_run *run,
                  struct fh_zygote_failed *ret)
{
	char *text = (char *)(uintptr_t)(m + 1);
	ret->step = FH_WARM_MESSAGE;
	if (size < sizeof(*m) || m->text_size > FH_ZYGOTE_TEXT_MAX || m->files_size > FH_ZYGOTE_FILES_BYTES_MAX ||
	    size - sizeof(*m) != (size_t)m->text_size + m->files_size || m->rlimit_count > FH_INIT_RLIMITS_MAX ||
	    m->file_count > FH_ZYGOTE_FILES_MAX || m->extra_count > FH_ZYGOTE_EXTRAS_MAX ||
	    fd_count != (int)(3 + m->extra_count) || !split_text(m, text, run))
		return -EBADMSG;
	ret->step = FH_WARM_CWD;
	long r = fh_sys(__NR_chdir, run->cwd);
	if (r == 0) {
		ret->step = FH_WARM_FILE;
		r = write_files(m, text + m->text_size, &ret->detail);
	}
	if (r == 0) {
		ret->step = FH_WARM_DESCRIPTORS;
		r = place_descriptors(m, fds);
	}
	if (r == 0) {
		ret->step = FH_WARM_RLIMIT;
		r = fh_init_lower_limits(m->rlimits, m->rlimit_count, &ret->detail);
	}
	if (r < 0)
		return (int)r;
	show(run);
	ret->step = FH_WARM_NONE;
	return 0;
}
