// SPDX-License-Identifier: MIT
/*
 * The helper that watches a folder, and what is below it, by inotify. Each watched folder is a node that knows its name
 * and the node above, so that a folder that moves takes its contents' names along.
 *
 * A folder that is made while we watch may get entries before its watch is there: it is looked through once the watch
 * is, and what is found is told as created. An entry may so be told twice, but none is missed.
 */
#include "init/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum { NODES_MAX = 8192, NAME_SIZE = 256, DEPTH_MAX = 64 };

static struct node {
	int32_t wd;    /* 0: free */
	int32_t above; /* -1: the watched folder itself */
	char name[NAME_SIZE];
} nodes[NODES_MAX];
static int node_count, inotify_fd, recursive, lost;
static char path[FH_HELPER_PATH_MAX], root_path[32];
static union {
	struct inotify_event e;
	char bytes[64 * 1024];
} events;
static char entries[DEPTH_MAX][4096];
/* Of a folder that left: where it goes to is told by the event that follows, or it left what we watch. */
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

/* Writes the path of an entry of the node, relative to the watched folder; 0 when it is too long. */
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

/* Watches the folder that fd is; the node, or -errno. By its descriptor: a path could be another folder by now. */
static int32_t add_node(int fd, int32_t above, const char *name)
{
	int32_t free = 0;
	size_t n = strlen(name);
	while (free < node_count && nodes[free].wd)
		free++;
	if (free == NODES_MAX || n >= NAME_SIZE)
		return -ENOSPC;
	/* /proc/self/fd/N */
	char *p = root_path + sizeof(root_path) - 1;
	*p = 0;
	for (int v = fd; v || *p == 0; v /= 10) {
		*--p = (char)('0' + v % 10);
		if (v < 10)
			break;
	}
	static const char prefix[] = "/proc/self/fd/";
	p -= sizeof(prefix) - 1;
	memcpy(p, prefix, sizeof(prefix) - 1);
	long wd = fh_sys(__NR_inotify_add_watch, inotify_fd, p, wanted);
	if (wd < 0)
		return (int32_t)wd;
	int32_t known = by_watch((int32_t)wd); /* the kernel gives a folder one watch: it moved before we were told */
	if (known >= 0)
		free = known;
	node_count = free == node_count ? node_count + 1 : node_count;
	nodes[free].wd = (int32_t)wd;
	nodes[free].above = above;
	memcpy(nodes[free].name, name, n + 1);
	return free;
}

/* Watches a folder of the node and what is below it. tell_entries: what is there is told as created. */
static void add_folder(int32_t above, int dir, const char *name, int tell_entries, int depth)
{
	long fd = fh_sys(__NR_openat, dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return; /* gone meanwhile */
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
		tell_lost(); /* more folders than can be watched, or one that cannot be read: what happens there is not seen */
	if (fd >= 0)
		fh_sys(__NR_close, fd);
}

/* No descriptor of the watched folder stays open: it would keep the kernel from telling that the folder is removed. */
static const char *watched_path;
static uint64_t watched_device, watched_inode;

static long open_watched(void)
{
	struct stat st;
	long fd = fh_open_path(AT_FDCWD, watched_path, (uint64_t)O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0 && (fh_sys(__NR_fstat, fd, &st) < 0 || st.st_dev != watched_device || st.st_ino != watched_inode)) {
		fh_sys(__NR_close, fd); /* another folder bears that name now: ours was moved, as its own event tells */
		return -ENOENT;
	}
	return fd;
}

/* Opens the folder of a node by its path below the watched one. */
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
		return; /* gone, or moved: its own event tells */
	add_folder(node, (int)fd, name, 1, 0);
	fh_sys(__NR_close, fd);
}

/* One event; 1: the watched folder is gone. */
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
	if (!e->len) /* of a folder itself: the one above tells */
		return 0;
	const char *name = path_of(node, e->name);
	int folder = e->mask & IN_ISDIR && recursive;
	/* a folder that left is gone from what we watch, unless the next event is its arrival */
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
		int32_t old = child_of(node, e->name); /* one that it replaced */
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
	fh_out_entry(argv[1], &st, (int)root, ""); /* from here on nothing is missed */
	fh_out_end();
	fh_sys(__NR_close, root);
	for (int gone = 0; !gone;) {
		/* our stdin ends with who asked */
		struct pollfd wait[2] = { { .fd = inotify_fd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
		fh_out_flush();
		long r = fh_sys(__NR_ppoll, wait, 2, 0, 0, 8);
		if (r < 0 && r != -EINTR)
			return r;
		if (wait[1].revents)
			return 0;
		long n = fh_sys(__NR_read, inotify_fd, &events, sizeof(events));
		for (long at = 0; n > 0 && at < n && !gone; ++*ret_count) {
			const struct inotify_event *e = (const void *)(events.bytes + at);
			at += (long)(sizeof(*e) + e->len);
			gone = on_event(e);
		}
	}
	return 0;
}
