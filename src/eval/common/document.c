/* SPDX-License-Identifier: MIT */
#include "eval/common/document.h"
#include <stdio.h>
#include "base/path.h"
#include "json/yaml.h"

struct fh_document *fh_document_new(const char *path, json_t *root)
{
	struct fh_document *d = FH_NEW(struct fh_document);
	d->path = fh_xstrdup(path);
	d->root = root;
	d->loaded = json_incref(root);
	return d;
}

int fh_document_load(const char *path, struct fh_document **ret, struct fh_error *err)
{
	struct fh_yaml_positions *positions = NULL;
	struct fh_error problem = FH_ERROR_INIT;
	json_t *root = fh_yaml_load_file(path, &positions, &problem);
	if (!root && strcmp(fh_path_ext(path), ".json") == 0) {
		/* JSON has a few escapes that YAML lacks, and the JSON reader's messages about a JSON file are better. */
		problem = (struct fh_error)FH_ERROR_INIT;
		root = fh_json_load_file(path, FH_YAML_SIZE_MAX, &problem);
	}
	if (!root) {
		if (err)
			*err = problem;
		return -(int)problem.code;
	}
	uint32_t line = 0, column = 0;
	const char *lost = fh_yaml_lost_digits(positions, &line, &column);
	if (lost) {
		fh_error_at(err, path, line, column, "the integer %.60s does not fit 64 bits, and would be rounded", lost);
		fh_error_hint(err, "write %.17g if it is meant so, or text: `code` takes \"expected_output\" and \"call\"",
		              strtod(lost, NULL));
		fh_yaml_positions_free(positions);
		json_decref(root);
		return -FH_E_CONFIG;
	}
	*ret = fh_document_new(path, root);
	(*ret)->positions = positions;
	return 0;
}

void fh_document_forget(struct fh_document *d)
{
	if (d->positions)
		return;
	json_decref(d->root);
	json_decref(d->loaded);
	d->root = json_null();
	d->loaded = json_null();
}

void fh_document_free_list(struct fh_document *d)
{
	while (d) {
		struct fh_document *next = d->next;
		fh_yaml_positions_free(d->positions);
		json_decref(d->root);
		json_decref(d->loaded);
		free(d->path);
		free(d);
		d = next;
	}
}

/* Line and column of a place, or of its nearest enclosing part; 0 when unknown. */
static void locate(const struct fh_document *d, const char *place, uint32_t *ret_line, uint32_t *ret_column)
{
	const json_t *at = d->loaded;
	uint32_t line = 0, column = 0;
	*ret_line = *ret_column = 0;
	if (!d->positions)
		return;
	if (fh_yaml_position(d->positions, NULL, NULL, 0, &line, &column)) {
		*ret_line = line;
		*ret_column = column;
	}
	fh_auto_free char *path = fh_xstrdup(place);
	char *save = NULL;
	for (char *key = strtok_r(path, "/", &save); key && at; key = strtok_r(NULL, "/", &save)) {
		bool list = json_is_array(at);
		size_t index = list ? strtoul(key, NULL, 10) : 0;
		if (!fh_yaml_position(d->positions, at, list ? NULL : key, index, &line, &column))
			return;
		*ret_line = line;
		*ret_column = column;
		at = list ? json_array_get(at, index) : json_object_get(at, key);
	}
}

char *fh_document_member(const char *place, const char *name)
{
	size_t n = strlen(place), m = strlen(name), slash = n > 0;
	char *joined = fh_xcalloc(n + slash + m + 1, 1);
	memcpy(joined, place, n);
	joined[n] = '/';
	memcpy(joined + n + slash, name, m + 1);
	return joined;
}

char *fh_document_item(const char *place, size_t index)
{
	struct fh_buf joined = FH_BUF_INIT(0);
	fh_buf_adds(&joined, place);
	if (*place)
		fh_buf_addc(&joined, '/');
	fh_buf_addi(&joined, (int64_t)index);
	return fh_buf_take(&joined, NULL);
}

int fh_document_error(const struct fh_document *d, const char *place, struct fh_error *err, const char *format, ...)
{
	char message[sizeof(((struct fh_error *)0)->message)];
	uint32_t line, column;
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	locate(d, place, &line, &column);
	return fh_error_at(err, d->path, line, column, "%s", message);
}

int fh_document_place(const struct fh_document *d, const char *place, struct fh_error *err)
{
	if (!err || *err->file)
		return err ? -(int)err->code : -FH_E_CONFIG;
	uint32_t line, column;
	locate(d, place, &line, &column);
	char message[sizeof(err->message)], hint[sizeof(err->hint)];
	memcpy(message, err->message, sizeof(message));
	memcpy(hint, err->hint, sizeof(hint));
	int r = fh_error_at(err, d->path, line, column, "%s", message);
	if (*hint)
		fh_error_hint(err, "%s", hint);
	return r;
}
