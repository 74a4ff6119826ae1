/* SPDX-License-Identifier: MIT */
/*
 * The store: evals, judgements and runs that were kept, in one SQLite file of the user's.
 *
 *     eval ─┬─ column   what was asked: a provider with a prompt (eval); the judge (judge); the program (run)
 *           ├─ cell     where a row (test, sample) meets a column: small values that lists, filters and sums read
 *           │    └─ data      one JSON object with all that is known about the cell
 *           ├─ rating   a user's judgement of a cell
 *           └─ tag      name=value
 *
 * "Eval" here means anything with rows: an eval (kind `eval`), a judgement of samples (`judge`), a single run that was
 * kept (`run`). The data of an eval's cell is a row in promptfoo's form (docs/eval.md); of a judgement, a line of the
 * judge's results (docs/judging.md) with the `program` beside it; of a run, the result of `fumehood run --json` with
 * its `code`.
 *
 * Its path: FUMEHOOD_STORE=FILE, else $XDG_DATA_HOME/fumehood/store.db, else ~/.local/share/fumehood/store.db.
 *
 * Several programs may use it at once (WAL): readers never wait, writers wait only for another's commit. Committed data
 * survives kill -9 and loss of power. An eval has one writer (store/writer.h), which holds a kernel lock while it is
 * alive, so an eval whose writer died shows as interrupted at once.
 *
 * The schema has a version. An older store is brought up to date when it is opened for writing; a newer one is refused.
 *
 * A struct fh_store is one connection, which one thread uses at a time; open one for each thread. Rows are read with
 * store/rows.h.
 */
#pragma once
#include "json/json.h"

struct fh_store;

/* `path` NULL: the default; missing folders are made (0700). `read_only`: a missing store is FH_E_NOT_FOUND, and an old
 * version is refused with a hint how to migrate it. */
int fh_store_open(FH_NULLABLE const char *path, bool read_only, struct fh_store **ret, struct fh_error *err);
void fh_store_close(FH_NULLABLE struct fh_store *s);
#define fh_auto_store FH_CLEANUP(fh_store_closep)
void fh_store_closep(struct fh_store **s);
const char *fh_store_path(const struct fh_store *s);
/* Whether the path still names the file that was opened: people move a store away, or put a copy back. */
bool fh_store_is_in_place(const struct fh_store *s);
struct fh_db *fh_store_db(struct fh_store *s); /* the store's database, for src/store only */

/* ---------------------------------------------------------------------------------------------------------- evals */

enum fh_store_kind { FH_STORE_EVAL, FH_STORE_JUDGE, FH_STORE_RUN, FH_STORE_KIND_COUNT_ };
const char *fh_store_kind_name(enum fh_store_kind k); /* "eval", "judge", "run" */
bool fh_store_kind_of_name(const char *name, enum fh_store_kind *ret);
/* A new id, three random characters and the time: eval-aBc-2026-11-21T09:28:07, judge-…, run-… */
void fh_store_id_make(enum fh_store_kind kind, int64_t wall_ms, char ret_id[64]);

enum fh_store_state {
	FH_STORE_RUNNING,     /* the eval is running: its writer is alive */
	FH_STORE_COMPLETE,    /* the eval has every cell */
	FH_STORE_INTERRUPTED, /* stopped, cancelled or killed: `fumehood eval --resume ID` continues it */
	FH_STORE_STATE_COUNT_
};
const char *fh_store_state_name(enum fh_store_state s); /* "running", "complete", "interrupted" */

/* An eval as lists show it. The writer updates the sums in the transaction that adds rows, so reading them takes the
 * same time for any number of rows. */
struct fh_store_eval {
	int64_t number; /* number of the eval within this store, which other functions take */
	char *id;       /* eval-aBc-2026-11-21T09:28:07 */
	enum fh_store_kind kind;
	enum fh_store_state state;
	char *description;               /* description of the eval; "": none */
	int64_t created_ms, duration_ms; /* created_ms: since 1970; duration_ms: how long it ran */
	uint64_t total;                  /* cells of the plan; 0: unknown */
	uint64_t rows;                   /* tests or samples, whatever the number of columns; 0: unknown */
	uint64_t columns;
	uint64_t passed, failed, errors;
	double score, cost, latency_ms; /* sums over the cells */
	int64_t tokens;
};
void fh_store_eval_release(struct fh_store_eval *e);

