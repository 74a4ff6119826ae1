/* SPDX-License-Identifier: MIT */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http_peer.h"
#include "server/http_target.h"

enum {
	BODY_MAX_DEFAULT = 16 << 20,
	CONNECTIONS_DEFAULT = 4096,
	IDLE_DEFAULT_SECONDS = 640,   /* E2B's SDKs keep connections for 300 s */
	CONNECTION_MEMORY = 64 << 10, /* bytes for a request's head, and for pieces of the reply */
	THREAD_STACK = 512 << 10,
	SOURCE_BLOCK = 64 << 10,
	DROPPED_MAX = 4 << 20, /* bytes of a refused body that are still read, as clients read the reply only after it */
};

struct fh_http_server {
	struct fh_http_options options;
	struct MHD_Daemon *daemon;
	uint16_t port;
	atomic_bool stopping;
};

struct reply_header {
	char *name, *value;
};

struct fh_http_request {
	struct fh_http_server *server;
	struct MHD_Connection *connection;
	struct fh_target target;
	char *raw;
	const char *method;
	const struct fh_http_route *route;
	const char *captured[FH_TARGET_SEGMENTS_MAX];
	size_t captured_count;
	struct fh_buf body;
	uint64_t dropped;
	struct MHD_Response *response; /* the reply, from when the handler makes it until it is queued */
	unsigned status;
	struct reply_header headers[FH_HTTP_REPLY_HEADERS_MAX];
	size_t header_count;
	struct carried {
		void *thing;
		void (*release)(void *thing);
	} tag, kept;
	int64_t began_ns;
	bool begun, malformed, queued;
	bool ambiguous; /* its head gives the body's length in two ways */
};

/* ------------------------------------------------------------------------------------------- what a handler reads */

const char *fh_http_method(const struct fh_http_request *r)
{
	return r->method;
}

const char *fh_http_path(const struct fh_http_request *r)
{
	return r->target.path ? r->target.path : "";
}

const char *fh_http_target(const struct fh_http_request *r)
{
	return r->raw;
}

const char *fh_http_segment(const struct fh_http_request *r, size_t n)
{
	return n < r->captured_count ? r->captured[n] : "";
}

const char *fh_http_header(const struct fh_http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *fh_http_query(const struct fh_http_request *r, const char *name)
{
	for (size_t i = 0; i < r->target.query_count; i++)
		if (strcmp(r->target.name[i], name) == 0)
			return r->target.value[i];
	return NULL;
}

struct visit {
	bool (*visit)(void *context, const char *name, const char *value);
	void *context;
};

static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct visit *v = context;
	return v->visit(v->context, name, value ? value : "") ? MHD_YES : MHD_NO;
}

void fh_http_headers(const struct fh_http_request *r, bool (*visit)(void *context, const char *name, const char *value),
                     void *context)
{
	struct visit v = { visit, context };
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, visit_header, &v);
}

static int connection_fd(const struct fh_http_request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? info->connect_fd : -1;
}

bool fh_http_from_loopback(const struct fh_http_request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info ? info->client_addr : NULL;
	if (a && a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
	if (a && a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
	return false;
}

bool fh_http_peer_uid(const struct fh_http_request *r, uid_t *ret)
{
	return fh_http_socket_peer_uid(connection_fd(r), ret);
}

bool fh_http_peer_gone(const struct fh_http_request *r)
{
	struct pollfd p = { .fd = connection_fd(r), .events = POLLRDHUP };
	return p.fd < 0 || (poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)));
}

bool fh_http_stopping(const struct fh_http_request *r)
{
	return atomic_load(&r->server->stopping);
}

static void carry(struct carried *c, void *thing, void (*release)(void *thing))
{
	if (c->release)
		c->release(c->thing);
	*c = (struct carried){ thing, release };
}

void fh_http_request_tag(struct fh_http_request *r, void *tag, void (*release)(void *tag))
{
	carry(&r->tag, tag, release);
}

