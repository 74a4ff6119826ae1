/* SPDX-License-Identifier: MIT */
/*
 * A plan: everything that a run needs, as plain data. The client builds it (sandbox/planning/plan_build.c), prints and
 * reads it as JSON (sandbox/planning/plan_json.c) and sends it to an engine, which carries it out without further
 * decisions (engine/make).
 *
 * The *park part* (mounts, ids, layers, hostname, size of the writable layer = limits.disk) determines how a sandbox is
 * made before its program is known: a sandbox made ahead serves only plans with an equal park part. The *request part*
 * (the rest) may differ from run to run.
 *
 * A plan owns everything that it points to. Strings are NUL-terminated and never NULL, except those marked FH_NULLABLE;
 * lists of strings end with NULL and are never NULL.
 */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "fumehood/sandbox.h"

/* Bounds of a plan; both ends check them. */
enum {
	FH_PLAN_MOUNTS_MAX = 512,
	FH_PLAN_FILES_MAX = 4096,
	FH_PLAN_STRINGS_MAX = 4096,          /* in each of argv, env and outs */
	FH_PLAN_ARGV_BYTES_MAX = 128 * 1024, /* argv and env together, the kernel's limit for one argument of execve */
	FH_PLAN_PATH_MAX = 4096,
	FH_PLAN_PRELOAD_MAX = 64, /* number of modules */
};

enum fh_mount_kind {
	FH_MOUNT_BIND,    /* the host path `source` at `target`; read-only unless writable. Always nosuid, nodev */
	FH_MOUNT_SYMLINK, /* a symbolic link at `target` with the text `source` */
	/* a generated file at `target` with `content`; read-only unless writable (the target must exist then) */
	FH_MOUNT_FILE,
	FH_MOUNT_DIR,      /* an empty read-only folder at `target` */
	FH_MOUNT_WRITABLE, /* a folder of the writable layer; all of them share one tmpfs of limits.disk bytes */
	FH_MOUNT_MASK,     /* covers `target` with an empty folder or an empty file */
	FH_MOUNT_PROC,     /* the sandbox's own /proc at `target`, in which facts about the host are masked */
	FH_MOUNT_DEV,      /* a private /dev at `target`: null zero full random urandom tty, pts, shm, fd links */
	/* the host folder `source` at `target`, writable, which other sandboxes may have mounted too. Files belong to the
	 * sandbox's users, whatever ids it has on the host (engine/make/volume.c) */
	FH_MOUNT_VOLUME,
	FH_MOUNT_KIND_COUNT_
};
extern const char *const fh_mount_kind_names[FH_MOUNT_KIND_COUNT_]; /* "bind", "symlink", … */

/* Mounts are made in order, so a later one may be inside an earlier one. The root is an empty read-only tmpfs, or the
 * image's directory, read-only. Missing targets and their folders are made, in an image in an overlay on top of it. A
 * WRITABLE mount at "/" can only be the first: then the root itself is a folder of the writable layer (over an image:
 * an overlay whose changes are kept there), and what the plan makes in it belongs to the program's user. */
struct fh_plan_mount {
	enum fh_mount_kind kind;
	char *target;             /* absolute and clean (fh_path_clean) */
	FH_NULLABLE char *source; /* for BIND, SYMLINK and VOLUME */
	struct fh_bytes_owned {
		uint8_t *data;
		size_t size;
	} content;     /* for FILE */
	uint32_t mode; /* permissions of FILE, DIR, WRITABLE; 0: 0644, 0755, 0755 */
	bool writable; /* BIND: not read-only; FILE: it belongs to the program's user and is in the writable layer */
	bool optional; /* BIND: no error if source does not exist; MASK: the same for target */
};

struct fh_plan_file {
	char *name; /* relative to cwd, or absolute below a WRITABLE mount; clean, without ".." */
	struct fh_bytes_owned content;
	uint32_t mode;
};

/* The *start part*: what determines a warmed-up interpreter before its program is known, together with argv up to
 * `main_file`, env and cwd. A program is forked from a zygote only if the start part is equal as well as the park
 * part. */
struct fh_plan_zygote {
	uint32_t main_file; /* index in argv of the program's main file; 0: no zygote is possible for this command */
	char **options;     /* for the zygote only, inserted after argv[0] */
	char **env;         /* for the zygote only; programs do not see them */
	char **preload;     /* modules to import first */
	/* for each module of preload: differs when its files have been replaced; "": not known. Or an empty list */
	char **preload_identity;
};

/* The capabilities that make root useful in a sandbox with several users: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID,
 * SETUID (capabilities(7)). None of them allows mounting, tracing, making nodes or reaching anything outside the
 * sandbox. */
