/* SPDX-License-Identifier: MIT */
/* Interpreters in made-up trees: what the user's shell would run, and what of the host a sandbox then sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/process/proc.h"
#include "sandbox/planning/interpreter.h"
#include "sandbox/planning/language.h"
#include "survey/survey_host.h"

static char *top; /* a folder of this test's own, its links resolved */
static struct fh_language *language;
static struct fh_tool *tool;
static struct fh_error err;

static char *at(const char *name)
{
	static char *kept[64];
	static size_t next;
	size_t i = next++ % FH_ARRAY_SIZE(kept);
	free(kept[i]);
	return kept[i] = fh_path_join(top, name);
}

static void make_folders(const char *path)
{
	fh_auto_free char *dir = fh_path_dir(path);
	if (!fh_path_is_dir(dir))
		make_folders(dir);
	if (!fh_path_is_dir(dir))
		assert_int_equal(mkdir(dir, 0755), 0);
}

static void put(const char *name, const char *text, mode_t mode)
{
	const char *path = at(name);
	make_folders(path);
	assert_int_equal(fh_file_write_atomic(path, text, strlen(text), mode, NULL), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A program that is no script; it is never run. */
static void put_program(const char *name)
{
	put(name,
	    "\x7f"
	    "ELF",
	    0755);
}

static void put_link(const char *name, const char *text)
{
	make_folders(at(name));
	assert_int_equal(symlink(text, at(name)), 0);
}

static int find(struct fh_tool_query q)
{
	fh_tool_free(tool);
	tool = NULL;
	err = (struct fh_error)FH_ERROR_INIT;
	q.language = language;
	fh_auto_survey_host struct fh_survey_host host;
	fh_survey_host_init(&host);
	q.survey = &host.survey;
	if (!q.path)
		q.path = at("empty");
	return fh_tool_find(&q, &tool, &err);
}
#define FIND(...) find((struct fh_tool_query){ __VA_ARGS__ })

static bool bound(const char *path)
{
	for (size_t i = 0; i < tool->mount_count; i++)
		if (!tool->mounts[i].link && fh_streq(tool->mounts[i].target, path))
			return true;
	return false;
}

static const char *linked(const char *path)
{
	for (size_t i = 0; i < tool->mount_count; i++)
		if (tool->mounts[i].link && fh_streq(tool->mounts[i].target, path))
			return tool->mounts[i].link;
	return "";
}

static int fresh_tree(void **state)
{
	char dir[] = "/tmp/fumehood-unit-XXXXXX";
	assert_non_null(mkdtemp(dir));
	top = realpath(dir, NULL);
	assert_int_equal(fh_language_load("python", &language, &err), 0);
	unsetenv("PYENV_VERSION");
	unsetenv("PYENV_ROOT");
	setenv("PYENV_DIR", top, 1);
	return 0;
}

static int remove_tree(void **state)
{
	const char *const argv[] = { "rm", "-rf", top, NULL };
	struct fh_proc_options o = { .argv = argv };
	int status;
	fh_proc_run(&o, fh_str(""), 10000, NULL, NULL, &status, NULL);
	fh_tool_free(tool);
	tool = NULL;
	fh_language_free(language);
	free(top);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- places */

static void a_tool_below_usr_needs_nothing(void **state)
{
	if (access("/usr/bin/python3", X_OK) != 0)
		skip();
	assert_int_equal(FIND(.path = "/usr/bin"), 0);
	assert_string_equal(tool->inside, "/usr/bin/python3");
	assert_int_equal(tool->mount_count, 0);
	assert_null(tool->path_dirs[0]);
}

static void a_prefix_elsewhere_is_bound_alone(void **state)
{
	put_program("opt/py/bin/python3.12");
	put_link("opt/py/bin/python3", "python3.12");
	assert_int_equal(FIND(.path = at("opt/py/bin")), 0);
	assert_string_equal(tool->inside, at("opt/py/bin/python3"));
	assert_string_equal(tool->host_path, at("opt/py/bin/python3.12"));
	assert_int_equal(tool->mount_count, 1);
	assert_true(bound(at("opt/py")));
	assert_string_equal(tool->path_dirs[0], at("opt/py/bin"));
}

static void a_link_elsewhere_leads_to_the_real_prefix(void **state)
{
	put_program("share/cpython-3.12/bin/python3.12");
	put_link("local/bin/python3", "../../share/cpython-3.12/bin/python3.12");
	assert_int_equal(FIND(.path = at("local/bin")), 0);
	assert_string_equal(tool->inside, at("share/cpython-3.12/bin/python3.12"));
	assert_int_equal(tool->mount_count, 1);
	assert_true(bound(at("share/cpython-3.12")));
}

static void a_home_is_never_bound_whole(void **state)
{
	put_program("home/bin/python3");
	put("home/lib/python3.12/os.py", "", 0644);
	put("home/secret", "", 0600);
	assert_int_equal(FIND(.path = at("home/bin"), .home = at("home")), 0);
	assert_false(bound(at("home")));
	assert_true(bound(at("home/bin/python3")));
	assert_true(bound(at("home/lib/python3.12")));
	assert_int_equal(tool->mount_count, 2);
}

static void the_first_on_path_wins_and_python3_before_python(void **state)
{
	put_program("a/bin/python");
	put_program("b/bin/python3");
	put_program("c/bin/python3");
	fh_auto_free char *path = fh_xasprintf("%s:%s:%s", at("a/bin"), at("b/bin"), at("c/bin"));
	assert_int_equal(FIND(.path = path), 0);
	assert_string_equal(tool->inside, at("b/bin/python3"));
	assert_int_equal(FIND(.path = at("a/bin")), 0);
	assert_string_equal(tool->inside, at("a/bin/python"));
}

static void an_interpreter_can_be_named(void **state)
{
	put_program("opt/py/bin/my-own-python");
	assert_int_equal(FIND(.interpreter = at("opt/py/bin/my-own-python")), 0);
	assert_string_equal(tool->inside, at("opt/py/bin/my-own-python"));
	assert_int_equal(FIND(.interpreter = at("nothing/here")), -FH_E_NOT_FOUND);
}

static void a_missing_tool_names_its_package(void **state)
{
	assert_int_equal(FIND(), -FH_E_NOT_FOUND);
	assert_string_equal(err.message, "python needs python3 or python, which is not on PATH");
	assert_non_null(strstr(err.hint, "apt install python3"));
}

/* ----------------------------------------------------------------------------------------------------------- venv */

static void make_venv(const char *base)
{
	fh_auto_free char *config = fh_xasprintf("include-system-site-packages = false\nhome = %s\nversion = 3.12\n", base);
	put("venv/pyvenv.cfg", config, 0644);
	fh_auto_free char *link = fh_path_join(base, "python3");
	put_link("venv/bin/python3", link);
	put_link("venv/bin/python", "python3");
}

static void a_virtual_environment_stays_one(void **state)
{
	put_program("base/bin/python3.12");
	put_link("base/bin/python3", "python3.12");
	make_venv(at("base/bin"));
	for (int by_path = 0; by_path < 2; by_path++) {
		assert_int_equal(by_path ? FIND(.path = at("venv/bin")) : FIND(.venv = at("venv")), 0);
		assert_string_equal(tool->inside, at("venv/bin/python3"));
		assert_string_equal(tool->host_path, at("base/bin/python3.12"));
		assert_true(bound(at("venv")));
		assert_true(bound(at("base")));
		assert_string_equal(tool->path_dirs[0], at("venv/bin"));
		assert_string_equal(tool->prefixes[0], at("venv"));
		assert_string_equal(tool->prefixes[1], at("base"));
		assert_non_null(strstr(tool->env[0], "VIRTUAL_ENV="));
	}
}

static void links_between_venv_and_base_are_made_again(void **state)
{
	put_program("store/cpython-3.12.4/bin/python3.12");
	put_link("store/cpython-3.12.4/bin/python3", "python3.12");
	put_link("store/cpython-3.12", "cpython-3.12.4");
	make_venv(at("store/cpython-3.12/bin"));
	assert_int_equal(FIND(.venv = at("venv")), 0);
	assert_true(bound(at("store/cpython-3.12.4")));
	assert_false(bound(at("store")));
	assert_string_equal(linked(at("store/cpython-3.12")), "cpython-3.12.4");
}

static void a_broken_environment_says_so(void **state)
{
	make_venv(at("gone/bin"));
	assert_int_equal(FIND(.venv = at("venv")), -FH_E_NOT_FOUND);
	put("plain/bin/python3", "", 0755);
	assert_int_equal(FIND(.venv = at("plain")), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "no pyvenv.cfg"));
}

/* ---------------------------------------------------------------------------------------------------------- pyenv */

static void make_pyenv(void)
{
	put("pyenv/libexec/pyenv", "#!/bin/sh\nexit 3\n", 0755);
	put("pyenv/shims/python3", "#!/bin/sh\nexit 3\n", 0755);
	put_program("pyenv/versions/3.11.7/bin/python3");
	put_program("pyenv/versions/3.12.1/bin/python3");
	put_program("pyenv/versions/3.12.10/bin/python3");
	put("pyenv/version", "3.11.7\n", 0644);
}

static void pyenv_is_read_not_run(void **state)
{
	make_pyenv();
	assert_int_equal(FIND(.path = at("pyenv/shims")), 0);
	assert_string_equal(tool->inside, at("pyenv/versions/3.11.7/bin/python3"));
	assert_int_equal(tool->mount_count, 1);
	assert_true(bound(at("pyenv/versions/3.11.7")));
}

static void pyenv_versions_have_their_order(void **state)
{
	make_pyenv();
	put(".python-version", "# mine\n3.12.1\n", 0644);
	assert_int_equal(FIND(.path = at("pyenv/shims")), 0);
	assert_string_equal(tool->inside, at("pyenv/versions/3.12.1/bin/python3"));
	setenv("PYENV_VERSION", "3.12", 1);
	assert_int_equal(FIND(.path = at("pyenv/shims")), 0);
	assert_string_equal(tool->inside, at("pyenv/versions/3.12.10/bin/python3"));
	setenv("PYENV_VERSION", "9.9:3.11.7", 1);
	assert_int_equal(FIND(.path = at("pyenv/shims")), 0);
	assert_string_equal(tool->inside, at("pyenv/versions/3.11.7/bin/python3"));
}

static void pyenv_system_is_the_next_on_path(void **state)
{
	make_pyenv();
	put_program("other/bin/python3");
	setenv("PYENV_VERSION", "system", 1);
	fh_auto_free char *path = fh_xasprintf("%s:%s", at("pyenv/shims"), at("other/bin"));
	assert_int_equal(FIND(.path = path), 0);
	assert_string_equal(tool->inside, at("other/bin/python3"));
	assert_int_equal(FIND(.path = at("pyenv/shims")), -FH_E_NOT_FOUND);
}

static void a_pyenv_version_that_is_missing_says_who_asked(void **state)
{
	make_pyenv();
	put(".python-version", "../../3.11.7\n", 0644);
	assert_int_equal(FIND(.path = at("pyenv/shims")), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, ".python-version"));
}

/* ---------------------------------------------------------------------------------------------------- other shims */

static void another_shim_is_asked(void **state)
{
	put_program("real/bin/python3");
	fh_auto_free char *shim = fh_xasprintf("#!/bin/sh\necho noise\necho %s\n", at("real/bin/python3"));
	put("asdf/shims/python3", shim, 0755);
	assert_int_equal(FIND(.path = at("asdf/shims")), 0);
	assert_string_equal(tool->inside, at("real/bin/python3"));
}

static void a_program_that_stands_in_for_many_is_asked(void **state)
{
	if (access("/bin/sh", X_OK) != 0)
		skip();
	/* A shell by the name of python3 does not know -I -S: it cannot say what it stands for. */
	put_link("mise/shims/python3", "/bin/sh");
	assert_int_equal(FIND(.path = at("mise/shims")), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "shim"));
}

