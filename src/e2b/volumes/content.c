/* SPDX-License-Identifier: MIT */
/*
 * The files in a volume (/volumecontent/{id}/…), with the volume's token as bearer. Every call is made as root inside
 * the volume's hidden sandbox (hosted/volumes.h): a link in the volume leads to that sandbox's files, never to the
 * host's.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/path.h"
#include "e2b/envd/entry.h"
#include "e2b/envd/file_reply.h"
#include "e2b/volumes/routes.h"
#include "e2b/volumes/volume_size.h"

enum { OWNER = 1000, ENTRIES_MAX = 100000, DEPTH_MAX = 64 };

/* One request about a path of a volume. */
struct call {
	struct fh_http_request *request;
	struct fh_volume *volume;
	struct fh_hosted *hosted;
	const char *root;               /* the user as whom calls are made */
	char *path;                     /* in the volume, clean: "/dir/file" */
	char *inside;                   /* the same in the hidden sandbox */
	struct fh_file_changes changes; /* "uid", "gid" and "mode", of the query or body */
	bool force;
};

static void call_release(struct call *c)
{
	if (c->hosted)
		fh_hosted_drop(c->hosted);
	if (c->volume)
		fh_volume_drop(c->volume);
	free(c->path);
	free(c->inside);
}

/* ---------------------------------------------------------------------------------------------- reading a request */

static struct fh_volume *volume_of(struct fh_http_request *r)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *bearer = fh_http_header(r, "Authorization");
	fh_auto_volume struct fh_volume *v = fh_volume_find(s->volumes, fh_http_segment(r, 0));
	if (!v || !bearer || strncasecmp(bearer, "Bearer ", 7) != 0 || !fh_secret_equal(bearer + 7, v->token)) {
		fh_e2b_fail(r, 401, "the volume's token is missing or not valid");
		return NULL;
	}
	if (atomic_load(&v->mounts) < 0) {
		fh_e2b_fail(r, 404, "the volume is being removed");
		return NULL;
	}
	return FH_TAKE_PTR(v);
}

static const struct {
	const char *name;
	size_t offset;
	unsigned max;
} numbers[] = {
	{ "uid", offsetof(struct fh_file_changes, uid), 65534 },
	{ "gid", offsetof(struct fh_file_changes, gid), 65534 },
	{ "mode", offsetof(struct fh_file_changes, mode), 01777 },
};

static bool set_number(struct call *c, size_t i, bool is_number, double value)
{
	if (is_number && value >= 0 && value <= numbers[i].max && value == (double)(uint64_t)value) {
		*(uint64_t *)((char *)&c->changes + numbers[i].offset) = (uint64_t)value;
		return true;
	}
	fh_e2b_fail(c->request, 400, "%s must be a number from 0 to %u", numbers[i].name, numbers[i].max);
	return false;
}

static bool read_numbers(struct call *c)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++) {
		const char *text = fh_http_query(c->request, numbers[i].name);
		size_t digits = text ? strspn(text, "0123456789") : 0;
		if (text && !set_number(c, i, digits > 0 && digits < 10 && !text[digits], (double)strtoul(text, NULL, 10)))
			return false;
	}
	return true;
}

/* Reads what all requests have, and enters the volume. False after replying. */
static bool begin(struct fh_http_request *r, struct call *c)
{
	const char *path = fh_http_query(r, "path");
	struct fh_error err = FH_ERROR_INIT;
	*c = (struct call){ .request = r, .changes = FH_FILE_CHANGES_INIT };
	c->volume = volume_of(r);
	if (!c->volume)
		return false;
	if (!path || !*path) {
		fh_e2b_fail(r, 400, "the query names no path");
		return false;
	}
	fh_auto_free char *joined = fh_xasprintf("/%s", path);
	c->path = fh_path_clean(joined);
	c->inside = fh_streq(c->path, "/") ? fh_xstrdup(FH_VOLUME_INSIDE) : fh_xasprintf(FH_VOLUME_INSIDE "%s", c->path);
	c->force = fh_streq(fh_http_query(r, "force"), "true");
	if (!read_numbers(c))
		return false;
	if (fh_volume_enter(c->volume, fh_http_context(r), &c->hosted, &err) < 0) {
		fh_e2b_fail_from(r, &err);
		return false;
	}
	c->root = fh_account_for(c->hosted, "root");
	return true;
}

