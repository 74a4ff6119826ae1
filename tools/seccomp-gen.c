/* SPDX-License-Identifier: MIT */
/*
 * Writes the seccomp filter of engine/make/seccomp_policy.c as C, at build time: so the engine needs no library for it,
 * and compiling the filter delays no run. libseccomp's binary tree (optimisation 2) makes loading it cheap: the
 * kernel walks the filter once for each call number.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/make/seccomp_policy.h"
#include "engine/make/seccomp_setup.h"

static uint32_t action(const struct fh_policy_entry *e)
{
	return e->action == FH_ALLOW ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)e->error;
}

/* The AUDIT_ARCH_* value of this machine; libseccomp uses the same numbers. */
static uint32_t native_arch(void)
{
	return seccomp_arch_native();
}

static bool is_conditional(const struct fh_policy_entry *e)
{
	return e->when[0].test != FH_TEST_NONE;
}

static void fail(const char *what, const char *call, int r)
{
	fprintf(stderr, "seccomp-gen: %s %s: %s\n", what, call, strerror(-r));
	exit(1);
}

static bool is_among(const char *const *calls, size_t count, const char *call)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(calls[i], call) == 0)
			return true;
	return false;
}

static bool is_setup(const char *call)
{
	return is_among(fh_seccomp_setup_calls, fh_seccomp_setup_call_count, call);
}

static void add(scmp_filter_ctx c, const struct fh_policy_entry *e, int number)
{
	if (is_conditional(e) || action(e) == (SECCOMP_RET_ERRNO | ENOSYS))
		return; /* in the prefix, or the same as the default action */
	int r = seccomp_rule_add(c, e->action == FH_ALLOW ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(e->error), number, 0);
	if (r < 0)
		fail("cannot add", e->call, r);
}

/* ---------------------------------------------------------------------------------------------------------- prefix */

/* libseccomp lets an unconditional rule replace the conditional ones of the same call, and does not keep their order.
 * So entries with conditions precede its program: a binary search for the call's number, then its entries one after
 * another, and a jump to libseccomp's program if none applies. */
enum { GROUPS_MAX = 64, GROUP_MAX = 512 };
struct group {
	int number;
	struct sock_filter code[GROUP_MAX];
	size_t n;
};
static struct group groups[GROUPS_MAX];
static size_t group_count;

static void emit(struct group *g, uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	if (g->n == GROUP_MAX || jt > 255 || jf > 255)
		fail("too many conditions:", "a call of the policy", -E2BIG);
	g->code[g->n++] = (struct sock_filter){ code, (uint8_t)jt, (uint8_t)jf, k };
}

static const uint16_t load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K;

static size_t condition_size(const struct fh_condition *c)
{
	return c->test == FH_TEST_NULL || c->test == FH_TEST_GIVEN ? 4
	       : c->test == FH_TEST_IS && c->mask != 0xFFFFFFFFu   ? 3
	       : c->test == FH_TEST_NONE                           ? 0
	                                                           : 2;
}

