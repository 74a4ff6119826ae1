/* SPDX-License-Identifier: MIT */
/* Files over plain HTTP: envd's GET and POST /files, and its small pages. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "base/path.h"
#include "e2b/envd/entry.h"
#include "e2b/envd/file_reply.h"
#include "e2b/envd/routes.h"
#include "e2b/registry/registry.h"

enum { METADATA_KEY_MAX = 246, METADATA_TOTAL_MAX = 4096, INFLATED_PIECE = 64 << 10 };
#define FORM_TYPE "multipart/form-data"

/* The user of a /files request: its ?username=, not the Authorization header's. NULL after replying with 401. */
static const char *user_of(struct fh_http_request *r)
{
	const char *name = fh_http_query(r, "username"), *usual = fh_json_str(fh_e2b_hosted(r)->settings, "user", NULL),
	           *user = fh_account_named(name && *name ? name : usual);
	if (!user)
		fh_e2b_fail(r, 401, "error looking up user '%.64s'", name);
	return user;
}

/* ------------------------------------------------------------------------------------------------------- download */

/* Parses "bytes=5-9", "bytes=5-" or "bytes=-5" into the first byte and their number. False: no range, or one outside of
 * the file. */
static bool read_range(const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_count)
{
	unsigned long long first = 0, last = 0;
	char more;
	if (!text || size == 0)
		return false;
	if (sscanf(text, "bytes=-%llu%c", &last, &more) == 1) {
		*ret_count = FH_MIN((uint64_t)last, size);
		*ret_first = size - *ret_count;
		return *ret_count > 0;
	}
	int n = sscanf(text, "bytes=%llu-%llu%c", &first, &last, &more);
	if (n < 1 || n > 2 || first >= size || (n == 2 && last < first))
		return false;
	*ret_first = first;
	*ret_count = (n == 2 ? FH_MIN((uint64_t)last, size - 1) : size - 1) - first + 1;
	return true;
}

/* Whether a range, "bytes=5-9" or "bytes=5-", begins behind the file's end. A size of 0 may be that of a file of the
 * kernel's, which is read whole. */
static bool is_beyond(const char *text, uint64_t size)
{
	unsigned long long first = 0, last = 0;
	char more;
	if (!text || size == 0)
		return false;
	int n = sscanf(text, "bytes=%llu-%llu%c", &first, &last, &more);
	return first >= size && (n == 2 ? last >= first : n == 1 && text[strlen(text) - 1] == '-');
}

static int open_to_read(struct fh_hosted *h, const char *user, const char *path, uint64_t offset, uint64_t length,
                        struct fh_file_stream **ret, struct fh_error *err)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	o.user = fh_account_for(h, user);
	o.offset = offset;
	o.length = length;
	int r = fh_file_stream_open(h->sandbox, path, &o, ret, err);
	if (r < 0 && fh_entry_denied(h, user, err)) {
		o.user = "root";
		r = fh_file_stream_open(h->sandbox, path, &o, ret, err);
	}
	return r;
}

static void file_fail(struct fh_http_request *r, const struct fh_error *err, const char *path)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	if (!err->sys && !fh_hosted_is_there(h))
		fh_e2b_gone(r, h->id);
	else
		fh_file_fail(r, err, path);
}

static void download(struct fh_http_request *r, struct fh_str body)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	const char *user = user_of(r), *asked = fh_http_query(r, "path");
	struct fh_file_stream *file;
	struct fh_file_info info;
	struct fh_error err = FH_ERROR_INIT;
	uint64_t first = 0, count = 0;
	char range[96];
	if (!user)
		return;
	fh_auto_free char *path = fh_account_path(user, asked ? asked : "");
	if (open_to_read(h, user, path, 0, 0, &file, &err) < 0) {
		file_fail(r, &err, path);
		return;
	}
	fh_file_stream_info(file, &info);
	fh_http_reply_header(r, "Accept-Ranges", "bytes");
	const char *asked_range = fh_http_header(r, "Range");
	if (is_beyond(asked_range, info.size)) {
		(void)fh_file_stream_close(file, NULL);
		snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)info.size);
		fh_http_reply_header(r, "Content-Range", range);
		fh_e2b_fail(r, 416, "the file has %llu bytes, none of them in the range", (unsigned long long)info.size);
		return;
	}
	if (!read_range(asked_range, info.size, &first, &count)) {
		fh_file_reply(r, file, 200, info.size);
		return;
	}
	(void)fh_file_stream_close(file, NULL);
	if (open_to_read(h, user, path, first, count, &file, &err) < 0) {
		file_fail(r, &err, path);
		return;
	}
	snprintf(range, sizeof(range), "bytes %llu-%llu/%llu", (unsigned long long)first,
	         (unsigned long long)(first + count - 1), (unsigned long long)info.size);
	fh_http_reply_header(r, "Content-Range", range);
	fh_file_reply(r, file, 206, count);
}

