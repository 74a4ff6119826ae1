/* SPDX-License-Identifier: MIT */
/*
 * Finds what a program would share with its zygote, and through it with all other programs of that zygote: open file
 * descriptions (a pipe, an eventfd, an epoll set, the offset and flags of a file) and shared memory. A zygote that
 * holds any serves only if all of them are of kinds that a forked program can replace by new ones; each program does
 * so, under the same numbers, before it runs any code of its own. The engine checks this again from outside
 * (engine/warm/own.c).
 *
 * Which kinds: proc_pid_fdinfo(5), pipe(7), eventfd(2), epoll(7).
 */
#include "warm.h"

#include <fcntl.h>
#include <linux/stat.h>

enum {
	HELD_MAX = 48,
	WATCHED_MAX = 64,
	FIRST = 3, /* lowest descriptor to examine; each run sets its own below this */
	EPOLL_ADD = 1,
	NONBLOCK = 00004000,
	CLOEXEC = 02000000,
	SPLICE_NONBLOCK = 2,
	MODE_TYPE = 0170000,
	MODE_PIPE = 0010000,
	MODE_DEVICE = 0020000,
	MODE_OWNER_WRITES = 0200,
};

enum kind { MAIN_FILE, DEVICE, PIPE, EVENT, POLL, OTHER };

static struct held {
	int fd;
	enum kind kind;
	uint32_t flags;  /* O_* flags, with O_CLOEXEC for FD_CLOEXEC */
	uint64_t object; /* PIPE: the inode; EVENT: the kernel's id */
	uint64_t count;  /* EVENT: the counter; PIPE: bytes in the pipe */
	bool again;      /* refers to the same object as an earlier entry */
	char path[24];   /* for DEVICE */
} held[HELD_MAX];
static unsigned held_count;

/* What all epoll sets watch. */
static struct watched {
	int poll, fd;
	uint32_t events;
	uint64_t data;
} watched[WATCHED_MAX];
static unsigned watched_count;

struct device_and_mode {
	uint32_t mode, major, minor;
	uint64_t inode;
};

static bool look_at(int fd, const char *path, int flags, struct device_and_mode *ret)
{
	struct statx s;
	if (fh_sys(__NR_statx, fd, path, flags, STATX_BASIC_STATS, &s) < 0)
		return false;
	*ret = (struct device_and_mode){ s.stx_mode, s.stx_rdev_major, s.stx_rdev_minor, s.stx_ino };
	return true;
}

static uint64_t number(const char **p, unsigned base)
{
	uint64_t v = 0;
	while (**p == ' ' || **p == '\t')
		(*p)++;
	for (;; (*p)++) {
		char c = **p;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
		                                        : 99;
		if (digit >= base)
			return v;
		v = v * base + digit;
	}
}

/* The rest of the line that begins with `name`; NULL: there is no such line. */
static const char *field(const char *text, const char *name)
{
	for (const char *p = text; *p; p++)
		if ((p == text || p[-1] == '\n') && fh_text_begins(p, name))
			return p + strlen(name);
	return NULL;
}

static void file_of_self(char *to, size_t size, const char *folder, int fd)
{
	fh_text_set(to, size, "/proc/self/");
	fh_text_add(to, size, folder);
	fh_text_add_number(to, size, (uint64_t)fd);
}

static bool note_watched(int poll, const char *info)
{
	for (const char *p = info; (p = field(p, "tfd:"));) {
		if (watched_count == WATCHED_MAX)
			return false;
		struct watched *w = &watched[watched_count++];
		w->poll = poll;
		w->fd = (int)number(&p, 10);
		while (*p == ' ')
			p++;
		if (!fh_text_begins(p, "events:"))
			return false;
		p += sizeof("events:") - 1;
		w->events = (uint32_t)number(&p, 16);
		while (*p == ' ')
			p++;
		if (!fh_text_begins(p, "data:"))
			return false;
		p += sizeof("data:") - 1;
		w->data = number(&p, 16);
	}
	return true;
}

