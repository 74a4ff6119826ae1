/* SPDX-License-Identifier: MIT */
/*
 * A plan: everything that one run needs, as plain data. The client builds it (sandbox/planning/plan_build.c), prints
 * and reads it as JSON (sandbox/planning/plan_json.c) and sends it to an engine, which carries it out (engine/make) and
 * decides nothing.
 *
 * The *park part* (mounts, ids, layers, hostname, size of the writable layer = limits.disk) is what a sandbox is made
 * of before a program is known: a sandbox made ahead of time serves only plans with an equal park part. The *request
 * part* (the rest) may differ from run to run.
 *
 * A plan owns all that it points to. Strings are NUL-terminated and never NULL but where FH_NULLABLE says so; lists of
 * strings end with NULL and are never NULL.
 */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "fumehood/sandbox.h"

/* Bounds of a plan; both ends check them. */
enum {
	FH_PLAN_MOUNTS_MAX = 512,
	FH_PLAN_FILES_MAX = 4096,
	FH_PLAN_STRINGS_MAX = 4096,          /* of argv, env or outs */
	FH_PLAN_ARGV_BYTES_MAX = 128 * 1024, /* argv and env together, as in one argument to execve */
	FH_PLAN_PATH_MAX = 4096,
	FH_PLAN_PRELOAD_MAX = 64, /* modules */
};

enum fh_mount_kind {
	FH_MOUNT_BIND,     /* source (a host path) at target; read-only unless writable. Always nosuid, nodev */
	FH_MOUNT_SYMLINK,  /* a symbolic link at target with the text of source */
	FH_MOUNT_FILE,     /* a generated file at target: content; read-only unless writable (then target is there) */
	FH_MOUNT_DIR,      /* an empty read-only folder at target */
	FH_MOUNT_WRITABLE, /* a folder of the writable layer; all of them share one tmpfs of limits.disk bytes */
	FH_MOUNT_MASK,     /* what is at target is covered by nothing: an empty folder or an empty file */
	FH_MOUNT_PROC,     /* a /proc of the sandbox's own at target, host facts masked */
	FH_MOUNT_DEV,      /* a private /dev at target: null zero full random urandom tty, pts, shm, fd links */
	FH_MOUNT_KIND_COUNT_
};
extern const char *const fh_mount_kind_names[FH_MOUNT_KIND_COUNT_]; /* "bind", "symlink", … */

/* Mounts are made in order, so a later one may lie inside an earlier one. The root is an empty read-only tmpfs, or the
 * image's directory, read-only; folders on the way to a target are made where the root is the tmpfs (in an image a
 * missing target is made in a read-only overlay of nothing: it is skipped when optional, an error otherwise).
 * A WRITABLE mount at "/" can only be the first: then the root itself is a folder of the writable layer (over an image:
 * an overlay whose changes are kept there), and what the plan makes in it belongs to the program's user. */
struct fh_plan_mount {
	enum fh_mount_kind kind;
	char *target;             /* absolute and clean (fh_path_clean) */
	FH_NULLABLE char *source; /* BIND, SYMLINK */
	struct fh_bytes_owned {
		uint8_t *data;
		size_t size;
	} content;     /* FILE */
	uint32_t mode; /* permissions of FILE, DIR, WRITABLE; 0: 0644, 0755, 0755 */
	bool writable; /* BIND; FILE: it is the program's user's, in the writable layer */
	bool optional; /* BIND, MASK: no error when source (MASK: target) is not there */
};

struct fh_plan_file {
	char *name; /* relative to cwd, or absolute below a WRITABLE mount; clean, no ".." */
	struct fh_bytes_owned content;
	uint32_t mode;
};

/* The *start part*: what a warm interpreter is made of before a program is known, beside argv up to `main_file`, env
 * and cwd. A program is forked from a zygote only where the start part is equal as well as the park part. */
struct fh_plan_zygote {
	uint32_t main_file; /* the position in argv of the program's main file; 0: this command has no zygote */
	char **options;     /* the zygote's own, put after argv[0] */
	char **env;         /* the zygote's own; programs do not see it */
	char **preload;     /* modules to import first */
};

