/* SPDX-License-Identifier: MIT */
/* What the branch of a context and its client agree on about the proxy (guest/context/proxy.c), and the program
 * itself, embedded in the library. */
#pragma once

#define FH_PROXY_LISTENS "listening" /* a line on its stdout, once the branch may connect */
enum { FH_PROXY_UNKNOWN = 254 };     /* the proxy's exit code where it cannot find out how the branch ended */

extern const unsigned char fh_proxy_image[];
extern const unsigned long fh_proxy_image_size;
