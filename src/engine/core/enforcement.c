/* SPDX-License-Identifier: MIT */
#include "engine/core/enforcement.h"

#include <sys/resource.h>

#include "engine/core/engine.h"
#include "engine/core/sandbox.h"

enum fh_enforced fh_limits_enforced(const struct fh_sandbox *b, enum fh_limit limit)
{
	const struct fh_cgroup_host *h = &b->engine->cgroups;
	switch (limit) {
	case FH_LIMIT_CPU_TIME:
		return h->version[FH_CG_CPUACCT] ? FH_ENFORCED_EXACT : FH_ENFORCED_BOUNDED;
	case FH_LIMIT_MEMORY:
		return h->version[FH_CG_MEMORY] ? FH_ENFORCED_EXACT : FH_ENFORCED_BOUNDED;
	case FH_LIMIT_CPU_RATE:
		return h->version[FH_CG_CPU] ? FH_ENFORCED_EXACT : FH_ENFORCED_NONE;
	/* timers, pipes, rlimits and tmpfs sizes work alike on all hosts; tasks: by the pids controller or the namespace's
	 * rlimit */
	default:
		return FH_ENFORCED_EXACT;
	}
}

/* An rlimit that fits below the engine's own hard limit: lowering one needs no privilege, raising one would. */
static struct fh_init_rlimit capped(int resource, uint64_t value)
{
	struct rlimit now;
	if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
		value = now.rlim_max;
	return (struct fh_init_rlimit){ .resource = (uint32_t)resource, .value = value };
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Without a memory controller, init samples the memory of all processes every FH_SAMPLE_MS, and the sandbox is ended
 * when they exceed the limit. This rlimit stops a single process in case init is kept from sampling. It is far above
 * the limit, so that large allocations that are never touched mostly succeed, as they do under control groups. Never
 * RLIMIT_AS: Node and Java reserve far more address space than they use. */
static uint64_t data_rlimit(const struct fh_sandbox *b)
{
	uint64_t limit = b->plan->limits.value[FH_LIMIT_MEMORY];
	return b->engine->cgroups.version[FH_CG_MEMORY] || limit == FH_UNLIMITED ? UINT64_MAX
	                                                                         : plus(limit, limit / 4 + (2ULL << 30));
}

bool fh_limits_met_data(const struct fh_sandbox *b, uint64_t resident_peak_bytes)
{
	/* The kernel's peak of resident memory includes pages of mapped files. The mapped pages that samples saw are
	 * subtracted; the margin below the limit allows for those that no sample saw. */
	uint64_t limit = b->plan->limits.value[FH_LIMIT_MEMORY];
	return data_rlimit(b) != UINT64_MAX &&
	       resident_peak_bytes - FH_MIN(resident_peak_bytes, b->mapped_peak) > plus(limit, limit / 8 + (56 << 20));
}

size_t fh_limits_rlimits(const struct fh_sandbox *b, struct fh_init_rlimit *ret)
{
	const uint64_t *limit = b->plan->limits.value;
	const struct fh_cgroup_host *h = &b->engine->cgroups;
	size_t n = 0;
	ret[n++] = capped(RLIMIT_MEMLOCK, 0);
	ret[n++] = capped(RLIMIT_MSGQUEUE, 0);
	ret[n++] = capped(RLIMIT_SIGPENDING, 4096);
	/* the starter may be allowed more, as users of audio programs are, and these need no capability */
	ret[n++] = capped(RLIMIT_RTPRIO, 0);
	ret[n++] = capped(RLIMIT_NICE, 0);
	ret[n++] = capped(RLIMIT_NOFILE, limit[FH_LIMIT_OPEN_FILES]);
	ret[n++] = capped(RLIMIT_FSIZE, limit[FH_LIMIT_FILE_SIZE]);
	/* The kernel counts processes by user and user namespace (ucounts, Linux 5.14), so the limit is exact: the sandbox
	 * has both to itself. One is added where init runs as the same user. */
	if (!h->version[FH_CG_PIDS] && limit[FH_LIMIT_PROCESSES] != FH_UNLIMITED)
		ret[n++] = capped(RLIMIT_NPROC, limit[FH_LIMIT_PROCESSES] + (!b->ids.ranges || b->plan->uid == 0));
	if (data_rlimit(b) != UINT64_MAX)
		ret[n++] = capped(RLIMIT_DATA, data_rlimit(b));
	if (!h->version[FH_CG_CPUACCT] && limit[FH_LIMIT_CPU_TIME] != FH_UNLIMITED)
		ret[n++] = capped(RLIMIT_CPU, limit[FH_LIMIT_CPU_TIME] / 1000 + 2);
	return n;
}
