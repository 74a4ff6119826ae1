/* SPDX-License-Identifier: MIT */
#include "provider/model/chat.h"

#include "base/text/parse.h"
#include "base/path.h"
#include "json/yaml.h"
#include "provider/http/rate_headers.h"

#define FH_CHAT_EXCERPT 2000
#define FH_CHAT_RETRIES 4
#define FH_CHAT_RETRIES_MAX 20

static struct fh_str fh_chat_trim(struct fh_str text)
{
	while (text.n && strchr(" \t\r\n", text.p[0])) {
		text.p++;
		text.n--;
	}
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	return text;
}

static bool fh_chat_begins(struct fh_str text, const char *word)
{
	size_t n = strlen(word);
	return text.n >= n && memcmp(text.p, word, n) == 0;
}

bool fh_chat_is_yaml(struct fh_str prompt)
{
	return fh_chat_begins(fh_chat_trim(prompt), "- role:");
}

/* Whether a trimmed text has the brackets of JSON. "[x] is open" and "[see below]" are texts. */
static bool fh_chat_looks_like_json(struct fh_str text)
{
	static const char *const words[] = { "true", "false", "null" };
	if (text.n < 2)
		return false;
	if (text.p[0] == '{')
		return text.p[text.n - 1] == '}';
	if (text.p[0] != '[' || text.p[text.n - 1] != ']')
		return false;
	struct fh_str in = fh_chat_trim((struct fh_str){ text.p + 1, text.n - 2 });
	bool is = !in.n || strchr("\"{[-0123456789", in.p[0]);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		is = is || fh_chat_begins(in, words[i]);
	return is;
}

static json_t *fh_chat_parse(struct fh_str prompt)
{
	return fh_chat_is_yaml(prompt) ? fh_yaml_load(prompt, "prompt", NULL, NULL) : fh_json_parse(prompt, NULL, NULL);
}

bool fh_chat_is_broken(struct fh_str prompt)
{
	if (!fh_chat_is_yaml(prompt) && !fh_chat_looks_like_json(fh_chat_trim(prompt)))
		return false;
	fh_auto_json json_t *value = fh_chat_parse(prompt);
	return !value;
}

json_t *fh_chat_messages(struct fh_str prompt)
{
	if (fh_chat_is_yaml(prompt) || fh_chat_begins(fh_chat_trim(prompt), "[")) {
		fh_auto_json json_t *list = fh_chat_parse(prompt);
		bool chat = json_array_size(list) > 0;
		for (size_t m = 0; chat && m < json_array_size(list); m++)
			chat = json_is_string(json_object_get(json_array_get(list, m), "role"));
		if (chat)
			return FH_TAKE_PTR(list);
	}
	json_t *message = json_object();
	json_object_set_new(message, "role", json_string("user"));
	json_object_set_new(message, "content", fh_json_bytes(prompt));
	json_t *list = json_array();
	json_array_append_new(list, message);
	return list;
}

void fh_chat_copy(json_t *to, const json_t *config, const char *const *keys)
{
	for (size_t i = 0; keys[i]; i++) {
		json_t *value = json_object_get(config, keys[i]);
		if (value && !json_is_null(value))
			json_object_set(to, keys[i], value);
	}
}

void fh_chat_headers_release(struct fh_chat_headers *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->line[i]);
	h->n = 0;
}

int fh_chat_header(struct fh_chat_headers *h, const char *name, const char *value, struct fh_error *err)
{
	if (!*name || strpbrk(name, "\r\n: \t") || strpbrk(value, "\r\n"))
		return fh_error_set(err, FH_E_CONFIG, "headers: \"%s\" is not a header of one line", name);
	if (h->n + 1 >= FH_ARRAY_SIZE(h->line))
		return fh_error_set(err, FH_E_CONFIG, "headers: more than %zu", FH_ARRAY_SIZE(h->line) - 1);
	h->line[h->n++] = fh_xasprintf("%s: %s", name, value);
	return 0;
}

int fh_chat_config_headers(struct fh_chat_headers *h, const json_t *config, struct fh_error *err)
{
	const json_t *headers = json_object_get(config, "headers");
	if (headers && !json_is_null(headers) && !json_is_object(headers))
		return fh_error_set(err, FH_E_CONFIG, "headers has to be a mapping of names to values");
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)headers, name, value)
	{
		if (!json_is_string(value))
			return fh_error_set(err, FH_E_CONFIG, "headers: the value of %s has to be a string", name);
		int code = fh_chat_header(h, name, json_string_value(value), err);
		if (code)
			return code;
	}
	return 0;
}

