/* SPDX-License-Identifier: MIT */
#include "fumehood/sandbox.h"

#include "base/base.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* The minimums are what it takes to start a program at all; a run with less would tell nothing about the code. */
const struct fh_limit_info fh_limit_table[FH_LIMIT_COUNT_] = {
	[FH_LIMIT_CPU_TIME] = { "cpu_time", "cpu-time", "ms", FH_STATUS_CPU_TIME_LIMIT, 10000, 1 },
	[FH_LIMIT_WALL_TIME] = { "wall_time", "wall-time", "ms", FH_STATUS_WALL_TIME_LIMIT, 30000, 1 },
	[FH_LIMIT_MEMORY] = { "memory", "memory", "bytes", FH_STATUS_MEMORY_LIMIT, 512 * MIB, 1 * MIB },
	[FH_LIMIT_PROCESSES] = { "processes", "processes", "tasks", FH_STATUS_PROCESS_LIMIT, 128, 1 },
	[FH_LIMIT_CPU_RATE] = { "cpu_rate", "cpu-rate", "milli-cpus", FH_STATUS_OK, 0, 0 },
	[FH_LIMIT_OUTPUT] = { "output", "output", "bytes", FH_STATUS_OUTPUT_LIMIT, 8 * MIB, 0 },
	[FH_LIMIT_FILE_SIZE] = { "file_size", "file-size", "bytes", FH_STATUS_DISK_LIMIT, 256 * MIB, 0 },
	[FH_LIMIT_DISK] = { "disk", "disk", "bytes", FH_STATUS_DISK_LIMIT, 256 * MIB, 64 * KIB },
	[FH_LIMIT_OPEN_FILES] = { "open_files", "open-files", "files", FH_STATUS_OK, 1024, 8 },
};

void fh_limits_init(struct fh_limits *l)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		l->value[i] = fh_limit_table[i].run_default;
}

static const char *const status_names[FH_STATUS_COUNT_] = {
	[FH_STATUS_OK] = "ok",
	[FH_STATUS_RUNTIME_ERROR] = "runtime_error",
	[FH_STATUS_COMPILE_ERROR] = "compile_error",
	[FH_STATUS_CPU_TIME_LIMIT] = "cpu_time_limit",
	[FH_STATUS_WALL_TIME_LIMIT] = "wall_time_limit",
	[FH_STATUS_MEMORY_LIMIT] = "memory_limit",
	[FH_STATUS_OUTPUT_LIMIT] = "output_limit",
	[FH_STATUS_DISK_LIMIT] = "disk_limit",
	[FH_STATUS_PROCESS_LIMIT] = "process_limit",
	[FH_STATUS_BLOCKED] = "blocked",
	[FH_STATUS_ENGINE_ERROR] = "engine_error",
};

static const char *const enforced_names[FH_ENFORCED_COUNT_] = {
	[FH_ENFORCED_NONE] = "none",
	[FH_ENFORCED_BOUNDED] = "bounded",
	[FH_ENFORCED_EXACT] = "exact",
};

static const char *const start_names[FH_START_COUNT_] = {
	[FH_START_AUTO] = "auto",
	[FH_START_FRESH] = "fresh",
	[FH_START_ZYGOTE] = "zygote",
	[FH_START_PARKED] = "parked",
};

static const char *const layer_names[FH_LAYER_COUNT_] = {
	[FH_LAYER_USER] = "user",
	[FH_LAYER_PID] = "pid",
	[FH_LAYER_MOUNT] = "mount",
	[FH_LAYER_NETWORK] = "network",
	[FH_LAYER_IPC] = "ipc",
	[FH_LAYER_UTS] = "uts",
	[FH_LAYER_CGROUP] = "cgroup",
	[FH_LAYER_NO_NEW_PRIVS] = "no_new_privs",
	[FH_LAYER_CAPABILITIES] = "capabilities",
	[FH_LAYER_SECCOMP] = "seccomp",
	[FH_LAYER_LANDLOCK] = "landlock",
	[FH_LAYER_PROC] = "proc",
	[FH_LAYER_INODES] = "inodes",
};

static const char *const descriptor_kind_names[FH_DESCRIPTOR_KIND_COUNT_] = {
	[FH_DESCRIPTOR_IN] = "in",
	[FH_DESCRIPTOR_OUT] = "out",
	[FH_DESCRIPTOR_DRIVER] = "driver",
};

/* The name for a number from a peer, which may be newer and use numbers outside our tables. */
static const char *name_in(const char *const *names, unsigned count, unsigned value)
{
	return value < count && names[value] ? names[value] : "unknown";
}

const char *fh_status_name(enum fh_status s)
{
	return name_in(status_names, FH_STATUS_COUNT_, s);
}

const char *fh_enforced_name(enum fh_enforced e)
{
	return name_in(enforced_names, FH_ENFORCED_COUNT_, e);
}

const char *fh_layer_name(enum fh_layer l)
{
	return name_in(layer_names, FH_LAYER_COUNT_, l);
}

const char *fh_descriptor_kind_name(enum fh_descriptor_kind k)
{
	return name_in(descriptor_kind_names, FH_DESCRIPTOR_KIND_COUNT_, k);
}

const char *fh_start_name(enum fh_start s)
{
	return name_in(start_names, FH_START_COUNT_, s);
}

const char *fh_version(void)
{
	return FH_VERSION;
}
