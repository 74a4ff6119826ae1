/* SPDX-License-Identifier: MIT */
/* envd's service filesystem.Filesystem, without its watchers (watch_rpc.c). */
#include <errno.h>

#include "base/path.h"
#include "e2b/envd/entry.h"
#include "e2b/envd/routes.h"

enum { ENTRIES_MAX = 100000, DEPTH_MAX = 256 };

/* A call: its user, and its absolute path. */
struct call {
	struct fh_hosted *hosted;
	const char *user;
	const json_t *message;
	char *path;
};

static json_t *entry_message(FH_OWN json_t *entry)
{
	json_t *o = entry ? json_object() : NULL;
	if (entry)
		json_object_set_new(o, "entry", entry);
	return o;
}

static json_t *stat_call(const struct call *c, struct fh_connect_error *e)
{
	return entry_message(fh_entry_look(c->hosted, c->user, c->path, e));
}

static json_t *make_dir(const struct call *c, struct fh_connect_error *e)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL;
	if (fh_files_stat(c->hosted->sandbox, fh_account_for(c->hosted, c->user), c->path, 0, &info, &buffer, NULL) == 0) {
		if (info.type == FH_FILE_FOLDER)
			fh_connect_fail(e, FH_CONNECT_ALREADY_EXISTS, "directory already exists: %s", c->path);
		else
			fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "path already exists but it is not a directory: %s",
			                c->path);
		return NULL;
	}
	if (fh_entry_make_folders(c->hosted, c->user, c->path, &err) < 0) {
		fh_entry_fail(e, &err, c->path);
		return NULL;
	}
	return stat_call(c, e);
}

static json_t *move(const struct call *c, struct fh_connect_error *e)
{
	const char *to = fh_json_str(c->message, "destination", NULL), *as = fh_account_for(c->hosted, c->user);
	struct fh_error err = FH_ERROR_INIT;
	if (!to || !*to) {
		fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the request has no destination");
		return NULL;
	}
	fh_auto_free char *path = fh_account_path(c->user, to), *parent = fh_path_dir(path);
	int r = fh_files_rename(c->hosted->sandbox, as, c->path, path, &err);
	if (r < 0 && err.sys == ENOENT && fh_entry_make_folders(c->hosted, c->user, parent, NULL) == 0)
		r = fh_files_rename(c->hosted->sandbox, as, c->path, path, &err);
	if (r < 0 && fh_entry_denied(c->hosted, c->user, &err))
		r = fh_files_rename(c->hosted->sandbox, "root", c->path, path, &err);
	if (r < 0) {
		fh_entry_fail(e, &err, c->path);
		return NULL;
	}
	return entry_message(fh_entry_look(c->hosted, c->user, path, e));
}

static json_t *remove_call(const struct call *c, struct fh_connect_error *e)
{
	struct fh_error err = FH_ERROR_INIT;
	const char *as = fh_account_for(c->hosted, c->user);
	int r = fh_files_remove(c->hosted->sandbox, as, c->path, true, &err);
	if (r < 0 && fh_entry_denied(c->hosted, c->user, &err))
		r = fh_files_remove(c->hosted->sandbox, "root", c->path, true, &err);
	if (r == 0 || err.sys == ENOENT)
		return json_object();
	fh_entry_fail(e, &err, c->path);
	return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- list */

struct listed {
	char *path; /* relative to the listed folder */
	json_t *entry;
};
struct listing {
	const struct call *call;
	struct listed *items;
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
	fh_auto_free char *path = fh_path_join(l->call->path, info->name);
	if (l->count == ENTRIES_MAX)
		return -FH_E_LIMIT;
	struct listed *item = &FH_PUSH(l->items, l->count, l->capacity);
	item->path = fh_xstrdup(info->name);
	item->entry =
	    fh_entry_object(l->call->hosted, l->call->user, path, info, atomic_load(&l->call->hosted->has_metadata));
	return 0;
}

/* Order of entries: a folder, its contents, then its next sibling. To get it, '/' sorts before all other characters. */
static int in_order(const void *a, const void *b)
{
	const unsigned char *x = (const unsigned char *)((const struct listed *)a)->path,
	                    *y = (const unsigned char *)((const struct listed *)b)->path;
	while (*x && *x == *y)
		x++, y++;
	int first = *x == '/' ? 1 : *x ? *x + 1 : 0, second = *y == '/' ? 1 : *y ? *y + 1 : 0;
	return first - second;
}

static json_t *list_dir(const struct call *c, struct fh_connect_error *e)
{
	FH_CLEANUP(listing_release) struct listing l = { .call = c };
	int64_t depth = fh_json_int(c->message, "depth", 1);
	struct fh_error err = FH_ERROR_INIT;
	if (depth < 0 || depth > DEPTH_MAX) {
		fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "depth must be from 1 to %d", DEPTH_MAX);
		return NULL;
	}
	int r = fh_files_list(c->hosted->sandbox, fh_account_for(c->hosted, c->user), c->path, (unsigned)FH_MAX(depth, 1),
	                      take_entry, &l, &err);
	if (r < 0 && fh_entry_denied(c->hosted, c->user, &err))
		r = fh_files_list(c->hosted->sandbox, "root", c->path, (unsigned)FH_MAX(depth, 1), take_entry, &l, &err);
	if (r == -FH_E_LIMIT && !err.code)
		fh_connect_fail(e, FH_CONNECT_RESOURCE_EXHAUSTED, "more than %d entries below %s", ENTRIES_MAX, c->path);
	else if (r < 0)
		fh_entry_fail(e, &err, c->path);
	if (r < 0)
		return NULL;
	json_t *o = json_object(), *entries = json_array();
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), in_order);
	for (size_t i = 0; i < l.count; i++)
		json_array_append(entries, l.items[i].entry);
	json_object_set_new(o, "entries", entries);
	return o;
}

/* ---------------------------------------------------------------------------------------------------------- calls */

static void on_path(struct fh_http_request *r, struct fh_str body, const char *key,
                    json_t *(*work)(const struct call *c, struct fh_connect_error *e))
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_auto_json json_t *message = fh_connect_request(r, body);
	if (!message)
		return;
	const char *path = fh_json_str(message, key, ""), *user = fh_account_of_request(r, &e);
	json_t *answer = NULL;
	if (user) {
		fh_auto_free char *absolute = fh_account_path(user, path);
		struct call c = { fh_e2b_hosted(r), user, message, absolute };
		answer = work(&c, &e);
	}
	fh_connect_answer(r, answer, &e);
}

#define CALL(name, key, work)                                                                                          \
	static void name(struct fh_http_request *r, struct fh_str body)                                                    \
	{                                                                                                                  \
		on_path(r, body, key, work);                                                                                   \
	}
CALL(handle_stat, "path", stat_call)
CALL(handle_make_dir, "path", make_dir)
CALL(handle_move, "source", move)
CALL(handle_list_dir, "path", list_dir)
CALL(handle_remove, "path", remove_call)

const struct fh_http_route fh_e2b_filesystem_routes[] = {
	{ "POST", "/filesystem.Filesystem/Stat", handle_stat },
	{ "POST", "/filesystem.Filesystem/MakeDir", handle_make_dir },
	{ "POST", "/filesystem.Filesystem/Move", handle_move },
	{ "POST", "/filesystem.Filesystem/ListDir", handle_list_dir },
	{ "POST", "/filesystem.Filesystem/Remove", handle_remove },
	{ 0 },
};
