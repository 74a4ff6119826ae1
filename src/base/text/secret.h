/* SPDX-License-Identifier: MIT */
/* Recognizes names of secrets, among environment variables, settings and headers. */
#pragma once
#include "base/base.h"

/* "apiKey", "OPENAI_API_KEY", "password", "client_secret", "authToken" …, but not "max_tokens" or "keyword". */
bool fh_secret_name(const char *name);
