/* SPDX-License-Identifier: MIT */
/* What of ours is on the host: an engine's descriptors, memory and processes, mounts, control groups, files. */
#include "soak.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const host_names[HOST_COUNT] = {
	"engine_descriptors", "engine_kib", "processes", "mounts", "groups", "files", "own_descriptors"
};

static long count_entries(const char *path, const char *part)
{
	long n = 0;
	DIR *d = opendir(path);
	if (!d)
		return -1;
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.' && strstr(e->d_name, part) && !strstr(e->d_name, "fumehood-test");
	closedir(d);
	return n;
}

static bool read_stat(pid_t pid, char *name, size_t size, pid_t *ret_parent)
{
	char path[64], line[512], state;
	int parent = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, sizeof(line), f);
	if (f)
		fclose(f);
	char *open = ok ? strchr(line, '(') : NULL, *close = ok ? strrchr(line, ')') : NULL;
	if (!open || !close || sscanf(close + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
		return false;
	*close = 0;
	snprintf(name, size, "%s", open + 1);
	*ret_parent = parent;
	return true;
}

struct seen {
	pid_t pid, parent;
	bool below;
};

/* Processes below `root`, itself not counted; with a name, the first child of that name instead. */
static long look_at_processes(pid_t root, const char *name, pid_t *ret_child)
{
	struct seen *all = NULL;
	size_t n = 0, capacity = 0;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		char comm[64];
		struct seen s = { .pid = (pid_t)atoi(e->d_name) };
		if (s.pid <= 0 || !read_stat(s.pid, comm, sizeof(comm), &s.parent))
			continue;
		if (name && s.parent == root && fh_streq(comm, name))
			*ret_child = s.pid;
		FH_PUSH(all, n, capacity) = s;
	}
	if (d)
		closedir(d);
	long below = 0;
	for (bool grew = true; grew;) {
		grew = false;
		for (size_t i = 0; i < n; i++) {
			bool child = all[i].parent == root;
			for (size_t k = 0; !child && k < n; k++)
				child = all[k].below && all[k].pid == all[i].parent;
			if (child && !all[i].below) {
				all[i].below = grew = true;
				below++;
			}
		}
	}
	free(all);
	return below;
}

pid_t host_engine(void)
{
	pid_t engine = 0;
	(void)look_at_processes(getpid(), "fumehood-engine", &engine);
	return engine;
}

/* Groups below /sys/fs/cgroup that bear the engine's name, or lie in one that does. */
static long count_groups(const char *path, const char *engine, bool ours, int depth)
{
	long n = 0;
	DIR *d = depth ? opendir(path) : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		char below[1024];
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		bool its = ours || strstr(e->d_name, engine);
		snprintf(below, sizeof(below), "%.700s/%.255s", path, e->d_name);
		n += its + count_groups(below, engine, its, depth - 1);
	}
	if (d)
		closedir(d);
	return n;
}

static long read_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "VmRSS: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

static long count_lines(const char *path)
{
	long n = 0;
	FILE *f = fopen(path, "re");
	for (int c; f && (c = getc(f)) != EOF;)
		n += c == '\n';
	if (f)
		fclose(f);
	return f ? n : -1;
}

/* Of this user: others on the machine may run tests of their own. */
static long count_own_files(const char *folder)
{
	long n = 0;
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (strstr(e->d_name, "fumehood") && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			n += st.st_uid == geteuid();
	}
	if (d)
		closedir(d);
	return n;
}

void host_look(pid_t engine, struct host *ret)
{
	static const char *const folders[] = { "/tmp", "/var/tmp", "/dev/shm", "/run" };
	char path[64], name[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)engine);
	snprintf(name, sizeof(name), "-%d-", (int)engine);
	*ret = (struct host){
		.engine_descriptors = count_entries(path, ""),
		.engine_kib = read_kib(engine),
		.processes = look_at_processes(engine, NULL, NULL),
		.mounts = count_lines("/proc/self/mountinfo"),
		.groups = count_groups("/sys/fs/cgroup", name, false, 12),
		.own_descriptors = count_entries("/proc/self/fd", ""),
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(folders); i++)
		ret->files += count_own_files(folders[i]);
}
