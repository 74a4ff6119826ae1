/* SPDX-License-Identifier: MIT */
#include "provider/http/http.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include "base/clock.h"
#include "provider/http/curl.h"
#include "provider/http/limiter.h"
#include "provider/http/rate_headers.h"
#include "provider/http/tls.h"

#define FH_HTTP_TIMEOUT_MS 300000
#define FH_HTTP_CONNECT_MS 30000
#define FH_HTTP_BACKOFF_MS 1000
#define FH_HTTP_BACKOFF_MAX_MS 60000
#define FH_HTTP_PAUSE_MAX_MS 120000
#define FH_HTTP_TICK_MS 50 /* longest time until a cancel takes effect */
#define FH_HTTP_IDLE_MAX 64
#define FH_HTTP_HEADERS_MAX ((size_t)64 << 10)

struct fh_http_handle {
	CURL *easy;
	CURLM *multi; /* owned; drives the transfer, which a cancel stops at once; keeps the connection */
	struct fh_http_handle *next;
};

struct fh_http {
	const char *start_hint;
	pthread_mutex_t lock;
	struct fh_http_handle *idle;
	unsigned idle_count;
	atomic_bool reached; /* a connection was made before */
	struct fh_limiter limiter;
};

/* libcurl's functions; fh_http_send loaded them before any handle was made. */
static const struct fh_curl *curl(void)
{
	return fh_curl(NULL);
}

struct fh_http *fh_http_new(const char *start_hint)
{
	struct fh_http *http = FH_NEW(struct fh_http);
	http->start_hint = start_hint;
	pthread_mutex_init(&http->lock, NULL);
	fh_limiter_init(&http->limiter);
	return http;
}

static void fh_http_handle_free(struct fh_http_handle *h)
{
	curl()->easy_cleanup(h->easy);
	curl()->multi_cleanup(h->multi);
	free(h);
}

void fh_http_free(struct fh_http *http)
{
	if (!http)
		return;
	while (http->idle) {
		struct fh_http_handle *h = http->idle;
		http->idle = h->next;
		fh_http_handle_free(h);
	}
	pthread_mutex_destroy(&http->lock);
	fh_limiter_release(&http->limiter);
	free(http);
}

static struct fh_http_handle *fh_http_handle_get(struct fh_http *http)
{
	pthread_mutex_lock(&http->lock);
	struct fh_http_handle *h = http->idle;
	if (h) {
		http->idle = h->next;
		http->idle_count--;
	}
	pthread_mutex_unlock(&http->lock);
	if (h)
		return h;
	h = FH_NEW(struct fh_http_handle);
	h->easy = curl()->easy_init();
	h->multi = curl()->multi_init();
	if (h->easy && h->multi)
		return h;
	fh_http_handle_free(h);
	return NULL;
}

static void fh_http_handle_put(struct fh_http *http, struct fh_http_handle *h)
{
	curl()->easy_reset(h->easy);
	pthread_mutex_lock(&http->lock);
	bool keep = http->idle_count < FH_HTTP_IDLE_MAX;
	if (keep) {
		h->next = http->idle;
		http->idle = h;
		http->idle_count++;
	}
	pthread_mutex_unlock(&http->lock);
	if (!keep)
		fh_http_handle_free(h);
}

static const struct {
	int status;
	const char *reason;
} fh_http_reasons[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 402, "Payment Required" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 407, "Proxy Authentication Required" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Content" },
	{ 429, "Too Many Requests" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 529, "Overloaded" },
};

const char *fh_http_reason(int status)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(fh_http_reasons); i++)
		if (fh_http_reasons[i].status == status)
			return fh_http_reasons[i].reason;
	return "";
}

bool fh_http_status_retryable(int status)
{
	return status == 408 || status == 429 || (status >= 500 && status < 600 && status != 501 && status != 505);
}

uint64_t fh_http_pause_ms(uint64_t backoff_ms, unsigned n, double jitter01)
{
	uint64_t pause = backoff_ms;
	for (unsigned i = 1; i < n && pause < FH_HTTP_BACKOFF_MAX_MS; i++)
		pause *= 2;
	pause = FH_MIN(pause, (uint64_t)FH_HTTP_BACKOFF_MAX_MS);
	return pause + (uint64_t)((double)pause / 2 * jitter01);
}

static bool fh_http_is_cancelled(const struct fh_http_fetch *request)
{
	return request->cancel && *request->cancel;
}

static int fh_http_cancelled(struct fh_error *err)
{
	return fh_error_set(err, FH_E_CANCELLED, "cancelled");
}

