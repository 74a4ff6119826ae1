/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/process/proc.h"

static char folder[] = "/tmp/fumehood-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	const char *argv[] = { "rm", "-rf", "--", folder, NULL };
	struct fh_proc_options o = { .argv = argv };
	int status;
	return fh_proc_run(&o, fh_str(""), 10000, NULL, NULL, &status, NULL);
}

static void writes_files_whole(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *path = fh_path_join(folder, "file");
	assert_int_equal(fh_file_write_atomic(path, "first", 5, 0644, &err), 0);
	assert_int_equal(fh_file_write_atomic(path, "second", 6, 0644, &err), 0);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(6);
	assert_int_equal(fh_file_read(path, &text, &err), 0);
	assert_string_equal(text.p, "second");
	fh_auto_free char *link = fh_path_join(folder, "link");
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(fh_file_write_atomic(link, "third", 5, 0644, &err), 0);
	struct stat st;
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	fh_buf_truncate(&text, 0);
	assert_int_equal(fh_file_read(path, &text, &err), 0);
	assert_string_equal(text.p, "third");
}

static void refuses_what_is_no_file(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(4);
	assert_int_equal(fh_file_read(folder, &text, &err), -FH_E_ARGUMENT);
	assert_int_equal(fh_file_write_atomic(folder, "", 0, 0644, &err), -FH_E_ARGUMENT);
	fh_auto_free char *missing = fh_path_join(folder, "missing");
	assert_int_equal(fh_file_read(missing, &text, &err), -FH_E_NOT_FOUND);
	fh_auto_free char *fifo = fh_path_join(folder, "fifo");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(fh_file_read(fifo, &text, &err), -FH_E_ARGUMENT);
	fh_auto_free char *large = fh_path_join(folder, "large");
	assert_int_equal(fh_file_write_atomic(large, "12345", 5, 0644, &err), 0);
	assert_int_equal(fh_file_read(large, &text, &err), -FH_E_LIMIT);
	assert_int_equal(text.n, 0);
	assert_int_equal(fh_file_write_atomic("/dev/null", "x", 1, 0644, &err), 0);
}

static void tries_a_file_and_leaves_it_as_it_is(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(8);
	fh_auto_free char *place = fh_path_join(folder, "tried");
	fh_auto_free char *file = fh_path_join(place, "file"), *below = fh_path_join(file, "x");
	assert_true(fh_file_try(file, &err) < 0 && err.sys == ENOENT); /* there is no folder for it */
	assert_int_equal(mkdir(place, 0700), 0);
	assert_int_equal(fh_file_try(file, &err), 0);
	assert_int_equal(rmdir(place), 0); /* nothing was left */
	assert_int_equal(mkdir(place, 0700), 0);
	assert_int_equal(fh_file_write_atomic(file, "kept", 4, 0644, &err), 0);
	assert_int_equal(fh_file_try(file, &err), 0);
	assert_int_equal(fh_file_read(file, &text, &err), 0);
	assert_string_equal(text.p, "kept");
	assert_true(fh_file_try(below, &err) < 0);
	assert_true(fh_file_try(place, &err) < 0);
	assert_int_equal(fh_file_try("/dev/null", &err), 0);
}

static void puts_a_program_into_memory_for_good(void **state)
{
	(void)state;
	fh_auto_close int fd = fh_memory_program("test", "#!", 2);
	char head[2];
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, head, 2, 0), 2);
	assert_memory_equal(head, "#!", 2);
	assert_true(pwrite(fd, "x", 1, 0) < 0 && errno == EPERM);
	assert_true(ftruncate(fd, 0) < 0 && errno == EPERM);
}

static void runs_a_program(void **state)
{
	(void)state;
	const char *argv[] = { "sh", "-c", "cat; echo err >&2; exit 3", NULL };
	struct fh_proc_options o = { .argv = argv };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), errout = FH_BUF_INIT(0);
	int status = 0;
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_proc_run(&o, fh_str("hello"), 60000, &out, &errout, &status, &err), 0);
	assert_string_equal(out.p, "hello");
	assert_string_equal(errout.p, "err\n");
	assert_int_equal(WEXITSTATUS(status), 3);
}

