// SPDX-License-Identifier: MIT
/*
 * Writes the seccomp filter of engine/seccomp_policy.c as C: at build time, so that the engine links no library for it
 * and no filter is compiled while somebody waits. libseccomp's binary tree (optimisation 2) is what makes loading it
 * cheap: the kernel walks the filter once for each call number.
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

#include "engine/seccomp_policy.h"

static uint32_t action(enum fh_verdict v)
{
	return v == FH_ALLOW ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(v == FH_EPERM ? EPERM : ENOSYS);
}

/* The value of AUDIT_ARCH_* for what we run on; libseccomp's numbers are the same. */
static uint32_t native_arch(void)
{
	return seccomp_arch_native();
}

/* An exception from an allowed call. */
static bool is_spared(const struct fh_policy_entry *e)
{
	return e->verdict == FH_EPERM && e->compare != FH_CMP_NONE;
}

static void fail(const char *what, const char *call, int r)
{
	fprintf(stderr, "seccomp-gen: %s %s: %s\n", what, call, strerror(-r));
	exit(1);
}

static bool is_setup(const char *call)
{
	for (size_t i = 0; i < fh_seccomp_setup_call_count; i++)
		if (strcmp(fh_seccomp_setup_calls[i], call) == 0)
			return true;
	return false;
}

static void add(scmp_filter_ctx c, const struct fh_policy_entry *e, int number)
{
	uint32_t act = action(e->verdict);
	int r;
	if (act == SCMP_ACT_ERRNO(ENOSYS) || is_spared(e))
		return; /* the default, or part of the prefix */
	if (e->compare == FH_CMP_NONE)
		r = seccomp_rule_add(c, act, number, 0);
	else if (e->compare == FH_CMP_EQ)
		r = seccomp_rule_add(c, act, number, 1, SCMP_CMP64(e->arg, SCMP_CMP_EQ, e->value));
	else
		r = seccomp_rule_add(c, act, number, 1, SCMP_CMP64(e->arg, SCMP_CMP_MASKED_EQ, e->mask, e->value));
	if (r < 0)
		fail("cannot add", e->call, r);
}

/* libseccomp lets an unconditional rule swallow the conditional ones of the same call. So "allowed but for these values
 * of an argument" goes in front of its program: a few instructions that answer EPERM for the spared values and fall
 * through for everything else. */
static size_t write_prefix(FILE *out)
{
	enum { HEAD = 3, EACH = 5, ENTRIES_MAX = (255 - 1) / EACH }; /* jumps go 255 instructions at most */
	struct sock_filter f[HEAD + EACH * ENTRIES_MAX];
	size_t n = HEAD;
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *e = &fh_seccomp_policy[i];
		int number = is_spared(e) ? seccomp_syscall_resolve_name(e->call) : -1;
		if (number < 0)
			continue;
		if (e->mask != 0xFFFFFFFFULL)
			fail("only the low 32 bits can be compared:", e->call, -EINVAL);
		if (n + EACH > sizeof(f) / sizeof(f[0]))
			fail("too many exceptions from allowed calls:", e->call, -E2BIG);
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, EACH - 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		                                      (uint32_t)(offsetof(struct seccomp_data, args) + 8 * e->arg));
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)e->value, 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)EPERM);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	}
	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	f[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, native_arch(), 0, (uint8_t)(n - 2));
	f[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t k = 0; k < n; k++)
		fprintf(out, "\t{ 0x%04x, %u, %u, 0x%08x },\n", f[k].code, f[k].jt, f[k].jf, f[k].k);
	return n;
}

static void write_begin(FILE *out, const char *name)
{
	fprintf(out, "\nconst struct sock_filter %s[] = {\n", name);
}

static void write_end(FILE *out, const char *name, size_t count)
{
	fprintf(out, "};\nconst unsigned short %s_size = %zu;\n", name, count);
}

/* The policy; `base`: with the calls of set-up allowed. */
static void write_policy(FILE *out, const char *name, bool base)
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
		if (is_setup(e.call) && e.compare != FH_CMP_NONE)
			fail("a call of set-up cannot depend on an argument:", e.call, -EINVAL);
		if (base && is_setup(e.call))
			e.verdict = FH_ALLOW;
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

/* A search by halves over the sorted numbers: 3 instructions for one entry, 1 more for each halving. */
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

/* Other architectures are the base's to refuse, as are the numbers of x32: none of their calls is allowed there. */
static void write_seal(FILE *out, const char *name)
{
	struct sealed list[64];
	size_t n = 0;
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *e = &fh_seccomp_policy[i];
		int number = is_setup(e->call) ? seccomp_syscall_resolve_name(e->call) : -1;
		if (number < 0)
			continue;
		if (e->verdict == FH_ALLOW || n == sizeof(list) / sizeof(list[0]))
			fail("the policy must refuse, and the seal have room for,", e->call, -EINVAL);
		list[n++] = (struct sealed){ number, SECCOMP_RET_ERRNO | (uint32_t)(e->verdict == FH_EPERM ? EPERM : ENOSYS) };
	}
	if (n != fh_seccomp_setup_call_count)
		fail("a call of set-up is not in", "the policy", -EINVAL);
	qsort(list, n, sizeof(list[0]), by_number);
	write_begin(out, name);
	write_instruction(out, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	write_instruction(out, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, native_arch());
	write_instruction(out, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	write_instruction(out, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	write_tree(out, list, n);
	write_end(out, name, 4 + tree_size(n));
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
	fprintf(out, "/* Generated by seccomp-gen from engine/seccomp_policy.c: do not edit. */\n"
	             "#include \"engine/seccomp.h\"\n");
	write_policy(out, "fh_seccomp_filter", false);
	write_policy(out, "fh_seccomp_base", true);
	write_seal(out, "fh_seccomp_seal");
	return fclose(out) == 0 ? 0 : 1;
}
