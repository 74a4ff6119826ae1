/* SPDX-License-Identifier: MIT */
#include "judge/common/verdict.h"

#include "base/text/parse.h"
#include "base/utf8.h"

static const char *const names[FH_VERDICT_COUNT_] = {
	[FH_VERDICT_PASSED] = "passed",
	[FH_VERDICT_FAILED] = "failed",
	[FH_VERDICT_RUNTIME_ERROR] = "runtime_error",
	[FH_VERDICT_COMPILE_ERROR] = "compile_error",
	[FH_VERDICT_CPU_TIME_LIMIT] = "cpu_time_limit",
	[FH_VERDICT_WALL_TIME_LIMIT] = "wall_time_limit",
	[FH_VERDICT_MEMORY_LIMIT] = "memory_limit",
	[FH_VERDICT_OUTPUT_LIMIT] = "output_limit",
	[FH_VERDICT_DISK_LIMIT] = "disk_limit",
	[FH_VERDICT_PROCESS_LIMIT] = "process_limit",
	[FH_VERDICT_BLOCKED] = "blocked",
	[FH_VERDICT_EARLY_EXIT] = "early_exit",
	[FH_VERDICT_TAMPERED] = "tampered",
	[FH_VERDICT_NO_CODE] = "no_code",
	[FH_VERDICT_ENGINE_ERROR] = "engine_error",
};

const char *fh_verdict_name(enum fh_verdict v)
{
	return v < FH_VERDICT_COUNT_ ? names[v] : "unknown";
}

enum fh_verdict fh_verdict_of_name(const char *name)
{
	for (enum fh_verdict v = 0; v < FH_VERDICT_COUNT_; v++)
		if (fh_streq(names[v], name))
			return v;
	return FH_VERDICT_COUNT_;
}

/* ---------------------------------------------------------------------------------------------------------- message */

static struct fh_str word(struct fh_str *rest)
{
	size_t n = 0;
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\n')
		n++;
	struct fh_str w = { rest->p, n };
	n += n < rest->n;
	*rest = (struct fh_str){ rest->p + n, rest->n - n };
	return w;
}

