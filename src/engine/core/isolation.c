/* SPDX-License-Identifier: MIT */
/* Reads a sandbox's isolation back from the kernel: namespaces by their inodes under /proc/PID/ns, the id map, its
 * /proc. What can only be asked of the program itself (capabilities) comes from the report that init sends before the
 * exec. */
#include "engine/core/isolation.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/core/engine.h"
#include "engine/core/enforcement.h"
#include "engine/core/sandbox.h"
#include "proto/wire.h"

static void set(struct fh_sandbox *b, enum fh_layer layer, bool holds, const char *why)
{
	if (holds) {
		b->layers |= 1u << layer;
		b->missing[layer][0] = 0;
		return;
	}
	b->layers &= ~(1u << layer);
	const char *text = b->plan->layers & 1u << layer ? why : "switched off by the plan";
	snprintf(b->missing[layer], sizeof(b->missing[layer]), "%s", text);
}

/* In the order of fh_namespace_name. */
static const enum fh_layer layer_of[FH_NAMESPACES] = {
	FH_LAYER_USER, FH_LAYER_PID, FH_LAYER_MOUNT, FH_LAYER_NETWORK, FH_LAYER_IPC, FH_LAYER_UTS, FH_LAYER_CGROUP,
};

/* Whether the user namespace has an id map. Without one, it maps no id and no program could start in it. */
static bool has_map(pid_t pid)
{
	char text[64];
	return fh_proc_text(pid, "uid_map", text, sizeof(text)) > 0;
}

static void read_namespaces(struct fh_sandbox *b)
{
	static struct fh_namespaces ours; /* read once: the engine never changes its namespaces */
	if (!ours.inode[0])
		fh_namespaces_read(getpid(), &ours);
	fh_namespaces_read(b->child.pid, &b->namespaces);
	for (size_t i = 0; i < FH_NAMESPACES; i++) {
		bool known = ours.inode[i] && b->namespaces.inode[i];
		bool own = known && ours.inode[i] != b->namespaces.inode[i];
		if (layer_of[i] == FH_LAYER_USER)
			own = own && has_map(b->child.pid);
		set(b, layer_of[i], own, known ? "it shares the host's" : "the kernel does not have it");
	}
}

static void read_status(struct fh_sandbox *b)
{
	char status[FH_PROC_STATUS_MAX];
	(void)fh_proc_text(b->child.pid, "status", status, sizeof(status));
	set(b, FH_LAYER_NO_NEW_PRIVS, fh_proc_number(status, "NoNewPrivs", 10, 0) == 1, "the kernel reports it as not set");
	set(b, FH_LAYER_SECCOMP, fh_proc_number(status, "Seccomp", 10, 0) == 2, "the kernel reports no filter");
}

/* Whether `path` below the sandbox's root is on a proc file system; no component may be a symbolic link.
 * *ret_read_only: whether it is mounted read-only. */
static bool is_proc(int root, const char *path, bool *ret_read_only)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		                    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS };
	struct statfs fs;
	fh_auto_close int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return false;
	*ret_read_only = fs.f_flags & ST_RDONLY;
	return fs.f_type == PROC_SUPER_MAGIC;
}

/* The layer holds if the sandbox has a proc file system of its own, with /proc/sys covered read-only. */
static void read_proc(struct fh_sandbox *b, int root)
{
	bool read_only = false;
	bool own = root >= 0 && is_proc(root, "proc", &read_only);
	bool covered = own && is_proc(root, "proc/sys", &read_only) && read_only;
	set(b, FH_LAYER_PROC, covered, own ? "the host's facts in it are not masked" : "the plan has no /proc");
}

/* The layer holds if the sandbox's /usr is not on the file system of the host's /usr. Without a /usr it holds, too. */
static void read_inodes(struct fh_sandbox *b, int root)
{
	static dev_t ours; /* never changes: the engine stays in its mount namespace */
	struct stat st;
	if (!ours && stat("/usr", &st) == 0)
		ours = st.st_dev;
	bool own = root >= 0 && (fstatat(root, "usr", &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != ours);
	set(b, FH_LAYER_INODES, own,
	    "no overlay could be mounted over the system's folders, or something else is mounted there");
}

static void read_root(struct fh_sandbox *b)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)b->child.pid);
	fh_auto_close int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	read_proc(b, root);
	read_inodes(b, root);
}

