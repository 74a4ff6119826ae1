/* SPDX-License-Identifier: MIT */
/* A plan as a client sends it: whatever is decoded is a plan that holds, and survives wire and JSON. */
#include "base/utf8.h"
#include "fuzz.h"
#include "proto/plan.h"

static void same_after_wire(const struct fh_plan *plan, const struct fh_buf *wire)
{
	fh_auto_buf struct fh_buf again = FH_BUF_INIT(0);
	struct fh_plan *second = NULL;
	struct fh_error err = FH_ERROR_INIT;
	FH_FUZZ_CHECK(fh_plan_decode(fh_buf_str(wire), &second, &err) == 0);
	fh_plan_encode(&again, second);
	FH_FUZZ_CHECK(again.n == wire->n && memcmp(again.p, wire->p, wire->n) == 0);
	fh_plan_free(second);
}

static void same_after_json(const struct fh_plan *plan, const struct fh_buf *wire)
{
	fh_auto_buf struct fh_buf again = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *second = NULL;
	char *json = NULL;
	if (!plan->argv[0] || !fh_utf8_valid(fh_buf_str(wire))) /* fit for a session, not for a file; changed by JSON */
		return;
	FH_FUZZ_CHECK(fh_plan_to_json(plan, &json, &err) == 0);
	if (fh_plan_from_json(json, strlen(json), "plan", &second, &err) < 0)
		fh_fuzz_failed(__FILE__, __LINE__, err.message);
	free(json);
	fh_plan_encode(&again, second);
	FH_FUZZ_CHECK(again.n == wire->n && memcmp(again.p, wire->p, wire->n) == 0);
	fh_plan_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = NULL;
	char *copy = fh_fuzz_copy(data, size);
	int r = fh_plan_decode((struct fh_str){ copy, size }, &plan, &err);
	free(copy); /* a plan owns all that it points to */
	FH_FUZZ_CHECK(r == 0 || (r < 0 && err.message[0]));
	if (r < 0)
		return 0;
	fh_auto_buf struct fh_buf wire = FH_BUF_INIT(0);
	FH_FUZZ_CHECK(fh_plan_check(plan, &err) == 0);
	fh_plan_encode(&wire, plan);
	same_after_wire(plan, &wire);
	same_after_json(plan, &wire);
	fh_plan_free(plan);
	return 0;
}
