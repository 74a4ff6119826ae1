/* SPDX-License-Identifier: MIT */
#include "survey/survey_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/host/place.h"
#include "base/process/proc.h"
#include "survey/cache_folder.h"
#include "survey/installed.h"

enum {
	OUTPUT_MAX = 64 << 10,
	OUTPUT_MS = 10000, /* limit for a program that is asked something */
	ARGS_MAX = 15,
	GLOB_DEPTH_MAX = 32, /* components of a pattern */
};

static int set_facts(struct fh_survey_answer *a, int result, const struct stat *st)
{
	if (result < 0)
		return errno;
	a->facts = fh_survey_facts_of(st);
	return 0;
}

static int set_text(struct fh_survey_answer *a, const char *text, size_t n)
{
	a->text = fh_xcalloc(n + 1, 1);
	memcpy(a->text, text, n);
	a->size = n;
	return 0;
}

/* Makes `text` the answer. Returns 0; or errno, if `text` is NULL. */
static int take_text(struct fh_survey_answer *a, char *text)
{
	if (!text)
		return errno ? errno : ENOENT;
	a->text = text;
	a->size = strlen(text);
	return 0;
}

static void add_name(struct fh_survey_answer *a, size_t n, const char *name)
{
	a->list = fh_xrealloc(a->list, n + 2, sizeof(char *));
	a->list[n] = fh_xstrdup(name);
	a->list[n + 1] = NULL;
}

