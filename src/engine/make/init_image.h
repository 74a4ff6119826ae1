/* SPDX-License-Identifier: MIT */
/* The program fumehood-init, embedded in the engine so that the engine can be copied as a single file. */
#pragma once
extern const unsigned char fh_init_image[];
extern const unsigned long fh_init_image_size;
