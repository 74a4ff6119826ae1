/* SPDX-License-Identifier: MIT */
#include "store/queries.h"

#include "store/db.h"

/* ---------------------------------------------------------------------------------------------------------- schema */

/* The rows of `cells` are small and stored in the order in which pages show them; large values are in `data`. */
static const char version_1[] =
    "CREATE TABLE evals("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL, state INTEGER NOT NULL,"
    "  description TEXT NOT NULL, created_ms INTEGER NOT NULL, duration_ms INTEGER NOT NULL DEFAULT 0,"
    "  total INTEGER NOT NULL, row_count INTEGER NOT NULL, wish INTEGER NOT NULL DEFAULT 0,"
    "  config TEXT NOT NULL, vars TEXT NOT NULL, options TEXT NOT NULL);"
    "CREATE INDEX evals_by_time ON evals(created_ms, number);"
    "CREATE TABLE columns("
    "  eval INTEGER NOT NULL REFERENCES evals ON DELETE CASCADE, col INTEGER NOT NULL, head TEXT NOT NULL,"
    "  passed INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0,"
    "  score REAL NOT NULL DEFAULT 0, latency_ms REAL NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,"
    "  tokens INTEGER NOT NULL DEFAULT 0, metrics TEXT, PRIMARY KEY(eval, col)) WITHOUT ROWID;"
    "CREATE TABLE data(number INTEGER PRIMARY KEY, json TEXT NOT NULL);"
    "CREATE TABLE cells("
    "  eval INTEGER NOT NULL REFERENCES evals ON DELETE CASCADE, row INTEGER NOT NULL, col INTEGER NOT NULL,"
    "  success INTEGER NOT NULL, failure INTEGER NOT NULL, score REAL NOT NULL, latency_ms REAL NOT NULL,"
    "  cost REAL NOT NULL, tokens INTEGER NOT NULL, status TEXT, language TEXT, named TEXT, key TEXT,"
    "  data INTEGER NOT NULL, PRIMARY KEY(eval, row, col)) WITHOUT ROWID;"
    "CREATE TABLE ratings("
    "  eval INTEGER NOT NULL REFERENCES evals ON DELETE CASCADE, row INTEGER NOT NULL, col INTEGER NOT NULL,"
    "  thumb INTEGER NOT NULL, score REAL, comment TEXT NOT NULL, changed_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(eval, row, col)) WITHOUT ROWID;"
    "CREATE TABLE tags("
    "  eval INTEGER NOT NULL REFERENCES evals ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,"
    "  PRIMARY KEY(eval, name)) WITHOUT ROWID;";

const char *const fh_store_migrations[] = { version_1 };
const size_t fh_store_version = FH_ARRAY_SIZE(fh_store_migrations);

const char fh_q_version[] = "PRAGMA user_version", fh_q_application[] = "PRAGMA application_id";
const char fh_q_tables[] = "SELECT count(*) FROM sqlite_master";
const char fh_q_begin[] = "BEGIN IMMEDIATE", fh_q_commit[] = "COMMIT", fh_q_rollback[] = "ROLLBACK";
const char fh_q_sync_never[] = "PRAGMA synchronous=OFF", fh_q_sync_later[] = "PRAGMA synchronous=NORMAL",
           fh_q_sync_now[] = "PRAGMA synchronous=FULL";

/* ---------------------------------------------------------------------------------------------------------- evals */

#define EVAL_COLUMNS                                                                                                   \
	"e.number, e.id, e.kind, e.state, e.description, e.created_ms, e.duration_ms, e.total, e.row_count,"               \
	" (SELECT count(*) FROM columns c WHERE c.eval = e.number),"                                                       \
	" (SELECT total(passed) FROM columns c WHERE c.eval = e.number),"                                                  \
	" (SELECT total(failed) FROM columns c WHERE c.eval = e.number),"                                                  \
	" (SELECT total(errors) FROM columns c WHERE c.eval = e.number),"                                                  \
	" (SELECT total(score) FROM columns c WHERE c.eval = e.number),"                                                   \
	" (SELECT total(cost) FROM columns c WHERE c.eval = e.number),"                                                    \
	" (SELECT total(latency_ms) FROM columns c WHERE c.eval = e.number),"                                              \
	" (SELECT total(tokens) FROM columns c WHERE c.eval = e.number)"
