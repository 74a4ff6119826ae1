/* SPDX-License-Identifier: MIT */
#include "sandbox/prepare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/path.h"
#include "sandbox/planning/compile_cache.h"
#include "sandbox/planning/language.h"
#include "sandbox/run.h"

enum {
	KEPT_MAX = 6, /* number of toolchains whose prepared files are kept */
	OUT_BYTES_MAX = 256 << 20,
	FOLDERS_OPEN = 8,
};

static const char *source_of(const struct fh_plan *compile)
{
	for (size_t i = 0; i < compile->mount_count; i++) {
		const struct fh_plan_mount *m = &compile->mounts[i];
		if (m->kind == FH_MOUNT_BIND && m->optional && fh_streq(m->target, FH_PREPARED_TARGET))
			return m->source;
	}
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- plan */

static void set_outs(struct fh_plan *plan, const struct fh_language *l)
{
	fh_plan_set_strings(&plan->outs, NULL);
	for (size_t i = 0; l->prepare_outs[i]; i++) {
		const char *name = l->prepare_outs[i], *star = strchr(name, '*');
		for (int n = 0; n < (star ? FH_PREPARE_OUTS_MAX : 1); n++) {
			fh_auto_free char *numbered =
			    star ? fh_xasprintf("%.*s%d%s", (int)(star - name), name, n, star + 1) : fh_xstrdup(name);
			fh_plan_add_string(&plan->outs, numbered);
		}
	}
}

/* The plan of the language's own compile step, without any files of the user's, with `prepare` as its command. */
static int prepare_plan(const struct fh_language *l, const char *interpreter, struct fh_plan **ret,
                        struct fh_error *err)
{
	struct fh_request request;
	struct fh_plan *plan = NULL;
	fh_request_init(&request);
	request.language = l->name;
	request.interpreter = interpreter;
	int r = fh_plan_build(&request, &plan, err);
	if (r < 0)
		return r;
	struct fh_plan *step = FH_TAKE_PTR(plan->compile);
	fh_plan_set_strings(&step->argv, NULL);
	for (size_t i = 0; l->prepare[i]; i++)
		fh_plan_add_string(&step->argv, fh_streq(l->prepare[i], "{tool}") ? interpreter : l->prepare[i]);
	step->limits = l->prepare_limits;
	step->out_max_bytes = OUT_BYTES_MAX;
	set_outs(step, l);
	fh_plan_free(plan);
	*ret = step;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- folders */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static void remove_folder(const char *path)
{
	(void)nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders that lead to a file below `top`, readable by all, since a sandbox's user reads them. */
static bool make_folders(const char *top, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		fh_auto_free char *folder = fh_xasprintf("%s/%.*s", top, (int)(slash - name), name);
		if ((mkdir(folder, 0755) < 0 && errno != EEXIST) || chmod(folder, 0755) < 0)
			return false;
	}
	return true;
}

/* Writes to a temporary folder and renames that, so that a compilation sees all files or none. Without a result the
 * folder is empty. */
static bool store(const char *path, const struct fh_result *r)
{
	fh_auto_free char *beside = fh_xasprintf("%s.tmp", path);
	remove_folder(beside);
	bool good = mkdir(beside, 0755) == 0 && chmod(beside, 0755) == 0;
	for (size_t i = 0; good && r && i < r->out_count; i++) {
		fh_auto_free char *file = fh_path_join(beside, r->outs[i].name);
		if (!r->outs[i].refused)
			good = make_folders(beside, r->outs[i].name) &&
			       fh_file_replace(file, r->outs[i].data, r->outs[i].size, 0644, NULL) >= 0 && chmod(file, 0644) == 0;
	}
	good = good && rename(beside, path) == 0;
	if (!good)
		remove_folder(beside);
	return good;
}

/* Removes the oldest folder if there are more than KEPT_MAX. */
static void forget_others(const char *path)
{
	fh_auto_free char *folder = fh_path_dir(path);
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	fh_auto_free char *oldest = NULL;
	time_t least = 0;
	size_t count = 0;
	for (int i = 0; i < n; i++) {
		fh_auto_free char *one = fh_path_join(folder, names[i]->d_name);
		struct stat st;
		free(names[i]);
		if (fh_path_base(one)[0] == '.' || stat(one, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		count++;
		if (!fh_streq(one, path) && (!oldest || st.st_mtime < least)) {
			free(oldest);
			oldest = FH_TAKE_PTR(one);
			least = st.st_mtime;
		}
	}
	if (n >= 0)
		free(names);
	if (count > KEPT_MAX && oldest)
		remove_folder(oldest);
}

/* ------------------------------------------------------------------------------------------------------------ whole */

static int make(struct fh_client *client, const struct fh_plan *compile, const char *path,
                const struct fh_run_options *options, struct fh_error *err)
{
	fh_auto_language struct fh_language *l = NULL;
	struct fh_plan *plan = NULL;
	struct fh_result *result = NULL;
	int r = fh_language_load(compile->language, &l, err);
	if (r == 0)
		r = prepare_plan(l, compile->interpreter, &plan, err);
	if (r == 0)
		r = fh_execute(client, plan, options, &result, err);
	if (r == 0) {
		bool good = result->status == FH_STATUS_OK;
		if (good || result->status != FH_STATUS_ENGINE_ERROR) /* an error of the engine may not occur the next time */
			(void)store(path, good ? result : NULL);
		forget_others(path);
	}
	fh_result_free(result);
	fh_plan_free(plan);
	return r;
}

int fh_prepare(struct fh_client *client, const struct fh_plan *compile, const struct fh_run_options *options,
               struct fh_error *err)
{
	const char *path = source_of(compile);
	if (!path || fh_path_is_dir(path))
		return 0;
	fh_auto_free char *folder = fh_path_dir(path);
	fh_auto_free char *lock = fh_path_join(folder, ".lock");
	fh_auto_close int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return 0;
	return fh_path_is_dir(path) ? 0 : make(client, compile, path, options, err);
}
