/* SPDX-License-Identifier: MIT */
#include "sandbox/session/helper.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "proto/wire.h"

enum { READ_SIZE = 256 << 10 };

int fh_helper_begin(struct fh_helper *h, struct fh_sandbox *sandbox, const char *user, const char *const *argv,
                    bool open_stdin, struct fh_error *err)
{
	for (size_t i = 0; argv[i]; i++)
		if (strlen(argv[i]) >= FH_PLAN_PATH_MAX)
			return fh_error_set(err, FH_E_ARGUMENT, "a path is longer than %d bytes", FH_PLAN_PATH_MAX - 1);
	return fh_process_spawn_helper(sandbox, user, argv, open_stdin, h->into, &h->process, err);
}

/* Maps an errno from inside to the code that callers check. */
static const struct {
	int sys;
	enum fh_code code;
} codes[] = {
	{ ENOENT, FH_E_NOT_FOUND },      { ENOTDIR, FH_E_NOT_FOUND },
	{ ENODATA, FH_E_NOT_FOUND },     { ECONNREFUSED, FH_E_NOT_FOUND },
	{ ENOSPC, FH_E_LIMIT },          { EDQUOT, FH_E_LIMIT },
	{ EFBIG, FH_E_LIMIT },           { EINVAL, FH_E_ARGUMENT },
	{ ENAMETOOLONG, FH_E_ARGUMENT },
};

static int failed(const struct fh_helper *h, int sys, struct fh_error *err)
{
	enum fh_code code = FH_E_SYSTEM;
	for (size_t i = 0; i < FH_ARRAY_SIZE(codes); i++)
		if (codes[i].sys == sys)
			code = codes[i].code;
	(void)fh_error_set(err, code, "cannot %s %s in the sandbox: %s", h->what, h->path, strerror(sys));
	if (err) {
		err->sys = sys;
		err->phase = FH_PHASE_FILES;
	}
	if (code == FH_E_LIMIT)
		fh_error_hint(err, "the limit on disk or on the size of files leaves no room: raise --disk or --file-size");
	return -(int)code;
}

static bool cut_record(struct fh_helper *h, struct fh_helper_record *ret)
{
	struct fh_str rest = { h->in.p + h->used, h->in.n - h->used };
	uint16_t kind;
	uint32_t size;
	if (rest.n < 8)
		return false;
	memcpy(&kind, rest.p, 2);
	memcpy(&size, rest.p + 4, 4);
	if (rest.n - 8 < size)
		return false;
	*ret = (struct fh_helper_record){ le16toh(kind), { rest.p + 8, size } };
	h->used += 8 + size;
	return true;
}

static int read_more(struct fh_helper *h, int64_t timeout_ms, struct fh_error *err)
{
	uint32_t size = 0;
	fh_buf_drop(&h->in, h->used);
	h->used = 0;
	if (h->in.n >= 8)
		memcpy(&size, h->in.p + 4, 4);
	char *room = le32toh(size) > FH_HELPER_RECORD_MAX + 8 ? NULL : fh_buf_reserve(&h->in, READ_SIZE);
	if (!room)
		return fh_error_set(err, FH_E_PROTOCOL, "a helper of the sandbox sent a record that is too large");
	ssize_t n = fh_process_read(h->process, FH_STDOUT, room, READ_SIZE, timeout_ms, err);
	if (n == 0)
		return fh_error_set(
		    err, FH_E_SYSTEM,
		    "cannot %s %s in the sandbox: the helper was ended before it was done, with the sandbox or by a "
		    "program in it",
		    h->what, h->path);
	if (n < 0)
		return (int)n;
	if (h->copy_to >= 0 && fh_write_all(h->copy_to, room, (size_t)n) < 0)
		return fh_error_sys(err, errno, "cannot write what was exported");
	h->in.n += (size_t)n;
	return 0;
}

