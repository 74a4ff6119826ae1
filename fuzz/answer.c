// SPDX-License-Identifier: MIT
/* A model server's answer, as OpenAI and Ollama give it: a response with an output or with an error, never both. */
#include "fuzz.h"
#include "provider/ollama.h"
#include "provider/openai.h"

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
	static const char *const types[] = { "application/json", "text/html", "application/x-ndjson", "" };
	const char *type = types[choice >> 1 & 3];
	fh_auto_json json_t *config = json_pack("{s:f,s:f}", "cost", 0.5, "inputCost", 0.25);
	fh_auto_provider_response struct fh_provider_response openai = FH_PROVIDER_RESPONSE_INIT;
	fh_auto_provider_response struct fh_provider_response ollama = FH_PROVIDER_RESPONSE_INIT;
	fh_openai_parse(status, type, body, config, &openai);
	fh_ollama_parse(status, type, body, (choice & 8) != 0, &ollama);
	check(&openai);
	check(&ollama);
	free(copy);
	return 0;
}
