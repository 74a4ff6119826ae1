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
	FH_T_FUNCTION,
	FH_T_MODULE,
	FH_T_REGEX
};

struct fh_tnode;
struct fh_trender;
struct fh_tloop;
struct fh_tfunction;
struct fh_tmodule;

/* A JavaScript value. Plain data: it borrows its string, JSON, function or module from the variables, the template or
 * the render. */
struct fh_tval {
	enum fh_tkind kind;
	bool safe; /* this string is not escaped by the escape filter */
	union {
		bool truth;
		double number;
		json_t *json; /* the value of a string, array or object */
		struct fh_tfunction *function;
		struct fh_tmodule *module;
		const struct fh_tnode *regex; /* a REGEX node */
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
	FH_N_SWITCH,
	FH_N_CASE,
	FH_N_CALLER,
	FH_N_INCLUDE,
	FH_N_IMPORT,
	FH_N_FROM,
	FH_N_EXTENDS,
	FH_N_NAMED_BLOCK,
	FH_N_REGEX,
	FH_N_COUNT_
};

struct fh_toperator;

/*
 * What the members mean: a, b, c are the operands in source order (INLINE_IF: a value, b condition, c other value;
 * LOOKUP: a object, b key; IF: a condition, b body, c else part; FOR: a list, b body, c else part; SET: a value or b
 * body; SWITCH: a value, c default part; CASE: a value, b body; CALLER, NAMED_BLOCK: b body; INCLUDE, IMPORT, FROM,
 * EXTENDS: a the file's name); kids are the items of lists, the arguments of calls (named ones as PAIR), the parameters
 * of a macro or a caller (PAIR with a the default or NULL), the names of SET and FOR (SYMBOL), the cases of a SWITCH,
 * and what FROM takes (PAIR: its own name, a a SYMBOL with the name here).
 */
struct fh_tnode {
	enum fh_tnode_kind kind;
	uint32_t line, column;
	char *name; /* name of a symbol, filter, test, macro, block or pair, the text of a text node, the pattern of a
	             * regular expression; owned */
	size_t name_n;
	struct fh_tval value; /* value of a literal; its string is owned */
	const struct fh_toperator *op;
	bool flag;     /* INCLUDE: ignore missing; IMPORT, FROM: with context */
	char flags[8]; /* of a regular expression */
	struct fh_tnode *a, *b, *c;
	struct fh_tnode **kids;
	size_t n_kids, cap_kids;
	struct fh_tnode *next; /* list of all nodes of the template, by which they are freed */
};

struct fh_template {
	char *name;
	struct fh_tnode *root;
	struct fh_tnode *nodes;
	bool extends; /* has an {% extends %}: what it prints itself may be dropped */
	bool mutates; /* calls push or another method that changes a list, or loads a template, which may: the variables
	               * must be copied before a render */
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
	FH_TK_OPERATOR,
	FH_TK_REGEX
};

struct fh_ttoken {
	enum fh_ttoken_kind kind;
	struct fh_str text; /* slice of the source; for strings without the quotes, with escapes; for regular
	                     * expressions pattern/flags */
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
/* The end of a tag, %}; false after an error. */
bool fh_tparser_tag_end(struct fh_tparser *p);
/* The body of the tag that `open` began, up to a tag with one of `words` ("else|endif"), of which {% is consumed. */
struct fh_tnode *fh_tparser_body(struct fh_tparser *p, const struct fh_ttoken *open, const char *words);
/* Parameters of a macro or a caller, from behind the '('. */
bool fh_tparser_parameters(struct fh_tparser *p, struct fh_tnode *node);
struct fh_tnode *fh_tparser_primary(struct fh_tparser *p); /* a value with what follows it: .a [b] (c) */
/* Tags that load templates (template_parse_files.c), from behind their word. */
struct fh_tnode *fh_tparser_include(struct fh_tparser *p, const struct fh_ttoken *at);
struct fh_tnode *fh_tparser_import(struct fh_tparser *p, const struct fh_ttoken *at);
struct fh_tnode *fh_tparser_from(struct fh_tparser *p, const struct fh_ttoken *at);
struct fh_tnode *fh_tparser_extends(struct fh_tparser *p, const struct fh_ttoken *at);
struct fh_tnode *fh_tparser_block(struct fh_tparser *p, const struct fh_ttoken *at);

/* ---- state of a render ---- */

struct fh_tbinding {
	const char *name;
	struct fh_tval value;
};

/* The variables of a loop, a macro, or a template that was loaded. */
struct fh_tframe {
	struct fh_tframe *parent; /* where names that are not here are looked up */
	struct fh_tframe *below;  /* the frame that was current when this one was entered */
	uint64_t serial;          /* number of this use of the frame, counted over all frames; 0: the frame is not in use */
	struct fh_tbinding *items;
	size_t n, cap;
	const struct fh_tloop *loop;
	unsigned depth; /* how deeply macros, blocks and loaded templates are nested */
	bool top;       /* the frame of a whole template: its macros see what is set here, and it can be imported */
	bool isolated;  /* what is set here does not change the parent's variables */
};

/* A list of functions of one block of a template and of those it extends, the youngest first. */
struct fh_tblock {
	const char *name;
	const struct fh_tnode **bodies;
	size_t n, cap;
};

/* One template as it is rendered: what its macros see of the variables. */
struct fh_tscope {
	const struct fh_template *t;
	json_t *vars;
	struct fh_tframe context;           /* variables and macros that were set at the top level */
	const struct fh_template *extended; /* the template that the last {% extends %} named, or NULL */
	struct fh_tblock *blocks;
	size_t n_blocks, cap_blocks;
	struct fh_tscope *next; /* list of all scopes of the render */
};

struct fh_tfunction {
	struct fh_tval (*call)(struct fh_trender *r, struct fh_tfunction *self, const struct fh_tnode *call);
	const struct fh_tnode *node; /* the MACRO or CALLER, or NULL */
	struct fh_tscope *scope;     /* where the macro was defined */
	struct fh_tframe
	    *frame; /* for a CALLER: the frame in which it was written; valid while that has the number `serial` */
	uint64_t serial;
	struct fh_tval value;      /* the items of a cycler, the separator of a joiner */
	size_t at;                 /* how often it was called */
	struct fh_tmodule *module; /* the cycler that a method belongs to */
	struct fh_tfunction *next; /* list of all functions of the render */
};

/* An object with functions among its members: an imported template, a cycler. */
struct fh_tmodule {
	struct fh_tframe members;
	struct fh_tmodule *next; /* list of all modules of the render */
};

struct fh_tloaded {
	char *name;
	struct fh_template *t;
	struct fh_tloaded *next;
};

struct fh_trender {
	const struct fh_template_host *host; /* NULL: only the built-in filters, and no other templates */
	struct fh_error *err;
	int failed; /* 0, or the negative code of the error */
	struct fh_buf *out;
	struct fh_tframe *frame;
	struct fh_tscope *scope;
	const char *block; /* name of the block that is rendered, for super(), or NULL; and which of its bodies */
	size_t at_body;
	struct fh_tscope *scopes;
	struct fh_tfunction *functions;
	struct fh_tmodule *modules;
	struct fh_tloaded *loaded;
	json_t **pool; /* all values that the render made, freed at its end */
	size_t n_pool, cap_pool;
	size_t memory;
	uint64_t serial;
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
void fh_trender_node(struct fh_trender *r, const struct fh_tnode *node);
struct fh_tval fh_trender_lookup(struct fh_trender *r, const char *name);
/* Renders a body into a string. */
struct fh_tval fh_trender_capture(struct fh_trender *r, const struct fh_tnode *body);

/* Enters a frame, all of whose other members are set; fails when they are nested too deeply. Leave it in any case. */
bool fh_tframe_enter(struct fh_trender *r, struct fh_tframe *frame);
void fh_tframe_leave(struct fh_trender *r);
const struct fh_tbinding *fh_tframe_find(const struct fh_tframe *frame, const char *name);
void fh_tframe_bind(struct fh_tframe *frame, const char *name, struct fh_tval value);
void fh_tframe_release(struct fh_tframe *frame);
#define fh_auto_tframe FH_CLEANUP(fh_tframe_release)

/* ---- functions (template_functions.c) ---- */

/* range, cycler or joiner; undefined for any other name. */
struct fh_tval fh_tfunction_global(struct fh_trender *r, const char *name);
struct fh_tval fh_tfunction_of(struct fh_trender *r, const struct fh_tnode *macro_or_caller);
struct fh_tval fh_tfunction_call(struct fh_trender *r, struct fh_tval function, const struct fh_tnode *call);
struct fh_tmodule *fh_tmodule_new(struct fh_trender *r);
void fh_tfunctions_release(struct fh_trender *r);
#define FH_TARGS 4
/* The values of the first FH_TARGS arguments of a call, undefined where there are fewer; returns their number. */
size_t fh_targs_eval(struct fh_trender *r, const struct fh_tnode *call, struct fh_tval args[FH_TARGS]);

/* ---- templates of several files (template_files.c) ---- */

struct fh_tscope *fh_tscope_new(struct fh_trender *r, const struct fh_template *t, json_t *vars);
/* Renders the template of the current scope, and what it extends. */
void fh_tscope_render(struct fh_trender *r);
void fh_tscopes_release(struct fh_trender *r);
void fh_trender_include(struct fh_trender *r, const struct fh_tnode *node);
void fh_trender_import(struct fh_trender *r, const struct fh_tnode *node);
void fh_trender_extends(struct fh_trender *r, const struct fh_tnode *node);
void fh_trender_named_block(struct fh_trender *r, const struct fh_tnode *node);
struct fh_tval fh_trender_super(struct fh_trender *r, const struct fh_tnode *call);

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

/* ---- regular expressions (template_regex.c); `regex` is a FH_T_REGEX ---- */

bool fh_tregex_test(struct fh_trender *r, struct fh_tval regex, struct fh_str s);
struct fh_tval fh_tregex_replace(struct fh_trender *r, struct fh_tval regex, struct fh_str s, struct fh_str with);
struct fh_tval fh_tregex_match(struct fh_trender *r, struct fh_tval regex, struct fh_str s);
struct fh_tval fh_tregex_split(struct fh_trender *r, struct fh_tval regex, struct fh_str s);

/* ---- tables ---- */

#define FH_TFILTER_PARAMS 3
struct fh_tfilter {
	const char *name;
	struct fh_tval (*apply)(struct fh_trender *r, struct fh_tval value, const struct fh_tval *args);
	const char *params[FH_TFILTER_PARAMS]; /* names for named arguments */
};
struct fh_tval fh_tfilter_urlize(struct fh_trender *r, struct fh_tval v, const struct fh_tval *args);
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