static void moves_much_data_both_ways(void **state)
{
	(void)state;
	const char *argv[] = { "sh", "-c", "tee /dev/stderr", NULL };
	struct fh_proc_options o = { .argv = argv };
	size_t n = 4 << 20;
	fh_auto_free char *input = fh_xcalloc(n, 1);
	memset(input, 'x', n);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), errout = FH_BUF_INIT(1000);
	int status = -1;
	assert_int_equal(fh_proc_run(&o, (struct fh_str){ input, n }, 120000, &out, &errout, &status, NULL), 0);
	assert_int_equal(status, 0);
	assert_int_equal(out.n, n);
	assert_int_equal(errout.n, 1000);
	assert_true(errout.overflowed);
	struct fh_buf small = FH_BUF_INIT(1000);
	assert_int_equal(fh_proc_run(&o, (struct fh_str){ input, n }, 120000, &small, NULL, &status, NULL), -FH_E_LIMIT);
	fh_buf_release(&small);
}

static void survives_a_program_that_does_not_read(void **state)
{
	(void)state;
	const char *argv[] = { "true", NULL };
	struct fh_proc_options o = { .argv = argv };
	size_t n = 1 << 20;
	fh_auto_free char *input = fh_xcalloc(n, 1);
	int status = -1;
	assert_int_equal(fh_proc_run(&o, (struct fh_str){ input, n }, 60000, NULL, NULL, &status, NULL), 0);
	assert_int_equal(status, 0);
	sigset_t pending;
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGPIPE));
}

static void says_why_a_program_does_not_start(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	int status;
	const char *missing[] = { "no-such-program-here", NULL };
	struct fh_proc_options o = { .argv = missing };
	assert_int_equal(fh_proc_run(&o, fh_str(""), -1, NULL, NULL, &status, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "no-such-program-here"));
	const char *denied[] = { "/etc/passwd", NULL };
	o.argv = denied;
	assert_int_equal(fh_proc_run(&o, fh_str(""), -1, NULL, NULL, &status, &err), -FH_E_SYSTEM);
	assert_int_equal(err.sys, EACCES);
	const char *fine[] = { "true", NULL };
	o.argv = fine;
	o.cwd = "/no/such/folder";
	assert_int_equal(fh_proc_run(&o, fh_str(""), -1, NULL, NULL, &status, &err), -FH_E_SYSTEM);
	assert_non_null(strstr(err.message, "/no/such/folder"));
	fh_auto_free char *script = fh_path_join(folder, "script");
	const char *bad[] = { script, NULL };
	assert_int_equal(fh_file_write_atomic(script, "#!/no/such/shell\n", 17, 0755, &err), 0);
	o = (struct fh_proc_options){ .argv = bad };
	assert_int_equal(fh_proc_run(&o, fh_str(""), -1, NULL, NULL, &status, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "interpreter"));
}

static void ends_a_program_that_takes_too_long(void **state)
{
	(void)state;
	const char *argv[] = { "sh", "-c", "echo start; sleep 1000", NULL };
	struct fh_proc_options o = { .argv = argv, .own_group = true };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int status;
	int64_t before = fh_now_ns();
	assert_int_equal(fh_proc_run(&o, fh_str(""), 300, &out, NULL, &status, NULL), -FH_E_TIMEOUT);
	assert_string_equal(out.p, "start\n");
	assert_true(fh_now_ns() - before >= 300 * FH_NS_PER_MS);
}

static void does_not_wait_for_what_a_program_leaves_behind(void **state)
{
	(void)state;
	const char *argv[] = { "sh", "-c", "sleep 1000 & echo $!", NULL };
	struct fh_proc_options o = { .argv = argv, .own_group = true };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int status = -1;
	assert_int_equal(fh_proc_run(&o, fh_str(""), 60000, &out, NULL, &status, NULL), 0);
	assert_int_equal(status, 0);
	pid_t left = (pid_t)strtol(fh_buf_cstr(&out), NULL, 10);
	assert_true(left > 0);
	bool gone = false;
	for (int i = 0; i < 500 && !gone; i++) {
		fh_auto_free char *path = fh_xasprintf("/proc/%d/stat", (int)left);
		fh_auto_buf struct fh_buf stat = FH_BUF_INIT(4096);
		gone = fh_file_read(path, &stat, NULL) < 0 || strstr(stat.p, ") Z ");
		fh_sleep_ns(10 * FH_NS_PER_MS);
	}
	assert_true(gone);
}

