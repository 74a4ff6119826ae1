/* SPDX-License-Identifier: MIT */
/*
 * Calls any HTTP server: the config describes the request, with {{prompt}} and the row's variables in it, and the
 * user's own JavaScript (or Python) extracts the answer from the response.
 */
#include <strings.h>
#include "base/text/base64.h"
#include "base/fd.h"
#include "base/path.h"
#include "provider/cached_call.h"
#include "provider/model/chat.h"
#include "provider/http/rate_headers.h"
#include "provider/model/render.h"
#include "provider/model/user_code.h"
#include "script/script.h"
#include "template/template.h"

struct fh_request_provider {
	struct fh_http *http;
	char *raw; /* config.request, loaded if it is a file; NULL: not given */
};

/* A request with its templates rendered. */
struct fh_made_request {
	char *url, *method;
	struct fh_chat_headers headers;
	struct fh_buf body;
	json_t *vars;
	json_t *merged; /* object that transformRequest returned, whose members replace those of the body; NULL: none */
};

static void fh_made_request_release(struct fh_made_request *m)
{
	free(m->url);
	free(m->method);
	fh_chat_headers_release(&m->headers);
	fh_buf_release(&m->body);
	json_decref(m->vars);
	json_decref(m->merged);
}

static void fh_request_provider_free(struct fh_provider *p)
{
	struct fh_request_provider *r = p->state;
	if (!r)
		return;
	fh_http_free(r->http);
	free(r->raw);
	free(r);
}

static bool fh_request_provider_knows(const char *id)
{
	return fh_starts_with(id, "http://") || fh_starts_with(id, "https://") || fh_streq(id, "http") ||
	       fh_streq(id, "https");
}

static int fh_request_provider_open(struct fh_provider *p, struct fh_error *err)
{
	static const char *const refused[] = { "multipart", "signatureAuth", "session" };
	static const char *const auths[] = { "bearer", "basic", "api_key" };
	const json_t *auth = json_object_get(p->config, "auth");
	const char *auth_type = fh_json_str(auth, "type", "");
	bool known = !auth || json_is_null(auth);
	const char *url = fh_json_str(p->config, "url", strstr(p->id, "://") ? p->id : NULL);
	const char *raw = fh_json_str(p->config, "request", NULL);
	for (size_t i = 0; i < FH_ARRAY_SIZE(refused); i++) {
		if (!json_object_get(p->config, refused[i]))
			continue;
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.%s is not supported", p->id, refused[i]);
		fh_error_hint(err, "%s",
		              fh_streq(refused[i], "session")
		                  ? "sessionParser takes a session's id out of each answer; a provider in a file "
		                    "(file://provider.py) can ask for one first"
		                  : "a provider in a file (file://provider.py) can make such a request");
		return -FH_E_CONFIG;
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(auths); i++)
		known = known || fh_streq(auth_type, auths[i]);
	if (!known) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.auth of type \"%s\" is not supported", p->id, auth_type);
		fh_error_hint(err, "the types are bearer, basic and api_key; any other can be written into config.headers");
		return -FH_E_CONFIG;
	}
	if (!url && !raw) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: config.url is missing", p->id);
		fh_error_hint(err, "write the URL as the provider's id, or as config.url");
		return -FH_E_CONFIG;
	}
	if (url && !strstr(url, "{{") && !fh_starts_with(url, "http://") && !fh_starts_with(url, "https://"))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: %s is not an http or https URL", p->id, url);
	struct fh_request_provider *r = FH_NEW(struct fh_request_provider);
	p->state = r;
	r->http = fh_http_new("start the server that the provider's url names");
	if (raw && fh_starts_with(raw, "file://")) {
		fh_auto_free char *path = fh_path_join(p->base_dir, raw + strlen("file://"));
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_RENDER_TEXT_MAX);
		int code = fh_file_read(path, &text, err);
		if (code)
			return fh_error_wrap(err, "provider %s: config.request", p->id);
		r->raw = fh_xstrdup(fh_buf_cstr(&text));
	} else {
		r->raw = raw ? fh_xstrdup(raw) : NULL;
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------- making the request */

/* Renders a text body: one that is JSON (before rendering) string by string, any other as a whole. */
static int fh_request_render_body(const json_t *body, const json_t *vars, struct fh_buf *ret, struct fh_error *err)
{
	fh_auto_json json_t *parsed =
	    json_is_string(body) ? fh_json_parse(fh_str(json_string_value(body)), NULL, NULL) : NULL;
	const json_t *from = json_is_object(parsed) || json_is_array(parsed) ? parsed : body;
	if (json_is_string(from))
		return fh_text_template_render_text(fh_str(json_string_value(from)), "body", vars, NULL, ret, err);
	fh_auto_json json_t *made = NULL;
	int code = fh_render_setting_json(from, vars, &made, err);
	if (!code)
		fh_json_write(ret, made, 0);
	return code;
}

/* Appends a name or value of a query in the form of HTML forms (application/x-www-form-urlencoded). */
static void fh_request_form(struct fh_buf *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-_.*", *p))
			fh_buf_addc(out, *p);
		else if (*p == ' ')
			fh_buf_addc(out, '+');
		else
			fh_buf_addf(out, "%%%02X", (unsigned char)*p);
	}
}

