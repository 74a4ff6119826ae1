/* SPDX-License-Identifier: MIT */
/* Plans for machines that are not this one: from a made-up machine's answers, and from records. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/path.h"
#include "sandbox/planning/plan_build.h"
#include "survey/survey_host.h"
#include "sandbox/survey/survey_record.h"

static struct fh_error err;

/* -------------------------------------------------------------------------------------------- a made-up machine */

/* What exists on it. A folder's text is NULL, a link's begins with "->". */
static const struct {
	const char *path, *text;
	mode_t mode;
} files[] = {
	{ "/usr", NULL, S_IFDIR | 0755 },
	{ "/bin", "->usr/bin", S_IFLNK | 0777 },
	{ "/etc/os-release", "NAME=Made-up\n", S_IFREG | 0644 },
	{ "/var/lib/dpkg/status", "many packages", S_IFREG | 0644 },
	{ "/opt/snake-3.99/bin/python3.99", "\177ELF", S_IFREG | 0755 },
	{ "/opt/snake-3.99", NULL, S_IFDIR | 0755 },
	{ "/usr/local/bin/python3", "->/opt/snake-3.99/bin/python3.99", S_IFLNK | 0777 },
	{ "/opt/snake-3.99/lib/python3.99/site-packages", NULL, S_IFDIR | 0755 },
	{ "/opt/snake-3.99/lib/python3.99/site-packages/numbers", NULL, S_IFDIR | 0755 },
	{ "/data/many", NULL, S_IFDIR | 0755 },
};

static size_t asked; /* how many questions the machine was asked */

static const char *follow(const char *path)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++)
		if (fh_streq(files[i].path, path))
			return S_ISLNK(files[i].mode) && files[i].text[2] == '/' ? follow(files[i].text + 2) : path;
	return NULL;
}

static void give(struct fh_survey_answer *ret, const char *text)
{
	ret->error = text ? 0 : ENOENT;
	ret->text = text ? fh_xstrdup(text) : NULL;
	ret->size = text ? strlen(text) : 0;
}

static void give_file(const struct fh_survey_question *q, const char *path, struct fh_survey_answer *ret)
{
	for (size_t i = 0; path && i < FH_ARRAY_SIZE(files); i++) {
		if (!fh_streq(files[i].path, path))
			continue;
		bool is_text = q->kind == FH_SURVEY_TEXT || q->kind == FH_SURVEY_HEAD, is_link = S_ISLNK(files[i].mode);
		if (q->kind == FH_SURVEY_LINK)
			give(ret, is_link ? files[i].text + 2 : NULL);
		else if (is_text)
			give(ret, files[i].text);
		else if (q->kind == FH_SURVEY_PROGRAM)
			ret->error = S_ISREG(files[i].mode) && (files[i].mode & 0111) ? 0 : EACCES;
		else
			ret->facts = (struct fh_survey_facts){ .device = 1, .inode = i + 1, .size = 5, .mode = files[i].mode };
		return;
	}
	ret->error = ENOENT;
}

/* Only patterns that end with one star: "/opt/snake-3.99/lib/python3.*" + "/site-packages". */
static void give_matches(const char *pattern, struct fh_survey_answer *ret)
{
	const char *site = "/opt/snake-3.99/lib/python3.99/site-packages";
	ret->list = fh_xcalloc(2, sizeof(char *));
	if (fh_starts_with(pattern, "/opt/snake-3.99/lib/python") && strstr(pattern, "/site-packages"))
		ret->list[0] = fh_xstrdup(site);
}

static void made_up(struct fh_survey *s, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	asked++;
	switch (q->kind) {
	case FH_SURVEY_VARIABLE:
		give(ret, fh_streq(q->path, "PATH")   ? "/usr/local/bin:/usr/bin"
		          : fh_streq(q->path, "HOME") ? "/home/them"
		                                      : NULL);
		return;
	case FH_SURVEY_REAL:
	case FH_SURVEY_PLACE:
		give(ret, fh_streq(q->path, "/usr/local/bin") ? q->path : follow(q->path));
		return;
	case FH_SURVEY_GLOB:
		give_matches(q->path, ret);
		return;
	case FH_SURVEY_NAMES:
		ret->list = fh_xcalloc(2, sizeof(char *));
		if (fh_path_within("/opt/snake-3.99/lib/python3.99/site-packages/numbers", q->path))
			ret->list[0] = fh_xstrdup("numbers");
		return;
	case FH_SURVEY_OWN_FACTS:
	case FH_SURVEY_LINK:
		give_file(q, q->path, ret);
		return;
	case FH_SURVEY_FACTS:
	case FH_SURVEY_TEXT:
	case FH_SURVEY_HEAD:
	case FH_SURVEY_PROGRAM:
		give_file(q, follow(q->path), ret);
		return;
	default:
		ret->error = ENOENT; /* it has no cache, and runs nothing */
	}
}

