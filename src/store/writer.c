/* SPDX-License-Identifier: MIT */
#include "store/writer.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "store/db.h"
#include "store/lock.h"
#include "store/queries.h"

#define QUEUE_BYTES_MAX ((size_t)16 << 20) /* bytes of uncommitted rows, beyond which fh_store_writer_row waits */
#define GATHER_NS (20 * FH_NS_PER_MS)      /* shortest time between two waits for the disk, unless a thread waits too */
#define GATHER_BYTES_MAX ((size_t)1 << 20) /* the disk is waited for earlier when so many bytes are queued */
#define SLICES 8                           /* groups that are written for one that the disk is waited for */
#define LOOK_NS (FH_NS_PER_S / 2)          /* how often requests of other terminals are read */

/* A row in the queue; its texts are in the same allocation. */
struct queued {
	struct queued *next;
	struct fh_row row;
	size_t size;
};

struct sums {
	int64_t passed, failed, errors, tokens;
	double score, latency_ms, cost;
	bool changed;
};

struct fh_store_writer {
	struct fh_store *store;
	int lock_fd;
	int64_t eval;
	size_t columns;
	struct sums *sums; /* sums of the rows that are being committed */
	void (*on_done)(void *context, uint64_t done);
	void (*on_wish)(void *context, enum fh_store_wish wish);
	void *context;
	enum fh_store_wish wish;
	int64_t gather_ns;
	pthread_t thread;
	pthread_mutex_t using;     /* held while the store is used, by the writer's thread or by fh_store_writer_arrange */
	pthread_mutex_t lock;      /* guards the members below */
	pthread_cond_t work, room; /* work: there is work for the thread; room: a commit was done */
	struct queued *first, **last;
	size_t bytes;
	uint64_t put, done;  /* counts of rows: queued, committed and on the disk */
	uint64_t written;    /* count of rows that are committed, but not on the disk for sure */
	bool waits_for_disk; /* whether a commit waits for the disk, as the store is set; used by the thread that writes */
	unsigned waiting;    /* threads that wait for a commit */
	bool ending;         /* no row follows */
	bool ended;          /* the thread has recorded how the eval ended, or failed to */
	const struct fh_sink_end *end; /* how the eval ended, valid until `ended`; NULL: it is left as interrupted */
	struct fh_error failure;       /* first failed write; code FH_OK: none */
};

/* ------------------------------------------------------------------------------------------------ the thread's work */

static char *text_of(const json_t *v, const char *fallback)
{
	return v ? fh_json_text(v, 0) : fh_xstrdup(fallback);
}

static int write_row(struct fh_store_writer *w, const struct fh_row *r, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int e = fh_db_do(db, fh_q_data_add, err, "b", r->text);
	if (e < 0)
		return e;
	e = fh_db_do(db, fh_q_cell_add, err, "iiiiirrrissssi", w->eval, (int64_t)r->row, (int64_t)r->column,
	             (int64_t)r->success, (int64_t)r->failure, r->score, r->latency_ms, r->cost, r->tokens, r->status,
	             r->language, r->named, r->key, fh_db_last_id(db));
	if (e < 0 || r->column >= w->columns)
		return e;
	struct sums *s = &w->sums[r->column];
	s->changed = true;
	s->passed += r->success;
	s->errors += r->failure == FH_FAILURE_ERROR;
	s->failed += !r->success && r->failure != FH_FAILURE_ERROR;
	s->score += r->score;
	s->latency_ms += r->latency_ms;
	s->cost += r->cost;
	s->tokens += r->tokens;
	return 0;
}

static int write_sums(struct fh_store_writer *w, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < w->columns && r == 0; i++) {
		const struct sums *s = &w->sums[i];
		if (s->changed)
			r = fh_db_do(fh_store_db(w->store), fh_q_column_count, err, "iiiiirrri", w->eval, (int64_t)i, s->passed,
			             s->failed, s->errors, s->score, s->latency_ms, s->cost, s->tokens);
		w->sums[i] = (struct sums){ 0 };
	}
	return r;
}

static int write_group(struct fh_store_writer *w, const struct queued *group, struct fh_error *err)
{
	int r = 0;
	for (; group && r == 0; group = group->next)
		r = write_row(w, &group->row, err);
	return r == 0 ? write_sums(w, err) : r;
}