static int fh_request_query(const json_t *params, const json_t *vars, char **url, struct fh_error *err)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_RENDER_TEXT_MAX);
	const char *name;
	json_t *v;
	if (!json_object_size(params))
		return 0;
	fh_buf_adds(&out, *url);
	json_object_foreach((json_t *)(uintptr_t)params, name, v)
	{
		fh_auto_free char *plain = json_is_string(v) ? fh_xstrdup(json_string_value(v)) : fh_json_text(v, 0),
		                  *text = NULL;
		int code = fh_render_setting(plain, vars, &text, err);
		if (code)
			return code;
		fh_buf_addc(&out, strchr(fh_buf_cstr(&out), '?') ? '&' : '?');
		fh_request_form(&out, name);
		fh_buf_addc(&out, '=');
		fh_request_form(&out, text);
	}
	free(*url);
	*url = fh_buf_take(&out, NULL);
	return 0;
}

/* Adds config.auth: {type: bearer, token}, {type: basic, username, password} or {type: api_key, keyName, value,
 * placement: header or query}. */
static int fh_request_auth(const json_t *auth, struct fh_made_request *m, struct fh_error *err)
{
	const char *type = fh_json_str(auth, "type", NULL);
	fh_auto_buf struct fh_buf value = FH_BUF_INIT(1 << 16);
	if (!type)
		return 0;
	if (fh_streq(type, "api_key")) {
		const char *name = fh_json_str(auth, "keyName", "X-API-Key"), *key = fh_json_str(auth, "value", "");
		if (!fh_streq(fh_json_str(auth, "placement", "header"), "query"))
			return fh_chat_header(&m->headers, name, key, err);
		fh_auto_json json_t *params = json_pack("{s:s}", name, key);
		return fh_request_query(params, m->vars, &m->url, err);
	}
	if (fh_streq(type, "bearer")) {
		fh_buf_addf(&value, "Bearer %s", fh_json_str(auth, "token", ""));
	} else {
		fh_auto_free char *pair =
		    fh_xasprintf("%s:%s", fh_json_str(auth, "username", ""), fh_json_str(auth, "password", ""));
		fh_buf_adds(&value, "Basic ");
		fh_base64_encode(&value, fh_str(pair));
	}
	return fh_chat_header(&m->headers, "Authorization", fh_buf_cstr(&value), err);
}

static bool fh_request_has_header(const struct fh_chat_headers *h, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < h->n; i++)
		if (strncasecmp(h->line[i], name, n) == 0 && h->line[i][n] == ':')
			return true;
	return false;
}

/* Parses "POST /path HTTP/1.1", headers, a blank line and a body. The head is rendered as one text, the body as other
 * bodies are. */
static int fh_request_from_raw(const struct fh_provider *p, const char *raw, struct fh_made_request *m,
                               struct fh_error *err)
{
	while (*raw == '\n' || *raw == '\r' || *raw == ' ')
		raw++;
	const char *crlf = strstr(raw, "\r\n\r\n"), *lf = strstr(raw, "\n\n");
	const char *end = crlf && (!lf || crlf < lf) ? crlf : lf;
	const char *body = end ? end + (end == crlf ? 4 : 2) : "";
	fh_auto_free char *pattern = fh_xstrndup(raw, end ? (size_t)(end - raw) : strlen(raw)), *head = NULL, *path = NULL;
	fh_auto_free char *host = NULL;
	int code = fh_render_setting(pattern, m->vars, &head, err);
	char *save = NULL;
	for (char *line = code ? NULL : strtok_r(head, "\r\n", &save); line && !code;
	     line = strtok_r(NULL, "\r\n", &save)) {
		char *colon = strchr(line, ':');
		if (!m->method) {
			size_t n = strcspn(line, " ");
			m->method = fh_xstrndup(line, n);
			line += n + strspn(line + n, " ");
			path = fh_xstrndup(line, strcspn(line, " "));
		} else if (colon) {
			*colon = 0;
			const char *value = colon + 1 + strspn(colon + 1, " \t");
			if (strcasecmp(line, "host") == 0)
				host = fh_xstrdup(value);
			else if (strcasecmp(line, "content-length") != 0 && strcasecmp(line, "connection") != 0)
				code = fh_chat_header(&m->headers, line, value, err);
		}
	}
	if (!code && (!path || (*path == '/' && !host)))
		code = fh_error_set(err, FH_E_CONFIG, "config.request is not an HTTP request with a Host header");
	if (code)
		return code;
	bool plain = json_is_false(json_object_get(p->config, "useHttps"));
	m->url = *path == '/' ? fh_xasprintf("%s://%s%s", plain ? "http" : "https", host, path) : fh_xstrdup(path);
	size_t n = strlen(body);
	while (n && strchr("\r\n", body[n - 1]))
		n--;
	fh_auto_json json_t *text = json_stringn(body, n);
	return n ? fh_request_render_body(text, m->vars, &m->body, err) : 0;
}

