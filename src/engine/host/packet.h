/* SPDX-License-Identifier: MIT */
/* One packet with descriptors over a SOCK_SEQPACKET socket. Nothing is allocated: for use after fork, too. */
#pragma once
#include <sys/types.h>
#include "base/base.h"

enum { FH_PACKET_FDS_MAX = 32 };

/* 0, or -errno (-EAGAIN: the socket does not block and is full). */
int fh_packet_send(int socket, const void *message, size_t size, const int *fds, size_t fd_count);
/* Size; 0: the other end is closed; -errno. The descriptors, close-on-exec, are the caller's. A packet that is larger
 * than `size`, or brings more descriptors, is -EMSGSIZE, and what came with it is closed. */
ssize_t fh_packet_receive(int socket, void *buffer, size_t size, int fds[FH_PACKET_FDS_MAX], int *ret_count);
