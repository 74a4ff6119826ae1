/* SPDX-License-Identifier: MIT */
/* Plans: made from requests, printed, read back. Nothing here needs a privilege, or runs anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/path.h"
#include "proto/plan.h"

static struct fh_error err;

static char *load(const char *name)
{
	fh_auto_free char *path = fh_xasprintf(FH_TEST_DATA "/plan/%s", name);
	struct fh_buf text = FH_BUF_INIT(1 << 20);
	assert_int_equal(fh_file_read(path, &text, &err), 0);
	return fh_buf_take(&text, NULL);
}

static char *print(const struct fh_plan *plan)
{
	char *json = NULL;
	assert_int_equal(fh_plan_to_json(plan, &json, &err), 0);
	return json;
}

/* ------------------------------------------------------------------------------------------------- there and back */

static void reading_and_printing_changes_nothing(void **state)
{
	static const char *const names[] = { "full.json", "compiled.json", "bytes.json" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		fh_auto_free char *text = load(names[i]);
		struct fh_plan *plan = NULL;
		if (fh_plan_from_json(text, strlen(text), names[i], &plan, &err) < 0)
			fail_msg("%s:%u: %s", names[i], err.line, err.message);
		fh_auto_free char *json = print(plan);
		fh_auto_free char *line = fh_xasprintf("%s\n", json);
		assert_string_equal(line, text);
		fh_plan_free(plan);
	}
}

static void a_plan_keeps_every_byte(void **state)
{
	char all[256];
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	struct fh_plan *plan = fh_plan_new(), *back = NULL;
	fh_plan_add_string(&plan->argv, "bad\xff utf-8");
	fh_plan_add_file(plan, "name\xfe", all, sizeof(all), 0600);
	fh_plan_add_file(plan, "nul", "a\0b", 3, 0);
	fh_auto_free char *json = print(plan);
	assert_int_equal(fh_plan_from_json(json, strlen(json), NULL, &back, &err), 0);
	assert_string_equal(back->argv[0], "bad\xff utf-8");
	assert_string_equal(back->files[0].name, "name\xfe");
	assert_int_equal(back->files[0].content.size, 256);
	assert_memory_equal(back->files[0].content.data, all, 256);
	assert_int_equal(back->files[0].mode, 0600);
	assert_int_equal(back->files[1].content.size, 3);
	assert_memory_equal(back->files[1].content.data, "a\0b", 3);
	assert_true(back->limits.value[FH_LIMIT_MEMORY] == FH_UNLIMITED);
	fh_auto_free char *again = print(back);
	assert_string_equal(again, json);
	fh_plan_free(plan);
	fh_plan_free(back);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
	static const struct {
		const char *json, *message, *hint;
		unsigned line, column;
	} cases[] = {
		{ "{\"version\": 1,\n\"argv\": [\"a\"], \"mounts\": [],\n  \"limts\": {}}", "unknown key \"limts\"",
		  "did you mean \"limits\"?", 3, 3 },
		{ "{\"version\": 1,\n\"argv\": [\"a\"], \"mounts\": [\n {\"kind\": \"bnid\", \"target\": \"/a\"}]}",
		  "unknown kind of mount \"bnid\"", "did you mean \"bind\"?", 3, 3 },
		{ "{\"version\": 1, \"argv\": [\"a\"], \"mounts\": [],\n\"layers\": [\"user\",\n\"sekkomp\"]}",
		  "unknown layer \"sekkomp\"", "did you mean \"seccomp\"?", 3, 1 },
		{ "{\"version\": 1, \"argv\": [\"a\"], \"mounts\": [],\n\"limits\": {\"memory\":\n -1}}",
		  "expected an integer that is not negative, not an integer", "", 2, 12 },
		{ "{\"version\": 2, \"argv\": [\"a\"], \"mounts\": []}", "a plan of version 2; this program reads version 1",
		  "", 1, 2 },
		{ "{\"argv\": [\"a\"], \"mounts\": []}", "the key \"version\" is missing", "", 1, 1 },
		{ "{\"version\": 1, \"argv\": [], \"mounts\": []}", "\"argv\" is empty", "", 1, 1 },
		{ "{\"version\": 1, \"argv\": [\"a\\u0000b\"], \"mounts\": []}", "a NUL character is not allowed here", "", 1,
		  25 },
		{ "{\"version\": 1, \"argv\": [{\"base64\": \"?\"}], \"mounts\": []}", "this is not base64", "", 1, 26 },
		{ "{\"version\": 1, \"argv\": [\"a\"], \"mounts\": [],\n\"files\": [{\"name\": \"../x\", \"content\": \"\"}]}",
		  "../x is not a file name that stays inside the sandbox", "", 1, 1 },
		{ "{\"version\": 1, \"argv\": [\"a\"], \"mounts\": [], \"artifact\": \"m\"}",
		  "\"compile\" and \"artifact\" go together", "", 1, 1 },
		{ "{\"version\": 1, \"argv\": [\"a\"], \"mounts\": [],\n\"files\": [{\"name\": \"x\", \"mode\": \"9\", "
		  "\"content\": \"\"}]}",
		  "a mode is an octal number such as \"0644\"", "", 2, 25 },
		{ "{\"version\": 1,", NULL, NULL, 1, 15 },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		struct fh_plan *plan = NULL;
		err = (struct fh_error)FH_ERROR_INIT;
		assert_true(fh_plan_from_json(cases[i].json, strlen(cases[i].json), "p.json", &plan, &err) < 0);
		assert_null(plan);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
		if (cases[i].hint)
			assert_string_equal(err.hint, cases[i].hint);
		assert_string_equal(err.file, "p.json");
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
	}
}

