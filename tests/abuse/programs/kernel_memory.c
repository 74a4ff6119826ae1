/* SPDX-License-Identifier: MIT */
/* Memory of the kernel's own that a program makes it hold: buffers of network sockets, SysV semaphores and messages,
 * page tables, access control lists, rules of Landlock, sources of multicast groups, futexes, locks. The argument is
 * how many MiB are too much, as for memory.c; what is counted is the least that the kernel must hold for what it took.
 */
#include "../attack.h"

#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>

enum { MIB = 1 << 20, PAIRS_MAX = 480, EACH = 65536 };
static char block[EACH];

/* A moment for whoever looks at intervals, and no more. */
static void moment(void)
{
	struct timespec t = { 0, 500000 };
	nanosleep(&t, NULL);
}

static void done(const char *what, long bytes, char **args)
{
	long most = atol(argument(args, 0, "64"));
	if (bytes >= most * MIB) {
		escaped("%ld MiB of %s", bytes / MIB, what);
		return;
	}
	int e = errno;
	struct timespec t = { 0, 300000000 };
	nanosleep(&t, NULL); /* who counts at intervals ends us before we say that we held */
	held("%ld MiB of %s: %s", bytes / MIB, what, strerror(e));
}

static int loopback(int type, struct sockaddr_in *ret)
{
	socklen_t n = sizeof(*ret);
	int fd = socket(AF_INET, type, 0);
	*ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)ret, n) < 0 || getsockname(fd, (struct sockaddr *)ret, &n) < 0)
		return -1;
	return fd;
}

