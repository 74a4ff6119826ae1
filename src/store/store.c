/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "store/db.h"
#include "store/lock.h"
#include "store/queries.h"

struct fh_store {
	struct fh_db *db;
	char *path;
	dev_t device; /* with inode: the file that was opened */
	ino_t inode;
};

static const char *const kinds[] = { "eval", "judge", "run" };
static const char *const states[] = { "running", "complete", "interrupted" };

const char *fh_store_kind_name(enum fh_store_kind k)
{
	return k < FH_ARRAY_SIZE(kinds) ? kinds[k] : "eval";
}

bool fh_store_kind_of_name(const char *name, enum fh_store_kind *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (fh_streq(kinds[i], name)) {
			*ret = (enum fh_store_kind)i;
			return true;
		}
	return false;
}

void fh_store_id_make(enum fh_store_kind kind, int64_t wall_ms, char ret_id[64])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[3] = { 0 };
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		random[0] = (unsigned char)fh_now_ns();
	char time[32];
	fh_iso_time(wall_ms, time);
	time[19] = '\0'; /* cuts it to whole seconds */
	snprintf(ret_id, 64, "%s-%c%c%c-%s", fh_store_kind_name(kind), letters[random[0] % 62], letters[random[1] % 62],
	         letters[random[2] % 62], time);
}