/* Devices that are the same in every sandbox and keep no state for each opener. */
static bool is_plain_device(const struct device_and_mode *s)
{
	return (s->mode & MODE_TYPE) == MODE_DEVICE && s->major == 1 &&
	       (s->minor == 3 || s->minor == 5 || s->minor == 7 || s->minor == 8 || s->minor == 9);
}

static bool note_event(struct held *h, const char *info)
{
	const char *count = field(info, "eventfd-count:"), *id = field(info, "eventfd-id:");
	const char *semaphore = field(info, "eventfd-semaphore:");
	if (!count)
		return false;
	h->kind = EVENT;
	h->count = number(&count, 16);
	/* since Linux 5.2; before that, no eventfd can be recognized as another's duplicate */
	h->object = id ? number(&id, 10) : ~(uint64_t)0 - (uint64_t)h->fd;
	if (semaphore && number(&semaphore, 10))
		h->flags |= 1; /* 1 is EFD_SEMAPHORE; an eventfd has no access mode in these bits */
	return true;
}

/* Fills the kind and the fields of that kind. `link`: the text of the link in /proc/self/fd. */
static void know(struct held *h, const char *link, const char *info)
{
	struct device_and_mode s;
	uint32_t pending = 0;
	const char *flags = field(info, "flags:");
	h->kind = OTHER;
	if (!flags || !look_at(h->fd, "", 0x1000 /* AT_EMPTY_PATH */, &s))
		return;
	h->flags = (uint32_t)number(&flags, 8);
	if ((s.mode & MODE_TYPE) == MODE_PIPE && fh_text_begins(link, "pipe:")) {
		h->kind = PIPE;
		h->object = s.inode;
		if (fh_sys(__NR_ioctl, h->fd, 0x541b /* FIONREAD */, &pending) < 0)
			h->kind = OTHER;
		h->count = pending;
	} else if (fh_text_equal(link, "anon_inode:[eventfd]")) {
		h->flags &= ~(uint32_t)O_ACCMODE;
		if (!note_event(h, info))
			h->kind = OTHER;
	} else if (fh_text_equal(link, "anon_inode:[eventpoll]")) {
		h->kind = note_watched(h->fd, info) ? POLL : OTHER;
	} else if (is_plain_device(&s) && strlen(link) < sizeof(h->path)) {
		h->kind = DEVICE;
		fh_text_set(h->path, sizeof(h->path), link);
	}
}

static bool refuse(char *why, int fd, const char *link)
{
	fh_text_set(why, FH_ZYGOTE_WHY_MAX, "it holds a descriptor that its programs would share: ");
	fh_text_add_number(why, FH_ZYGOTE_WHY_MAX, (uint64_t)fd);
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, ", ");
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, link);
	return false;
}

static bool note(const struct fh_warm_interpreter *i, int fd, int main_fd, char *why)
{
	static char info[4096];
	char path[48], link[256];
	file_of_self(path, sizeof(path), "fd/", fd);
	long n = fh_sys(__NR_readlinkat, AT_FDCWD, path, link, sizeof(link) - 1);
	link[n < 0 ? 0 : n] = 0;
	file_of_self(path, sizeof(path), "fdinfo/", fd);
	long from = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long size = from < 0 ? from : fh_sys(__NR_read, from, info, sizeof(info) - 1);
	if (from >= 0)
		fh_sys(__NR_close, from);
	if (n <= 0 || size <= 0 || size == sizeof(info) - 1 || held_count == HELD_MAX)
		return refuse(why, fd, n <= 0 ? "which cannot be looked at" : link);
	info[size] = 0;
	struct held *h = &held[held_count];
	*h = (struct held){ .fd = fd, .kind = MAIN_FILE };
	if (fd != main_fd) {
		know(h, link, info);
		if (h->kind == OTHER || !i->renews)
			return refuse(why, fd, link);
	}
	for (unsigned k = 0; k < held_count; k++)
		h->again = h->again ||
		           ((h->kind == PIPE || h->kind == EVENT) && held[k].kind == h->kind && held[k].object == h->object);
	held_count++;
	return true;
}

static const struct held *of_number(int fd)
{
	for (unsigned k = 0; k < held_count; k++)
		if (held[k].fd == fd)
			return &held[k];
	return NULL;
}

