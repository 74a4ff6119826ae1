/* SPDX-License-Identifier: MIT */
#include "server/http_peer.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* An end of a connection in the form of the tables: the address as words in memory order, and the port. */
struct end {
	uint32_t word[4];
	unsigned port;
};

/* Converts an address. An IPv4 address becomes ::ffff:a.b.c.d, as an IPv6 socket that uses it is listed. */
static bool end_of(const struct sockaddr_storage *a, struct end *ret)
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;
	if (a->ss_family == AF_INET)
		*ret = (struct end){ { 0, 0, htonl(0xffff), v4->sin_addr.s_addr }, ntohs(v4->sin_port) };
	else if (a->ss_family == AF_INET6)
		memcpy(ret->word, &v6->sin6_addr, sizeof(ret->word)), ret->port = ntohs(v6->sin6_port);
	else
		return false;
	return true;
}

static bool same(const struct end *a, const struct end *b)
{
	return a->port == b->port && memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

/* Parses "0100007F:1F90" (IPv4), or four such words before the colon (IPv6). */
static bool read_end(const char *text, struct end *ret)
{
	size_t digits = strcspn(text, ":");
	*ret = (struct end){ { 0, 0, htonl(0xffff), 0 }, 0 };
	if (digits != 8 && digits != 32)
		return false;
	for (size_t i = 0; i < digits / 8; i++)
		if (sscanf(text + 8 * i, "%8" SCNx32, &ret->word[digits == 8 ? 3 : i]) != 1)
			return false;
	return sscanf(text + digits, ":%x", &ret->port) == 1;
}

static bool find(const char *table, const struct end *local, const struct end *remote, uid_t *ret)
{
	FILE *f = fopen(table, "re");
	char line[512], from[64], to[64];
	bool found = false;
	while (f && !found && fgets(line, sizeof(line), f)) {
		struct end a, b;
		unsigned uid;
		/* The columns: sl local remote state tx:rx tr:when retransmits uid */
		if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %u", from, to, &uid) == 3 && read_end(from, &a) &&
		    read_end(to, &b) && same(&a, local) && same(&b, remote)) {
			*ret = (uid_t)uid;
			found = true;
		}
	}
	if (f)
		(void)fclose(f);
	return found;
}

bool fh_http_socket_peer_uid(int fd, uid_t *ret)
{
	struct sockaddr_storage ours = { 0 }, theirs = { 0 };
	socklen_t a = sizeof(ours), b = sizeof(theirs);
	struct end local, remote;
	if (getsockname(fd, (struct sockaddr *)&ours, &a) < 0 || getpeername(fd, (struct sockaddr *)&theirs, &b) < 0 ||
	    !end_of(&theirs, &local) || !end_of(&ours, &remote))
		return false;
	return find("/proc/net/tcp", &local, &remote, ret) || find("/proc/net/tcp6", &local, &remote, ret);
}
