/* SPDX-License-Identifier: MIT */
#include "sandbox/survey/survey_record.h"

#include <errno.h>

#include "base/text/base64.h"
#include "base/utf8.h"

struct fh_survey_entry {
	enum fh_survey_kind kind;
	char *root, *path;
	char **args; /* NULL-terminated, never NULL */
	size_t max;
	struct fh_survey_answer answer;
};

static const char *const kind_names[FH_SURVEY_KIND_COUNT_] = {
	[FH_SURVEY_FACTS] = "facts",   [FH_SURVEY_OWN_FACTS] = "own_facts", [FH_SURVEY_LINK] = "link",
	[FH_SURVEY_REAL] = "real",     [FH_SURVEY_PLACE] = "place",         [FH_SURVEY_TEXT] = "text",
	[FH_SURVEY_HEAD] = "head",     [FH_SURVEY_PROGRAM] = "program",     [FH_SURVEY_GLOB] = "glob",
	[FH_SURVEY_NAMES] = "names",   [FH_SURVEY_VARIABLE] = "variable",   [FH_SURVEY_CWD] = "cwd",
	[FH_SURVEY_OUTPUT] = "output", [FH_SURVEY_CACHE] = "cache",         [FH_SURVEY_INSTALLED] = "installed",
};

/* Errors by name, as their numbers differ between machines. */
static const struct {
	const char *name;
	int number;
} error_names[] = {
	{ "ENOENT", ENOENT }, { "EACCES", EACCES }, { "ELOOP", ELOOP }, { "ENOTDIR", ENOTDIR }, { "EINVAL", EINVAL },
	{ "EFBIG", EFBIG },   { "ECHILD", ECHILD }, { "EPERM", EPERM }, { "EISDIR", EISDIR },   { "EIO", EIO },
};

/* ----------------------------------------------------------------------------------------------------------- entries */

static char **copy_list(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	char **copy = fh_xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		copy[i] = fh_xstrdup(list[i]);
	return copy;
}

static struct fh_survey_answer copy_answer(const struct fh_survey_answer *a)
{
	struct fh_survey_answer copy = *a;
	copy.text = a->text ? fh_xmemdup(a->text, a->size) : NULL;
	copy.list = a->list ? copy_list((const char *const *)a->list) : NULL;
	return copy;
}

static bool same_list(char *const *a, const char *const *b)
{
	size_t i = 0;
	while (a[i] && b && b[i] && fh_streq(a[i], b[i]))
		i++;
	return !a[i] && (!b || !b[i]);
}

static const struct fh_survey_entry *find(const struct fh_survey_record *r, const struct fh_survey_question *q)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct fh_survey_entry *e = &r->entries[i];
		if (e->kind == q->kind && e->max == q->max && fh_streq(e->path, q->path) && fh_streq(e->root, q->root) &&
		    same_list(e->args, q->args))
			return e;
	}
	return NULL;
}

static struct fh_survey_entry *add(struct fh_survey_record *r, const struct fh_survey_question *q)
{
	struct fh_survey_entry *e = &FH_PUSH(r->entries, r->count, r->capacity);
	*e = (struct fh_survey_entry){ .kind = q->kind,
		                           .root = fh_xstrdup(q->root),
		                           .path = fh_xstrdup(q->path),
		                           .args = copy_list(q->args),
		                           .max = q->max };
	return e;
}

static void answer(struct fh_survey *s, const struct fh_survey_question *q, struct fh_survey_answer *ret)
{
	struct fh_survey_record *r = (struct fh_survey_record *)s;
	const struct fh_survey_entry *known = find(r, q);
	if (!known && r->behind && r->count < FH_SURVEY_ENTRIES_MAX) {
		struct fh_survey_entry *e = add(r, q);
		r->behind->answer(r->behind, q, &e->answer);
		if (r->behind->unanswered && !s->unanswered)
			s->unanswered = fh_xstrdup(r->behind->unanswered);
		known = e;
	}
	if (known) {
		*ret = copy_answer(&known->answer);
		return;
	}
	ret->error = ENODATA;
	if (!s->unanswered)
		s->unanswered = fh_xasprintf("%s%s%s%s", kind_names[q->kind], q->path[0] ? " " : "", q->root, q->path);
}

