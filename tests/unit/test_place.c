/* SPDX-License-Identifier: MIT */
/* Places that a program may have had a hand in: which links are followed, and what a held folder is worth. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/host/place.h"

static char folder[] = "/tmp/fumehood-unit-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 && mkdir("real", 0700) == 0 && mkdir("real/sub", 0700) == 0 &&
	               symlink("real", "link") == 0 && symlink("link", "twice") == 0 && symlink("loop", "loop") == 0
	           ? 0
	           : -1;
}

static int leave(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

/* As root, a link of one's own is one that no sandbox made; as a user it may be. `ranges` says which. */
static int opened(const char *path, bool ranges)
{
	int fd = fh_place_open(path, ranges);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void links_of_the_own_id_are_followed_only_where_sandboxes_have_others(void **state)
{
	bool root = geteuid() == 0;
	(void)state;
	assert_int_equal(opened("real/sub", false), 0);
	assert_int_equal(opened("link", false), -ELOOP);
	assert_int_equal(opened("link/sub", false), -ELOOP);
	assert_int_equal(opened("twice/sub", false), -ELOOP);
	assert_int_equal(opened("link/sub", true), root ? 0 : -ELOOP);
	assert_int_equal(opened("twice/sub/../sub", true), root ? 0 : -ELOOP);
	assert_int_equal(opened("loop", true), -ELOOP);
	assert_int_equal(opened("real/none", true), -ENOENT);
	assert_int_equal(opened("real/sub/", false), 0);
	if (root && lchown("link", 12345, 12345) == 0) {
		assert_int_equal(opened("link/sub", true), -ELOOP); /* a sandbox's id */
		assert_int_equal(opened("link/sub", false), 0);
		assert_int_equal(lchown("link", 0, 0), 0);
	}
}

static void a_prepared_place_stays_where_it_was(void **state)
{
	struct fh_place p = FH_PLACE_INIT;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(100);
	(void)state;
	assert_int_equal(fh_place_prepare("real/sub/file", "unused", &p, &err), 0);
	assert_int_equal(mkdir("elsewhere", 0700), 0);
	assert_int_equal(rename("real/sub", "real/moved"), 0);
	assert_int_equal(symlink("../elsewhere", "real/sub"), 0);
	assert_int_equal(fh_place_write(&p, "text", 4, 0600, &err), 0);
	assert_int_equal(fh_file_read("real/moved/file", &text, &err), 0);
	assert_string_equal(fh_buf_cstr(&text), "text");
	assert_int_equal(access("elsewhere/file", F_OK), -1);
	assert_int_equal(unlink("real/sub"), 0);
	assert_int_equal(rename("real/moved", "real/sub"), 0);
	fh_place_release(&p);
}

static void a_folder_gets_the_file_under_its_name_and_a_link_is_replaced(void **state)
{
	struct fh_place p = FH_PLACE_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct stat st;
	(void)state;
	assert_int_equal(fh_place_prepare("real", "name", &p, &err), 0);
	assert_int_equal(symlink("../target", "real/name"), 0);
	assert_int_equal(fh_place_write(&p, "x", 1, 0600, &err), 0);
	assert_int_equal(lstat("real/name", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(access("target", F_OK), -1);
	assert_int_equal(unlink("real/name"), 0);
	assert_int_equal(mkfifo("real/name", 0600), 0);
	assert_true(fh_place_write(&p, "x", 1, 0600, &err) < 0);
	assert_non_null(strstr(err.message, "not a regular file"));
	fh_place_release(&p);
	err = (struct fh_error)FH_ERROR_INIT;
	assert_true(fh_place_prepare("none/file", "unused", &p, &err) < 0);
	err = (struct fh_error)FH_ERROR_INIT;
	assert_true(fh_place_prepare("loop/file", "unused", &p, &err) < 0);
	assert_non_null(strstr(err.hint, "link"));
	err = (struct fh_error)FH_ERROR_INIT;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_of_the_own_id_are_followed_only_where_sandboxes_have_others),
		cmocka_unit_test(a_prepared_place_stays_where_it_was),
		cmocka_unit_test(a_folder_gets_the_file_under_its_name_and_a_link_is_replaced),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
