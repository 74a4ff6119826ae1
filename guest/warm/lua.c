/* SPDX-License-Identifier: MIT */
/*
 * Lua 5.1 to 5.4 and LuaJIT. The state that lua.c creates cannot be reached from outside, so the zygote waits inside
 * Lua code: lua.c runs LUA_INIT once all libraries are open, and that code opens POINT. In the child, this gives a file
 * with the seeds and the arguments.
 */
#include "warm.h"

#include "selftest.h"

#define POINT "/fumehood/warm"
enum { TEXT_MAX = 512 * 1024, DIGITS_MAX = 24 };

/* Before 5.4, math.random starts from the same number in every process; this is kept. */
static char init[] = "LUA_INIT=collectgarbage() local f = io.open('" POINT "') "
                     "local a, b, n = f:read('*n', '*n', '*n') "
                     "for i = 1, n do local size = f:read('*n') f:read(1) arg[i] = f:read(size) end f:close() "
                     "if tonumber(_VERSION:match('%d+%.%d+')) >= 5.4 then math.randomseed(a, b) end";

static bool load(char *why)
{
	for (uint32_t i = 0; i < fh_warm_start.env_count; i++)
		if (fh_text_begins(fh_warm_start.env[i], "LUA_INIT")) {
			fh_text_set(why, FH_ZYGOTE_WHY_MAX, "LUA_INIT is set, which is what the zygote waits in");
			return false;
		}
	return true;
}

static void add_number(char *text, size_t *size, uint64_t n)
{
	char digits[DIGITS_MAX] = "";
	fh_text_add_number(digits, sizeof(digits), n);
	memcpy(text + *size, digits, strlen(digits));
	*size += strlen(digits);
	text[(*size)++] = '\n';
}

static int source(const struct fh_warm_run *run)
{
	static char text[TEXT_MAX];
	const struct fh_warm_start *s = &fh_warm_start;
	uint32_t main = 0;
	size_t size = 0;
	while (main < s->argc && !fh_text_equal(s->argv[main], s->file))
		main++;
	add_number(text, &size, fh_random() >> 1); /* shifted because Lua's integers are signed */
	add_number(text, &size, fh_random() >> 1);
	add_number(text, &size, run->argc - main - 1);
	for (uint32_t i = main + 1; i < run->argc; i++) {
		size_t n = strlen(run->argv[i]);
		if (size + n + 2 * DIGITS_MAX > sizeof(text))
			return -1; /* cannot happen, because the text of a RUN is smaller */
		add_number(text, &size, n);
		memcpy(text + size, run->argv[i], n);
		size += n;
		text[size++] = '\n';
	}
	return fh_memory_file("run", text, size);
}

static const char *const settings[] = { "LUA_", NULL };

const struct fh_warm_interpreter fh_warm_lua = {
	.name = "lua",
	.symbol = "luaL_openlibs",
	.calls = FH_CALL_FOPEN,
	.point = POINT,
	.variable = init,
	.self_test = fh_selftest_lua,
	.self_test_size = &fh_selftest_lua_size,
	.settings = settings,
	.load = load,
	.environment = fh_warm_live_environment,
	.arguments = fh_warm_live_arguments,
	.source = source,
};