/* What root needs to be of use in a sandbox of several users: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID
 * (capabilities(7)). None of them mounts, traces, makes nodes or reaches what is not the sandbox's. */
#define FH_ROOT_CAPABILITIES (1u << 0 | 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7)

struct fh_plan {
	/* park part */
	FH_NULLABLE char *image; /* a directory on the host as root; NULL: an empty root that the mounts fill */
	struct fh_plan_mount *mounts;
	size_t mount_count;
	uint32_t uid, gid; /* what the program sees itself as: 1000, or 0 for root of its own user namespace */
	char *hostname;
	uint32_t layers; /* bits 1 << enum fh_layer that are switched on */
	/* Programs that run as uid 0 inside have FH_ROOT_CAPABILITIES, which count over the sandbox's own ids and files
	 * alone. Only where a sandbox has a range of ids and a control group that counts processes (a uid that is changed
	 * would leave an rlimit behind); elsewhere they have none, as without it. */
	bool root_capabilities;

	struct fh_plan_zygote zygote; /* of the start part */

	/* request part */
	enum fh_start start;
	uint32_t require; /* bits that must hold, else FH_E_UNAVAILABLE before anything runs */
	struct fh_limits limits;
	char **argv; /* argv[0]: a path inside, or a name looked up on the PATH of env */
	char **env;  /* the whole environment */
	char *cwd;
	struct fh_plan_file *files;
	size_t file_count;
	char **outs;
	uint64_t out_max_bytes; /* of one file */
	struct fh_bytes_owned stdin_data;
	struct fh_descriptor descriptors[FH_DESCRIPTORS_MAX]; /* no number twice, at most one driver */
	size_t descriptor_count;

	/* for people and for keys of results; the engine ignores them */
	char *language;    /* "" for a plain command */
	char *interpreter; /* the program that runs the code, as a host path; "" with an image */
	char *code_name;   /* the program's file name inside; "" for a plain command */

	/* A language that compiles: a whole plan of its own that runs first, in its own sandbox, and brings `artifact`
	 * back (one of its outs), which becomes a file of this plan with mode 0755 and the same name. */
	FH_NULLABLE struct fh_plan *compile;
	FH_NULLABLE char *artifact;
};

FH_OWN struct fh_plan *fh_plan_new(void); /* empty lists and strings, all layers on, default limits, uid 1000 */
FH_OWN struct fh_plan *fh_plan_copy(const struct fh_plan *plan);
void fh_plan_copy_mounts(struct fh_plan *to, const struct fh_plan *from); /* adds them */
/* fh_plan_free is public (fumehood/sandbox.h). */
struct fh_plan_mount *fh_plan_add_mount(struct fh_plan *plan, enum fh_mount_kind kind, const char *target,
                                        FH_NULLABLE const char *source); /* valid until the next one is added */
struct fh_plan_file *fh_plan_add_file(struct fh_plan *plan, const char *name, const void *data, size_t size,
                                      uint32_t mode);
/* Replaces list with a copy of items (NULL: an empty list). */
void fh_plan_set_strings(char ***list, FH_NULLABLE const char *const *items);
void fh_plan_add_string(char ***list, const char *item);
void fh_plan_set_text(char **text, const char *value);

/* Whether a plan is fit to be carried out: bounds, clean absolute targets, names without "..", an argv, known layers.
 * Called by both ends; the engine trusts nothing that it did not check. */
int fh_plan_check(const struct fh_plan *plan, struct fh_error *err);
/* Whether the program may write to the root itself. */
bool fh_plan_root_is_writable(const struct fh_plan *plan);

/* What two plans must agree in, byte for byte, to be served by sandboxes made ahead for either: the park part, and
 * (start) the start part. */
void fh_plan_encode_key(struct fh_buf *out, const struct fh_plan *plan, bool start);

/* The wire form (fields: plan_wire.c). The compile plan is not sent: the client runs it as a plan of its own. */
void fh_plan_encode(struct fh_buf *out, const struct fh_plan *plan);
int fh_plan_decode(struct fh_str bytes, struct fh_plan **ret, struct fh_error *err); /* checked */
