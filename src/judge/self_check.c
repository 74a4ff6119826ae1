/* SPDX-License-Identifier: MIT */
#include "judge/self_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "code/declaration.h"
#include "json/json.h"
#include "judge/batch.h"
#include "judge/problems/truth.h"
#include "judge/problems/languages.h"

#define MEMORY_MAX 4096 /* maximum bytes of the file that remembers a task */
/* A program may need MARGIN times the reference's CPU time; with less, verdicts would depend on the machine. If the
 * reference reaches the limit, it is tried once more with PATIENCE times the limit. */
#define MARGIN 4
#define PATIENCE 8
#define FACTOR_MAX (MARGIN * PATIENCE)
#define DRAWS_MAX 8 /* draws of random inputs to try until the reference passes */

struct check {
	struct fh_judge_session *session;
	const struct fh_judge_problems *problems;
	const struct fh_judge_settings *settings;
	const size_t *wanted; /* indexes of the problems to check */
	size_t count;
	char *folder; /* folder with the remembered tasks; NULL: nothing is remembered */
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t lock; /* guards the fields below */
	struct fh_self_check *found;
	size_t done;
	int failed;
	struct fh_error error;
};

void fh_self_check_release(struct fh_self_check *c)
{
	for (size_t i = 0; i < c->failure_count; i++)
		free(c->failures[i].reason);
	free(c->failures);
	*c = (struct fh_self_check){ 0 };
}

/* ---------------------------------------------------------------------------------------------------------- stubs */

static void make_stub(const struct fh_judge_problem *p, struct fh_buf *out)
{
	const struct fh_judge_language_info *l = fh_judge_languages[p->language];
	bool named = p->entry_point && p->entry_point[0];
	if (p->output)
		fh_buf_adds(out, l->stub.program);
	else if (p->language == FH_JUDGE_PYTHON && named &&
	         !fh_declares_python(fh_buf_str(&p->head), fh_str(p->entry_point)))
		fh_buf_addf(out, "def %s(*args, **kwargs):\n    %s\n", p->entry_point,
		            p->truth && fh_streq(p->truth->oracle, FH_ORACLE_ANY_VALUE) ? "raise NotImplementedError"
		                                                                        : "return None");
	else {
		fh_buf_add_str(out, fh_buf_str(&p->declaration));
		fh_buf_adds(out, l->stub.body);
	}
}

/* --------------------------------------------------------------------------------------------------------- memory */

static char *cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	fh_auto_free char *base = cache && cache[0] == '/' ? fh_xstrdup(cache)
	                          : home && home[0] == '/' ? fh_path_join(home, ".cache")
	                                                   : NULL;
	static const char *const parts[] = { "fumehood", "self-check" };
	if (!base)
		return NULL;
	(void)mkdir(base, 0700);
	for (size_t i = 0; i < FH_ARRAY_SIZE(parts); i++) {
		char *next = fh_path_join(base, parts[i]);
		free(base);
		base = next;
		(void)mkdir(base, 0700);
	}
	struct stat st; /* a folder that others can write to would let them decide how tests are judged */
	if (stat(base, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return NULL;
	return FH_TAKE_PTR(base);
}

/* The file for a remembered task, named by everything on which its reference and its stub depend. */
static char *memory_path(const struct check *c, const struct fh_judge_problem *p,
                         const struct fh_judge_sample *reference, const struct fh_judge_sample *stub)
{
	char keys[2][FH_SHA256_HEX], name[FH_SHA256_HEX];
	struct fh_sha256 h = FH_SHA256_INIT;
	if (!c->folder)
		return NULL;
	fh_judge_key(c->session, p, reference, keys[0]);
	fh_judge_key(c->session, p, stub, keys[1]);
	for (size_t i = 0; i < 2; i++)
		fh_sha256_add_field(&h, fh_str(keys[i]));
	fh_sha256_hex(&h, name);
	return fh_path_join(c->folder, name);
}

static const char *const mode_names[] = {
	[FH_MODE_SPLIT] = "split",
	[FH_MODE_SPLIT_CHANGES] = "changes",
	[FH_MODE_IN_PROCESS] = "in-process",
	[FH_MODE_OUTSIDE] = "outside",
};

static bool recall(const char *path, enum fh_judge_mode *ret, unsigned *ret_factor)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(MEMORY_MAX);
	if (!path || !fh_path_exists(path) || fh_file_read(path, &text, NULL) < 0)
		return false;
	fh_auto_json json_t *o = fh_json_parse(fh_buf_str(&text), NULL, NULL);
	const char *mode = json_is_object(o) ? fh_json_str(o, "mode", "") : "";
	int64_t factor = json_is_object(o) ? fh_json_int(o, "time_factor", 0) : 0;
	if (factor < 1 || factor > FACTOR_MAX)
		return false;
	for (enum fh_judge_mode m = 0; m < FH_ARRAY_SIZE(mode_names); m++)
		if (fh_streq(mode, mode_names[m])) {
			*ret = m;
			*ret_factor = (unsigned)factor;
			return true;
		}
	return false;
}