/* Sets whether the commits that follow wait for the disk. One that waits brings all earlier ones to it, too. */
static int set_wait(struct fh_store_writer *w, bool waits, struct fh_error *err)
{
	int r = waits == w->waits_for_disk
	            ? 0
	            : fh_db_script(fh_store_db(w->store), waits ? fh_q_sync_now : fh_q_sync_later, err);
	if (r == 0)
		w->waits_for_disk = waits;
	return r;
}

static int write_end(struct fh_store_writer *w, const struct fh_sink_end *e, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int r = 0;
	if (!e)
		return fh_db_do(db, fh_q_eval_state, err, "ii", w->eval, (int64_t)FH_STORE_INTERRUPTED);
	for (size_t i = 0; i < w->columns && e->metrics && r == 0; i++) {
		fh_auto_free char *text = text_of(json_array_get(e->metrics, i), "{}");
		r = fh_db_do(db, fh_q_column_metrics, err, "iis", w->eval, (int64_t)i, text);
	}
	if (r == 0 && e->vars) {
		fh_auto_free char *text = text_of(e->vars, "[]");
		r = fh_db_do(db, fh_q_eval_vars, err, "is", w->eval, text);
	}
	if (r == 0)
		r = fh_db_do(db, fh_q_eval_end, err, "iii", w->eval,
		             (int64_t)(e->complete ? FH_STORE_COMPLETE : FH_STORE_INTERRUPTED), e->duration_ms);
	return r;
}

/* Writes a group of rows, and how the eval ended if they are the last, in one commit. */
static int commit(struct fh_store_writer *w, const struct queued *group, bool waits, bool last, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int r = set_wait(w, waits, err);
	if (r == 0)
		r = fh_db_script(db, fh_q_begin, err);
	if (r < 0)
		return r;
	r = write_group(w, group, err);
	if (r == 0 && last)
		r = write_end(w, w->end, err);
	if (r == 0)
		r = fh_db_script(db, fh_q_commit, err);
	if (r < 0)
		(void)fh_db_script(db, fh_q_rollback, NULL);
	return r;
}

static void look_at_wish(struct fh_store_writer *w)
{
	enum fh_store_wish wish = w->wish;
	if (!w->on_wish || fh_store_wished(w->store, w->eval, &wish, NULL) < 0 || wish == w->wish)
		return;
	w->wish = wish;
	w->on_wish(w->context, wish);
}

static void wait_for_work(struct fh_store_writer *w, int64_t ns)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / FH_NS_PER_S;
	until.tv_nsec %= FH_NS_PER_S;
	(void)pthread_cond_timedwait(&w->work, &w->lock, &until);
}

/* Waits until a group of rows is to be written, and returns whether the disk is to be waited for. The disk takes nearly
 * the same time for a thousand rows as for one, so it is waited for seldom; but the rows are written in slices before,
 * while the eval works on the next ones. */
static bool gather(struct fh_store_writer *w, int64_t synced)
{
	if (!w->first)
		wait_for_work(w, LOOK_NS);
	const int64_t due = synced + w->gather_ns, slice = FH_MIN(due, fh_now_ns() + w->gather_ns / SLICES);
	int64_t now;
	while ((now = fh_now_ns()) < slice && w->first && !w->ending && w->waiting == 0 && w->bytes < GATHER_BYTES_MAX)
		wait_for_work(w, slice - now);
	return now >= due || w->waiting > 0 || w->bytes >= GATHER_BYTES_MAX;
}

static uint64_t free_group(struct queued *group, size_t *ret_bytes)
{
	uint64_t n = 0;
	*ret_bytes = 0;
	for (struct queued *next; group; group = next, n++) {
		next = group->next;
		*ret_bytes += group->size;
		free(group);
	}
	return n;
}

/* Takes the queued rows out of the queue. One stays there when the disk is not waited for: a commit without a row would
 * not bring the earlier ones to the disk. Called with the lock held. */
static struct queued *take_group(struct fh_store_writer *w, bool all)
{
	struct queued **from = all || !w->first ? &w->first : &w->first->next, *group = *from;
	*from = NULL;
	w->last = from;
	return group;
}

/* Counts a group whose commit gave `err`, and frees it. `synced`: all rows so far are on the disk. Called with the lock
 * held, which is released for on_done. */
static void count_group(struct fh_store_writer *w, struct queued *group, bool synced, const struct fh_error *err)
{
	size_t bytes;
	w->written += free_group(group, &bytes);
	w->bytes -= bytes;
	if (err->code != FH_OK)
		w->failure = *err;
	bool counts = synced && w->written > 0 && w->failure.code == FH_OK;
	if (counts) {
		w->done += w->written;
		w->written = 0;
	}
	uint64_t done = w->done;
	pthread_cond_broadcast(&w->room);
	if (counts && w->on_done) {
		pthread_mutex_unlock(&w->lock);
		w->on_done(w->context, done);
		pthread_mutex_lock(&w->lock);
	}
}

