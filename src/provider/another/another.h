/* SPDX-License-Identifier: MIT */
/* What the types share that ask other providers, several times for one answer (sequence.c, simulated_user.c). */
#pragma once
#include "provider/provider.h"

#define FH_ANOTHER_TEXT_MAX ((size_t)64 << 20) /* maximum bytes of the text that is made of all answers */

/* Prepares the response that sums up the calls. */
void fh_another_begin(struct fh_provider_response *sum);
/* Calls `asked` and adds what that took to *sum: tokens, dollars, time. An error of it becomes that of the sum. The
 * caller releases *ret in any case. */
int fh_another_ask(struct fh_provider *asked, const struct fh_provider_request *request,
                   struct fh_provider_response *sum, struct fh_provider_response *ret, struct fh_error *err);
/* Appends an output as a text: a string itself, null as nothing, everything else as JSON. */
int fh_another_add_text(struct fh_buf *out, FH_NULLABLE const json_t *output);
/* The variables of the row that a request is for, with the prompt as `prompt`. New reference. */
FH_OWN json_t *fh_another_vars(const struct fh_provider_request *request);
/* Renders a template of the config. free() *ret. */
int fh_another_render(const char *text, const json_t *vars, char **ret, struct fh_error *err);
