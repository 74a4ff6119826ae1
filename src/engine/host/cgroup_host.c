/* SPDX-License-Identifier: MIT */
/* Finds the control groups that this host lets us make, and removes those of engines that died. */
#include "engine/host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/host/cgroup_file.h"
#include "engine/host/cgroup_rights.h"

static const char *const controller_names[FH_CG_COUNT_] = { "memory", "pids", "cpu", "cpuacct" };

/* Whether `word` is an element of `list`. */
static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t n = strlen(word);
	for (const char *p = list; *p;) {
		size_t part = strcspn(p, separators);
		if (part == n && memcmp(p, word, n) == 0)
			return true;
		p += part + (p[part] != 0);
	}
	return false;
}

/* ----------------------------------------------------------------------------------------------- where we stand */

struct hierarchy {
	bool v2;
	char controllers[512]; /* v1: the mount options, which name the controllers */
	char root[256];        /* our group's path relative to the group that is mounted at `mount` */
	char mount[256];
	char ours[384]; /* folder of our own group; "": our group is not visible under this mount */
};

enum { HIERARCHIES_MAX = 32 };

/* One line of mountinfo is: id parent major:minor root mount options … - type source super-options (proc(5)). */
static size_t read_mounts(struct hierarchy *h)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[2048];
	size_t n = 0;
	while (f && n < HIERARCHIES_MAX && fgets(line, sizeof(line), f)) {
		char root[256], mount[256], type[32], super[512];
		const char *dash = strstr(line, " - ");
		if (!dash || sscanf(line, "%*s %*s %*s %255s %255s", root, mount) != 2 ||
		    sscanf(dash, " - %31s %*s %511s", type, super) != 2)
			continue;
		bool v2 = fh_streq(type, "cgroup2");
		if (!v2 && !fh_streq(type, "cgroup"))
			continue;
		h[n] = (struct hierarchy){ .v2 = v2 };
		snprintf(h[n].controllers, sizeof(h[n].controllers), "%s", v2 ? "" : super);
		memcpy(h[n].root, root, sizeof(root));
		memcpy(h[n].mount, mount, sizeof(mount));
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* Fills `ours`. A line of /proc/self/cgroup is id:controllers:path, and "0::path" for v2. */
static void read_own_groups(struct hierarchy *h, size_t n)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[1024];
	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(++controllers, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		for (size_t i = 0; i < n; i++) {
			bool match = h[i].v2 ? !controllers[0] : false;
			for (int c = 0; !h[i].v2 && c < FH_CG_COUNT_; c++)
				match = match || (has_word(controllers, controller_names[c], ",") &&
				                  has_word(h[i].controllers, controller_names[c], ","));
			if (!match || h[i].ours[0])
				continue;
			size_t skip = fh_streq(h[i].root, "/") ? 0 : strlen(h[i].root);
			if (strncmp(path, h[i].root, skip) != 0)
				continue; /* our group is not below the part that is mounted */
			const char *below = path + skip;
			if (strncmp(below, "/..", 3) == 0) /* our group is not below the root of our cgroup namespace either */
				continue;
			snprintf(h[i].ours, sizeof(h[i].ours), "%.250s%.128s", h[i].mount, fh_streq(below, "/") ? "" : below);
		}
	}
	if (f)
		fclose(f);
}

enum { FIRST_TIME_NAMESPACE = 0xeffffffa }; /* PROC_TIME_INIT_INO, the inode of the host's time namespace */

/* The number of the namespaces in which our process ids and start times are valid: the inode of our pid namespace and,
 * outside the host's time namespace, that one's inode in the upper half, since the kernel shifts start times there. */
static bool our_namespace(unsigned long long *ret)
{
	struct stat pids, times;
	if (stat("/proc/self/ns/pid", &pids) < 0)
		return false;
	*ret = (unsigned long long)pids.st_ino;
	if (stat("/proc/self/ns/time", &times) == 0 && times.st_ino != (ino_t)(unsigned)FIRST_TIME_NAMESPACE)
		*ret |= (unsigned long long)times.st_ino << 32;
	return true;
}

/* Writes the name "fumehood-NS-PID-STARTTIME" of a process in our pid namespace; false when it does not exist. A zombie
 * counts as not existing: it may stay until its parent reaps it, and manages no groups. */
