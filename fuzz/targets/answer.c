/* SPDX-License-Identifier: MIT */
/* A model server's answer, as each service gives it, streamed or not: a response with an output or with an error,
 * never both. */
#include "fuzz.h"
#include "provider/model/model.h"

static void check(const struct fh_provider_response *r)
{
	FH_FUZZ_CHECK((r->output != NULL) != (r->error != NULL));
	FH_FUZZ_CHECK(!r->error || r->error[0]);
	FH_FUZZ_CHECK(r->tokens.total >= -1 && r->tokens.prompt >= -1 && r->tokens.completion >= -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_fuzz_input in = { data, size };
	uint64_t choice = fh_fuzz_number(&in, 1);
	char *copy = fh_fuzz_copy(in.p, in.n);
	struct fh_str body = { copy, in.n };
	int status = choice & 1 ? 500 : 200;
	static const char *const types[] = { "application/json", "text/html", "application/x-ndjson", "text/event-stream" };
	const char *type = types[choice >> 1 & 3];
	fh_auto_json json_t *config = json_pack("{s:f,s:f}", "cost", 0.5, "inputCost", 0.25);
	static const struct fh_wire *const wires[] = {
		&fh_wire_openai_chat,       &fh_wire_openai_completion, &fh_wire_openai_responses, &fh_wire_openai_embedding,
		&fh_wire_openai_moderation, &fh_wire_anthropic,         &fh_wire_google,           &fh_wire_google_embedding,
		&fh_wire_ollama_chat,       &fh_wire_ollama_completion, &fh_wire_ollama_embedding
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(wires); i++) {
		fh_auto_provider_response struct fh_provider_response r = FH_PROVIDER_RESPONSE_INIT;
		fh_model_answer(wires[i], status, type, body, config, &r);
		check(&r);
	}
	free(copy);
	return 0;
}
