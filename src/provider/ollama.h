/* SPDX-License-Identifier: MIT */
/* The two pure halves of the ollama type, for its tests. */
#pragma once
#include "provider/provider.h"

/* The body of POST /api/chat (chat) or /api/generate; new reference. Settings of the model (num_predict, temperature,
 * seed …) move into "options"; the rest (format, keep_alive, think, tools) stays at the top. */
FH_OWN json_t *fh_ollama_request(const char *model, bool chat, const json_t *config, struct fh_str prompt);
/* Fills the response from a server's answer: one object, or one a line where a server streams regardless. */
void fh_ollama_parse(int status, const char *content_type, struct fh_str body, bool chat,
                     struct fh_provider_response *ret);
