/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/text/sha256.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "eval/plan/content.h"

#define LOOK_NS (FH_NS_PER_S / 4)
#define REPORT_MAX ((size_t)64 << 20)
#define CONTENT_MAX ((size_t)64 << 20)

/* ------------------------------------------------------------------------------------------------------ the report */

/* A report is a sequence of texts, each ended by NUL, which no path holds: "f" and a file's path, or "i" and an id. */
static void tell(const struct fh_eval_report *r, char what, const char *text)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	if (r->fd < 0 || !text || !*text)
		return;
	fh_buf_addc(&line, what);
	fh_buf_adds(&line, text);
	fh_buf_addc(&line, '\0');
	if (fh_write_all(r->fd, line.p, line.n) < 0)
		return; /* a file that is not watched */
}

static void tell_file(void *context, const char *path)
{
	fh_auto_free char *real = realpath(path, NULL);
	char cwd[4096];
	if (real || *path == '/' || !getcwd(cwd, sizeof(cwd))) {
		tell(context, 'f', real ? real : path);
		return;
	}
	fh_auto_free char *absolute = fh_path_join(cwd, path); /* it is not there yet */
	tell(context, 'f', absolute);
}

void fh_eval_report_begin(const struct fh_eval_report *r)
{
	if (r->fd >= 0)
		fh_file_observe(tell_file, (void *)(uintptr_t)r);
}

void fh_eval_report_end(const struct fh_eval_report *r, const struct fh_eval_config *config,
                        const struct fh_eval_plan *plan)
{
	char key[FH_SHA256_HEX];
	if (r->fd < 0)
		return;
	for (const struct fh_document *d = config->document; d; d = d->next)
		tell_file((void *)(uintptr_t)r, d->path); /* a script that made tests was run, and not read */
	if (plan) {
		struct fh_eval_content *c = fh_eval_content_new(plan);
		for (size_t i = 0; i < plan->cell_count; i++)
			fh_eval_content_key(c, i, key); /* reads the scripts */
		fh_eval_content_free(c);
	}
	fh_file_observe(NULL, NULL);
}

void fh_eval_report_id(const struct fh_eval_report *r, const char *id)
{
	tell(r, 'i', id);
}

/* ---------------------------------------------------------------------------------------------------------- a file */

struct watched {
	char *path;
	struct stat seen;         /* all zero: there was no such file */
	char hash[FH_SHA256_HEX]; /* of its content; "" when it has none that can be read */
};

struct watch {
	struct watched *files;
	size_t count, capacity;
	char *id; /* NULL: the store has no eval yet */
};

static void look(const char *path, struct stat *ret)
{
	if (stat(path, ret) < 0)
		*ret = (struct stat){ 0 };
}

static void hash(const char *path, char ret[FH_SHA256_HEX])
{
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(CONTENT_MAX);
	struct fh_sha256 h = FH_SHA256_INIT;
	ret[0] = '\0';
	if (fh_file_read(path, &content, NULL) < 0)
		return;
	fh_sha256_add(&h, content.p ? content.p : "", content.n);
	fh_sha256_hex(&h, ret);
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Whether the file's content has changed since it was last looked at. A file that was only touched, or written anew as
 * it was, has not: a hook that makes an eval's file would run it for ever. */
static bool changed(struct watched *f)
{
	struct stat now;
	char content[FH_SHA256_HEX];
	look(f->path, &now);
	if (same(&f->seen, &now))
		return false;
	f->seen = now;
	hash(f->path, content);
	if (fh_streq(content, f->hash))
		return false;
	memcpy(f->hash, content, sizeof(f->hash));
	return true;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct watched *)a)->path, ((const struct watched *)b)->path);
}

/* Takes a file to the others. One that was written since the run that read it began may be another than it read. */
static void add(struct watch *w, const char *path, int64_t begun_ms, bool *ret_changed)
{
	struct watched f = { .path = (char *)(uintptr_t)path };
	if (w->count && bsearch(&f, w->files, w->count, sizeof(f), compare))
		return;
	look(path, &f.seen);
	hash(path, f.hash);
	if ((int64_t)f.seen.st_ctim.tv_sec * 1000 + f.seen.st_ctim.tv_nsec / FH_NS_PER_MS > begun_ms)
		*ret_changed = true;
	f.path = fh_xstrdup(path);
	FH_PUSH(w->files, w->count, w->capacity) = f;
	qsort(w->files, w->count, sizeof(*w->files), compare);
}

