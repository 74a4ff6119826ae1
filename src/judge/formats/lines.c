/* SPDX-License-Identifier: MIT */
#include "judge/formats/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "json/span.h"
#include "judge/formats/gunzip.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct fh_lines {
	struct fh_gunzip *file;
	char *path;
	uint32_t number;
	uint64_t bytes;
	bool ended;
	bool is_array;             /* the whole file is in `text`, and its [ was consumed */
	bool has_items, is_closed; /* has_items: an item was returned; is_closed: the end of the array was reached */
	bool allow_not_finite, not_finite;
	struct fh_buf text; /* bytes read and not yet consumed */
	size_t taken;       /* number of bytes of text.p that were consumed */
	struct fh_str item; /* the item that was returned last, as a part of text.p */
};

void fh_lines_close(struct fh_lines *l)
{
	if (!l)
		return;
	fh_gunzip_free(l->file);
	fh_buf_release(&l->text);
	free(l->path);
	free(l);
}

uint32_t fh_lines_number(const struct fh_lines *l)
{
	return l->number;
}

struct fh_str fh_lines_text(const struct fh_lines *l)
{
	return l->item;
}

int fh_lines_error(const struct fh_lines *l, struct fh_error *err, const char *format, ...)
{
	va_list args;
	char text[256];
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fh_error_at(err, l->path, l->number, 0, "%s", text);
}

/* Reads another piece into l->text. */
static int fill(struct fh_lines *l, struct fh_error *err)
{
	enum { PIECE = 256 << 10 };
	if (!l->is_array && l->text.n - l->taken > FH_LINE_MAX) {
		l->number++;
		return fh_lines_error(l, err, "the line is longer than %zu MiB", FH_LINE_MAX >> 20);
	}
	fh_buf_drop(&l->text, l->taken);
	l->taken = 0;
	char *room = fh_buf_reserve(&l->text, PIECE);
	if (!room)
		return fh_error_set(err, FH_E_LIMIT, "%s: %s is longer than %zu MiB", l->path,
		                    l->is_array ? "the array" : "a line", (l->is_array ? FH_ARRAY_MAX : FH_LINE_MAX) >> 20);
	ssize_t n = fh_gunzip_read(l->file, room, PIECE, l->path, err);
	if (n < 0)
		return (int)n;
	l->text.n += n;
	l->bytes += n;
	l->ended = n == 0;
	if (l->bytes > FH_LINES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%s holds more than %llu GiB", l->path,
		                    (unsigned long long)(FH_LINES_MAX >> 30));
	return 0;
}

/* Returns 1 and the next line without its end, or 0 if there is none. */
static int next_line(struct fh_lines *l, struct fh_str *ret, struct fh_error *err)
{
	size_t searched = 0;
	for (;;) {
		const char *start = fh_buf_cstr(&l->text) + l->taken;
		size_t have = l->text.n - l->taken;
		const char *end = have > searched ? memchr(start + searched, '\n', have - searched) : NULL;
		if (end || (l->ended && have > 0)) {
			*ret = (struct fh_str){ start, end ? (size_t)(end - start) : have };
			l->taken += ret->n + (end != NULL);
			l->number++;
			return 1;
		}
		if (l->ended)
			return 0;
		searched = have;
		int r = fill(l, err);
		if (r < 0)
			return r;
	}
}

/* ----------------------------------------------------------------------------------------------------------- array */

/* Reads the whole file if its first non-blank byte is '['. */
static int look_for_array(struct fh_lines *l, struct fh_error *err)
{
	size_t at = 0;
	int r = fill(l, err);
	if (r < 0)
		return r;
	if (l->text.n >= 3 && memcmp(l->text.p, BYTE_ORDER_MARK, 3) == 0)
		at = 3;
	while (at < l->text.n && is_space(l->text.p[at]))
		at++;
	if (at == l->text.n || l->text.p[at] != '[')
		return 0;
	l->is_array = true;
	l->text.max = FH_ARRAY_MAX + (1 << 20);
	while (r >= 0 && !l->ended)
		r = fill(l, err);
	l->number = 1;
	for (size_t i = 0; i < at; i++)
		l->number += l->text.p[i] == '\n';
	l->taken = at + 1;
	return r;
}

/* Skips blanks, counting lines. */
static char skip_blanks(struct fh_lines *l)
{
	while (l->taken < l->text.n && is_space(l->text.p[l->taken]))
		l->number += l->text.p[l->taken++] == '\n';
	return l->taken < l->text.n ? l->text.p[l->taken] : '\0';
}

