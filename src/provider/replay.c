/* SPDX-License-Identifier: MIT */
#include "provider/replay.h"

#include <pthread.h>
#include "base/fd.h"
#include "base/path.h"

#define FH_REPLAY_FILE_MAX ((size_t)1 << 30)
#define FH_REPLAY_EXCERPT 300

/* The recordings of one provider and prompt, in the file's order. */
struct fh_replay_key {
	const char *provider, *prompt; /* id and text, borrowed from the first recording */
	size_t prompt_size;
	uint64_t hash;
	json_t **recordings;
	size_t n, capacity, served;
	size_t next; /* 1 + index of the next key in this slot; 0: the last */
};

struct fh_replay {
	pthread_mutex_t lock; /* guards `served` */
	char *path;
	struct fh_replay_key *keys;
	size_t n, capacity;
	size_t slots[4096]; /* 1 + index of a key; 0: empty */
};

static uint64_t fh_replay_hash(const char *provider, struct fh_str prompt)
{
	/* FNV-1a. A hash that resists chosen keys is not needed, as the recordings are the user's own file. */
	uint64_t h = 14695981039346656037ULL;
	for (size_t i = 0; provider[i]; i++)
		h = (h ^ (unsigned char)provider[i]) * 1099511628211ULL;
	h = (h ^ 0xFF) * 1099511628211ULL;
	for (size_t i = 0; i < prompt.n; i++)
		h = (h ^ (unsigned char)prompt.p[i]) * 1099511628211ULL;
	return h;
}

static struct fh_replay_key *fh_replay_find(const struct fh_replay *replay, const char *provider, struct fh_str prompt)
{
	uint64_t hash = fh_replay_hash(provider, prompt);
	size_t i = replay->slots[hash % FH_ARRAY_SIZE(replay->slots)];
	for (; i; i = replay->keys[i - 1].next) {
		struct fh_replay_key *k = &replay->keys[i - 1];
		if (k->hash == hash && k->prompt_size == prompt.n && fh_streq(k->provider, provider) &&
		    memcmp(k->prompt, prompt.p, prompt.n) == 0)
			return k;
	}
	return NULL;
}

static void fh_replay_add(struct fh_replay *replay, FH_OWN json_t *recording)
{
	const char *provider = json_string_value(json_object_get(recording, "provider"));
	const json_t *text = json_object_get(recording, "prompt");
	struct fh_str prompt = { json_string_value(text), json_string_length(text) };
	struct fh_replay_key *k = fh_replay_find(replay, provider, prompt);
	if (!k) {
		k = &FH_PUSH(replay->keys, replay->n, replay->capacity);
		*k = (struct fh_replay_key){ .provider = provider, .prompt = prompt.p, .prompt_size = prompt.n };
		k->hash = fh_replay_hash(provider, prompt);
		size_t *slot = &replay->slots[k->hash % FH_ARRAY_SIZE(replay->slots)];
		k->next = *slot;
		*slot = replay->n;
	}
	FH_PUSH(k->recordings, k->n, k->capacity) = recording;
}

/* What is wrong with a recording, or NULL when it is valid. */
static const char *fh_replay_wrong(const json_t *recording)
{
	const json_t *tokens = json_object_get(recording, "tokens"), *error = json_object_get(recording, "error");
	if (!json_is_object(recording))
		return "is not a JSON object";
	if (!json_string_length(json_object_get(recording, "provider")))
		return "has no \"provider\" (a string: the id or label of a provider)";
	if (!json_is_string(json_object_get(recording, "prompt")))
		return "has no \"prompt\" (a string: the rendered prompt)";
	if (error && !json_is_string(error))
		return "has an \"error\" that is not a string";
	if (!error && !json_object_get(recording, "response"))
		return "has neither a \"response\" nor an \"error\"";
	if (tokens && !json_is_object(tokens))
		return "has \"tokens\" that are not an object";
	return NULL;
}

