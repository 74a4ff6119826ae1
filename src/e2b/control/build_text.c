/* SPDX-License-Identifier: MIT */
#include "e2b/control/build_text.h"

#include <string.h>

#include "base/buf.h"

enum { TEXT_MAX = 128 << 10 }; /* the kernel's bound for one string of an environment */

static size_t name_length(const char *s)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char later[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	return *s && strchr(first, *s) ? strspn(s, later) : 0;
}

static const char *value_of(const char *name, size_t n, const char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Adds what a reference at `s`, behind its dollar sign, stands for. Returns its length; 0: it is none. */
static size_t add_reference(struct fh_buf *b, const char *s, const char *const *env)
{
	bool braces = *s == '{';
	size_t n = name_length(s + braces);
	const char *behind = s + braces + n, *value = value_of(s + braces, n, env);
	if (!n)
		return 0;
	if (!braces || *behind == '}') {
		(void)fh_buf_add_str(b, fh_str(value ? value : ""));
		return n + (braces ? 2 : 0);
	}
	const char *close = strchr(behind, '}');
	if (strncmp(behind, ":-", 2) != 0 || !close)
		return 0;
	struct fh_str other = { behind + 2, (size_t)(close - behind) - 2 };
	(void)fh_buf_add_str(b, value && *value ? fh_str(value) : other);
	return (size_t)(close - s) + 1;
}

FH_NULLABLE FH_OWN char *fh_build_expand(const char *text, const char *const *env)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(TEXT_MAX);
	while (*text) {
		size_t plain = strcspn(text, "\\$"), n;
		(void)fh_buf_add(&b, text, plain);
		text += plain;
		if (*text == '$' && (n = add_reference(&b, text + 1, env)) > 0) {
			text += 1 + n;
			continue;
		}
		text += text[0] == '\\' && text[1] == '$'; /* the sign itself is added, and not looked at again */
		if (*text)
			(void)fh_buf_add(&b, text++, 1);
	}
	return b.overflowed ? NULL : fh_xstrdup(fh_buf_cstr(&b));
}
