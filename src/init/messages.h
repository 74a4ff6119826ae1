/* SPDX-License-Identifier: MIT */
/*
 * What the engine and fumehood-init say to each other, over one SOCK_SEQPACKET pair: one message a packet, fixed
 * structs, both ends from the same build (the engine carries init inside itself). Descriptors travel by SCM_RIGHTS.
 *
 * init is trusted, but lives in the sandbox: the engine checks the size, op and bounds of each packet as it would a
 * stranger's, and takes nothing from it that decides about the host.
 *
 *     engine                          init
 *     START                     ->         once, first
 *     PUT + [pipe to read]      ->    <-   PUT_DONE
 *     SPAWN + [in, out, err, …] ->    <-   SPAWNED (+ [terminal]) … EXITED
 *     SIGNAL [+ group's procs]  ->
 *     HOLD [+ 2 files]          ->    <-   HELD      everybody but init is held still, or let go
 *     GET + [pipe to write]     ->    <-   GET_DONE
 *     FINISH                    ->    <-   FINISHED   nothing but init is left alive
 *                                     <-   USAGE      every sample_ms, when START asks for it
 *
 * End of file on the socket ends init, and with it everything in its pid namespace.
 */
#pragma once
#include <stdint.h>

enum {
	FH_INIT_PACKET_MAX = 160 * 1024,
	FH_INIT_TEXT_MAX = 136 * 1024, /* argv, env and cwd of a SPAWN */
	FH_INIT_PATH_MAX = 4096,
	FH_INIT_RLIMITS_MAX = 16,
	FH_INIT_PROCESSES_MAX = 1024, /* spawned and not yet exited */
	FH_INIT_DESCRIPTORS_MAX = 7,  /* of a program beside stdin, stdout, stderr */
	FH_INIT_GROUPS_MAX = 4,       /* control groups that a program enters */
	FH_INIT_FDS_MAX = 3 + FH_INIT_DESCRIPTORS_MAX + 1 + FH_INIT_GROUPS_MAX, /* of one message: those, the files' */
};

enum fh_init_op {
	FH_INIT_START = 1,
	FH_INIT_PUT,
	FH_INIT_SPAWN,
	FH_INIT_SIGNAL,
	FH_INIT_GET,
	FH_INIT_FINISH,
	FH_INIT_HOLD,

	FH_INIT_PUT_DONE = 64,
	FH_INIT_SPAWNED,
	FH_INIT_EXITED,
	FH_INIT_GET_DONE,
	FH_INIT_FINISHED,
	FH_INIT_USAGE,
	FH_INIT_LAUNCHED, /* init's first word in a sandbox of a template; with an error: its set-up's last */
	FH_INIT_HELD,
};

/* Where init finds the Landlock rule set that its children are to enter, when START says so. */
enum { FH_INIT_RULES = 12, FH_INIT_DISK = 13, FH_INIT_DIAG = 14 /* a NETLINK_SOCK_DIAG socket, or nothing */ };
/* How set-up gives an init that is to say so its part of LAUNCHED: a decimal number, its only argument; of layers_off
 * and these. */
enum { FH_INIT_HAS_RULES = 1 << 29, FH_INIT_HAS_DISK = 1 << 30 };

/* Every message begins with this. `token` is the engine's number for the process or transfer. */
struct fh_init_header {
	uint32_t op;
	uint32_t token;
};

struct fh_init_start {
	struct fh_init_header h;
	uint32_t uid, gid;          /* whom programs and file transfers run as */
	uint32_t switch_ids;        /* init is uid 0 of its namespace and may become them */
	uint32_t keep_capabilities; /* programs keep init's: only where the plan switched that layer off */
	uint32_t root_capabilities; /* mask of what programs with uid 0 have, where programs have none otherwise */
	uint32_t sample_ms;         /* send USAGE that often; 0: never (cgroups count) */
	uint32_t only_sockets;      /* in USAGE: the rest is counted by cgroups */
	uint32_t rules;             /* children enter the rule set FH_INIT_RULES; init itself does not */
	char disk_path[64];         /* a folder of the writable layer, for its fill level */
};

struct fh_init_rlimit {
	uint32_t resource;
	uint32_t zero;
	uint64_t value; /* soft and hard */
};

enum {
	FH_SPAWN_PTY = 1,
	FH_SPAWN_ONE_SHOT = 2, /* FINISH follows by itself when it exits */
	FH_SPAWN_FILES = 4,    /* its files come along: a descriptor with entries as PUT's, whose base is the cwd */
	FH_SPAWN_HELPER = 8,   /* nothing is executed: argv names a helper (helper.h) */
};

/* Followed by `text_size` bytes: cwd, argv_count arguments, env_count variables, each with its NUL. Descriptors: stdin,
 * stdout, stderr and those that become `descriptors`, in their order (none of these with FH_SPAWN_PTY), that of
 * FH_SPAWN_FILES, and `group_count` files to each of which the child writes "0" before all else.
 * Files are written by the child that becomes the program, before the program's limits hold. */
struct fh_init_spawn {
	struct fh_init_header h;
	uint32_t flags;
	uint16_t rows, columns;
	uint32_t uid, gid; /* other than START's only where that says switch_ids */
	uint32_t group_count;
	uint32_t argv_count, env_count;
	uint32_t text_size;
	uint32_t rlimit_count;
	struct fh_init_rlimit rlimits[FH_INIT_RLIMITS_MAX];
	uint32_t descriptor_count;
	int32_t descriptors[FH_INIT_DESCRIPTORS_MAX]; /* numbers, 3 to 9, none twice */
};

