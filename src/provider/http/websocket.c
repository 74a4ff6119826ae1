/* SPDX-License-Identifier: MIT */
#include "provider/http/websocket.h"

#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/text/base64.h"
#include "provider/http/curl.h"
#include "provider/http/tls.h"

#define TICK_MS 50 /* longest time until a cancel takes effect */
#define HEAD_MAX ((size_t)64 << 10)
#define PIECE 16384

struct fh_websocket {
	CURL *easy;
	struct fh_websocket_options options;
	char *host, *path; /* of the URL: HOST[:PORT], and all behind it */
	bool open;         /* the handshake is done */
	bool has_message;  /* reader.message was given to the caller */
	char message[CURL_ERROR_SIZE];
	struct fh_buf in;
	struct fh_websocket_reader reader;
};

static const struct fh_curl *curl(void)
{
	return fh_curl(NULL);
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

/* Whether there is no more time: FH_E_CANCELLED or FH_E_TIMEOUT. */
static int check_time(const struct fh_websocket *w, struct fh_error *err)
{
	if (w->options.cancel && *w->options.cancel)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (fh_now_ns() >= w->options.deadline_ns)
		return fh_error_set(err, FH_E_TIMEOUT, "WebSocket request to %s timed out", w->host);
	return 0;
}

static int wait_for(const struct fh_websocket *w, short events, struct fh_error *err)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	int r = check_time(w, err);
	if (r == 0 && (curl()->easy_getinfo(w->easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD))
		r = fh_error_set(err, FH_E_UNAVAILABLE, "%s ended the connection", w->host);
	if (r == 0)
		poll(&(struct pollfd){ .fd = fd, .events = events }, 1, TICK_MS);
	return r;
}

static int send_bytes(struct fh_websocket *w, struct fh_str s, struct fh_error *err)
{
	while (s.n) {
		size_t sent = 0;
		CURLcode code = curl()->easy_send(w->easy, s.p, s.n, &sent);
		s = (struct fh_str){ s.p + sent, s.n - sent };
		if (code != CURLE_OK && code != CURLE_AGAIN)
			return fh_error_set(err, FH_E_UNAVAILABLE, "%s ended the connection", w->host);
		int r = code == CURLE_AGAIN ? wait_for(w, POLLOUT, err) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds what has come to w->in; waits until something has. */
static int receive_bytes(struct fh_websocket *w, struct fh_error *err)
{
	for (;;) {
		size_t n = 0;
		char piece[PIECE];
		CURLcode code = curl()->easy_recv(w->easy, piece, sizeof(piece), &n);
		if (code == CURLE_OK && n)
			return fh_buf_add(&w->in, piece, n);
		if (code != CURLE_AGAIN)
			return fh_error_set(err, FH_E_UNAVAILABLE, "%s ended the connection without an answer", w->host);
		int r = wait_for(w, POLLIN, err);
		if (r < 0)
			return r;
	}
}

static int send_frame(struct fh_websocket *w, enum fh_websocket_opcode opcode, struct fh_str payload,
                      struct fh_error *err)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(FH_HTTP_BODY_MAX + 64);
	uint8_t mask[4];
	if (getrandom(mask, sizeof(mask), 0) != sizeof(mask))
		return fh_error_set(err, FH_E_SYSTEM, "no random bytes");
	fh_websocket_write(&frame, opcode, payload, mask);
	if (frame.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the message is larger than %zu bytes", FH_HTTP_BODY_MAX);
	return send_bytes(w, fh_buf_str(&frame), err);
}

/* -------------------------------------------------------------------------------------------------------- handshake */

/* Splits the URL. *ret_url: the same for HTTP, which libcurl connects to. */
static int split_url(struct fh_websocket *w, char **ret_url, struct fh_error *err)
{
	const char *url = w->options.url;
	bool tls = strncasecmp(url, "wss://", 6) == 0;
	const char *host = tls ? url + 6 : strncasecmp(url, "ws://", 5) == 0 ? url + 5 : NULL;
	size_t n = host ? strcspn(host, "/?#") : 0;
	if (!n || strpbrk(url, " \t\r\n"))
		return fh_error_set(err, FH_E_CONFIG, "not a ws:// or wss:// URL: %.200s", url);
	if (memchr(host, '@', n)) {
		fh_error_set(err, FH_E_CONFIG, "the URL of a WebSocket may have no user and password");
		fh_error_hint(err, "write them into config.headers, as Authorization");
		return -FH_E_CONFIG;
	}
	w->host = fh_xstrndup(host, n);
	size_t rest = strcspn(host + n, "#");
	w->path = fh_xasprintf("%s%.*s", host[n] == '/' ? "" : "/", (int)FH_MIN(rest, (size_t)INT32_MAX), host + n);
	*ret_url = fh_xasprintf("%s://%s/", tls ? "https" : "http", w->host);
	return 0;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct fh_websocket *w = context;
	(void)a, (void)b, (void)c, (void)d;
	return check_time(w, NULL) < 0;
}

static int connect_to(struct fh_websocket *w, const char *url, struct fh_error *err)
{
	CURL *c = w->easy;
	int64_t left = (w->options.deadline_ns - fh_now_ns()) / FH_NS_PER_MS;
	curl()->easy_setopt(c, CURLOPT_URL, url);
	curl()->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl()->easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
	curl()->easy_setopt(c, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl()->easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl()->easy_setopt(c, CURLOPT_SSL_ENABLE_ALPN, 0L);
	curl()->easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl()->easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)FH_MIN(FH_MAX(left, 1), (int64_t)INT32_MAX));
	curl()->easy_setopt(c, CURLOPT_ERRORBUFFER, w->message);
	curl()->easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl()->easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl()->easy_setopt(c, CURLOPT_XFERINFODATA, w);
	fh_http_setup_tls(c, &w->options.tls);
	fh_http_setup_proxy(c, url);
	CURLcode code = curl()->easy_perform(c);
	if (code == CURLE_OK)
		return 0;
	int r = check_time(w, err);
	if (r < 0)
		return r;
	fh_error_set(err, FH_E_UNAVAILABLE, "no WebSocket connection to %s: %s", w->host,
	             w->message[0] ? w->message : curl()->easy_strerror(code));
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		fh_error_hint(err, "%s", fh_http_certificate_hint(c));
	return -FH_E_UNAVAILABLE;
}

/* Reads the head of the server's answer, to the empty line; what is behind it stays in w->in. */
static int read_head(struct fh_websocket *w, char **ret, struct fh_error *err)
{
	for (;;) {
		const char *end = w->in.n ? memmem(w->in.p, w->in.n, "\r\n\r\n", 4) : NULL;
		if (end) {
			*ret = fh_xstrndup(w->in.p, (size_t)(end - w->in.p));
			fh_buf_drop(&w->in, (size_t)(end - w->in.p) + 4);
			return 0;
		}
		if (w->in.n > HEAD_MAX)
			return fh_error_set(err, FH_E_UNAVAILABLE, "the answer of %s has no end of its headers", w->host);
		int r = receive_bytes(w, err);
		if (r < 0)
			return r;
	}
}

/* Whether a line of the head is "name: value", the name in any case, white space around the value. */
static bool has_header(const char *head, const char *name, const char *value)
{
	size_t n = strlen(name), m = strlen(value);
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, n) != 0 || line[n] != ':')
			continue;
		const char *v = line + n + 1 + strspn(line + n + 1, " \t");
		if (strncmp(v, value, m) == 0 && strspn(v + m, " \t") == strcspn(v + m, "\r"))
			return true;
	}
	return false;
}

