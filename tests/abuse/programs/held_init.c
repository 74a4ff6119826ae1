/* SPDX-License-Identifier: MIT */
/* Keeps the sandbox's init from its work by what it asks the kernel about programs, and takes memory meanwhile. */
#include "../attack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { MIB = 1 << 20, PAGE = 4096, HOLDERS = 12, COPIES = 100, EVENTS = 5, EACH = 5, RANGE = 8 * MIB };

static char *range, *page;
static int set;

/* The page faults of the threads below wait for this. */
__attribute__((noreturn)) static void *change_mappings(void *unused)
{
	(void)unused;
	for (unsigned n = 0;; n++)
		(void)mprotect(range, RANGE, n % 2 ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* An epoll set is locked while its events are copied, here to a page that has to be found first. */
__attribute__((noreturn)) static void *wait_for_events(void *unused)
{
	(void)unused;
	for (;;) {
		(void)epoll_wait(set, (struct epoll_event *)(void *)page, EVENTS, 0);
		(void)madvise(page, PAGE, MADV_DONTNEED);
	}
}

static void hold_sets(void)
{
	pthread_t thread;
	struct epoll_event event = { .events = EPOLLIN };
	int ready = eventfd(1, 0);
	set = epoll_create1(0);
	for (int i = 0; i < EVENTS; i++)
		(void)epoll_ctl(set, EPOLL_CTL_ADD, dup(ready), &event);
	for (int i = 0; i < COPIES; i++)
		(void)!dup(set);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range = mmap(NULL, RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(range, 1, MIB);
	for (int i = 0; i < EACH; i++)
		if (pthread_create(&thread, NULL, change_mappings, NULL) ||
		    pthread_create(&thread, NULL, wait_for_events, NULL))
			_exit(1);
	pause();
}

/* The argument is how many MiB are too much. Init looks at epoll sets every five seconds at the latest. */
static void epoll_sets(char **args)
{
	size_t most = (size_t)atol(argument(args, 0, "400")) * MIB;
	for (int i = 0; i < HOLDERS; i++)
		if (fork() == 0)
			hold_sets();
	sleep(7);
	pid_t child = fork();
	if (child == 0) {
		(void)setsid(); /* where sessions share the processors: not beside the busy ones */
		char *memory = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED)
			for (size_t i = 0; i < most; i += PAGE)
				memory[i] = 1;
		_exit(memory == MAP_FAILED);
	}
	int status = -1;
	(void)waitpid(child, &status, 0);
	if (status == 0)
		escaped("%zu MiB while init is held", most / MIB);
	else
		held("a process that takes %zu MiB: %d", most / MIB, status);
	kill(0, SIGKILL);
}

static const struct attack attacks[] = {
	{ "epoll_sets", epoll_sets },
};
ATTACKS(attacks)