void fh_survey_record_init(struct fh_survey_record *r, struct fh_survey *behind)
{
	*r = (struct fh_survey_record){ .survey = { .answer = answer }, .behind = behind };
}

void fh_survey_record_release(struct fh_survey_record *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct fh_survey_entry *e = &r->entries[i];
		free(e->root);
		free(e->path);
		fh_survey_list_free(e->args);
		fh_survey_answer_release(&e->answer);
	}
	free(r->entries);
	free(r->survey.unanswered);
	fh_survey_record_init(r, NULL);
}

struct fh_survey_question fh_survey_record_question(const struct fh_survey_record *r, size_t i)
{
	const struct fh_survey_entry *e = &r->entries[i];
	return (struct fh_survey_question){
		.kind = e->kind, .root = e->root, .path = e->path, .args = (const char *const *)e->args, .max = e->max
	};
}

void fh_survey_record_add(struct fh_survey_record *r, const struct fh_survey_question *q,
                          FH_OWN struct fh_survey_answer *answer)
{
	add(r, q)->answer = *answer;
}

/* -------------------------------------------------------------------------------------------------------------- JSON */

static void put_text(json_t *to, const char *key, const char *text)
{
	json_object_set_new(to, key, fh_json_bytes(fh_str(text)));
}

static void put_list(json_t *to, const char *key, char *const *list)
{
	json_t *array = json_array();
	for (; *list; list++)
		json_array_append_new(array, fh_json_bytes(fh_str(*list)));
	json_object_set_new(to, key, array);
}

static void put_error(json_t *to, int error)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(error_names); i++)
		if (error_names[i].number == error) {
			put_text(to, "error", error_names[i].name);
			return;
		}
	put_text(to, "error", "EIO");
}

static void put_bytes(json_t *to, struct fh_str bytes)
{
	if (fh_utf8_valid(bytes) && !memchr(bytes.p, 0, bytes.n)) {
		json_object_set_new(to, "text", fh_json_bytes(bytes));
		return;
	}
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_base64_encode(&text, bytes);
	put_text(to, "bytes", fh_buf_cstr(&text));
}

static void put_facts(json_t *to, const struct fh_survey_facts *f)
{
	const uint64_t values[] = { f->device,     f->inode,       f->size,      f->mode,
		                        f->modified_s, f->modified_ns, f->changed_s, f->changed_ns };
	json_t *array = json_array();
	for (size_t i = 0; i < FH_ARRAY_SIZE(values); i++)
		json_array_append_new(array, json_integer((json_int_t)values[i]));
	json_object_set_new(to, "facts", array);
}

static json_t *entry_json(const struct fh_survey_entry *e)
{
	json_t *j = json_object();
	put_text(j, "ask", kind_names[e->kind]);
	if (e->root[0])
		put_text(j, "root", e->root);
	if (e->path[0])
		put_text(j, "path", e->path);
	if (e->args[0])
		put_list(j, "args", e->args);
	if (e->max)
		json_object_set_new(j, "max", json_integer((json_int_t)e->max));
	const struct fh_survey_answer *a = &e->answer;
	if (a->error)
		put_error(j, a->error);
	if (a->text)
		put_bytes(j, (struct fh_str){ a->text, a->size });
	if (a->list)
		put_list(j, "list", a->list);
	if (!a->error && (e->kind == FH_SURVEY_FACTS || e->kind == FH_SURVEY_OWN_FACTS))
		put_facts(j, &a->facts);
	return j;
}

json_t *fh_survey_record_json(const struct fh_survey_record *r)
{
	json_t *array = json_array();
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(array, entry_json(&r->entries[i]));
	return array;
}

/* ----------------------------------------------------------------------------------------------------------- reading */

static int number_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (fh_streq(names[i], name))
			return (int)i;
	return -1;
}

/* Reads a JSON array of texts; an absent one is an empty list. NULL: it is not an array of texts. */
static char **read_list(const json_t *array)
{
	size_t n = json_array_size(array);
	char **list = fh_xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(array, i));
		if (!text) {
			fh_survey_list_free(list);
			return NULL;
		}
		list[i] = fh_xstrdup(text);
	}
	return list;
}

