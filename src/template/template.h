/* SPDX-License-Identifier: MIT */
/*
 * Templates in the syntax of Nunjucks, which promptfoo's configs use.
 *
 * Values behave as in JavaScript: undefined and null render as nothing, an object as [object Object], a list as a,b,
 * numbers as JavaScript prints them, an empty list is true. Only filters escape. Other templates ({% include %},
 * {% import %}, {% extends %}) and regular expressions (r/x/g) are the host's: without one a template reads nothing but
 * its variables.
 *
 * Rendering does not change a compiled template: threads may share it. Errors are FH_E_CONFIG with the template's name
 * as file, line and column. Time and memory of a render are bounded by the limits below; beyond them it fails with
 * -FH_E_LIMIT.
 */
#pragma once
#include "json/json.h"

#define FH_TEXT_TEMPLATE_SOURCE_MAX ((size_t)16 << 20)  /* maximum bytes of a template's source */
#define FH_TEXT_TEMPLATE_DEPTH_MAX 100                  /* maximum depth of nesting, in the source and of macro calls */
#define FH_TEXT_TEMPLATE_STEPS_MAX 5000000u             /* expressions and tags evaluated in one render */
#define FH_TEXT_TEMPLATE_MEMORY_MAX ((size_t)256 << 20) /* maximum bytes of all values made in one render */

struct fh_text_template;

/* `name` is the file name in errors; source and name are copied. NULL on a syntax error. */
FH_OWN struct fh_text_template *fh_text_template_compile(struct fh_str source, const char *name, struct fh_error *err);
void fh_text_template_free(FH_NULLABLE struct fh_text_template *t);
static inline void fh_text_template_freep(struct fh_text_template **t)
{
	fh_text_template_free(*t);
}
#define fh_auto_template FH_CLEANUP(fh_text_template_freep)

/* Offsets of one match: of the whole ([0]) and of its groups; from is SIZE_MAX for a group that took no part. */
#define FH_TEXT_TEMPLATE_GROUPS 10
struct fh_text_template_match {
	size_t from[FH_TEXT_TEMPLATE_GROUPS], to[FH_TEXT_TEMPLATE_GROUPS];
	size_t n;
};
/* What a template gets from the program that renders it. Members may be NULL. */
struct fh_text_template_host {
	void *context;
	/* Returns the value of filter `name`, which is not built in, for the arguments (a list, the filtered value first)
	 * as a new reference; FH_E_NOT_FOUND: no filter has that name. */
	int (*filter)(void *context, const char *name, const json_t *args, json_t **ret, struct fh_error *err);
	/* Appends the source of another template; FH_E_NOT_FOUND: there is none with that name. */
	int (*load)(void *context, const char *name, struct fh_buf *out, struct fh_error *err);
	/* Finds the first match of JavaScript's /pattern/flags in subject, from an offset on; FH_E_NOT_FOUND: none. */
	int (*search)(void *context, const char *pattern, const char *flags, struct fh_str subject, size_t from,
	              struct fh_text_template_match *ret, struct fh_error *err);
};
/* Appends the rendered text to out. vars is an object or NULL and is not changed. host may be NULL. On failure out is
 * unchanged. */
int fh_text_template_render(const struct fh_text_template *t, FH_NULLABLE const json_t *vars,
                            FH_NULLABLE const struct fh_text_template_host *host, struct fh_buf *out,
                            struct fh_error *err);
/* Calls `each` with every variable's name that the template uses and does not set itself. */
void fh_text_template_each_name(const struct fh_text_template *t, void (*each)(void *context, const char *name),
                                void *context);
/* Compiles and renders. A source without tags is copied. */
int fh_text_template_render_text(struct fh_str source, const char *name, FH_NULLABLE const json_t *vars,
                                 FH_NULLABLE const struct fh_text_template_host *host, struct fh_buf *out,
                                 struct fh_error *err);

/* Whether source has any tag: {{, {% or {#. */
bool fh_text_template_has_tags(struct fh_str source);