/* Parameters: ?1 kind or null, ?2 text or null, ?3 a tag's name or null, ?4 its value or null. */
#define EVAL_FILTER                                                                                                    \
	" WHERE (?1 IS NULL OR e.kind = ?1)"                                                                               \
	" AND (?2 IS NULL OR instr(lower(e.description || ' ' || e.id), lower(?2)) > 0"                                    \
	"      OR EXISTS(SELECT 1 FROM tags t WHERE t.eval = e.number"                                                     \
	"          AND instr(lower(t.name || '=' || t.value), lower(?2)) > 0))"                                            \
	" AND (?3 IS NULL OR EXISTS(SELECT 1 FROM tags t WHERE t.eval = e.number AND t.name = ?3"                          \
	"      AND (?4 IS NULL OR t.value = ?4)))"

const char fh_q_evals[] =
    "SELECT " EVAL_COLUMNS " FROM evals e" EVAL_FILTER " ORDER BY e.created_ms DESC, e.number DESC LIMIT ?5 OFFSET ?6";
const char fh_q_evals_count[] = "SELECT count(*) FROM evals e" EVAL_FILTER;
/* The eval whose id equals the text comes first, then those whose ids begin with it. */
const char fh_q_eval_find[] = "SELECT " EVAL_COLUMNS " FROM evals e WHERE substr(e.id, 1, length(?1)) = ?1"
                              " ORDER BY e.id <> ?1 LIMIT 2";
const char fh_q_eval_latest[] = "SELECT " EVAL_COLUMNS " FROM evals e WHERE e.kind = 0"
                                " ORDER BY e.created_ms DESC, e.number DESC LIMIT 1";
const char fh_q_any_latest[] = "SELECT " EVAL_COLUMNS " FROM evals e ORDER BY e.created_ms DESC, e.number DESC LIMIT 1";
const char fh_q_eval_number[] = "SELECT number FROM evals WHERE id = ?1";
const char fh_q_eval_add[] =
    "INSERT INTO evals(id, kind, state, description, created_ms, total, row_count, config, vars,"
    " options) VALUES(?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const char fh_q_eval_again[] = "UPDATE evals SET state = 0, wish = 0, description = ?2, total = ?3, row_count = ?4,"
                               " config = ?5, vars = ?6, options = ?7 WHERE number = ?1";
const char fh_q_eval_end[] = "UPDATE evals SET state = ?2, wish = 0, duration_ms = duration_ms + ?3 WHERE number = ?1";
const char fh_q_eval_vars[] = "UPDATE evals SET vars = ?2 WHERE number = ?1";
const char fh_q_eval_state[] = "UPDATE evals SET state = ?2 WHERE number = ?1";
const char fh_q_documents[] = "SELECT config, vars, options FROM evals WHERE number = ?1";
const char fh_q_eval_delete[] = "DELETE FROM evals WHERE number = ?1";
const char fh_q_describe[] = "UPDATE evals SET description = ?2 WHERE number = ?1";
const char fh_q_wish[] = "UPDATE evals SET wish = ?2 WHERE number = ?1";
const char fh_q_wished[] = "SELECT wish FROM evals WHERE number = ?1";

/* ---------------------------------------------------------------------------------------------------------- columns */

const char fh_q_column_add[] = "INSERT INTO columns(eval, col, head) VALUES(?1, ?2, ?3)"
                               " ON CONFLICT DO UPDATE SET head = excluded.head, metrics = NULL";
const char fh_q_column_drop_from[] = "DELETE FROM columns WHERE eval = ?1 AND col >= ?2";
const char fh_q_column_count[] = "UPDATE columns SET passed = passed + ?3, failed = failed + ?4, errors = errors + ?5,"
                                 " score = score + ?6, latency_ms = latency_ms + ?7, cost = cost + ?8,"
                                 " tokens = tokens + ?9 WHERE eval = ?1 AND col = ?2";
const char fh_q_column_recount[] =
    "UPDATE columns SET (passed, failed, errors, score, latency_ms, cost, tokens) ="
    " (SELECT total(success), total(NOT success AND failure <> 2), total(failure = 2), total(score),"
    "  total(latency_ms), total(cost), total(tokens) FROM cells k WHERE k.eval = ?1 AND k.col = columns.col)"
    " WHERE eval = ?1";
