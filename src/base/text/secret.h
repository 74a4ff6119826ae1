/* SPDX-License-Identifier: MIT */
/* Recognizes names of secrets, among environment variables, settings and headers. */
#pragma once
#include "base/base.h"

/* "apiKey", "OPENAI_API_KEY", "password", "client_secret", "authToken" …, but not "max_tokens" or "keyword". */
bool fh_secret_name(const char *name);
/* Minimum bytes of a value that is kept secret; shorter ones could be common words. */
enum { FH_SECRET_MIN = 8 };