static void shims_that_lead_in_circles_end(void **state)
{
	fh_auto_free char *shim = fh_xasprintf("#!/bin/sh\necho %s\n", at("circle/python3"));
	put("circle/python3", shim, 0755);
	assert_int_equal(FIND(.path = at("circle")), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "--interpreter"));
}

/* --------------------------------------------------------------------------------------------------------- images */

static void an_image_has_its_own_tools(void **state)
{
	put_program("image/usr/lib/python/bin/python3");
	put_link("image/usr/bin/python3", "/usr/lib/python/bin/python3");
	assert_int_equal(FIND(.image = at("image")), 0);
	assert_string_equal(tool->inside, "/usr/bin/python3");
	assert_string_equal(tool->host_path, "");
	assert_int_equal(tool->mount_count, 0);
	assert_int_equal(FIND(.image = at("image"), .interpreter = "/usr/lib/python/bin/python3"), 0);
	assert_string_equal(tool->path_dirs[0], "/usr/lib/python/bin");
	assert_int_equal(FIND(.image = at("image"), .interpreter = "/usr/bin/python4"), -FH_E_NOT_FOUND);
	put("bare/bin/README", "", 0644);
	assert_int_equal(FIND(.image = at("bare")), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "image"));
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, fresh_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(a_tool_below_usr_needs_nothing),
		TREE_TEST(a_prefix_elsewhere_is_bound_alone),
		TREE_TEST(a_link_elsewhere_leads_to_the_real_prefix),
		TREE_TEST(a_home_is_never_bound_whole),
		TREE_TEST(the_first_on_path_wins_and_python3_before_python),
		TREE_TEST(an_interpreter_can_be_named),
		TREE_TEST(a_missing_tool_names_its_package),
		TREE_TEST(a_virtual_environment_stays_one),
		TREE_TEST(links_between_venv_and_base_are_made_again),
		TREE_TEST(a_broken_environment_says_so),
		TREE_TEST(pyenv_is_read_not_run),
		TREE_TEST(pyenv_versions_have_their_order),
		TREE_TEST(pyenv_system_is_the_next_on_path),
		TREE_TEST(a_pyenv_version_that_is_missing_says_who_asked),
		TREE_TEST(another_shim_is_asked),
		TREE_TEST(a_program_that_stands_in_for_many_is_asked),
		TREE_TEST(shims_that_lead_in_circles_end),
		TREE_TEST(an_image_has_its_own_tools),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
