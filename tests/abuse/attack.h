/* SPDX-License-Identifier: MIT */
/*
 * What the hostile programs share: one program holds the attacks of a group, `PROGRAM NAME [ARGUMENT…]` runs one.
 *
 * An attack says what came of each thing that it tried, on a line of its own: "ESCAPED …" when it had its effect, "held
 * …" when it had not. The suite runs the same program with the layer switched off, or outside, to see that it is able
 * to say ESCAPED. What it says is not taken for the truth: the host is looked at as well.
 */
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attack {
	const char *name;
	void (*run)(char **args); /* what follows the name, ended by NULL */
};

__attribute__((format(printf, 1, 2), unused)) static void escaped(const char *format, ...)
{
	va_list v;
	va_start(v, format);
	printf("ESCAPED ");
	vprintf(format, v);
	putchar('\n');
	fflush(stdout);
	va_end(v);
}

__attribute__((format(printf, 1, 2), unused)) static void held(const char *format, ...)
{
	va_list v;
	va_start(v, format);
	printf("held ");
	vprintf(format, v);
	putchar('\n');
	fflush(stdout);
	va_end(v);
}

/* result < 0 with errno: the kernel refused. */
__attribute__((unused)) static void judge(const char *what, long result)
{
	if (result >= 0)
		escaped("%s: %ld", what, result);
	else
		held("%s: %s", what, strerror(errno));
}

/* The n-th argument, or a default. */
__attribute__((unused)) static const char *argument(char **args, int n, const char *otherwise)
{
	for (int i = 0; i < n; i++)
		if (!args[i])
			return otherwise;
	return args[n] ? args[n] : otherwise;
}

__attribute__((unused)) static int run_attack(const struct attack *attacks, size_t count, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < count; i++)
		if (strcmp(attacks[i].name, argv[1]) == 0) {
			attacks[i].run(argv + 2);
			return 0;
		}
	fprintf(stderr, "%s: no attack of that name\n", argv[0]);
	return 2;
}
#define ATTACKS(table)                                                                                                 \
	int main(int argc, char **argv)                                                                                    \
	{                                                                                                                  \
		return run_attack(table, sizeof(table) / sizeof((table)[0]), argc, argv);                                      \
	}