static long fill(int fd, size_t each)
{
	long bytes = 0;
	for (ssize_t w; (w = send(fd, block, each, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
		bytes += w;
	return bytes;
}

/* Both ends of each pair are full of what nobody reads. `each`: bytes of one write. */
static long fill_pairs(long most, size_t each)
{
	struct sockaddr_in a;
	long bytes = 0;
	int listener = loopback(SOCK_STREAM, &a);
	if (listener < 0 || listen(listener, 16) < 0)
		return 0;
	for (int i = 0; i < PAIRS_MAX && bytes < most; i++, moment()) {
		int one = 1, near = socket(AF_INET, SOCK_STREAM, 0);
		if (near < 0 || connect(near, (struct sockaddr *)&a, sizeof(a)) < 0)
			break;
		int far = accept(listener, NULL, NULL);
		(void)setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		for (int round = 0; round < 3; round++) { /* what was sent makes room as it arrives */
			bytes += fill(near, each) + fill(far, each);
			moment();
		}
	}
	return bytes;
}

static void tcp(char **args)
{
	done("TCP buffers", fill_pairs(atol(argument(args, 0, "64")) * MIB, EACH), args);
}

static bool tcp_pair(int ret[2])
{
	struct sockaddr_in a;
	int one = 1, listener = loopback(SOCK_STREAM, &a);
	ret[0] = socket(AF_INET, SOCK_STREAM, 0);
	bool good = listen(listener, 1) == 0 && connect(ret[0], (struct sockaddr *)&a, sizeof(a)) == 0;
	ret[1] = good ? accept(listener, NULL, NULL) : -1;
	close(listener);
	return good && setsockopt(ret[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0;
}

static bool send_and_receive(const int pair[2], size_t n)
{
	if (send(pair[0], block, n, MSG_NOSIGNAL) != (ssize_t)n)
		return false;
	while (n) {
		ssize_t r = recv(pair[1], block, n, 0);
		if (r <= 0)
			return false;
		n -= (size_t)r;
	}
	return true;
}

enum { FRAGMENT_PAIRS = 100, FRAGMENT_PAGE = 32768 };

/* Sends one byte over `kept`, which it leaves there, and as much over `rest`, which receives it, as fills the page into
 * which the kernel copies both. */
static bool keep_a_page(const int kept[2], const int rest[2])
{
	return send(kept[0], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 && send_and_receive(rest, FRAGMENT_PAGE - 4);
}

/* Bytes of the host's memory that no line of /proc/meminfo names: these pages are there. */
static long unnamed_memory(void)
{
	static const char *const named[] = { "MemFree:",     "Buffers:", "Cached:",        "SwapCached:",
		                                 "AnonPages:",   "Slab:",    "KernelStack:",   "PageTables:",
		                                 "VmallocUsed:", "Percpu:",  "SecPageTables:", "Hugetlb:" };
	char name[40];
	long kib, rest = 0;
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fscanf(f, "%39s %ld%*[^\n]", name, &kib) == 2) {
		rest += strcmp(name, "MemTotal:") == 0 ? kib : 0;
		for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
			rest -= strcmp(name, named[i]) == 0 ? kib : 0;
	}
	if (f)
		fclose(f);
	return rest * 1024;
}

static void page_fragments(char **args)
{
	enum { SENDS_MAX = 150000 };
	static int pairs[FRAGMENT_PAIRS][2];
	int rest[2];
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	bool good = tcp_pair(rest);
	for (int i = 0; good && i < FRAGMENT_PAIRS; i++)
		good = tcp_pair(pairs[i]);
	long before = unnamed_memory();
	for (int i = 0; good && bytes < most && i < SENDS_MAX; i++) {
		good = keep_a_page(pairs[i % FRAGMENT_PAIRS], rest);
		if (i % 64 == 0) {
			moment();
			bytes = unnamed_memory() - before;
		}
	}
	done("pages by one byte of each", bytes, args);
}

/* Sends a descriptor into a socket that nobody reads. */
static bool send_away(int fd)
{
	static int pair[2] = { -1, -1 };
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec byte = { block, 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	*h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd)) };
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return (pair[0] >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) && sendmsg(pair[0], &m, MSG_DONTWAIT) == 1;
}

/* The same, and the byte goes from the socket into a pipe, which takes the page. */
static void fill_pipes(char **args, bool away)
{
	int kept[2], rest[2], p[2];
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	bool good = tcp_pair(rest) && tcp_pair(kept);
	while (good && bytes < most && pipe2(p, O_NONBLOCK) == 0) {
		(void)!(away && fcntl(p[1], F_SETPIPE_SZ, MIB)); /* few of them: what is said of each message would add up */
		while (good && bytes < most) {
			good = keep_a_page(kept, rest);
			if (sendfile(p[1], kept[1], NULL, 1) != 1)
				break; /* the pipe is full */
			bytes += FRAGMENT_PAGE / 2;
		}
		good = good && (bytes >= most || recv(kept[1], block, 1, 0) == 1);
		if (away) {
			good = good && send_away(p[0]);
			close(p[0]);
			close(p[1]);
		}
		moment();
	}
	done("pages by one byte of each in pipes", bytes, args);
}

static void page_fragments_in_pipes(char **args)
{
	fill_pipes(args, false);
}

/* In pipes that no process has any more. */
static void page_fragments_in_pipes_under_way(char **args)
{
	fill_pipes(args, true);
}

/* Leaves what the pipe holds in unix sockets, whose senders end, so that only the receivers tell of it. */
static bool leave_in_socket(int pipe_out, size_t n)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return false;
	bool good = splice(pipe_out, NULL, pair[0], NULL, n, 0) == (ssize_t)n;
	close(pair[0]);
	return good;
}

enum { PIPE_PLACES = 16, SOCKETS_MAX = 900 };

/* Pages that network sockets filled, one byte of each, go through a pipe into unix sockets. */
static void page_fragments_in_sockets(char **args)
{
	int kept[2], rest[2], p[2];
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	bool good = tcp_pair(rest) && tcp_pair(kept) && pipe(p) == 0;
	for (int n = 0; good && bytes < most && n < SOCKETS_MAX; n++) {
		for (int i = 0; good && i < PIPE_PLACES; i++)
			good = keep_a_page(kept, rest) && splice(kept[1], NULL, p[1], NULL, 1, 0) == 1;
		good = good && leave_in_socket(p[0], PIPE_PLACES);
		bytes += PIPE_PLACES * FRAGMENT_PAGE / 2;
		moment();
	}
	done("pages by one byte of each in unix sockets", bytes, args);
}

/* Pages of a file in memory, one byte of each, that the file has lost since. */
static void file_pages_in_sockets(char **args)
{
	enum { PAGE = 4096 };
	int p[2], fd = memfd_create("m", 0);
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	bool good = fd >= 0 && pipe(p) == 0;
	for (int n = 0; good && bytes < most && n < SOCKETS_MAX; n++) {
		int pair[2];
		good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0;
		for (bool full = false; good && !full;) {
			good = pwrite(fd, block, PIPE_PLACES * PAGE, 0) == PIPE_PLACES * PAGE;
			for (loff_t at = 0; good && at < PIPE_PLACES * PAGE; at += PAGE - 1)
				good = splice(fd, &at, p[1], NULL, 1, 0) == 1;
			ssize_t sent = good ? splice(p[0], NULL, pair[0], NULL, PIPE_PLACES, SPLICE_F_NONBLOCK) : 0;
			full = sent < PIPE_PLACES;
			bytes += sent > 0 ? sent * PAGE : 0;
			for (ssize_t i = sent > 0 ? sent : 0; full && i < PIPE_PLACES; i++)
				(void)!read(p[0], block, 1);
			good = good && ftruncate(fd, 0) == 0;
		}
		close(pair[0]);
		moment();
	}
	done("pages of a file in unix sockets", bytes, args);
}

static void udp(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	for (int i = 0; i < PAIRS_MAX && bytes < most; i++, moment()) {
		struct sockaddr_in a;
		int size = 8 * MIB, got = 0, fd = loopback(SOCK_DGRAM, &a);
		socklen_t n = sizeof(got);
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		(void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &n);
		int k = 0, from = socket(AF_INET, SOCK_DGRAM, 0);
		for (; k * 32768 < got; k++)
			if (sendto(from, block, 32768, MSG_DONTWAIT, (struct sockaddr *)&a, sizeof(a)) < 0)
				break;
		close(from);
		bytes += (long)k * 32768 < got ? (long)k * 32768 : got; /* more is dropped */
	}
	done("UDP buffers", bytes, args);
}

/* Hash tables for the program's futexes (PR_FUTEX_HASH, Linux 6.16), each twice as large as the one before it. */
static void futex_tables(char **args)
{
	enum { FUTEX_HASH = 78, SET_SLOTS = 1, BUCKET = 64 };
	long most = atol(argument(args, 0, "64")) * MIB, slots = 1024;
	while (slots * BUCKET < most && prctl(FUTEX_HASH, SET_SLOTS, slots * 2, 0, 0) == 0)
		slots *= 2;
	done("futex tables", slots * BUCKET, args);
}

static void semaphores(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	for (int size = 32000; size >= 50 && bytes<most; size = size> 64 ? 64 : size / 2)
		for (int n = 0; bytes < most && semget(IPC_PRIVATE, size, 0600) >= 0; n++) {
			bytes += size * 64L; /* struct sem, a cache line */
			if (n % 64 == 0)
				moment();
		}
	done("semaphores", bytes, args);
}

/* The payload alone would be a thousandth of what is held. */
static void messages(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	struct {
		long type;
		char text[1];
	} m = { 1, "m" };
	for (int q; bytes < most && (q = msgget(IPC_PRIVATE, 0600)) >= 0; moment())
		for (int n = 0; n < 2000 && msgsnd(q, &m, 1, IPC_NOWAIT) == 0; n++)
			bytes += 64;
	done("messages", bytes, args);
}

/* A page of page tables for each 2 MiB that one byte is read of: what is read is the one page of zeros. */
static void page_tables(char **args)
{
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	const size_t step = 2 * MIB, part = step * 512;
	for (volatile char *p; bytes < most && (p = mmap(NULL, part, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                                                 -1, 0)) != MAP_FAILED;
	     moment()) {
		(void)madvise((void *)(uintptr_t)p, part, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < part; at += step, bytes += 4096)
			(void)p[at];
	}
	done("page tables", bytes, args);
}

/* Lists as long as they may be, two for each folder: what counts for a folder's own sake, and what is for files that
 * are made in it. Each entry is 8 bytes in the attribute (linux/posix_acl_xattr.h) and in the kernel. */
/* Each fork copies the records of all mappings. */
static void mappings(char **args)
{
	enum { EACH_PROCESS = 60000, RECORD = 200 };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	for (int i = 0; i < EACH_PROCESS; i++) /* neighbours differ, so that they stay apart */
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			break;
	for (bytes = EACH_PROCESS * RECORD; bytes < most; bytes += EACH_PROCESS * RECORD, moment()) {
		pid_t child = fork();
		if (child < 0)
			break;
		while (child == 0)
			pause();
	}
	done("records of mappings", bytes, args);
	_exit(0);
}

static void access_lists(char **args)
{
	enum { ENTRIES_MAX = 8180, FOLDERS = 12000 };
	static const char *const names[] = { "system.posix_acl_access", "system.posix_acl_default" };
	static struct {
		uint32_t version;
		struct {
			uint16_t tag, rights;
			uint32_t id;
		} entry[ENTRIES_MAX];
	} list = { .version = 2 };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	int entries = ENTRIES_MAX;
	char path[64];
	for (int i = 0; i < FOLDERS && bytes < most; i++) {
		snprintf(path, sizeof(path), "/tmp/folder%d", i);
		if (mkdir(path, 0755) < 0)
			break;
		for (int k = 0; k < 2;) {
			for (int n = 0; n < entries; n++) { /* the owner, users, the group, the mask, others */
				static const uint16_t last[] = { 0x04, 0x10, 0x20 };
				list.entry[n].tag = n == 0 ? 1 : n < entries - 3 ? 2 : last[n - entries + 3];
				list.entry[n].rights = 6;
				list.entry[n].id = n && n < entries - 3 ? getuid() : UINT32_MAX;
			}
			size_t size = 4 + 8 * (size_t)entries;
			if (setxattr(path, names[k], &list, size, 0) == 0) {
				bytes += (long)size;
				k++;
			} else if (entries > 4) {
				entries = entries / 2 > 4 ? entries / 2 : 4;
			} else {
				break;
			}
		}
		if (i % 16 == 0)
			moment();
	}
	done("access control lists", bytes, args);
}

/* Rules for the ports of TCP, as many as there are, in one set after another. Before Linux 6.7 there are none: for
 * files. */
static void landlock_rules(char **args)
{
	enum { SETS = 400, PORTS = 65536, FILES = 500, CREATE = 444, ADD = 445, FOLDER_OR_FILE = 1, PORT = 2 };
	struct {
		uint64_t files, ports;
	} handled = { 4, 1 };
	struct {
		uint64_t rights, port;
	} port = { 1, 0 };
	struct {
		uint64_t rights;
		int fd;
	} __attribute__((packed)) file = { 4, -1 };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	int fds[FILES];
	char path[64];
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "/tmp/file%d", i);
		fds[i] = open(path, O_RDWR | O_CREAT, 0600);
	}
	for (int i = 0; i < SETS && bytes < most; i++, moment()) {
		long set = syscall(CREATE, &handled, sizeof(handled), 0);
		bool ports = set >= 0;
		if (!ports)
			set = syscall(CREATE, &handled, sizeof(handled.files), 0);
		if (set < 0)
			break;
		for (int k = 0; k < (ports ? PORTS : FILES); k++) {
			port.port = (uint64_t)k;
			file.fd = fds[k % FILES];
			if (syscall(ADD, set, ports ? PORT : FOLDER_OR_FILE, ports ? (void *)&port : (void *)&file, 0) < 0)
				break;
			bytes += 64;
		}
	}
	done("rules of Landlock", bytes, args);
}