const char *fh_store_state_name(enum fh_store_state s)
{
	return s < FH_ARRAY_SIZE(states) ? states[s] : "interrupted";
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* free() it. NULL: none of FUMEHOOD_STORE, XDG_DATA_HOME and HOME is set. */
FH_OWN FH_NULLABLE static char *default_path(void)
{
	const char *own = getenv("FUMEHOOD_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	if (own && *own)
		return fh_xstrdup(own);
	if (data && *data == '/')
		return fh_xasprintf("%s/fumehood/store.db", data);
	return home && *home == '/' ? fh_xasprintf("%s/.local/share/fumehood/store.db", home) : NULL;
}

static int make_folders(const char *dir, struct fh_error *err)
{
	if (!*dir || fh_path_is_dir(dir))
		return 0;
	fh_auto_free char *parent = fh_path_dir(dir);
	int r = fh_streq(parent, dir) ? 0 : make_folders(parent, err);
	if (r < 0)
		return r;
	return mkdir(dir, 0700) == 0 || errno == EEXIST ? 0 : fh_error_sys(err, errno, "cannot make the folder %s", dir);
}

static int pragma(struct fh_db *db, const char *sql, int64_t *ret, struct fh_error *err)
{
	struct fh_db_statement *s = NULL;
	int r = fh_db_ask(db, sql, &s, err, "");
	if (r == 0)
		r = fh_db_next(s, err);
	if (r == 1)
		*ret = fh_db_int(s, 0);
	fh_db_done(s);
	return r < 0 ? r : 0;
}

/* Reads the file's version; an error when it is not a store of ours. A new file has version 0. */
static int look(struct fh_store *s, int64_t *ret_version, struct fh_error *err)
{
	int64_t tables = 0, application = 0, version = 0;
	/* The application is asked last: a program that makes the store makes its tables and sets both numbers in one
	 * transaction, which may be committed between our questions. */
	int r = pragma(s->db, fh_q_tables, &tables, err);
	if (r == 0)
		r = pragma(s->db, fh_q_version, &version, err);
	if (r == 0)
		r = pragma(s->db, fh_q_application, &application, err);
	if (r < 0)
		return r;
	if (application != FH_STORE_APPLICATION && (application != 0 || version != 0 || tables != 0)) {
		fh_error_set(err, FH_E_CONFIG, "%s is a database of another program", s->path);
		fh_error_hint(err, "name another file with FUMEHOOD_STORE=FILE");
		return -FH_E_CONFIG;
	}
	if (version > (int64_t)fh_store_version) {
		fh_error_set(err, FH_E_CONFIG, "the store %s is of version %lld, which is newer than this program knows (%zu)",
		             s->path, (long long)version, fh_store_version);
		fh_error_hint(err, "use the fumehood that made it, or name another store with FUMEHOOD_STORE=FILE");
		return -FH_E_CONFIG;
	}
	*ret_version = version;
	return 0;
}

/* Migrates in one transaction: a program that is killed in between leaves the store unchanged. */
static int migrate(struct fh_store *s, struct fh_error *err)
{
	char note[96];
	int64_t version = 0;
	int r = fh_db_script(s->db, fh_q_begin, err);
	if (r < 0)
		return r;
	r = look(s, &version, err); /* again, as another program may have migrated it meanwhile */
	for (size_t i = (size_t)version; i < fh_store_version && r == 0; i++)
		r = fh_db_script(s->db, fh_store_migrations[i], err);
	snprintf(note, sizeof(note), "PRAGMA application_id=%d; PRAGMA user_version=%zu", FH_STORE_APPLICATION,
	         fh_store_version);
	if (r == 0)
		r = fh_db_script(s->db, note, err);
	if (r == 0)
		r = fh_db_script(s->db, fh_q_commit, err);
	if (r < 0)
		(void)fh_db_script(s->db, fh_q_rollback, NULL);
	return r;
}

static int no_store_yet(const struct fh_store *s, struct fh_error *err)
{
	fh_error_set(err, FH_E_NOT_FOUND, "there is no store yet (%s)", s->path);
	fh_error_hint(err, "`fumehood eval`, `fumehood judge` and `fumehood run --keep` make it");
	return -FH_E_NOT_FOUND;
}

static int open_file(struct fh_store *s, bool read_only, struct fh_error *err)
{
	int64_t version = 0;
	if (read_only && !fh_path_exists(s->path))
		return no_store_yet(s, err);
	fh_auto_free char *dir = fh_path_dir(s->path);
	int r = read_only ? 0 : make_folders(dir, err);
	if (r == 0)
		r = fh_db_open(s->path, read_only, &s->db, err);
	if (r == 0)
		r = look(s, &version, err);
	if (r == 0 && !read_only)
		r = fh_db_begin_writing(s->db, err);
	if (r < 0 || version == (int64_t)fh_store_version)
		return r;
	if (!read_only)
		return migrate(s, err);
	if (version == 0) /* another program has created it and is about to fill it */
		return no_store_yet(s, err);
	fh_error_set(err, FH_E_CONFIG, "the store %s is of an older version (%lld)", s->path, (long long)version);
	fh_error_hint(err, "any command that writes to it brings it up to date");
	return -FH_E_CONFIG;
}

int fh_store_open(const char *path, bool read_only, struct fh_store **ret, struct fh_error *err)
{
	fh_auto_free char *found = path ? fh_xstrdup(path) : default_path();
	if (!found) {
		fh_error_set(err, FH_E_ARGUMENT, "the path of the store is unknown: HOME is not set");
		fh_error_hint(err, "name it with FUMEHOOD_STORE=FILE");
		return -FH_E_ARGUMENT;
	}
	struct fh_store *s = FH_NEW(struct fh_store);
	s->path = FH_TAKE_PTR(found);
	struct stat st = { 0 };
	int r = open_file(s, read_only, err);
	if (r == 0 && stat(s->path, &st) == 0) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
	}
	if (r < 0) {
		fh_store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void fh_store_close(struct fh_store *s)
{
	if (!s)
		return;
	fh_db_close(s->db);
	free(s->path);
	free(s);
}

void fh_store_closep(struct fh_store **s)
{
	fh_store_close(*s);
}

bool fh_store_is_in_place(const struct fh_store *s)
{
	struct stat st;
	return stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

const char *fh_store_path(const struct fh_store *s)
{
	return s->path;
}

struct fh_db *fh_store_db(struct fh_store *s)
{
	return s->db;
}

/* ----------------------------------------------------------------------------------------------------------- evals */

void fh_store_eval_release(struct fh_store_eval *e)
{
	free(e->id);
	free(e->description);
	*e = (struct fh_store_eval){ 0 };
}

void fh_store_eval_list_release(struct fh_store_eval_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		fh_store_eval_release(&l->items[i]);
	free(l->items);
	*l = (struct fh_store_eval_list){ 0 };
}

static char *text_of(const struct fh_db_statement *q, int column)
{
	struct fh_str s = fh_db_text(q, column);
	return fh_xstrndup(s.p, s.n);
}

/* Reads columns in the order of EVAL_COLUMNS in queries.c. */
static void read_eval(const struct fh_store *s, const struct fh_db_statement *q, struct fh_store_eval *ret)
{
	int64_t state = fh_db_int(q, 3);
	*ret = (struct fh_store_eval){
		.number = fh_db_int(q, 0),
		.id = text_of(q, 1),
		.kind = (enum fh_store_kind)FH_MIN((uint64_t)fh_db_int(q, 2), FH_STORE_KIND_COUNT_ - 1),
		.state = (enum fh_store_state)FH_MIN((uint64_t)state, FH_STORE_INTERRUPTED),
		.description = text_of(q, 4),
		.created_ms = fh_db_int(q, 5),
		.duration_ms = fh_db_int(q, 6),
		.total = (uint64_t)fh_db_int(q, 7),
		.rows = (uint64_t)fh_db_int(q, 8),
		.columns = (uint64_t)fh_db_int(q, 9),
		.passed = (uint64_t)fh_db_int(q, 10),
		.failed = (uint64_t)fh_db_int(q, 11),
		.errors = (uint64_t)fh_db_int(q, 12),
		.score = fh_db_real(q, 13),
		.cost = fh_db_real(q, 14),
		.latency_ms = fh_db_real(q, 15),
		.tokens = fh_db_int(q, 16),
	};
	if (ret->state == FH_STORE_RUNNING && !fh_store_lock_is_held(s->path, ret->number))
		ret->state = FH_STORE_INTERRUPTED; /* the program that wrote it was killed */
}

static struct fh_str kind_number(const char *kind, char buf[8])
{
	enum fh_store_kind k;
	if (!kind)
		return (struct fh_str){ 0 };
	snprintf(buf, 8, "%d", fh_store_kind_of_name(kind, &k) ? (int)k : -1);
	return fh_str(buf);
}

int fh_store_evals(struct fh_store *s, const struct fh_store_eval_filter *f, uint64_t offset, uint64_t limit,
                   struct fh_store_eval_list *ret, struct fh_error *err)
{
	char number[8];
	struct fh_str kind = kind_number(f->kind, number);
	const char *equals = f->tag ? strchr(f->tag, '=') : NULL;
	fh_auto_free char *tag = !f->tag ? NULL : equals ? fh_xstrndup(f->tag, equals - f->tag) : fh_xstrdup(f->tag);
	struct fh_str text = f->text ? fh_str(f->text) : (struct fh_str){ 0 };
	struct fh_store_eval_list list = { 0 };
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(s->db, fh_q_evals_count, &q, err, "bbss", kind, text, tag, equals ? equals + 1 : NULL);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		list.total = (uint64_t)fh_db_int(q, 0);
	fh_db_done(q);
	q = NULL;
	if (r >= 0)
		r = fh_db_ask(s->db, fh_q_evals, &q, err, "bbssii", kind, text, tag, equals ? equals + 1 : NULL,
		              limit ? (int64_t)limit : (int64_t)-1, (int64_t)offset);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1)
		read_eval(s, q, &FH_PUSH(list.items, list.count, list.capacity));
	fh_db_done(q);
	if (r < 0) {
		fh_store_eval_list_release(&list);
		return r;
	}
	*ret = list;
	return 0;
}

static int find(struct fh_store *s, const char *sql, const char *name, struct fh_store_eval *ret, size_t *ret_count,
                struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = name ? fh_db_ask(s->db, sql, &q, err, "s", name) : fh_db_ask(s->db, sql, &q, err, "");
	*ret_count = 0;
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		struct fh_store_eval e;
		read_eval(s, q, &e);
		if (*ret_count == 0)
			*ret = e;
		else
			fh_store_eval_release(&e);
		++*ret_count;
		if (name && strcmp(ret->id, name) == 0)
			break; /* the complete id, even if others begin with it */
	}
	fh_db_done(q);
	if (r < 0 && *ret_count)
		fh_store_eval_release(ret);
	return r < 0 ? r : 0;
}

/* Used where there is no eval. False: the store is empty. */
static bool find_latest_of_any_kind(struct fh_store *s, struct fh_store_eval *ret)
{
	size_t count = 0;
	return find(s, fh_q_any_latest, NULL, ret, &count, NULL) == 0 && count > 0;
}

int fh_store_find(struct fh_store *s, const char *name, struct fh_store_eval *ret, struct fh_error *err)
{
	struct fh_store_eval found = { 0 };
	size_t count = 0;
	bool latest = strcmp(name, "latest") == 0;
	int r = find(s, latest ? fh_q_eval_latest : fh_q_eval_find, latest ? NULL : name, &found, &count, err);
	if (r < 0)
		return r;
	if (count == 1 && *name) {
		*ret = found;
		return 0;
	}
	fh_store_eval_release(&found);
	found = (struct fh_store_eval){ 0 };
	if (count == 0 && latest && find_latest_of_any_kind(s, &found))
		fh_error_set(err, FH_E_NOT_FOUND,
		             "the store %s has no eval yet; name the judgement or run that is meant, the newest is %s", s->path,
		             found.id);
	else if (count == 0 && latest)
		fh_error_set(err, FH_E_NOT_FOUND, "the store %s has no eval yet", s->path);
	else if (count == 0)
		fh_error_set(err, FH_E_NOT_FOUND, "the store has no eval %s", name);
	else
		fh_error_set(err, FH_E_ARGUMENT, "several evals have an id that begins with \"%s\"", name);
	fh_error_hint(err, "`fumehood list` shows the ids");
	fh_store_eval_release(&found);
	return count == 0 ? -FH_E_NOT_FOUND : -FH_E_ARGUMENT;
}

/* ------------------------------------------------------------------------------------------------------- documents */

static json_t *parsed(const struct fh_db_statement *q, int column, json_t *(*fallback)(void))
{
	json_t *v = fh_db_is_null(q, column) ? NULL : fh_json_parse(fh_db_text(q, column), NULL, NULL);
	return v ? v : fallback();
}

/* The columns with their metrics; while an eval has none because it has not ended, they are counted from its cells. */
static json_t *metrics_json(const struct fh_db_statement *q)
{
	json_t *m = parsed(q, 8, json_object);
	const int64_t tokens = fh_db_int(q, 7);
	json_object_set_new(m, "score", json_real(fh_db_real(q, 4)));
	json_object_set_new(m, "testPassCount", json_integer(fh_db_int(q, 1)));
	json_object_set_new(m, "testFailCount", json_integer(fh_db_int(q, 2)));
	json_object_set_new(m, "testErrorCount", json_integer(fh_db_int(q, 3)));
	json_object_set_new(m, "totalLatencyMs", json_real(fh_db_real(q, 5)));
	json_object_set_new(m, "cost", json_real(fh_db_real(q, 6)));
	if (!json_object_get(m, "tokenUsage"))
		json_object_set_new(m, "tokenUsage", json_pack("{s:I}", "total", (json_int_t)tokens));
	return m;
}

static int read_columns(struct fh_store *s, int64_t eval, json_t *list, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(s->db, fh_q_columns, &q, err, "i", eval);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		json_t *column = parsed(q, 0, json_object);
		json_object_set_new(column, "metrics", metrics_json(q));
		json_array_append_new(list, column);
	}
	fh_db_done(q);
	return r;
}

static int read_tags(struct fh_store *s, int64_t eval, json_t *tags, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(s->db, fh_q_tags, &q, err, "i", eval);
	while (r >= 0 && (r = fh_db_next(q, err)) == 1) {
		fh_auto_free char *name = text_of(q, 0);
		json_object_set_new(tags, name, fh_json_bytes(fh_db_text(q, 1)));
	}
	fh_db_done(q);
	return r;
}

int fh_store_tags(struct fh_store *s, int64_t eval, json_t **ret, struct fh_error *err)
{
	json_t *tags = json_object();
	int r = read_tags(s, eval, tags, err);
	if (r < 0) {
		json_decref(tags);
		return r;
	}
	*ret = tags;
	return 0;
}

int fh_store_tags_used(struct fh_store *s, const char *kind, json_t **ret, struct fh_error *err)
{
	char number[8];
	struct fh_db_statement *q = NULL;
	fh_auto_json json_t *list = json_array();
	int r = fh_db_ask(s->db, fh_q_tags_used, &q, err, "b", kind_number(kind, number));
	while (r >= 0 && (r = fh_db_next(q, err)) == 1)
		json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "name", fh_json_bytes(fh_db_text(q, 0)), "value",
		                                      fh_json_bytes(fh_db_text(q, 1)), "evals", (json_int_t)fh_db_int(q, 2)));
	fh_db_done(q);
	if (r < 0)
		return r;
	*ret = json_incref(list);
	return 0;
}

