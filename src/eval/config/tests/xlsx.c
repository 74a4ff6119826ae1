/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/xlsx.h"
#include <ctype.h>
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <zlib.h>
#include "base/fd.h"
#include "eval/common/text.h"

#define FILE_MAX_ ((size_t)64 << 20)
#define PART_MAX ((size_t)256 << 20)
#define COLUMNS_MAX 16384

/* ------------------------------------------------------------------------------------------------------------- zip */

static uint32_t le(const unsigned char *p, unsigned n)
{
	uint32_t v = 0;
	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

/* The end record of an archive is the last one with this signature (APPNOTE.TXT 4.3.16). */
static const unsigned char *end_record(const unsigned char *p, size_t n)
{
	for (size_t i = n < 22 ? 0 : n - 22;; i--) {
		if (n >= 22 && memcmp(p + i, "PK\5\6", 4) == 0)
			return p + i;
		if (i == 0 || n - i > 65557)
			return NULL;
	}
}

static int inflate_part(const unsigned char *data, size_t n, size_t size, struct fh_buf *ret)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)n };
	unsigned char piece[65536];
	int r = inflateInit2(&z, -MAX_WBITS);
	while (r == Z_OK && ret->n <= size) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		r = inflate(&z, Z_NO_FLUSH);
		if (r == Z_OK || r == Z_STREAM_END)
			fh_buf_add(ret, piece, sizeof(piece) - z.avail_out);
	}
	inflateEnd(&z);
	return r == Z_STREAM_END && ret->n == size ? 0 : -FH_E_CONFIG;
}

/* Unpacks one file of the archive. 1: the archive has no file of that name. */
static int unzip(struct fh_str zip, const char *name, struct fh_buf *ret)
{
	const unsigned char *p = (const unsigned char *)zip.p, *end = end_record(p, zip.n);
	size_t at = end ? le(end + 16, 4) : 0;
	for (unsigned left = end ? le(end + 10, 2) : 0; left > 0 && at + 46 <= zip.n; left--) {
		const unsigned char *entry = p + at;
		size_t name_n = le(entry + 28, 2), packed = le(entry + 20, 4), size = le(entry + 24, 4);
		size_t local = le(entry + 42, 4);
		if (memcmp(entry, "PK\1\2", 4) != 0 || at + 46 + name_n > zip.n)
			break;
		if (name_n == strlen(name) && memcmp(entry + 46, name, name_n) == 0) {
			if (local + 30 > zip.n || size > PART_MAX)
				return -FH_E_CONFIG;
			size_t start = local + 30 + le(p + local + 26, 2) + le(p + local + 28, 2);
			if (start > zip.n || packed > zip.n - start)
				return -FH_E_CONFIG;
			if (le(entry + 10, 2) == 8)
				return inflate_part(p + start, packed, size, ret);
			fh_buf_add(ret, p + start, packed);
			return le(entry + 10, 2) == 0 ? 0 : -FH_E_CONFIG;
		}
		at += 46 + name_n + le(entry + 30, 2) + le(entry + 32, 2);
	}
	return end ? 1 : -FH_E_CONFIG;
}

/* ------------------------------------------------------------------------------------------------------------- xml */

struct book {
	struct fh_str zip;
	XML_Parser parser;
	json_t *sheets;  /* the workbook's sheets: [{name, id}] */
	json_t *targets; /* relation id -> part */
	json_t *strings; /* the workbook's table of shared strings */
	json_t *formats; /* for each cell style: whether it shows a date */
	json_t *dates;   /* number formats, defined in the file, that show dates: id -> true */
	json_t *rows;    /* rows of the sheet that is read */
	struct fh_buf text;
	bool in_text, in_styles;
	char type[16];
	size_t column, row, style;
};

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2) {
		const char *colon = strchr(*attributes, ':');
		if (strcmp(colon && !strchr(name, ':') ? colon + 1 : *attributes, name) == 0)
			return attributes[1];
	}
	return NULL;
}

static const char *local(const char *name)
{
	const char *colon = strchr(name, ':');
	return colon ? colon + 1 : name;
}

/* The column of a cell's reference: 28 for "AB12"; SIZE_MAX when it is malformed. */
static size_t column_of(const char *reference)
{
	size_t n = 0;
	for (; reference && isupper((unsigned char)*reference) && n <= COLUMNS_MAX; reference++)
		n = n * 26 + (size_t)(*reference - 'A' + 1);
	return n > 0 && n <= COLUMNS_MAX ? n - 1 : SIZE_MAX;
}

