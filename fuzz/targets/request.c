/* SPDX-License-Identifier: MIT */
/* What a client of an HTTP server decides of a request's way: the target with its path and query, the Host that names a
 * port of a sandbox, base64 in headers and messages. */
#include "base/text/base64.h"
#include "e2b/address.h"
#include "fuzz.h"
#include "server/http_target.h"

/* Whether a decoded text lies in the memory of its target, with its NUL. */
static bool lies_within(const struct fh_target *t, const char *text, size_t size)
{
	return text >= t->text && text < t->text + size && memchr(text, 0, size - (size_t)(text - t->text));
}

static void check_target(const char *raw)
{
	struct fh_target t;
	size_t size = strlen(raw) + 1, slashes = 0;
	if (fh_target_parse(raw, &t) < 0)
		return;
	FH_FUZZ_CHECK(raw[0] == '/' && fh_starts_with(raw, t.path) && !strchr(t.path, '?'));
	for (const char *c = t.path; *c; c++)
		slashes += *c == '/';
	FH_FUZZ_CHECK(t.segment_count == (fh_streq(t.path, "/") ? 0 : slashes));
	for (size_t i = 0; i < t.segment_count; i++)
		FH_FUZZ_CHECK(lies_within(&t, t.segment[i], size));
	for (size_t i = 0; i < t.query_count; i++)
		FH_FUZZ_CHECK(lies_within(&t, t.name[i], size) && lies_within(&t, t.value[i], size));
	fh_target_release(&t);
}

static void check_decoding(const char *raw)
{
	fh_auto_free char *text = fh_xstrdup(raw);
	if (fh_target_decode(text))
		FH_FUZZ_CHECK(strlen(text) <= strlen(raw) && (strpbrk(raw, "%+") || fh_streq(text, raw)));
}

static void check_host(const char *raw)
{
	struct fh_e2b_address a = { 0 };
	if (!fh_e2b_address_of_host(raw, &a))
		return;
	size_t n = strspn(a.id, "abcdefghijklmnopqrstuvwxyz0123456789");
	FH_FUZZ_CHECK(a.port >= 1 && a.port <= 65535);
	FH_FUZZ_CHECK(n > 0 && n < sizeof(a.id) && a.id[n] == '\0');
	fh_auto_free char *again = fh_xasprintf("%u-%s.", a.port, a.id);
	/* before the dash the same number, perhaps with zeros in front; behind it the same id, perhaps in capitals */
	const char *dash = strchr(raw, '-'), *id = strchr(again, '-');
	FH_FUZZ_CHECK(dash && strncasecmp(dash, id, strlen(id)) == 0);
}

static void check_base64(struct fh_str s)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), again = FH_BUF_INIT(0), once_more = FH_BUF_INIT(0);
	if (fh_base64_decode(&out, s) < 0)
		return;
	FH_FUZZ_CHECK(out.n <= s.n / 4 * 3 + 3);
	fh_base64_encode(&again, fh_buf_str(&out));
	FH_FUZZ_CHECK(fh_base64_decode(&once_more, fh_buf_str(&again)) >= 0 && once_more.n == out.n &&
	              (!out.n || memcmp(once_more.p, out.p, out.n) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fh_auto_free char *copy = fh_fuzz_copy(data, size);
	fh_auto_free char *text = fh_xstrndup(copy, size);
	check_target(text);
	check_decoding(text);
	check_host(text);
	check_base64((struct fh_str){ copy, size });
	return 0;
}
