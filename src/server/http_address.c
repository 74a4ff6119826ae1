/* SPDX-License-Identifier: MIT */
#include "server/http_address.h"

#include <arpa/inet.h>

int fh_http_address(const char *text, uint64_t port, struct sockaddr_storage *ret, bool *ret_loopback,
                    struct fh_error *err)
{
	struct sockaddr_storage a = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&a;
	if (port > UINT16_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "--port must be from 0 to 65535");
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*ret_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		*ret_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	} else {
		return fh_error_set(err, FH_E_ARGUMENT, "--address %s is not an IPv4 or IPv6 address", text);
	}
	*ret = a;
	return 0;
}
