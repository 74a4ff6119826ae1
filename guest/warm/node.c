/* SPDX-License-Identifier: MIT */
/*
 * Node 18 to 24, stock, without an addon.
 *
 * `--single-threaded --v8-pool-size=0 -r /dev/null` is put in front of its arguments (through __libc_start_main, so
 * that no file and no variable is needed). In the zygote, opening /dev/null returns node.js of this folder, which `-r`
 * then loads. That script loads the parts of Node that nearly every program uses, and then opens POINT, the warm point.
 * In the child, this open returns the run as JSON, from which the script sets process.argv, pid and so on as in a fresh
 * start. The worker threads of a run load `-r` too, and get the real /dev/null, an empty module.
 *
 * The pipes, eventfds and epoll sets of libuv's loops (the main one, V8's delayed tasks, tracing) are replaced by new
 * ones in each program, under the same numbers and watching the same descriptors (descriptors.c). So no thread of the
 * zygote serves what a program holds. For the threads that a fork loses see below.
 */
#include "warm.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "selftest.h"

#define POINT "/fumehood/warm"
#define BEGUN "/fumehood/begun"
#define PIPE "/fumehood/pipe"
#define LEAVE "/fumehood/leave/"
enum { ADDED = 5, THREADS_MAX = 16, JSON_MAX = 512 * 1024 };

static bool is_node, forked, script_begun;

/* ------------------------------------------------------------------------------------------------------ arguments */

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
FH_EXPORT int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                                void (*rtld_fini)(void), void *stack_end);

/* musl does not pass the last parameters; their undefined values are passed on and never used. */
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
	static char *more[FH_WARM_ARGV_MAX + ADDED + 1];
	static char options[ADDED][32] = { "--single-threaded", "--v8-pool-size=0", "--no-wasm-async-compilation", "-r",
		                               "/dev/null" };
	start_fn *real = (start_fn *)fh_next("__libc_start_main");
	if (!real)
		fh_sys(__NR_exit_group, 127);
	is_node = fh_warm_waiting && fh_symbol(fh_warm_node.symbol);
	if (!is_node || argc < 1 || argc > FH_WARM_ARGV_MAX)
		return real(main, argc, argv, init, fini, rtld_fini, stack_end);
	more[0] = argv[0];
	for (int i = 0; i < ADDED; i++)
		more[1 + i] = options[i];
	for (int i = 1; i < argc; i++)
		more[ADDED + i] = argv[i];
	return real(main, argc + ADDED, more, init, fini, rtld_fini, stack_end);
}

/* ------------------------------------------------------------------------------------------------------- threads */

/*
 * The zygote's helper threads are those for V8's delayed tasks, V8's one worker and the inspector. All are idle, each
 * waiting on a condition or in its own event loop. A child has none of them, so
 *   - what they waited on is initialized again in the child; otherwise each would be counted as a waiter for ever;
 *   - joining one of them returns at once;
 *   - the worker is started again when the main thread is about to wait, since some of V8's work (WebAssembly) goes to
 *     it even with --single-threaded. Node passes it a struct of its queue and three pointers to variables on the stack
 *     of the starting function: a mutex, a condition and a count, by which the thread reports that it runs.
 */
enum { WORKER_WORDS = 8, OBJECT_SIZE = 64 };

static struct lost {
	unsigned long id;
	void *(*run)(void *);
	uintptr_t argument[WORKER_WORDS];
	bool worker;
} lost[THREADS_MAX];
static unsigned lost_count;
static struct {
	void *condition, *mutex;
} waited[THREADS_MAX];
static unsigned waited_count;

typedef int create_fn(unsigned long *, const void *, void *(*)(void *), void *);
typedef int join_fn(unsigned long, void **);
typedef int wait_fn(void *, void *);
typedef int init_fn(void *, const void *);
typedef int clock_fn(void *, int);
typedef int madvise_fn(void *, size_t, int);
FH_EXPORT int pthread_create(unsigned long *thread, const void *attributes, void *(*run)(void *), void *argument);
FH_EXPORT int pthread_join(unsigned long thread, void **ret);
FH_EXPORT int pthread_cond_wait(void *condition, void *mutex);
FH_EXPORT int madvise(void *address, size_t size, int advice);

static create_fn *real_create;

static bool on_stack(uintptr_t p)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return p > here && p - here < 1 << 20;
}

