/* SPDX-License-Identifier: MIT */
/* How a context's state gets into another interpreter: in its sandbox by a fork, which the parent makes, and whose
 * child a proxy gives its streams; in another sandbox by value, in a file that the parent writes and the other one
 * reads. */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "fumehood/session.h"
#include "sandbox/session/context.h"
#include "sandbox/session/proxy.h"

enum { SOCKET_NAME = FH_CONTEXT_FILE_NAME + 8, CARRIED_PIECE = 1 << 20 };

static int64_t left_ms(int64_t deadline_ns)
{
	return FH_MAX((deadline_ns - fh_now_ns()) / FH_NS_PER_MS, (int64_t)0);
}

static int too_late(const struct fh_context_start *start, struct fh_error *err)
{
	return fh_error_set(err, FH_E_TIMEOUT, "the context did not branch within %llu ms",
	                    (unsigned long long)start->timeout_ms);
}

/* Starts the proxy, and waits until the branch may connect to it. */
static int start_proxy(struct fh_context_driver *d, const struct fh_context_start *start, int64_t deadline_ns,
                       char socket[SOCKET_NAME], struct fh_error *err)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	char program[FH_CONTEXT_FILE_NAME];
	struct fh_str text;
	*d = (struct fh_context_driver){ .unread = FH_BUF_INIT(2 * FH_CONTEXT_LINE_MAX), .branched = true };
	int r = fh_context_put_file(start, "", (struct fh_bytes){ fh_proxy_image, fh_proxy_image_size }, program, err);
	if (r < 0)
		return r;
	snprintf(socket, SOCKET_NAME, "%s.socket", program);
	const char *const argv[] = { program, socket, NULL };
	o.argv = argv;
	o.tag = FH_CONTEXT_TAG;
	o.wall_time_ms = o.cpu_time_ms = o.output_bytes = FH_UNLIMITED;
	o.window = FH_CONTEXT_WINDOW;
	r = fh_process_spawn(start->sandbox, &o, &d->process, err);
	if (r < 0)
		return r;
	r = fh_context_driver_line(d, left_ms(deadline_ns), &text, err);
	if (r == -FH_E_TIMEOUT)
		r = too_late(start, err);
	else if (r == 0 || (r == 1 && !fh_str_eq(text, FH_PROXY_LISTENS)))
		r = fh_error_set(err, FH_E_UNAVAILABLE, "a context cannot branch: its proxy does not start");
	return FH_MIN(r, 0);
}

/* Waits for the answer. Lines that are not the answer are for the next run. ret: NULL, or receives what the answer says
 * of what is missing. */
static int await_answer(struct fh_context_driver *parent, const struct fh_context_start *start, uint64_t id,
                        int64_t deadline_ns, struct fh_context_ready *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf others = FH_BUF_INIT(FH_CONTEXT_LINE_MAX);
	struct fh_context_line line = { 0 };
	bool answered = false;
	int r = 1;
	while (!answered && r > 0) {
		struct fh_context_event event;
		struct fh_str text;
		r = fh_context_driver_line(parent, left_ms(deadline_ns), &text, err);
		if (r <= 0)
			break;
		fh_context_line_release(&line);
		answered = fh_context_line_read(&line, text, &event) == FH_CONTEXT_SAID_END &&
		           fh_json_int(line.json, "id", -1) == (int64_t)id;
		if (answered)
			break;
		(void)fh_buf_add(&others, text.p, text.n);
		(void)fh_buf_addc(&others, '\n');
		if (others.overflowed)
			r = fh_error_set(err, FH_E_PROTOCOL, "the context's interpreter answers with more than %zu bytes",
			                 FH_CONTEXT_LINE_MAX);
	}
	fh_context_driver_put_back(parent, fh_buf_str(&others));
	if (r == 0)
		r = fh_error_set(err, FH_E_NOT_FOUND, "the context's interpreter ended: there is no state to branch");
	else if (r == -FH_E_TIMEOUT)
		r = too_late(start, err);
	else if (r > 0 && !fh_streq(fh_json_str(line.json, "status", ""), "ok"))
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the context cannot branch: %.200s",
		                 fh_json_str(line.json, "why", "its interpreter gave no reason"));
	if (r > 0 && ret)
		ret->not_branched = fh_context_not_branched_read(line.json);
	fh_context_line_release(&line);
	return FH_MIN(r, 0);
}

static json_t *request_of(const char *op, uint64_t id, const char *key, const char *file)
{
	json_t *request = json_object();
	json_object_set_new(request, "op", json_string(op));
	json_object_set_new(request, "id", json_integer((json_int_t)id));
	json_object_set_new(request, key, json_string(file));
	return request;
}

