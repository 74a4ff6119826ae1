/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/client.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/error.h"

/* END_MS: how long to wait for an engine without sandboxes to exit; before that it removes its folders and groups. */
enum { END_MS = 2000, EXPLAIN_MS = 100 };

/* Adds to the error how the child process ended, if it did. */
static void explain(void *context, struct fh_error *err)
{
	struct fh_client *client = context;
	const char *who = client->placement->subject;
	int status;
	if (client->child.pid <= 0 || fh_child_wait(&client->child, EXPLAIN_MS, &status, NULL) < 0)
		return;
	if (WIFSIGNALED(status))
		(void)fh_error_wrap(err, "%s was killed by signal %d (%s)", who, WTERMSIG(status),
		                    sigdescr_np(WTERMSIG(status)) ? sigdescr_np(WTERMSIG(status)) : "?");
	else if (WEXITSTATUS(status) == 127 && err->phase == FH_PHASE_CONNECT)
		fh_error_hint(err, "%s ended with status 127: is fumehood-engine there, and on PATH?", who);
	else
		fh_error_hint(err, "%s ended with status %d", who, WEXITSTATUS(status));
}

int fh_client_greet(const struct fh_placement *placement, const struct fh_reach *reach, int64_t greet_ms, bool later,
                    struct fh_client **ret, struct fh_error *err)
{
	struct fh_client *client = FH_NEW(struct fh_client);
	client->placement = placement;
	client->child = reach->child;
	client->connection = fh_connection_new(reach->in, reach->out);
	fh_connection_on_lost(client->connection, explain, client);
	int r = fh_connection_greet(client->connection, greet_ms, later, err);
	if (r < 0) {
		if (client->child.pid > 0) { /* the child did not greet, so it is no engine */
			int status;
			fh_child_kill(&client->child);
			(void)fh_child_wait(&client->child, -1, &status, NULL);
		}
		fh_client_close(client);
		return r;
	}
	*ret = client;
	return 0;
}

int fh_client_open(const struct fh_client_options *options, struct fh_client **ret, struct fh_error *err)
{
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	if (options)
		memcpy(&o, options, FH_MIN(options->size, sizeof(o)));
	const struct fh_placement *placement = fh_placement_find(o.placement, err);
	if (!placement)
		return -FH_E_ARGUMENT;
	struct fh_reach reach = FH_REACH_INIT;
	if (!o.placement && !o.engine_program && fh_placement_service.reach(&o, &reach, NULL) == 0) {
		if (fh_client_greet(&fh_placement_service, &reach, fh_placement_service.greet_ms, false, ret, NULL) == 0)
			return 0;
		reach = (struct fh_reach)FH_REACH_INIT; /* a service that was just ending, or one of another version */
	}
	int r = placement->reach(&o, &reach, err);
	if (r < 0) {
		if (err && err->phase == FH_PHASE_NONE)
			err->phase = FH_PHASE_CONNECT;
		return r;
	}
	return fh_client_greet(placement, &reach, placement->greet_ms, o.greet_later, ret, err);
}

int fh_client_attach(pid_t engine, int64_t greet_ms, struct fh_client **ret, struct fh_error *err)
{
	struct fh_reach reach = FH_REACH_INIT;
	int r = fh_engine_connect(engine, &reach.in, err);
	if (r < 0)
		return r;
	reach.out = reach.in;
	return fh_client_greet(&fh_placement_attach, &reach, greet_ms, false, ret, err);
}

/* Waits for the end of the child. Closing the connection ends what was bound to it, so nothing of that is left when
 * this returns. */
static void end_child(struct fh_client *client, bool engine)
{
	int status;
	/* An engine that holds a sandbox with a lease goes on and is not waited for. The child may be that engine itself: a
	 * shell that was started to run the engine may have become it by exec. */
	if (client->child.pid > 0 && !client->leased && fh_child_wait(&client->child, END_MS, &status, NULL) < 0 &&
	    (client->placement->tool || !engine)) {
		fh_child_kill(&client->child);
		(void)fh_child_wait(&client->child, -1, &status, NULL);
	}
	fh_child_forget(&client->child);
}

void fh_client_close(struct fh_client *client)
{
	if (!client)
		return;
	/* a child that never greeted is no engine, and may not end by itself */
	bool engine = fh_connection_greeted(client->connection);
	fh_connection_free(client->connection);
	end_child(client, engine);
	free(client);
}

bool fh_client_lost(const struct fh_client *client)
{
	return fh_connection_lost(client->connection);
}

int fh_client_descriptor(const struct fh_client *client)
{
	return fh_connection_descriptor(client->connection);
}
