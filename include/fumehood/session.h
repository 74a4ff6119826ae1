/* SPDX-License-Identifier: MIT */
/*
 * Operations on a session beyond starting processes (fumehood/sandbox.h): listing its processes, its usage, its files,
 * connections to servers inside, pause, and branches.
 *
 * Files are read and changed by a *helper* inside the sandbox: a process of fumehood-init that has the rights of the
 * sandbox's user (or of `user`) and no others. So a call can do nothing that a program inside could not, and paths mean
 * the same as to a program inside. Symbolic links are followed as a program would follow them, never out of the
 * sandbox; links of /proc to open files and roots (magic links) are refused. Relative paths start in the plan's working
 * directory. Names are bytes without a NUL; names that come from inside are untrusted text.
 *
 * Each call on files starts a helper. While the sandbox is paused by control groups v2, which hold its init as well, or
 * at its limit of processes, the call fails (FH_E_UNAVAILABLE, FH_E_LIMIT). Where the host gives a sandbox only one id,
 * a program may kill or stop a helper; the call then fails with FH_E_SYSTEM or FH_E_TIMEOUT and may be repeated.
 *
 * `user`: NULL for the plan's, "user" (uid 1000) or "root" (uid 0 of the sandbox, without capabilities). Where the host
 * gives only one id, any other user fails with FH_E_UNAVAILABLE. err->sys is the errno of the failed operation:
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
	uint32_t pid; /* in the sandbox */
	uint32_t uid; /* in the sandbox */
	uint64_t age_ms;
	bool ended;          /* the record is kept for 30 s after the end, of many such the newest 256 */
	struct fh_exit exit; /* how it ended; valid if `ended` is set */
	char tag[64];        /* "": no tag */
	char command[128];   /* argv, shortened; untrusted text */
};
/* Lists the processes that clients started, oldest first, including those that ended recently; free() *ret. */
FH_PUBLIC int fh_sandbox_processes(struct fh_sandbox *sandbox, struct fh_process_info **ret, size_t *ret_count,
                                   struct fh_error *err);
/* in the sandbox; 0: the engine is too old to report it */
FH_PUBLIC uint32_t fh_process_pid(const struct fh_process *process);
/* Kills the process and everything that it started, including processes that left its process group. Without control
 * groups, orphaned processes in a session of their own cannot be found and are left. */
FH_PUBLIC int fh_process_kill_tree(struct fh_process *process, struct fh_error *err);

/* ------------------------------------------------------------------------------------------------------------- use */

struct fh_sandbox_usage {
	uint64_t at_ms; /* time of the host's clock, since 1970 */
	uint64_t age_ms;
	uint64_t cpu_user_us, cpu_sys_us;                             /* since the sandbox was created */
	uint64_t memory_bytes, memory_peak_bytes, memory_limit_bytes; /* 0: unknown; limit FH_UNLIMITED: no limit */
	uint64_t tasks;                                               /* processes and threads at this moment; 0: unknown */
	uint64_t disk_bytes, disk_limit_bytes;                        /* of the writable folders; 0: unknown, or paused */
	uint32_t cpus;                                                /* processors of the host */
	bool paused;
};
FH_PUBLIC int fh_sandbox_usage(struct fh_sandbox *sandbox, struct fh_sandbox_usage *ret, struct fh_error *err);

/* ----------------------------------------------------------------------------------------------------------- pause */

/* How a sandbox is paused. */
enum fh_pause {
	FH_PAUSE_NONE,
	/* by the kernel: cgroup.freeze, or the freezer of v1; programs inside can neither notice nor undo it */
	FH_PAUSE_FREEZER,
	FH_PAUSE_SIGNALS, /* by a SIGSTOP to each process, which parents and handlers of SIGCONT can notice */
	FH_PAUSE_COUNT_
};
FH_PUBLIC const char *fh_pause_name(enum fh_pause how); /* "none", "freezer", "signals" */
/* Stops all processes. The clocks of limits are stopped too; leases run on. Does nothing if the sandbox is paused
 * already. ret_how may be NULL. */
FH_PUBLIC int fh_sandbox_pause(struct fh_sandbox *sandbox, enum fh_pause *ret_how, struct fh_error *err);
FH_PUBLIC int fh_sandbox_resume(struct fh_sandbox *sandbox, struct fh_error *err);

/* ----------------------------------------------------------------------------------------- branches and snapshots */

/* Makes a new sandbox with the plan of `from` and a copy of its writable folders. Processes, sockets and terminals are
 * not copied; fh_sandbox_processes lists the processes of `from`, and fh_sandbox_left_out the files that did not come
 * along. What programs write during the copy may or may not be included: pause `from` before, where nothing may change.
 * The plan's own files are not written again. */
FH_PUBLIC int fh_sandbox_branch(struct fh_sandbox *from, const struct fh_sandbox_options *options,
                                struct fh_sandbox **ret, struct fh_error *err);
/* Of a sandbox that was made by a branch or from a snapshot: what the original had and this one lacks, each as
 * "PATH: reason": sockets, files and folders that the session's user cannot read, what was replaced during the copy. At
 * most 256, then "N more". Ends with NULL; never NULL itself. Valid while the sandbox is. */
