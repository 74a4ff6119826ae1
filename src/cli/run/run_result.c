/* SPDX-License-Identifier: MIT */
#include "cli/run/run_result.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/shared/print.h"

enum {
	EXIT_COMPILE = 1,
	EXIT_LIMIT = 122, /* a limit other than of time was reached: memory, output, disk or processes */
	EXIT_TIME = 124,  /* the exit status that timeout(1) uses */
	EXIT_ENGINE = 125,
	EXIT_CANNOT = 126, /* the program was found but cannot be executed, as in shells */
	EXIT_MISSING = 127,
};

const char fh_run_exit_help[] = "Exit status: the program's own, or 128 + N when signal N ended it; and\n"
                                "  1    it does not compile (the compiler's own status, if it has another)\n"
                                "  2    the command line is wrong\n"
                                "  122  a limit on memory, output, disk or processes was reached\n"
                                "  123  its output or a file of --out could not be written (said in place of 0)\n"
                                "  124  a limit on CPU or wall time ended it\n"
                                "  125  it could not be run as asked (engine error)\n"
                                "  126  the program cannot be started, or the scanner refused it\n"
                                "  127  the program, the interpreter or the compiler is not there\n"
                                "  130  interrupted by Ctrl-C; the sandbox is gone";

/* ---------------------------------------------------------------------------------------------------------- output */

void fh_run_output_init(struct fh_run_output *o, bool raw, volatile int *cancel)
{
	*o = (struct fh_run_output){ .cancel = cancel };
	o->escape[FH_STDOUT] = !raw && isatty(STDOUT_FILENO) == 1;
	o->escape[FH_STDERR] = !raw && isatty(STDERR_FILENO) == 1;
}

static void put(struct fh_run_output *o, enum fh_stream stream, struct fh_str s)
{
	int fd = stream == FH_STDERR ? STDERR_FILENO : STDOUT_FILENO;
	fh_auto_buf struct fh_buf shown = FH_BUF_INIT(0);
	if (o->escape[stream]) {
		fh_escape_terminal(&shown, s, true);
		s = fh_buf_str(&shown);
	}
	fh_print_bytes(fd, s);
	if (fh_print_lost() && o->cancel)
		*o->cancel = SIGPIPE;
}

/* Number of bytes at the end of s that begin an incomplete UTF-8 character. */
static size_t unfinished(struct fh_str s)
{
	for (size_t back = 1; back <= 3 && back <= s.n; back++) {
		unsigned char c = (unsigned char)s.p[s.n - back];
		if ((c & 0xC0) == 0x80)
			continue;
		size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
		return need > back ? back : 0;
	}
	return 0;
}

void fh_run_output_write(void *context, enum fh_stream stream, const void *data, size_t n)
{
	struct fh_run_output *o = context;
	if (stream == FH_DRIVER)
		return; /* what a program writes to its driver stream is for the caller: only --json shows it */
	if (!o->escape[stream]) {
		put(o, stream, (struct fh_str){ data, n });
		return;
	}
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_add(&text, o->held[stream], o->held_n[stream]);
	fh_buf_add(&text, data, n);
	size_t keep = unfinished(fh_buf_str(&text));
	memcpy(o->held[stream], text.p + text.n - keep, keep);
	o->held_n[stream] = keep;
	put(o, stream, (struct fh_str){ text.p, text.n - keep });
}

void fh_run_output_end(struct fh_run_output *o)
{
	for (int i = FH_STDOUT; i <= FH_STDERR; i++) {
		put(o, i, (struct fh_str){ o->held[i], o->held_n[i] });
		o->held_n[i] = 0;
	}
}

/* ----------------------------------------------------------------------------------------------------------- files */

char *fh_run_out_name(const char *option)
{
	return fh_xstrndup(option, strcspn(option, ":"));
}

int fh_run_outs_open(const struct fh_opt_list *outs, struct fh_place **ret, struct fh_error *err)
{
	struct fh_place *places = fh_xcalloc(outs->count + 1, sizeof(*places));
	int r = 0;
	for (size_t i = 0; i < outs->count; i++)
		places[i] = (struct fh_place)FH_PLACE_INIT;
	for (size_t i = 0; r == 0 && i < outs->count; i++) {
		const char *colon = strchr(outs->items[i], ':');
		fh_auto_free char *name = fh_run_out_name(outs->items[i]);
		const char *base = fh_path_base(name);
		if (colon && fh_streq(colon, ":-")) {
			r = fh_error_set(err, FH_E_ARGUMENT, "- is not the name of a file here");
			fh_error_hint(err, "name a file, such as %s:./- for one of that name", name);
			break;
		}
		r = fh_place_prepare(colon && colon[1] ? colon + 1 : base, base, &places[i], err);
	}
	*ret = places;
	return r < 0 ? fh_error_wrap(err, "option --out") : 0;
}

void fh_run_outs_close(const struct fh_opt_list *outs, struct fh_place *places)
{
	for (size_t i = 0; places && i < outs->count; i++)
		fh_place_release(&places[i]);
	free(places);
}

