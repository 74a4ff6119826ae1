/* SPDX-License-Identifier: MIT */
#include "judge/results.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "judge/session.h"

#define RESULTS_MAX ((size_t)16 << 30)
#define SYNC_NS FH_NS_PER_S
/* The beginning of every row; a truncated row begins with a part of it. */
#define ROW_START "{\"task_id\":"

struct row {
	char *text; /* the line without its newline; NULL: none yet */
	enum fh_verdict verdict;
	bool in_process, flaky;
};

struct fh_results {
	int fd;
	char *path;
	const char (*keys)[FH_SHA256_HEX], (*samples)[FH_SHA256_HEX];
	struct row *rows;
	size_t count, kept, stale;
	size_t ours; /* how many of the stale rows are for the same samples, under other limits or versions */
	off_t size;  /* of the complete rows; bytes beyond it are a row that was not fully written */
	pthread_mutex_t lock;
	int64_t synced_ns;
};

/* ---------------------------------------------------------------------------------------------------------- reading */

static int not_ours(const char *path, uint32_t line, const char *what, struct fh_error *err)
{
	fh_error_at(err, path, line, 0, "%s: this is no results file", what);
	fh_error_hint(err, "name another file with -o, or move this one away");
	return -FH_E_CONFIG;
}

/* Reads one line of the file; -1 if it is not a row. */
static int take_row(struct fh_results *r, struct fh_str line)
{
	fh_auto_json json_t *row = fh_json_parse(line, NULL, NULL);
	if (!json_is_object(row))
		return -1;
	int64_t index = fh_json_int(row, "index", -1);
	const char *key = fh_json_str(row, "key", NULL), *name = fh_json_str(row, "verdict", NULL);
	enum fh_verdict verdict = name ? fh_verdict_of_name(name) : FH_VERDICT_COUNT_;
	if (index < 0 || !key || !name)
		return -1;
	if ((uint64_t)index >= r->count || verdict >= FH_VERDICT_ENGINE_ERROR || !fh_streq(key, r->keys[index])) {
		r->stale += verdict != FH_VERDICT_ENGINE_ERROR;
		r->ours +=
		    (uint64_t)index < r->count && r->samples && fh_streq(fh_json_str(row, "sample", ""), r->samples[index]);
		return 0;
	}
	struct row *to = &r->rows[index];
	r->kept += to->text == NULL;
	free(to->text);
	bool in_process = fh_streq(fh_json_str(row, "integrity", FH_INTEGRITY_IN_PROCESS), FH_INTEGRITY_IN_PROCESS);
	*to = (struct row){ fh_xstrndup(line.p, line.n), verdict, in_process, json_is_true(json_object_get(row, "flaky")) };
	return 0;
}

static bool is_torn_row(struct fh_str line)
{
	size_t n = FH_MIN(line.n, strlen(ROW_START));
	return memcmp(line.p, ROW_START, n) == 0;
}

/* Reads the rows of text; *ret_end: where the last complete one ends. */
static int read_rows(struct fh_results *r, struct fh_str text, size_t *ret_end, struct fh_error *err)
{
	size_t at = 0;
	uint32_t number = 0;
	while (at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		struct fh_str line = { text.p + at, end ? (size_t)(end - text.p) - at : text.n - at };
		number++;
		if (!end) {
			if (!is_torn_row(line))
				return not_ours(r->path, number, "the last line is not a part of a result", err);
			break;
		}
		if (take_row(r, line) < 0)
			return not_ours(r->path, number, "the line is not a result", err);
		at += line.n + 1;
	}
	*ret_end = at;
	return 0;
}

static int load(struct fh_results *r, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	size_t end = 0;
	if (fh_read_all(r->fd, &text) < 0)
		return fh_error_sys(err, errno, "cannot read %s", r->path);
	int e = read_rows(r, fh_buf_str(&text), &end, err);
	if (e < 0)
		return e;
	if (end < text.n && ftruncate(r->fd, end) < 0)
		return fh_error_sys(err, errno, "cannot drop the line of %s that was cut off", r->path);
	r->size = end;
	return 0;
}

