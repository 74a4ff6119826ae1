/* SPDX-License-Identifier: MIT */
#include "eval/derived.h"
#include <ctype.h>
#include <math.h>

#define DEPTH_MAX 100

struct parser {
	const char *s;
	const json_t *names;
	unsigned depth;
	bool failed;
};

static double sum(struct parser *p);

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->s))
		p->s++;
}

static bool take(struct parser *p, char c)
{
	skip_space(p);
	if (*p->s != c)
		return false;
	p->s++;
	return true;
}

static double fail(struct parser *p)
{
	p->failed = true;
	return 0;
}

static double two_min(double a, double b)
{
	return FH_MIN(a, b);
}
static double two_max(double a, double b)
{
	return FH_MAX(a, b);
}

static double call(struct parser *p, const char *name)
{
	static const struct {
		const char *name;
		double (*one)(double);
		double (*two)(double, double); /* applied from the left when there are more */
	} functions[] = {
		{ "abs", fabs, NULL },    { "sqrt", sqrt, NULL },   { "exp", exp, NULL },   { "log", log, NULL },
		{ "round", round, NULL }, { "floor", floor, NULL }, { "ceil", ceil, NULL }, { "min", NULL, two_min },
		{ "max", NULL, two_max }, { "pow", NULL, pow },
	};
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(functions) && strcmp(functions[i].name, name) != 0)
		i++;
	if (i == FH_ARRAY_SIZE(functions))
		return fail(p);
	double v = sum(p);
	if (functions[i].one)
		v = functions[i].one(v);
	while (functions[i].two && !p->failed && take(p, ','))
		v = functions[i].two(v, sum(p));
	return take(p, ')') ? v : fail(p);
}

static double name(struct parser *p)
{
	size_t n = 0;
	while (isalnum((unsigned char)p->s[n]) || p->s[n] == '_' || p->s[n] == '$')
		n++;
	if (n == 0)
		return fail(p);
	fh_auto_free char *word = fh_xstrndup(p->s, n);
	p->s += n;
	if (take(p, '('))
		return call(p, word);
	const json_t *v = json_object_get(p->names, word);
	return json_is_number(v) ? json_number_value(v) : fail(p);
}

static double atom(struct parser *p)
{
	skip_space(p);
	if (take(p, '(')) {
		double v = sum(p);
		return take(p, ')') ? v : fail(p);
	}
	if (isdigit((unsigned char)*p->s) || *p->s == '.') {
		char *end;
		double v = strtod(p->s, &end);
		if (end == p->s)
			return fail(p);
		p->s = end;
		return v;
	}
	return name(p);
}

static double sign(struct parser *p)
{
	if (p->failed || ++p->depth > DEPTH_MAX)
		return fail(p);
	double v;
	if (take(p, '-')) {
		v = -sign(p);
	} else if (take(p, '+')) {
		v = sign(p);
	} else {
		v = atom(p);
		if (take(p, '^'))
			v = pow(v, sign(p));
	}
	p->depth--;
	return v;
}

static double product(struct parser *p)
{
	double v = sign(p);
	while (!p->failed) {
		if (take(p, '*'))
			v *= sign(p);
		else if (take(p, '/'))
			v /= sign(p);
		else if (take(p, '%'))
			v = fmod(v, sign(p));
		else
			break;
	}
	return v;
}

static double sum(struct parser *p)
{
	double v = product(p);
	while (!p->failed) {
		if (take(p, '+'))
			v += product(p);
		else if (take(p, '-'))
			v -= product(p);
		else
			break;
	}
	return v;
}

bool fh_eval_expression(const char *text, const json_t *names, double *ret)
{
	struct parser p = { .s = text, .names = names };
	double v = sum(&p);
	skip_space(&p);
	if (p.failed || *p.s || !isfinite(v))
		return false;
	*ret = v;
	return true;
}

int fh_eval_derive(const struct fh_document *d, const json_t *derived, json_t *named, size_t count,
                   struct fh_error *err)
{
	for (size_t i = 0; i < json_array_size(derived); i++) {
		const json_t *entry = json_array_get(derived, i);
		const char *metric = fh_json_str(entry, "name", NULL), *value = fh_json_str(entry, "value", NULL);
		fh_auto_free char *place = fh_xasprintf("derivedMetrics/%zu", i);
		if (!metric || !value)
			return fh_document_error(d, place, err, "a derived metric has a \"name\" and a \"value\", an expression");
		fh_auto_json json_t *names = json_copy(named);
		json_object_set_new(names, "__count", json_real((double)count));
		double v = 0;
		fh_eval_expression(value, names, &v);
		json_object_set_new(named, metric, json_real(v));
	}
	return 0;
}