/* Writes the body, an object or NULL, with the members of `merged`, which are no templates: a model may have written
 * them. */
static int fh_request_merge_body(const json_t *body, struct fh_made_request *m, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_RENDER_TEXT_MAX);
	int code = body ? fh_request_render_body(body, m->vars, &text, err) : 0;
	fh_auto_json json_t *whole = body && !code ? fh_json_parse(fh_buf_str(&text), NULL, NULL) : NULL;
	if (code)
		return code;
	whole = whole ? whole : json_object();
	json_object_update(whole, m->merged);
	fh_json_write(&m->body, whole, 0);
	return 0;
}

static int fh_request_from_config(const struct fh_provider *p, const json_t *config, struct fh_made_request *m,
                                  struct fh_error *err)
{
	const json_t *body = json_object_get(config, "body"), *headers = json_object_get(config, "headers");
	const char *url = fh_json_str(config, "url", p->id), *name;
	json_t *v;
	body = body && !json_is_null(body) ? body : NULL;
	m->method = fh_xstrdup(fh_json_str(config, "method", body ? "POST" : "GET"));
	int code = fh_render_setting(url, m->vars, &m->url, err);
	if (!code)
		code = fh_request_query(json_object_get(config, "queryParams"), m->vars, &m->url, err);
	json_object_foreach((json_t *)(uintptr_t)headers, name, v)
	{
		fh_auto_free char *plain = json_is_string(v) ? fh_xstrdup(json_string_value(v)) : fh_json_text(v, 0),
		                  *text = NULL;
		if (!code && !(code = fh_render_setting(plain, m->vars, &text, err)))
			code = fh_chat_header(&m->headers, name, text, err);
	}
	if (!code && m->merged && (!body || json_is_object(body)))
		code = fh_request_merge_body(body, m, err);
	else if (!code && body)
		code = fh_request_render_body(body, m->vars, &m->body, err);
	if (!code && m->body.n && !json_is_string(body) && !fh_request_has_header(&m->headers, "content-type"))
		code = fh_chat_header(&m->headers, "Content-Type", "application/json", err);
	return code;
}

/* ------------------------------------------------------------------------------------------ the user's own pieces */

/* Applies transformRequest (a template or a script), whose result replaces the prompt in the request. */
static int fh_request_transform(const struct fh_provider *p, const json_t *config, struct fh_made_request *m,
                                struct fh_provider_response *ret, struct fh_error *err)
{
	static const char *const names[] = { "prompt", "vars", "context", NULL };
	const char *code = fh_json_str(config, "transformRequest", NULL);
	json_t *value = NULL;
	if (!code || !*code)
		return 0;
	if (strstr(code, "{{") && !fh_user_code_is_function(code) && !fh_starts_with(code, "file://")) {
		struct fh_buf text = FH_BUF_INIT(FH_RENDER_TEXT_MAX);
		fh_auto_json json_t *pattern = json_string(code);
		int r = fh_request_render_body(pattern, m->vars, &text, err);
		if (!r)
			json_object_set_new(m->vars, "prompt", fh_json_bytes(fh_buf_str(&text)));
		fh_buf_release(&text);
		return r;
	}
	fh_auto_json json_t *args =
	    json_pack("[O, O, {s:O}]", json_object_get(m->vars, "prompt"), m->vars, "vars", m->vars);
	int r = fh_user_code_run(p, "transformRequest", code, names, "prompt, vars, context", args, &value, ret, err);
	if (json_is_object(value))
		m->merged = json_incref(value);
	if (value)
		json_object_set_new(m->vars, "prompt", value);
	return r;
}

