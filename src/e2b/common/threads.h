/* SPDX-License-Identifier: MIT */
/* Threads that do not belong to a connection, and conditions that use a monotonic clock. */
#pragma once
#include <pthread.h>
#include <stdint.h>

/* Runs it on a thread with a small stack: one that has just ended its work, or a new one. Where the host gives no more
 * threads, the work waits until another's ends; without any thread at all the program aborts. */
void fh_thread_start(void *(*run)(void *context), void *context);
/* Waits until all work has ended, and with it the threads. */
void fh_thread_wait_all(void);

void fh_condition_init(pthread_cond_t *c);
/* Waits for at most ms milliseconds. `c` was made by fh_condition_init. */
void fh_wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
