/* SPDX-License-Identifier: MIT */
/*
 * Asks a server over a WebSocket: one connection for each prompt, which sends config.messageTemplate and takes the
 * first message that comes as the answer, or lets config.streamResponse put several together.
 */
#include "provider/http/websocket.h"

#include "base/clock.h"
#include "base/text/parse.h"
#include "provider/model/chat.h"
#include "provider/model/render.h"
#include "provider/model/user_code.h"
#include "provider/response.h"

#define TIMEOUT_MS 300000
#define MESSAGES_MAX 100000 /* that config.streamResponse may take for one answer */

static bool websocket_knows(const char *id)
{
	return fh_starts_with(id, "ws:") || fh_starts_with(id, "wss:") || fh_streq(id, "websocket") || fh_streq(id, "ws") ||
	       fh_streq(id, "wss");
}

static const char *url_of(const struct fh_provider *p)
{
	return fh_json_str(p->config, "url", strstr(p->id, "://") ? p->id : NULL);
}

static int websocket_open(struct fh_provider *p, struct fh_error *err)
{
	const char *url = url_of(p);
	if (!url) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.url is missing", p->id);
		fh_error_hint(err, "write the URL as the provider's id, or as config.url");
		return -FH_E_CONFIG;
	}
	if (!strstr(url, "{{") && !fh_starts_with(url, "ws://") && !fh_starts_with(url, "wss://"))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not a ws:// or wss:// URL", p->id, url);
	if (!json_is_string(json_object_get(p->config, "messageTemplate"))) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.messageTemplate is missing", p->id);
		fh_error_hint(err, "it is what is sent, for example '{\"prompt\": {{prompt | dump}}}'");
		return -FH_E_CONFIG;
	}
	return 0;
}

/* What one call needs, rendered. */
struct asked {
	char *url, *message;
	struct fh_chat_headers headers;
	struct fh_http_tls tls;
	char *tls_paths[3];
	uint64_t timeout_ms;
};

static void asked_release(struct asked *a)
{
	free(a->url);
	free(a->message);
	fh_chat_headers_release(&a->headers);
	for (size_t i = 0; i < FH_ARRAY_SIZE(a->tls_paths); i++)
		free(a->tls_paths[i]);
}

/* config.protocols: one text, with commas between them, or a list. */
static int add_protocols(struct asked *a, const json_t *config, struct fh_error *err)
{
	const json_t *given = json_object_get(config, "protocols");
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(1 << 16);
	if (json_is_string(given))
		fh_buf_adds(&names, json_string_value(given));
	for (size_t i = 0; i < json_array_size(given); i++) {
		const char *name = json_string_value(json_array_get(given, i));
		if (!name)
			return fh_error_set(err, FH_E_CONFIG, "config.protocols has to be text, or a list of it");
		fh_buf_addf(&names, "%s%s", i ? ", " : "", name);
	}
	return names.n ? fh_chat_header(&a->headers, "Sec-WebSocket-Protocol", fh_buf_cstr(&names), err) : 0;
}

static int ask_for(const struct fh_provider *p, const struct fh_provider_request *request, const json_t *config,
                   struct asked *ret, struct fh_error *err)
{
	fh_auto_json json_t *vars = fh_render_setting_vars(p, request);
	json_object_set_new(vars, "prompt", fh_json_bytes(request->prompt));
	const char *set = fh_provider_env(p, "REQUEST_TIMEOUT_MS");
	double timeout = fh_json_num(config, "timeoutMs", fh_json_num(config, "timeout", (double)p->timeout_ms));
	uint64_t usual = 0;
	if (!set || fh_parse_u64(set, 1, 86400000, &usual, NULL) < 0)
		usual = TIMEOUT_MS;
	ret->timeout_ms = timeout >= 1 && timeout <= 86400000. * 7 ? (uint64_t)timeout : usual;
	fh_chat_tls(p, config, ret->tls_paths, &ret->tls);
	int r = fh_render_setting(url_of(p), vars, &ret->url, err);
	r = r < 0 ? r : fh_render_setting(fh_json_str(config, "messageTemplate", ""), vars, &ret->message, err);
	r = r < 0 ? r : fh_chat_config_headers(&ret->headers, config, err);
	return r < 0 ? r : add_protocols(ret, config, err);
}

/* ------------------------------------------------------------------------------------------------------ the answer */

