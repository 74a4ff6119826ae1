/* SPDX-License-Identifier: MIT */
#include "e2b/envd/signature.h"

#include "base/clock.h"
#include "base/text/base64.h"
#include "e2b/registry/registry.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static bool is_signed_by(const struct fh_http_request *r, const struct fh_hosted *h)
{
	const char *given = fh_http_query(r, "signature"), *expires = fh_http_query(r, "signature_expiration"),
	           *method = fh_http_method(r);
	const char *operation = strcmp(method, "POST") == 0 ? "write" : "read";
	const char *const parts[] = { or_empty(fh_http_query(r, "path")), operation, or_empty(fh_http_query(r, "username")),
		                          h->token, expires };
	struct fh_sha256 hash = FH_SHA256_INIT;
	uint8_t digest[FH_SHA256_SIZE];
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(parts) && parts[i]; i++) {
		if (i)
			fh_sha256_add(&hash, ":", 1);
		fh_sha256_add(&hash, parts[i], strlen(parts[i]));
	}
	fh_sha256_end(&hash, digest);
	fh_buf_adds(&text, "v1_");
	fh_base64_encode(&text, (struct fh_str){ (const char *)digest, sizeof(digest) });
	while (text.n && text.p[text.n - 1] == '=')
		fh_buf_truncate(&text, text.n - 1);
	return given && fh_secret_equal(given, fh_buf_cstr(&text));
}

bool fh_e2b_signature_holds(struct fh_http_request *r, const struct fh_hosted *h)
{
	const char *expires = fh_http_query(r, "signature_expiration");
	char *end = NULL;
	if (!fh_http_query(r, "signature"))
		fh_e2b_fail(r, 401, "missing signature query parameter");
	else if (!is_signed_by(r, h))
		fh_e2b_fail(r, 401, "invalid signature");
	else if (expires && (strtoll(expires, &end, 10) < (fh_wall_ms() + 999) / 1000 || *end))
		fh_e2b_fail(r, 401, "signature is already expired");
	else
		return true;
	return false;
}

static bool fits(void *request, const struct fh_hosted *h)
{
	return is_signed_by(request, h);
}

FH_NULLABLE struct fh_hosted *fh_e2b_signature_find(struct fh_hosted_registry *g, struct fh_http_request *r)
{
	return fh_http_query(r, "signature") ? fh_hosted_search(g, fits, r) : NULL;
}
