/* SPDX-License-Identifier: MIT */
#include "cli/shared/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "base/base.h"

volatile int fh_interrupted, fh_stop_asked;
static const char *volatile gentle_note;

static void on_signal(int number)
{
	const char *note = gentle_note;
	if (number == SIGINT && note && !fh_stop_asked) {
		fh_stop_asked = number;
		(void)!write(STDERR_FILENO, note, strlen(note));
		return;
	}
	fh_interrupted = number;
	signal(number, SIG_DFL);
}

void fh_interrupt_catch(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FH_ARRAY_SIZE(caught); i++) {
		struct sigaction before;
		if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
}

void fh_interrupt_gently(const char *note)
{
	gentle_note = note;
}
