/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* also compiled into tools/seccomp-gen */
#endif
#include "engine/make/seccomp_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/kcmp.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "init/messages.h"

/* CLONE_NEW* bits as clone takes them. CLONE_NEWTIME is missing, since its bit is part of clone's exit signal. */
#define CLONE_NAMESPACES 0x7E020000u
#define SET_ID 06000u
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
#define HOLDS_UP_INIT "would hold up init, which in some hosts is the same user"
#define SIGNALS_INIT "would signal init, which in some hosts is the same user"

const struct fh_policy_entry fh_seccomp_policy[] = {
#define OWN_TABLE "a thread's own descriptors, which /proc does not list: nobody could count what they hold"
	FH_E_IF("clone", EINVAL, OWN_TABLE, FH_MASKED(0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD)),
	FH_E_IF("close_range", EINVAL, OWN_TABLE, FH_ANY(2, 2 /* CLOSE_RANGE_UNSHARE */)),
	FH_A_IF("clone", "new processes and threads, but no new namespaces", FH_MASKED(0, CLONE_NAMESPACES, 0)),

	/* For an unknown protocol or type the kernel may load a module. Whatever is not listed here fails as in a kernel
	 * without that module. */
	FH_A_IF("socket", "sockets within the sandbox", FH_IS(0, AF_UNIX)),
#define INET_SOCKET(family, type, protocol)                                                                            \
	FH_A_IF("socket", "TCP and UDP over the sandbox's own loopback", FH_IS(0, family), FH_MASKED(1, 0xF, type),        \
	        FH_IS(2, protocol))
#define INET_SOCKETS(family)                                                                                           \
	INET_SOCKET(family, SOCK_STREAM, 0), INET_SOCKET(family, SOCK_STREAM, IPPROTO_TCP),                                \
	    INET_SOCKET(family, SOCK_DGRAM, 0), INET_SOCKET(family, SOCK_DGRAM, IPPROTO_UDP),                              \
	    FH_E_IF("socket", EPROTONOSUPPORT, "a protocol whose module the kernel would load", FH_IS(0, family))
	INET_SOCKETS(AF_INET),
	INET_SOCKETS(AF_INET6),
	FH_A_IF("socketpair", "sockets within the sandbox", FH_IS(0, AF_UNIX)),

#define PERSONALITY(value)                                                                                             \
	FH_A_IF("personality", "the personalities that programs ask for or set; none that weakens the address space",      \
	        FH_IS(0, value))
	PERSONALITY(0),
	PERSONALITY(8),
	PERSONALITY(0x20000),
	PERSONALITY(0x20008),
	PERSONALITY(0xFFFFFFFF),
	FH_E_IF("sched_setaffinity", EPERM, HOLDS_UP_INIT, FH_IS(0, 1)),
	FH_E_IF("setpriority", EPERM, HOLDS_UP_INIT, FH_IS(1, 1)),
	FH_E_IF("setpriority", EPERM, HOLDS_UP_INIT, FH_IS(0, PRIO_USER)),
	FH_E_IF("sched_setscheduler", EPERM, HOLDS_UP_INIT, FH_IS(0, 1)),
	FH_E_IF("ioprio_set", EPERM, HOLDS_UP_INIT, FH_IS(1, 1)),

/* Whoever waits for a lock of the kernel that such a process holds, as the engine does for a pipe, waits until the
 * process is given a processor: minutes, beside busy loops of the same program. Lower priority only says that others
 * may go first, so programs are told that it worked. Negative values are left to the kernel, which refuses them. */
#define LOW_PRIORITY "holds locks of the kernel, which others wait for, while it is kept from the processors"
	FH_A_IF("setpriority", "a better priority, which the kernel refuses", FH_MASKED(2, 1u << 31, 1u << 31)),
	FH_E_IF("setpriority", 0, LOW_PRIORITY, FH_ABOVE(2, 0)),
	FH_E_IF("sched_setscheduler", 0, LOW_PRIORITY, FH_MASKED(1, 0xFF, SCHED_IDLE)),
	FH_E_IF("ioprio_set", 0, LOW_PRIORITY, FH_MASKED(2, 7u << 13, 3u << 13)),
	FH_E_IF("kill", EPERM, SIGNALS_INIT, FH_IS(0, 1)),
	FH_E_IF("tkill", EPERM, SIGNALS_INIT, FH_IS(0, 1)),
	FH_E_IF("tgkill", EPERM, SIGNALS_INIT, FH_IS(0, 1)),
	FH_E_IF("rt_sigqueueinfo", EPERM, SIGNALS_INIT, FH_IS(0, 1)),
	FH_E_IF("rt_tgsigqueueinfo", EPERM, SIGNALS_INIT, FH_IS(0, 1)),
	FH_E_IF("pidfd_open", EPERM, SIGNALS_INIT, FH_IS(0, 1)),

	/* The same signals by ways whose target a filter cannot see, or only in part: a folder of /proc stands for a
	 * process as a pidfd does, and the owner of a file (F_SETOWN) gets signals. */
	FH_E_IF("fcntl", EPERM, SIGNALS_INIT, FH_IS(1, F_SETOWN), FH_IS(2, 1)),
	FH_E_IF("fcntl", EPERM, SIGNALS_INIT, FH_IS(1, F_SETOWN), FH_IS(2, 0xFFFFFFFFu)),
	FH_E_IF("fcntl", EINVAL, SIGNALS_INIT, FH_IS(1, F_SETOWN_EX)),
	FH_E_IF("ioctl", ENOTTY, SIGNALS_INIT, FH_IS(1, 0x8901 /* FIOSETOWN */)),
	FH_E_IF("ioctl", ENOTTY, SIGNALS_INIT, FH_IS(1, 0x8902 /* SIOCSPGRP */)),

	/* The engine sets RLIMIT_CORE to 1 byte, the only value at which the kernel does not start a core dump handler of
	 * the host either (core(5)); at 0 it does. A program that switches core dumps off is told that it worked. */
	FH_E_IF("prlimit64", EPERM, "would change the limits of init, which in some hosts is the same user", FH_IS(0, 1)),
	FH_E_IF("prlimit64", 0, "there are no core dumps, whatever is set", FH_IS(1, RLIMIT_CORE), FH_GIVEN(2), FH_NULL(3)),
	FH_E_IF("prlimit64", EPERM, "there are no core dumps, whatever is set", FH_IS(1, RLIMIT_CORE), FH_GIVEN(2)),
	FH_E_IF("setrlimit", 0, "there are no core dumps, whatever is set", FH_IS(0, RLIMIT_CORE)),

/* In a folder mounted writable, a set-ID file would run with the rights of the invoking user of the host. File
 * capabilities cannot be set without a capability. For openat2, whose mode is behind a pointer, see below. */
#define NO_SET_ID "a set-ID file on a writable mount would run as the user of the host"
	FH_E_IF("chmod", EPERM, NO_SET_ID, FH_ANY(1, SET_ID)),
	FH_E_IF("fchmod", EPERM, NO_SET_ID, FH_ANY(1, SET_ID)),
	FH_E_IF("fchmodat", EPERM, NO_SET_ID, FH_ANY(2, SET_ID)),
	FH_E_IF("fchmodat2", EPERM, NO_SET_ID, FH_ANY(2, SET_ID)),
	FH_E_IF("creat", EPERM, NO_SET_ID, FH_ANY(1, SET_ID)),
	FH_E_IF("mkdir", EPERM, NO_SET_ID, FH_ANY(1, SET_ID)),
	FH_E_IF("mkdirat", EPERM, NO_SET_ID, FH_ANY(2, SET_ID)),
	FH_E_IF("mknod", EPERM, NO_SET_ID, FH_ANY(1, SET_ID)),
	FH_E_IF("mknodat", EPERM, NO_SET_ID, FH_ANY(2, SET_ID)),
	FH_E_IF("open", EPERM, NO_SET_ID, FH_ANY(1, O_CREAT | TMPFILE), FH_ANY(2, SET_ID)),
	FH_E_IF("openat", EPERM, NO_SET_ID, FH_ANY(2, O_CREAT | TMPFILE), FH_ANY(3, SET_ID)),

/* The kernel keeps access control lists (ACL) in memory that it charges to no control group. A filter sees only how
 * long one is: this is 59 entries. Programs that copy attributes take the answer for a file system without them. */
#define LONG_ATTRIBUTE(call)                                                                                           \
	FH_E_IF(call, EOPNOTSUPP, "memory for access control lists, which nothing counts",                                 \
	        FH_ABOVE(3, FH_INIT_ATTRIBUTE_MAX))
	LONG_ATTRIBUTE("setxattr"),
	LONG_ATTRIBUTE("lsetxattr"),
	LONG_ATTRIBUTE("fsetxattr"),

/* A pipe is locked while splice() or sendfile() waits at its other end, which is a socket or a terminal: for ever, and
 * with it whoever reads the program's output or asks how much is in its pipes, as no signal ends that wait. What can be
 * given an offset does not wait. Programs fall back to read and write, as sendfile(2) tells them to. */
#define WAITS_IN_A_PIPE "waits with a pipe locked, and holds up the engine that reads it"
	FH_E_IF("splice", EINVAL, WAITS_IN_A_PIPE, FH_NULL(1), FH_NULL(3)),
	FH_E_IF("sendfile", EINVAL, WAITS_IN_A_PIPE, FH_NULL(2)),

/* operations that outlast the program or burden the host, and that no program of this kind needs */
#define SIGNALS_WHILE_IT_DIES "files that signal when others are closed: killed, a program took minutes to die"
	FH_E_IF("fcntl", EINVAL, SIGNALS_WHILE_IT_DIES, FH_IS(1, F_SETFL), FH_ANY(2, O_ASYNC)),
	FH_E_IF("ioctl", ENOTTY, SIGNALS_WHILE_IT_DIES, FH_IS(1, FIOASYNC)),
	FH_E_IF("fcntl", EINVAL, "a lease holds up whoever opens the file, on the host too", FH_IS(1, F_SETLEASE)),
	FH_E_IF("fcntl", EINVAL, "watches folders of the host; inotify is what programs use", FH_IS(1, F_NOTIFY)),
	/* The hint stays with the inode after the run. A read-only mount does not prevent it. */
	FH_E_IF("fcntl", EINVAL, "leaves a word on a file of the host", FH_IS(1, 1036 /* F_SET_RW_HINT */)),
	FH_E_IF("fcntl", EINVAL, "leaves a word on a file of the host", FH_IS(1, 1038 /* F_SET_FILE_RW_HINT */)),
#define UNSEEN "locks (new in 3.15) that may outlive every descriptor: nobody could count them"
	FH_E_IF("fcntl", EINVAL, UNSEEN, FH_IS(1, F_OFD_SETLK)),
	FH_E_IF("fcntl", EINVAL, UNSEEN, FH_IS(1, F_OFD_SETLKW)),
	FH_E_IF("madvise", EINVAL, "pages merged with those of others tell what others hold", FH_IS(2, MADV_MERGEABLE)),
	FH_E_IF("madvise", EINVAL, "pushes memory into the host's swap, where it is not limited",
	        FH_IS(2, 21 /* PAGEOUT */)),
	FH_E_IF("prctl", EINVAL, "merged pages tell what others hold", FH_IS(0, 67 /* MEMORY_MERGE */)),
	FH_E_IF("prctl", EINVAL, "a program in the kernel, from a pool of the whole host", FH_IS(0, PR_SET_SECCOMP)),
	FH_E_IF("prctl", EPERM, "a command line without end, for whoever lists the host's", FH_IS(0, PR_SET_MM)),
	FH_E_IF("prctl", EINVAL, "a core scheduling cookie keeps others from processors", FH_IS(0, 62 /* SCHED_CORE */)),

	/* What older kernels lack is refused as they do: programs fall back, and an option that is added later is looked at
	 * before it is allowed. FUTEX_HASH (78, Linux 6.16) makes a hash table as large as is asked for. The name of a
	 * range of memory (SET_VMA) is charged to no control group. */
	FH_A_IF("prctl", "lets another process of the sandbox trace; tracing is refused", FH_IS(0, PR_SET_PTRACER)),
	FH_A_IF("prctl", "reading what the program was started with", FH_IS(0, 0x41555856 /* GET_AUXV */)),
	FH_E_IF("prctl", EINVAL, "options newer than Linux 6.15: hash tables of any size, which only control groups count",
	        FH_ABOVE(0, 77)),
	FH_A_IF("kcmp", "whether two processes share their memory, which init counts once", FH_IS(2, KCMP_VM)),
	FH_E_IF("mmap", ENOMEM, "huge pages are the host's own, and no limit counts them", FH_ANY(3, MAP_HUGETLB)),
	FH_E_IF("memfd_create", ENOMEM, "huge pages are the host's own, and no limit counts them", FH_ANY(1, 4)),
	FH_E_IF("shmget", ENOMEM, "huge pages are the host's own, and no limit counts them", FH_ANY(2, 04000)),
	FH_E_IF("semget", EINVAL, "more than 64 in a set: without control groups they would not be counted in time",
	        FH_ABOVE(1, 64)),

/* The kernel has one lock for the networks of the whole host (rtnl), for which the engine waits whenever it makes a
 * sandbox. These calls copy the program's memory while they hold it, and a program can draw out a page fault for
 * seconds; or they go over very many groups of multicast, which lead nowhere beside a loopback. */
#define HOLDS_NETWORKS "holds the lock of all networks of the host while it copies the program's memory"

/* options of sockets: attached programs run in the kernel and come from one pool of the whole host
 * (net.core.bpf_jit_limit); lists of the sources of multicast groups are charged to nothing, 128 KiB for each IPv6
 * socket (IPv4: 2 KiB), nor are the groups; IPv6 flow labels come from a pool of 4,096; keys and upper layers load
 * modules; cookies are numbered across the host; pages that TCP maps into a program are charged to nothing once they
 * are there, and stand in its figures as those of a file; and for the first socket of the host that has one of some
 * options, and again when the last one is closed, the kernel rewrites its code and interrupts all processors */
#define OPTION_SPARED(call, level, option, error, why) FH_E_IF(call, error, why, FH_IS(1, level), FH_IS(2, option))
	OPTION_SPARED("setsockopt", SOL_SOCKET, SO_ATTACH_FILTER, EPERM, "a program in the kernel"),
	OPTION_SPARED("setsockopt", SOL_SOCKET, SO_ATTACH_BPF, EPERM, "a program in the kernel"),
	OPTION_SPARED("setsockopt", SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, EPERM, "a program in the kernel"),
	OPTION_SPARED("setsockopt", SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, EPERM, "a program in the kernel"),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, 32, ENOPROTOOPT, "IPv6 flow labels, of which the host has one pool"),