/* Built-in number formats 14 to 22 and 45 to 47 show dates and times (ECMA-376 18.8.30). */
static bool is_date_format(const struct book *b, unsigned long id)
{
	char key[24];
	snprintf(key, sizeof(key), "%lu", id);
	return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || json_object_get(b->dates, key);
}

static void on_format(struct book *b, const char **attributes)
{
	const char *id = attribute(attributes, "numFmtId"), *code = attribute(attributes, "formatCode");
	bool quoted = false, date = false;
	for (const char *p = code; p && *p; p++) {
		quoted = *p == '"' ? !quoted : quoted;
		date = date || (!quoted && strchr("ymdhYMDH", *p));
	}
	if (id && date && !strstr(code, "General"))
		json_object_set_new(b->dates, id, json_true());
}

static void XMLCALL on_start(void *user, const char *written, const char **attributes)
{
	struct book *b = user;
	const char *name = local(written);
	if (strcmp(name, "sheet") == 0) {
		const char *title = attribute(attributes, "name"), *id = attribute(attributes, "id");
		json_array_append_new(b->sheets, json_pack("{s:s, s:s}", "name", title ? title : "", "id", id ? id : ""));
	} else if (strcmp(name, "Relationship") == 0) {
		const char *id = attribute(attributes, "Id"), *target = attribute(attributes, "Target");
		if (id && target)
			json_object_set_new(b->targets, id, json_string(target));
	} else if (strcmp(name, "numFmt") == 0) {
		on_format(b, attributes);
	} else if (strcmp(name, "cellXfs") == 0) {
		b->in_styles = true;
	} else if (strcmp(name, "xf") == 0 && b->in_styles) {
		const char *id = attribute(attributes, "numFmtId");
		json_array_append_new(b->formats, json_boolean(id && is_date_format(b, strtoul(id, NULL, 10))));
	} else if (strcmp(name, "si") == 0) {
		fh_buf_truncate(&b->text, 0);
	} else if (strcmp(name, "row") == 0) {
		json_array_append_new(b->rows, json_array());
		b->column = SIZE_MAX;
	} else if (strcmp(name, "c") == 0) {
		const char *type = attribute(attributes, "t"), *style = attribute(attributes, "s");
		size_t column = column_of(attribute(attributes, "r"));
		b->column = column != SIZE_MAX ? column : b->column + 1;
		b->style = style ? strtoul(style, NULL, 10) : SIZE_MAX;
		snprintf(b->type, sizeof(b->type), "%s", type ? type : "n");
		fh_buf_truncate(&b->text, 0);
	}
	b->in_text = strcmp(name, "t") == 0 || strcmp(name, "v") == 0;
}

/* A date, given in days since 1899-12-30 as Excel counts them, in ISO 8601. */
static char *date_text(double days)
{
	time_t seconds = (time_t)llround((days - 25569) * 86400);
	struct tm t;
	char text[64];
	gmtime_r(&seconds, &t);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.000Z", &t);
	return fh_xstrdup(text);
}

static char *cell_text(const struct book *b)
{
	const char *text = b->text.p ? b->text.p : "";
	if (strcmp(b->type, "s") == 0) {
		const char *shared = json_string_value(json_array_get(b->strings, strtoul(text, NULL, 10)));
		return fh_xstrdup(shared ? shared : "");
	}
	if (strcmp(b->type, "b") == 0)
		return fh_xstrdup(strcmp(text, "1") == 0 ? "true" : "false");
	if (strcmp(b->type, "n") != 0 || !*text)
		return fh_xstrdup(text);
	double n = strtod(text, NULL);
	if (b->style != SIZE_MAX && json_is_true(json_array_get(b->formats, b->style)) && fabs(n) < 1e7)
		return date_text(n);
	struct fh_buf number = FH_BUF_INIT(0);
	fh_json_write_number(&number, n);
	return fh_buf_take(&number, NULL);
}

static void XMLCALL on_end(void *user, const char *written)
{
	struct book *b = user;
	const char *name = local(written);
	b->in_text = false;
	if (strcmp(name, "cellXfs") == 0)
		b->in_styles = false;
	else if (strcmp(name, "si") == 0)
		json_array_append_new(b->strings, fh_json_bytes(fh_buf_str(&b->text)));
	if (strcmp(name, "c") != 0 || json_array_size(b->rows) == 0 || b->column > COLUMNS_MAX)
		return;
	json_t *row = json_array_get(b->rows, json_array_size(b->rows) - 1);
	fh_auto_free char *text = cell_text(b);
	while (json_array_size(row) < b->column)
		json_array_append_new(row, json_string(""));
	/* Spaces around a text are dropped, as promptfoo's reader does. */
	json_array_append_new(row, fh_json_bytes(fh_text_trim(fh_str(text))));
}

