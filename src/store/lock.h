/* SPDX-License-Identifier: MIT */
/*
 * Who writes an eval: a lock of the kernel's on one byte, the eval's number, of the file STORE-writers. It belongs to
 * the open file description (F_OFD_SETLK, fcntl(2)), so that it ends with the program that holds it, however that
 * ends.
 */
#pragma once
#include "base/error.h"

/* Takes the lock; the descriptor holds it until it is closed. FH_E_UNAVAILABLE: another program has it. */
int fh_store_lock(const char *store_path, int64_t eval, int *ret_fd, struct fh_error *err);
bool fh_store_lock_is_held(const char *store_path, int64_t eval);