/* ----------------------------------------------------------------------------------------------- what is answered */

static json_t *time_json(int64_t ns)
{
	char date[32], text[48];
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!gmtime_r(&s, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return json_string("1970-01-01T00:00:00Z");
	snprintf(text, sizeof(text), "%s.%06dZ", date, (int)(ns % 1000000000 / 1000));
	return json_string(text);
}

static json_t *entry(const char *path, const struct fh_file_info *info)
{
	static const char *const types[FH_FILE_TYPE_COUNT_] = {
		[FH_FILE_REGULAR] = "file", [FH_FILE_FOLDER] = "directory", [FH_FILE_LINK] = "symlink"
	};
	json_t *o = json_object();
	json_object_set_new(o, "name", fh_json_bytes(fh_str(fh_path_base(path))));
	json_object_set_new(o, "type", json_string(types[info->type] ? types[info->type] : "unknown"));
	json_object_set_new(o, "path", fh_json_bytes(fh_str(path)));
	json_object_set_new(o, "size", json_integer((json_int_t)info->size));
	json_object_set_new(o, "mode", json_integer(info->mode & 07777));
	json_object_set_new(o, "uid", json_integer(info->uid));
	json_object_set_new(o, "gid", json_integer(info->gid));
	json_object_set_new(o, "atime", time_json(info->atime_ns));
	json_object_set_new(o, "mtime", time_json(info->mtime_ns));
	json_object_set_new(o, "ctime", time_json(info->ctime_ns));
	if (info->type == FH_FILE_LINK && info->target)
		json_object_set_new(o, "target", fh_json_bytes(fh_str(info->target)));
	return o;
}

/* Looks the call's path up, not through a link. False after replying. */
static bool look(const struct call *c, struct fh_file_info *ret, char **ret_buffer)
{
	struct fh_error err = FH_ERROR_INIT;
	if (fh_files_stat(c->hosted->sandbox, c->root, c->inside, FH_FILES_NOFOLLOW, ret, ret_buffer, &err) == 0)
		return true;
	fh_file_fail(c->request, &err, c->path);
	return false;
}

static void reply_entry(const struct call *c, unsigned status)
{
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL;
	if (look(c, &info, &buffer))
		fh_http_reply_json(c->request, status, entry(c->path, &info));
}

/* Sets owner and mode; what is new and was made as root belongs to the sandboxes' user. False after replying. */
static bool change(struct call *c, bool made_by_root)
{
	struct fh_file_changes changes = c->changes;
	struct fh_error err = FH_ERROR_INIT;
	if (made_by_root && changes.uid == FH_KEEP)
		changes.uid = OWNER;
	if (made_by_root && changes.gid == FH_KEEP)
		changes.gid = OWNER;
	bool none = changes.uid == FH_KEEP && changes.gid == FH_KEEP && changes.mode == FH_KEEP;
	if (none || fh_files_change(c->hosted->sandbox, c->root, c->inside, 0, &changes, &err) == 0)
		return true;
	fh_file_fail(c->request, &err, c->path);
	return false;
}

/* --------------------------------------------------------------------------------------------------- paths, folders */

static void show(struct fh_http_request *r, struct fh_str body)
{
	FH_CLEANUP(call_release) struct call c;
	if (begin(r, &c))
		reply_entry(&c, 200);
}

static void remove_path(struct fh_http_request *r, struct fh_str body)
{
	FH_CLEANUP(call_release) struct call c;
	struct fh_file_info info;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *buffer = NULL;
	if (!begin(r, &c))
		return;
	if (fh_streq(c.path, "/"))
		fh_e2b_fail(r, 400, "the volume itself is removed by DELETE /volumes/%s", c.volume->id);
	else if (!look(&c, &info, &buffer))
		return;
	else if (fh_files_remove(c.hosted->sandbox, c.root, c.inside, true, &err) < 0)
		fh_file_fail(r, &err, c.path);
	else
		fh_http_reply_empty(r, 204);
}

static void change_path(struct fh_http_request *r, struct fh_str text)
{
	FH_CLEANUP(call_release) struct call c;
	if (!begin(r, &c))
		return;
	fh_auto_json json_t *body = fh_e2b_body(r, text);
	if (!body)
		return;
	for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++) {
		const json_t *value = json_object_get(body, numbers[i].name);
		if (value && !json_is_null(value) && !set_number(&c, i, json_is_integer(value), json_number_value(value)))
			return;
	}
	if (change(&c, false))
		reply_entry(&c, 200);
}

