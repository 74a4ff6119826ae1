/* SPDX-License-Identifier: MIT */
/* What a handler replies: a text, a stream, or the connection itself. */
#include <sys/socket.h>

#include "server/http_internal.h"

static bool is_clean(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

void fh_http_reply_header(struct fh_http_request *r, const char *name, const char *value)
{
	if (r->header_count == FH_HTTP_REPLY_HEADERS_MAX || !is_clean(name) || !is_clean(value))
		return;
	r->headers[r->header_count++] = (struct fh_http_reply_header){ fh_xstrdup(name), fh_xstrdup(value) };
}

/* Sets the reply, unless there is one; it is queued when the handler returns. */
static void set_reply(struct fh_http_request *r, unsigned status, struct MHD_Response *response, const char *type)
{
	if (r->response || r->queued || !response) {
		if (response)
			MHD_destroy_response(response);
		return;
	}
	if (type)
		(void)MHD_add_response_header(response, "Content-Type", type);
	for (size_t i = 0; i < r->header_count; i++)
		(void)MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
	r->response = response;
	r->status = status;
}

void fh_http_reply(struct fh_http_request *r, unsigned status, const char *type, struct fh_str body)
{
	set_reply(r, status,
	          MHD_create_response_from_buffer(body.n, body.n ? (void *)(uintptr_t)body.p : NULL,
	                                          body.n ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT),
	          type);
}

void fh_http_reply_empty(struct fh_http_request *r, unsigned status)
{
	fh_http_reply(r, status, NULL, (struct fh_str){ 0 });
}

void fh_http_reply_json(struct fh_http_request *r, unsigned status, FH_OWN json_t *value)
{
	fh_auto_json json_t *owned = value;
	fh_auto_free char *text = fh_json_text(owned, 0);
	fh_http_reply(r, status, "application/json", fh_str(text));
}

struct stream {
	struct fh_http_source source;
	struct fh_http_request *request;
};

/* Cuts the connection with a reset, since some clients take a plain close in a chunked body for its end. On Linux,
 * connect() with AF_UNSPEC resets a TCP connection at once (tcp_disconnect). */
static ssize_t cut(struct stream *s)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	(void)!connect(fh_http_connection_fd(s->request), &none, sizeof(none));
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t n)
{
	struct stream *s = context;
	ssize_t got = s->source.read(s->source.context, buffer, n);
	if (got > 0)
		return got;
	return got == 0 ? MHD_CONTENT_READER_END_OF_STREAM : cut(s);
}

static void release_stream(void *context)
{
	struct stream *s = context;
	s->source.release(s->source.context);
	free(s);
}

void fh_http_reply_source(struct fh_http_request *r, unsigned status, FH_NULLABLE const char *type,
                          const struct fh_http_source *source)
{
	struct stream *s = FH_NEW(struct stream);
	s->source = *source;
	s->request = r;
	set_reply(r, status,
	          MHD_create_response_from_callback(source->size == FH_HTTP_SIZE_UNKNOWN ? MHD_SIZE_UNKNOWN : source->size,
	                                            FH_HTTP_BLOCK, read_stream, s, release_stream),
	          type);
}

struct upgrade {
	void (*take)(void *context, int fd, struct fh_str early);
	void (*release)(void *context);
	void *context;
};

static void upgraded(void *context, struct MHD_Connection *connection, void *request, const char *extra, size_t extra_n,
                     MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
	struct upgrade *u = context;
	u->take(u->context, fd, (struct fh_str){ extra, extra_n });
	u->release(u->context);
	free(u);
	(void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

void fh_http_reply_upgrade(struct fh_http_request *r, void (*take)(void *context, int fd, struct fh_str early),
                           void (*release)(void *context), void *context)
{
	struct upgrade *u = FH_NEW(struct upgrade);
	*u = (struct upgrade){ take, release, context };
	set_reply(r, MHD_HTTP_SWITCHING_PROTOCOLS, MHD_create_response_for_upgrade(upgraded, u), NULL);
}
