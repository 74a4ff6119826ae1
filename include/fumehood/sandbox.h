/* SPDX-License-Identifier: MIT */
/*
 * libfumehood: run untrusted code in sandboxes.
 *
 *     request ──fh_plan_build──▶ plan ──fh_run──▶ result          one run: create, spawn, wait, destroy
 *     plan ──fh_sandbox_create──▶ sandbox ──fh_process_spawn──▶ process …       a session
 *
 * A *client* is a connection to an engine (fh_client_open). All functions that take a client, a sandbox or a process
 * block, and may be called from any thread: calls from several threads share the connection and run side by side.
 * A plan is immutable once built and may be used by many runs at once.
 *
 * Units: times in ms or us as the name says, sizes in bytes. Errors: see fumehood/error.h. What untrusted code can
 * provoke is never an error but a status in the result; an error means that the run did not take place as asked.
 *
 * Structs that a caller fills begin with their size (FH_..._INIT sets it), so that later fields do not break it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "fumehood/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fh_client;
struct fh_plan;
struct fh_sandbox;
struct fh_process;

/* ------------------------------------------------------------------------------------------------ words and tables */

enum fh_status {
	FH_STATUS_OK,
	FH_STATUS_RUNTIME_ERROR, /* exit code other than 0, or a signal */
	FH_STATUS_COMPILE_ERROR,
	FH_STATUS_CPU_TIME_LIMIT,
	FH_STATUS_WALL_TIME_LIMIT,
	FH_STATUS_MEMORY_LIMIT,
	FH_STATUS_OUTPUT_LIMIT,
	FH_STATUS_DISK_LIMIT,
	FH_STATUS_PROCESS_LIMIT,
	FH_STATUS_BLOCKED,      /* the scanner refused; it never ran */
	FH_STATUS_ENGINE_ERROR, /* see result.error */
	FH_STATUS_COUNT_
};
FH_PUBLIC const char *fh_status_name(enum fh_status s); /* "ok", "runtime_error", … */

enum fh_limit {
	FH_LIMIT_CPU_TIME,   /* ms, user + system, the whole process tree */
	FH_LIMIT_WALL_TIME,  /* ms */
	FH_LIMIT_MEMORY,     /* bytes, the whole tree, files in memory and page cache of the run included */
	FH_LIMIT_PROCESSES,  /* tasks: processes and threads; our init is not counted */
	FH_LIMIT_CPU_RATE,   /* thousandths of a processor: 1500 = 1.5 processors; 0 = as many as there are */
	FH_LIMIT_OUTPUT,     /* bytes, for each of stdout and stderr (and the driver stream) */
	FH_LIMIT_FILE_SIZE,  /* bytes, of one file */
	FH_LIMIT_DISK,       /* bytes, all writable folders together */
	FH_LIMIT_OPEN_FILES, /* descriptors of one process */
	FH_LIMIT_COUNT_
};
#define FH_UNLIMITED UINT64_MAX

enum fh_enforced { FH_ENFORCED_NONE, FH_ENFORCED_BOUNDED, FH_ENFORCED_EXACT, FH_ENFORCED_COUNT_ };
FH_PUBLIC const char *fh_enforced_name(enum fh_enforced e); /* "none", "bounded", "exact" */

struct fh_limit_info {
	const char *name;      /* JSON: "cpu_time" */
	const char *option;    /* command line: "cpu-time" */
	const char *unit;      /* "ms", "bytes", "tasks", "milli-cpus", "files" */
	enum fh_status status; /* what it makes of a run; FH_STATUS_OK: shows only as a failed call inside */
	uint64_t run_default;  /* of `fumehood run` and FH_LIMITS_INIT */
	uint64_t minimum;
};
FH_PUBLIC extern const struct fh_limit_info fh_limit_table[FH_LIMIT_COUNT_];

struct fh_limits {
	uint64_t value[FH_LIMIT_COUNT_]; /* FH_UNLIMITED for none */
};
FH_PUBLIC void fh_limits_init(struct fh_limits *l); /* run_default of each */

