/* SPDX-License-Identifier: MIT */
/*
 * Counts memory in the buffers of the sandbox's sockets: of network sockets, which control groups v1 do not count, and
 * of unix sockets; the pages that they hold beyond that (fragments.c); and the sockets themselves, where there are very
 * many. The kernel reports the buffers of each socket over a sock_diag socket. Set-up opens that before the seccomp
 * filter is loaded (no program can open one), in the sandbox's network namespace, so it shows no other sockets.
 *
 * A connection that nobody has accepted is a socket that belongs to no descriptor. It waits in the queue of a listener,
 * which holds thousands, when its client is long gone. sock_diag does not show it where it is a unix socket or was
 * reset, and no control group of any version is charged for one of TCP, which the kernel makes while it handles a
 * packet. What tells of these is the namespace's number of sockets alone. The same holds of connections that have
 * ended.
 *
 * Sources: sock_diag(7), linux/inet_diag.h, linux/unix_diag.h, linux/sock_diag.h; proc_pid_net(5); sk_alloc(),
 * sk_clone_lock() in net/core/sock.c.
 */
#include "init/init.h"

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { BUFFER = 32768 };
static char buffer[BUFFER] __attribute__((aligned(8)));

/* Bytes held by one socket: received and not read, sent and not delivered, and reserved for either. */
static uint64_t of_memory(const uint32_t *m, uint32_t count)
{
	uint64_t sent = m[SK_MEMINFO_WMEM_ALLOC];
	if (count > SK_MEMINFO_WMEM_QUEUED && m[SK_MEMINFO_WMEM_QUEUED] > sent)
		sent = m[SK_MEMINFO_WMEM_QUEUED];
	return m[SK_MEMINFO_RMEM_ALLOC] + sent + (count > SK_MEMINFO_FWD_ALLOC ? m[SK_MEMINFO_FWD_ALLOC] : 0) +
	       (count > SK_MEMINFO_OPTMEM ? m[SK_MEMINFO_OPTMEM] : 0) +
	       (count > SK_MEMINFO_BACKLOG ? m[SK_MEMINFO_BACKLOG] : 0);
}

struct sums {
	uint64_t memory, waiting; /* waiting: bytes queued in unix sockets, whose senders may have ended */
	uint64_t of_living;       /* those of them whose senders have not, and so are a part of `memory` */
	uint64_t fragments;       /* the most that fragments of pages can hold */
};

/* What one request asks for, and how its answers read. */
struct dump {
	size_t fixed; /* size of a socket's fixed part */
	int memory_type, waiting_type;
	int is_network, tells_payload;
};

/* payload: bytes that the programs sent and did not receive, where the kernel tells. */
static uint64_t of_fragments(const uint32_t *m, uint32_t count, uint64_t payload)
{
	uint64_t sent = count > SK_MEMINFO_WMEM_QUEUED ? m[SK_MEMINFO_WMEM_QUEUED] : 0;
	uint64_t held = m[SK_MEMINFO_RMEM_ALLOC] + (sent > m[SK_MEMINFO_WMEM_ALLOC] ? sent : m[SK_MEMINFO_WMEM_ALLOC]);
	return fh_fragments_most(held > payload ? held - payload : 0);
}