static struct fh_survey machine = { .answer = made_up };

/* ------------------------------------------------------------------------------------------------------------ plans */

static struct fh_request request_for(const char *language, const char *code)
{
	struct fh_request r;
	fh_request_init(&r);
	r.language = language;
	r.code = (struct fh_bytes){ code, strlen(code) };
	return r;
}

static char *plan_json(const struct fh_request *r, struct fh_survey *s)
{
	struct fh_plan *plan = NULL;
	char *json = NULL;
	err = (struct fh_error)FH_ERROR_INIT;
	if (fh_plan_build_from(r, s, &plan, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(fh_plan_to_json(plan, &json, &err), 0);
	fh_plan_free(plan);
	return json;
}

static void write_and_read(const struct fh_survey_record *from, struct fh_survey_record *to)
{
	fh_auto_json json_t *j = fh_survey_record_json(from);
	fh_auto_free char *text = fh_json_text(j, 0);
	if (fh_survey_record_read(to, fh_str(text), "survey.json", &err) < 0)
		fail_msg("%s", err.message);
}

static void a_plan_is_made_for_a_machine_that_is_not_this_one(void **state)
{
	struct fh_request r = request_for("python", "print(1)");
	struct fh_mount mount = { .source = "/data/many", .target = "/many" };
	r.mounts = &mount;
	r.mount_count = 1;
	r.standard_library_only = true;
	struct fh_plan *plan = NULL;
	if (fh_plan_build_from(&r, &machine, &plan, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(plan->interpreter, "/opt/snake-3.99/bin/python3.99");
	assert_string_equal(plan->argv[0], "/usr/local/bin/python3");
	bool prefix = false, hidden = false, many = false, release = false;
	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct fh_plan_mount *m = &plan->mounts[i];
		prefix |= m->kind == FH_MOUNT_BIND && fh_streq(m->target, "/opt/snake-3.99");
		hidden |= m->kind == FH_MOUNT_MASK && fh_streq(m->target, "/opt/snake-3.99/lib/python3.99/site-packages");
		many |= m->kind == FH_MOUNT_BIND && fh_streq(m->source, "/data/many");
		release |= fh_streq(m->target, "/etc/os-release") && m->content.size == strlen("NAME=Made-up\n");
	}
	assert_true(prefix && hidden && many && release);
	fh_plan_free(plan);
}

static void a_record_gives_the_same_plan_and_asks_nobody(void **state)
{
	struct fh_request r = request_for("python", "print(1)");
	fh_auto_survey_record struct fh_survey_record record, back;
	fh_survey_record_init(&record, &machine);
	fh_survey_record_init(&back, NULL);
	fh_auto_free char *first = plan_json(&r, &record.survey);
	size_t before = asked;
	fh_auto_free char *again = plan_json(&r, &record.survey);
	write_and_read(&record, &back);
	fh_auto_free char *elsewhere = plan_json(&r, &back.survey);
	assert_int_equal(asked, before);
	assert_string_equal(first, again);
	assert_string_equal(first, elsewhere);
	fh_auto_json json_t *written = fh_survey_record_json(&record), *read = fh_survey_record_json(&back);
	assert_true(json_equal(written, read));
}

/* Each request has its own record of this host, which alone gives the plan that the host gives. */
static void this_hosts_record_gives_this_hosts_plan(void **state)
{
	struct fh_mount mount = { .source = "/usr/share", .target = "/share" };
	struct fh_request requests[] = { request_for("bash", "echo"), request_for("python", "print(1)"),
		                             request_for("cpp", "int main() {}"), request_for("bash", "echo") };
	requests[1].standard_library_only = true;
	requests[3].mounts = &mount;
	requests[3].mount_count = 1;
	for (size_t i = 0; i < FH_ARRAY_SIZE(requests); i++) {
		struct fh_plan *plan = NULL;
		if (fh_plan_build(&requests[i], &plan, &err) < 0)
			continue; /* the language is not installed */
		fh_auto_free char *own = NULL;
		assert_int_equal(fh_plan_to_json(plan, &own, &err), 0);
		fh_plan_free(plan);
		fh_auto_survey_host struct fh_survey_host host;
		fh_auto_survey_record struct fh_survey_record record, back;
		fh_survey_host_init(&host);
		fh_survey_record_init(&record, &host.survey);
		fh_survey_record_init(&back, NULL);
		fh_auto_free char *recorded = plan_json(&requests[i], &record.survey);
		write_and_read(&record, &back);
		fh_auto_free char *elsewhere = plan_json(&requests[i], &back.survey);
		assert_string_equal(own, recorded);
		assert_string_equal(own, elsewhere);
	}
}

static void a_question_without_an_answer_refuses_the_plan(void **state)
{
	struct fh_request python = request_for("python", "print(1)"), other = request_for("bash", "echo");
	struct fh_plan *plan = NULL;
	fh_auto_survey_record struct fh_survey_record record;
	fh_survey_record_init(&record, &machine);
	fh_auto_free char *json = plan_json(&python, &record.survey);
	record.behind = NULL;
	assert_int_equal(fh_plan_build_from(&other, &record.survey, &plan, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "the survey of the machine has no answer to: program /usr/local/bin/bash"));
	assert_null(plan);
}

static void a_record_that_is_none_is_refused(void **state)
{
	static const struct {
		const char *json, *word;
	} bad[] = {
		{ "{}", "a list of at most" },
		{ "[", "survey.json" },
		{ "[3]", "answer 1: \"ask\"" },
		{ "[{\"ask\":\"weather\"}]", "names no kind" },
		{ "[{\"ask\":\"real\",\"path\":\"/a\"}]", "not what the question asks for" },
		{ "[{\"ask\":\"real\",\"path\":\"/a\",\"error\":\"EWHAT\"}]", "not what the question asks for" },
		{ "[{\"ask\":\"facts\",\"path\":\"/a\",\"facts\":[1,2]}]", "not what the question asks for" },
		{ "[{\"ask\":\"text\",\"path\":\"/a\",\"bytes\":\"?\"}]", "not what the question asks for" },
		{ "[{\"ask\":\"glob\",\"path\":\"/*\",\"list\":[1]}]", "not what the question asks for" },
		{ "[{\"ask\":\"cwd\",\"text\":\"/\"},{\"ask\":\"cwd\",\"text\":\"/tmp\"}]",
		  "answer 2: the question is there twice" },
		{ "[{\"ask\":\"output\",\"path\":\"/a\",\"args\":[1],\"text\":\"\"}]", "\"args\" is a list" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		fh_auto_survey_record struct fh_survey_record record;
		fh_survey_record_init(&record, NULL);
		err = (struct fh_error)FH_ERROR_INIT;
		assert_true(fh_survey_record_read(&record, fh_str(bad[i].json), "survey.json", &err) < 0);
		fh_auto_free char *where = fh_xasprintf("%s %s", err.file, err.message);
		if (!strstr(where, bad[i].word))
			fail_msg("%s: %s", bad[i].json, where);
	}
}

static void bytes_of_every_kind_come_back(void **state)
{
	static const char bytes[] = "a\0b\xff";
	fh_auto_survey_record struct fh_survey_record record, back;
	fh_survey_record_init(&record, NULL);
	fh_survey_record_init(&back, NULL);
	const char *json = "[{\"ask\":\"text\",\"path\":\"/a\",\"max\":9,\"bytes\":\"YQBi/w==\"}]";
	assert_int_equal(fh_survey_record_read(&record, fh_str(json), "survey.json", &err), 0);
	write_and_read(&record, &back);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(9);
	assert_int_equal(fh_survey_text(&back.survey, "", "/a", &text), 0);
	assert_int_equal(text.n, 4);
	assert_memory_equal(text.p, bytes, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_made_for_a_machine_that_is_not_this_one),
		cmocka_unit_test(a_record_gives_the_same_plan_and_asks_nobody),
		cmocka_unit_test(this_hosts_record_gives_this_hosts_plan),
		cmocka_unit_test(a_question_without_an_answer_refuses_the_plan),
		cmocka_unit_test(a_record_that_is_none_is_refused),
		cmocka_unit_test(bytes_of_every_kind_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
