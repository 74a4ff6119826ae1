/* SPDX-License-Identifier: MIT */
/* What stat(2) tells of a file and plans use. */
#pragma once
#include <sys/stat.h>

#include "base/text/sha256.h"

struct fh_survey_facts {
	uint64_t device, inode, size, mode, modified_s, modified_ns, changed_s, changed_ns;
};
struct fh_survey_facts fh_survey_facts_of(const struct stat *st);
/* Adds a name and the facts to a hash. */
void fh_survey_facts_hash(struct fh_sha256 *h, const char *name, const struct fh_survey_facts *facts);
