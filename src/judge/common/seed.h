/* SPDX-License-Identifier: MIT */
/*
 * Seeds for random numbers on the judge's side. A test with random inputs draws them from generators whose seed only
 * the judge's process has. A program that draws from its own generators gets other numbers, so it cannot predict the
 * test's inputs.
 *
 * A session has a seed, which is a text: a new random one for each session, or one given by the user to repeat a
 * result. The number of each task is derived from the session's seed, the task's name and a draw number, so all samples
 * of a task get the same inputs. If a task's reference does not pass, the self-check tries the next draw number.
 *
 * The drivers read the number as the first 16 bytes of their input (docs/judging.md lists the generators that it
 * seeds).
 */
#pragma once
#include "base/error.h"

enum { FH_SEED_DIGITS = 16, FH_SEED_MAX = 256 /* maximum bytes of a seed given by the user */ };

/* A new random seed of 16 hexadecimal digits, from the kernel. */
int fh_judge_seed_new(char ret[FH_SEED_DIGITS + 1], struct fh_error *err);
/* The number of a task, as 16 hexadecimal digits. */
void fh_judge_seed_of(const char *seed, const char *task_id, unsigned draw, char ret[FH_SEED_DIGITS + 1]);
/* The hash secret of a sample's programs (fh_request.hash_secret): the first if the sample is judged once, so that its
 * verdict is the same on every machine; several in turn if it is judged repeatedly, so that a program which depends on
 * the order of hash tables is found. They are few, because each needs warm interpreters of its own. */
enum { FH_HASH_SECRETS = 4 };
static inline unsigned fh_judge_hash_secret(unsigned turn)
{
	return 1 + turn % FH_HASH_SECRETS;
}
