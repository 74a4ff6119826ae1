/* SPDX-License-Identifier: MIT */
/*
 * The generator: system calls by number with arguments of the kind that each takes, and every other number with
 * arguments of any kind.
 *
 * Not among them: reboot and kexec, which nothing but privilege stops on the host of a developer who takes a layer
 * away, and sync, which makes everybody wait for the disk.
 */
#include "hunt.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum kind {
	NONE,
	FD,
	PATH,
	BUF,
	WORDS,
	SIZE,
	NUMBER,
	FLAGS,
	PID,
	SIG,
	ADDR,
	ALEN,
	DIR_FD,
	OFLAGS,
	IPC_KEY,
	IPC_ID,
	SMALL,
	ANY,
	OWN_FDS
};

struct call {
	int number;
	bool makes; /* a descriptor, or the id of an IPC object: kept for later calls */
	enum kind kinds[6];
};

static const struct call calls[] = {
	{ SYS_read, 0, { FD, BUF, SIZE } },
	{ SYS_write, 0, { FD, BUF, SIZE } },
	{ SYS_pread64, 0, { FD, BUF, SIZE, SMALL } },
	{ SYS_pwrite64, 0, { FD, BUF, SIZE, SMALL } },
	{ SYS_readv, 0, { FD, WORDS, SMALL } },
	{ SYS_writev, 0, { FD, WORDS, SMALL } },
	{ SYS_openat, 1, { DIR_FD, PATH, OFLAGS, FLAGS } },
	{ SYS_openat, 1, { DIR_FD, PATH, OFLAGS, FLAGS } },
	{ SYS_openat, 1, { DIR_FD, PATH, OFLAGS, FLAGS } },
	{ SYS_close, 0, { OWN_FDS } },
	{ SYS_lseek, 0, { FD, NUMBER, SMALL } },
	{ SYS_mmap, 0, { ANY, SIZE, SMALL, FLAGS, FD, SMALL } },
	{ SYS_mremap, 0, { BUF, SIZE, SIZE, SMALL } },
	{ SYS_madvise, 0, { BUF, SIZE, SMALL } },
	{ SYS_ioctl, 0, { FD, NUMBER, BUF } },
	{ SYS_fcntl, 0, { FD, SMALL, ANY } },
	{ SYS_fcntl, 0, { FD, NUMBER, ANY } },
	{ SYS_flock, 0, { FD, SMALL } },
	{ SYS_dup, 1, { FD } },
	{ SYS_dup3, 0, { FD, OWN_FDS, FLAGS } },
	{ SYS_pipe2, 0, { BUF, FLAGS } },
	{ SYS_socket, 1, { SMALL, SMALL, SMALL } },
	{ SYS_socket, 1, { SMALL, SMALL, NONE } },
	{ SYS_socketpair, 0, { SMALL, SMALL, SMALL, BUF } },
	{ SYS_connect, 0, { FD, ADDR, ALEN } },
	{ SYS_bind, 0, { FD, ADDR, ALEN } },
	{ SYS_listen, 0, { FD, SMALL } },
	{ SYS_accept4, 1, { FD, BUF, WORDS, FLAGS } },
	{ SYS_sendto, 0, { FD, BUF, SIZE, FLAGS, ADDR, ALEN } },
	{ SYS_recvfrom, 0, { FD, BUF, SIZE, FLAGS, BUF, WORDS } },
	{ SYS_sendmsg, 0, { FD, WORDS, FLAGS } },
	{ SYS_recvmsg, 0, { FD, WORDS, FLAGS } },
	{ SYS_setsockopt, 0, { FD, SMALL, SMALL, BUF, SIZE } },
	{ SYS_getsockopt, 0, { FD, SMALL, SMALL, BUF, WORDS } },
	{ SYS_shutdown, 0, { FD, SMALL } },
	{ SYS_clone, 0, { FLAGS } },
	{ SYS_execve, 0, { PATH, WORDS, WORDS } },
	{ SYS_execveat, 0, { DIR_FD, PATH, WORDS, WORDS, FLAGS } },
	{ SYS_kill, 0, { PID, SIG } },
	{ SYS_tkill, 0, { PID, SIG } },
	{ SYS_tgkill, 0, { PID, PID, SIG } },
	{ SYS_rt_sigqueueinfo, 0, { PID, SIG, BUF } },
	{ SYS_pidfd_open, 1, { PID, FLAGS } },
	{ SYS_pidfd_send_signal, 0, { FD, SIG, BUF, NONE } },
	{ SYS_pidfd_getfd, 1, { FD, SMALL, NONE } },
	{ SYS_ptrace, 0, { SMALL, PID, BUF, BUF } },
	{ SYS_ptrace, 0, { NUMBER, PID, BUF, BUF } },
	{ SYS_process_vm_readv, 0, { PID, WORDS, SMALL, WORDS, SMALL, NONE } },
	{ SYS_process_vm_writev, 0, { PID, WORDS, SMALL, WORDS, SMALL, NONE } },
	{ SYS_process_madvise, 0, { FD, WORDS, SMALL, SMALL, NONE } },
	{ SYS_kcmp, 0, { PID, PID, SMALL, SMALL, SMALL } },
	{ SYS_prlimit64, 0, { PID, SMALL, BUF, BUF } },
	{ SYS_sched_setaffinity, 0, { PID, SIZE, BUF } },
	{ SYS_sched_setscheduler, 0, { PID, SMALL, BUF } },
	{ SYS_setpriority, 0, { SMALL, PID, NUMBER } },
	{ SYS_ioprio_set, 0, { SMALL, PID, NUMBER } },
	{ SYS_migrate_pages, 0, { PID, SIZE, BUF, BUF } },
	{ SYS_move_pages, 0, { PID, SMALL, WORDS, BUF, BUF, SMALL } },
	{ SYS_shmget, 1, { IPC_KEY, SIZE, FLAGS } },
	{ SYS_shmget, 1, { IPC_KEY, SIZE, IPC_KEY } },
	{ SYS_shmat, 0, { IPC_ID, NONE, FLAGS } },
	{ SYS_shmctl, 0, { IPC_ID, SMALL, BUF } },
	{ SYS_semget, 1, { IPC_KEY, SMALL, FLAGS } },
	{ SYS_semop, 0, { IPC_ID, BUF, SMALL } },
	{ SYS_semctl, 0, { IPC_ID, SMALL, SMALL, ANY } },
	{ SYS_msgget, 1, { IPC_KEY, FLAGS } },
	{ SYS_msgsnd, 0, { IPC_ID, BUF, SIZE, FLAGS } },
	{ SYS_msgrcv, 0, { IPC_ID, BUF, SIZE, SMALL, FLAGS } },
	{ SYS_msgctl, 0, { IPC_ID, SMALL, BUF } },
	{ SYS_ftruncate, 0, { FD, SIZE } },
	{ SYS_fallocate, 0, { FD, SMALL, SMALL, SIZE } },
	{ SYS_getdents64, 0, { FD, BUF, SIZE } },
	{ SYS_fchdir, 0, { FD } },
	{ SYS_chdir, 0, { PATH } },
	{ SYS_chroot, 0, { PATH } },
	{ SYS_renameat2, 0, { DIR_FD, PATH, DIR_FD, PATH, SMALL } },
	{ SYS_mkdirat, 0, { DIR_FD, PATH, FLAGS } },
	{ SYS_mknodat, 0, { DIR_FD, PATH, FLAGS, NUMBER } },
	{ SYS_linkat, 0, { DIR_FD, PATH, DIR_FD, PATH, FLAGS } },
	{ SYS_symlinkat, 0, { PATH, DIR_FD, PATH } },
	{ SYS_unlinkat, 0, { DIR_FD, PATH, FLAGS } },
	{ SYS_readlinkat, 0, { DIR_FD, PATH, BUF, SIZE } },
	{ SYS_fchmodat, 0, { DIR_FD, PATH, FLAGS } },
	{ SYS_fchmod, 0, { FD, FLAGS } },
	{ SYS_fchownat, 0, { DIR_FD, PATH, NUMBER, NUMBER, FLAGS } },
	{ SYS_utimensat, 0, { DIR_FD, PATH, BUF, FLAGS } },
	{ SYS_truncate, 0, { PATH, SIZE } },
	{ SYS_setxattr, 0, { PATH, PATH, BUF, SIZE, SMALL } },
	{ SYS_fsetxattr, 0, { FD, PATH, BUF, SIZE, SMALL } },
	{ SYS_statx, 0, { DIR_FD, PATH, FLAGS, FLAGS, BUF } },
	{ SYS_mount, 0, { PATH, PATH, PATH, FLAGS, BUF } },
	{ SYS_umount2, 0, { PATH, FLAGS } },
	{ SYS_pivot_root, 0, { PATH, PATH } },
	{ SYS_open_tree, 1, { DIR_FD, PATH, FLAGS } },
	{ SYS_move_mount, 0, { FD, PATH, FD, PATH, FLAGS } },
	{ SYS_fsopen, 1, { PATH, FLAGS } },
	{ SYS_fspick, 1, { DIR_FD, PATH, FLAGS } },
	{ SYS_unshare, 0, { FLAGS } },
	{ SYS_setns, 0, { FD, FLAGS } },
	{ SYS_clone3, 0, { WORDS, SIZE } },
	{ SYS_prctl, 0, { SMALL, ANY, ANY, ANY, ANY } },
	{ SYS_capset, 0, { BUF, BUF } },
	{ SYS_setresuid, 0, { NUMBER, NUMBER, NUMBER } },
	{ SYS_setresgid, 0, { NUMBER, NUMBER, NUMBER } },
	{ SYS_setgroups, 0, { SMALL, BUF } },
	{ SYS_personality, 0, { NUMBER } },
	{ SYS_seccomp, 0, { SMALL, SMALL, WORDS } },
	{ SYS_bpf, 1, { SMALL, BUF, SIZE } },
	{ SYS_perf_event_open, 1, { BUF, PID, SMALL, FD, FLAGS } },
	{ SYS_userfaultfd, 1, { FLAGS } },
	{ SYS_io_uring_setup, 1, { SMALL, BUF } },
	{ SYS_io_setup, 0, { SMALL, BUF } },
	{ SYS_memfd_create, 1, { PATH, FLAGS } },
	{ SYS_memfd_create, 1, { PATH, NONE } },
	{ SYS_eventfd2, 1, { SMALL, FLAGS } },
	{ SYS_epoll_create1, 1, { FLAGS } },
	{ SYS_epoll_ctl, 0, { FD, SMALL, FD, BUF } },
	{ SYS_signalfd4, 1, { FD, BUF, SIZE, FLAGS } },
	{ SYS_timerfd_create, 1, { SMALL, FLAGS } },
	{ SYS_timerfd_settime, 0, { FD, SMALL, BUF, BUF } },
	{ SYS_inotify_init1, 1, { FLAGS } },
	{ SYS_inotify_add_watch, 0, { FD, PATH, FLAGS } },
	{ SYS_fanotify_init, 1, { FLAGS, FLAGS } },
	{ SYS_fanotify_mark, 0, { FD, FLAGS, FLAGS, DIR_FD, PATH } },
	{ SYS_open_by_handle_at, 1, { FD, BUF, FLAGS } },
	{ SYS_name_to_handle_at, 0, { DIR_FD, PATH, BUF, BUF, FLAGS } },
	{ SYS_splice, 0, { FD, NONE, FD, NONE, SIZE, FLAGS } },
	{ SYS_tee, 0, { FD, FD, SIZE, FLAGS } },
	{ SYS_vmsplice, 0, { FD, WORDS, SMALL, FLAGS } },
	{ SYS_sendfile, 0, { FD, FD, NONE, SIZE } },
	{ SYS_copy_file_range, 0, { FD, NONE, FD, NONE, SIZE, NONE } },
	{ SYS_add_key, 0, { PATH, PATH, BUF, SIZE, NUMBER } },
	{ SYS_keyctl, 0, { SMALL, NUMBER, BUF, SIZE, ANY } },
	{ SYS_request_key, 0, { PATH, PATH, BUF, NUMBER } },
	{ SYS_sethostname, 0, { BUF, SIZE } },
	{ SYS_setdomainname, 0, { BUF, SIZE } },
	{ SYS_clock_settime, 0, { SMALL, BUF } },
	{ SYS_adjtimex, 0, { BUF } },
	{ SYS_syslog, 0, { SMALL, BUF, SIZE } },
	{ SYS_mq_open, 1, { PATH, FLAGS, FLAGS, NONE } },
	{ SYS_mlock, 0, { BUF, SIZE } },
	{ SYS_futex, 0, { BUF, SMALL, SMALL, NONE, BUF, SMALL } },
	{ SYS_landlock_restrict_self, 0, { FD, FLAGS } },
	{ SYS_quotactl, 0, { NUMBER, PATH, NUMBER, BUF } },
	{ SYS_acct, 0, { PATH } },
	{ SYS_swapon, 0, { PATH, FLAGS } },
	{ SYS_init_module, 0, { BUF, SIZE, PATH } },
	{ SYS_finit_module, 0, { FD, PATH, FLAGS } },
};