/* The senders that a socket wants to hear: 64 for each of a hundred multicast groups. */
static void multicast_sources(char **args)
{
	enum { SOCKETS = 900, GROUPS = 100, SOURCES = 64 };
	static struct {
		struct group_filter head;
		struct sockaddr_storage more[SOURCES];
	} filter;
	const struct in6_addr group = { .s6_addr = { 0xff, 2, [11] = 1 } }, source = { .s6_addr = { 0xfd, [15] = 1 } };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = source };
	for (int i = 0; i < SOURCES; i++) {
		a.sin6_addr.s6_addr[14] = (uint8_t)i;
		memcpy(&filter.head.gf_slist[i], &a, sizeof(a));
	}
	filter.head.gf_interface = 1;
	filter.head.gf_fmode = MCAST_INCLUDE;
	filter.head.gf_numsrc = SOURCES;
	for (int i = 0; i < SOCKETS && bytes < most; i++, moment()) {
		int fd = socket(AF_INET6, SOCK_DGRAM, 0);
		for (int k = 0; fd >= 0 && k < GROUPS; k++) {
			struct ipv6_mreq join = { .ipv6mr_multiaddr = group, .ipv6mr_interface = 1 };
			join.ipv6mr_multiaddr.s6_addr[15] = (uint8_t)k;
			a.sin6_addr = join.ipv6mr_multiaddr;
			memcpy(&filter.head.gf_group, &a, sizeof(a));
			if (setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &join, sizeof(join)) < 0 ||
			    setsockopt(fd, IPPROTO_IPV6, MCAST_MSFILTER, &filter, GROUP_FILTER_SIZE(SOURCES)) < 0)
				break;
			bytes += SOURCES * 16; /* struct in6_addr */
		}
	}
	done("sources of multicast groups", bytes, args);
}

