/* SPDX-License-Identifier: MIT */
/* Requests about the state of a session: its processes, its usage, pause, its plan. */
#include "fumehood/session.h"

#include <stdio.h>
#include <time.h>

#include "base/escape.h"
#include "proto/wire.h"
#include "sandbox/session/helper.h"
#include "sandbox/session/session.h"

static const char *const pause_names[FH_PAUSE_COUNT_] = { "none", "freezer", "signals" };

const char *fh_pause_name(enum fh_pause how)
{
	return (unsigned)how < FH_PAUSE_COUNT_ ? pause_names[how] : "unknown";
}

/* Sends a request about the sandbox. a->payload gets the payload of the REPLY and must always be released. */
static int ask(struct fh_sandbox *s, uint16_t type, struct fh_answer *a, struct fh_error *err)
{
	fh_auto_buf struct fh_buf frame = FH_BUF_INIT(0);
	fh_answer_begin(s->client->connection, a, FH_FRAME_REPLY);
	fh_frame_write(&frame, type, 0, a->call.request, s->id, (struct fh_str){ "", 0 });
	return fh_answer_wait(a, &frame, err);
}

/* ------------------------------------------------------------------------------------------------------- processes */

static bool read_process(struct fh_str message, struct fh_process_info *ret)
{
	struct fh_process_info p = { .ended = false };
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	struct fh_id id = { { 0 } };
	while (fh_wire_next(&r, &f)) {
		if (f.tag == F_ID && f.value.n == sizeof(id.b))
			memcpy(id.b, f.value.p, sizeof(id.b));
		else if (f.tag == F_PID)
			p.pid = (uint32_t)fh_wire_get_u64(&r, &f);
		else if (f.tag == F_UID)
			p.uid = (uint32_t)fh_wire_get_u64(&r, &f);
		else if (f.tag == F_AGE_MS)
			p.age_ms = fh_wire_get_u64(&r, &f);
		else if (f.tag == F_TAG)
			fh_escape_terminal_line(p.tag, sizeof(p.tag), f.value);
		else if (f.tag == F_COMMAND)
			fh_escape_terminal_line(p.command, sizeof(p.command), f.value);
		else if (f.tag == F_EXIT)
			p.ended = true;
	}
	if (p.ended && fh_exit_read_frame(message, &p.exit, NULL) < 0)
		return false;
	fh_id_hex(id, p.id);
	*ret = p;
	return !r.malformed && !fh_id_is_zero(id);
}

static int by_age(const void *a, const void *b)
{
	const struct fh_process_info *x = a, *y = b;
	return x->age_ms != y->age_ms ? (x->age_ms > y->age_ms ? -1 : 1) : x->pid < y->pid ? -1 : x->pid > y->pid;
}