/* ------------------------------------------------------------------------------------------------------- building */

static const struct fh_plan_mount *mount_at(const struct fh_plan *plan, const char *target)
{
	const struct fh_plan_mount *last = NULL;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (fh_streq(plan->mounts[i].target, target))
			last = &plan->mounts[i];
	return last;
}

static bool has(char *const *list, const char *item)
{
	for (; *list; list++)
		if (fh_streq(*list, item))
			return true;
	return false;
}

static struct fh_request request_for(const char *language, const char *code)
{
	struct fh_request r;
	fh_request_init(&r);
	r.language = language;
	r.code = (struct fh_bytes){ code, strlen(code) };
	return r;
}

static struct fh_plan *build(const struct fh_request *r)
{
	struct fh_plan *plan = NULL;
	err = (struct fh_error)FH_ERROR_INIT;
	if (fh_plan_build(r, &plan, &err) < 0)
		fail_msg("%s", err.message);
	return plan;
}

static void the_default_image_shows_programs_and_no_people(void **state)
{
	struct fh_request r = request_for("bash", "echo");
	struct fh_plan *plan = build(&r);
	assert_int_equal(mount_at(plan, "/usr")->kind, FH_MOUNT_BIND);
	assert_false(mount_at(plan, "/usr")->writable);
	assert_int_equal(mount_at(plan, "/proc")->kind, FH_MOUNT_PROC);
	assert_int_equal(mount_at(plan, "/dev")->kind, FH_MOUNT_DEV);
	assert_int_equal(mount_at(plan, "/tmp")->mode, 01777);
	assert_int_equal(mount_at(plan, "/home/user")->kind, FH_MOUNT_WRITABLE);
	assert_int_equal(mount_at(plan, "/etc/passwd")->kind, FH_MOUNT_FILE);
	static const char *const secret[] = { "/etc/shadow", "/etc/ssl/private", "/root", "/home", "/etc", "/sys", "/var",
		                                  "/opt" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(secret); i++)
		assert_null(mount_at(plan, secret[i]));
	assert_true(has(plan->env, "HOME=/home/user"));
	assert_true(has(plan->env, "LANG=C.UTF-8"));
	assert_int_equal(plan->layers, (1u << FH_LAYER_COUNT_) - 1);
	assert_string_equal(plan->cwd, "/home/user");
	assert_string_equal(plan->argv[1], "main.sh");
	assert_int_equal(plan->limits.value[FH_LIMIT_WALL_TIME], 30000);
	fh_plan_free(plan);
}

