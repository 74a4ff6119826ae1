/* SPDX-License-Identifier: MIT */
/* What compilers made, kept by what they made it of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/path.h"
#include "sandbox/planning/compile_cache.h"

static char home[] = "/tmp/fumehood-cache-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	unsetenv("FUMEHOOD_COMPILE_CACHE");
	return mkdtemp(home) && setenv("XDG_CACHE_HOME", home, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	fh_auto_free char *command = fh_xasprintf("rm -rf %s", home);
	return system(command);
}

/* A compiler that this test can replace: a tool of its own prefix. */
static struct fh_plan *a_step(const char *source)
{
	static const char *const argv[] = { "/usr/bin/true", "-O2", NULL };
	struct fh_plan *p = fh_plan_new();
	fh_auto_free char *tool = fh_xasprintf("%s/tool/bin/cc", home);
	fh_auto_free char *prefix = fh_xasprintf("%s/tool", home);
	fh_plan_set_strings(&p->argv, argv);
	fh_plan_set_text(&p->cwd, "/home/user");
	fh_plan_set_text(&p->interpreter, tool);
	fh_plan_add_mount(p, FH_MOUNT_BIND, "/usr", "/usr");
	fh_plan_add_mount(p, FH_MOUNT_BIND, prefix, prefix);
	fh_plan_add_mount(p, FH_MOUNT_WRITABLE, "/home/user", NULL);
	fh_plan_add_file(p, "main.c", source, strlen(source), 0);
	return p;
}

static void write_tool(const char *text)
{
	fh_auto_free char *tool = fh_xasprintf("%s/tool", home), *bin = fh_xasprintf("%s/bin", tool);
	fh_auto_free char *path = fh_xasprintf("%s/cc", bin);
	(void)mkdir(tool, 0755);
	(void)mkdir(bin, 0755);
	assert_int_equal(fh_file_write_atomic(path, text, strlen(text), 0755, NULL), 0);
}

static char *key_of(struct fh_plan *p)
{
	char hex[FH_SHA256_HEX];
	char *key = fh_compile_key(p, "main", hex) ? fh_xstrdup(hex) : NULL;
	fh_plan_free(p);
	return key;
}

static void the_key_is_made_of_all_that_the_compiler_is_given(void **state)
{
	(void)state;
	write_tool("one");
	fh_auto_free char *key = key_of(a_step("int main;")), *again = key_of(a_step("int main;"));
	assert_non_null(key);
	assert_string_equal(key, again);

	struct fh_plan *p[6];
	for (size_t i = 0; i < FH_ARRAY_SIZE(p); i++)
		p[i] = a_step("int main;");
	fh_plan_add_string(&p[0]->argv, "-DX");
	fh_plan_add_string(&p[1]->env, "CPATH=/tmp");
	fh_plan_add_file(p[2], "other.h", "x", 1, 0);
	p[3]->limits.value[FH_LIMIT_MEMORY]++;
	fh_plan_set_text(&p[4]->cwd, "/tmp");
	fh_plan_add_mount(p[5], FH_MOUNT_FILE, "/etc/x", NULL);
	for (size_t i = 0; i < FH_ARRAY_SIZE(p); i++) {
		fh_auto_free char *other = key_of(p[i]);
		assert_non_null(other);
		assert_string_not_equal(other, key);
	}
	fh_auto_free char *source = key_of(a_step("int main ;"));
	assert_string_not_equal(source, key);
	write_tool("two");
	fh_auto_free char *compiler = key_of(a_step("int main;"));
	assert_string_not_equal(compiler, key);
}

static void what_may_change_by_itself_has_no_key(void **state)
{
	(void)state;
	struct fh_plan *p[4];
	for (size_t i = 0; i < FH_ARRAY_SIZE(p); i++)
		p[i] = a_step("int main;");
	fh_plan_add_mount(p[0], FH_MOUNT_BIND, "/srv", "/srv");
	fh_plan_add_mount(p[1], FH_MOUNT_BIND, "/usr/include", "/tmp");
	p[2]->image = fh_xstrdup("/srv/image");
	fh_plan_set_text(&p[3]->interpreter, "/nonexistent/bin/cc");
	for (size_t i = 0; i < FH_ARRAY_SIZE(p); i++)
		assert_null(key_of(p[i]));
	assert_null(key_of(a_step("const char *when = __TIME__;")));
}

/* As a cache that was moved, or is another test's. */
static void where_the_cache_lies_is_no_part_of_the_key(void **state)
{
	static const char *const sources[] = { "/a/prepared/cpp-1", "/b/c/prepared/cpp-1", "/a/prepared/cpp-2" };
	char *keys[3] = { NULL };
	(void)state;
	for (size_t i = 0; i < FH_ARRAY_SIZE(sources); i++) {
		struct fh_plan *p = a_step("int main;");
		fh_plan_add_mount(p, FH_MOUNT_BIND, FH_PREPARED_TARGET, sources[i])->optional = true;
		keys[i] = key_of(p);
		assert_non_null(keys[i]);
	}
	assert_string_equal(keys[0], keys[1]);
	assert_string_not_equal(keys[0], keys[2]);
	for (size_t i = 0; i < FH_ARRAY_SIZE(keys); i++)
		free(keys[i]);
}

