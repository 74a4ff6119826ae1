/* SPDX-License-Identifier: MIT */
/* What a program could change of, or take from, what the whole host shares: files' modes and times, pools, modules. */
#include "../attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/in6.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

/* Whether the kernel's own code was reached: anything but the filter's answer. */
static void reached(const char *what, long result, int refusal)
{
	int e = errno;
	if (result >= 0)
		escaped("%s works", what);
	else if (e != refusal)
		escaped("%s reaches the kernel: %s", what, strerror(e));
	else
		held("%s: %s", what, strerror(e));
}

/* ------------------------------------------------------------------------------------------------------------ modes */

static void seen(const char *how, const char *name)
{
	struct stat st;
	if (lstat(name, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		escaped("%s made a file with mode %o", how, st.st_mode & 07777u);
	else
		held("%s", how);
	unlink(name);
}

static int plain(const char *name)
{
	unlink(name);
	return open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
}

/* Every way to a set-ID mode. The first argument: the folder. */
static void set_id(char **args)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = { O_CREAT | O_WRONLY, 04755, 0 };
	static const char name[] = "set-id";
	char link[64];
	umask(0);
	if (chdir(argument(args, 0, ".")) < 0)
		held("no folder: %s", strerror(errno));
	int fd = plain(name);
	(void)!syscall(SYS_chmod, name, 04755);
	seen("chmod", name);
	fd = plain(name);
	(void)!syscall(SYS_chmod, name, 04755ULL | 1ULL << 40);
	seen("chmod with high bits", name);
	fd = plain(name);
	(void)!fchmod(fd, 02755);
	seen("fchmod", name);
	plain(name);
	(void)!syscall(SYS_fchmodat, AT_FDCWD, name, 06755);
	seen("fchmodat", name);
	plain(name);
	(void)!syscall(452 /* fchmodat2 */, AT_FDCWD, name, 04755, 0);
	seen("fchmodat2", name);
	(void)!syscall(SYS_open, name, O_CREAT | O_WRONLY, 04755);
	seen("open", name);
	(void)!syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY, 02755);
	seen("openat", name);
	(void)!syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how));
	seen("openat2", name);
	(void)!syscall(SYS_creat, name, 04755);
	seen("creat", name);
	(void)!syscall(SYS_mknod, name, S_IFREG | 04755, 0);
	seen("mknod", name);
	(void)!syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | 02755, 0);
	seen("mknodat", name);
	fd = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 04755);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	(void)!linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
	seen("O_TMPFILE", name);
}

static void file_capabilities(char **args)
{
	/* struct vfs_cap_data, revision 2: all capabilities, effective */
	static const uint32_t caps[] = { 0x02000001, 0xffffffff, 0, 0xffffffff, 0 };
	(void)args;
	close(plain("capable"));
	judge("security.capability", setxattr("capable", "security.capability", caps, sizeof(caps), 0));
	unlink("capable");
}

/* ------------------------------------------------------------------------------------------------------------ pools */

static void modules_of_sockets(char **args)
{
	static const struct {
		const char *name;
		int family, type, protocol;
	} kinds[] = {
		{ "MPTCP", AF_INET, SOCK_STREAM, 262 },
		{ "MPTCP over IPv6", AF_INET6, SOCK_STREAM, 262 },
		{ "UDP-Lite", AF_INET, SOCK_DGRAM, 136 },
		{ "SCTP", AF_INET, SOCK_STREAM, 132 },
		{ "DCCP", AF_INET, 6, 33 },
		{ "L2TP", AF_INET, SOCK_DGRAM, 115 },
		{ "SMC", AF_INET, SOCK_STREAM, 256 },
		{ "no protocol", AF_INET, SOCK_STREAM, 200 },
		{ "SOCK_SEQPACKET", AF_INET, SOCK_SEQPACKET, 0 },
		{ "ping", AF_INET, SOCK_DGRAM, 1 },
	};
	static const struct {
		const char *name;
		unsigned long request;
	} requests[] = {
		{ "SIOCGIFBR", 0x8940 },
		{ "SIOCBRADDBR", 0x89a0 },
		{ "SIOCGIFVLAN", 0x8982 },
		{ "SIOCETHTOOL", 0x8946 },
		{ "SIOCGIFBR, high bits set", 0x8940UL | 1UL << 40 },
	};
	(void)args;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long fd = syscall(SYS_socket, kinds[i].family, kinds[i].type, kinds[i].protocol);
		judge(kinds[i].name, fd);
		if (fd >= 0)
			close((int)fd);
	}
	int s = socket(AF_INET, SOCK_STREAM, 0);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		reached(requests[i].name, syscall(SYS_ioctl, s, requests[i].request, NULL), ENOTTY);
}

