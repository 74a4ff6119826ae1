/* SPDX-License-Identifier: MIT */
#include "e2b/service/judged.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "judge/formats/data_set.h"
#include "judge/self_check.h"

enum { SETS_MAX = 64, ROWS_KEPT = 8 };

struct fh_judged_check {
	pthread_mutex_t lock; /* held during the check: requests for the same problem wait for it */
	bool done;
	char *doubt; /* owned; NULL: none */
};

struct fh_judged {
	pthread_mutex_t lock;
	struct fh_judged_set *sets[SETS_MAX]; /* not changed after requests begin */
	size_t set_count;
	struct fh_judged_set *rows[ROWS_KEPT]; /* the most recently used first */
};

FH_OWN struct fh_judged *fh_judged_new(void)
{
	struct fh_judged *j = FH_NEW(struct fh_judged);
	pthread_mutex_init(&j->lock, NULL);
	return j;
}

void fh_judged_drop(struct fh_judged_set *s)
{
	if (!s || atomic_fetch_sub(&s->references, 1) != 1)
		return;
	fh_judge_session_close(s->session);
	for (size_t i = 0; i < s->problems.count; i++) {
		pthread_mutex_destroy(&s->checks[i].lock);
		free(s->checks[i].doubt);
	}
	free(s->checks);
	fh_judge_samples_release(&s->samples);
	fh_judge_problems_release(&s->problems);
	pthread_mutex_destroy(&s->opening);
	free(s->name);
	free(s);
}

void fh_judged_free(FH_OWN struct fh_judged *j)
{
	for (size_t i = 0; i < j->set_count; i++)
		fh_judged_drop(j->sets[i]);
	for (size_t i = 0; i < ROWS_KEPT; i++)
		fh_judged_drop(j->rows[i]);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

/* Makes a set; takes over the problems. The judge's session asks for each problem whether it is wanted: here all
 * are. */
static struct fh_judged_set *set_new(struct fh_judge_problems problems, const struct fh_ceilings *c)
{
	struct fh_judged_set *s = FH_NEW(struct fh_judged_set);
	s->problems = problems;
	s->references = 1;
	pthread_mutex_init(&s->opening, NULL);
	s->checks = fh_xcalloc(problems.count, sizeof(*s->checks));
	for (size_t i = 0; i < problems.count; i++) {
		pthread_mutex_init(&s->checks[i].lock, NULL);
		FH_PUSH(s->samples.items, s->samples.count, s->samples.capacity) =
		    (struct fh_judge_sample){ .problem = i, .completion = fh_xstrdup("") };
	}
	fh_judge_settings_init(&s->settings);
	uint64_t *limit = s->settings.limits.value;
	limit[FH_LIMIT_MEMORY] = FH_MIN(limit[FH_LIMIT_MEMORY], c->value[FH_CEILING_MEMORY]);
	limit[FH_LIMIT_CPU_TIME] = FH_MIN(limit[FH_LIMIT_CPU_TIME], c->value[FH_CEILING_CPU_TIME]);
	limit[FH_LIMIT_PROCESSES] = FH_MIN(limit[FH_LIMIT_PROCESSES], c->value[FH_CEILING_PROCESSES]);
	return s;
}

int fh_judged_add(struct fh_judged *j, const char *text, const struct fh_ceilings *ceilings, struct fh_error *err)
{
	const char *equals = strchr(text, '=');
	struct fh_judge_problems problems = { 0 };
	if (!equals || equals == text || !equals[1])
		return fh_error_set(err, FH_E_ARGUMENT, "--data-set %.64s is not of the form NAME=FILE", text);
	if (j->set_count == SETS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "at most %d data sets", SETS_MAX);
	int r = fh_judge_problems_read(equals + 1, &problems, err);
	if (r < 0)
		return r;
	struct fh_judged_set *s = set_new(problems, ceilings);
	s->name = fh_xasprintf("%.*s", (int)(equals - text), text);
	j->sets[j->set_count++] = s;
	return 0;
}

static int open_session(struct fh_judged_set *s, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&s->opening);
	if (!s->session)
		r = fh_judge_session_open(&s->settings, &s->problems, &s->samples, &s->session, err);
	pthread_mutex_unlock(&s->opening);
	return r;
}

/* Opens the set's session; on failure drops the reference. */
static int hand_out(struct fh_judged_set *s, struct fh_judged_set **ret, struct fh_error *err)
{
	int r = open_session(s, err);
	if (r < 0)
		fh_judged_drop(s);
	else
		*ret = s;
	return r;
}

