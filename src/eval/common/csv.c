/* SPDX-License-Identifier: MIT */
#include "eval/common/csv.h"
#include "base/utf8.h"

struct reader {
	struct fh_str text;
	size_t at;
	uint32_t line;
	char delimiter;
	const char *name;
};

static int peek(const struct reader *r)
{
	return r->at < r->text.n ? (unsigned char)r->text.p[r->at] : -1;
}

static bool at_line_end(const struct reader *r)
{
	int c = peek(r);
	return c == -1 || c == '\n' || (c == '\r' && (r->at + 1 == r->text.n || r->text.p[r->at + 1] == '\n'));
}

static int read_quoted(struct reader *r, struct fh_buf *field, struct fh_error *err)
{
	uint32_t start = r->line;
	for (r->at++;; r->at++) {
		int c = peek(r);
		if (c == -1)
			return fh_error_at(err, r->name, start, 0, "a quoted field is not closed");
		if (c == '"') {
			r->at++;
			if (peek(r) != '"')
				break;
		}
		r->line += c == '\n';
		fh_buf_addc(field, (char)c);
	}
	if (peek(r) != r->delimiter && !at_line_end(r))
		return fh_error_at(err, r->name, r->line, 0,
		                   "text follows the closing quote of a field; write \"\" for a quote");
	return 0;
}

static int read_record(struct reader *r, json_t *record, struct fh_error *err)
{
	for (;;) {
		fh_auto_buf struct fh_buf field = FH_BUF_INIT(0);
		if (peek(r) == '"') {
			int e = read_quoted(r, &field, err);
			if (e < 0)
				return e;
		} else {
			for (; peek(r) != r->delimiter && !at_line_end(r); r->at++)
				fh_buf_addc(&field, (char)peek(r));
		}
		json_array_append_new(record, fh_json_bytes(fh_buf_str(&field)));
		if (at_line_end(r))
			break;
		r->at++;
	}
	if (peek(r) == '\r')
		r->at++;
	if (peek(r) == '\n')
		r->at++;
	r->line++;
	return 0;
}

/* A record with a comma too many would put each cell behind it under another column's name. */
static int check_width(const struct reader *r, uint32_t line, const json_t *rows, const json_t *record,
                       struct fh_error *err)
{
	size_t columns = json_array_size(json_array_get(rows, 0)), cells = json_array_size(record);
	if (!json_array_size(rows) || cells == columns)
		return 0;
	fh_error_at(err, r->name, line, 0, "this row has %zu cell%s, the first one has %zu", cells, cells == 1 ? "" : "s",
	            columns);
	fh_error_hint(err, "a cell with a comma in it must be in double quotes");
	return -FH_E_CONFIG;
}

/* Refuses what is no text: its cells would be cut off, or its letters others than were meant. */
static int check_text(struct fh_str text, const char *name, struct fh_error *err)
{
	uint32_t line = 1;
	if (fh_utf8_valid(text) && !memchr(text.p, '\0', text.n))
		return 0;
	for (struct fh_str rest = text; rest.n > 0; line++) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) + 1 : rest.n;
		if (!fh_utf8_valid((struct fh_str){ rest.p, n }) || memchr(rest.p, '\0', n))
			break;
		rest.p += n;
		rest.n -= n;
	}
	fh_error_at(err, name, line, 0, "the text is not valid UTF-8");
	fh_error_hint(err, "save the file as UTF-8 (in Excel: \"CSV UTF-8\")");
	return -FH_E_CONFIG;
}

static json_t *parse(struct fh_str text, char delimiter, bool table, const char *name, struct fh_error *err)
{
	if (text.n > 0 && check_text(text, name, err) < 0)
		return NULL;
	struct reader r = { .text = text, .line = 1, .delimiter = delimiter, .name = name };
	if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
		r.at = 3;
	json_t *rows = json_array();
	while (r.at < text.n) {
		json_t *record = json_array();
		uint32_t line = r.line;
		int code = read_record(&r, record, err);
		bool blank = json_array_size(record) == 1 && json_string_length(json_array_get(record, 0)) == 0;
		if (code == 0 && table && !blank)
			code = check_width(&r, line, rows, record, err);
		if (code < 0) {
			json_decref(record);
			json_decref(rows);
			return NULL;
		}
		if (blank)
			json_decref(record);
		else
			json_array_append_new(rows, record);
	}
	return rows;
}

json_t *fh_csv_parse(struct fh_str text, char delimiter, const char *name, struct fh_error *err)
{
	return parse(text, delimiter, false, name, err);
}

json_t *fh_csv_table(struct fh_str text, char delimiter, const char *name, struct fh_error *err)
{
	return parse(text, delimiter, true, name, err);
}
