/* SPDX-License-Identifier: MIT */
/*
 * libfumehood: run untrusted code in sandboxes.
 *
 *     request ──fh_plan_build──▶ plan ──fh_run──▶ result          one run: create, spawn, wait, destroy
 *     plan ──fh_sandbox_create──▶ sandbox ──fh_process_spawn──▶ process …       a session
 *
 * A *client* is a connection to an engine (fh_client_open). Functions that take a client, a sandbox or a process block
 * until they are done. They are thread-safe: calls from several threads share the connection and run concurrently. A
 * plan is immutable once built and may be used by many runs at once.
 *
 * Units: times in ms or us as the name says, sizes in bytes. Errors: see fumehood/error.h. Whatever untrusted code can
 * cause is reported as a status in the result, never as an error. An error means that the run did not take place as
 * requested.
 *
 * Structs that a caller fills begin with their size (set by FH_..._INIT), so that new fields can be added without
 * breaking callers.
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
	FH_STATUS_BLOCKED,      /* the scanner refused the program, which was not run */
	FH_STATUS_ENGINE_ERROR, /* result.error has the reason */
	FH_STATUS_COUNT_
};
FH_PUBLIC const char *fh_status_name(enum fh_status s); /* "ok", "runtime_error", … */

enum fh_limit {
	FH_LIMIT_CPU_TIME,   /* ms, user + system, the whole process tree */
	FH_LIMIT_WALL_TIME,  /* ms */
	FH_LIMIT_MEMORY,     /* bytes, of all processes; includes files in memory and the run's page cache */
	FH_LIMIT_PROCESSES,  /* tasks: processes and threads, without our init */
	FH_LIMIT_CPU_RATE,   /* thousandths of a processor: 1500 = 1.5 processors; 0 = all processors */
	FH_LIMIT_OUTPUT,     /* bytes, each for stdout, stderr and the driver stream */
	FH_LIMIT_FILE_SIZE,  /* bytes of a single file */
	FH_LIMIT_DISK,       /* bytes of all writable folders together */
	FH_LIMIT_OPEN_FILES, /* descriptors of each process */
	FH_LIMIT_COUNT_
};
#define FH_UNLIMITED UINT64_MAX

enum fh_enforced { FH_ENFORCED_NONE, FH_ENFORCED_BOUNDED, FH_ENFORCED_EXACT, FH_ENFORCED_COUNT_ };
FH_PUBLIC const char *fh_enforced_name(enum fh_enforced e); /* "none", "bounded", "exact" */

struct fh_limit_info {
	const char *name;      /* JSON: "cpu_time" */
	const char *option;    /* command line: "cpu-time" */
	const char *unit;      /* "ms", "bytes", "tasks", "milli-cpus", "files" */
	enum fh_status status; /* status of a run that reaches the limit; FH_STATUS_OK: only calls inside fail */
	uint64_t run_default;  /* default of `fumehood run` and FH_LIMITS_INIT */
	uint64_t minimum;
};
FH_PUBLIC extern const struct fh_limit_info fh_limit_table[FH_LIMIT_COUNT_];

struct fh_limits {
	uint64_t value[FH_LIMIT_COUNT_]; /* FH_UNLIMITED: no limit */
};
FH_PUBLIC void fh_limits_init(struct fh_limits *l); /* sets run_default for each limit */

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
	FH_LAYER_CAPABILITIES, /* no capabilities are left */
	FH_LAYER_SECCOMP,
	FH_LAYER_LANDLOCK,
	FH_LAYER_PROC,   /* its own /proc, in which facts about the host are masked */
	FH_LAYER_INODES, /* its own inodes for the files of the host's system, so that locks and watches stay inside */
	FH_LAYER_COUNT_
};
FH_PUBLIC const char *fh_layer_name(enum fh_layer l); /* "user", …, "no_new_privs" */

/* How a run's program is started. */
enum fh_start {
	FH_START_AUTO,   /* in a request: the fastest possible; falls back to FRESH */
	FH_START_FRESH,  /* executed in a sandbox made for it */
	FH_START_ZYGOTE, /* forked, when requested, from an interpreter that was started before */
	FH_START_PARKED, /* in a sandbox that was made and prepared ahead of the request */
	FH_START_COUNT_
};
FH_PUBLIC const char *fh_start_name(enum fh_start s); /* "auto", "fresh", … */

