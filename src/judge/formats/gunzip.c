/* SPDX-License-Identifier: MIT */
#include "judge/formats/gunzip.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

enum { INPUT_SIZE = 128 << 10, WINDOW_OF_GZIP = 15 + 16 };

enum place {
	AT_BEGIN, /* nothing of the file was read yet */
	IN_PLAIN, /* the file is not gzip */
	IN_MEMBER,
	BEHIND_MEMBER,
};

struct fh_gunzip {
	int fd;
	enum place place;
	bool ended; /* the end of the file was reached */
	z_stream z; /* next_in, avail_in: bytes read and not yet consumed, for plain files too */
	unsigned char in[INPUT_SIZE];
};

struct fh_gunzip *fh_gunzip_new(int fd)
{
	struct fh_gunzip *g = FH_NEW(struct fh_gunzip);
	g->fd = fd;
	g->z.next_in = g->in;
	return g;
}

void fh_gunzip_free(struct fh_gunzip *g)
{
	if (!g)
		return;
	if (g->place == IN_MEMBER || g->place == BEHIND_MEMBER)
		inflateEnd(&g->z);
	close(g->fd);
	free(g);
}

/* Reads until at least `least` bytes are available, or to the end of the file. */
static int fill(struct fh_gunzip *g, size_t least, const char *name, struct fh_error *err)
{
	while (g->z.avail_in < least && !g->ended) {
		memmove(g->in, g->z.next_in, g->z.avail_in);
		g->z.next_in = g->in;
		ssize_t n = read(g->fd, g->in + g->z.avail_in, INPUT_SIZE - g->z.avail_in);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fh_error_sys(err, errno, "cannot read %s", name);
		g->z.avail_in += (uInt)n;
		g->ended = n == 0;
	}
	return 0;
}

static int damaged(const char *name, const char *what, struct fh_error *err)
{
	fh_error_set(err, FH_E_CONFIG, "%s: the compressed data is damaged or cut off (%s)", name, what);
	fh_error_hint(err, "gzip -t %s tests it; fetch the file again", name);
	return -FH_E_CONFIG;
}

static bool is_gzip(const struct fh_gunzip *g)
{
	return g->z.avail_in >= 2 && g->z.next_in[0] == 0x1f && g->z.next_in[1] == 0x8b;
}

/* Finds out what follows, at the beginning of the file or after a member. 1: more data follows. */
static int next_member(struct fh_gunzip *g, const char *name, struct fh_error *err)
{
	int r = fill(g, 2, name, err);
	while (r >= 0 && g->place == BEHIND_MEMBER && g->z.avail_in > 0 && *g->z.next_in == 0) {
		g->z.next_in++;
		g->z.avail_in--;
		r = fill(g, 2, name, err);
	}
	if (r < 0 || g->z.avail_in == 0)
		return r;
	if (!is_gzip(g)) {
		if (g->place == BEHIND_MEMBER)
			return damaged(name, "something that is not compressed stands behind it", err);
		g->place = IN_PLAIN;
		return 1;
	}
	int code = g->place == AT_BEGIN ? inflateInit2(&g->z, WINDOW_OF_GZIP) : inflateReset(&g->z);
	if (code != Z_OK)
		return fh_error_sys(err, ENOMEM, "cannot read %s", name);
	g->place = IN_MEMBER;
	return 1;
}

static ssize_t read_plain(struct fh_gunzip *g, char *into, size_t size, const char *name, struct fh_error *err)
{
	int r = fill(g, 1, name, err);
	if (r < 0)
		return r;
	size_t n = FH_MIN(size, (size_t)g->z.avail_in);
	memcpy(into, g->z.next_in, n);
	g->z.next_in += n;
	g->z.avail_in -= (uInt)n;
	return (ssize_t)n;
}

/* Returns 0 when the member has ended and gave no more bytes. */
static ssize_t read_member(struct fh_gunzip *g, char *into, size_t size, const char *name, struct fh_error *err)
{
	g->z.next_out = (unsigned char *)into;
	g->z.avail_out = (uInt)FH_MIN(size, (size_t)INT_MAX);
	uInt room = g->z.avail_out;
	while (g->z.avail_out == room) {
		int r = fill(g, 1, name, err);
		if (r < 0)
			return r;
		if (g->z.avail_in == 0)
			return damaged(name, "unexpected end of file", err);
		int code = inflate(&g->z, Z_NO_FLUSH);
		if (code == Z_STREAM_END) {
			g->place = BEHIND_MEMBER;
			break;
		}
		if (code != Z_OK && code != Z_BUF_ERROR)
			return damaged(name, g->z.msg ? g->z.msg : "no gzip", err);
	}
	return (ssize_t)(room - g->z.avail_out);
}

ssize_t fh_gunzip_read(struct fh_gunzip *g, char *into, size_t size, const char *name, struct fh_error *err)
{
	for (;;) {
		if (g->place == IN_PLAIN)
			return read_plain(g, into, size, name, err);
		if (g->place == IN_MEMBER) {
			ssize_t n = read_member(g, into, size, name, err);
			if (n != 0)
				return n;
			continue;
		}
		int r = next_member(g, name, err);
		if (r <= 0)
			return r;
	}
}
