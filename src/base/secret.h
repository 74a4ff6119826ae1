/* SPDX-License-Identifier: MIT */
/* Which names stand for secrets: of environment variables, of settings, of headers. */
#pragma once
#include "base/base.h"

/* "apiKey", "OPENAI_API_KEY", "password", "client_secret", "authToken" …, but not "max_tokens" or "keyword". */
bool fh_secret_name(const char *name);
