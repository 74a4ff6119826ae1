/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C, SIGTERM and SIGHUP, for commands that have something to bring to an end first. The first one is noted; a
 * second one of the same kind ends the program the plain way, should the first not get through. What whoever started us
 * wants ignored (nohup) stays so.
 */
#pragma once

/* The signal that asked for the end; 0: none has. Libraries take its address as `cancel`. */
extern volatile int fh_interrupted;

void fh_interrupt_catch(void);

/* While it is on, the first Ctrl-C is noted in fh_stop_asked and `note` is written to stderr: what is under way may
 * end. The second is as every other. */
extern volatile int fh_stop_asked;
void fh_interrupt_gently(const char *note); /* NULL: not any more */
