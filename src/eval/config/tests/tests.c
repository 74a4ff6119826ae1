/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/tests.h"
#include "base/fd.h"
#include "base/path.h"
#include "eval/common/csv.h"
#include "eval/config/tests/csv_tests.h"
#include "eval/common/text.h"
#include "eval/config/tests/xlsx.h"
#include "script/script.h"

#define TEST_FILE_MAX ((size_t)256 << 20)

struct loader {
	struct fh_eval_config *config;
	struct fh_script_pool *scripts;
	struct fh_eval_tests *ret;
	struct fh_error *err;
	unsigned depth;
	bool alone;   /* `tests` names this one file, not a list of files */
	bool by_path; /* `tests` names the file as {path} */
};

static int load_spec(struct loader *l, const struct fh_document *d, const json_t *spec, const char *place);

/* Reads the files that `text`, an entry of a config's `vars`, names, and adds their variables to vars. What these name
 * by file:// is their content: the whole value of a JSON or YAML file, where a variable in the config is its text. */
static int add_vars_of(struct fh_eval_config *c, const struct fh_document *d, const char *text, const char *place,
                       json_t *vars, struct fh_error *err)
{
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	int r = fh_eval_config_paths(c, text, &paths, err);
	if (r < 0)
		return fh_document_place(d, place, err);
	for (size_t i = 0; i < paths.count; i++) {
		struct fh_document *file = NULL;
		fh_auto_json json_t *whole = NULL;
		r = fh_eval_config_whole(c, paths.items[i], &file, &whole, err);
		if (r < 0)
			return r;
		if (!json_is_object(whole))
			return fh_document_error(file, "", err, "a file of vars is a map of names to values");
		json_object_update(vars, whole);
	}
	return 0;
}

int fh_eval_test_load_vars(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                           json_t **ret, struct fh_error *err)
{
	const json_t *spec = json_object_get(test, "vars");
	if (!json_is_string(spec) && !json_is_array(spec)) {
		*ret = json_incref((json_t *)(uintptr_t)test);
		return 0;
	}
	fh_auto_free char *at = fh_document_member(place, "vars");
	fh_auto_json json_t *vars = json_object();
	for (size_t i = 0; i < (json_is_array(spec) ? json_array_size(spec) : 1); i++) {
		const char *text = json_string_value(json_is_array(spec) ? json_array_get(spec, i) : spec);
		int r =
		    text ? add_vars_of(c, d, text, at, vars, err) : fh_document_error(d, at, err, "a list of vars names files");
		if (r < 0)
			return r;
	}
	*ret = json_copy((json_t *)(uintptr_t)test);
	json_object_set(*ret, "vars", vars);
	return 0;
}

void fh_eval_tests_add(struct fh_eval_tests *tests, const struct fh_document *d, json_t *test, const char *place)
{
	struct fh_eval_test *t = &FH_PUSH(tests->items, tests->count, tests->capacity);
	*t = (struct fh_eval_test){ .json = test, .document = d, .place = fh_xstrdup(place) };
}

