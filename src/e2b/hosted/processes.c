/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/processes.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text/base64.h"
#include "e2b/common/threads.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/logs.h"
#include "fumehood/session.h"

enum {
	PIECE = 32 << 10,    /* bytes of output in one event, the same as envd's */
	QUEUE_MAX = 4 << 20, /* bytes of frames that wait for one follower */
	RECORD_KEPT_S = 30,
	LOOK_MS = 250,        /* how often a stream without data checks whether its client is still connected */
	PROCESSES_MAX = 4096, /* maximum of processes in a sandbox's list, including records of ended ones */
};

/* A client that reads the events of a process. The process's lock guards its queue. */
struct fh_follower {
	struct fh_hosted_process *process;
	struct fh_http_request *request;
	struct fh_buf frames;
	unsigned keepalive_s;
	int64_t spoke_ns, until_ns;
	bool finished; /* the last frame is queued */
	struct fh_follower *next;
};

/* --------------------------------------------------------------------------------------------------------- events */

static json_t *event(const char *name, FH_OWN json_t *value)
{
	json_t *o = json_object(), *e = json_object();
	json_object_set_new(e, name, value);
	json_object_set_new(o, "event", e);
	return o;
}

static void add_event(struct fh_buf *to, const char *name, FH_OWN json_t *value)
{
	fh_auto_json json_t *o = event(name, value);
	fh_connect_frame(to, o);
}

static void add_data(struct fh_buf *to, const char *stream, struct fh_str bytes)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	json_t *data = json_object();
	fh_base64_encode(&text, bytes);
	json_object_set_new(data, stream, json_string(fh_buf_cstr(&text)));
	add_event(to, "data", data);
}

/* Describes how a command ended in the words of Go's os.ProcessState, which envd uses. */
static void end_status(const struct fh_exit *x, char *text, size_t n)
{
	static const char *const names[] = { [1] = "hangup",       [2] = "interrupt",
		                                 [3] = "quit",         [4] = "illegal instruction",
		                                 [6] = "aborted",      [8] = "floating point exception",
		                                 [9] = "killed",       [11] = "segmentation fault",
		                                 [13] = "broken pipe", [14] = "alarm clock",
		                                 [15] = "terminated" };
	if (!x->signal)
		snprintf(text, n, "exit status %d", x->exit_code);
	else if ((size_t)x->signal < FH_ARRAY_SIZE(names) && names[x->signal])
		snprintf(text, n, "signal: %s", names[x->signal]);
	else
		snprintf(text, n, "signal: %d", x->signal);
	for (unsigned i = 0; i < FH_LIMIT_COUNT_; i++) /* limits of the operator, which the client did not set */
		if (i != FH_LIMIT_WALL_TIME && (x->fired & 1u << i) && strlen(text) + 48 < n)
			snprintf(text + strlen(text), n - strlen(text), " (limit reached: %s)", fh_limit_table[i].name);
}

static void add_end(struct fh_buf *to, const struct fh_exit *x)
{
	json_t *end = json_object();
	char status[256];
	end_status(x, status, sizeof(status));
	if (x->signal)
		json_object_set_new(end, "exitCode", json_integer(-1));
	else if (x->exit_code)
		json_object_set_new(end, "exitCode", json_integer(x->exit_code));
	if (!x->signal)
		json_object_set_new(end, "exited", json_true());
	json_object_set_new(end, "status", json_string(status));
	if (x->signal || x->exit_code || x->fired)
		json_object_set_new(end, "error", json_string(status));
	add_event(to, "end", end);
}

/* Queues the last frames of a stream. Called with the lock. */
static void finish(struct fh_follower *f)
{
	struct fh_hosted_process *p = f->process;
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	if (f->finished)
		return;
	f->finished = true;
	if (!p->ended || atomic_load(&p->hosted->seen) == FH_HOSTED_GONE)
		fh_connect_fail(&e, FH_CONNECT_UNAVAILABLE, "the sandbox was killed or reached its end of life");
	else if (p->exit.fired & 1u << FH_LIMIT_WALL_TIME)
		fh_connect_fail(&e, FH_CONNECT_DEADLINE_EXCEEDED, "the command ran longer than its timeout and was killed");
	else
		add_end(&f->frames, &p->exit);
	fh_connect_end(&f->frames, &e);
}

