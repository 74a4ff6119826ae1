/* SPDX-License-Identifier: MIT */
/* Functions of model providers that need no server, for tests: building requests, reading answers. */
#pragma once
#include "provider/model/service.h"

/* Finds the wire and the model's name for an id; NULL when the id is invalid, and *ret_wrong says what is wrong with
 * it. */
FH_NULLABLE const struct fh_wire *fh_model_parse_id(const char *id, const struct fh_service **ret_service,
                                                    const char **ret_model, const char **ret_wrong);
/* Fills the response from a complete answer, streamed or not, whatever it contains. */
void fh_model_answer(const struct fh_wire *wire, int status, const char *content_type, struct fh_str body,
                     FH_NULLABLE const json_t *config, struct fh_provider_response *ret);
