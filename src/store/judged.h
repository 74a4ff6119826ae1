/* SPDX-License-Identifier: MIT */
/* Reads the rows and the configuration of a stored judgement (kind `judge`). */
#pragma once
#include "json/json.h"

/* The task of a row as text, even if it is a number; "" when the row has none. */
FH_OWN char *fh_judged_task(FH_NULLABLE const json_t *data);
/* Whether a row counts for pass@k. A row whose test ran in the candidate's process counts only if the judgement allows
 * that (--allow-in-process). */
bool fh_judged_counts(FH_NULLABLE const json_t *config, FH_NULLABLE const json_t *data);
/* False when the judge's self-check failed: then its tests do not work on that host, and pass@k means nothing. */
bool fh_judged_has_figures(FH_NULLABLE const json_t *config);
