/* SPDX-License-Identifier: MIT */
/*
 * Channels between two sandboxes that are alive at the same time: `channels NAME send|receive KEY SECONDS`.
 *
 * The receiver says ESCAPED as soon as it perceives what the sender does. Both run for the seconds that are given. A
 * channel that cannot be set up is held.
 */
#include "channels.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

const char *channels_key_text;
double channels_end;
static int key;
static const char *shared_file = "/usr/bin/env"; /* read-only, of one inode for all sandboxes */

double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool time_is_left(void)
{
	struct timespec t = { 0, 2000000 };
	nanosleep(&t, NULL);
	return now() < channels_end;
}

void hold(const char *what, long result)
{
	if (result < 0)
		printf("note: %s: %s\n", what, strerror(errno));
	printf("ready\n");
	fflush(stdout);
	while (time_is_left())
		;
}

/* Looks until it sees something or the time is over. */
static void watch(const char *what, bool (*seen)(void))
{
	while (time_is_left())
		if (seen()) {
			escaped("%s: the neighbour was perceived", what);
			return;
		}
	held("%s: nothing perceived", what);
}

/* ---------------------------------------------------------------------------------------------------------- names */

static socklen_t abstract_name(struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "channel-%s", channels_key_text);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void abstract_send(void)
{
	struct sockaddr_un a;
	socklen_t n = abstract_name(&a);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	int r = bind(s, (struct sockaddr *)&a, n);
	hold("bind", r < 0 ? r : listen(s, 1));
}

static bool abstract_seen(void)
{
	struct sockaddr_un a;
	socklen_t n = abstract_name(&a);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	int r = connect(s, (struct sockaddr *)&a, n);
	close(s);
	return r == 0;
}

static struct sockaddr_in loopback(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)(20000 + key % 20000)) };
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static void loopback_send(void)
{
	struct sockaddr_in a = loopback();
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	int r = bind(s, (struct sockaddr *)&a, sizeof(a));
	hold("bind", r < 0 ? r : listen(s, 1));
}

static bool loopback_seen(void)
{
	struct sockaddr_in a = loopback();
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int r = connect(s, (struct sockaddr *)&a, sizeof(a));
	close(s);
	return r == 0;
}

static void shm_send(void)
{
	int id = shmget(key, 4096, IPC_CREAT | 0666);
	hold("shmget", id);
	shmctl(id, IPC_RMID, NULL);
}
static bool shm_seen(void)
{
	return shmget(key, 4096, 0) >= 0;
}

static void sem_send(void)
{
	int id = semget(key, 1, IPC_CREAT | 0666);
	hold("semget", id);
	semctl(id, 0, IPC_RMID);
}
static bool sem_seen(void)
{
	return semget(key, 1, 0) >= 0;
}

static void msg_send(void)
{
	int id = msgget(key, IPC_CREAT | 0666);
	hold("msgget", id);
	msgctl(id, IPC_RMID, NULL);
}
static bool msg_seen(void)
{
	return msgget(key, 0) >= 0;
}

static const char *queue_name(void)
{
	static char name[64];
	snprintf(name, sizeof(name), "/channel-%s", channels_key_text);
	return name;
}
static void mqueue_send(void)
{
	mode_t old = umask(0);
	struct mq_attr a = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	hold("mq_open", mq_open(queue_name(), O_RDWR | O_CREAT, 0666, &a));
	umask(old);
	mq_unlink(queue_name());
}
static bool mqueue_seen(void)
{
	return mq_open(queue_name(), O_RDONLY) >= 0 || errno == EACCES;
}

