/* SPDX-License-Identifier: MIT */
/* The prefork server (guest/prefork/prefork.c) and the warm library that it loads into an interpreter, embedded in
 * libfumehood. They are written to a sandbox by fh_prefork_start. */
#pragma once
extern const unsigned char fh_prefork_image[];
extern const unsigned long fh_prefork_image_size;
extern const unsigned char fh_prefork_library[];
extern const unsigned long fh_prefork_library_size;