/* Layers of isolation, in the order in which results list them. */
enum fh_layer {
	FH_LAYER_USER, /* user namespace */
	FH_LAYER_PID,
	FH_LAYER_MOUNT,
	FH_LAYER_NETWORK,
	FH_LAYER_IPC,
	FH_LAYER_UTS,
	FH_LAYER_CGROUP, /* cgroup namespace */
	FH_LAYER_NO_NEW_PRIVS,
	FH_LAYER_CAPABILITIES, /* none left */
	FH_LAYER_SECCOMP,
	FH_LAYER_LANDLOCK,
	FH_LAYER_PROC, /* a /proc of its own, host facts masked */
	FH_LAYER_COUNT_
};
FH_PUBLIC const char *fh_layer_name(enum fh_layer l); /* "user", …, "no_new_privs" */

/* How a run's program came to life. */
enum fh_start {
	FH_START_AUTO,   /* of a request: what is fastest here; anything that cannot be falls back to FRESH */
	FH_START_FRESH,  /* executed in a sandbox that was made for it */
	FH_START_ZYGOTE, /* forked at the request from an interpreter that had started already */
	FH_START_PARKED, /* in a sandbox that was made, and as far as can be filled, ahead of the request */
	FH_START_COUNT_
};
FH_PUBLIC const char *fh_start_name(enum fh_start s); /* "auto", "fresh", … */

/* FH_DRIVER: what the program writes to its descriptor of kind FH_DESCRIPTOR_DRIVER, where its plan has one. */
enum fh_stream { FH_STDIN, FH_STDOUT, FH_STDERR, FH_DRIVER, FH_STREAM_COUNT_ };

/* Descriptors of a program beside stdin, stdout and stderr. */
enum fh_descriptor_kind {
	FH_DESCRIPTOR_IN,     /* reads what another member of its group writes */
	FH_DESCRIPTOR_OUT,    /* writes to another member of its group */
	FH_DESCRIPTOR_DRIVER, /* writes to the client: FH_DRIVER, one for a program */
	FH_DESCRIPTOR_KIND_COUNT_
};
FH_PUBLIC const char *fh_descriptor_kind_name(enum fh_descriptor_kind k); /* "in", "out", "driver" */
enum { FH_DESCRIPTOR_FIRST = 3, FH_DESCRIPTORS_MAX = 7 /* 3 … 9 */ };
struct fh_descriptor {
	int number;
	enum fh_descriptor_kind kind;
};

/* ----------------------------------------------------------------------------------------------------------- client */

struct fh_client_options {
	size_t size;
	const char *placement;      /* "local", "service" (`fumehood engine start`), "command", "attach"; NULL: the service
	                               where one answers, else local */
	const char *const *command; /* for "command": argv of a program whose stdin and stdout reach an engine */
	pid_t engine_pid;           /* for "attach": an engine of this user that already runs here */
	const char *engine_program; /* NULL: the one that belongs to this library ($FUMEHOOD_ENGINE, build tree, libexec) */
	bool greet_later;           /* return while the engine still starts; what is wrong with it, the first call tells */
};
#define FH_CLIENT_OPTIONS_INIT                                                                                         \
	{                                                                                                                  \
		.size = sizeof(struct fh_client_options)                                                                       \
	}

/* Starts or reaches an engine and greets it. A local engine ends when the client is closed or this process dies, but
 * for sandboxes that hold a lease. options may be NULL. */
FH_PUBLIC int fh_client_open(const struct fh_client_options *options, struct fh_client **ret, struct fh_error *err);
FH_PUBLIC void fh_client_close(struct fh_client *client); /* NULL is fine */
/* Where the engine's bytes come in; a socket, unless the placement is "command". For two things only: a forked child,
 * which must not use the client, closes it, so that the engine sees its owner's end; and shutdown(2) on it gets every
 * thread out of its call with an error. poll(2) says POLLHUP once the connection is of no more use. */
