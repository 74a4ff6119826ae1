// SPDX-License-Identifier: MIT
/* What holds of a sandbox's isolation, read back from the kernel: namespaces by their inodes under /proc/PID/ns, the id
 * map, the mounts; what only the program itself can be asked (capabilities) comes from the report before its exec. */
#include "engine/engine.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const struct {
	enum fh_layer layer;
	const char *file;
} namespaces[] = {
	{ FH_LAYER_USER, "user" }, { FH_LAYER_PID, "pid" }, { FH_LAYER_MOUNT, "mnt" },     { FH_LAYER_NETWORK, "net" },
	{ FH_LAYER_IPC, "ipc" },   { FH_LAYER_UTS, "uts" }, { FH_LAYER_CGROUP, "cgroup" },
};

/* An id map that holds something; a namespace without one maps nobody and no program could start in it. */
static bool has_map(pid_t pid)
{
	char path[64], line[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	FILE *f = fopen(path, "re");
	bool any = f && fgets(line, sizeof(line), f);
	if (f)
		fclose(f);
	return any;
}

static void read_namespaces(struct fh_sandbox *b)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(namespaces); i++) {
		char ours[64], theirs[64];
		struct stat a, c;
		snprintf(ours, sizeof(ours), "/proc/self/ns/%s", namespaces[i].file);
		snprintf(theirs, sizeof(theirs), "/proc/%d/ns/%s", (int)b->child.pid, namespaces[i].file);
		bool known = stat(ours, &a) == 0 && stat(theirs, &c) == 0;
		bool own = known && (a.st_ino != c.st_ino || a.st_dev != c.st_dev);
		if (namespaces[i].layer == FH_LAYER_USER)
			own = own && has_map(b->child.pid);
		set(b, namespaces[i].layer, own, known ? "it shares the host's" : "the kernel does not have it");
	}
}

static void read_status(struct fh_sandbox *b)
{
	char path[64], line[256];
	unsigned long no_new_privs = 0, seccomp = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)b->child.pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "NoNewPrivs: %lu", &no_new_privs);
		(void)sscanf(line, "Seccomp: %lu", &seccomp);
	}
	if (f)
		fclose(f);
	set(b, FH_LAYER_NO_NEW_PRIVS, no_new_privs == 1, "the kernel reports it as not set");
	set(b, FH_LAYER_SECCOMP, seccomp == 2, "the kernel reports no filter");
}

/* A proc file system of its own, with /proc/sys covered read-only (mountinfo: proc(5)). */
static void read_proc(struct fh_sandbox *b)
{
	char path[64], line[1024], target[256], options[128];
	bool own = false, covered = false;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)b->child.pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*s %*s %*s %*s %255s %127s", target, options) != 2)
			continue;
		own = own || (fh_streq(target, "/proc") && fh_starts_with(dash, " - proc "));
		covered = covered || (fh_streq(target, "/proc/sys") && fh_starts_with(options, "ro"));
	}
	if (f)
		fclose(f);
	set(b, FH_LAYER_PROC, own && covered, own ? "the host's facts in it are not masked" : "there is none in the plan");
}

void fh_isolation_read(struct fh_sandbox *b)
{
	read_namespaces(b);
	read_status(b);
	read_proc(b);
	bool absent = b->report.layers_off & 1u << FH_LAYER_LANDLOCK;
	if (b->template) /* init stays outside, its children go in */
		set(b, FH_LAYER_LANDLOCK, false,
		    absent ? "this kernel does not have it, or it is not switched on (lsm=)" : "no program has started yet");
	else
		set(b, FH_LAYER_LANDLOCK, b->report.landlock == 1,
		    absent ? "this kernel does not have it, or it is not switched on (lsm=)"
		           : "the kernel did not refuse a mount as it does under Landlock");
	set(b, FH_LAYER_CAPABILITIES, false, "no program has started yet");
}

void fh_isolation_add_state(struct fh_sandbox *b, const struct fh_init_state *s)
{
	bool none = !s->cap_permitted && !s->cap_effective && !s->cap_inheritable && !s->cap_bounding;
	set(b, FH_LAYER_CAPABILITIES, none, "the program started with capabilities in its user namespace");
	set(b, FH_LAYER_NO_NEW_PRIVS, s->no_new_privs == 1, "the kernel reports it as not set");
	set(b, FH_LAYER_SECCOMP, s->seccomp == 2, "the kernel reports no filter");
	if (b->template && !(b->report.layers_off & 1u << FH_LAYER_LANDLOCK))
		set(b, FH_LAYER_LANDLOCK, s->landlock == 1, "the kernel did not take the program into a domain");
}

int fh_isolation_check(const struct fh_sandbox *b, bool final, struct fh_error *err)
{
	/* capabilities (and Landlock in a template's sandbox) are the program's own: known once it starts, unless the plan
	 * does not even try */
	uint32_t late = 1u << FH_LAYER_CAPABILITIES;
	if (b->template && !(b->report.layers_off & 1u << FH_LAYER_LANDLOCK))
		late |= 1u << FH_LAYER_LANDLOCK;
	uint32_t known = final ? ~0u : ~late | ~b->plan->layers;
	uint32_t missing = b->plan->require & ~b->layers & known;
	for (int l = 0; missing && l < FH_LAYER_COUNT_; l++) {
		if (!(missing & 1u << l))
			continue;
		int r = fh_error_set(err, FH_E_UNAVAILABLE, "the required layer %s cannot be had here: %s",
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
