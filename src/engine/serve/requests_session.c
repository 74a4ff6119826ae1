/* SPDX-License-Identifier: MIT */
/* Requests about a session as a whole: its processes, its usage, pausing, its plan. */
#include "engine/core/connection.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/serve/requests.h"

#include <time.h>

#include "base/clock.h"
#include "engine/core/limits.h"
#include "engine/core/pause.h"
#include "proto/wire.h"

static uint64_t age_ms(int64_t since_ns)
{
	return (uint64_t)(fh_now_ns() - since_ns) / FH_NS_PER_MS;
}

static void write_process(struct fh_buf *out, const struct fh_process *p)
{
	size_t mark = fh_wire_begin(out, F_PROCESS);
	fh_wire_bytes(out, F_ID, p->id.b, 16);
	fh_wire_u64(out, F_PID, p->pid);
	fh_wire_u64(out, F_UID, p->uid);
	fh_wire_u64(out, F_AGE_MS, age_ms(p->start_ns));
	fh_wire_text(out, F_TAG, p->tag);
	fh_wire_text(out, F_COMMAND, p->command);
	if (p->exited)
		fh_process_write_exit(p, out);
	fh_wire_end(out, mark);
}

int fh_request_processes(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	const struct fh_sandbox *b = fh_request_sandbox(c, f);
	if (!b)
		return fh_request_no_sandbox(err);
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, f->request, f->id);
	for (const struct fh_process *p = b->processes; p; p = p->next)
		if (p->started && !p->helper)
			write_process(out, p);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	return 0;
}

int fh_request_usage(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	struct fh_usage u;
	struct fh_cgroup_use now;
	if (!b)
		return fh_request_no_sandbox(err);
	fh_limits_use(b, &u);
	fh_cgroup_now(&b->cgroup, &now);
	bool counts_memory = b->engine->cgroups.version[FH_CG_MEMORY],
	     counts_tasks = b->engine->cgroups.version[FH_CG_PIDS];
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, f->request, f->id);
	fh_wire_u64(out, F_AGE_MS, age_ms(b->born_ns));
	fh_wire_u64(out, F_CPU_USER_US, u.cpu_user_us);
	fh_wire_u64(out, F_CPU_SYS_US, u.cpu_sys_us);
	fh_wire_u64(out, F_MEMORY, u.memory_peak_bytes);
	fh_wire_u64(out, F_MEMORY_NOW, counts_memory ? now.memory_bytes : b->sample.memory_bytes + b->sample.disk_bytes);
	fh_wire_u64(out, F_MEMORY_LIMIT, b->plan->limits.value[FH_LIMIT_MEMORY]);
	fh_wire_u64(out, F_TASKS, counts_tasks ? now.tasks - (now.tasks > 0) : b->sample.tasks); /* without our init */
	fh_wire_u64(out, F_DISK_LIMIT, b->plan->limits.value[FH_LIMIT_DISK]);
	fh_wire_u64(out, F_CPUS, b->engine->cpus);
	fh_wire_u64(out, F_PAUSED, b->paused);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	return 0;
}

int fh_request_pause(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	return b ? fh_pause(b, c, f->request, err) : fh_request_no_sandbox(err);
}

int fh_request_resume(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	struct fh_sandbox *b = fh_request_sandbox(c, f);
	return b ? fh_resume(b, c, f->request, err) : fh_request_no_sandbox(err);
}

int fh_request_describe(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err)
{
	const struct fh_sandbox *b = fh_request_sandbox(c, f);
	if (!b)
		return fh_request_no_sandbox(err);
	struct fh_plan plan = *b->plan; /* shown without its files and stdin, which were handed over already */
	plan.file_count = 0;
	plan.stdin_data.size = 0;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, f->request, f->id), inner = fh_wire_begin(out, F_PLAN);
	fh_plan_encode(out, &plan);
	fh_wire_end(out, inner);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	return 0;
}