static void a_request_fills_the_plan(void **state)
{
	struct fh_request r = request_for("bash", "cat");
	const struct fh_file file = { "data/../in.csv", { "a,b", 3 }, 0600 };
	const struct fh_mount mounts[] = { { "/usr/share", "/data", false }, { "/usr/lib/..", "/w/", true } };
	r.args = (const char *const[]){ "x y", "--z", NULL };
	r.env = (const char *const[]){ "A=1", "HOME=/tmp", "A=2", NULL };
	r.outs = (const char *const[]){ "./o.bin" };
	r.out_count = 1;
	r.files = &file;
	r.file_count = 1;
	r.mounts = mounts;
	r.mount_count = 2;
	r.user = "root";
	r.hostname = "box";
	r.cwd = "/data2/here";
	r.stdin_data = (struct fh_bytes){ "in", 2 };
	r.require = 1 << FH_LAYER_SECCOMP;
	r.without = 1 << FH_LAYER_LANDLOCK;
	struct fh_plan *plan = build(&r);
	assert_string_equal(plan->argv[2], "x y");
	assert_string_equal(plan->argv[3], "--z");
	assert_true(has(plan->env, "A=2") && has(plan->env, "HOME=/tmp") && !has(plan->env, "A=1"));
	assert_string_equal(plan->outs[0], "o.bin");
	assert_string_equal(plan->files[0].name, "in.csv");
	assert_int_equal(plan->files[0].mode, 0600);
	assert_string_equal(plan->files[1].name, "main.sh");
	assert_string_equal(mount_at(plan, "/data")->source, "/usr/share");
	assert_false(mount_at(plan, "/data")->writable);
	assert_string_equal(mount_at(plan, "/w")->source, "/usr");
	assert_true(mount_at(plan, "/w")->writable);
	assert_int_equal(plan->uid, 0);
	assert_string_equal(plan->hostname, "box");
	assert_int_equal(mount_at(plan, "/data2/here")->kind, FH_MOUNT_WRITABLE);
	assert_int_equal(mount_at(plan, "/root")->mode, 0700);
	assert_int_equal(plan->stdin_data.size, 2);
	assert_int_equal(plan->require, 1 << FH_LAYER_SECCOMP);
	assert_false(plan->layers >> FH_LAYER_LANDLOCK & 1);
	fh_plan_free(plan);
}