int fh_results_open(const char *path, const char (*keys)[FH_SHA256_HEX], const char (*samples)[FH_SHA256_HEX],
                    size_t count, struct fh_results **ret, struct fh_error *err)
{
	fh_auto_close int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct stat st;
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write results to %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		fh_error_set(err, FH_E_ARGUMENT, "%s is no regular file", path);
		fh_error_hint(err, "results are resumed from their file: name one with -o");
		return -FH_E_ARGUMENT;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		fh_error_set(err, FH_E_UNAVAILABLE, "another fumehood judge is writing to %s", path);
		fh_error_hint(err, "wait until it has ended, or name another file with -o");
		return -FH_E_UNAVAILABLE;
	}
	struct fh_results *r = FH_NEW(struct fh_results);
	r->fd = FH_TAKE_FD(fd);
	r->path = fh_xstrdup(path);
	r->keys = keys;
	r->samples = samples;
	r->count = count;
	r->rows = fh_xcalloc(count, sizeof(*r->rows));
	pthread_mutex_init(&r->lock, NULL);
	int e = load(r, err);
	if (e < 0) {
		fh_results_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void fh_results_close(struct fh_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		free(r->rows[i].text);
	free(r->rows);
	free(r->path);
	fh_closep(&r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

size_t fh_results_kept(const struct fh_results *r)
{
	return r->kept;
}

size_t fh_results_stale(const struct fh_results *r)
{
	return r->stale;
}

bool fh_results_strange(const struct fh_results *r)
{
	return r->kept == 0 && r->ours == 0 && r->stale > 0;
}

struct fh_results_row fh_results_row(const struct fh_results *r, size_t index)
{
	const struct row *row = &r->rows[index];
	return (struct fh_results_row){ row->text != NULL, row->verdict, row->in_process, row->flaky };
}

const char *fh_results_text(const struct fh_results *r, size_t index)
{
	return r->rows[index].text;
}

int fh_results_find(const char *path, size_t index, json_t **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	fh_auto_json json_t *found = NULL;
	int r = fh_file_read(path, &text, err);
	if (r < 0)
		return r;
	const char *at = fh_buf_cstr(&text), *end;
	for (; (end = strchr(at, '\n')); at = end + 1) {
		json_t *row = fh_json_parse((struct fh_str){ at, end - at }, NULL, NULL);
		if (json_is_object(row) && fh_json_int(row, "index", -1) == (int64_t)index) {
			json_decref(found);
			found = json_incref(row);
		}
		json_decref(row);
	}
	if (!found) {
		fh_error_set(err, FH_E_NOT_FOUND, "%s has no result of index %zu", path, index);
		fh_error_hint(err, "an index is a sample's position in its file, from 0");
		return -FH_E_NOT_FOUND;
	}
	*ret = FH_TAKE_PTR(found);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static json_t *usage_json(const struct fh_usage *u)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:I, s:I}", "cpu_ms", (double)(u->cpu_user_us + u->cpu_sys_us) / 1000,
	                 "cpu_user_ms", (double)u->cpu_user_us / 1000, "cpu_sys_ms", (double)u->cpu_sys_us / 1000,
	                 "wall_ms", (double)u->wall_us / 1000, "memory_peak_bytes", (json_int_t)u->memory_peak_bytes,
	                 "processes_peak", (json_int_t)u->processes_peak);
}

static void write_row(struct fh_buf *out, const char *key, const char *sample, size_t index,
                      const struct fh_judge_problem *problem, const struct fh_judge_outcome *o)
{
	static const struct fh_usage nothing;
	const struct fh_result *run = o->run;
	fh_auto_json json_t *row = json_object();
	json_object_set_new(row, "task_id",
	                    problem->has_number ? json_integer(strtoll(problem->task_id, NULL, 10))
	                                        : fh_json_bytes(fh_str(problem->task_id)));
	json_object_set_new(row, "index", json_integer(index));
	json_object_set_new(row, "passed", json_boolean(o->verdict == FH_VERDICT_PASSED));
	json_object_set_new(row, "verdict", json_string(fh_verdict_name(o->verdict)));
	json_object_set_new(row, "reason", fh_json_bytes(fh_str(o->reason)));
	json_object_set_new(row, "integrity", json_string(o->integrity));
	json_object_set_new(row, "exit_code", run && run->exit_code >= 0 ? json_integer(run->exit_code) : json_null());
	json_object_set_new(row, "signal", run && run->signal > 0 ? json_integer(run->signal) : json_null());
	json_object_set_new(row, "usage", usage_json(run ? &run->usage : &nothing));
	if (o->judge)
		json_object_set_new(row, "judge_usage", usage_json(&o->judge->usage));
	if (o->raised_cpu_time)
		json_object_set_new(row, "raised_limits",
		                    json_pack("{s:I, s:I}", "cpu_time", (json_int_t)o->raised_cpu_time, "wall_time",
		                              (json_int_t)o->raised_wall_time));
	if (o->seed[0])
		json_object_set_new(row, "seed", fh_json_bytes(fh_str(o->seed)));
	if (o->repeats) {
		json_object_set_new(row, "repeats",
		                    json_pack("{s:i, s:i}", "judged", (int)o->repeats, "passed", (int)o->repeats_passed));
		json_object_set_new(row, "flaky", json_boolean(o->flaky));
	}
	if (sample)
		json_object_set_new(row, "sample", json_string(sample));
	json_object_set_new(row, "key", json_string(key));
	fh_json_write(out, row, 0);
}

int fh_results_put(struct fh_results *r, size_t index, const struct fh_judge_problem *problem,
                   const struct fh_judge_outcome *o, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(1 << 20);
	int e = 0;
	write_row(&line, r->keys[index], r->samples ? r->samples[index] : NULL, index, problem, o);
	struct row row = { fh_xstrndup(line.p, line.n), o->verdict, fh_streq(o->integrity, FH_INTEGRITY_IN_PROCESS),
		               o->flaky };
	fh_buf_addc(&line, '\n');
	pthread_mutex_lock(&r->lock);
	if (fh_write_all(r->fd, line.p, line.n) < 0) {
		e = fh_error_sys(err, errno, "cannot write results to %s", r->path);
		free(row.text);
		/* part of a line in the middle of the file would make the whole file unreadable */
		(void)!ftruncate(r->fd, r->size);
	} else {
		r->size += line.n;
		free(r->rows[index].text);
		r->rows[index] = row;
	}
	/* synced without the lock, so that other threads can continue */
	int64_t now = fh_now_ns();
	bool sync = e == 0 && now - r->synced_ns >= SYNC_NS;
	if (sync)
		r->synced_ns = now;
	pthread_mutex_unlock(&r->lock);
	return sync ? fh_results_sync(r, err) : e;
}

int fh_results_sync(struct fh_results *r, struct fh_error *err)
{
	/* EINVAL: the file system does not support syncing */
	if (fdatasync(r->fd) < 0 && errno != EINVAL)
		return fh_error_sys(err, errno, "cannot write results to %s", r->path);
	return 0;
}

int fh_results_finish(struct fh_results *r, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(RESULTS_MAX);
	struct stat st = { .st_mode = 0644, .st_nlink = 1 }, named;
	(void)fstat(r->fd, &st);
	for (size_t i = 0; i < r->count; i++) {
		if (!r->rows[i].text)
			return fh_error_set(err, FH_E_BUG, "sample %zu has no result", i);
		fh_buf_adds(&text, r->rows[i].text);
		fh_buf_addc(&text, '\n');
	}
	if (text.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the results are larger than %zu GiB", RESULTS_MAX >> 30);
	/* A file without a name, which cannot be replaced: a memfd of the caller's, opened through /proc. */
	if (st.st_nlink == 0 && stat(r->path, &named) == 0 && named.st_ino == st.st_ino && named.st_dev == st.st_dev) {
		if (ftruncate(r->fd, 0) < 0 || fh_write_all(r->fd, text.p, text.n) < 0)
			return fh_error_sys(err, errno, "cannot write results to %s", r->path);
		return 0;
	}
	return fh_file_write_atomic(r->path, text.p, text.n, st.st_mode & 0777, err);
}