void *fh_http_request_tagged(const struct fh_http_request *r)
{
	return r->tag.thing;
}

void fh_http_request_keep(struct fh_http_request *r, void *kept, void (*release)(void *kept))
{
	carry(&r->kept, kept, release);
}

void *fh_http_request_kept(const struct fh_http_request *r)
{
	return r->kept.thing;
}

void *fh_http_context(const struct fh_http_request *r)
{
	return r->server->options.context;
}

const struct fh_http_route *fh_http_route_of(const struct fh_http_request *r)
{
	return r->route;
}

/* --------------------------------------------------------------------------------------------------------- routes */

static bool pattern_fits(const char *pattern, struct fh_http_request *r)
{
	const struct fh_target *t = &r->target;
	size_t i = 0;
	r->captured_count = 0;
	for (const char *p = pattern; *p == '/' && p[1]; i++) {
		size_t n = strcspn(++p, "/");
		if (n == 1 && *p == '*')
			return true;
		if (i == t->segment_count)
			return false;
		if (*p == '{') {
			if (!*t->segment[i])
				return false;
			r->captured[r->captured_count++] = t->segment[i];
		} else if (strlen(t->segment[i]) != n || memcmp(t->segment[i], p, n) != 0) {
			return false;
		}
		p += n;
	}
	return i == t->segment_count;
}

const struct fh_http_route *fh_http_route_find(const struct fh_http_route *table, struct fh_http_request *r,
                                               bool *ret_other_method)
{
	bool other = false;
	for (; table->method; table++) {
		if (!pattern_fits(table->pattern, r))
			continue;
		if (strcmp(table->method, r->method) == 0 ||
		    (strcmp(r->method, "HEAD") == 0 && strcmp(table->method, "GET") == 0))
			return table;
		other = true;
	}
	if (ret_other_method)
		*ret_other_method = other;
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ the reply */

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
	r->headers[r->header_count++] = (struct reply_header){ fh_xstrdup(name), fh_xstrdup(value) };
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
	(void)!connect(connection_fd(s->request), &none, sizeof(none));
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
	                                            SOURCE_BLOCK, read_stream, s, release_stream),
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

/* ---------------------------------------------------------------------------------------------------------- forms */

struct fh_http_form {
	struct MHD_PostProcessor *processor;
	fh_http_form_data *on_data;
	void *context;
};

static enum MHD_Result on_form_data(void *context, enum MHD_ValueKind kind, const char *name, const char *filename,
                                    const char *type, const char *encoding, const char *data, uint64_t offset, size_t n)
{
	struct fh_http_form *f = context;
	return f->on_data(f->context, name ? name : "", filename, offset, (struct fh_str){ data, n }) ? MHD_YES : MHD_NO;
}

FH_OWN FH_NULLABLE struct fh_http_form *fh_http_form_new(struct fh_http_request *r, fh_http_form_data *on_data,
                                                         void *context)
{
	struct fh_http_form *f = FH_NEW(struct fh_http_form);
	*f = (struct fh_http_form){ .on_data = on_data, .context = context };
	f->processor = MHD_create_post_processor(r->connection, SOURCE_BLOCK, on_form_data, f);
	if (!f->processor)
		free(FH_TAKE_PTR(f));
	return f;
}

bool fh_http_form_add(struct fh_http_form *f, struct fh_str piece)
{
	return MHD_post_process(f->processor, piece.p, piece.n) == MHD_YES;
}

void fh_http_form_free(struct fh_http_form *f)
{
	if (f)
		(void)MHD_destroy_post_processor(f->processor);
	free(f);
}

/* ------------------------------------------------------------------------------------- how a request goes through */

static void reply_error(struct fh_http_request *r, unsigned status, const char *message)
{
	json_t *o = json_object();
	json_object_set_new(o, "code", json_integer(status));
	json_object_set_new(o, "message", json_string(message));
	fh_http_reply_json(r, status, o);
}

