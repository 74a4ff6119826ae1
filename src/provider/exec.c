/* SPDX-License-Identifier: MIT */
#include "provider/exec.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/process/proc.h"
#include "provider/type.h"

#define FH_EXEC_OUTPUT_MAX ((size_t)64 << 20)
#define FH_EXEC_STDERR_MAX ((size_t)1 << 20)
#define FH_EXEC_TIMEOUT_MS 300000
#define FH_EXEC_TIMEOUT_MAX_MS (INT64_C(7) * 86400 * 1000)
#define FH_EXEC_TICK_MS 50
#define FH_EXEC_PIECE 65536
/* The kernel's bound for one argument (MAX_ARG_STRLEN). */
#define FH_EXEC_ARGUMENT_MAX ((size_t)128 * 1024 - 1)

void fh_exec_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static void fh_exec_words_cleanup(char ***words)
{
	fh_exec_free_words(*words);
}

/* Appends the word that starts at **p; moves *p behind it. Returns what is wrong with it, or NULL. */
static const char *fh_exec_word(const char **p, struct fh_buf *word)
{
	char quote = 0;
	for (; **p && (quote || !strchr(" \t\r\n", **p)); (*p)++) {
		if (quote && **p == quote) {
			quote = 0;
		} else if (!quote && (**p == '\'' || **p == '"')) {
			quote = **p;
		} else if (quote != '\'' && **p == '\\') {
			(*p)++;
			if (!**p)
				return "ends with a backslash";
			fh_buf_addc(word, **p);
		} else {
			fh_buf_addc(word, **p);
		}
	}
	return quote ? "has an open quote" : NULL;
}

int fh_exec_split(const char *command, char ***ret, struct fh_error *err)
{
	FH_CLEANUP(fh_exec_words_cleanup) char **words = NULL;
	size_t n = 0, capacity = 0;
	for (const char *p = command; *p;) {
		if (strchr(" \t\r\n", *p)) {
			p++;
			continue;
		}
		struct fh_buf word = FH_BUF_INIT(0);
		const char *wrong = fh_exec_word(&p, &word);
		FH_PUSH(words, n, capacity) = fh_buf_take(&word, NULL);
		FH_PUSH(words, n, capacity) = NULL;
		n--;
		if (wrong)
			return fh_error_set(err, FH_E_CONFIG, "the command %s %s", command, wrong);
	}
	if (!n)
		return fh_error_set(err, FH_E_CONFIG, "no command after exec:");
	*ret = FH_TAKE_PTR(words);
	return 0;
}

/* The length of the escape sequence at s (which starts with ESC): CSI, OSC, or two bytes. */
static size_t fh_exec_escape_length(struct fh_str s)
{
	size_t i = 2;
	if (s.n < 2)
		return s.n;
	if (s.p[1] == '[') {
		while (i < s.n && (unsigned char)s.p[i] >= 0x20 && (unsigned char)s.p[i] < 0x40)
			i++;
		return FH_MIN(i + 1, s.n);
	}
	if (s.p[1] != ']')
		return 2;
	while (i < s.n && s.p[i] != '\a' && s.p[i] != '\033')
		i++;
	return FH_MIN(i + (i < s.n && s.p[i] == '\033' ? 2 : 1), s.n);
}

void fh_exec_plain(struct fh_buf *out, struct fh_str s)
{
	static const char blanks[] = " \t\r\n\v\f";
	while (s.n && strchr(blanks, s.p[s.n - 1]))
		s.n--;
	for (; s.n && strchr(blanks, *s.p); s.n--)
		s.p++;
	for (size_t i = 0; i < s.n;) {
		size_t skip = s.p[i] == '\033' ? fh_exec_escape_length((struct fh_str){ s.p + i, s.n - i }) : 0;
		if (!skip)
			fh_buf_addc(out, s.p[i]);
		i += skip ? skip : 1;
	}
}

