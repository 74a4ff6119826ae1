/* SPDX-License-Identifier: MIT */
#include "provider/another/another.h"

#include "template/template.h"

void fh_another_begin(struct fh_provider_response *sum)
{
	sum->cached = sum->kept = true; /* until one answer was not */
}

static void fh_another_count(int64_t *sum, int64_t n)
{
	if (n >= 0)
		*sum = FH_MIN(FH_MAX(*sum, 0) + n, FH_TOKENS_MAX);
}

int fh_another_ask(struct fh_provider *asked, const struct fh_provider_request *request,
                   struct fh_provider_response *sum, struct fh_provider_response *ret, struct fh_error *err)
{
	int code = fh_provider_call(asked, request, ret, err);
	if (code)
		return code;
	fh_another_count(&sum->tokens.total, ret->tokens.total);
	fh_another_count(&sum->tokens.prompt, ret->tokens.prompt);
	fh_another_count(&sum->tokens.completion, ret->tokens.completion);
	fh_another_count(&sum->tokens.cached, ret->tokens.cached);
	if (ret->cost >= 0)
		sum->cost = FH_MAX(sum->cost, 0) + ret->cost;
	sum->latency_ms += ret->latency_ms;
	sum->cached = sum->cached && ret->cached;
	sum->kept = sum->kept && ret->kept;
	if (ret->error)
		fh_response_fail(sum, "%s", ret->error);
	return 0;
}

int fh_another_add_text(struct fh_buf *out, const json_t *output)
{
	if (json_is_string(output))
		return fh_buf_add(out, json_string_value(output), json_string_length(output));
	fh_auto_free char *text = output && !json_is_null(output) ? fh_json_text(output, 0) : NULL;
	return text ? fh_buf_adds(out, text) : 0;
}

json_t *fh_another_vars(const struct fh_provider_request *request)
{
	json_t *vars = json_object();
	json_object_update(vars, json_object_get(request->context, "vars"));
	json_object_set_new(vars, "prompt", fh_json_bytes(request->prompt));
	return vars;
}

int fh_another_render(const char *text, const json_t *vars, char **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_ANOTHER_TEXT_MAX);
	int code = fh_text_template_render_text(fh_str(text), "config", vars, NULL, &out, err);
	if (code == 0)
		*ret = fh_buf_take(&out, NULL);
	return code;
}
