/* SPDX-License-Identifier: MIT */
/* Calls that reach for more of the kernel than a program needs. */
#include "../attack.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

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

static void new_namespaces(char **args)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} all[] = { { "user", CLONE_NEWUSER }, { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID }, { "net", CLONE_NEWNET },
		        { "ipc", CLONE_NEWIPC },   { "uts", CLONE_NEWUTS },  { "cgroup", 0x02000000 } };
	char what[64];
	(void)args;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		pid_t child = fork();
		if (child == 0) {
			snprintf(what, sizeof(what), "unshare %s", all[i].name);
			judge(what, unshare((int)all[i].flag));
			snprintf(what, sizeof(what), "clone %s", all[i].name);
			long pid = syscall(SYS_clone, all[i].flag | SIGCHLD, 0, 0, 0, 0);
			if (pid == 0)
				_exit(0);
			judge(what, pid);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	uint64_t clone3_args[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = syscall(SYS_clone3, clone3_args, sizeof(clone3_args));
	if (pid == 0)
		_exit(0);
	judge("clone3 user", pid);
}

/* Namespaces of others that can be entered: those of init. */
static void enter_namespaces(char **args)
{
	static const char *const names[] = { "mnt", "net", "pid", "ipc", "uts", "user", "cgroup" };
	char path[64];
	(void)args;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/1/ns/%s", names[i]);
		int fd = open(path, O_RDONLY);
		judge(path, fd < 0 ? -1 : setns(fd, 0));
	}
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
	judge("setns of init's pidfd", pidfd < 0 ? -1 : setns(pidfd, CLONE_NEWNS | CLONE_NEWPID));
	judge("pidfd_getfd of init", pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, 3, 0));
}

static void mounts(char **args)
{
	(void)args;
	mkdir("m", 0755);
	judge("mount tmpfs", mount("none", "/tmp", "tmpfs", 0, NULL));
	judge("bind", mount("/usr", "/tmp", NULL, MS_BIND, NULL));
	judge("remount / writable", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
	judge("unmount a mask", umount2("/proc/kcore", MNT_DETACH));
	judge("unmount /proc/sys", umount2("/proc/sys", MNT_DETACH));
	judge("new mount interface", syscall(SYS_fsopen, "tmpfs", 0));
	judge("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1));
	judge("pivot_root", syscall(SYS_pivot_root, ".", "."));
	judge("cgroup file system", mount("none", "/tmp", "cgroup2", 0, NULL));
	judge("proc file system", mount("none", "/tmp", "proc", 0, NULL));
}

/* The classic way out of a chroot: a second one below, while the working directory stays above. */
static void chroot_and_back(char **args)
{
	struct stat before, after;
	(void)args;
	mkdir("c", 0755);
	int up = open("/", O_RDONLY | O_DIRECTORY);
	stat("/", &before);
	judge("chroot", chroot("c"));
	if (fchdir(up) == 0)
		for (int i = 0; i < 64; i++)
			(void)!chdir("..");
	if (stat(".", &after) == 0 && (after.st_ino != before.st_ino || after.st_dev != before.st_dev))
		escaped("a folder above the root");
	else
		held("nothing above the root");
}

/* "Shocker": files by their number, past the mounts. The argument is a file whose handle is taken. */
static void handles(char **args)
{
	struct {
		struct file_handle h;
		unsigned char bytes[128];
	} x = { .h.handle_bytes = 128 };
	const char *path = argument(args, 0, "/");
	int id;
	judge("name_to_handle_at", syscall(SYS_name_to_handle_at, AT_FDCWD, path, &x.h, &id, 0));
	int root = open(path, O_RDONLY);
	if (x.h.handle_bytes == 128) { /* none came: the number of the root folder of ext4 */
		x.h.handle_bytes = 8;
		x.h.handle_type = 1;
		memcpy(x.bytes, "\2\0\0\0\0\0\0\0", 8);
	}
	judge("open_by_handle_at", syscall(SYS_open_by_handle_at, root, &x.h, O_RDONLY));
}

static void devices(char **args)
{
	static const struct {
		const char *name;
		mode_t kind;
		int major, minor;
	} nodes[] = { { "mem", S_IFCHR, 1, 1 },
		          { "kmsg", S_IFCHR, 1, 11 },
		          { "vda", S_IFBLK, 254, 0 },
		          { "loop", S_IFBLK, 7, 0 },
		          { "null", S_IFCHR, 1, 3 } };
	static const char *const there[] = { "/dev/mem",       "/dev/kmsg",    "/dev/port",  "/dev/loop-control",
		                                 "/dev/kvm",       "/dev/fuse",    "/dev/vda",   "/dev/sda",
		                                 "/dev/nvme0n1",   "/dev/net/tun", "/dev/vsock", "/dev/mqueue",
		                                 "/dev/hugepages", "/dev/disk",    "/dev/tty1" };
	char what[64];
	(void)args;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		snprintf(what, sizeof(what), "mknod %s", nodes[i].name);
		long r = mknod(nodes[i].name, nodes[i].kind | 0600, (dev_t)(nodes[i].major << 8 | nodes[i].minor));
		judge(what, r);
		if (r == 0 && strcmp(nodes[i].name, "null") == 0)
			judge("open of the node", open(nodes[i].name, O_RDWR));
		unlink(nodes[i].name);
	}
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		struct stat st;
		if (lstat(there[i], &st) == 0)
			escaped("%s is there", there[i]);
	}
	held("nothing else in /dev");
}