int fh_judged_set(struct fh_judged *j, const char *name, struct fh_judged_set **ret, struct fh_error *err)
{
	for (size_t i = 0; i < j->set_count; i++)
		if (strcmp(j->sets[i]->name, name) == 0) {
			atomic_fetch_add(&j->sets[i]->references, 1);
			return hand_out(j->sets[i], ret, err);
		}
	return fh_error_set(err, FH_E_NOT_FOUND, "there is no data set %.64s: start the server with --data-set NAME=FILE",
	                    name);
}

/* Called with the check's lock. */
static int check(struct fh_judged_set *s, size_t problem, struct fh_judged_check *ret, struct fh_error *err)
{
	struct fh_judge_sample any = { .problem = problem };
	const struct fh_judge_samples one = { .items = &any, .count = 1 };
	struct fh_self_check found;
	int r = fh_self_check_run(s->session, &s->problems, &one, 1, &found, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < found.failure_count && !ret->doubt; i++) {
		const struct fh_self_check_failure *f = &found.failures[i];
		ret->doubt = f->stub ? fh_xstrdup("a stub, which answers nothing, passes")
		                     : fh_xasprintf("the reference does not pass: %s: %s", fh_verdict_name(f->verdict),
		                                    f->reason ? f->reason : "");
	}
	ret->done = true;
	fh_self_check_release(&found);
	return 0;
}

int fh_judged_check(struct fh_judged_set *s, size_t problem, const char **ret_doubt, struct fh_error *err)
{
	struct fh_judged_check *c = &s->checks[problem];
	pthread_mutex_lock(&c->lock);
	int r = c->done ? 0 : check(s, problem, c, err);
	pthread_mutex_unlock(&c->lock);
	if (r >= 0)
		*ret_doubt = c->doubt ? c->doubt : "";
	return r;
}

/* A set of that key with a reference, moved to the front; NULL: there is none. Called with the lock. */
static struct fh_judged_set *find_row(struct fh_judged *j, const char *key)
{
	for (size_t i = 0; i < ROWS_KEPT && j->rows[i]; i++) {
		struct fh_judged_set *s = j->rows[i];
		if (strcmp(s->key, key) != 0)
			continue;
		memmove(j->rows + 1, j->rows, i * sizeof(*j->rows));
		j->rows[0] = s;
		atomic_fetch_add(&s->references, 1);
		return s;
	}
	return NULL;
}

/* Reads a row through a memory file, since the reader of data sets needs a path. */
static int read_row(struct fh_str line, struct fh_judge_problems *ret, struct fh_error *err)
{
	char path[64];
	fh_auto_close int fd = memfd_create("row", MFD_CLOEXEC);
	if (fd < 0 || fh_write_all(fd, line.p, line.n) < 0)
		return fh_error_sys(err, errno, "cannot keep the row");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fh_judge_problems_read(path, ret, err);
}

int fh_judged_row(struct fh_judged *j, const struct fh_key *owner, const json_t *row, struct fh_judged_set **ret,
                  struct fh_error *err)
{
	struct fh_sha256 hash = FH_SHA256_INIT;
	struct fh_judge_problems problems = { 0 };
	char key[FH_SHA256_HEX];
	fh_auto_free char *text = json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS);
	if (!text)
		return fh_error_set(err, FH_E_CONFIG, "the problem must be an object: a row of a data set");
	fh_sha256_add(&hash, &owner, sizeof(owner)); /* limits depend on the key that asks */
	fh_sha256_add(&hash, text, strlen(text));
	fh_sha256_hex(&hash, key);
	pthread_mutex_lock(&j->lock);
	struct fh_judged_set *s = find_row(j, key), *old = NULL;
	pthread_mutex_unlock(&j->lock);
	if (s)
		return hand_out(s, ret, err);
	fh_auto_free char *line = fh_xasprintf("%s\n", text);
	int r = read_row(fh_str(line), &problems, err);
	if (r < 0)
		return r;
	s = set_new(problems, &owner->ceilings);
	memcpy(s->key, key, sizeof(key));
	pthread_mutex_lock(&j->lock);
	struct fh_judged_set *other = find_row(j, key); /* another thread may have added it meanwhile */
	if (!other) {
		old = j->rows[ROWS_KEPT - 1];
		memmove(j->rows + 1, j->rows, (ROWS_KEPT - 1) * sizeof(*j->rows));
		j->rows[0] = s;
		atomic_fetch_add(&s->references, 1);
	}
	pthread_mutex_unlock(&j->lock);
	fh_judged_drop(other ? s : old);
	return hand_out(other ? other : s, ret, err);
}
