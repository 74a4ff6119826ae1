/* SPDX-License-Identifier: MIT */
/* The relay (guest/context/relay.c), embedded in the library. It is written to a sandbox when a context needs it. */
#pragma once
extern const unsigned char fh_relay_image[];
extern const unsigned long fh_relay_image_size;