static enum MHD_Result queue_reply(struct fh_http_request *r)
{
	if (!r->response)
		reply_error(r, 500, "the server has no answer to this request");
	enum MHD_Result result = MHD_queue_response(r->connection, r->status, r->response);
	MHD_destroy_response(r->response);
	r->response = NULL;
	r->queued = true;
	return result;
}

/* What the head says about the length of the body. */
struct framing {
	unsigned lengths, encodings;
	bool bad; /* a length that is no number, or an encoding other than "chunked" */
};

static bool look_at_framing(void *context, const char *name, const char *value)
{
	struct framing *f = context;
	if (strcasecmp(name, "Content-Length") == 0) {
		f->lengths++;
		f->bad |= !*value || value[strspn(value, "0123456789")];
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		f->encodings++;
		f->bad |= strcasecmp(value, "chunked") != 0;
	}
	return true;
}

/* Whether the head gives the body's length twice. A proxy before us could use the one and we the other: the rest of the
 * body would then be read as a request of another client (RFC 9112, section 11.2). Such a request is refused and its
 * connection closed. */
static bool is_ambiguous(const struct fh_http_request *r)
{
	struct framing f = { 0 };
	fh_http_headers(r, look_at_framing, &f);
	return f.bad || f.lengths + f.encodings > 1;
}

/* Called when the head of a request was read. */
static void begin(struct fh_http_request *r)
{
	const struct fh_http_options *o = &r->server->options;
	r->begun = true;
	if (r->malformed) {
		reply_error(r, 400, "the target of the request is malformed");
		return;
	}
	r->ambiguous = is_ambiguous(r);
	if (r->ambiguous) {
		fh_http_reply_header(r, "Connection", "close");
		reply_error(r, 400, "the request says more than once, or not in numbers, how long its body is");
		return;
	}
	r->route = o->route(o->context, r);
	if (!r->route && !r->response)
		reply_error(r, 500, "the server has no answer to this request");
	if (r->response)
		return;
	uint64_t max = r->route->body_max ? r->route->body_max : o->body_max;
	r->body.max = r->route->piece ? 0 : max;
	const char *length = fh_http_header(r, "Content-Length");
	if (length && !r->route->piece && strtoull(length, NULL, 10) > max)
		reply_error(r, 413, "the body of the request is too large");
}

/* Takes a piece of the body. False: a body that nothing reads is too large; the connection is closed. */
static bool take_piece(struct fh_http_request *r, struct fh_str piece)
{
	if (r->response) {
		r->dropped += piece.n;
		return r->dropped <= DROPPED_MAX;
	}
	if (r->route->piece)
		(void)r->route->piece(r, piece);
	else if (fh_buf_add(&r->body, piece.p, piece.n) < 0)
		reply_error(r, 413, "the body of the request is too large");
	return true;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_size, void **request)
{
	struct fh_http_request *r = *request;
	if (!r)
		return MHD_NO;
	r->connection = connection;
	if (!r->begun) {
		r->method = method;
		begin(r);
		/* A refusal is sent after the body was read, so that the client reads it; but at once if the body is huge. */
		const char *length = fh_http_header(r, "Content-Length");
		bool at_once = r->ambiguous || (length && strtoull(length, NULL, 10) > DROPPED_MAX);
		return r->response && at_once ? queue_reply(r) : MHD_YES;
	}
	if (*data_size) {
		bool goes_on = take_piece(r, (struct fh_str){ data, *data_size });
		*data_size = 0;
		return goes_on ? MHD_YES : MHD_NO;
	}
	if (!r->response)
		r->route->handle(r, fh_buf_str(&r->body));
	fh_buf_release(&r->body);
	return queue_reply(r);
}

