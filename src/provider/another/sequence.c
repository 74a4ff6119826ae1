/* SPDX-License-Identifier: MIT */
/* promptfoo's `sequence`: sends a list of inputs, one after the other, and answers with all answers. */
#include "provider/another/another.h"
#include "provider/type.h"

#define FH_SEQUENCE_INPUTS_MAX 1000

static int fh_sequence_open(struct fh_provider *p, struct fh_error *err)
{
	const json_t *inputs = json_object_get(p->config, "inputs"), *separator = json_object_get(p->config, "separator");
	bool good = json_array_size(inputs) > 0 && json_array_size(inputs) <= FH_SEQUENCE_INPUTS_MAX;
	for (size_t i = 0; i < json_array_size(inputs); i++)
		good = good && json_is_string(json_array_get(inputs, i));
	if (!good) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.inputs has to be a list of 1 to %d texts", p->id,
		             FH_SEQUENCE_INPUTS_MAX);
		fh_error_hint(err,
		              "each is a template over the row's variables and the prompt: inputs: ['{{prompt}}', 'Go on']");
		return -FH_E_CONFIG;
	}
	if (separator && !json_is_null(separator) && !json_is_string(separator))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: config.separator has to be a text", p->id);
	return 0;
}

/* Sends one input and appends its answer. An error of the answer is then ret's. */
static int fh_sequence_send(const struct fh_provider_request *request, const char *input, const json_t *vars,
                            struct fh_buf *text, struct fh_provider_response *ret, struct fh_error *err)
{
	fh_auto_free char *rendered = NULL;
	int code = fh_another_render(input, vars, &rendered, err);
	if (code)
		return code;
	struct fh_provider_request one = *request;
	one.prompt = fh_str(rendered);
	one.original = NULL;
	fh_auto_provider_response struct fh_provider_response answer = FH_PROVIDER_RESPONSE_INIT;
	code = fh_another_ask(request->original, &one, ret, &answer, err);
	if (code == 0 && !ret->error && fh_another_add_text(text, answer.output) < 0)
		fh_response_fail(ret, "the answers are longer than %zu MiB", FH_ANOTHER_TEXT_MAX >> 20);
	return code;
}

static int fh_sequence_call(struct fh_provider *p, const struct fh_provider_request *request,
                            struct fh_provider_response *ret, struct fh_error *err)
{
	const json_t *inputs = json_object_get(p->config, "inputs");
	const char *separator = fh_json_str(p->config, "separator", "");
	fh_auto_json json_t *vars = fh_another_vars(request);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_ANOTHER_TEXT_MAX);
	fh_another_begin(ret);
	for (size_t i = 0; i < json_array_size(inputs) && !ret->error; i++) {
		if (i > 0 && fh_buf_adds(&text, *separator ? separator : "\n---\n") < 0)
			fh_response_fail(ret, "the answers are longer than %zu MiB", FH_ANOTHER_TEXT_MAX >> 20);
		const char *input = json_string_value(json_array_get(inputs, i));
		int code = ret->error ? 0 : fh_sequence_send(request, input, vars, &text, ret, err);
		if (code)
			return code;
	}
	ret->output = ret->error ? NULL : fh_json_bytes(fh_buf_str(&text));
	return 0;
}

static const char *const fh_sequence_prefixes[] = { "sequence", NULL };

const struct fh_provider_type fh_provider_sequence = {
	.name = "sequence",
	.prefixes = fh_sequence_prefixes,
	.whole = true,
	.open = fh_sequence_open,
	.call = fh_sequence_call,
	.asks_another = true,
};
