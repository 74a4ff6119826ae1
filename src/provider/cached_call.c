/* SPDX-License-Identifier: MIT */
#include "provider/cached_call.h"

static json_t *fh_cached_call_json(const struct fh_provider_response *r)
{
	json_t *o = json_pack("{s:O, s:[I, I, I, I], s:f, s:O?, s:O?, s:O?, s:O?}", "output", r->output, "tokens",
	                      (json_int_t)r->tokens.total, (json_int_t)r->tokens.prompt, (json_int_t)r->tokens.completion,
	                      (json_int_t)r->tokens.cached, "cost", r->cost, "raw", r->raw, "metadata", r->metadata,
	                      "log_probs", r->log_probs, "extra", r->extra);
	if (r->finish_reason)
		json_object_set_new(o, "finish_reason", fh_json_bytes(fh_str(r->finish_reason)));
	return o;
}

static json_t *fh_cached_call_member(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);
	return v && !json_is_null(v) ? json_incref(v) : NULL;
}

/* Fills a response from the cache: its tokens count as cached, its cost is 0. */
static void fh_cached_call_fill(const json_t *o, struct fh_provider_response *ret)
{
	const char *finish = fh_json_str(o, "finish_reason", NULL);
	int64_t total = (int64_t)json_integer_value(json_array_get(json_object_get(o, "tokens"), 0));
	ret->output = json_incref(json_object_get(o, "output"));
	ret->tokens.total = ret->tokens.cached = total;
	ret->cost = 0;
	ret->cached = true;
	ret->kept = true;
	ret->finish_reason = finish ? fh_xstrdup(finish) : NULL;
	ret->raw = fh_cached_call_member(o, "raw");
	ret->metadata = fh_cached_call_member(o, "metadata");
	ret->log_probs = fh_cached_call_member(o, "log_probs");
	ret->extra = fh_cached_call_member(o, "extra");
}

int fh_cached_call_begin(struct fh_cached_call *c, const struct fh_provider *p,
                         const struct fh_provider_request *request, const json_t *about,
                         struct fh_provider_response *ret, struct fh_error *err)
{
	if (!p->cache)
		return 0;
	fh_auto_json json_t *whole =
	    json_pack("{s:s, s:i, s:I, s:O}", "provider", p->id, "operation", (int)request->operation, "repeat",
	              (json_int_t)request->repeat, "about", about);
	fh_auto_json json_t *answer = NULL;
	fh_response_cache_key(whole, c->key);
	int code = fh_response_cache_begin(p->cache, c->key, p->cancel, &answer, err);
	if (code)
		return code;
	c->cache = answer ? NULL : p->cache;
	c->hit = answer && json_object_get(answer, "output");
	if (c->hit)
		fh_cached_call_fill(answer, ret);
	return 0;
}

void fh_cached_call_store(struct fh_cached_call *c, const struct fh_provider_response *response)
{
	if (!c->cache)
		return;
	fh_auto_json json_t *answer = response->error || !response->output ? NULL : fh_cached_call_json(response);
	fh_response_cache_end(c->cache, c->key, answer);
	c->cache = NULL;
}

void fh_cached_call_end(struct fh_cached_call *c)
{
	if (c->cache)
		fh_response_cache_end(c->cache, c->key, NULL);
	c->cache = NULL;
}
