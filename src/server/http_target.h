/* SPDX-License-Identifier: MIT */
/*
 * The parsed target of a request ("/files?path=%2Ftmp&username=root"; RFC 3986, sections 3.3 and 3.4; '+' in a query is
 * a space, as in forms). All texts are decoded, NUL-terminated and owned by the target. Segments are the texts
 * between slashes; an encoded slash is part of its segment.
 *
 * Invalid are: a target that does not begin with '/', a bad escape or an encoded NUL, more segments or parameters than
 * the bounds.
 */
#pragma once
#include "base/base.h"

enum { FH_TARGET_SEGMENTS_MAX = 16, FH_TARGET_QUERY_MAX = 64 };

struct fh_target {
	char *path;                            /* the path as sent, not decoded */
	char *segment[FH_TARGET_SEGMENTS_MAX]; /* point into `text` */
	size_t segment_count;                  /* "/" has 0, "/a/" has 2 of which the last is empty */
	char *name[FH_TARGET_QUERY_MAX], *value[FH_TARGET_QUERY_MAX];
	size_t query_count;
	char *text; /* the memory that the members above point into */
};

/* Returns 0, or -FH_E_ARGUMENT with *ret unchanged. */
int fh_target_parse(const char *raw, struct fh_target *ret);
/* Decodes a text once more, in place, as part of a query. False: a bad escape; the text is then undefined. */
bool fh_target_decode(char *text);
void fh_target_release(struct fh_target *t);
#define fh_auto_target FH_CLEANUP(fh_target_release)