struct fh_init_signal {
	struct fh_init_header h;
	int32_t signal; /* to the process group that SPAWN made */
	/* 1: SIGKILL to all that the program has started, as far as it can be told: what its control group holds, by the
	 * descriptor of that group's cgroup.procs, which shows init the numbers of its own pid namespace; without one, its
	 * session and its descendants. */
	uint32_t tree;
};

enum fh_init_hold {
	FH_HOLD_RELEASE, /* SIGCONT to whom STOP has stopped */
	FH_HOLD_STOP,    /* SIGSTOP to everybody that was not stopped */
	FH_HOLD_MOVE, /* into a frozen group: descriptors of cgroup.procs of a group that holds all, and of the frozen one
	               */
};
struct fh_init_hold_request {
	struct fh_init_header h;
	uint32_t how; /* enum fh_init_hold */
};
struct fh_init_held {
	struct fh_init_header h;
	int32_t error; /* errno; then nobody is stopped that was not before (MOVE: some may be in the group) */
	uint32_t count;
};

/* A transfer in: the pipe carries entries { struct fh_init_entry, path, data }, ended by end of file. One descriptor.
 */
struct fh_init_put {
	struct fh_init_header h;
	char base[FH_INIT_PATH_MAX]; /* absolute; relative paths of entries start here */
};
struct fh_init_entry {
	uint32_t path_size; /* without a NUL; 1 … FH_INIT_PATH_MAX - 1 */
	uint32_t mode;
	uint64_t size;
	uint32_t append; /* to what is there, instead of a new file */
	uint32_t zero;
};

/* A transfer out: exactly `size` bytes of GET_DONE go through the pipe (one descriptor) when `refused` is 0. */
struct fh_init_get {
	struct fh_init_header h;
	uint64_t max_bytes;
	char path[FH_INIT_PATH_MAX]; /* absolute */
};

enum fh_init_refused {
	FH_REFUSED_NO = 0,
	FH_REFUSED_MISSING,
	FH_REFUSED_LINK,        /* a symbolic link on the way or at the end */
	FH_REFUSED_NOT_REGULAR, /* folder, FIFO, socket, device */
	FH_REFUSED_TOO_LARGE,
	FH_REFUSED_DENIED, /* permissions */
	FH_REFUSED_ERROR,  /* see error */
	FH_REFUSED_COUNT_
};

struct fh_init_done { /* PUT_DONE, GET_DONE */
	struct fh_init_header h;
	uint32_t refused; /* enum fh_init_refused */
	int32_t error;    /* errno of what failed */
	uint64_t size;    /* GET: of the file. PUT: entries that were written */
};

/* What the kernel said in the child right before exec: the isolation of a program as it starts. */
struct fh_init_state {
	uint64_t cap_permitted, cap_effective, cap_inheritable, cap_bounding;
	uint32_t no_new_privs;
	uint32_t seccomp;  /* 2: a filter */
	uint32_t uid, gid; /* as the namespace shows them */
	uint32_t landlock; /* 1: the kernel took it into a domain of its own; 0: not asked to */
	uint32_t zero;
};

enum fh_init_step { /* of starting a program, for errors */
	                FH_STEP_NONE,
	                FH_STEP_FORK,
	                FH_STEP_TERMINAL,
	                FH_STEP_RLIMIT,
	                FH_STEP_IDS,
	                FH_STEP_FILES,
	                FH_STEP_GROUP,
	                FH_STEP_CWD,
	                FH_STEP_EXEC,
	                FH_STEP_COUNT_
};

struct fh_init_spawned { /* with the terminal's other end as descriptor when it has one */
	struct fh_init_header h;
	int32_t error;    /* errno, 0: it runs */
	uint32_t step;    /* enum fh_init_step that failed */
	uint32_t detail;  /* RLIMIT: the resource; FILES: the entry */
	uint32_t pid;     /* inside */
	uint32_t refused; /* FILES: enum fh_init_refused */
	struct fh_init_state state;
};

struct fh_init_exited {
	struct fh_init_header h;
	int32_t status; /* as wait gives it */
	uint32_t zero;
	uint64_t user_us, sys_us;     /* of the process and its waited-for children */
	uint64_t resident_peak_bytes; /* of the largest of them */
};

struct fh_init_finished {
	struct fh_init_header h;
	uint64_t disk_total, disk_free; /* bytes of the writable layer */
	uint64_t inodes_total, inodes_free;
	uint64_t user_us, sys_us; /* of all that ever ran and was reaped */
};

/* Descriptors: the rule set when `landlock` is set, then the writable layer when `disk` is. It says that init runs: who
 * looks at a process in /proc while it is executed waits for it, and the engine has others to serve. */
struct fh_init_launched {
	struct fh_init_header h;
	int32_t error, step; /* of set-up (engine/make/launch.h) */
	uint32_t layers_off;
	uint32_t landlock, disk;
	char what[256];
};

struct fh_init_usage { /* sampled over the whole tree, init left out */
	struct fh_init_header h;
	uint64_t user_us, sys_us;
	uint64_t memory_bytes; /* private and shared anonymous pages, memfds; the writable layer comes on top */
	uint64_t mapped_bytes; /* resident pages that are not private: of files, and of shared memory */
	uint64_t disk_bytes;   /* used in the writable layer */
	uint64_t tasks;
	uint64_t socket_bytes; /* in buffers of sockets; part of memory_bytes, but with only_sockets */
};
