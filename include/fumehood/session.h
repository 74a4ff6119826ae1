/* SPDX-License-Identifier: MIT */
/*
 * What a session offers beyond starting processes (fumehood/sandbox.h): its processes as a list, its use, its files,
 * connections to servers inside, pause, and branches.
 *
 * Files are looked at and changed by a *helper* inside the sandbox, a process of fumehood-init that has the rights of
 * the sandbox's user (or of `user`) and no others: what is asked for can do nothing that a program inside could not,
 * and paths mean what they mean to a program inside. A symbolic link is followed where a program would follow it, never
 * out of the sandbox; the links of /proc that lead to open files and roots (magic links) are refused. Relative paths
 * start in the plan's working directory. Names are bytes without a NUL, and untrusted text wherever they come from
 * inside.
 *
 * Each call on files starts a helper: while the sandbox is paused, or full of processes, the call fails (FH_E_LIMIT,
 * FH_E_UNAVAILABLE). A program of the same user id may kill or stop a helper where the host gives a sandbox one id
 * only; then the call fails with FH_E_SYSTEM or FH_E_TIMEOUT and may be made again.
 *
 * `user`: NULL for the plan's, "user" (uid 1000) or "root" (uid 0 of the sandbox, without capabilities). Where the host
 * gives one id only, another than the plan's is FH_E_UNAVAILABLE. Errors carry the errno of what failed in err->sys:
 * FH_E_NOT_FOUND for ENOENT and ENOTDIR, FH_E_LIMIT for ENOSPC, EDQUOT and EFBIG, FH_E_SYSTEM for the rest.
 */
#pragma once
#include "fumehood/sandbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------- processes */

struct fh_process_info {
	char id[FH_ID_HEX];
	uint32_t pid; /* inside */
	uint32_t uid; /* inside */
	uint64_t age_ms;
	bool ended;          /* its record is kept for 30 s */
	struct fh_exit exit; /* when it ended */
	char tag[64];        /* "": none */
	char command[128];   /* argv, shortened; untrusted text */
};
/* The processes that clients started, oldest first, those that ended lately among them; free() *ret. */
FH_PUBLIC int fh_sandbox_processes(struct fh_sandbox *sandbox, struct fh_process_info **ret, size_t *ret_count,
                                   struct fh_error *err);
FH_PUBLIC uint32_t fh_process_pid(const struct fh_process *process); /* inside; 0: the engine is too old to say */
/* Kills the process and everything that it started, also what left its process group; what the kernel cannot tell apart
 * (a host without control groups for us, and a process that became an orphan of another session) is left. */
FH_PUBLIC int fh_process_kill_tree(struct fh_process *process, struct fh_error *err);

/* ------------------------------------------------------------------------------------------------------------- use */

struct fh_sandbox_usage {
	uint64_t at_ms; /* the host's clock, since 1970 */
	uint64_t age_ms;
	uint64_t cpu_user_us, cpu_sys_us; /* since its creation, paused time excluded by nature */
	uint64_t memory_bytes, memory_peak_bytes, memory_limit_bytes; /* 0: not known; limit FH_UNLIMITED: none */
	uint64_t tasks;                                               /* processes and threads now; 0: not known */
	uint64_t disk_bytes, disk_limit_bytes;                        /* of the writable folders; 0: not known, or paused */
	uint32_t cpus;                                                /* of the host */
	bool paused;
};
FH_PUBLIC int fh_sandbox_usage(struct fh_sandbox *sandbox, struct fh_sandbox_usage *ret, struct fh_error *err);

/* ----------------------------------------------------------------------------------------------------------- pause */

/* How a sandbox is held still. */
enum fh_pause {
	FH_PAUSE_NONE,
	FH_PAUSE_FREEZER, /* by the kernel: cgroup.freeze, or the freezer of v1; nothing inside can tell or undo it */
	FH_PAUSE_SIGNALS, /* SIGSTOP to each process; their parents and handlers of SIGCONT can tell */
	FH_PAUSE_COUNT_
};
FH_PUBLIC const char *fh_pause_name(enum fh_pause how); /* "none", "freezer", "signals" */
/* Holds all processes still; clocks of limits stop, leases run on. Paused already: fine. ret_how may be NULL. */
FH_PUBLIC int fh_sandbox_pause(struct fh_sandbox *sandbox, enum fh_pause *ret_how, struct fh_error *err);
FH_PUBLIC int fh_sandbox_resume(struct fh_sandbox *sandbox, struct fh_error *err);

/* -------------------------------------------------------------------------------------------- branches and snapshots
 */

/* A new sandbox with the plan of `from` and a copy of its writable folders as they are now. Processes, sockets and
 * terminals do not come along: fh_sandbox_processes of `from` tells which those are. What programs write meanwhile may
 * or may not be in the copy. A paused one is FH_E_UNAVAILABLE. The plan's own files are not written again. */
