/* SPDX-License-Identifier: MIT */
#include "python.h"

#include <fcntl.h>

#include "selftest.h"

struct fh_python fh_py_api;
static bool may_freeze;
static fh_py *environment; /* posix.environ */

static const struct fh_symbol_wanted wanted[] = {
	{ "PyGILState_GetThisThreadState", &PY.this_thread },
	{ "PyGILState_Check", &PY.has_gil },
	{ "PyEval_RestoreThread", &PY.restore_thread },
	{ "PyEval_SaveThread", &PY.save_thread },
	{ "PyOS_BeforeFork", &PY.before_fork },
	{ "PyOS_AfterFork_Parent", &PY.after_fork_parent },
	{ "PyOS_AfterFork_Child", &PY.after_fork_child },
	{ "PyInterpreterState_Head", &PY.interpreter_head },
	{ "PyInterpreterState_Next", &PY.interpreter_next },
	{ "PyInterpreterState_ThreadHead", &PY.thread_head },
	{ "PyThreadState_Next", &PY.thread_next },
	{ "Py_DecRef", &PY.decref },
	{ "PyImport_ImportModule", &PY.import },
	{ "PyModule_GetDict", &PY.module_dict },
	{ "PyObject_GetAttrString", &PY.get },
	{ "PyObject_CallObject", &PY.call },
	{ "PyObject_CallFunction", &PY.call_format },
	{ "PyObject_Call", &PY.call_words },
	{ "PyObject_SetAttrString", &PY.set },
	{ "PyObject_RichCompareBool", &PY.equal },
	{ "PyObject_IsTrue", &PY.is_true },
	{ "PyUnicode_DecodeFSDefault", &PY.text },
	{ "PyUnicode_AsUTF8", &PY.utf8 },
	{ "PyObject_Str", &PY.str },
	{ "PyBytes_FromStringAndSize", &PY.bytes },
	{ "PyLong_AsLong", &PY.as_long },
	{ "PyLong_FromLong", &PY.from_long },
	{ "PyTuple_New", &PY.tuple_new },
	{ "PyList_Size", &PY.list_size },
	{ "PyList_GetItem", &PY.list_item },
	{ "PyList_New", &PY.list_new },
	{ "PyList_Append", &PY.list_append },
	{ "PyList_SetSlice", &PY.list_slice },
	{ "PyDict_New", &PY.dict_new },
	{ "PyDict_GetItemString", &PY.dict_item },
	{ "PyDict_SetItemString", &PY.dict_set },
	{ "PyDict_DelItemString", &PY.dict_delete },
	{ "PyDict_SetItem", &PY.dict_set_object },
	{ "PyDict_Contains", &PY.dict_contains },
	{ "PyDict_Clear", &PY.dict_clear },
	{ "PyDict_Next", &PY.dict_next },
	{ "PyDict_Size", &PY.dict_size },
	{ "PySys_GetObject", &PY.sys_get },
	{ "PyCFunction_NewEx", &PY.function },
	{ "PyErr_Occurred", &PY.error },
	{ "PyErr_ExceptionMatches", &PY.error_is },
	{ "PyErr_Clear", &PY.error_clear },
	{ "PyErr_Print", &PY.error_print },
	{ "PyErr_Fetch", &PY.error_fetch },
	{ "PyErr_Restore", &PY.error_restore },
	{ "Py_MakePendingCalls", &PY.pending_calls },
	{ "PyRun_FileExFlags", &PY.run_file },
	{ "Py_FinalizeEx", &PY.finalize },
	{ "Py_GetVersion", &PY.version },
	{ "PyImport_GetMagicNumber", &PY.magic },
	{ "exit", &PY.exit },
	{ "fflush", &PY.fflush },
	{ "PyExc_SystemExit", &PY.system_exit },
	{ "PyExc_KeyboardInterrupt", &PY.keyboard_interrupt },
	{ "_Py_NoneStruct", &PY.none },
	{ "PyFunction_Type", &PY.function_type },
	{ "PyCFunction_Type", &PY.builtin_type },
	{ "PyLong_Type", &PY.long_type },
	{ "PyBool_Type", &PY.bool_type },
	{ "PyGen_Type", &PY.generator_type },
	{ "PyCoro_Type", &PY.coroutine_type },
	{ "PyAsyncGen_Type", &PY.async_generator_type },
	{ "_PyWeakref_RefType", &PY.weakref_type },
	{ "PyList_Type", &PY.list_type },
	{ "PyType_Type", &PY.type_type },
	{ "Py_InspectFlag", &PY.inspect },
	{ "Py_InteractiveFlag", &PY.interactive },
	{ "Py_VerboseFlag", &PY.verbose },
};

