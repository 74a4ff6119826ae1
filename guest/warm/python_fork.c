/* SPDX-License-Identifier: MIT */
/*
 * What Python has to do in a forked program before it can serve a run: repair its own state after the fork, and call
 * the functions that modules registered for that (os.register_at_fork).
 *
 * A zygote that imported threading and random, as numpy does, has two such functions. They are written in Python and
 * cause half of all page copies of a short program. Since their purpose is known, it is achieved here more cheaply, and
 * they are removed from the interpreter's list while programs are forked:
 *   - threading._after_fork finds the one thread that is left, and replaces locks that other threads held.
 *     A zygote has only this thread, and holds no lock.
 *   - random.seed gives the module's generator a new seed. The method of its base class is called for that.
 * In the program, the list is complete again for its own forks.
 *
 * No function returns this internal list, but the garbage collector tracks it: it is the list that refers to a function
 * just registered.
 */
#include "python.h"

static struct {
	/* list: the interpreter's; all: its full content; NULL: not found, so the interpreter calls everything itself */
	fh_py *list, *all;
	fh_py *generator, *seed; /* random._inst, and the seed method of its base class */
	fh_py *main_thread;
	fh_py *numpy_seed;
} at_fork;

/* The function that is registered to find the list. If the list is not found, it stays registered. */
static fh_py *do_nothing(fh_py *self, fh_py *unused)
{
	(void)self, (void)unused;
	return PY.call_format(PY.bool_type, NULL);
}

static struct {
	const char *name;
	fh_py *(*function)(fh_py *, fh_py *);
	int flags;
	const char *doc;
} marker_definition = { "fumehood", do_nothing, 4 /* METH_NOARGS */, NULL };

static void release(fh_py *o)
{
	if (o)
		PY.decref(o);
}

static fh_py *module(const char *name)
{
	return PY.dict_item(PY.sys_get("modules"), name);
}

static fh_py *module_get(const char *name, const char *attribute)
{
	fh_py *m = module(name), *o = m ? PY.get(m, attribute) : NULL;
	PY.error_clear();
	return o;
}

static bool is_list_ending_with(fh_py *o, fh_py *last)
{
	ssize_t n = fh_python_type(o) == PY.list_type ? PY.list_size(o) : 0;
	return n > 0 && PY.list_item(o, n - 1) == last;
}

static void find_list(fh_py *gc)
{
	fh_py *marker = PY.function(&marker_definition, NULL, NULL), *words = PY.dict_new(), *none = PY.tuple_new(0);
	fh_py *add = module_get("posix", "register_at_fork"), *look = PY.get(gc, "get_referrers"), *found = NULL;
	fh_py *done = marker && words && none && add && PY.dict_set(words, "after_in_child", marker) == 0
	                  ? PY.call_words(add, none, words)
	                  : NULL;
	if (done && look)
		found = PY.call_format(look, "(O)", marker);
	for (ssize_t i = 0; found && i < PY.list_size(found); i++)
		if (is_list_ending_with(PY.list_item(found, i), marker))
			at_fork.list = PY.list_item(found, i);
	if (at_fork.list)
		(void)PY.list_slice(at_fork.list, PY.list_size(at_fork.list) - 1, PY.list_size(at_fork.list), NULL);
	fh_py *const held[] = { marker, words, none, add, look, found, done };
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		release(held[i]);
	PY.error_clear();
}

static bool is_of_threading(fh_py *hook)
{
	fh_py *its = module_get("threading", "_after_fork"), *active = module_get("threading", "_active");
	bool is = hook == its && active && PY.dict_size(active) == 1;
	if (is) {
		release(at_fork.main_thread);
		at_fork.main_thread = module_get("threading", "_main_thread");
	}
	release(its);
	release(active);
	return is && at_fork.main_thread;
}

static bool is_of_random(fh_py *hook)
{
	fh_py *generator = module_get("random", "_inst"), *type = module_get("random", "Random");
	fh_py *base = module_get("_random", "Random"), *its = generator ? PY.get(generator, "seed") : NULL;
	bool is = its && base && type && fh_python_type(generator) == type && PY.equal(hook, its, 2 /* Py_EQ */) == 1;
	if (is) {
		release(at_fork.generator);
		release(at_fork.seed);
		at_fork.generator = generator;
		generator = NULL;
		at_fork.seed = PY.get(base, "seed");
	}
	fh_py *const held[] = { generator, type, base, its };
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		release(held[i]);
	PY.error_clear();
	return is && at_fork.seed;
}

void fh_python_fork_ready(fh_py *gc)
{
	fh_py *rest = PY.list_new(0), *all = PY.list_new(0);
	release(at_fork.numpy_seed);
	at_fork.numpy_seed = module_get("numpy.random", "seed");
	if (!at_fork.list && gc)
		find_list(gc);
	for (ssize_t i = 0; at_fork.list && rest && all && i < PY.list_size(at_fork.list); i++) {
		fh_py *hook = PY.list_item(at_fork.list, i);
		(void)PY.list_append(all, hook);
		if (!is_of_threading(hook) && !is_of_random(hook))
			(void)PY.list_append(rest, hook);
	}
	if (at_fork.list && rest && all) {
		release(at_fork.all);
		at_fork.all = all;
		(void)PY.list_slice(at_fork.list, 0, PY.list_size(at_fork.list), rest);
	}
	release(rest);
	PY.error_clear();
}

static void call(fh_py *function, fh_py *argument)
{
	fh_py *done = argument ? PY.call_format(function, "(O)", argument) : PY.call(function, NULL);
	if (!done)
		PY.error_clear();
	release(done);
}

/* Repairs Python's state in a forked program. numpy registers no fork handler, so its generator is given a new seed
 * here. */
void fh_python_forked(void)
{
	PY.after_fork_child();
	if (at_fork.all)
		(void)PY.list_slice(at_fork.list, 0, PY.list_size(at_fork.list), at_fork.all);
	if (at_fork.all && at_fork.seed) {
		call(at_fork.seed, at_fork.generator);
		(void)PY.set(at_fork.generator, "gauss_next", PY.none);
	}
	if (at_fork.all && at_fork.main_thread) {
		fh_py *id = PY.from_long(fh_sys(__NR_gettid));
		(void)PY.set(at_fork.main_thread, "_native_id", id);
		release(id);
	}
	if (at_fork.numpy_seed)
		call(at_fork.numpy_seed, NULL);
	PY.error_clear();
}
