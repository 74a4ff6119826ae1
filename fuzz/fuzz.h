/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share. A target is fuzz/NAME.c: it gives bytes to one parser of ours and checks what the parser
 * promises (FH_FUZZ_CHECK aborts), beside what the sanitizers see. It keeps no state between two inputs, so that an
 * input that fails once fails alone.
 *
 * The same file is linked with libFuzzer (clang, -Dfuzz=true), and in every build with replay.c, which runs it over the
 * files of its corpus.
 */
#pragma once
#include "base/base.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

FH_NORETURN void fh_fuzz_failed(const char *file, int line, const char *what);
#define FH_FUZZ_CHECK(x)                                                                                               \
	do {                                                                                                               \
		if (!(x))                                                                                                      \
			fh_fuzz_failed(__FILE__, __LINE__, #x);                                                                    \
	} while (0)

/* Numbers and pieces taken from an input's front; past its end they are 0 and empty. */
struct fh_fuzz_input {
	const uint8_t *p;
	size_t n;
};
uint64_t fh_fuzz_number(struct fh_fuzz_input *in, size_t bytes); /* little-endian, 1 … 8 bytes */
struct fh_str fh_fuzz_bytes(struct fh_fuzz_input *in, size_t n); /* at most n, as many as there are */

/* A copy whose last byte is the last of its allocation, without a NUL: reading one further is seen. */
FH_OWN char *fh_fuzz_copy(const uint8_t *data, size_t size);

/* A file that holds these bytes, for parsers that read files: its path, until the next call. */
const char *fh_fuzz_file(const uint8_t *data, size_t size);
