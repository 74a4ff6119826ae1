/* SPDX-License-Identifier: MIT */
/*
 * A kind of assertion: a name, and a function that grades an output.
 *
 * Each kind (or family of kinds) has a file of its own in assertions/ and a row in the table of assertions/table.c; its
 * name occurs nowhere else. Checks have to be thread-safe, keep no state, and treat all arguments as read-only and
 * borrowed: JSON values are shared between rows (copy them before changing them).
 *
 * A check that cannot be carried out as written (a missing value, a missing handler) returns a negative code and makes
 * the row an error; any problem that the *output* causes is a grade that did not pass.
 */
#pragma once
#include "base/base.h"
#include "json/json.h"

struct fh_services;
struct fh_graders;
struct fh_assertion;

/* The outcome of a check. The check gets it zeroed; the caller owns it once the check returned 0 (fh_grade_release
 * frees it). */
struct fh_grade {
	bool pass;
	double score;         /* usually 0 or 1 */
	char *reason;         /* one line or more, untrusted text; NULL becomes "Assertion passed" or "Assertion failed" */
	json_t *named_scores; /* object of numbers, or NULL */
	json_t *components;   /* array of results in the form of the outputs' componentResults, or NULL */
	json_t *tokens_used;  /* object, or NULL */
	json_t *metadata;     /* object shown with the result (run status, usage, stdout …), or NULL */
	char *comment;        /* NULL: no comment */
};
void fh_grade_release(struct fh_grade *g);

struct fh_assertion_call {
	const struct fh_assertion *kind;
	bool inverse;                     /* the type was written with "not-" */
	const json_t *assertion;          /* the assertion object as the config has it */
	FH_NULLABLE const json_t *value;  /* the assertion's `value`, loaded from file:// and rendered; NULL: not given */
	FH_NULLABLE const json_t *config; /* the assertion's `config`, an object */
	bool has_threshold;
	double threshold;
	const json_t *output; /* output of the provider, or of the last transform; any JSON value, usually a string */
	const json_t *provider_output; /* the output before the test's own transform, of which contextTransform takes */
	struct fh_str output_text;     /* output if it is a string, else output as one line of JSON; NUL-terminated */
	const char *prompt;            /* the rendered prompt */
	const json_t *vars;            /* object: the row's variables, rendered */
	const json_t *test;            /* object: the test case as merged with defaultTest */
	const json_t *provider;        /* object: {id, label, config?} */
	const json_t *response; /* object: the provider's response: output, cost?, cached?, metadata?, logProbs? … */
	double latency_ms;      /* duration of the provider's call */
	bool kept;              /* the response came from our own cache: latency_ms is meaningless */
	const char *config_dir; /* folder of the config: relative file:// paths start here; absolute */
	struct fh_services *services;           /* sandboxes, script workers (eval/services/services.h) */
	FH_NULLABLE struct fh_graders *graders; /* models that grade (eval/checking/graders.h) */
};

struct fh_assertion {
	const char *name; /* the config's `type`, without "not-" */
	int (*check)(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err);
	/* Refuses, while the config is loaded, mistakes that the assertion object shows before its templates are rendered.
	 * The message names the key; the loader adds file and line. NULL: nothing to check. */
	int (*validate)(const json_t *assertion, struct fh_error *err);
	/* The check gets `value` as written in the config, with file:// not loaded: scripts load their files themselves. */
	bool raw_file_value;
	/* A model grades, in words (not by vectors or classes). */
	bool graded;
	/* What its graders are asked for: bits 1 << enum fh_provider_operation. */
	unsigned asks;
	/* The kind has further keys beside those of every assertion, and `validate` checks all of them. */
	bool own_keys;
};

/* The kind with this name (without "not-"), or NULL. */
FH_NULLABLE const struct fh_assertion *fh_assertion_find(const char *name);
/* The i-th kind of the table, for messages and docs; NULL behind the last. */
const struct fh_assertion *fh_assertion_at(size_t i);

/* Sets *ret to a grade of pass or fail: pass = holds != inverse, score 1 or 0, the reason only when it failed
 * ("Assertion passed" otherwise). Always returns 0. */
int fh_grade_set(struct fh_grade *ret, const struct fh_assertion_call *call, bool holds, const char *reason, ...)
    FH_PRINTF(4, 5);
/* "not " for an inverse call, else "": for reasons such as "Expected output to %scontain …". */
static inline const char *fh_call_not(const struct fh_assertion_call *call)
{
	return call->inverse ? "not " : "";
}

/* The `context` object that user scripts get beside the output: prompt, vars, test, logProbs, provider,
 * providerResponse and metadata, which may be empty; config and trace when there are any. New reference. */
FH_OWN json_t *fh_assertion_context(const struct fh_assertion_call *call);
/* Time limit of this assertion's script, from its config.timeout (ms); 0: the general limit for scripts. */
uint64_t fh_assertion_script_timeout(const struct fh_assertion_call *call);
