/* SPDX-License-Identifier: MIT */
#include "eval/plan/content.h"

#include <pthread.h>

#include "base/fd.h"
#include "base/path.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define DEPTH_MAX 64

struct fh_eval_content {
	const struct fh_eval_plan *plan;
	struct fh_sha256
	    *columns;         /* for each column of the plan: the part of its cells' keys that stands before the row's */
	pthread_mutex_t lock; /* guards the members below */
	json_t *files;        /* path -> hash of its content; "" when the path is not a file */
	char row[FH_SHA256_HEX];
	size_t row_at; /* the row whose hash is in `row`; SIZE_MAX: `row` holds no hash */
};

static void read_hash(const char *path, char ret_hex[FH_SHA256_HEX])
{
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(FILE_MAX_BYTES);
	ret_hex[0] = '\0';
	if (fh_file_read(path, &content, NULL) < 0)
		return;
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add(&h, content.p ? content.p : "", content.n);
	fh_sha256_hex(&h, ret_hex);
}

/* Hash of a file's content, read once for each path, so that it is the same in all keys; "" when there is no such
 * file. It lives as long as `c`. */
static const char *file_hash(struct fh_eval_content *c, const char *path)
{
	pthread_mutex_lock(&c->lock);
	if (!json_object_get(c->files, path)) {
		char hex[FH_SHA256_HEX];
		read_hash(path, hex);
		json_object_set_new_nocheck(c->files, path, json_string(hex));
	}
	const char *hash = json_string_value(json_object_get(c->files, path));
	pthread_mutex_unlock(&c->lock);
	return hash;
}

/* Hashes the file that "file://x.py:fn", "python:x.py" or "exec:./run.sh --fast" names: the first word behind the last
 * such mark, tried with and without the function's name. */
static void add_named_file(struct fh_eval_content *c, struct fh_sha256 *h, const char *text)
{
	static const char *const marks[] = { "file://", "python:", "javascript:", "ruby:", "golang:", "exec:", "script:" };
	const char *at = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(marks); i++) {
		const char *found = strstr(text, marks[i]);
		if (found && (!at || found + strlen(marks[i]) > at))
			at = found + strlen(marks[i]);
	}
	if (!at || !*at)
		return;
	fh_auto_free char *word = fh_xstrndup(at, strcspn(at, " \t\r\n"));
	for (;;) {
		fh_auto_free char *path = fh_path_join(c->plan->config.dir ? c->plan->config.dir : "", word);
		const char *hash = file_hash(c, path);
		if (*hash)
			fh_sha256_add_field(h, fh_str(hash));
		char *colon = strrchr(word, ':');
		if (*hash || !colon)
			return;
		*colon = '\0';
	}
}

static void add_files_below(struct fh_eval_content *c, struct fh_sha256 *h, const json_t *v, unsigned depth)
{
	const char *name;
	json_t *member;
	if (depth == DEPTH_MAX)
		return;
	if (json_is_string(v) && json_string_length(v) < 4096 && strchr(json_string_value(v), ':'))
		add_named_file(c, h, json_string_value(v));
	for (size_t i = 0; i < json_array_size(v); i++)
		add_files_below(c, h, json_array_get(v, i), depth + 1);
	json_object_foreach((json_t *)(uintptr_t)v, name, member) add_files_below(c, h, member, depth + 1);
}

static void add_json(struct fh_eval_content *c, struct fh_sha256 *h, const json_t *v)
{
	fh_auto_free char *text = v ? fh_json_text(v, 0) : fh_xstrdup("");
	fh_sha256_add_field(h, fh_str(text));
	add_files_below(c, h, v, 0);
}

static void add_text(struct fh_sha256 *h, const char *text)
{
	fh_sha256_add_field(h, fh_str(text ? text : ""));
}

static void column_hash(struct fh_eval_content *c, const struct fh_eval_column *column, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	const struct fh_eval_prompt *p = column->prompt;
	add_text(&h, column->provider->id);
	add_json(c, &h, column->provider->entry);
	add_text(&h, p->raw);
	add_json(c, &h, p->config);
	add_text(&h, p->function);
	add_text(&h, p->file ? file_hash(c, p->file) : "");
	for (char **word = p->program; word && *word; word++) {
		add_text(&h, *word);
		add_text(&h, file_hash(c, *word));
	}
	fh_sha256_hex(&h, ret_hex);
}

/* The test without a description that was made from its place in a file, as moving a test does not change what it
 * asks. New reference. */
static json_t *without_place(const json_t *test)
{
	if (!fh_starts_with(fh_json_str(test, "description", ""), "Row #"))
		return json_incref((json_t *)(uintptr_t)test);
	json_t *copy = json_copy((json_t *)(uintptr_t)test);
	json_object_del(copy, "description");
	return copy;
}

struct fh_eval_content *fh_eval_content_new(const struct fh_eval_plan *plan)
{
	struct fh_eval_content *c = FH_NEW(struct fh_eval_content);
	c->plan = plan;
	pthread_mutex_init(&c->lock, NULL);
	c->files = json_object();
	c->row_at = SIZE_MAX;
	c->columns = fh_xcalloc(plan->column_count + 1, sizeof(*c->columns));
	struct fh_sha256 h = FH_SHA256_INIT;
	char all[FH_SHA256_HEX], column[FH_SHA256_HEX];
	add_text(&h, plan->prompt_prefix);
	add_text(&h, plan->prompt_suffix);
	add_json(c, &h, json_object_get(plan->config.root, "nunjucksFilters"));
	add_json(c, &h, json_object_get(plan->config.root, "extensions"));
	fh_sha256_hex(&h, all);
	for (size_t i = 0; i < plan->column_count; i++) {
		column_hash(c, &plan->columns[i], column);
		c->columns[i] = (struct fh_sha256)FH_SHA256_INIT;
		add_text(&c->columns[i], all);
		add_text(&c->columns[i], column);
	}
	return c;
}

void fh_eval_content_free(struct fh_eval_content *c)
{
	if (!c)
		return;
	json_decref(c->files);
	pthread_mutex_destroy(&c->lock);
	free(c->columns);
	free(c);
}

static void make_row_hash(struct fh_eval_content *c, const struct fh_eval_row *row, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_auto_json json_t *test = without_place(row->test);
	add_json(c, &h, test);
	add_json(c, &h, row->provider ? row->provider->entry : NULL);
	fh_sha256_add(&h, &row->repeat, sizeof(row->repeat));
	fh_sha256_hex(&h, ret_hex);
}

/* The hash of a row is kept for the cells of its other columns, which are asked for next to each other. */
static void row_hash(struct fh_eval_content *c, size_t row, char ret_hex[FH_SHA256_HEX])
{
	pthread_mutex_lock(&c->lock);
	bool known = c->row_at == row;
	if (known)
		memcpy(ret_hex, c->row, sizeof(c->row));
	pthread_mutex_unlock(&c->lock);
	if (known)
		return;
	make_row_hash(c, &c->plan->rows[row], ret_hex);
	pthread_mutex_lock(&c->lock);
	memcpy(c->row, ret_hex, sizeof(c->row));
	c->row_at = row;
	pthread_mutex_unlock(&c->lock);
}

void fh_eval_content_key(struct fh_eval_content *c, size_t cell, char ret_hex[FH_SHA256_HEX])
{
	const struct fh_eval_cell *at = &c->plan->cells[cell];
	struct fh_sha256 h = c->columns[at->column];
	char row[FH_SHA256_HEX];
	row_hash(c, at->row, row);
	add_text(&h, row);
	fh_sha256_hex(&h, ret_hex);
}