static void remember(const char *path, const struct fh_judge_problem *p, enum fh_judge_mode mode, unsigned factor)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(MEMORY_MAX);
	fh_auto_json json_t *o = json_pack("{s:s, s:i, s:o}", "mode", mode_names[mode], "time_factor", (int)factor,
	                                   "task_id", fh_json_bytes(fh_str(p->task_id)));
	if (!path)
		return;
	fh_json_write(&text, o, 0);
	fh_buf_addc(&text, '\n');
	(void)fh_file_write_atomic(path, text.p, text.n, 0600, NULL); /* if writing fails, the next run checks again */
}

/* ------------------------------------------------------------------------------------------------------- one task */

static void note(struct check *c, const struct fh_judge_problem *p, bool stub, struct fh_judge_outcome *o)
{
	pthread_mutex_lock(&c->lock);
	struct fh_self_check *f = c->found;
	FH_PUSH(f->failures, f->failure_count, f->capacity) =
	    (struct fh_self_check_failure){ p, stub, o->verdict, FH_TAKE_PTR(o->reason) };
	pthread_mutex_unlock(&c->lock);
}

static uint64_t cpu_us(const struct fh_result *r)
{
	return r ? r->usage.cpu_user_us + r->usage.cpu_sys_us : 0;
}

/* The smallest power of two by which the limit must be multiplied to allow MARGIN times what the reference took. With
 * powers of two, most repeated measurements give the same factor. */
static unsigned factor_for(uint64_t limit_ms, const struct fh_judge_outcome *o)
{
	uint64_t wanted = MARGIN * FH_MAX(cpu_us(o->run), cpu_us(o->judge)) / 1000;
	unsigned factor = 1;
	while (factor < FACTOR_MAX && limit_ms < wanted / factor)
		factor *= 2;
	return factor;
}

static bool took_too_long(const struct fh_judge_outcome *o)
{
	return o->verdict == FH_VERDICT_CPU_TIME_LIMIT || o->verdict == FH_VERDICT_WALL_TIME_LIMIT;
}

/* Some tests draw inputs with which the reference does not pass (Newton's method finds no root for them). Finds the
 * first draw with which it passes; all samples of the task get that one. */
static int judge_drawing(struct check *c, const struct fh_judge_problem *p, const struct fh_judge_sample *reference,
                         struct fh_judge_outcome *ret, struct fh_error *err)
{
	unsigned draws = fh_judge_problem_draws(p) ? DRAWS_MAX : 1;
	fh_judge_set_draw(c->session, p, 0);
	int r = fh_judge_one(c->session, p, reference, ret, err);
	for (unsigned draw = 1; r >= 0 && draw < draws && (ret->verdict == FH_VERDICT_FAILED || took_too_long(ret));
	     draw++) {
		fh_judge_outcome_release(ret);
		fh_judge_set_draw(c->session, p, draw);
		r = fh_judge_one(c->session, p, reference, ret, err);
	}
	return r;
}

