/* SPDX-License-Identifier: MIT */
/* An answer that a server inside of a sandbox gives. What reaches the client of its head is a status and headers in one
 * line each, none of which belong to the connection; a body in chunks is the same however its bytes arrive. */
#include "e2b/answer_head.h"
#include "e2b/chunks.h"
#include "fuzz.h"

static void on_header(void *context, const char *name, const char *value)
{
	FH_FUZZ_CHECK(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
	FH_FUZZ_CHECK(strcasecmp(name, "Content-Length") != 0 && strcasecmp(name, "Transfer-Encoding") != 0);
	FH_FUZZ_CHECK(strcasecmp(name, "Connection") != 0);
	++*(size_t *)context;
}

static void look_at_head(struct fh_fuzz_input in, bool upgrade)
{
	fh_auto_free char *text = fh_xstrndup((const char *)in.p, in.n);
	size_t headers = 0, lines = 0;
	struct fh_answer_end end = { 0 };
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	unsigned status = fh_answer_head_read(text, upgrade, &end, on_header, &headers);
	FH_FUZZ_CHECK(status == 0 || (status >= 100 && status <= 599));
	FH_FUZZ_CHECK(headers <= lines);
	FH_FUZZ_CHECK(status == 0 || !end.chunked || end.left == FH_HTTP_SIZE_UNKNOWN);
}

/* Takes the bytes apart in pieces of `step`; false: they are malformed. */
static bool take_apart(struct fh_fuzz_input in, size_t step, struct fh_buf *body, enum fh_chunks_state *ret_state)
{
	struct fh_chunks chunks = { 0 };
	fh_auto_free char *bytes = fh_xmemdup(in.p, in.n);
	ssize_t got = 0;
	for (size_t at = 0; at < in.n && got >= 0; at += step) {
		size_t n = FH_MIN(step, in.n - at);
		got = fh_chunks_take(&chunks, bytes + at, n);
		FH_FUZZ_CHECK(got <= (ssize_t)n);
		if (got > 0)
			fh_buf_add(body, bytes + at, (size_t)got);
	}
	*ret_state = chunks.state;
	return got >= 0;
}

static void look_at_chunks(struct fh_fuzz_input in)
{
	fh_auto_buf struct fh_buf whole = { 0 }, parts = { 0 };
	enum fh_chunks_state at_once, bit_by_bit;
	bool good = take_apart(in, in.n ? in.n : 1, &whole, &at_once);
	FH_FUZZ_CHECK(good == take_apart(in, 1, &parts, &bit_by_bit) && at_once == bit_by_bit);
	FH_FUZZ_CHECK(!good || (whole.n == parts.n && (whole.n == 0 || memcmp(whole.p, parts.p, whole.n) == 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	uint64_t kind = fh_fuzz_number(&in, 1);
	if (kind & 2)
		look_at_chunks(in);
	else
		look_at_head(in, kind & 1);
	return 0;
}