#define OF_IPV6 FH_IS(1, IPPROTO_IPV6)
	FH_E_IF("setsockopt", ENODEV, HOLDS_NETWORKS, FH_IS(1, IPPROTO_IP), FH_ABOVE(2, IP_ADD_MEMBERSHIP - 1)),
	FH_E_IF("setsockopt", ENODEV, HOLDS_NETWORKS, OF_IPV6, FH_MASKED(2, ~1u, 20 /* JOIN_GROUP, LEAVE_GROUP */)),
	FH_E_IF("setsockopt", ENODEV, HOLDS_NETWORKS, OF_IPV6, FH_MASKED(2, ~7u, 40 /* to 47: MCAST_JOIN_GROUP … */)),
	FH_E_IF("setsockopt", ENODEV, HOLDS_NETWORKS, OF_IPV6, FH_ABOVE(2, 199 /* routes of multicast */)),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, MCAST_MSFILTER, ENODEV, HOLDS_NETWORKS),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, IPV6_JOIN_ANYCAST, ENODEV, HOLDS_NETWORKS),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, IPV6_LEAVE_ANYCAST, ENODEV, HOLDS_NETWORKS),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, 1 /* ADDRFORM */, ENOPROTOOPT, HOLDS_NETWORKS),
	OPTION_SPARED("getsockopt", IPPROTO_IPV6, MCAST_MSFILTER, EADDRNOTAVAIL, HOLDS_NETWORKS),
	OPTION_SPARED("getsockopt", IPPROTO_IP, MCAST_MSFILTER, EADDRNOTAVAIL, HOLDS_NETWORKS),
	OPTION_SPARED("getsockopt", IPPROTO_IP, IP_MSFILTER, EADDRNOTAVAIL, HOLDS_NETWORKS),
	OPTION_SPARED("setsockopt", IPPROTO_TCP, 31, ENOENT, "upper layers of TCP"),
	OPTION_SPARED("setsockopt", IPPROTO_TCP, 14, ENOPROTOOPT, "keys of TCP"),
	OPTION_SPARED("setsockopt", IPPROTO_TCP, 32, ENOPROTOOPT, "keys of TCP"),
	OPTION_SPARED("setsockopt", IPPROTO_TCP, 38, ENOPROTOOPT, "keys of TCP"),
	OPTION_SPARED("setsockopt", IPPROTO_UDP, 100, ENOPROTOOPT, "tunnels in UDP"),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 73 /* RESERVE_MEM */, EOPNOTSUPP, "takes from what all TCP may hold"),
	OPTION_SPARED("getsockopt", IPPROTO_TCP, 35 /* ZEROCOPY_RECEIVE */, ENOPROTOOPT, "received pages, uncounted"),
	OPTION_SPARED("getsockopt", SOL_SOCKET, 57 /* COOKIE */, ENOPROTOOPT, "numbers of the whole host"),
	OPTION_SPARED("getsockopt", SOL_SOCKET, 71 /* NETNS_COOKIE */, ENOPROTOOPT, "numbers of the whole host"),