/* FH_DRIVER: the bytes that a program writes to its descriptor of kind FH_DESCRIPTOR_DRIVER, if its plan has one. */
enum fh_stream { FH_STDIN, FH_STDOUT, FH_STDERR, FH_DRIVER, FH_STREAM_COUNT_ };

/* Descriptors of a program in addition to stdin, stdout and stderr. */
enum fh_descriptor_kind {
	FH_DESCRIPTOR_IN,     /* reads from another member of its group */
	FH_DESCRIPTOR_OUT,    /* writes to another member of its group */
	FH_DESCRIPTOR_DRIVER, /* writes to the client, as FH_DRIVER; at most one for each program */
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
	/* "local", "service" (`fumehood engine start`), "command", "attach"; NULL: the service if one answers, else
	 * local */
	const char *placement;
	const char *const *command; /* for "command": argv of a program whose stdin and stdout reach an engine */
	pid_t engine_pid;           /* for "attach": pid of an engine of this user that runs on this machine */
	const char *engine_program; /* NULL: the one that belongs to this library ($FUMEHOOD_ENGINE, build tree, libexec) */
	bool greet_later;           /* returns while the engine still starts; if that fails, the first call reports it */
};
#define FH_CLIENT_OPTIONS_INIT                                                                                         \
	{                                                                                                                  \
		.size = sizeof(struct fh_client_options)                                                                       \
	}

/* Starts or reaches an engine and exchanges greetings. A local engine ends when the client is closed or this process
 * dies, unless sandboxes hold a lease. options may be NULL. */
FH_PUBLIC int fh_client_open(const struct fh_client_options *options, struct fh_client **ret, struct fh_error *err);
FH_PUBLIC void fh_client_close(struct fh_client *client); /* NULL is allowed */
/* The descriptor from which the engine's bytes are read; a socket, unless the placement is "command". Use it for two
 * things only. A forked child, which must not use the client, closes it, so that the engine notices when its owner
 * ends. And shutdown(2) makes every thread return from its call with an error. poll(2) reports POLLHUP once the
 * connection is broken. */
FH_PUBLIC int fh_client_descriptor(const struct fh_client *client);

/* ------------------------------------------------------------------------------------------------- request and plan */

struct fh_bytes {
	const void *data;
	size_t size;
};
struct fh_file {
	const char *name; /* relative to the working directory; missing folders are made */
	struct fh_bytes content;
	uint32_t mode; /* 0: 0644 */
};
struct fh_mount {
	const char *source; /* on the host */
	const char *target; /* absolute path inside; NULL: the same as source */
	bool writable;
};

/* A request for a run. All pointers are borrowed until fh_plan_build returns; the plan owns copies. */
struct fh_request {
	size_t size;
	const char *language; /* "python", "javascript", "bash", "c", "cpp"; NULL: run `argv` */
	struct fh_bytes code;
	const char *code_name;   /* file name of the program inside; NULL: the language's default */
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
	const char *const *outs; /* names of files to return after the run */
	size_t out_count;
	const struct fh_mount *mounts;
	size_t mount_count;
	struct fh_bytes stdin_data; /* used by fh_run */
	struct fh_limits limits;
	bool standard_library_only; /* hide Python's and Node's installed packages */
	const char *const *flags;   /* compiler and linker flags added to the language's own; NULL: none */
	uint32_t require;           /* bits 1 << enum fh_layer: building fails if one is not available */
	uint32_t without;           /* bits 1 << enum fh_layer: layers to switch off, for tests of the layers */
	uint64_t out_max_bytes;     /* maximum size of each returned file; 0: 64 MiB */
	const struct fh_descriptor *descriptors; /* at most FH_DESCRIPTORS_MAX */
	size_t descriptor_count;
	/* values other than AUTO are for tests and measurements: the run fails if that start is not possible */
	enum fh_start start;
	/* Modules that the interpreter imports ahead of the request, by name or, in Python, by the absolute path of their
	 * file inside; NULL: none. */
	const char *const *preload;
	/* Makes "/" writable, as in a container: within limits.disk, and discarded at the end. Parts of the host that are
	 * visible (/usr, the language's tools, mounts) stay read-only. */
	bool writable_root;
	/* The seed of the language's hash tables, on which iteration order may depend. 0: chosen by the language, usually
	 * at random. Other values give the secret with this number, the same on every run and host, for languages that let
	 * one set it. For the other languages, numbers above 1 ask for a new process for this run, which has a random
	 * secret. */
	uint32_t hash_secret;
	/* Makes the plan of a session's sandbox: the language's tools are visible, and there is no program, so that code,
	 * code_name, args, argv and flags stay empty. (An empty program is one, and becomes an empty file.) */
	bool no_program;
};
FH_PUBLIC void fh_request_init(struct fh_request *r);

