/* SPDX-License-Identifier: MIT */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http_field.h"
#include "server/http_internal.h"

enum {
	BODY_MAX_DEFAULT = 16 << 20,
	CONNECTIONS_DEFAULT = 4096,
	IDLE_DEFAULT_SECONDS = 640,   /* E2B's SDKs keep connections for 300 s */
	CONNECTION_MEMORY = 64 << 10, /* bytes for a request's head, and for pieces of the reply */
	THREAD_STACK = 512 << 10,
	DROPPED_MAX = 4 << 20, /* bytes of a refused body that are still read, as clients read the reply only after it */
};

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

/* What the head says that decides where the request ends, and for whom it is. */
struct head {
	unsigned lengths, encodings, hosts;
	bool bad_framing; /* a length that is no number, or an encoding other than "chunked" */
	bool bad_field;
};

/* Whether the field went on in a second line. Versions of libmicrohttpd before 0.9.77 put that line behind the *name*,
 * so that what is no length to a proxy before us could be one here; they copy the name for that, away from its value.
 */
static bool is_folded(const char *name, const char *value)
{
	if (strverscmp(MHD_get_version(), "0.9.77") >= 0)
		return false;
	const char *from = name + strlen(name) + 1;
	if (value < from || value - from > CONNECTION_MEMORY)
		return true;
	for (const char *c = from; c < value; c++)
		if (*c != ' ' && *c != '\t')
			return true;
	return false;
}

static enum MHD_Result look_at_field(void *context, enum MHD_ValueKind kind FH_UNUSED, const char *name,
                                     const char *value)
{
	struct head *h = context;
	if (!value || !fh_http_is_field_name(name) || strchr(value, '\r') || is_folded(name, value)) {
		h->bad_field = true;
	} else if (strcasecmp(name, "Content-Length") == 0) {
		h->lengths++;
		h->bad_framing |= !*value || value[strspn(value, "0123456789")];
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		h->encodings++;
		h->bad_framing |= strcasecmp(value, "chunked") != 0;
	} else if (strcasecmp(name, "Host") == 0) {
		h->hosts++;
	}
	return MHD_YES;
}

/* Why a head is refused that readers take in different ways; NULL: it is not. A proxy before us could take it in the
 * one way and we in the other: the rest of the body would then be read as a request of another client, or the request
 * go to another host (RFC 9112, sections 3.2, 5.1, 5.2 and 11.2). The connection of such a request is closed. */
static const char *ambiguity(const struct fh_http_request *r)
{
	struct head h = { 0 };
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look_at_field, &h);
	if (h.bad_field)
		return "a header of the request has a malformed name, or a line break in it";
	if (h.hosts > 1)
		return "the request has more than one Host";
	return h.bad_framing || h.lengths + h.encodings > 1
	           ? "the request says more than once, or not in numbers, how long its body is"
	           : NULL;
}

/* Called when the head of a request was read. */
static void begin(struct fh_http_request *r)
{
	const struct fh_http_options *o = &r->server->options;
	r->begun = true;
	const char *why = ambiguity(r);
	r->ambiguous = why;
	if (why) {
		fh_http_reply_header(r, "Connection", "close");
		reply_error(r, 400, why);
		return;
	}
	if (r->malformed) {
		reply_error(r, 400, "the target of the request is malformed");
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
	fh_http_carry(&r->kept, NULL, NULL);
	fh_http_carry(&r->tag, NULL, NULL);
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
		return o->tls_certificate ? fh_error_set(err, FH_E_CONFIG, "cannot start the server: is the certificate good?")
		                          : fh_error_set(err, FH_E_SYSTEM, "cannot start the server");
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