static void capabilities(char **args)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];
	(void)args;
	memset(caps, 0xff, sizeof(caps));
	(void)!syscall(SYS_capset, &head, caps);
	for (unsigned cap = 0; cap < 41; cap++) {
		struct __user_cap_data_struct one[2] = { { 0 } };
		one[cap / 32].permitted = one[cap / 32].effective = one[cap / 32].inheritable = 1u << cap % 32;
		(void)!syscall(SYS_capset, &head, one);
		(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
	}
	(void)prctl(PR_SET_SECUREBITS, 0, 0, 0, 0);
	(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	(void)!setuid(0);
	(void)!setresuid(0, 0, 0);
	(void)!syscall(SYS_capget, &head, caps);
	uint64_t all = caps[0].permitted | (uint64_t)caps[1].permitted << 32;
	if (all)
		escaped("capabilities %llx", (unsigned long long)all);
	else
		held("no capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		escaped("no_new_privs is off");
}

/* A filter of one's own on top that allows everything must not lift the one below. */
static void filter_on_top(char **args)
{
	struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, allow };
	(void)args;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		printf("note: no filter on top: %s\n", strerror(errno));
	reached("keyctl under a filter of one's own",
	        syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1), ENOSYS);
}

static void io_uring(char **args)
{
	struct io_uring_params p = { 0 };
	(void)args;
	reached("io_uring_setup", syscall(SYS_io_uring_setup, 4, &p), ENOSYS);
	reached("io_uring_enter", syscall(SYS_io_uring_enter, -1, 1, 0, 0, NULL, 0), ENOSYS);
	reached("io_uring_register", syscall(SYS_io_uring_register, -1, 0, NULL, 0), ENOSYS);
}

static void inside_the_kernel(char **args)
{
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };
	struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
		                             .size = sizeof(event),
		                             .config = PERF_COUNT_SW_TASK_CLOCK };
	(void)args;
	reached("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map)), ENOSYS);
	reached("perf_event_open", syscall(SYS_perf_event_open, &event, 0, -1, -1, 0), ENOSYS);
	reached("userfaultfd", syscall(SYS_userfaultfd, 1 | O_CLOEXEC), ENOSYS);
	reached("memfd_secret", syscall(SYS_memfd_secret, 0), ENOSYS);
	reached("fanotify_init", syscall(SYS_fanotify_init, 0, 0), ENOSYS);
	reached("io_setup", syscall(SYS_io_setup, 0, NULL), ENOSYS);
}

