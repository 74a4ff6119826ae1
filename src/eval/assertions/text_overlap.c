/* SPDX-License-Identifier: MIT */
/*
 * How much an answer's words overlap with a reference's: rouge-n (Lin 2004, ROUGE-1's F measure with clipped counts),
 * bleu (Papineni et al. 2002, up to 4-grams, 1e-7 for a precision of zero, without the orders for which the answer is
 * too short), gleu (Wu et al. 2016: the lesser of precision and recall), and meteor (Banerjee and Lavie 2005: exact
 * words, then stems; synonyms, which need WordNet, are not counted). The score is the measure itself.
 */
#include <libstemmer.h>
#include <math.h>
#include "eval/assertions/kinds.h"
#include "eval/common/pattern.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

#define ORDER_MAX 4
#define WORDS_MAX 20000

struct words {
	char **items;
	size_t n, capacity;
};

static void words_release(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){ 0 };
}

/* Lower-cased words, split at white space; `dots` strips full stops from their ends. */
static struct words split(struct fh_str text, bool dots)
{
	struct words w = { 0 };
	fh_auto_free char *lower = fh_text_lower(text);
	for (struct fh_str rest = fh_text_trim(fh_str(lower)); rest.n > 0 && w.n < WORDS_MAX; rest = fh_text_trim(rest)) {
		size_t n = 0;
		while (n < rest.n && fh_text_space_at((struct fh_str){ rest.p + n, rest.n - n }) == 0)
			n++;
		size_t kept = n;
		while (dots && kept > 0 && rest.p[kept - 1] == '.')
			kept--;
		FH_PUSH(w.items, w.n, w.capacity) = fh_xstrndup(rest.p, kept);
		rest = (struct fh_str){ rest.p + n, rest.n - n };
	}
	return w;
}

/* ---------------------------------------------------------------------------------------------------------- n-grams */

/* Sorted n-grams of w: pointers to their first words. */
struct grams {
	char ***items;
	size_t n;
	unsigned order;
};

static int compare_grams(const void *a, const void *b, void *order)
{
	char **const *x = a, **const *y = b;
	for (unsigned i = 0; i < *(unsigned *)order; i++) {
		int c = strcmp((*x)[i], (*y)[i]);
		if (c)
			return c;
	}
	return 0;
}

static struct grams grams_of(const struct words *w, unsigned order)
{
	struct grams g = { .order = order, .n = w->n >= order ? w->n - order + 1 : 0 };
	g.items = fh_xcalloc(g.n + 1, sizeof(*g.items));
	for (size_t i = 0; i < g.n; i++)
		g.items[i] = &w->items[i];
	qsort_r(g.items, g.n, sizeof(*g.items), compare_grams, &g.order);
	return g;
}

/* How many n-grams a and b have in common; one that is repeated counts as often as in the text that has it less
 * often. */
static size_t overlap(const struct words *a, const struct words *b, unsigned order, size_t *ret_a, size_t *ret_b)
{
	struct grams x = grams_of(a, order), y = grams_of(b, order);
	size_t common = 0;
	for (size_t i = 0, j = 0; i < x.n && j < y.n;) {
		int c = compare_grams(&x.items[i], &y.items[j], &order);
		common += c == 0;
		i += c <= 0;
		j += c >= 0;
	}
	*ret_a = x.n;
	*ret_b = y.n;
	free(x.items);
	free(y.items);
	return common;
}

/* -------------------------------------------------------------------------------------------------------- measures */

static double bleu(const struct words *answer, const struct words *references, size_t n)
{
	double logs = 0, closest = 0;
	double share = 1. / (double)FH_MIN(answer->n, (size_t)ORDER_MAX); /* of each order */
	if (answer->n == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double length = (double)references[i].n, mine = (double)answer->n;
		double d = fabs(length - mine), best = fabs(closest - mine);
		if (i == 0 || d < best || (d == best && length < closest))
			closest = length;
	}
	for (unsigned order = 1; order <= ORDER_MAX && order <= answer->n; order++) {
		size_t most = 0, total = 0, ignored;
		for (size_t i = 0; i < n; i++) {
			size_t common = overlap(answer, &references[i], order, &total, &ignored);
			most = FH_MAX(most, common);
		}
		logs += share * log(most ? (double)most / (double)total : 1e-7);
	}
	double brevity = (double)answer->n > closest ? 1 : exp(1 - closest / (double)answer->n);
	return brevity * exp(logs);
}

static bool has_word(const struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (*w->items[i])
			return true;
	return false;
}

static double gleu_one(const struct words *a, const struct words *b)
{
	size_t common = 0, in_a = 0, in_b = 0;
	for (unsigned order = 1; order <= ORDER_MAX; order++) {
		size_t x, y;
		common += overlap(a, b, order, &x, &y);
		in_a += x;
		in_b += y;
	}
	return in_a && in_b ? FH_MIN((double)common / (double)in_a, (double)common / (double)in_b) : 0;
}