/* Adds the attributes that follow a socket's fixed part. */
static void add_socket(const char *p, const char *end, const struct dump *d, uint64_t payload, struct sums *s)
{
	enum { BOTH_WAYS = 3 }; /* what a socket is shut down for when its peer has been closed */
	uint64_t waiting = 0;
	int peer_is_gone = 0;
	while (end - p >= (long)sizeof(struct nlattr)) {
		const struct nlattr *a = (const void *)p;
		const uint32_t *values = (const void *)(p + NLA_HDRLEN);
		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - p)
			break;
		uint32_t count = (a->nla_len - NLA_HDRLEN) / 4;
		if (a->nla_type == d->memory_type && count > SK_MEMINFO_WMEM_ALLOC) {
			s->memory += of_memory(values, count);
			s->fragments += d->is_network ? of_fragments(values, count, payload) : 0;
		} else if (d->waiting_type && a->nla_type == d->waiting_type && count >= 1) {
			waiting = values[0];
		} else if (d->waiting_type && a->nla_type == UNIX_DIAG_SHUTDOWN && a->nla_len > NLA_HDRLEN) {
			peer_is_gone = *(const uint8_t *)values == BOTH_WAYS;
		}
		p += NLA_ALIGN(a->nla_len);
	}
	s->waiting += waiting;
	if (peer_is_gone)
		s->fragments += fh_fragments_in(waiting);
	else
		s->of_living += waiting;
}

/* Reads one dump to its end. */
static void read_dump(const struct dump *d, struct sums *s)
{
	for (;;) {
		long n = fh_sys(__NR_recvfrom, FH_INIT_DIAG, buffer, sizeof(buffer), 0, 0, 0);
		if (n == -4 /* EINTR */)
			continue;
		if (n < (long)sizeof(struct nlmsghdr))
			return;
		for (long at = 0; n - at >= (long)sizeof(struct nlmsghdr);) {
			const struct nlmsghdr *h = (const void *)(buffer + at);
			if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > (uint64_t)(n - at))
				return;
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				return;
			if (h->nlmsg_len >= NLMSG_HDRLEN + d->fixed) {
				const struct inet_diag_msg *i = (const void *)(buffer + at + NLMSG_HDRLEN);
				uint64_t payload = d->tells_payload ? (uint64_t)i->idiag_rqueue + i->idiag_wqueue : 0;
				add_socket(buffer + at + NLMSG_HDRLEN + NLMSG_ALIGN(d->fixed), buffer + at + h->nlmsg_len, d, payload,
				           s);
			}
			at += (long)NLMSG_ALIGN(h->nlmsg_len);
		}
	}
}

static int ask(const void *request, size_t size)
{
	struct {
		struct nlmsghdr h;
		char request[sizeof(struct inet_diag_req_v2)];
	} m = { .h = { .nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size),
		           .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		           .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	memcpy(m.request, request, size);
	return fh_sys(__NR_sendto, FH_INIT_DIAG, &m, m.h.nlmsg_len, 0, 0, 0) > 0;
}

/* Whether a file with lines like "name: inuse N" has N above 0 for `name`; 1 if it cannot be read, so that sockets are
 * examined. */
static int in_use(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = text; *p; p++) {
		if ((p == text || p[-1] == '\n') && memcmp(p, name, n) == 0)
			return p[n] != '0';
		while (*p && *p != '\n')
			p++;
		if (!*p)
			break;
	}
	return !*text;
}

/* The files are kept open, since they are read at each look. */
static struct counts {
	const char *path;
	long fd;
	char text[1024];
} counts = { "/proc/self/net/sockstat", -1, "" }, counts6 = { "/proc/self/net/sockstat6", -1, "" };

static void read_counts(struct counts *c)
{
	memset(c->text, 0, sizeof(c->text));
	if (c->fd < 0)
		c->fd = fh_sys(__NR_openat, AT_FDCWD, c->path, O_RDONLY | O_CLOEXEC, 0);
	if (c->fd >= 0) /* leaves room for comparing a name at its end */
		fh_sys(__NR_pread64, c->fd, c->text, sizeof(c->text) - 64, 0);
}

/* Whether the sandbox's sockets can be examined one by one. */
static int can_examine(void)
{
	static int can = -1;
	if (can < 0)
		can = fh_sys(__NR_fcntl, FH_INIT_DIAG, F_GETFD) >= 0;
	return can;
}

/* How many sockets the sandbox's network namespace has, as the kernel told last; 0: not known. */
static uint64_t number(void)
{
	static const char used[] = "sockets: used ";
	const char *p = counts.text + sizeof(used) - 1;
	return fh_begins(counts.text, used) ? fh_number_in(&p, 10) : 0;
}