static void modules(char **args)
{
	(void)args;
	judge("init_module", syscall(SYS_init_module, "", 0, ""));
	judge("finit_module", syscall(SYS_finit_module, -1, "", 0));
	judge("delete_module", syscall(SYS_delete_module, "fumehood-none", 0));
	reached("kexec_load's code", syscall(SYS_kexec_load, 0, 0, NULL, 0xffff), EPERM); /* flags that there are not */
	reached("delete_module's code", syscall(SYS_delete_module, NULL, 0x800), EPERM);
	reached("swapoff's code", syscall(SYS_swapoff, NULL), EPERM);
	reached("init_module's code", syscall(SYS_init_module, NULL, 0, NULL), EPERM);
}

static void sockets(char **args)
{
	static const struct {
		const char *name;
		int family, type, protocol;
	} kinds[] = { { "AF_NETLINK", AF_NETLINK, SOCK_RAW, 0 },
		          { "AF_PACKET", AF_PACKET, SOCK_RAW, 0 },
		          { "raw IPv4", AF_INET, SOCK_RAW, 1 },
		          { "raw IPv6", AF_INET6, SOCK_RAW, 58 },
		          { "AF_VSOCK", AF_VSOCK, SOCK_STREAM, 0 },
		          { "AF_ALG", AF_ALG, SOCK_SEQPACKET, 0 },
		          { "AF_KEY", AF_KEY, SOCK_RAW, 2 },
		          { "AF_XDP", 44, SOCK_RAW, 0 },
		          { "AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW, 0 },
		          { "AF_TIPC", AF_TIPC, SOCK_STREAM, 0 },
		          { "AF_NETLINK, high bits set", AF_NETLINK, SOCK_RAW, 0 } };
	(void)args;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long family = kinds[i].family | (strstr(kinds[i].name, "high") ? 1L << 40 : 0);
		long fd = syscall(SYS_socket, family, kinds[i].type, kinds[i].protocol);
		judge(kinds[i].name, fd);
		if (fd >= 0)
			close((int)fd);
	}
}

static void terminals(char **args)
{
	static const unsigned long requests[] = { TIOCSTI, TIOCSTI | 1UL << 32,  TIOCSTI | 0xFFFFFFFFUL << 32,
		                                      0x541C,  0x541CUL | 1UL << 40, TIOCSETD };
	char what[64], byte = 'x';
	(void)args;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	int unlock = 0;
	if (master >= 0 && ioctl(master, TIOCSPTLCK, &unlock) == 0) {
		setsid();
		int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
		(void)ioctl(slave, TIOCSCTTY, 0);
		dup2(slave, 0);
	}
	int discipline = 0; /* the one that it has: changes nothing */
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		snprintf(what, sizeof(what), "ioctl %lx", requests[i]);
		reached(what, syscall(SYS_ioctl, 0, requests[i], requests[i] == TIOCSETD ? (void *)&discipline : &byte), EPERM);
	}
}

static void clocks(char **args)
{
	struct timespec t;
	struct timex now = { 0 };
	(void)args;
	/* to what they are already: harmless where it works */
	clock_gettime(CLOCK_REALTIME, &t);
	judge("clock_settime", clock_settime(CLOCK_REALTIME, &t));
	judge("settimeofday", syscall(SYS_settimeofday, NULL, &(struct timezone){ 0, 0 }));
	reached("adjtimex", adjtimex(&now), EPERM);
	judge("time namespace", unshare(0x80));
}

static void other_architectures(char **args)
{
	(void)args;
#ifdef __x86_64__
	long r;
	/* int 0x80: getpid is 20 there, keyctl 288 */
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	if (r > 0)
		escaped("int 0x80 getpid gives %ld", r);
	else
		held("int 0x80: %s", strerror((int)-r));
	__asm__ volatile("int $0x80"
	                 : "=a"(r)
	                 : "a"(288L), "b"(0L), "c"(-2L), "d"(1L)
	                 : "memory", "r8", "r9", "r10", "r11");
	if (r != -ENOSYS)
		escaped("int 0x80 keyctl answers %ld", r);
	else
		held("int 0x80 keyctl");
	judge("x32 getpid", syscall(0x40000000 + 39));
#endif
	/* newer than the table: listmount, and one that no kernel has */
	reached("statmount", syscall(457, NULL, NULL, 0, 0), ENOSYS);
	reached("listmount", syscall(458, NULL, NULL, 0, 0), ENOSYS);
	reached("call 4000", syscall(4000), ENOSYS);
}

