/* SPDX-License-Identifier: MIT */
/* Reaches the engine that is kept warm for this user. */
#include "sandbox/connection/placement.h"
#include "sandbox/connection/service.h"

static int reach_service(const struct fh_client_options *o, struct fh_reach *ret, struct fh_error *err)
{
	(void)o;
	int r = fh_service_connect(&ret->in, err);
	if (r == 0)
		ret->out = ret->in;
	return r;
}

const struct fh_placement fh_placement_service = {
	.name = "service",
	.reach = reach_service,
	.greet_ms = 10 * 1000,
	.subject = "the engine",
};