static int fh_replay_line(struct fh_replay *replay, struct fh_str line, uint32_t number, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	size_t blank = 0;
	while (blank < line.n && strchr(" \t\r", line.p[blank]))
		blank++;
	if (blank == line.n)
		return 0;
	fh_auto_json json_t *recording = fh_json_parse(line, NULL, &why);
	const char *wrong = recording ? fh_replay_wrong(recording) : NULL;
	if (!recording)
		return fh_error_at(err, replay->path, number, why.column, "not a line of JSON: %s", why.message);
	if (wrong) {
		fh_error_at(err, replay->path, number, 0, "the recording %s", wrong);
		fh_error_hint(err, "a recording is {\"provider\": …, \"prompt\": …, \"response\": …} on one line");
		return -FH_E_CONFIG;
	}
	fh_replay_add(replay, FH_TAKE_PTR(recording));
	return 0;
}

int fh_replay_open(const char *path, struct fh_replay **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_REPLAY_FILE_MAX);
	int code = fh_file_read(path, &text, err);
	if (code) {
		fh_error_hint(err, "--replay and FUMEHOOD_REPLAY name a file of recordings (JSONL)");
		return fh_error_wrap(err, "recordings");
	}
	struct fh_replay *replay = FH_NEW(struct fh_replay);
	pthread_mutex_init(&replay->lock, NULL);
	replay->path = fh_xstrdup(path);
	uint32_t number = 1;
	for (struct fh_str rest = fh_buf_str(&text); rest.n && !code; number++) {
		const char *nl = memchr(rest.p, '\n', rest.n);
		size_t n = nl ? (size_t)(nl - rest.p) : rest.n;
		code = fh_replay_line(replay, (struct fh_str){ rest.p, n }, number, err);
		n = FH_MIN(n + 1, rest.n);
		rest = (struct fh_str){ rest.p + n, rest.n - n };
	}
	if (code) {
		fh_replay_free(replay);
		return code;
	}
	*ret = replay;
	return 0;
}

void fh_replay_free(struct fh_replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->n; i++) {
		for (size_t r = 0; r < replay->keys[i].n; r++)
			json_decref(replay->keys[i].recordings[r]);
		free(replay->keys[i].recordings);
	}
	free(replay->keys);
	free(replay->path);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}

static void fh_replay_none(const struct fh_replay *replay, const char *id, const char *label, struct fh_str prompt,
                           struct fh_provider_response *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(1 << 16);
	fh_response_excerpt(&text, prompt, FH_REPLAY_EXCERPT);
	bool labelled = label && !fh_streq(label, id);
	fh_response_fail(ret, "no recording in %s for provider %s%s%s%s and the prompt: %s", fh_path_base(replay->path), id,
	                 labelled ? " (" : "", labelled ? label : "", labelled ? ")" : "", fh_buf_cstr(&text));
}

static int64_t fh_replay_count(const json_t *recording, const char *key)
{
	return fh_json_int(json_object_get(recording, "tokens"), key, -1);
}

static void fh_replay_fill(const json_t *recording, struct fh_provider_response *ret)
{
	static const char *const kept[] = { "model", "seed", "temperature", "date", "server", "source" };
	json_t *about = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(kept); i++)
		if (json_object_get(recording, kept[i]))
			json_object_set(about, kept[i], json_object_get(recording, kept[i]));
	ret->metadata = json_object();
	json_object_set_new(ret->metadata, "recording", about);
	ret->tokens.total = fh_replay_count(recording, "total");
	ret->tokens.prompt = fh_replay_count(recording, "prompt");
	ret->tokens.completion = fh_replay_count(recording, "completion");
	ret->tokens.cached = fh_replay_count(recording, "cached");
	ret->cost = fh_json_num(recording, "cost", -1);
	ret->latency_ms = fh_json_num(recording, "seconds", 0) * 1000;
	const char *finish = fh_json_str(recording, "finish_reason", NULL);
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	const char *error = fh_json_str(recording, "error", NULL);
	if (error)
		fh_response_fail(ret, "%s", error);
	else
		ret->output = json_incref(json_object_get(recording, "response"));
}

void fh_replay_answer(struct fh_replay *replay, const char *id, const char *label, struct fh_str prompt,
                      struct fh_provider_response *ret)
{
	struct fh_replay_key *k = label ? fh_replay_find(replay, label, prompt) : NULL;
	if (!k)
		k = fh_replay_find(replay, id, prompt);
	if (!k) {
		fh_replay_none(replay, id, label, prompt, ret);
		return;
	}
	pthread_mutex_lock(&replay->lock);
	const json_t *recording = k->recordings[k->served++ % k->n];
	pthread_mutex_unlock(&replay->lock);
	fh_replay_fill(recording, ret);
}
