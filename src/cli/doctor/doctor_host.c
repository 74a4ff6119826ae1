/* SPDX-License-Identifier: MIT */
/* Settings, mounts and devices of the host, and what prevents the use of control groups. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/path.h"
#include "base/host/refusal.h"
#include "proto/plan.h"
#include "sandbox/connection/placement.h"

/* ------------------------------------------------------------------------------------------------------- settings */

static void look_at_namespaces(struct fh_checkup *c)
{
	struct fh_refusal refusal;
	if (fh_refusal_find(0, &refusal)) /* only a warning: the group kernel finds out whether it really refuses */
		(void)fh_finding_add(c, "namespaces", FH_WORTH_WEAKER, refusal.mend, "%s", refusal.why);
	else
		(void)fh_finding_add(c, "namespaces", FH_WORTH_OK, NULL, "no setting of this host is in their way");
}

/* Reports the seccomp filter and the capabilities with which we were started, as in a container. */
static void look_at_container(struct fh_checkup *c)
{
	char line[256];
	unsigned long seccomp = 0, no_new_privs = 0;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "Seccomp: %lu", &seccomp);
		(void)sscanf(line, "NoNewPrivs: %lu", &no_new_privs);
	}
	if (f)
		fclose(f);
	if (seccomp == 2)
		(void)fh_finding_add(c, "filter around us", FH_WORTH_NOTE, NULL,
		                     "fumehood itself runs under a seccomp filter, as in a container: what that refuses, "
		                     "the lines of the kernel show");
	else
		(void)fh_finding_add(c, "filter around us", FH_WORTH_OK, NULL, "none");
	if (no_new_privs)
		(void)fh_finding_add(c, "no_new_privs around us", FH_WORTH_NOTE, NULL,
		                     "set already: fumehood needs no program that gains rights");
}

/* -------------------------------------------------------------------------------------------- folders and devices */

/* The mount that a path is on: the longest matching target in mountinfo (proc(5)). */
static char *mount_of(const char *path)
{
	char line[4096], target[1024];
	fh_auto_free char *real = realpath(path, NULL);
	char *best = NULL;
	FILE *f = real ? fopen("/proc/self/mountinfo", "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %*s %1023s", target) == 1 && fh_path_within(real, target) &&
		    (!best || strlen(target) >= strlen(best))) {
			free(best);
			best = fh_xstrdup(target);
		}
	if (f)
		fclose(f);
	return best ? best : fh_xstrdup("/");
}

char *fh_doctor_noexec(const char *path)
{
	struct statvfs fs;
	if (statvfs(path, &fs) < 0 || !(fs.f_flag & ST_NOEXEC))
		return NULL;
	fh_auto_free char *target = mount_of(path);
	return fh_xasprintf("sudo mount -o remount,exec %s, or keep the program on another file system", target);
}

static void look_at_engine_file(struct fh_checkup *c)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *program = NULL;
	struct statvfs fs;
	const char *wanted = getenv("FUMEHOOD_ENGINE");
	if (fh_engine_program(NULL, &program, &err) < 0) {
		fh_auto_free char *mend = wanted ? fh_doctor_noexec(wanted) : NULL;
		(void)fh_finding_add(c, "fumehood-engine", FH_WORTH_BLOCKS,
		                     mend          ? mend
		                     : err.hint[0] ? err.hint
		                                   : NULL,
		                     "%s%s", err.message, mend ? ": its file system is mounted noexec" : "");
		return;
	}
	fh_auto_free char *mend = fh_doctor_noexec(program);
	bool nosuid = statvfs(program, &fs) == 0 && (fs.f_flag & ST_NOSUID);
	if (mend)
		(void)fh_finding_add(c, "fumehood-engine", FH_WORTH_BLOCKS, mend,
		                     "%s lies on a file system that is mounted noexec", program);
	else
		(void)fh_finding_add(c, "fumehood-engine", FH_WORTH_OK, NULL, "%s%s", program,
		                     nosuid ? " (mounted nosuid, which takes nothing away: no program of fumehood is setuid)"
		                            : "");
}

static void look_at_tun(struct fh_checkup *c)
{
	bool there = access("/dev/net/tun", F_OK) == 0, usable = access("/dev/net/tun", R_OK | W_OK) == 0;
	(void)fh_finding_add(
	    c, "/dev/net/tun", FH_WORTH_NOTE, NULL,
	    "%s; nothing in fumehood uses it: it would be for a network interface inside, and a sandbox has "
	    "none",
	    usable  ? "there"
	    : there ? "there, but not for this user"
	            : "not there");
}

void fh_doctor_host(struct fh_checkup *c)
{
	look_at_namespaces(c);
	look_at_container(c);
	look_at_engine_file(c);
	look_at_tun(c);
}

/* ------------------------------------------------------------------------------------------------- control groups */

/* Which hierarchies are mounted, and whether our own group can be used for sandboxes. */
struct hierarchies {
	bool v1, v2, v2_controllers, read_only;
	char own[512]; /* v2: folder of our own group; "" when unknown */
	char mount[256];
};

