/* SPDX-License-Identifier: MIT */
#pragma once

enum { FH_UUID_SIZE = 37 };
/* A random UUID, version 4 (RFC 9562, section 5.4), in lower case. */
void fh_uuid(char ret[FH_UUID_SIZE]);
