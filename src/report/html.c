/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "report/report.h"

/* The page has no script and no image, and a Content-Security-Policy forbids external resources, should an escape be
 * missing. */
static const char top[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1b1d1f;"
    "background:#fff}h1{font-size:1.6em}h2{margin-top:2em;border-bottom:1px solid #ddd}h3{margin-top:1.6em}"
    "table{border-collapse:collapse;margin:1em 0}th,td{border:1px solid #ccc;padding:.25em .6em;text-align:left;"
    "vertical-align:top;overflow-wrap:anywhere}th{background:#f3f3f1}pre{background:#f6f6f4;border:1px solid #ddd;"
    "padding:.6em;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85em}.label{color:#5c6168;margin:.6em 0 .2em}"
    "@media print{body{margin:0;max-width:none;font-size:10pt}h3,tr{break-inside:avoid}h2,h3{break-after:avoid}}"
    "</style>\n<title>";

static void text(struct fh_buf *out, struct fh_str s, bool multiline)
{
	fh_auto_buf struct fh_buf seen = FH_BUF_INIT(0);
	fh_escape_terminal(&seen, s, multiline);
	fh_escape_html(out, fh_buf_str(&seen));
}

static void begin(struct fh_buf *out, struct fh_str title)
{
	fh_buf_adds(out, top);
	text(out, title, false);
	fh_buf_adds(out, "</title></head><body>\n<h1>");
	text(out, title, false);
	fh_buf_adds(out, "</h1>\n");
}

static void heading(struct fh_buf *out, int level, struct fh_str s)
{
	fh_buf_addf(out, "<h%d>", level);
	text(out, s, false);
	fh_buf_addf(out, "</h%d>\n", level);
}

static void paragraph(struct fh_buf *out, struct fh_str s)
{
	fh_buf_adds(out, "<p>");
	text(out, s, false);
	fh_buf_adds(out, "</p>\n");
}

static void table(struct fh_buf *out, const char *const *names, size_t count)
{
	fh_buf_adds(out, "<table><thead><tr>");
	for (size_t i = 0; i < count; i++) {
		fh_buf_adds(out, "<th>");
		text(out, fh_str(names[i]), false);
		fh_buf_adds(out, "</th>");
	}
	fh_buf_adds(out, "</tr></thead><tbody>\n");
}

static void row(struct fh_buf *out, const struct fh_str *cells, size_t count)
{
	fh_buf_adds(out, "<tr>");
	for (size_t i = 0; i < count; i++) {
		fh_buf_adds(out, "<td>");
		text(out, cells[i], false);
		fh_buf_adds(out, "</td>");
	}
	fh_buf_adds(out, "</tr>\n");
}

static void table_end(struct fh_buf *out)
{
	fh_buf_adds(out, "</tbody></table>\n");
}

static void block(struct fh_buf *out, const char *label, struct fh_str s)
{
	fh_buf_adds(out, "<p class=\"label\">");
	text(out, fh_str(label), false);
	fh_buf_adds(out, "</p>\n<pre>");
	text(out, s, true);
	fh_buf_adds(out, "</pre>\n");
}

static void end(struct fh_buf *out)
{
	fh_buf_adds(out, "</body></html>\n");
}

const struct fh_report_form fh_report_html = {
	".html", "text/html; charset=utf-8", begin, heading, paragraph, table, row, table_end, block, end
};
