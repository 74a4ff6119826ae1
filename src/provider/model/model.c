/* SPDX-License-Identifier: MIT */
#include "provider/model/model.h"

#include "base/clock.h"
#include "base/path.h"
#include "provider/cached_call.h"
#include "provider/model/chat.h"
#include "provider/model/prices.h"
#include "provider/model/render.h"
#include "provider/model/stream.h"
#include "provider/model/tool_callbacks.h"
#include "provider/settings.h"
#include "provider/type.h"

#define FH_MODEL_STALL_MS 60000
#define FH_MODEL_AZURE_VERSION "2024-12-01-preview"

struct fh_model {
	const struct fh_service *service;
	const struct fh_wire *wire;
	const char *model;
	char *url, *stream_url;
	char *key;     /* API key; NULL: the server needs no key */
	json_t *given; /* the config as it was given, with the names of files */
	struct fh_http *http;
};

static void fh_model_free(struct fh_provider *p)
{
	struct fh_model *m = p->state;
	if (!m)
		return;
	fh_http_free(m->http);
	json_decref(m->given);
	free(m->url);
	free(m->stream_url);
	free(m->key);
	free(m);
}

/* -------------------------------------------------------------------------------------------------------- opening */

/* Kinds of OpenAI's services that are not supported, so that "openai:image:x" is not taken for a model of that name. */
static const char *const fh_model_other_kinds[] = {
	"assistant:", "image:",         "realtime:", "codex-sdk",        "codex-app-server", "agents:", "video:",
	"speech:",    "transcription:", "vision:",   "claude-agent-sdk", "chatkit:",         "live:",
};

const struct fh_wire *fh_model_parse_id(const char *id, const struct fh_service **ret_service, const char **ret_model,
                                        const char **ret_wrong)
{
	size_t n = strcspn(id, ":");
	const struct fh_service *service = fh_service_find((struct fh_str){ id, n });
	*ret_wrong = NULL;
	if (service && service->model_optional && !id[n]) {
		*ret_service = service;
		*ret_model = "default";
		return service->kinds[0].wire;
	}
	if (!service)
		return NULL;
	const char *rest = id + n + (id[n] == ':');
	const struct fh_wire *wire = service->kinds[0].wire;
	bool kind_named = false;
	for (const struct fh_service_kind *k = service->kinds; k->name && !kind_named; k++) {
		size_t length = strlen(k->name);
		kind_named = strncmp(rest, k->name, length) == 0 && strchr(":", rest[length]);
		if (kind_named) {
			const char *usual = service->usual_models && k->usual ? k->usual : "";
			wire = k->wire;
			rest = rest[length] && rest[length + 1] ? rest + length + 1 : usual;
		}
	}
	for (size_t i = 0; !kind_named && i < FH_ARRAY_SIZE(fh_model_other_kinds); i++)
		if (fh_starts_with(rest, fh_model_other_kinds[i]))
			*ret_wrong = "names a kind of service that is not supported";
	if (!*rest)
		*ret_wrong = "names no model";
	*ret_service = service;
	*ret_model = rest;
	return *ret_wrong ? NULL : wire;
}

/* The server's address, from the first setting that exists; *ret_own: it is not the service's default. free() it. */
static char *fh_model_base(const struct fh_provider *p, const struct fh_service *s, bool *ret_own)
{
	/* `baseUrl` is what promptfoo calls it for llama.cpp. */
	const char *base = fh_json_str(p->config, "apiBaseUrl", fh_json_str(p->config, "baseUrl", NULL)),
	           *host = fh_json_str(p->config, "apiHost", NULL);
	*ret_own = true;
	if (base && *base)
		return fh_xstrdup(base);
	host = host && *host ? host : s->host_env ? fh_provider_env(p, s->host_env) : NULL;
	if (host) {
		const char *path = s->base ? strchr(s->base + strlen("https://"), '/') : NULL;
		return fh_xasprintf("https://%s%s", host, path ? path : "");
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(s->base_envs) && s->base_envs[i]; i++) {
		base = fh_provider_env(p, s->base_envs[i]);
		if (base)
			return fh_xstrdup(base);
	}
	*ret_own = s->key_optional;
	return s->base ? fh_xstrdup(s->base) : NULL;
}

