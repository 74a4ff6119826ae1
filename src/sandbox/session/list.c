/* SPDX-License-Identifier: MIT */
/* Lists what runs on this machine: the user's engines, found by their sockets, and the sandboxes of each. */
#include "sandbox/session/session.h"

#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "proto/wire.h"

/* GREET_MS is short, so that an engine that is ending does not hold up the list. */
enum { GREET_MS = 3000, ENGINES_MAX = 4096, SANDBOXES_MAX = 65536 };

/* The pids of our engines, from the names of abstract sockets: "@fumehood/UID/PID". free() it. */
static pid_t *find_engines(size_t *ret_count, struct fh_error *err)
{
	FILE *f = fopen("/proc/net/unix", "re");
	if (!f) {
		(void)fh_error_set(err, FH_E_NOT_FOUND, "cannot look for engines: /proc/net/unix is not there");
		return NULL;
	}
	char prefix[64], *line = NULL;
	size_t size = 0, n = 0, capacity = 8;
	pid_t *pids = fh_xcalloc(capacity, sizeof(*pids));
	snprintf(prefix, sizeof(prefix), " @fumehood/%u/", getuid());
	while (n < ENGINES_MAX && getline(&line, &size, f) > 0) {
		const char *at = strstr(line, prefix);
		char *end;
		long pid = at ? strtol(at + strlen(prefix), &end, 10) : 0;
		bool known = pid <= 0 || pid > INT32_MAX || *end != '\n';
		for (size_t i = 0; !known && i < n; i++) /* accepted connections have the same name */
			known = pids[i] == pid;
		if (!known)
			FH_PUSH(pids, n, capacity) = (pid_t)pid;
	}
	free(line);
	fclose(f);
	*ret_count = n;
	return pids;
}

static bool read_sandbox(struct fh_str message, pid_t engine, struct fh_sandbox_info *ret)
{
	struct fh_sandbox_info s = { .engine_pid = engine };
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	struct fh_id id = { { 0 } };
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_ID && f.value.n == sizeof(id.b))
			memcpy(id.b, f.value.p, sizeof(id.b));
		else if (f.tag == F_AGE_MS)
			s.age_ms = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_LEASE_LEFT_MS)
			s.lease_left_ms = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_CLIENT_PID)
			s.client_pid = (pid_t)(fh_wire_get_u64(&r, &f) & INT32_MAX);
		else if (f.tag == F_COUNT)
			s.processes = (uint32_t)fh_wire_get_u64(&r, &f);
		else if (f.tag == F_COMMAND)
			fh_escape_terminal_line(s.command, sizeof(s.command), f.value);
		else if (f.tag == F_NAME)
			fh_escape_terminal_line(s.name, sizeof(s.name), f.value);
		else if (f.tag == F_SESSION)
			s.session = fh_wire_get_u64(&r, &f) != 0;
		else if (f.tag == F_PAUSED)
			s.paused = fh_wire_get_u64(&r, &f) != 0;
	}
	fh_id_hex(id, s.id);
	*ret = s;
	return !r.malformed && !fh_id_is_zero(id);
}

struct found {
	struct fh_sandbox_info *items;
	size_t count, capacity;
};

static int list_engine(struct fh_client *client, pid_t engine, struct found *found, struct fh_error *err)
{
	struct fh_answer a;
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(client->connection, &a, FH_FRAME_REPLY);
	fh_frame_write(&frame, FH_FRAME_LIST, 0, a.call.request, (struct fh_id){ { 0 } }, (struct fh_str){ "", 0 });
	int r = fh_answer_wait(&a, &frame, err);
	struct fh_wire_reader reader = fh_wire_reader(fh_buf_str(&a.payload));
	struct fh_wire_field f;
	while (r == 0 && fh_wire_next(&reader, &f)) {
		struct fh_sandbox_info s;
		if (f.tag == F_SANDBOX && found->count < SANDBOXES_MAX && read_sandbox(f.value, engine, &s))
			FH_PUSH(found->items, found->count, found->capacity) = s;
	}
	fh_buf_release(&a.payload);
	return r;
}

static int by_age(const void *a, const void *b)
{
	const struct fh_sandbox_info *x = a, *y = b;
	return x->age_ms > y->age_ms ? -1 : x->age_ms < y->age_ms;
}

int fh_list(struct fh_sandbox_info **ret, size_t *ret_count, struct fh_error *err)
{
	size_t n;
	struct found found = { .items = fh_xcalloc(8, sizeof(*found.items)), .capacity = 8 };
	fh_auto_free pid_t *engines = find_engines(&n, err);
	if (!engines) {
		free(found.items);
		return -FH_E_NOT_FOUND;
	}
	for (size_t i = 0; i < n; i++) {
		struct fh_client *client;
		/* an engine that is gone, or another user's process with our name, has nothing to list */
		if (fh_client_attach(engines[i], GREET_MS, &client, NULL) < 0)
			continue;
		(void)list_engine(client, engines[i], &found, NULL);
		fh_client_close(client);
	}
	qsort(found.items, found.count, sizeof(*found.items), by_age);
	*ret = found.items;
	*ret_count = found.count;
	return 0;
}

static int destroy_at(const struct fh_sandbox_info *s, struct fh_error *err)
{
	struct fh_client *client;
	struct fh_id id;
	int r = fh_client_attach(s->engine_pid, GREET_MS, &client, err);
	if (r < 0)
		return r;
	(void)fh_id_parse(s->id, &id);
	r = fh_simple_call(client, FH_FRAME_DESTROY, id, 0, 0, err);
	fh_client_close(client);
	return r;
}

int fh_kill(const char *prefix, struct fh_error *err)
{
	fh_auto_free struct fh_sandbox_info *all = NULL;
	const struct fh_sandbox_info *match = NULL;
	size_t n;
	if (strlen(prefix) < 4)
		return fh_error_set(err, FH_E_ARGUMENT, "give at least 4 characters of the sandbox's id");
	int r = fh_list(&all, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (!fh_starts_with(all[i].id, prefix))
			continue;
		if (match)
			return fh_error_set(err, FH_E_ARGUMENT, "more than one sandbox's id begins with %s", prefix);
		match = &all[i];
	}
	if (!match) {
		(void)fh_error_set(err, FH_E_NOT_FOUND, "no sandbox's id begins with %.64s", prefix);
		fh_error_hint(err, "`fumehood ps` lists them");
		return -FH_E_NOT_FOUND;
	}
	return destroy_at(match, err);
}
