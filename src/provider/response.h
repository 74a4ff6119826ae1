/* SPDX-License-Identifier: MIT */
/* What a provider answered: an output or an error, and what it cost. */
#pragma once
#include "base/buf.h"
#include "json/json.h"

/* Largest count of tokens that is accepted from a server, so that sums cannot overflow; a larger one counts as
 * missing. */
#define FH_TOKENS_MAX ((int64_t)1 << 53)
struct fh_tokens {
	int64_t total, prompt, completion, cached; /* -1: the server did not say */
};
#define FH_TOKENS_INIT                                                                                                 \
	{                                                                                                                  \
		-1, -1, -1, -1                                                                                                 \
	}

/* Start with FH_PROVIDER_RESPONSE_INIT; release after use. */
struct fh_provider_response {
	FH_NULLABLE json_t
	    *output; /* any JSON value, usually a string; JSON null when the provider gave null; NULL with an error */
	FH_NULLABLE char *error; /* error message for the user; untrusted text */
	struct fh_tokens tokens;
	double cost;                     /* cost in US dollars; -1: unknown */
	bool cached;                     /* as the provider says, or because our own cache gave the answer */
	bool kept;                       /* our own cache gave the answer: latency_ms is meaningless */
	double latency_ms;               /* duration from the call to the answer, with retries and their pauses */
	double first_token_ms;           /* duration from the call to the first streamed text; 0: not streamed */
	FH_NULLABLE char *finish_reason; /* "stop", "length" … in the server's words */
	FH_NULLABLE json_t *raw;         /* the complete answer of the server or script */
	FH_NULLABLE json_t *metadata;    /* an object, or NULL */
	FH_NULLABLE json_t *log_probs;   /* log probabilities of the answer's tokens: array of numbers */
	FH_NULLABLE json_t *extra;       /* object: further members of a script's answer (guardrails, trace …) */
};
#define FH_PROVIDER_RESPONSE_INIT                                                                                      \
	{                                                                                                                  \
		.tokens = FH_TOKENS_INIT, .cost = -1                                                                           \
	}
void fh_provider_response_release(struct fh_provider_response *r); /* resets it to FH_PROVIDER_RESPONSE_INIT */
#define fh_auto_provider_response FH_CLEANUP(fh_provider_response_release)

/* Makes the response an error with this message; its other members stay. */
void fh_response_fail(struct fh_provider_response *ret, const char *format, ...) FH_PRINTF(2, 3);
/* Appends at most `max` bytes of s (cut between UTF-8 characters) and says how much was left out. */
void fh_response_excerpt(struct fh_buf *out, struct fh_str s, size_t max);