/* Finds the language's tools on this host and determines mounts, ids, filters and limits. Executes nothing. */
FH_PUBLIC int fh_plan_build(const struct fh_request *request, struct fh_plan **ret, struct fh_error *err);
/* The same for the machine on which the client's engine runs. If a command reaches it (placement "command"), that
 * machine is asked: interpreters, folders, PATH and HOME are those that the engine's process has there. Programs may
 * be executed there that say which interpreter they stand for (pyenv's shims). -FH_E_UNAVAILABLE: the engine is of an
 * older version. For all other placements this is fh_plan_build. */
FH_PUBLIC int fh_plan_build_for(struct fh_client *client, const struct fh_request *request, struct fh_plan **ret,
                                struct fh_error *err);
FH_PUBLIC void fh_plan_free(struct fh_plan *plan);
FH_PUBLIC int fh_plan_to_json(const struct fh_plan *plan, char **ret_json, struct fh_error *err); /* free() it */
/* `name` is the file's name for errors; may be NULL. */
FH_PUBLIC int fh_plan_from_json(const char *json, size_t n, const char *name, struct fh_plan **ret,
                                struct fh_error *err);

/* ---------------------------------------------------------------------------------------------------------- one run */

struct fh_usage {
	uint64_t cpu_user_us, cpu_sys_us, wall_us;
	uint64_t memory_peak_bytes; /* 0: unknown */
	uint64_t processes_peak;    /* 0: unknown */
	/* For a program forked from a zygote: bytes that the zygote held, whose pages the program shares until it writes to
	 * them. Where control groups count memory, these are not part of memory_peak_bytes. 0: not forked. */
	uint64_t memory_baseline_bytes;
};

struct fh_out_file {
	char *name;
	char *refused; /* why it was not returned; NULL if it was */
	uint8_t *data; /* NULL when refused */
	size_t size;
};

struct fh_result {
	enum fh_status status;
	int exit_code;  /* -1: ended by a signal, or never ran */
	int signal;     /* 0: not ended by a signal */
	uint32_t fired; /* bits 1 << enum fh_limit: limits that were reached */
	/* The exact bytes of [FH_STDOUT], [FH_STDERR] and [FH_DRIVER], followed by a NUL. NULL: there is no such stream. */
	uint8_t *stream_data[FH_STREAM_COUNT_];
	size_t stream_size[FH_STREAM_COUNT_];
	bool stream_truncated[FH_STREAM_COUNT_];
	struct fh_usage usage;
	struct fh_limits limits;
	enum fh_enforced enforced[FH_LIMIT_COUNT_];
	uint32_t layers;                      /* bits 1 << enum fh_layer, read back from the kernel */
	char *layer_missing[FH_LAYER_COUNT_]; /* why a layer is not in force; NULL for layers that are */
	struct fh_out_file *outs;
	size_t out_count;
	struct fh_error error; /* for FH_STATUS_ENGINE_ERROR */
	bool stopped; /* member of a group that was ended because the leader had ended; its status means nothing else */
	enum fh_start start; /* how it was started; AUTO: nothing ran */
	char *start_why; /* why no faster start was possible, if the request left the choice; NULL: it was the fastest */
	char *image;     /* the folder that was the root; NULL: the host's own programs, as the plan shows them */
	/* Differs when the image, the interpreter or what else the plan shows has been replaced; NULL: not known. */
	char *image_identity;
};