/* Continues with the next instruction if the condition holds, else skips the `rest` instructions that follow. */
static void add_condition(struct group *g, const struct fh_condition *c, size_t rest)
{
	uint32_t low =
	    (uint32_t)(offsetof(struct seccomp_data, args) + 8 * c->arg); /* offset of the low half: little-endian */
	if (c->test == FH_TEST_NONE)
		return;
	emit(g, load, 0, 0, low);
	switch (c->test) {
	case FH_TEST_IS:
		if (c->mask != 0xFFFFFFFFu)
			emit(g, BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
		emit(g, equal, 0, rest, c->value);
		break;
	case FH_TEST_ANY:
		emit(g, BPF_JMP | BPF_JSET | BPF_K, 0, rest, c->mask);
		break;
	case FH_TEST_ABOVE:
		emit(g, BPF_JMP | BPF_JGT | BPF_K, 0, rest, c->value);
		break;
	case FH_TEST_NULL:
		emit(g, equal, 0, rest + 2, 0);
		emit(g, load, 0, 0, low + 4);
		emit(g, equal, 0, rest, 0);
		break;
	default:
		emit(g, equal, 0, 2, 0);
		emit(g, load, 0, 0, low + 4);
		emit(g, equal, rest, 0, 0);
	}
}

static void add_conditional(const struct fh_policy_entry *e, int number)
{
	struct group *g = groups;
	while (g < groups + group_count && g->number != number)
		g++;
	if (g == groups + group_count) {
		if (group_count++ == GROUPS_MAX)
			fail("too many calls with conditions:", e->call, -E2BIG);
		*g = (struct group){ .number = number };
	}
	size_t rest = 1;
	for (int i = 0; i < FH_CONDITIONS_MAX; i++)
		rest += condition_size(&e->when[i]);
	for (int i = 0; i < FH_CONDITIONS_MAX; i++) {
		rest -= condition_size(&e->when[i]);
		add_condition(g, &e->when[i], rest);
	}
	emit(g, BPF_RET | BPF_K, 0, 0, action(e));
}

static int by_group_number(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* `base`: include the rules that set-up needs. */
static void find_groups(bool base)
{
	static const struct fh_policy_entry diagnosis =
	    FH_A_IF("socket", "", FH_IS(0, FH_SETUP_FAMILY), FH_IS(2, FH_SETUP_PROTOCOL));
	group_count = 0;
	if (base)
		add_conditional(&diagnosis, seccomp_syscall_resolve_name("socket"));
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		int number = seccomp_syscall_resolve_name(fh_seccomp_policy[i].call);
		if (is_conditional(&fh_seccomp_policy[i]) && number >= 0)
			add_conditional(&fh_seccomp_policy[i], number);
	}
	qsort(groups, group_count, sizeof(groups[0]), by_group_number);
}

static void write_one(FILE *out, uint16_t code, size_t jt, size_t jf, size_t k)
{
	fprintf(out, "\t{ 0x%04x, %zu, %zu, 0x%08zx },\n", code, jt, jf, k);
}

/* Instructions for one call: the comparison of its number, its entries, loading the number again, and a jump to what
 * follows. */
static size_t groups_size(const struct group *g, size_t n)
{
	return n == 1 ? 2 + g->n + 2 : 2 + groups_size(g, n / 2) + groups_size(g + n / 2, n - n / 2);
}

/* `after`: number of instructions between the end of these and that of the prefix. */
static void write_groups(FILE *out, const struct group *g, size_t n, size_t after)
{
	const uint16_t always = BPF_JMP | BPF_JA;
	if (n == 1) {
		write_one(out, equal, 1, 0, (uint32_t)g->number);
		write_one(out, always, 0, 0, g->n + 2 + after);
		for (size_t i = 0; i < g->n; i++)
			write_one(out, g->code[i].code, g->code[i].jt, g->code[i].jf, g->code[i].k);
		write_one(out, load, 0, 0, offsetof(struct seccomp_data, nr));
		write_one(out, always, 0, 0, after);
		return;
	}
	size_t left = groups_size(g, n / 2), right = groups_size(g + n / 2, n - n / 2);
	write_one(out, BPF_JMP | BPF_JGE | BPF_K, 0, 1, (uint32_t)g[n / 2].number);
	write_one(out, always, 0, 0, left);
	write_groups(out, g, n / 2, after + right);
	write_groups(out, g + n / 2, n - n / 2, after);
}

static size_t write_prefix(FILE *out)
{
	size_t n = groups_size(groups, group_count);
	write_one(out, load, 0, 0, offsetof(struct seccomp_data, arch));
	write_one(out, equal, 1, 0, native_arch());
	write_one(out, BPF_JMP | BPF_JA, 0, 0, n + 1);
	write_one(out, load, 0, 0, offsetof(struct seccomp_data, nr));
	write_groups(out, groups, group_count, 0);
	return n + 4;
}

/* ---------------------------------------------------------------------------------------------------------- policy */

static void write_begin(FILE *out, const char *name)
{
	fprintf(out, "\nconst struct sock_filter %s[] = {\n", name);
}

static void write_end(FILE *out, const char *name, size_t count)
{
	fprintf(out, "};\nconst unsigned short %s_size = %zu;\n", name, count);
}

/* Writes the policy, with the listed calls of set-up allowed; `base`: also the socket of set-up. */
static void write_policy(FILE *out, const char *name, const char *const *allowed, size_t allowed_count, bool base)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!c)
		fail("cannot start", "filter", -ENOMEM);
	seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	seccomp_attr_set(c, SCMP_FLTATR_CTL_NNP, 0);
	if (seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		fail("this libseccomp is too old for a binary tree:", "2.5 is needed", -EINVAL);
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		struct fh_policy_entry e = fh_seccomp_policy[i];
		int number = seccomp_syscall_resolve_name(e.call);
		if (is_setup(e.call) && is_conditional(&e))
			fail("a call of set-up cannot depend on an argument:", e.call, -EINVAL);
		if (is_among(allowed, allowed_count, e.call))
			e.action = FH_ALLOW;
		if (number != __NR_SCMP_ERROR && number >= 0) /* not on this architecture, or newer than the library */
			add(c, &e, number);
	}
	FILE *binary = tmpfile();
	int r = binary ? seccomp_export_bpf(c, fileno(binary)) : -errno;
	if (r < 0)
		fail("cannot export", name, r);
	static uint8_t p[65536];
	lseek(fileno(binary), 0, SEEK_SET);
	ssize_t bytes = read(fileno(binary), p, sizeof(p));
	if (bytes <= 0 || bytes % 8)
		fail("cannot read", "the filter back", -EIO);
	write_begin(out, name);
	find_groups(base);
	size_t prefix = write_prefix(out);
	for (ssize_t i = 0; i < bytes; i += 8)
		fprintf(out, "\t{ 0x%02x%02x, %u, %u, 0x%02x%02x%02x%02x },\n", p[i + 1], p[i], p[i + 2], p[i + 3], p[i + 7],
		        p[i + 6], p[i + 5], p[i + 4]);
	write_end(out, name, prefix + (size_t)bytes / 8);
	fclose(binary);
	seccomp_release(c);
}