FH_PUBLIC int fh_client_descriptor(const struct fh_client *client);

/* ------------------------------------------------------------------------------------------------- request and plan */

struct fh_bytes {
	const void *data;
	size_t size;
};
struct fh_file {
	const char *name; /* relative to the working directory; folders on the way are made */
	struct fh_bytes content;
	uint32_t mode; /* 0: 0644 */
};
struct fh_mount {
	const char *source; /* on the host */
	const char *target; /* inside, absolute; NULL: as source */
	bool writable;
};

/* What a person asks for. All pointers are borrowed until fh_plan_build returns; the plan owns copies. */
struct fh_request {
	size_t size;
	const char *language; /* "python", "javascript", "bash", "c", "cpp"; NULL: run `argv` */
	struct fh_bytes code;
	const char *code_name;   /* the program's file name inside; NULL: the language's */
	const char *const *args; /* arguments of the program; NULL: none */
	const char *const *argv; /* without a language: the command, found on the sandbox's PATH */
	const char *interpreter; /* a path on the host; NULL: the one that the user's shell would run */
	const char *venv;        /* a Python virtual environment on the host */
	const char *image;       /* a directory that holds a root file system; NULL: the host's programs */
	const char *user;        /* NULL or "user": uid 1000; "root": uid 0 of its own user namespace */
	const char *cwd;         /* NULL: /home/user */
	const char *hostname;    /* NULL: "sandbox" */
	const char *const *env;  /* "NAME=value", added to a small clean environment */
	const struct fh_file *files;
	size_t file_count;
	const char *const *outs; /* names of files to bring back */
	size_t out_count;
	const struct fh_mount *mounts;
	size_t mount_count;
	struct fh_bytes stdin_data; /* for fh_run */
	struct fh_limits limits;
	bool standard_library_only; /* hide Python's and Node's installed packages */
	const char *const *flags;   /* compiler and linker flags beside the language's own; NULL: none */
	uint32_t require;           /* bits 1 << enum fh_layer: an error when one cannot be had */
	uint32_t without;           /* bits 1 << enum fh_layer: switch layers off (tests of the layers themselves) */
	uint64_t out_max_bytes;     /* ceiling for one file brought back; 0: 64 MiB */
	const struct fh_descriptor *descriptors; /* at most FH_DESCRIPTORS_MAX */
	size_t descriptor_count;
	enum fh_start start; /* anything but AUTO is meant for tests and measurements: an error where it cannot be */
	/* Modules that the program's interpreter imports ahead of the request, by name, or in Python by the absolute path
	 * of their file inside; NULL: none */
	const char *const *preload;
	/* "/" can be written to, as a container's can: within limits.disk, forgotten at the end. What is shown of the host
	 * (/usr, the language's tools, mounts) stays as read-only as it was. */
	bool writable_root;
	/* With what the language's hash tables begin, on which the order of what is in them may hang: 0, by chance, as the
	 * language has it; 1 and more, the secret of this number, the same each time and everywhere where the language lets
	 * one set it. Where it does not, numbers above 1 mean a process of the run's own, with a secret of its own. */
	uint32_t hash_secret;
};
FH_PUBLIC void fh_request_init(struct fh_request *r);

/* Finds the language's tools on this host, lists mounts, ids, filters, limits. Executes nothing. */
FH_PUBLIC int fh_plan_build(const struct fh_request *request, struct fh_plan **ret, struct fh_error *err);
FH_PUBLIC void fh_plan_free(struct fh_plan *plan);
FH_PUBLIC int fh_plan_to_json(const struct fh_plan *plan, char **ret_json, struct fh_error *err); /* free() it */
/* name: the file, for errors; may be NULL. */
FH_PUBLIC int fh_plan_from_json(const char *json, size_t n, const char *name, struct fh_plan **ret,
                                struct fh_error *err);

/* ---------------------------------------------------------------------------------------------------------- one run */

