/* SPDX-License-Identifier: MIT */
/*
 * The helper that watches a folder, and everything below it, by inotify. Each watched folder is a node with its name
 * and its parent node, so when a folder moves, the paths below it change with it.
 *
 * A new folder may get entries before it is watched. It is read once the watch exists, and the entries found are
 * reported as created. So an entry may be reported twice, but none is missed.
 */
#include "init/helpers/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum {
	NODES_MAX = 8192,
	NAME_SIZE = 256,
	DEPTH_MAX = 64,
	QUEUE_READS = 128, /* reads of 64 KiB that empty the kernel's queue (16,384 events), however full it is */
};

static struct node {
	int32_t wd;    /* 0: unused */
	int32_t above; /* parent node; -1: the watched folder itself */
	char name[NAME_SIZE];
} nodes[NODES_MAX];
static int node_count, inotify_fd, recursive, lost;
static char path[FH_HELPER_PATH_MAX];
static union {
	struct inotify_event e;
	char bytes[64 * 1024];
} events;
static char entries[DEPTH_MAX][4096];
/* A folder that was moved away. The next event tells where to, unless it left the watched tree. */
static struct {
	int32_t node;
	uint32_t cookie;
} moved = { -1, 0 };

static const uint32_t wanted = IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                               IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

static int32_t by_watch(int32_t wd)
{
	for (int32_t i = 0; i < node_count; i++)
		if (nodes[i].wd == wd)
			return i;
	return -1;
}