static void XMLCALL on_text(void *user, const char *text, int n)
{
	struct book *b = user;
	if (b->in_text)
		fh_buf_add(&b->text, text, (size_t)n);
}

static void XMLCALL on_entity(void *user, const char *name, int is_parameter, const char *value, int n,
                              const char *base, const char *system, const char *public, const char *notation)
{
	struct book *b = user;
	XML_StopParser(b->parser, XML_FALSE); /* workbooks contain no such declaration */
}

/* Reads one part of the archive into the book. 1: the archive lacks this part. */
static int read_part(struct book *b, const char *name)
{
	fh_auto_buf struct fh_buf xml = FH_BUF_INIT(PART_MAX);
	int r = unzip(b->zip, name, &xml);
	if (r != 0)
		return r;
	XML_Parser parser = b->parser = XML_ParserCreate(NULL);
	XML_SetUserData(parser, b);
	XML_SetElementHandler(parser, on_start, on_end);
	XML_SetCharacterDataHandler(parser, on_text);
	XML_SetEntityDeclHandler(parser, on_entity);
	enum XML_Status status = XML_Parse(parser, fh_buf_cstr(&xml), (int)xml.n, 1);
	XML_ParserFree(parser);
	return status == XML_STATUS_OK ? 0 : -FH_E_CONFIG;
}

static const json_t *find_sheet(const struct book *b, const char *sheet)
{
	if (!sheet || !*sheet)
		return json_array_get(b->sheets, 0);
	if (strspn(sheet, "0123456789") == strlen(sheet))
		return json_array_get(b->sheets, strtoul(sheet, NULL, 10) - 1);
	for (size_t i = 0; i < json_array_size(b->sheets); i++)
		if (strcmp(fh_json_str(json_array_get(b->sheets, i), "name", ""), sheet) == 0)
			return json_array_get(b->sheets, i);
	return NULL;
}

static int read_book(struct book *b, const char *path, const char *sheet, struct fh_error *err)
{
	int r = read_part(b, "xl/workbook.xml");
	if (r == 0)
		r = read_part(b, "xl/_rels/workbook.xml.rels");
	if (r == 0 && (r = read_part(b, "xl/sharedStrings.xml")) >= 0 && (r = read_part(b, "xl/styles.xml")) > 0)
		r = 0;
	if (r != 0)
		return fh_error_at(err, path, 0, 0, "not an Excel workbook (.xlsx), or a damaged one");
	const json_t *wanted = find_sheet(b, sheet);
	if (!wanted)
		return fh_error_at(err, path, 0, 0, "there is no sheet \"%s\"; it has %zu", sheet ? sheet : "1",
		                   json_array_size(b->sheets));
	const char *target = fh_json_str(b->targets, fh_json_str(wanted, "id", ""), "");
	fh_auto_free char *part = *target == '/' ? fh_xstrdup(target + 1) : fh_xasprintf("xl/%s", target);
	if (read_part(b, part) != 0)
		return fh_error_at(err, path, 0, 0, "the sheet \"%s\" is broken", fh_json_str(wanted, "name", ""));
	if (json_array_size(b->rows) < 2)
		return fh_error_at(err, path, 0, 0, "the sheet \"%s\" has no rows below its first, which names the columns",
		                   fh_json_str(wanted, "name", ""));
	return 0;
}

int fh_xlsx_rows(const char *path, const char *sheet, json_t **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf file = FH_BUF_INIT(FILE_MAX_);
	int r = fh_file_read(path, &file, err);
	if (r < 0)
		return r;
	struct book b = { .zip = fh_buf_str(&file),
		              .sheets = json_array(),
		              .targets = json_object(),
		              .strings = json_array(),
		              .formats = json_array(),
		              .dates = json_object(),
		              .rows = json_array(),
		              .text = FH_BUF_INIT(PART_MAX) };
	r = read_book(&b, path, sheet, err);
	if (r == 0)
		*ret = json_incref(b.rows);
	json_decref(b.sheets);
	json_decref(b.targets);
	json_decref(b.strings);
	json_decref(b.formats);
	json_decref(b.dates);
	json_decref(b.rows);
	fh_buf_release(&b.text);
	return r;
}