/* Writes the Python error as one line to `why`, and clears it. */
static void say_error(const char *what, const char *name, char *why)
{
	fh_py *type, *value, *trace;
	PY.error_fetch(&type, &value, &trace);
	fh_py *text = value ? PY.str(value) : NULL;
	const char *s = text ? PY.utf8(text) : NULL;
	fh_text_set(why, FH_ZYGOTE_WHY_MAX, what);
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, name);
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, ": ");
	fh_text_add(why, FH_ZYGOTE_WHY_MAX, s ? s : "an error without a text");
	PY.error_clear();
}

bool fh_python_had_gil;

/* Since 3.10 the interpreter opens its program with the GIL released; the library holds it from here until the run. */
static bool load(char *why)
{
	if (!fh_symbols(wanted, sizeof(wanted) / sizeof(wanted[0]), why))
		return false;
	fh_python_had_gil = PY.has_gil();
	if (!fh_python_had_gil)
		PY.restore_thread(PY.this_thread());
	may_freeze = fh_python_end_load();
	return true;
}

/* Imports a module by its file name; its folder is in sys.path only for this import. */
static fh_py *import_file(char *path)
{
	char *slash = path, *dot = NULL;
	for (char *p = path; *p; p++) {
		slash = *p == '/' ? p : slash;
		dot = *p == '/' ? NULL : *p == '.' ? p : dot;
	}
	if (dot)
		*dot = 0;
	*slash = 0;
	fh_py *list = PY.sys_get("path"), *folder = PY.text(path), *added = PY.list_new(0), *none = PY.list_new(0);
	fh_py *m = NULL;
	if (list && folder && added && none && PY.list_append(added, folder) == 0 &&
	    PY.list_slice(list, 0, 0, added) == 0) {
		m = PY.import(slash + 1);
		fh_py *type, *value, *trace;
		PY.error_fetch(&type, &value, &trace);
		(void)PY.list_slice(list, 0, 1, none);
		PY.error_restore(type, value, trace);
	}
	fh_py *const held[] = { folder, added, none };
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (held[i])
			PY.decref(held[i]);
	return m;
}

static bool preload(const char *names, char *why)
{
	static char name[256], shown[256];
	while (*names) {
		size_t n = 0;
		while (names[n] && names[n] != ',')
			n++;
		if (n >= sizeof(name)) {
			fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the name of a module to preload is too long");
			return false;
		}
		memcpy(name, names, n);
		name[n] = 0;
		names += n + (names[n] == ',');
		if (!n)
			continue;
		memcpy(shown, name, n + 1);
		/* sys.modules keeps the module; no name is added to __main__ */
		fh_py *m = name[0] == '/' ? import_file(name) : PY.import(name);
		if (!m) {
			say_error("cannot import ", shown, why);
			return false;
		}
		PY.decref(m);
	}
	return true;
}

/* The user's site-packages folder. "": there is none, or it existed when the zygote started. */
static char user_site[FH_WARM_PATH_MAX];

static void find_user_site(void)
{
	fh_py *site = PY.dict_item(PY.sys_get("modules"), "site");
	fh_py *enabled = site ? PY.get(site, "ENABLE_USER_SITE") : NULL, *path = site ? PY.get(site, "USER_SITE") : NULL;
	const char *s = enabled && PY.is_true(enabled) == 1 && path && path != PY.none ? PY.utf8(path) : NULL;
	if (s && !fh_warm_is_there(s, strlen(s), ""))
		fh_text_set(user_site, sizeof(user_site), s);
	if (enabled)
		PY.decref(enabled);
	if (path)
		PY.decref(path);
	PY.error_clear();
}

/* Collects the garbage of the start-up and freezes the other objects, so that a collection in a run does not write to,
 * and thereby copy, every page of the zygote. */
static void ready(void)
{
	static const char *const calls[] = { "collect", "freeze" };
	fh_py *modules = PY.sys_get("modules");
	bool there = PY.dict_item(modules, "gc") != NULL;
	fh_py *gc = PY.import("gc");
	fh_python_fork_ready(gc);
	for (int i = 0; gc && i < (may_freeze ? 2 : 1); i++) {
		fh_py *r = PY.get(gc, calls[i]), *done = r ? PY.call(r, NULL) : NULL;
		if (r)
			PY.decref(r);
		if (done)
			PY.decref(done);
	}
	if (!there)
		PY.dict_delete(modules, "gc");
	fh_py *posix = PY.import("posix");
	environment = posix ? PY.get(posix, "environ") : NULL;
	find_user_site();
	PY.error_clear();
	fh_python_end_ready();
}