/* Commits groups of queued rows until no more follow. Called with the lock held. */
static void write_groups(struct fh_store_writer *w)
{
	int64_t looked = fh_now_ns(), synced = looked;
	while (!w->ending) {
		bool waits = gather(w, synced);
		if (w->ending)
			break;
		struct queued *group = take_group(w, waits);
		bool failed = w->failure.code != FH_OK;
		pthread_mutex_unlock(&w->lock);
		struct fh_error err = FH_ERROR_INIT;
		pthread_mutex_lock(&w->using);
		if (group && !failed)
			(void)commit(w, group, waits, false, &err);
		int64_t now = fh_now_ns();
		synced = waits ? now : synced;
		if (now - looked >= LOOK_NS) {
			look_at_wish(w);
			looked = now;
		}
		pthread_mutex_unlock(&w->using);
		pthread_mutex_lock(&w->lock);
		count_group(w, group, waits, &err);
	}
}

/* Commits the rows that are left together with how the eval ended. Called with the lock held. */
static void write_last(struct fh_store_writer *w)
{
	struct queued *group = take_group(w, true);
	bool failed = w->failure.code != FH_OK;
	struct fh_error err = FH_ERROR_INIT;
	pthread_mutex_unlock(&w->lock);
	if (!failed)
		(void)commit(w, group, true, true, &err);
	pthread_mutex_lock(&w->lock);
	count_group(w, group, true, &err);
	w->ended = true;
	pthread_cond_broadcast(&w->room);
}

/* SQLite copies its log into the store's file as the store is closed, for which no other thread waits. */
static void *work(void *argument)
{
	struct fh_store_writer *w = argument;
	pthread_mutex_lock(&w->lock);
	write_groups(w);
	write_last(w);
	pthread_mutex_unlock(&w->lock);
	fh_store_close(w->store);
	w->store = NULL;
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ begin */

static int find_number(struct fh_store *s, const char *id, int64_t *ret, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(fh_store_db(s), fh_q_eval_number, &q, err, "s", id);
	if (r == 0)
		r = fh_db_next(q, err);
	if (r == 1)
		*ret = fh_db_int(q, 0);
	fh_db_done(q);
	return r;
}

static int write_columns(struct fh_store_writer *w, const struct fh_store_begin *b, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int r = fh_db_do(db, fh_q_column_drop_from, err, "ii", w->eval, (int64_t)w->columns);
	for (size_t i = 0; i < w->columns && r == 0; i++) {
		fh_auto_free char *head = text_of(json_array_get(b->columns, i), "{}");
		r = fh_db_do(db, fh_q_column_add, err, "iis", w->eval, (int64_t)i, head);
	}
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)b->tags, name, value) if (r == 0 && json_is_string(value)) r =
	    fh_store_tag(w->store, w->eval, name, json_string_value(value), err);
	return r;
}

static int write_eval(struct fh_store_writer *w, const struct fh_store_begin *b, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	fh_auto_free char *config = text_of(b->config, "{}"), *vars = text_of(b->vars, "[]"),
	                  *options = text_of(b->options, "{}");
	const char *description = b->description ? b->description : "";
	int r;
	if (w->eval == 0) {
		r = fh_db_do(db, fh_q_eval_add, err, "sisiiisss", b->id, (int64_t)b->kind, description, b->created_ms,
		             (int64_t)b->total, (int64_t)b->rows, config, vars, options);
		w->eval = r == 0 ? fh_db_last_id(db) : 0;
	} else {
		r = fh_db_do(db, fh_q_eval_again, err, "isiisss", w->eval, description, (int64_t)b->total, (int64_t)b->rows,
		             config, vars, options);
	}
	if (r == 0 && w->lock_fd < 0)
		r = fh_store_lock(fh_store_path(w->store), w->eval, &w->lock_fd, err);
	return r == 0 ? write_columns(w, b, err) : r;
}

/* Begins a transaction that does not wait for the disk. SQLite waits once as it begins its log, lest commits from
 * before that are left in the file be taken for new ones; where the log is empty there are none, and it need not. */
