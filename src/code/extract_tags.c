/* SPDX-License-Identifier: MIT */
#include "code/extract.h"

#include <strings.h>

#include "sandbox/planning/language_words.h"

/* Tags of languages that are not supported, and of text that is no program. */
static const char *const not_run[] = {
	"typescript", "ts",    "tsx",     "csharp", "cs",     "c#",       "swift",      "kotlin",     "scala", "sql",
	"html",       "css",   "xml",     "json",   "yaml",   "yml",      "toml",       "ini",        "diff",  "md",
	"markdown",   "latex", "mermaid", "csv",    "output", "makefile", "dockerfile", "powershell",
};

const char *fh_extract_language_of_tag(struct fh_str tag)
{
	const char *language = fh_language_of_word(tag, FH_WORD_TAG);
	for (size_t i = 0; !language && i < FH_ARRAY_SIZE(not_run); i++)
		if (strlen(not_run[i]) == tag.n && strncasecmp(not_run[i], tag.p, tag.n) == 0)
			language = "";
	return language;
}
