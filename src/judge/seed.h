/* SPDX-License-Identifier: MIT */
/*
 * Chance on the judge's side. A test that draws its inputs draws them from generators that begin at a number which only
 * the judge's process has: a program that draws from its own generators gets other ones, and so cannot give back what
 * it was never told.
 *
 * A session has one seed, a text: drawn anew for each session, or given by the user to repeat a result. Each task's
 * number is made of the session's seed, the task's name and a count of draws: all samples of a task meet the same
 * inputs. Where a task's reference does not pass with one draw the self-check tries the next.
 *
 * The languages' drivers take the number as the first 16 bytes of what they read (docs/judging.md tells which
 * generators begin at it).
 */
#pragma once
#include "base/error.h"
#include "judge/formats/problem.h"

enum { FH_SEED_DIGITS = 16, FH_SEED_MAX = 256 /* bytes of a seed that is given */ };

/* A new one, of 16 hexadecimal digits, from the kernel. */
int fh_judge_seed_new(char ret[FH_SEED_DIGITS + 1], struct fh_error *err);
/* A task's number, as 16 hexadecimal digits. */
void fh_judge_seed_of(const char *seed, const char *task_id, unsigned draw, char ret[FH_SEED_DIGITS + 1]);
/* With which number the hash tables of a sample's programs begin (fh_request.hash_secret): the first where it is judged
 * once, so that its verdict is the same on every machine and day, and several in turn where it is judged again and
 * again, so that one which hangs on their order is seen. Each has warm interpreters of its own: there are few. */
enum { FH_HASH_SECRETS = 4 };
static inline unsigned fh_judge_hash_secret(unsigned turn)
{
	return 1 + turn % FH_HASH_SECRETS;
}
/* Whether the test's text mentions a source of chance. By look: it may do so and draw nothing. */
bool fh_judge_draws(const struct fh_judge_problem *p);