static const char *fh_model_key(const struct fh_provider *p, const struct fh_service *s)
{
	const char *key = fh_json_str(p->config, "apiKey", NULL), *name = fh_json_str(p->config, "apiKeyEnvar", NULL);
	if (key && *key)
		return key;
	if (name && *name)
		return fh_provider_env(p, name);
	key = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(s->key_envs) && s->key_envs[i] && !key; i++)
		key = fh_provider_env(p, s->key_envs[i]);
	return key;
}

/* Appends a pattern, with {model} and {apiVersion} replaced. */
static void fh_model_fill(struct fh_buf *url, const char *pattern, const char *model, const char *version)
{
	for (const char *p = pattern; *p;) {
		if (fh_starts_with(p, "{model}")) {
			fh_buf_adds(url, model);
			p += strlen("{model}");
		} else if (fh_starts_with(p, "{apiVersion}")) {
			fh_buf_adds(url, version);
			p += strlen("{apiVersion}");
		} else {
			fh_buf_addc(url, *p++);
		}
	}
}

static char *fh_model_url(const struct fh_provider *p, const struct fh_model *m, const char *base, const char *path)
{
	fh_auto_buf struct fh_buf url = FH_BUF_INIT(1 << 16);
	size_t n = strlen(base);
	while (n && base[n - 1] == '/')
		n--;
	fh_buf_add(&url, base, n);
	const char *version = fh_json_str(p->config, "apiVersion", FH_MODEL_AZURE_VERSION);
	fh_model_fill(&url, m->service->path_prefix ? m->service->path_prefix : "", m->model, version);
	fh_model_fill(&url, path, m->model, version);
	fh_model_fill(&url, m->service->query ? m->service->query : "", m->model, version);
	return fh_buf_take(&url, NULL);
}

static int fh_model_no_base(const struct fh_provider *p, const struct fh_service *s, const char *base,
                            struct fh_error *err)
{
	const char *variable = s->base_envs[0] ? s->base_envs[0] : "apiBaseUrl";
	if (base)
		fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not an http or https URL", p->id, base);
	else
		fh_error_set(err, FH_E_CONFIG, "provider %s: no address of a server is given", p->id);
	fh_error_hint(err, "config.apiBaseUrl and %s look like %s", variable,
	              s->base ? s->base : "https://NAME.openai.azure.com");
	return -FH_E_CONFIG;
}

static int fh_model_no_key(const struct fh_provider *p, const struct fh_service *s, struct fh_error *err)
{
	const char *own = s->base_envs[0] ? s->base_envs[0] : "config.apiBaseUrl";
	fh_error_set(err, FH_E_CONFIG, "provider %s: no API key", p->id);
	fh_error_hint(err, "set %s in the environment or in .env, or %s for a server of your own",
	              fh_json_str(p->config, "apiKeyEnvar", s->key_envs[0]), own);
	return -FH_E_CONFIG;
}