/* Sends a request and waits for the answer. */
static int ask(struct fh_context_driver *driver, const struct fh_context_start *start, uint64_t id,
               const json_t *request, int64_t deadline_ns, struct fh_context_ready *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	fh_json_write(&line, request, 0);
	(void)fh_buf_addc(&line, '\n');
	int r = fh_context_driver_send(driver, fh_buf_str(&line), left_ms(deadline_ns), err);
	return r < 0 ? r : await_answer(driver, start, id, deadline_ns, ret, err);
}

int fh_context_driver_branch(struct fh_context_driver *parent, const struct fh_context_start *start, uint64_t id,
                             struct fh_context_driver *ret, struct fh_context_ready *ret_ready, struct fh_error *err)
{
	int64_t deadline = fh_now_ns() + (int64_t)start->timeout_ms * FH_NS_PER_MS;
	char socket[SOCKET_NAME] = "";
	int r = start_proxy(ret, start, deadline, socket, err);
	fh_auto_json json_t *request = request_of("branch", id, "socket", socket);
	if (r == 0)
		r = ask(parent, start, id, request, deadline, NULL, err);
	if (r == 0)
		r = fh_context_driver_await(ret, start, deadline, ret_ready, err);
	if (r < 0) {
		fh_context_driver_end(ret, NULL, 0);
		if (*socket) /* the socket's file, which the proxy removes itself once the branch has connected */
			(void)fh_files_remove(start->sandbox, NULL, socket, false, NULL);
	}
	return r;
}

/* ---- by value ---- */

int fh_context_driver_save(struct fh_context_driver *driver, const struct fh_context_start *start, uint64_t id,
                           char file[FH_CONTEXT_FILE_NAME], struct fh_error *err)
{
	int64_t deadline = fh_now_ns() + (int64_t)start->timeout_ms * FH_NS_PER_MS;
	struct fh_sandbox_usage usage;
	int r = fh_sandbox_usage(start->sandbox, &usage, err);
	if (r < 0)
		return r;
	fh_context_file_name(".state", file);
	fh_auto_json json_t *request = request_of("save", id, "file", file);
	if (usage.memory_limit_bytes && usage.memory_limit_bytes != FH_UNLIMITED) {
		uint64_t room = usage.memory_limit_bytes - FH_MIN(usage.memory_bytes, usage.memory_limit_bytes);
		json_object_set_new(request, "room", json_integer((json_int_t)room));
	}
	r = ask(driver, start, id, request, deadline, NULL, err);
	if (r < 0)
		(void)fh_files_remove(start->sandbox, NULL, file, false, NULL);
	return r;
}

/* Copies a file to the same place in another sandbox. */
static int carry(struct fh_sandbox *from, struct fh_sandbox *to, const char *file, struct fh_error *err)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	struct fh_file_stream *source = NULL, *copy = NULL;
	fh_auto_free char *piece = fh_xcalloc(1, CARRIED_PIECE);
	ssize_t n = 0;
	int r = fh_file_stream_open(from, file, &o, &source, err);
	o.flags = FH_OPEN_WRITE | FH_OPEN_CREATE | FH_OPEN_EXCLUSIVE;
	o.mode = 0600;
	if (r == 0)
		r = fh_file_stream_open(to, file, &o, &copy, err);
	while (r == 0 && (n = fh_file_stream_read(source, piece, CARRIED_PIECE, err)) > 0)
		r = fh_file_stream_write(copy, piece, (size_t)n, err);
	r = r < 0 ? r : n < 0 ? (int)n : 0;
	if (copy) {
		int closed = fh_file_stream_close(copy, r == 0 ? err : NULL);
		r = r < 0 ? r : closed;
	}
	if (source)
		(void)fh_file_stream_close(source, NULL);
	return r < 0 ? fh_error_wrap(err, "a context's state cannot be carried to another sandbox") : 0;
}

int fh_context_driver_load(struct fh_context_driver *driver, const struct fh_context_start *start, uint64_t id,
                           struct fh_sandbox *from, const char *file, struct fh_context_ready *ret,
                           struct fh_error *err)
{
	int64_t deadline = fh_now_ns() + (int64_t)start->timeout_ms * FH_NS_PER_MS;
	fh_auto_json json_t *request = request_of("load", id, "file", file);
	int r = carry(from, start->sandbox, file, err);
	if (r == 0)
		r = ask(driver, start, id, request, deadline, ret, err);
	(void)fh_files_remove(from, NULL, file, false, NULL);
	(void)fh_files_remove(start->sandbox, NULL, file, false, NULL);
	return r;
}
