/* SPDX-License-Identifier: MIT */
/*
 * Handles Ctrl-C, SIGTERM and SIGHUP in commands that have to finish something first. The first signal is recorded; a
 * second one of the same kind ends the program at once, in case the first has no effect. Signals that were ignored
 * when the program started (nohup) stay ignored.
 */
#pragma once

/* The signal that asked the program to end; 0: none has. Libraries take its address as `cancel`. */
extern volatile int fh_interrupted;

void fh_interrupt_catch(void);

/* While this is enabled, the first Ctrl-C sets fh_stop_asked and writes `note` to stderr: running work may finish. The
 * second acts as usual. */
extern volatile int fh_stop_asked;
void fh_interrupt_gently(const char *note); /* NULL disables gentle interruption */
