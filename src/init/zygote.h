/* SPDX-License-Identifier: MIT */
/*
 * The messages between the engine and a *zygote*, and the programs that it forks. A zygote is an interpreter that the
 * warm library (guest/warm) stopped right before it opened its main program file. Messages are fixed structs, one in
 * each packet, over SOCK_SEQPACKET pairs. Both ends are of the same build, since the library is embedded in the engine.
 * Descriptors are passed by SCM_RIGHTS.
 *
 *     engine                                   zygote
 *     (execs it, see below)             <-     READY [+ socket, pidfd]   once; the zygote cannot serve if `why` is set
 *     FORK + descriptors, seal filter   ->  <- FORKED + [pidfd]          for each program
 *
 *     engine                                   stem, over the socket that READY brought
 *     BRANCH + [socket]                 ->  <- FORKED + [pidfd]          a zygote with more modules; its READY comes
 *                                                                        over the socket that BRANCH brought
 *
 *     engine                                   program, over the socket that FORK brought
 *                                       <-     PARKED                    isolated; it knows nothing of a run yet
 *     RUN + descriptors, inline files   ->  <- FAILED [+ descriptors] | end of file
 *                                                                        end of file: the program's own code begins
 *
 * End of file on its socket ends a zygote, or a parked program. A program closes its socket before any code of the run
 * is executed, so that such code cannot write to it.
 *
 * The zygote runs in its template's namespaces and has executed no foreign code but the import of modules that the
 * client asked for. The engine checks the size, op and bounds of each packet as if an attacker had sent it. After
 * FORKED it relies on nothing from the zygote: the exit status and usage of a program come from the kernel, and its
 * isolation is read from /proc/PID.
 *
 * A zygote is started as `INTERPRETER [flags] MAIN` in the template's namespaces (its pid namespace too), with
 *   - descriptors 0, 1, 2: pipes, as programs have (an interpreter checks their kind when it starts); stdin is at
 *     end of file; the library never writes to them;
 *   - FH_ZYGOTE_SOCKET: the control socket; FH_ZYGOTE_LIBRARY: the library, a sealed memfd; no other descriptor;
 *   - an empty regular file MAIN in the current folder, which will be that of runs too;
 *   - the environment of the template and the variables below, which the library removes;
 *   - no_new_privs and the *base* filter as the template's layers say.
 * It needs CAP_SYS_ADMIN and CAP_SYS_CHROOT over the namespaces that FORK brings and, if programs change ids,
 * CAP_SETUID, CAP_SETGID and CAP_SETPCAP there; a fork gains the latter by entering the sandbox's user namespace. It
 * has no right to trace other processes, and is in a Landlock domain that forbids tracing outside. So it can enter only
 * namespaces of which it was given a descriptor, and only while it has that (engine/make/landlock.c).
 */
#pragma once
#include "init/messages.h"

enum {
	FH_ZYGOTE_SOCKET = 3,
	FH_ZYGOTE_LIBRARY = 9,

	FH_ZYGOTE_PACKET_MAX = 320 * 1024,
	FH_ZYGOTE_TEXT_MAX = FH_INIT_TEXT_MAX, /* cwd, argv and env of a RUN */
	FH_ZYGOTE_FILES_MAX = 64,              /* sent within one RUN */
	/* maximum bytes of these files, with their entries and paths; init writes larger files before RUN, by PUT */
	FH_ZYGOTE_FILES_BYTES_MAX = 160 * 1024,
	FH_ZYGOTE_EXTRAS_MAX = 16,    /* descriptors beyond stdin, stdout, stderr */
	FH_ZYGOTE_CGROUPS_MAX = 8,    /* v1 hierarchies */
	FH_ZYGOTE_SEAL_MAX = 512,     /* instructions of the seal filter */
	FH_ZYGOTE_PRELOAD_MAX = 4096, /* names of modules, comma-separated */
	FH_ZYGOTE_WHY_MAX = 400,
};

