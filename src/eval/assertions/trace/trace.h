/* SPDX-License-Identifier: MIT */
/*
 * Assertions on what an agent did: trace-* (spans) and trajectory:* (steps made of spans).
 *
 * The trace is `metadata.trace` of the provider's answer: {traceId?, metadata?, spans: [{spanId?, name, startTime?,
 * endTime?, attributes?, statusCode?, statusMessage?}]}, times in milliseconds, in the form that promptfoo keeps a
 * trace in. The provider's answer is untrusted: a trace of another form makes the row an error.
 */
#pragma once
#include "eval/assertions/kinds.h"
#include "eval/common/pattern.h"
#include "eval/grading/grade.h"

#define FH_TRACE_SPANS_MAX 20000

/* The trace of the answer, each of whose spans is an object with a name. Borrowed from call->response. */
int fh_trace_of(const struct fh_assertion_call *call, const json_t **ret, struct fh_error *err);
/* Sets a grade of 1 or 0 and the reason, which it takes out of the buffer. Returns 0. */
int fh_trace_grade(struct fh_grade *ret, bool pass, struct fh_buf *reason);
/* An error about what the assertion says: its type and the message. */
int fh_trace_wrong(const struct fh_assertion_call *call, struct fh_error *err, const char *what);
/* A number of the assertion's value. *ret_given tells whether it is there; anything but a number is an error. */
int fh_trace_number(const struct fh_assertion_call *call, const char *key, bool *ret_given, double *ret,
                    struct fh_error *err);
/* Compiles a pattern with * and ?, which matches whole names without regard to case. */
int fh_trace_pattern(const char *pattern, pcre2_code **ret, struct fh_error *err);
/* "a, b, c": adds the separator before every item but the first. */
void fh_trace_add_item(struct fh_buf *out, const char *item);

/* A number as JavaScript writes it, with text before and behind it. */
void fh_trace_add_number(struct fh_buf *out, const char *before, double n, const char *behind);
/* " (expected 1-3)", " (expected at least 1)" or " (expected at most 3)"; nothing without bounds. */
void fh_trace_add_range(struct fh_buf *out, FH_NULLABLE const double *min, FH_NULLABLE const double *max);

/* What a span shows that the agent did. */
struct fh_trace_step {
	const json_t *span;
	const char *type; /* "command", "tool", "search", "reasoning", "message" or "span" */
	char *name;       /* the tool's name, the command or what was searched for, after the type */
	char *alias;      /* a further name that patterns match: the tool of a command, "reasoning" …; NULL: none */
	char *program;    /* the first word of a command; NULL: none */
	json_t *args;     /* of a tool; NULL: none were recorded */
};
struct fh_trace_steps {
	struct fh_trace_step *items;
	size_t n;
};
void fh_trace_steps_release(struct fh_trace_steps *s);
#define fh_auto_trace_steps FH_CLEANUP(fh_trace_steps_release)
/* The steps in the order of their times. */
void fh_trace_steps_of(const json_t *trace, struct fh_trace_steps *ret);

/* Which steps are meant: those of a type (or of several) with a name. */
struct fh_trace_matcher {
	const json_t *types;    /* a string or a list of them; NULL: any */
	const char *usual_type; /* the type where `types` is NULL; NULL: any */
	const char *label;      /* the pattern as written; "*" when there is none */
	bool named;             /* there is a pattern */
	pcre2_code *code;       /* NULL: any name */
};
void fh_trace_matcher_release(struct fh_trace_matcher *m);
#define fh_auto_trace_matcher FH_CLEANUP(fh_trace_matcher_release)
/* From a pattern, or {name or pattern, type}; borrows from `value`. */
int fh_trace_matcher_init(struct fh_trace_matcher *m, const struct fh_assertion_call *call, const json_t *value,
                          FH_NULLABLE const char *usual_type, struct fh_error *err);
bool fh_trace_matches(const struct fh_trace_matcher *m, const struct fh_trace_step *step);

/* "type:name" of each step, with commas; "(none)" without any. of_type: only steps of that type; NULL: all. matcher:
 * only those that match; NULL: all. */
void fh_trace_add_steps(struct fh_buf *out, const struct fh_trace_steps *steps, FH_NULLABLE const char *of_type,
                        FH_NULLABLE const struct fh_trace_matcher *matcher);
static inline bool fh_trace_is_tool(const struct fh_trace_step *step)
{
	return fh_streq(step->type, "tool");
}