/* How many connections of TCP have ended, whose records the kernel keeps for a minute: they are no sockets any more. */
static uint64_t ended(void)
{
	static const char name[] = " tw ";
	for (const char *p = counts.text; *p; p++)
		if (fh_begins(p, name)) {
			p += sizeof(name) - 1;
			return fh_number_in(&p, 10);
		}
	return 0;
}

enum { WORTH_TELLING = 2048 /* sockets, which programs with that many descriptors may have */ };

/* What sockets_bytes found last, charged or not. */
static uint64_t unnamed;

uint64_t fh_sockets_unnamed(void)
{
	return unnamed;
}

/* Whether the sandbox has no sockets but the one that init counts with. */
static int are_none(void)
{
	return *counts.text && number() <= (uint64_t)can_examine();
}

int fh_sockets_none(void)
{
	read_counts(&counts);
	if (!are_none() || ended() > WORTH_TELLING)
		return 0;
	unnamed = 0;
	fh_fragments_bytes(0, 0); /* what the host's memory was counts from the next socket on */
	return 1;
}

/* The kernel's own records of the sandbox's sockets. */
static uint64_t of_records(void)
{
	enum {
		RECORD = 2800, /* bytes: struct tcp_sock (tcp6_sock is larger), and struct unix_sock with its first packet */
		RECORD_OF_ENDED = 256, /* struct tcp_timewait_sock */
	};
	return (number() > WORTH_TELLING ? number() * RECORD : 0) +
	       (ended() > WORTH_TELLING ? ended() * RECORD_OF_ENDED : 0);
}

uint64_t fh_sockets_bytes(int are_charged)
{
	static const struct {
		uint8_t family, protocol;
		const char *count;
	} kinds[] = { { AF_INET, IPPROTO_TCP, "TCP: inuse " },
		          { AF_INET, IPPROTO_UDP, "UDP: inuse " },
		          { AF_INET6, IPPROTO_TCP, "TCP6: inuse " },
		          { AF_INET6, IPPROTO_UDP, "UDP6: inuse " } };
	struct sums s = { 0 }, local = { 0 };
	read_counts(&counts);
	if (!can_examine())
		return of_records();
	read_counts(&counts6);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct inet_diag_req_v2 r = { .sdiag_family = kinds[i].family,
			                          .sdiag_protocol = kinds[i].protocol,
			                          .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
			                          .idiag_states = ~0U };
		/* for UDP the queues of the fixed part are memory, not payload */
		struct dump d = { .fixed = sizeof(struct inet_diag_msg),
			              .memory_type = INET_DIAG_SKMEMINFO,
			              .is_network = 1,
			              .tells_payload = kinds[i].protocol == IPPROTO_TCP };
		if (in_use(kinds[i].family == AF_INET ? counts.text : counts6.text, kinds[i].count) && ask(&r, sizeof(r)))
			read_dump(&d, &s);
	}
	struct unix_diag_req u = { .sdiag_family = AF_UNIX, .udiag_states = ~0U, .udiag_show = 0x30 /* RQLEN, MEMINFO */ };
	struct dump d = { .fixed = sizeof(struct unix_diag_msg),
		              .memory_type = UNIX_DIAG_MEMINFO,
		              .waiting_type = UNIX_DIAG_RQLEN };
	if (!are_none() && ask(&u, sizeof(u)))
		read_dump(&d, &local);
	if (local.memory > local.of_living)
		local.fragments += fh_fragments_most(local.memory - local.of_living);
	uint64_t in_unix = local.memory > local.waiting ? local.memory : local.waiting;
	uint64_t beyond = fh_fragments_bytes(s.fragments + local.fragments, s.memory + in_unix);
	unnamed = s.memory + beyond + in_unix;
	return of_records() + (are_charged ? beyond : s.memory + beyond + in_unix);
}