static const struct fh_out_file *find_out(const struct fh_result *r, const char *name)
{
	fh_auto_free char *clean = fh_path_clean(name);
	for (size_t i = 0; i < r->out_count; i++)
		if (fh_streq(r->outs[i].name, clean))
			return &r->outs[i];
	return NULL;
}

/* Says on stderr why a file is missing. `reason` comes from the sandbox. */
static void say_missing(const char *name, const char *reason)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(4096);
	fh_escape_terminal(&line, fh_str(name), false);
	fh_buf_adds(&line, ": ");
	fh_escape_terminal(&line, fh_str(reason), false);
	fprintf(stderr, "fumehood: no output file %s\n", fh_buf_cstr(&line));
	if (strchr(name, '='))
		fprintf(stderr, "hint: to write it to another place, put a colon in between: --out NAME:DEST\n");
}

size_t fh_run_write_outs(const struct fh_result *r, const struct fh_opt_list *outs, const struct fh_place *places)
{
	size_t missing = 0;
	for (size_t i = 0; i < outs->count; i++) {
		struct fh_error err = FH_ERROR_INIT;
		fh_auto_free char *name = fh_run_out_name(outs->items[i]);
		const struct fh_out_file *f = find_out(r, name);
		bool written = f && !f->refused && fh_place_write(&places[i], f->data, f->size, 0644, &err) == 0;
		if (!f || f->refused)
			say_missing(name, f ? f->refused : "nothing ran");
		else if (!written)
			(void)fh_command_failed(&err, FH_RUN_EXIT_LOST);
		missing += !written;
	}
	return missing;
}

/* --------------------------------------------------------------------------------------------------- how it ended */

static void limit_text(enum fh_limit limit, uint64_t value, char *buf, size_t size)
{
	const char *unit = fh_limit_table[limit].unit;
	if (fh_streq(unit, "ms"))
		snprintf(buf, size, "%g s", (double)value / 1000);
	else if (fh_streq(unit, "bytes") && value >= 1 << 20)
		snprintf(buf, size, "%g MiB", (double)value / (1 << 20));
	else
		snprintf(buf, size, "%llu %s", (unsigned long long)value, unit);
}

void fh_run_explain_end(const struct fh_result *r)
{
	if (r->status == FH_STATUS_ENGINE_ERROR) {
		fh_command_failed(&r->error, 0);
		return;
	}
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		char text[64];
		if (!(r->fired >> i & 1))
			continue;
		limit_text(i, r->limits.value[i], text, sizeof(text));
		fprintf(stderr, "fumehood: %s: limit of %s reached (--%s)\n", fh_limit_table[i].name, text,
		        fh_limit_table[i].option);
	}
	if (r->fired == 0 && r->signal > 0)
		fprintf(stderr, "fumehood: ended by signal %d (%s)\n", r->signal, strsignal(r->signal));
	else if (r->status == FH_STATUS_COMPILE_ERROR && r->fired == 0)
		fprintf(stderr, "fumehood: the program does not compile\n");
}

int fh_run_error_status(const struct fh_error *err)
{
	if (err->code == FH_E_ARGUMENT || err->code == FH_E_CONFIG)
		return FH_EXIT_USAGE;
	if (err->code == FH_E_NOT_FOUND || err->sys == ENOENT)
		return EXIT_MISSING;
	return err->phase == FH_PHASE_SPAWN ? EXIT_CANNOT : EXIT_ENGINE;
}

static int own_status(const struct fh_result *r)
{
	return r->signal > 0 ? 128 + r->signal : r->exit_code < 0 ? FH_EXIT_FAILED : r->exit_code;
}

static int compile_status(const struct fh_result *r)
{
	return r->exit_code > 0 ? r->exit_code : EXIT_COMPILE;
}

static int engine_status(const struct fh_result *r)
{
	int status = fh_run_error_status(&r->error);
	return status == FH_EXIT_USAGE ? EXIT_ENGINE : status;
}

int fh_run_exit_status(const struct fh_result *r)
{
	static const struct {
		int status;
		int (*of)(const struct fh_result *r);
	} table[FH_STATUS_COUNT_] = {
		[FH_STATUS_OK] = { .of = own_status },
		[FH_STATUS_RUNTIME_ERROR] = { .of = own_status },
		[FH_STATUS_COMPILE_ERROR] = { .of = compile_status },
		[FH_STATUS_CPU_TIME_LIMIT] = { EXIT_TIME },
		[FH_STATUS_WALL_TIME_LIMIT] = { EXIT_TIME },
		[FH_STATUS_MEMORY_LIMIT] = { EXIT_LIMIT },
		[FH_STATUS_OUTPUT_LIMIT] = { EXIT_LIMIT },
		[FH_STATUS_DISK_LIMIT] = { EXIT_LIMIT },
		[FH_STATUS_PROCESS_LIMIT] = { EXIT_LIMIT },
		[FH_STATUS_BLOCKED] = { EXIT_CANNOT },
		[FH_STATUS_ENGINE_ERROR] = { .of = engine_status },
	};
	return table[r->status].of ? table[r->status].of(r) : table[r->status].status;
}