static double gleu(const struct words *answer, const struct words *references, size_t n)
{
	double best = 0;
	for (size_t i = 0; i < n && has_word(answer); i++)
		best = FH_MAX(best, has_word(&references[i]) ? gleu_one(answer, &references[i]) : 0);
	return best;
}

/* Pairs equal words, from the end of both lists; to[i] is the index of the reference's word paired with word i, or
 * -1. */
static size_t pair(char *const *a, size_t n, char *const *b, size_t m, int *to, bool *used)
{
	size_t pairs = 0;
	for (size_t i = n; i-- > 0;)
		for (size_t j = m; to[i] < 0 && j-- > 0;)
			if (!used[j] && strcmp(a[i], b[j]) == 0) {
				to[i] = (int)j;
				used[j] = true;
				pairs++;
			}
	return pairs;
}

static struct words stems_of(const struct words *w)
{
	struct words stems = { 0 };
	struct sb_stemmer *stemmer = sb_stemmer_new("porter", "UTF_8");
	for (size_t i = 0; i < w->n; i++) {
		size_t n = strlen(w->items[i]);
		const sb_symbol *stem = stemmer ? sb_stemmer_stem(stemmer, (const sb_symbol *)w->items[i], (int)n) : NULL;
		FH_PUSH(stems.items, stems.n, stems.capacity) =
		    stem ? fh_xstrndup((const char *)stem, (size_t)sb_stemmer_length(stemmer)) : fh_xstrdup(w->items[i]);
	}
	if (stemmer)
		sb_stemmer_delete(stemmer);
	return stems;
}

static double meteor_one(const struct words *answer, const struct words *reference, double alpha, double beta,
                         double gamma)
{
	size_t n = answer->n, m = reference->n, chunks = 0;
	if (n == 0 || m == 0)
		return 0;
	fh_auto_free int *to = fh_xcalloc(n, sizeof(*to));
	fh_auto_free bool *used = fh_xcalloc(m, sizeof(*used));
	for (size_t i = 0; i < n; i++)
		to[i] = -1;
	FH_CLEANUP(words_release) struct words a = stems_of(answer), b = stems_of(reference);
	size_t pairs = pair(answer->items, n, reference->items, m, to, used) + pair(a.items, n, b.items, m, to, used);
	if (pairs == 0)
		return 0;
	for (size_t i = 0, last = SIZE_MAX; i < n; i++) {
		if (to[i] < 0)
			continue;
		chunks += last == SIZE_MAX || i != last + 1 || to[i] != to[last] + 1;
		last = i;
	}
	double precision = (double)pairs / (double)n, recall = (double)pairs / (double)m;
	double mean = precision * recall / (alpha * precision + (1 - alpha) * recall);
	return (1 - gamma * pow((double)chunks / (double)pairs, beta)) * mean;
}

/* ----------------------------------------------------------------------------------------------------------- rouge */

/* Rules that split a sentence into the Penn Treebank's tokens, applied in order. */
static const struct {
	const char *pattern, *replacement;
} treebank[] = {
	{ "[\\s\\x{85}\\x{feff}]+", " " },
	{ "(^|[\\s\\p{Ps}<])\"", "$1 `` " },
	{ "\"", " '' " },
	{ "\\.{3}", " ... " },
	{ "[:,](?!\\p{Nd})", " $0 " },
	{ "[;@#$%&]", " $0 " },
	{ "([^.])(?<!\\b[A-Za-z]\\.[A-Za-z])(\\.)([\\])}>'\\s]*)$", "$1 $2$3 " },
	{ "[?!]", " $0 " },
	{ "[\\]\\[(){}<>]", " $0 " },
	{ "--", " -- " },
	{ "^|$", " " },
	{ "([^'])' ", "$1 ' " },
	{ "'([sSmMdD]) ", " '$1 " },
	{ "('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", " $1 " },
	{ "(?i)\\b(can)(not)\\b|\\b(d)('ye)\\b|\\b(gim)(me)\\b|\\b(gon)(na)\\b|\\b(got)(ta)\\b|\\b(lem)(me)\\b|\\b(more)('"
	  "n)\\b|"
	  "\\b(wan)(na)\\b(?= )|(?<!\\w)('t)(is)\\b|(?<!\\w)('t)(was)\\b",
	  " $1$3$5$7$9${11}${13}${15}${17}${19} $2$4$6$8${10}${12}${14}${16}${18}${20} " },
};

static struct words treebank_words(struct fh_str text)
{
	char *now = fh_text_lower(text);
	for (size_t i = 0; i < FH_ARRAY_SIZE(treebank); i++) {
		char *next = fh_pattern_own_replace(treebank[i].pattern, PCRE2_UTF | PCRE2_UCP, now, treebank[i].replacement);
		free(now);
		now = next;
	}
	struct words w = split(fh_str(now), false);
	free(now);
	return w;
}