static int begin_unsynced(struct fh_store_writer *w, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int r = fh_db_script(db, fh_q_sync_never, err);
	if (r == 0)
		r = fh_db_script(db, fh_q_begin, err);
	if (r < 0 || fh_db_log_is_empty(db))
		return r;
	/* another program's commits are in the log; SQLite takes the setting between transactions only */
	r = fh_db_script(db, fh_q_rollback, err);
	if (r == 0)
		r = fh_db_script(db, fh_q_sync_later, err);
	return r == 0 ? fh_db_script(db, fh_q_begin, err) : r;
}

/* The lock is taken before the first change; for a new eval, before any other program can see it. This commit reaches
 * the disk with that of the first rows: until then there is nothing to lose, and a wait for the disk is saved. */
static int begin(struct fh_store_writer *w, const struct fh_store_begin *b, struct fh_error *err)
{
	int r = fh_store_open(b->path, false, &w->store, err);
	if (r == 0)
		r = begin_unsynced(w, err);
	if (r < 0)
		return r;
	r = find_number(w->store, b->id, &w->eval, err);
	if (r == 1 && !b->resume)
		r = fh_error_set(err, FH_E_ARGUMENT, "the store has an eval %s already", b->id);
	else if (r == 0 && b->resume)
		r = fh_error_set(err, FH_E_NOT_FOUND, "the store has no eval %s", b->id);
	if (r == 1)
		r = fh_store_lock(fh_store_path(w->store), w->eval, &w->lock_fd, err);
	if (r == 0)
		r = write_eval(w, b, err);
	if (r == 0)
		r = fh_db_script(fh_store_db(w->store), fh_q_commit, err);
	if (r < 0)
		(void)fh_db_script(fh_store_db(w->store), fh_q_rollback, NULL);
	else
		r = set_wait(w, true, err);
	return r;
}

static void release(struct fh_store_writer *w)
{
	fh_store_close(w->store);
	fh_closep(&w->lock_fd);
	pthread_mutex_destroy(&w->using);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->work);
	pthread_cond_destroy(&w->room);
	free(w->sums);
	free(w);
}

