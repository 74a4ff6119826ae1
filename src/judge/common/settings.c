/* SPDX-License-Identifier: MIT */
#include "judge/common/settings.h"

void fh_judge_settings_init(struct fh_judge_settings *s)
{
	*s = (struct fh_judge_settings){ 0 };
	fh_limits_init(&s->limits);
	s->limits.value[FH_LIMIT_CPU_TIME] = FH_JUDGE_CPU_TIME_DEFAULT;
	s->limits.value[FH_LIMIT_WALL_TIME] = FH_JUDGE_WALL_TIME_DEFAULT;
	s->limits.value[FH_LIMIT_MEMORY] = FH_JUDGE_MEMORY_DEFAULT;
}