int fh_helper_next(struct fh_helper *h, struct fh_helper_record *ret, int64_t timeout_ms, struct fh_error *err)
{
	if (h->over)
		return 0;
	while (!cut_record(h, ret)) {
		int r = read_more(h, timeout_ms, err);
		if (r < 0)
			return r;
	}
	if (ret->kind != FH_HELPER_DONE)
		return 1;
	h->over = true;
	h->count = fh_helper_number(ret->bytes, FH_HELPER_COUNT, 0);
	int sys = (int)fh_helper_number(ret->bytes, FH_HELPER_SYS, EPROTO);
	return sys ? failed(h, sys, err) : 0;
}

int fh_helper_finish(struct fh_helper *h, struct fh_error *err)
{
	struct fh_helper_record record;
	int r;
	do
		r = fh_helper_next(h, &record, -1, err);
	while (r > 0);
	return r;
}

void fh_helper_end(struct fh_helper *h)
{
	fh_process_free(h->process);
	h->process = NULL;
	fh_buf_release(&h->in);
}

int fh_helper_run(struct fh_sandbox *sandbox, const char *user, const char *what, const char *path,
                  const char *const *argv, struct fh_error *err)
{
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	h.what = what;
	h.path = path;
	int r = fh_helper_begin(&h, sandbox, user, argv, false, err);
	return r < 0 ? r : fh_helper_finish(&h, err);
}

uint64_t fh_helper_number(struct fh_str record, unsigned field, uint64_t fallback)
{
	struct fh_wire_reader r = fh_wire_reader(record);
	struct fh_wire_field f;
	while (fh_wire_next(&r, &f))
		if (f.tag == field)
			return fh_wire_get_u64(&r, &f);
	return fallback;
}

bool fh_helper_entry(struct fh_str record, struct fh_file_info *ret, struct fh_buf *texts)
{
	struct fh_wire_reader r = fh_wire_reader(record);
	struct fh_wire_field f;
	uint64_t number[FH_HELPER_ATTRIBUTED + 1] = { [FH_HELPER_END_TYPE] = FH_FILE_LINK };
	size_t text[FH_HELPER_END + 1] = { 0 }; /* where each is in `texts`, and 1 */
	while (fh_wire_next(&r, &f)) {
		if (f.tag == FH_HELPER_NAME || f.tag == FH_HELPER_TARGET || f.tag == FH_HELPER_END) {
			text[f.tag] = texts->n + 1;
			if (memchr(f.value.p, 0, f.value.n) || fh_buf_add(texts, f.value.p, f.value.n) < 0 ||
			    fh_buf_add(texts, "", 1) < 0)
				return false;
		} else if (f.tag < FH_ARRAY_SIZE(number) && f.tag != FH_HELPER_SAME && f.tag != FH_HELPER_ATTRIBUTE) {
			number[f.tag] = fh_wire_get_u64(&r, &f);
		}
	}
	if (r.malformed || !text[FH_HELPER_NAME] || number[FH_HELPER_TYPE] >= FH_FILE_TYPE_COUNT_ ||
	    number[FH_HELPER_END_TYPE] >= FH_FILE_TYPE_COUNT_)
		return false;
	*ret = (struct fh_file_info){
		.type = (enum fh_file_type)number[FH_HELPER_TYPE],
		.mode = (uint32_t)number[FH_HELPER_MODE],
		.uid = (uint32_t)number[FH_HELPER_UID],
		.gid = (uint32_t)number[FH_HELPER_GID],
		.links = (uint32_t)number[FH_HELPER_LINKS],
		.size = number[FH_HELPER_SIZE],
		.inode = number[FH_HELPER_INODE],
		.mtime_ns = (int64_t)number[FH_HELPER_MTIME],
		.atime_ns = (int64_t)number[FH_HELPER_ATIME],
		.ctime_ns = (int64_t)number[FH_HELPER_CTIME],
		.name = texts->p + text[FH_HELPER_NAME] - 1,
		.target = text[FH_HELPER_TARGET] ? texts->p + text[FH_HELPER_TARGET] - 1 : NULL,
		.end_type = (enum fh_file_type)number[FH_HELPER_END_TYPE],
		.end_mode = (uint32_t)number[FH_HELPER_END_MODE],
		.attributed = number[FH_HELPER_ATTRIBUTED] != 0,
		.end = text[FH_HELPER_END] ? texts->p + text[FH_HELPER_END] - 1 : NULL,
	};
	return true;
}