int pthread_create(unsigned long *thread, const void *attributes, void *(*run)(void *), void *argument)
{
	struct lost note = { .run = run };
	if (!real_create)
		real_create = (create_fn *)fh_next("pthread_create");
	bool noted = is_node && !forked && lost_count < THREADS_MAX;
	/* copied before the thread runs, since it may free its argument */
	if (noted && argument && !on_stack((uintptr_t)argument)) {
		memcpy(note.argument, argument, 5 * sizeof(uintptr_t));
		note.worker = on_stack(note.argument[1]) && on_stack(note.argument[2]) && on_stack(note.argument[3]);
	}
	int r = real_create ? real_create(thread, attributes, run, argument) : 38 /* ENOSYS */;
	if (r == 0 && noted) {
		note.id = *thread;
		lost[lost_count++] = note;
	}
	return r;
}

int pthread_join(unsigned long thread, void **ret)
{
	static join_fn *real;
	if (!real)
		real = (join_fn *)fh_next("pthread_join");
	for (unsigned i = 0; forked && i < lost_count; i++)
		if (lost[i].id == thread) {
			lost[i].id = 0;
			return 0;
		}
	return real ? real(thread, ret) : 38;
}

static void start_workers(void)
{
	static _Alignas(16) char mutex[OBJECT_SIZE], condition[OBJECT_SIZE];
	static int count[16];
	void *(*allocate)(size_t) = (void *(*)(size_t))fh_symbol("malloc");
	for (unsigned i = 0; i < lost_count; i++) {
		unsigned long id;
		uintptr_t *argument = lost[i].worker && allocate ? allocate(sizeof(lost[i].argument)) : NULL;
		if (!argument)
			continue;
		lost[i].worker = false;
		memcpy(argument, lost[i].argument, sizeof(lost[i].argument));
		argument[1] = (uintptr_t)mutex;
		argument[2] = (uintptr_t)condition;
		argument[3] = (uintptr_t)count;
		(void)real_create(&id, NULL, lost[i].run, argument);
	}
}

int pthread_cond_wait(void *condition, void *mutex)
{
	static wait_fn *real;
	if (!real)
		real = (wait_fn *)fh_next("pthread_cond_wait");
	if (is_node && fh_sys(__NR_gettid) != fh_sys(__NR_getpid)) {
		unsigned n = forked ? THREADS_MAX : __atomic_fetch_add(&waited_count, 1, __ATOMIC_SEQ_CST);
		if (n < THREADS_MAX) {
			waited[n].condition = condition;
			waited[n].mutex = mutex;
		}
	} else if (forked) {
		start_workers();
	}
	return real ? real(condition, mutex) : 38;
}

/* libuv uses plain mutexes, and conditions with the monotonic clock. */
static void renew_waited(void)
{
	_Alignas(16) char attributes[OBJECT_SIZE];
	init_fn *condition = (init_fn *)fh_symbol("pthread_cond_init"), *mutex = (init_fn *)fh_symbol("pthread_mutex_init");
	int (*prepare)(void *) = (int (*)(void *))fh_symbol("pthread_condattr_init");
	clock_fn *clock = (clock_fn *)fh_symbol("pthread_condattr_setclock");
	if (!condition || !mutex || !prepare || !clock || prepare(attributes) || clock(attributes, 1 /* MONOTONIC */))
		return;
	for (unsigned i = 0; i < waited_count && i < THREADS_MAX; i++) {
		(void)condition(waited[i].condition, attributes);
		(void)mutex(waited[i].mutex, NULL);
	}
}

/* V8 marks its memory MADV_DONTFORK; in the zygote that must not take effect. */
int madvise(void *address, size_t size, int advice)
{
	static madvise_fn *real;
	if (is_node && !forked && advice == MADV_DONTFORK)
		return 0;
	if (!real)
		real = (madvise_fn *)fh_next("madvise");
	return real ? real(address, size, advice) : (int)fh_sys(__NR_madvise, address, size, advice);
}

/* ----------------------------------------------------------------------------------------------- calls of node.js */

/* Gives node.js a pipe to load its pipe code with: the write end, and at the next call the read end. */
static int next_pipe_end(void)
{
	static int reader = -1;
	int ends[2] = { reader, -1 };
	reader = -1;
	if (ends[0] >= 0 || fh_sys(__NR_pipe2, ends, O_CLOEXEC) < 0)
		return ends[0];
	reader = ends[0];
	return ends[1];
}

