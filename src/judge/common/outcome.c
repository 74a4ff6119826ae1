/* SPDX-License-Identifier: MIT */
#include "judge/common/outcome.h"

#include <stdlib.h>

void fh_judge_outcome_release(struct fh_judge_outcome *o)
{
	free(o->reason);
	fh_result_free(o->run);
	fh_result_free(o->judge);
	*o = (struct fh_judge_outcome){ 0 };
}