static int fh_exec_open(struct fh_provider *p, struct fh_error *err)
{
	char **words;
	int code = fh_exec_split(p->target, &words, err);
	if (code) {
		fh_error_hint(err, "a command is a program and its arguments, for example exec:python3 provider.py");
		return fh_error_wrap(err, "provider %s", p->id);
	}
	p->state = words;
	return 0;
}

static void fh_exec_free(struct fh_provider *p)
{
	fh_exec_free_words(p->state);
}

/* The options {id, config: {…, basePath}} that a program or a script gets. */
static char *fh_exec_options(const struct fh_provider *p, const struct fh_provider_request *request)
{
	fh_auto_json json_t *options = json_object();
	json_t *config = json_is_object(p->config) ? json_copy(p->config) : json_object();
	json_object_set_new(config, "basePath", fh_provider_base_path(p));
	json_object_set_new(options, "id", json_string(p->id));
	json_object_set_new(options, "config", config);
	json_object_set_new(options, "env", json_is_object(p->env) ? json_incref(p->env) : json_object());
	return fh_json_text(options, 0);
}

/* Reads both streams to their end. Returns 0, -FH_E_TIMEOUT, -FH_E_CANCELLED or -FH_E_LIMIT. */
static int fh_exec_read(const struct fh_proc *child, const volatile int *cancel, int64_t deadline, struct fh_buf *out,
                        struct fh_buf *errout, struct fh_error *err)
{
	struct fh_buf *const sinks[] = { out, errout };
	struct pollfd p[] = { { .fd = child->stdio[1], .events = POLLIN }, { .fd = child->stdio[2], .events = POLLIN } };
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (cancel && *cancel)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		if (fh_now_ns() >= deadline)
			return fh_error_set(err, FH_E_TIMEOUT, "too slow");
		if (poll(p, 2, FH_EXEC_TICK_MS) <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			char *room = fh_buf_reserve(sinks[i], FH_EXEC_PIECE);
			if (!room)
				return fh_error_set(err, FH_E_LIMIT, "the command wrote more than %zu bytes", sinks[i]->max);
			ssize_t n = read(p[i].fd, room, FH_EXEC_PIECE);
			if (n > 0)
				sinks[i]->n += (size_t)n;
			else if (n == 0 || errno != EINTR)
				p[i].fd = -1;
		}
	}
	return 0;
}

int fh_exec_run(const struct fh_proc_options *o, const volatile int *cancel, int64_t timeout_ms, struct fh_buf *out,
                struct fh_buf *errout, int *ret_status, struct fh_error *err)
{
	FH_CLEANUP(fh_proc_release) struct fh_proc child = { .stdio = { -1, -1, -1 } };
	int64_t deadline = fh_now_ns() + timeout_ms * FH_NS_PER_MS;
	int code = fh_proc_start(&child, o, err);
	if (!code)
		code = fh_exec_read(&child, cancel, deadline, out, errout, err);
	if (code)
		return code;
	/* Both streams are closed, so the program is about to end; if it keeps running, it is waited for only until the
	 * deadline. */
	int64_t left = (deadline - fh_now_ns()) / FH_NS_PER_MS;
	return fh_proc_wait(&child, FH_MAX(left, 1), ret_status, err);
}

/* Adds a hint when the error names a variable that was withheld from the program: its absence is the likeliest
 * cause. */
static void fh_exec_say_withheld(const struct fh_provider *p, struct fh_provider_response *ret)
{
	const char *name = ret->error ? fh_provider_withheld(p, ret->error) : NULL;
	if (!name)
		return;
	fh_auto_free char *said = FH_TAKE_PTR(ret->error);
	fh_response_fail(ret, "%s (programs do not see %s; --script-env %s passes it on)", said, name, name);
}

