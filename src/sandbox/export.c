// SPDX-License-Identifier: MIT
/* Trees of files out of a sandbox and into another: export, import, branches. */
#include "sandbox/helper.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"

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

int fh_files_import(struct fh_sandbox *sandbox, const char *user, int fd, struct fh_error *err)
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
		if (r == -FH_E_NOT_FOUND) { /* it stopped reading: its answer says why */
			r = 0;
			break;
		}
	}
	if (r == 0)
		(void)fh_process_close_stdin(h.process, NULL);
	return r < 0 ? r : fh_helper_finish(&h, err);
}

/* The folders that hold all that a sandbox can write. A list that ends with NULL; its items belong to the plan. */
static const char **writable_folders(const struct fh_plan *plan)
{
	const char **list = fh_xcalloc(plan->mount_count + 1, sizeof(*list));
	size_t n = 0;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].kind == FH_MOUNT_WRITABLE)
			list[n++] = plan->mounts[i].target;
	return list;
}

static int copy_files(struct fh_sandbox *from, struct fh_sandbox *to, const struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_free const char **folders = writable_folders(plan);
	fh_auto_helper struct fh_helper out = FH_HELPER_INIT, in = FH_HELPER_INIT;
	if (!folders[0])
		return 0;
	int r = begin_import(&in, to, NULL, err);
	if (r == 0)
		r = begin_export(&out, from, NULL, folders, err);
	out.pipe_to = in.process;
	if (r == 0)
		r = fh_helper_finish(&out, err);
	if (r == 0)
		(void)fh_process_close_stdin(in.process, NULL);
	return r < 0 ? r : fh_helper_finish(&in, err);
}

int fh_sandbox_branch(struct fh_sandbox *from, const struct fh_sandbox_options *options, struct fh_sandbox **ret,
                      struct fh_error *err)
{
	struct fh_plan *plan;
	struct fh_sandbox *s;
	int r = fh_sandbox_plan(from, &plan, err);
	if (r < 0)
		return r;
	r = fh_sandbox_make(from->client, NULL, from, options, &s, NULL, err);
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