#define REWRITES "has the kernel rewrite its code, for which all processors of the host stop"
	OPTION_SPARED("setsockopt", SOL_SOCKET, 29 /* TIMESTAMP */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 35 /* TIMESTAMPNS */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 37 /* TIMESTAMPING */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 63 /* TIMESTAMP_NEW */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 64 /* TIMESTAMPNS_NEW */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", SOL_SOCKET, 65 /* TIMESTAMPING_NEW */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", IPPROTO_UDP, 104 /* GRO */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", IPPROTO_TCP, 37 /* TX_DELAY */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", IPPROTO_IP, 21 /* MINTTL */, ENOPROTOOPT, REWRITES),
	OPTION_SPARED("setsockopt", IPPROTO_IPV6, 73 /* MINHOPCOUNT */, ENOPROTOOPT, REWRITES),
	FH_E_IF("ioctl", ENOTTY, REWRITES, FH_MASKED(1, ~1u, 0x8906 /* SIOCGSTAMP, SIOCGSTAMPNS */)),

#define IOCTL_SPARED(request) FH_E_IF("ioctl", EPERM, "types into or takes over a terminal", FH_IS(1, request))
	IOCTL_SPARED(TIOCSTI),
	IOCTL_SPARED(0x541C /* TIOCLINUX */),
	IOCTL_SPARED(TIOCSETD),