int fh_sandbox_processes(struct fh_sandbox *sandbox, struct fh_process_info **ret, size_t *ret_count,
                         struct fh_error *err)
{
	struct fh_answer a;
	size_t n = 0, capacity = 8;
	int r = ask(sandbox, FH_FRAME_PROCESSES, &a, err);
	struct fh_process_info *items = fh_xcalloc(capacity, sizeof(*items));
	struct fh_wire_reader reader = fh_wire_reader(fh_buf_str(&a.payload));
	struct fh_wire_field f;
	while (r == 0 && fh_wire_next(&reader, &f)) {
		struct fh_process_info p;
		if (f.tag == F_PROCESS && read_process(f.value, &p))
			FH_PUSH(items, n, capacity) = p;
	}
	fh_buf_release(&a.payload);
	if (r < 0) {
		free(items);
		return r;
	}
	qsort(items, n, sizeof(*items), by_age);
	*ret = items;
	*ret_count = n;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- use */

static const struct {
	uint16_t tag;
	size_t offset;
} numbers[] = {
	{ F_AGE_MS, offsetof(struct fh_sandbox_usage, age_ms) },
	{ F_CPU_USER_US, offsetof(struct fh_sandbox_usage, cpu_user_us) },
	{ F_CPU_SYS_US, offsetof(struct fh_sandbox_usage, cpu_sys_us) },
	{ F_MEMORY, offsetof(struct fh_sandbox_usage, memory_peak_bytes) },
	{ F_MEMORY_NOW, offsetof(struct fh_sandbox_usage, memory_bytes) },
	{ F_MEMORY_LIMIT, offsetof(struct fh_sandbox_usage, memory_limit_bytes) },
	{ F_TASKS, offsetof(struct fh_sandbox_usage, tasks) },
	{ F_DISK_LIMIT, offsetof(struct fh_sandbox_usage, disk_limit_bytes) },
};

/* The bytes used in the writable folders, which share one file system. Unknown while the sandbox is paused or full. */
static uint64_t disk_used(struct fh_sandbox *s)
{
	const char *const argv[] = { "space", ".", NULL };
	fh_auto_helper struct fh_helper h = FH_HELPER_INIT;
	struct fh_helper_record record;
	uint64_t used = 0;
	h.what = "look at";
	h.path = ".";
	int r = fh_helper_begin(&h, s, NULL, argv, false, NULL);
	while (r >= 0 && (r = fh_helper_next(&h, &record, -1, NULL)) > 0)
		if (record.kind == FH_HELPER_ENTRY) {
			uint64_t total = fh_helper_number(record.bytes, FH_HELPER_TOTAL, 0);
			used = total - FH_MIN(total, fh_helper_number(record.bytes, FH_HELPER_FREE, 0));
		}
	return used;
}

int fh_sandbox_usage(struct fh_sandbox *sandbox, struct fh_sandbox_usage *ret, struct fh_error *err)
{
	struct fh_answer a;
	struct fh_sandbox_usage u = { .at_ms = 0 };
	struct timespec now;
	int r = ask(sandbox, FH_FRAME_USAGE, &a, err);
	struct fh_wire_reader reader = fh_wire_reader(fh_buf_str(&a.payload));
	struct fh_wire_field f;
	while (r == 0 && fh_wire_next(&reader, &f)) {
		for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++)
			if (numbers[i].tag == f.tag)
				*(uint64_t *)(void *)((char *)&u + numbers[i].offset) = fh_wire_get_u64(&reader, &f);
		if (f.tag == F_CPUS)
			u.cpus = (uint32_t)fh_wire_get_u64(&reader, &f);
		else if (f.tag == F_PAUSED)
			u.paused = fh_wire_get_u64(&reader, &f) != 0;
	}
	fh_buf_release(&a.payload);
	if (r < 0)
		return r;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	u.at_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (!u.paused)
		u.disk_bytes = disk_used(sandbox);
	*ret = u;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- pause, plan */

int fh_sandbox_pause(struct fh_sandbox *sandbox, enum fh_pause *ret_how, struct fh_error *err)
{
	struct fh_answer a;
	int r = ask(sandbox, FH_FRAME_PAUSE, &a, err);
	uint64_t how = r == 0 ? fh_helper_number(fh_buf_str(&a.payload), F_HOW, FH_PAUSE_NONE) : FH_PAUSE_NONE;
	fh_buf_release(&a.payload);
	if (r == 0 && ret_how)
		*ret_how = how < FH_PAUSE_COUNT_ ? (enum fh_pause)how : FH_PAUSE_NONE;
	return r;
}

int fh_sandbox_resume(struct fh_sandbox *sandbox, struct fh_error *err)
{
	return fh_simple_call(sandbox->client, FH_FRAME_RESUME, sandbox->id, 0, 0, err);
}

int fh_sandbox_plan(struct fh_sandbox *sandbox, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_answer a;
	int r = ask(sandbox, FH_FRAME_DESCRIBE, &a, err);
	struct fh_wire_reader reader = fh_wire_reader(fh_buf_str(&a.payload));
	struct fh_wire_field f;
	bool seen = false;
	while (r == 0 && !seen && fh_wire_next(&reader, &f))
		if (f.tag == F_PLAN) {
			seen = true;
			r = fh_plan_decode(f.value, ret, err);
		}
	if (r == 0 && !seen)
		r = fh_error_set(err, FH_E_PROTOCOL, "the engine did not send the sandbox's plan");
	fh_buf_release(&a.payload);
	return r;
}