struct fh_usage {
	uint64_t cpu_user_us, cpu_sys_us, wall_us;
	uint64_t memory_peak_bytes; /* 0: not known */
	uint64_t processes_peak;    /* 0: not known */
	/* Of a program that was forked from a zygote: what that held then, whose pages they share until one writes. They
	 * are not in memory_peak_bytes where control groups count. 0: none. */
	uint64_t memory_baseline_bytes;
};

struct fh_out_file {
	char *name;
	char *refused; /* why it was not brought back; NULL when it was */
	uint8_t *data; /* NULL when refused */
	size_t size;
};

struct fh_result {
	enum fh_status status;
	int exit_code;  /* -1: ended by a signal or never ran */
	int signal;     /* 0: none */
	uint32_t fired; /* bits 1 << enum fh_limit */
	/* The exact bytes of [FH_STDOUT], [FH_STDERR] and [FH_DRIVER]; a NUL follows. NULL: there is no such stream. */
	uint8_t *stream_data[FH_STREAM_COUNT_];
	size_t stream_size[FH_STREAM_COUNT_];
	bool stream_truncated[FH_STREAM_COUNT_];
	struct fh_usage usage;
	struct fh_limits limits;
	enum fh_enforced enforced[FH_LIMIT_COUNT_];
	uint32_t layers;                      /* bits 1 << enum fh_layer, read back from the kernel */
	char *layer_missing[FH_LAYER_COUNT_]; /* why not; NULL for those that hold */
	struct fh_out_file *outs;
	size_t out_count;
	struct fh_error error; /* for FH_STATUS_ENGINE_ERROR */
	bool stopped;        /* of a group: it was ended because the leader had ended; its status says no more than that */
	enum fh_start start; /* how it started; AUTO: nothing ran */
	char *start_why;     /* why not faster, where the request left the choice; NULL: it was as fast as can be */
};

struct fh_run_options {
	size_t size;
	/* Called with output as it comes, from the thread that called fh_run; the bytes are in the result as well
	 * unless discard_output is set. NULL: none. */
	void (*on_output)(void *context, enum fh_stream stream, const void *data, size_t n);
	void *context;
	bool discard_output;
	/* The run reads its stdin from this descriptor as it goes (a pipe, a terminal); -1 or 0 with stdin_from_fd unset:
	 * stdin_data of the request. */
	bool stdin_from_fd;
	int stdin_fd;
	/* Set to 1 by a signal handler or another thread: the run is cancelled, its sandbox destroyed. NULL: never. */
	const volatile int *cancel;
};
#define FH_RUN_OPTIONS_INIT                                                                                            \
	{                                                                                                                  \
		.size = sizeof(struct fh_run_options)                                                                          \
	}

/* Runs a plan in a fresh sandbox; when it returns, every process of it is dead. A language that compiles does so in a
 * sandbox of its own first (its limits are the language's; not in `usage`). Returns 0 with a result for everything that
 * the code can provoke, and for engine errors (status FH_STATUS_ENGINE_ERROR, error filled); a negative code only for
 * a broken connection, FH_E_CANCELLED, or a wrong call. options may be NULL. */
FH_PUBLIC int fh_run(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
                     struct fh_result **ret, struct fh_error *err);
FH_PUBLIC void fh_result_free(struct fh_result *result);
/* The object that `fumehood run --json` prints, on one line or indented. free() it. */
FH_PUBLIC char *fh_result_json(const struct fh_result *result, int indent);

/* ---------------------------------------------------------------------------------------------------------- groups */

/* Programs that run side by side, each in a sandbox of its own, joined by nothing but links. No member starts before
 * all sandboxes are made. When the leader has ended, the others are ended too. */