static int fh_http_sleep(const struct fh_http_fetch *request, uint64_t ms, struct fh_error *err)
{
	int64_t end = fh_now_ns() + (int64_t)ms * FH_NS_PER_MS;
	for (int64_t left = end - fh_now_ns(); left > 0; left = end - fh_now_ns()) {
		if (fh_http_is_cancelled(request))
			return fh_http_cancelled(err);
		fh_sleep_ns(FH_MIN(left, FH_HTTP_TICK_MS * FH_NS_PER_MS));
	}
	return 0;
}

void fh_http_response_release(struct fh_http_response *r)
{
	fh_buf_release(&r->body);
	fh_buf_release(&r->headers);
}

/* Receives the answer of one try. */
struct fh_http_sink {
	CURL *easy;
	const struct fh_http_fetch *request;
	struct fh_http_response *response;
	int64_t *last_ns; /* points to the time at which the try's last bytes came */
};

static size_t fh_http_on_body(char *p, size_t size, size_t n, void *user)
{
	struct fh_http_sink *sink = user;
	long status = 0;
	*sink->last_ns = fh_now_ns();
	if (fh_buf_add(&sink->response->body, p, size * n) < 0)
		return 0;
	if (sink->request->on_data && curl()->easy_getinfo(sink->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
	    status >= 200 && status <= 299)
		sink->request->on_data(sink->request->context, (struct fh_str){ p, size * n });
	return size * n;
}

/* Keeps only the headers of the last answer: the one that follows a "100 Continue" replaces it. */
static size_t fh_http_on_header(char *p, size_t size, size_t n, void *user)
{
	struct fh_http_sink *sink = user;
	struct fh_buf *headers = &sink->response->headers;
	if (size * n > 5 && strncmp(p, "HTTP/", 5) == 0)
		fh_buf_truncate(headers, 0);
	else if (headers->n + size * n < FH_HTTP_HEADERS_MAX)
		fh_buf_add(headers, p, size * n);
	return size * n;
}

struct fh_http_try {
	CURLcode result;
	bool refused;                 /* the host refused the connection: no server listens at the port */
	const char *certificate_hint; /* what mends a certificate that was not accepted */
	char message[CURL_ERROR_SIZE];
	uint64_t retry_after_ms;
	int64_t last_ns; /* when the last bytes of the body came; 0: none came */
};

static struct curl_slist *fetch_headers(const struct fh_http_fetch *request)
{
	struct curl_slist *list = NULL;
	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		/* "NAME: " would remove a header; "NAME;" sends one without a value. */
		size_t n = strlen(request->headers[i]);
		bool empty = n > 2 && strcmp(request->headers[i] + n - 2, ": ") == 0;
		fh_auto_free char *bare = empty ? fh_xasprintf("%.*s;", (int)(n - 2), request->headers[i]) : NULL;
		list = curl()->slist_append(list, bare ? bare : request->headers[i]);
	}
	/* Without this, curl would wait up to a second for "100 Continue", which model servers rarely send. */
	return curl()->slist_append(list, "Expect:");
}

void fh_http_setup_tls(CURL *c, const struct fh_http_tls *tls)
{
	const char *ca = tls->ca ? tls->ca : fh_curl_authorities();
	curl()->easy_setopt(c, CURLOPT_SSL_VERIFYPEER, tls->insecure ? 0L : 1L);
	curl()->easy_setopt(c, CURLOPT_SSL_VERIFYHOST, tls->insecure ? 0L : 2L);
	if (ca)
		curl()->easy_setopt(c, CURLOPT_CAINFO, ca);
	if (tls->certificate)
		curl()->easy_setopt(c, CURLOPT_SSLCERT, tls->certificate);
	if (tls->key)
		curl()->easy_setopt(c, CURLOPT_SSLKEY, tls->key);
}

void fh_http_setup_proxy(CURL *c, const char *url)
{
	const char *proxy = getenv("HTTP_PROXY");
	if (proxy && *proxy && !getenv("http_proxy") && !getenv("REQUEST_METHOD") && fh_starts_with(url, "http://"))
		curl()->easy_setopt(c, CURLOPT_PROXY, proxy);
}

static void fh_http_setup_body(CURL *c, const struct fh_http_fetch *request)
{
	const char *method = request->method;
	bool body = method ? !fh_streq(method, "GET") && !fh_streq(method, "HEAD") : request->post;
	if (body) {
		curl()->easy_setopt(c, CURLOPT_POST, 1L);
		curl()->easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
		curl()->easy_setopt(c, CURLOPT_POSTFIELDS, request->body.p ? request->body.p : "");
	}
	if (method && fh_streq(method, "HEAD"))
		curl()->easy_setopt(c, CURLOPT_NOBODY, 1L);
	else if (method && !fh_streq(method, body ? "POST" : "GET"))
		curl()->easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
}

