/* SPDX-License-Identifier: MIT */
/* Stored rows of judgements and runs in promptfoo's form, so that every output and `fumehood show` can write them. */
#pragma once
#include "store/rows.h"

/* Takes over `data` (the row of a judgement or a run) and adds the members of an eval's row: a judged program becomes
 * the answer and its verdict the only assertion; the code of a run becomes the prompt and its stdout the answer. An
 * eval's row is returned unchanged. */
FH_OWN json_t *fh_output_stored_row(enum fh_store_kind kind, const struct fh_store_cell *cell, FH_OWN json_t *data);