static void tracing(char **args)
{
	static char buffer[16];
	char path[64];
	(void)args;
	pid_t targets[] = { 1, getppid() };
	for (size_t i = 0; i < 2; i++) {
		pid_t p = targets[i];
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)p);
		judge("PTRACE_SEIZE", syscall(SYS_ptrace, 0x4206, (long)p, 0, 0));
		struct {
			void *base;
			size_t size;
		} here = { buffer, 8 }, there = { (void *)0x400000, 8 };
		judge("process_vm_readv", syscall(SYS_process_vm_readv, (long)p, &here, 1L, &there, 1L, 0L));
		judge("process_vm_writev", syscall(SYS_process_vm_writev, (long)p, &here, 1L, &there, 1L, 0L));
		judge("kcmp", syscall(SYS_kcmp, (long)p, (long)getpid(), 0, 0, 0));
		judge("kcmp of memory", syscall(SYS_kcmp, (long)p, (long)getpid(), 1 /* KCMP_VM */, 0, 0));
	}
}

/* Keys in a keyring that the next run, or a neighbour, may see. Arguments: put or look, a name. */
static void keys(char **args)
{
	const char *name = argument(args, 1, "fumehood-abuse");
	static const long rings[] = { KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING, KEY_SPEC_USER_SESSION_KEYRING };
	if (strcmp(argument(args, 0, "put"), "put") == 0) {
		for (size_t i = 0; i < 3; i++) {
			long r = syscall(SYS_add_key, "user", name, "x", 1, rings[i]);
			printf("%s\n", r < 0 ? strerror(errno) : "put");
		}
		return;
	}
	bool found = false;
	for (size_t i = 0; i < 3; i++)
		found = found || syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", name, 0) >= 0;
	if (found)
		escaped("a key of another run");
	else
		held("no key: %s", strerror(errno));
}

static void personalities(char **args)
{
	(void)args;
	judge("READ_IMPLIES_EXEC", syscall(SYS_personality, (unsigned long)READ_IMPLIES_EXEC));
	judge("ADDR_NO_RANDOMIZE, high bits set", syscall(SYS_personality, ADDR_NO_RANDOMIZE | 1UL << 40));
	judge("ADDR_COMPAT_LAYOUT", syscall(SYS_personality, (unsigned long)ADDR_COMPAT_LAYOUT));
}

/* What is kept from the processors keeps the kernel's locks as long, for which others wait. */
static void low_priority(char **args)
{
	struct sched_param none = { 0 };
	(void)args;
	(void)setpriority(PRIO_PROCESS, 0, 20);
	judge("the worst nice value", getpriority(PRIO_PROCESS, 0) == 19 ? 0 : -1);
	(void)syscall(SYS_ioprio_set, 1, 0, 3 << 13);
	judge("I/O priority idle", syscall(SYS_ioprio_get, 1, 0) >> 13 == 3 ? 0 : -1);
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	judge("SCHED_IDLE", sched_getscheduler(0) == SCHED_IDLE ? 0 : -1);
	judge("sched_setattr", syscall(SYS_sched_setattr, 0, NULL, 0) < 0 && errno == ENOSYS ? -1 : 0);
}

/* Keeps init from the processors: what it samples would come late. */
static void priority_of_init(char **args)
{
	int fd = open("/proc/1/autogroup", O_WRONLY | O_CLOEXEC);
	(void)args;
	judge("the priority of init's session can be written", fd);
}

/* Options whose first socket has the kernel rewrite its code. No value is given, so that a kernel that is reached
 * refuses it (EINVAL): some of these rewrite it for good. */
