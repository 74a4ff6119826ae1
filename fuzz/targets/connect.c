/* SPDX-License-Identifier: MIT */
/* Streams of Connect from a client: however they are cut into pieces, the same messages come, and then the same error.
 * The members of a message are read as the calls read them, in proto3's JSON. */
#include "base/text/base64.h"
#include "e2b/common/connect.h"
#include "fuzz.h"

struct taken {
	struct fh_buf texts;
	size_t messages;
};

/* As the calls on processes and files do. */
static void read_members(const json_t *message)
{
	static const char *const names[] = { "process", "start", "data", "input", "pty", "size" };
	const json_t *at = message;
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		const json_t *inner = json_object_get(at, names[i]);
		at = inner ? inner : at;
	}
	fh_auto_buf struct fh_buf bytes = FH_BUF_INIT(FH_CONNECT_MESSAGE_MAX);
	const char *text = fh_json_str(at, "stdin", NULL);
	if (text && fh_base64_decode(&bytes, fh_str(text)) == 0)
		FH_FUZZ_CHECK(bytes.n <= strlen(text));
	(void)fh_json_int(at, "pid", 0);
	(void)fh_json_bool(at, "recursive", false);
}

static int take(void *context, const json_t *message, struct fh_connect_error *e)
{
	struct taken *t = context;
	fh_auto_free char *text = fh_json_text(message, 0);
	FH_FUZZ_CHECK(json_is_object(message) && text);
	read_members(message);
	fh_buf_adds(&t->texts, text);
	fh_buf_addc(&t->texts, '\n');
	t->messages++;
	return fh_streq(fh_json_str(message, "stop", NULL), "here") ? fh_connect_fail(e, FH_CONNECT_CANCELED, "asked to")
	                                                            : 0;
}

/* Parses a stream in pieces of `piece` bytes. */
static int parse(struct fh_str s, size_t piece, struct taken *ret, struct fh_connect_error *e)
{
	struct fh_connect_parser p;
	int r = 0;
	*ret = (struct taken){ .texts = FH_BUF_INIT(0) };
	fh_connect_parser_init(&p);
	for (size_t at = 0; r == 0 && at < s.n; at += piece) {
		size_t n = FH_MIN(piece, s.n - at);
		char *exact = fh_fuzz_copy((const uint8_t *)s.p + at, n);
		r = fh_connect_parser_add(&p, (struct fh_str){ exact, n }, take, ret, e);
		free(exact);
	}
	fh_connect_parser_release(&p);
	return r;
}

static void check_pieces(struct fh_str s, size_t piece)
{
	struct taken whole, cut;
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT, other = FH_CONNECT_ERROR_INIT;
	int r = parse(s, FH_MAX(s.n, (size_t)1), &whole, &e), again = parse(s, piece, &cut, &other);
	FH_FUZZ_CHECK(r == again && e.code == other.code && (r < 0) == (e.code != FH_CONNECT_OK));
	FH_FUZZ_CHECK(whole.messages == cut.messages && whole.texts.n == cut.texts.n &&
	              (!whole.texts.n || memcmp(whole.texts.p, cut.texts.p, whole.texts.n) == 0));
	fh_buf_release(&whole.texts);
	fh_buf_release(&cut.texts);
}

/* What is framed is read back. */
static void check_frame(struct fh_str s)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_auto_json json_t *message = fh_connect_stream_request(s, &e);
	FH_FUZZ_CHECK(!message == (e.code != FH_CONNECT_OK));
	if (!message)
		return;
	fh_auto_buf struct fh_buf framed = FH_BUF_INIT(0);
	fh_connect_frame(&framed, message);
	fh_auto_json json_t *same = fh_connect_stream_request(fh_buf_str(&framed), &e);
	/* as texts, since -0 is a real that is written as 0 */
	fh_auto_free char *first = fh_json_text(message, 0), *second = same ? fh_json_text(same, 0) : NULL;
	FH_FUZZ_CHECK(second && strcmp(first, second) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	size_t piece = (size_t)fh_fuzz_number(&in, 1) % 16 + 1;
	char *copy = fh_fuzz_copy(in.p, in.n);
	check_pieces((struct fh_str){ copy, in.n }, piece);
	check_frame((struct fh_str){ copy, in.n });
	free(copy);
	return 0;
}