struct fh_store_eval_list {
	struct fh_store_eval *items;
	size_t count, capacity;
	uint64_t total; /* how many match, not only on this page */
};
void fh_store_eval_list_release(struct fh_store_eval_list *l);

/* Which evals to list. All zero: all. */
struct fh_store_eval_filter {
	FH_NULLABLE const char *kind; /* kind of the eval: "eval", "judge" or "run" */
	FH_NULLABLE const char *text; /* text in id or description; case is ignored */
	FH_NULLABLE const char *tag;  /* tag of the eval: "name" or "name=value" */
};
/* Lists evals, the newest first. limit 0: all. */
int fh_store_evals(struct fh_store *s, const struct fh_store_eval_filter *f, uint64_t offset, uint64_t limit,
                   struct fh_store_eval_list *ret, struct fh_error *err);
/* Finds an eval by id, by a unique prefix of it, or by "latest" (the newest of kind eval). */
int fh_store_find(struct fh_store *s, const char *name, struct fh_store_eval *ret, struct fh_error *err);

/* The JSON documents of an eval. Each is a new reference, never NULL on success. */
struct fh_store_documents {
	json_t *config; /* the config as loaded, with secrets redacted; {} when there is none */
	json_t *vars;   /* array: names of the variables, in order */
	json_t *options; /* {argv, cwd, repeat, maxConcurrency, …}: the options with which it was started, and is resumed */
	json_t *columns; /* array of {provider, label, raw, id, config?, metrics}: promptfoo's `prompts`. metrics has
	                  * testPassCount, testFailCount, testErrorCount, score, totalLatencyMs, cost, tokenUsage and, once
	                  * the eval has ended, namedScores and promptfoo's other members */
	json_t *tags;    /* object: name -> value */
};
int fh_store_documents(struct fh_store *s, int64_t eval, struct fh_store_documents *ret, struct fh_error *err);
void fh_store_documents_release(struct fh_store_documents *d);

/* Removes an eval with all its data; refuses while it is being written. */
int fh_store_delete(struct fh_store *s, int64_t eval, struct fh_error *err);

int fh_store_describe(struct fh_store *s, int64_t eval, const char *description, struct fh_error *err);
/* The tags of one eval: an object, name -> value. New reference. */
int fh_store_tags(struct fh_store *s, int64_t eval, FH_OWN json_t **ret, struct fh_error *err);
/* The tags that evals of a kind have (NULL: all evals), the most frequent first, at most 200: [{name, value, evals}].
 * New reference. */
int fh_store_tags_used(struct fh_store *s, FH_NULLABLE const char *kind, FH_OWN json_t **ret, struct fh_error *err);
/* value NULL: removes the tag. */
int fh_store_tag(struct fh_store *s, int64_t eval, const char *name, FH_NULLABLE const char *value,
                 struct fh_error *err);

/* ---------------------------------------------------------------------------------------------------------- ratings */

enum { FH_COMMENT_MAX = 16 << 10 }; /* maximum bytes of a comment that a user may give */
struct fh_store_rating {
	int thumb; /* 1 up, -1 down, 0 not given */
	bool has_score;
	double score;
	char *comment;      /* comment of the user; "": none */
	int64_t changed_ms; /* time of the rating; 0: not rated */
};
/* Replaces the rating of a cell; one without thumb, score and comment removes it. The comment is copied. */
int fh_store_rate(struct fh_store *s, int64_t eval, uint32_t row, uint32_t column, const struct fh_store_rating *r,
                  struct fh_error *err);

/* ---------------------------------------------------------------------------------------------------------- control */

/* A request from another terminal to a running eval. Its writer sees it within half a second. */
enum fh_store_wish { FH_STORE_GO_ON, FH_STORE_PAUSE, FH_STORE_CANCEL };
/* Makes a request to a running eval. FH_E_NOT_FOUND: the eval is not running. */
int fh_store_wish(struct fh_store *s, int64_t eval, enum fh_store_wish wish, struct fh_error *err);
/* Reads which request to a running eval is pending. */
int fh_store_wished(struct fh_store *s, int64_t eval, enum fh_store_wish *ret, struct fh_error *err);
