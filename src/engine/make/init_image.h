/* SPDX-License-Identifier: MIT */
/* fumehood-init, carried inside the engine so that the engine can be copied anywhere as one file. */
#pragma once
extern const unsigned char fh_init_image[];
extern const unsigned long fh_init_image_size;