static void before_fork(void)
{
	PY.before_fork();
}

static void after_fork(void)
{
	PY.after_fork_parent();
}

/* ------------------------------------------------------------------------------------- the state of a fresh start */

/* os.environ is built on this very dict. If a name occurs twice, the first value counts. */
static bool fill_environment(const struct fh_warm_run *run)
{
	fh_py *dict = environment;
	if (!dict)
		return false;
	PY.dict_clear(dict);
	for (uint32_t i = 0; i < run->env_count; i++) {
		const char *line = run->env[i];
		size_t n = 0;
		while (line[n] && line[n] != '=')
			n++;
		if (!line[n])
			continue;
		fh_py *key = PY.bytes(line, (ssize_t)n), *value = PY.bytes(line + n + 1, (ssize_t)strlen(line + n + 1));
		if (!key || !value || (PY.dict_contains(dict, key) == 0 && PY.dict_set_object(dict, key, value) < 0))
			return false;
		PY.decref(key);
		PY.decref(value);
	}
	return true;
}

static bool replace_tail(const char *name, ssize_t from, char *const *items, uint32_t count)
{
	fh_py *list = PY.sys_get(name), *tail = PY.list_new(0);
	if (!list) /* sys.orig_argv exists since 3.10 */
		return true;
	for (uint32_t i = 0; tail && i < count; i++) {
		fh_py *item = PY.text(items[i]);
		if (!item || PY.list_append(tail, item) < 0)
			return false;
		PY.decref(item);
	}
	return tail && PY.list_slice(list, from, PY.list_size(list), tail) == 0;
}

static bool set_environment(const struct fh_warm_run *run, char *why)
{
	if (!fill_environment(run))
		say_error("cannot set ", "os.environ", why);
	return !why[0];
}

static bool set_arguments(const struct fh_warm_run *run, uint32_t main, char *why)
{
	if (!replace_tail("argv", 1, run->argv + main + 1, run->argc - main - 1) ||
	    !replace_tail("orig_argv", main + 1, run->argv + main + 1, run->argc - main - 1))
		say_error("cannot set ", "sys.argv", why);
	return !why[0];
}

/* Before the warm point the interpreter looked whether MAIN is an archive to import from, and found that it is not. */
static bool is_archive(const char *path)
{
	static char tail[66000]; /* as zipimport searches: up to 64 KiB of comment may follow the end record */
	long fd = fh_sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	long size = fh_sys(__NR_lseek, fd, 0, 2), at = size > (long)sizeof(tail) ? size - (long)sizeof(tail) : 0;
	long n = size < 22 ? 0 : fh_sys(__NR_pread64, fd, tail, sizeof(tail), at);
	fh_sys(__NR_close, fd);
	for (long i = 0; i + 22 <= n; i++)
		if (tail[i] == 'P' && memcmp(tail + i, "PK\5\6", 4) == 0)
			return true;
	return false;
}

static bool begin(const struct fh_warm_run *run, char *why)
{
	if (!run->self_test && user_site[0] && fh_warm_is_there(user_site, strlen(user_site), "")) {
		fh_text_set(why, FH_ZYGOTE_WHY_MAX,
		            "there are packages of the user's own, for which Python looks before the fork");
		return false;
	}
	if (!run->self_test && is_archive(fh_warm_start.file)) {
		fh_text_set(why, FH_ZYGOTE_WHY_MAX, "the program may be an archive, which is imported from");
		return false;
	}
	return true;
}

static const char *const settings[] = { "PYTHON", "HOME=", "PATH=", NULL };

const struct fh_warm_interpreter fh_warm_python = {
	.name = "python",
	.symbol = "PyOS_AfterFork_Child",
	.calls = FH_CALL_FOPEN, /* the file is opened twice: first with open, to see whether it is an archive */
	.self_test = fh_selftest_python,
	.self_test_size = &fh_selftest_python_size,
	.settings = settings,
	.load = load,
	.preload = preload,
	.ready = ready,
	.before_fork = before_fork,
	.after_fork = after_fork,
	.child = fh_python_forked,
	.environment = set_environment,
	.arguments = set_arguments,
	.begin = begin,
	.run = fh_python_run,
};