static void passes_on_only_three_descriptors(void **state)
{
	(void)state;
	int extra = open("/dev/null", O_RDONLY); /* without close-on-exec, as a careless library would have it */
	int far = fcntl(extra, F_DUPFD, 50);
	assert_true(extra >= 0 && extra < 10 && far == 50);
	const char *argv[] = { "sh", "-c",
		                   "for i in 0 1 2 3 4 5 6 7 8 9 50; do [ -e /proc/$$/fd/$i ] && echo $i; done; true", NULL };
	struct fh_proc_options o = { .argv = argv };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int status;
	assert_int_equal(fh_proc_run(&o, fh_str(""), 60000, &out, NULL, &status, NULL), 0);
	close(extra);
	close(far);
	assert_string_equal(out.p, "0\n1\n2\n");
}

static void talks_to_a_running_program(void **state)
{
	(void)state;
	const char *argv[] = { "cat", NULL };
	const char *env[] = { "PATH=/usr/bin:/bin", NULL };
	struct fh_proc_options o = { .argv = argv,
		                         .env = env,
		                         .stdio = { FH_STDIO_PIPE, FH_STDIO_PIPE, FH_STDIO_INHERIT } };
	struct fh_proc p;
	assert_int_equal(fh_proc_start(&p, &o, NULL), 0);
	int status = -1;
	assert_int_equal(fh_proc_wait(&p, 20, &status, NULL), -FH_E_TIMEOUT);
	assert_int_equal(fh_write_all(p.stdio[0], "ping", 4), 0);
	char back[4];
	assert_int_equal(read(p.stdio[1], back, 4), 4);
	assert_memory_equal(back, "ping", 4);
	close(p.stdio[0]);
	p.stdio[0] = -1;
	assert_int_equal(fh_proc_wait(&p, 60000, &status, NULL), 0);
	assert_int_equal(status, 0);
	assert_int_equal(fh_proc_wait(&p, 0, &status, NULL), -FH_E_ARGUMENT);
	fh_proc_release(&p);
}

static void starts_with_clean_signals(void **state)
{
	(void)state;
	signal(SIGUSR1, SIG_IGN);
	sigset_t block, before;
	sigemptyset(&block);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, &before);
	const char *argv[] = { "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL };
	struct fh_proc_options o = { .argv = argv };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	int status;
	assert_int_equal(fh_proc_run(&o, fh_str(""), 60000, &out, NULL, &status, NULL), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGUSR1, SIG_DFL);
	assert_string_equal(out.p, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void works_with_its_own_descriptors_closed(void **state)
{
	(void)state;
	/* In a child, since the report of the tests goes to these descriptors. */
	pid_t pid = fork();
	if (pid == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		const char *argv[] = { "sh", "-c", "cat; echo e >&2", NULL };
		struct fh_proc_options o = { .argv = argv };
		struct fh_buf out = FH_BUF_INIT(0), errout = FH_BUF_INIT(0);
		int status = -1;
		int r = fh_proc_run(&o, fh_str("in"), 60000, &out, &errout, &status, NULL);
		bool good = r == 0 && status == 0 && fh_streq(fh_buf_cstr(&out), "in") && fh_streq(fh_buf_cstr(&errout), "e\n");
		_exit(good ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_files_whole),
		cmocka_unit_test(refuses_what_is_no_file),
		cmocka_unit_test(tries_a_file_and_leaves_it_as_it_is),
		cmocka_unit_test(puts_a_program_into_memory_for_good),
		cmocka_unit_test(runs_a_program),
		cmocka_unit_test(moves_much_data_both_ways),
		cmocka_unit_test(survives_a_program_that_does_not_read),
		cmocka_unit_test(says_why_a_program_does_not_start),
		cmocka_unit_test(ends_a_program_that_takes_too_long),
		cmocka_unit_test(does_not_wait_for_what_a_program_leaves_behind),
		cmocka_unit_test(passes_on_only_three_descriptors),
		cmocka_unit_test(talks_to_a_running_program),
		cmocka_unit_test(starts_with_clean_signals),
		cmocka_unit_test(works_with_its_own_descriptors_closed),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
