/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <errno.h>
#include <sys/stat.h>
#include "base/fd.h"
#include "base/path.h"

static const struct fh_output *const table[] = { &fh_output_json, &fh_output_jsonl, &fh_output_csv };

int fh_output_for(const char *path, const struct fh_output **ret, struct fh_error *err)
{
	const char *extension = fh_path_ext(path);
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		if (strcmp(table[i]->extension, extension) == 0) {
			*ret = table[i];
			return 0;
		}
	struct fh_buf known = FH_BUF_INIT(0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		fh_buf_addf(&known, "%s%s", i ? ", " : "", table[i]->extension);
	int r = fh_error_set(err, FH_E_ARGUMENT, "cannot write results to %s: its extension says no known format", path);
	fh_error_hint(err, "known are %s", fh_buf_cstr(&known));
	fh_buf_release(&known);
	return r;
}

static int make_folders(const char *dir, struct fh_error *err)
{
	if (fh_path_is_dir(dir) || !*dir)
		return 0;
	fh_auto_free char *parent = fh_path_dir(dir);
	if (!fh_streq(parent, dir)) {
		int r = make_folders(parent, err);
		if (r < 0)
			return r;
	}
	return mkdir(dir, 0777) == 0 || errno == EEXIST ? 0 : fh_error_sys(err, errno, "cannot make folder %s", dir);
}

int fh_output_write(const struct fh_output_data *data, const char *path, struct fh_error *err)
{
	const struct fh_output *kind = NULL;
	int r = fh_output_for(path, &kind, err);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT((size_t)4 << 30);
	if (r == 0)
		r = kind->write(data, &out, err);
	if (r == 0 && out.overflowed)
		r = fh_error_set(err, FH_E_LIMIT, "%s: the results are larger than 4 GiB", path);
	fh_auto_free char *dir = fh_path_dir(path);
	if (r == 0)
		r = make_folders(dir, err);
	return r < 0 ? r : fh_file_write_atomic(path, fh_buf_cstr(&out), out.n, 0666, err);
}