int fh_store_writer_begin(const struct fh_store_begin *b, struct fh_store_writer **ret, struct fh_error *err)
{
	struct fh_store_writer *w = FH_NEW(struct fh_store_writer);
	w->lock_fd = -1;
	w->columns = json_array_size(b->columns);
	w->sums = fh_xcalloc(w->columns + 1, sizeof(*w->sums));
	w->on_done = b->on_done;
	w->on_wish = b->on_wish;
	w->context = b->context;
	w->gather_ns = b->gather_ms ? b->gather_ms * FH_NS_PER_MS : GATHER_NS;
	w->last = &w->first;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->using, NULL);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, &monotonic);
	pthread_cond_init(&w->room, &monotonic);
	pthread_condattr_destroy(&monotonic);
	int r = begin(w, b, err), code = 0;
	if (r == 0 && (code = pthread_create(&w->thread, NULL, work, w)) != 0)
		r = fh_error_sys(err, code, "cannot start a thread");
	if (r < 0) {
		release(w);
		return r;
	}
	*ret = w;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static const char *kept_text(char **at, const char *text)
{
	if (!text)
		return NULL;
	size_t n = strlen(text) + 1;
	const char *copy = memcpy(*at, text, n);
	*at += n;
	return copy;
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static struct queued *copy_row(const struct fh_row *r)
{
	size_t size = sizeof(struct queued) + text_size(r->key) + text_size(r->status) + text_size(r->language) +
	              text_size(r->named) + r->text.n;
	struct queued *q = fh_xcalloc(1, size);
	char *at = (char *)(q + 1);
	q->row = *r;
	q->size = size;
	q->row.key = kept_text(&at, r->key);
	q->row.status = kept_text(&at, r->status);
	q->row.language = kept_text(&at, r->language);
	q->row.named = kept_text(&at, r->named);
	memcpy(at, r->text.p, r->text.n);
	q->row.text.p = at;
	q->row.integrity = NULL; /* the row's text holds it too */
	return q;
}

static int told_failure(struct fh_store_writer *w, struct fh_error *err)
{
	if (w->failure.code == FH_OK)
		return 0;
	if (err)
		*err = w->failure;
	return -(int)w->failure.code;
}

int fh_store_writer_row(struct fh_store_writer *w, const struct fh_row *row, struct fh_error *err)
{
	struct queued *q = copy_row(row);
	pthread_mutex_lock(&w->lock);
	while (w->bytes > QUEUE_BYTES_MAX && w->failure.code == FH_OK)
		pthread_cond_wait(&w->room, &w->lock);
	int r = told_failure(w, err);
	if (r == 0) {
		bool wakes = !w->first || w->bytes + q->size >= GATHER_BYTES_MAX;
		*w->last = q;
		w->last = &q->next;
		w->bytes += q->size;
		w->put++;
		if (wakes)
			pthread_cond_signal(&w->work);
	} else {
		free(q);
	}
	pthread_mutex_unlock(&w->lock);
	return r;
}

int fh_store_writer_flush(struct fh_store_writer *w, struct fh_error *err)
{
	pthread_mutex_lock(&w->lock);
	w->waiting++;
	pthread_cond_signal(&w->work);
	while (w->done < w->put && w->failure.code == FH_OK)
		pthread_cond_wait(&w->room, &w->lock);
	w->waiting--;
	int r = told_failure(w, err);
	pthread_mutex_unlock(&w->lock);
	return r;
}

/* -------------------------------------------------------------------------------------------------------------- end */

void fh_store_writer_finish_begin(struct fh_store_writer *w, const struct fh_sink_end *e)
{
	pthread_mutex_lock(&w->lock);
	if (!w->ending) {
		w->end = e;
		w->ending = true;
		pthread_cond_signal(&w->work);
	}
	pthread_mutex_unlock(&w->lock);
}

int fh_store_writer_finish(struct fh_store_writer *w, const struct fh_sink_end *e, struct fh_error *err)
{
	fh_store_writer_finish_begin(w, e);
	pthread_mutex_lock(&w->lock);
	while (!w->ended)
		pthread_cond_wait(&w->room, &w->lock);
	int r = told_failure(w, err);
	pthread_mutex_unlock(&w->lock);
	return r;
}

int fh_store_writer_end(struct fh_store_writer *w, const struct fh_sink_end *e, struct fh_error *err)
{
	int r = fh_store_writer_finish(w, e, err);
	fh_store_writer_close(w);
	return r;
}

void fh_store_writer_close(struct fh_store_writer *w)
{
	if (!w)
		return;
	fh_store_writer_finish_begin(w, NULL);
	pthread_join(w->thread, NULL);
	release(w);
}

/* ----------------------------------------------------------------------------------------------------------- resume */

struct changes {
	const struct fh_store_place *drops;
	const struct fh_store_move *moves;
	size_t drop_count, move_count;
};

/* Two cells may swap places, so all are first moved to rows that no cell can have. */
#define ASIDE ((int64_t)1 << 40)

static int change(struct fh_store_writer *w, const struct changes *c, struct fh_error *err)
{
	struct fh_db *db = fh_store_db(w->store);
	int r = 0;
	for (size_t i = 0; i < c->drop_count && r == 0; i++) {
		int64_t row = c->drops[i].row, column = c->drops[i].column;
		r = fh_db_do(db, fh_q_data_drop, err, "iii", w->eval, row, column);
		if (r == 0)
			r = fh_db_do(db, fh_q_cell_drop, err, "iii", w->eval, row, column);
	}
	for (size_t i = 0; i < c->move_count && r == 0; i++)
		r = fh_db_do(db, fh_q_cell_move, err, "iiiii", w->eval, (int64_t)c->moves[i].from.row,
		             (int64_t)c->moves[i].from.column, ASIDE + c->moves[i].to.row, (int64_t)c->moves[i].to.column);
	for (size_t i = 0; i < c->move_count && r == 0; i++)
		r = fh_db_do(db, fh_q_cell_move, err, "iiiii", w->eval, ASIDE + c->moves[i].to.row,
		             (int64_t)c->moves[i].to.column, (int64_t)c->moves[i].to.row, (int64_t)c->moves[i].to.column);
	return r;
}

int fh_store_writer_arrange(struct fh_store_writer *w, const struct fh_store_place *drops, size_t drop_count,
                            const struct fh_store_move *moves, size_t move_count, struct fh_error *err)
{
	const struct changes c = { drops, moves, drop_count, move_count };
	struct fh_db *db = fh_store_db(w->store);
	pthread_mutex_lock(&w->using);
	int r = fh_db_script(db, fh_q_begin, err);
	if (r == 0) {
		r = change(w, &c, err);
		if (r == 0)
			r = fh_db_do(db, fh_q_column_recount, err, "i", w->eval);
		if (r == 0)
			r = fh_db_script(db, fh_q_commit, err);
		if (r < 0)
			(void)fh_db_script(db, fh_q_rollback, NULL);
	}
	pthread_mutex_unlock(&w->using);
	return r;
}