/* Record locks, each on a byte of its own, of as many files as are needed to keep their lists short. */
static void locks(char **args)
{
	enum { FILES = 900, EACH_FILE = 1500 };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0;
	char path[64];
	for (int i = 0; i < FILES && bytes < most; i++, moment()) {
		snprintf(path, sizeof(path), "/tmp/file%d", i);
		int fd = open(path, O_RDWR | O_CREAT, 0600);
		for (int k = EACH_FILE; fd >= 0 && k > 0; k--) { /* from the end: the place of each is found at once */
			struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2L * k, .l_len = 1 };
			if (fcntl(fd, F_SETLK, &lock) < 0)
				break;
			bytes += 192; /* struct file_lock */
		}
	}
	done("record locks", bytes, args);
}

/* Those of an open file description that has no descriptor any more, because it is mapped. */
static void locks_of_open_files(char **args)
{
	enum { EACH_FILE = 1500, F_OFD = 37 /* F_OFD_SETLK */ };
	long most = atol(argument(args, 0, "64")) * MIB, bytes = 0, before = -1;
	char path[64];
	for (int i = 0; bytes < most && bytes > before; i++, moment()) {
		snprintf(path, sizeof(path), "/tmp/file%d", i);
		int fd = open(path, O_RDWR | O_CREAT, 0600);
		before = bytes;
		for (int k = EACH_FILE; fd >= 0 && k > 0; k--) {
			struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2L * k, .l_len = 1 };
			if (fcntl(fd, F_OFD, &lock) < 0)
				break;
			bytes += 192;
		}
		if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			break;
		close(fd);
	}
	done("locks of open files", bytes, args);
}