static const int left_out[] = { SYS_reboot,     SYS_kexec_load, SYS_kexec_file_load, SYS_sync, SYS_syncfs,
	                            SYS_exit_group, SYS_exit };

static const char *const paths[] = {
	".",
	"..",
	"/",
	"hunt.seed",
	"a",
	"b",
	"a/b",
	"/tmp",
	"/tmp/a",
	"/dev/shm/a",
	"/dev",
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/dev/random",
	"/dev/tty",
	"/dev/ptmx",
	"/dev/pts",
	"/dev/shm/watch.txt",
	"/tmp/watch.txt",
	"watch.txt",
	"/dev/mqueue",
	"/dev/kmsg",
	"/dev/mem",
	"/proc",
	"/proc/self",
	"/proc/self/mem",
	"/proc/self/fd",
	"/proc/self/exe",
	"/proc/self/root",
	"/proc/self/cwd",
	"/proc/self/maps",
	"/proc/self/environ",
	"/proc/self/oom_score_adj",
	"/proc/self/uid_map",
	"/proc/self/setgroups",
	"/proc/self/attr/current",
	"/proc/self/timerslack_ns",
	"/proc/self/clear_refs",
	"/proc/self/pagemap",
	"/proc/self/ns/net",
	"/proc/self/ns/mnt",
	"/proc/self/ns/pid",
	"/proc/self/ns/user",
	"/proc/self/ns/ipc",
	"/proc/self/ns/uts",
	"/proc/self/ns/cgroup",
	"/proc/1/root",
	"/proc/1/cwd",
	"/proc/1/exe",
	"/proc/1/mem",
	"/proc/1/fd",
	"/proc/1/fd/0",
	"/proc/1/fd/3",
	"/proc/1/environ",
	"/proc/1/ns/mnt",
	"/proc/sys",
	"/proc/sys/kernel/core_pattern",
	"/proc/sys/kernel/hostname",
	"/proc/sys/kernel/shmmax",
	"/proc/sys/vm/drop_caches",
	"/proc/sys/vm/overcommit_memory",
	"/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/fs/binfmt_misc/register",
	"/proc/sys/user/max_user_namespaces",
	"/proc/sysrq-trigger",
	"/proc/kcore",
	"/proc/kallsyms",
	"/proc/keys",
	"/proc/locks",
	"/proc/net/tcp",
	"/proc/net/unix",
	"/proc/mounts",
	"/proc/acpi",
	"/proc/pressure/memory",
	"/sys",
	"/sys/fs/cgroup",
	"/sys/fs/cgroup/cgroup.procs",
	"/sys/kernel/debug",
	"/sys/kernel/uevent_helper",
	"/etc",
	"/etc/passwd",
	"/etc/shadow",
	"/etc/ld.so.preload",
	"/root",
	"/home",
	"/run",
	"/var/run/docker.sock",
	"/usr",
	"/usr/bin/env",
	"/usr/bin/su",
	"/bin/sh",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/opt",
	"user.hunt",
	"security.capability",
	"trusted.hunt",
	"keyring",
	"tmpfs",
	"proc",
	"sysfs",
	"overlay",
	"cgroup2",
	"",
};
static const unsigned flag_bits[] = { 0,          1,          2,          4,         8,         0x10,      0x20,
	                                  0x40,       0x80,       0x100,      0x200,     0400,      01000,     02000,
	                                  04000,      0777,       06777,      0x1000,    0x2000,    0x4000,    0x10000,
	                                  0x20000,    0x80000,    0x100000,   0x400000,  0x2000000, 0x4000000, 0x8000000,
	                                  0x10000000, 0x20000000, 0x40000000, 0x80000000 };