/* --------------------------------------------------------------------------------------------------------- upload */

struct upload {
	struct fh_http_request *request;
	struct fh_hosted *hosted;
	const char *user, *asked; /* asked: the path in ?path=, which overrides the form's file name */
	struct fh_http_form *form;
	z_stream inflater;
	bool inflates, inflated_whole, failed;
	struct fh_file_stream *file;
	char *path, *part; /* path: of the file that is being written; part: its name in the form */
	bool as_root, part_is_empty;
	json_t *written;
};

static void upload_free(void *upload)
{
	struct upload *u = upload;
	if (u->file)
		(void)fh_file_stream_close(u->file, NULL);
	if (u->inflates)
		(void)inflateEnd(&u->inflater);
	(void)fh_http_form_end(u->form);
	json_decref(u->written);
	free(u->path);
	free(u->part);
	free(u);
}

static bool upload_fail(struct upload *u, const struct fh_error *err)
{
	u->failed = true;
	file_fail(u->request, err, u->path);
	return false;
}

/* Opens the file as the user or, where permission is denied, as root; a new file is then given to the user. */
static bool open_to_write(struct upload *u, const char *path)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_hosted *h = u->hosted;
	fh_auto_free char *parent = fh_path_dir(path);
	free(u->path);
	u->path = fh_xstrdup(path);
	o.user = fh_account_for(h, u->user);
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | FH_OPEN_TRUNCATE | FH_OPEN_PARENTS | FH_OPEN_OWN;
	int r = fh_file_stream_open(h->sandbox, path, &o, &u->file, &err);
	if (r < 0 && fh_entry_denied(h, u->user, &err) && (r = fh_entry_make_folders(h, u->user, parent, &err)) == 0) {
		r = fh_file_stream_open(h->sandbox, path, &o, &u->file, &err);
		u->as_root = r < 0 && fh_entry_denied(h, u->user, &err);
		if (u->as_root) {
			o.user = "root";
			o.flags &= ~(unsigned)FH_OPEN_OWN; /* close_file gives the file to the user */
			r = fh_file_stream_open(h->sandbox, path, &o, &u->file, &err);
		}
	}
	return r == 0 || upload_fail(u, &err);
}

static bool lower_ascii(const char *from, char *to, size_t n)
{
	size_t i = 0;
	for (; from[i] && i < n - 1; i++) {
		if (from[i] <= ' ' || from[i] > '~')
			return false;
		to[i] = (char)tolower((unsigned char)from[i]);
	}
	to[i] = '\0';
	return !from[i];
}

struct metadata {
	json_t *items;
	size_t total;
	bool bad;
};

static bool read_metadata_header(void *context, const char *name, const char *value)
{
	static const char prefix[] = "x-metadata-";
	struct metadata *m = context;
	char key[METADATA_KEY_MAX + 1];
	if (strncasecmp(name, prefix, sizeof(prefix) - 1) != 0)
		return true;
	name += sizeof(prefix) - 1;
	m->total += strlen(name) + strlen(value);
	for (const char *c = value; *c; c++)
		m->bad |= *c < ' ' || *c > '~';
	if (!*name || !lower_ascii(name, key, sizeof(key)) || m->total > METADATA_TOTAL_MAX ||
	    strlen(value) > FH_ATTRIBUTE_MAX)
		m->bad = true;
	else
		json_object_set_new(m->items, key, json_string(value));
	return !m->bad;
}