struct fh_member {
	const struct fh_plan *plan;  /* may be that of other members and runs; must not be one that compiles */
	const struct fh_file *files; /* beside the plan's own */
	size_t file_count;
	struct fh_bytes stdin_data; /* instead of the plan's, when data is not NULL */
};
/* A pipe: what member `from` writes to its descriptor, member `to` reads from its own. */
struct fh_link {
	size_t from;
	int from_descriptor; /* of kind FH_DESCRIPTOR_OUT in its plan */
	size_t to;
	int to_descriptor; /* of kind FH_DESCRIPTOR_IN */
};
enum { FH_MEMBERS_MAX = 8, FH_LINKS_MAX = 16, FH_NO_LEADER = -1 };
struct fh_group {
	size_t size;
	const struct fh_member *members;
	size_t member_count;
	const struct fh_link *links; /* each descriptor of kind in or out has exactly one */
	size_t link_count;
	int leader; /* a position in members, or FH_NO_LEADER */
};
#define FH_GROUP_INIT                                                                                                  \
	{                                                                                                                  \
		.size = sizeof(struct fh_group), .leader = FH_NO_LEADER                                                        \
	}
/* As fh_run, for all members at once: ret_results[i] is member i's. Of the options only `cancel` is looked at. A member
 * whose sandbox fails makes the others fail too (FH_STATUS_ENGINE_ERROR, error code FH_E_CANCELLED). */
FH_PUBLIC int fh_run_group(struct fh_client *client, const struct fh_group *group, const struct fh_run_options *options,
                           struct fh_result **ret_results, struct fh_error *err);

/* --------------------------------------------------------------------------------------------------------- sessions */

#define FH_ID_HEX 33 /* 128 bits in hexadecimal and a NUL */

struct fh_sandbox_options {
	size_t size;
	uint64_t lease_ms; /* 0: the sandbox dies with this client; else it lives that long unless renewed */
	const char *name;  /* what people call it, for lists: 1 to 63 bytes of UTF-8; NULL: none. Need not be unique */
};
#define FH_SANDBOX_OPTIONS_INIT                                                                                        \
	{                                                                                                                  \
		.size = sizeof(struct fh_sandbox_options)                                                                      \
	}

FH_PUBLIC int fh_sandbox_create(struct fh_client *client, const struct fh_plan *plan,
                                const struct fh_sandbox_options *options, struct fh_sandbox **ret,
                                struct fh_error *err);
/* A sandbox that another client created. */
FH_PUBLIC int fh_sandbox_attach(struct fh_client *client, const char *id, struct fh_sandbox **ret,
                                struct fh_error *err);
FH_PUBLIC const char *fh_sandbox_id(const struct fh_sandbox *sandbox);
FH_PUBLIC int fh_sandbox_renew(struct fh_sandbox *sandbox, uint64_t lease_ms, struct fh_error *err);
/* Kills everything in it, returns when nothing is left. */
FH_PUBLIC int fh_sandbox_destroy(struct fh_sandbox *sandbox, struct fh_error *err);
FH_PUBLIC void fh_sandbox_free(struct fh_sandbox *sandbox); /* forgets the handle; destroys nothing */

FH_PUBLIC int fh_sandbox_put_file(struct fh_sandbox *sandbox, const struct fh_file *file, struct fh_error *err);
/* A regular file inside, reached without following links; larger than max_bytes: FH_E_LIMIT. */
FH_PUBLIC int fh_sandbox_get_file(struct fh_sandbox *sandbox, const char *name, size_t max_bytes, uint8_t **ret_data,
                                  size_t *ret_size, struct fh_error *err);