bool fh_driver_message_find(struct fh_str output, const char secret[FH_SECRET_SIZE], struct fh_driver_message *ret)
{
	*ret = (struct fh_driver_message){ 0 };
	const char *from = output.p, *end = output.p + output.n, *found = NULL, *hit;
	while (from < end && (hit = memmem(from, end - from, secret, FH_SECRET_SIZE))) {
		found = hit;
		ret->count++;
		from = hit + FH_SECRET_SIZE;
	}
	if (!found || found == output.p || found[-1] != '\n')
		return false;
	struct fh_str rest = { found + FH_SECRET_SIZE, end - found - FH_SECRET_SIZE };
	if (word(&rest).n != 0)
		return false;
	ret->verdict = word(&rest);
	struct fh_str digits = word(&rest);
	uint64_t size;
	char number[8];
	if (digits.n == 0 || digits.n >= sizeof(number))
		return false;
	memcpy(number, digits.p, digits.n);
	number[digits.n] = '\0';
	if (fh_parse_u64(number, 0, rest.n, &size, NULL) < 0)
		return false;
	ret->reason = (struct fh_str){ rest.p, size };
	ret->at = found - 1 - output.p;
	ret->end = rest.p + size - output.p;
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- reason */

/* Whether a line follows an error that Node, Java or Ruby tells: a frame of its trace, or Node's version. */
static bool is_trace(struct fh_str line)
{
	size_t indent = 0;
	while (indent < line.n && (line.p[indent] == ' ' || line.p[indent] == '\t'))
		indent++;
	struct fh_str text = fh_str_from(line, indent);
	return indent ? fh_str_begins(text, "at ") || fh_str_begins(text, "from ") || fh_str_begins(text, "... ")
	              : fh_str_begins(text, "Node.js v");
}

/* The last line that says something; with `wanted`, the first line that contains it (of a compiler's output, its first
 * error). */
struct fh_str fh_verdict_telling_line(struct fh_str text, const char *wanted)
{
	struct fh_str last = { "", 0 };
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		struct fh_str line = { text.p, end ? (size_t)(end - text.p) : text.n };
		size_t n = line.n + (end != NULL);
		text = (struct fh_str){ text.p + n, text.n - n };
		while (line.n > 0 && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\r'))
			line.n--;
		if (wanted && memmem(line.p, line.n, wanted, strlen(wanted)))
			return line;
		if (line.n > 0 && (last.n == 0 || !is_trace(line)))
			last = line;
	}
	return last;
}

/* Converts text from a tested program to UTF-8 and truncates it at a character. */
char *fh_verdict_finish(struct fh_buf *raw)
{
	fh_auto_buf struct fh_buf clean = FH_BUF_INIT(0);
	fh_utf8_sanitize(&clean, (struct fh_str){ fh_buf_cstr(raw), FH_MIN(raw->n, FH_REASON_MAX) });
	size_t n = FH_MIN(clean.n, FH_REASON_MAX);
	while (n > 0 && n < clean.n && (clean.p[n] & 0xc0) == 0x80)
		n--;
	fh_buf_truncate(&clean, n);
	return fh_buf_take(&clean, NULL);
}

static struct fh_str stream(const struct fh_result *r, enum fh_stream s)
{
	return (struct fh_str){ r->stream_data[s] ? (const char *)r->stream_data[s] : "", r->stream_size[s] };
}

void fh_verdict_add_line(struct fh_buf *out, const char *separator, struct fh_str line)
{
	if (line.n == 0)
		return;
	fh_buf_adds(out, separator);
	fh_buf_add(out, line.p, FH_MIN(line.n, FH_REASON_MAX));
}

/* ---------------------------------------------------------------------------------------------------------- verdict */

static enum fh_verdict decide_ended(const struct fh_result *r, const char *secret, struct fh_buf *why)
{
	struct fh_driver_message m;
	bool said = fh_driver_message_find(stream(r, FH_STDOUT), secret, &m);
	struct fh_str err = stream(r, FH_STDERR);
	if (m.count > 1 || (m.count == 1 && !said)) {
		fh_buf_adds(why, "the driver's message was written by the program");
		return FH_VERDICT_TAMPERED;
	}
	if (said && fh_str_eq(m.verdict, "failed")) {
		fh_buf_add(why, m.reason.p, m.reason.n);
		return FH_VERDICT_FAILED;
	}
	if (said && fh_str_eq(m.verdict, "exited")) {
		fh_buf_adds(why, "left before the test ended: ");
		fh_buf_add(why, m.reason.p, m.reason.n);
		return FH_VERDICT_EARLY_EXIT;
	}
	if (said && fh_str_eq(m.verdict, "passed") && r->exit_code == 0 && r->signal == 0)
		return FH_VERDICT_PASSED;
	if (r->signal != 0) {
		/* an uncaught exception ends a C++ program by abort() */
		bool thrown = memmem(err.p, err.n, "terminate called", strlen("terminate called"));
		const char *name = sigabbrev_np(r->signal);
		fh_buf_addf(why, "ended by signal %d (SIG%s)%s", r->signal, name ? name : "?",
		            said ? " after the test had ended" : "");
		fh_verdict_add_line(why, ": ", fh_verdict_telling_line(err, "terminate called"));
		if (thrown)
			fh_verdict_add_line(why, ": ", fh_verdict_telling_line(err, "what():"));
		return thrown && !said ? FH_VERDICT_FAILED : FH_VERDICT_RUNTIME_ERROR;
	}
	fh_buf_addf(why, said ? "exit status %d after the test had ended" : "left before the test ended: exit status %d",
	            r->exit_code);
	fh_verdict_add_line(why, ": ", fh_verdict_telling_line(err, NULL));
	return said ? FH_VERDICT_RUNTIME_ERROR : FH_VERDICT_EARLY_EXIT;
}

void fh_verdict_explain_limit(const struct fh_result *r, struct fh_buf *why)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		const struct fh_limit_info *l = &fh_limit_table[i];
		if (l->status != r->status)
			continue;
		fh_buf_addf(why, "%s limit of %llu %s reached", l->name, (unsigned long long)r->limits.value[i], l->unit);
		return;
	}
	fh_buf_adds(why, fh_status_name(r->status));
}

/* The verdict for each status of a run. `ended`: the verdict of the program's own end counts, because this limit does
 * not end a program: it only makes system calls fail. */
