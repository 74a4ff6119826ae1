/* SPDX-License-Identifier: MIT */
#include "cli/run/run_inputs.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/run/run_result.h"

void fh_run_inputs_release(struct fh_run_inputs *in)
{
	for (size_t i = 0; i < in->file_count; i++)
		fh_buf_release(&in->contents[i]);
	for (size_t i = 0; i < in->text_count; i++)
		free(in->texts[i]);
	free(in->files);
	free(in->contents);
	free(in->mounts);
	free(in->outs);
	free(in->texts);
}

static const char *keep_text(struct fh_run_inputs *in, const char *s, size_t n)
{
	return in->texts[in->text_count++] = fh_xstrndup(s, n);
}

static int read_files(const struct fh_opt_list *files, struct fh_run_inputs *in, struct fh_error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		const char *item = files->items[i], *colon = strrchr(item, ':');
		/* The file's own name may contain a colon. */
		if (colon && (colon == item || fh_path_exists(item)))
			colon = NULL;
		const char *source = keep_text(in, item, colon ? (size_t)(colon - item) : strlen(item));
		struct fh_buf *content = &in->contents[in->file_count];
		content->max = FH_RUN_FILE_MAX;
		struct stat st;
		int r = fh_file_read(source, content, err);
		if (r < 0)
			return fh_error_wrap(err, "option --file");
		bool program = stat(source, &st) == 0 && (st.st_mode & 0100);
		in->files[in->file_count++] = (struct fh_file){ .name = colon && colon[1] ? colon + 1 : fh_path_base(source),
			                                            .content = { fh_buf_cstr(content), content->n },
			                                            .mode = program ? 0755 : 0644 };
	}
	return 0;
}

/* Parses SRC[:DST][:rw]; the part behind the last colon is DST only if it is an absolute path. */
static int read_mounts(const struct fh_opt_list *mounts, struct fh_run_inputs *in, struct fh_error *err)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const char *item = mounts->items[i];
		size_t n = strlen(item);
		bool writable = n > 3 && fh_streq(item + n - 3, ":rw");
		if (writable || (n > 3 && fh_streq(item + n - 3, ":ro")))
			n -= 3;
		const char *whole = keep_text(in, item, n);
		const char *colon = strrchr(whole, ':');
		if (colon && colon[1] != '/')
			return fh_error_set(err, FH_E_ARGUMENT, "option --mount: %s is not SRC[:DST][:rw] with an absolute DST",
			                    item);
		struct fh_mount *m = &in->mounts[in->mount_count++];
		m->source = colon ? keep_text(in, whole, (size_t)(colon - whole)) : whole;
		m->target = colon ? colon + 1 : NULL;
		m->writable = writable;
		if (!m->source[0])
			return fh_error_set(err, FH_E_ARGUMENT, "option --mount: there is no folder %s on this machine", item);
	}
	return 0;
}

int fh_run_inputs_read(const struct fh_opt_list *files, const struct fh_opt_list *mounts,
                       const struct fh_opt_list *outs, struct fh_run_inputs *in, struct fh_error *err)
{
	in->files = fh_xcalloc(files->count + 1, sizeof(*in->files));
	in->contents = fh_xcalloc(files->count + 1, sizeof(*in->contents));
	in->mounts = fh_xcalloc(mounts->count + 1, sizeof(*in->mounts));
	in->texts = fh_xcalloc(files->count + 2 * mounts->count + outs->count + 1, sizeof(*in->texts));
	in->outs = fh_xcalloc(outs->count + 1, sizeof(*in->outs));
	for (size_t i = 0; i < outs->count; i++)
		in->outs[i] = in->texts[in->text_count++] = fh_run_out_name(outs->items[i]);
	int r = read_files(files, in, err);
	return r < 0 ? r : read_mounts(mounts, in, err);
}
