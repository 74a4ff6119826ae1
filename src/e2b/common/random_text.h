/* SPDX-License-Identifier: MIT */
/* Names and secrets that cannot be guessed. */
#pragma once
#include <stddef.h>

/* Writes n random characters of a-z and 0-9, and a NUL. */
void fh_random_text(char *to, size_t n);
