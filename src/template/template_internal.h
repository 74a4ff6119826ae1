/* SPDX-License-Identifier: MIT */
/* Private to template_*.c: values, the syntax tree, and the state of a render. */
#pragma once
#include "template/template.h"

/* ---- values ---- */

enum fh_tkind {
	FH_T_UNDEFINED,
	FH_T_NULL,
	FH_T_BOOL,
	FH_T_NUMBER,
	FH_T_STRING,
	FH_T_ARRAY,
	FH_T_OBJECT,
	FH_T_FUNCTION
};

struct fh_tnode;
struct fh_trender;
struct fh_tloop;

/* A JavaScript value. Plain data: it borrows its string, JSON or macro from the variables, the template or the
 * render. */
struct fh_tval {
	enum fh_tkind kind;
	bool safe; /* this string is not escaped by the escape filter */
	union {
		bool truth;
		double number;
		json_t *json;                 /* the value of a string, array or object */
		const struct fh_tnode *macro; /* the macro that a function is; NULL: the built-in range() */
	};
};
#define FH_TVAL_UNDEFINED ((struct fh_tval){ .kind = FH_T_UNDEFINED })

/* ---- syntax ---- */

enum fh_tnode_kind {
	FH_N_LITERAL,
	FH_N_SYMBOL,
	FH_N_GROUP,
	FH_N_ARRAY,
	FH_N_DICT,
	FH_N_PAIR,
	FH_N_LOOKUP,
	FH_N_CALL,
	FH_N_FILTER,
	FH_N_NEGATE,
	FH_N_PLUS,
	FH_N_FLOOR,
	FH_N_NOT,
	FH_N_BINARY,
	FH_N_AND,
	FH_N_OR,
	FH_N_IN,
	FH_N_IS,
	FH_N_INLINE_IF,
	FH_N_BLOCK,
	FH_N_TEXT,
	FH_N_OUTPUT,
	FH_N_IF,
	FH_N_FOR,
	FH_N_SET,
	FH_N_MACRO,
	FH_N_FILTER_BLOCK,
	FH_N_COUNT_
};

struct fh_toperator;

/*
 * What the members mean: a, b, c are the operands in source order (INLINE_IF: a value, b condition, c other value;
 * LOOKUP: a object, b key; IF: a condition, b body, c else part; FOR: a list, b body, c else part; SET: a value or b
 * body); kids are the items of lists, the arguments of calls (named ones as PAIR), the parameters of a macro (PAIR
 * with a the default or NULL), and the names of SET and FOR (SYMBOL).
 */
struct fh_tnode {
	enum fh_tnode_kind kind;
	uint32_t line, column;
	char *name; /* name of a symbol, filter, test, macro or pair, or the text of a text node; owned */
	size_t name_n;
	struct fh_tval value; /* value of a literal; its string is owned */
	const struct fh_toperator *op;
	struct fh_tnode *a, *b, *c;
	struct fh_tnode **kids;
	size_t n_kids, cap_kids;
	struct fh_tnode *next; /* list of all nodes of the template, by which they are freed */
};

struct fh_template {
	char *name;
	struct fh_tnode *root;
	struct fh_tnode *nodes;
	bool mutates; /* calls push: the variables must be copied before a render */
};

/* ---- tokens ---- */

enum fh_ttoken_kind {
	FH_TK_END,
	FH_TK_DATA,
	FH_TK_OUTPUT,
	FH_TK_OUTPUT_END,
	FH_TK_TAG,
	FH_TK_TAG_END,
	FH_TK_STRING,
	FH_TK_NUMBER,
	FH_TK_NAME,
	FH_TK_OPERATOR
};

struct fh_ttoken {
	enum fh_ttoken_kind kind;
	struct fh_str text; /* slice of the source; for strings without the quotes, with escapes */
	uint32_t line, column;
};

struct fh_ttokens {
	struct fh_ttoken *items;
	size_t n, cap;
};

/* Splits source into tokens, the last of which is END. Comments and blanks are dropped, whitespace control is applied,
 * raw blocks become DATA. */
