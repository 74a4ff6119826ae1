/* SPDX-License-Identifier: MIT */
/*
 * The census: every kernel object that this process can name, a line each, and what tells it from others of its kind:
 *
 *     KIND \t NAME \t IDENTITY \t ACCESS
 *
 * Two sandboxes that print an equal IDENTITY of one KIND can both name one object
 * (tests/sandbox/isolation/test_census.py). It opens what it looks at and changes nothing.
 */
#include "hunt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 16, DEPTH_MAX = 8 };

static FILE *out;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const char *kind, const char *name, const char *identity, const char *access)
{
	fprintf(out, "%s\t%s\t%s\t%s\n", kind, name, identity, access);
}

static char *read_whole(const char *path)
{
	static char text[TEXT_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t n = 0;
	ssize_t r;
	while (fd >= 0 && n < TEXT_MAX - 1 && (r = read(fd, text + n, TEXT_MAX - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

/* What of fdinfo tells one object from another: not its position, flags or mount. */
static void add_numbers(char *identity, size_t size, int fd)
{
	char path[64], *rest, *line;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	for (line = strtok_r(read_whole(path), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "eventfd-id", 10) == 0 || strncmp(line, "Pid:", 4) == 0)
			snprintf(identity + strlen(identity), size - strlen(identity), " %s", line);
}

static void descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		char path[64], link[512], identity[128], name[16];
		struct stat st;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n < 0 || fd == fileno(out) || fstat(fd, &st) < 0)
			continue;
		link[n] = '\0';
		snprintf(identity, sizeof(identity), "%llx:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
		if (strncmp(link, "anon_inode:", 11) ==
		    0) /* one inode for all of them; those without a number have no identity */
			snprintf(identity, sizeof(identity), "%.64s", link);
		size_t before = strlen(identity);
		add_numbers(identity, sizeof(identity), fd);
		if (link[0] == 'a' && strlen(identity) == before)
			snprintf(identity, sizeof(identity), "?");
		snprintf(name, sizeof(name), "%d", fd);
		say("descriptor", link, identity, name);
	}
}

static void mappings(void)
{
	char *rest, *line;
	for (line = strtok_r(read_whole("/proc/self/maps"), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char permissions[8], device[32], inode[32], path[512] = "";
		if (sscanf(line, "%*s %7s %*s %31s %31s %511[^\n]", permissions, device, inode, path) < 3 ||
		    permissions[3] != 's')
			continue;
		char identity[80];
		snprintf(identity, sizeof(identity), "%s:%s", device, inode);
		say("shared mapping", path, identity, permissions);
	}
}

static void namespaces(void)
{
	DIR *d = opendir("/proc/self/ns");
	struct dirent *e;
	while (d && (e = readdir(d))) {
		char path[300], link[128];
		snprintf(path, sizeof(path), "/proc/self/ns/%s", e->d_name);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n < 0)
			continue;
		link[n] = '\0';
		say("namespace", e->d_name, link, "");
	}
	if (d)
		closedir(d);
}

static void mounts(void)
{
	char *rest, *line;
	for (line = strtok_r(read_whole("/proc/self/mountinfo"), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char device[32], target[512], options[256], *type = strstr(line, " - ");
		if (!type || sscanf(line, "%*s %*s %31s %*s %511s %255s", device, target, options) != 3)
			continue;
		char identity[128], kind[64] = "";
		sscanf(type + 3, "%63s", kind);
		snprintf(identity, sizeof(identity), "%s %s", kind, device);
		say("mount", target, identity, strncmp(options, "ro", 2) == 0 ? "ro" : "rw");
	}
}

/* Lines behind a heading: objects that a list of the kernel's shows. */
static void lists(void)
{
	static const struct {
		const char *kind, *path;
		int heading;
	} all[] = {
		{ "SysV object", "/proc/sysvipc/shm", 1 },
		{ "SysV object", "/proc/sysvipc/sem", 1 },
		{ "SysV object", "/proc/sysvipc/msg", 1 },
		{ "key", "/proc/keys", 0 },
		{ "key", "/proc/key-users", 0 },
		{ "socket", "/proc/net/unix", 1 },
		{ "socket", "/proc/net/tcp", 1 },
		{ "socket", "/proc/net/tcp6", 1 },
		{ "socket", "/proc/net/udp", 1 },
		{ "socket", "/proc/net/udp6", 1 },
		{ "socket", "/proc/net/packet", 1 },
		{ "socket", "/proc/net/raw", 1 },
		{ "lock", "/proc/locks", 0 },
		{ "control group", "/proc/self/cgroup", 0 },
		{ "control group file", "/sys/fs/cgroup/cgroup.procs", 0 },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *rest, *line = strtok_r(read_whole(all[i].path), "\n", &rest);
		for (int n = 0; line; line = strtok_r(NULL, "\n", &rest), n++)
			if (n >= all[i].heading)
				say(all[i].kind, all[i].path, line, "");
	}
}

/* Nodes, pipes and sockets in folders, and every file of /proc and /sys that may be opened for writing. */
static void walk(const char *folder, int depth)
{
	DIR *d = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *e;
	while (d && (e = readdir(d))) {
		char path[1024], identity[64];
		struct stat st;
		int top = strcmp(folder, "/proc") == 0;
		if (e->d_name[0] == '.' || (top && ((e->d_name[0] >= '0' && e->d_name[0] <= '9') ||
		                                    strcmp(e->d_name, "self") == 0 || strcmp(e->d_name, "thread-self") == 0)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			walk(path, depth + 1);
			continue;
		}
		snprintf(identity, sizeof(identity), "%llx:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
		if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
			say("node", path, identity, "");
			continue;
		}
		int fd =
		    S_ISREG(st.st_mode) && strncmp(folder, "/dev", 4) != 0 ? open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK) : -1;
		if (fd >= 0) {
			say("writable file", path, identity, "");
			close(fd);
		}
	}
	if (d)
		closedir(d);
}

void hunt_census(const struct hunt_words *w)
{
	char *text = NULL, times[64];
	size_t size = 0;
	double began = seconds();
	out = open_memstream(&text, &size);
	if (!out)
		return;
	descriptors();
	mappings();
	namespaces();
	mounts();
	lists();
	walk("/dev", 0);
	walk("/proc", 0);
	walk("/sys", 0);
	walk("/run", 0);
	fflush(out);
	nanosleep(&(struct timespec){ w->batches / 1000, (long)(w->batches % 1000) * 1000000 }, NULL);
	snprintf(times, sizeof(times), "%.6f %.6f", began, seconds());
	say("time", "", times, "");
	fclose(out);
	for (size_t at = 0; at < size;) {
		ssize_t n = write(1, text + at, size - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	free(text);
}
