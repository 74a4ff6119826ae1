/* SPDX-License-Identifier: MIT */
/* Removes the secrets that a provider was given from its responses: a server may return what it was sent. */
#pragma once
#include "provider/response.h"

/* Adds a value to a NULL-terminated list, which starts as NULL. Values that are too short, or in the list already, are
 * left out. */
void fh_secrets_add(char ***list, FH_NULLABLE const char *value);
/* Adds the values of all members, at any depth, whose names suggest a secret. */
void fh_secrets_add_all(char ***list, FH_NULLABLE const json_t *config);
void fh_secrets_free(char **list);
/* Replaces every occurrence by "[REDACTED]". */
void fh_secrets_remove(char *const *list, struct fh_provider_response *response);