static int shake_hands(struct fh_websocket *w, struct fh_error *err)
{
	uint8_t nonce[16];
	fh_auto_buf struct fh_buf key = FH_BUF_INIT(64), request = FH_BUF_INIT(HEAD_MAX);
	fh_auto_free char *head = NULL;
	char accept[FH_WEBSOCKET_ACCEPT];
	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce))
		return fh_error_set(err, FH_E_SYSTEM, "no random bytes");
	fh_base64_encode(&key, (struct fh_str){ (const char *)nonce, sizeof(nonce) });
	fh_websocket_accept(fh_buf_cstr(&key), accept);
	fh_buf_addf(&request, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", w->path,
	            w->host);
	fh_buf_addf(&request, "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n", fh_buf_cstr(&key));
	for (size_t i = 0; w->options.headers && w->options.headers[i]; i++)
		fh_buf_addf(&request, "%s\r\n", w->options.headers[i]);
	fh_buf_adds(&request, "\r\n");
	if (request.overflowed)
		return fh_error_set(err, FH_E_CONFIG, "the headers are larger than %zu bytes", HEAD_MAX);
	int r = send_bytes(w, fh_buf_str(&request), err);
	r = r < 0 ? r : read_head(w, &head, err);
	if (r < 0)
		return r;
	int status = 0;
	if (sscanf(head, "HTTP/1.%*1[01] %3d", &status) != 1 || status != 101)
		return fh_error_set(err, FH_E_UNAVAILABLE, "%s refused the WebSocket: %.*s", w->host,
		                    (int)FH_MIN(strcspn(head, "\r\n"), (size_t)120), head);
	if (!has_header(head, "Sec-WebSocket-Accept", accept))
		return fh_error_set(err, FH_E_UNAVAILABLE, "%s does not speak the WebSocket protocol", w->host);
	w->open = true;
	return 0;
}

