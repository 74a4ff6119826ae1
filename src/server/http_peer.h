/* SPDX-License-Identifier: MIT */
/* Whose process holds the other end of a TCP connection within this machine, as the kernel's tables of sockets say
 * (/proc/net/tcp and tcp6, proc_net_tcp.rst of the kernel's documentation). */
#pragma once
#include "base/base.h"

/* False: it is not a socket of this network namespace, or the tables cannot be read. */
bool fh_http_socket_peer_uid(int fd, uid_t *ret);