/* Opens a path below an image, with links resolved as if the image were the root; negative with errno. */
static int open_in_root(struct fh_survey_host *h, const struct fh_survey_question *q, int flags)
{
	if (!h->root || !fh_streq(h->root, q->root)) {
		int fd = open(q->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -1;
		if (h->root_fd >= 0)
			close(h->root_fd);
		free(h->root);
		h->root = fh_xstrdup(q->root);
		h->root_fd = fd;
	}
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	return (int)syscall(SYS_openat2, h->root_fd, q->path, &how, sizeof(how));
}

/* ----------------------------------------------------------------------------------------------------------- files */

static int facts(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	struct stat st;
	if (!q->root[0])
		return set_facts(ret, stat(q->path, &st), &st);
	fh_auto_close int fd = open_in_root(h, q, O_PATH);
	return fd < 0 ? errno : set_facts(ret, fstat(fd, &st), &st);
}

static int own_facts(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	struct stat st;
	return set_facts(ret, lstat(q->path, &st), &st);
}

static int link_text(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	char text[PATH_MAX];
	ssize_t n = readlink(q->path, text, sizeof(text) - 1);
	return n < 0 ? errno : set_text(ret, text, (size_t)n);
}

static int real(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	return take_text(ret, realpath(q->path, NULL));
}

static int place(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	return take_text(ret, fh_place_real(q->path));
}

static int text(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	fh_auto_buf struct fh_buf bytes = FH_BUF_INIT(q->max);
	struct stat st;
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY; /* a FIFO must not block the caller */
	fh_auto_close int fd = q->root[0] ? open_in_root(h, q, flags) : open(q->path, flags | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	int r = fh_read_all(fd, &bytes);
	return r == -FH_E_LIMIT ? EFBIG : r < 0 ? errno : set_text(ret, fh_buf_cstr(&bytes), bytes.n);
}

static int head(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	char bytes[256];
	fh_auto_close int fd = open(q->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, bytes, FH_MIN(q->max, sizeof(bytes)), 0);
	return n < 0 ? errno : set_text(ret, bytes, (size_t)n);
}

static int program(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	struct stat st;
	if (q->root[0]) {
		fh_auto_close int fd = open_in_root(h, q, O_PATH);
		if (fd < 0 || fstat(fd, &st) < 0)
			return errno;
		return S_ISREG(st.st_mode) && (st.st_mode & 0111) ? 0 : EACCES;
	}
	if (stat(q->path, &st) < 0)
		return errno;
	return !S_ISREG(st.st_mode) ? EACCES : access(q->path, X_OK) < 0 ? errno : 0;
}

/* Adds what matches a pattern: `done`, a path that exists or is empty, and the components of `rest` behind it. Not
 * glob(3), which a static program, such as the engine, cannot have without the libraries that know users' names. */
static void match_rest(const char *done, const char *rest, size_t depth, size_t *n, struct fh_survey_answer *ret)
{
	size_t slashes = strspn(rest, "/"), length = strcspn(rest + slashes, "/");
	fh_auto_free char *name = fh_xstrndup(rest + slashes, length);
	fh_auto_free char *before = fh_xasprintf("%s%.*s", done, (int)slashes, rest);
	rest += slashes + length;
	struct stat st;
	if (!strpbrk(name, "*?[")) {
		fh_auto_free char *path = fh_xasprintf("%s%s", before, name);
		if (lstat(path, &st) < 0 || depth == GLOB_DEPTH_MAX)
			return;
		if (*rest)
			match_rest(path, rest, depth + 1, n, ret);
		else
			add_name(ret, (*n)++, path);
		return;
	}
	DIR *d = opendir(*before ? before : ".");
	for (struct dirent *e; d && (e = readdir(d));) {
		if (fnmatch(name, e->d_name, FNM_PERIOD) != 0)
			continue;
		fh_auto_free char *literal = fh_xasprintf("%s%s", before, e->d_name);
		if (!*rest)
			add_name(ret, (*n)++, literal);
		else if (depth < GLOB_DEPTH_MAX)
			match_rest(literal, rest, depth + 1, n, ret);
	}
	if (d)
		closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int match(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	size_t n = 0;
	match_rest("", q->path, 0, &n, ret);
	if (n == 0)
		return ENOENT;
	qsort(ret->list, n, sizeof(char *), by_name);
	return 0;
}

static int names(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	DIR *d = opendir(q->path);
	if (!d)
		return errno;
	size_t n = 0;
	for (struct dirent *e; (q->max == 0 || n < q->max) && (e = readdir(d));)
		if (!fh_streq(e->d_name, ".") && !fh_streq(e->d_name, ".."))
			add_name(ret, n++, e->d_name);
	closedir(d);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- user and machine */

static int variable(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	const char *value = getenv(q->path);
	return value ? set_text(ret, value, strlen(value)) : ENOENT;
}

static int cwd(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	return take_text(ret, getcwd(NULL, 0));
}

static int output(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	const char *argv[ARGS_MAX + 1] = { q->path };
	for (size_t i = 0; q->args && q->args[i] && i + 2 < FH_ARRAY_SIZE(argv); i++)
		argv[i + 1] = q->args[i];
	struct fh_proc_options o = { .argv = argv, .own_group = true };
	o.stdio[1] = o.stdio[2] = FH_STDIO_PIPE;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(OUTPUT_MAX);
	fh_auto_buf struct fh_buf errout = FH_BUF_INIT(OUTPUT_MAX);
	int status = -1;
	int r = fh_proc_run(&o, fh_str(""), OUTPUT_MS, &out, &errout, &status, NULL);
	if (r < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return ECHILD;
	return set_text(ret, fh_buf_cstr(&out), out.n);
}

static int cache(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	errno = 0;
	return take_text(ret, fh_cache_folder(q->path));
}

static int installed(struct fh_survey_host *h, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	char hex[FH_SHA256_HEX];
	return fh_installed_digest(hex) ? set_text(ret, hex, strlen(hex)) : EFBIG;
}

/* ----------------------------------------------------------------------------------------------------------- whole */

/* Each of these functions answers one kind of question. They return 0, or an errno. */
static int (*const answers[FH_SURVEY_KIND_COUNT_])(struct fh_survey_host *, const struct fh_survey_question *,
                                                   struct fh_survey_answer *) = {
	[FH_SURVEY_FACTS] = facts,   [FH_SURVEY_OWN_FACTS] = own_facts, [FH_SURVEY_LINK] = link_text,
	[FH_SURVEY_REAL] = real,     [FH_SURVEY_PLACE] = place,         [FH_SURVEY_TEXT] = text,
	[FH_SURVEY_HEAD] = head,     [FH_SURVEY_PROGRAM] = program,     [FH_SURVEY_GLOB] = match,
	[FH_SURVEY_NAMES] = names,   [FH_SURVEY_VARIABLE] = variable,   [FH_SURVEY_CWD] = cwd,
	[FH_SURVEY_OUTPUT] = output, [FH_SURVEY_CACHE] = cache,         [FH_SURVEY_INSTALLED] = installed,
};

static void answer(struct fh_survey *s, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	ret->error = answers[q->kind]((struct fh_survey_host *)s, q, ret);
}

void fh_survey_host_init(struct fh_survey_host *h)
{
	*h = (struct fh_survey_host){ .survey = { .answer = answer }, .root_fd = -1 };
}

void fh_survey_host_release(struct fh_survey_host *h)
{
	if (h->root_fd >= 0)
		close(h->root_fd);
	free(h->root);
	free(h->survey.unanswered);
	fh_survey_host_init(h);
}

bool fh_survey_is_host(const struct fh_survey *s)
{
	return s->answer == answer;
}
