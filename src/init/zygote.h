/* SPDX-License-Identifier: MIT */
/*
 * What the engine says to a *zygote*, an interpreter that the warm library (guest/warm) stopped right before it would
 * open its main program file, and to the programs that it forks. One message a packet over SOCK_SEQPACKET pairs, fixed
 * structs, both ends from the same build (the engine carries the library inside itself). Descriptors by SCM_RIGHTS.
 *
 *     engine                                   zygote
 *     (execs it, see below)             <-     READY [+ socket, pidfd]   once; not usable when `why` is not empty
 *     FORK + descriptors, seal filter   ->  <- FORKED + [pidfd]          for each program
 *
 *     engine                                   stem, over the socket that READY brought
 *     BRANCH + [socket]                 ->  <- FORKED + [pidfd]          a zygote with more modules; its READY comes
 *                                                                        over the socket that BRANCH brought
 *
 *     engine                                   program, over the socket that FORK brought
 *                                       <-     PARKED                    isolated; nothing of a run is in it yet
 *     RUN + descriptors, inline files   ->  <- FAILED [+ descriptors] | end of file
 *                                                                        end of file: the program's own code begins
 *
 * End of file on its socket ends a zygote, and a program that is still parked. A program closes its socket before any
 * code of the run is executed, so that nothing inside can speak on it.
 *
 * The zygote lives in its template's namespaces and has run at most the import of modules that the client asked for:
 * the engine checks the size, op and bounds of each packet as it would a stranger's. From FORKED on it takes nothing
 * from the zygote: exit status and usage of a program come from the kernel, its isolation is read from /proc/PID.
 *
 * How a zygote is started: `INTERPRETER [flags] MAIN` in the template's namespaces, active in its pid namespace, with
 *   - descriptors 0, 1, 2: pipes, as the programs will have (an interpreter looks at their kind when it starts); stdin
 *     at end of file; nothing is ever written to them by the library;
 *   - FH_ZYGOTE_SOCKET: the control socket; FH_ZYGOTE_LIBRARY: the library, a sealed memfd; no other descriptor;
 *   - an empty regular file MAIN in the current folder, which is the one that runs will have;
 *   - the environment of the template and the variables below, which the library removes;
 *   - no_new_privs and the *base* filter as the template's layers say.
 * It needs CAP_SYS_ADMIN and CAP_SYS_CHROOT over the namespaces that FORK brings, and where programs change ids
 * CAP_SETUID, CAP_SETGID, CAP_SETPCAP there; a fork is given them by entering its user namespace. It has no right to
 * trace anybody, and is in a Landlock domain in which nobody outside can be traced: it can enter the namespaces that it
 * was given a descriptor of, while it has that, and no others (engine/make/landlock.c).
 */
#pragma once
#include "init/messages.h"

enum {
	FH_ZYGOTE_SOCKET = 3,
	FH_ZYGOTE_LIBRARY = 9,

	FH_ZYGOTE_PACKET_MAX = 320 * 1024,
	FH_ZYGOTE_TEXT_MAX = FH_INIT_TEXT_MAX,  /* cwd, argv and env of a RUN */
	FH_ZYGOTE_FILES_MAX = 64,               /* inline, of one RUN */
	FH_ZYGOTE_FILES_BYTES_MAX = 160 * 1024, /* entries, paths and data of them; more goes through init's PUT before */
	FH_ZYGOTE_EXTRAS_MAX = 16,              /* descriptors beside the standard ones */
	FH_ZYGOTE_CGROUPS_MAX = 8,              /* v1 hierarchies */
	FH_ZYGOTE_SEAL_MAX = 512,               /* instructions of the seal filter */
	FH_ZYGOTE_PRELOAD_MAX = 4096,           /* names of modules, comma-separated */
	FH_ZYGOTE_WHY_MAX = 400,
};

/* Variables of a zygote's start-up environment, beside LD_PRELOAD=/proc/self/fd/9. */
#define FH_ZYGOTE_ENV_SOCKET "FUMEHOOD_ZYGOTE"          /* the number of the control socket: "3" */
#define FH_ZYGOTE_ENV_FILE "FUMEHOOD_ZYGOTE_FILE"       /* MAIN as it stands in argv */
#define FH_ZYGOTE_ENV_PRELOAD "FUMEHOOD_ZYGOTE_PRELOAD" /* modules to import first: "numpy,pandas"; may be missing */
/* How many of the variables, the last ones, are the zygote's own: they hold while it imports, and no program has them.
 */
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

/* Sent once all modules are imported and the self-test, in a forked child, has passed. Descriptors, where the
 * interpreter can import modules ahead: the stem's socket and its pidfd; it is the engine's own child (CLONE_PARENT).
 */
