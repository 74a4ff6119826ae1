/* SPDX-License-Identifier: MIT */
/* A plan as a file says it (`run --plan`): an error with a place, or a plan that prints and reads back the same. */
#include "fuzz.h"
#include "proto/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = NULL, *second = NULL;
	char *copy = fh_fuzz_copy(data, size), *once = NULL, *twice = NULL;
	int r = fh_plan_from_json(copy, size, "plan.json", &plan, &err);
	free(copy);
	FH_FUZZ_CHECK(r == 0 || (r < 0 && err.message[0]));
	if (r < 0)
		return 0;
	FH_FUZZ_CHECK(fh_plan_to_json(plan, &once, &err) == 0);
	FH_FUZZ_CHECK(fh_plan_from_json(once, strlen(once), "plan.json", &second, &err) == 0);
	FH_FUZZ_CHECK(fh_plan_to_json(second, &twice, &err) == 0);
	FH_FUZZ_CHECK(fh_streq(once, twice));
	fh_plan_free(plan);
	fh_plan_free(second);
	free(once);
	free(twice);
	return 0;
}
