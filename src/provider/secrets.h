/* SPDX-License-Identifier: MIT */
/* The secrets that a provider was given, and a response without them: a server may send back what it was sent. */
#pragma once
#include "provider/provider.h"

#define FH_SECRET_MIN 8 /* shorter values are words that stand elsewhere too */

/* A list, NULL-terminated; starts as NULL. Values that are too short, or there already, are left out. */
void fh_secrets_add(char ***list, FH_NULLABLE const char *value);
/* The values of members whose names stand for secrets, at any depth. */
void fh_secrets_add_all(char ***list, FH_NULLABLE const json_t *config);
void fh_secrets_free(char **list);
/* Every occurrence becomes "[REDACTED]". */
void fh_secrets_remove(char *const *list, struct fh_provider_response *response);