static bool engine_name(pid_t pid, char *ret, size_t size)
{
	char path[64], line[1024];
	unsigned long long ns;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!our_namespace(&ns) || !fh_cgroup_text(AT_FDCWD, path, line, sizeof(line)))
		return false;
	const char *p = strrchr(line, ')');
	unsigned long long start = 0;
	char state;
	if (!p ||
	    sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
	           &start) != 2 ||
	    state == 'Z' || state == 'X')
		return false;
	snprintf(ret, size, "fumehood-%llu-%d-%llu", ns, (int)pid, start);
	return true;
}

/* ---------------------------------------------------------------------------------------------------- taking hold */

/* A child group for the processes of a group that hands its controllers down. */
#define HOST_LEAF "fumehood-host"

static bool make_folder(const char *dir, const char *name, char *ret, size_t size)
{
	if ((size_t)snprintf(ret, size, "%s/%s", dir, name) >= size)
		return false;
	return mkdir(ret, 0755) == 0 || errno == EEXIST;
}

/* On v2, a group that has processes cannot hand controllers down. Moves the processes of a group that is ours
 * (cgroup_rights.h) into a child group. */
static void move_processes_down(const char *dir)
{
	char leaf[512], from[512], to[512], line[32];
	if (!make_folder(dir, HOST_LEAF, leaf, sizeof(leaf)))
		return;
	snprintf(from, sizeof(from), "%.490s/cgroup.procs", dir);
	snprintf(to, sizeof(to), "%.490s/cgroup.procs", leaf);
	for (int round = 0; round < 8; round++) { /* new processes may appear meanwhile */
		FILE *f = fopen(from, "re");
		bool moved = false;
		while (f && fgets(line, sizeof(line), f))
			moved = fh_cgroup_put(AT_FDCWD, to, line) == 0 || moved;
		if (f)
			fclose(f);
		if (!moved)
			break;
	}
}

/* Whether controllers can safely be switched on in dir. This is not so while dir has processes: the kernel would refuse
 * memory but accept pids and cpu, which turns dir into a threaded domain and every group below it into one that no
 * process may enter (cgroup-v2.rst, Threads). The root of the hierarchy, the only group without a type, is exempt. */
static bool may_switch_on(const char *dir)
{
	char path[512], text[32];
	snprintf(path, sizeof(path), "%.480s/cgroup.type", dir);
	if (access(path, F_OK) < 0)
		return errno == ENOENT;
	if (!fh_cgroup_text(AT_FDCWD, path, text, sizeof(text)) || !has_word(text, "domain", "\n"))
		return false;
	snprintf(path, sizeof(path), "%.480s/cgroup.procs", dir);
	return fh_cgroup_text(AT_FDCWD, path, text, sizeof(text)) && !text[0];
}

static bool is_available(const char *dir, const char *controller)
{
	char path[512], list[256];
	snprintf(path, sizeof(path), "%.480s/cgroup.controllers", dir);
	return fh_cgroup_text(AT_FDCWD, path, list, sizeof(list)) && has_word(list, controller, " \n");
}

static bool hands_down(const char *dir, const char *controller)
{
	char path[512], list[256], word[64];
	if (!is_available(dir, controller))
		return false;
	snprintf(path, sizeof(path), "%.480s/cgroup.subtree_control", dir);
	if (fh_cgroup_text(AT_FDCWD, path, list, sizeof(list)) && has_word(list, controller, " \n"))
		return true;
	snprintf(word, sizeof(word), "+%s", controller);
	return may_switch_on(dir) && fh_cgroup_put(AT_FDCWD, path, word) == 0;
}

/* Uses the v2 hierarchy below dir. Returns true if at least one controller can be handed down to our folder. */
static bool open_v2_at(struct fh_cgroup_host *h, const char *dir, const char *name, bool may_move)
{
	static const enum fh_controller wanted[] = { FH_CG_MEMORY, FH_CG_PIDS, FH_CG_CPU };
	char ours[512];
	bool have[FH_CG_COUNT_] = { false }, any = false, all = false;
	if (access(dir, W_OK) < 0)
		return false;
	for (int pass = 0; pass < (may_move ? 2 : 1) && !all; pass++) {
		if (pass == 1)
			move_processes_down(dir);
		all = true;
		for (size_t i = 0; i < FH_ARRAY_SIZE(wanted); i++) {
			const char *controller = controller_names[wanted[i]];
			have[wanted[i]] = h->version[wanted[i]] == 0 && hands_down(dir, controller);
			any = any || have[wanted[i]];
			all = all && (have[wanted[i]] || h->version[wanted[i]] || !is_available(dir, controller));
		}
	}
	if (!any || !make_folder(dir, name, ours, sizeof(ours)))
		return false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(wanted); i++)
		if (have[wanted[i]] && hands_down(ours, controller_names[wanted[i]])) {
			h->version[wanted[i]] = 2;
			snprintf(h->parent[wanted[i]], sizeof(h->parent[0]), "%s", ours);
		}
	/* every v2 group has cpu.stat, whatever its controllers */
	if (h->version[FH_CG_CPUACCT] == 0) {
		h->version[FH_CG_CPUACCT] = 2;
		snprintf(h->parent[FH_CG_CPUACCT], sizeof(h->parent[0]), "%s", ours);
	}
	return true;
}