static void wrong_requests_are_refused(void **state)
{
	static const char *const no_value[] = { "NOVALUE", NULL };
	static const struct {
		const char *file;
		struct fh_mount mount;
		const char *user, *hostname, *image, *cwd;
		const char *const *env;
		const char *message;
	} cases[] = {
		{ .file = "../x", .message = "../x is not a file name that stays inside the sandbox" },
		{ .file = "a/", .message = "a/ is not a file name that stays inside the sandbox" },
		{ .file = "", .message = "\"\" is not a file name that stays inside the sandbox" },
		{ .file = "a/../..", .message = "a/../.. is not a file name that stays inside the sandbox" },
		{ .file = "main.sh", .message = "a file has the program's own name, main.sh" },
		{ .mount = { "/usr", "/", false }, .message = "nothing can be mounted over /" },
		{ .mount = { "/usr", "a", false }, .message = "mount target a is not an absolute path" },
		{ .mount = { "/no/such/folder" }, .message = "cannot mount /no/such/folder: No such file or directory" },
		{ .user = "admin", .message = "unknown user admin" },
		{ .hostname = "no spaces", .message = "no spaces is not a hostname: 1 to 63 letters, digits, - and ." },
		{ .image = "/no/such/image", .message = "cannot use /no/such/image as image: No such file or directory" },
		{ .image = "/", .message = "the host's own root cannot be an image" },
		{ .cwd = "here", .message = "working directory here is not an absolute path" },
		{ .mount = { "/usr/share" },
		  .cwd = "/usr/share",
		  .message = "the working directory /usr/share is read-only: the program cannot be put there" },
		{ .env = no_value, .message = "environment: NOVALUE is not NAME=value" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		struct fh_request r = request_for("bash", "");
		const struct fh_file file = { .name = cases[i].file };
		struct fh_plan *plan = NULL;
		r.files = &file;
		r.file_count = cases[i].file != NULL;
		r.mounts = &cases[i].mount;
		r.mount_count = cases[i].mount.source != NULL;
		r.user = cases[i].user;
		r.hostname = cases[i].hostname;
		r.image = cases[i].image;
		r.cwd = cases[i].cwd;
		r.env = cases[i].env;
		err = (struct fh_error)FH_ERROR_INIT;
		assert_true(fh_plan_build(&r, &plan, &err) < 0);
		assert_null(plan);
		assert_int_equal(err.phase, FH_PHASE_PLAN);
		assert_string_equal(err.message, cases[i].message);
	}
}

static void a_request_needs_a_program_and_sane_limits(void **state)
{
	struct fh_plan *plan = NULL;
	struct fh_request r = request_for("bash", "");
	r.limits.value[FH_LIMIT_WALL_TIME] = 0;
	assert_int_equal(fh_plan_build(&r, &plan, &err), -FH_E_ARGUMENT);
	assert_string_equal(err.message, "wall_time of 0 ms is too little: at least 1");
	r = request_for(NULL, "");
	assert_int_equal(fh_plan_build(&r, &plan, &err), -FH_E_ARGUMENT);
	r.size = 0;
	assert_int_equal(fh_plan_build(&r, &plan, &err), -FH_E_ARGUMENT);
	assert_null(plan);
}

static void a_name_that_looks_like_an_option_is_none(void **state)
{
	struct fh_request r = request_for("bash", "");
	r.code_name = "-c";
	struct fh_plan *plan = build(&r);
	assert_string_equal(plan->argv[1], "./-c");
	fh_plan_free(plan);
}

static void a_sandbox_without_a_program_has_the_languages_tools_alone(void **state)
{
	struct fh_request r;
	fh_request_init(&r);
	r.language = "bash";
	r.no_program = true;
	struct fh_plan *plan = build(&r);
	assert_string_equal(plan->language, "bash");
	assert_string_equal(plan->code_name, "");
	assert_non_null(plan->argv[0]);
	assert_null(plan->argv[1]);
	assert_int_equal(plan->file_count, 0);
	assert_null(plan->compile);
	fh_plan_free(FH_TAKE_PTR(plan));
	r.code = (struct fh_bytes){ "echo", 4 };
	assert_int_equal(fh_plan_build(&r, &plan, &err), -FH_E_ARGUMENT);
	assert_non_null(strstr(err.hint, "no_program"));
	r.code = (struct fh_bytes){ NULL, 0 };
	r.language = NULL;
	assert_int_equal(fh_plan_build(&r, &plan, &err), -FH_E_ARGUMENT);
	assert_null(plan);
}

static void a_compiled_language_has_two_steps(void **state)
{
	if (access("/usr/bin/gcc", X_OK) != 0)
		skip();
	struct fh_request r = request_for("c", "#include <zlib.h>\nint main(){}");
	const struct fh_file header = { "a.h", { "", 0 } };
	r.files = &header;
	r.file_count = 1;
	r.args = (const char *const[]){ "one", NULL };
	r.flags = (const char *const[]){ "-O0", NULL };
	r.outs = (const char *const[]){ "o" };
	r.out_count = 1;
	r.limits.value[FH_LIMIT_MEMORY] = 64 << 20;
	struct fh_plan *plan = build(&r);
	assert_string_equal(plan->artifact, "main");
	assert_string_equal(plan->argv[0], "./main");
	assert_string_equal(plan->argv[1], "one");
	assert_int_equal(plan->file_count, 1);
	assert_string_equal(plan->outs[0], "o");
	const struct fh_plan *c = plan->compile;
	assert_non_null(c);
	assert_true(has(c->argv, "-O0") && has(c->argv, "-lz") && has(c->argv, "main.c"));
	assert_int_equal(c->file_count, 2);
	assert_string_equal(c->outs[0], "main");
	assert_null(c->outs[1]);
	assert_int_equal(c->limits.value[FH_LIMIT_CPU_TIME], 30000);
	assert_int_equal(plan->limits.value[FH_LIMIT_MEMORY], 64 << 20);
	r.code_name = "main";
	fh_plan_free(plan);
	plan = build(&r);
	assert_string_equal(plan->artifact, "main.out");
	fh_plan_free(plan);
}

static void only_the_standard_library_is_left(void **state)
{
	if (access("/usr/bin/python3", X_OK) != 0 || access("/usr/lib/python3/dist-packages", F_OK) != 0)
		skip();
	struct fh_request r = request_for("python", "");
	r.interpreter = "/usr/bin/python3";
	struct fh_plan *with = build(&r);
	r.standard_library_only = true;
	struct fh_plan *without = build(&r);
	assert_null(mount_at(with, "/usr/lib/python3/dist-packages"));
	assert_int_equal(mount_at(without, "/usr/lib/python3/dist-packages")->kind, FH_MOUNT_MASK);
	fh_plan_free(with);
	fh_plan_free(without);
}

/* The whole plan of a made-up image: nothing in it depends on this machine but the folder's name. */
static void an_image_makes_a_plan_without_the_host(void **state)
{
	char dir[] = "/tmp/fumehood-unit-XXXXXX";
	assert_non_null(mkdtemp(dir));
	fh_auto_free char *bin = fh_path_join(dir, "bin");
	fh_auto_free char *etc = fh_path_join(dir, "etc");
	fh_auto_free char *shell = fh_path_join(bin, "bash");
	fh_auto_free char *passwd = fh_path_join(etc, "passwd");
	assert_int_equal(mkdir(bin, 0755) | mkdir(etc, 0755), 0);
	assert_int_equal(fh_file_write_atomic(shell, "x", 1, 0755, &err), 0);
	assert_int_equal(fh_file_write_atomic(passwd, "root:x:0:0::/:/bin/sh", 21, 0644, &err), 0);
	struct fh_request r = request_for("bash", "echo hi\n");
	r.image = dir;
	struct fh_plan *plan = build(&r);
	assert_string_equal(plan->image, dir);
	assert_int_equal(strlen(plan->image_identity), 64);
	fh_plan_set_text(&plan->image, "/IMAGE");
	fh_plan_set_text(&plan->image_identity, "IDENTITY");
	fh_auto_free char *json = print(plan);
	fh_auto_free char *line = fh_xasprintf("%s\n", json);
	fh_auto_free char *golden = load("image.json");
	assert_string_equal(line, golden);
	fh_plan_free(plan);
	unlink(shell);
	unlink(passwd);
	rmdir(bin);
	rmdir(etc);
	rmdir(dir);
}

/* The identity of a plan for Python in an image, and that of a module which is to be imported ahead. */
static void identities(const char *image, char **ret_image, char **ret_module)
{
	const char *const modules[] = { "made.up", NULL };
	struct fh_request r = request_for("python", "");
	r.image = image;
	r.preload = modules;
	struct fh_plan *plan = build(&r);
	*ret_image = fh_xstrdup(plan->image_identity);
	*ret_module = fh_xstrdup(plan->zygote.preload_identity[0]);
	assert_null(plan->zygote.preload_identity[1]);
	fh_plan_free(plan);
}

static void what_is_replaced_in_an_image_has_another_identity(void **state)
{
	static const struct {
		const char *path;
		bool image, module; /* whose identity differs when this file is written */
	} files[] = { { "/usr/bin/python3", true, false },
		          { "/usr/lib/python3.11/made/up.py", false, true },
		          { "/usr/lib/python3.11/made/up.py", false, true }, /* in place */
		          { "/var/lib/dpkg/status", true, false },
		          { "/usr/lib/python3.11/made/other.txt", false, true }, /* beside the module */
		          { "/home/notes", false, false } };
	static const char *const folders[] = { "/usr",  "/usr/bin", "/usr/lib",      "/usr/lib/python3.11",
		                                   "/var",  "/var/lib", "/var/lib/dpkg", "/usr/lib/python3.11/made",
		                                   "/home", "/etc" };
	char dir[] = "/tmp/fumehood-unit-XXXXXX";
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < FH_ARRAY_SIZE(folders); i++) {
		fh_auto_free char *path = fh_xasprintf("%s%s", dir, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	fh_auto_free char *program = fh_xasprintf("%s/usr/bin/python3", dir);
	assert_int_equal(fh_file_write_atomic(program, "x", 1, 0755, &err), 0);
	char *image, *module;
	identities(dir, &image, &module);
	assert_string_equal(module, "");
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++) {
		fh_auto_free char *path = fh_xasprintf("%s%s", dir, files[i].path), *old_image = image, *old_module = module;
		assert_int_equal(fh_file_write_atomic(path, "y", 1, 0755, &err), 0);
		identities(dir, &image, &module);
		assert_int_equal(strcmp(image, old_image) != 0, files[i].image);
		assert_int_equal(strcmp(module, old_module) != 0, files[i].module);
	}
	free(image);
	free(module);
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++) {
		fh_auto_free char *path = fh_xasprintf("%s%s", dir, files[i].path);
		unlink(path);
	}
	for (size_t i = FH_ARRAY_SIZE(folders); i-- > 0;) {
		fh_auto_free char *path = fh_xasprintf("%s%s", dir, folders[i]);
		rmdir(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* -------------------------------------------------------------------------------------------------------- results */

static void a_result_prints_as_documented(void **state)
{
	struct fh_out_file outs[] = { { .name = (char[]){ "a" }, .data = (uint8_t[]){ 1 }, .size = 1 },
		                          { .name = (char[]){ "b" }, .refused = (char[]){ "a symbolic link" } } };
	struct fh_result r = {
		.status = FH_STATUS_RUNTIME_ERROR, .exit_code = -1, .signal = 11, .outs = outs, .out_count = 2
	};
	fh_limits_init(&r.limits);
	r.limits.value[FH_LIMIT_MEMORY] = FH_UNLIMITED;
	r.enforced[FH_LIMIT_CPU_TIME] = FH_ENFORCED_EXACT;
	r.stream_data[FH_STDOUT] = (uint8_t *)(char[]){ "\xff\n" };
	r.stream_size[FH_STDOUT] = 2;
	r.stream_truncated[FH_STDERR] = true;
	r.usage = (struct fh_usage){ 1500, 2500, 10001, 4096, 2 };
	r.fired = 1 << FH_LIMIT_PROCESSES | 1 << FH_LIMIT_DISK;
	r.layers = (1u << FH_LAYER_COUNT_) - 1 - (1u << FH_LAYER_LANDLOCK);
	r.layer_missing[FH_LAYER_LANDLOCK] = (char[]){ "this kernel has none" };
	r.start = FH_START_FRESH;
	r.start_why = (char[]){ "there is no zygote yet" };
	r.image = (char[]){ "/images/debian" };
	r.image_identity = (char[]){ "0f1e2d" };
	fh_auto_free char *json = fh_result_json(&r, 2);
	fh_auto_free char *line = fh_xasprintf("%s\n", json);
	fh_auto_free char *golden = load("result.json");
	assert_string_equal(line, golden);
	r = (struct fh_result){ .status = FH_STATUS_ENGINE_ERROR, .exit_code = -1 };
	r.error = (struct fh_error){
		.code = FH_E_UNAVAILABLE, .phase = FH_PHASE_CREATE, .message = "no \"luck\"", .retryable = true
	};
	fh_auto_free char *failed = fh_result_json(&r, 0);
	assert_non_null(strstr(failed,
	                       "\"error\":{\"code\":\"unavailable\",\"phase\":\"create\",\"message\":\"no \\\"luck\\\"\","
	                       "\"hint\":null,\"retryable\":true}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_and_printing_changes_nothing),
		cmocka_unit_test(a_plan_keeps_every_byte),
		cmocka_unit_test(what_is_wrong_is_named_with_its_line),
		cmocka_unit_test(the_default_image_shows_programs_and_no_people),
		cmocka_unit_test(a_request_fills_the_plan),
		cmocka_unit_test(wrong_requests_are_refused),
		cmocka_unit_test(a_request_needs_a_program_and_sane_limits),
		cmocka_unit_test(a_name_that_looks_like_an_option_is_none),
		cmocka_unit_test(a_sandbox_without_a_program_has_the_languages_tools_alone),
		cmocka_unit_test(a_compiled_language_has_two_steps),
		cmocka_unit_test(only_the_standard_library_is_left),
		cmocka_unit_test(an_image_makes_a_plan_without_the_host),
		cmocka_unit_test(what_is_replaced_in_an_image_has_another_identity),
		cmocka_unit_test(a_result_prints_as_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
