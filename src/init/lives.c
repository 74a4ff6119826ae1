/* SPDX-License-Identifier: MIT */
/*
 * CPU time of processes that have ended, for hosts without control groups. The kernel adds it to the parent that waits
 * for them. Where the parent ignores SIGCHLD (or sets SA_NOCLDWAIT) it adds it to nobody.
 *
 * So each sample remembers the time of every process, and those that the next one does not find have had at least that.
 * A process that lives for less than a sample may never be seen. Samples come at random times as long as processes end:
 * one that runs for a part of the mean interval is then seen in that part of all cases, and counts for a whole interval
 * when it is, so that very many come out right. Time that it waited for a processor does not count.
 *
 * Where parents wait for their children the kernel's sums are exact, and this is an estimate. It counts only where it
 * is far above them.
 */
#include "init/init.h"

enum { LIVES_MAX = 4096, SPARED_US = 200000, ENDING_SAMPLES = 100 };

struct seen {
	uint64_t pid, us, most_us; /* most_us: what it may run for before the next sample finds that it is gone */
};

static struct {
	struct seen seen[2][LIVES_MAX]; /* by ascending number: of this sample, and of the one before */
	uint32_t count[2], at;          /* at: what of the sample before has been compared */
	unsigned now;
	uint64_t ended_us;
	uint32_t calm; /* samples since a process ended */
} lives = { .calm = ENDING_SAMPLES };

void fh_lives_begin(void)
{
	lives.now = !lives.now;
	lives.count[lives.now] = 0;
	lives.at = 0;
	lives.calm += lives.calm < ENDING_SAMPLES;
}

static void end_of(const struct seen *s)
{
	lives.ended_us += s->us + s->most_us;
	lives.calm = 0;
}

/* Of the next interval, the part in which a process that had `us` will have a processor, if it goes on as it did: the
 * second figure of /proc/PID/schedstat is how long it waited for one, in nanoseconds. One that has only waited so far
 * will be seen again, or had next to nothing. */
static uint64_t share_of(uint64_t interval_us, uint64_t us, const char *pid)
{
	char text[96];
	int fd = fh_open_of(pid, "schedstat", 0);
	long n = fd >= 0 ? fh_sys(__NR_read, fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	text[n > 0 ? n : 0] = 0;
	const char *p = text;
	(void)fh_number_in(&p, 10);
	p += *p == ' ';
	uint64_t waited_us = fh_number_in(&p, 10) / 1000;
	return us ? interval_us * us / (us + waited_us) : 0;
}

void fh_lives_add_process(const char *pid, uint64_t us, int runs, uint64_t interval_us)
{
	const char *p = pid;
	struct seen s = { fh_number_in(&p, 10), us, 0 };
	const struct seen *before = lives.seen[!lives.now];
	for (; lives.at < lives.count[!lives.now] && before[lives.at].pid < s.pid; lives.at++)
		end_of(&before[lives.at]);
	if (lives.at < lives.count[!lives.now] && before[lives.at].pid == s.pid) {
		if (us < before[lives.at].us) /* another process has the number */
			end_of(&before[lives.at]);
		lives.at++;
	}
	if (runs && us < interval_us)
		s.most_us = share_of(interval_us, us, pid);
	if (lives.count[lives.now] < LIVES_MAX)
		lives.seen[lives.now][lives.count[lives.now]++] = s;
}

uint64_t fh_lives_bare_us(uint64_t waited_us)
{
	for (; lives.at < lives.count[!lives.now]; lives.at++)
		end_of(&lives.seen[!lives.now][lives.at]);
	uint64_t exact = waited_us + waited_us / 2 + SPARED_US;
	return lives.ended_us > exact ? lives.ended_us - waited_us : 0;
}

int fh_lives_end(void)
{
	return lives.calm < ENDING_SAMPLES;
}
