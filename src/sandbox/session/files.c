/* SPDX-License-Identifier: MIT */
/* Files of a session: each call runs one helper inside, whose argv says what to do. */
#include "sandbox/session/helper.h"

#include <inttypes.h>
#include <stdio.h>

#include "init/messages.h"

static const char *const type_names[FH_FILE_TYPE_COUNT_] = { "regular", "folder",    "link", "fifo",
	                                                         "socket",  "character", "block" };

const char *fh_file_type_name(enum fh_file_type t)
{
	return (unsigned)t < FH_FILE_TYPE_COUNT_ ? type_names[t] : "unknown";
}

struct decimal {
	char text[24];
};

static struct decimal number(uint64_t v)
{
	struct decimal d;
	snprintf(d.text, sizeof(d.text), "%" PRIu64, v);
	return d;
}

static struct decimal or_dash(bool keep, int64_t v)
{
	struct decimal d = { "-" };
	if (!keep)
		snprintf(d.text, sizeof(d.text), "%" PRId64, v);
	return d;
}

static int malformed(struct fh_error *err)
{
	return fh_error_set(err, FH_E_PROTOCOL, "a helper of the sandbox sent a malformed record");
}

/* ------------------------------------------------------------------------------------------------------------ look */

int fh_files_stat(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                  struct fh_file_info *ret_info, char **ret_buffer, struct fh_error *err)
{
	const char *argv[] = { "stat", flags & FH_FILES_NOFOLLOW ? "1" : "0", path, NULL };
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	fh_auto_buf struct fh_buf texts = FH_BUF_INIT(0);
	struct fh_helper_record record;
	struct fh_file_info info;
	bool seen = false;
	h.what = "look at";
	h.path = path;
	int r = fh_helper_begin(&h, sandbox, user, argv, false, err);
	while (r >= 0 && (r = fh_helper_next(&h, &record, -1, err)) > 0)
		if (record.kind == FH_HELPER_ENTRY && !seen) {
			seen = fh_helper_entry(record.bytes, &info, &texts);
			r = seen ? r : malformed(err);
		}
	if (r == 0 && !seen)
		r = malformed(err);
	if (r < 0)
		return r;
	*ret_buffer = fh_buf_take(&texts, NULL);
	*ret_info = info;
	return 0;
}

int fh_files_list(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned depth,
                  int (*on_entry)(void *context, const struct fh_file_info *info), void *context, struct fh_error *err)
{
	struct decimal levels = number(depth);
	const char *argv[] = { "list", levels.text, path, NULL };
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	fh_auto_buf struct fh_buf texts = FH_BUF_INIT(0);
	struct fh_helper_record record;
	h.what = "list";
	h.path = path;
	int r = fh_helper_begin(&h, sandbox, user, argv, false, err);
	while (r >= 0 && (r = fh_helper_next(&h, &record, -1, err)) > 0) {
		struct fh_file_info info;
		if (record.kind != FH_HELPER_ENTRY)
			continue;
		fh_buf_truncate(&texts, 0);
		if (!fh_helper_entry(record.bytes, &info, &texts))
			return malformed(err);
		int answer = on_entry(context, &info);
		if (answer)
			return answer;
	}
	return r;
}

/* ---------------------------------------------------------------------------------------------------------- change */

int fh_files_make_folder(struct fh_sandbox *sandbox, const char *user, const char *path, uint32_t mode, bool parents,
                         struct fh_error *err)
{
	struct decimal m = number(mode ? mode & 07777 : 0755);
	const char *argv[] = { "mkdir", parents ? "1" : "0", m.text, path, NULL };
	return fh_helper_run(sandbox, user, "make the folder", path, argv, err);
}

int fh_files_rename(struct fh_sandbox *sandbox, const char *user, const char *from, const char *to,
                    struct fh_error *err)
{
	const char *argv[] = { "rename", from, to, NULL };
	return fh_helper_run(sandbox, user, "rename", from, argv, err);
}