static void make_folder(struct fh_http_request *r, struct fh_str body)
{
	FH_CLEANUP(call_release) struct call c;
	struct fh_error err = FH_ERROR_INIT;
	if (!begin(r, &c))
		return;
	/* as the sandboxes' user, to whom the folders then belong */
	int made = c.force ? fh_entry_make_folders(c.hosted, "user", c.inside, &err)
	                   : fh_files_make_folder(c.hosted->sandbox, c.root, c.inside, 0, false, &err);
	if (made < 0 && err.sys == EEXIST)
		fh_e2b_fail(r, 409, "path '%.400s' exists already", c.path);
	else if (made < 0)
		fh_file_fail(r, &err, c.path);
	else if (change(&c, !c.force && !c.hosted->one_id))
		reply_entry(&c, 201);
}

struct listing {
	const char *path;
	json_t *entries;
	struct item {
		char *path;
		json_t *entry;
	} * items;
	size_t count, capacity;
};

static void listing_release(struct listing *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].path);
		json_decref(l->items[i].entry);
	}
	free(l->items);
}

static int take_entry(void *context, const struct fh_file_info *info)
{
	struct listing *l = context;
	if (l->count == ENTRIES_MAX)
		return -FH_E_LIMIT;
	struct item *item = &FH_PUSH(l->items, l->count, l->capacity);
	item->path = fh_path_join(l->path, info->name);
	item->entry = entry(item->path, info);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

static void list(struct fh_http_request *r, struct fh_str body)
{
	FH_CLEANUP(call_release) struct call c;
	FH_CLEANUP(listing_release) struct listing l = { 0 };
	struct fh_file_info info;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *buffer = NULL;
	uint64_t depth;
	if (!begin(r, &c) || !look(&c, &info, &buffer) || !fh_e2b_query_number(r, "depth", 1, DEPTH_MAX, 1, &depth))
		return;
	if (info.type != FH_FILE_FOLDER) {
		fh_e2b_fail(r, 400, "path '%.400s' is not a directory", c.path);
		return;
	}
	l.path = c.path;
	int done = fh_files_list(c.hosted->sandbox, c.root, c.inside, (unsigned)depth, take_entry, &l, &err);
	if (l.count == ENTRIES_MAX) {
		fh_e2b_fail(r, 400, "more than %d entries: use a smaller depth", ENTRIES_MAX);
		return;
	}
	if (done < 0) {
		fh_file_fail(r, &err, c.path);
		return;
	}
	json_t *entries = json_array();
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), by_path);
	for (size_t i = 0; i < l.count; i++)
		json_array_append(entries, l.items[i].entry);
	fh_http_reply_json(r, 200, entries);
}

/* ---------------------------------------------------------------------------------------------------------- files */

static void read_file(struct fh_http_request *r, struct fh_str body)
{
	FH_CLEANUP(call_release) struct call c;
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file_stream *file;
	struct fh_file_info info;
	if (!begin(r, &c))
		return;
	o.user = c.root;
	if (fh_file_stream_open(c.hosted->sandbox, c.inside, &o, &file, &err) < 0) {
		fh_file_fail(r, &err, c.path);
		return;
	}
	fh_file_stream_info(file, &info);
	fh_file_reply(r, file, 200, info.size);
}

struct upload {
	struct call call;
	struct fh_file_stream *file;
	bool is_new, failed;
};

static void upload_free(void *upload)
{
	struct upload *u = upload;
	if (u->file)
		(void)fh_file_stream_close(u->file, NULL);
	call_release(&u->call);
	free(u);
}

static void upload_fail(struct upload *u, const struct fh_error *err)
{
	u->failed = true;
	fh_file_fail(u->call.request, err, u->call.path);
}

static void upload_full(struct upload *u)
{
	u->failed = true;
	fh_e2b_fail(u->call.request, 507, "volume %s is full: it may have %llu bytes", u->call.volume->name,
	            (unsigned long long)u->call.volume->owner->ceilings.value[FH_CEILING_VOLUME_SIZE]);
}

