/* SPDX-License-Identifier: MIT */
/* What a request to the control API has to be before it is acted on: a member of another type, or a rule that cannot be
 * meant, is refused with 400, as E2B's API does, and not left out. Source: the NewSandbox and SandboxNetworkConfig
 * schemas of E2B's API, and the checks of its server. */
#pragma once
#include "e2b/hosted/e2b.h"

/* Checks the types of a body's members by name; null stands for a missing member. False after replying with 400. */
bool fh_control_check_members(struct fh_http_request *r, const json_t *body);
/* Checks the settings of network in a request to create a sandbox or to change its rules; NULL: there are none. */
bool fh_control_check_network(struct fh_http_request *r, FH_NULLABLE const json_t *network);
/* Checks what of a request's members goes together. */
bool fh_control_check_lifecycle(struct fh_http_request *r, json_t *body);
/* Takes out of the settings of network what E2B's API never tells again and nothing here needs: a proxy's password and
 * certificate. NULL: there are none. */
void fh_control_forget_secrets(FH_NULLABLE json_t *network);