/* ------------------------------------------------------------------------------------------------------------ seal */

struct sealed {
	int number;
	uint32_t answer;
};

static int by_number(const void *a, const void *b)
{
	const struct sealed *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void write_instruction(FILE *out, uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	if (jt > 255 || jf > 255)
		fail("the seal has become", "too long for its jumps", -E2BIG);
	fprintf(out, "\t{ 0x%04x, %zu, %zu, 0x%08x },\n", code, jt, jf, k);
}

/* Size of a binary search over the sorted numbers: 3 instructions for one entry, 1 more for each halving. */
static size_t tree_size(size_t n)
{
	return n == 1 ? 3 : 1 + tree_size(n / 2) + tree_size(n - n / 2);
}

static void write_tree(FILE *out, const struct sealed *s, size_t n)
{
	if (n == 1) {
		write_instruction(out, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)s->number);
		write_instruction(out, BPF_RET | BPF_K, 0, 0, s->answer);
		write_instruction(out, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
		return;
	}
	write_instruction(out, BPF_JMP | BPF_JGE | BPF_K, tree_size(n / 2), 0, (uint32_t)s[n / 2].number);
	write_tree(out, s, n / 2);
	write_tree(out, s + n / 2, n - n / 2);
}

/* The base filter refuses other architectures, and the numbers of x32, of which it allows no call. */
static void write_seal(FILE *out, const char *name)
{
	struct sealed list[64];
	size_t n = 0;
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *e = &fh_seccomp_policy[i];
		int number = is_setup(e->call) ? seccomp_syscall_resolve_name(e->call) : -1;
		if (number < 0)
			continue;
		if (e->action == FH_ALLOW || n == sizeof(list) / sizeof(list[0]))
			fail("the policy must refuse, and the seal have room for,", e->call, -EINVAL);
		list[n++] = (struct sealed){ number, action(e) };
	}
	if (n != fh_seccomp_setup_call_count)
		fail("a call of set-up is not in", "the policy", -EINVAL);
	qsort(list, n, sizeof(list[0]), by_number);
	write_begin(out, name);
	write_instruction(out, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	write_instruction(out, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, native_arch());
	write_instruction(out, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	write_instruction(out, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	write_instruction(out, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)seccomp_syscall_resolve_name("socket"));
	write_instruction(out, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args));
	write_instruction(out, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, FH_SETUP_FAMILY);
	write_instruction(out, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
	write_instruction(out, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	write_tree(out, list, n);
	write_end(out, name, 9 + tree_size(n));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seccomp-gen OUTPUT.c\n");
		return 2;
	}
	FILE *out = fopen(argv[1], "w");
	if (!out)
		fail("cannot write", argv[1], -errno);
	fprintf(out, "/* Generated by seccomp-gen from engine/make/seccomp_policy.c: do not edit. */\n"
	             "#include \"engine/make/seccomp.h\"\n");
	write_policy(out, "fh_seccomp_filter", NULL, 0, false);
	write_policy(out, "fh_seccomp_base", fh_seccomp_setup_calls, fh_seccomp_setup_call_count, true);
	write_policy(out, "fh_seccomp_zygote", fh_seccomp_zygote_calls, fh_seccomp_zygote_call_count, false);
	write_seal(out, "fh_seccomp_seal");
	return fclose(out) == 0 ? 0 : 1;
}
