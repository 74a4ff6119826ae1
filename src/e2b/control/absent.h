/* SPDX-License-Identifier: MIT */
/* What E2B's API offers and this server does not. It is refused by name, so that no client believes that it has it. */
#pragma once
#include "e2b/hosted/e2b.h"

/* Whether a request to create a sandbox wants something that is absent; it has then been answered. */
bool fh_control_wants_absent(struct fh_http_request *r, const json_t *body);
/* Warns in the sandbox's log of rules that would open a way out: there is none. rules: may be NULL. */
void fh_control_note_closed(struct fh_hosted *h, FH_NULLABLE const json_t *rules);
