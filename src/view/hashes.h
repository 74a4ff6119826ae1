/* SPDX-License-Identifier: MIT */
/* Ids that promptfoo gives to prompts and data sets: the SHA-256 of their text, in hexadecimal. */
#pragma once
#include "base/text/sha256.h"
#include "json/json.h"

void fh_view_hash(struct fh_str text, char ret_hex[FH_SHA256_HEX]);
/* promptfoo's datasetId: sha256(JSON.stringify(config.tests || [])). */
void fh_view_dataset_hash(const json_t *config, char ret_hex[FH_SHA256_HEX]);
