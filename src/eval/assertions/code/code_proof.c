/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_proof.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* The line prints a newline, both halves and a newline. In JavaScript it does so when nothing is left to be done, which
 * process.exit() prevents; in bash when the command before it had status 0, because there a command that fails ends
 * nothing. `between` leaves for that reason behind each call but the last. */
static const struct {
	const char *language, *begin, *middle, *end, *between;
} lines[] = {
	{ "python", "__import__(\"os\").write(1, b\"\\n\" + b\"", "\" + b\"", "\\n\")" },
	{ "javascript", ";process.once(\"beforeExit\", () => process.stdout.write(\"\\n\" + \"", "\" + \"", "\\n\"));" },
	{ "bash", "case $? in 0) printf '\\n%s%s\\n' ", " ", ";; *) exit;; esac", "case $? in 0) ;; *) exit;; esac\n" },
	{ "ruby", "$stdout.print(\"\\n\", \"", "\", \"", "\\n\")" },
	{ "perl", ";print STDOUT \"\\n\", \"", "\", \"", "\\n\";" },
	{ "php", ";echo \"\\n\", \"", "\", \"", "\\n\";" },
	{ "lua", "io.stdout:write(\"\\n\", \"", "\", \"", "\\n\")" },
	{ "r", "cat(\"\\n\", \"", "\", \"", "\\n\", sep = \"\")" },
};

static size_t find(const char *language)
{
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(lines) && !fh_streq(lines[i].language, language))
		i++;
	return i;
}

bool fh_code_proof_can(const char *language)
{
	return find(language) < FH_ARRAY_SIZE(lines);
}

const char *fh_code_proof_between(const char *language)
{
	size_t i = find(language);
	return i < FH_ARRAY_SIZE(lines) && lines[i].between ? lines[i].between : "";
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
	size_t i = find(language);
	if (i < FH_ARRAY_SIZE(lines))
		fh_buf_addf(program, "\n%s%s%s%s%s\n", lines[i].begin, p->half[0], lines[i].middle, p->half[1], lines[i].end);
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