static void fh_http_setup(struct fh_http_handle *h, const struct fh_http_fetch *request, struct curl_slist *headers,
                          struct fh_http_sink *sink, struct fh_http_try *t)
{
	CURL *c = h->easy;
	uint64_t timeout = request->timeout_ms ? request->timeout_ms : FH_HTTP_TIMEOUT_MS;
	curl()->easy_setopt(c, CURLOPT_URL, request->url);
	curl()->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl()->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	fh_http_setup_tls(c, &request->tls);
	fh_http_setup_proxy(c, request->url);
	curl()->easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl()->easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)FH_MIN(timeout, (uint64_t)FH_HTTP_CONNECT_MS));
	curl()->easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)FH_MIN(timeout, (uint64_t)INT32_MAX));
	curl()->easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	curl()->easy_setopt(c, CURLOPT_USERAGENT, "fumehood");
	curl()->easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl()->easy_setopt(c, CURLOPT_ERRORBUFFER, t->message);
	curl()->easy_setopt(c, CURLOPT_WRITEFUNCTION, fh_http_on_body);
	curl()->easy_setopt(c, CURLOPT_WRITEDATA, sink);
	curl()->easy_setopt(c, CURLOPT_HEADERFUNCTION, fh_http_on_header);
	curl()->easy_setopt(c, CURLOPT_HEADERDATA, sink);
	fh_http_setup_body(c, request);
}

/* Whether an answer began and no byte came for stall_ms. (curl's own low-speed limit uses an average.) */
static bool fh_http_is_stalled(const struct fh_http_fetch *request, struct fh_http_try *t)
{
	if (!request->stall_ms || !t->last_ns || fh_now_ns() - t->last_ns < (int64_t)request->stall_ms * FH_NS_PER_MS)
		return false;
	t->result = CURLE_OPERATION_TIMEDOUT;
	snprintf(t->message, sizeof(t->message), "nothing came for %llu ms", (unsigned long long)request->stall_ms);
	return true;
}

/* Runs the transfer to its end. Returns 0 or -FH_E_CANCELLED. */
static int fh_http_perform(struct fh_http_handle *h, const struct fh_http_fetch *request, struct fh_http_try *t,
                           struct fh_error *err)
{
	int running = 1, code = 0;
	t->result = CURLE_FAILED_INIT;
	curl()->multi_add_handle(h->multi, h->easy);
	while (running && !code) {
		if (curl()->multi_perform(h->multi, &running) != CURLM_OK)
			break;
		if (fh_http_is_cancelled(request))
			code = fh_http_cancelled(err);
		else if (running && fh_http_is_stalled(request, t))
			break;
		else if (running)
			curl()->multi_poll(h->multi, NULL, 0, FH_HTTP_TICK_MS, NULL);
	}
	int left;
	for (CURLMsg *m = curl()->multi_info_read(h->multi, &left); m; m = curl()->multi_info_read(h->multi, &left))
		if (m->msg == CURLMSG_DONE)
			t->result = m->data.result;
	curl()->multi_remove_handle(h->multi, h->easy);
	return code;
}

const char *fh_http_certificate_hint(CURL *c)
{
	long verified = 0;
	curl()->easy_getinfo(c, CURLINFO_SSL_VERIFYRESULT, &verified);
	/* libcurl compares names first, and until then leaves the check's result at UNSPECIFIED. */
	enum { FH_X509_V_OK, FH_X509_V_UNSPECIFIED, FH_X509_V_NOT_YET_VALID = 9, FH_X509_V_EXPIRED = 10 };
	if (verified == FH_X509_V_OK || verified == FH_X509_V_UNSPECIFIED)
		return "the server has another host's certificate: the URL has to name the host that it is for";
	if (verified == FH_X509_V_NOT_YET_VALID || verified == FH_X509_V_EXPIRED)
		return "the server needs a new certificate, unless this machine's clock is wrong";
	return "certificates are verified: SSL_CERT_FILE, or a provider's tls.caPath, names the file of its "
	       "authority; or install that on this machine (update-ca-certificates)";
}