/* ------------------------------------------------------------------------------------------------------------ kinds */

static int references_of(const struct fh_assertion_call *call, bool list, json_t **ret, struct fh_error *err)
{
	bool fine = json_is_string(call->value);
	if (list && json_is_array(call->value)) {
		fine = json_array_size(call->value) > 0;
		for (size_t i = 0; i < json_array_size(call->value); i++)
			fine = fine && json_is_string(json_array_get(call->value, i));
	}
	if (!fine)
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion type must have a string%s value", call->kind->name,
		                    list ? " or array of strings" : "");
	*ret = json_is_array(call->value) ? json_incref((json_t *)(uintptr_t)call->value) : json_pack("[O]", call->value);
	return 0;
}

static int grade(const struct fh_assertion_call *call, struct fh_grade *ret, const char *name, double score,
                 double threshold)
{
	struct fh_buf limit = FH_BUF_INIT(0);
	fh_json_write_number(&limit, threshold);
	fh_grade_set(ret, call, score >= threshold, "%s score %.4f is %s than threshold %s", name, score,
	             call->inverse ? "greater" : "less", fh_buf_cstr(&limit));
	ret->score = call->inverse ? 1 - score : score;
	fh_buf_release(&limit);
	return 0;
}

/* The harmonic mean, in the order of promptfoo's operations: sums of scores are compared to the last bit. */
static double f_measure(double precision, double recall)
{
	double less = FH_MIN(precision, recall), more = FH_MAX(precision, recall);
	return less == more || less == 0 ? less : FH_MIN(more, less * (2 / (1 + less / more)));
}

static int check_rouge(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *list = NULL;
	int r = references_of(call, false, &list, err);
	if (r < 0)
		return r;
	FH_CLEANUP(words_release) struct words answer = treebank_words(call->output_text);
	FH_CLEANUP(words_release) struct words reference = treebank_words(fh_str(json_string_value(call->value)));
	size_t a, b, common = overlap(&answer, &reference, 1, &a, &b);
	double precision = a ? (double)common / (double)a : 0, recall = b ? (double)common / (double)b : 0;
	double score = f_measure(precision, recall), threshold = call->has_threshold ? call->threshold : .75;
	fh_grade_set(ret, call, score >= threshold, "%s", "");
	ret->score = call->inverse ? 1 - score : score;
	/* In promptfoo the reason tells the score of what passed, too. */
	fh_auto_buf struct fh_buf limit = FH_BUF_INIT(0);
	fh_json_write_number(&limit, threshold);
	free(ret->reason);
	ret->reason = fh_xasprintf("ROUGE-N score %.2f is %s threshold %s", score,
	                           score >= threshold ? "greater than or equal to" : "less than", fh_buf_cstr(&limit));
	return 0;
}

/* Scores against several references: the best single score, or all references together (bleu). */
static int check_many(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	char kind = call->kind->name[0];
	fh_auto_json json_t *list = NULL;
	int r = references_of(call, true, &list, err);
	if (r < 0)
		return r;
	size_t n = json_array_size(list);
	FH_CLEANUP(words_release) struct words answer = split(call->output_text, kind != 'b');
	fh_auto_free struct words *references = fh_xcalloc(n + 1, sizeof(*references));
	for (size_t i = 0; i < n; i++)
		references[i] = split(fh_str(json_string_value(json_array_get(list, i))), kind != 'b');
	double score = 0;
	const char *name = kind == 'b' ? "BLEU" : kind == 'g' ? "GLEU" : "METEOR";
	if (kind == 'm' && call->output_text.n == 0)
		r = fh_error_set(err, FH_E_ARGUMENT, "meteor: the output is empty");
	else if (kind == 'b')
		score = bleu(&answer, references, n);
	else if (kind == 'g')
		score = gleu(&answer, references, n);
	for (size_t i = 0; kind == 'm' && i < n; i++)
		score = FH_MAX(score,
		               meteor_one(&answer, &references[i], fh_json_num(call->assertion, "alpha", .9),
		                          fh_json_num(call->assertion, "beta", 3), fh_json_num(call->assertion, "gamma", .5)));
	for (size_t i = 0; i < n; i++)
		words_release(&references[i]);
	return r < 0 ? r : grade(call, ret, name, score, call->has_threshold ? call->threshold : .5);
}

const struct fh_assertion fh_assertion_rouge = { .name = "rouge-n", .check = check_rouge };
const struct fh_assertion fh_assertion_bleu = { .name = "bleu", .check = check_many };
const struct fh_assertion fh_assertion_gleu = { .name = "gleu", .check = check_many };
const struct fh_assertion fh_assertion_meteor = { .name = "meteor", .check = check_many, .own_keys = true };