/* Judges the reference in the current mode, and raises the task's time limits as needed. */
static int judge_reference(struct check *c, const struct fh_judge_problem *p, const struct fh_judge_sample *reference,
                           struct fh_judge_outcome *ret, struct fh_error *err)
{
	fh_judge_set_time_factor(c->session, p, 1);
	uint64_t limit = fh_judge_limits(c->session, p).value[FH_LIMIT_CPU_TIME];
	int r = judge_drawing(c, p, reference, ret, err);
	if (r >= 0 && took_too_long(ret)) {
		fh_judge_outcome_release(ret);
		fh_judge_set_time_factor(c->session, p, PATIENCE);
		r = fh_judge_one(c->session, p, reference, ret, err);
	}
	bool passed = r >= 0 && ret->verdict == FH_VERDICT_PASSED;
	fh_judge_set_time_factor(c->session, p, passed ? factor_for(limit, ret) : 1);
	return r;
}

/* The modes in which a task can be judged, in the order in which they are tried. */
static const enum fh_judge_mode ways[] = { FH_MODE_SPLIT, FH_MODE_SPLIT_CHANGES, FH_MODE_IN_PROCESS };

/* Finds the first mode in which the reference passes. If there is none, the first mode is kept and the failure
 * recorded. */
static int check_reference(struct check *c, const struct fh_judge_problem *p, const struct fh_judge_sample *reference,
                           bool *ret_passed, struct fh_error *err)
{
	struct fh_judge_outcome first = { 0 };
	enum fh_judge_mode begin = fh_judge_mode(c->session, p);
	bool passed = false, one_way = begin > FH_MODE_SPLIT_CHANGES;
	int r = 0;
	for (size_t i = 0; r >= 0 && !passed && i < (one_way ? 1 : FH_ARRAY_SIZE(ways)); i++) {
		struct fh_judge_outcome o = { 0 };
		if (!one_way)
			fh_judge_set_mode(c->session, p, ways[i]);
		r = judge_reference(c, p, reference, &o, err);
		passed = r >= 0 && o.verdict == FH_VERDICT_PASSED;
		/* a test that cannot be split was set to this mode already */
		one_way = one_way || fh_judge_mode(c->session, p) == FH_MODE_IN_PROCESS;
		/* an error of the engine would occur in the other modes too */
		one_way = one_way || (r >= 0 && o.verdict == FH_VERDICT_ENGINE_ERROR);
		if (i == 0)
			first = o;
		else
			fh_judge_outcome_release(&o);
	}
	if (r >= 0 && !passed) {
		fh_judge_set_mode(c->session, p, begin);
		note(c, p, false, &first);
	}
	fh_judge_outcome_release(&first);
	*ret_passed = passed;
	return r;
}

static int check_stub(struct check *c, const struct fh_judge_problem *p, const struct fh_judge_sample *stub,
                      bool *ret_fails, struct fh_error *err)
{
	struct fh_judge_outcome o = { 0 };
	int r = fh_judge_one(c->session, p, stub, &o, err);
	if (r < 0)
		return r;
	*ret_fails = o.verdict != FH_VERDICT_PASSED && o.verdict != FH_VERDICT_ENGINE_ERROR;
	if (!*ret_fails)
		note(c, p, true, &o);
	fh_judge_outcome_release(&o);
	return 0;
}

