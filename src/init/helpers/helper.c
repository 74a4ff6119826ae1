/* SPDX-License-Identifier: MIT */
/* The list of helpers, their arguments, and the records in which they answer. */
#include "init/helpers/helper.h"

#include <errno.h>
#include <signal.h>

#include "init/helpers/helpers.h"

/* ------------------------------------------------------------------------------------------------------- records */

enum { HEAD = 8, OUT_SIZE = FH_HELPER_RECORD_MAX + 2 * HEAD };
static char out[OUT_SIZE];
static size_t out_used, record_at;

void fh_out_flush(void)
{
	if (out_used && fh_write_full(1, out, out_used) < 0)
		fh_sys(__NR_exit_group, 1); /* the reader of the records is gone */
	out_used = 0;
}

static void put_head(char *at, unsigned kind, size_t size)
{
	uint16_t k = (uint16_t)kind, zero = 0;
	uint32_t n = (uint32_t)size;
	memcpy(at, &k, 2); /* little-endian, like both processors that sys.h supports */
	memcpy(at + 2, &zero, 2);
	memcpy(at + 4, &n, 4);
}

void fh_out_begin(unsigned kind)
{
	if (out_used > OUT_SIZE - 4 * FH_HELPER_PATH_MAX)
		fh_out_flush();
	record_at = out_used;
	put_head(out + out_used, kind, 0);
	out_used += HEAD;
}

/* A field that does not fit is left out. Only the value of an attribute can be that large. */
void fh_out_bytes(unsigned field, const void *p, size_t n)
{
	if (n > OUT_SIZE - out_used || OUT_SIZE - out_used - n < HEAD) {
		if (record_at == 0)
			return;
		char *record = out + record_at; /* sends the records before this one first, to make room for it */
		size_t size = out_used - record_at;
		out_used = record_at;
		fh_out_flush();
		memcpy(out, record, size);
		out_used = size;
		record_at = 0;
		if (n > OUT_SIZE - out_used || OUT_SIZE - out_used - n < HEAD)
			return;
	}
	put_head(out + out_used, field, n);
	memcpy(out + out_used + HEAD, p, n);
	out_used += HEAD + n;
}

void fh_out_number(unsigned field, uint64_t value)
{
	fh_out_bytes(field, &value, sizeof(value));
}

void fh_out_text(unsigned field, const char *text)
{
	fh_out_bytes(field, text, strlen(text));
}

void fh_out_end(void)
{
	uint16_t kind;
	memcpy(&kind, out + record_at, 2);
	put_head(out + record_at, kind, out_used - record_at - HEAD);
}

char *fh_out_room(size_t n)
{
	if (n + HEAD > OUT_SIZE - out_used)
		fh_out_flush();
	return out + out_used + HEAD;
}

void fh_out_filled(unsigned kind, size_t n)
{
	put_head(out + out_used, kind, n);
	out_used += HEAD + n;
}

void fh_out_plain(unsigned kind, const void *p, size_t n)
{
	memcpy(fh_out_room(n), p, n);
	fh_out_filled(kind, n);
}

void fh_out_done(long error, uint64_t count)
{
	fh_out_begin(FH_HELPER_DONE);
	fh_out_number(FH_HELPER_SYS, (uint64_t)-error);
	fh_out_number(FH_HELPER_COUNT, count);
	fh_out_end();
	fh_out_flush();
}

/* ----------------------------------------------------------------------------------------------------- arguments */

const char *fh_fd_path(int fd, char buffer[FH_FD_PATH_MAX])
{
	static const char prefix[] = "/proc/self/fd/";
	char *p = buffer + FH_FD_PATH_MAX - 1;
	*p = 0;
	do
		*--p = (char)('0' + fd % 10);
	while (fd /= 10);
	p -= sizeof(prefix) - 1;
	memcpy(p, prefix, sizeof(prefix) - 1);
	return p;
}

int64_t fh_argument_number(const char *text)
{
	uint64_t n = 0;
	int minus = *text == '-';
	if (minus && text[1] == 0)
		return INT64_MIN;
	for (text += minus; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return minus ? -(int64_t)n : (int64_t)n;
}

static int same_text(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static const struct {
	const char *name;
	uint32_t least, most; /* number of arguments */
	fh_helper_fn *run;
} helpers[] = {
	{ "stat", 2, 2, fh_helper_stat },             /* argv: FLAGS PATH */
	{ "list", 2, 2, fh_helper_list },             /* argv: DEPTH PATH */
	{ "mkdir", 3, 3, fh_helper_mkdir },           /* argv: PARENTS MODE PATH */
	{ "rename", 2, 2, fh_helper_rename },         /* argv: FROM TO */
	{ "remove", 2, 2, fh_helper_remove },         /* argv: RECURSIVE PATH */
	{ "link", 3, 3, fh_helper_link },             /* argv: SYMBOLIC TARGET PATH */
	{ "change", 8, 8, fh_helper_change },         /* argv: FLAGS MODE UID GID SIZE MTIME ATIME PATH; "-": unchanged */
	{ "xget", 2, 2, fh_helper_get_attribute },    /* argv: NAME PATH */
	{ "xlist", 1, 1, fh_helper_list_attributes }, /* argv: PATH */
	{ "xset", 2, 2, fh_helper_set_attribute },    /* argv: NAME PATH; the value on stdin */
	{ "xremove", 2, 2, fh_helper_remove_attribute },            /* argv: NAME PATH */
	{ "read", 4, 4, fh_helper_read },                           /* argv: FLAGS OFFSET LENGTH PATH */
	{ "write", 4, 4, fh_helper_write },                         /* argv: FLAGS MODE OFFSET PATH; the bytes on stdin */
	{ "space", 1, 1, fh_helper_space },                         /* argv: PATH */
	{ "export", 1, FH_HELPER_ARGUMENTS_MAX, fh_helper_export }, /* argv: PATH… */
	{ "import", 0, 0, fh_helper_import },                       /* stdin: the output of export */
	{ "watch", 2, 2, fh_helper_watch },                         /* argv: RECURSIVE PATH */
	{ "connect", 1, 1, fh_helper_connect }, /* argv: PORT; after the answer, stdin and stdout carry the stream */
};

void fh_helper_main(const char *const *argv, uint32_t argc, const char *cwd)
{
	/* without these signals, a write beyond a limit or to a closed pipe fails instead of killing the helper */
	uint64_t blocked = 1ULL << (SIGXFSZ - 1) | 1ULL << (SIGPIPE - 1), count = 0;
	long r = -EINVAL;
	fh_sys(__NR_rt_sigprocmask, SIG_BLOCK, &blocked, 0, 8);
	fh_sys(__NR_umask, 0);
	long at = fh_sys(__NR_chdir, cwd);
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++)
		if (argc && same_text(argv[0], helpers[i].name) && argc - 1 >= helpers[i].least && argc - 1 <= helpers[i].most)
			r = at < 0 ? at : helpers[i].run(argv + 1, &count);
	fh_out_done(r, count);
	for (;;)
		fh_sys(__NR_exit_group, r < 0);
}
