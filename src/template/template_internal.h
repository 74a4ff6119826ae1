/* SPDX-License-Identifier: MIT */
/* Private to template_*.c: values, the syntax tree, and the state of a render. Names begin with fh_tpl_, because the
 * engine has templates of another kind. */
#pragma once
#include "template/template.h"

/* ---- values ---- */

enum fh_tpl_kind {
	FH_TPL_UNDEFINED,
	FH_TPL_NULL,
	FH_TPL_BOOL,
	FH_TPL_NUMBER,
	FH_TPL_STRING,
	FH_TPL_ARRAY,
	FH_TPL_OBJECT,
	FH_TPL_FUNCTION,
	FH_TPL_MODULE,
	FH_TPL_REGEX
};

struct fh_tpl_node;
struct fh_tpl_render;
struct fh_tpl_loop;
struct fh_tpl_function;
struct fh_tpl_module;

/* A JavaScript value. Plain data: it borrows its string, JSON, function or module from the variables, the template or
 * the render. */
struct fh_tpl_value {
	enum fh_tpl_kind kind;
	bool safe; /* this string is not escaped by the escape filter */
	union {
		bool truth;
		double number;
		json_t *json; /* the value of a string, array or object */
		struct fh_tpl_function *function;
		struct fh_tpl_module *module;
		const struct fh_tpl_node *regex; /* a REGEX node */
	};
};
#define FH_TPL_VALUE_UNDEFINED ((struct fh_tpl_value){ .kind = FH_TPL_UNDEFINED })

/* ---- syntax ---- */

