/* SPDX-License-Identifier: MIT */
/*
 * The messages between the engine and fumehood-init, over one SOCK_SEQPACKET pair: one message in each packet, fixed
 * structs. Both ends are of the same build, since init is embedded in the engine. Descriptors are passed by SCM_RIGHTS.
 *
 * init is trusted, but runs in the sandbox. So the engine checks the size, op and bounds of each packet as if an
 * attacker had sent it, and bases no decision about the host on it.
 *
 *     engine                          init
 *     START                     ->         once, first
 *     PUT + [pipe to read]      ->    <-   PUT_DONE
 *     SPAWN + [in, out, err, …] ->    <-   SPAWNED (+ [terminal]) … EXITED
 *     SIGNAL [+ group's procs]  ->
 *     APART + [out, back]       ->
 *     HOLD [+ 2 files]          ->    <-   HELD      all processes but init are stopped, or run again
 *     GET + [pipe to write]     ->    <-   GET_DONE
 *     FINISH                    ->    <-   FINISHED   all processes but init are dead
 *                                     <-   USAGE      every sample_ms, if START sets that
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
	FH_INIT_PROCESSES_MAX = 1024, /* maximum programs that were started and have not exited yet */
	FH_INIT_DESCRIPTORS_MAX = 7,  /* of a program, beyond stdin, stdout, stderr */
	FH_INIT_GROUPS_MAX = 4,       /* control groups that a program enters */
	FH_INIT_ATTRIBUTE_MAX = 480,  /* bytes of an extended attribute that can be set inside: the filter refuses more */
	/* how often init can read a group's list of members: the engine passes cgroup.procs opened this many times */
	FH_INIT_LOOKS = 6,
	/* descriptors in one message: those of a program, one for the files, and those of the groups */
	FH_INIT_FDS_MAX = 3 + FH_INIT_DESCRIPTORS_MAX + 1 + FH_INIT_GROUPS_MAX,
};

enum fh_init_op {
	FH_INIT_START = 1,
	FH_INIT_PUT,
	FH_INIT_SPAWN,
	FH_INIT_SIGNAL,
	FH_INIT_GET,
	FH_INIT_FINISH,
	FH_INIT_HOLD,
	/* Init leaves the group that limits the programs' memory, by writing "0" to the first descriptor; each child of it
	 * enters that again by the second. A process that the kernel has killed for lack of memory no longer counts as a
	 * victim a moment before its pages are free: whoever needs memory in that moment, and is the last one alive, is
	 * killed as well, and with init the session ends. */
	FH_INIT_APART,

	FH_INIT_PUT_DONE = 64,
	FH_INIT_SPAWNED,
	FH_INIT_EXITED,
	FH_INIT_GET_DONE,
	FH_INIT_FINISHED,
	FH_INIT_USAGE,
	FH_INIT_LAUNCHED, /* first message of an init made from a template; with an error: the last one of its set-up */
	FH_INIT_HELD,
};

/* Descriptors of init, placed by set-up: the Landlock rule set that its children enter if START says so, and others. */
enum { FH_INIT_RULES = 12, FH_INIT_DISK = 13, FH_INIT_DIAG = 14 /* a NETLINK_SOCK_DIAG socket, or nothing */ };
/* In a template's sandbox, set-up passes init its part of LAUNCHED as a decimal number, init's only argument. The
 * number is layers_off with these bits added. */
enum { FH_INIT_IN_DOMAIN = 1 << 28, FH_INIT_HAS_RULES = 1 << 29, FH_INIT_HAS_DISK = 1 << 30 };

/* The head of every message. `token` is the engine's number for the process or transfer. */
struct fh_init_header {
	uint32_t op;
	uint32_t token;
};

