/* SPDX-License-Identifier: MIT */
/* Rows of the store that are none of an eval's, in promptfoo's form, so that every output and `fumehood show` can write
 * them. */
#pragma once
#include "store/rows.h"

/* Takes over `data` (a judgement's row or a run's) and gives it the members that a row of an eval has, beside its own:
 * the program of a judgement is the answer, the judge's verdict the one assertion; the code of a run is the prompt, its
 * stdout the answer. Rows of an eval come back as they are. */
FH_OWN json_t *fh_output_stored_row(enum fh_store_kind kind, const struct fh_store_cell *cell, FH_OWN json_t *data);