int fh_files_remove(struct fh_sandbox *sandbox, const char *user, const char *path, bool recursive,
                    struct fh_error *err)
{
	const char *argv[] = { "remove", recursive ? "1" : "0", path, NULL };
	return fh_helper_run(sandbox, user, "remove", path, argv, err);
}

int fh_files_link(struct fh_sandbox *sandbox, const char *user, const char *target, const char *path, bool symbolic,
                  struct fh_error *err)
{
	const char *argv[] = { "link", symbolic ? "1" : "0", target, path, NULL };
	return fh_helper_run(sandbox, user, "make the link", path, argv, err);
}

int fh_files_change(struct fh_sandbox *sandbox, const char *user, const char *path, unsigned flags,
                    const struct fh_file_changes *c, struct fh_error *err)
{
	struct decimal mode = or_dash(c->mode == FH_KEEP, (int64_t)(c->mode & 07777)),
	               uid = or_dash(c->uid == FH_KEEP, (int64_t)c->uid), gid = or_dash(c->gid == FH_KEEP, (int64_t)c->gid),
	               size = or_dash(c->size == FH_KEEP, (int64_t)c->size),
	               mtime = or_dash(c->mtime_ns == INT64_MIN, c->mtime_ns),
	               atime = or_dash(c->atime_ns == INT64_MIN, c->atime_ns);
	const char *argv[] = { "change",   flags & FH_FILES_NOFOLLOW ? "1" : "0",
		                   mode.text,  uid.text,
		                   gid.text,   size.text,
		                   mtime.text, atime.text,
		                   path,       NULL };
	return fh_helper_run(sandbox, user, "change", path, argv, err);
}

/* ---------------------------------------------------------------------------------------------- extended attributes */

static int get_value(struct fh_sandbox *sandbox, const char *user, const char *path, const char *const *argv,
                     uint8_t **ret, size_t *ret_size, struct fh_error *err)
{
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	fh_auto_buf struct fh_buf value = FH_BUF_INIT(0);
	struct fh_helper_record record;
	h.what = "read an attribute of";
	h.path = path;
	int r = fh_helper_begin(&h, sandbox, user, argv, false, err);
	while (r >= 0 && (r = fh_helper_next(&h, &record, -1, err)) > 0)
		if (record.kind == FH_HELPER_VALUE)
			(void)fh_buf_add(&value, record.bytes.p, record.bytes.n);
	if (r == 0)
		*ret = (uint8_t *)fh_buf_take(&value, ret_size);
	return r;
}

int fh_files_get_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                           uint8_t **ret_value, size_t *ret_size, struct fh_error *err)
{
	const char *argv[] = { "xget", name, path, NULL };
	return get_value(sandbox, user, path, argv, ret_value, ret_size, err);
}

int fh_files_list_attributes(struct fh_sandbox *sandbox, const char *user, const char *path, char **ret_names,
                             size_t *ret_size, struct fh_error *err)
{
	const char *argv[] = { "xlist", path, NULL };
	uint8_t *names;
	int r = get_value(sandbox, user, path, argv, &names, ret_size, err);
	if (r == 0)
		*ret_names = (char *)names;
	return r;
}

/* Writes the helper's whole input, then waits for its answer. If the helper stopped reading, its answer tells why. */
static int give(struct fh_helper *h, const void *data, size_t n, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT, told = FH_ERROR_INIT;
	int r = n ? fh_process_write(h->process, data, n, &why) : 0;
	int finished = r < 0 ? fh_helper_finish(h, &told) : 0;
	if (r == 0 || (finished == 0 && r == -FH_E_NOT_FOUND))
		return 0;
	if (err)
		*err = finished < 0 ? told : why;
	return finished < 0 ? finished : r;
}

