/* SPDX-License-Identifier: MIT */
/* Copies, lists and watches files of a session, and saves snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/fd.h"
#include "cli/session/session.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "json/json.h"

enum { PIECE = 256 << 10, LOOK_MS = 200 };
#define O fh_session_options

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* --------------------------------------------------------------------------------------------------------------- cp */

static int upload(const char *from, const char *session, const char *path, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	fh_auto_free char *piece = fh_xcalloc(1, PIECE), *into = NULL;
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	struct fh_file_info there;
	fh_auto_free char *texts = NULL;
	struct stat st;
	fh_auto_close int fd = fh_streq(from, "-") ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : fh_file_open_waiting(from);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fh_error_sys(err, errno, "cannot read %s", from);
	if (S_ISDIR(st.st_mode)) {
		(void)fh_error_set(err, FH_E_ARGUMENT, "%s is a folder; cp takes one file at a time", from);
		fh_error_hint(err, "tar -c %s | fumehood session exec %s -- tar -x", from, session);
		return -FH_E_ARGUMENT;
	}
	int r = fh_session_open(session, &h, err);
	if (r < 0)
		return r;
	/* The destination is a folder: the file keeps its name. */
	bool slash = path[strlen(path) - 1] == '/';
	if (slash || (fh_files_stat(h.sandbox, O.user, path, 0, &there, &texts, NULL) == 0 && there.type == FH_FILE_FOLDER))
		path = into = fh_xasprintf("%s%s%s", path, slash ? "" : "/", fh_streq(from, "-") ? "stdin" : last_part(from));
	o.user = O.user;
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | FH_OPEN_TRUNCATE | FH_OPEN_PARENTS;
	o.mode = S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0644;
	r = fh_file_stream_open(h.sandbox, path, &o, &f, err);
	if (r < 0)
		return r;
	for (;;) {
		ssize_t n = read(fd, piece, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = fh_error_sys(err, errno, "cannot read %s", from);
		if (n > 0)
			r = fh_file_stream_write(f, piece, (size_t)n, err);
		if (n <= 0 || r < 0)
			break;
	}
	int closed = fh_file_stream_close(f, r < 0 ? NULL : err);
	return r < 0 ? r : closed;
}

static int open_destination(const char *to, const char *name, struct fh_error *err)
{
	struct stat st;
	if (fh_streq(to, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	bool folder = stat(to, &st) == 0 && S_ISDIR(st.st_mode);
	fh_auto_free char *path = folder ? fh_xasprintf("%s/%s", to, name) : fh_xstrdup(to);
	/* A program in the sandbox chose the name: in a folder, where it may have made a link of that name, links are not
	 * followed. */
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (folder ? O_NOFOLLOW : 0), 0666);
	return fd < 0 ? fh_error_sys(err, errno, "cannot write %s", path) : fd;
}

static int download(const char *session, const char *path, const char *to, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	fh_auto_free char *piece = fh_xcalloc(1, PIECE);
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *f;
	int r = fh_session_open(session, &h, err);
	o.user = O.user;
	if (r == 0)
		r = fh_file_stream_open(h.sandbox, path, &o, &f, err);
	if (r < 0) {
		if (err->sys == EISDIR)
			fh_error_hint(err, "cp takes one file at a time: fumehood session exec %s -- tar -c %s | tar -x", session,
			              path);
		else if (err->sys == EINVAL || err->sys == ENXIO)
			fh_error_hint(err,
			              "it is a device, a FIFO or a socket: a program can read it, by fumehood session exec %s -- …",
			              session);
		return r;
	}
	struct fh_sigpipe_guard guard;
	int fd = open_destination(to, last_part(path), err);
	r = fd < 0 ? fd : 0;
	fh_sigpipe_block(
	    &guard); /* a FIFO or standard output without a reader gives an error, as a full disk does, and no SIGPIPE */
	for (ssize_t n; r == 0 && (n = fh_file_stream_read(f, piece, PIECE, err)) != 0;)
		r = n < 0                                    ? (int)n
		    : fh_write_all(fd, piece, (size_t)n) < 0 ? fh_error_sys(err, errno, "cannot write %s", to)
		                                             : 0;
	fh_sigpipe_restore(&guard);
	if (fd >= 0 && close(fd) < 0 && r == 0) /* a network file system may report an error only here */
		r = fh_error_sys(err, errno, "cannot write %s", to);
	(void)fh_file_stream_close(f, NULL);
	return r;
}

int fh_session_cp(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_free char *from = NULL, *to = NULL;
	const char *from_path, *to_path;
	(void)count;
	bool is_from = fh_session_split(args[0], &from, &from_path), is_to = fh_session_split(args[1], &to, &to_path);
	const char *outside = is_from && access(args[0], F_OK) == 0 ? args[0] : NULL; /* a file with a colon in its name */
	if (is_from && is_to) {
		(void)fh_error_set(err, FH_E_ARGUMENT, "one of the two files must be outside of sessions");
		if (outside)
			fh_error_hint(err, "the file of that name here is ./%s", outside);
		else
			fh_error_hint(err, "between two: fumehood session cp %s - | fumehood session cp - %s", args[0], args[1]);
		return -FH_E_ARGUMENT;
	}
	if (!is_from && !is_to)
		return fh_error_set(err, FH_E_ARGUMENT, "one of the two files must be in a session: SESSION:PATH");
	return is_from ? download(from, from_path, args[1], err) : upload(args[0], to, to_path, err);
}

/* --------------------------------------------------------------------------------------------------------------- ls */

static void print_info(const struct fh_file_info *i)
{
	static const char types[FH_FILE_TYPE_COUNT_] = "-dlpscb";
	char mode[11] = "", when[32];
	time_t t = (time_t)(i->mtime_ns / 1000000000);
	struct tm tm;
	mode[0] = types[i->type];
	for (int b = 0; b < 9; b++)
		mode[1 + b] = i->mode & 0400u >> b ? "rwx"[b % 3] : '-';
	mode[10] = 0;
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", localtime_r(&t, &tm));
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	fh_auto_free char *head = fh_xasprintf("%s %5u %5u %10" PRIu64 " %s ", mode, i->uid, i->gid, i->size, when);
	(void)fh_buf_add(&line, head, strlen(head));
	fh_escape_terminal(&line, fh_str(i->name), false);
	if (i->target) {
		(void)fh_buf_add(&line, " -> ", 4);
		fh_escape_terminal(&line, fh_str(i->target), false);
	}
	(void)fh_buf_add(&line, "\n", 1);
	fh_print(&line);
}

static int on_entry(void *array, const struct fh_file_info *i)
{
	if (!O.json) {
		print_info(i);
		return 0;
	}
	json_t *o = json_object();
	json_object_set_new(o, "name", fh_json_bytes(fh_str(i->name)));
	json_object_set_new(o, "type", json_string(fh_file_type_name(i->type)));
	json_object_set_new(o, "mode", json_integer(i->mode));
	json_object_set_new(o, "uid", json_integer(i->uid));
	json_object_set_new(o, "gid", json_integer(i->gid));
	json_object_set_new(o, "size", json_integer((json_int_t)i->size));
	json_object_set_new(o, "mtime_ns", json_integer((json_int_t)i->mtime_ns));
	json_object_set_new(o, "target", i->target ? fh_json_bytes(fh_str(i->target)) : json_null());
	json_array_append_new(array, o);
	return 0;
}

int fh_session_ls(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	fh_auto_free char *name = NULL;
	const char *path = ".";
	(void)count;
	if (!fh_session_split(args[0], &name, &path))
		name = fh_xstrdup(args[0]);
	fh_auto_json json_t *a = json_array();
	int r = fh_session_open(name, &h, err);
	if (r == 0)
		r = fh_files_list(h.sandbox, O.user, path, O.recursive ? 0 : 1, on_entry, a, err);
	if (r == -FH_E_NOT_FOUND && err->sys == ENOTDIR) { /* the path is a file, which is listed by itself */
		struct fh_file_info info;
		fh_auto_free char *texts = NULL;
		r = fh_files_stat(h.sandbox, O.user, path, FH_FILES_NOFOLLOW, &info, &texts, err);
		if (r == 0)
			on_entry(a, &info);
	}
	fh_auto_free char *text = fh_json_text(a, isatty(STDOUT_FILENO) ? 2 : 0);
	if (r == 0 && O.json)
		fh_print_line(text);
	return r;
}

/* ------------------------------------------------------------------------------------------------------------ watch */

static void print_event(const struct fh_watch_event *e)
{
	const char *kind = fh_watch_event_name(e->kind);
	if (O.json) {
		fh_auto_json json_t *o = json_object();
		json_object_set_new(o, "event", json_string(kind));
		json_object_set_new(o, "name", fh_json_bytes(fh_str(e->name)));
		json_object_set_new(o, "folder", json_boolean(e->folder));
		if (e->kind == FH_WATCH_RENAME) {
			json_object_set_new(o, "arrived", json_boolean(e->arrived));
			json_object_set_new(o, "cookie", json_integer(e->cookie));
		}
		fh_auto_free char *text = fh_json_text(o, 0);
		fh_print_line(text);
		return;
	}
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	fh_auto_free char *head = fh_xasprintf("%-8s ", e->kind == FH_WATCH_RENAME ? e->arrived ? "came" : "left" : kind);
	(void)fh_buf_add(&line, head, strlen(head));
	fh_escape_terminal(&line, fh_str(e->name), false);
	(void)fh_buf_add(&line, e->folder ? "/\n" : "\n", e->folder ? 2 : 1);
	fh_print(&line);
}

int fh_session_watch(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	fh_auto_free char *name = NULL;
	const char *path = ".";
	struct fh_watcher *w;
	struct fh_watch_event e;
	(void)count;
	if (!fh_session_split(args[0], &name, &path))
		name = fh_xstrdup(args[0]);
	int r = fh_session_open(name, &h, err);
	if (r == 0)
		r = fh_watch_open(h.sandbox, O.user, path, O.recursive, &w, err);
	if (r < 0)
		return r;
	fh_interrupt_catch();
	do {
		r = fh_watch_read(w, &e, LOOK_MS, err);
		if (r == 1)
			print_event(&e);
	} while (!fh_interrupted && !fh_print_lost() && (r == 1 || r == -FH_E_TIMEOUT));
	fh_watch_close(w);
	return fh_interrupted ? FH_EXIT_INTERRUPTED : r == -FH_E_TIMEOUT ? 0 : r;
}

/* --------------------------------------------------------------------------------------------------------- snapshot */

/* Written under another name until it is complete, so that nobody reads a partial file. That name is free again, and
 * may be left of one that was interrupted, when nobody holds its lock. A link is kept: its target is replaced. */
static int snapshot_to_file(struct fh_sandbox *sandbox, const char *to, uint64_t *ret_left_out, struct fh_error *err)
{
	fh_auto_free char *real = realpath(to, NULL);
	fh_auto_free char *partial = fh_xasprintf("%s.partial", real ? real : to);
	fh_auto_close int fd = open(partial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", partial);
	struct stat mine, there; /* who held it until now may have given the file its name just then */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &mine) < 0 || lstat(partial, &there) < 0 ||
	    mine.st_ino != there.st_ino)
		return fh_error_set(err, FH_E_UNAVAILABLE, "another fumehood process is writing to %s", to);
	int r = ftruncate(fd, 0) < 0 ? fh_error_sys(err, errno, "cannot write %s", partial)
	                             : fh_sandbox_snapshot(sandbox, fd, ret_left_out, err);
	if (r == 0 && (fsync(fd) < 0 || rename(partial, real ? real : to) < 0))
		r = fh_error_sys(err, errno, "cannot write %s", to);
	if (r < 0)
		(void)unlink(partial);
	return r;
}

/* To standard output, a pipe or a device, which cannot be replaced. */
static int snapshot_to_stream(struct fh_sandbox *sandbox, const char *to, uint64_t *ret_left_out, struct fh_error *err)
{
	struct fh_sigpipe_guard guard;
	fh_auto_close int fd =
	    fh_streq(to, "-") ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(to, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", to);
	if (isatty(fd)) {
		int r = fh_error_set(err, FH_E_ARGUMENT, "a snapshot is no text for a terminal");
		fh_error_hint(err, "name a file, or send it on: fumehood session snapshot S - | gzip > FILE");
		return r;
	}
	fh_sigpipe_block(&guard);
	int r = fh_sandbox_snapshot(sandbox, fd, ret_left_out, err);
	fh_sigpipe_restore(&guard);
	return r;
}

int fh_session_snapshot(const char *const *args, size_t count, struct fh_error *err)
{
	fh_auto_session struct fh_session_handle h = { NULL };
	uint64_t left_out = 0;
	(void)count;
	int r = fh_session_open(args[0], &h, err);
	if (r < 0)
		return r;
	struct stat st;
	if (fh_streq(args[1], "-") || (stat(args[1], &st) == 0 && !S_ISREG(st.st_mode)))
		r = snapshot_to_stream(h.sandbox, args[1], &left_out, err);
	else
		r = snapshot_to_file(h.sandbox, args[1], &left_out, err);
	if (r == 0 && left_out)
		fprintf(stderr, "fumehood: %" PRIu64 " entries were left out: sockets, FIFOs, and what cannot be read\n",
		        left_out);
	return r;
}
