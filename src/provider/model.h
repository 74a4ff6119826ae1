/* SPDX-License-Identifier: MIT */
/* The pure halves of asking a model, for tests: what is sent, and what an answer is. */
#pragma once
#include "provider/service.h"

/* Which wire an id speaks and what its model is called; NULL, and *ret_wrong says what is, when it is none of ours. */
FH_NULLABLE const struct fh_wire *fh_model_parse_id(const char *id, const struct fh_service **ret_service,
                                                    const char **ret_model, const char **ret_wrong);
/* Fills the response from a whole answer, streamed or not, whatever came. */
void fh_model_answer(const struct fh_wire *wire, int status, const char *content_type, struct fh_str body,
                     FH_NULLABLE const json_t *config, struct fh_provider_response *ret);
