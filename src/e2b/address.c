/* SPDX-License-Identifier: MIT */
#include "e2b/address.h"

bool fh_e2b_address_of_host(FH_NULLABLE const char *host, struct fh_e2b_address *ret)
{
	char *end;
	unsigned long port = host && *host >= '0' && *host <= '9' ? strtoul(host, &end, 10) : 0;
	if (port == 0 || port > 65535 || *end != '-')
		return false;
	size_t n = strspn(++end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	if (n == 0 || n >= sizeof(ret->id) || end[n] != '.')
		return false;
	for (size_t i = 0; i < n; i++) /* names of hosts are the same in both cases */
		ret->id[i] = end[i] >= 'A' && end[i] <= 'Z' ? (char)(end[i] | 0x20) : end[i];
	ret->id[n] = '\0';
	ret->port = (unsigned)port;
	return true;
}
