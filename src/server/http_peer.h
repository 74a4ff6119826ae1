/* SPDX-License-Identifier: MIT */
/* Which user owns the other end of a TCP connection within this machine, from the kernel's tables of sockets
 * (/proc/net/tcp and tcp6; proc_net_tcp.rst in the kernel's documentation). */
#pragma once
#include "base/base.h"

/* False: the other end is not in this network namespace, or the tables cannot be read. */
bool fh_http_socket_peer_uid(int fd, uid_t *ret);