static int take_message(const struct fh_provider *p, const json_t *config, struct fh_str text,
                        struct fh_provider_response *ret, struct fh_error *err)
{
	static const char *const names[] = { "data", NULL };
	const char *code = fh_json_str(config, "transformResponse", fh_json_str(config, "responseParser", ""));
	fh_auto_json json_t *parsed = text.n ? fh_json_parse(text, NULL, NULL) : NULL;
	fh_auto_json json_t *data = parsed ? json_incref(parsed) : fh_json_bytes(text);
	fh_auto_json json_t *args = json_pack("[O]", data);
	fh_auto_json json_t *value = *code ? NULL : json_incref(data);
	ret->raw = json_incref(data);
	int r = *code ? fh_user_code_run(p, "transformResponse", code, names, "data", args, &value, ret, err) : 0;
	if (r == 0 && !ret->error)
		fh_user_code_take(value, ret);
	return r;
}

/* Calls streamResponse(accumulator, event, context) with each message, until it returns [answer, true]. */
static int take_stream(const struct fh_provider *p, const struct fh_provider_request *request, const char *code,
                       struct fh_websocket *w, struct fh_provider_response *ret, struct fh_error *err)
{
	static const char *const names[] = { "accumulator", "data", "context", NULL };
	fh_auto_json json_t *accumulator = json_pack("{s:s}", "error", "unknown error occurred");
	for (size_t i = 0; i < MESSAGES_MAX; i++) {
		struct fh_str text;
		fh_auto_json json_t *value = NULL;
		int r = fh_websocket_receive(w, &text, err);
		if (r < 0)
			return r;
		fh_auto_json json_t *data = fh_json_bytes(text);
		fh_auto_json json_t *args =
		    json_pack("[O, {s:s, s:O}, o]", accumulator, "type", "message", "data", data,
		              request->context ? json_incref((json_t *)(uintptr_t)request->context) : json_object());
		r = fh_user_code_run(p, "streamResponse", code, names, "accumulator, data, context", args, &value, ret, err);
		if (r < 0 || ret->error)
			return r;
		if (json_array_size(value) != 2) {
			fh_response_fail(ret, "streamResponse has to return [answer, whether it is complete]");
			return 0;
		}
		json_t *next = json_incref(json_array_get(value, 0));
		json_decref(accumulator);
		accumulator = next;
		if (!json_is_false(json_array_get(value, 1)) && !json_is_null(json_array_get(value, 1))) {
			ret->raw = json_incref(accumulator);
			fh_user_code_take(accumulator, ret);
			return 0;
		}
	}
	return fh_error_set(err, FH_E_LIMIT, "streamResponse took more than %d messages", MESSAGES_MAX);
}

static int converse(struct fh_provider *p, const struct fh_provider_request *request, const json_t *config,
                    const struct asked *a, struct fh_provider_response *ret, struct fh_error *err)
{
	struct fh_websocket_options o = { .url = a->url,
		                              .headers = (const char *const *)a->headers.line,
		                              .tls = a->tls,
		                              .deadline_ns = fh_in_ms((int64_t)a->timeout_ms),
		                              .cancel = p->cancel };
	fh_auto_websocket struct fh_websocket *w = NULL;
	const char *stream = fh_json_str(config, "streamResponse", "");
	struct fh_str text;
	int r = fh_websocket_open(&o, &w, err);
	r = r < 0 ? r : fh_websocket_send_text(w, fh_str(a->message), err);
	if (r == 0 && *stream)
		return take_stream(p, request, stream, w, ret, err);
	r = r < 0 ? r : fh_websocket_receive(w, &text, err);
	return r < 0 ? r : take_message(p, config, text, ret, err);
}

static int websocket_call(struct fh_provider *p, const struct fh_provider_request *request,
                          struct fh_provider_response *ret, struct fh_error *err)
{
	FH_CLEANUP(asked_release) struct asked a = { 0 };
	fh_auto_json json_t *config = fh_provider_call_config(p, request);
	struct fh_error why = FH_ERROR_INIT;
	int r = ask_for(p, request, config, &a, &why);
	r = r < 0 ? r : converse(p, request, config, &a, ret, &why);
	if (r == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (r == -FH_E_TIMEOUT)
		fh_response_fail(ret, "WebSocket request timed out after %llums", (unsigned long long)a.timeout_ms);
	else if (r < 0)
		fh_response_fail(ret, "%s%s%s%s", why.message, why.hint[0] ? " (" : "", why.hint, why.hint[0] ? ")" : "");
	return 0;
}

const struct fh_provider_type fh_provider_websocket = {
	.name = "websocket",
	.knows = websocket_knows,
	.open = websocket_open,
	.call = websocket_call,
};