static bool is_absent(const struct fh_sandbox *b, enum fh_layer layer)
{
	return b->report.layers_off & 1u << layer;
}

/* The layers that each program gets for itself, and that can be checked only once one has started. */
static uint32_t of_program(const struct fh_sandbox *b)
{
	uint32_t late = 1u << FH_LAYER_CAPABILITIES;
	/* the program was forked from a zygote and entered Landlock itself; init, which is not its parent, did not */
	if (b->has_program)
		late |= 1u << FH_LAYER_NO_NEW_PRIVS | 1u << FH_LAYER_SECCOMP |
		        (is_absent(b, FH_LAYER_LANDLOCK) ? 0 : 1u << FH_LAYER_LANDLOCK);
	return late;
}

void fh_isolation_read(struct fh_sandbox *b)
{
	uint32_t late = of_program(b);
	read_namespaces(b);
	read_root(b);
	if (!(late & 1u << FH_LAYER_SECCOMP))
		read_status(b);
	set(b, FH_LAYER_LANDLOCK, b->report.landlock == 1,
	    is_absent(b, FH_LAYER_LANDLOCK) ? "this kernel does not have it, or it is not switched on (lsm=)"
	                                    : "the kernel did not refuse a mount as it does under Landlock");
	for (int l = 0; l < FH_LAYER_COUNT_; l++)
		if (late & 1u << l)
			set(b, (enum fh_layer)l, false, "no program has started yet");
}

uint32_t fh_root_capabilities(const struct fh_sandbox *b)
{
	bool counted = b->engine->cgroups.version[FH_CG_PIDS];
	return b->plan->root_capabilities && b->ids.ranges && counted ? FH_ROOT_CAPABILITIES : 0;
}

void fh_isolation_add_state(struct fh_sandbox *b, const struct fh_init_state *s)
{
	uint64_t allowed = s->uid == 0 ? fh_root_capabilities(b) : 0;
	bool none = !((s->cap_permitted | s->cap_effective | s->cap_inheritable) & ~allowed) && !s->cap_bounding;
	set(b, FH_LAYER_CAPABILITIES, none, "the program started with capabilities in its user namespace");
	set(b, FH_LAYER_NO_NEW_PRIVS, s->no_new_privs == 1, "the kernel reports it as not set");
	set(b, FH_LAYER_SECCOMP, s->seccomp == 2, "the kernel reports no filter");
	if (b->has_program && !is_absent(b, FH_LAYER_LANDLOCK))
		set(b, FH_LAYER_LANDLOCK, s->landlock == 1, "the kernel did not take the program into a domain");
}

int fh_isolation_check(const struct fh_sandbox *b, bool final, struct fh_error *err)
{
	/* layers of the program are known once it has started, unless the plan does not ask for them */
	uint32_t late = of_program(b);
	uint32_t known = final ? ~0u : ~late | ~b->plan->layers;
	uint32_t missing = b->plan->require & ~b->layers & known;
	for (int l = 0; missing && l < FH_LAYER_COUNT_; l++) {
		if (!(missing & 1u << l))
			continue;
		int r = fh_error_set(err, FH_E_UNAVAILABLE, "the required layer %s is not available here: %s",
		                     fh_layer_name((enum fh_layer)l), b->missing[l]);
		if (err)
			err->phase = FH_PHASE_CREATE;
		return r;
	}
	return 0;
}

void fh_isolation_write(const struct fh_sandbox *b, struct fh_buf *out)
{
	size_t x;
	fh_wire_u64(out, F_LAYERS, b->layers);
	for (int l = 0; l < FH_LAYER_COUNT_; l++) {
		if (b->layers & 1u << l)
			continue;
		x = fh_wire_begin(out, F_LAYER_MISSING);
		fh_wire_u64(out, F_KIND, (uint64_t)l);
		fh_wire_text(out, F_MESSAGE, b->missing[l]);
		fh_wire_end(out, x);
	}
	for (int l = 0; l < FH_LIMIT_COUNT_; l++) {
		x = fh_wire_begin(out, F_ENFORCED);
		fh_wire_u64(out, F_KIND, (uint64_t)l);
		fh_wire_u64(out, F_STATUS, fh_limits_enforced(b, (enum fh_limit)l));
		fh_wire_end(out, x);
	}
}
