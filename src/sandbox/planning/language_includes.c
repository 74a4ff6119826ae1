/* SPDX-License-Identifier: MIT */
/* What a program's #include lines ask for: prepared files, options to link with, packages. */
#include "sandbox/planning/language.h"

#include "proto/plan.h"

/* The name in an #include line, or an empty slice. */
static struct fh_str included(struct fh_str line)
{
	const char *p = line.p, *end = line.p + line.n;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || *p++ != '#')
		return (struct fh_str){ NULL, 0 };
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (end - p < 8 || memcmp(p, "include", 7) != 0)
		return (struct fh_str){ NULL, 0 };
	for (p += 7; p < end && (*p == ' ' || *p == '\t'); p++)
		;
	if (p == end || (*p != '<' && *p != '"'))
		return (struct fh_str){ NULL, 0 };
	p++;
	size_t n = 0;
	while (p + n < end && p[n] != '>' && p[n] != '"')
		n++;
	return (struct fh_str){ p, n };
}

/* The name in the next #include at or after *at; moves *at behind its line. */
static bool next_include(struct fh_str code, size_t *at, struct fh_str *ret)
{
	while (*at < code.n) {
		const char *end = memchr(code.p + *at, '\n', code.n - *at);
		size_t n = end ? (size_t)(end - code.p) - *at : code.n - *at;
		*ret = included((struct fh_str){ code.p + *at, n });
		*at += n + 1;
		if (ret->n > 0)
			return true;
	}
	return false;
}

static bool begins_with(struct fh_str name, const char *prefix)
{
	size_t n = strlen(prefix);
	return name.n >= n && memcmp(name.p, prefix, n) == 0;
}

bool fh_language_has_prepared(const struct fh_language *l, struct fh_str code)
{
	struct fh_str name;
	bool has = !l->prepare_for;
	for (size_t at = 0; !has && next_include(code, &at, &name);)
		has = begins_with(name, l->prepare_for);
	return has && l->prepare[0];
}

void fh_language_link_flags(const struct fh_language *l, struct fh_str code, char ***list)
{
	fh_auto_free bool *used = fh_xcalloc(l->link_count + 1, sizeof(bool));
	struct fh_str name;
	for (size_t at = 0; l->link_count > 0 && next_include(code, &at, &name);)
		for (size_t i = 0; i < l->link_count; i++)
			used[i] |= begins_with(name, l->links[i].include);
	/* In the order of the rules, not of the includes: a library must come before those that it needs. */
	for (size_t i = 0; i < l->link_count; i++)
		for (size_t k = 0; used[i] && l->links[i].flags[k]; k++)
			fh_plan_add_string(list, l->links[i].flags[k]);
}

const char *fh_language_missing_package(const struct fh_language *l, const char *said)
{
	static const char *const forms[] = { "error: %s", "error: '%s" }; /* the forms of gcc and clang */
	if (!strstr(said, "No such file or directory") && !strstr(said, "file not found"))
		return NULL;
	for (size_t i = 0; i < l->header_count; i++)
		for (size_t k = 0; k < FH_ARRAY_SIZE(forms); k++) {
			fh_auto_free char *wanted = fh_xasprintf(forms[k], l->headers[i].include);
			if (strstr(said, wanted))
				return l->headers[i].package;
		}
	return NULL;
}
