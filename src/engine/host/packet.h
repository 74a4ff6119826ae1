/* SPDX-License-Identifier: MIT */
/* One packet with descriptors over a SOCK_SEQPACKET socket. Nothing is allocated, so it can be used after fork. */
#pragma once
#include <sys/types.h>
#include "base/base.h"

enum { FH_PACKET_FDS_MAX = 32 };

/* 0, or -errno (-EAGAIN: the socket is non-blocking and full). */
int fh_packet_send(int socket, const void *message, size_t size, const int *fds, size_t fd_count);
/* Returns the size; 0: the other end is closed; or -errno. The caller owns the received descriptors, which are
 * close-on-exec. A packet larger than `size`, or with more descriptors, fails with -EMSGSIZE, and its descriptors are
 * closed. */
ssize_t fh_packet_receive(int socket, void *buffer, size_t size, int fds[FH_PACKET_FDS_MAX], int *ret_count);