static int add(struct loader *l, const struct fh_document *d, const json_t *written, const char *place)
{
	fh_auto_json json_t *test = NULL;
	int r = fh_eval_test_load_vars(l->config, d, written, place, &test, l->err);
	if (r == 0)
		r = fh_eval_test_validate(l->config, d, test, place, l->err);
	if (r < 0)
		return r;
	if (l->ret->count >= FH_EVAL_TESTS_MAX)
		return fh_document_error(d, place, l->err, "more than %d tests", FH_EVAL_TESTS_MAX);
	fh_eval_tests_add(l->ret, d, json_incref(test), place);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- files */

/* Makes a document of a list that was not read by the config's loader, and loads the tests in it. */
static int load_list(struct loader *l, const char *path, FH_OWN json_t *list)
{
	struct fh_document *d = fh_document_new(path, list);
	d->next = l->config->document->next;
	l->config->document->next = d;
	int r = load_spec(l, d, d->root, "");
	fh_document_forget(d); /* the tests themselves keep what is theirs */
	return r;
}

/* Gives tests without a description a number as one. This is done for a file that `tests` names alone. */
static json_t *numbered(const json_t *list)
{
	json_t *all = json_array();
	for (size_t i = 0; i < (json_is_array(list) ? json_array_size(list) : 1); i++) {
		const json_t *test = json_is_array(list) ? json_array_get(list, i) : list;
		json_t *copy =
		    json_is_object(test) ? json_copy((json_t *)(uintptr_t)test) : json_incref((json_t *)(uintptr_t)test);
		if (json_is_object(copy) && !*fh_json_str(copy, "description", ""))
			json_object_set_new(copy, "description", json_sprintf("Row #%zu", i + 1));
		json_array_append_new(all, copy);
	}
	return all;
}

static int load_jsonl(struct loader *l, const char *path)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(TEST_FILE_MAX);
	int r = fh_file_read(path, &text, l->err);
	if (r < 0)
		return r;
	json_t *list = json_array();
	uint32_t number = 0;
	for (struct fh_str rest = fh_buf_str(&text); rest.n > 0;) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) + 1 : rest.n;
		struct fh_str line = fh_text_trim((struct fh_str){ rest.p, n });
		number++;
		struct fh_error problem = FH_ERROR_INIT;
		json_t *test = line.n ? fh_json_parse(line, path, &problem) : NULL;
		if (line.n && !test) {
			json_decref(list);
			return fh_error_at(l->err, path, number, problem.column, "%s", problem.message);
		}
		if (test)
			json_array_append_new(list, test);
		rest.p += n;
		rest.n -= n;
	}
	if (l->alone) {
		json_t *all = numbered(list);
		json_decref(list);
		list = all;
	}
	return load_list(l, path, list);
}

static int load_rows(struct loader *l, const char *path, json_t *rows)
{
	json_t *tests = NULL;
	int r = fh_csv_tests(rows, path, &tests, l->err);
	return r < 0 ? r : load_list(l, path, tests);
}

static int load_csv(struct loader *l, const char *path)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(TEST_FILE_MAX);
	int r = fh_file_read(path, &text, l->err);
	if (r < 0)
		return r;
	const char *delimiter = getenv("PROMPTFOO_CSV_DELIMITER");
	fh_auto_json json_t *rows =
	    fh_csv_table(fh_buf_str(&text), delimiter && *delimiter ? *delimiter : ',', path, l->err);
	return rows ? load_rows(l, path, rows) : -FH_E_CONFIG;
}

static int load_xlsx(struct loader *l, const char *path, const char *sheet)
{
	json_t *rows = NULL;
	int r = fh_xlsx_rows(path, sheet, &rows, l->err);
	if (r == 0)
		r = load_rows(l, path, rows);
	json_decref(rows);
	return r;
}

/* Gets the list that a module exports directly, not as a function's result. Negative: it exports something else. */
static int module_value(struct loader *l, const char *path, struct fh_script_result *ret)
{
	fh_auto_json json_t *none = json_array();
	struct fh_script_call call = { .language = FH_SCRIPT_JAVASCRIPT, .file = path, .module = true, .args = none };
	if (fh_script_call(l->scripts, &call, ret, NULL) == 0 && ret->outcome == FH_SCRIPT_RETURNED &&
	    json_is_array(ret->value))
		return 0;
	fh_script_result_release(ret);
	return -FH_E_CONFIG;
}