enum { ARENA = 8192, KEPT = 32, LENGTH = 512 };

static struct {
	const struct hunt_words *w;
	uint64_t state;
	long kept[KEPT]; /* descriptors and ids that calls gave */
	unsigned kept_count;
	char arena[ARENA] __attribute__((aligned(64)));
	uint64_t vectors[64];
} g;

static unsigned below(unsigned n)
{
	return (unsigned)(hunt_random(&g.state) % n);
}

/* A part of the arena, filled with what a call may take for a structure, or with the mark. */
static char *buffer(void)
{
	char *p = g.arena + 64 * below((ARENA - LENGTH) / 64);
	unsigned how = below(8);
	if (how < 4) {
		for (unsigned i = 0; i + HUNT_MARK <= LENGTH; i += HUNT_MARK)
			memcpy(p + i, g.w->mark, HUNT_MARK);
	} else if (how < 6) {
		memset(p, 0, LENGTH);
		for (unsigned i = 0; i < 8; i++)
			((uint32_t *)(void *)p)[below(16)] = below(4) ? below(16) : (uint32_t)hunt_random(&g.state);
	} else if (how == 6) {
		for (unsigned i = 0; i < LENGTH / 8; i++)
			((uint64_t *)(void *)p)[i] = hunt_random(&g.state);
	}
	return p;
}

