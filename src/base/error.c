/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/escape.h"

#include <errno.h>
#include <stdio.h>

static const char *const code_names[FH_CODE_COUNT_] = {
	[FH_OK] = "ok",
	[FH_E_ARGUMENT] = "argument",
	[FH_E_CONFIG] = "config",
	[FH_E_NOT_FOUND] = "not_found",
	[FH_E_SYSTEM] = "system",
	[FH_E_LIMIT] = "limit",
	[FH_E_PROTOCOL] = "protocol",
	[FH_E_TIMEOUT] = "timeout",
	[FH_E_CANCELLED] = "cancelled",
	[FH_E_UNAVAILABLE] = "unavailable",
	[FH_E_BUG] = "bug",
};

static const char *const phase_names[FH_PHASE_COUNT_] = {
	[FH_PHASE_NONE] = "none",     [FH_PHASE_CONNECT] = "connect", [FH_PHASE_PLAN] = "plan",
	[FH_PHASE_CREATE] = "create", [FH_PHASE_FILES] = "files",     [FH_PHASE_SPAWN] = "spawn",
	[FH_PHASE_RUN] = "run",       [FH_PHASE_DESTROY] = "destroy",
};

const char *fh_code_name(enum fh_code code)
{
	return (unsigned)code < FH_ARRAY_SIZE(code_names) ? code_names[code] : "unknown";
}

const char *fh_phase_name(enum fh_phase phase)
{
	return (unsigned)phase < FH_ARRAY_SIZE(phase_names) ? phase_names[phase] : "unknown";
}

static void start(struct fh_error *err, enum fh_code code)
{
	*err = (struct fh_error){ .code = code };
}

static FH_PRINTF(2, 0) void set_message(struct fh_error *err, const char *format, va_list args)
{
	vsnprintf(err->message, sizeof(err->message), format, args);
}

/* Copies text and cuts it between characters, so that valid UTF-8 stays valid. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);
	if (from[n])
		while (n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80)
			n--;
	memmove(to, from, n);
	to[n] = '\0';
}

int fh_error_set(struct fh_error *err, enum fh_code code, const char *format, ...)
{
	if (!err)
		return -(int)code;
	va_list args;
	va_start(args, format);
	start(err, code);
	set_message(err, format, args);
	va_end(args);
	return -(int)code;
}

int fh_error_sys(struct fh_error *err, int sys, const char *format, ...)
{
	if (!err)
		return -FH_E_SYSTEM;
	va_list args;
	va_start(args, format);
	start(err, FH_E_SYSTEM);
	set_message(err, format, args);
	va_end(args);
	err->sys = sys;
	err->retryable = sys == EAGAIN || sys == EINTR || sys == EMFILE || sys == ENFILE || sys == ENOMEM;
	const char *why = strerrordesc_np(sys);
	size_t n = strlen(err->message);
	if (why)
		snprintf(err->message + n, sizeof(err->message) - n, ": %s", why);
	else
		snprintf(err->message + n, sizeof(err->message) - n, ": error %d", sys);
	return -FH_E_SYSTEM;
}

int fh_error_at(struct fh_error *err, const char *file, uint32_t line, uint32_t column, const char *format, ...)
{
	if (!err)
		return -FH_E_CONFIG;
	va_list args;
	va_start(args, format);
	start(err, FH_E_CONFIG);
	set_message(err, format, args);
	va_end(args);
	copy_text(err->file, sizeof(err->file), file ? file : "");
	err->line = line;
	err->column = column;
	return -FH_E_CONFIG;
}

int fh_error_wrap(struct fh_error *err, const char *format, ...)
{
	/* Without an error struct the code is unknown, but the call did fail. */
	if (!err)
		return -FH_E_BUG;
	char context[sizeof(err->message)], old[sizeof(err->message)];
	va_list args;
	va_start(args, format);
	vsnprintf(context, sizeof(context), format, args);
	va_end(args);
	copy_text(old, sizeof(old), err->message);
	/* The cause matters more than the context, so the context is cut if both do not fit. */
	size_t n = strlen(old), room = sizeof(err->message) - 1 - n;
	size_t lead = room > 2 ? FH_MIN(strlen(context), room - 2) : 0;
	if (lead > 0) {
		memcpy(err->message, context, lead);
		memcpy(err->message + lead, ": ", 2);
		memcpy(err->message + lead + 2, old, n + 1);
	}
	return -(int)err->code;
}

void fh_error_hint(struct fh_error *err, const char *format, ...)
{
	if (!err)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

const char *fh_error_text(const struct fh_error *err, char *buf, size_t size)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	if (err->file[0]) {
		fh_escape_terminal(&out, fh_str(err->file), false);
		if (err->line)
			fh_buf_addf(&out, ":%u", err->line);
		if (err->line && err->column)
			fh_buf_addf(&out, ":%u", err->column);
		fh_buf_adds(&out, ": ");
	}
	fh_escape_terminal(&out, fh_str(err->message), false);
	if (err->hint[0]) {
		fh_buf_adds(&out, "\nhint: ");
		fh_escape_terminal(&out, fh_str(err->hint), false);
	}
	if (size)
		copy_text(buf, size, fh_buf_cstr(&out));
	return buf;
}