int fh_websocket_open(const struct fh_websocket_options *options, struct fh_websocket **ret, struct fh_error *err)
{
	fh_auto_free char *url = NULL;
	if (!fh_curl(err))
		return -FH_E_UNAVAILABLE;
	fh_auto_websocket struct fh_websocket *w = FH_NEW(struct fh_websocket);
	w->options = *options;
	w->in.max = FH_HTTP_BODY_MAX + HEAD_MAX;
	w->reader.message.max = FH_HTTP_BODY_MAX;
	int r = split_url(w, &url, err);
	if (r < 0)
		return r;
	w->easy = curl()->easy_init();
	if (!w->easy)
		return fh_error_set(err, FH_E_SYSTEM, "cannot set up a connection");
	r = connect_to(w, url, err);
	r = r < 0 ? r : shake_hands(w, err);
	if (r == 0)
		*ret = FH_TAKE_PTR(w);
	return r;
}

void fh_websocket_free(struct fh_websocket *w)
{
	static const char normal[] = { 0x03, (char)0xe8 }; /* 1000 */
	if (!w)
		return;
	if (w->open) {
		w->options.deadline_ns = 0; /* what cannot be sent at once is not */
		(void)send_frame(w, FH_WEBSOCKET_CLOSE, (struct fh_str){ normal, sizeof(normal) }, NULL);
	}
	if (w->easy)
		curl()->easy_cleanup(w->easy);
	fh_websocket_reader_release(&w->reader);
	fh_buf_release(&w->in);
	free(w->host);
	free(w->path);
	free(w);
}

/* --------------------------------------------------------------------------------------------------------- messages */

int fh_websocket_send_text(struct fh_websocket *w, struct fh_str text, struct fh_error *err)
{
	return send_frame(w, FH_WEBSOCKET_TEXT, text, err);
}

int fh_websocket_receive(struct fh_websocket *w, struct fh_str *ret, struct fh_error *err)
{
	if (w->has_message)
		fh_buf_truncate(&w->reader.message, 0);
	w->has_message = false;
	for (;;) {
		enum fh_websocket_opcode opcode = FH_WEBSOCKET_CONTINUATION;
		int r = check_time(w, err);
		r = r < 0 ? r : fh_websocket_read(&w->reader, &w->in, &opcode, err);
		r = r ? r : receive_bytes(w, err);
		if (r > 0 && opcode == FH_WEBSOCKET_PING)
			r = send_frame(w, FH_WEBSOCKET_PONG, fh_buf_str(&w->reader.control), err);
		if (r < 0)
			return r;
		if (opcode == FH_WEBSOCKET_CLOSE)
			return fh_error_set(err, FH_E_UNAVAILABLE, "%s closed the WebSocket without an answer", w->host);
		if (opcode == FH_WEBSOCKET_TEXT || opcode == FH_WEBSOCKET_BINARY) {
			*ret = fh_buf_str(&w->reader.message);
			w->has_message = true;
			return 0;
		}
	}
}
