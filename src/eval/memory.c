/* SPDX-License-Identifier: MIT */
#include "eval/memory.h"
#include <pthread.h>

struct fh_eval_memory {
	pthread_mutex_t lock;
	json_t *stored;        /* name -> output */
	json_t *conversations; /* conversations: "COLUMN ID" -> list of turns */
};

struct fh_eval_memory *fh_eval_memory_new(void)
{
	struct fh_eval_memory *m = FH_NEW(struct fh_eval_memory);
	pthread_mutex_init(&m->lock, NULL);
	m->stored = json_object();
	m->conversations = json_object();
	return m;
}

void fh_eval_memory_free(struct fh_eval_memory *m)
{
	if (!m)
		return;
	json_decref(m->stored);
	json_decref(m->conversations);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void fh_eval_memory_store(struct fh_eval_memory *m, const char *name, const json_t *output)
{
	pthread_mutex_lock(&m->lock);
	json_object_set(m->stored, name, (json_t *)(uintptr_t)output);
	pthread_mutex_unlock(&m->lock);
}

void fh_eval_memory_add_stored(struct fh_eval_memory *m, json_t *vars)
{
	pthread_mutex_lock(&m->lock);
	json_object_update(vars, m->stored);
	pthread_mutex_unlock(&m->lock);
}

static char *key_of(uint32_t column, const json_t *conversation)
{
	fh_auto_free char *id = conversation ? fh_json_text(conversation, 0) : fh_xstrdup("");
	return fh_xasprintf("%u %s", column, id);
}

void fh_eval_memory_say(struct fh_eval_memory *m, uint32_t column, const json_t *conversation, json_t *turn)
{
	fh_auto_free char *key = key_of(column, conversation);
	pthread_mutex_lock(&m->lock);
	json_t *list = json_object_get(m->conversations, key);
	if (!list)
		json_object_set_new(m->conversations, key, list = json_array());
	json_array_append_new(list, turn);
	pthread_mutex_unlock(&m->lock);
}

json_t *fh_eval_memory_conversation(struct fh_eval_memory *m, uint32_t column, const json_t *conversation)
{
	fh_auto_free char *key = key_of(column, conversation);
	pthread_mutex_lock(&m->lock);
	json_t *list = json_object_get(m->conversations, key);
	json_t *copy = list ? json_copy(list) : json_array();
	pthread_mutex_unlock(&m->lock);
	return copy;
}
