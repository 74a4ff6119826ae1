/* SPDX-License-Identifier: MIT */
/* The warm library (guest/warm), embedded in the engine so that the engine can be copied as a single file. */
#pragma once
extern const unsigned char fh_warm_image[];
extern const unsigned long fh_warm_image_size;
