/* SPDX-License-Identifier: MIT */
/* Files: too many, too large, too deep, and not what they seem. */
#include "../attack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { MIB = 1 << 20 };

/* Arguments: MiB that are too much, a folder. */
static void fill(char **args)
{
	static char block[MIB];
	char path[256];
	int most = atoi(argument(args, 0, "64")), n = 0;
	for (; n < most; n++) {
		snprintf(path, sizeof(path), "%s/fill.%d", argument(args, 1, "."), n);
		int fd = open(path, O_WRONLY | O_CREAT, 0600);
		if (fd < 0 || write(fd, block, MIB) != MIB)
			break;
		close(fd);
	}
	if (n >= most)
		escaped("%d MiB written", n);
	else
		held("%d MiB: %s", n, strerror(errno));
}

static void inodes(char **args)
{
	char path[64];
	int most = atoi(argument(args, 0, "100000")), n = 0;
	for (; n < most; n++) {
		snprintf(path, sizeof(path), "i%d", n);
		if (n % 2 ? mkdir(path, 0700) < 0 : symlink("/", path) < 0)
			break;
	}
	if (n >= most)
		escaped("%d inodes", n);
	else
		held("%d inodes: %s", n, strerror(errno));
}

/* Space that is asked for at once: allocated, it counts; a hole costs nothing. */
static void allocate(char **args)
{
	long bytes = atol(argument(args, 0, "64")) * MIB;
	int fd = open("big", O_RDWR | O_CREAT, 0600);
	judge("fallocate", fallocate(fd, 0, 0, bytes));
	unlink("big");
	int hole = open("hole", O_RDWR | O_CREAT, 0600);
	(void)!ftruncate(hole, 1L << 40);
	struct stat st;
	if (fstat(hole, &st) == 0 && st.st_blocks > 2048)
		escaped("a hole takes %ld blocks", (long)st.st_blocks);
}

/* Places that are not the sandbox's own. */
static void elsewhere(char **args)
{
	static const char *const places[] = {
		"/",    "/usr", "/usr/bin", "/etc",  "/bin",  "/lib", "/dev",       "/proc",
		"/sys", "/run", "/var",     "/home", "/root", "/opt", "/proc/self", "/dev/pts"
	};
	char path[256];
	(void)args;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/fumehood-abuse", places[i]);
		int fd = open(path, O_WRONLY | O_CREAT, 0600);
		judge(path, fd);
		if (fd >= 0)
			unlink(path);
	}
}

/* What is hard to remove: folders in folders, long and odd names, no permissions. */
static void hard_to_remove(char **args)
{
	char name[256];
	int depth = 0;
	(void)args;
	memset(name, 'n', 255);
	name[255] = 0;
	while (depth < 500 && mkdir(name, 0700) == 0 && chdir(name) == 0)
		depth++;
	if (chdir("/home/user") < 0)
		return;
	static const char *const names[] = { "-rf", " ", "\n", "\x1b[2J", "\xff\xfe\x80", "*", "$(touch x)", "..." };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mkdir(names[i], 0) < 0)
			printf("note: %zu: %s\n", i, strerror(errno));
	held("%d deep", depth);
}

/* ----------------------------------------------------------------------------------------------------- files out */

/* Arguments: what kind of trap, its name, and what of the host it is to bring out. */
static void trap(char **args)
{
	const char *kind = argument(args, 0, "symlink"), *name = argument(args, 1, "out");
	const char *target = argument(args, 2, "/etc/passwd");
	int r = -1;
	unlink(name);
	if (strcmp(kind, "symlink") == 0)
		r = symlink(target, name);
	else if (strcmp(kind, "hardlink") == 0)
		r = link(target, name);
	else if (strcmp(kind, "fifo") == 0)
		r = mkfifo(name, 0666);
	else if (strcmp(kind, "folder") == 0)
		r = mkdir(name, 0777);
	else if (strcmp(kind, "magic") == 0)
		r = symlink("/proc/1/root/etc/passwd", name);
	else if (strcmp(kind, "device") == 0)
		r = symlink("/dev/zero", name);
	else if (strcmp(kind, "parent") == 0) { /* name is FOLDER/FILE: the folder is a link */
		char folder[256];
		snprintf(folder, sizeof(folder), "%s", name);
		*strrchr(folder, '/') = 0;
		r = symlink(target, folder);
	}
	held("trap %s: %s", kind, r < 0 ? strerror(errno) : "set");
}

/* A folder that is now one with our file in it, now a link to the host's: for whoever walks to FOLDER/out meanwhile.
 * Arguments: seconds, the folder of the host. */
static void swap(char **args)
{
	struct timespec t;
	double seconds = atof(argument(args, 0, "1"));
	mkdir("mine", 0777);
	int fd = open("mine/out", O_WRONLY | O_CREAT, 0666);
	(void)!write(fd, "mine\n", 5);
	close(fd);
	(void)!symlink(argument(args, 1, "/etc"), "theirs");
	(void)!rename("mine", "d");
	clock_gettime(CLOCK_MONOTONIC, &t);
	double end = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + seconds;
	do {
		for (int i = 0; i < 100; i++) { /* RENAME_EXCHANGE */
			(void)!renameat2(AT_FDCWD, "d", AT_FDCWD, "theirs", 2);
		}
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < end);
	struct stat st;
	if (lstat("d", &st) == 0 && S_ISLNK(st.st_mode))
		(void)!renameat2(AT_FDCWD, "d", AT_FDCWD, "theirs", 2);
	held("swapped");
}

/* A file that grows and shrinks. Argument: seconds. */
static void grow(char **args)
{
	static char block[65536];
	struct timespec t;
	double seconds = atof(argument(args, 0, "1"));
	memset(block, 'g', sizeof(block));
	int fd = open("out", O_RDWR | O_CREAT, 0666);
	clock_gettime(CLOCK_MONOTONIC, &t);
	double end = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + seconds;
	do {
		for (int i = 0; i < 32; i++)
			(void)!write(fd, block, sizeof(block));
		(void)!ftruncate(fd, 10);
		(void)!lseek(fd, 10, SEEK_SET);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < end);
	/* a child goes on for as long as it lives */
	if (fork() == 0)
		for (;;)
			(void)!write(fd, block, sizeof(block));
	held("grew");
}

static const struct attack attacks[] = {
	{ "fill", fill },
	{ "inodes", inodes },
	{ "allocate", allocate },
	{ "elsewhere", elsewhere },
	{ "hard_to_remove", hard_to_remove },
	{ "trap", trap },
	{ "swap", swap },
	{ "grow", grow },
};
ATTACKS(attacks)