static char *entry_path(char digit, char key[FH_SHA256_HEX])
{
	fh_auto_free char *dir = fh_compile_cache_dir();
	assert_non_null(dir);
	memset(key, digit, FH_SHA256_HEX - 1);
	key[FH_SHA256_HEX - 1] = 0;
	return fh_path_join(dir, key);
}

static bool is_kept(const char *key, const char *text)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	return fh_compile_cache_load(key, &b) == 0 && b.n == strlen(text) && memcmp(b.p, text, b.n) == 0;
}

static void an_entry_is_for_nobody_else_and_for_no_other_key(void **state)
{
	char key[FH_SHA256_HEX], other[FH_SHA256_HEX];
	(void)state;
	fh_auto_free char *path = entry_path('a', key), *second = entry_path('b', other);
	struct stat st;
	assert_false(is_kept(key, "bytes"));
	fh_compile_cache_store(key, "bytes", 5);
	assert_true(is_kept(key, "bytes"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	fh_auto_free char *dir = fh_compile_cache_dir();
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* the same file under another name, cut short, or a link to it */
	assert_int_equal(link(path, second), 0);
	assert_false(is_kept(other, "bytes"));
	assert_int_equal(unlink(second), 0);
	assert_int_equal(symlink(path, second), 0);
	assert_false(is_kept(other, "bytes"));
	assert_int_equal(unlink(second), 0);
	assert_int_equal(truncate(path, 98), 0);
	assert_false(is_kept(key, "bytes"));
	fh_compile_cache_store(key, "anew", 4);
	assert_true(is_kept(key, "anew"));
}

static void a_folder_that_others_may_write_to_is_no_cache(void **state)
{
	char key[FH_SHA256_HEX];
	(void)state;
	free(entry_path('c', key));
	fh_compile_cache_store(key, "bytes", 5);
	fh_auto_free char *dir = fh_compile_cache_dir();
	assert_int_equal(chmod(dir, 0770), 0);
	assert_null(fh_compile_cache_dir());
	assert_false(is_kept(key, "bytes"));
	assert_int_equal(chmod(dir, 0700), 0);
	assert_true(is_kept(key, "bytes"));
	fh_auto_free char *moved = fh_xasprintf("%s-moved", dir);
	assert_int_equal(rename(dir, moved), 0);
	assert_int_equal(symlink(moved, dir), 0);
	assert_null(fh_compile_cache_dir());
	assert_int_equal(unlink(dir), 0);
	assert_int_equal(rename(moved, dir), 0);
	setenv("FUMEHOOD_COMPILE_CACHE", "0", 1);
	assert_null(fh_compile_cache_dir());
	assert_false(is_kept(key, "bytes"));
	unsetenv("FUMEHOOD_COMPILE_CACHE");
	assert_true(is_kept(key, "bytes"));
}

static void what_was_not_used_for_longest_goes_first(void **state)
{
	char key[FH_SHA256_HEX];
	fh_auto_free char *bytes = calloc(1, 20000);
	(void)state;
	setenv("FUMEHOOD_COMPILE_CACHE", "100K", 1);
	for (int i = 0; i < 6; i++) {
		fh_auto_free char *path = entry_path((char)('0' + i), key);
		fh_compile_cache_store(key, bytes, 20000);
		struct timespec times[2] = { { .tv_sec = 1000000 + i }, { .tv_sec = 1000000 + i } };
		if (i != 5)
			assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		if (i == 4) { /* the first is used again */
			fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
			free(entry_path('0', key));
			assert_int_equal(fh_compile_cache_load(key, &b), 0);
		}
	}
	static const bool kept[] = { true, false, false, false, true, true };
	for (int i = 0; i < 6; i++) {
		fh_auto_free char *path = entry_path((char)('0' + i), key);
		assert_int_equal(fh_path_exists(path), kept[i]);
	}
	unsetenv("FUMEHOOD_COMPILE_CACHE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_is_made_of_all_that_the_compiler_is_given),
		cmocka_unit_test(what_may_change_by_itself_has_no_key),
		cmocka_unit_test(where_the_cache_lies_is_no_part_of_the_key),
		cmocka_unit_test(an_entry_is_for_nobody_else_and_for_no_other_key),
		cmocka_unit_test(a_folder_that_others_may_write_to_is_no_cache),
		cmocka_unit_test(what_was_not_used_for_longest_goes_first),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