static void fh_http_note_answer(CURL *c, struct fh_http_response *ret, struct fh_http_try *t)
{
	long status = 0;
	const char *type = NULL;
	curl()->easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	curl()->easy_getinfo(c, CURLINFO_CONTENT_TYPE, &type);
	ret->status = (int)status;
	t->retry_after_ms = fh_rate_pause_ms(fh_buf_str(&ret->headers), (int64_t)time(NULL));
	size_t n = 0;
	for (; type && type[n] && type[n] != ';' && type[n] != ' ' && n < sizeof(ret->content_type) - 1; n++)
		ret->content_type[n] = (char)(type[n] >= 'A' && type[n] <= 'Z' ? type[n] + 32 : type[n]);
	ret->content_type[n] = 0;
}

/* Makes one try, starting with an empty body; its outcome is in *t. Returns 0, or a code that a retry cannot change. */
static int fh_http_try(struct fh_http *http, const struct fh_http_fetch *request, struct fh_http_response *ret,
                       struct fh_http_try *t, struct fh_error *err)
{
	struct fh_http_handle *h = fh_http_handle_get(http);
	if (!h)
		return fh_error_set(err, FH_E_SYSTEM, "cannot set up an HTTP transfer");
	*t = (struct fh_http_try){ 0 };
	fh_buf_truncate(&ret->body, 0);
	ret->body.overflowed = false;
	fh_buf_truncate(&ret->headers, 0);
	if (request->on_data)
		request->on_data(request->context, (struct fh_str){ NULL, 0 });
	struct curl_slist *headers = fetch_headers(request);
	struct fh_http_sink sink = { h->easy, request, ret, &t->last_ns };
	fh_http_setup(h, request, headers, &sink, t);
	int code = fh_http_perform(h, request, t, err);
	if (!code && t->result == CURLE_OK)
		fh_http_note_answer(h->easy, ret, t);
	long sys = 0;
	if (t->result == CURLE_COULDNT_CONNECT)
		t->refused = curl()->easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &sys) == CURLE_OK && sys == ECONNREFUSED;
	else if (t->result == CURLE_PEER_FAILED_VERIFICATION)
		t->certificate_hint = fh_http_certificate_hint(h->easy);
	else if (t->result != CURLE_COULDNT_RESOLVE_HOST)
		atomic_store(&http->reached, true);
	fh_http_handle_put(http, h);
	curl()->slist_free_all(headers);
	return code;
}

