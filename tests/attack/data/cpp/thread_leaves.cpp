// SPDX-License-Identifier: MIT
// A thread leaves with status 0 while the function spins.
// class: exits
// task: total
    for (volatile int i = 0;; i++);
}
#include <pthread.h>
#include <unistd.h>
static void *leave(void *) { usleep(100000); _exit(0); }
static struct First { First() { pthread_t t; pthread_create(&t, nullptr, leave, nullptr); } } first;
