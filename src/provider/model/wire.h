/* SPDX-License-Identifier: MIT */
/*
 * How one kind of API is spoken: builds the body of a request, and reads an answer into a response. Pure functions over
 * JSON; model.c sends, and service.c says which server speaks which wire.
 *
 * OpenAI's chat was compared with recordings of real servers; the other APIs were written from knowledge of them and
 * never tested against their servers.
 */
#pragma once
#include "provider/provider.h"

struct fh_wire_call {
	const char *model;
	FH_NULLABLE const json_t *config; /* the provider's, overlaid with the call's */
	struct fh_str prompt;
	bool stream;
	FH_NULLABLE const char *temperature, *max_tokens; /* defaults from the environment, as text */
};

enum { FH_WIRE_TEXT = 1, FH_WIRE_END = 2 }; /* result of an event: it had text; it ended the answer */

struct fh_wire {
	const char *name;
	enum fh_provider_operation operation;
	bool chat;                      /* takes messages: a prompt in the form of a chat is one */
	const char *path, *stream_path; /* {model} is replaced by the model's name; stream_path NULL: same as path */
	FH_OWN json_t *(*request)(const struct fh_wire_call *call);
	/* Fills the response from an answer that is an object without an error. ret->raw is already set. */
	void (*take)(json_t *answer, const json_t *config, struct fh_provider_response *ret);
	/* Merges one event of a stream into the answer (an object, empty at first), in the form that `take` expects.
	 * Returns bits of FH_WIRE_…; NULL: streaming is not supported. */
	unsigned (*event)(json_t *answer, json_t *event);
};

extern const struct fh_wire fh_wire_openai_chat, fh_wire_openai_completion, fh_wire_openai_responses,
    fh_wire_openai_embedding, fh_wire_openai_moderation, fh_wire_anthropic, fh_wire_google, fh_wire_google_embedding,
    fh_wire_ollama_chat, fh_wire_ollama_completion, fh_wire_ollama_embedding;

/* --------------------------------------------------------------------------------------- what they have in common */

/* A count from a server's answer; -1 when it is missing or invalid. */
int64_t fh_wire_count(const json_t *object, const char *key);
/* Why an answer ended, in the words that all servers' reasons are compared in ("stop", "length", "tool_calls",
 * "content_filter"), or as the server says it, in lower case; NULL when it says nothing. free() it. */
FH_OWN char *fh_wire_finish(FH_NULLABLE const char *reason);
/* Appends text to the string object[key], which is created when missing. */
void fh_wire_append(json_t *object, const char *key, const json_t *text);
/* object[key], created as an object or an array when missing. */
json_t *fh_wire_object(json_t *object, const char *key);
json_t *fh_wire_array(json_t *object, const char *key);
/* The i-th member of an array of objects, which grows as needed; NULL beyond 1,000 members. */
FH_NULLABLE json_t *fh_wire_item(json_t *array, size_t i);
/* Sets body[name] to config[key], else to the environment's text as a number, else to `fallback`. A null in the config:
 * it is not set. */
void fh_wire_set_number(json_t *body, const char *name, const json_t *config, const char *key,
                        FH_NULLABLE const char *env, double fallback, bool integer);
/* Adds the model's reasoning, which is not part of the answer, as metadata.reasoning. */
void fh_wire_reasoning(struct fh_provider_response *ret, const char *text, size_t n);
/* Sets metadata[name]; NULL: nothing is set. */
void fh_wire_note(struct fh_provider_response *ret, const char *name, FH_NULLABLE json_t *value);
/* Notes that the server refused the prompt or filtered the answer, which the assertion `guardrails` fails for. */
void fh_wire_flag(struct fh_provider_response *ret, FH_NULLABLE const char *why);
/* Sets the output to an embedding (a list of numbers), or makes the response an error. */
void fh_wire_vector(const json_t *vector, struct fh_provider_response *ret);