static int fh_request_take(const struct fh_provider *p, const json_t *config, const struct fh_http_response *http,
                           struct fh_provider_response *ret, struct fh_error *err)
{
	static const char *const names[] = { "json", "text", "context", NULL }, *const status_names[] = { "status", NULL };
	static const char *const data_names[] = { "data", NULL };
	const char *transform = fh_json_str(config, "transformResponse", fh_json_str(config, "responseParser", NULL));
	const char *session = fh_json_str(config, "sessionParser", NULL),
	           *valid = fh_json_str(config, "validateStatus", NULL);
	fh_auto_json json_t *text = fh_json_bytes(fh_buf_str(&http->body)), *good = NULL, *value = NULL, *id = NULL;
	fh_auto_json json_t *json = http->body.n ? fh_json_parse(fh_buf_str(&http->body), NULL, NULL) : NULL;
	fh_auto_json json_t *headers = fh_chat_headers_json(http);
	fh_auto_json json_t *status_args = json_pack("[i]", http->status);
	int code =
	    valid ? fh_user_code_run(p, "validateStatus", valid, status_names, "status", status_args, &good, ret, err) : 0;
	if (code || ret->error)
		return code;
	if (valid ? !json_is_true(good) : http->status < 200 || http->status > 299) {
		fh_chat_refuse(http->status, fh_buf_str(&http->body), json, ret);
		return 0;
	}
	ret->raw = json ? json_incref(json) : json_incref(text);
	fh_auto_json json_t *args =
	    json_pack("[O, O, {s:{s:i, s:s, s:O}}]", json ? json : json_null(), text, "response", "status", http->status,
	              "statusText", fh_http_reason(http->status), "headers", headers);
	if (transform && *transform)
		code =
		    fh_user_code_run(p, "transformResponse", transform, names, "json, text, context", args, &value, ret, err);
	else
		value = json_incref(json ? json : text);
	if (code || ret->error)
		return code;
	fh_user_code_take(value, ret);
	if (session && !ret->error) {
		fh_auto_json json_t *data = json_pack("[{s:O, s:O}]", "headers", headers, "body", json ? json : text);
		code = fh_user_code_run(p, "sessionParser", session, data_names, "data", data, &id, ret, err);
		if (id && !json_is_null(id)) {
			ret->extra = ret->extra ? ret->extra : json_object();
			json_object_set(ret->extra, "sessionId", id);
		}
	}
	return code;
}

static int fh_request_provider_call(struct fh_provider *p, const struct fh_provider_request *request,
                                    struct fh_provider_response *ret, struct fh_error *err)
{
	struct fh_request_provider *r = p->state;
	FH_CLEANUP(fh_made_request_release) struct fh_made_request m = { .body = FH_BUF_INIT(FH_RENDER_TEXT_MAX) };
	fh_auto_http_response struct fh_http_response answer = { 0 };
	fh_auto_json json_t *config = fh_provider_call_config(p, request);
	m.vars = fh_render_setting_vars(p, request);
	json_object_set_new(m.vars, "prompt", fh_json_bytes(request->prompt));
	struct fh_error why = FH_ERROR_INIT;
	int code = fh_request_transform(p, config, &m, ret, &why);
	if (!code && !ret->error)
		code = r->raw ? fh_request_from_raw(p, r->raw, &m, &why) : fh_request_from_config(p, config, &m, &why);
	if (!code && !ret->error)
		code = fh_request_auth(json_object_get(config, "auth"), &m, &why);
	if (code == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (code)
		fh_response_fail(ret, "the request cannot be made: %s", why.message);
	if (ret->error)
		return 0;
	fh_auto_json json_t *body = fh_json_bytes(fh_buf_str(&m.body)), *lines = json_array();
	for (size_t i = 0; i < m.headers.n; i++)
		json_array_append_new(lines, fh_json_bytes(fh_str(m.headers.line[i])));
	fh_auto_json json_t *about = json_pack(
	    "{s:s, s:s, s:O, s:O, s:O?, s:O?}", "url", m.url, "method", m.method, "body", body, "headers", lines,
	    "transform", json_object_get(config, "transformResponse"), "parser", json_object_get(config, "responseParser"));
	FH_CLEANUP(fh_cached_call_end) struct fh_cached_call cached = { 0 };
	code = fh_cached_call_begin(&cached, p, request, about, ret, err);
	if (code || cached.hit)
		return code;
	struct fh_http_fetch http = {
		.url = m.url, .headers = (const char *const *)m.headers.line, .method = m.method, .body = fh_buf_str(&m.body)
	};
	bool failed = false;
	code = fh_chat_send(p, r->http, &http, config, &answer, ret, &failed, err);
	if (code || failed)
		return code;
	code = fh_request_take(p, config, &answer, ret, err);
	if (!code)
		fh_cached_call_store(&cached, ret);
	return code;
}

const struct fh_provider_type fh_provider_request = {
	.name = "http",
	.knows = fh_request_provider_knows,
	.open = fh_request_provider_open,
	.call = fh_request_provider_call,
	.free = fh_request_provider_free,
};