/* Pointers and lengths, as iovec, msghdr, argv and clone_args have them. */
static uint64_t *vector(void)
{
	for (unsigned i = 0; i < 64; i += 2) {
		g.vectors[i] = below(4) ? (uint64_t)(uintptr_t)buffer() : 0;
		g.vectors[i + 1] = below(LENGTH);
	}
	if (below(3) == 0) { /* a message with one iovec */
		g.vectors[0] = g.vectors[1] = 0;
		g.vectors[2] = (uint64_t)(uintptr_t)&g.vectors[16];
		g.vectors[3] = 1;
		g.vectors[4] = (uint64_t)(uintptr_t)buffer();
		g.vectors[5] = below(128);
		g.vectors[6] = 0;
	}
	return g.vectors;
}

static long descriptor(void)
{
	unsigned how = below(10);
	if (how < 5 && g.kept_count)
		return g.kept[below(g.kept_count < KEPT ? g.kept_count : KEPT)];
	return how < 9 ? (long)below(48) : (long)(100 + below(924));
}

static const char *path(void)
{
	static char text[300];
	unsigned how = below(12);
	if (how == 0 && g.w->path_count)
		return g.w->paths[below(g.w->path_count)];
	if (how == 1) {
		snprintf(text, sizeof(text), "/proc/self/fd/%u", below(40));
		return text;
	}
	if (how == 2) {
		snprintf(text, sizeof(text), "/proc/%u/%s", below(20), below(2) ? "root/tmp/watch.txt" : "fd/1");
		return text;
	}
	return paths[below(sizeof(paths) / sizeof(paths[0]))];
}