/* Sets the metadata attributes, which are added to the empty object `items`; those of an earlier upload are removed. */
static bool write_metadata(struct upload *u, json_t *items)
{
	struct metadata m = { .items = items };
	struct fh_hosted *h = u->hosted;
	const char *as = u->as_root ? "root" : fh_account_for(h, u->user), *key;
	json_t *value;
	fh_http_headers(u->request, read_metadata_header, &m);
	if (!json_object_size(items) && !atomic_load(&h->has_metadata))
		return true;
	atomic_store(&h->has_metadata, true);
	fh_auto_free char *names = NULL;
	size_t size = 0;
	if (fh_files_list_attributes(h->sandbox, as, u->path, &names, &size, NULL) == 0)
		for (const char *n = names; n < names + size; n += strlen(n) + 1)
			if (fh_starts_with(n, FH_METADATA_PREFIX) && !json_object_get(items, n + strlen(FH_METADATA_PREFIX)))
				(void)fh_files_set_attribute(h->sandbox, as, u->path, n, NULL, 0, NULL);
	json_object_foreach(items, key, value)
	{
		fh_auto_free char *name = fh_xasprintf(FH_METADATA_PREFIX "%s", key);
		struct fh_error err = FH_ERROR_INIT;
		if (fh_files_set_attribute(h->sandbox, as, u->path, name, json_string_value(value), json_string_length(value),
		                           &err) < 0)
			return upload_fail(u, &err);
	}
	return true;
}

/* Closes the file after its last byte. */
static bool close_file(struct upload *u)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file_changes owner = FH_FILE_CHANGES_INIT;
	if (!u->file)
		return true;
	if (fh_file_stream_close(FH_TAKE_PTR(u->file), &err) < 0)
		return upload_fail(u, &err);
	owner.uid = owner.gid = fh_account_uid(u->user);
	if (u->as_root)
		(void)fh_files_change(u->hosted->sandbox, "root", u->path, 0, &owner, NULL);
	fh_auto_json json_t *metadata = json_object();
	if (!write_metadata(u, metadata))
		return false;
	json_t *o = json_object();
	json_object_set_new(o, "path", fh_json_bytes(fh_str(u->path)));
	json_object_set_new(o, "name", fh_json_bytes(fh_str(fh_path_base(u->path))));
	json_object_set_new(o, "type", json_string("file"));
	if (json_object_size(metadata))
		json_object_set(o, "metadata", metadata);
	json_array_append_new(u->written, o);
	return true;
}

static bool write_bytes(struct upload *u, struct fh_str bytes)
{
	struct fh_error err = FH_ERROR_INIT;
	return !bytes.n || fh_file_stream_write(u->file, bytes.p, bytes.n, &err) == 0 || upload_fail(u, &err);
}

static bool on_form_data(void *upload, const char *name, const char *filename, uint64_t offset, struct fh_str data)
{
	struct upload *u = upload;
	if (u->failed || strcmp(name, "file") != 0)
		return !u->failed;
	/* The library reports the beginning of a part twice: without bytes, and with its first bytes. */
	bool begins = offset == 0 && !(u->file && u->part_is_empty && fh_streq(u->part, filename));
	if (begins) {
		const char *asked = u->asked ? u->asked : filename ? filename : "";
		fh_auto_free char *path = fh_account_path(u->user, asked);
		if (!close_file(u) || !open_to_write(u, path))
			return false;
		free(u->part);
		u->part = filename ? fh_xstrdup(filename) : NULL;
	}
	u->part_is_empty = begins && data.n == 0;
	return write_bytes(u, data);
}

static bool write_inflated(struct upload *u, struct fh_str piece)
{
	uint8_t out[INFLATED_PIECE];
	int z = Z_OK;
	u->inflater.next_in = (uint8_t *)(uintptr_t)piece.p;
	u->inflater.avail_in = (uInt)piece.n;
	while (u->inflater.avail_in && z == Z_OK) {
		if (u->inflated_whole) /* a file of gzip may be several, one behind the other */
			z = inflateReset(&u->inflater);
		u->inflater.next_out = out;
		u->inflater.avail_out = sizeof(out);
		z = inflate(&u->inflater, Z_NO_FLUSH);
		u->inflated_whole = z == Z_STREAM_END;
		if (!write_bytes(u, (struct fh_str){ (char *)out, sizeof(out) - u->inflater.avail_out }))
			return false;
		if (u->inflated_whole)
			z = Z_OK;
	}
	if (z == Z_OK || z == Z_BUF_ERROR)
		return true;
	u->failed = true;
	fh_e2b_fail(u->request, 400, "the body is not gzip, although its Content-Encoding says so");
	return false;
}