FH_PUBLIC const char *const *fh_sandbox_left_out(const struct fh_sandbox *sandbox);
/* Writes the plan and all files of the writable folders to a descriptor. Any number of sandboxes can be restored from
 * it, also on another host that has the same host files that the plan shows. *ret_left_out (may be NULL): number of
 * entries that did not come along (fh_sandbox_left_out names them). */
FH_PUBLIC int fh_sandbox_snapshot(struct fh_sandbox *sandbox, int fd, uint64_t *ret_left_out, struct fh_error *err);
FH_PUBLIC int fh_sandbox_restore(struct fh_client *client, int fd, const struct fh_sandbox_options *options,
                                 struct fh_sandbox **ret, struct fh_error *err);
/* The plan from which the sandbox was made; free it with fh_plan_free. The files and stdin of a run are not
 * included. */
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
	const char *name;                     /* in a list: relative to the listed folder; otherwise the requested path */
	const char *target;                   /* text of a symbolic link; else NULL */
	/* Of a link in a list, or looked at with FH_FILES_NOFOLLOW: what it leads to in the end. FH_FILE_LINK: to nothing.
	 */
	enum fh_file_type end_type;
	uint32_t end_mode;
	const char *end; /* that one's path, without links; NULL: not known */
	bool attributed; /* of a regular file in a list: it has extended attributes whose names begin with "user." */
};

enum { FH_FILES_NOFOLLOW = 1 }; /* does not follow a link in the last component of the path */

/* The strings of ret_info are in *ret_buffer, which the caller frees. */
FH_PUBLIC int fh_files_stat(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                            struct fh_file_info *ret_info, char **ret_buffer, struct fh_error *err);
/* Calls on_entry for each entry: a folder before its entries, siblings in no particular order. depth 1: only the
 * folder's own entries; 0: all levels. Links below path are not followed. If on_entry returns a value other than 0, the
 * list ends and returns it. Folders that cannot be read are skipped. */
FH_PUBLIC int fh_files_list(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned depth,
                            int (*on_entry)(void *context, const struct fh_file_info *info), void *context,
                            struct fh_error *err);
/* parents: missing folders of the path are made too, and an existing folder is no error; otherwise that is EEXIST. mode
 * 0: 0755. */
FH_PUBLIC int fh_files_make_folder(struct fh_sandbox *sandbox, const char *user, const char *path, uint32_t mode,
                                   bool parents, struct fh_error *err);
/* Replaces an existing `to`, as rename(2) does. Fails with EXDEV between two file systems. */
FH_PUBLIC int fh_files_rename(struct fh_sandbox *sandbox, const char *user, const char *from, const char *to,
                              struct fh_error *err);
/* Removes a file or an empty folder; of a link, the link itself. recursive: a folder with all its contents; a missing
 * path is no error then. */
FH_PUBLIC int fh_files_remove(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                              struct fh_error *err);
/* Makes a link at `path`: a symbolic one with the text `target`, or else a hard link to it. */
FH_PUBLIC int fh_files_link(struct fh_sandbox *sandbox, const char *user, const char *target, const char *path,
                            bool symbolic, struct fh_error *err);

#define FH_KEEP ((uint64_t)-1)
struct fh_file_changes { /* FH_KEEP: not changed */
	uint64_t mode, uid, gid, size;
	int64_t mtime_ns, atime_ns; /* INT64_MIN: not changed */
};
#define FH_FILE_CHANGES_INIT                                                                                           \
	{                                                                                                                  \
		.mode = FH_KEEP, .uid = FH_KEEP, .gid = FH_KEEP, .size = FH_KEEP, .mtime_ns = INT64_MIN, .atime_ns = INT64_MIN \
	}
FH_PUBLIC int fh_files_change(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                              const struct fh_file_changes *changes, struct fh_error *err);

/* Extended attributes. get: free() *ret_value. list: the names, each followed by a NUL. To remove an attribute, set it
 * with value NULL. A longer value than FH_ATTRIBUTE_MAX cannot be set, whatever the file system. */
enum { FH_ATTRIBUTE_MAX = 480 };
FH_PUBLIC int fh_files_get_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                                     uint8_t **ret_value, size_t *ret_size, struct fh_error *err);
FH_PUBLIC int fh_files_list_attributes(struct fh_sandbox *sandbox, const char *user, const char *path, char **ret_names,
                                       size_t *ret_size, struct fh_error *err);
FH_PUBLIC int fh_files_set_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                                     const void *value, size_t size, struct fh_error *err);