enum fh_tpl_node_kind {
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

struct fh_tpl_operator;

/*
 * What the members mean: a, b, c are the operands in source order (INLINE_IF: a value, b condition, c other value;
 * LOOKUP: a object, b key; IF: a condition, b body, c else part; FOR: a list, b body, c else part; SET: a value or b
 * body; SWITCH: a value, c default part; CASE: a value, b body; CALLER, NAMED_BLOCK: b body; INCLUDE, IMPORT, FROM,
 * EXTENDS: a the file's name); kids are the items of lists, the arguments of calls (named ones as PAIR), the parameters
 * of a macro or a caller (PAIR with a the default or NULL), the names of SET and FOR (SYMBOL), the cases of a SWITCH,
 * and what FROM takes (PAIR: its own name, a a SYMBOL with the name here).
 */
struct fh_tpl_node {
	enum fh_tpl_node_kind kind;
	uint32_t line, column;
	char *name; /* name of a symbol, filter, test, macro, block or pair, the text of a text node, the pattern of a
	             * regular expression; owned */
	size_t name_n;
	struct fh_tpl_value value; /* value of a literal; its string is owned */
	const struct fh_tpl_operator *op;
	bool flag;     /* INCLUDE: ignore missing; IMPORT, FROM: with context */
	char flags[8]; /* of a regular expression */
	struct fh_tpl_node *a, *b, *c;
	struct fh_tpl_node **kids;
	size_t n_kids, cap_kids;
	struct fh_tpl_node *next; /* list of all nodes of the template, by which they are freed */
};

struct fh_text_template {
	char *name;
	struct fh_tpl_node *root;
	struct fh_tpl_node *nodes;
	bool extends; /* has an {% extends %}: what it prints itself may be dropped */
	bool mutates; /* calls push or another method that changes a list, or loads a template, which may: the variables
	               * must be copied before a render */
};

/* ---- tokens ---- */

enum fh_tpl_token_kind {
	FH_TPL_TOKEN_END,
	FH_TPL_TOKEN_DATA,
	FH_TPL_TOKEN_OUTPUT,
	FH_TPL_TOKEN_OUTPUT_END,
	FH_TPL_TOKEN_TAG,
	FH_TPL_TOKEN_TAG_END,
	FH_TPL_TOKEN_STRING,
	FH_TPL_TOKEN_NUMBER,
	FH_TPL_TOKEN_NAME,
	FH_TPL_TOKEN_OPERATOR,
	FH_TPL_TOKEN_REGEX
};

struct fh_tpl_token {
	enum fh_tpl_token_kind kind;
	struct fh_str text; /* slice of the source; for strings without the quotes, with escapes; for regular
	                     * expressions pattern/flags */
	uint32_t line, column;
};

struct fh_tpl_tokens {
	struct fh_tpl_token *items;
	size_t n, cap;
};

/* Splits source into tokens, the last of which is END. Comments and blanks are dropped, whitespace control is applied,
 * raw blocks become DATA. */
int fh_text_template_lex(struct fh_str source, const char *name, struct fh_tpl_tokens *ret, struct fh_error *err);

/* ---- parsing ---- */

struct fh_tpl_parser {
	struct fh_text_template *t;
	struct fh_tpl_tokens tokens;
	size_t at;
	unsigned depth;
	struct fh_error *err;
	bool failed;
};

struct fh_tpl_node *fh_tpl_parser_node(struct fh_tpl_parser *p, enum fh_tpl_node_kind kind,
                                       const struct fh_tpl_token *at);
void fh_tpl_node_name(struct fh_tpl_node *node, struct fh_str name);
void fh_tpl_node_add(struct fh_tpl_node *node, struct fh_tpl_node *kid);
/* Records an error at a token unless there is one already; returns NULL. */
struct fh_tpl_node *fh_tpl_parser_fail(struct fh_tpl_parser *p, const struct fh_tpl_token *at, const char *format, ...)
    FH_PRINTF(3, 4);
const struct fh_tpl_token *fh_tpl_parser_peek(const struct fh_tpl_parser *p);
const struct fh_tpl_token *fh_tpl_parser_next(struct fh_tpl_parser *p);
/* Consumes the operator or word if it is the next token. */
bool fh_tpl_parser_skip_op(struct fh_tpl_parser *p, const char *op);
bool fh_tpl_parser_skip_word(struct fh_tpl_parser *p, const char *word);
bool fh_tpl_parser_expect_op(struct fh_tpl_parser *p, const char *op);
/* A token as error messages show it. */
const char *fh_tpl_token_text(const struct fh_tpl_token *token, char buf[64]);
/* Parses an expression; NULL after an error. */
struct fh_tpl_node *fh_tpl_parser_expression(struct fh_tpl_parser *p);
struct fh_tpl_node *fh_tpl_parser_filter(struct fh_tpl_parser *p,
                                         struct fh_tpl_node *operand);           /* from behind the '|' */
bool fh_tpl_parser_arguments(struct fh_tpl_parser *p, struct fh_tpl_node *call); /* from behind the '(' */
struct fh_tpl_node *fh_tpl_parser_template(struct fh_tpl_parser *p);
/* The end of a tag, %}; false after an error. */
bool fh_tpl_parser_tag_end(struct fh_tpl_parser *p);
/* The body of the tag that `open` began, up to a tag with one of `words` ("else|endif"), of which {% is consumed. */
struct fh_tpl_node *fh_tpl_parser_body(struct fh_tpl_parser *p, const struct fh_tpl_token *open, const char *words);
struct fh_tpl_node *fh_tpl_parser_primary(struct fh_tpl_parser *p); /* a value with what follows it: .a [b] (c) */
/* Tags that load templates (template_parse_files.c), from behind their word. */
struct fh_tpl_node *fh_tpl_parser_include(struct fh_tpl_parser *p, const struct fh_tpl_token *at);
struct fh_tpl_node *fh_tpl_parser_import(struct fh_tpl_parser *p, const struct fh_tpl_token *at);
struct fh_tpl_node *fh_tpl_parser_from(struct fh_tpl_parser *p, const struct fh_tpl_token *at);
struct fh_tpl_node *fh_tpl_parser_extends(struct fh_tpl_parser *p, const struct fh_tpl_token *at);
struct fh_tpl_node *fh_tpl_parser_block(struct fh_tpl_parser *p, const struct fh_tpl_token *at);

/* ---- state of a render ---- */

struct fh_tpl_binding {
	const char *name;
	struct fh_tpl_value value;
};

/* The variables of a loop, a macro, or a template that was loaded. */
struct fh_tpl_frame {
	struct fh_tpl_frame *parent; /* where names that are not here are looked up */
	struct fh_tpl_frame *below;  /* the frame that was current when this one was entered */
	uint64_t serial; /* number of this use of the frame, counted over all frames; 0: the frame is not in use */
	struct fh_tpl_binding *items;
	size_t n, cap;
	const struct fh_tpl_loop *loop;
	unsigned depth; /* how deeply macros, blocks and loaded templates are nested */
	bool top;       /* the frame of a whole template: its macros see what is set here, and it can be imported */
	bool isolated;  /* what is set here does not change the parent's variables */
};

/* A list of functions of one block of a template and of those it extends, the youngest first. */
struct fh_tpl_block {
	const char *name;
	const struct fh_tpl_node **bodies;
	size_t n, cap;
};

/* One template as it is rendered: what its macros see of the variables. */
struct fh_tpl_scope {
	const struct fh_text_template *t;
	json_t *vars;
	struct fh_tpl_frame context;             /* variables and macros that were set at the top level */
	const struct fh_text_template *extended; /* the template that the last {% extends %} named, or NULL */
	struct fh_tpl_block *blocks;
	size_t n_blocks, cap_blocks;
	struct fh_tpl_scope *next; /* list of all scopes of the render */
};

struct fh_tpl_function {
	struct fh_tpl_value (*call)(struct fh_tpl_render *r, struct fh_tpl_function *self, const struct fh_tpl_node *call);
	const struct fh_tpl_node *node; /* the MACRO or CALLER, or NULL */
	struct fh_tpl_scope *scope;     /* where the macro was defined */
	/* For a CALLER: the frame of the text around the {% call %} block. It is valid as long as frame->serial == serial,
	 * as frames are reused. */
	struct fh_tpl_frame *frame;
	uint64_t serial;
	struct fh_tpl_value value;    /* the items of a cycler, the separator of a joiner */
	size_t at;                    /* how often it was called */
	struct fh_tpl_module *module; /* the cycler that a method belongs to */
	struct fh_tpl_function *next; /* list of all functions of the render */
};

/* An object with functions among its members: an imported template, a cycler. */
struct fh_tpl_module {
	struct fh_tpl_frame members;
	struct fh_tpl_module *next; /* list of all modules of the render */
};

struct fh_tpl_loaded {
	char *name;
	struct fh_text_template *t;
	struct fh_tpl_loaded *next;
};

struct fh_tpl_render {
	const struct fh_text_template_host *host; /* NULL: only the built-in filters, and no other templates */
	struct fh_error *err;
	int failed; /* 0, or the negative code of the error */
	struct fh_buf *out;
	struct fh_tpl_frame *frame;
	struct fh_tpl_scope *scope;
	const char *block; /* name of the block that is rendered, for super(), or NULL; and which of its bodies */
	size_t at_body;
	struct fh_tpl_scope *scopes;
	struct fh_tpl_function *functions;
	struct fh_tpl_module *modules;
	struct fh_tpl_loaded *loaded;
	json_t **pool; /* all values that the render made, freed at its end */
	size_t n_pool, cap_pool;
	size_t memory;
	uint64_t serial;
	unsigned steps, depth;
	const struct fh_tpl_node *at; /* the node that is evaluated, for errors in filters */
};

/* Records an error at the current node unless there is one already; returns undefined. */
struct fh_tpl_value fh_tpl_render_fail(struct fh_tpl_render *r, const char *format, ...) FH_PRINTF(2, 3);
void fh_tpl_render_limit(struct fh_tpl_render *r, const char *what);
/* Counts a step against FH_TEXT_TEMPLATE_STEPS_MAX; false once the render has failed. */
bool fh_tpl_render_step(struct fh_tpl_render *r, const struct fh_tpl_node *node);
/* Makes the render own a new reference and counts its size. */
json_t *fh_tpl_render_keep(struct fh_tpl_render *r, FH_OWN json_t *json, size_t bytes);
struct fh_tpl_value fh_tpl_render_eval(struct fh_tpl_render *r, const struct fh_tpl_node *node);
/* Applies a FILTER node to a value. */
struct fh_tpl_value fh_tpl_render_filter(struct fh_tpl_render *r, const struct fh_tpl_node *node,
                                         struct fh_tpl_value value);
void fh_tpl_render_node(struct fh_tpl_render *r, const struct fh_tpl_node *node);
struct fh_tpl_value fh_tpl_render_lookup(struct fh_tpl_render *r, const char *name);
/* Renders a body into a string. */
struct fh_tpl_value fh_tpl_render_capture(struct fh_tpl_render *r, const struct fh_tpl_node *body);

/* Enters a frame, all of whose other members are set; fails when they are nested too deeply. Leave it in any case. */
bool fh_tpl_frame_enter(struct fh_tpl_render *r, struct fh_tpl_frame *frame);
void fh_tpl_frame_leave(struct fh_tpl_render *r);
const struct fh_tpl_binding *fh_tpl_frame_find(const struct fh_tpl_frame *frame, const char *name);
void fh_tpl_frame_bind(struct fh_tpl_frame *frame, const char *name, struct fh_tpl_value value);
void fh_tpl_frame_release(struct fh_tpl_frame *frame);
#define fh_auto_tframe FH_CLEANUP(fh_tpl_frame_release)

/* ---- functions (template_functions.c) ---- */

/* range, cycler or joiner; undefined for any other name. */
struct fh_tpl_value fh_tpl_function_global(struct fh_tpl_render *r, const char *name);
struct fh_tpl_value fh_tpl_function_of(struct fh_tpl_render *r, const struct fh_tpl_node *macro_or_caller);
struct fh_tpl_value fh_tpl_function_call(struct fh_tpl_render *r, struct fh_tpl_value function,
                                         const struct fh_tpl_node *call);
struct fh_tpl_module *fh_tpl_module_new(struct fh_tpl_render *r);
void fh_tpl_functions_release(struct fh_tpl_render *r);
#define FH_TPL_ARGS 4
/* The values of the first FH_TPL_ARGS arguments of a call, undefined where there are fewer; returns their
 * number. */
size_t fh_tpl_args_eval(struct fh_tpl_render *r, const struct fh_tpl_node *call, struct fh_tpl_value args[FH_TPL_ARGS]);

/* ---- templates of several files (template_files.c) ---- */

struct fh_tpl_scope *fh_tpl_scope_new(struct fh_tpl_render *r, const struct fh_text_template *t, json_t *vars);
/* Renders the template of the current scope, and what it extends. */
void fh_tpl_scope_render(struct fh_tpl_render *r);
void fh_tpl_scopes_release(struct fh_tpl_render *r);
void fh_tpl_render_include(struct fh_tpl_render *r, const struct fh_tpl_node *node);
void fh_tpl_render_import(struct fh_tpl_render *r, const struct fh_tpl_node *node);
void fh_tpl_render_extends(struct fh_tpl_render *r, const struct fh_tpl_node *node);
void fh_tpl_render_named_block(struct fh_tpl_render *r, const struct fh_tpl_node *node);
struct fh_tpl_value fh_tpl_render_super(struct fh_tpl_render *r, const struct fh_tpl_node *call);

/* ---- working with values ---- */

struct fh_tpl_value fh_tpl_value_bool(bool truth);
struct fh_tpl_value fh_tpl_value_number(double number);
struct fh_tpl_value fh_tpl_value_string(struct fh_tpl_render *r, struct fh_str s);
struct fh_tpl_value fh_tpl_value_take(struct fh_tpl_render *r,
                                      struct fh_buf *b);         /* the buffer's text as a string; releases b */
struct fh_tpl_value fh_tpl_value_from_json(json_t *json);        /* makes a value that borrows json */
struct fh_tpl_value fh_tpl_value_array(struct fh_tpl_render *r); /* a new, empty one */
struct fh_tpl_value fh_tpl_value_object(struct fh_tpl_render *r);
FH_OWN json_t *fh_tpl_value_to_json(struct fh_tpl_value v); /* a new reference; values that JSON lacks become null */
void fh_tpl_value_append(struct fh_tpl_render *r, struct fh_tpl_value array, struct fh_tpl_value item);
struct fh_str fh_tpl_value_str(struct fh_tpl_value v); /* v has to be a string */
bool fh_tpl_value_truthy(struct fh_tpl_value v);
double fh_tpl_value_to_number(struct fh_tpl_value v);
struct fh_tpl_value fh_tpl_add(struct fh_tpl_render *r, struct fh_tpl_value a,
                               struct fh_tpl_value b);              /* JavaScript's a + b */
void fh_tpl_value_write(struct fh_buf *out, struct fh_tpl_value v); /* appends v as JavaScript's String(v) */
struct fh_tpl_value fh_tpl_value_to_string(struct fh_tpl_render *r, struct fh_tpl_value v);
bool fh_tpl_value_strict_equal(struct fh_tpl_value a, struct fh_tpl_value b);
bool fh_tpl_value_loose_equal(struct fh_tpl_value a, struct fh_tpl_value b);
/* -1, 0, 1, or 2 when they are unordered (NaN). */
int fh_tpl_value_compare(struct fh_tpl_value a, struct fh_tpl_value b);
struct fh_tpl_value fh_tpl_value_member(struct fh_tpl_render *r, struct fh_tpl_value object, struct fh_tpl_value key);
size_t fh_tpl_value_length(
    struct fh_tpl_value v); /* length of a string (UTF-16 units), an array or an object (keys); else 0 */
struct fh_tpl_value fh_tpl_value_item(struct fh_tpl_render *r, struct fh_tpl_value list,
                                      size_t i); /* list: an array or a string */

/* ---- text (template_text.c): indices count UTF-16 units, as JavaScript's do ---- */

size_t fh_tpl_text_units(struct fh_str s);
/* Units [from, to) of s; half a surrogate pair becomes U+FFFD. */
struct fh_tpl_value fh_tpl_text_slice(struct fh_tpl_render *r, struct fh_str s, size_t from, size_t to);
struct fh_str fh_tpl_text_trim(struct fh_str s, bool left, bool right);
/* Byte offset of `needle` at or after from, or -1. */
ssize_t fh_tpl_text_find(struct fh_str s, struct fh_str needle, size_t from);

/* ---- regular expressions (template_regex.c); `regex` is a FH_TPL_REGEX ---- */

bool fh_tpl_regex_test(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s);
struct fh_tpl_value fh_tpl_regex_replace(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s,
                                         struct fh_str with);
struct fh_tpl_value fh_tpl_regex_match(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s);
struct fh_tpl_value fh_tpl_regex_split(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s);

/* ---- tables ---- */

#define FH_TPL_FILTER_PARAMS 3
struct fh_tpl_filter {
	const char *name;
	struct fh_tpl_value (*apply)(struct fh_tpl_render *r, struct fh_tpl_value value, const struct fh_tpl_value *args);
	const char *params[FH_TPL_FILTER_PARAMS]; /* names for named arguments */
};
struct fh_tpl_value fh_tpl_filter_urlize(struct fh_tpl_render *r, struct fh_tpl_value v,
                                         const struct fh_tpl_value *args);
const struct fh_tpl_filter *fh_tpl_filter_find(const char *name);
extern const struct fh_tpl_filter fh_tpl_filters[];      /* the last has name NULL */
extern const struct fh_tpl_filter fh_tpl_filters_text[]; /* filters of strings; the last has name NULL */

/* A method such as "x".trim(); *ret_known false when the value has no such method. */
struct fh_tpl_value fh_tpl_method_call(struct fh_tpl_render *r, struct fh_tpl_value self, const char *name,
                                       const struct fh_tpl_value *args, size_t n_args, bool *ret_known);
/* Applies a test of `is` or select; *ret_known is false when no test has that name. */
bool fh_tpl_test_apply(const char *name, struct fh_tpl_value value, struct fh_tpl_value argument, bool *ret_known);
/* An operator: its text, its function, and its precedence in JavaScript; the parser uses this table too. */
struct fh_tpl_operator {
	const char *text;
	struct fh_tpl_value (*apply)(struct fh_tpl_render *r, struct fh_tpl_value a, struct fh_tpl_value b);
	enum fh_tpl_level {
		FH_TPL_LEVEL_CALL,
		FH_TPL_LEVEL_COMPARE,
		FH_TPL_LEVEL_ADD,
		FH_TPL_LEVEL_MULTIPLY
	} level; /* in JavaScript */
};
const struct fh_tpl_operator *fh_tpl_operator_find(const char *text);