int fh_files_set_attribute(struct fh_sandbox *sandbox, const char *user, const char *path, const char *name,
                           const void *value, size_t size, struct fh_error *err)
{
	const char *argv[] = { value ? "xset" : "xremove", name, path, NULL };
	_Static_assert((int)FH_ATTRIBUTE_MAX == (int)FH_INIT_ATTRIBUTE_MAX, "the filter lets the same through");
	if (value && size > FH_ATTRIBUTE_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "an extended attribute has at most %d bytes in a sandbox, and not %zu",
		                    FH_ATTRIBUTE_MAX, size);
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	h.what = "change an attribute of";
	h.path = path;
	int r = fh_helper_begin(&h, sandbox, user, argv, true, err);
	if (r == 0)
		r = give(&h, value, value ? size : 0, err);
	if (r == 0)
		(void)fh_process_close_stdin(h.process, NULL);
	return r < 0 ? r : fh_helper_finish(&h, err);
}

/* --------------------------------------------------------------------------------------------- one file, in pieces */

struct fh_file_stream {
	struct fh_helper helper;
	struct fh_file_info info;
	struct fh_buf texts;
	char *path;
	bool writes;
	struct fh_str rest; /* the unread rest of the last DATA */
};

static void free_stream(struct fh_file_stream *f)
{
	fh_helper_end(&f->helper);
	fh_buf_release(&f->texts);
	free(f->path);
	free(f);
}

int fh_file_stream_open(struct fh_sandbox *sandbox, const char *path, const struct fh_open_options *options,
                        struct fh_file_stream **ret, struct fh_error *err)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	if (options)
		memcpy(&o, options, FH_MIN(options->size, sizeof(o)));
	struct decimal flags = number(o.flags), mode = number(o.mode ? o.mode & 07777 : 0644), offset = number(o.offset),
	               length = number(o.length);
	const char *to_read[] = { "read", flags.text, offset.text, length.text, path, NULL };
	const char *to_write[] = { "write", flags.text, mode.text, offset.text, path, NULL };
	struct fh_file_stream *f = FH_NEW(struct fh_file_stream);
	struct fh_helper_record record;
	f->helper = (struct fh_helper)FH_HELPER_INIT;
	f->writes = (o.flags & FH_OPEN_WRITE) != 0;
	f->path = fh_xstrdup(path);
	f->helper.what = f->writes ? "write" : "read";
	f->helper.path = f->path;
	int r = fh_helper_begin(&f->helper, sandbox, o.user, f->writes ? to_write : to_read, f->writes, err);
	if (r == 0)
		r = fh_helper_next(&f->helper, &record, -1, err);
	if (r == 1)
		r = record.kind == FH_HELPER_ENTRY && fh_helper_entry(record.bytes, &f->info, &f->texts) ? 0 : malformed(err);
	else if (r == 0)
		r = malformed(err);
	if (r < 0) {
		free_stream(f);
		return r;
	}
	*ret = f;
	return 0;
}

void fh_file_stream_info(const struct fh_file_stream *file, struct fh_file_info *ret)
{
	*ret = file->info;
}

ssize_t fh_file_stream_read(struct fh_file_stream *file, void *buffer, size_t n, struct fh_error *err)
{
	struct fh_helper_record record;
	if (file->writes)
		return fh_error_set(err, FH_E_ARGUMENT, "%s was opened to be written", file->path);
	while (file->rest.n == 0) {
		int r = fh_helper_next(&file->helper, &record, -1, err);
		if (r <= 0)
			return r;
		if (record.kind == FH_HELPER_DATA)
			file->rest = record.bytes;
	}
	n = FH_MIN(n, file->rest.n);
	memcpy(buffer, file->rest.p, n);
	file->rest.p += n;
	file->rest.n -= n;
	return (ssize_t)n;
}

int fh_file_stream_write(struct fh_file_stream *file, const void *data, size_t n, struct fh_error *err)
{
	if (!file->writes)
		return fh_error_set(err, FH_E_ARGUMENT, "%s was opened to be read", file->path);
	return give(&file->helper, data, n, err);
}

int fh_file_stream_close(struct fh_file_stream *file, struct fh_error *err)
{
	int r = 0;
	if (!file)
		return 0;
	if (file->writes) {
		r = fh_process_close_stdin(file->helper.process, err);
		r = r == 0 || r == -FH_E_NOT_FOUND ? fh_helper_finish(&file->helper, err) : r;
	}
	free_stream(file);
	return r;
}
