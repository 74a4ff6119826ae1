/* SPDX-License-Identifier: MIT */
/*
 * Runs the main file as CPython's own pymain_run_file does, and ends the process early where that cannot be noticed
 * (the *short end*).
 *
 * Finalization destroys every module and every object of an interpreter. In a forked child this copies nearly every
 * page of the zygote, only to discard it. A program can notice these parts of it: its threads are joined, its atexit
 * functions run, the standard streams are flushed (exit status 120 if that fails), and destructors of its objects run.
 * So Py_FinalizeEx is called as usual, and the last of the atexit functions is ours (it was registered first). It
 * examines every object that the program has made. If none has a destructor with a noticeable effect, and only one
 * thread is left, the rest cannot be noticed either: the streams are flushed and the process exits. Otherwise the
 * function returns, and finalization continues normally.
 *
 * The program's objects are those that the garbage collector tracks, because the zygote's own were frozen before the
 * fork (gc.freeze). An object is *quiet* if its type has neither tp_finalize (PEP 442: __del__, generators, files) nor
 * tp_del. Objects of C extensions can have effects when freed that show in no slot, so only C modules of the list below
 * may have been loaded.
 */
#include "python.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>

/* Offsets in a PyTypeObject of CPython 3.8 to 3.13 on 64-bit machines, counted in pointers; layout_is_known() checks
 * them. */
enum { TYPE_NAME = 3, TYPE_FLAGS = 21, TYPE_BASE = 32, TYPE_DEL = 47, TYPE_FINALIZE = 49, WEAKREF_CALLBACK = 3 };
enum { FLAG_COLLECTED = 1 << 14, EXIT_UNFLUSHED = 120, FILE_INPUT = 257 };

/* File types, whose finalizer does nothing once the file is closed; the first two are always closed. */
static const char *const file_names[] = { "StringIO",       "BytesIO",        "FileIO",        "TextIOWrapper",
	                                      "BufferedReader", "BufferedWriter", "BufferedRandom" };
enum { FILE_TYPES = sizeof(file_names) / sizeof(file_names[0]), ALWAYS_CLOSED = 2 };

static struct {
	bool possible; /* the hook is registered, and this interpreter's objects have the known layout */
	bool known;    /* the program has ended, with this exit code */
	int code;
	fh_py *get_objects, *unfreeze, *get_debug, *callbacks, *freeze_count; /* functions and members of the module gc */
	long frozen; /* number of frozen objects when the zygote was ready */
	fh_py *file_types[FILE_TYPES];
	ssize_t modules;    /* number of modules that the zygote had */
	fh_py *loader_type; /* importlib's SourceFileLoader */
	long magic;         /* magic number of compiled files */
	int minor;          /* minor version of Python 3 */
} end;

/* C modules of the standard library whose objects do nothing but free memory when they are destroyed; and two
 * packages. */
static const char *const harmless[] = {
	"math",
	"cmath",
	"_struct",
	"_random",
	"_bisect",
	"_heapq",
	"_datetime",
	"_json",
	"_decimal",
	"array",
	"itertools",
	"_collections",
	"_functools",
	"_operator",
	"_string",
	"_sre",
	"_statistics",
	"_pickle",
	"unicodedata",
	"zlib",
	"binascii",
	"_hashlib",
	"_md5",
	"_sha1",
	"_sha2",
	"_sha256",
	"_sha512",
	"_sha3",
	"_blake2",
	"_csv",
	"time",
	"errno",
	"_stat",
	"_typing",
	"_opcode",
	"_contextvars",
	"_weakref",
	"_abc",
	"_locale",
	"_io",
	"posix",
	"_thread",
	"_codecs",
	"_signal",
	"marshal",
	"_imp",
	"_ast",
	"gc",
	"atexit",
	"_symtable",
	"_queue",
	"_bz2",
	"_lzma",
	"_zoneinfo",
	"_uuid",
	"grp",
	"pwd",
	"resource",
	"fcntl",
	"select",
	"_posixsubprocess",
	"_warnings",
	"builtins",
	"sys",
	"_tokenize",
	"_suggestions",
	"_sysconfig",
	"_crypt",
	"_elementtree",
	"pyexpat",
	"_tracemalloc",
	"mmap",
	"typing.io", /* not a module but a class in sys.modules */
	"typing.re",
	"six.moves",
	"_cyutility",
	"cython_runtime",
	NULL,
};
/* Modules that numpy imports as well. A program that imports ctypes itself can call any function, even those that act
 * when the interpreter ends. */