int fh_store_documents(struct fh_store *s, int64_t eval, struct fh_store_documents *ret, struct fh_error *err)
{
	struct fh_store_documents d = { .columns = json_array(), .tags = json_object() };
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(s->db, fh_q_documents, &q, err, "i", eval);
	if (r == 0 && (r = fh_db_next(q, err)) == 1) {
		d.config = parsed(q, 0, json_object);
		d.vars = parsed(q, 1, json_array);
		d.options = parsed(q, 2, json_object);
	} else if (r == 0) {
		r = fh_error_set(err, FH_E_NOT_FOUND, "the eval is not in the store any more");
	}
	fh_db_done(q);
	if (r >= 0)
		r = read_columns(s, eval, d.columns, err);
	if (r >= 0)
		r = read_tags(s, eval, d.tags, err);
	if (r < 0) {
		fh_store_documents_release(&d);
		return r;
	}
	*ret = d;
	return 0;
}

void fh_store_documents_release(struct fh_store_documents *d)
{
	json_decref(d->config);
	json_decref(d->vars);
	json_decref(d->options);
	json_decref(d->columns);
	json_decref(d->tags);
	*d = (struct fh_store_documents){ 0 };
}

/* ---------------------------------------------------------------------------------------------------------- changes */

int fh_store_delete(struct fh_store *s, int64_t eval, struct fh_error *err)
{
	fh_auto_close int lock = -1;
	int r = fh_store_lock(s->path, eval, &lock, err);
	if (r == 0)
		r = fh_db_script(s->db, fh_q_begin, err);
	if (r < 0)
		return r;
	r = fh_db_do(s->db, fh_q_data_off, err, "i", eval);
	if (r == 0)
		r = fh_db_do(s->db, fh_q_cells_off, err, "i", eval);
	if (r == 0)
		r = fh_db_do(s->db, fh_q_eval_delete, err, "i", eval);
	if (r == 0)
		r = fh_db_script(s->db, fh_q_commit, err);
	if (r < 0)
		(void)fh_db_script(s->db, fh_q_rollback, NULL);
	return r;
}

