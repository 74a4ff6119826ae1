/* SPDX-License-Identifier: MIT */
/*
 * Forwards requests to a port inside a sandbox: HTTP, and connections that are upgraded (WebSockets).
 *
 * A connection to the inside carries one request. The server there is untrusted, as any program is: the head of its
 * answer is bounded, headers that belong to the connection are dropped, and its chunks are taken apart.
 */
#include "e2b/ingress.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/fd.h"
#include "e2b/answer_head.h"
#include "e2b/chunks.h"
#include "e2b/common/threads.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/e2b.h"
#include "fumehood/session.h"

enum {
	HEAD_MAX = 64 << 10,
	BODY_MAX = 64 << 20, /* maximum bytes of a request's body, which is collected before it is sent into the sandbox */
	PIECE = 32 << 10,
	LOOK_MS = 250,
	HEAD_SECONDS = 600, /* time for the head of the answer */
};

/* --------------------------------------------------------------------------------------- the request's way inside */

struct head {
	struct fh_buf text;
	const char *host; /* replaces the request's Host; NULL: it is kept */
};

static bool add_header(void *context, const char *name, const char *value)
{
	struct head *h = context;
	bool mask = h->host && strcasecmp(name, "Host") == 0;
	if (!fh_header_is_of_connection(name))
		fh_buf_addf(&h->text, "%s: %s\r\n", name, mask ? h->host : value);
	return !h->text.overflowed;
}