/* ---------------------------------------------------------------------------------------------------------- pumps */

/* Whether the queues of all followers have room. Called with the lock. */
static bool has_room(const struct fh_hosted_process *p)
{
	for (const struct fh_follower *f = p->followers; f; f = f->next)
		if (f->frames.n >= QUEUE_MAX)
			return false;
	return true;
}

static void hand_out(struct fh_hosted_process *p, const char *stream, struct fh_str bytes)
{
	pthread_mutex_lock(&p->lock);
	while (!has_room(p) && atomic_load(&p->hosted->seen) != FH_HOSTED_GONE)
		fh_wait_ms(&p->changed, &p->lock, LOOK_MS);
	if (p->followers) {
		fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
		add_data(&frame, stream, bytes);
		for (struct fh_follower *f = p->followers; f; f = f->next)
			fh_buf_add_str(&f->frames, fh_buf_str(&frame));
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
}

/* The pump that ends last finds out how the process ended. */
static void pump_ends(struct fh_hosted_process *p)
{
	struct fh_exit x = { .exit_code = -1 };
	pthread_mutex_lock(&p->lock);
	bool last = --p->pumps == 0;
	pthread_mutex_unlock(&p->lock);
	if (last) {
		int r = fh_process_wait(p->process, -1, &x, NULL);
		if (r < 0)
			atomic_store(&p->hosted->doubted, true);
		pthread_mutex_lock(&p->lock);
		p->ended = r == 0;
		p->exit = x;
		p->ended_ns = fh_now_ns();
		for (struct fh_follower *f = p->followers; f; f = f->next)
			finish(f);
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
		char status[256];
		end_status(&x, status, sizeof(status));
		fh_hosted_note(p->hosted, r == 0 && !x.signal && !x.exit_code ? "info" : "warn", "Process %u ended: %s", p->pid,
		               r == 0 ? status : "with its sandbox");
	}
	fh_hosted_process_drop(p);
}

void fh_hosted_process_await_end(struct fh_hosted_process *p, int64_t timeout_ms)
{
	int64_t until_ns = fh_now_ns() + timeout_ms * FH_NS_PER_MS;
	pthread_mutex_lock(&p->lock);
	while (!p->ended && atomic_load(&p->hosted->seen) != FH_HOSTED_GONE && fh_now_ns() < until_ns)
		fh_wait_ms(&p->changed, &p->lock, (until_ns - fh_now_ns()) / FH_NS_PER_MS + 1);
	pthread_mutex_unlock(&p->lock);
}

static void pump(struct fh_hosted_process *p, enum fh_stream stream, const char *name)
{
	char piece[PIECE];
	ssize_t n;
	while ((n = fh_process_read(p->process, stream, piece, sizeof(piece), -1, NULL)) > 0)
		hand_out(p, name, (struct fh_str){ piece, (size_t)n });
	pump_ends(p);
}

static void *pump_stdout(void *process)
{
	struct fh_hosted_process *p = process;
	pump(p, FH_STDOUT, p->pty ? "pty" : "stdout");
	return NULL;
}

static void *pump_stderr(void *process)
{
	pump(process, FH_STDERR, "stderr");
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ processes */

static struct fh_hosted_process *hold(struct fh_hosted_process *p)
{
	atomic_fetch_add(&p->references, 1);
	return p;
}

void fh_hosted_process_drop(struct fh_hosted_process *p)
{
	if (atomic_fetch_sub(&p->references, 1) != 1)
		return;
	fh_process_free(p->process);
	json_decref(p->config);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	fh_hosted_drop(p->hosted);
	free(p);
}

static int spawn(struct fh_hosted *h, const struct fh_process_request *q, struct fh_process **ret,
                 struct fh_connect_error *e)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	FH_CLEANUP(fh_command_release) struct fh_command c = { 0 };
	if (fh_command_read(h, q->config, q->user, q->pty, &c, e) < 0)
		return -1;
	o.argv = (const char *const *)c.argv;
	o.env = (const char *const *)c.env;
	o.cwd = c.cwd;
	o.user = fh_account_for(h, q->user);
	o.pty = q->pty;
	o.rows = q->rows;
	o.columns = q->columns;
	o.no_stdin = !q->stdin_open && !q->pty;
	o.wall_time_ms = q->timeout_ms ? q->timeout_ms : FH_UNLIMITED;
	if (fh_process_spawn(h->sandbox, &o, ret, &err) == 0)
		return 0;
	if (err.sys == ENOENT && !fh_account_has_folder(h, o.user, c.cwd))
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "cwd '%s' does not exist", c.cwd);
	if (err.code == FH_E_NOT_FOUND)
		atomic_store(&h->doubted, true);
	return fh_connect_fail_from(e, &err);
}

