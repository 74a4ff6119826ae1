/* SPDX-License-Identifier: MIT */
/*
 * The target of a request ("/files?path=%2Ftmp&username=root") taken apart (RFC 3986, sections 3.3 and 3.4; a query as
 * forms write it, with '+' for a space).
 *
 * Every text in it is decoded and NUL-terminated, and owned by the target. Segments are what stands between slashes: an
 * encoded slash is part of its segment. Never valid: a target that does not begin with '/', a bad or encoded NUL
 * escape, more segments or parameters than the bounds.
 */
#pragma once
#include "base/base.h"

enum { FH_TARGET_SEGMENTS_MAX = 16, FH_TARGET_QUERY_MAX = 64 };

struct fh_target {
	char *path;                            /* as sent */
	char *segment[FH_TARGET_SEGMENTS_MAX]; /* point into `text` */
	size_t segment_count;                  /* "/": 0; "/a/": 2, the last one empty */
	char *name[FH_TARGET_QUERY_MAX], *value[FH_TARGET_QUERY_MAX];
	size_t query_count;
	char *text; /* what they point into */
};

/* 0, or -FH_E_ARGUMENT with *ret untouched. */
int fh_target_parse(const char *raw, struct fh_target *ret);
/* Decodes a text once more, in place, as a query's. False: a bad escape; what is left of it is of no use then. */
bool fh_target_decode(char *text);
void fh_target_release(struct fh_target *t);
#define fh_auto_target FH_CLEANUP(fh_target_release)