static void rewritten_code(char **args)
{
	static const struct {
		const char *name;
		int family, type, level, option;
	} options[] = {
		{ "SO_TIMESTAMP", AF_INET, SOCK_DGRAM, SOL_SOCKET, 29 },
		{ "SO_TIMESTAMPNS", AF_INET, SOCK_DGRAM, SOL_SOCKET, 35 },
		{ "SO_TIMESTAMPING", AF_INET, SOCK_STREAM, SOL_SOCKET, 37 },
		{ "SO_TIMESTAMP_NEW", AF_INET6, SOCK_DGRAM, SOL_SOCKET, 63 },
		{ "SO_TIMESTAMPNS_NEW", AF_INET6, SOCK_DGRAM, SOL_SOCKET, 64 },
		{ "SO_TIMESTAMPING_NEW", AF_INET6, SOCK_STREAM, SOL_SOCKET, 65 },
		{ "UDP_GRO", AF_INET, SOCK_DGRAM, IPPROTO_UDP, 104 },
		{ "UDP_GRO over IPv6", AF_INET6, SOCK_DGRAM, IPPROTO_UDP, 104 },
		{ "TCP_TX_DELAY", AF_INET, SOCK_STREAM, IPPROTO_TCP, 37 },
		{ "IP_MINTTL", AF_INET, SOCK_STREAM, IPPROTO_IP, 21 },
		{ "IPV6_MINHOPCOUNT", AF_INET6, SOCK_STREAM, IPPROTO_IPV6, 73 },
	};
	struct timespec stamp;
	(void)args;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		int fd = socket(options[i].family, options[i].type, 0);
		reached(options[i].name, setsockopt(fd, options[i].level, options[i].option, NULL, 0), ENOPROTOOPT);
		close(fd);
	}
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	reached("SIOCGSTAMP", ioctl(fd, 0x8906, &stamp), ENOTTY);
	reached("SIOCGSTAMPNS", ioctl(fd, 0x8907, &stamp), ENOTTY);
	reached("SIOCGSTAMPNS_NEW", ioctl(fd, 0x80108907, &stamp), ENOTTY);
}

/* Lowers what a session of its own has of the processors, and lives on. */
static void share_of_a_session(char **args)
{
	(void)args;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
		for (int i = 0; fd >= 0 && i < 50 && write(fd, "19", 2) < 0 && errno == EAGAIN; i++)
			usleep(100000); /* the kernel takes one such word in a tenth of a second, of all the host */
		sleep(3);
		char text[64] = "";
		FILE *f = fopen("/proc/self/autogroup", "r");
		if (f && fgets(text, sizeof(text), f) && strstr(text, "nice 19"))
			escaped("a session with less than its share lived for three seconds");
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

/* Each try, one that is refused too, is a record in the host's audit log. */
static void audit_log(char **args)
{
	int fd = open("/proc/self/loginuid", O_WRONLY | O_CLOEXEC);
	(void)args;
	if (fd < 0)
		held("/proc/self/loginuid: %s", strerror(errno));
	else if (pwrite(fd, "1000", 4, 0) == 4 || errno == EPERM)
		escaped("the kernel was asked to set who logged in");
	else
		held("writing /proc/self/loginuid: %s", strerror(errno));
}

static const struct attack attacks[] = {
	{ "new_namespaces", new_namespaces },
	{ "enter_namespaces", enter_namespaces },
	{ "mounts", mounts },
	{ "chroot", chroot_and_back },
	{ "handles", handles },
	{ "devices", devices },
	{ "capabilities", capabilities },
	{ "filter_on_top", filter_on_top },
	{ "io_uring", io_uring },
	{ "inside_the_kernel", inside_the_kernel },
	{ "audit_log", audit_log },
	{ "low_priority", low_priority },
	{ "modules", modules },
	{ "priority_of_init", priority_of_init },
	{ "rewritten_code", rewritten_code },
	{ "share_of_a_session", share_of_a_session },
	{ "sockets", sockets },
	{ "terminals", terminals },
	{ "clocks", clocks },
	{ "other_architectures", other_architectures },
	{ "tracing", tracing },
	{ "keys", keys },
	{ "personalities", personalities },
};
ATTACKS(attacks)