static uint64_t fh_chat_env_number(const struct fh_provider *p, const char *name, uint64_t max)
{
	const char *text = fh_provider_env(p, name);
	uint64_t n = 0;
	return text && !fh_parse_u64(text, 0, max, &n, NULL) ? n : 0;
}

/* A used-up quota answers 429 as a rate limit does, but retries cannot help. */
static bool fh_chat_is_final(int status, struct fh_str body)
{
	static const char *const codes[] = { "insufficient_quota", "billing_hard_limit_reached", "quota_exceeded" };
	for (size_t i = 0; status == 429 && i < FH_ARRAY_SIZE(codes); i++)
		if (memmem(body.p, body.n, codes[i], strlen(codes[i])))
			return true;
	return false;
}

/* Reads config.tls: {rejectUnauthorized: false, caPath, certPath, keyPath}; paths are relative to the config's
 * folder. */
void fh_chat_tls(const struct fh_provider *p, const json_t *config, char *paths[3], struct fh_http_tls *ret)
{
	static const char *const names[] = { "caPath", "certPath", "keyPath" };
	const json_t *tls = json_object_get(config, "tls");
	const char *off = fh_provider_env(p, "PROMPTFOO_INSECURE_SSL");
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		const char *path = fh_json_str(tls, names[i], NULL);
		paths[i] = path ? fh_path_join(p->base_dir, path) : NULL;
	}
	*ret = (struct fh_http_tls){ .insecure = json_is_false(json_object_get(tls, "rejectUnauthorized")) ||
		                                     (off && (fh_streq(off, "1") || fh_streq(off, "true"))),
		                         .ca = paths[0],
		                         .certificate = paths[1],
		                         .key = paths[2] };
}

json_t *fh_chat_headers_json(const struct fh_http_response *http)
{
	struct fh_str headers = fh_buf_str(&http->headers);
	json_t *o = json_object();
	while (headers.n) {
		const char *nl = memchr(headers.p, '\n', headers.n), *colon = memchr(headers.p, ':', headers.n);
		size_t n = nl ? (size_t)(nl - headers.p) : headers.n;
		if (colon && colon < headers.p + n) {
			fh_auto_free char *name = fh_xstrndup(headers.p, (size_t)(colon - headers.p));
			for (char *c = name; *c; c++)
				*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
			struct fh_str value = fh_headers_find(headers, name);
			json_object_set_new(o, name, fh_json_bytes(value));
		}
		headers.p += FH_MIN(n + 1, headers.n);
		headers.n -= FH_MIN(n + 1, headers.n);
	}
	return o;
}

/* Notes what a server answered beside the body. Cookies are left out: results are kept and shown to others. */
static void fh_chat_note(const struct fh_http_response *http, struct fh_provider_response *ret)
{
	fh_auto_json json_t *headers = fh_chat_headers_json(http);
	json_object_del(headers, "set-cookie");
	ret->metadata = ret->metadata ? ret->metadata : json_object();
	json_object_set_new(ret->metadata, "http",
	                    json_pack("{s:i, s:s, s:O}", "status", http->status, "statusText", fh_http_reason(http->status),
	                              "headers", headers));
}

int fh_chat_send(struct fh_provider *p, struct fh_http *http, struct fh_http_fetch *request, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err)
{
	int64_t retries = fh_json_int(config, "maxRetries", FH_CHAT_RETRIES);
	int64_t timeout = fh_json_int(config, "timeout", 0);
	char *paths[3];
	fh_chat_tls(p, config, paths, &request->tls);
	request->retries = (unsigned)FH_MIN(FH_MAX(retries, 0), FH_CHAT_RETRIES_MAX);
	request->timeout_ms = timeout > 0     ? (uint64_t)timeout
	                      : p->timeout_ms ? p->timeout_ms
	                                      : fh_chat_env_number(p, "REQUEST_TIMEOUT_MS", 86400000);
	request->backoff_ms = fh_chat_env_number(p, "PROMPTFOO_REQUEST_BACKOFF_MS", 600000);
	request->is_final = fh_chat_is_final;
	request->cancel = p->cancel;
	struct fh_error failure = FH_ERROR_INIT;
	int code = fh_http_send(http, request, ret_http, &failure);
	for (size_t i = 0; i < FH_ARRAY_SIZE(paths); i++)
		free(paths[i]);
	if (code == -FH_E_CANCELLED) {
		if (err)
			*err = failure;
		return code;
	}
	if (code) {
		fh_response_fail(ret, "API call error: %s%s%s%s", failure.message, failure.hint[0] ? " (" : "", failure.hint,
		                 failure.hint[0] ? ")" : "");
		*ret_failed = true;
	} else {
		fh_chat_note(ret_http, ret);
	}
	return 0;
}

