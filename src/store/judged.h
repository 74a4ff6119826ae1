/* SPDX-License-Identifier: MIT */
/* What the rows and the configuration of a judgement (kind `judge`) in the store say. */
#pragma once
#include "json/json.h"

/* The task of a row as text, a number's too; "" when it names none. */
FH_OWN char *fh_judged_task(FH_NULLABLE const json_t *data);
/* Whether a row counts in pass@k: one whose test ran in the candidate's process does only where the judgement was told
 * so (--allow-in-process). */
bool fh_judged_counts(FH_NULLABLE const json_t *config, FH_NULLABLE const json_t *data);
/* False where the judge's self-check failed: figures then rest on tests that do not work there. */
bool fh_judged_has_figures(FH_NULLABLE const json_t *config);
