// SPDX-License-Identifier: MIT
// Put in front of a program and its test, in one unit; reports how the test's main ended.
//
// stdin:  the secret of this run, 32 bytes.
// stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// It is linked with -Wl,--wrap=main: the C start-up code calls __wrap_main, which calls the test's own main (which keeps its
// name, and so the implicit `return 0` that only main has; by the symbol that this unit defines, since a program can define
// __real_main itself). A program that calls exit() has reported nothing. The secret
// stays unread in the pipe until the test has ended, and standard input is moved before any constructor of the program
// runs. No header is included, and every C function has a name of ours, so the unit sees exactly the names that it asked
// for.
extern "C" {
long fh_judge_read(int, void *, unsigned long) __asm__("read");
long fh_judge_write(int, const void *, unsigned long) __asm__("write");
int fh_judge_open(const char *, int, ...) __asm__("open");
int fh_judge_close(int) __asm__("close");
int fh_judge_dup2(int, int) __asm__("dup2");
unsigned long fh_judge_strlen(const char *) __asm__("strlen");
[[noreturn]] void fh_judge_abort() __asm__("abort");
[[noreturn]] void fh_judge_assert_fail(const char *, const char *, unsigned, const char *) __asm__("__assert_fail");
int fh_judge_main(int, char **, char **) __asm__("main");
int __wrap_main(int, char **, char **);
}

__attribute__((constructor(101))) static void fh_judge_begin()
{
	fh_judge_dup2(0, 900);
	fh_judge_dup2(1, 901);
	fh_judge_close(0);
	fh_judge_open("/dev/null", 0);
}

static void fh_judge_put(const char *data, unsigned long n)
{
	while (n > 0) {
		long w = fh_judge_write(901, data, n);
		if (w <= 0)
			return;
		data += w;
		n -= w;
	}
}

static void fh_judge_say(const char *verdict, const char *reason)
{
	char secret[32];
	unsigned long have = 0;
	while (have < sizeof(secret)) {
		long r = fh_judge_read(900, secret + have, sizeof(secret) - have);
		if (r <= 0)
			return;
		have += r;
	}
	unsigned long n = fh_judge_strlen(reason);
	if (n > 900)
		n = 900;
	char size[] = { ' ', char('0' + n / 100), char('0' + n / 10 % 10), char('0' + n % 10), '\n' };
	fh_judge_put("\n", 1);
	fh_judge_put(secret, sizeof(secret));
	fh_judge_put(" ", 1);
	fh_judge_put(verdict, fh_judge_strlen(verdict));
	fh_judge_put(size, sizeof(size));
	fh_judge_put(reason, n);
}

static unsigned long fh_judge_add(char *out, unsigned long n, const char *piece)
{
	while (*piece && n < 899)
		out[n++] = *piece++;
	out[n] = 0;
	return n;
}

void fh_judge_assert_fail(const char *assertion, const char *file, unsigned line, const char *)
{
	char reason[900], number[12];
	int at = sizeof(number) - 1;
	number[at] = 0;
	do {
		number[--at] = char('0' + line % 10);
		line /= 10;
	} while (line > 0);
	unsigned long n = fh_judge_add(reason, 0, "assertion failed: ");
	n = fh_judge_add(reason, n, assertion);
	n = fh_judge_add(reason, n, " [");
	n = fh_judge_add(reason, n, file);
	n = fh_judge_add(reason, n, ":");
	n = fh_judge_add(reason, n, number + at);
	fh_judge_add(reason, n, "]");
	fh_judge_say("failed", reason);
	fh_judge_abort();
}

int __wrap_main(int argc, char **argv, char **envp)
{
	int status = fh_judge_main(argc, argv, envp);
	if (status == 0)
		fh_judge_say("passed", "");
	else
		fh_judge_say("failed", "main returned a status other than 0");
	return status;
}
#line 1 "program.cpp"
