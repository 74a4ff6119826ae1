/* SPDX-License-Identifier: MIT */
/* The neighbour: keeps things of every kind that has a name, and says which of them is not as it was. */
#include "hunt.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20, TEXT_MAX = 16384, KEY = 0x48554e54, PAGE = 4096 };

static volatile sig_atomic_t signals_seen[65], signal_from[65];

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	signals_seen[number]++;
	signal_from[number] = info->si_pid;
}

/* Not those that something of its own sends, nor those of libc. */
static void take_signals(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	for (int s = 1; s <= 64; s++)
		if (s != SIGKILL && s != SIGSTOP && s != SIGCHLD && s != SIGPIPE && s != SIGSEGV && s != SIGBUS &&
		    s != SIGPROF && s != SIGVTALRM && s != 32 && s != 33)
			sigaction(s, &action, NULL);
}

/* What the kernel says of this process, and nobody but itself may change. */
static const char *const constant[] = { "limits",    "oom_score_adj", "cgroup",         "mountinfo",
	                                    "uid_map",   "gid_map",       "attr/current",   "loginuid",
	                                    "sessionid", "personality",   "coredump_filter" };
static const char *const namespaces[] = { "ns/ipc", "ns/mnt",    "ns/net", "ns/pid", "ns/user",
	                                      "ns/uts", "ns/cgroup", "root",   "cwd" };
enum { CONSTANTS = sizeof(constant) / sizeof(constant[0]), NAMESPACES = sizeof(namespaces) / sizeof(namespaces[0]) };

static struct state {
	char files[CONSTANTS][TEXT_MAX];
	char links[NAMESPACES][256];
	char names[3][TEXT_MAX]; /* of files in the folders */
	unsigned processes, descriptors;
} before, now;

static const char *const folders[] = { ".", "/tmp", "/dev/shm" };
static char *kept; /* private memory */
static int queue = -1, semaphores = -1, memory = -1, tcp = -1, udp = -1, named = -1, tube[2] = { -1, -1 };
static char *segment;

static void read_file(const char *name, char text[TEXT_MAX])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT_MAX - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static unsigned count_names(const char *folder, bool numbers, char *text)
{
	DIR *d = opendir(folder);
	unsigned n = 0;
	size_t at = 0;
	struct dirent *e;
	while (d && (e = readdir(d))) {
		bool number = e->d_name[0] >= '0' && e->d_name[0] <= '9';
		n += !numbers || number;
		if (text && at < TEXT_MAX - 300)
			at += (size_t)sprintf(text + at, "%s\n", e->d_name);
	}
	if (d)
		closedir(d);
	return n;
}

static void look(struct state *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < CONSTANTS; i++)
		read_file(constant[i], s->files[i]);
	for (size_t i = 0; i < NAMESPACES; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/%s", namespaces[i]);
		if (readlink(path, s->links[i], sizeof(s->links[i]) - 1) < 0)
			s->links[i][0] = '\0';
	}
	for (size_t i = 0; i < 3; i++)
		count_names(folders[i], false, s->names[i]);
	s->processes = count_names("/proc", true, NULL);
	s->descriptors = count_names("/proc/self/fd", true, NULL);
}

static void put(const char *path, const char *mark)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0 && write(fd, mark, HUNT_MARK) != HUNT_MARK)
		dprintf(1, "note: %s is not written\n", path);
	if (fd >= 0)
		close(fd);
}

static bool is_there(const char *path, const char *mark)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return n == HUNT_MARK && memcmp(text, mark, HUNT_MARK) == 0;
}

