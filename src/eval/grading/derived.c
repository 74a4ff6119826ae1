/* SPDX-License-Identifier: MIT */
#include "eval/grading/derived.h"
#include "eval/common/text.h"
#include <ctype.h>
#include <math.h>

#define DEPTH_MAX 100

struct parser {
	const char *s;
	const json_t *names;
	unsigned depth;
	bool failed;
};

static double conditional(struct parser *p);

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->s))
		p->s++;
}

static bool take(struct parser *p, const char *token)
{
	skip_space(p);
	size_t n = strlen(token);
	if (strncmp(p->s, token, n) != 0)
		return false;
	/* A word operator ends before a character that can not be part of a name; "<" is not the start of "<=", nor "=" of
	 * "==". */
	if (isalpha((unsigned char)*token) && (isalnum((unsigned char)p->s[n]) || p->s[n] == '_'))
		return false;
	p->s += n;
	return true;
}

static double fail(struct parser *p)
{
	p->failed = true;
	return 0;
}

#define ARGUMENTS_MAX 64

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double f_min(double *v, size_t n)
{
	double m = v[0];
	for (size_t i = 1; i < n; i++)
		m = FH_MIN(m, v[i]);
	return m;
}

static double f_max(double *v, size_t n)
{
	double m = v[0];
	for (size_t i = 1; i < n; i++)
		m = FH_MAX(m, v[i]);
	return m;
}