static const char *const harmless_if_preloaded[] = { "_ctypes", NULL };
static const char *const harmless_packages[] = { "numpy.", "pandas.", "_cython_", NULL };

static void *slot(fh_py *type, int at)
{
	return ((void **)type)[at];
}

static const char *type_name(fh_py *type)
{
	return slot(type, TYPE_NAME);
}

static bool layout_is_known(void)
{
	/* builds in which objects have other fields: Py_TRACE_REFS, and builds without a GIL */
	if (fh_symbol("_Py_NewReference_trace") || fh_symbol("_Py_GetRefTotal") || fh_symbol("_Py_MergeZeroLocalRefcount"))
		return false;
	return sizeof(void *) == 8 && fh_python_type(PY.none) && fh_python_type(PY.list_type) == PY.type_type &&
	       fh_text_equal(type_name(PY.generator_type), "generator") && slot(PY.generator_type, TYPE_FINALIZE) &&
	       fh_text_equal(type_name(PY.list_type), "list") && !slot(PY.list_type, TYPE_FINALIZE) &&
	       !slot(PY.list_type, TYPE_DEL) && (uintptr_t)slot(PY.list_type, TYPE_FLAGS) & FLAG_COLLECTED;
}

/* ------------------------------------------------------------------------------------------------- what can be seen */

/* Whether an attribute is None (with `is_true`: is true). False on an error. */
static bool attribute_is(fh_py *o, const char *name, bool is_true)
{
	fh_py *v = PY.get(o, name);
	bool yes = v && (is_true ? PY.is_true(v) == 1 : v == PY.none);
	if (v)
		PY.decref(v);
	PY.error_clear();
	return yes;
}

/* Whether an object whose type has a finalizer is finished, so that the finalizer does nothing. */
static bool is_finished(fh_py *o, fh_py *type)
{
	if (type == PY.generator_type)
		return attribute_is(o, "gi_frame", false);
	if (type == PY.coroutine_type)
		return attribute_is(o, "cr_frame", false);
	if (type == PY.async_generator_type)
		return attribute_is(o, "ag_frame", false);
	for (int i = 0; i < FILE_TYPES; i++)
		if (type == end.file_types[i])
			return i < ALWAYS_CLOSED || attribute_is(o, "closed", true);
	return false;
}

static bool name_is(fh_py *o, const char *text)
{
	fh_py *name = PY.get(o, "__name__");
	const char *s = name ? PY.utf8(name) : NULL;
	bool is = s && fh_text_equal(s, text);
	if (name)
		PY.decref(name);
	PY.error_clear();
	return is;
}

/* Whether a weak reference's callback only removes an entry: those of the standard library's weak dictionaries and
 * caches do. The callbacks of abstract classes implemented in C are functions of no module. */
static bool is_tidying(fh_py *callback)
{
	static const char *const modules[] = { "weakref", "_weakrefset", "functools", "abc", "_py_abc", "typing", NULL };
	if (!callback)
		return true;
	if (fh_python_type(callback) == PY.builtin_type)
		return name_is(callback, "_destroy") && attribute_is(callback, "__module__", false);
	if (fh_python_type(callback) != PY.function_type)
		return false;
	fh_py *name = PY.get(callback, "__module__");
	const char *s = name ? PY.utf8(name) : NULL;
	bool known = false;
	for (int i = 0; s && modules[i]; i++)
		known = known || fh_text_equal(s, modules[i]);
	if (name)
		PY.decref(name);
	PY.error_clear();
	return known;
}

static bool is_quiet(fh_py *o)
{
	fh_py *type = fh_python_type(o);
	bool keyed = slot(type, TYPE_BASE) == PY.weakref_type && !slot(type, TYPE_FINALIZE) && !slot(type, TYPE_DEL) &&
	             fh_text_equal(type_name(type), "KeyedRef"); /* weak dictionaries use this type */
	if (type == PY.weakref_type || keyed)
		return is_tidying(((fh_py **)o)[WEAKREF_CALLBACK]);
	if (fh_python_type(type) == PY.type_type && !slot(type, TYPE_FINALIZE) && !slot(type, TYPE_DEL)) {
		if (type != PY.type_type)
			return true;
		/* for a class: its objects are examined themselves, if the collector tracks them */
		return (uintptr_t)slot(o, TYPE_FLAGS) & FLAG_COLLECTED || (!slot(o, TYPE_FINALIZE) && !slot(o, TYPE_DEL));
	}
	if (!slot(type, TYPE_FINALIZE) && !slot(type, TYPE_DEL))
		return true; /* an instance of a metaclass */
	return is_finished(o, type);
}

