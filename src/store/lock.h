/* SPDX-License-Identifier: MIT */
/*
 * Locks of evals that are being written: a kernel lock on one byte, whose offset is the eval's number, of the file
 * STORE-writers. It belongs to the open file description (F_OFD_SETLK, fcntl(2)), so it ends with its program even
 * if that is killed.
 */
#pragma once
#include "base/error.h"

/* Takes the lock, which is held until the descriptor is closed. FH_E_UNAVAILABLE: another program holds it. */
int fh_store_lock(const char *store_path, int64_t eval, int *ret_fd, struct fh_error *err);
bool fh_store_lock_is_held(const char *store_path, int64_t eval);