struct fh_spawn_options {
	size_t size;
	const char *const *argv; /* NULL: the plan's own command */
	const char *const *env;  /* NULL: the plan's */
	const char *cwd;         /* NULL: the plan's */
	bool pty;                /* a terminal; its output arrives as FH_STDOUT */
	uint16_t rows, columns;  /* of the pty; 0: 24 x 80 */
	bool no_stdin;           /* stdin is at its end from the start */
	uint64_t wall_time_ms;   /* 0: the plan's; FH_UNLIMITED: none */
	uint64_t cpu_time_ms;    /* likewise. Counts the process and all that it starts, where control groups count; else
	                            the whole sandbox from this start on */
	uint64_t output_bytes;   /* likewise; each of stdout and stderr */
	size_t window;           /* bytes of a stream under way before its reader must read on; 0: 256 KiB */
	const char *user;        /* NULL: the plan's; "user" (uid 1000) or "root" (uid 0, without capabilities) */
	const char *tag;         /* a name for lists, at most 63 bytes; NULL: none */
	uint64_t memory_bytes;   /* of the process and all that it starts; 0: the sandbox's limit alone. FH_E_UNAVAILABLE
	                            where no control group can hold it (fumehood/session.h) */
	const char *const *more_env; /* "NAME=value", beside `env`, in place of its variables of these names; NULL: none */
	bool drop_unread; /* while no client is attached, the oldest unread output makes room for the newest; else the
	          process waits for a reader once a window is full */
};
#define FH_SPAWN_OPTIONS_INIT                                                                                          \
	{                                                                                                                  \
		.size = sizeof(struct fh_spawn_options)                                                                        \
	}

FH_PUBLIC int fh_process_spawn(struct fh_sandbox *sandbox, const struct fh_spawn_options *options,
                               struct fh_process **ret, struct fh_error *err);
/* A process that another client started: its unread output continues here. */
FH_PUBLIC int fh_process_attach(struct fh_client *client, const char *id, struct fh_process **ret,
                                struct fh_error *err);
FH_PUBLIC const char *fh_process_id(const struct fh_process *process);
/* Up to n bytes as soon as there are some; 0 at the end of the stream. timeout_ms -1: none. A stream that is not read
 * stalls only itself. */
FH_PUBLIC ssize_t fh_process_read(struct fh_process *process, enum fh_stream stream, void *buffer, size_t n,
                                  int64_t timeout_ms, struct fh_error *err);
FH_PUBLIC int fh_process_write(struct fh_process *process, const void *data, size_t n, struct fh_error *err);
FH_PUBLIC int fh_process_close_stdin(struct fh_process *process, struct fh_error *err);
FH_PUBLIC int fh_process_signal(struct fh_process *process, int signal, struct fh_error *err);
FH_PUBLIC int fh_process_resize(struct fh_process *process, uint16_t rows, uint16_t columns, struct fh_error *err);

struct fh_exit {
	enum fh_status status;
	int exit_code; /* -1: by a signal */
	int signal;
	uint32_t fired;
	struct fh_usage usage;
	bool stopped; /* of a group: the leader's end ended it */
};
/* -FH_E_TIMEOUT when it still runs after timeout_ms (-1: for ever). The record is kept for 30 s after the end. */
FH_PUBLIC int fh_process_wait(struct fh_process *process, int64_t timeout_ms, struct fh_exit *ret,
                              struct fh_error *err);
FH_PUBLIC void fh_process_free(struct fh_process *process); /* forgets the handle; kills nothing */

/* --------------------------------------------------------------------------------------- what runs on this machine */

struct fh_sandbox_info {
	char id[FH_ID_HEX];
	pid_t engine_pid, client_pid;   /* client 0: the lease outlived it */
	uint64_t age_ms, lease_left_ms; /* lease_left 0: bound to its client */
	uint32_t processes;
	char command[128]; /* the first process's argv, shortened; untrusted text */
	char name[64];     /* "": none; untrusted text */
	bool session;      /* not the sandbox of a run */
	bool paused;
};
/* Every sandbox of this user's engines, oldest first; free() *ret. */
FH_PUBLIC int fh_list(struct fh_sandbox_info **ret, size_t *ret_count, struct fh_error *err);
/* Destroys the sandbox whose id begins with `prefix` (at least 4 characters, unique). */
FH_PUBLIC int fh_kill(const char *prefix, struct fh_error *err);
/* Removes what engines that died have left (cgroups); returns how many things through ret_removed. */
FH_PUBLIC int fh_collect_garbage(size_t *ret_removed, struct fh_error *err);

FH_PUBLIC const char *fh_version(void);

#ifdef __cplusplus
}
#endif