/* NULL after it has replied. */
static struct upload *upload_begin(struct fh_http_request *r)
{
	const char *user = user_of(r), *encoding = fh_http_header(r, "Content-Encoding");
	if (!user)
		return NULL;
	fh_auto_json json_t *items = json_object();
	struct metadata m = { .items = items };
	fh_http_headers(r, read_metadata_header, &m);
	if (m.bad) {
		fh_e2b_fail(r, 400,
		            "metadata is printable ASCII: keys of at most %d bytes, values of at most %d, %d bytes in all",
		            METADATA_KEY_MAX, FH_ATTRIBUTE_MAX, METADATA_TOTAL_MAX);
		return NULL;
	}
	struct upload *u = FH_NEW(struct upload);
	fh_http_request_keep(r, u, upload_free);
	u->request = r;
	u->hosted = fh_e2b_hosted(r);
	u->user = user;
	u->asked = fh_http_query(r, "path");
	u->written = json_array();
	const char *type = fh_http_header(r, "Content-Type");
	bool is_form = type && strncasecmp(type, FORM_TYPE, strlen(FORM_TYPE)) == 0;
	u->form = is_form ? fh_http_form_new(r, on_form_data, u) : NULL;
	u->inflates = encoding && strcasecmp(encoding, "gzip") == 0 && inflateInit2(&u->inflater, 16 + MAX_WBITS) == Z_OK;
	if (u->form)
		return u;
	if (is_form) {
		fh_e2b_fail(r, 400, "the form's Content-Type names no boundary");
		return NULL;
	}
	if (!u->asked) {
		fh_e2b_fail(r, 400, "an upload that is not a form names its file by ?path=");
		return NULL;
	}
	fh_auto_free char *path = fh_account_path(user, u->asked);
	return open_to_write(u, path) ? u : NULL;
}

static int upload_piece(struct fh_http_request *r, struct fh_str piece)
{
	struct upload *u = fh_http_request_kept(r);
	if (!u)
		u = upload_begin(r);
	if (!u || u->failed)
		return -1;
	if (u->form && !fh_http_form_add(u->form, piece) && !u->failed) {
		u->failed = true;
		fh_e2b_fail(r, 400, "the form in the body is malformed");
	}
	if (!u->form)
		(void)(u->inflates ? write_inflated(u, piece) : write_bytes(u, piece));
	return u->failed ? -1 : 0;
}

static void upload_end(struct fh_http_request *r, struct fh_str body)
{
	struct upload *u = fh_http_request_kept(r);
	if (!u && !(u = upload_begin(r)))
		return;
	bool whole = fh_http_form_end(FH_TAKE_PTR(u->form));
	if (u->failed)
		return;
	if (!whole)
		fh_e2b_fail(r, 400, "the form in the body ends before its last boundary");
	else if (u->inflates && !u->inflated_whole)
		fh_e2b_fail(r, 400, "the gzip stream in the body ends too early");
	else if (close_file(u))
		fh_http_reply_json(r, 200, json_incref(u->written));
}

/* ---------------------------------------------------------------------------------------------------------- pages */

static void health(struct fh_http_request *r, struct fh_str body)
{
	struct fh_hosted *h = fh_e2b_hosted(r);
	if (fh_hosted_is_there(h))
		fh_http_reply_empty(r, 204);
	else
		fh_e2b_gone(r, h->id);
}

static void envs(struct fh_http_request *r, struct fh_str body)
{
	fh_http_reply_json(r, 200, json_incref(fh_e2b_hosted(r)->envs));
}

const struct fh_http_route fh_e2b_file_routes[] = {
	{ "GET", "/health", health, .flags = FH_E2B_OPEN },
	{ "GET", "/envs", envs },
	{ "GET", "/files", download, .flags = FH_E2B_SIGNED },
	{ "POST", "/files", upload_end, upload_piece, .flags = FH_E2B_SIGNED },
	{ 0 },
};