static int fh_model_open(struct fh_provider *p, struct fh_error *err)
{
	const struct fh_service *service = NULL;
	const char *model = NULL, *wrong;
	const struct fh_wire *wire = fh_model_parse_id(p->id, &service, &model, &wrong);
	if (!wire) {
		const char *kind = service->kinds[0].name;
		fh_error_set(err, FH_E_CONFIG, "provider %s %s", p->id, wrong);
		fh_error_hint(err, "write %s:%s:MODEL, for example %s:%s:%s", service->name, kind, service->name, kind,
		              service->example ? service->example : "gpt-4o");
		return -FH_E_CONFIG;
	}
	if (json_is_true(json_object_get(json_object_get(p->config, "mcp"), "enabled"))) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.mcp is not supported: no tools of a server are called",
		             p->id);
		fh_error_hint(
		    err, "config.tools offers tools to the model; a provider in a file (file://provider.py) can call them");
		return -FH_E_CONFIG;
	}
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	int code = fh_chat_config_headers(&headers, p->config, err);
	if (code)
		return fh_error_wrap(err, "provider %s", p->id);
	fh_auto_json json_t *given = json_copy(p->config);
	code = fh_settings_load(p, p->config, err);
	if (code)
		return code;
	bool own;
	fh_auto_free char *base = fh_model_base(p, service, &own);
	if (!base || (!fh_starts_with(base, "http://") && !fh_starts_with(base, "https://")))
		return fh_model_no_base(p, service, base, err);
	const char *key = fh_model_key(p, service);
	if (!key && !own && !p->look_only)
		return fh_model_no_key(p, service, err);
	struct fh_model *m = FH_NEW(struct fh_model);
	p->state = m;
	m->service = service;
	m->wire = wire;
	m->model = model;
	m->key = key ? fh_xstrdup(key) : NULL;
	m->given = FH_TAKE_PTR(given);
	m->url = fh_model_url(p, m, base, wire->path);
	m->stream_url = fh_model_url(p, m, base, wire->stream_path ? wire->stream_path : wire->path);
	m->http = fh_http_new(service->start);
	fh_provider_keep_secret(p, m->key);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- asking */

/* A variable of the provider's environment; NULL: the service has no such variable, or it is not set. */
static const char *fh_model_variable(const struct fh_provider *p, FH_NULLABLE const char *name)
{
	return name ? fh_provider_env(p, name) : NULL;
}

static int fh_model_headers(const struct fh_provider *p, const json_t *config, struct fh_chat_headers *headers,
                            struct fh_error *err)
{
	static const struct {
		const char *header, *before;
	} auths[] = {
		[FH_AUTH_BEARER] = { "Authorization", "Bearer " },
		[FH_AUTH_X_API_KEY] = { "x-api-key", "" },
		[FH_AUTH_API_KEY] = { "api-key", "" },
		[FH_AUTH_GOOGLE] = { "x-goog-api-key", "" },
	};
	const struct fh_model *m = p->state;
	const char *organization = fh_json_str(config, "organization", NULL);
	int code = fh_chat_header(headers, "Content-Type", "application/json", err);
	if (!organization)
		organization = fh_model_variable(p, m->service->organization_env);
	if (!code && m->key) {
		fh_auto_free char *value = fh_xasprintf("%s%s", auths[m->service->auth].before, m->key);
		code = fh_chat_header(headers, auths[m->service->auth].header, value, err);
	}
	if (!code && m->service->header)
		headers->line[headers->n++] = fh_xstrdup(m->service->header);
	if (!code && organization)
		code = fh_chat_header(headers, "OpenAI-Organization", organization, err);
	if (!code)
		code = fh_chat_config_headers(headers, config, err);
	return code ? fh_error_wrap(err, "provider %s", p->id) : 0;
}

static void fh_model_streamed(struct fh_answer_stream *s, int status, const char *content_type, struct fh_str body,
                              const json_t *config, struct fh_provider_response *ret)
{
	fh_answer_stream_end(s);
	if (s->error) {
		fh_auto_free char *text = fh_json_text(s->error, 0);
		/* An error in the middle of a stream is reported like one in a complete answer. */
		json_decref(fh_chat_body(status, content_type, fh_str(text), ret));
	} else if (s->whole && s->broken) {
		fh_response_fail(ret, "API error: part of the stream was not JSON, so that part of the answer is missing");
	} else if (s->whole) {
		ret->raw = json_incref(s->answer);
		s->wire->take(s->answer, config, ret);
	} else {
		fh_response_fail(ret,
		                 body.n ? "API error: the stream ended in the middle of the answer%s"
		                        : "API error: the server answered with an empty stream%s",
		                 s->broken ? " (and part of it was not JSON)" : "");
	}
}

