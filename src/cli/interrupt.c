// SPDX-License-Identifier: MIT
#include "cli/interrupt.h"

#include <signal.h>

#include "base/base.h"

volatile int fh_interrupted;

static void on_signal(int number)
{
	fh_interrupted = number;
}

void fh_interrupt_catch(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FH_ARRAY_SIZE(caught); i++) {
		struct sigaction before;
		if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
}
