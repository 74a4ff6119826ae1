/* SPDX-License-Identifier: MIT */
#include "survey/survey.h"

#include <errno.h>
#include <sys/stat.h>

void fh_survey_list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void fh_survey_answer_release(struct fh_survey_answer *a)
{
	free(a->text);
	fh_survey_list_free(a->list);
	*a = (struct fh_survey_answer){ 0 };
}

static struct fh_survey_answer ask(struct fh_survey *s, struct fh_survey_question q)
{
	struct fh_survey_answer a = { 0 };
	if (!q.root)
		q.root = "";
	s->answer(s, &q, &a);
	return a;
}
#define ASK(s, ...) ask(s, (struct fh_survey_question){ __VA_ARGS__ })

static char *text_of(struct fh_survey_answer a)
{
	char *text = a.error ? NULL : FH_TAKE_PTR(a.text);
	int error = a.error;
	fh_survey_answer_release(&a);
	errno = error;
	return text;
}

static char **list_of(struct fh_survey_answer a)
{
	char **list = a.list ? FH_TAKE_PTR(a.list) : fh_xcalloc(1, sizeof(char *));
	fh_survey_answer_release(&a);
	return list;
}

static bool facts_of(struct fh_survey_answer a, struct fh_survey_facts *ret)
{
	bool found = a.error == 0;
	if (found)
		*ret = a.facts;
	errno = a.error;
	return found;
}

bool fh_survey_facts(struct fh_survey *s, const char *root, const char *path, struct fh_survey_facts *ret)
{
	return facts_of(ASK(s, .kind = FH_SURVEY_FACTS, .root = root, .path = path), ret);
}

bool fh_survey_own_facts(struct fh_survey *s, const char *path, struct fh_survey_facts *ret)
{
	return facts_of(ASK(s, .kind = FH_SURVEY_OWN_FACTS, .path = path), ret);
}

bool fh_survey_exists(struct fh_survey *s, const char *path)
{
	struct fh_survey_facts facts;
	return fh_survey_facts(s, "", path, &facts);
}

bool fh_survey_is_dir(struct fh_survey *s, const char *path)
{
	struct fh_survey_facts facts;
	return fh_survey_facts(s, "", path, &facts) && S_ISDIR(facts.mode);
}

char *fh_survey_link(struct fh_survey *s, const char *path)
{
	return text_of(ASK(s, .kind = FH_SURVEY_LINK, .path = path));
}

char *fh_survey_real(struct fh_survey *s, const char *path)
{
	return text_of(ASK(s, .kind = FH_SURVEY_REAL, .path = path));
}

char *fh_survey_place(struct fh_survey *s, const char *path)
{
	return text_of(ASK(s, .kind = FH_SURVEY_PLACE, .path = path));
}

int fh_survey_text(struct fh_survey *s, const char *root, const char *path, struct fh_buf *out)
{
	fh_auto_survey_answer struct fh_survey_answer a =
	    ASK(s, .kind = FH_SURVEY_TEXT, .root = root, .path = path, .max = out->max - out->n);
	if (a.error)
		return a.error;
	return fh_buf_add(out, a.text, a.size) == 0 ? 0 : EFBIG;
}

bool fh_survey_begins(struct fh_survey *s, const char *path, const char *bytes)
{
	fh_auto_survey_answer struct fh_survey_answer a =
	    ASK(s, .kind = FH_SURVEY_HEAD, .path = path, .max = strlen(bytes));
	return !a.error && a.size == strlen(bytes) && memcmp(a.text, bytes, a.size) == 0;
}

bool fh_survey_is_program(struct fh_survey *s, const char *root, const char *path)
{
	fh_auto_survey_answer struct fh_survey_answer a = ASK(s, .kind = FH_SURVEY_PROGRAM, .root = root, .path = path);
	return !a.error;
}

char **fh_survey_glob(struct fh_survey *s, const char *pattern)
{
	return list_of(ASK(s, .kind = FH_SURVEY_GLOB, .path = pattern));
}

char **fh_survey_names(struct fh_survey *s, const char *dir, size_t max)
{
	return list_of(ASK(s, .kind = FH_SURVEY_NAMES, .path = dir, .max = max));
}

char *fh_survey_variable(struct fh_survey *s, const char *name)
{
	return text_of(ASK(s, .kind = FH_SURVEY_VARIABLE, .path = name));
}

char *fh_survey_cwd(struct fh_survey *s)
{
	return text_of(ASK(s, .kind = FH_SURVEY_CWD, .path = ""));
}

char *fh_survey_output(struct fh_survey *s, const char *program, const char *const *args)
{
	return text_of(ASK(s, .kind = FH_SURVEY_OUTPUT, .path = program, .args = args));
}

char *fh_survey_cache(struct fh_survey *s, const char *name)
{
	return text_of(ASK(s, .kind = FH_SURVEY_CACHE, .path = name));
}

char *fh_survey_installed(struct fh_survey *s)
{
	return text_of(ASK(s, .kind = FH_SURVEY_INSTALLED, .path = ""));
}

char *fh_survey_which(struct fh_survey *s, const char *name, const char *path_variable)
{
	if (name[0] == '\0')
		return NULL;
	if (strchr(name, '/'))
		return fh_survey_is_program(s, "", name) ? fh_xstrdup(name) : NULL;
	for (const char *p = path_variable ? path_variable : "/usr/local/bin:/usr/bin:/bin";; p++) {
		size_t n = strcspn(p, ":");
		/* an empty element means the current folder */
		fh_auto_free char *found = fh_xasprintf("%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
		if (fh_survey_is_program(s, "", found))
			return FH_TAKE_PTR(found);
		p += n;
		if (*p == '\0')
			return NULL;
	}
}