struct fh_zygote_ready {
	struct fh_init_header h; /* token 0 */
	uint32_t threads;        /* of the zygote, as /proc/self/status says: 1, or what its interpreter is known to lose
	                          * without harm; else `why` says so. A program that it forks has one, which the engine checks */
	uint32_t zero;
	uint64_t resident_bytes;
	char interpreter[32];        /* which of the library's interpreters it is: "python"; "" for none in particular */
	char why[FH_ZYGOTE_WHY_MAX]; /* "": it serves; else why not, and it exits after this message */
};

/* FORK: make a program for the sandbox whose namespaces are given. Descriptors, in this order: one for each bit of
 * `namespaces`, in the order of fh_zygote_namespaces; each only where its bit is set the program's socket, the Landlock
 * rule set, the v2 group's folder; then `cgroups` v1 tasks files. Followed by `seal_count` struct sock_filter. */
enum fh_zygote_fork_flags {
	FH_FORK_SOCKET = 2,      /* always set */
	FH_FORK_LANDLOCK = 4,    /* a rule set to enter */
	FH_FORK_CGROUP = 8,      /* the program is born in this group (CLONE_INTO_CGROUP) */
	FH_FORK_SWITCH_IDS = 16, /* become uid and gid, without supplementary groups */
	FH_FORK_KEEP_CAPABILITIES = 32,
	FH_FORK_NO_NEW_PRIVS = 64, /* set it, should the zygote not have it already */
};
struct fh_zygote_fork {
	struct fh_init_header h;
	uint32_t flags;      /* enum fh_zygote_fork_flags */
	uint32_t namespaces; /* CLONE_NEW* to enter; CLONE_NEWPID is entered before the fork */
	uint32_t uid, gid;   /* as the sandbox's user namespace shows them */
	uint32_t cgroups;    /* v1 tasks files, to each of which the program writes "0" before all else */
	uint32_t seal_count; /* 0: no filter is added */
};

/* In the order in which they are given and entered: the pid namespace, which is the zygote's to enter; the user
 * namespace last, since the rights over the others are the zygote's own. `name`: below /proc/PID/ns. */
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

/* BRANCH: fork a zygote that imports more modules and then serves on the socket given (the one descriptor). Followed
 * by the names, comma-separated, without a NUL. It inherits all that its parent imported and is as trusted as that.
 * Who branches is the zygote's *stem*, a copy that it made of itself when it was ready: the zygote enters a sandbox's
 * pid namespace for each FORK, and where that of the template belongs to the host it cannot come back. */
struct fh_zygote_branch {
	struct fh_init_header h;
	uint32_t preload_size; /* at most FH_ZYGOTE_PRELOAD_MAX */
	uint32_t zero;
};

/* Answer to FORK and BRANCH, with the child's pidfd when error is 0. The child is the engine's own (CLONE_PARENT). */
struct fh_zygote_forked {
	struct fh_init_header h;
	int32_t error; /* errno */
	uint32_t step; /* enum fh_zygote_step */
};

enum fh_zygote_step {
	FH_WARM_NONE,
	FH_WARM_MESSAGE, /* a packet that is not as it should be: error EBADMSG */
	FH_WARM_PID_NAMESPACE,
	FH_WARM_FORK,
	FH_WARM_CGROUP,
	FH_WARM_NAMESPACES,
	FH_WARM_SESSION, /* setsid, signals, umask, oom_score_adj */
	FH_WARM_PRIVS,   /* no_new_privs */
	FH_WARM_LANDLOCK,
	FH_WARM_SECCOMP,
	FH_WARM_IDS, /* ids and capabilities */
	FH_WARM_OWN, /* what it shared with the zygote made anew */
	/* of RUN */
	FH_WARM_RLIMIT, /* detail: the resource */
	FH_WARM_CWD,
	FH_WARM_FILE, /* detail: index of the inline file */
	FH_WARM_DESCRIPTORS,
	FH_WARM_INTERPRETER, /* its state could not be made as a fresh one's: run it fresh */
	FH_WARM_COUNT_
};

struct fh_zygote_parked {
	struct fh_init_header h;
	int32_t error;
	uint32_t step;              /* of what failed; the program exits after that */
	struct fh_init_state state; /* what the kernel says of the program, isolated */
};

/* RUN: becomes a run. Followed by `text_size` bytes (cwd, argv_count arguments, env_count variables, each with its NUL:
 * exactly as a fresh start would pass to execve), then `files_size` bytes (file_count times struct fh_init_entry, path,
 * data; relative paths start at cwd). Descriptors: stdin, stdout, stderr, then extra_count more, which become
 * the numbers in `extra` (3 or more, each once). argv[0] up to and with MAIN are the zygote's own; what follows is the
 * program's. */
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

/* No code of the run was executed; the program exits with 127. With FH_WARM_INTERPRETER the same run, started fresh,
 * is expected to work: its files are written, and its descriptors come back, in the order of RUN. */
struct fh_zygote_failed {
	struct fh_init_header h;
	int32_t error;
	uint32_t step, detail;
	uint32_t zero;
	char why[FH_ZYGOTE_WHY_MAX]; /* FH_WARM_INTERPRETER: what was not as it should be */
};
