/* SPDX-License-Identifier: MIT */
/*
 * What compilers made, kept by what they made it of.
 *
 * An entry's name, its key, is SHA-256 of everything that the compiler is given and, as far as needed, of what it is:
 * the whole plan of the compile step (source and other files, command line with all flags, environment, mounts, limits)
 * and the identity (inode, size, times) of the compiler, of the package manager's database (which changes with every
 * installed header and library), and of what lies below /usr/local/include and /usr/local/lib, and of the machine. The
 * client makes the key before anything is compiled, and the entry is bytes that the client took out of the sandbox: a
 * program that subverts its compiler can make a bad entry for its own source, and for nothing else.
 *
 * Entries are files of mode 0600 in $XDG_CACHE_HOME/fumehood/compile (or ~/.cache/…), a folder of mode 0700 that must
 * belong to the acting user, else there is no cache. Each is written beside and renamed; all together take at most
 * FH_COMPILE_CACHE_MAX bytes ($FUMEHOOD_COMPILE_CACHE: another size, 0 for no cache), those not used for longest go
 * first. No sandbox sees the folder: it is outside the default image, and masked where a mount would show it.
 */
#pragma once
#include "base/buf.h"
#include "base/sha256.h"
#include "proto/plan.h"

#define FH_COMPILE_CACHE_MAX ((uint64_t)512 << 20)
#define FH_COMPILE_ENTRY_MAX ((size_t)64 << 20)

/* False: what this step makes may depend on more than can be told (an image, a mount of the user's, the time in the
 * program), so it is not kept. */
bool fh_compile_key(const struct fh_plan *compile, const char *artifact, char ret_hex[FH_SHA256_HEX]);

/* 0, and the bytes appended to out; -FH_E_NOT_FOUND. */
int fh_compile_cache_load(const char *key, struct fh_buf *out);
/* Best effort: where it cannot be kept it is not. */
void fh_compile_cache_store(const char *key, const void *p, size_t n);

/*
 * What a toolchain's compiles need and do not find made (Go's standard library, compiled): files that the language's
 * `prepare` leaves, made in a sandbox of its own of nothing but the toolchain, in a folder beside the cache whose name
 * is the key of language and toolchain. Compiles see it read-only at FH_PREPARED_TARGET; nobody's program has a hand in
 * it.
 */
#define FH_PREPARED_TARGET "/opt/fumehood/prepared"
struct fh_language;
/* The folder for this toolchain, whether it is there yet or not; NULL: none is needed, or there is no cache. */
FH_OWN FH_NULLABLE char *fh_prepared_dir(const struct fh_language *l, const char *interpreter);

/* The folder, made if need be; NULL when there is none, or none that is ours alone. */
FH_OWN FH_NULLABLE char *fh_compile_cache_dir(void);