/* A pipe is refused if another process holds one of its ends. */
static bool has_both_ends(const struct held *pipe)
{
	bool ends[2] = { false, false };
	for (unsigned k = 0; k < held_count; k++)
		if (held[k].kind == PIPE && held[k].object == pipe->object)
			ends[(held[k].flags & O_ACCMODE) != O_RDONLY] = true;
	return ends[0] && ends[1];
}

static bool account_for_descriptors(const struct fh_warm_interpreter *i, int main_fd, char *why)
{
	static _Alignas(8) char entries[4096];
	long folder = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n = folder;
	bool sound = folder >= 0;
	held_count = watched_count = 0;
	while (sound && (n = fh_sys(__NR_getdents64, folder, entries, sizeof(entries))) > 0)
		for (long at = 0; sound && at < n; at += ((const struct fh_dirent *)(const void *)(entries + at))->size) {
			const char *name = ((const struct fh_dirent *)(const void *)(entries + at))->name;
			int fd = name[0] == '.' ? 0 : (int)number(&name, 10);
			if (fd >= FIRST && fd != folder && fd != fh_warm_start.socket)
				sound = note(i, fd, main_fd, why);
		}
	if (folder >= 0)
		fh_sys(__NR_close, folder);
	if (n < 0)
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "its descriptors cannot be listed: there is no /proc");
	for (unsigned k = 0; sound && k < held_count; k++)
		if (held[k].kind == PIPE && !has_both_ends(&held[k]))
			return refuse(why, held[k].fd, "a pipe whose other end is not its own");
	for (unsigned k = 0; sound && k < watched_count; k++)
		if (!of_number(watched[k].fd))
			return refuse(why, watched[k].poll, "an epoll that watches what is not its own");
	return sound && n >= 0;
}

/* ---------------------------------------------------------------------------------------------------------- memory */

/* Whether a shared mapping can become writable: its file was opened for writing (proc_pid_map_files(5)). */
static bool can_be_written(const char *line)
{
	char path[80] = "/proc/self/map_files/", c[2] = "";
	struct device_and_mode s;
	for (int part = 0; part < 2; part++) {
		while (*line == '0' && line[1] != '-' && line[1] != ' ')
			line++;
		for (; *line && *line != '-' && *line != ' '; line++) {
			c[0] = *line;
			fh_text_add(path, sizeof(path), c);
		}
		if (part == 0) {
			fh_text_add(path, sizeof(path), "-");
			line += *line == '-';
		}
	}
	return !look_at(AT_FDCWD, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, &s) || s.mode & MODE_OWNER_WRITES;
}

static bool is_shared(const char *line)
{
	while (*line && *line != ' ')
		line++;
	return *line && strlen(line) > 4 && line[4] == 's';
}

static bool account_for_memory(char *why)
{
	static char part[4096], line[512];
	size_t have = 0;
	bool sound = true;
	long fd = fh_sys(__NR_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n = fd;
	while (sound && fd >= 0 && (n = fh_sys(__NR_read, fd, part, sizeof(part))) > 0)
		for (long k = 0; sound && k < n; k++) {
			if (part[k] != '\n') {
				if (have + 1 < sizeof(line))
					line[have++] = part[k];
				continue;
			}
			line[have] = 0;
			have = 0;
			if (!is_shared(line) || !can_be_written(line))
				continue;
			sound = false;
			fh_text_set(why, FH_ZYGOTE_WHY_MAX, "it has memory that its programs would share: ");
			fh_text_add(why, FH_ZYGOTE_WHY_MAX, line);
		}
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	if (n < 0)
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "its memory cannot be listed: there is no /proc");
	return sound && n >= 0;
}

bool fh_warm_account(const struct fh_warm_interpreter *i, int main_fd, char *why)
{
	return account_for_descriptors(i, main_fd, why) && account_for_memory(why);
}

/* ----------------------------------------------------------------------------------------------------------- a fork */

