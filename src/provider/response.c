/* SPDX-License-Identifier: MIT */
#include "provider/response.h"
#include <stdarg.h>
#include <stdlib.h>

void fh_provider_response_release(struct fh_provider_response *r)
{
	json_decref(r->output);
	json_decref(r->raw);
	json_decref(r->metadata);
	json_decref(r->log_probs);
	json_decref(r->extra);
	free(r->error);
	free(r->finish_reason);
	*r = (struct fh_provider_response)FH_PROVIDER_RESPONSE_INIT;
}

void fh_response_fail(struct fh_provider_response *ret, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct fh_buf text = FH_BUF_INIT(1 << 20);
	fh_buf_vaddf(&text, format, args);
	va_end(args);
	free(ret->error);
	ret->error = fh_buf_take(&text, NULL);
	json_decref(ret->output);
	ret->output = NULL;
}

void fh_response_excerpt(struct fh_buf *out, struct fh_str s, size_t max)
{
	size_t n = FH_MIN(s.n, max);
	while (n && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	fh_buf_add(out, s.p, n);
	if (n < s.n)
		fh_buf_addf(out, "… (%zu bytes more)", s.n - n);
}