/* A regular file that is read or written from an offset on, in pieces of any size. */
struct fh_file_stream;
enum {
	FH_OPEN_READ = 0,
	FH_OPEN_WRITE = 1,  /* opens for writing; otherwise for reading */
	FH_OPEN_CREATE = 2, /* if the file does not exist */
	FH_OPEN_TRUNCATE = 4,
	FH_OPEN_EXCLUSIVE = 8, /* with CREATE: fails with EEXIST if the file exists */
	FH_OPEN_APPEND = 16,
	FH_OPEN_PARENTS = 32, /* missing folders of the path are made, with mode 0755 */
	FH_OPEN_NOFOLLOW = 64,
	FH_OPEN_OWN = 128, /* with WRITE: the file belongs to the user afterwards, where the user may take it */
};
struct fh_open_options {
	size_t size;
	const char *user;
	unsigned flags;  /* FH_OPEN_* */
	uint32_t mode;   /* mode of a new file; 0: 0644 */
	uint64_t offset; /* offset of the first byte to read or write */
	uint64_t length; /* maximum to read; 0: to the end */
};
#define FH_OPEN_OPTIONS_INIT                                                                                           \
	{                                                                                                                  \
		.size = sizeof(struct fh_open_options)                                                                         \
	}
FH_PUBLIC int fh_file_stream_open(struct fh_sandbox *sandbox, const char *path, const struct fh_open_options *options,
                                  struct fh_file_stream **ret, struct fh_error *err);
/* information as of the opening */
FH_PUBLIC void fh_file_stream_info(const struct fh_file_stream *file, struct fh_file_info *ret);
/* Reads up to n bytes; 0 at the end of the file. A stream that ends earlier is an error. */
FH_PUBLIC ssize_t fh_file_stream_read(struct fh_file_stream *file, void *buffer, size_t n, struct fh_error *err);
/* Queues the bytes. An error inside (no space) is returned by this write, a later one or the close. */
FH_PUBLIC int fh_file_stream_write(struct fh_file_stream *file, const void *data, size_t n, struct fh_error *err);
/* Frees the handle. A file that is written is flushed first, and errors are returned. If it is not called, what was
 * written so far stays. */
FH_PUBLIC int fh_file_stream_close(struct fh_file_stream *file, struct fh_error *err);

/* Writes all regular files, folders and links below the paths, with modes, owners, times, hard links and extended
 * attributes, to a descriptor as one stream (docs/protocol.md describes its form); and reads them back. Other kinds of
 * files are left out and counted. */
FH_PUBLIC int fh_files_export(struct fh_sandbox *sandbox, const char *user, const char *const *paths, int fd,
                              uint64_t *ret_left_out, struct fh_error *err);
FH_PUBLIC int fh_files_import(struct fh_sandbox *sandbox, const char *user, int fd, struct fh_error *err);

/* ----------------------------------------------------------------------------------------------------------- watch */

struct fh_watcher;
enum fh_watch_event_kind {
	FH_WATCH_CREATE,
	FH_WATCH_WRITE, /* the contents changed */
	FH_WATCH_REMOVE,
	/* it was moved away, or here: if both names are below the folder, two events with the same cookie */
	FH_WATCH_RENAME,
	FH_WATCH_CHMOD,    /* mode, owner, times, links, extended attributes */
	FH_WATCH_OVERFLOW, /* events were lost, so the folder must be read again; no name */
	FH_WATCH_GONE,     /* last event: the watched folder itself was removed or moved */
	FH_WATCH_SYNCED,   /* the answer to fh_watch_sync: everything that happened before was reported */
	FH_WATCH_EVENT_KIND_COUNT_
};
FH_PUBLIC const char *fh_watch_event_name(enum fh_watch_event_kind k); /* "create", "write", … */
struct fh_watch_event {
	enum fh_watch_event_kind kind;
	bool folder;
	bool arrived;     /* for RENAME: moved to this name; false: away from it */
	uint32_t cookie;  /* for RENAME: the same for both names; otherwise 0 */
	const char *name; /* relative to the watched folder; valid until the next read */
};
/* When it returns, all later changes will be reported. recursive: watches the folders below too, including new ones. */
FH_PUBLIC int fh_watch_open(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                            struct fh_watcher **ret, struct fh_error *err);
/* Returns 1: *ret is an event; 0: no more events; -FH_E_TIMEOUT if none came within timeout_ms (-1: waits without
 * limit). */
FH_PUBLIC int fh_watch_read(struct fh_watcher *watcher, struct fh_watch_event *ret, int64_t timeout_ms,
                            struct fh_error *err);
/* Asks for FH_WATCH_SYNCED behind the events of all that has happened by now. */
FH_PUBLIC int fh_watch_sync(struct fh_watcher *watcher, struct fh_error *err);
FH_PUBLIC void fh_watch_close(struct fh_watcher *watcher);

/* ----------------------------------------------------------------------------------------------------------- ports */

/* Opens a TCP connection to a port inside, from the sandbox's own network namespace, to 127.0.0.1 or else ::1. The
 * server's bytes are read as FH_STDOUT; fh_process_write sends to the server; fh_process_close_stdin ends that
 * direction; fh_process_free closes the connection. If nothing listens: FH_E_NOT_FOUND with ECONNREFUSED in
 * err->sys. */
FH_PUBLIC int fh_sandbox_connect(struct fh_sandbox *sandbox, uint16_t port, struct fh_process **ret,
                                 struct fh_error *err);

#ifdef __cplusplus
}
#endif