/* scheme://host:port of a URL, for messages; leaves out user, password, path and query. */
static struct fh_str fh_http_origin(const char *url)
{
	const char *host = strstr(url, "://");
	if (!host)
		return (struct fh_str){ "", 0 };
	host += 3;
	size_t n = strcspn(host, "/?#");
	const char *at = memrchr(host, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	return (struct fh_str){ host, n };
}

/* Whether the connection that failed was to a proxy: libcurl's message names the host that it went to. */
static bool fh_http_by_proxy(struct fh_str host, const char *message)
{
	while (host.n && *host.p == '[')
		host.p++, host.n--;
	size_t n = host.n && host.p[-1] == '[' ? strcspn(host.p, "]") : strcspn(host.p, ":/?#");
	return *message && !memmem(message, strlen(message), host.p, FH_MIN(n, host.n));
}

static int fh_http_fail(const struct fh_http *http, const struct fh_http_fetch *request,
                        const struct fh_http_response *ret, const struct fh_http_try *t, struct fh_error *err)
{
	struct fh_str host = fh_http_origin(request->url);
	const char *why = t->message[0] ? t->message : curl()->easy_strerror(t->result);
	if (ret->body.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the answer of %.*s is larger than %zu bytes", FH_STR_ARGS(host),
		                    ret->body.max);
	if (t->result == CURLE_OPERATION_TIMEDOUT)
		return fh_error_set(err, FH_E_TIMEOUT, "no answer from %.*s: %s", FH_STR_ARGS(host), why);
	/* libcurl calls an answer that is not HTTP an unsupported protocol, too. */
	bool is_http = fh_starts_with(request->url, "http://") || fh_starts_with(request->url, "https://");
	if (t->result == CURLE_URL_MALFORMAT || (t->result == CURLE_UNSUPPORTED_PROTOCOL && !is_http))
		return fh_error_set(err, FH_E_CONFIG, "not an http or https URL: %s", request->url);
	if (t->refused && fh_http_by_proxy(host, why)) {
		fh_error_set(err, FH_E_UNAVAILABLE, "no connection to %.*s through the proxy: %s", FH_STR_ARGS(host), why);
		fh_error_hint(err, "http_proxy, https_proxy or all_proxy name it, and no_proxy the hosts that need none");
		return -FH_E_UNAVAILABLE;
	}
	if (t->refused) {
		fh_error_set(err, FH_E_UNAVAILABLE, "nothing listens at %.*s: connection refused", FH_STR_ARGS(host));
		fh_error_hint(err, "%s", http->start_hint);
		return -FH_E_UNAVAILABLE;
	}
	fh_error_set(err, FH_E_UNAVAILABLE, "no whole answer from %.*s after %u %s: %s", FH_STR_ARGS(host), ret->tries,
	             ret->tries == 1 ? "try" : "tries", why);
	if (t->result == CURLE_PEER_FAILED_VERIFICATION)
		fh_error_hint(err, "%s", t->certificate_hint);
	else if (t->result == CURLE_SSL_CACERT_BADFILE)
		fh_error_hint(err,
		              "PROMPTFOO_CA_CERT_PATH, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS or the provider's tls.caPath names "
		              "it; it has to be a file of certificates in PEM");
	else if (t->result == CURLE_COULDNT_CONNECT)
		fh_error_hint(err, "is the server running there?");
	return -FH_E_UNAVAILABLE;
}

static const CURLcode fh_http_passing[] = {
	CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING,
	CURLE_SEND_ERROR,           CURLE_RECV_ERROR,      CURLE_HTTP2,        CURLE_HTTP2_STREAM,
};

/* Whether to retry. A refused connection is retried only if the server was reached before: then it may be
 * restarting. */
static bool fh_http_worth_a_retry(struct fh_http *http, const struct fh_http_fetch *request,
                                  const struct fh_http_response *ret, const struct fh_http_try *t)
{
	if (t->refused && !atomic_load(&http->reached))
		return false;
	if (t->result == CURLE_OK && ret->status >= 200 && ret->status <= 299)
		return request->is_cut && request->is_cut(request->context, ret);
	if (t->result == CURLE_OK)
		return fh_http_status_retryable(ret->status) &&
		       !(request->is_final && request->is_final(ret->status, fh_buf_str(&ret->body)));
	for (size_t i = 0; i < FH_ARRAY_SIZE(fh_http_passing); i++)
		if (fh_http_passing[i] == t->result)
			return true;
	return false;
}

static double fh_http_random01(void)
{
	uint32_t r = 0;
	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		return 0.5;
	return (double)r / 4294967296.0;
}

static int fh_http_send_to(struct fh_http *http, const struct fh_http_fetch *request, struct fh_http_response *ret,
                           struct fh_error *err)
{
	uint64_t backoff = request->backoff_ms ? request->backoff_ms : FH_HTTP_BACKOFF_MS;
	uint64_t pause_max = request->pause_max_ms ? request->pause_max_ms : FH_HTTP_PAUSE_MAX_MS;
	for (ret->tries = 1;; ret->tries++) {
		struct fh_http_try t = { 0 };
		int64_t begun;
		int code = fh_limiter_enter(&http->limiter, request->cancel, &begun, err);
		if (code)
			return code;
		code = fh_http_try(http, request, ret, &t, err);
		fh_limiter_leave(&http->limiter, begun, !code && t.result == CURLE_OK && ret->status == 429);
		if (code)
			return code;
		if (t.result == CURLE_OK && t.retry_after_ms && t.retry_after_ms <= pause_max)
			fh_limiter_hold(&http->limiter, t.retry_after_ms);
		uint64_t pause = fh_http_pause_ms(backoff, ret->tries, fh_http_random01());
		pause = FH_MAX(pause, t.retry_after_ms);
		if (ret->tries > request->retries || !fh_http_worth_a_retry(http, request, ret, &t) || pause > pause_max)
			return t.result == CURLE_OK ? 0 : fh_http_fail(http, request, ret, &t, err);
		code = fh_http_sleep(request, pause, err);
		if (code)
			return code;
	}
}

int fh_http_send(struct fh_http *http, const struct fh_http_fetch *request, struct fh_http_response *ret,
                 struct fh_error *err)
{
	if (fh_http_is_cancelled(request))
		return fh_http_cancelled(err);
	if (!fh_curl(err))
		return -FH_E_UNAVAILABLE;
	struct fh_http_response r = { .headers = FH_BUF_INIT(FH_HTTP_HEADERS_MAX),
		                          .body = FH_BUF_INIT(request->body_max ? request->body_max : FH_HTTP_BODY_MAX) };
	int code = fh_http_send_to(http, request, &r, err);
	if (code)
		fh_http_response_release(&r);
	else
		*ret = r;
	return code;
}