static void keep(const struct hunt_words *w)
{
	struct {
		long type;
		char text[HUNT_MARK];
	} message = { .type = 1 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(4242), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "\0hunt-watch" };
	kept = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(kept, 'k', PAGE);
	put("watch.txt", w->mark);
	put("/tmp/watch.txt", w->mark);
	put("/dev/shm/watch.txt", w->mark);
	memory = shmget(KEY, PAGE, IPC_CREAT | 0666);
	segment = memory < 0 ? NULL : shmat(memory, NULL, 0);
	if (segment == (void *)-1)
		segment = NULL;
	if (segment)
		memset(segment, 's', PAGE);
	semaphores = semget(KEY, 2, IPC_CREAT | 0666);
	if (semaphores >= 0)
		semctl(semaphores, 0, SETVAL, 7);
	queue = msgget(KEY, IPC_CREAT | 0666);
	memcpy(message.text, w->mark, HUNT_MARK);
	if (queue >= 0 && msgsnd(queue, &message, HUNT_MARK, IPC_NOWAIT) < 0)
		queue = -1;
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	named = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (bind(tcp, (struct sockaddr *)&in, sizeof(in)) < 0 || listen(tcp, 8) < 0 ||
	    bind(udp, (struct sockaddr *)&in, sizeof(in)) < 0 ||
	    bind(named, (struct sockaddr *)&un, offsetof(struct sockaddr_un, sun_path) + 11) < 0 || listen(named, 8) < 0)
		dprintf(1, "note: the watching neighbour has not all of its sockets\n");
	if (pipe2(tube, O_NONBLOCK | O_CLOEXEC) == 0 && write(tube[1], w->mark, HUNT_MARK) < 0)
		tube[0] = -1;
}

static bool is_filled(const char *page, char c)
{
	for (size_t i = 0; page && i < PAGE; i++)
		if (page[i] != c)
			return false;
	return true;
}

static const char *touched(const struct hunt_words *w, char text[300])
{
	char byte;
	struct msqid_ds q;
	struct shmid_ds m;
	for (int s = 1; s <= 64; s++)
		if (signals_seen[s]) {
			snprintf(text, 300, "signal %d from process %d", s, (int)signal_from[s]);
			return text;
		}
	if (!is_filled(kept, 'k'))
		return "private memory";
	if (!is_filled(segment, 's'))
		return "SysV memory";
	if (memory >= 0 && (shmctl(memory, IPC_STAT, &m) < 0 || m.shm_nattch != 1))
		return "who has its SysV memory";
	if (semaphores >= 0 && semctl(semaphores, 0, GETVAL) != 7)
		return "SysV semaphores";
	if (queue >= 0 && (msgctl(queue, IPC_STAT, &q) < 0 || q.msg_qnum != 1))
		return "SysV messages";
	if (accept(tcp, NULL, NULL) >= 0 || accept(named, NULL, NULL) >= 0)
		return "somebody connected to its sockets";
	if (recv(udp, &byte, 1, MSG_DONTWAIT) >= 0)
		return "somebody sent to its sockets";
	for (size_t i = 0; i < 3; i++) {
		char path[32];
		snprintf(path, sizeof(path), "%s/watch.txt", folders[i]);
		if (!is_there(path, w->mark))
			return "its files";
	}
	look(&now);
	for (size_t i = 0; i < CONSTANTS; i++)
		if (strcmp(before.files[i], now.files[i]) != 0)
			return constant[i];
	for (size_t i = 0; i < NAMESPACES; i++)
		if (strcmp(before.links[i], now.links[i]) != 0)
			return namespaces[i];
	for (size_t i = 0; i < 3; i++)
		if (strcmp(before.names[i], now.names[i]) != 0)
			return "the names in its folders";
	if (before.processes != now.processes)
		return "the number of its processes";
	return before.descriptors != now.descriptors ? "the number of its descriptors" : NULL;
}

void hunt_watch(const struct hunt_words *w)
{
	static char text[300];
	const char *what = NULL;
	unsigned looks = 0;
	take_signals();
	keep(w);
	look(&before);
	for (unsigned ms = 0; ms < w->batches && !what; ms += LOOK_MS, looks++) {
		nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000 }, NULL);
		what = touched(w, text);
	}
	char kept_text[64] = "";
	if (!what && tube[0] >= 0 &&
	    (read(tube[0], kept_text, sizeof(kept_text)) != HUNT_MARK || memcmp(kept_text, w->mark, HUNT_MARK) != 0))
		what = "what was in its pipe";
	if (what)
		dprintf(1, "\nESCAPED the neighbour was touched: %s\n", what);
	dprintf(1, "\nwatched %u looks\n", looks);
}