/* Removes the records that are too old, and returns them for the caller to free without the lock. Called with the
 * sandbox's lock. */
static struct fh_hosted_process *take_old(struct fh_hosted *h, size_t *ret_count)
{
	struct fh_hosted_process *old = NULL;
	size_t n = 0;
	for (struct fh_hosted_process **at = &h->processes; *at;) {
		struct fh_hosted_process *p = *at;
		pthread_mutex_lock(&p->lock);
		bool too_old = p->ended && fh_now_ns() - p->ended_ns > RECORD_KEPT_S * FH_NS_PER_S;
		pthread_mutex_unlock(&p->lock);
		if (too_old) {
			*at = p->next;
			p->next = old;
			old = p;
		} else {
			at = &p->next;
			n++;
		}
	}
	*ret_count = n;
	return old;
}

static void drop_list(struct fh_hosted_process *list)
{
	while (list) {
		struct fh_hosted_process *next = list->next;
		fh_hosted_process_drop(list);
		list = next;
	}
}

static bool enlist(struct fh_hosted *h, struct fh_hosted_process *p)
{
	size_t n;
	pthread_mutex_lock(&h->lock);
	struct fh_hosted_process *old = take_old(h, &n);
	bool room = n < PROCESSES_MAX && h->state != FH_HOSTED_GONE;
	if (room) {
		p->next = h->processes;
		h->processes = hold(p);
	}
	pthread_mutex_unlock(&h->lock);
	drop_list(old);
	return room;
}

int fh_hosted_process_start(struct fh_hosted *h, const struct fh_process_request *q, struct fh_hosted_process **ret,
                            struct fh_connect_error *e)
{
	struct fh_process *process;
	if (spawn(h, q, &process, e) < 0)
		return -1;
	struct fh_hosted_process *p = FH_NEW(struct fh_hosted_process);
	p->hosted = fh_hosted_hold(h);
	p->process = process;
	p->pid = fh_process_pid(process);
	p->pty = q->pty;
	p->config = json_incref(q->config);
	snprintf(p->tag, sizeof(p->tag), "%s", q->tag ? q->tag : "");
	pthread_mutex_init(&p->lock, NULL);
	fh_condition_init(&p->changed);
	p->pumps = q->pty ? 1 : 2;
	p->references = 1 + (int)p->pumps;
	if (!enlist(h, p))
		(void)fh_process_kill_tree(process, NULL);
	fh_hosted_note(h, "info", "Process %u started: %.400s", p->pid, fh_json_str(q->config, "cmd", ""));
	*ret = p;
	return 0;
}

void fh_hosted_process_pump(struct fh_hosted_process *p)
{
	bool pty = p->pty; /* read now: the first pump may end, and drop the last reference, before the second is started */
	fh_thread_start(pump_stdout, p);
	if (!pty)
		fh_thread_start(pump_stderr, p);
}

FH_NULLABLE struct fh_hosted_process *fh_hosted_process_find(struct fh_hosted *h, const json_t *selector,
                                                             struct fh_connect_error *e)
{
	int64_t pid = fh_json_int(selector, "pid", 0);
	const char *tag = fh_json_str(selector, "tag", NULL);
	if (pid <= 0 && !tag) {
		fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the request names no process by its pid or tag");
		return NULL;
	}
	pthread_mutex_lock(&h->lock);
	struct fh_hosted_process *p =
	    h->processes; /* the newest process comes first, so a reused pid means the newer one */
	while (p && (tag ? strcmp(p->tag, tag) != 0 : p->pid != pid))
		p = p->next;
	if (p)
		hold(p);
	pthread_mutex_unlock(&h->lock);
	if (!p && tag)
		fh_connect_fail(e, FH_CONNECT_NOT_FOUND, "process with tag %.64s not found", tag);
	else if (!p)
		fh_connect_fail(e, FH_CONNECT_NOT_FOUND, "process with pid %lld not found", (long long)pid);
	return p;
}