static double f_sum(double *v, size_t n)
{
	double s = 0;
	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

static double f_prod(double *v, size_t n)
{
	double product = 1;
	for (size_t i = 0; i < n; i++)
		product *= v[i];
	return product;
}

static double f_mean(double *v, size_t n)
{
	return f_sum(v, n) / (double)n;
}

static double f_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double f_variance(double *v, size_t n)
{
	double mean = f_mean(v, n), s = 0;
	for (size_t i = 0; i < n; i++)
		s += (v[i] - mean) * (v[i] - mean);
	return n > 1 ? s / (double)(n - 1) : 0;
}

static double f_std(double *v, size_t n)
{
	return sqrt(f_variance(v, n));
}

static double f_round(double *v, size_t n)
{
	double scale = n > 1 ? pow(10, v[1]) : 1;
	return copysign(floor(fabs(v[0]) * scale + .5), v[0]) / scale;
}

static double f_log(double *v, size_t n)
{
	return n > 1 ? log(v[0]) / log(v[1]) : log(v[0]);
}

static double f_pow(double *v, size_t n)
{
	return n > 1 ? pow(v[0], v[1]) : NAN;
}

static double f_mod(double *v, size_t n)
{
	return n > 1 ? v[0] - v[1] * floor(v[0] / v[1]) : NAN;
}

static double f_hypot(double *v, size_t n)
{
	double s = 0;
	for (size_t i = 0; i < n; i++)
		s += v[i] * v[i];
	return sqrt(s);
}

static double f_atan2(double *v, size_t n)
{
	return n > 1 ? atan2(v[0], v[1]) : NAN;
}

static double square(double v)
{
	return v * v;
}

static double cube(double v)
{
	return v * v * v;
}

static double f_sign(double *v, size_t n)
{
	return (v[0] > 0) - (v[0] < 0);
}

static double f_if(double *v, size_t n)
{
	return n > 2 ? (v[0] != 0 ? v[1] : v[2]) : NAN;
}

/* Appends an argument to v, or the items of one in brackets: mean([a, b]) is mean(a, b). */
static size_t argument(struct parser *p, double *v, size_t n)
{
	if (!take(p, "[")) {
		v[n++] = conditional(p);
		return n;
	}
	do
		v[n++] = conditional(p);
	while (!p->failed && n < ARGUMENTS_MAX && take(p, ","));
	if (!take(p, "]"))
		fail(p);
	return n;
}

static double call(struct parser *p, const char *name)
{
	static const struct {
		const char *name;
		double (*one)(double);
		double (*many)(double *v, size_t n);
	} functions[] = {
		{ "abs", fabs, NULL },        { "sqrt", sqrt, NULL },     { "cbrt", cbrt, NULL },
		{ "exp", exp, NULL },         { "log2", log2, NULL },     { "log10", log10, NULL },
		{ "floor", floor, NULL },     { "ceil", ceil, NULL },     { "fix", trunc, NULL },
		{ "sin", sin, NULL },         { "cos", cos, NULL },       { "tan", tan, NULL },
		{ "log", NULL, f_log },       { "round", NULL, f_round }, { "min", NULL, f_min },
		{ "max", NULL, f_max },       { "sum", NULL, f_sum },     { "mean", NULL, f_mean },
		{ "median", NULL, f_median }, { "std", NULL, f_std },     { "variance", NULL, f_variance },
		{ "pow", NULL, f_pow },       { "mod", NULL, f_mod },     { "sign", NULL, f_sign },
		{ "if", NULL, f_if },         { "prod", NULL, f_prod },   { "hypot", NULL, f_hypot },
		{ "square", square, NULL },   { "cube", cube, NULL },     { "log1p", log1p, NULL },
		{ "expm1", expm1, NULL },     { "asin", asin, NULL },     { "acos", acos, NULL },
		{ "atan", atan, NULL },       { "sinh", sinh, NULL },     { "cosh", cosh, NULL },
		{ "tanh", tanh, NULL },       { "atan2", NULL, f_atan2 },
	};
	double v[ARGUMENTS_MAX];
	size_t i = 0, n = 0;
	while (i < FH_ARRAY_SIZE(functions) && strcmp(functions[i].name, name) != 0)
		i++;
	if (i == FH_ARRAY_SIZE(functions))
		return fail(p);
	do
		n = argument(p, v, n);
	while (!p->failed && n < ARGUMENTS_MAX && take(p, ","));
	if (!take(p, ")"))
		return fail(p);
	return functions[i].one ? functions[i].one(v[0]) : functions[i].many(v, n);
}

static double name(struct parser *p)
{
	static const struct {
		const char *name;
		double value;
	} constants[] = {
		{ "pi", 3.14159265358979323846 }, { "e", 2.71828182845904523536 }, { "true", 1 }, { "false", 0 }
	};
	size_t n = 0;
	while (isalnum((unsigned char)p->s[n]) || p->s[n] == '_' || p->s[n] == '$')
		n++;
	if (n == 0)
		return fail(p);
	fh_auto_free char *word = fh_xstrndup(p->s, n);
	p->s += n;
	if (take(p, "("))
		return call(p, word);
	const json_t *v = json_object_get(p->names, word);
	if (v)
		return json_is_null(v) ? NAN : json_number_value(v);
	for (size_t i = 0; i < FH_ARRAY_SIZE(constants); i++)
		if (strcmp(constants[i].name, word) == 0)
			return constants[i].value;
	return fail(p);
}

static double atom(struct parser *p)
{
	skip_space(p);
	if (take(p, "(")) {
		double v = conditional(p);
		return take(p, ")") ? v : fail(p);
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

static double factorials(struct parser *p)
{
	double v = atom(p);
	for (skip_space(p); !p->failed && *p->s == '!' && p->s[1] != '='; skip_space(p)) {
		p->s++;
		v = v < 0 ? fail(p) : tgamma(v + 1);
	}
	return v;
}

static double sign(struct parser *p)
{
	if (p->failed || ++p->depth > DEPTH_MAX)
		return fail(p);
	double v;
	if (take(p, "-")) {
		v = -sign(p);
	} else if (take(p, "+")) {
		v = sign(p);
	} else if (take(p, "not") || (*p->s == '!' && p->s[1] != '=' && take(p, "!"))) {
		v = sign(p) == 0;
	} else {
		v = factorials(p);
		if (take(p, "^"))
			v = pow(v, sign(p));
	}
	p->depth--;
	return v;
}

/* Whether an operator that is a word comes next. */
static bool at_word(const struct parser *p)
{
	static const char *const words[] = { "mod", "and", "or", "xor", "not", "to", "in" };
	struct parser ahead = *p;
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (take(&ahead, words[i]))
			return true;
	return false;
}

static bool at_name(const struct parser *p)
{
	return (isalpha((unsigned char)*p->s) || *p->s == '_' || *p->s == '$') && !at_word(p);
}

static bool at_factor(const struct parser *p)
{
	return *p->s == '(' || at_name(p);
}

/* A number in percent: a % that no operand follows, with its sign, or it would be the remainder. */
static double percentage(struct parser *p, bool *ret_percent)
{
	double v = sign(p);
	struct parser ahead = *p;
	*ret_percent = false;
	if (p->failed || !take(&ahead, "%"))
		return v;
	const char *after = ahead.s;
	do
		skip_space(&ahead);
	while (take(&ahead, "-") || take(&ahead, "+") || take(&ahead, "not"));
	if (isdigit((unsigned char)*ahead.s) || *ahead.s == '.' || at_factor(&ahead))
		return v;
	p->s = after;
	*ret_percent = true;
	return v / 100;
}

/* The end of a number that is written at s, after blanks and signs; NULL: there is none. */
static const char *number_end(const char *s)
{
	s += strspn(s, " \t\n+-");
	char *end = NULL;
	if (isdigit((unsigned char)*s) || *s == '.')
		strtod(s, &end);
	return end ? end + strspn(end, " \t\n") : NULL;
}

/* A quotient of two numbers that a factor follows, as in 1/2 x, which is (1/2) x. */
static double fraction(struct parser *p, bool *ret_percent)
{
	const char *begin = p->s;
	double v = percentage(p, ret_percent);
	skip_space(p);
	struct parser ahead = *p;
	if (p->failed || number_end(begin) != p->s || !take(&ahead, "/"))
		return v;
	skip_space(&ahead);
	const char *end = isdigit((unsigned char)*ahead.s) ? number_end(ahead.s) : NULL;
	double divisor = end ? strtod(ahead.s, NULL) : 0;
	ahead.s = end ? end : ahead.s;
	skip_space(&ahead);
	if (!end || !at_factor(&ahead))
		return v;
	p->s = end;
	return v / divisor;
}

/* Factors without a sign between them: 2 x, 2(x + 1). */
static double factor(struct parser *p, bool *ret_percent)
{
	double v = fraction(p, ret_percent);
	for (skip_space(p); !p->failed && at_factor(p); skip_space(p)) {
		v *= percentage(p, ret_percent);
		*ret_percent = false;
	}
	return v;
}

static double product(struct parser *p, bool *ret_percent)
{
	bool ignored;
	double v = factor(p, ret_percent);
	while (!p->failed) {
		if (take(p, "*"))
			v *= factor(p, &ignored);
		else if (take(p, "/"))
			v /= factor(p, &ignored);
		else if (take(p, "%") || take(p, "mod"))
			v = f_mod((double[]){ v, factor(p, &ignored) }, 2);
		else
			break;
		*ret_percent = false;
	}
	return v;
}

/* 200 + 10% is 220. */
static double sum(struct parser *p)
{
	bool percent;
	double v = product(p, &percent);
	while (!p->failed) {
		bool minus = take(p, "-");
		if (!minus && !take(p, "+"))
			break;
		double w = product(p, &percent);
		w = percent ? v * w : w;
		v = minus ? v - w : v + w;
	}
	return v;
}

static double comparison(struct parser *p)
{
	double v = sum(p);
	while (!p->failed) {
		if (take(p, "=="))
			v = v == sum(p);
		else if (take(p, "!="))
			v = v != sum(p);
		else if (take(p, "<="))
			v = v <= sum(p);
		else if (take(p, ">="))
			v = v >= sum(p);
		else if (take(p, "<"))
			v = v < sum(p);
		else if (take(p, ">"))
			v = v > sum(p);
		else
			break;
	}
	return v;
}

static double both(struct parser *p)
{
	double v = comparison(p);
	while (!p->failed && take(p, "and")) {
		double w = comparison(p);
		v = v != 0 && w != 0;
	}
	return v;
}

static double either_alone(struct parser *p)
{
	double v = both(p);
	while (!p->failed && take(p, "xor"))
		v = (both(p) != 0) != (v != 0);
	return v;
}

static double either(struct parser *p)
{
	double v = either_alone(p);
	while (!p->failed && take(p, "or")) {
		double w = either_alone(p);
		v = v != 0 || w != 0;
	}
	return v;
}

static double conditional(struct parser *p)
{
	double v = either(p);
	if (p->failed || !take(p, "?"))
		return v;
	double yes = conditional(p);
	if (!take(p, ":"))
		return fail(p);
	double no = conditional(p);
	return v != 0 ? yes : no;
}

bool fh_eval_expression(const char *text, const json_t *names, double *ret)
{
	struct parser p = { .s = text, .names = names };
	double v = conditional(&p);
	skip_space(&p);
	if (p.failed || *p.s)
		return false;
	*ret = v;
	return true;
}

static int expression(const char *text, const json_t *names, double *ret, struct fh_error *err)
{
	if (fh_eval_expression(text, names, ret))
		return 0;
	return fh_error_set(err, FH_E_CONFIG, "%.200s cannot be computed", text);
}

int fh_eval_derive(const struct fh_document *d, const json_t *derived, json_t *named, size_t count,
                   fh_derive_call *function, const void *context, char **problem, struct fh_error *err)
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
		struct fh_error why = FH_ERROR_INIT;
		int r = fh_text_is_file(value) ? function(context, value, names, &v, &why) : expression(value, names, &v, &why);
		if (r < 0 && !*problem)
			*problem = fh_xasprintf("%s: %s", metric, why.message);
		json_object_set_new(named, metric, isfinite(v) ? json_real(v) : json_null());
	}
	return 0;
}