const char fh_q_column_metrics[] = "UPDATE columns SET metrics = ?3 WHERE eval = ?1 AND col = ?2";
const char fh_q_columns[] = "SELECT head, passed, failed, errors, score, latency_ms, cost, tokens, metrics FROM columns"
                            " WHERE eval = ?1 ORDER BY col";

/* ------------------------------------------------------------------------------------------------------------ cells */

const char fh_q_data_add[] = "INSERT INTO data(json) VALUES(?1)";
const char fh_q_cell_add[] = "INSERT INTO cells(eval, row, col, success, failure, score, latency_ms, cost, tokens,"
                             " status, language, named, key, data)"
                             " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
const char fh_q_data_drop[] =
    "DELETE FROM data WHERE number = (SELECT data FROM cells WHERE eval = ?1 AND row = ?2 AND col = ?3)";
const char fh_q_cell_drop[] = "DELETE FROM cells WHERE eval = ?1 AND row = ?2 AND col = ?3";
const char fh_q_cell_move[] = "UPDATE cells SET row = ?4, col = ?5 WHERE eval = ?1 AND row = ?2 AND col = ?3";
const char fh_q_data_off[] = "DELETE FROM data WHERE number IN (SELECT data FROM cells WHERE eval = ?1)";
const char fh_q_cells_off[] = "DELETE FROM cells WHERE eval = ?1";

#define CELL_COLUMNS                                                                                                   \
	"k.row, k.col, k.success, k.failure, k.score, k.latency_ms, k.cost, k.tokens, k.status, k.language, k.key,"        \
	" r.thumb, r.score, r.comment, r.changed_ms"
#define CELL_TABLES " FROM cells k LEFT JOIN ratings r ON r.eval = k.eval AND r.row = k.row AND r.col = k.col"
#define CELL_DATA " JOIN data d ON d.number = k.data"

const char fh_q_cell[] =
    "SELECT " CELL_COLUMNS ", d.json" CELL_TABLES CELL_DATA " WHERE k.eval = ?1 AND k.row = ?2 AND k.col = ?3";
const char fh_q_cells_of_row[] =
    "SELECT " CELL_COLUMNS ", d.json" CELL_TABLES CELL_DATA " WHERE k.eval = ?1 AND k.row = ?2 ORDER BY k.col";
const char fh_q_cells_each[] =
    "SELECT " CELL_COLUMNS ", d.json" CELL_TABLES CELL_DATA " WHERE k.eval = ?1 ORDER BY k.row, k.col";
const char fh_q_cells_each_small[] = "SELECT " CELL_COLUMNS CELL_TABLES " WHERE k.eval = ?1 ORDER BY k.row, k.col";
const char fh_q_cells_noted[] = "SELECT total(passed + failed + errors) FROM columns WHERE eval = ?1";
const char fh_q_rows_total[] = "SELECT count(DISTINCT row) FROM cells WHERE eval = ?1";

const char fh_q_facet_status[] = "SELECT status, count(*) FROM cells WHERE eval = ?1 AND status IS NOT NULL"
                                 " GROUP BY 1 ORDER BY 2 DESC, 1";
const char fh_q_facet_language[] = "SELECT language, count(*) FROM cells WHERE eval = ?1 AND language IS NOT NULL"
                                   " GROUP BY 1 ORDER BY 2 DESC, 1";
const char fh_q_facet_metrics[] = "SELECT DISTINCT j.key FROM cells k, json_each(k.named) j"
                                  " WHERE k.eval = ?1 AND k.named IS NOT NULL ORDER BY 1 LIMIT 1000";

/* What the filter by tag can be given: tags of tests, and "key=value" of their metadata, the most frequent first. */
#define METADATA(path)                                                                                                 \
	" FROM cells k JOIN data d ON d.number = k.data, json_each(d.json, '" path "') j WHERE k.eval = ?1"
const char fh_q_facet_tags[] = "SELECT tag, count(*) FROM (SELECT j.atom AS tag" METADATA(
    "$.metadata.tags") " UNION ALL SELECT j.key || '=' || j.atom" METADATA("$.metadata") ")"
                                                                                         " WHERE tag IS NOT NULL GROUP "
                                                                                         "BY 1 ORDER BY 2 DESC, 1 "
                                                                                         "LIMIT 200";