/* Opens the file, making missing folders, which belong to the sandboxes' user. */
static void upload_open(struct upload *u)
{
	struct call *c = &u->call;
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL, *parent = fh_path_dir(c->inside);
	bool keeps = fh_streq(fh_http_query(c->request, "force"), "false");
	u->is_new = fh_files_stat(c->hosted->sandbox, c->root, c->inside, 0, &info, &buffer, NULL) < 0;
	o.user = c->root;
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | (keeps ? FH_OPEN_EXCLUSIVE : FH_OPEN_TRUNCATE);
	int r = fh_file_stream_open(c->hosted->sandbox, c->inside, &o, &u->file, &err);
	if (r < 0 && err.sys == ENOENT && (r = fh_entry_make_folders(c->hosted, "user", parent, &err)) == 0)
		r = fh_file_stream_open(c->hosted->sandbox, c->inside, &o, &u->file, &err);
	if (r < 0 && keeps && err.sys == EEXIST) {
		u->failed = true;
		fh_e2b_fail(c->request, 409, "path '%.400s' exists already", c->path);
	} else if (r < 0) {
		upload_fail(u, &err);
	}
}

static struct upload *upload_begin(struct fh_http_request *r)
{
	struct upload *u = FH_NEW(struct upload);
	fh_http_request_keep(r, u, upload_free);
	u->failed = !begin(r, &u->call);
	if (u->failed)
		return u;
	struct fh_volume *v = u->call.volume;
	if (atomic_load(&v->is_full) || atomic_load(&v->bytes) > v->owner->ceilings.value[FH_CEILING_VOLUME_SIZE] / 2)
		fh_volume_look(fh_http_context(r), v); /* files may have been removed or replaced since */
	if (atomic_load(&v->is_full))
		upload_full(u);
	else
		upload_open(u);
	return u;
}

/* Counts bytes before they are written, those of all uploads at this time together. False: the volume would be full. */
static bool upload_count(struct upload *u, size_t n)
{
	struct fh_volume *v = u->call.volume;
	atomic_store(&v->is_changed, true);
	return atomic_fetch_add(&v->bytes, n) + n <= v->owner->ceilings.value[FH_CEILING_VOLUME_SIZE];
}

static int upload_piece(struct fh_http_request *r, struct fh_str piece)
{
	struct upload *u = fh_http_request_kept(r);
	struct fh_error err = FH_ERROR_INIT;
	if (!u)
		u = upload_begin(r);
	if (u->failed)
		return -1;
	if (!upload_count(u, piece.n))
		upload_full(u);
	else if (piece.n && fh_file_stream_write(u->file, piece.p, piece.n, &err) < 0)
		upload_fail(u, &err);
	return u->failed ? -1 : 0;
}

static void upload_end(struct fh_http_request *r, struct fh_str body)
{
	struct upload *u = fh_http_request_kept(r);
	struct fh_error err = FH_ERROR_INIT;
	if (!u)
		u = upload_begin(r);
	if (u->failed)
		return;
	if (fh_file_stream_close(FH_TAKE_PTR(u->file), &err) < 0)
		upload_fail(u, &err);
	else if (change(&u->call, u->is_new && !u->call.hosted->one_id))
		reply_entry(&u->call, 201);
}

const struct fh_http_route fh_e2b_content_routes[] = {
	{ "GET", "/volumecontent/{id}/path", show, .flags = FH_E2B_OPEN },
	{ "PATCH", "/volumecontent/{id}/path", change_path, .flags = FH_E2B_OPEN },
	{ "DELETE", "/volumecontent/{id}/path", remove_path, .flags = FH_E2B_OPEN },
	{ "GET", "/volumecontent/{id}/dir", list, .flags = FH_E2B_OPEN },
	{ "POST", "/volumecontent/{id}/dir", make_folder, .flags = FH_E2B_OPEN },
	{ "GET", "/volumecontent/{id}/file", read_file, .flags = FH_E2B_OPEN },
	{ "PUT", "/volumecontent/{id}/file", upload_end, upload_piece, .body_max = FH_HTTP_SIZE_UNKNOWN,
	  .flags = FH_E2B_OPEN },
	{ 0 },
};