static void options_of_sockets(char **args)
{
	struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, 0xffff) };
	struct sock_fprog program = { 1, allow };
	struct in6_flowlabel_req label = { .flr_dst = { { { [15] = 1 } } },
		                               .flr_action = IPV6_FL_A_GET,
		                               .flr_share = IPV6_FL_S_ANY,
		                               .flr_flags = IPV6_FL_F_CREATE };
	uint64_t cookie = 0;
	socklen_t n = sizeof(cookie);
	(void)args;
	int s = socket(AF_INET, SOCK_STREAM, 0), s6 = socket(AF_INET6, SOCK_STREAM, 0), u = socket(AF_UNIX, SOCK_DGRAM, 0);
	judge("SO_ATTACH_FILTER", setsockopt(s, SOL_SOCKET, 26, &program, sizeof(program)));
	judge("SO_ATTACH_FILTER, unix", setsockopt(u, SOL_SOCKET, 26, &program, sizeof(program)));
	judge("SO_ATTACH_REUSEPORT_CBPF", setsockopt(s, SOL_SOCKET, 51, &program, sizeof(program)));
	judge("SO_COOKIE", getsockopt(s, SOL_SOCKET, 57, &cookie, &n));
	judge("SO_NETNS_COOKIE", getsockopt(s, SOL_SOCKET, 71, &cookie, &n));
	judge("SO_RESERVE_MEM", setsockopt(s, SOL_SOCKET, 73, &(int){ 1 << 20 }, sizeof(int)));
	judge("IPV6_FLOWLABEL_MGR", setsockopt(s6, IPPROTO_IPV6, 32, &label, sizeof(label)));
	judge("PR_SET_SECCOMP", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	judge("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

/* Calls that copy from or to our memory while they hold the lock of all networks of the host, or of a file of the host:
 * as long as it takes us to have the page there. */
static void locks_beside_page_faults(char **args)
{
	struct ifreq places[4];
	struct ifconf all = { .ifc_len = sizeof(places), .ifc_req = places };
	struct ip_mreqn group4 = { .imr_multiaddr.s_addr = htonl(0xE1000001), .imr_ifindex = 1 };
	struct ipv6_mreq group6 = { .ipv6mr_multiaddr = { { { 0xFF, 2, [15] = 0x77 } } }, .ipv6mr_ifindex = 1 };
	struct group_req any4 = { .gr_interface = 1 }, any6 = any4;
	struct fiemap blocks = { .fm_length = UINT64_MAX }, of_ext4 = blocks;
	*(struct sockaddr_in *)(void *)&any4.gr_group =
	    (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xE1000002) };
	*(struct sockaddr_in6 *)(void *)&any6.gr_group =
	    (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = { { { 0xFF, 2, [15] = 0x78 } } } };
	int s = socket(AF_INET, SOCK_DGRAM, 0), s6 = socket(AF_INET6, SOCK_DGRAM, 0);
	judge("IP_ADD_MEMBERSHIP", setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group4, sizeof(group4)));
	judge("MCAST_JOIN_GROUP", setsockopt(s, IPPROTO_IP, MCAST_JOIN_GROUP, &any4, sizeof(any4)));
	judge("IPV6_JOIN_GROUP", setsockopt(s6, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group6, sizeof(group6)));
	judge("MCAST_JOIN_GROUP, IPv6", setsockopt(s6, IPPROTO_IPV6, MCAST_JOIN_GROUP, &any6, sizeof(any6)));
	judge("MCAST_JOIN_GROUP, by an IPv6 socket", setsockopt(s6, IPPROTO_IP, MCAST_JOIN_GROUP, &any4, sizeof(any4)));
	judge("SIOCGIFCONF", ioctl(s, SIOCGIFCONF, &all));
	int file = open(argument(args, 0, "/usr/bin/env"), O_RDONLY | O_CLOEXEC);
	judge("FS_IOC_FIEMAP", ioctl(file, FS_IOC_FIEMAP, &blocks));
	judge("EXT4_IOC_GET_ES_CACHE", ioctl(file, _IOWR('f', 42, struct fiemap), &of_ext4));
}

