/* SPDX-License-Identifier: MIT */
#include "engine/serve/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process/child.h"
#include "engine/core/children.h"
#include "engine/core/connection.h"
#include "survey/survey_wire.h"

enum { SURVEYS_MAX = 8, SURVEY_S = 30 };

struct fh_survey_request {
	struct fh_survey_request *next;
	struct fh_connection *connection;
	uint64_t request;
	pid_t pid;
	int pidfd;
	struct fh_watch watch; /* of what the process writes */
	struct fh_timer timer;
	struct fh_buf reply;
};

static void end(struct fh_survey_request *s)
{
	struct fh_engine *e = s->connection->engine;
	int fd = s->watch.fd;
	for (struct fh_survey_request **at = &e->surveys; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	fh_timer_stop(e->loop, &s->timer);
	fh_watch_stop(e->loop, &s->watch);
	close(fd);
	(void)kill(-s->pid, SIGKILL); /* with the programs that it may have started */
	fh_reap_later(e->loop, s->pidfd);
	fh_buf_release(&s->reply);
	fh_loop_free(e->loop, s);
}

static void fail(struct fh_survey_request *s, const struct fh_error *err)
{
	struct fh_connection *c = s->connection;
	uint64_t request = s->request;
	end(s);
	fh_connection_error(c, request, err);
}

static void on_time(struct fh_timer *t)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_TIMEOUT, "the machine has not answered a survey within %d s", SURVEY_S);
	fail(t->owner, &err);
}

static void reply(struct fh_survey_request *s)
{
	struct fh_connection *c = s->connection;
	struct fh_error err = FH_ERROR_INIT;
	if (!s->reply.n) {
		fh_error_set(&err, FH_E_ARGUMENT, "a malformed survey, or one with an answer of more than %d bytes",
		             FH_FRAME_PAYLOAD_MAX);
		fail(s, &err);
		return;
	}
	fh_frame_write(fh_connection_out(c), FH_FRAME_REPLY, 0, s->request, (struct fh_id){ { 0 } }, fh_buf_str(&s->reply));
	end(s);
	fh_connection_flush(c);
}

static void on_readable(struct fh_watch *w, uint32_t events)
{
	struct fh_survey_request *s = w->owner;
	struct fh_error err = FH_ERROR_INIT;
	(void)events;
	char *room = fh_buf_reserve(&s->reply, FH_MIN((size_t)64 << 10, s->reply.max - s->reply.n));
	ssize_t n = room ? read(w->fd, room, FH_MIN((size_t)64 << 10, s->reply.max - s->reply.n)) : 0;
	if (n > 0)
		s->reply.n += (size_t)n;
	else if (n == 0)
		reply(s);
	else if (errno != EAGAIN && errno != EINTR)
		fail(s, (fh_error_sys(&err, errno, "cannot read the answer to a survey"), &err));
}

/* A file in memory that holds the questions: reading it never waits for the engine. */
static int questions_file(struct fh_str questions)
{
	int fd = memfd_create("survey", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fh_write_all(fd, questions.p, questions.n) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int start(struct fh_survey_request *s, struct fh_str questions, struct fh_error *err)
{
	static const char *const argv[] = { "fumehood-engine", "--survey", NULL };
	struct fh_child_failure failure = { 0 };
	int out[2];
	fh_auto_close int in = questions_file(questions);
	if (in < 0 || pipe2(out, O_CLOEXEC) < 0)
		return fh_error_sys(err, errno, "cannot make a survey");
	const struct fh_child_options o = { .file = "/proc/self/exe",
		                                .argv = argv,
		                                .stdio = { in, out[1], -1 },
		                                .flags = FH_CHILD_GROUP | FH_CHILD_DIES_WITH_US };
	bool made = fh_child_make(&o, &s->pid, &s->pidfd, &failure);
	close(out[1]);
	if (!made) {
		close(out[0]);
		return fh_error_sys(err, failure.sys, "cannot start the process that answers a survey");
	}
	(void)fh_set_nonblock(out[0], true);
	(void)fh_watch_set(s->connection->engine->loop, &s->watch, out[0], EPOLLIN);
	return 0;
}

int fh_request_survey(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_engine *e = c->engine;
	size_t n = 0;
	for (const struct fh_survey_request *s = e->surveys; s; s = s->next)
		n++;
	if (n >= SURVEYS_MAX) {
		fh_error_set(err, FH_E_UNAVAILABLE, "the engine answers %d surveys already", SURVEYS_MAX);
		err->retryable = true;
		return -FH_E_UNAVAILABLE;
	}
	if (f->payload.n > FH_SURVEY_QUESTIONS_BYTES)
		return fh_error_set(err, FH_E_ARGUMENT, "a survey of more than %d bytes", FH_SURVEY_QUESTIONS_BYTES);
	struct fh_survey_request *s = FH_NEW(struct fh_survey_request);
	*s = (struct fh_survey_request){ .connection = c,
		                             .request = f->request,
		                             .watch = { .fd = -1, .on_event = on_readable, .owner = s },
		                             .reply = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX) };
	int r = start(s, f->payload, err);
	if (r < 0) {
		free(s);
		return r;
	}
	fh_timer_prepare(e->loop, &s->timer, on_time, s);
	fh_timer_set(e->loop, &s->timer, fh_now_ns() + SURVEY_S * FH_NS_PER_S);
	s->next = e->surveys;
	e->surveys = s;
	return 0;
}

size_t fh_surveys_end(struct fh_connection *c, uint64_t request)
{
	size_t n = 0;
	for (struct fh_survey_request *s = c->engine->surveys, *next; s; s = next) {
		next = s->next;
		if (s->connection != c || (request && s->request != request))
			continue;
		end(s);
		n++;
	}
	return n;
}