/* network requests that only read; the others need a capability, or load a module before they fail */
#define IOCTL_READS(request) FH_A_IF("ioctl", "reads of the sandbox's own interface, and owners", FH_IS(1, request))
	FH_A_IF("ioctl", "owners and marks of sockets", FH_MASKED(1, 0xFFFFFFF8, 0x8900)),
	IOCTL_READS(SIOCGIFNAME),
	IOCTL_READS(SIOCGIFFLAGS),
	IOCTL_READS(SIOCGIFADDR),
	IOCTL_READS(SIOCGIFBRDADDR),
	IOCTL_READS(SIOCGIFNETMASK),
	IOCTL_READS(SIOCGIFMTU),
	IOCTL_READS(SIOCGIFHWADDR),
	IOCTL_READS(SIOCGIFINDEX),
	FH_A_IF("ioctl", "set-up raises the loopback by it; programs lack the capability", FH_IS(1, SIOCSIFFLAGS)),
	FH_E_IF("ioctl", ENOTTY, HOLDS_NETWORKS, FH_IS(1, SIOCGIFCONF)),
	FH_E_IF("ioctl", ENOTTY, "set-up of networks; some load a module first", FH_MASKED(1, 0xFF00, 0x8900)),
	FH_E_IF("ioctl", ENOTTY, "keys of encrypted file systems outlive a run", FH_MASKED(1, 0xFFF0, 0x6610)),
	FH_E_IF("ioctl", EOPNOTSUPP, "lists blocks, and holds up who writes the file", FH_IS(1, 0xC020660B /* FIEMAP */)),
	FH_E_IF("ioctl", ENOTTY, "FIEMAP, as ext4 alone has it", FH_IS(1, 0xC020662A /* EXT4_IOC_GET_ES_CACHE */)),
	FH_E_IF("ioctl", EOPNOTSUPP, "lists blocks of a whole disk", FH_IS(1, 0xC0C0583B /* FS_IOC_GETFSMAP */)),
	FH_A_IF("ioctl", "copies that share blocks", FH_IS(1, FICLONE)),
	FH_A_IF("ioctl", "copies that share blocks", FH_IS(1, FICLONERANGE)),
	FH_A_IF("ioctl", "copies that share blocks", FH_IS(1, FIDEDUPERANGE)),
	FH_E_IF("ioctl", ENOTTY, "of btrfs: some write back the whole disk, as sync does", FH_MASKED(1, 0xFF00, 0x9400)),
	FH_A("ioctl", "terminals, files and sockets of the sandbox; the calls above are refused"),

	FH_A("access", "files and folders, within the sandbox's own mounts"),
	FH_A("chdir", "files and folders, within the sandbox's own mounts"),
	FH_A("chmod", "files and folders, within the sandbox's own mounts"),
	FH_A("chown", "files and folders, within the sandbox's own mounts"),
	FH_A("close", "files and folders, within the sandbox's own mounts"),
	FH_A("close_range", "files and folders, within the sandbox's own mounts"),
	FH_A("copy_file_range", "files and folders, within the sandbox's own mounts"),
	FH_A("creat", "files and folders, within the sandbox's own mounts"),
	FH_A("dup", "files and folders, within the sandbox's own mounts"),
	FH_A("dup2", "files and folders, within the sandbox's own mounts"),
	FH_A("dup3", "files and folders, within the sandbox's own mounts"),
	FH_A("faccessat", "files and folders, within the sandbox's own mounts"),
	FH_A("faccessat2", "files and folders, within the sandbox's own mounts"),
	FH_A("fadvise64", "files and folders, within the sandbox's own mounts"),
	FH_A("fallocate", "files and folders, within the sandbox's own mounts"),
	FH_A("fchdir", "files and folders, within the sandbox's own mounts"),
	FH_A("fchmod", "files and folders, within the sandbox's own mounts"),
	FH_A("fchmodat", "files and folders, within the sandbox's own mounts"),
	FH_A("fchmodat2", "files and folders, within the sandbox's own mounts"),
	FH_A("fchown", "files and folders, within the sandbox's own mounts"),
	FH_A("fchownat", "files and folders, within the sandbox's own mounts"),
	FH_A("fcntl", "files and folders, within the sandbox's own mounts"),
	FH_A("fdatasync", "files and folders, within the sandbox's own mounts"),
	FH_A("fgetxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("flistxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("flock", "files and folders, within the sandbox's own mounts"),
	FH_A("fremovexattr", "files and folders, within the sandbox's own mounts"),
	FH_A("fsetxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("fstat", "files and folders, within the sandbox's own mounts"),
	FH_A("fstatfs", "files and folders, within the sandbox's own mounts"),
	FH_A("fsync", "files and folders, within the sandbox's own mounts"),
	FH_A("ftruncate", "files and folders, within the sandbox's own mounts"),
	FH_A("futimesat", "files and folders, within the sandbox's own mounts"),
	FH_A("getcwd", "files and folders, within the sandbox's own mounts"),
	FH_A("getdents", "files and folders, within the sandbox's own mounts"),
	FH_A("getdents64", "files and folders, within the sandbox's own mounts"),
	FH_A("getxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("lchown", "files and folders, within the sandbox's own mounts"),
	FH_A("lgetxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("link", "files and folders, within the sandbox's own mounts"),
	FH_A("linkat", "files and folders, within the sandbox's own mounts"),
	FH_A("listxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("llistxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("lremovexattr", "files and folders, within the sandbox's own mounts"),
	FH_A("lseek", "files and folders, within the sandbox's own mounts"),
	FH_A("lsetxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("lstat", "files and folders, within the sandbox's own mounts"),
	FH_A("mkdir", "files and folders, within the sandbox's own mounts"),
	FH_A("mkdirat", "files and folders, within the sandbox's own mounts"),
	FH_A("newfstatat", "files and folders, within the sandbox's own mounts"),
	FH_A("open", "files and folders, within the sandbox's own mounts"),
	FH_A("openat", "files and folders, within the sandbox's own mounts"),
	FH_A("pread64", "files and folders, within the sandbox's own mounts"),
	FH_A("preadv", "files and folders, within the sandbox's own mounts"),
	FH_A("preadv2", "files and folders, within the sandbox's own mounts"),
	FH_A("pwrite64", "files and folders, within the sandbox's own mounts"),
	FH_A("pwritev", "files and folders, within the sandbox's own mounts"),
	FH_A("pwritev2", "files and folders, within the sandbox's own mounts"),
	FH_A("read", "files and folders, within the sandbox's own mounts"),
	FH_A("readahead", "files and folders, within the sandbox's own mounts"),
	FH_A("readlink", "files and folders, within the sandbox's own mounts"),
	FH_A("readlinkat", "files and folders, within the sandbox's own mounts"),
	FH_A("readv", "files and folders, within the sandbox's own mounts"),
	FH_A("removexattr", "files and folders, within the sandbox's own mounts"),
	FH_A("rename", "files and folders, within the sandbox's own mounts"),
	FH_A("renameat", "files and folders, within the sandbox's own mounts"),
	FH_A("renameat2", "files and folders, within the sandbox's own mounts"),
	FH_A("rmdir", "files and folders, within the sandbox's own mounts"),
	FH_A("sendfile", "files and folders, within the sandbox's own mounts"),
	FH_A("setxattr", "files and folders, within the sandbox's own mounts"),
	FH_A("splice", "files and folders, within the sandbox's own mounts"),
	FH_A("stat", "files and folders, within the sandbox's own mounts"),
	FH_A("statfs", "files and folders, within the sandbox's own mounts"),
	FH_A("statx", "files and folders, within the sandbox's own mounts"),
	FH_A("symlink", "files and folders, within the sandbox's own mounts"),
	FH_A("symlinkat", "files and folders, within the sandbox's own mounts"),
	FH_A("sync_file_range", "files and folders, within the sandbox's own mounts"),
	FH_A("tee", "files and folders, within the sandbox's own mounts"),
	FH_A("truncate", "files and folders, within the sandbox's own mounts"),
	FH_A("umask", "files and folders, within the sandbox's own mounts"),
	FH_A("unlink", "files and folders, within the sandbox's own mounts"),
	FH_A("unlinkat", "files and folders, within the sandbox's own mounts"),
	FH_A("utime", "files and folders, within the sandbox's own mounts"),
	FH_A("utimensat", "files and folders, within the sandbox's own mounts"),
	FH_A("utimes", "files and folders, within the sandbox's own mounts"),
	FH_A("write", "files and folders, within the sandbox's own mounts"),
	FH_A("writev", "files and folders, within the sandbox's own mounts"),

	FH_A("mknod", "named pipes and files; device nodes fail for want of capabilities, and every mount is nodev"),
	FH_A("mknodat", "named pipes and files; device nodes fail for want of capabilities, and every mount is nodev"),

	FH_A("brk", "memory of the calling process"),
	FH_A("madvise", "memory of the calling process"),
	FH_A("map_shadow_stack", "memory of the calling process"),
	FH_A("membarrier", "memory of the calling process"),
	FH_A("memfd_create", "memory of the calling process"),
	FH_A("mincore", "memory of the calling process"),
	FH_A("mlock", "memory of the calling process"),
	FH_A("mlock2", "memory of the calling process"),
	FH_A("mlockall", "memory of the calling process"),
	FH_A("mmap", "memory of the calling process"),
	FH_A("mprotect", "memory of the calling process"),
	FH_A("mremap", "memory of the calling process"),
	FH_A("mseal", "memory of the calling process"),
	FH_A("msync", "memory of the calling process"),
	FH_A("munlock", "memory of the calling process"),
	FH_A("munlockall", "memory of the calling process"),
	FH_A("munmap", "memory of the calling process"),
	FH_A("pkey_alloc", "memory of the calling process"),
	FH_A("pkey_free", "memory of the calling process"),
	FH_A("pkey_mprotect", "memory of the calling process"),
	FH_A("remap_file_pages", "memory of the calling process"),
	FH_A("process_mrelease", "memory of the calling process"),
	FH_A("get_mempolicy", "memory of the calling process"),

	FH_A("execve", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("execveat", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("exit", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("exit_group", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("fork", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("vfork", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getpgid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getpgrp", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getpid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getppid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getpriority", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("getsid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("gettid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("kill", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("pidfd_open", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_N("pidfd_send_signal", "would signal init, by a folder of /proc, which stands for a process as a pidfd does"),
	FH_A("prlimit64", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_get_priority_max", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_get_priority_min", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_getaffinity", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_getattr", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_getparam", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_getscheduler", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_rr_get_interval", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_setaffinity", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("sched_yield", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("set_robust_list", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("get_robust_list", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("set_tid_address", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("setpgid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("setpriority", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("setsid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("tgkill", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("tkill", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("wait4", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("waitid", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("rseq", "processes and threads of the sandbox (its pid namespace holds nobody else)"),
	FH_A("arch_prctl", "processes and threads of the sandbox (its pid namespace holds nobody else)"),

	FH_A("alarm", "signals"),
	FH_A("pause", "signals"),
	FH_A("rt_sigaction", "signals"),
	FH_A("rt_sigpending", "signals"),
	FH_A("rt_sigprocmask", "signals"),
	FH_A("rt_sigqueueinfo", "signals"),
	FH_A("rt_sigreturn", "signals"),
	FH_A("rt_sigsuspend", "signals"),
	FH_A("rt_sigtimedwait", "signals"),
	FH_A("rt_tgsigqueueinfo", "signals"),
	FH_A("sigaltstack", "signals"),
	FH_A("signalfd", "signals"),
	FH_A("signalfd4", "signals"),
	FH_A("restart_syscall", "signals"),

#define THREE(a, b, c, why) FH_A(a, why), FH_A(b, why), FH_A(c, why)
#define WAITING "waiting and locks between threads"
	THREE("epoll_create", "epoll_create1", "epoll_ctl", WAITING),
	THREE("epoll_pwait", "epoll_pwait2", "epoll_wait", WAITING),
	THREE("eventfd", "eventfd2", "futex", WAITING),
	THREE("futex_waitv", "futex_wait", "futex_wake", WAITING),
	THREE("futex_requeue", "poll", "ppoll", WAITING),
	THREE("pselect6", "select", "inotify_add_watch", WAITING),
	THREE("inotify_init", "inotify_init1", "inotify_rm_watch", WAITING),

#define TIMES "time: reading it, sleeping, timers"
	THREE("clock_getres", "clock_gettime", "clock_nanosleep", TIMES),
	THREE("getitimer", "gettimeofday", "nanosleep", TIMES),
	THREE("setitimer", "time", "timer_create", TIMES),
	THREE("timer_delete", "timer_getoverrun", "timer_gettime", TIMES),
	THREE("timer_settime", "timerfd_create", "timerfd_gettime", TIMES),
	FH_A("timerfd_settime", TIMES),
	FH_A("times", TIMES),

	FH_A("capget", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("capset", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getegid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("geteuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getgid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getgroups", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getresgid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getresuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getrlimit", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getrusage", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("getuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setfsgid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setfsuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setgid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setgroups", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setregid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setresgid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setresuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setreuid", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setrlimit", "identity and limits: readable, and settable as far as no capability is needed"),
	FH_A("setuid", "identity and limits: readable, and settable as far as no capability is needed"),

	FH_A("accept", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("accept4", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("bind", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("connect", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("getpeername", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("getsockname", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("getsockopt", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("listen", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("pipe", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("pipe2", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("recvfrom", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("recvmmsg", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("recvmsg", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("sendmmsg", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("sendmsg", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("sendto", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("setsockopt", "pipes and sockets; the network namespace holds nothing but its own loopback"),
	FH_A("shutdown", "pipes and sockets; the network namespace holds nothing but its own loopback"),

	FH_A("mq_getsetattr", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("mq_notify", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("mq_open", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("mq_timedreceive", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("mq_timedsend", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("mq_unlink", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("msgctl", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("msgget", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("msgrcv", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("msgsnd", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("semctl", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("semget", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("semop", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("semtimedop", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("shmat", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("shmctl", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("shmdt", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),
	FH_A("shmget", "shared memory, semaphores and queues of the sandbox's own ipc namespace"),

	FH_A("getcpu", "facts about the system"),
	FH_A("getrandom", "facts about the system"),
	FH_A("sysinfo", "facts about the system"),
	FH_A("uname", "facts about the system"),

	FH_A("landlock_restrict_self", "further restriction of oneself"),
	FH_A("prctl", "further restriction of oneself"),

	FH_A("ioprio_get", "reading of I/O priority"),

	FH_N("sched_setattr", "its policy and priority are behind a pointer that a filter cannot read"),
	FH_A("sched_setparam", "the policy of one's own threads; raising it needs a capability that is not there"),
	FH_A("sched_setscheduler", "the policy of one's own threads; raising it needs a capability that is not there"),
	FH_A("ioprio_set", "the policy of one's own threads; raising it needs a capability that is not there"),

	/* as a kernel answers where Landlock is switched off */
	FH_E("landlock_add_rule", EOPNOTSUPP, "rules without end, whose memory only control groups count"),
	FH_E("landlock_create_ruleset", EOPNOTSUPP, "rules without end, whose memory only control groups count"),

	FH_P("mount", "changes what is mounted, or the root"),
	FH_P("umount2", "changes what is mounted, or the root"),
	FH_P("pivot_root", "changes what is mounted, or the root"),
	FH_P("chroot", "changes what is mounted, or the root"),
	FH_P("unshare", "would leave or nest the namespaces"),
	FH_P("setns", "would leave or nest the namespaces"),
	FH_P("ptrace", "would read or steer another process"),
	FH_P("process_vm_readv", "would read or steer another process"),
	FH_P("process_vm_writev", "would read or steer another process"),
	FH_P("init_module", "kernel modules"),
	FH_P("finit_module", "kernel modules"),
	FH_P("delete_module", "kernel modules"),
	FH_P("kexec_load", "another kernel, restart, swap, accounting"),
	FH_P("kexec_file_load", "another kernel, restart, swap, accounting"),
	FH_P("reboot", "another kernel, restart, swap, accounting"),
	FH_P("swapon", "another kernel, restart, swap, accounting"),
	FH_P("swapoff", "another kernel, restart, swap, accounting"),
	FH_P("acct", "another kernel, restart, swap, accounting"),
	FH_P("syslog", "the kernel's log, time and name"),
	FH_P("settimeofday", "the kernel's log, time and name"),
	FH_P("clock_settime", "the kernel's log, time and name"),
	FH_P("clock_adjtime", "the kernel's log, time and name"),
	FH_P("adjtimex", "the kernel's log, time and name"),
	FH_P("sethostname", "the kernel's log, time and name"),
	FH_P("setdomainname", "the kernel's log, time and name"),
	FH_P("iopl", "ports and segments of the processor"),
	FH_P("ioperm", "ports and segments of the processor"),
	FH_P("modify_ldt", "ports and segments of the processor"),
	FH_P("vhangup", "terminals of others, and memory policy of the host"),
	FH_P("mbind", "terminals of others, and memory policy of the host"),
	FH_P("set_mempolicy", "terminals of others, and memory policy of the host"),
	FH_P("set_mempolicy_home_node", "terminals of others, and memory policy of the host"),
	FH_P("move_pages", "terminals of others, and memory policy of the host"),
	FH_P("migrate_pages", "terminals of others, and memory policy of the host"),

	FH_N("io_uring_setup", "a way around every check that looks at calls: runtimes fall back"),
	FH_N("io_uring_enter", "a way around every check that looks at calls: runtimes fall back"),
	FH_N("io_uring_register", "a way around every check that looks at calls: runtimes fall back"),

#define ONE_POOL "rings come from one pool of the whole host (fs.aio-max-nr), which one sandbox could empty for all"
	FH_N("io_setup", ONE_POOL),
	FH_N("io_submit", ONE_POOL),

	/* A sandbox's own files are in memory. For those in a folder that is mounted writable there is fsync. */
	FH_E("sync", 0, "writes back the disks of the whole host, and holds up whoever writes there"),
	FH_E("syncfs", 0, "writes back a whole disk of the host"),

	/* A pipe that holds one byte of a huge page keeps all 2 MiB of it, and no process is charged for them. A program
	 * to which this is refused uses write, which copies. */
	FH_N("vmsplice", "memory that pipes keep, which only control groups count"),
	FH_E("seccomp", EINVAL, "a program in the kernel, from a pool of the whole host; as kernels without filters"),
	FH_N("openat2", "its mode, which could make a set-ID file, is behind a pointer that a filter cannot read"),
	FH_N("clone3", "its flags are behind a pointer that a filter cannot read; libc falls back to clone"),
	FH_N("keyctl", "keys outlive a run and are shared by uid"),
	FH_N("add_key", "keys outlive a run and are shared by uid"),
	FH_N("request_key", "keys outlive a run and are shared by uid"),

	FH_N("bpf", "programs inside the kernel, performance counters, and page faults held open"),
	FH_N("perf_event_open", "programs inside the kernel, performance counters, and page faults held open"),
	FH_N("userfaultfd", "programs inside the kernel, performance counters, and page faults held open"),

	FH_N("open_by_handle_at", "opens files by number, past the mounts"),
	FH_N("name_to_handle_at", "opens files by number, past the mounts"),

	FH_N("fsopen", "the new mount interface, and reading of mounts"),
	FH_N("fsconfig", "the new mount interface, and reading of mounts"),
	FH_N("fsmount", "the new mount interface, and reading of mounts"),
	FH_N("fspick", "the new mount interface, and reading of mounts"),
	FH_N("move_mount", "the new mount interface, and reading of mounts"),
	FH_N("open_tree", "the new mount interface, and reading of mounts"),
	FH_N("mount_setattr", "the new mount interface, and reading of mounts"),
	FH_N("open_tree_attr", "the new mount interface, and reading of mounts"),
	FH_N("statmount", "the new mount interface, and reading of mounts"),
	FH_N("listmount", "the new mount interface, and reading of mounts"),

	FH_N("pidfd_getfd", "reaches into other processes"),
	FH_N("process_madvise", "reaches into other processes"),
	FH_N("kcmp", "reaches into other processes; one kind of comparison is allowed above"),

	FH_N("fanotify_init", "watches a whole file system"),
	FH_N("fanotify_mark", "watches a whole file system"),
	FH_N("cachestat", "tells which pages of files, those of the host too, are in memory: a channel between sandboxes"),
	FH_N("memfd_secret", "memory that even the limits cannot see into"),
	FH_N("lsm_get_self_attr", "security modules and quotas of the host"),
	FH_N("lsm_set_self_attr", "security modules and quotas of the host"),
	FH_N("lsm_list_modules", "security modules and quotas of the host"),
	FH_N("quotactl", "security modules and quotas of the host"),
	FH_N("quotactl_fd", "security modules and quotas of the host"),
};
const size_t fh_seccomp_policy_count = sizeof(fh_seccomp_policy) / sizeof(fh_seccomp_policy[0]);
