/* SPDX-License-Identifier: MIT */
/* What the two files of the program channels share: channels.c, and channels_counts.c with the channels by what the
 * kernel counts for the whole host. */
#pragma once
#include "../attack.h"

extern const char *channels_key_text; /* tells the two sides from those of other runs */
extern double channels_end;           /* when both sides end, in seconds of now() */

double now(void);
/* Sleeps for two milliseconds; false when the time is over. */
bool time_is_left(void);
/* Says that the sender is ready, with a note if its set-up failed, and waits until the time is over. */
void hold(const char *what, long result);

void file_count_send(void);
bool file_count_seen(void);
void in_flight_send(void);
bool in_flight_seen(void);
void pipe_pages_send(void);
bool pipe_pages_seen(void);
void inotify_count_send(void);
bool inotify_count_seen(void);
void pty_count_send(void);
bool pty_count_seen(void);
void load_send(void);
bool load_seen(void);
void proc_send(void);
bool proc_seen(void);
