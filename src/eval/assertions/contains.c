/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "eval/assertions/kinds.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

struct words {
	char **items;
	size_t count, capacity;
};

static void words_release(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
}

/* A list that is empty holds for "all" and not for "any"; an empty text is no list. */
static int collect(const struct fh_assertion_call *call, struct words *ret, struct fh_error *err)
{
	fh_auto_json json_t *list = NULL;
	bool text = json_is_string(call->value) && json_string_length(call->value) > 0;
	if (!text && !json_is_array(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion type must have a string or array value",
		                    call->kind->name);
	if (text && fh_text_split_list(json_string_value(call->value), &list, err) < 0)
		return -FH_E_ARGUMENT;
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)(uintptr_t)(list ? list : call->value), i, item)
	    FH_PUSH(ret->items, ret->count, ret->capacity) = fh_text_of_json(item);
	return 0;
}

static bool found(const struct fh_assertion_call *call, const char *word, bool fold)
{
	if (!fold)
		return memmem(call->output_text.p, call->output_text.n, word, strlen(word)) != NULL;
	fh_auto_free char *haystack = fh_text_lower(call->output_text);
	fh_auto_free char *needle = fh_text_lower(fh_str(word));
	return strstr(haystack, needle) != NULL;
}

static bool folds(const struct fh_assertion_call *call)
{
	return call->kind->name[0] == 'i';
}

static int check_one(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_free char *value = NULL;
	int r = fh_call_value_text(call, &value, err);
	if (r < 0)
		return r;
	return fh_grade_set(ret, call, found(call, value, folds(call)), "Expected output to %scontain \"%s\"",
	                    fh_call_not(call), value);
}

static char *joined(const struct words *w, const bool *skip)
{
	struct fh_buf b = FH_BUF_INIT(0);
	for (size_t i = 0; i < w->count; i++) {
		if (skip && skip[i])
			continue;
		fh_buf_adds(&b, b.n ? ", " : "");
		fh_buf_adds(&b, w->items[i]);
	}
	return fh_buf_take(&b, NULL);
}

static int check_list(const struct fh_assertion_call *call, bool all, struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(words_release) struct words words = { 0 };
	int r = collect(call, &words, err);
	if (r < 0)
		return r;
	fh_auto_free bool *hit = fh_xcalloc(words.count + 1, sizeof(*hit));
	size_t hits = 0;
	for (size_t i = 0; i < words.count; i++)
		hits += hit[i] = found(call, words.items[i], folds(call));
	fh_auto_free char *wanted = joined(&words, NULL);
	if (!all)
		return fh_grade_set(ret, call, hits > 0, "Expected output to %scontain one of \"%s\"", fh_call_not(call),
		                    wanted);
	fh_auto_free char *missing = joined(&words, hit);
	return fh_grade_set(ret, call, hits == words.count, "Expected output to %scontain all of [%s]. Missing: [%s]",
	                    fh_call_not(call), wanted, missing);
}

static int check_any(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	return check_list(call, false, ret, err);
}

static int check_all(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	return check_list(call, true, ret, err);
}

const struct fh_assertion fh_assertion_contains = { .name = "contains", .check = check_one };
const struct fh_assertion fh_assertion_icontains = { .name = "icontains", .check = check_one };
const struct fh_assertion fh_assertion_contains_any = { .name = "contains-any", .check = check_any };
const struct fh_assertion fh_assertion_contains_all = { .name = "contains-all", .check = check_all };
const struct fh_assertion fh_assertion_icontains_any = { .name = "icontains-any", .check = check_any };
const struct fh_assertion fh_assertion_icontains_all = { .name = "icontains-all", .check = check_all };