static void release(struct watch *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->files[i].path);
	free(w->files);
	free(w->id);
}

/* ----------------------------------------------------------------------------------------------------------- a run */

/* Reads the report of a run that began at begun_ms. *ret_changed: one of its files was written meanwhile. */
static int take_report(struct watch *w, int fd, int64_t begun_ms, bool *ret_changed, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(REPORT_MAX);
	if (lseek(fd, 0, SEEK_SET) < 0 || fh_read_all(fd, &text) < 0)
		return fh_error_sys(err, errno, "cannot read which files the eval was made of");
	for (size_t at = 0, n; at < text.n; at += n + 1) {
		const char *one = text.p + at;
		n = strnlen(one, text.n - at);
		if (at + n == text.n)
			break; /* the run was ended while it wrote */
		if (*one == 'f')
			add(w, one + 1, begun_ms, ret_changed);
		else if (*one == 'i') {
			free(w->id);
			w->id = fh_xstrdup(one + 1);
		}
	}
	return 0;
}

/* Runs the eval once in a child. *ret_changed: one of its files was written while it ran. */
static int run_once(struct watch *w, fh_eval_watched *run, void *context, int *ret_status, bool *ret_changed,
                    struct fh_error *err)
{
	fh_auto_close int report = memfd_create("fumehood-watch", MFD_CLOEXEC);
	if (report < 0)
		return fh_error_sys(err, errno, "cannot make a file in memory");
	pid_t watcher = getpid();
	int64_t begun_ms = fh_wall_ms();
	int status;
	pid_t pid = fork();
	if (pid < 0)
		return fh_error_sys(err, errno, "cannot start the eval");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != watcher)
			_exit(FH_EXIT_INTERRUPTED);
		exit(run(context, &(struct fh_eval_report){ .fd = report }, w->id));
	}
	/* Ctrl-C goes to both; the child finishes what is under way. */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fh_error_sys(err, errno, "cannot wait for the eval");
		else if (fh_interrupted && fh_interrupted != SIGINT)
			kill(pid, fh_interrupted);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return take_report(w, report, begun_ms, ret_changed, err);
}

/* Waits until a file changes and, since it may be being written, until none changes any more. NULL: interrupted. */
static const char *wait_for_change(struct watch *w)
{
	const char *first = NULL;
	for (bool again = false; !fh_interrupted; again = false) {
		for (size_t i = 0; i < w->count; i++)
			if (changed(&w->files[i])) {
				again = true;
				first = first ? first : w->files[i].path;
			}
		if (first && !again)
			return first;
		fh_sleep_ns(LOOK_NS);
	}
	return NULL;
}

static void say_changed(const char *path)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_addc(&out, '\n');
	fh_escape_terminal(&out, fh_str(path), false);
	fh_buf_adds(&out, " has changed.\n");
	fh_print(&out);
}

int fh_eval_watch(fh_eval_watched *run, void *context, int *ret_status, struct fh_error *err)
{
	struct watch w = { 0 };
	int r = 0;
	fh_interrupt_catch();
	while (r == 0) {
		bool while_it_ran = false;
		r = run_once(&w, run, context, ret_status, &while_it_ran, err);
		if (r < 0 || fh_interrupted || *ret_status == FH_EXIT_INTERRUPTED)
			break;
		if (w.count == 0) {
			r = fh_error_set(err, FH_E_NOT_FOUND, "the eval was made of no file, so there is nothing to watch");
			break;
		}
		if (while_it_ran)
			continue;
		fh_printf("Watching %zu file%s; Ctrl-C ends.\n", w.count, w.count == 1 ? "" : "s");
		const char *path = wait_for_change(&w);
		if (!path)
			break;
		say_changed(path);
	}
	release(&w);
	return r;
}
