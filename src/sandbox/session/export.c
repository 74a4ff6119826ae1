/* SPDX-License-Identifier: MIT */
/* Moves trees of files between sandboxes and files: export, import, branches, snapshots. */
#include "sandbox/session/helper.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "proto/wire.h"

enum { PIECE = 256 << 10 };

static const char **export_argv(const char *const *paths, size_t *ret_count)
{
	size_t n = 0;
	while (paths[n])
		n++;
	const char **argv = fh_xcalloc(n + 2, sizeof(*argv));
	argv[0] = "export";
	memcpy(argv + 1, paths, n * sizeof(*argv));
	*ret_count = n;
	return argv;
}

static int begin_export(struct fh_helper *h, struct fh_sandbox *sandbox, const char *user, const char *const *paths,
                        struct fh_error *err)
{
	size_t n;
	fh_auto_free const char **argv = export_argv(paths, &n);
	h->what = "export";
	h->path = n ? paths[0] : "";
	if (n == 0 || n > FH_HELPER_ARGUMENTS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "1 to %d folders are exported at once", FH_HELPER_ARGUMENTS_MAX);
	return fh_helper_begin(h, sandbox, user, argv, false, err);
}

int fh_files_export(struct fh_sandbox *sandbox, const char *user, const char *const *paths, int fd,
                    uint64_t *ret_left_out, struct fh_error *err)
{
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	int r = begin_export(&h, sandbox, user, paths, err);
	h.copy_to = fd;
	if (r == 0)
		r = fh_helper_finish(&h, err);
	if (r == 0 && ret_left_out)
		*ret_left_out = h.count;
	return r;
}

static int begin_import(struct fh_helper *h, struct fh_sandbox *sandbox, const char *user, struct fh_error *err)
{
	const char *const argv[] = { "import", NULL };
	h->what = "import";
	h->path = "files";
	return fh_helper_begin(h, sandbox, user, argv, true, err);
}

/* What an import passed on, as text. */
struct left_out {
	char **items;
	size_t count, capacity;
};

static void left_out_release(struct left_out *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i]);
	free(l->items);
}

static char *left_out_text(struct fh_str record)
{
	struct fh_wire_reader r = fh_wire_reader(record);
	struct fh_wire_field f;
	struct fh_str name = { "", 0 };
	int sys = (int)fh_helper_number(record, FH_HELPER_SYS, 0);
	while (fh_wire_next(&r, &f))
		if (f.tag == FH_HELPER_NAME)
			name = f.value;
	if (!name.n)
		return fh_xasprintf("%llu more", (unsigned long long)fh_helper_number(record, FH_HELPER_COUNT, 0));
	fh_auto_free char *path = fh_xstrndup(name.p, name.n);
	return fh_xasprintf("%s: %s", path, sys ? strerror(sys) : "of a kind that is not copied");
}

/* Reads the rest of an import's answer. */
static int finish_import(struct fh_helper *h, struct left_out *ret, struct fh_error *err)
{
	struct fh_helper_record record;
	int r;
	while ((r = fh_helper_next(h, &record, -1, err)) > 0)
		if (record.kind == FH_HELPER_LEFT_OUT && ret->count <= FH_HELPER_LEFT_OUT_MAX)
			FH_PUSH(ret->items, ret->count, ret->capacity) = left_out_text(record.bytes);
	return r;
}

static void keep_left_out(struct fh_sandbox *s, struct left_out *l)
{
	FH_PUSH(l->items, l->count, l->capacity) = NULL;
	s->left_out = FH_TAKE_PTR(l->items);
	*l = (struct left_out){ 0 };
}

const char *const *fh_sandbox_left_out(const struct fh_sandbox *sandbox)
{
	static const char *const nothing[] = { NULL };
	return sandbox->left_out ? (const char *const *)sandbox->left_out : nothing;
}

static int import(struct fh_sandbox *sandbox, const char *user, int fd, struct left_out *ret, struct fh_error *err)
{
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	fh_auto_free char *piece = fh_xcalloc(1, PIECE);
	int r = begin_import(&h, sandbox, user, err);
	while (r == 0) {
		ssize_t n = read(fd, piece, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fh_error_sys(err, errno, "cannot read what is to be imported");
		if (n == 0)
			break;
		r = fh_process_write(h.process, piece, (size_t)n, err);
		if (r == -FH_E_NOT_FOUND) { /* the helper stopped reading; its answer tells why */
			r = 0;
			break;
		}
	}
	if (r == 0)
		(void)fh_process_close_stdin(h.process, NULL);
	return r < 0 ? r : finish_import(&h, ret, err);
}

int fh_files_import(struct fh_sandbox *sandbox, const char *user, int fd, struct fh_error *err)
{
	FH_CLEANUP(left_out_release) struct left_out l = { 0 };
	return import(sandbox, user, fd, &l, err);
}

/* The folders that contain everything a sandbox can write. NULL-terminated; the items belong to the plan. */
static const char **writable_folders(const struct fh_plan *plan)
{
	const char **list = fh_xcalloc(plan->mount_count + 1, sizeof(*list));
	size_t n = 0;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].kind == FH_MOUNT_WRITABLE)
			list[n++] = plan->mounts[i].target;
	return list;
}

