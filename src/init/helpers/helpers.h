/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder. init knows fh_helper_main and nothing else of it. */
#pragma once
#include "init/helpers/helper.h"
#include "init/lib/lib.h"

enum { FH_HELPER_PATH_MAX = 4096 };

/* Runs the helper named by argv, with its streams on descriptors 0 and 1; never returns. */
void fh_helper_main(const char *const *argv, uint32_t argc, const char *cwd) __attribute__((noreturn));

/* ---- helper.c: writes records to descriptor 1; exits when the reader is gone ---- */
void fh_out_begin(unsigned kind); /* begins a record of fields */
void fh_out_number(unsigned field, uint64_t value);
void fh_out_bytes(unsigned field, const void *p, size_t n);
void fh_out_text(unsigned field, const char *text);
void fh_out_end(void);
void fh_out_plain(unsigned kind, const void *p, size_t n); /* writes a whole DATA or VALUE record */
/* The same without a copy: room for the contents of a record of at most n bytes, and the record once it is filled. */
char *fh_out_room(size_t n);
void fh_out_filled(unsigned kind, size_t n);
void fh_out_flush(void);
void fh_out_done(long error, uint64_t count); /* error: 0 or -errno; flushes too */

/* ---- helper.c: arguments ---- */
int64_t fh_argument_number(const char *text); /* decimal, may be negative; INT64_MIN for "-" */

/* ---- helper.c: "/proc/self/fd/N", in the buffer ---- */
enum { FH_FD_PATH_MAX = 32 };
const char *fh_fd_path(int fd, char buffer[FH_FD_PATH_MAX]);

/* ---- files.c: paths. Links are followed by reading their text (not the last component, if O_NOFOLLOW). ---- */
long fh_open_path(int dir, const char *path, uint64_t flags, uint32_t mode);
/* Opens a path none of whose components is a link. Modifies path. */
long fh_open_below(int dir, char *path);
/* Opens the folder that holds the last component of path (O_PATH); *ret_last points to that component within path.
 * -EINVAL for "", "/", "." and "..". parents: missing folders are made. */
long fh_open_folder_of(char *path, int parents, const char **ret_last);
struct stat;
/* Writes the fields of an ENTRY without ending it. dir and path are used to read a link's text. */
void fh_out_entry(const char *name, const struct stat *st, int dir, const char *path);
/* Adds to the ENTRY of a link where it leads, so that nobody has to start a helper for each link of a list. */
void fh_out_link_end(const struct stat *st, int dir, const char *path);

/* The operations. Each writes records and returns 0 or -errno, which goes into DONE with *ret_count. */
typedef long fh_helper_fn(const char *const *argv, uint64_t *ret_count);
fh_helper_fn fh_helper_stat, fh_helper_mkdir, fh_helper_rename, fh_helper_link, fh_helper_change,
    fh_helper_get_attribute, fh_helper_list_attributes, fh_helper_set_attribute, fh_helper_remove_attribute,
    fh_helper_read, fh_helper_write, fh_helper_space;
fh_helper_fn fh_helper_list, fh_helper_remove, fh_helper_export, fh_helper_import;
fh_helper_fn fh_helper_watch, fh_helper_connect;

static inline int fh_is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}
