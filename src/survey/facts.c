/* SPDX-License-Identifier: MIT */
#include "survey/facts.h"

struct fh_survey_facts fh_survey_facts_of(const struct stat *st)
{
	return (struct fh_survey_facts){ .device = st->st_dev,
		                             .inode = st->st_ino,
		                             .size = (uint64_t)st->st_size,
		                             .mode = st->st_mode,
		                             .modified_s = (uint64_t)st->st_mtim.tv_sec,
		                             .modified_ns = (uint64_t)st->st_mtim.tv_nsec,
		                             .changed_s = (uint64_t)st->st_ctim.tv_sec,
		                             .changed_ns = (uint64_t)st->st_ctim.tv_nsec };
}

void fh_survey_facts_hash(struct fh_sha256 *h, const char *name, const struct fh_survey_facts *facts)
{
	fh_sha256_add_field(h, fh_str(name));
	fh_sha256_add_field(h, (struct fh_str){ (const char *)facts, sizeof(*facts) });
}
