/* SPDX-License-Identifier: MIT */
/* What servers of chat models have in common: messages, settings of a request, unfriendly answers. */
#pragma once
#include "provider/http.h"
#include "provider/type.h"

/* The prompt as a list of messages: itself when it is a JSON array of objects that have a "role", else one message of
 * the user. New reference. */
FH_OWN json_t *fh_chat_messages(struct fh_str prompt);

/* An object with those members of config that `keys` (NULL-terminated) names, in that order. */
void fh_chat_copy(json_t *to, const json_t *config, const char *const *keys);

/* "Authorization: Bearer KEY" and the like; a list of headers that frees itself. */
struct fh_chat_headers {
	char *line[68]; /* the last one stays NULL */
	size_t n;
};
void fh_chat_headers_release(struct fh_chat_headers *h);
#define fh_auto_chat_headers FH_CLEANUP(fh_chat_headers_release)
/* Adds "name: value"; refuses names and values that would end the header, and too many. */
int fh_chat_header(struct fh_chat_headers *h, const char *name, const char *value, struct fh_error *err);
/* All members of config.headers. */
int fh_chat_config_headers(struct fh_chat_headers *h, const json_t *config, struct fh_error *err);

struct fh_chat_request {
	const char *url;
	const struct fh_chat_headers *headers;
	const json_t *body;
	/* As fh_http_request has them; zero for an answer in one piece. */
	void (*on_data)(void *context, struct fh_str data);
	bool (*is_cut)(void *context);
	void *context;
	uint64_t stall_ms;
};
/* Sends `body` as JSON, with the retries, timeout, backoff and TLS of the config and the environment (maxRetries,
 * timeout, tls; REQUEST_TIMEOUT_MS, PROMPTFOO_REQUEST_BACKOFF_MS). A failure to get an answer goes into *ret (then true
 * is put into *ret_failed); a negative code only when cancelled. */
int fh_chat_post(struct fh_provider *p, struct fh_http *http, const struct fh_chat_request *what, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err);
/* The same for a request that is made already: what the config and the environment say is put into it. */
int fh_chat_send(struct fh_provider *p, struct fh_http *http, struct fh_http_request *request, const json_t *config,
                 struct fh_http_response *ret_http, struct fh_provider_response *ret, bool *ret_failed,
                 struct fh_error *err);

/* Makes the response an error that says what a server refused with: "API error: 429 Too Many Requests: …". json: the
 * body, parsed; NULL: it is none. */
void fh_chat_refuse(int status, struct fh_str body, FH_NULLABLE const json_t *json, struct fh_provider_response *ret);

/* The body of an answer as a JSON object (new reference). Anything else, a status that is not 2xx, or an object with
 * "error": NULL, and ret->error says what came ("API error: 500 Internal Server Error: …"). */
FH_OWN FH_NULLABLE json_t *fh_chat_body(int status, const char *content_type, struct fh_str body,
                                        struct fh_provider_response *ret);