static bool is_harmless_module(const char *name, bool preloaded)
{
	for (int i = 0; preloaded && harmless_if_preloaded[i]; i++)
		if (fh_text_equal(name, harmless_if_preloaded[i]))
			return true;
	for (int i = 0; harmless[i]; i++)
		if (fh_text_equal(name, harmless[i]))
			return true;
	for (int i = 0; harmless_packages[i]; i++)
		if (fh_text_begins(name, harmless_packages[i]))
			return true;
	return false;
}

/* Whether a module is written in C: it has no file, or its file is a shared object. */
static bool is_c_module(fh_py *module)
{
	fh_py *file = PY.get(module, "__file__");
	const char *s = file ? PY.utf8(file) : NULL;
	size_t n = s ? strlen(s) : 0;
	bool c = !file || (n > 3 && fh_text_equal(s + n - 3, ".so"));
	if (file)
		PY.decref(file);
	PY.error_clear();
	return c;
}

static bool modules_are_harmless(ssize_t first, bool preloaded)
{
	fh_py *modules = PY.sys_get("modules"), *key, *module;
	ssize_t at = 0, index = 0;
	if (!modules || PY.dict_size(modules) < end.modules)
		return false; /* the program removed modules, so new ones can no longer be told by their position */
	while (PY.dict_next(modules, &at, &key, &module)) {
		if (index++ < first)
			continue;
		const char *name = PY.utf8(key);
		if (!name ||
		    (!is_harmless_module(name, preloaded) && !fh_text_equal(name, "__main__") && is_c_module(module))) {
			PY.error_clear();
			return false;
		}
	}
	return true;
}

/* Whether the program froze objects, which hides them from the collector. Counting frozen objects is slow, and only a
 * program that imported gc can have frozen any. */
static bool has_hidden_objects(void)
{
	if (!PY.dict_item(PY.sys_get("modules"), "gc"))
		return false;
	fh_py *count = PY.call(end.freeze_count, NULL);
	bool has = !count || PY.as_long(count) > end.frozen;
	if (count)
		PY.decref(count);
	PY.error_clear();
	return has;
}

/* Whether the collector neither prints debug output nor has callbacks. */
static bool collector_is_silent(void)
{
	fh_py *debug = PY.call(end.get_debug, NULL);
	bool silent = debug && PY.is_true(debug) == 0 && PY.list_size(end.callbacks) == 0;
	if (debug)
		PY.decref(debug);
	PY.error_clear();
	return silent;
}

static bool only_thread(void)
{
	void *interpreter = PY.interpreter_head();
	return interpreter && !PY.interpreter_next(interpreter) && !PY.thread_next(PY.thread_head(interpreter));
}

static bool all_quiet(void)
{
	fh_py *objects = PY.call(end.get_objects, NULL);
	bool quiet = objects != NULL;
	ssize_t n = objects ? PY.list_size(objects) : 0;
	for (ssize_t i = 0; quiet && i < n; i++)
		quiet = is_quiet(PY.list_item(objects, i));
	if (objects && !quiet) /* otherwise the list dies with the process; freeing it would write to all objects again */
		PY.decref(objects);
	return quiet;
}

/* ------------------------------------------------------------------------------------------------------- the end */

/* Flushes a standard stream. On an error, normal finalization follows, which fails in the same way and reports it. */
static bool flushed(const char *name)
{
	fh_py *stream = PY.sys_get(name);
	if (!stream || stream == PY.none || attribute_is(stream, "closed", true))
		return true;
	fh_py *flush = PY.get(stream, "flush"), *done = flush ? PY.call(flush, NULL) : NULL;
	if (!done) {
		PY.error_clear();
		return false;
	}
	return true;
}

