/* SPDX-License-Identifier: MIT */
/* The relay (guest/context/relay.c), carried inside the library: it is put into a sandbox where a context needs it. */
#pragma once
extern const unsigned char fh_relay_image[];
extern const unsigned long fh_relay_image_size;
