/* SPDX-License-Identifier: MIT */
#include "engine/host/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The files that show whether a namespace was used (proc_pid_net(5)). Each describes only its namespace, but for
 * sockstat, whose later lines count memory of the whole host. A kernel without IPv6 lacks some of them. */
static const struct {
	const char *path;
	bool first_line;
} figures[FH_NETNS_FILES] = {
	{ "/proc/self/net/sockstat", true }, /* its line "sockets: used 0" covers every address family */
	{ "/proc/self/net/dev", false },
	{ "/proc/self/net/snmp", false },
	{ "/proc/self/net/netstat", false },
	{ "/proc/self/net/snmp6", false },
	{ "/proc/self/net/ip6_flowlabel", false }, /* a flow label can outlive its socket */
	/* connecting a socket caches its route and counts the users of that, even if no packet is sent */
	{ "/proc/self/net/ipv6_route", false },
	{ "/proc/self/net/rt6_stats", false },
};

int fh_raise_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	fh_auto_close int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return errno == EAFNOSUPPORT ? 0 : -errno;
	return ioctl(s, SIOCSIFFLAGS, &lo) < 0 ? -errno : 0;
}

static struct fh_netns nothing(void)
{
	struct fh_netns n = { .fd = -1 };
	for (int i = 0; i < FH_NETNS_FILES; i++)
		n.file[i] = -1;
	return n;
}

void fh_netns_pool_init(struct fh_netns_pool *p)
{
	for (int i = 0; i < FH_NETNS_MAX; i++)
		p->place[i] = nothing();
	p->fresh_size = 0;
}

static void discard(struct fh_netns *n)
{
	for (int i = 0; i < FH_NETNS_FILES; i++)
		if (n->file[i] >= 0)
			close(n->file[i]);
	if (n->fd >= 0)
		close(n->fd);
	*n = nothing();
}

/* Opens a file only if it is on the kernel's own file system: an image may contain a fake /proc. */
static int open_of(const char *path, long type)
{
	struct statfs fs;
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == type ? FH_TAKE_FD(fd) : -1;
}

/* Reads all files one after another. Returns 0 if they do not fit or cannot be read. */
static size_t read_figures(const struct fh_netns *n, char text[FH_NETNS_TEXT_MAX])
{
	size_t size = 0;
	for (int i = 0; i < FH_NETNS_FILES; i++) {
		size_t begin = size;
		ssize_t got = n->file[i] < 0 ? 0 : 1;
		while (got > 0) {
			got = pread(n->file[i], text + size, FH_NETNS_TEXT_MAX - size, (off_t)(size - begin));
			size += (size_t)FH_MAX(got, 0);
			const char *end = figures[i].first_line ? memchr(text + begin, '\n', size - begin) : NULL;
			if (end) {
				size = (size_t)(end - text);
				break;
			}
		}
		if (got < 0 || size + 1 >= FH_NETNS_TEXT_MAX)
			return 0;
		text[size++] = 0; /* a separator, so that text cannot move from one file to the next unnoticed */
	}
	return size;
}

/* Makes a namespace and enters it. Keeps it only if its files can be read; the first one's become the reference. */
static bool make(struct fh_netns_pool *p, struct fh_netns *n)
{
	if (unshare(CLONE_NEWNET) < 0 || fh_raise_loopback() < 0)
		return false;
	n->fd = open_of("/proc/self/ns/net", NSFS_MAGIC);
	for (int i = 0; i < FH_NETNS_FILES; i++)
		n->file[i] = open_of(figures[i].path, PROC_SUPER_MAGIC);
	if (n->fd >= 0 && n->file[0] >= 0 && n->file[1] >= 0 && !p->fresh_size)
		p->fresh_size = read_figures(n, p->fresh);
	if (p->fresh_size)
		return true;
	discard(n);
	return false;
}

int fh_netns_enter(struct fh_netns_pool *p)
{
	int empty = -1;
	for (int i = 0; i < FH_NETNS_MAX; i++) {
		struct fh_netns *n = &p->place[i];
		if (n->fd < 0) {
			empty = empty < 0 ? i : empty;
		} else if (!n->given && setns(n->fd, CLONE_NEWNET) == 0) {
			n->given = true;
			return i;
		}
	}
	if (empty < 0 || !make(p, &p->place[empty]))
		return -1;
	p->place[empty].given = true;
	return empty;
}

void fh_netns_give_back(struct fh_netns_pool *p, size_t place)
{
	if (place >= FH_NETNS_MAX || p->place[place].fd < 0)
		return;
	struct fh_netns *n = &p->place[place];
	if (read_figures(n, p->now) == p->fresh_size && memcmp(p->now, p->fresh, p->fresh_size) == 0)
		n->given = false;
	else
		discard(n);
}