/* Variables in the environment of a starting zygote, besides LD_PRELOAD=/proc/self/fd/9. */
#define FH_ZYGOTE_ENV_SOCKET "FUMEHOOD_ZYGOTE"          /* the number of the control socket: "3" */
#define FH_ZYGOTE_ENV_FILE "FUMEHOOD_ZYGOTE_FILE"       /* MAIN as in argv */
#define FH_ZYGOTE_ENV_PRELOAD "FUMEHOOD_ZYGOTE_PRELOAD" /* modules to import first: "numpy,pandas"; may be absent */
/* The number of variables, at the end of the environment, that are the zygote's own: they apply while it imports, and
 * no program gets them. */
#define FH_ZYGOTE_ENV_OWN "FUMEHOOD_ZYGOTE_OWN"

enum fh_zygote_op {
	FH_ZYGOTE_FORK = 128,
	FH_ZYGOTE_BRANCH,
	FH_ZYGOTE_RUN,

	FH_ZYGOTE_READY = 192,
	FH_ZYGOTE_FORKED,
	FH_ZYGOTE_PARKED,
	FH_ZYGOTE_FAILED,
};

/* Sent once all modules are imported and the self-test, in a forked child, has passed. If the interpreter can import
 * modules ahead of a run, it carries the stem's socket and pidfd; the stem is a child of the engine (CLONE_PARENT). */
struct fh_zygote_ready {
	struct fh_init_header h; /* token 0 */
	/* threads of the zygote according to /proc/self/status: 1, or as many as its interpreter can lose in a fork without
	 * harm (otherwise `why` is set). A program that it forks has one, which the engine checks */
	uint32_t threads;
	uint32_t zero;
	uint64_t resident_bytes;
	char interpreter[32];        /* name of the interpreter in the library: "python"; "": not specific to one */
	char why[FH_ZYGOTE_WHY_MAX]; /* "": it serves; otherwise the reason why not, and it exits after this message */
};

/* Asks for a program for the sandbox whose namespaces are given. Descriptors, in this order: one for each bit of
 * `namespaces`, in the order of fh_zygote_namespaces; the program's socket, the Landlock rule set and the folder of the
 * v2 group, each only if its flag is set; then `cgroups` v1 tasks files. Followed by `seal_count` struct
 * sock_filter. */
enum fh_zygote_fork_flags {
	FH_FORK_SOCKET = 2,      /* always set */
	FH_FORK_LANDLOCK = 4,    /* the packet has a Landlock rule set for the program to enter */
	FH_FORK_CGROUP = 8,      /* the program is cloned into this group (CLONE_INTO_CGROUP) */
	FH_FORK_SWITCH_IDS = 16, /* change to uid and gid, without supplementary groups */
	FH_FORK_KEEP_CAPABILITIES = 32,
	FH_FORK_NO_NEW_PRIVS = 64, /* set no_new_privs, unless the zygote has it already */
};
struct fh_zygote_fork {
	struct fh_init_header h;
	uint32_t flags; /* enum fh_zygote_fork_flags */
	/* CLONE_NEW* bits of the namespaces to enter; the zygote enters CLONE_NEWPID before it forks */
	uint32_t namespaces;
	uint32_t uid, gid; /* as seen in the sandbox's user namespace */
	/* number of descriptors of v1 `tasks` files; the program first writes "0" to each, which moves it into the group */
	uint32_t cgroups;
	uint32_t seal_count; /* 0: no filter is loaded */
};

/* In the order in which they are passed and entered: the pid namespace first, which the zygote enters before the fork;
 * the user namespace last, because the rights over the others come from the zygote's own. `name`: the link in
 * /proc/PID/ns. */
enum { FH_ZYGOTE_NAMESPACES = 7 };
static const struct {
	uint32_t flag;
	const char name[8];
} fh_zygote_namespaces[FH_ZYGOTE_NAMESPACES] = {
	{ 0x20000000 /* CLONE_NEWPID */, "pid" },   { 0x00020000 /* CLONE_NEWNS */, "mnt" },
	{ 0x40000000 /* CLONE_NEWNET */, "net" },   { 0x08000000 /* CLONE_NEWIPC */, "ipc" },
	{ 0x04000000 /* CLONE_NEWUTS */, "uts" },   { 0x02000000 /* CLONE_NEWCGROUP */, "cgroup" },
	{ 0x10000000 /* CLONE_NEWUSER */, "user" },
};