/* Called by Py_FinalizeEx as the last of the atexit functions. */
static fh_py *short_end(fh_py *self, fh_py *arguments)
{
	(void)self;
	(void)arguments;
	bool hidden = has_hidden_objects();
	if (end.known && !hidden && only_thread() && modules_are_harmless(end.modules, false) && collector_is_silent() &&
	    all_quiet() && flushed("stdout") && flushed("stderr") && flushed("__stdout__") && flushed("__stderr__")) {
		PY.fflush(NULL); /* flushes output of C code */
		if (fh_warm_at_exit.handler || (fh_warm_at_exit.library && PY.dict_item(PY.sys_get("modules"), "_ctypes")))
			PY.exit(end.code & 0xff);
		fh_sys(__NR_exit_group, end.code & 0xff);
	}
	/* unfreezes the zygote's objects for normal finalization, unless the program has frozen objects of its own */
	fh_py *done = hidden ? NULL : PY.call(end.unfreeze, NULL);
	return done ? done : PY.call_format(PY.bool_type, NULL);
}

static struct {
	const char *name;
	fh_py *(*call)(fh_py *, fh_py *);
	int flags;
	const char *doc;
} short_end_definition = { "short_end", short_end, 4 /* METH_NOARGS */, NULL };

bool fh_python_end_load(void)
{
	fh_py *modules = PY.sys_get("modules");
	bool there = PY.dict_item(modules, "atexit") != NULL;
	fh_py *atexit = PY.import("atexit"), *f = PY.function(&short_end_definition, NULL, NULL);
	fh_py *add = atexit ? PY.get(atexit, "register") : NULL;
	fh_py *done = add && f ? PY.call_format(add, "O", f) : NULL;
	if (!there && atexit)
		PY.dict_delete(modules, "atexit"); /* our reference keeps the module, and the functions registered in it */
	there = PY.dict_item(modules, "gc") != NULL;
	fh_py *gc = PY.import("gc");
	end.get_objects = gc ? PY.get(gc, "get_objects") : NULL;
	end.unfreeze = gc ? PY.get(gc, "unfreeze") : NULL;
	end.get_debug = gc ? PY.get(gc, "get_debug") : NULL;
	end.callbacks = gc ? PY.get(gc, "callbacks") : NULL;
	end.freeze_count = gc ? PY.get(gc, "get_freeze_count") : NULL;
	if (!there && gc)
		PY.dict_delete(modules, "gc");
	fh_py *io = PY.import("_io");
	bool files = io != NULL;
	for (int i = 0; io && i < FILE_TYPES; i++)
		files = (end.file_types[i] = PY.get(io, file_names[i])) && files;
	PY.error_clear();
	bool hooked =
	    done && end.get_objects && end.unfreeze && end.get_debug && end.callbacks && end.freeze_count && files;
	end.possible = hooked && !*PY.inspect && !*PY.interactive && !*PY.verbose && layout_is_known();
	end.modules = PY.dict_size(modules);
	return hooked;
}

static int minor_version(void)
{
	const char *v = PY.version();
	int minor = 0;
	while (*v && *v != '.')
		v++;
	for (v += *v == '.'; *v >= '0' && *v <= '9'; v++)
		minor = minor * 10 + *v - '0';
	return minor;
}

void fh_python_end_ready(void)
{
	if (!modules_are_harmless(end.modules, true))
		end.possible = false; /* a preloaded module is not harmless */
	fh_py *count = PY.call(end.freeze_count, NULL);
	end.frozen = count ? PY.as_long(count) : -1;
	end.modules = PY.dict_size(PY.sys_get("modules"));
	fh_py *machinery = PY.import("_frozen_importlib_external");
	end.loader_type = machinery ? PY.get(machinery, "SourceFileLoader") : NULL;
	end.magic = PY.magic();
	end.minor = minor_version();
	PY.error_clear();
}

/* ------------------------------------------------------------------------------------------------------- the run */

static bool is_compiled(const char *path)
{
	unsigned char head[2] = { 0 };
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : fh_sys(__NR_read, fd, head, 2);
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	return n == 2 && (head[0] | head[1] << 8) == (end.magic & 0xffff);
}