struct fh_run_options {
	size_t size;
	/* Called with output as it arrives, in the thread that called fh_run. The bytes are in the result too, unless
	 * discard_output is set. May be NULL. */
	void (*on_output)(void *context, enum fh_stream stream, const void *data, size_t n);
	void *context;
	bool discard_output;
	/* The run reads its stdin from this descriptor while it runs (a pipe, a terminal). If stdin_from_fd is not set,
	 * stdin_data of the request is used. */
	bool stdin_from_fd;
	int stdin_fd;
	/* If a signal handler or another thread sets it to 1, the run is cancelled and its sandbox destroyed. May be
	 * NULL. */
	const volatile int *cancel;
};
#define FH_RUN_OPTIONS_INIT                                                                                            \
	{                                                                                                                  \
		.size = sizeof(struct fh_run_options)                                                                          \
	}

/* Runs a plan in a fresh sandbox. When it returns, every process of the sandbox is dead. A program that has to be
 * compiled is compiled in a sandbox of its own first, with the language's limits; that is not counted in `usage`.
 * Returns 0 and a result for everything that the code can cause, and for errors of the engine (status
 * FH_STATUS_ENGINE_ERROR, with `error` set). Returns a negative code only for a broken connection, FH_E_CANCELLED, or
 * an invalid call. options may be NULL. */
FH_PUBLIC int fh_run(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
                     struct fh_result **ret, struct fh_error *err);
FH_PUBLIC void fh_result_free(struct fh_result *result);
/* The JSON object that `fumehood run --json` prints, on one line or indented. free() it. */
FH_PUBLIC char *fh_result_json(const struct fh_result *result, int indent);

/* ---------------------------------------------------------------------------------------------------------- groups */

/* A group: programs that run at the same time, each in its own sandbox, connected only by links. No member is started
 * before all sandboxes are made. When the leader ends, the others are ended too. */
struct fh_member {
	const struct fh_plan *plan;  /* other members and runs may use the same plan; it must not have to be compiled */
	const struct fh_file *files; /* in addition to the plan's own */
	size_t file_count;
	struct fh_bytes stdin_data; /* replaces the plan's if data is not NULL */
};
/* A pipe: member `to` reads from its descriptor what member `from` writes to its own. */
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
	const struct fh_link *links; /* each descriptor of kind IN or OUT has exactly one link */
	size_t link_count;
	int leader; /* an index in members, or FH_NO_LEADER */
};
#define FH_GROUP_INIT                                                                                                  \
	{                                                                                                                  \
		.size = sizeof(struct fh_group), .leader = FH_NO_LEADER                                                        \
	}
/* Like fh_run, for all members at once: ret_results[i] belongs to member i. Only `cancel` of the options is used. If a
 * member's sandbox fails, the other members fail too (FH_STATUS_ENGINE_ERROR, error code FH_E_CANCELLED). */
FH_PUBLIC int fh_run_group(struct fh_client *client, const struct fh_group *group, const struct fh_run_options *options,
                           struct fh_result **ret_results, struct fh_error *err);

/* --------------------------------------------------------------------------------------------------------- sessions */

#define FH_ID_HEX 33 /* 128 bits in hexadecimal and a NUL */

struct fh_sandbox_options {
	size_t size;
	/* time for which the sandbox outlives this client, unless renewed; 0: it is destroyed with the client */
	uint64_t lease_ms;
	const char *name; /* a name for lists: 1 to 63 bytes of UTF-8; NULL: none. Need not be unique */
	/* fh_sandbox_branch: the plan of the branch, which has the same writable folders as the original's; NULL: the
	 * original's plan */
	const struct fh_plan *plan;
};
#define FH_SANDBOX_OPTIONS_INIT                                                                                        \
	{                                                                                                                  \
		.size = sizeof(struct fh_sandbox_options)                                                                      \
	}