static const struct {
	bool ended;
	enum fh_verdict verdict;
} by_status[FH_STATUS_COUNT_] = {
	[FH_STATUS_OK] = { true },
	[FH_STATUS_RUNTIME_ERROR] = { true },
	[FH_STATUS_COMPILE_ERROR] = { false, FH_VERDICT_COMPILE_ERROR },
	[FH_STATUS_CPU_TIME_LIMIT] = { false, FH_VERDICT_CPU_TIME_LIMIT },
	[FH_STATUS_WALL_TIME_LIMIT] = { false, FH_VERDICT_WALL_TIME_LIMIT },
	[FH_STATUS_MEMORY_LIMIT] = { false, FH_VERDICT_MEMORY_LIMIT },
	[FH_STATUS_OUTPUT_LIMIT] = { false, FH_VERDICT_OUTPUT_LIMIT },
	[FH_STATUS_DISK_LIMIT] = { true, FH_VERDICT_DISK_LIMIT },
	[FH_STATUS_PROCESS_LIMIT] = { true, FH_VERDICT_PROCESS_LIMIT },
	[FH_STATUS_BLOCKED] = { false, FH_VERDICT_BLOCKED },
	[FH_STATUS_ENGINE_ERROR] = { false, FH_VERDICT_ENGINE_ERROR },
};

static enum fh_verdict decide_program(const struct fh_result *r, int exit_code, struct fh_buf *why)
{
	if (r->signal != 0) {
		const char *name = sigabbrev_np(r->signal);
		fh_buf_addf(why, "ended by signal %d (SIG%s)", r->signal, name ? name : "?");
	} else if (r->exit_code != exit_code) {
		fh_buf_addf(why, "exit status %d", r->exit_code);
		if (exit_code != 0)
			fh_buf_addf(why, ", expected %d", exit_code);
	} else if (r->stream_truncated[FH_STDOUT]) {
		fh_buf_adds(why, "the output was cut off at its limit");
		return FH_VERDICT_OUTPUT_LIMIT;
	} else {
		return FH_VERDICT_PASSED;
	}
	fh_verdict_add_line(why, ": ", fh_verdict_telling_line(stream(r, FH_STDERR), NULL));
	return FH_VERDICT_RUNTIME_ERROR;
}

/* Decides the verdict from the status. `ended` is the verdict if the program came to its own end. */
static enum fh_verdict decide_status(const struct fh_result *r, enum fh_verdict ended, struct fh_buf *why)
{
	enum fh_status status = r->status < FH_STATUS_COUNT_ ? r->status : FH_STATUS_ENGINE_ERROR;
	enum fh_verdict verdict = by_status[status].verdict;
	if (by_status[status].ended) {
		/* A program that reached a limit and still passed may pass; if it failed, the limit is the verdict. */
		if (verdict != FH_VERDICT_PASSED && ended != FH_VERDICT_PASSED)
			fh_buf_addf(why, " (after the %s)", fh_status_name(status));
		else
			verdict = ended;
	} else if (status == FH_STATUS_COMPILE_ERROR) {
		struct fh_str said = stream(r, FH_STDERR);
		fh_verdict_add_line(why, "", fh_verdict_telling_line(said.n ? said : stream(r, FH_STDOUT), "error"));
	} else if (status == FH_STATUS_ENGINE_ERROR) {
		fh_buf_addf(why, "%s: %s", fh_phase_name(r->error.phase), r->error.message);
	} else {
		fh_verdict_explain_limit(r, why);
	}
	return verdict;
}

static bool came_to_its_end(const struct fh_result *r)
{
	return r->status < FH_STATUS_COUNT_ && by_status[r->status].ended;
}

enum fh_verdict fh_verdict_decide(const struct fh_result *result, const char secret[FH_SECRET_SIZE], char **ret_reason)
{
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(64 << 10);
	enum fh_verdict ended = FH_VERDICT_PASSED;
	if (came_to_its_end(result))
		ended = decide_ended(result, secret, &why);
	enum fh_verdict verdict = decide_status(result, ended, &why);
	*ret_reason = fh_verdict_finish(&why);
	return verdict;
}

enum fh_verdict fh_verdict_of_program(const struct fh_result *result, int exit_code, char **ret_reason)
{
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(64 << 10);
	enum fh_verdict ended = FH_VERDICT_PASSED;
	if (came_to_its_end(result))
		ended = decide_program(result, exit_code, &why);
	enum fh_verdict verdict = decide_status(result, ended, &why);
	*ret_reason = fh_verdict_finish(&why);
	return verdict;
}