/* Sets in __main__ what set_main_loader and _PyRun_SimpleFileObject set. */
static bool name_main(fh_py *dict, const char *path, bool *ret_named)
{
	fh_py *name = PY.text(path);
	*ret_named = PY.dict_item(dict, "__file__") == NULL;
	if (!name ||
	    (*ret_named && (PY.dict_set(dict, "__file__", name) < 0 || PY.dict_set(dict, "__cached__", PY.none) < 0)))
		return false;
	fh_py *type = end.loader_type, *loader = type ? PY.call_format(type, "sO", "__main__", name) : NULL;
	bool done = loader && PY.dict_set(dict, "__loader__", loader) == 0;
	if (loader)
		PY.decref(loader);
	PY.decref(name);
	return done;
}

static void flush_quietly(void)
{
	static const char *const streams[] = { "stderr", "stdout" };
	fh_py *type, *value, *trace;
	PY.error_fetch(&type, &value, &trace);
	for (int i = 0; i < 2; i++) {
		fh_py *stream = PY.sys_get(streams[i]), *flush = stream ? PY.get(stream, "flush") : NULL;
		fh_py *done = flush ? PY.call(flush, NULL) : NULL;
		if (done)
			PY.decref(done);
		if (flush)
			PY.decref(flush);
		PY.error_clear();
	}
	PY.error_restore(type, value, trace);
}

static bool is_number(fh_py *o)
{
	return fh_python_type(o) == PY.long_type || fh_python_type(o) == PY.bool_type;
}

/* Whether the error is a SystemExit with a number or None; *ret_code: its exit status. For any other, PyErr_Print
 * prints the value and exits; so it does for a number that does not fit a long, about which some versions (3.12)
 * complain. */
static bool plain_exit(int *ret_code)
{
	fh_py *type, *value, *trace, *code;
	PY.error_fetch(&type, &value, &trace);
	/* before 3.12 the error's value may be the argument of sys.exit itself */
	bool bare = !value || value == PY.none || is_number(value);
	code = bare ? value : PY.get(value, "code");
	if (!code)
		PY.error_clear();
	bool plain = bare || (code && (code == PY.none || is_number(code)));
	if (plain) {
		*ret_code = !code || code == PY.none ? 0 : (int)PY.as_long(code);
		plain = !PY.error();
		PY.error_clear();
	}
	if (!bare && code)
		PY.decref(code);
	PY.error_restore(type, value, trace);
	return plain;
}

/* Ends the process as Py_RunMain does. */
static void finish(int code, bool interrupted)
{
	end.code = code;
	end.known = !interrupted;
	if (PY.finalize() < 0)
		code = EXIT_UNFLUSHED;
	if (interrupted) {
		/* the shell must see a death by the signal, as CPython's exit_sigint() ensures */
		struct {
			void (*handler)(int);
			unsigned long flags;
			void (*restorer)(void);
			uint64_t mask;
		} by_default = { 0 };
		fh_sys(__NR_rt_sigaction, SIGINT, &by_default, 0, 8);
		fh_sys(__NR_kill, fh_sys(__NR_getpid), SIGINT);
		code = SIGINT + 128;
	}
	PY.exit(code);
}

void fh_python_run(const char *path, void *file)
{
	/* left to the interpreter: the file could not be opened, or is not source */
	if (!file || !end.possible || is_compiled(path)) {
		if (!fh_python_had_gil)
			PY.save_thread();
		return;
	}
	struct {
		int flags, minor;
	} compiler = { 0, end.minor };
	bool named = false, interrupted = false;
	fh_warm_at_exit = (struct fh_warm_at_exit){ false, false };
	int code = 0;
	/* holds a reference to the module as Python does: a module that is still alive at the end is cleared there */
	fh_py *module = PY.import("__main__"), *dict = PY.module_dict(module), *done = NULL;
	if (PY.pending_calls() < 0 || !name_main(dict, path, &named)) {
		PY.error_print();
		finish(1, false);
	}
	done = PY.run_file(file, path, FILE_INPUT, dict, dict, 1, &compiler);
	flush_quietly();
	if (!done) {
		interrupted = PY.error_is(*PY.keyboard_interrupt);
		if (PY.error_is(*PY.system_exit) && plain_exit(&code)) {
			PY.fflush(NULL);
			PY.error_clear();
			finish(code, false);
		}
		PY.error_print();
		code = 1;
	}
	if (done)
		PY.decref(done);
	if (named) {
		PY.dict_delete(dict, "__file__");
		PY.dict_delete(dict, "__cached__");
		PY.error_clear();
	}
	PY.decref(module);
	finish(code, interrupted);
}
