// SPDX-License-Identifier: MIT
/* The head of an answer that a server inside of a sandbox gives: what reaches the client of it is a status and headers
 * in one line each, none of which belong to the connection. */
#include "e2b/answer_head.h"
#include "fuzz.h"

static void on_header(void *context, const char *name, const char *value)
{
	FH_FUZZ_CHECK(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
	FH_FUZZ_CHECK(strcasecmp(name, "Content-Length") != 0 && strcasecmp(name, "Transfer-Encoding") != 0);
	FH_FUZZ_CHECK(strcasecmp(name, "Connection") != 0);
	++*(size_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	bool upgrade = fh_fuzz_number(&in, 1) & 1;
	fh_auto_free char *text = fh_xstrndup((const char *)in.p, in.n);
	size_t headers = 0, lines = 0;
	uint64_t left = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	unsigned status = fh_answer_head_read(text, upgrade, &left, on_header, &headers);
	FH_FUZZ_CHECK(status == 0 || (status >= 100 && status <= 599));
	FH_FUZZ_CHECK(headers <= lines);
	return 0;
}