int fh_template_lex(struct fh_str source, const char *name, struct fh_ttokens *ret, struct fh_error *err);

/* ---- parsing ---- */

struct fh_tparser {
	struct fh_template *t;
	struct fh_ttokens tokens;
	size_t at;
	unsigned depth;
	struct fh_error *err;
	bool failed;
};

struct fh_tnode *fh_tparser_node(struct fh_tparser *p, enum fh_tnode_kind kind, const struct fh_ttoken *at);
void fh_tnode_name(struct fh_tnode *node, struct fh_str name);
void fh_tnode_add(struct fh_tnode *node, struct fh_tnode *kid);
/* Records an error at a token unless there is one already; returns NULL. */
struct fh_tnode *fh_tparser_fail(struct fh_tparser *p, const struct fh_ttoken *at, const char *format, ...)
    FH_PRINTF(3, 4);
const struct fh_ttoken *fh_tparser_peek(const struct fh_tparser *p);
const struct fh_ttoken *fh_tparser_next(struct fh_tparser *p);
/* Consumes the operator or word if it is the next token. */
bool fh_tparser_skip_op(struct fh_tparser *p, const char *op);
bool fh_tparser_skip_word(struct fh_tparser *p, const char *word);
bool fh_tparser_expect_op(struct fh_tparser *p, const char *op);
/* A token as error messages show it. */
const char *fh_ttoken_text(const struct fh_ttoken *token, char buf[64]);
/* Parses an expression; NULL after an error. */
struct fh_tnode *fh_tparser_expression(struct fh_tparser *p);
struct fh_tnode *fh_tparser_filter(struct fh_tparser *p, struct fh_tnode *operand); /* from behind the '|' */
bool fh_tparser_arguments(struct fh_tparser *p, struct fh_tnode *call);             /* from behind the '(' */
struct fh_tnode *fh_tparser_template(struct fh_tparser *p);

/* ---- state of a render ---- */

struct fh_tbinding {
	const char *name;
	struct fh_tval value;
};

struct fh_tframe {
	struct fh_tframe *parent;
	struct fh_tbinding *items;
	size_t n, cap;
	const struct fh_tloop *loop;
	unsigned n_macro; /* depth of macro calls; 0 outside of macros */
};

struct fh_trender {
	const struct fh_template *t;
	const struct fh_template_filters *filters; /* NULL: only the built-in filters */
	json_t *vars;
	struct fh_error *err;
	int failed; /* 0, or the negative code of the error */
	struct fh_buf *out;
	struct fh_tframe *frame;
	struct fh_tframe context; /* variables that were set at the top level, which macros see */
	json_t **pool;            /* all values that the render made, freed at its end */
	size_t n_pool, cap_pool;
	size_t memory;
	unsigned steps, depth;
	const struct fh_tnode *at; /* the node that is evaluated, for errors in filters */
};

/* Records an error at the current node unless there is one already; returns undefined. */
struct fh_tval fh_trender_fail(struct fh_trender *r, const char *format, ...) FH_PRINTF(2, 3);
void fh_trender_limit(struct fh_trender *r, const char *what);
/* Counts a step against FH_TEMPLATE_STEPS_MAX; false once the render has failed. */
bool fh_trender_step(struct fh_trender *r, const struct fh_tnode *node);
/* Makes the render own a new reference and counts its size. */
json_t *fh_trender_keep(struct fh_trender *r, FH_OWN json_t *json, size_t bytes);
struct fh_tval fh_trender_eval(struct fh_trender *r, const struct fh_tnode *node);
/* Applies a FILTER node to a value. */
struct fh_tval fh_trender_filter(struct fh_trender *r, const struct fh_tnode *node, struct fh_tval value);
struct fh_tval fh_trender_call_macro(struct fh_trender *r, const struct fh_tnode *macro, const struct fh_tnode *call);
void fh_trender_node(struct fh_trender *r, const struct fh_tnode *node);
struct fh_tval fh_trender_lookup(struct fh_trender *r, const char *name);

/* ---- working with values ---- */