/* Takes memory beside READERS processes that have each done something first. */
static void beside(void (*prepare)(void), const char *what, char **args)
{
	enum { READERS = 16 };
	long most = atol(argument(args, 0, "64")), n = 0;
	int ready[2];
	if (pipe(ready) < 0)
		return;
	for (int i = 0; i < READERS; i++) {
		if (fork())
			continue;
		prepare();
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	for (char byte; n < READERS && read(ready[0], &byte, 1) == 1;)
		n++;
	for (n = 0; n < most; n++, moment()) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, MIB);
	}
	done(what, n * MIB, args);
	_exit(0);
}

static void map_often(void)
{
	enum { MAPPINGS = 60000 };
	int page = (int)syscall(SYS_memfd_create, "page", 0);
	if (page < 0 || ftruncate(page, 4096) < 0)
		return;
	for (int k = 0; k < MAPPINGS; k++) {
		volatile char *p = mmap(NULL, 4096, k % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
		if (p != MAP_FAILED)
			(void)*p;
	}
}

/* Processes with so many mappings that whoever reads them all comes too late, while another takes memory. */
static void many_mappings(char **args)
{
	beside(map_often, "memory beside many mappings", args);
}

static void open_often(void)
{
	while (syscall(SYS_memfd_create, "nothing", 0) >= 0)
		;
}

/* The same with files in memory, each of which has to be looked at. */
static void many_descriptors(char **args)
{
	beside(open_often, "memory beside many descriptors", args);
}

static const struct attack attacks[] = {
	{ "tcp", tcp },
	{ "udp", udp },
	{ "page_fragments", page_fragments },
	{ "page_fragments_in_pipes", page_fragments_in_pipes },
	{ "page_fragments_in_pipes_under_way", page_fragments_in_pipes_under_way },
	{ "page_fragments_in_sockets", page_fragments_in_sockets },
	{ "file_pages_in_sockets", file_pages_in_sockets },
	{ "semaphores", semaphores },
	{ "messages", messages },
	{ "page_tables", page_tables },
	{ "mappings", mappings },
	{ "access_lists", access_lists },
	{ "landlock_rules", landlock_rules },
	{ "multicast_sources", multicast_sources },
	{ "futex_tables", futex_tables },
	{ "locks", locks },
	{ "locks_of_open_files", locks_of_open_files },
	{ "many_mappings", many_mappings },
	{ "many_descriptors", many_descriptors },
};
ATTACKS(attacks)
