/* SPDX-License-Identifier: MIT */
/* What the terminal can do, and tables that are printed on it. */
#pragma once
#include "base/buf.h"

enum fh_color_mode { FH_COLOR_AUTO, FH_COLOR_ALWAYS, FH_COLOR_NEVER };
/* Whether to use color. AUTO: fd is a terminal, TERM is not "dumb", NO_COLOR is unset or empty. */
bool fh_term_color(int fd, enum fh_color_mode mode);
/* TERM is "dumb": the terminal has no escape sequences. */
bool fh_term_is_dumb(void);
/* The locale's character set is not UTF-8 (LC_ALL=C): tables are drawn in ASCII. */
bool fh_term_is_ascii(void);
unsigned fh_term_width(int fd); /* columns; 80 when unknown; COLUMNS overrides */
/* The same for lists, in which a row is a line for grep and awk where no terminal and no COLUMNS says how wide it is.
 */
unsigned fh_term_list_width(int fd);
/* Columns that s takes on a terminal; wide and combining characters are taken into account. */
unsigned fh_term_text_width(struct fh_str s);

/* A table with borders; cells wrap to their column's width. Where a column would get too narrow to be read, each row is
 * printed as a list of its columns. Cell text is escaped here (base/escape.h); a cell may have
 * a style for its first word, such as [PASS]. */
struct fh_table;
enum fh_style { FH_STYLE_NONE, FH_STYLE_GOOD, FH_STYLE_BAD, FH_STYLE_WARN, FH_STYLE_DIM, FH_STYLE_BOLD };
FH_OWN struct fh_table *fh_table_new(unsigned columns);
/* One with a header in this style. */
FH_OWN struct fh_table *fh_table_headed(enum fh_style style, const char *const *heads, size_t count);
void fh_table_text(struct fh_table *t, enum fh_style style, const char *text); /* adds a cell */
void fh_table_cell(struct fh_table *t, enum fh_style style, FH_NULLABLE const char *first_word, struct fh_str text);
void fh_table_row_end(struct fh_table *t); /* the first row is the header */
void fh_table_print(const struct fh_table *t, struct fh_buf *out, unsigned width, bool color);
void fh_table_free(struct fh_table *t);