static int load_script(struct loader *l, const char *path, enum fh_script_language language, const char *function,
                       const json_t *config)
{
	fh_auto_json json_t *given = NULL;
	int r = config ? fh_eval_config_expand(l->config, l->config->document, config, &given, l->err) : 0;
	if (r < 0)
		return r;
	fh_auto_json json_t *args = given ? json_pack("[O]", given) : json_array();
	fh_auto_script_result struct fh_script_result result = { 0 };
	const char *fallback = language == FH_SCRIPT_PYTHON ? "generate_tests" : NULL;
	struct fh_script_call call = {
		.language = language, .file = path, .function = function ? function : fallback, .args = args
	};
	if (language == FH_SCRIPT_JAVASCRIPT && !function && !config && module_value(l, path, &result) == 0)
		return load_list(l, path, json_incref(result.value));
	r = fh_script_call(l->scripts, &call, &result, l->err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(l->err, FH_E_CONFIG, "%s: %s%s%s", path, result.error_name ? result.error_name : "",
		                    result.error_name && *result.error_name ? ": " : "", result.error_message);
	if (!json_is_array(result.value))
		return fh_error_set(l->err, FH_E_CONFIG, "%s must return a list of tests; it returned a value of type %s", path,
		                    result.type);
	return load_list(l, path, json_incref(result.value));
}

/* Loads a file that `tests` names alone: a YAML file named by {path} holds rows as a CSV file does; the tests of any
 * other are numbered. */
static int load_document(struct loader *l, const char *path)
{
	struct fh_document *d = NULL;
	fh_auto_json json_t *whole = NULL;
	int r = fh_eval_config_whole(l->config, path, &d, &whole, l->err);
	if (r < 0)
		return r;
	bool yaml = !fh_streq(fh_path_ext(path), ".json");
	if (l->alone && yaml && l->by_path) {
		json_t *tests = NULL;
		r = fh_csv_maps(whole, path, &tests, l->err);
		return r < 0 ? r : load_list(l, path, tests);
	}
	if (l->alone && !yaml)
		return load_list(l, path, numbered(whole));
	if (whole != d->root) {
		json_decref(d->root);
		d->root = json_incref(whole);
	}
	return load_spec(l, d, d->root, "");
}

static int load_file(struct loader *l, const char *path, const char *function, const json_t *config)
{
	enum fh_script_language language;
	fh_auto_free char *plain = fh_xstrndup(path, strcspn(path, "#"));
	const char *extension = fh_path_ext(path), *sheet = strchr(path, '#');
	if (fh_script_language_of(path, &language))
		return load_script(l, path, language, function, config);
	if (fh_streq(fh_path_ext(plain), ".xlsx"))
		return load_xlsx(l, plain, sheet ? sheet + 1 : NULL);
	if (strcmp(extension, ".csv") == 0)
		return load_csv(l, path);
	if (strcmp(extension, ".jsonl") == 0)
		return load_jsonl(l, path);
	if (strcmp(extension, ".yaml") == 0 || strcmp(extension, ".yml") == 0 || strcmp(extension, ".json") == 0)
		return load_document(l, path);
	return fh_error_set(
	    l->err, FH_E_CONFIG,
	    "test file %s: \"%s\" is not a known type; known are .yaml, .json, .jsonl, .csv, .xlsx, .py, .js", path,
	    extension);
}

static int load_reference(struct loader *l, const struct fh_document *d, const char *text, const json_t *config,
                          const char *place)
{
	if (l->depth > 8)
		return fh_document_error(d, place, l->err, "files of tests name each other more than 8 levels deep");
	if (strstr(text, "://") && !fh_text_is_file(text))
		return fh_document_error(
		    d, place, l->err, "tests cannot be read from \"%s\", only from files: save it as CSV, JSONL or XLSX", text);
	const char *pattern = text + (fh_text_is_file(text) ? strlen("file://") : 0);
	const char *colon = strchr(pattern, ':'), *sheet = strstr(pattern, ".xlsx#");
	fh_auto_free char *name = fh_xstrndup(pattern, colon ? (size_t)(colon - pattern) : strlen(pattern));
	fh_auto_free char *file = sheet ? fh_xstrndup(name, (size_t)(sheet + strlen(".xlsx") - pattern)) : fh_xstrdup(name);
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	int r = fh_eval_config_paths(l->config, file, &paths, l->err);
	size_t before = l->ret->count;
	l->depth++;
	for (size_t i = 0; i < paths.count && r == 0; i++) {
		fh_auto_free char *whole =
		    sheet ? fh_xasprintf("%s%s", paths.items[i], sheet + strlen(".xlsx")) : fh_xstrdup(paths.items[i]);
		r = load_file(l, whole, colon && !sheet ? colon + 1 : NULL, config);
	}
	l->depth--;
	if (r == 0 && l->ret->count == before) { /* an eval of nothing would pass */
		fh_document_error(d, place, l->err, "there is no test in %s", text);
		fh_error_hint(l->err, "leave it out, or write tests: a table has their variables' names in its first line");
		return -FH_E_CONFIG;
	}
	return r < 0 ? fh_document_place(d, place, l->err) : 0;
}

/* --------------------------------------------------------------------------------------------------------- entries */

static int load_entry(struct loader *l, const struct fh_document *d, const json_t *entry, const char *place, bool alone)
{
	const char *path = fh_json_str(entry, "path", NULL);
	struct loader own = *l;
	own.alone = alone || path;
	own.by_path = path != NULL;
	if (json_is_string(entry))
		return load_reference(&own, d, json_string_value(entry), NULL, place);
	if (path)
		return load_reference(&own, d, path, json_object_get(entry, "config"), place);
	return add(l, d, entry, place);
}

static int load_spec(struct loader *l, const struct fh_document *d, const json_t *spec, const char *place)
{
	if (!json_is_array(spec))
		return load_entry(l, d, spec, place, true);
	int r = 0;
	for (size_t i = 0; i < json_array_size(spec) && r == 0; i++) {
		fh_auto_free char *at = fh_document_item(place, i);
		r = load_entry(l, d, json_array_get(spec, i), at, false);
	}
	return r;
}

int fh_eval_tests_load(struct fh_eval_config *c, const struct fh_document *d, const json_t *spec, const char *place,
                       struct fh_script_pool *scripts, struct fh_eval_tests *ret, struct fh_error *err)
{
	struct loader l = { .config = c, .scripts = scripts, .ret = ret, .err = err };
	return spec && !json_is_null(spec) ? load_spec(&l, d, spec, place) : 0;
}

int fh_eval_tests_replace(struct fh_eval_config *c, const json_t *list, const char *source,
                          struct fh_script_pool *scripts, struct fh_eval_tests *tests, struct fh_error *err)
{
	struct fh_eval_tests given = { 0 };
	struct loader l = { .config = c, .scripts = scripts, .ret = &given, .err = err };
	int r = load_list(&l, source, json_incref((json_t *)(uintptr_t)list));
	if (r < 0) {
		fh_eval_tests_release(&given);
		return r;
	}
	fh_eval_tests_release(tests);
	*tests = given;
	return 0;
}

void fh_eval_tests_release(struct fh_eval_tests *t)
{
	for (size_t i = 0; i < t->count; i++) {
		json_decref(t->items[i].json);
		free(t->items[i].place);
	}
	free(t->items);
	*t = (struct fh_eval_tests){ 0 };
}

/* ----------------------------------------------------------------------------------------------------------- merge */

/* Lays `above`'s members over `below`'s; an object that only one of them has is shared, not copied. */
static void merge_objects(json_t *into, const char *key, const json_t *below, const json_t *above)
{
	json_t *a = json_object_get(below, key), *b = json_object_get(above, key);
	if (!json_is_object(a) || !json_is_object(b)) {
		json_t *only = b ? b : a;
		if (only)
			json_object_set(into, key, only);
		return;
	}
	json_t *both = json_copy(a);
	json_object_update(both, b);
	json_object_set_new(into, key, both);
}

json_t *fh_eval_test_merge(const json_t *test, const json_t *default_test, const json_t *cli_vars)
{
	json_t *merged = json_object();
	json_t *vars = json_object();
	json_object_update(vars, json_object_get(default_test, "vars"));
	json_object_update(vars, (json_t *)(uintptr_t)cli_vars);
	json_object_update(vars, json_object_get(test, "vars"));
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)default_test, key, v) if (strcmp(key, "description") != 0)
	    json_object_set(merged, key, v);
	json_object_foreach((json_t *)(uintptr_t)test, key, v) json_object_set(merged, key, v);
	json_object_set_new(merged, "vars", vars);
	merge_objects(merged, "options", default_test, test);
	merge_objects(merged, "metadata", default_test, test);
	json_t *own = json_object_get(test, "assert"), *usual = json_object_get(default_test, "assert");
	if (json_is_true(json_object_get(json_object_get(test, "options"), "disableDefaultAsserts")))
		usual = NULL;
	if (json_is_array(own) && json_array_size(usual) == 0) {
		json_object_set(merged, "assert", own);
	} else {
		json_t *assert = json_array();
		json_array_extend(assert, usual);
		json_array_extend(assert, own);
		json_object_set_new(merged, "assert", assert);
	}
	if (!json_object_get(merged, "options"))
		json_object_set_new(merged, "options", json_object());
	return merged;
}
