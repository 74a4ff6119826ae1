/* SPDX-License-Identifier: MIT */
/*
 * CPython 3.8 to 3.13, used only through functions of its C API that are looked up by name. None of its headers is
 * used, so one library serves every version. Objects are opaque, except an object's type and a type's finalizers: their
 * offsets are the same in these versions and are checked when the zygote starts (python_end.c).
 */
#pragma once
#include <sys/types.h>

#include "warm.h"

typedef struct fh_py_object fh_py;

struct fh_python {
	/* threads and forks */
	void *(*this_thread)(void);
	int (*has_gil)(void);
	void (*restore_thread)(void *);
	void *(*save_thread)(void);
	void (*before_fork)(void);
	void (*after_fork_parent)(void);
	void (*after_fork_child)(void);
	void *(*interpreter_head)(void);
	void *(*interpreter_next)(void *);
	void *(*thread_head)(void *);
	void *(*thread_next)(void *);
	/* objects */
	void (*decref)(fh_py *);
	fh_py *(*import)(const char *);
	fh_py *(*module_dict)(fh_py *); /* returns a borrowed reference */
	fh_py *(*get)(fh_py *, const char *);
	fh_py *(*call)(fh_py *, fh_py *);
	fh_py *(*call_format)(fh_py *, const char *, ...);
	fh_py *(*call_words)(fh_py *, fh_py *, fh_py *); /* takes a tuple and a dict */
	int (*set)(fh_py *, const char *, fh_py *);
	int (*equal)(fh_py *, fh_py *, int);
	int (*is_true)(fh_py *);
	fh_py *(*text)(const char *); /* converts a file name or argument to a text, as the interpreter decodes it */
	const char *(*utf8)(fh_py *);
	fh_py *(*str)(fh_py *);
	fh_py *(*bytes)(const char *, ssize_t);
	long (*as_long)(fh_py *);
	fh_py *(*from_long)(long);
	fh_py *(*tuple_new)(ssize_t);
	ssize_t (*list_size)(fh_py *);
	fh_py *(*list_item)(fh_py *, ssize_t); /* returns a borrowed reference */
	fh_py *(*list_new)(ssize_t);
	int (*list_append)(fh_py *, fh_py *);
	int (*list_slice)(fh_py *, ssize_t, ssize_t, fh_py *);
	fh_py *(*dict_new)(void);
	fh_py *(*dict_item)(fh_py *, const char *); /* returns a borrowed reference */
	int (*dict_set)(fh_py *, const char *, fh_py *);
	int (*dict_delete)(fh_py *, const char *);
	int (*dict_set_object)(fh_py *, fh_py *, fh_py *);
	int (*dict_contains)(fh_py *, fh_py *);
	void (*dict_clear)(fh_py *);
	int (*dict_next)(fh_py *, ssize_t *, fh_py **, fh_py **); /* gives borrowed references */
	ssize_t (*dict_size)(fh_py *);
	fh_py *(*sys_get)(const char *); /* returns a borrowed reference */
	fh_py *(*function)(void *, fh_py *, fh_py *);
	/* errors */
	fh_py *(*error)(void); /* returns a borrowed reference */
	int (*error_is)(fh_py *);
	void (*error_clear)(void);
	void (*error_print)(void);
	void (*error_fetch)(fh_py **, fh_py **, fh_py **);
	void (*error_restore)(fh_py *, fh_py *, fh_py *);
	/* running a file */
	int (*pending_calls)(void);
	fh_py *(*run_file)(void *, const char *, int, fh_py *, fh_py *, int, void *);
	int (*finalize)(void);
	const char *(*version)(void);
	long (*magic)(void);
	void (*exit)(int);
	int (*fflush)(void *);
	/* data */
	fh_py **system_exit, **keyboard_interrupt;
	fh_py *none, *function_type, *builtin_type, *long_type, *generator_type, *coroutine_type, *async_generator_type,
	    *weakref_type, *list_type, *type_type, *bool_type;
	int *inspect, *interactive, *verbose;
};
extern struct fh_python fh_py_api;
extern bool fh_python_had_gil; /* whether it held the GIL when it opened its program */
#define PY fh_py_api

/* The type's offset in an object is checked when the zygote starts, like those of a type's finalizers. */
static inline fh_py *fh_python_type(fh_py *o)
{
	return ((fh_py **)o)[1];
}

/* python_fork.c: to be called at the warm point before objects are frozen (gc.freeze), and in a forked program. */
void fh_python_fork_ready(fh_py *gc);
void fh_python_forked(void);

/* python_end.c */
bool fh_python_end_load(void);  /* registers the hook for the end; false: objects must not be frozen */
void fh_python_end_ready(void); /* at the warm point: records what exists, so that it does not count as the program's */
void fh_python_run(const char *path, void *file);