const char fh_q_facet_keys[] = "SELECT DISTINCT j.key" METADATA("$.metadata") " ORDER BY 1 LIMIT 1000";
const char fh_q_facet_values[] =
    "SELECT DISTINCT coalesce(j.atom, j.value)" METADATA("$.metadata") " AND j.key = ?2 ORDER BY 1 LIMIT 1000";

/* ------------------------------------------------------------------------------------------------- ratings, tags */

const char fh_q_rate[] = "INSERT OR REPLACE INTO ratings(eval, row, col, thumb, score, comment, changed_ms)"
                         " VALUES(?1, ?2, ?3, ?4, CASE WHEN ?5 THEN ?6 END, ?7, ?8)";
const char fh_q_unrate[] = "DELETE FROM ratings WHERE eval = ?1 AND row = ?2 AND col = ?3";
const char fh_q_tag[] = "INSERT OR REPLACE INTO tags(eval, name, value) VALUES(?1, ?2, ?3)";
const char fh_q_untag[] = "DELETE FROM tags WHERE eval = ?1 AND name = ?2";
/* The tags of evals of a kind (null: of all), the most frequent first. */
const char fh_q_tags_used[] = "SELECT t.name, t.value, count(*) FROM tags t JOIN evals e ON e.number = t.eval"
                              " WHERE (?1 IS NULL OR e.kind = ?1) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 200";
const char fh_q_tags[] = "SELECT name, value FROM tags WHERE eval = ?1 ORDER BY name";

/* --------------------------------------------------------------------------------------------------- rows of a page */

/* A value to bind for a condition, in the order of the `?`. */
struct value {
	char kind; /* i, r or s */
	int64_t i;
	double r;
	const char *s;
};

struct question {
	struct fh_buf sql;
	struct value values[24];
	int count;
};

static void need(struct question *q, struct value v)
{
	q->values[q->count++] = v;
}

static void need_text(struct question *q, const char *condition, const char *text)
{
	fh_buf_adds(&q->sql, condition);
	need(q, (struct value){ 's', .s = text });
}

static const char *const shows[] = {
	[FH_STORE_SHOW_PASSED] = " AND k.success",
	[FH_STORE_SHOW_FAILED] = " AND NOT k.success AND k.failure <> 2",
	[FH_STORE_SHOW_ERRORS] = " AND k.failure = 2",
	[FH_STORE_SHOW_NOT_GOOD] = " AND NOT k.success",
	[FH_STORE_SHOW_DIFFERENT] = "",
	[FH_STORE_SHOW_RATED] =
	    " AND EXISTS(SELECT 1 FROM ratings r WHERE r.eval = k.eval AND r.row = k.row AND r.col = k.col)",
};

/* Which cells k, with their data d if the filter reads these, it selects. */
static void cell_conditions(struct question *q, int64_t eval, const struct fh_store_row_filter *f)
{
	fh_buf_adds(&q->sql, " WHERE k.eval = ?");
	need(q, (struct value){ 'i', .i = eval });
	if (f->column >= 0) {
		fh_buf_adds(&q->sql, " AND k.col = ?");
		need(q, (struct value){ 'i', .i = f->column });
	}
	fh_buf_adds(&q->sql, f->show < FH_ARRAY_SIZE(shows) && shows[f->show] ? shows[f->show] : "");
	if (f->status)
		need_text(q, " AND k.status = ?", f->status);
	if (f->language)
		need_text(q, " AND k.language = ?", f->language);
	if (f->metric) {
		need_text(q, " AND EXISTS(SELECT 1 FROM json_each(k.named) j WHERE j.key = ?", f->metric);
		fh_buf_adds(&q->sql, f->has_metric_min ? " AND j.value >= ?" : "");
		if (f->has_metric_min)
			need(q, (struct value){ 'r', .r = f->metric_min });
		fh_buf_adds(&q->sql, f->has_metric_max ? " AND j.value <= ?" : "");
		if (f->has_metric_max)
			need(q, (struct value){ 'r', .r = f->metric_max });
		fh_buf_adds(&q->sql, ")");
	}
	if (f->tag) {
		need_text(q, " AND (EXISTS(SELECT 1 FROM json_each(d.json, '$.metadata.tags') j WHERE j.value = ?)", f->tag);
		need_text(q, " OR EXISTS(SELECT 1 FROM json_each(d.json, '$.metadata') j WHERE j.key || '=' || j.atom = ?))",
		          f->tag);
	}
	if (f->text)
		need_text(q, " AND row_has(d.json, ?)", f->text);
	if (f->regexp)
		need_text(q, " AND row_matches(d.json, ?)", f->regexp);
}

