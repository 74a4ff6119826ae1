/* SPDX-License-Identifier: MIT */
/*
 * What cells leave for later ones: outputs under the names of storeOutputAs, and conversations (the turns of the
 * earlier cells of one column with the same metadata.conversationId). Thread-safe.
 */
#pragma once
#include "json/json.h"

struct fh_eval_memory;

struct fh_eval_memory *fh_eval_memory_new(void);
void fh_eval_memory_free(FH_NULLABLE struct fh_eval_memory *m);

void fh_eval_memory_store(struct fh_eval_memory *m, const char *name, const json_t *output);
/* Sets the stored outputs in vars. */
void fh_eval_memory_add_stored(struct fh_eval_memory *m, json_t *vars);

/* Adds a turn to a conversation. `conversation` is the test's metadata.conversationId, any value, or NULL. */
void fh_eval_memory_say(struct fh_eval_memory *m, uint32_t column, FH_NULLABLE const json_t *conversation,
                        FH_OWN json_t *turn);
/* The turns of the conversation so far, as a list. New reference. */
FH_OWN json_t *fh_eval_memory_conversation(struct fh_eval_memory *m, uint32_t column,
                                           FH_NULLABLE const json_t *conversation);