int fh_chat_post(struct fh_provider *p, struct fh_http *http, const struct fh_chat_request *what, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_HTTP_BODY_MAX);
	fh_json_write(&text, what->body, 0);
	if (text.overflowed) {
		fh_response_fail(ret, "the request is larger than %zu bytes", FH_HTTP_BODY_MAX);
		*ret_failed = true;
		return 0;
	}
	struct fh_http_fetch request = { .url = what->url,
		                             .headers = (const char *const *)what->headers->line,
		                             .post = true,
		                             .body = fh_buf_str(&text),
		                             .on_data = what->on_data,
		                             .is_cut = what->is_cut,
		                             .context = what->context,
		                             .stall_ms = what->stall_ms };
	return fh_chat_send(p, http, &request, config, ret_http, ret, ret_failed, err);
}

/* The error message, which servers give as {"error": {"message"}}, {"error": "…"}, {"detail": …} or {"message"}. */
static const json_t *fh_chat_error_text(const json_t *object)
{
	static const char *const keys[] = { "error", "detail", "message", NULL };
	for (size_t i = 0; keys[i]; i++) {
		const json_t *found = json_object_get(object, keys[i]);
		if (json_is_object(found) && json_is_string(json_object_get(found, "message")))
			return json_object_get(found, "message");
		if (found && !json_is_null(found))
			return found;
	}
	return NULL;
}

/* Says what an answer's headers tell of the mend: where a server moved, or when it wants to be asked again. */
static void fh_chat_say_headers(int status, struct fh_provider_response *ret)
{
	const json_t *headers = json_object_get(json_object_get(ret->metadata, "http"), "headers");
	const char *to = fh_json_str(headers, "location", ""), *after = fh_json_str(headers, "retry-after", "");
	fh_auto_free char *said = FH_TAKE_PTR(ret->error);
	if (status >= 300 && status <= 399 && *to)
		fh_response_fail(ret,
		                 "%s: the server names %.500s in its place; redirects are not followed, so that no key goes to "
		                 "another host: write that address into the config",
		                 said, to);
	else if ((status == 429 || status == 503) && *after)
		fh_response_fail(ret, "%s (Retry-After: %.100s)", said, after);
	else
		ret->error = FH_TAKE_PTR(said);
}

void fh_chat_refuse(int status, struct fh_str body, const json_t *json, struct fh_provider_response *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(1 << 16);
	fh_auto_free char *dump = NULL;
	const json_t *said = fh_chat_error_text(json);
	if (json_is_string(said)) {
		body = (struct fh_str){ json_string_value(said), json_string_length(said) };
	} else if (said) {
		dump = fh_json_text(said, 0);
		body = fh_str(dump);
	}
	fh_response_excerpt(&text, body, FH_CHAT_EXCERPT);
	const char *reason =
	    status >= 300 ? fh_http_reason(status) : ""; /* an error in an answer of status 200 is not "OK" */
	fh_response_fail(ret, "API error: %d%s%s%s%s", status, *reason ? " " : "", reason, text.n ? ": " : "",
	                 fh_buf_cstr(&text));
	fh_chat_say_headers(status, ret);
}

json_t *fh_chat_body(int status, const char *content_type, struct fh_str body, struct fh_provider_response *ret)
{
	struct fh_error why = FH_ERROR_INIT;
	fh_auto_json json_t *json = body.n ? fh_json_parse(body, NULL, &why) : NULL;
	if (status < 200 || status > 299) {
		fh_chat_refuse(status, body, json, ret);
		return NULL;
	}
	if (!body.n) {
		fh_response_fail(ret, "API error: the server answered %d with an empty body", status);
		return NULL;
	}
	if (!json_is_object(json)) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(1 << 16);
		fh_response_excerpt(&text, body, FH_CHAT_EXCERPT);
		fh_response_fail(ret, "API error: the server's answer (%s) is not a JSON object%s%s: %s",
		                 *content_type ? content_type : "no content type", json ? "" : ": ", json ? "" : why.message,
		                 fh_buf_cstr(&text));
		return NULL;
	}
	const json_t *error = json_object_get(json, "error");
	if (error && !json_is_null(error)) {
		fh_chat_refuse(status, body, json, ret);
		return NULL;
	}
	return FH_TAKE_PTR(json);
}