FH_PUBLIC int fh_sandbox_branch(struct fh_sandbox *from, const struct fh_sandbox_options *options,
                                struct fh_sandbox **ret, struct fh_error *err);
/* Writes the plan and all files of the writable folders to a descriptor, from which any number of sandboxes start, also
 * on another host that has what the plan shows of its host. ret_left_out (may be NULL): what is no file, folder or
 * link. */
FH_PUBLIC int fh_sandbox_snapshot(struct fh_sandbox *sandbox, int fd, uint64_t *ret_left_out, struct fh_error *err);
FH_PUBLIC int fh_sandbox_restore(struct fh_client *client, int fd, const struct fh_sandbox_options *options,
                                 struct fh_sandbox **ret, struct fh_error *err);
/* The plan that a sandbox was made of; fh_plan_free it. Files and stdin of a run are not in it. */
FH_PUBLIC int fh_sandbox_plan(struct fh_sandbox *sandbox, struct fh_plan **ret, struct fh_error *err);

/* ----------------------------------------------------------------------------------------------------------- files */

enum fh_file_type {
	FH_FILE_REGULAR,
	FH_FILE_FOLDER,
	FH_FILE_LINK,
	FH_FILE_FIFO,
	FH_FILE_SOCKET,
	FH_FILE_CHARACTER,
	FH_FILE_BLOCK,
	FH_FILE_TYPE_COUNT_
};
FH_PUBLIC const char *fh_file_type_name(enum fh_file_type t); /* "regular", "folder", "link", "fifo", … */

struct fh_file_info {
	enum fh_file_type type;
	uint32_t mode; /* permission bits, setuid, setgid, sticky */
	uint32_t uid, gid;
	uint32_t links;
	uint64_t size, inode;
	int64_t mtime_ns, atime_ns, ctime_ns; /* since 1970 */
	const char *name;                     /* of a list: relative to what was listed; else as asked */
	const char *target;                   /* of a link: its text; NULL otherwise */
};

enum { FH_FILES_NOFOLLOW = 1 }; /* the last part of the path is not followed when it is a link */

/* The strings of ret_info live in *ret_buffer, which is to be freed. */
FH_PUBLIC int fh_files_stat(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                            struct fh_file_info *ret_info, char **ret_buffer, struct fh_error *err);
/* Calls on_entry for each entry, parents before what is in them, siblings in no order; depth 1: the folder's own
 * entries, 0: all depths. Links are not followed below path. on_entry returns 0, or what ends the list (and is
 * returned). A folder inside that cannot be read is skipped. */
FH_PUBLIC int fh_files_list(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned depth,
                            int (*on_entry)(void *context, const struct fh_file_info *info), void *context,
                            struct fh_error *err);
/* parents: folders on the way are made too, and one that exists is no error; else EEXIST. mode 0: 0755. */
FH_PUBLIC int fh_files_make_folder(struct fh_sandbox *sandbox, const char *user, const char *path, uint32_t mode,
                                   bool parents, struct fh_error *err);
/* Replaces what is at `to`, as rename(2) does. Between two file systems: EXDEV. */
FH_PUBLIC int fh_files_rename(struct fh_sandbox *sandbox, const char *user, const char *from, const char *to,
                              struct fh_error *err);
/* A link itself, never its target. recursive: a folder with all that is in it; a missing path is no error then. */
FH_PUBLIC int fh_files_remove(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                              struct fh_error *err);
/* A link at `path`: symbolic with the text `target`, else a hard link to it. */
FH_PUBLIC int fh_files_link(struct fh_sandbox *sandbox, const char *user, const char *target, const char *path,
                            bool symbolic, struct fh_error *err);

#define FH_KEEP ((uint64_t)-1)
struct fh_file_changes { /* FH_KEEP: as it is */
	uint64_t mode, uid, gid, size;
	int64_t mtime_ns, atime_ns; /* INT64_MIN: as it is */
};
#define FH_FILE_CHANGES_INIT                                                                                           \
	{                                                                                                                  \
		.mode = FH_KEEP, .uid = FH_KEEP, .gid = FH_KEEP, .size = FH_KEEP, .mtime_ns = INT64_MIN, .atime_ns = INT64_MIN \
	}
FH_PUBLIC int fh_files_change(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                              const struct fh_file_changes *changes, struct fh_error *err);

/* Extended attributes. Of get: free() *ret_value. list: names, each with its NUL, one after the other. remove: value
 * NULL of set. */
FH_PUBLIC int fh_files_get_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                                     uint8_t **ret_value, size_t *ret_size, struct fh_error *err);
FH_PUBLIC int fh_files_list_attributes(struct fh_sandbox *sandbox, const char *user, const char *path, char **ret_names,
                                       size_t *ret_size, struct fh_error *err);
FH_PUBLIC int fh_files_set_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                                     const void *value, size_t size, struct fh_error *err);