/* Before the warm point: the script for -r, and a pipe. In a run: node.js opens LEAVE to end the process. */
static int substitute(const char *path)
{
	if (fh_warm_waiting && !script_begun && fh_text_equal(path, "/dev/null"))
		return fh_memory_file("warm", fh_node_script, fh_node_script_size);
	if (fh_warm_waiting && fh_text_equal(path, BEGUN)) {
		script_begun = true; /* libuv also opens /dev/null, as a reserve descriptor, and gets the real one */
		return (int)fh_sys(__NR_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
	}
	if (fh_warm_waiting && fh_text_equal(path, PIPE))
		return next_pipe_end();
	if (forked && fh_text_begins(path, LEAVE)) {
		int code = 0;
		for (const char *p = path + sizeof(LEAVE) - 1; *p >= '0' && *p <= '9'; p++)
			code = code * 10 + *p - '0';
		fh_sys(__NR_exit_group, code & 0xff);
	}
	return -1;
}

/* ------------------------------------------------------------------------------------------------------- the run */

static char json[JSON_MAX];
static size_t json_size;
static bool json_full;

static void put(const char *s, size_t n)
{
	if (json_size + n > sizeof(json)) {
		json_full = true;
		return;
	}
	memcpy(json + json_size, s, n);
	json_size += n;
}

static void put_text(const char *s)
{
	put(s, strlen(s));
}

/* Bytes above 127 are not escaped: Node decodes its arguments as UTF-8 too. */
static void put_string(const char *s)
{
	static const char hex[] = "0123456789abcdef";
	put("\"", 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
			char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
			put(escape, 6);
		} else {
			put(s, 1);
		}
	}
	put("\"", 1);
}

static void put_list(char *const *items, uint32_t count)
{
	put("[", 1);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			put(",", 1);
		put_string(items[i]);
	}
	put("]", 1);
}

static int source(const struct fh_warm_run *run)
{
	const struct fh_warm_start *s = &fh_warm_start;
	uint32_t main = 0;
	while (main < s->argc && !fh_text_equal(s->argv[main], s->file))
		main++;
	json_size = 0;
	put_text("{\"flags\":");
	put_list(run->argv + 1, main ? main - 1 : 0);
	put_text(",\"args\":");
	put_list(run->argv + main + 1, run->argc > main ? run->argc - main - 1 : 0);
	/* V8's seed for Math.random, from the kernel: a positive number of 31 bits, not 0 */
	uint64_t seed = fh_random();
	char digits[16] = "";
	fh_text_add_number(digits, sizeof(digits), (seed & 0x7fffffff) | 1);
	put_text(",\"seed\":");
	put_text(digits);
	put_text(",\"test\":");
	if (run->self_test)
		put_string(run->main);
	else
		put_text("null");
	put_text("}");
	return json_full ? -1 : fh_memory_file("run", json, json_size);
}

static struct {
	void *(*default_loop)(void);
	void (*update_time)(void *);
} uv;

static const struct fh_symbol_wanted wanted[] = {
	{ "uv_default_loop", &uv.default_loop },
	{ "uv_update_time", &uv.update_time },
};

static bool load(char *why)
{
	return fh_symbols(wanted, sizeof(wanted) / sizeof(wanted[0]), why);
}

static void child(void)
{
	forked = true;
	renew_waited();
}

/* Whether the folder, or one above it, has a package.json. */
static bool has_package(const char *folder)
{
	for (size_t n = strlen(folder);; n--)
		if (n == 0 || folder[n] == '/' || folder[n] == '\0') {
			if (fh_warm_is_there(folder, n, "package.json"))
				return true;
			if (n == 0)
				return false;
		}
}

static bool begin(const struct fh_warm_run *run, char *why)
{
	/* Node looked for a package.json before the fork, to load -r, and keeps the answer */
	if (!run->self_test && (has_package(run->cwd) || has_package(fh_warm_start.path))) {
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "there is a package.json, for which Node looks before the fork");
		return false;
	}
	uv.update_time(uv.default_loop()); /* libuv still has the zygote's time, which would make every timer late */
	return true;
}

static const char *const settings[] = { "NODE_", "UV_", "HOME=", NULL };

const struct fh_warm_interpreter fh_warm_node = {
	.name = "javascript",
	.symbol = "node_module_register",
	.calls = FH_CALL_OPEN,
	.point = POINT,
	.self_test = fh_selftest_node,
	.self_test_size = &fh_selftest_node_size,
	.settings = settings,
	.threads = 4,
	.renews = true,
	.load = load,
	.child = child,
	.environment = fh_warm_live_environment,
	.arguments = fh_warm_live_arguments,
	.begin = begin,
	.substitute = substitute,
	.source = source,
};
