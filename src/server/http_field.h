/* SPDX-License-Identifier: MIT */
/* The fields of a head, as both sides of a server read them: a client's request, and what answers it inside a sandbox.
 */
#pragma once
#include "base/base.h"

/* Whether it is a token of RFC 9110, section 5.6.2, as the names of fields are. Readers that take another name for one,
 * as with a space before the colon, disagree on what the head says. */
bool fh_http_is_field_name(const char *text);