static void read_hierarchies(struct hierarchies *h)
{
	char line[2048], target[256], options[256], type[32], group[512] = "";
	*h = (struct hierarchies){ 0 };
	FILE *f = fopen("/proc/self/mountinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*s %*s %*s %*s %255s %255s", target, options) != 2 ||
		    sscanf(dash, " - %31s", type) != 1)
			continue;
		bool v2 = fh_streq(type, "cgroup2");
		h->v1 = h->v1 || fh_streq(type, "cgroup");
		if (v2 && !h->v2)
			snprintf(h->mount, sizeof(h->mount), "%s", target);
		h->v2 = h->v2 || v2;
		if (v2 || fh_streq(type, "cgroup"))
			h->read_only = h->read_only || fh_starts_with(options, "ro");
	}
	if (f)
		fclose(f);
	f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "0::%511[^\n]", group);
	if (f)
		fclose(f);
	if (h->v2)
		snprintf(h->own, sizeof(h->own), "%.255s%.255s", h->mount, fh_streq(group, "/") ? "" : group);
	char path[600], controllers[256] = "";
	snprintf(path, sizeof(path), "%s/cgroup.controllers", h->mount);
	f = h->v2 ? fopen(path, "re") : NULL;
	h->v2_controllers = f && fgets(controllers, sizeof(controllers), f) && strstr(controllers, "memory");
	if (f)
		fclose(f);
}

static const char *kind_of(const struct hierarchies *h)
{
	if (!h->v1 && !h->v2)
		return "no control groups are mounted";
	if (!h->v1)
		return h->v2_controllers ? "control groups v2" : "control groups v2, without controllers";
	return h->v2 ? "control groups v1 and v2 (hybrid)" : "control groups v1";
}

#define DELEGATE "systemd-run --user --scope -p Delegate=yes fumehood …"

static const char *mend_groups(const struct hierarchies *h, bool partly)
{
	if (geteuid() == 0) {
		if (!h->v1 && !h->v2)
			return "mount -t cgroup2 none /sys/fs/cgroup; in a container: docker run --cgroupns=private -v "
			       "/sys/fs/cgroup:/sys/fs/cgroup:rw …";
		if (h->read_only)
			return "mount -o remount,rw /sys/fs/cgroup; in a container: docker run --cgroupns=private -v "
			       "/sys/fs/cgroup:/sys/fs/cgroup:rw …";
		if (!h->v1)
			return "give the group that fumehood is in all controllers: echo '+memory +pids +cpu' > "
			       "cgroup.subtree_control in each group above it; under systemd: systemd-run --scope -p Delegate=yes "
			       "fumehood …";
		return "mount the controllers memory, pids, cpu and cpuacct writable below /sys/fs/cgroup";
	}
	if (h->v1 && access("/run/systemd/system", F_OK) < 0)
		return "run fumehood as root: v1 cannot be delegated to users, and here no systemd decides by a boot option "
		       "which "
		       "version there is";
	if (h->v1)
		return "boot with systemd.unified_cgroup_hierarchy=1 for v2, which can be delegated to users: v1 cannot";
	if (!h->v2)
		return "sudo mount -t cgroup2 none /sys/fs/cgroup, and a group in it that belongs to this user";
	if (partly)
		return "delegate all controllers: sudo cp PREFIX/share/fumehood/systemd/50-fumehood-delegate.conf "
		       "/etc/systemd/system/user@.service.d/ && sudo systemctl daemon-reload, then log in anew and: " DELEGATE;
	return DELEGATE " (where there is no user manager yet: sudo loginctl enable-linger $USER)";
}

/* Tells what root, or else a plain user, would get here. This is derived from the mounts and not tried. */
static void tell_of_others(struct fh_checkup *c, const struct hierarchies *h)
{
#define SAMPLED "memory and cpu_time are bounded by samples, and nothing keeps a cpu_rate"
	bool usable = (h->v1 || h->v2_controllers) && !h->read_only;
	if (geteuid() != 0)
		(void)fh_finding_add(c, "as root", FH_WORTH_NOTE, NULL, "%s; each live sandbox has host ids of its own",
		                     usable ? "every limit is exact, by control groups (not tried here)" : SAMPLED);
	else
		(void)fh_finding_add(c, "as a user", FH_WORTH_NOTE, NULL,
		                     "%s; on the host a sandbox is that user, under one id",
		                     h->v1 || !usable ? SAMPLED ", since no control groups are given to users here (not tried)"
		                                      : "the same limits in a group that systemd delegates (" DELEGATE
		                                        "), elsewhere " SAMPLED " (not tried)");
#undef SAMPLED
}

void fh_doctor_groups(struct fh_checkup *c)
{
	struct hierarchies h;
	if (!c->sandbox) {
		read_hierarchies(&h);
		(void)fh_finding_add(c, "delegation", FH_WORTH_NOTE, NULL,
		                     "%s; what they are worth is not known without a sandbox", kind_of(&h));
		return;
	}
	static const struct {
		enum fh_limit limit;
		const char *controller;
	} needed[] = { { FH_LIMIT_MEMORY, "memory" }, { FH_LIMIT_CPU_TIME, "cpu time" }, { FH_LIMIT_CPU_RATE, "cpu" } };
	fh_auto_buf struct fh_buf missing = FH_BUF_INIT(0);
	size_t lost = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(needed); i++)
		if (c->sandbox->enforced[needed[i].limit] != FH_ENFORCED_EXACT) {
			(void)fh_buf_addf(&missing, "%s%s", lost ? ", " : "", needed[i].controller);
			lost++;
		}
	read_hierarchies(&h);
	if (lost == 0)
		(void)fh_finding_add(c, "delegation", FH_WORTH_OK, NULL, "%s; the engine makes a group for each sandbox",
		                     kind_of(&h));
	else
		(void)fh_finding_add(c, "delegation", FH_WORTH_WEAKER, mend_groups(&h, lost < FH_ARRAY_SIZE(needed)),
		                     "%s; none that the engine may use for %s: the tree is sampled from inside instead",
		                     kind_of(&h), fh_buf_cstr(&missing));
	tell_of_others(c, &h);
}