static int array_error(const struct fh_lines *l, const char *what, struct fh_error *err)
{
	fh_lines_error(l, err, "not JSON: %s in the array of objects", what);
	fh_error_hint(err, "python3 -m json.tool FILE shows what is wrong with it");
	return -FH_E_CONFIG;
}

/* Like next_line; l->number is the line in which the item begins. */
static int next_item(struct fh_lines *l, struct fh_str *ret, struct fh_error *err)
{
	for (size_t i = 0; i < l->item.n; i++)
		l->number += l->item.p[i] == '\n';
	l->item.n = 0;
	if (l->is_closed)
		return 0;
	char c = skip_blanks(l);
	if (l->has_items && c == ',') {
		l->taken++;
		c = skip_blanks(l);
		if (c == ']')
			return array_error(l, "a comma before the end", err);
	} else if (l->has_items && c != ']') {
		return array_error(l, c ? "no comma between items" : "no end", err);
	}
	if (c == ']') {
		l->taken++;
		skip_blanks(l);
		if (l->taken < l->text.n)
			return array_error(l, "text after the end", err);
		l->is_closed = true;
		return 0;
	}
	if (l->taken == l->text.n)
		return array_error(l, "no end", err);
	*ret = fh_json_span((struct fh_str){ l->text.p + l->taken, l->text.n - l->taken });
	l->taken += ret->n;
	l->has_items = true;
	return 1;
}

/* --------------------------------------------------------------------------------------------------------- opening */

int fh_lines_open(const char *path, struct fh_lines **ret, struct fh_error *err)
{
	bool standard_input = fh_streq(path, "-");
	fh_auto_close int fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : fh_file_open_waiting(path);
	if (standard_input)
		path = "standard input";
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", path);
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "%s is a folder, not a JSONL file", path);
	struct fh_lines *l = FH_NEW(struct fh_lines);
	*l = (struct fh_lines){ .file = fh_gunzip_new(FH_TAKE_FD(fd)),
		                    .path = fh_xstrdup(path),
		                    .text = FH_BUF_INIT(FH_LINE_MAX + (1 << 20)) };
	int r = look_for_array(l, err);
	if (r < 0) {
		fh_lines_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

static bool is_blank(struct fh_str s)
{
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	return s.n == 0;
}

void fh_lines_allow_not_finite(struct fh_lines *l)
{
	l->allow_not_finite = true;
}

bool fh_lines_not_finite(const struct fh_lines *l)
{
	return l->not_finite;
}

/* Parses the line with each NaN or Infinity replaced by 0 and blanks. */
static json_t *parse_not_finite(struct fh_str line)
{
	static const char *const words[] = { "NaN", "Infinity" };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	bool quoted = false;
	fh_buf_add(&text, line.p, line.n);
	for (size_t i = 0; i < text.n; i++) {
		if (quoted && text.p[i] == '\\')
			i++;
		else if (text.p[i] == '"')
			quoted = !quoted;
		for (size_t w = 0; !quoted && w < FH_ARRAY_SIZE(words); w++) {
			size_t n = strlen(words[w]);
			if (i + n <= text.n && memcmp(text.p + i, words[w], n) == 0) {
				memset(text.p + i, ' ', n);
				text.p[i] = '0';
			}
		}
	}
	return fh_json_parse(fh_buf_str(&text), NULL, NULL);
}

int fh_lines_next(struct fh_lines *l, json_t **ret_object, struct fh_error *err)
{
	struct fh_str line;
	int r;
	do {
		r = l->is_array ? next_item(l, &line, err) : next_line(l, &line, err);
		if (r <= 0)
			return r;
		if (l->number == 1 && line.n >= 3 && memcmp(line.p, BYTE_ORDER_MARK, 3) == 0)
			line = (struct fh_str){ line.p + 3, line.n - 3 };
	} while (is_blank(line));
	l->item = line;
	struct fh_error inner = FH_ERROR_INIT;
	json_t *object = fh_json_parse(line, NULL, &inner);
	l->not_finite = !object && l->allow_not_finite;
	if (l->not_finite)
		object = parse_not_finite(line);
	if (!object) {
		fh_error_at(err, l->path, l->number + (inner.line ? inner.line - 1 : 0), inner.column, "not JSON: %s",
		            inner.message);
		fh_error_hint(err, "each line has to hold one JSON object, or the file one array of them");
		return -FH_E_CONFIG;
	}
	if (!json_is_object(object)) {
		json_decref(object);
		return fh_lines_error(l, err, "not a JSON object: each line has to hold one");
	}
	*ret_object = object;
	return 1;
}
