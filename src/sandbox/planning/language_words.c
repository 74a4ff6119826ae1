/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/language_words.h"

#include <pthread.h>
#include <strings.h>

#include "base/buf.h"
#include "sandbox/planning/language.h"

static struct {
	struct word {
		char *text;
		const char *language; /* name of the language: points to a string of `all` */
		bool is_tag;          /* the word is a tag for code fences, and not a name of the language */
	} * words;
	size_t count, capacity;
	char *names;
} table;

static void add(const char *text, const char *language, bool is_tag)
{
	FH_PUSH(table.words, table.count, table.capacity) = (struct word){ fh_xstrdup(text), language, is_tag };
}

static void read_all(void)
{
	struct fh_language **all = NULL;
	struct fh_buf names = FH_BUF_INIT(0);
	size_t n = 0;
	if (fh_language_all(&all, &n, NULL) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fh_language *l = all[i];
		const char *name = fh_xstrdup(l->name);
		fh_buf_addf(&names, "%s%s", i ? ", " : "", name);
		add(name, name, false);
		for (char **alias = l->aliases; *alias; alias++)
			add(*alias, name, false);
		for (char **tag = l->tags; *tag; tag++)
			add(*tag, name, true);
		fh_language_free(all[i]);
	}
	free(all);
	table.names = fh_xstrdup(fh_buf_cstr(&names));
	fh_buf_release(&names);
}

static void read_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, read_all);
}

const char *fh_language_of_word(struct fh_str word, enum fh_word_kind kind)
{
	read_once();
	for (size_t i = 0; i < table.count; i++) {
		const struct word *w = &table.words[i];
		if (strlen(w->text) != word.n || (kind == FH_WORD_NAME && w->is_tag))
			continue;
		if ((kind == FH_WORD_TAG ? strncasecmp : strncmp)(w->text, word.p, word.n) == 0)
			return w->language;
	}
	return NULL;
}

const char *fh_language_names(void)
{
	read_once();
	return table.names;
}