/* Whether an answer is a stream: by its type, or by its look where a proxy gave it another. */
static bool fh_model_is_stream(const char *content_type, struct fh_str body)
{
	static const char *const types[] = { "text/event-stream", "application/x-ndjson" };
	static const char *const begins[] = { "data:", "event:", ":" };
	bool is = false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(types); i++)
		is = is || fh_starts_with(content_type, types[i]);
	for (size_t i = 0; i < FH_ARRAY_SIZE(begins); i++)
		is = is || (body.n > strlen(begins[i]) && memcmp(body.p, begins[i], strlen(begins[i])) == 0);
	return is;
}

/* Whether a server was asked for a stream and, as it has none, sent one JSON object. */
static bool fh_model_in_one_piece(const struct fh_http_response *http)
{
	return fh_streq(http->content_type, "application/json") &&
	       !fh_model_is_stream(http->content_type, fh_buf_str(&http->body));
}

static bool fh_model_is_cut(void *context, const struct fh_http_response *http)
{
	return !fh_model_in_one_piece(http) && fh_answer_stream_is_cut(context);
}

void fh_model_answer(const struct fh_wire *wire, int status, const char *content_type, struct fh_str body,
                     const json_t *config, struct fh_provider_response *ret)
{
	if (status >= 200 && status <= 299 && wire->event && fh_model_is_stream(content_type, body)) {
		FH_CLEANUP(fh_answer_stream_release) struct fh_answer_stream s;
		fh_answer_stream_init(&s, wire);
		fh_answer_stream_feed(&s, body);
		fh_model_streamed(&s, status, content_type, body, config, ret);
		return;
	}
	json_t *answer = fh_chat_body(status, content_type, body, ret);
	if (!answer)
		return;
	ret->raw = answer;
	wire->take(answer, config, ret);
}

/* Makes the response from a body and, when it was streamed, from the answer that was put together of it. */
static void fh_model_take(const struct fh_provider *p, const struct fh_http_response *http,
                          struct fh_answer_stream *stream, const json_t *config, struct fh_provider_response *ret)
{
	const struct fh_model *m = p->state;
	bool ok = http->status >= 200 && http->status <= 299;
	if (stream && ok && !fh_model_in_one_piece(http))
		fh_model_streamed(stream, http->status, http->content_type, fh_buf_str(&http->body), config, ret);
	else
		fh_model_answer(m->wire, http->status, http->content_type, fh_buf_str(&http->body), config, ret);
}

/* A server that does not know the path, or answers with a page, is most often another one than was meant. */
static void fh_model_say_address(const struct fh_http_response *http, const char *url, struct fh_provider_response *ret)
{
	bool lost = http->status == 404 || http->status == 405 ||
	            (http->status == 200 && fh_streq(http->content_type, "text/html"));
	fh_auto_free char *said = lost && ret->error ? FH_TAKE_PTR(ret->error) : NULL;
	const char *host = strstr(url, "://"), *at = host ? memrchr(host, '@', strcspn(host + 3, "/?#") + 3) : NULL;
	url = at ? at + 1 : url; /* without a user and password */
	if (said)
		fh_response_fail(ret, "%s (asked %.*s: is the address of the server right?)", said, (int)strcspn(url, "?"),
		                 url);
}

