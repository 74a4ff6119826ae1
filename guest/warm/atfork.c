/* SPDX-License-Identifier: MIT */
/*
 * Records the fork handlers that libraries register (libuv's signal pipe, OpenBLAS, allocators), by intercepting the
 * registration. A raw fork does not call them, and the C library's fork cannot make the engine the parent. In glibc,
 * pthread_atfork is a stub in each program that calls __register_atfork; musl has pthread_atfork itself.
 */
#include "warm.h"

#include <errno.h>

enum { HANDLERS_MAX = 64 };

static struct {
	void (*prepare)(void), (*parent)(void), (*child)(void);
} handler[HANDLERS_MAX];
static unsigned handlers;

static int note(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	if (!fh_warm_waiting)
		return 0;
	if (handlers == HANDLERS_MAX)
		return ENOMEM; /* the error of the C library: the caller learns that the handler was not registered */
	handler[handlers].prepare = prepare;
	handler[handlers].parent = parent;
	handler[handlers++].child = child;
	return 0;
}

typedef int register_fn(void (*)(void), void (*)(void), void (*)(void), void *);
typedef int pthread_fn(void (*)(void), void (*)(void), void (*)(void));

FH_EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
FH_EXPORT int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
{
	register_fn *real = (register_fn *)fh_next("__register_atfork");
	int r = note(prepare, parent, child);
	return r ? r : real ? real(prepare, parent, child, object) : ENOSYS;
}

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	pthread_fn *real = (pthread_fn *)fh_next("pthread_atfork");
	register_fn *other = real ? NULL : (register_fn *)fh_next("__register_atfork");
	int r = note(prepare, parent, child);
	return r ? r : real ? real(prepare, parent, child) : other ? other(prepare, parent, child, NULL) : ENOSYS;
}

void fh_atfork_prepare(void)
{
	for (unsigned i = handlers; i-- > 0;) /* in reverse order, as pthread_atfork(3) says */
		if (handler[i].prepare)
			handler[i].prepare();
}

void fh_atfork_parent(void)
{
	for (unsigned i = 0; i < handlers; i++)
		if (handler[i].parent)
			handler[i].parent();
}

void fh_atfork_child(void)
{
	for (unsigned i = 0; i < handlers; i++)
		if (handler[i].child)
			handler[i].child();
}
