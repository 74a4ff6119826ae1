/* SPDX-License-Identifier: MIT */
#include "base/text/nearest.h"

#define WORD_MAX 64

/* The number of edits (insert, delete, replace, swap neighbours) that turn a into b; - and _ are equal, as are upper
 * and lower case. */
static unsigned distance(const char *a, size_t an, const char *b, size_t bn)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
	for (unsigned j = 0; j <= bn; j++)
		previous[j] = j;
	for (unsigned i = 1; i <= an; i++) {
		current[0] = i;
		for (size_t j = 1; j <= bn; j++) {
			bool same = a[i - 1] == b[j - 1];
			unsigned d = FH_MIN(previous[j] + 1, current[j - 1] + 1);
			d = FH_MIN(d, previous[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = FH_MIN(d, before[j - 2] + 1);
			current[j] = d;
		}
		unsigned *oldest = before;
		before = previous;
		previous = current;
		current = oldest;
	}
	return previous[bn];
}

static size_t fold(char out[WORD_MAX], const char *word)
{
	size_t n = strlen(word);
	if (n > WORD_MAX)
		return 0;
	for (size_t i = 0; i < n; i++) {
		char c = word[i];
		out[i] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	return n;
}

void fh_nearest_offer(struct fh_nearest *n, const char *candidate)
{
	char a[WORD_MAX], b[WORD_MAX];
	size_t an = fold(a, n->word), bn = fold(b, candidate);
	if (an == 0 || bn == 0)
		return;
	unsigned d = distance(a, an, b, bn);
	/* A beginning of a word ("mem" for "memory") is near too. */
	if (an >= 3 && bn > an && memcmp(a, b, an) == 0)
		d = FH_MIN(d, 1);
	if (d > FH_MAX(an, bn) / 3 + (FH_MAX(an, bn) < 3))
		return;
	if (!n->best || d < n->distance) {
		n->best = candidate;
		n->distance = d;
	}
}