static struct sockaddr_storage address;
static unsigned address_length;

static void make_address(void)
{
	struct sockaddr_in *in = (void *)&address;
	struct sockaddr_un *un = (void *)&address;
	memset(&address, 0, sizeof(address));
	switch (below(5)) {
	case 0:
	case 1:
		*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
		in->sin_port = htons(below(2) ? (uint16_t)g.w->port : below(2) ? 4242 : (uint16_t)(4000 + below(8)));
		address_length = sizeof(*in);
		break;
	case 2:
	case 3: {
		const char *name = below(2) ? g.w->abstract : "hunt-watch";
		size_t n = strlen(name);
		un->sun_family = AF_UNIX;
		memcpy(un->sun_path + 1, name, n);
		address_length = (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
		break;
	}
	default:
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path, sizeof(un->sun_path), "%.100s", path());
		address_length = sizeof(*un);
	}
}

static long value(enum kind kind)
{
	switch (kind) {
	case FD:
		return descriptor();
	case OWN_FDS: /* not the first ones, on which the findings go out */
		return g.kept_count && below(2) ? g.kept[below(g.kept_count < KEPT ? g.kept_count : KEPT)]
		                                : (long)(3 + below(40));
	case DIR_FD:
		return below(3) ? AT_FDCWD : descriptor();
	case PATH:
		return (long)(intptr_t)path();
	case BUF:
		return below(16) ? (long)(intptr_t)buffer() : 0;
	case WORDS:
		return (long)(intptr_t)vector();
	case SIZE:
		return below(8) ? (long)below(LENGTH) : (long)below(1 << 20);
	case FLAGS:
		return (long)(flag_bits[below(sizeof(flag_bits) / sizeof(flag_bits[0]))] |
		              (below(2) ? flag_bits[below(sizeof(flag_bits) / sizeof(flag_bits[0]))] : 0));
	case OFLAGS:
		return (long)(below(3) | (below(2) ? O_CREAT : 0) | (below(6) ? 0 : flag_bits[below(30)]) | O_NONBLOCK);
	case PID: {
		static const int some[] = { 0, 1, 2, 3, 4, 5, 7, 10, 100, 1000 };
		unsigned n = below(16);
		return n < 10 ? some[n] : n < 13 ? (long)getpid() : n < 15 ? (long)below(4096) : -(long)below(3000);
	}
	case SIG:
		return (long)below(66);
	case ADDR:
		make_address();
		return (long)(intptr_t)&address;
	case ALEN:
		return below(16) ? (long)address_length : (long)below(sizeof(address));
	case IPC_KEY:
		return below(2) ? 0x48554e54 : below(4) ? (long)below(4) : 0;
	case IPC_ID:
		return below(2) ? (long)below(4) : descriptor();
	case SMALL:
		return (long)below(24);
	case NUMBER: {
		unsigned how = below(4);
		return how == 0 ? -1 : how == 1 ? (long)below(65536) : how == 2 ? 1L << below(63) : (long)hunt_random(&g.state);
	}
	case ANY:
		return value((enum kind[]){ FD, PATH, BUF, WORDS, SIZE, NUMBER, FLAGS, SMALL, NONE }[below(9)]);
	case NONE:
		break;
	}
	return 0;
}