/* The Host that servers in the sandbox see when its creator asked for another one, with ${PORT} in it replaced. */
static char *masked_host(const struct fh_hosted *h, unsigned port)
{
	const char *mask = fh_json_str(h->network, "maskRequestHost", NULL), *at;
	if (!mask)
		return NULL;
	at = strstr(mask, "${PORT}");
	for (const char *c = mask; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return NULL;
	return at ? fh_xasprintf("%.*s%u%s", (int)(at - mask), mask, port, at + 7) : fh_xstrdup(mask);
}

static int send_request(struct fh_http_request *r, struct fh_process *to, struct fh_str body, const char *upgrade)
{
	const struct fh_e2b_entry *entry = fh_http_request_tagged(r);
	fh_auto_free char *host = masked_host(entry->hosted, entry->port);
	struct head h = { .text = FH_BUF_INIT(HEAD_MAX), .host = host };
	fh_buf_addf(&h.text, "%s %s HTTP/1.1\r\n", fh_http_method(r), fh_http_target(r));
	fh_http_headers(r, add_header, &h);
	if (!fh_http_header(r, "Host"))
		fh_buf_addf(&h.text, "Host: %s\r\n", host ? host : "localhost");
	if (upgrade)
		fh_buf_addf(&h.text, "Connection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgrade);
	else if (body.n || fh_http_header(r, "Content-Length") || fh_http_header(r, "Transfer-Encoding"))
		fh_buf_addf(&h.text, "Content-Length: %zu\r\nConnection: close\r\n\r\n", body.n);
	else
		fh_buf_adds(&h.text, "Connection: close\r\n\r\n");
	int result = h.text.overflowed ? -FH_E_LIMIT : fh_process_write(to, h.text.p, h.text.n, NULL);
	fh_buf_release(&h.text);
	return result == 0 && body.n ? fh_process_write(to, body.p, body.n, NULL) : result;
}

/* ----------------------------------------------------------------------------------------------- the answer's way */

struct answer {
	struct fh_http_request *request;
	struct fh_process *from;
	struct fh_buf rest; /* the part of the body that came with the head */
	struct fh_answer_end end;
	struct fh_chunks chunks;
	unsigned status;
};

static void answer_free(void *context)
{
	struct answer *a = context;
	fh_process_free(a->from);
	fh_buf_release(&a->rest);
	free(a);
}

/* Reads up to n bytes; 0 at the end, negative when the client or the sandbox is gone. */
static ssize_t read_some(struct answer *a, void *buffer, size_t n, int looks)
{
	const struct fh_hosted *h = fh_e2b_hosted(a->request);
	while (looks-- > 0) {
		ssize_t got = fh_process_read(a->from, FH_STDOUT, buffer, n, LOOK_MS, NULL);
		if (got != -FH_E_TIMEOUT)
			return got;
		if (fh_http_peer_gone(a->request) || fh_http_stopping(a->request) || atomic_load(&h->seen) == FH_HOSTED_GONE)
			return -FH_E_CANCELLED;
	}
	return -FH_E_TIMEOUT;
}

static void pass_on(void *context, const char *name, const char *value)
{
	fh_http_reply_header(((struct answer *)context)->request, name, value);
}

/* Reads the head, after skipping answers of status 1xx. */
static bool receive_head(struct answer *a, bool upgrade)
{
	for (;;) {
		char *end = a->rest.n ? strstr(fh_buf_cstr(&a->rest), "\r\n\r\n") : NULL;
		if (!end) {
			char *room = fh_buf_reserve(&a->rest, PIECE);
			ssize_t n = room ? read_some(a, room, PIECE - 1, HEAD_SECONDS * 1000 / LOOK_MS) : -FH_E_LIMIT;
			if (n <= 0)
				return false;
			a->rest.n += (size_t)n;
			a->rest.p[a->rest.n] = '\0';
			continue;
		}
		fh_auto_free char *head = fh_xstrndup(a->rest.p, (size_t)(end - a->rest.p));
		fh_buf_drop(&a->rest, (size_t)(end - a->rest.p) + 4);
		a->status = fh_answer_head_read(head, upgrade, &a->end, pass_on, a);
		if (a->status == 0 || a->status >= 200 || (upgrade && a->status == 101))
			return a->status != 0;
	}
}

/* Reads bytes of the body as they come, in chunks or not. */
static ssize_t read_raw(struct answer *a, char *buffer, size_t n)
{
	if (!a->rest.n)
		return read_some(a, buffer, n, INT32_MAX);
	n = FH_MIN(n, a->rest.n);
	memcpy(buffer, a->rest.p, n);
	fh_buf_drop(&a->rest, n);
	return (ssize_t)n;
}

static ssize_t read_chunked(struct answer *a, char *buffer, size_t n)
{
	while (a->chunks.state != FH_CHUNKS_OVER) {
		ssize_t got = read_raw(a, buffer, n);
		if (got <= 0)
			return -1; /* it ended before its last chunk */
		got = fh_chunks_take(&a->chunks, buffer, (size_t)got);
		if (got != 0)
			return got;
	}
	return 0;
}

static ssize_t read_body(void *context, char *buffer, size_t n)
{
	struct answer *a = context;
	if (a->end.chunked)
		return read_chunked(a, buffer, n);
	if (a->end.left == FH_HTTP_SIZE_UNKNOWN)
		return read_raw(a, buffer, n);
	n = (size_t)FH_MIN((uint64_t)n, a->end.left);
	if (n == 0)
		return 0;
	ssize_t got = read_raw(a, buffer, n);
	a->end.left -= got > 0 ? (uint64_t)got : 0;
	return got == 0 ? -1 : got;
}

/* -------------------------------------------------------------------------------------------------------- upgrades */

struct both_ways {
	struct answer *answer;
	int fd;
};

/* Copies from the server inside to the client until one of them closes; then it ends the other direction too. */
static void *send_out(void *context)
{
	struct both_ways *w = context;
	char piece[PIECE];
	ssize_t n;
	while ((n = fh_process_read(w->answer->from, FH_STDOUT, piece, sizeof(piece), -1, NULL)) > 0)
		if (fh_write_all(w->fd, piece, (size_t)n) < 0)
			break;
	(void)shutdown(w->fd, SHUT_RDWR);
	return NULL;
}

static void take_connection(void *context, int fd, struct fh_str early)
{
	struct answer *a = context;
	struct both_ways w = { a, fd };
	char piece[PIECE];
	ssize_t n;
	pthread_t out;
	(void)fh_set_nonblock(fd, false);
	if ((a->rest.n && fh_write_all(fd, a->rest.p, a->rest.n) < 0) ||
	    (early.n && fh_process_write(a->from, early.p, early.n, NULL) < 0) ||
	    pthread_create(&out, NULL, send_out, &w) != 0)
		return;
	while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && fh_process_write(a->from, piece, (size_t)n, NULL) < 0)
			break;
	(void)fh_process_signal(a->from, SIGKILL, NULL); /* closes it, so that the other thread's read returns */
	(void)fh_process_close_stdin(a->from, NULL);
	pthread_join(out, NULL);
}

/* -------------------------------------------------------------------------------------------------------- requests */

/* Whether a person sees the answer. Every browser calls itself Mozilla, and no SDK does. */
static bool for_a_browser(struct fh_http_request *r)
{
	const char *agent = fh_http_header(r, "User-Agent");
	return agent && strncmp(agent, "Mozilla/", 8) == 0;
}

static void reply_page(struct fh_http_request *r, const struct fh_e2b_entry *entry, const char *why)
{
	fh_auto_buf struct fh_buf page = FH_BUF_INIT(FH_BUF_DEFAULT_MAX);
	fh_buf_adds(&page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	                   "<title>Closed Port Error</title></head><body><h1>Closed Port Error</h1>\n<p>");
	fh_escape_html(&page, fh_str(why));
	fh_buf_adds(&page, ".</p>\n<p>Sandbox <code>");
	fh_escape_html(&page, fh_str(entry->hosted->id));
	fh_buf_addf(&page, "</code>, port %u</p></body></html>\n", entry->port);
	fh_http_reply(r, 502, "text/html; charset=utf-8", fh_buf_str(&page));
}

static void closed(struct fh_http_request *r, const struct fh_e2b_entry *entry, const char *why)
{
	if (for_a_browser(r)) {
		reply_page(r, entry, why);
		return;
	}
	json_t *o = json_object();
	json_object_set_new(o, "sandboxId", json_string(entry->hosted->id));
	json_object_set_new(o, "message", json_string(why));
	json_object_set_new(o, "port", json_integer(entry->port));
	json_object_set_new(o, "code", json_integer(502));
	fh_http_reply_json(r, 502, o);
}

/* Whether the server at this port is said to speak TLS. */
static bool speaks_tls(const struct fh_hosted *h, unsigned port)
{
	const json_t *ports = json_object_get(h->network, "httpsPorts"), *item;
	size_t i;
	json_array_foreach(ports, i, item) if (json_integer_value(item) == port) return true;
	return false;
}

/* A way to the port. TLS is spoken inside, by the sandbox's own openssl and with what the sandbox may use: the server's
 * certificate is its own, which proves nothing that the way to it does not. */
static int connect_inside(const struct fh_e2b_entry *entry, struct fh_process **ret)
{
	struct fh_hosted *h = entry->hosted;
	char address[32];
	const char *const argv[] = { "openssl", "s_client", "-quiet", "-verify_quiet", "-connect", address, NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	int r = fh_sandbox_connect(h->sandbox, (uint16_t)entry->port, ret, NULL);
	if (r < 0 || !speaks_tls(h, entry->port))
		return r;
	(void)fh_process_signal(*ret, SIGKILL,
	                        NULL); /* this plain connection was made only to see whether the port is open */
	fh_process_free(*ret);
	snprintf(address, sizeof(address), "127.0.0.1:%u", entry->port);
	char **env = fh_account_env(h, "user", false, NULL);
	o.argv = argv;
	o.env = (const char *const *)env;
	o.user = fh_account_for(h, "user");
	r = fh_process_spawn(h->sandbox, &o, ret, NULL);
	fh_strings_free(env);
	return r;
}

static void forward(struct fh_http_request *r, struct fh_str body)
{
	const struct fh_e2b_entry *entry = fh_http_request_tagged(r);
	const char *connection = fh_http_header(r, "Connection"), *upgrade = fh_http_header(r, "Upgrade");
	struct fh_process *inside;
	if (!connection || !strcasestr(connection, "upgrade"))
		upgrade = NULL;
	if (connect_inside(entry, &inside) < 0) {
		closed(r, entry, "The sandbox is running but port is not open");
		return;
	}
	struct answer *a = FH_NEW(struct answer);
	a->request = r;
	a->from = inside;
	a->rest.max = HEAD_MAX + PIECE;
	if (send_request(r, inside, body, upgrade) < 0 || !receive_head(a, upgrade)) {
		answer_free(a);
		closed(r, entry, "The server at this port of the sandbox gave no HTTP answer");
		return;
	}
	if (upgrade && a->status == 101) {
		fh_http_reply_upgrade(r, take_connection, answer_free, a);
		return;
	}
	struct fh_http_source source = { read_body, answer_free, a, a->end.left };
	bool no_body = strcmp(fh_http_method(r), "HEAD") == 0 || a->status == 204 || a->status == 304;
	if (!no_body) {
		fh_http_reply_source(r, a->status, NULL, &source);
		return;
	}
	fh_http_reply_empty(r, a->status);
	answer_free(a);
}

/* Any method: the router takes this route without looking at the table. */
const struct fh_http_route fh_e2b_port_routes[] = {
	{ "*", "/*", forward, .body_max = BODY_MAX },
	{ 0 },
};