#define FH_ROOT_CAPABILITIES (1u << 0 | 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7)

struct fh_plan {
	/* park part */
	FH_NULLABLE char *image; /* a directory of the host as root; NULL: an empty root that the mounts fill */
	/* Differs when what the image or the mounts show has been replaced (sandbox/planning/identity.h); NULL: unknown.
	 * The engine only compares it. */
	FH_NULLABLE char *image_identity;
	struct fh_plan_mount *mounts;
	size_t mount_count;
	uint32_t uid, gid; /* ids as seen by the program: 1000, or 0 for root of its own user namespace */
	char *hostname;
	uint32_t layers; /* bits 1 << enum fh_layer of the layers to use */
	/* Programs with uid 0 inside have FH_ROOT_CAPABILITIES, which apply only to the sandbox's own ids and files.
	 * Granted only where a sandbox has a range of ids, and a control group that counts processes (a program could
	 * escape an rlimit by changing its uid). Elsewhere this has no effect. */
	bool root_capabilities;

	struct fh_plan_zygote zygote; /* start part */

	/* request part */
	enum fh_start start;
	uint32_t require; /* bits of layers that must be in force; otherwise FH_E_UNAVAILABLE, before anything runs */
	struct fh_limits limits;
	char **argv; /* argv[0] is a path inside, or a name searched on the PATH of env */
	char **env;  /* the complete environment */
	char *cwd;
	struct fh_plan_file *files;
	size_t file_count;
	char **outs;
	uint64_t out_max_bytes; /* for each file */
	struct fh_bytes_owned stdin_data;
	struct fh_descriptor descriptors[FH_DESCRIPTORS_MAX]; /* no number occurs twice; at most one is of kind DRIVER */
	size_t descriptor_count;

	/* for display and for keys of results; the engine ignores them */
	char *language;    /* "": a plain command */
	char *interpreter; /* the program that runs the code, as a path on the host; "" with an image */
	char *code_name;   /* file name of the program inside; "": a plain command */

	/* For a program that has to be compiled: a complete plan that is run first, in its own sandbox. One of its outs,
	 * `artifact`, becomes a file of this plan, with the same name and mode 0755. */
	FH_NULLABLE struct fh_plan *compile;
	FH_NULLABLE char *artifact;
};

/* Bounds the disk of a sandbox that lives on by its memory, in which its files are kept: a disk as large as that would
 * never be full, since the kernel kills in the sandbox before, its init at last. */
void fh_limits_bound_disk(struct fh_limits *l);

FH_OWN struct fh_plan *fh_plan_new(void); /* empty lists and strings, all layers on, default limits, uid 1000 */
FH_OWN struct fh_plan *fh_plan_copy(const struct fh_plan *plan);
void fh_plan_drop_mounts(struct fh_plan *plan, enum fh_mount_kind kind);  /* removes those of one kind */
void fh_plan_copy_mounts(struct fh_plan *to, const struct fh_plan *from); /* adds those of `from` */
/* fh_plan_free is public (fumehood/sandbox.h). */
struct fh_plan_mount *fh_plan_add_mount(
    struct fh_plan *plan, enum fh_mount_kind kind, const char *target,
    FH_NULLABLE const char *source); /* the result is valid until the next mount is added */
struct fh_plan_file *fh_plan_add_file(struct fh_plan *plan, const char *name, const void *data, size_t size,
                                      uint32_t mode);
/* Replaces *list by a copy of items (NULL: an empty list). */
void fh_plan_set_strings(char ***list, FH_NULLABLE const char *const *items);
void fh_plan_add_string(char ***list, const char *item);
void fh_plan_set_text(char **text, const char *value);

/* Checks whether a plan can be carried out: bounds, clean absolute targets, names without "..", an argv, known layers.
 * Both ends call it, because the engine trusts nothing that it has not checked. */
int fh_plan_check(const struct fh_plan *plan, struct fh_error *err);
/* Whether the program may write to the root itself. */
bool fh_plan_root_is_writable(const struct fh_plan *plan);

/* The key of a plan: plans with equal keys can be served by the same sandboxes made ahead. Covers the park part and, if
 * `start` is set, the start part. */
void fh_plan_encode_key(struct fh_buf *out, const struct fh_plan *plan, bool start);

/* The wire form (plan_wire.c has its fields). The compile plan is not sent, since the client runs it separately. */
void fh_plan_encode(struct fh_buf *out, const struct fh_plan *plan);
int fh_plan_decode(struct fh_str bytes, struct fh_plan **ret, struct fh_error *err); /* calls fh_plan_check */
