/* SPDX-License-Identifier: MIT */
#include "provider/type.h"

static int fh_echo_call(struct fh_provider *p, const struct fh_provider_request *request,
                        struct fh_provider_response *ret, struct fh_error *err)
{
	(void)p;
	(void)err;
	ret->output = fh_json_bytes(request->prompt);
	ret->raw = json_incref(ret->output);
	ret->cost = 0;
	return 0;
}

static const char *const fh_echo_prefixes[] = { "echo", NULL };

const struct fh_provider_type fh_provider_echo = {
	.name = "echo",
	.prefixes = fh_echo_prefixes,
	.whole = true,
	.call = fh_echo_call,
};