static void open_v2(struct fh_cgroup_host *h, const struct hierarchy *v2, const char *name)
{
	/* As root: the top of what is mounted, where a service manager keeps no processes, so none have to be moved.
	 * Otherwise, or if that fails: the group that is ours. */
	if (geteuid() == 0 && open_v2_at(h, v2->mount, name, false))
		return;
	if (!v2->ours[0])
		return;
	char dir[384];
	snprintf(dir, sizeof(dir), "%s", v2->ours);
	/* An earlier engine may have moved us one level down; our groups still belong beside that level. */
	char *slash = strrchr(dir, '/');
	if (slash && fh_streq(slash + 1, HOST_LEAF))
		*slash = 0;
	/* In a container, the mount shows the container's own namespace, or only its own group. */
	bool top_is_root = fh_streq(v2->root, "/") || fh_streq(v2->ours, v2->mount);
	int up = fh_cgroup_find_ours(dir, v2->mount, top_is_root);
	if (up != FH_CGROUP_NOT_OURS)
		open_v2_at(h, dir, name,
		           up == 0); /* processes of a group above our own may belong to others, so they are not moved */
}

static void open_v1(struct fh_cgroup_host *h, const struct hierarchy *v1, const char *name)
{
	const char *dir = v1->ours[0] ? v1->ours : v1->mount;
	if (access(dir, W_OK) < 0)
		return;
	snprintf(h->prefix, sizeof(h->prefix), "%s.", name);
	if (has_word(v1->controllers, "freezer", ","))
		snprintf(h->freezer, sizeof(h->freezer), "%s", dir);
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (h->version[c] == 0 && has_word(v1->controllers, controller_names[c], ",")) {
			h->version[c] = 1;
			snprintf(h->parent[c], sizeof(h->parent[c]), "%s", dir);
		}
}

void fh_cgroup_host_open(struct fh_cgroup_host *h)
{
	struct hierarchy all[HIERARCHIES_MAX];
	char name[96];
	*h = (struct fh_cgroup_host){ .made = true };
	size_t n = read_mounts(all);
	if (n == 0) {
		snprintf(h->why_not, sizeof(h->why_not), "no cgroup file system is mounted");
		return;
	}
	if (!engine_name(getpid(), name, sizeof(name))) {
		snprintf(h->why_not, sizeof(h->why_not), "/proc is not readable");
		return;
	}
	read_own_groups(all, n);
	bool pure = true;
	for (size_t i = 0; i < n; i++)
		pure = pure && all[i].v2;
	for (size_t i = 0; i < n; i++) {
		if (!all[i].v2)
			open_v1(h, &all[i], name);
		else if (pure)
			open_v2(h, &all[i], name);
	}
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (h->version[c])
			return;
	if (pure)
		snprintf(h->why_not, sizeof(h->why_not),
		         "no cgroup is delegated to this user (systemd-run %s--scope -p Delegate=yes … delegates one)",
		         geteuid() == 0 ? "" : "--user ");
	else
		snprintf(h->why_not, sizeof(h->why_not), "the cgroup hierarchies are not writable for this user");
}

void fh_cgroup_host_close(struct fh_cgroup_host *h)
{
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (h->version[c] == 2)
			rmdir(h->parent[c]); /* controllers may share a folder; the second rmdir then fails with ENOENT */
	h->made = false;
}

/* --------------------------------------------------------------------------------------------------- cleaning up */