/* One regular file, read or written from an offset on, in pieces of any size. */
struct fh_file_stream;
enum {
	FH_OPEN_READ = 0,
	FH_OPEN_WRITE = 1,  /* instead of reading */
	FH_OPEN_CREATE = 2, /* where it is not there */
	FH_OPEN_TRUNCATE = 4,
	FH_OPEN_EXCLUSIVE = 8, /* with CREATE: EEXIST when it is there */
	FH_OPEN_APPEND = 16,
	FH_OPEN_PARENTS = 32, /* folders on the way are made, 0755 */
	FH_OPEN_NOFOLLOW = 64,
};
struct fh_open_options {
	size_t size;
	const char *user;
	unsigned flags;  /* FH_OPEN_* */
	uint32_t mode;   /* of a new file; 0: 0644 */
	uint64_t offset; /* of the first byte */
	uint64_t length; /* read at most that many; 0: to the end */
};
#define FH_OPEN_OPTIONS_INIT                                                                                           \
	{                                                                                                                  \
		.size = sizeof(struct fh_open_options)                                                                         \
	}
FH_PUBLIC int fh_file_stream_open(struct fh_sandbox *sandbox, const char *path, const struct fh_open_options *options,
                                  struct fh_file_stream **ret, struct fh_error *err);
FH_PUBLIC void fh_file_stream_info(const struct fh_file_stream *file, struct fh_file_info *ret); /* as it was opened */
/* Up to n bytes; 0 at the end. An end that is not the file's is an error. */
FH_PUBLIC ssize_t fh_file_stream_read(struct fh_file_stream *file, void *buffer, size_t n, struct fh_error *err);
/* Queues the bytes: a failure inside (no room) comes with this write, a later one or the close. */
FH_PUBLIC int fh_file_stream_write(struct fh_file_stream *file, const void *data, size_t n, struct fh_error *err);
/* Frees the handle. Of one that is written: waits until all is in the file, and says what failed. Without it, what was
 * written so far stays. */
FH_PUBLIC int fh_file_stream_close(struct fh_file_stream *file, struct fh_error *err);

/* All regular files, folders and links below the paths, with modes, owners, times, links and extended attributes, as
 * one stream to a descriptor (docs/protocol.md has its form), and back. What is of another kind is left out, and
 * counted. */
FH_PUBLIC int fh_files_export(struct fh_sandbox *sandbox, const char *user, const char *const *paths, int fd,
                              uint64_t *ret_left_out, struct fh_error *err);
FH_PUBLIC int fh_files_import(struct fh_sandbox *sandbox, const char *user, int fd, struct fh_error *err);

/* ----------------------------------------------------------------------------------------------------------- watch */

struct fh_watcher;
enum fh_watch_event_kind {
	FH_WATCH_CREATE,
	FH_WATCH_WRITE, /* the contents changed */
	FH_WATCH_REMOVE,
	FH_WATCH_RENAME,   /* it left, or arrived: two events with one cookie where both names are below the folder */
	FH_WATCH_CHMOD,    /* mode, owner, times, links, extended attributes */
	FH_WATCH_OVERFLOW, /* events were lost: look again. No name */
	FH_WATCH_GONE,     /* the watched folder itself is removed or moved: the last event */
	FH_WATCH_EVENT_KIND_COUNT_
};
FH_PUBLIC const char *fh_watch_event_name(enum fh_watch_event_kind k); /* "create", "write", … */
struct fh_watch_event {
	enum fh_watch_event_kind kind;
	bool folder;
	bool arrived;     /* RENAME: under this name; else it left this name */
	uint32_t cookie;  /* RENAME: joins the two; 0 otherwise */
	const char *name; /* relative to the watched folder; until the next read */
};
/* When it returns, all that happens from then on is seen. recursive: folders below too, and those made later. */
FH_PUBLIC int fh_watch_open(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                            struct fh_watcher **ret, struct fh_error *err);
/* 1: *ret is an event; 0: at its end; -FH_E_TIMEOUT when nothing came within timeout_ms (-1: none). */
FH_PUBLIC int fh_watch_read(struct fh_watcher *watcher, struct fh_watch_event *ret, int64_t timeout_ms,
                            struct fh_error *err);
FH_PUBLIC void fh_watch_close(struct fh_watcher *watcher);

/* ----------------------------------------------------------------------------------------------------------- ports */

/* A TCP connection to a port inside, made in the sandbox's own network namespace to 127.0.0.1, else ::1. What the
 * server sends is read as FH_STDOUT, what is written (fh_process_write) goes to it, fh_process_close_stdin ends that
 * direction, fh_process_free closes both. Nothing listens: FH_E_NOT_FOUND with ECONNREFUSED in err->sys. */
FH_PUBLIC int fh_sandbox_connect(struct fh_sandbox *sandbox, uint16_t port, struct fh_process **ret,
                                 struct fh_error *err);

#ifdef __cplusplus
}
#endif