int fh_store_describe(struct fh_store *s, int64_t eval, const char *description, struct fh_error *err)
{
	return fh_db_do(s->db, fh_q_describe, err, "is", eval, description);
}

int fh_store_tag(struct fh_store *s, int64_t eval, const char *name, const char *value, struct fh_error *err)
{
	return value ? fh_db_do(s->db, fh_q_tag, err, "iss", eval, name, value)
	             : fh_db_do(s->db, fh_q_untag, err, "is", eval, name);
}

int fh_store_rate(struct fh_store *s, int64_t eval, uint32_t row, uint32_t column, const struct fh_store_rating *r,
                  struct fh_error *err)
{
	const char *comment = r->comment ? r->comment : "";
	if (r->thumb == 0 && !r->has_score && !*comment)
		return fh_db_do(s->db, fh_q_unrate, err, "iii", eval, (int64_t)row, (int64_t)column);
	return fh_db_do(s->db, fh_q_rate, err, "iiiiirsi", eval, (int64_t)row, (int64_t)column, (int64_t)r->thumb,
	                (int64_t)r->has_score, r->score, comment, fh_wall_ms());
}

int fh_store_wish(struct fh_store *s, int64_t eval, enum fh_store_wish wish, struct fh_error *err)
{
	if (!fh_store_lock_is_held(s->path, eval)) {
		fh_error_set(err, FH_E_NOT_FOUND, "the eval is not running");
		fh_error_hint(err, "`fumehood list` shows which are; `fumehood eval --resume ID` goes on with one");
		return -FH_E_NOT_FOUND;
	}
	return fh_db_do(s->db, fh_q_wish, err, "ii", eval, (int64_t)wish);
}

int fh_store_wished(struct fh_store *s, int64_t eval, enum fh_store_wish *ret, struct fh_error *err)
{
	struct fh_db_statement *q = NULL;
	int r = fh_db_ask(s->db, fh_q_wished, &q, err, "i", eval);
	if (r == 0 && (r = fh_db_next(q, err)) == 1)
		*ret = (enum fh_store_wish)FH_MIN((uint64_t)fh_db_int(q, 0), FH_STORE_CANCEL);
	fh_db_done(q);
	return r < 0 ? r : 0;
}
