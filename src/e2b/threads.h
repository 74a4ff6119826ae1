/* SPDX-License-Identifier: MIT */
/* Threads that belong to no connection, and conditions that know a monotonic clock. */
#pragma once
#include <pthread.h>
#include <stdint.h>

/* A detached thread with a small stack; ends the program when none can be had. */
void fh_thread_start(void *(*run)(void *context), void *context);
/* Returns when each of them has ended. */
void fh_thread_wait_all(void);

void fh_condition_init(pthread_cond_t *c);
/* At most that many ms. `c` was made by fh_condition_init. */
void fh_wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