/* The user who can read and create all of these files: root if that has capabilities, else the sandbox's own user. */
static const char *keeper_of(const struct fh_plan *plan)
{
	return plan->root_capabilities ? "root" : NULL;
}

/* The helpers are joined by a pipe. The importing one tells of a failure of either. */
static int copy_files(struct fh_sandbox *from, struct fh_sandbox *to, const struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_free const char **folders = writable_folders(plan);
	fh_auto_helper struct fh_helper out = FH_HELPER_INIT, in = FH_HELPER_INIT;
	FH_CLEANUP(left_out_release) struct left_out l = { 0 };
	if (!folders[0])
		return 0;
	int r = begin_import(&in, to, keeper_of(plan), err);
	out.into = in.process;
	if (r == 0)
		r = begin_export(&out, from, keeper_of(plan), folders, err);
	if (r == 0)
		r = finish_import(&in, &l, err);
	if (r == 0)
		keep_left_out(to, &l);
	return r;
}

int fh_sandbox_branch(struct fh_sandbox *from, const struct fh_sandbox_options *options, struct fh_sandbox **ret,
                      struct fh_error *err)
{
	struct fh_plan *plan;
	struct fh_sandbox *s;
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	int r = fh_sandbox_plan(from, &plan, err);
	if (r < 0)
		return r;
	if (options)
		memcpy(&o, options, FH_MIN(options->size, sizeof(o)));
	r = fh_sandbox_make(from->client, o.plan, o.plan ? NULL : from, options, &s, NULL, err);
	if (r == 0) {
		r = copy_files(from, s, plan, err);
		if (r < 0) {
			(void)fh_sandbox_destroy(s, NULL);
			fh_sandbox_free(s);
		}
	}
	fh_plan_free(plan);
	if (r == 0)
		*ret = s;
	return r;
}

/* ------------------------------------------------------------------------------------------------------- snapshots */

/* A snapshot consists of the magic, the size of the plan's JSON (8 bytes, little-endian), the JSON, and an export. */
static const char magic[16] = "fumehood-snap/1\n";
enum { PLAN_JSON_MAX = 16 << 20 };

int fh_sandbox_snapshot(struct fh_sandbox *sandbox, int fd, uint64_t *ret_left_out, struct fh_error *err)
{
	struct fh_plan *plan;
	fh_auto_free char *json = NULL;
	int r = fh_sandbox_plan(sandbox, &plan, err);
	if (r < 0)
		return r;
	fh_auto_free const char **folders = writable_folders(plan);
	r = fh_plan_to_json(plan, &json, err);
	if (r == 0) {
		uint64_t size = htole64(strlen(json));
		if (fh_write_all(fd, magic, sizeof(magic)) < 0 || fh_write_all(fd, &size, sizeof(size)) < 0 ||
		    fh_write_all(fd, json, strlen(json)) < 0)
			r = fh_error_sys(err, errno, "cannot write the snapshot");
	}
	if (r == 0)
		r = fh_files_export(sandbox, keeper_of(plan), folders, fd, ret_left_out, err);
	fh_plan_free(plan);
	return r;
}

static bool read_exactly(int fd, void *to, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t r = read(fd, (char *)to + have, n - have);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		have += (size_t)r;
	}
	return true;
}

static int read_plan(int fd, struct fh_plan **ret, struct fh_error *err)
{
	char head[sizeof(magic)];
	uint64_t size;
	if (!read_exactly(fd, head, sizeof(head)) || memcmp(head, magic, sizeof(magic)) != 0 ||
	    !read_exactly(fd, &size, sizeof(size)) || le64toh(size) > PLAN_JSON_MAX)
		return fh_error_set(err, FH_E_CONFIG, "this is not a snapshot of fumehood, or only the beginning of one");
	size = le64toh(size);
	fh_auto_free char *json = fh_xcalloc(1, size + 1);
	if (!read_exactly(fd, json, size))
		return fh_error_set(err, FH_E_CONFIG, "the snapshot is truncated: it ends within its plan");
	return fh_plan_from_json(json, size, "snapshot", ret, err);
}

int fh_sandbox_restore(struct fh_client *client, int fd, const struct fh_sandbox_options *options,
                       struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_plan *plan;
	struct fh_sandbox *s;
	int r = read_plan(fd, &plan, err);
	if (r < 0)
		return r;
	r = fh_sandbox_create(client, plan, options, &s, err);
	if (r < 0) {
		fh_plan_free(plan);
		return r;
	}
	fh_plan_free(plan);
	plan = NULL;
	FH_CLEANUP(left_out_release) struct left_out l = { 0 };
	r = fh_sandbox_plan(s, &plan, err); /* the plan as it is after the engine's changes */
	if (r == 0)
		r = import(s, keeper_of(plan), fd, &l, err);
	if (r == 0)
		keep_left_out(s, &l);
	fh_plan_free(plan);
	if (r < 0) {
		(void)fh_sandbox_destroy(s, NULL);
		fh_sandbox_free(s);
		return r;
	}
	*ret = s;
	return 0;
}