/* A limit of 1 byte keeps the kernel from handing a core dump to a program of the host's; 0 does not. */
static void core_limit(char **args)
{
	struct rlimit none = { 0, 0 }, now = { 1, 1 };
	(void)args;
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)syscall(SYS_setrlimit, RLIMIT_CORE, &none);
	(void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
	(void)syscall(SYS_prlimit64, getpid(), RLIMIT_CORE, &none, &now);
	getrlimit(RLIMIT_CORE, &now);
	if (now.rlim_cur == 0)
		escaped("RLIMIT_CORE is 0");
	else
		held("RLIMIT_CORE is %llu", (unsigned long long)now.rlim_cur);
}

static void watched_files(char **args)
{
	(void)args;
	int fd = plain("leased");
	close(fd);
	fd = open("leased", O_RDONLY | O_CLOEXEC);
	judge("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK));
	judge("F_NOTIFY", fcntl(open(".", O_RDONLY | O_CLOEXEC), F_NOTIFY, DN_CREATE));
	unlink("leased");
}

/* Which file is opened: the host's, in a folder that is shown read-only. The argument: its path. */
static void hints_of_files(char **args)
{
	uint64_t hint = 3;
	int fd = open(argument(args, 0, "/shared/hinted"), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		held("no file: %s", strerror(errno));
	else if (fcntl(fd, 1036 /* F_SET_RW_HINT */, &hint) == 0)
		escaped("F_SET_RW_HINT changes the inode");
	else
		held("F_SET_RW_HINT: %s", strerror(errno));
	if (fd >= 0)
		judge("F_SET_FILE_RW_HINT", fcntl(fd, 1038, &hint));
}

/* The command line in /proc, made a gibibyte of zeros: whoever lists the processes of the host reads it. */
static void command_line(char **args)
{
	unsigned long field[53] = { 0 }, size = 1UL << 30;
	char text[2048], *at = NULL;
	FILE *f = fopen("/proc/self/stat", "r");
	(void)args;
	char *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (zeros == MAP_FAILED || !f || !fgets(text, sizeof(text), f) || !(at = strrchr(text, ')')))
		_exit(1);
	fclose(f);
	int n = 3; /* of the fields in proc(5) */
	for (char *word = strtok(at + 2, " "); word && n < 53; word = strtok(NULL, " "))
		field[n++] = strtoul(word, NULL, 10);
	struct prctl_mm_map map = {
		.start_code = field[26],
		.end_code = field[27],
		.start_stack = field[28],
		.start_data = field[45],
		.end_data = field[46],
		.start_brk = field[47],
		.brk = (unsigned long)sbrk(0),
		.exe_fd = (__u32)-1,
	};
	map.arg_start = (unsigned long)zeros;
	map.arg_end = map.env_start = map.env_end = map.arg_start + size;
	judge("PR_SET_MM_MAP", prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0));
}

static void merged_pages(char **args)
{
	(void)args;
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	judge("MADV_MERGEABLE", madvise(p, 1 << 20, 12));
	judge("PR_SET_MEMORY_MERGE", prctl(67, 1, 0, 0, 0));
	judge("MADV_PAGEOUT", madvise(p, 1 << 20, 21));
	judge("MADV_PAGEOUT with high bits", syscall(SYS_madvise, p, 1 << 20, 21UL | 1UL << 40));
}

/* Memory that is no process's: pages in a pipe, of which each may be 2 MiB, and names of ranges of memory. */
static void memory_of_nobody(char **args)
{
	int p[2];
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec one = { page, 1 };
	(void)args;
	page[0] = 'x';
	if (pipe(p) < 0)
		return;
	judge("vmsplice", vmsplice(p[1], &one, 1, SPLICE_F_NONBLOCK));
	judge("PR_SET_VMA", prctl(0x53564d41, 0, page, 4096, "a name"));
	judge("PR_SET_VMA with high bits", syscall(SYS_prctl, 0x53564d41UL | 1UL << 40, 0, page, 4096, "another"));
}

/* ---------------------------------------------------------------------------------------------------------- disks */

static long waits(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw;
}

/* Has the kernel write back what the whole host has in memory for its disks. */
static void disks_of_the_host(char **args)
{
	(void)args;
	long before = waits();
	sync();
	if (waits() != before)
		escaped("sync waits for the disks");
	else
		held("sync");
	/* the kernel knows that it is no descriptor; the filter does not look */
	if (syncfs(-1) < 0)
		escaped("syncfs reaches the kernel: %s", strerror(errno));
	else
		held("syncfs");
	if (ioctl(-1, 0x9408 /* BTRFS_IOC_SYNC */) < 0 && errno == EBADF)
		escaped("the sync of btrfs reaches the kernel");
	else
		held("the sync of btrfs");
}

/* ------------------------------------------------------------------------------------------------- shared inodes */

static void device_times(char **args)
{
	static const char *const nodes[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };
	(void)args;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		judge(nodes[i], utimensat(AT_FDCWD, nodes[i], NULL, 0));
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (write(fd, "x", 1) != 1)
		escaped("and /dev/null cannot be written to: %s", strerror(errno));
}

/* What proc tells of all locks and pressures, and a trigger in it that the kernel serves with a thread. */
static void proc_of_the_host(char **args)
{
	static const char trigger[] = "some 2000000 2000000";
	char text[256];
	(void)args;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (flock(fd, LOCK_SH) < 0) /* so that there is one */
		held("flock: %s", strerror(errno));
	int locks = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	if (locks >= 0 && read(locks, text, sizeof(text)) > 0)
		escaped("/proc/locks can be read");
	else
		held("/proc/locks");
	int pressure = open("/proc/pressure/memory", O_RDWR | O_CLOEXEC);
	if (pressure >= 0 && write(pressure, trigger, sizeof(trigger)) > 0)
		escaped("a trigger in /proc/pressure");
	else
		held("/proc/pressure: %s", strerror(errno));
	int started_with = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	if (started_with >= 0 && read(started_with, text, sizeof(text)) > 0)
		escaped("/proc/cmdline can be read");
	else
		held("/proc/cmdline");
	static const char *const folders[] = { "/proc/bus", "/proc/fs", "/proc/irq" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		DIR *d = opendir(folders[i]);
		int entries = 0;
		while (d && readdir(d))
			entries++;
		if (entries > 2)
			escaped("%s shows the host's", folders[i]);
		else
			held("%s", folders[i]);
	}
}

/* Holds very many locks on a file for a second, and watches who opens it. The arguments: the file, the number. */
static void inodes_of_the_host(char **args)
{
	const char *path = argument(args, 0, "/usr/bin/env");
	int wanted = atoi(argument(args, 1, "1000")), have = 0;
	char events[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC), watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* from the last to the first, so that the kernel finds the place of each at once */
	for (int i = wanted; i > 0; i--) {
		struct flock l = { .l_type = F_RDLCK, .l_start = 2 * i, .l_len = 1 };
		have += fcntl(fd, F_SETLK, &l) == 0;
	}
	printf("holds %d locks\n", have);
	if (inotify_add_watch(watch, path, IN_OPEN) < 0)
		held("inotify: %s", strerror(errno));
	fflush(stdout);
	bool told = false;
	for (int i = 0; i < 50; i++) {
		usleep(20000);
		told |= read(watch, events, sizeof(events)) > 0;
	}
	if (told)
		escaped("somebody outside opened %s", path);
}

static const struct attack attacks[] = {
	{ "set_id", set_id },
	{ "file_capabilities", file_capabilities },
	{ "modules_of_sockets", modules_of_sockets },
	{ "options_of_sockets", options_of_sockets },
	{ "locks_beside_page_faults", locks_beside_page_faults },
	{ "command_line", command_line },
	{ "core_limit", core_limit },
	{ "watched_files", watched_files },
	{ "hints_of_files", hints_of_files },
	{ "merged_pages", merged_pages },
	{ "memory_of_nobody", memory_of_nobody },
	{ "disks_of_the_host", disks_of_the_host },
	{ "device_times", device_times },
	{ "proc_of_the_host", proc_of_the_host },
	{ "inodes_of_the_host", inodes_of_the_host },
};
ATTACKS(attacks)
