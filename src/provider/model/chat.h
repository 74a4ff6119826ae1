/* SPDX-License-Identifier: MIT */
/* What the APIs of chat models share: messages, settings of a request, error answers. */
#pragma once
#include "provider/http/http.h"
#include "provider/type.h"

/* The prompt as a list of messages: the prompt itself when it is a list of objects with a "role", in JSON or in YAML
 * that begins with "- role:"; else one message of the user. New reference. */
FH_OWN json_t *fh_chat_messages(struct fh_str prompt);

/* Whether the prompt is to be read as YAML. */
bool fh_chat_is_yaml(struct fh_str prompt);
/* Whether the prompt looks like JSON or a YAML chat and is neither. Sent as a text it would be graded as if the model
 * had been asked what was meant: a variable with a quote or a line's end in it is enough. */
bool fh_chat_is_broken(struct fh_str prompt);

/* Copies the members of config that `keys` (NULL-terminated) names, in that order. */
void fh_chat_copy(json_t *to, const json_t *config, const char *const *keys);

/* Headers of a request, such as "Authorization: Bearer KEY". */
struct fh_chat_headers {
	char *line[68]; /* NULL-terminated */
	size_t n;
};
void fh_chat_headers_release(struct fh_chat_headers *h);
#define fh_auto_chat_headers FH_CLEANUP(fh_chat_headers_release)
/* Adds "name: value". Refuses a name or value with characters that would end the header, and too many headers. */
int fh_chat_header(struct fh_chat_headers *h, const char *name, const char *value, struct fh_error *err);
/* Adds all members of config.headers. */
int fh_chat_config_headers(struct fh_chat_headers *h, const json_t *config, struct fh_error *err);

struct fh_chat_request {
	const char *url;
	const struct fh_chat_headers *headers;
	const json_t *body;
	/* As in fh_http_fetch; zero for an answer that is not streamed. */
	void (*on_data)(void *context, struct fh_str data);
	bool (*is_cut)(void *context, const struct fh_http_response *response);
	void *context;
	uint64_t stall_ms;
};
/* The TLS settings of a config. ret_paths: what the caller frees when the settings are no more used. */
void fh_chat_tls(const struct fh_provider *p, const json_t *config, char *ret_paths[3], struct fh_http_tls *ret);

/* Sends `body` as JSON, with the retries, timeout, backoff and TLS settings of the config and the environment
 * (maxRetries, timeout, tls; REQUEST_TIMEOUT_MS, PROMPTFOO_REQUEST_BACKOFF_MS). If no answer comes, the error is in
 * *ret, and *ret_failed is true; the code is negative only when the call was cancelled. */
int fh_chat_post(struct fh_provider *p, struct fh_http *http, const struct fh_chat_request *what, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err);
/* As fh_chat_post, for a request that the caller filled in; settings of config and environment are added to it. An
 * answer's status and headers are in the response's metadata.http, as scripts and assertions expect them there. */
int fh_chat_send(struct fh_provider *p, struct fh_http *http, struct fh_http_fetch *request, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err);

/* The headers of an answer as an object, its names in lower case. New reference. */
FH_OWN json_t *fh_chat_headers_json(const struct fh_http_response *http);

/* Makes the response an error with the server's reason: "API error: 429 Too Many Requests: …". json: the parsed body;
 * NULL: the body is no JSON. */
void fh_chat_refuse(int status, struct fh_str body, FH_NULLABLE const json_t *json, struct fh_provider_response *ret);

/* The body of an answer as a JSON object (new reference). NULL when it is no object, the status is not 2xx, or the
 * object has an "error"; ret->error then says what the server answered ("API error: 500 Internal Server Error: …"). */
FH_OWN FH_NULLABLE json_t *fh_chat_body(int status, const char *content_type, struct fh_str body,
                                        struct fh_provider_response *ret);