FH_PUBLIC int fh_sandbox_create(struct fh_client *client, const struct fh_plan *plan,
                                const struct fh_sandbox_options *options, struct fh_sandbox **ret,
                                struct fh_error *err);
/* Opens a sandbox that another client created. */
FH_PUBLIC int fh_sandbox_attach(struct fh_client *client, const char *id, struct fh_sandbox **ret,
                                struct fh_error *err);
FH_PUBLIC const char *fh_sandbox_id(const struct fh_sandbox *sandbox);
/* How it was made: FH_START_PARKED: ahead of the request; FH_START_FRESH: for it; FH_START_AUTO: not known, since
 * another client made it. *ret_why (ret_why may be NULL): why it was not made ahead; "": no reason was given; valid
 * until fh_sandbox_free. */
FH_PUBLIC enum fh_start fh_sandbox_start(const struct fh_sandbox *sandbox, const char **ret_why);
FH_PUBLIC int fh_sandbox_renew(struct fh_sandbox *sandbox, uint64_t lease_ms, struct fh_error *err);
/* Kills all processes in it; returns when nothing of it is left. */
FH_PUBLIC int fh_sandbox_destroy(struct fh_sandbox *sandbox, struct fh_error *err);
FH_PUBLIC void fh_sandbox_free(struct fh_sandbox *sandbox); /* frees the handle; destroys nothing */

FH_PUBLIC int fh_sandbox_put_file(struct fh_sandbox *sandbox, const struct fh_file *file, struct fh_error *err);
/* Reads a regular file inside without following links. If it is larger than max_bytes: FH_E_LIMIT. */
FH_PUBLIC int fh_sandbox_get_file(struct fh_sandbox *sandbox, const char *name, size_t max_bytes, uint8_t **ret_data,
                                  size_t *ret_size, struct fh_error *err);

struct fh_spawn_options {
	size_t size;
	const char *const *argv; /* NULL: the plan's own command */
	const char *const *env;  /* NULL: the plan's */
	const char *cwd;         /* NULL: the plan's */
	bool pty;                /* starts it on a terminal, whose output arrives as FH_STDOUT */
	uint16_t rows, columns;  /* size of the terminal; 0: 24 x 80 */
	bool no_stdin;           /* stdin is at end of file from the start */
	uint64_t wall_time_ms;   /* 0: the plan's; FH_UNLIMITED: no limit */
	/* likewise. Counts the process and everything that it starts, where control groups count; otherwise the whole
	 * sandbox since the process started */
	uint64_t cpu_time_ms;
	uint64_t output_bytes; /* 0: the plan's; FH_UNLIMITED: no limit; for stdout and stderr each */
	size_t window;         /* bytes of a stream that are sent ahead of its reader; 0: 256 KiB */
	const char *user;      /* NULL: the plan's; "user" (uid 1000) or "root" (uid 0, without capabilities) */
	const char *tag;       /* a name for lists, at most 63 bytes; NULL: none */
	/* limit for the process and everything that it starts; 0: only the sandbox's. FH_E_UNAVAILABLE where no control
	 * group can enforce it */
	uint64_t memory_bytes;
	const char *const *more_env; /* "NAME=value", added to `env`, replacing variables of the same names; NULL: none */
	/* while no client is attached, the oldest unread output is discarded to make room; otherwise the process waits for
	 * a reader once the window is full */
	bool drop_unread;
};
#define FH_SPAWN_OPTIONS_INIT                                                                                          \
	{                                                                                                                  \
		.size = sizeof(struct fh_spawn_options)                                                                        \
	}

FH_PUBLIC int fh_process_spawn(struct fh_sandbox *sandbox, const struct fh_spawn_options *options,
                               struct fh_process **ret, struct fh_error *err);
/* Opens a process that another client started. Its unread output continues here. */
FH_PUBLIC int fh_process_attach(struct fh_client *client, const char *id, struct fh_process **ret,
                                struct fh_error *err);
FH_PUBLIC const char *fh_process_id(const struct fh_process *process);
/* Reads up to n bytes as soon as there are any; 0 at the end of the stream. timeout_ms -1: waits without limit. A
 * stream that is not read holds up only itself. */