static struct call any_call(void)
{
	struct call c = { .number = (int)below(480), .makes = below(4) == 0 };
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (c.number == left_out[i])
			return any_call();
	for (unsigned i = 0; i < 6; i++)
		c.kinds[i] = ANY;
	return c;
}

static bool number_at(const char *from, uint32_t *ret)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < 8; i++) {
		char c = from[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		n = n << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = n;
	return true;
}

/* A whole mark: what a short write has cut and another has gone on with is none. */
static bool is_mark(const char *from)
{
	uint32_t id, check;
	return memcmp(from, "HUNT", 4) == 0 && number_at(from + 4, &id) && number_at(from + 12, &check) &&
	       check == id * HUNT_CHECK;
}

/* The host's secrets begin with S3CR3T: a word that stands nowhere in this program, which calls may read as well. */
static bool is_secret(const char *from)
{
	static const unsigned char word[] = { 'S' ^ 1, '3' ^ 1, 'C' ^ 1, 'R' ^ 1, '3' ^ 1, 'T' ^ 1 };
	for (size_t i = 0; i < sizeof(word); i++)
		if ((unsigned char)from[i] != (word[i] ^ 1))
			return false;
	return true;
}

/* What was read: nothing that another sandbox wrote, nothing of the host's. */
static const char *foreign(const char *from, size_t n)
{
	for (size_t i = 0; i + HUNT_MARK <= n; i++) {
		if (from[i] == 'S' && is_secret(from + i))
			return from + i;
		if (from[i] == 'H' && is_mark(from + i) && memcmp(from + i, g.w->mark, HUNT_MARK) != 0)
			return from + i;
	}
	return NULL;
}

static void one_call(struct hunt_told *told)
{
	struct call c = below(5) ? calls[below(sizeof(calls) / sizeof(calls[0]))] : any_call();
	long a[6];
	memset(g.arena, 0, sizeof(g.arena));
	for (unsigned i = 0; i < 6; i++)
		a[i] = value(c.kinds[i]);
	long r = syscall(c.number, a[0], a[1], a[2], a[3], a[4], a[5]);
	told->calls++;
	if (r < 0)
		return;
	told->good++;
	if (c.makes)
		g.kept[g.kept_count++ % KEPT] = r;
	const char *found = foreign(g.arena, sizeof(g.arena));
	if (found) { /* told as it is: what shares this memory may have spoilt it, or our own mark (hunt.py looks again) */
		char copy[HUNT_MARK], text[2 * HUNT_MARK + 1];
		memcpy(copy, found, HUNT_MARK);
		for (unsigned i = 0; i < HUNT_MARK; i++)
			snprintf(text + 2 * i, 3, "%02x", (unsigned char)copy[i]);
		snprintf(told->finding, sizeof(told->finding), "call %d (%lx %lx %lx %lx %lx %lx) = %ld read %s", c.number,
		         a[0], a[1], a[2], a[3], a[4], a[5], r, text);
	}
}

void hunt_batch(const struct hunt_words *w, unsigned batch, struct hunt_told *told)
{
	g.w = w;
	g.state = w->seed * 1000003 + batch;
	g.kept_count = 0;
	for (unsigned i = 0; i < HUNT_CALLS && !told->finding[0]; i++)
		one_call(told);
}