/* Puts the object of descriptor `from` at the number of h and at those of its duplicates. */
static bool place(const struct held *h, int from, bool writing)
{
	for (const struct held *k = h; k < held + held_count; k++) {
		if (k->kind != h->kind || (k != h && (k->object != h->object || k->kind == POLL || k->kind == DEVICE)))
			continue;
		if (k->kind == PIPE && ((k->flags & O_ACCMODE) != O_RDONLY) != writing)
			continue;
		if (fh_sys(__NR_dup3, from, k->fd, k->flags & CLOEXEC) < 0)
			return false;
	}
	return true;
}

static bool renew_pipe(const struct held *h)
{
	struct device_and_mode s;
	int ends[2], reader = -1;
	uint32_t flags[2] = { 0, 0 };
	if (!look_at(h->fd, "", 0x1000, &s) || s.inode != h->object)
		return true; /* the interpreter, or a library, has replaced it already */
	for (const struct held *k = h; k < held + held_count; k++) {
		bool writes = (k->flags & O_ACCMODE) != O_RDONLY;
		if (k->kind != PIPE || k->object != h->object)
			continue;
		flags[writes] = k->flags & ~(uint32_t)(O_ACCMODE | CLOEXEC | 0100000 /* O_LARGEFILE */);
		reader = writes ? reader : k->fd;
	}
	if (fh_sys(__NR_pipe2, ends, CLOEXEC | (flags[0] & NONBLOCK)) < 0)
		return false;
	bool done = flags[1] == (flags[0] & NONBLOCK) || fh_sys(__NR_fcntl, ends[1], F_SETFL, flags[1]) == 0;
	done = done && (flags[0] == (flags[0] & NONBLOCK) || fh_sys(__NR_fcntl, ends[0], F_SETFL, flags[0]) == 0);
	done = done && (!h->count || fh_sys(__NR_tee, reader, ends[1], h->count, SPLICE_NONBLOCK) == (long)h->count);
	done = done && place(h, ends[0], false) && place(h, ends[1], true);
	fh_sys(__NR_close, ends[0]);
	fh_sys(__NR_close, ends[1]);
	return done;
}

static bool renew_event(const struct held *h)
{
	long fd = fh_sys(__NR_eventfd2, 0, CLOEXEC | (h->flags & (NONBLOCK | 1)));
	bool done = fd >= 0 && (!h->count || fh_sys(__NR_write, fd, &h->count, 8) == 8) && place(h, (int)fd, false);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return done;
}

/* The kernel's struct epoll_event, which is packed on x86-64 only. */
struct event {
	uint32_t events;
	uint64_t data;
}
#if defined(__x86_64__)
__attribute__((packed))
#endif
;

static bool renew_poll(const struct held *h)
{
	long fd = fh_sys(__NR_epoll_create1, CLOEXEC);
	bool done = fd >= 0;
	for (unsigned k = 0; done && k < watched_count; k++) {
		struct event e = { watched[k].events, watched[k].data };
		done = watched[k].poll != h->fd || fh_sys(__NR_epoll_ctl, fd, EPOLL_ADD, watched[k].fd, &e) == 0;
	}
	done = done && place(h, (int)fd, false);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return done;
}

static bool renew_device(const struct held *h)
{
	long fd = fh_sys(__NR_openat, AT_FDCWD, h->path, h->flags, 0);
	bool done = fd >= 0 && place(h, (int)fd, false);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return done;
}

/* Occupies the number of MAIN's descriptor with a copy of the process's socket; the file is opened there when a run
 * begins. */
static bool renew_main_file(const struct held *h, int socket)
{
	return socket < 0 || fh_sys(__NR_dup3, socket, h->fd, CLOEXEC) >= 0;
}

bool fh_warm_renew(int socket)
{
	bool done = true;
	for (int polls = 0; polls < 2; polls++) /* epoll sets come last, since they watch the others */
		for (const struct held *h = held; done && h < held + held_count; h++)
			if (!h->again && polls == (h->kind == POLL))
				done = h->kind == PIPE     ? renew_pipe(h)
				       : h->kind == EVENT  ? renew_event(h)
				       : h->kind == POLL   ? renew_poll(h)
				       : h->kind == DEVICE ? renew_device(h)
				                           : renew_main_file(h, socket);
	return done;
}