/* Asks for a zygote that imports more modules and then serves on the socket that is passed. Followed by the names,
 * comma-separated, without a NUL. The new zygote inherits everything that its parent imported, and is trusted no more
 * than that. This is sent to the zygote's *stem*, a copy that it made of itself when it was ready: the zygote itself
 * enters a sandbox's pid namespace for each FORK, and cannot return to the template's if that belongs to the host. */
struct fh_zygote_branch {
	struct fh_init_header h;
	uint32_t preload_size; /* at most FH_ZYGOTE_PRELOAD_MAX */
	uint32_t zero;
};

/* Answers FORK and BRANCH; carries the child's pidfd if error is 0. The child is a child of the engine
 * (CLONE_PARENT). */
struct fh_zygote_forked {
	struct fh_init_header h;
	int32_t error; /* errno */
	uint32_t step; /* enum fh_zygote_step */
};

enum fh_zygote_step {
	FH_WARM_NONE,
	FH_WARM_MESSAGE, /* a malformed packet: error EBADMSG */
	FH_WARM_PID_NAMESPACE,
	FH_WARM_FORK,
	FH_WARM_CGROUP,
	FH_WARM_NAMESPACES,
	FH_WARM_SESSION, /* sets session, signals, umask, oom_score_adj */
	FH_WARM_PRIVS,   /* sets no_new_privs */
	FH_WARM_LANDLOCK,
	FH_WARM_SECCOMP,
	FH_WARM_IDS, /* changes ids and drops capabilities */
	FH_WARM_OWN, /* replaces what it shares with the zygote */
	/* the steps of RUN */
	FH_WARM_RLIMIT, /* detail: the resource */
	FH_WARM_CWD,
	FH_WARM_FILE, /* struct fh_zygote_failed.detail is the index of the file sent with RUN */
	FH_WARM_DESCRIPTORS,
	/* gives the interpreter the state of a fresh start; if that fails, the run has to start fresh */
	FH_WARM_INTERPRETER,
	FH_WARM_COUNT_
};

struct fh_zygote_parked {
	struct fh_init_header h;
	int32_t error;
	uint32_t step;              /* the step that failed; the program exits after sending this */
	struct fh_init_state state; /* the program's isolation, read from the kernel */
};

/* Makes a parked program a run. Followed by `text_size` bytes (cwd, argv_count arguments and env_count variables, each
 * with its NUL, exactly as a fresh start would pass them to execve), then by `files_size` bytes (file_count times
 * struct fh_init_entry, path, data; relative paths start at cwd). Descriptors: stdin, stdout, stderr, then extra_count
 * more, which become the numbers in `extra` (3 or more, each once). argv[0] up to and including MAIN are the same as
 * the zygote's; the rest is the program's. */
struct fh_zygote_run {
	struct fh_init_header h;
	uint32_t flags; /* 0 */
	uint32_t argv_count, env_count;
	uint32_t text_size;
	uint32_t rlimit_count;
	struct fh_init_rlimit rlimits[FH_INIT_RLIMITS_MAX];
	uint32_t file_count;
	uint32_t files_size;
	uint32_t extra_count;
	uint32_t extra[FH_ZYGOTE_EXTRAS_MAX];
};

/* No code of the run was executed; the program exits with 127. With FH_WARM_INTERPRETER the same run is expected to
 * work if it starts fresh: its files are written, and its descriptors are sent back, in the order of RUN. */
struct fh_zygote_failed {
	struct fh_init_header h;
	int32_t error;
	uint32_t step, detail;
	uint32_t zero;
	char why[FH_ZYGOTE_WHY_MAX]; /* with FH_WARM_INTERPRETER: the reason */
};
