/* SPDX-License-Identifier: MIT */
/*
 * A cache of compiled programs, by the inputs that they were compiled from.
 *
 * An entry's name is its key, a SHA-256 of all inputs of the compiler and of the compiler's identity: the whole plan of
 * the compile step (source and other files, command line with all flags, environment, mounts, limits); inode, size and
 * times of the compiler, of the package manager's database (which changes with every installed header and library) and
 * of all files below /usr/local/include and /usr/local/lib; and the machine. The client computes the key before
 * compiling, and takes the entry's bytes out of the sandbox afterwards. So a program that subverts its compiler can
 * make a bad entry for its own source, and for no other.
 *
 * Entries are files of mode 0600 in $XDG_CACHE_HOME/fumehood/compile (or ~/.cache/…), a folder of mode 0700 that must
 * belong to the acting user; otherwise there is no cache. Each is written to a temporary file and renamed. All together
 * take at most 512 MiB ($FUMEHOOD_COMPILE_CACHE sets another size, 0 disables the cache); the least
 * recently used are removed first. No sandbox sees the folder: it is outside the default image, and masked where a
 * mount would show it.
 */
#pragma once
#include "base/buf.h"
#include "base/text/sha256.h"
#include "proto/plan.h"
#include "survey/survey.h"

#define FH_COMPILE_ENTRY_MAX ((size_t)64 << 20)

/* Computes the key. False: the step may depend on inputs that the key cannot cover (an image, a mount of the user's,
 * the time in the program), so its result must not be stored. */
bool fh_compile_key(const struct fh_plan *compile, const char *artifact, char ret_hex[FH_SHA256_HEX]);

/* Appends the entry's bytes to out and returns 0; or -FH_E_NOT_FOUND. */
int fh_compile_cache_load(const char *key, struct fh_buf *out);
/* Best effort: if the entry cannot be stored, nothing happens. */
void fh_compile_cache_store(const char *key, const void *p, size_t n);

/*
 * Prepared files: files that compilations with a toolchain need and that the toolchain does not contain, such as Go's
 * compiled standard library. The language's `prepare` command makes them from the toolchain alone, in a sandbox of its
 * own, so no user's program can influence them. They are kept in a folder beside the cache that is named by the key of
 * language and toolchain. Compilations see it read-only at FH_PREPARED_TARGET.
 */
#define FH_PREPARED_TARGET "/opt/fumehood/prepared"
struct fh_language;
/* The folder of the prepared files for this toolchain, whether it exists yet or not; NULL: none are needed, or there is
 * no cache. */
FH_OWN FH_NULLABLE char *fh_prepared_dir(struct fh_survey *s, const struct fh_language *l, const char *interpreter);

/* The cache's folder, made if necessary; NULL if there is no cache, or the folder is not ours alone. */
FH_OWN FH_NULLABLE char *fh_compile_cache_dir(void);
