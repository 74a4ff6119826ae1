/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_proof.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "eval/assertions/code/code_language.h"

bool fh_code_proof_can(const char *language)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	return l && l->proof_begin;
}

const char *fh_code_proof_between(const char *language)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	return l && l->proof_between ? l->proof_between : "";
}

const char *fh_code_proof_checks_hold(const char *language)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	return l && l->checks_hold ? l->checks_hold : "";
}

int fh_code_proof_make(struct fh_code_proof *ret, struct fh_error *err)
{
	unsigned char bytes[FH_CODE_PROOF_HALF];
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fh_error_set(err, FH_E_SYSTEM, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret->half[i / (FH_CODE_PROOF_HALF / 2)] + i % (FH_CODE_PROOF_HALF / 2) * 2, 3, "%02x", bytes[i]);
	return 0;
}

void fh_code_proof_add(const struct fh_code_proof *p, const char *language, struct fh_buf *program)
{
	const struct fh_code_language *l = fh_code_language_find(language);
	if (l && l->proof_begin)
		fh_buf_addf(program, "\n%s%s%s%s%s\n", l->proof_begin, p->half[0], l->proof_middle, p->half[1], l->proof_end);
}

bool fh_code_proof_take(const struct fh_code_proof *p, unsigned char *output, size_t *size)
{
	char word[2 * FH_CODE_PROOF_HALF + 3];
	size_t n = (size_t)snprintf(word, sizeof(word), "\n%s%s\n", p->half[0], p->half[1]);
	unsigned char *at = *size ? memmem(output, *size, word, n) : NULL;
	if (!at)
		return false;
	memmove(at, at + n, *size - (size_t)(at - output) - n);
	*size -= n;
	return true;
}