static void *on_target(void *context, const char *raw, struct MHD_Connection *connection)
{
	struct fh_http_request *r = FH_NEW(struct fh_http_request);
	r->server = context;
	r->connection = connection;
	r->began_ns = fh_now_ns();
	r->raw = fh_xstrdup(raw);
	r->malformed = fh_target_parse(raw, &r->target) < 0;
	return r;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
	struct fh_http_request *r = *request;
	if (!r)
		return;
	const struct fh_http_options *o = &r->server->options;
	if (o->done && r->begun)
		o->done(o->context, r, r->queued ? r->status : 0, fh_now_ns() - r->began_ns);
	if (r->response)
		MHD_destroy_response(r->response);
	carry(&r->kept, NULL, NULL);
	carry(&r->tag, NULL, NULL);
	for (size_t i = 0; i < r->header_count; i++) {
		free(r->headers[i].name);
		free(r->headers[i].value);
	}
	fh_buf_release(&r->body);
	fh_target_release(&r->target);
	free(r->raw);
	free(r);
	*request = NULL;
}

/* ----------------------------------------------------------------------------------------------------- the server */

static uint16_t port_of(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t size = sizeof(a);
	if (getsockname(fd, (struct sockaddr *)&a, &size) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)(const void *)&a)->sin6_port
	                                     : ((const struct sockaddr_in *)(const void *)&a)->sin_port);
}

static int listen_at(const struct sockaddr_storage *address, struct fh_error *err)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	bool is_v6 = address->ss_family == AF_INET6;
	fh_auto_close int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	char text[INET6_ADDRSTRLEN] = "?";
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)address, is_v6 ? sizeof(*v6) : sizeof(*v4)) == 0 && listen(fd, 1024) == 0)
		return FH_TAKE_FD(fd);
	int sys = errno;
	inet_ntop(address->ss_family, is_v6 ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr, text,
	          sizeof(text));
	fh_error_sys(err, sys, "cannot listen at %s, port %u", text, ntohs(is_v6 ? v6->sin6_port : v4->sin_port));
	if (sys == EADDRINUSE)
		fh_error_hint(err, "another program has this port: end it, or choose another with --port");
	if (sys == EACCES)
		fh_error_hint(err, "ports below 1024 need root: choose another with --port");
	return -FH_E_SYSTEM;
}

int fh_http_server_start(const struct fh_http_options *o, struct fh_http_server **ret, struct fh_error *err)
{
	fh_auto_free struct fh_http_server *s = FH_NEW(struct fh_http_server);
	s->options = *o;
	if (!s->options.body_max)
		s->options.body_max = BODY_MAX_DEFAULT;
	int fd = o->listener >= 0 ? o->listener : listen_at(&o->address, err);
	if (fd < 0)
		return fd;
	s->port = port_of(fd);
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
	                 MHD_ALLOW_UPGRADE | (o->tls_certificate ? MHD_USE_TLS : 0) |
	                 (o->address.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	const struct MHD_OptionItem tls[] = {
		{ o->tls_certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)(uintptr_t)o->tls_certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->tls_key },
		{ MHD_OPTION_END, 0, NULL },
	};
	s->daemon =
	    MHD_start_daemon(flags, 0, NULL, NULL, on_access, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK,
	                     on_target, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_CONNECTION_LIMIT,
	                     o->connections_max ? o->connections_max : CONNECTIONS_DEFAULT, MHD_OPTION_CONNECTION_TIMEOUT,
	                     o->idle_seconds ? o->idle_seconds : IDLE_DEFAULT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	                     (size_t)CONNECTION_MEMORY, MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK,
	                     MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!s->daemon) {
		(void)close(fd);
		return fh_error_set(err, FH_E_SYSTEM,
		                    o->tls_certificate ? "cannot start the server: is the certificate good?"
		                                       : "cannot start the server");
	}
	*ret = FH_TAKE_PTR(s);
	return 0;
}

uint16_t fh_http_server_port(const struct fh_http_server *s)
{
	return s->port;
}

void fh_http_server_stop(struct fh_http_server *s)
{
	if (!s)
		return;
	atomic_store(&s->stopping, true);
	MHD_stop_daemon(s->daemon);
	free(s);
}
