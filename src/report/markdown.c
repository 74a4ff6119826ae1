/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "report/report.h"

static void begin(struct fh_buf *out, struct fh_str title)
{
	fh_buf_adds(out, "# ");
	fh_escape_markdown(out, title);
	fh_buf_adds(out, "\n\n");
}

static void heading(struct fh_buf *out, int level, struct fh_str s)
{
	fh_buf_addf(out, "\n%.*s ", level, "######");
	fh_escape_markdown(out, s);
	fh_buf_adds(out, "\n\n");
}

static void paragraph(struct fh_buf *out, struct fh_str s)
{
	fh_escape_markdown(out, s);
	fh_buf_adds(out, "\n\n");
}

static void row(struct fh_buf *out, const struct fh_str *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fh_buf_adds(out, "| ");
		fh_escape_markdown(out, cells[i]);
		fh_buf_addc(out, ' ');
	}
	fh_buf_adds(out, "|\n");
}

static void table(struct fh_buf *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fh_buf_addf(out, "| %s ", names[i]);
	fh_buf_adds(out, "|\n");
	for (size_t i = 0; i < count; i++)
		fh_buf_adds(out, "|---");
	fh_buf_adds(out, "|\n");
}

static void table_end(struct fh_buf *out)
{
	fh_buf_addc(out, '\n');
}

/* Code blocks are indented, not fenced: text could close a fence. */
static void block(struct fh_buf *out, const char *label, struct fh_str s)
{
	fh_auto_buf struct fh_buf seen = FH_BUF_INIT(0);
	fh_escape_terminal(&seen, s, true);
	fh_buf_addf(out, "%s:\n\n", label);
	for (struct fh_str rest = fh_buf_str(&seen); rest.n;) {
		const char *line_end = memchr(rest.p, '\n', rest.n);
		size_t n = line_end ? (size_t)(line_end - rest.p) : rest.n;
		fh_buf_adds(out, "    ");
		fh_buf_add(out, rest.p, n);
		fh_buf_addc(out, '\n');
		rest = fh_str_from(rest, n + 1);
	}
	fh_buf_addc(out, '\n');
}

static void end(struct fh_buf *out)
{
}

const struct fh_report_form fh_report_markdown = {
	".md", "text/markdown; charset=utf-8", begin, heading, paragraph, table, row, table_end, block, end
};