static int fh_model_send(struct fh_provider *p, const json_t *config, const json_t *body, bool streams,
                         struct fh_provider_response *ret, struct fh_error *err)
{
	struct fh_model *m = p->state;
	fh_auto_chat_headers struct fh_chat_headers headers = { 0 };
	FH_CLEANUP(fh_answer_stream_release) struct fh_answer_stream stream = { .answer = NULL };
	fh_auto_http_response struct fh_http_response answer = { 0 };
	int code = fh_model_headers(p, config, &headers, err);
	if (code)
		return code;
	int64_t stall = fh_json_int(config, "stallTimeout", FH_MODEL_STALL_MS), start = fh_now_ns();
	struct fh_chat_request request = { .url = streams ? m->stream_url : m->url, .headers = &headers, .body = body };
	if (streams) {
		fh_answer_stream_init(&stream, m->wire);
		request.on_data = fh_answer_stream_feed;
		request.is_cut = fh_model_is_cut;
		request.context = &stream;
		request.stall_ms = stall > 0 ? (uint64_t)stall : 0;
	}
	bool failed = false;
	code = fh_chat_post(p, m->http, &request, config, &answer, ret, &failed, err);
	if (code || failed)
		return code;
	fh_model_take(p, &answer, streams ? &stream : NULL, config, ret);
	fh_model_say_address(&answer, request.url, ret);
	if (streams && stream.first_ns)
		ret->first_token_ms = (double)(stream.first_ns - start) / FH_NS_PER_MS;
	return 0;
}

static int fh_model_call(struct fh_provider *p, const struct fh_provider_request *request,
                         struct fh_provider_response *ret, struct fh_error *err)
{
	static const char *const gives[] = { "answers", "embeddings", "classifications", "moderations" };
	struct fh_model *m = p->state;
	fh_auto_json json_t *config = NULL;
	if (m->wire->operation != request->operation)
		return fh_error_set(err, FH_E_ARGUMENT, "provider %s gives %s, not %s", p->id, gives[m->wire->operation],
		                    gives[request->operation]);
	struct fh_error why = FH_ERROR_INIT;
	int code = fh_render_call_config(p, request, m->given, &config, &why);
	if (code == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (code) {
		fh_response_fail(ret, "the request cannot be made: %s", why.message);
		return 0;
	}
	if (m->wire->chat && fh_chat_is_broken(request->prompt)) {
		fh_response_fail(ret, "the prompt has the form of a chat, but is not valid %s",
		                 fh_chat_is_yaml(request->prompt) ? "YAML" : "JSON");
		return 0;
	}
	bool streams = m->wire->event && json_is_true(json_object_get(config, "stream"));
	struct fh_wire_call call = { .model = m->model,
		                         .config = config,
		                         .prompt = request->prompt,
		                         .stream = streams,
		                         .temperature = fh_model_variable(p, m->service->temperature_env),
		                         .max_tokens = fh_model_variable(p, m->service->max_tokens_env) };
	fh_auto_json json_t *body = m->wire->request(&call);
	fh_auto_json json_t *about = json_pack("{s:s, s:O, s:O?}", "url", streams ? m->stream_url : m->url, "body", body,
	                                       "headers", json_object_get(config, "headers"));
	FH_CLEANUP(fh_cached_call_end) struct fh_cached_call cached = { 0 };
	code = fh_cached_call_begin(&cached, p, request, about, ret, err);
	if (code)
		return code;
	if (cached.hit)
		return fh_tool_callbacks_apply(p, m->given, ret, err);
	/* As in promptfoo, an answer in the form of a schema is parsed only where the config itself has the schema. */
	fh_auto_json json_t *given = json_copy(m->given);
	json_object_update(given, (json_t *)(uintptr_t)request->config);
	code = fh_model_send(p, given, body, streams, ret, err);
	if (code)
		return code;
	if (ret->cost < 0 && !ret->error)
		ret->cost = fh_price_of(m->service->name, m->model, config, &ret->tokens);
	fh_cached_call_store(&cached, ret);
	return fh_tool_callbacks_apply(p, m->given, ret, err);
}

static bool fh_model_knows(const char *id)
{
	const struct fh_service *service = NULL;
	const char *model, *wrong = NULL;
	return fh_model_parse_id(id, &service, &model, &wrong) || wrong;
}

static const char *fh_model_name(size_t i)
{
	const struct fh_service *s = fh_service_at(i);
	return s ? s->name : NULL;
}

const struct fh_provider_type fh_provider_model = {
	.name = "openai",
	.knows = fh_model_knows,
	.name_at = fh_model_name,
	.open = fh_model_open,
	.call = fh_model_call,
	.free = fh_model_free,
	.operations = true,
};
