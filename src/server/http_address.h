/* SPDX-License-Identifier: MIT */
/* The address at which a server listens, from --address and --port. */
#pragma once
#include <sys/socket.h>
#include "base/error.h"

/* text: an IPv4 or IPv6 address. *ret_loopback: only this machine can reach it. */
int fh_http_address(const char *text, uint64_t port, struct sockaddr_storage *ret, bool *ret_loopback,
                    struct fh_error *err);
