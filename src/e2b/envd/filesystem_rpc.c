/* SPDX-License-Identifier: MIT */
/* envd's service filesystem.Filesystem, without its watchers (watch_rpc.c). */
#include <errno.h>
#include <signal.h>

#include "base/error.h"
#include "base/path.h"
#include "e2b/envd/entry.h"
#include "e2b/envd/routes.h"
#include "e2b/hosted/accounts.h"

enum { ENTRIES_MAX = 100000, DEPTH_MAX = 256, MOVE_MS = 60000 };

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

/* The sandbox's folders are file systems of their own, between which no file can be renamed: it is copied, by the
 * sandbox's own mv. A sandbox of the cloud is one disk. What has a file system below it is refused before anything of
 * it is removed. */
#define MOVE                                                                                                           \
	"d=$(realpath -e -- \"${1%/*}/\") || exit 1; f=${d%/}/${1##*/}\n"                                                  \
	"while read -r _ at _; do printf -v at %b \"${at//\\\\/\\\\0}\"; [[ $at == \"$f\" || $at == \"$f\"/* ]] && exit "  \
	"16\n"                                                                                                             \
	"done < /proc/self/mounts\n"                                                                                       \
	"exec mv -f -T -- \"$f\" \"$2\""
static int move_between(struct fh_hosted *h, const char *user, const char *from, const char *to, struct fh_error *err)
{
	const char *argv[] = { "/bin/bash", "-c", MOVE, "mv", from, to, NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	struct fh_exit x;
	o.argv = argv;
	o.user = h->one_id ? fh_account_for(h, user) : "root"; /* as envd does it; the owner stays */
	o.no_stdin = true;
	int r = fh_process_spawn(h->sandbox, &o, &p, err);
	if (r < 0)
		return r;
	r = fh_process_wait(p, MOVE_MS, &x, err);
	if (r == -FH_E_TIMEOUT)
		(void)fh_process_signal(p, SIGKILL, NULL);
	fh_process_free(p);
	if (r == 0 && x.exit_code != 0)
		r = fh_error_set(err, FH_E_ARGUMENT, "cannot move %s: it, or what is at its new place, cannot be removed",
		                 from);
	return r;
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
	struct fh_error unmade = FH_ERROR_INIT; /* "No such file" says more than why a folder could not be made */
	int r = fh_files_rename(c->hosted->sandbox, as, c->path, path, &err);
	if (r < 0 && fh_entry_denied(c->hosted, c->user, &err))
		r = fh_files_rename(c->hosted->sandbox, as = "root", c->path, path, &err);
	if (r < 0 && err.sys == ENOENT && fh_entry_make_folders(c->hosted, c->user, parent, &unmade) == 0)
		r = fh_files_rename(c->hosted->sandbox, as, c->path, path, &err);
	if (r < 0 && fh_entry_denied(c->hosted, c->user, &err))
		r = fh_files_rename(c->hosted->sandbox, "root", c->path, path, &err);
	if (r < 0 && err.sys == EXDEV) {
		err = (struct fh_error)FH_ERROR_INIT;
		r = move_between(c->hosted, c->user, c->path, path, &err);
	}
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
	item->entry = fh_entry_object(l->call->hosted, l->call->user, path, info,
	                              (info->attributed || info->type == FH_FILE_LINK) &&
	                                  atomic_load(&l->call->hosted->has_metadata));
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
	{ "POST", "/filesystem.Filesystem/Stat", handle_stat, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/MakeDir", handle_make_dir, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/Move", handle_move, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/ListDir", handle_list_dir, .flags = FH_E2B_CALL },
	{ "POST", "/filesystem.Filesystem/Remove", handle_remove, .flags = FH_E2B_CALL },
	{ 0 },
};
