/* SPDX-License-Identifier: MIT */
/* Threads that do not belong to a connection, and conditions that use a monotonic clock. */
#pragma once
#include <pthread.h>
#include <stdint.h>

/* Starts a detached thread with a small stack; ends the program if that fails. */
void fh_thread_start(void *(*run)(void *context), void *context);
/* Waits until all of these threads have ended. */
void fh_thread_wait_all(void);

void fh_condition_init(pthread_cond_t *c);
/* Waits for at most ms milliseconds. `c` was made by fh_condition_init. */
void fh_wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