static const char *const folders[] = { "/tmp", "/dev/shm", "/var/tmp", "/home/user" };
static void folders_send(void)
{
	char path[128];
	int made = -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/channel-%s", folders[i], channels_key_text);
		int fd = open(path, O_WRONLY | O_CREAT, 0644);
		made = fd >= 0 ? fd : made;
	}
	hold("files", made);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/channel-%s", folders[i], channels_key_text);
		unlink(path);
	}
}
static bool folders_seen(void)
{
	char path[128];
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/channel-%s", folders[i], channels_key_text);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------------- shared inodes */

static void flock_send(void)
{
	int fd = open(shared_file, O_RDONLY);
	hold("flock", flock(fd, LOCK_EX));
}
static bool flock_seen(void)
{
	int fd = open(shared_file, O_RDONLY);
	int r = flock(fd, LOCK_SH | LOCK_NB);
	close(fd);
	return r < 0 && errno == EWOULDBLOCK;
}

static void record_lock_send(void)
{
	int fd = open(shared_file, O_RDONLY);
	struct flock l = { .l_type = F_RDLCK, .l_start = key, .l_len = 1 };
	hold("F_SETLK", fcntl(fd, F_SETLK, &l));
}
static bool record_lock_seen(void)
{
	int fd = open(shared_file, O_RDONLY);
	struct flock l = { .l_type = F_WRLCK, .l_start = key, .l_len = 1 };
	int r = fcntl(fd, F_GETLK, &l);
	close(fd);
	return r == 0 && l.l_type != F_UNLCK;
}

static void lease_send(void)
{
	int fd = open(shared_file, O_RDONLY);
	hold("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK));
}
static bool lease_seen(void)
{
	/* a lease is broken by an open for writing, which does not wait */
	int fd = open(shared_file, O_WRONLY | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EWOULDBLOCK;
}

static void inotify_send(void)
{
	printf("ready\n");
	fflush(stdout);
	while (time_is_left())
		close(open(shared_file, O_RDONLY));
}
static int inotify_fd = -1;
static bool inotify_seen(void)
{
	char events[4096];
	if (inotify_fd < 0) {
		inotify_fd = inotify_init1(IN_NONBLOCK);
		if (inotify_add_watch(inotify_fd, shared_file, IN_OPEN) < 0)
			return false;
	}
	return read(inotify_fd, events, sizeof(events)) > 0;
}

/* Whether a page of a shared file is in memory. The sender reads it and drops it again, in turns; the receiver
 * perceives that when it sees both. */
static off_t middle(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? st.st_size / 2 / 4096 * 4096 : 0;
}

static void cache_send(void)
{
	int fd = open(shared_file, O_RDONLY);
	struct timespec t = { 0, 30000000 };
	char byte;
	printf("ready\n");
	fflush(stdout);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* no reading ahead */
	while (now() < channels_end) {
		(void)!pread(fd, &byte, 1, middle(fd));
		nanosleep(&t, NULL);
		(void)posix_fadvise(fd, middle(fd), 4096, POSIX_FADV_DONTNEED);
		nanosleep(&t, NULL);
	}
}

static bool both(int state)
{
	static bool seen[2];
	if (state >= 0)
		seen[state] = true;
	return seen[0] && seen[1];
}

static bool cachestat_seen(void)
{
	int fd = open(shared_file, O_RDONLY);
	struct {
		unsigned long off, len;
	} range = { (unsigned long)middle(fd), 4096 };
	struct {
		unsigned long cache, dirty, writeback, evicted, recently;
	} state = { 0 };
	long r = syscall(451, fd, &range, &state, 0);
	close(fd);
	return both(r < 0 ? -1 : state.cache > 0);
}

static bool mincore_seen(void)
{
	unsigned char in = 0;
	int fd = open(shared_file, O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, middle(fd));
	int state = p != MAP_FAILED && mincore(p, 4096, &in) == 0 ? in & 1 : -1;
	if (p != MAP_FAILED)
		munmap(p, 4096);
	close(fd);
	return both(state);
}

/* A read that must not wait says whether it would have to. */
static bool nowait_seen(void)
{
	char byte;
	int fd = open(shared_file, O_RDONLY);
	struct iovec io = { &byte, 1 };
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	ssize_t r = preadv2(fd, &io, 1, middle(fd), 8 /* RWF_NOWAIT */);
	int state = r == 1 ? 1 : r < 0 && errno == EAGAIN ? 0 : -1;
	close(fd);
	return both(state);
}

/* Maps a page of the file and takes it away again. */
static void mapped_send(void)
{
	int fd = open(shared_file, O_RDONLY);
	struct timespec t = { 0, 30000000 };
	printf("ready\n");
	fflush(stdout);
	while (now() < channels_end) {
		volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, middle(fd));
		if (p != MAP_FAILED)
			(void)p[0];
		nanosleep(&t, NULL);
		if (p != MAP_FAILED)
			munmap((void *)(uintptr_t)p, 4096);
		nanosleep(&t, NULL);
	}
}

/* A program's own share of a page (PSS) says how many processes map that page. */
static bool mapped_seen(void)
{
	static volatile char *page;
	char line[256], head[32];
	int state = -1, kib, found = 0;
	if (!page) {
		int fd = open(shared_file, O_RDONLY);
		page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, middle(fd));
		if (page == MAP_FAILED)
			exit(2);
	}
	(void)page[0];
	FILE *f = fopen("/proc/self/smaps", "r");
	snprintf(head, sizeof(head), "%lx-", (unsigned long)(uintptr_t)page);
	while (f && fgets(line, sizeof(line), f)) {
		found = found || strncmp(line, head, strlen(head)) == 0;
		if (found && sscanf(line, "Pss: %d kB", &kib) == 1) {
			state = kib < 4;
			break;
		}
	}
	if (f)
		fclose(f);
	return both(state);
}

static const struct {
	const char *name;
	void (*send)(void);
	bool (*seen)(void);
} channels[] = {
	{ "abstract_socket", abstract_send, abstract_seen },
	{ "loopback", loopback_send, loopback_seen },
	{ "shm", shm_send, shm_seen },
	{ "sem", sem_send, sem_seen },
	{ "msg", msg_send, msg_seen },
	{ "mqueue", mqueue_send, mqueue_seen },
	{ "folders", folders_send, folders_seen },
	{ "proc", proc_send, proc_seen },
	{ "flock", flock_send, flock_seen },
	{ "record_lock", record_lock_send, record_lock_seen },
	{ "lease", lease_send, lease_seen },
	{ "inotify", inotify_send, inotify_seen },
	{ "cachestat", cache_send, cachestat_seen },
	{ "mincore", cache_send, mincore_seen },
	{ "nowait", cache_send, nowait_seen },
	{ "mapped", mapped_send, mapped_seen },
	{ "file_count", file_count_send, file_count_seen },
	{ "in_flight", in_flight_send, in_flight_seen },
	{ "pipe_pages", pipe_pages_send, pipe_pages_seen },
	{ "inotify_count", inotify_count_send, inotify_count_seen },
	{ "pty_count", pty_count_send, pty_count_seen },
	{ "load", load_send, load_seen },
};

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	channels_key_text = argv[3];
	key = (int)(strtol(channels_key_text, NULL, 10) & 0x3fffffff) | 0x40000000;
	channels_end = now() + atof(argv[4]);
	if (argc > 5)
		shared_file = argv[5];
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		if (strcmp(channels[i].name, argv[1]) == 0) {
			if (strcmp(argv[2], "send") == 0)
				channels[i].send();
			else
				watch(channels[i].name, channels[i].seen);
			return 0;
		}
	fprintf(stderr, "channels: no channel %s\n", argv[1]);
	return 2;
}