struct fh_tval fh_tval_bool(bool truth);
struct fh_tval fh_tval_number(double number);
struct fh_tval fh_tval_string(struct fh_trender *r, struct fh_str s);
struct fh_tval fh_tval_take(struct fh_trender *r, struct fh_buf *b); /* the buffer's text as a string; releases b */
struct fh_tval fh_tval_from_json(json_t *json);                      /* makes a value that borrows json */
struct fh_tval fh_tval_array(struct fh_trender *r);                  /* a new, empty one */
struct fh_tval fh_tval_object(struct fh_trender *r);
FH_OWN json_t *fh_tval_to_json(struct fh_tval v); /* a new reference; values that JSON lacks become null */
void fh_tval_append(struct fh_trender *r, struct fh_tval array, struct fh_tval item);
struct fh_str fh_tval_str(struct fh_tval v); /* v has to be a string */
bool fh_tval_truthy(struct fh_tval v);
double fh_tval_to_number(struct fh_tval v);
void fh_tval_write(struct fh_buf *out, struct fh_tval v); /* appends v as JavaScript's String(v) */
struct fh_tval fh_tval_to_string(struct fh_trender *r, struct fh_tval v);
bool fh_tval_strict_equal(struct fh_tval a, struct fh_tval b);
bool fh_tval_loose_equal(struct fh_tval a, struct fh_tval b);
/* -1, 0, 1, or 2 when they are unordered (NaN). */
int fh_tval_compare(struct fh_tval a, struct fh_tval b);
struct fh_tval fh_tval_member(struct fh_trender *r, struct fh_tval object, struct fh_tval key);
size_t fh_tval_length(struct fh_tval v); /* length of a string (UTF-16 units), an array or an object (keys); else 0 */
struct fh_tval fh_tval_item(struct fh_trender *r, struct fh_tval list, size_t i); /* list: an array or a string */

/* ---- text (template_text.c): indices count UTF-16 units, as JavaScript's do ---- */

size_t fh_ttext_units(struct fh_str s);
/* Units [from, to) of s; half a surrogate pair becomes U+FFFD. */
struct fh_tval fh_ttext_slice(struct fh_trender *r, struct fh_str s, size_t from, size_t to);
void fh_ttext_upper(struct fh_buf *out, struct fh_str s);
void fh_ttext_lower(struct fh_buf *out, struct fh_str s);
struct fh_str fh_ttext_trim(struct fh_str s, bool left, bool right);
/* Byte offset of `needle` at or after from, or -1. */
ssize_t fh_ttext_find(struct fh_str s, struct fh_str needle, size_t from);

/* ---- tables ---- */

#define FH_TFILTER_PARAMS 3
struct fh_tfilter {
	const char *name;
	struct fh_tval (*apply)(struct fh_trender *r, struct fh_tval value, const struct fh_tval *args);
	const char *params[FH_TFILTER_PARAMS]; /* names for named arguments */
};
const struct fh_tfilter *fh_tfilter_find(const char *name);
extern const struct fh_tfilter fh_tfilters[];      /* the last has name NULL */
extern const struct fh_tfilter fh_tfilters_text[]; /* filters of strings; the last has name NULL */

/* A method such as "x".trim(); *ret_known false when the value has no such method. */
struct fh_tval fh_tmethod_call(struct fh_trender *r, struct fh_tval self, const char *name, const struct fh_tval *args,
                               size_t n_args, bool *ret_known);
/* Applies a test of `is` or select; *ret_known is false when no test has that name. */
bool fh_ttest_apply(const char *name, struct fh_tval value, struct fh_tval argument, bool *ret_known);
/* An operator: its text, its function, and its precedence in JavaScript; the parser uses this table too. */
struct fh_toperator {
	const char *text;
	struct fh_tval (*apply)(struct fh_trender *r, struct fh_tval a, struct fh_tval b);
	enum fh_tlevel { FH_TLEVEL_CALL, FH_TLEVEL_COMPARE, FH_TLEVEL_ADD, FH_TLEVEL_MULTIPLY } level; /* in JavaScript */
};
const struct fh_toperator *fh_toperator_find(const char *text);
