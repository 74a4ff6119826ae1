/* SPDX-License-Identifier: MIT */
#include "eval/rendering/template_host.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/fd.h"
#include "eval/common/env.h"
#include "eval/common/pattern.h"
#include "eval/services/services.h"
#include "script/script.h"

static int call_filter(void *context, const char *name, const json_t *args, json_t **ret, struct fh_error *err)
{
	const struct fh_eval_host *h = context;
	const char *file = fh_json_str(h->filters, name, NULL);
	if (!file)
		return -FH_E_NOT_FOUND;
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = FH_SCRIPT_JAVASCRIPT, .file = file, .args = args };
	int r = fh_script_call(fh_services_scripts(h->services), &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_ARGUMENT, "%s", result.error_message);
	*ret = json_incref(result.value);
	return 0;
}

/* Whether a name stays below the folder that it is relative to. */
static bool is_below(const char *name)
{
	if (*name == '/' || !*name)
		return false;
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
			return false;
	}
	return true;
}

static int load(void *context, const char *name, struct fh_buf *out, struct fh_error *err)
{
	(void)context;
	if (!is_below(name))
		return fh_error_set(err, FH_E_NOT_FOUND, "the name is not that of a file below the current folder");
	if (access(name, F_OK) < 0)
		return fh_error_set(err, FH_E_NOT_FOUND, "there is no such file in the current folder");
	return fh_file_read(name, out, err);
}

static int search(void *context, const char *pattern, const char *flags, struct fh_str subject, size_t from,
                  struct fh_text_template_match *ret, struct fh_error *err)
{
	(void)context;
	fh_auto_pattern pcre2_code *code = NULL;
	int r = fh_pattern_compile_flags(fh_str(pattern), flags, &code, err);
	if (r < 0)
		return r;
	fh_auto_pattern_groups pcre2_match_data *data = pcre2_match_data_create(FH_TEXT_TEMPLATE_GROUPS, NULL);
	if (!data)
		return fh_error_set(err, FH_E_LIMIT, "no memory to match a pattern");
	int n = fh_pattern_match(code, subject, from, data, err);
	if (n < 0)
		return n == -FH_E_NOT_FOUND ? n : fh_error_wrap(err, "/%s/ could not be matched", pattern);
	uint32_t groups = 0;
	pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
	const PCRE2_SIZE *spans = pcre2_get_ovector_pointer(data);
	ret->n = FH_MIN((size_t)groups + 1, (size_t)FH_TEXT_TEMPLATE_GROUPS);
	for (size_t i = 0; i < ret->n; i++) {
		bool set = (n == 0 || i < (size_t)n) && spans[2 * i] != PCRE2_UNSET;
		ret->from[i] = set ? spans[2 * i] : SIZE_MAX;
		ret->to[i] = set ? spans[2 * i + 1] : SIZE_MAX;
	}
	return 0;
}

void fh_eval_host_init(struct fh_eval_host *h, const json_t *filters, struct fh_services *services, bool loads)
{
	h->filters = filters;
	h->services = services;
	h->host = (struct fh_text_template_host){
		.context = h, .filter = filters ? call_filter : NULL, .load = loads ? load : NULL, .search = search
	};
}

bool fh_eval_templates_off(void)
{
	return fh_env_on("PROMPTFOO_DISABLE_TEMPLATING");
}

int fh_render_text(struct fh_str text, const json_t *vars, char **ret, struct fh_error *err)
{
	if (!fh_text_template_has_tags(text) || fh_eval_templates_off()) {
		*ret = fh_xstrndup(text.p, text.n);
		return 0;
	}
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_eval_host h;
	fh_eval_host_init(&h, NULL, NULL, true);
	int r = fh_text_template_render_text(text, "template", vars, &h.host, &out, err);
	if (r == 0)
		*ret = fh_buf_take(&out, NULL);
	return r;
}
