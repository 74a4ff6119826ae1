/* SPDX-License-Identifier: MIT */
/* Where a server listens, as --address and --port say it. */
#pragma once
#include <sys/socket.h>
#include "base/error.h"

/* text: an IPv4 or IPv6 address. *ret_loopback: only this machine reaches it. */
int fh_http_address(const char *text, uint64_t port, struct sockaddr_storage *ret, bool *ret_loopback,
                    struct fh_error *err);
