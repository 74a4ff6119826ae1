/* SPDX-License-Identifier: MIT */
#include "soak.h"

#include <stdio.h>

#define ENDS(status) (1u << FH_STATUS_##status)
#define FED 200000

const struct kind kinds[] = {
	{ "echo", false, NULL, "echo hello", { { 0 } }, ENDS(OK), "hello\n" },
	{ "exit", false, NULL, "echo no; exit 3", { { 0 } }, ENDS(RUNTIME_ERROR), "no\n" },
	{ "signal", false, NULL, "kill -SEGV $$", { { 0 } }, ENDS(RUNTIME_ERROR), "" },
	{ "stdin", false, NULL, "wc -c", { { 0 } }, ENDS(OK), "200000\n", FED },
	{ "output", false, NULL, "head -c 700000 /dev/zero", { { 0 } }, ENDS(OK), NULL, 0, 700000 },
	{ "file", false, NULL, "echo result > answer", { { 0 } }, ENDS(OK), "", .out = "answer" },
	{ "python", false, "python", "print(6 * 7)", { { 0 } }, ENDS(OK), "42\n" },
	{ "assert", false, "python", "print('wrong')\nassert 6 * 7 == 41", { { 0 } }, ENDS(RUNTIME_ERROR), "wrong\n" },

	{ "forks",
	  true,
	  NULL,
	  "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 9 & done; kill 0",
	  { { FH_LIMIT_PROCESSES, 6 } },
	  ENDS(PROCESS_LIMIT) | ENDS(RUNTIME_ERROR) },
	{ "memory", true, NULL, "exec tail /dev/zero", { { FH_LIMIT_MEMORY, 24 << 20 } }, ENDS(MEMORY_LIMIT) },
	{ "flood",
	  true,
	  NULL,
	  "while :; do echo word; done",
	  { { FH_LIMIT_OUTPUT, 65536 } },
	  ENDS(OUTPUT_LIMIT),
	  NULL,
	  0,
	  65536 },
	{ "daemons",
	  true,
	  NULL,
	  "for i in 1 2 3; do setsid sleep 1000 >/dev/null 2>&1 & done; echo gone",
	  { { 0 } },
	  ENDS(OK),
	  "gone\n" },
	{ "disk",
	  true,
	  NULL,
	  "head -c 9000000 /dev/zero > file",
	  { { FH_LIMIT_DISK, 1 << 20 } },
	  ENDS(DISK_LIMIT) | ENDS(RUNTIME_ERROR),
	  "" },
	{ "sleep", true, NULL, "sleep 1000", { { FH_LIMIT_WALL_TIME, 150 } }, ENDS(WALL_TIME_LIMIT), "" },
	{ "spin", true, NULL, "while :; do :; done", { { FH_LIMIT_CPU_TIME, 60 } }, ENDS(CPU_TIME_LIMIT), "" },
	{ "stopped",
	  true,
	  NULL,
	  "trap '' TERM INT HUP; kill -STOP $$; kill -STOP 0",
	  { { FH_LIMIT_WALL_TIME, 150 } },
	  ENDS(WALL_TIME_LIMIT),
	  "" },
	{ "link", true, NULL, "ln -s /etc/passwd answer", { { 0 } }, ENDS(OK), "", .out = "answer", .refused = true },
	{ "fifo", true, NULL, "mkfifo answer", { { 0 } }, ENDS(OK), "", .out = "answer", .refused = true },
};
const size_t kind_count = FH_ARRAY_SIZE(kinds);

struct fh_plan **kinds_plan(enum fh_start start)
{
	static char fed[FED];
	struct fh_plan **plans = fh_xcalloc(kind_count, sizeof(struct fh_plan *));
	for (size_t i = 0; i < kind_count; i++) {
		const struct kind *k = &kinds[i];
		const char *argv[] = { "sh", "-c", k->script, NULL }, *outs[] = { k->out, NULL };
		struct fh_error err = FH_ERROR_INIT;
		struct fh_request r;
		fh_request_init(&r);
		r.language = k->language;
		r.argv = k->language ? NULL : argv;
		r.start =
		    k->language || start == FH_START_FRESH ? start : FH_START_AUTO; /* only an interpreter can be forked warm */
		if (k->language)
			r.code = (struct fh_bytes){ k->script, strlen(k->script) };
		r.outs = outs;
		r.out_count = k->out != NULL;
		r.stdin_data = (struct fh_bytes){ fed, k->fed };
		for (size_t l = 0; l < FH_ARRAY_SIZE(k->limits) && k->limits[l].value; l++)
			r.limits.value[k->limits[l].limit] = k->limits[l].value;
		if (fh_plan_build(&r, &plans[i], &err) < 0) {
			fprintf(stderr, "soak: cannot plan %s: %s\n", k->name, err.message);
			exit(2);
		}
	}
	return plans;
}

bool kind_is_as_expected(const struct kind *k, const struct ending *e)
{
	return e->answered && (k->expected & 1u << e->status) && e->said && e->brought;
}

bool kind_is_betrayed(const struct kind *k, const struct ending *e)
{
	if (!e->answered || e->status != FH_STATUS_OK)
		return false;
	return !(k->expected & 1u << FH_STATUS_OK) || !e->said || (k->refused && !e->brought);
}