static int check_task(struct check *c, const struct fh_judge_problem *p, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_judge_sample reference = fh_judge_problem_reference(p);
	make_stub(p, &text);
	struct fh_judge_sample stub = { .completion = text.p,
		                            .size = text.n,
		                            .is_whole = p->output != NULL || p->declaration.n > 0 };
	fh_auto_free char *path = memory_path(c, p, &reference, &stub);
	enum fh_judge_mode mode;
	unsigned factor;
	/* Random inputs differ in each session, so a pass with another seed proves little. */
	if (fh_judge_problem_draws(p)) {
		free(path);
		path = NULL;
	}
	bool passed = true, fails = true, remembered = recall(path, &mode, &factor);
	int r = 0;
	if (reference.size)
		fh_judge_set_checked(c->session, p);
	if (p->fault) {
		note(c, p, false, &(struct fh_judge_outcome){ FH_VERDICT_ENGINE_ERROR, fh_xstrdup(p->fault) });
		passed = false;
	} else if (remembered) {
		if (reference.size)
			fh_judge_set_mode(c->session, p, mode);
		fh_judge_set_time_factor(c->session, p, factor);
	} else {
		if (reference.size)
			r = check_reference(c, p, &reference, &passed, err);
		if (r >= 0)
			r = check_stub(c, p, &stub, &fails, err);
	}
	if (r < 0)
		return r;
	mode = fh_judge_mode(c->session, p);
	factor = fh_judge_time_factor(c->session, p);
	if (!remembered && passed && fails)
		remember(path, p, mode, factor);
	pthread_mutex_lock(&c->lock);
	c->found->references += reference.size > 0;
	c->found->remembered += remembered;
	c->found->changes += reference.size > 0 && mode == FH_MODE_SPLIT_CHANGES;
	c->found->in_process += mode == FH_MODE_IN_PROCESS;
	c->found->raised += factor > 1;
	c->found->failed += !passed || !fails;
	c->done++;
	if (c->settings->on_step)
		c->settings->on_step(c->settings->context, "self-check", c->done, c->count);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ all tasks */

static void *work(void *argument)
{
	struct check *c = argument;
	size_t i;
	while (!atomic_load(&c->stop) && (i = atomic_fetch_add(&c->next, 1)) < c->count) {
		struct fh_error err = FH_ERROR_INIT;
		int r = check_task(c, &c->problems->items[c->wanted[i]], &err);
		if (r >= 0)
			continue;
		atomic_store(&c->stop, true);
		pthread_mutex_lock(&c->lock);
		if (c->failed == 0 || c->failed == -FH_E_CANCELLED) {
			c->failed = r;
			c->error = err;
		}
		pthread_mutex_unlock(&c->lock);
	}
	return NULL;
}

static size_t *tasks_of(const struct fh_judge_problems *problems, const struct fh_judge_samples *samples,
                        size_t *ret_count)
{
	fh_auto_free bool *wanted = fh_xcalloc(problems->count + 1, sizeof(*wanted));
	size_t *list = fh_xcalloc(problems->count + 1, sizeof(*list)), n = 0;
	for (size_t i = 0; i < samples->count; i++)
		wanted[samples->items[i].problem] = true;
	for (size_t i = 0; i < problems->count; i++)
		if (wanted[i])
			list[n++] = i;
	*ret_count = n;
	return list;
}

static int by_problem(const void *a, const void *b)
{
	const struct fh_self_check_failure *x = a, *y = b;
	return x->problem < y->problem ? -1 : x->problem > y->problem;
}

int fh_self_check_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                      const struct fh_judge_samples *samples, unsigned jobs, struct fh_self_check *ret,
                      struct fh_error *err)
{
	struct fh_self_check found = { 0 };
	struct check c = { .session = session,
		               .settings = fh_judge_settings(session),
		               .problems = problems,
		               .found = &found,
		               .lock = PTHREAD_MUTEX_INITIALIZER };
	fh_auto_free size_t *wanted = tasks_of(problems, samples, &c.count);
	fh_auto_free char *folder = cache_folder();
	c.wanted = wanted;
	c.folder = folder;
	found.tasks = c.count;
	if (c.settings->on_step)
		c.settings->on_step(c.settings->context, "self-check", 0, c.count);
	int r = fh_batch_threads(work, &c, jobs, c.count, err);
	if (r >= 0 && c.failed < 0) {
		if (err)
			*err = c.error;
		r = c.failed;
	}
	if (r < 0) {
		fh_self_check_release(&found);
		return r;
	}
	if (found.failure_count)
		qsort(found.failures, found.failure_count, sizeof(*found.failures), by_problem);
	*ret = found;
	return 0;
}