static int same_name(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static int32_t child_of(int32_t above, const char *name)
{
	for (int32_t i = 0; i < node_count; i++)
		if (nodes[i].wd && nodes[i].above == above && same_name(nodes[i].name, name))
			return i;
	return -1;
}

/* Writes the path of a node's entry, relative to the watched folder; 0 when it is too long. */
static char *path_of(int32_t node, const char *name)
{
	size_t at = sizeof(path) - 1, n = strlen(name);
	path[at] = 0;
	for (;;) {
		if (n + 1 > at)
			return 0;
		at -= n;
		memcpy(path + at, name, n);
		if (node < 0 || nodes[node].above < 0)
			return path + at;
		path[--at] = '/';
		name = nodes[node].name;
		n = strlen(name);
		node = nodes[node].above;
	}
}

static void tell(uint32_t mask, uint32_t cookie, const char *name)
{
	fh_out_begin(FH_HELPER_EVENT);
	fh_out_number(FH_HELPER_MASK, mask);
	if (cookie)
		fh_out_number(FH_HELPER_COOKIE, cookie);
	if (name)
		fh_out_text(FH_HELPER_NAME, name);
	fh_out_end();
}

static void tell_lost(void)
{
	if (!lost)
		tell(IN_Q_OVERFLOW, 0, 0);
	lost = 1;
}

static void forget(int32_t node)
{
	for (int32_t i = 0; i < node_count; i++)
		if (nodes[i].wd && nodes[i].above == node)
			forget(i);
	fh_sys(__NR_inotify_rm_watch, inotify_fd, nodes[node].wd);
	nodes[node].wd = 0;
}

/* Watches the folder that fd refers to. Returns its node, or -errno. Uses the descriptor, since a path might lead to
 * another folder by now. */
static int32_t add_node(int fd, int32_t above, const char *name)
{
	int32_t free = 0;
	size_t n = strlen(name);
	while (free < node_count && nodes[free].wd)
		free++;
	if (free == NODES_MAX || n >= NAME_SIZE)
		return -ENOSPC;
	char buffer[FH_FD_PATH_MAX];
	long wd = fh_sys(__NR_inotify_add_watch, inotify_fd, fh_fd_path(fd, buffer), wanted);
	if (wd < 0)
		return (int32_t)wd;
	/* the kernel has one watch for each folder, so this one was moved before we read the event */
	int32_t known = by_watch((int32_t)wd);
	if (known >= 0)
		free = known;
	node_count = free == node_count ? node_count + 1 : node_count;
	nodes[free].wd = (int32_t)wd;
	nodes[free].above = above;
	memcpy(nodes[free].name, name, n + 1);
	return free;
}

/* Watches a folder below the node, and everything in it. tell_entries: existing entries are reported as created. */
static void add_folder(int32_t above, int dir, const char *name, int tell_entries, int depth)
{
	long fd = fh_sys(__NR_openat, dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return; /* the folder was removed or replaced meanwhile */
	int32_t node = fd < 0 ? (int32_t)fd : depth >= DEPTH_MAX ? -ENOSPC : add_node((int)fd, above, name);
	for (long n; node >= 0 && (n = fh_sys(__NR_getdents64, fd, entries[depth], sizeof(entries[0]))) > 0;)
		for (long at = 0; at < n;) {
			const struct fh_dirent *e = (const void *)(entries[depth] + at);
			at += e->size;
			if (fh_is_dots(e->name))
				continue;
			struct stat st;
			int folder = fh_sys(__NR_newfstatat, fd, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
			const char *whole = tell_entries ? path_of(node, e->name) : 0;
			if (whole)
				tell(IN_CREATE | (folder ? IN_ISDIR : 0), 0, whole);
			if (folder)
				add_folder(node, (int)fd, e->name, tell_entries, depth + 1);
		}
	if (node < 0)
		tell_lost(); /* there are too many folders, or the folder is unreadable: its events will be missed */
	if (fd >= 0)
		fh_sys(__NR_close, fd);
}

/* No descriptor of the watched folder stays open, because the kernel would then not report its removal. */
static const char *watched_path;
static uint64_t watched_device, watched_inode;

static long open_watched(void)
{
	struct stat st;
	long fd = fh_open_path(AT_FDCWD, watched_path, (uint64_t)O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0 && (fh_sys(__NR_fstat, fd, &st) < 0 || st.st_dev != watched_device || st.st_ino != watched_inode)) {
		fh_sys(__NR_close, fd); /* another folder has this name now; an event reports that ours was moved */
		return -ENOENT;
	}
	return fd;
}

/* Opens a node's folder by its path below the watched one. */
static long open_node(int32_t node)
{
	long root = open_watched();
	if (root < 0 || nodes[node].above < 0)
		return root;
	char *relative = path_of(nodes[node].above, nodes[node].name);
	long fd = relative ? fh_open_below((int)root, relative) : -ENAMETOOLONG;
	fh_sys(__NR_close, root);
	return fd;
}

static void folder_came(int32_t node, const char *name)
{
	long fd = open_node(node);
	if (fd < 0)
		return; /* the folder was removed or moved meanwhile, which another event reports */
	add_folder(node, (int)fd, name, 1, 0);
	fh_sys(__NR_close, fd);
}

/* Handles one event. Returns 1 if the watched folder is gone. */
static int on_event(const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW) {
		tell_lost();
		return 0;
	}
	int32_t node = by_watch(e->wd);
	if (node < 0)
		return 0;
	int is_root = nodes[node].above < 0;
	if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) {
		if (is_root) {
			tell(IN_IGNORED, 0, 0);
			return 1;
		}
		if (e->mask & IN_IGNORED)
			nodes[node].wd = 0;
		return 0;
	}
	if (!e->len) /* an event of a folder itself; its parent's event is reported instead */
		return 0;
	const char *name = path_of(node, e->name);
	int folder = e->mask & IN_ISDIR && recursive;
	/* A folder that was moved away has left the watched tree, unless the next event is its arrival. */
	if (moved.node >= 0 && !(e->mask & IN_MOVED_TO && e->cookie == moved.cookie)) {
		if (nodes[moved.node].wd)
			forget(moved.node);
		moved.node = -1;
	}
	if (name)
		tell(e->mask & (wanted | IN_ISDIR), e->cookie, name);
	lost = name ? 0 : lost;
	if (folder && e->mask & IN_MOVED_FROM) {
		moved.node = child_of(node, e->name);
		moved.cookie = e->cookie;
	} else if (folder && e->mask & IN_MOVED_TO) {
		int32_t old = child_of(node, e->name); /* an entry that the moved folder has replaced */
		if (old >= 0 && old != moved.node)
			forget(old);
		if (moved.node >= 0 && nodes[moved.node].wd && strlen(e->name) < NAME_SIZE) {
			nodes[moved.node].above = node;
			memcpy(nodes[moved.node].name, e->name, strlen(e->name) + 1);
			moved.node = -1;
		} else {
			folder_came(node, e->name);
		}
	} else if (folder && e->mask & IN_CREATE && child_of(node, e->name) < 0) {
		folder_came(node, e->name);
	}
	return 0;
}

/* Tells the events of one read. Returns its size; 0 or negative: there are none. */
static long take_events(int *ret_gone, uint64_t *ret_count)
{
	long n = fh_sys(__NR_read, inotify_fd, &events, sizeof(events));
	for (long at = 0; n > 0 && at < n && !*ret_gone; ++*ret_count) {
		const struct inotify_event *e = (const void *)(events.bytes + at);
		at += (long)(sizeof(*e) + e->len);
		*ret_gone = on_event(e);
	}
	return n;
}

/* The kernel queues an event before the call that caused it returns: when the queue is empty after a byte came, all
 * that happened before that byte was sent is told. */
static void tell_synced(long times, int *ret_gone, uint64_t *ret_count)
{
	for (int reads = 0; reads < QUEUE_READS && !*ret_gone && take_events(ret_gone, ret_count) > 0; reads++)
		;
	while (times-- > 0) {
		fh_out_begin(FH_HELPER_SYNCED);
		fh_out_end();
	}
}

long fh_helper_watch(const char *const *argv, uint64_t *ret_count)
{
	recursive = argv[0][0] == '1';
	long root = fh_open_path(AT_FDCWD, argv[1], (uint64_t)O_RDONLY | O_DIRECTORY, 0);
	long fd = root < 0 ? root : fh_sys(__NR_inotify_init1, IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0)
		return fd;
	inotify_fd = (int)fd;
	watched_path = argv[1];
	int32_t node = add_node((int)root, -1, "");
	if (node < 0)
		return node;
	if (recursive)
		for (long n; (n = fh_sys(__NR_getdents64, root, entries[0], sizeof(entries[0]))) > 0;)
			for (long at = 0; at < n;) {
				const struct fh_dirent *e = (const void *)(entries[0] + at);
				at += e->size;
				struct stat st;
				if (!fh_is_dots(e->name) && fh_sys(__NR_newfstatat, root, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
				    S_ISDIR(st.st_mode))
					add_folder(node, (int)root, e->name, 0, 1);
			}
	lost = 0;
	struct stat st;
	fh_sys(__NR_fstat, root, &st);
	watched_device = st.st_dev;
	watched_inode = st.st_ino;
	fh_out_entry(argv[1], &st, (int)root, ""); /* all changes are reported from here on */
	fh_out_end();
	fh_sys(__NR_close, root);
	for (int gone = 0; !gone;) {
		/* a byte on stdin asks for SYNCED; end of file: the client is gone */
		char asked[16];
		struct pollfd wait[2] = { { .fd = inotify_fd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
		fh_out_flush();
		long r = fh_sys(__NR_ppoll, wait, 2, 0, 0, 8);
		if (r < 0 && r != -EINTR)
			return r;
		long times = wait[1].revents ? fh_sys(__NR_read, 0, asked, sizeof(asked)) : -EAGAIN;
		if (times == 0)
			return 0;
		if (times > 0)
			tell_synced(times, &gone, ret_count);
		else
			(void)take_events(&gone, ret_count);
	}
	return 0;
}
