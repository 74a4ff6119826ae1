/* SPDX-License-Identifier: MIT */
/* Packets with descriptors over a Unix socket, for programs without a C library (unix(7), cmsg(3)). */
#pragma once
#include <stddef.h>

enum { FH_SENT_FDS_MAX = 20 }; /* descriptors in one packet; a zygote gets up to 19 */

/* Sends one packet with at most FH_SENT_FDS_MAX descriptors, which stay the caller's. Returns its size, or -errno. */
long fh_send_packet(int socket, const void *packet, size_t size, const int *fds, int count);

/* Receives one packet, with at most FH_SENT_FDS_MAX descriptors that are the caller's from then on (closed on exec).
 * Returns its size; 0 at the end; or -errno, -EBADMSG for one that does not fit. Only a packet comes with descriptors.
 */
long fh_receive_packet(int socket, void *to, size_t size, int fds[FH_SENT_FDS_MAX], int *ret_count);

void fh_close_all(const int *fds, int count);