static bool read_facts(const json_t *array, struct fh_survey_facts *ret)
{
	uint64_t *const values[] = { &ret->device,     &ret->inode,       &ret->size,      &ret->mode,
		                         &ret->modified_s, &ret->modified_ns, &ret->changed_s, &ret->changed_ns };
	for (size_t i = 0; i < FH_ARRAY_SIZE(values); i++) {
		const json_t *value = json_array_get(array, i);
		if (!json_is_integer(value))
			return false;
		*values[i] = (uint64_t)json_integer_value(value);
	}
	return true;
}

static bool read_text(const json_t *j, struct fh_survey_answer *ret)
{
	const json_t *text = json_object_get(j, "text");
	const char *bytes = fh_json_str(j, "bytes", NULL);
	fh_auto_buf struct fh_buf decoded = FH_BUF_INIT(0);
	if (bytes && fh_base64_decode(&decoded, fh_str(bytes)) < 0)
		return false;
	if (!bytes && !json_is_string(text))
		return false;
	ret->size = bytes ? decoded.n : json_string_length(text);
	ret->text = fh_xmemdup(bytes ? fh_buf_cstr(&decoded) : json_string_value(text), ret->size);
	return true;
}

static bool read_error(const json_t *j, struct fh_survey_answer *ret)
{
	const char *name = fh_json_str(j, "error", "");
	for (size_t i = 0; i < FH_ARRAY_SIZE(error_names); i++)
		if (fh_streq(error_names[i].name, name))
			ret->error = error_names[i].number;
	return ret->error != 0;
}

static bool read_answer(const json_t *j, enum fh_survey_kind kind, struct fh_survey_answer *ret)
{
	if (json_object_get(j, "error"))
		return read_error(j, ret);
	switch (kind) {
	case FH_SURVEY_FACTS:
	case FH_SURVEY_OWN_FACTS:
		return read_facts(json_object_get(j, "facts"), &ret->facts);
	case FH_SURVEY_PROGRAM:
		return true;
	case FH_SURVEY_GLOB:
	case FH_SURVEY_NAMES:
		return (ret->list = read_list(json_object_get(j, "list")));
	default:
		return read_text(j, ret);
	}
}

/* Adds one entry of a record. Returns NULL, or what is wrong with the entry. */
static const char *read_entry(struct fh_survey_record *r, const json_t *j)
{
	int kind = number_of(kind_names, FH_ARRAY_SIZE(kind_names), fh_json_str(j, "ask", ""));
	if (kind < 0)
		return "\"ask\" names no kind of question";
	char **args = read_list(json_object_get(j, "args"));
	int64_t max = fh_json_int(j, "max", 0);
	if (!args || max < 0) {
		fh_survey_list_free(args);
		return "\"args\" is a list of texts, \"max\" a number";
	}
	struct fh_survey_question q = { .kind = (enum fh_survey_kind)kind,
		                            .root = fh_json_str(j, "root", ""),
		                            .path = fh_json_str(j, "path", ""),
		                            .args = (const char *const *)args,
		                            .max = (size_t)max };
	struct fh_survey_entry *e = find(r, &q) ? NULL : add(r, &q);
	fh_survey_list_free(args);
	if (!e)
		return "the question is there twice";
	return read_answer(j, e->kind, &e->answer) ? NULL : "the answer is not what the question asks for";
}

int fh_survey_record_read(struct fh_survey_record *r, struct fh_str json, const char *name, struct fh_error *err)
{
	fh_auto_json json_t *array = fh_json_parse(json, name, err);
	if (!array)
		return -FH_E_CONFIG;
	if (!json_is_array(array) || json_array_size(array) + r->count > FH_SURVEY_ENTRIES_MAX)
		return fh_error_set(err, FH_E_CONFIG, "%s is not a survey: a list of at most %d answers", name,
		                    FH_SURVEY_ENTRIES_MAX);
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *wrong = read_entry(r, json_array_get(array, i));
		if (wrong)
			return fh_error_set(err, FH_E_CONFIG, "%s: answer %zu: %s", name, i + 1, wrong);
	}
	return 0;
}
