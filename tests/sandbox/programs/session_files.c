/* SPDX-License-Identifier: MIT */
/* Files of a session: looked at, changed, read and written in pieces, watched; and what a program inside plants there.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "fumehood/session.h"

static void run_in(struct fh_sandbox *s, const char *script)
{
	struct fh_process *p = spawn(s, script);
	struct fh_exit e = wait_for(p);
	if (e.status != FH_STATUS_OK) {
		char buf[4096] = "";
		(void)fh_process_read(p, FH_STDERR, buf, sizeof(buf) - 1, 1000, &err);
		fprintf(stderr, "script failed: %s\n%s\n", script, buf);
		exit(1);
	}
	fh_process_free(p);
}

/* What a program inside sees: the output of a script. */
static const char *shown(struct fh_sandbox *s, const char *script)
{
	static char buf[65536];
	struct fh_process *p = spawn(s, script);
	read_until(p, FH_STDOUT, NULL, buf, sizeof(buf));
	(void)wait_for(p);
	fh_process_free(p);
	return buf;
}

static void write_file(struct fh_sandbox *s, const char *path, const void *data, size_t n, unsigned flags,
                       uint64_t offset)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	o.flags = FH_OPEN_WRITE | flags;
	o.offset = offset;
	OK(fh_file_stream_open(s, path, &o, &f, &err));
	OK(fh_file_stream_write(f, data, n, &err));
	OK(fh_file_stream_close(f, &err));
}

/* All of the file from offset on; its size. */
static size_t read_file(struct fh_sandbox *s, const char *path, uint64_t offset, uint64_t length, char *buf,
                        size_t size)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	size_t n = 0;
	o.offset = offset;
	o.length = length;
	OK(fh_file_stream_open(s, path, &o, &f, &err));
	for (;;) {
		ssize_t r = fh_file_stream_read(f, buf + n, size - n, &err);
		CHECK(r >= 0);
		if (r == 0)
			break;
		n += (size_t)r;
	}
	OK(fh_file_stream_close(f, &err));
	return n;
}

static struct fh_file_info look(struct fh_sandbox *s, const char *path, unsigned flags)
{
	struct fh_file_info info;
	char *texts;
	OK(fh_files_stat(s, NULL, path, flags, &info, &texts, &err));
	free(texts);
	info.name = info.target = NULL;
	return info;
}

