/* SPDX-License-Identifier: MIT */
#include "server/http_host.h"

#include <arpa/inet.h>

bool fh_http_host_name(const char *host, char ret[FH_HTTP_HOST_SIZE])
{
	const char *end;
	bool bracket = *host == '[';
	if (bracket)
		host++;
	end = strchr(host, bracket ? ']' : ':');
	size_t n = end ? (size_t)(end - host) : strlen(host);
	if (n == 0 || n >= FH_HTTP_HOST_SIZE || (bracket && !end))
		return false;
	const char *rest = end ? end + bracket : host + n;
	if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	memcpy(ret, host, n);
	ret[n] = '\0';
	return true;
}

bool fh_http_host_is_address(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}
