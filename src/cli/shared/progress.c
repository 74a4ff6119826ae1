/* SPDX-License-Identifier: MIT */
#include "cli/shared/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/shared/term.h"

#define DRAW_EVERY_NS (FH_NS_PER_S / 10)
#define LINE_EVERY_NS (10 * FH_NS_PER_S)
#define BAR_WIDTH 20

struct fh_progress {
	pthread_mutex_t lock;
	char *title, *note;
	uint64_t done, total, first_done;
	int64_t started, drawn; /* drawn: when the bar was last drawn; 0: never */
	bool terminal, quiet, visible;
};

struct fh_progress *fh_progress_new(const char *title, uint64_t total, bool quiet)
{
	struct fh_progress *p = FH_NEW(struct fh_progress);
	pthread_mutex_init(&p->lock, NULL);
	p->title = fh_xstrdup(title);
	p->total = total;
	p->first_done = UINT64_MAX;
	p->quiet = quiet;
	p->terminal = isatty(STDERR_FILENO) == 1 && !fh_term_is_dumb();
	p->started = p->drawn = fh_now_ns();
	return p;
}

static void put_duration(struct fh_buf *out, uint64_t seconds)
{
	if (seconds >= 3600)
		fh_buf_addf(out, "%lluh%02llum", (unsigned long long)seconds / 3600, (unsigned long long)seconds / 60 % 60);
	else if (seconds >= 60)
		fh_buf_addf(out, "%llum%02llus", (unsigned long long)seconds / 60, (unsigned long long)seconds % 60);
	else
		fh_buf_addf(out, "%llus", (unsigned long long)seconds);
}

static void put_line(const struct fh_progress *p, int64_t now, struct fh_buf *out)
{
	uint64_t done = FH_MIN(p->done, p->total);
	fh_buf_addf(out, "%s  ", p->title);
	if (p->terminal) {
		uint64_t filled = p->total ? done * BAR_WIDTH / p->total : 0;
		fh_buf_addc(out, '[');
		for (unsigned i = 0; i < BAR_WIDTH; i++)
			fh_buf_addc(out, i < filled ? '#' : '-');
		fh_buf_adds(out, "] ");
	}
	fh_buf_addf(out, "%llu/%llu  %u%%", (unsigned long long)p->done, (unsigned long long)p->total,
	            p->total ? (unsigned)(done * 100 / p->total) : 100);
	if (p->note && p->note[0]) {
		fh_buf_adds(out, "  ");
		fh_escape_terminal(out, fh_str(p->note), false);
	}
	/* Work that a resumed job found finished does not count for its speed. */
	uint64_t made = p->done - FH_MIN(p->first_done, p->done);
	if (made > 0 && p->total > p->done) {
		fh_buf_adds(out, "  eta ");
		double each = (double)(now - p->started) / (double)made;
		put_duration(out, (uint64_t)(each * (double)(p->total - p->done) / FH_NS_PER_S));
	}
}

/* Cuts the line, from byte `start` on, to the terminal's width: a wrapped line could not be erased. */
static void cut(struct fh_buf *line, size_t start)
{
	unsigned width = fh_term_width(STDERR_FILENO);
	while (line->n > start && fh_term_text_width((struct fh_str){ line->p + start, line->n - start }) >= width) {
		size_t n = line->n - 1;
		while (n > start && ((unsigned char)line->p[n] & 0xC0) == 0x80)
			n--;
		fh_buf_truncate(line, n);
	}
}

static void draw(struct fh_progress *p, int64_t now)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(4096);
	if (p->terminal)
		fh_buf_adds(&line, "\r\x1b[K");
	size_t start = line.n;
	put_line(p, now, &line);
	if (p->terminal)
		cut(&line, start);
	else
		fh_buf_addc(&line, '\n');
	/* When stderr is closed, the work continues without a bar. */
	struct fh_sigpipe_guard guard;
	fh_sigpipe_block(&guard);
	(void)!fh_write_all(STDERR_FILENO, line.p, line.n);
	fh_sigpipe_restore(&guard);
	p->drawn = now;
	p->visible = p->terminal;
}

void fh_progress_step(struct fh_progress *p, uint64_t done, const char *note)
{
	if (!p || p->quiet)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->first_done == UINT64_MAX)
		p->first_done = done ? done - 1 : 0;
	p->done = done;
	if (note) {
		free(p->note);
		p->note = fh_xstrdup(note);
	}
	int64_t now = fh_now_ns();
	bool first = p->terminal && done == 0; /* draw the bar now: the first unit of work may take long */
	if (first || now - p->drawn >= (p->terminal ? DRAW_EVERY_NS : LINE_EVERY_NS))
		draw(p, now);
	pthread_mutex_unlock(&p->lock);
}

void fh_progress_free(struct fh_progress *p)
{
	if (!p)
		return;
	if (p->visible)
		(void)!fh_write_all(STDERR_FILENO, "\r\x1b[K", 4);
	pthread_mutex_destroy(&p->lock);
	free(p->title);
	free(p->note);
	free(p);
}