FH_OWN json_t *fh_hosted_process_list(struct fh_hosted *h)
{
	json_t *list = json_array();
	pthread_mutex_lock(&h->lock);
	for (struct fh_hosted_process *p = h->processes; p; p = p->next) {
		pthread_mutex_lock(&p->lock);
		bool ended = p->ended;
		pthread_mutex_unlock(&p->lock);
		if (ended)
			continue;
		json_t *o = json_object();
		json_object_set(o, "config", p->config);
		json_object_set_new(o, "pid", json_integer(p->pid));
		if (*p->tag)
			json_object_set_new(o, "tag", json_string(p->tag));
		json_array_insert_new(list, 0, o);
	}
	pthread_mutex_unlock(&h->lock);
	return list;
}

void fh_hosted_forget_processes(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	struct fh_hosted_process *list = h->processes;
	h->processes = NULL;
	pthread_mutex_unlock(&h->lock);
	drop_list(list);
}

/* ------------------------------------------------------------------------------------------------------ followers */

/* Ends the stream of a client whose time is over; the process goes on. */
static void finish_late(struct fh_follower *f)
{
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	fh_connect_fail(&e, FH_CONNECT_DEADLINE_EXCEEDED, "the stream's timeout is over; the command goes on");
	fh_connect_end(&f->frames, &e);
	f->finished = true;
}

static ssize_t read_frames(void *follower, char *buffer, size_t n)
{
	struct fh_follower *f = follower;
	struct fh_hosted_process *p = f->process;
	ssize_t got = -1;
	pthread_mutex_lock(&p->lock);
	for (;;) {
		if (!f->frames.n && !f->finished) {
			if (p->ended || atomic_load(&p->hosted->seen) == FH_HOSTED_GONE)
				finish(f);
			else if (fh_now_ns() > f->until_ns)
				finish_late(f);
			else if (fh_now_ns() - f->spoke_ns > f->keepalive_s * FH_NS_PER_S)
				add_event(&f->frames, "keepalive", json_object());
		}
		if (f->frames.n || f->finished)
			break;
		fh_wait_ms(&p->changed, &p->lock, LOOK_MS);
		if (fh_http_peer_gone(f->request) || fh_http_stopping(f->request))
			goto out;
	}
	got = (ssize_t)FH_MIN(n, f->frames.n);
	if (got)
		memcpy(buffer, f->frames.p, (size_t)got);
	fh_buf_drop(&f->frames, (size_t)got);
	f->spoke_ns = fh_now_ns();
	pthread_cond_broadcast(&p->changed); /* the queue has room again */
out:
	pthread_mutex_unlock(&p->lock);
	return got;
}

static void follower_free(void *follower)
{
	struct fh_follower *f = follower;
	struct fh_hosted_process *p = f->process;
	pthread_mutex_lock(&p->lock);
	for (struct fh_follower **at = &p->followers; *at; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			break;
		}
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	fh_buf_release(&f->frames);
	free(f);
	fh_hosted_process_drop(p);
}

void fh_hosted_process_follow(struct fh_http_request *r, uint64_t timeout_ms, FH_OWN struct fh_hosted_process *p)
{
	struct fh_follower *f = FH_NEW(struct fh_follower);
	struct fh_http_source source = { read_frames, follower_free, f, FH_HTTP_SIZE_UNKNOWN };
	json_t *start = json_object();
	f->process = p;
	f->request = r;
	f->keepalive_s = fh_connect_keepalive_s(r);
	f->spoke_ns = fh_now_ns();
	f->until_ns = fh_connect_until_ns(timeout_ms);
	json_object_set_new(start, "pid", json_integer(p->pid));
	add_event(&f->frames, "start", start);
	pthread_mutex_lock(&p->lock);
	f->next = p->followers;
	p->followers = f;
	pthread_mutex_unlock(&p->lock);
	fh_http_reply_source(r, 200, FH_CONNECT_STREAM_TYPE, &source);
}
