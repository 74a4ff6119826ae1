/* SPDX-License-Identifier: MIT */
/* The two pure halves of the openai type, for its tests: settings to a request, an answer to a response. */
#pragma once
#include "provider/provider.h"

struct fh_openai_defaults {
	FH_NULLABLE const char *temperature; /* OPENAI_TEMPERATURE */
	FH_NULLABLE const char *max_tokens;  /* OPENAI_MAX_TOKENS */
};
/* The body of POST /chat/completions; new reference. */
FH_OWN json_t *fh_openai_request(const char *model, const json_t *config, const struct fh_openai_defaults *defaults,
                                 struct fh_str prompt);
/* Fills the response from a server's answer, whatever came. */
void fh_openai_parse(int status, const char *content_type, struct fh_str body, const json_t *config,
                     struct fh_provider_response *ret);
