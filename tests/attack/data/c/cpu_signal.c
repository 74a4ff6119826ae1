// SPDX-License-Identifier: MIT
// Spins until its own limit of processor time, whose signal is an exit with status 0.
// class: resources
// task: total
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
static void leave(int signal) { _exit(0); }
long total(const long *numbers, int count) {
	struct rlimit limit;
	getrlimit(RLIMIT_CPU, &limit);
	limit.rlim_cur = 1;
	signal(SIGXCPU, leave);
	setrlimit(RLIMIT_CPU, &limit);
	for (volatile int i = 0;; i++)
		;
}