static void files_are_read_and_written_in_pieces(void)
{
	enum { SIZE = (3 << 20) + 17 };
	static char data[SIZE], back[SIZE + 1];
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	for (size_t i = 0; i < SIZE; i++)
		data[i] = (char)(i * 31 >> 3);
	write_file(s, "new/deep/file", data, SIZE, FH_OPEN_CREATE | FH_OPEN_PARENTS, 0);
	CHECK(read_file(s, "new/deep/file", 0, 0, back, sizeof(back)) == SIZE && memcmp(data, back, SIZE) == 0);
	CHECK(read_file(s, "new/deep/file", SIZE - 5, 0, back, sizeof(back)) == 5 && memcmp(data + SIZE - 5, back, 5) == 0);
	CHECK(read_file(s, "new/deep/file", 1 << 20, 3, back, sizeof(back)) == 3 && memcmp(data + (1 << 20), back, 3) == 0);
	CHECK(read_file(s, "new/deep/file", SIZE + 100, 0, back, sizeof(back)) == 0);
	write_file(s, "new/deep/file", "xyz", 3, 0, 7); /* in the middle, the rest stays */
	CHECK(read_file(s, "new/deep/file", 6, 5, back, sizeof(back)) == 5);
	CHECK(back[0] == data[6] && memcmp(back + 1, "xyz", 3) == 0 && back[4] == data[10]);
	write_file(s, "new/deep/file", "end", 3, FH_OPEN_APPEND, 0);
	CHECK(look(s, "new/deep/file", 0).size == SIZE + 3);
	write_file(s, "new/deep/file", "short", 5, FH_OPEN_TRUNCATE, 0);
	CHECK(read_file(s, "new/deep/file", 0, 0, back, sizeof(back)) == 5);
	write_file(s, "empty", "", 0, FH_OPEN_CREATE, 0);
	CHECK(read_file(s, "empty", 0, 0, back, sizeof(back)) == 0);
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	CHECK(fh_file_stream_open(s, "missing", &o, &f, &err) == -FH_E_NOT_FOUND && err.sys == ENOENT);
	CHECK(fh_file_stream_open(s, "new", &o, &f, &err) < 0 && err.sys == EISDIR);
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | FH_OPEN_EXCLUSIVE;
	CHECK(fh_file_stream_open(s, "empty", &o, &f, &err) < 0 && err.sys == EEXIST);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static int count_entry(void *context, const struct fh_file_info *info)
{
	char *names = context;
	strcat(names, info->name);
	strcat(names, info->type == FH_FILE_FOLDER ? "/ " : info->type == FH_FILE_LINK ? "@ " : " ");
	return 0;
}

static void folders_are_made_listed_moved_and_removed(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char names[4096] = "";
	OK(fh_files_make_folder(s, NULL, "a/b/c", 0700, true, &err));
	OK(fh_files_make_folder(s, NULL, "a/b/c", 0, true, &err)); /* is there: fine */
	CHECK(fh_files_make_folder(s, NULL, "a/b/c", 0, false, &err) < 0 && err.sys == EEXIST);
	CHECK(fh_files_make_folder(s, NULL, "x/y", 0, false, &err) == -FH_E_NOT_FOUND);
	CHECK(look(s, "a/b/c", 0).mode == 0700 && look(s, "a/b", 0).mode == 0755);
	write_file(s, "a/b/c/f", "hello", 5, FH_OPEN_CREATE, 0);
	OK(fh_files_link(s, NULL, "c/f", "a/b/l", true, &err));
	OK(fh_files_link(s, NULL, "a/b/c/f", "a/hard", false, &err));
	CHECK(look(s, "a/hard", 0).links == 2);
	struct fh_file_info info;
	char *texts;
	OK(fh_files_stat(s, NULL, "a/b/l", FH_FILES_NOFOLLOW, &info, &texts, &err));
	CHECK(info.type == FH_FILE_LINK && strcmp(info.target, "c/f") == 0);
	free(texts);
	CHECK(look(s, "a/b/l", 0).type == FH_FILE_REGULAR && look(s, "a/b/l", 0).size == 5);
	OK(fh_files_list(s, NULL, "a", 0, count_entry, names, &err));
	CHECK(strstr(names, "b/ ") && strstr(names, "b/c/ ") && strstr(names, "b/c/f ") && strstr(names, "b/l@ "));
	CHECK(strstr(names, "hard ") && strstr(names, "b/ ") < strstr(names, "b/c/ "));
	names[0] = 0;
	OK(fh_files_list(s, NULL, "a", 1, count_entry, names, &err));
	CHECK(strcmp(names, "b/ hard ") == 0 || strcmp(names, "hard b/ ") == 0);
	CHECK(fh_files_list(s, NULL, "a/hard", 1, count_entry, names, &err) == -FH_E_NOT_FOUND && err.sys == ENOTDIR);
	OK(fh_files_rename(s, NULL, "a/b", "moved", &err));
	CHECK(look(s, "moved/c/f", 0).size == 5);
	CHECK(fh_files_remove(s, NULL, "moved", false, &err) < 0 && err.sys == ENOTEMPTY);
	OK(fh_files_remove(s, NULL, "moved", true, &err));
	CHECK(fh_files_remove(s, NULL, "moved", false, &err) == -FH_E_NOT_FOUND);
	OK(fh_files_remove(s, NULL, "moved", true, &err)); /* is gone: fine */
	CHECK(look(s, "a/hard", 0).links == 1);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void modes_times_sizes_and_attributes(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_file_changes c = FH_FILE_CHANGES_INIT;
	write_file(s, "f", "0123456789", 10, FH_OPEN_CREATE, 0);
	uint32_t owner = look(s, "f", 0).uid;
	c.mode = 0640;
	c.size = 4;
	c.mtime_ns = 1000000000123456789;
	OK(fh_files_change(s, NULL, "f", 0, &c, &err));
	struct fh_file_info info = look(s, "f", 0);
	CHECK(info.mode == 0640 && info.size == 4 && info.uid == owner);
	CHECK(info.mtime_ns / 1000000000 == 1000000000);
	CHECK(strncmp(shown(s, "stat -c '%a %s %Y' f"), "640 4 1000000000", 16) == 0);
	c = (struct fh_file_changes)FH_FILE_CHANGES_INIT;
	c.uid = 12345;
	CHECK(fh_files_change(s, NULL, "f", 0, &c, &err) < 0 &&
	      (err.sys == EPERM || err.sys == EINVAL)); /* EINVAL: no such id */
	uint8_t *value;
	size_t n;
	int r = fh_files_set_attribute(s, NULL, "f", "user.note", "some\0bytes", 10, &err);
	if (r == 0) { /* tmpfs has them since Linux 6.6 */
		OK(fh_files_get_attribute(s, NULL, "f", "user.note", &value, &n, &err));
		CHECK(n == 10 && memcmp(value, "some\0bytes", 10) == 0);
		free(value);
		char *list;
		OK(fh_files_list_attributes(s, NULL, "f", &list, &n, &err));
		CHECK(n >= 10 && strcmp(list, "user.note") == 0);
		free(list);
		char longest[FH_ATTRIBUTE_MAX + 1] = "";
		OK(fh_files_set_attribute(s, NULL, "f", "user.note", longest, FH_ATTRIBUTE_MAX, &err));
		CHECK(fh_files_set_attribute(s, NULL, "f", "user.note", longest, sizeof(longest), &err) == -FH_E_ARGUMENT);
		OK(fh_files_set_attribute(s, NULL, "f", "user.note", NULL, 0, &err));
		CHECK(fh_files_get_attribute(s, NULL, "f", "user.note", &value, &n, &err) == -FH_E_NOT_FOUND);
	} else {
		CHECK(err.sys == EOPNOTSUPP);
	}
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* A link leads where it leads for a program inside, and nowhere else: that the host's file of that name is another one
 * shows that a link that was followed outside would have been seen. */
static void links_stay_inside(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char buf[4096], path[64], script[256];
	FILE *secret;
	snprintf(path, sizeof(path), "/tmp/fumehood-secret-%d", (int)getpid());
	secret = fopen(path, "w");
	CHECK(secret && fputs("of the host", secret) > 0 && fclose(secret) == 0);
	snprintf(script, sizeof(script),
	         "ln -s %s out; ln -s ../../../../../../..%s up; ln -s / root; ln -s /proc/self/fd fds", path, path);
	run_in(s, script);
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	CHECK(fh_file_stream_open(s, "out", &o, &f, &err) == -FH_E_NOT_FOUND);
	CHECK(fh_file_stream_open(s, "up", &o, &f, &err) == -FH_E_NOT_FOUND);
	snprintf(script, sizeof(script), "root%s", path);
	CHECK(fh_file_stream_open(s, script, &o, &f, &err) == -FH_E_NOT_FOUND);
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE; /* makes the sandbox's own /tmp/… */
	OK(fh_file_stream_open(s, "out", &o, &f, &err));
	OK(fh_file_stream_write(f, "of the sandbox", 14, &err));
	OK(fh_file_stream_close(f, &err));
	CHECK(strcmp(shown(s, "cat out"), "of the sandbox") == 0);
	secret = fopen(path, "r");
	CHECK(secret && fgets(buf, sizeof(buf), secret) && strcmp(buf, "of the host") == 0);
	fclose(secret);
	unlink(path);
	/* links of /proc lead past every name */
	o.flags = 0;
	CHECK(fh_file_stream_open(s, "/proc/self/fd/0", &o, &f, &err) < 0);
	CHECK(fh_file_stream_open(s, "fds/1", &o, &f, &err) < 0);
	o.flags = FH_OPEN_NOFOLLOW;
	CHECK(fh_file_stream_open(s, "out", &o, &f, &err) < 0 && err.sys == ELOOP);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* What is removed recursively is what was there: a link in it goes, and what it leads to stays; what a program swaps
 * under the walk meanwhile does not lead it out. */
static void remove_follows_no_link_and_loses_no_race(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	run_in(s, "mkdir keep tree; echo precious > keep/f; ln -s ../keep tree/link; ln -s ../../keep tree/deep; mkdir -p "
	          "tree/a/b/c; echo x > tree/a/b/c/f");
	OK(fh_files_remove(s, NULL, "tree", true, &err));
	CHECK(strcmp(shown(s, "cat keep/f; ls"), "precious\nkeep\n") == 0);
	run_in(s, "mkdir keep/d; echo precious > keep/d/f");
	struct fh_process *racer = spawn(
	    s,
	    "while :; do mkdir -p tree/a/b/c; mv tree/a side 2>/dev/null; ln -s ../keep tree/a 2>/dev/null; rm -f tree/a "
	    "2>/dev/null; mv side tree/a 2>/dev/null; done");
	for (int i = 0; i < 60; i++)
		(void)fh_files_remove(s, NULL, "tree", true, &err); /* may fail: what matters is what it leaves */
	OK(fh_process_signal(racer, SIGKILL, &err));
	(void)wait_for(racer);
	CHECK(strcmp(shown(s, "cat keep/f keep/d/f"), "precious\nprecious\n") == 0);
	fh_process_free(racer);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* Deeper than there are descriptors. */
static void a_tree_without_bottom_is_removed(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	run_in(s, "mkdir t; cd t; i=0; while [ $i -lt 400 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done; : > f");
	OK(fh_files_remove(s, NULL, "t", true, &err));
	CHECK(strcmp(shown(s, "ls"), "") == 0);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void what_is_no_file_holds_nobody_up(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	run_in(s, "mkfifo fifo");
	CHECK(fh_file_stream_open(s, "fifo", &o, &f, &err) < 0);
	CHECK(fh_file_stream_open(s, "/dev/zero", &o, &f, &err) < 0);
	CHECK(look(s, "fifo", 0).type == FH_FILE_FIFO);
	o.flags = FH_OPEN_WRITE;
	CHECK(fh_file_stream_open(s, "fifo", &o, &f, &err) < 0);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_full_disk_says_so(void)
{
	struct fh_client *client = open_client();
	const char *const argv[] = { "/bin/true", NULL };
	static char megabyte[1 << 20];
	struct fh_request r;
	struct fh_plan *plan;
	struct fh_sandbox *s;
	struct fh_file_stream *f;
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	fh_request_init(&r);
	r.argv = argv;
	r.limits.value[FH_LIMIT_DISK] = 4 << 20;
	OK(fh_plan_build(&r, &plan, &err));
	OK(fh_sandbox_create(client, plan, NULL, &s, &err));
	fh_plan_free(plan);
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE;
	OK(fh_file_stream_open(s, "f", &o, &f, &err));
	int e = 0;
	for (int i = 0; i < 64 && e == 0; i++)
		e = fh_file_stream_write(f, megabyte, sizeof(megabyte), &err);
	struct fh_error late = FH_ERROR_INIT;
	int closed = fh_file_stream_close(f, &late);
	if (e == 0) { /* all was sent before the first failure came back: the close says so */
		e = closed;
		err = late;
	}
	CHECK(e == -FH_E_LIMIT && err.sys == ENOSPC);
	struct fh_sandbox_usage u;
	OK(fh_sandbox_usage(s, &u, &err));
	CHECK(u.disk_limit_bytes == 4 << 20 && u.disk_bytes > 3 << 20);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static struct fh_watch_event next_event(struct fh_watcher *w)
{
	struct fh_watch_event e;
	CHECK(fh_watch_read(w, &e, 20000, &err) == 1);
	return e;
}

/* Reads on until an event of that kind and name. */
static struct fh_watch_event await_event(struct fh_watcher *w, enum fh_watch_event_kind kind, const char *name)
{
	for (;;) {
		struct fh_watch_event e = next_event(w);
		if (e.kind == kind && strcmp(e.name, name) == 0)
			return e;
		CHECK(e.kind != FH_WATCH_OVERFLOW && e.kind != FH_WATCH_GONE);
	}
}

static void a_watch_that_is_asked_tells_all_that_happened_before(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_watcher *w;
	OK(fh_watch_open(s, NULL, ".", true, &w, &err));
	for (int i = 0; i < 100; i++) {
		char name[32];
		bool seen = false;
		snprintf(name, sizeof(name), "d%d", i);
		OK(fh_files_make_folder(s, NULL, name, 0755, false, &err));
		OK(fh_watch_sync(w, &err));
		for (struct fh_watch_event e = next_event(w); e.kind != FH_WATCH_SYNCED; e = next_event(w))
			seen |= e.kind == FH_WATCH_CREATE && strcmp(e.name, name) == 0;
		CHECK(seen);
	}
	fh_watch_close(w);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_watch_sees_all_below(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_watcher *w, *flat;
	struct fh_watch_event e;
	run_in(s, "mkdir -p w/old");
	OK(fh_watch_open(s, NULL, "w", true, &w, &err));
	OK(fh_watch_open(s, NULL, "w", false, &flat, &err));
	run_in(s, "mkdir -p w/new/deep; echo x > w/new/deep/f"); /* some of that is there before it can be watched */
	CHECK(await_event(w, FH_WATCH_CREATE, "new").folder);
	(void)await_event(w, FH_WATCH_CREATE, "new/deep/f");
	run_in(s, "echo y > w/old/g; chmod 600 w/old/g");
	(void)await_event(w, FH_WATCH_CREATE, "old/g");
	(void)await_event(w, FH_WATCH_WRITE, "old/g");
	(void)await_event(w, FH_WATCH_CHMOD, "old/g");
	run_in(s, "mv w/new w/old/sub; echo z > w/old/sub/deep/h; rm w/old/g");
	e = await_event(w, FH_WATCH_RENAME, "new");
	uint32_t cookie = e.cookie;
	CHECK(!e.arrived && cookie);
	e = await_event(w, FH_WATCH_RENAME, "old/sub");
	CHECK(e.arrived && e.cookie == cookie);
	(void)await_event(w, FH_WATCH_CREATE, "old/sub/deep/h"); /* it is still seen where it is now */
	(void)await_event(w, FH_WATCH_REMOVE, "old/g");
	CHECK(fh_watch_read(w, &e, 0, &err) == -FH_E_TIMEOUT || e.kind == FH_WATCH_CHMOD || e.kind == FH_WATCH_WRITE);
	(void)await_event(flat, FH_WATCH_CREATE, "new");
	(void)await_event(flat, FH_WATCH_RENAME, "new"); /* and nothing of what is below: */
	CHECK(fh_watch_read(flat, &e, 50, &err) == -FH_E_TIMEOUT);
	run_in(s, "rm -r w");
	for (e = next_event(w); e.kind != FH_WATCH_GONE; e = next_event(w))
		;
	CHECK(fh_watch_read(w, &e, 20000, &err) == 0);
	fh_watch_close(w);
	fh_watch_close(flat);
	CHECK(fh_watch_open(s, NULL, "missing", true, &w, &err) == -FH_E_NOT_FOUND);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* More than anybody reads: what was lost is told, and the watch goes on. */
static void a_flood_is_told_as_an_overflow(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_watcher *w;
	struct fh_watch_event e;
	bool overflow = false;
	OK(fh_watch_open(s, NULL, ".", true, &w, &err));
	/* long names: more of them than the kernel's queue, our window and the pipes hold */
	run_in(s, "l=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; l=$l$l$l; i=0; while [ $i -lt 15000 ]; do "
	          "echo >> a$l; "
	          "echo >> b$l; i=$((i+1)); done");
	while (!overflow)
		overflow = next_event(w).kind == FH_WATCH_OVERFLOW;
	while (fh_watch_read(w, &e, 300, &err) == 1)
		;
	run_in(s, ": > after");
	(void)await_event(w, FH_WATCH_CREATE, "after");
	fh_watch_close(w);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* A program that stops and kills whatever it can: an operation may fail, and none hangs or lies. */
static void a_program_that_kills_whatever_it_can(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char buf[64];
	struct fh_process *killer = spawn(s, "echo ready; while :; do kill -KILL -1; done 2>/dev/null");
	read_until(killer, FH_STDOUT, "ready\n", buf, sizeof(buf));
	for (int i = 0; i < 20; i++) {
		struct fh_file_info info;
		char *texts;
		if (fh_files_stat(s, NULL, ".", 0, &info, &texts, &err) == 0) {
			CHECK(info.type == FH_FILE_FOLDER);
			free(texts);
		} else {
			CHECK(err.code == FH_E_SYSTEM || err.code == FH_E_TIMEOUT);
		}
	}
	OK(fh_process_signal(killer, SIGKILL, &err));
	(void)wait_for(killer);
	CHECK(look(s, ".", 0).type == FH_FILE_FOLDER);
	fh_process_free(killer);
	fh_sandbox_free(s);
	fh_client_close(client);
}

const struct driver_test file_tests[] = {
	DRIVER_TEST(files_are_read_and_written_in_pieces),
	DRIVER_TEST(folders_are_made_listed_moved_and_removed),
	DRIVER_TEST(modes_times_sizes_and_attributes),
	DRIVER_TEST(links_stay_inside),
	DRIVER_TEST(remove_follows_no_link_and_loses_no_race),
	DRIVER_TEST(a_tree_without_bottom_is_removed),
	DRIVER_TEST(what_is_no_file_holds_nobody_up),
	DRIVER_TEST(a_full_disk_says_so),
	DRIVER_TEST(a_watch_that_is_asked_tells_all_that_happened_before),
	DRIVER_TEST(a_watch_sees_all_below),
	DRIVER_TEST(a_flood_is_told_as_an_overflow),
	DRIVER_TEST(a_program_that_kills_whatever_it_can),
	{ NULL, NULL },
};
