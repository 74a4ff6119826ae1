/* SPDX-License-Identifier: MIT */
/*
 * How one kind of API is spoken: what is asked for as a request's body, and an answer as a response. Pure functions
 * over JSON; model.c sends, and service.c says which server speaks what. OpenAI's chat was compared with recordings
 * of real servers; the other APIs were written from knowledge of them, and never met their servers.
 */
#pragma once
#include "provider/provider.h"

struct fh_wire_call {
	const char *model;
	FH_NULLABLE const json_t *config; /* the provider's, with the call's over it */
	struct fh_str prompt;
	bool stream;
	FH_NULLABLE const char *temperature, *max_tokens; /* defaults of the environment, as texts */
};

enum { FH_WIRE_TEXT = 1, FH_WIRE_END = 2 }; /* what an event was: it brought text; the answer is whole */

struct fh_wire {
	const char *name;
	enum fh_provider_operation operation;
	const char *path, *stream_path; /* {model} stands for the model's name; stream_path NULL: path */
	FH_OWN json_t *(*request)(const struct fh_wire_call *call);
	/* Fills the response from an answer that is an object without an error. ret->raw is set already. */
	void (*take)(json_t *answer, const json_t *config, struct fh_provider_response *ret);
	/* Merges one event of a stream into the answer (an object, empty at first), as `take` wants it. Returns bits of
	 * FH_WIRE_…; NULL: it cannot be streamed. */
	unsigned (*event)(json_t *answer, json_t *event);
};

extern const struct fh_wire fh_wire_openai_chat, fh_wire_openai_completion, fh_wire_openai_responses,
    fh_wire_openai_embedding, fh_wire_openai_moderation, fh_wire_anthropic, fh_wire_google, fh_wire_google_embedding,
    fh_wire_ollama_chat, fh_wire_ollama_completion, fh_wire_ollama_embedding;

/* ------------------------------------------------------------------------------------------- what they have in common
 */

/* A count that a server gives; -1: none. */
int64_t fh_wire_count(const json_t *object, const char *key);
/* Appends text to the string at object[key], which is made when it is not there. */
void fh_wire_append(json_t *object, const char *key, const json_t *text);
/* object[key], made as an object or an array when it is not there. */
json_t *fh_wire_object(json_t *object, const char *key);
json_t *fh_wire_array(json_t *object, const char *key);
/* The member i of an array of objects, which grows up to it (within reason: NULL beyond 1,000). */
FH_NULLABLE json_t *fh_wire_item(json_t *array, size_t i);
/* config[key], else the text of the environment as a number, else `fallback`; null in the config: nothing is set. */
void fh_wire_set_number(json_t *body, const char *name, const json_t *config, const char *key,
                        FH_NULLABLE const char *env, double fallback, bool integer);
/* What the model thought, which is no part of the answer: metadata.reasoning. */
void fh_wire_reasoning(struct fh_provider_response *ret, const char *text, size_t n);
/* An embedding: the list of numbers, or an error. */
void fh_wire_vector(const json_t *vector, struct fh_provider_response *ret);