struct fh_init_start {
	struct fh_init_header h;
	uint32_t uid, gid;   /* ids of programs and of children that move files */
	uint32_t switch_ids; /* init is uid 0 of its namespace and may change to those ids */
	/* programs keep init's capabilities; set only if the plan has the capabilities layer off */
	uint32_t keep_capabilities;
	uint32_t root_capabilities; /* capabilities of programs with uid 0, as a mask; programs have none otherwise */
	uint32_t sample_ms;         /* period of USAGE; 0: never, because control groups count */
	/* All programs are init's descendants (none is forked from a zygote): while init has no child nothing can change,
	 * and USAGE is sent once and then no more. So an idle session uses no CPU. */
	uint32_t rests;
	uint32_t only_kernel;         /* USAGE is wanted for kernel_bytes only; control groups count the rest */
	uint32_t sockets_are_charged; /* control groups v2 count the buffers of sockets, so kernel_bytes leaves them out */
	uint32_t shares;              /* no group of the `cpu` controller holds the sandbox: see shares.c */
	uint32_t rules;               /* children enter the rule set FH_INIT_RULES; init itself does not */
	char disk_path[64];           /* a folder of the writable layer, to find out how full that is */
};

struct fh_init_rlimit {
	uint32_t resource;
	uint32_t zero;
	uint64_t value; /* both soft and hard */
};

enum {
	FH_SPAWN_PTY = 1,
	FH_SPAWN_ONE_SHOT = 2, /* init acts as on FINISH by itself when the program exits */
	FH_SPAWN_FILES =
	    4, /* one more descriptor follows, with files in PUT's format whose paths are relative to the cwd */
	FH_SPAWN_HELPER = 8, /* argv names a helper (helper.h), which a child of init becomes: no program is executed */
};

/* Followed by `text_size` bytes: cwd, argv_count arguments and env_count variables, each with its NUL. Descriptors, in
 * this order: stdin, stdout, stderr and those that become `descriptors` (with FH_SPAWN_PTY none of these); the one of
 * FH_SPAWN_FILES; and `group_count` files to each of which the child first writes "0". The files are written by the
 * child that becomes the program, before the program's limits are set. */
struct fh_init_spawn {
	struct fh_init_header h;
	uint32_t flags;
	uint16_t rows, columns;
	uint32_t uid, gid; /* may differ from START's only if that sets switch_ids */
	uint32_t group_count;
	uint32_t argv_count, env_count;
	uint32_t text_size;
	uint32_t rlimit_count;
	struct fh_init_rlimit rlimits[FH_INIT_RLIMITS_MAX];
	uint32_t descriptor_count;
	int32_t descriptors[FH_INIT_DESCRIPTORS_MAX]; /* their numbers in the program: 3 to 9, each once */
};

struct fh_init_signal {
	struct fh_init_header h;
	int32_t signal; /* signal number; sent to the process group that SPAWN made for the program */
	/* 1: sends SIGKILL to everything that the program has started, as far as that is known: all members of its control
	 * group, if FH_INIT_LOOKS descriptors of the group's cgroup.procs are passed (the file shows init the pids of its
	 * own namespace); otherwise its session and its descendants */
	uint32_t tree;
};

enum fh_init_hold {
	FH_HOLD_RELEASE, /* sends SIGCONT to the processes that STOP has stopped */
	FH_HOLD_STOP,    /* sends SIGSTOP to all processes that are not stopped */
	/* moves all processes into a frozen group and waits until they stand still; descriptors: cgroup.procs of the
	 * frozen one, its freezer.state, and FH_INIT_LOOKS times cgroup.procs of a group that has all processes */
	FH_HOLD_MOVE,
};
struct fh_init_hold_request {
	struct fh_init_header h;
	uint32_t how; /* enum fh_init_hold */
};
struct fh_init_held {
	struct fh_init_header h;
	int32_t error; /* errno; on failure no process stays stopped (with MOVE, some may be in the frozen group) */
	uint32_t count;
};

/* Files in: the pipe (the one descriptor) carries entries { struct fh_init_entry, path, data } until end of file. */
struct fh_init_put {
	struct fh_init_header h;
	char base[FH_INIT_PATH_MAX]; /* absolute path; relative paths of entries start here */
};
struct fh_init_entry {
	uint32_t path_size; /* without a NUL: 1 … FH_INIT_PATH_MAX - 1 */
	uint32_t mode;
	uint64_t size;
	uint32_t append; /* appends to an existing file instead of replacing it */
	uint32_t zero;
};

