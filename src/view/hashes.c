/* SPDX-License-Identifier: MIT */
#include "view/hashes.h"

void fh_view_hash(struct fh_str text, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add(&h, text.p, text.n);
	fh_sha256_hex(&h, ret_hex);
}

void fh_view_dataset_hash(const json_t *config, char ret_hex[FH_SHA256_HEX])
{
	const json_t *tests = json_object_get(config, "tests");
	bool none = !tests || json_is_null(tests) || json_is_false(tests) || !*fh_json_str(config, "tests", "x");
	fh_auto_free char *text = none ? fh_xstrdup("[]") : fh_json_text(tests, 0);
	fh_view_hash(fh_str(text), ret_hex);
}