static void kill_all_in(const char *dir)
{
	char path[512], line[32];
	snprintf(path, sizeof(path), "%.480s/cgroup.kill", dir);
	if (fh_cgroup_put(AT_FDCWD, path, "1") == 0)
		return;
	snprintf(path, sizeof(path), "%.480s/cgroup.procs", dir);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		pid_t pid = (pid_t)atol(line);
		if (pid > 1 && pid != getpid())
			kill(pid, SIGKILL);
	}
	if (f)
		fclose(f);
}

/* Removes dir and the groups in it, killing their processes. Gives up after about a second. */
static bool remove_tree(const char *dir)
{
	bool gone = true;
	for (int try = 0; try < 100; try++) {
		DIR *d = opendir(dir);
		if (!d)
			return errno == ENOENT;
		for (struct dirent *e; (e = readdir(d));) {
			char path[512];
			if (e->d_type != DT_DIR || e->d_name[0] == '.')
				continue;
			if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < sizeof(path))
				remove_tree(path);
		}
		closedir(d);
		if (rmdir(dir) == 0 || errno == ENOENT)
			return gone;
		if (errno != EBUSY)
			return false;
		kill_all_in(dir);
		fh_sleep_ns(10 * FH_NS_PER_MS);
	}
	return false;
}

/* A process frozen by v1 does not die from SIGKILL, so the group is thawed before processes are killed. The file exists
 * on v1 only. */
static void thaw(const char *dir)
{
	char path[560];
	snprintf(path, sizeof(path), "%.480s/freezer.state", dir);
	(void)fh_cgroup_put(AT_FDCWD, path, "THAWED");
}

/* Whether a folder is the engine's own (v2) or a group whose name begins with the engine's (v1). */
static bool is_of_engine(const char *folder, const char *engine)
{
	size_t n = strlen(engine);
	return strncmp(folder, engine, n) == 0 && (folder[n] == 0 || folder[n] == '.');
}

/* Whether the engine that a folder is named after is dead. False for folders of other namespaces, about which we cannot
 * tell. */
static bool is_orphan(const char *folder)
{
	unsigned long long ns, start, ours;
	int pid;
	char now[96];
	if (sscanf(folder, "fumehood-%llu-%d-%llu", &ns, &pid, &start) != 3 || !our_namespace(&ours) || ns != ours)
		return false;
	return !engine_name(pid, now, sizeof(now)) || !is_of_engine(folder, now);
}

static size_t sweep_folder(const char *place, bool (*wanted)(const char *folder, const char *argument),
                           const char *argument, bool only_thaw)
{
	size_t removed = 0;
	DIR *d = opendir(place);
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[512];
		if (e->d_type != DT_DIR || !wanted(e->d_name, argument) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", place, e->d_name) >= sizeof(path))
			continue;
		if (only_thaw)
			thaw(path);
		else
			removed += remove_tree(path);
	}
	if (d)
		closedir(d);
	return removed;
}

static size_t sweep(bool (*wanted)(const char *folder, const char *argument), const char *argument)
{
	struct hierarchy all[HIERARCHIES_MAX];
	size_t n = read_mounts(all), removed = 0;
	read_own_groups(all, n);
	for (size_t i = 0; i < n; i++)
		if (has_word(all[i].controllers, "freezer", ","))
			(void)sweep_folder(all[i].ours[0] ? all[i].ours : all[i].mount, wanted, argument, true);
	for (size_t i = 0; i < n; i++) {
		/* From our own group up to the top of the mount: v1 groups are in our own, v2 groups may be on any level
		 * (open_v2). */
		char place[384];
		snprintf(place, sizeof(place), "%s", all[i].ours[0] ? all[i].ours : all[i].mount);
		for (;;) {
			removed += sweep_folder(place, wanted, argument, false);
			char *slash = strrchr(place, '/');
			if (!slash || strlen(place) <= strlen(all[i].mount))
				break;
			*slash = 0;
		}
	}
	return removed;
}

static bool wanted_orphan(const char *folder, const char *argument)
{
	(void)argument;
	return is_orphan(folder);
}

static bool wanted_name(const char *folder, const char *argument)
{
	return is_of_engine(folder, argument);
}

size_t fh_cgroup_collect(void)
{
	return sweep(wanted_orphan, NULL);
}

size_t fh_cgroup_remove_engine(const char *name)
{
	return sweep(wanted_name, name);
}

bool fh_cgroup_engine_name_of(pid_t pid, char *ret, size_t size)
{
	return engine_name(pid, ret, size);
}