/* Which rows a filter selects: those with such a cell. */
static void conditions(struct question *q, int64_t eval, const struct fh_store_row_filter *f)
{
	bool reads = f->text || f->regexp || f->tag;
	fh_buf_adds(&q->sql, " FROM cells k");
	if (reads)
		fh_buf_adds(&q->sql, CELL_DATA);
	cell_conditions(q, eval, f);
	fh_buf_adds(&q->sql, " GROUP BY k.row");
	if (f->show == FH_STORE_SHOW_DIFFERENT)
		fh_buf_adds(&q->sql, " HAVING min(k.success) <> max(k.success)");
}

static int ask(struct fh_db *db, struct question *q, struct fh_db_statement **ret, struct fh_error *err)
{
	struct fh_db_statement *s = NULL;
	int r = fh_db_ask_once(db, fh_buf_cstr(&q->sql), &s, err);
	fh_buf_release(&q->sql);
	if (r < 0)
		return r;
	for (int i = 0; i < q->count; i++) {
		const struct value *v = &q->values[i];
		if (v->kind == 'i')
			fh_db_bind_int(s, i + 1, v->i);
		else if (v->kind == 'r')
			fh_db_bind_real(s, i + 1, v->r);
		else
			fh_db_bind_text(s, i + 1, fh_str(v->s));
	}
	*ret = s;
	return 0;
}

int fh_q_rows(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f, const struct fh_store_page *p,
              struct fh_db_statement **ret, struct fh_error *err)
{
	static const char *const orders[] = {
		[FH_STORE_BY_INDEX] = "k.row",
		[FH_STORE_BY_SCORE] = "total(k.score)",
		[FH_STORE_BY_LATENCY] = "total(k.latency_ms)",
		[FH_STORE_BY_COST] = "total(k.cost)",
		[FH_STORE_BY_TOKENS] = "total(k.tokens)",
	};
	struct question q = { .sql = FH_BUF_INIT(1 << 16) };
	fh_buf_adds(&q.sql, "SELECT k.row");
	conditions(&q, eval, f);
	fh_buf_addf(&q.sql, " ORDER BY %s %s, k.row LIMIT ? OFFSET ?", orders[p->order], p->descending ? "DESC" : "ASC");
	need(&q, (struct value){ 'i', .i = p->limit ? (int64_t)p->limit : 50 });
	need(&q, (struct value){ 'i', .i = (int64_t)p->offset });
	return ask(db, &q, ret, err);
}

int fh_q_rows_count(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f, struct fh_db_statement **ret,
                    struct fh_error *err)
{
	struct question q = { .sql = FH_BUF_INIT(1 << 16) };
	fh_buf_adds(&q.sql, "SELECT count(*) FROM (SELECT k.row");
	conditions(&q, eval, f);
	fh_buf_adds(&q.sql, ")");
	return ask(db, &q, ret, err);
}

int fh_q_cells_matching(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f,
                        struct fh_db_statement **ret, struct fh_error *err)
{
	struct question q = { .sql = FH_BUF_INIT(1 << 16) };
	fh_buf_adds(&q.sql, "SELECT " CELL_COLUMNS ", d.json" CELL_TABLES CELL_DATA);
	cell_conditions(&q, eval, f);
	if (f->show == FH_STORE_SHOW_DIFFERENT) {
		fh_buf_adds(&q.sql, " AND k.row IN (SELECT row FROM cells WHERE eval = ? GROUP BY row"
		                    " HAVING min(success) <> max(success))");
		need(&q, (struct value){ 'i', .i = eval });
	}
	fh_buf_adds(&q.sql, " ORDER BY k.row, k.col");
	return ask(db, &q, ret, err);
}