static void fh_exec_ended(int status, struct fh_str out, struct fh_str errout, struct fh_provider_response *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_EXEC_OUTPUT_MAX), said = FH_BUF_INIT(FH_EXEC_STDERR_MAX);
	fh_exec_plain(&text, out);
	fh_exec_plain(&said, errout);
	const char *colon = said.n ? ": " : "";
	if (WIFSIGNALED(status)) {
		fh_response_fail(ret, "the command was ended by signal %d%s%s", WTERMSIG(status), colon, fh_buf_cstr(&said));
	} else if (WEXITSTATUS(status)) {
		fh_response_fail(ret, "the command ended with exit code %d%s%s", WEXITSTATUS(status), colon,
		                 fh_buf_cstr(&said));
	} else if (!text.n && said.n) {
		fh_response_fail(ret, "Error: %s", fh_buf_cstr(&said));
	} else {
		ret->output = fh_json_bytes(fh_buf_str(&text));
		ret->raw = fh_json_bytes(out);
	}
}

int fh_exec_call_words(struct fh_provider *p, const char *const *words, const struct fh_provider_request *request,
                       struct fh_provider_response *ret, struct fh_error *err)
{
	if (memchr(request->prompt.p, 0, request->prompt.n)) {
		fh_response_fail(ret, "the prompt holds a NUL, which an argument of a program cannot");
		return 0;
	}
	fh_auto_free char *prompt = fh_xstrndup(request->prompt.p, request->prompt.n);
	fh_auto_free char *options = fh_exec_options(p, request);
	fh_auto_json json_t *known = request->context ? json_copy((json_t *)(uintptr_t)request->context) : json_object();
	json_object_del(known, "originalProvider");
	fh_auto_free char *context = fh_json_text(known, 0);
	if (FH_MAX(strlen(prompt), FH_MAX(strlen(options), strlen(context))) > FH_EXEC_ARGUMENT_MAX) {
		fh_response_fail(ret,
		                 "the prompt, the options or the context is longer than the %zu bytes that an argument of "
		                 "a program may have",
		                 FH_EXEC_ARGUMENT_MAX);
		return 0;
	}
	fh_auto_free const char **argv = NULL;
	size_t n = 0, capacity = 0;
	for (size_t i = 0; words[i]; i++)
		FH_PUSH(argv, n, capacity) = words[i];
	FH_PUSH(argv, n, capacity) = prompt;
	FH_PUSH(argv, n, capacity) = options;
	FH_PUSH(argv, n, capacity) = context;
	FH_PUSH(argv, n, capacity) = NULL;
	int64_t timeout = fh_json_int(p->config, "timeout", p->timeout_ms ? (int64_t)p->timeout_ms : FH_EXEC_TIMEOUT_MS);
	timeout = FH_MIN(FH_MAX(timeout, 1), FH_EXEC_TIMEOUT_MAX_MS);
	fh_auto_free const char **env = fh_provider_script_env(p);
	struct fh_proc_options o = {
		.argv = argv,
		.env = env,
		.cwd = p->base_dir,
		.stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE },
		.own_group = true,
	};
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_EXEC_OUTPUT_MAX), errout = FH_BUF_INIT(FH_EXEC_STDERR_MAX);
	struct fh_error why = FH_ERROR_INIT;
	int status;
	int code = fh_exec_run(&o, p->cancel, timeout, &out, &errout, &status, &why);
	if (code == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "cancelled");
	if (code == -FH_E_TIMEOUT)
		fh_response_fail(ret, "the command took longer than %lld ms", (long long)timeout);
	else if (code)
		fh_response_fail(ret, "%s%s%s%s", why.message, why.hint[0] ? " (" : "", why.hint, why.hint[0] ? ")" : "");
	else
		fh_exec_ended(status, fh_buf_str(&out), fh_buf_str(&errout), ret);
	fh_exec_say_withheld(p, ret);
	return 0;
}

static int fh_exec_call(struct fh_provider *p, const struct fh_provider_request *request,
                        struct fh_provider_response *ret, struct fh_error *err)
{
	return fh_exec_call_words(p, p->state, request, ret, err);
}

static const char *const fh_exec_prefixes[] = { "exec:", NULL };

const struct fh_provider_type fh_provider_exec = {
	.name = "exec",
	.prefixes = fh_exec_prefixes,
	.open = fh_exec_open,
	.call = fh_exec_call,
	.free = fh_exec_free,
};