FH_PUBLIC ssize_t fh_process_read(struct fh_process *process, enum fh_stream stream, void *buffer, size_t n,
                                  int64_t timeout_ms, struct fh_error *err);
FH_PUBLIC int fh_process_write(struct fh_process *process, const void *data, size_t n, struct fh_error *err);
FH_PUBLIC int fh_process_close_stdin(struct fh_process *process, struct fh_error *err);
FH_PUBLIC int fh_process_signal(struct fh_process *process, int signal, struct fh_error *err);
FH_PUBLIC int fh_process_resize(struct fh_process *process, uint16_t rows, uint16_t columns, struct fh_error *err);

struct fh_exit {
	enum fh_status status;
	int exit_code; /* -1: ended by a signal */
	int signal;
	uint32_t fired;
	struct fh_usage usage;
	bool stopped; /* member of a group: killed because the leader ended */
};
/* -FH_E_TIMEOUT if the process still runs after timeout_ms (-1: waits without limit). The result is kept for 30 s after
 * the process ended. */
FH_PUBLIC int fh_process_wait(struct fh_process *process, int64_t timeout_ms, struct fh_exit *ret,
                              struct fh_error *err);
FH_PUBLIC void fh_process_free(struct fh_process *process); /* frees the handle; kills nothing */

/*
 * A prefork server: an interpreter that is started once in a sandbox, waits before it opens its program, and is forked
 * for each program, which cannot tell that from a start of its own (docs/warm.md). It needs a root that can be written
 * to. It has the rights of the sandbox's programs, and they can end it: a program then starts as it would without it.
 */
struct fh_prefork;
/* options->argv: the interpreter, its flags, and as the last the absolute path of the program's file, which is made
 * empty. Returns before the interpreter is ready; programs that are spawned until then start as ever. */
FH_PUBLIC int fh_prefork_start(struct fh_sandbox *sandbox, const struct fh_spawn_options *options,
                               struct fh_prefork **ret, struct fh_error *err);
/* Whether the interpreter is ready. -FH_E_TIMEOUT if it is not after timeout_ms; -FH_E_UNAVAILABLE if it has ended. */
FH_PUBLIC int fh_prefork_await(struct fh_prefork *prefork, int64_t timeout_ms, struct fh_error *err);
/* As fh_process_spawn, with argv that begins as the server's. `code`: written to the program's file before; data NULL:
 * the file is as it is. No control group tells a program from others that were forked from the same interpreter, so its
 * CPU time, for the limit and in its usage, is that of the whole sandbox since it started, and memory_bytes is
 * FH_E_UNAVAILABLE. */
FH_PUBLIC int fh_prefork_spawn(struct fh_prefork *prefork, const struct fh_spawn_options *options, struct fh_bytes code,
                               struct fh_process **ret, struct fh_error *err);
FH_PUBLIC void fh_prefork_free(struct fh_prefork *prefork); /* frees the handle; ends nothing */

/* --------------------------------------------------------------------------------------- what runs on this machine */

struct fh_sandbox_info {
	char id[FH_ID_HEX];
	pid_t engine_pid, client_pid;   /* client_pid 0: no client; a lease keeps the sandbox */
	uint64_t age_ms, lease_left_ms; /* lease_left_ms 0: bound to its client */
	uint32_t processes;
	char command[128]; /* argv of the first process, shortened; untrusted text */
	char name[64];     /* "": no name; untrusted text */
	bool session;      /* false: the sandbox of a run */
	bool paused;
};
/* Lists all sandboxes of this user's engines, oldest first; free() *ret. */
FH_PUBLIC int fh_list(struct fh_sandbox_info **ret, size_t *ret_count, struct fh_error *err);
/* Destroys the sandbox whose id begins with `prefix` (at least 4 characters, unique). */
FH_PUBLIC int fh_kill(const char *prefix, struct fh_error *err);
/* Removes what dead engines have left (control groups). *ret_removed: the number of things removed. */
FH_PUBLIC int fh_collect_garbage(size_t *ret_removed, struct fh_error *err);

FH_PUBLIC const char *fh_version(void);

#ifdef __cplusplus
}
#endif