/* A file out: if `refused` of GET_DONE is 0, exactly `size` bytes go through the pipe (the one descriptor). */
struct fh_init_get {
	struct fh_init_header h;
	uint64_t max_bytes;
	char path[FH_INIT_PATH_MAX]; /* absolute path */
};

enum fh_init_refused {
	FH_REFUSED_NO = 0,
	FH_REFUSED_MISSING,
	FH_REFUSED_LINK,        /* a component of the path is a symbolic link */
	FH_REFUSED_NOT_REGULAR, /* a folder, FIFO, socket or device */
	FH_REFUSED_TOO_LARGE,
	FH_REFUSED_DENIED, /* permissions */
	FH_REFUSED_ERROR,  /* errno is in the field `error` */
	FH_REFUSED_COUNT_
};

struct fh_init_done { /* PUT_DONE, GET_DONE */
	struct fh_init_header h;
	uint32_t refused; /* enum fh_init_refused */
	int32_t error;    /* errno, if refused */
	uint64_t size;    /* GET: size of the file. PUT: number of entries written */
};

/* The isolation of a program as it starts, read from the kernel by the child right before exec. */
struct fh_init_state {
	uint64_t cap_permitted, cap_effective, cap_inheritable, cap_bounding;
	uint32_t no_new_privs;
	uint32_t seccomp;  /* 2: a filter is in force */
	uint32_t uid, gid; /* as seen in the sandbox's user namespace */
	uint32_t landlock; /* 1: the kernel put the program into a Landlock domain; 0: that was not asked for */
	uint32_t zero;
};

enum fh_init_step { /* the steps of starting a program, for errors */
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

struct fh_init_spawned { /* with FH_SPAWN_PTY, the packet carries the terminal's master as descriptor */
	struct fh_init_header h;
	int32_t error;    /* errno; 0: the program runs */
	uint32_t step;    /* the enum fh_init_step that failed */
	uint32_t detail;  /* RLIMIT: the resource; FILES: index of the entry */
	uint32_t pid;     /* in the sandbox's pid namespace */
	uint32_t refused; /* FILES: enum fh_init_refused */
	struct fh_init_state state;
};

struct fh_init_exited {
	struct fh_init_header h;
	int32_t status; /* as from wait(2) */
	uint32_t zero;
	uint64_t user_us, sys_us;     /* of the process and the children that it waited for */
	uint64_t resident_peak_bytes; /* of the largest of these processes */
};

struct fh_init_finished {
	struct fh_init_header h;
	uint64_t disk_total, disk_free; /* bytes of the writable layer */
	uint64_t inodes_total, inodes_free;
	uint64_t user_us, sys_us; /* CPU time of all processes that were reaped */
	uint64_t left;            /* processes that were there still, and were ended */
};

/* Sent when init runs. Descriptors: the rule set if `rules` is set, then the writable layer if `disk` is. The engine
 * waits for this message instead of reading /proc at once, because reading the /proc files of a process during its exec
 * blocks, and the engine has other sandboxes to serve. */
struct fh_init_launched {
	struct fh_init_header h;
	int32_t error, step; /* errno and step of a failed set-up (engine/make/launch.h) */
	uint32_t layers_off;
	uint32_t landlock; /* as in struct fh_setup_report: init is in a Landlock domain */
	uint32_t rules, disk;
	char what[256];
};

struct fh_init_usage { /* sampled over all processes but init */
	struct fh_init_header h;
	uint64_t user_us, sys_us;
	uint64_t memory_bytes; /* private and shared anonymous pages and memfds; without the writable layer */
	uint64_t mapped_bytes; /* resident pages that are not private: files and shared memory */
	uint64_t disk_bytes;   /* used in the writable layer */
	uint64_t tasks;
	/* bytes in and beyond the buffers of sockets, and of file locks; part of memory_bytes, except with only_kernel */
	uint64_t kernel_bytes;
	uint64_t too_many_watches; /* 1: of epoll sets, which keep processors from everybody (fdinfo.c) */
};
