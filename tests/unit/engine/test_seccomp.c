/* SPDX-License-Identifier: MIT */
/* The seccomp filters as the kernel would evaluate them: the base and the seal together answer as the whole policy. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <cmocka.h>
#include <seccomp.h>

#include "engine/make/seccomp.h"
#include "engine/make/seccomp_policy.h"
#include "engine/make/seccomp_setup.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#else
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* Classic BPF as far as seccomp filters use it (kernel/seccomp.c, seccomp_check_filter). */
static uint32_t evaluate(const struct sock_filter *f, size_t n, const struct seccomp_data *d)
{
	uint32_t a = 0;
	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &f[pc];
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k + 4 <= sizeof(*d));
			memcpy(&a, (const char *)d + i->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %#x at %zu is none that this test knows", i->code, pc);
		}
	}
	fail_msg("the filter runs over its end");
	return 0;
}

static uint32_t whole(const struct seccomp_data *d)
{
	return evaluate(fh_seccomp_filter, fh_seccomp_filter_size, d);
}

static uint32_t base(const struct seccomp_data *d)
{
	return evaluate(fh_seccomp_base, fh_seccomp_base_size, d);
}

static uint32_t zygote(const struct seccomp_data *d)
{
	return evaluate(fh_seccomp_zygote, fh_seccomp_zygote_size, d);
}

static uint32_t seal(const struct seccomp_data *d)
{
	return evaluate(fh_seccomp_seal, fh_seccomp_seal_size, d);
}

/* What the kernel makes of two filters: the action that comes first, of equal ones the newer filter's (seccomp(2)). */
static uint32_t both(uint32_t older, uint32_t newer)
{
	return (int32_t)(older & SECCOMP_RET_ACTION_FULL) < (int32_t)(newer & SECCOMP_RET_ACTION_FULL) ? older : newer;
}

/* Every value that the policy tests for, its neighbours, and high bits that the kernel does not look at. */
static size_t argument_values(uint64_t *ret, size_t max)
{
	size_t n = 0;
	static const uint64_t always[] = { FH_SETUP_FAMILY, FH_SETUP_PROTOCOL,     0,           1, 2, UINT64_MAX,
		                               CLONE_NEWUSER,   CLONE_NEWNS | SIGCHLD, CLONE_THREAD };
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		ret[n++] = always[i];
	for (size_t i = 0; i < fh_seccomp_policy_count; i++)
		for (int w = 0; w < FH_CONDITIONS_MAX; w++) {
			const struct fh_condition *c = &fh_seccomp_policy[i].when[w];
			const uint64_t values[] = { c->value, c->value + 1, c->value - 1, c->value | 1ULL << 40, c->mask };
			for (size_t k = 0; c->test != FH_TEST_NONE && k < 5; k++) {
				bool known = false;
				for (size_t o = 0; o < n; o++)
					known = known || ret[o] == values[k];
				assert_true(n < max);
				if (!known)
					ret[n++] = values[k];
			}
		}
	return n;
}

static void check(const struct seccomp_data *d)
{
	uint32_t expected = whole(d), sealed = seal(d), got = both(base(d), sealed), warm = both(zygote(d), sealed);
	if (expected != got || expected != warm)
		fail_msg("call %d of %#x (%llx, %llx, %llx): the policy answers %#x, base and seal together %#x, those of a "
		         "zygote's program %#x",
		         d->nr, d->arch, d->args[0], d->args[1], d->args[2], expected, got, warm);
}

/* Beside what any program may do, a zygote enters namespaces and clones. */
static void a_zygote_may_set_up_nothing_else(void **state)
{
	static const struct {
		int call;
		bool allowed;
	} calls[] = { { SYS_setns, true },  { SYS_clone3, true },   { SYS_unshare, false },
		          { SYS_mount, false }, { SYS_umount2, false }, { SYS_ptrace, false } };
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data d = { .nr = calls[i].call, .arch = NATIVE_ARCH };
		assert_int_equal(zygote(&d) == SECCOMP_RET_ALLOW, calls[i].allowed);
	}
}

static bool holds(const struct fh_condition *c, const struct seccomp_data *d)
{
	uint64_t v = d->args[c->arg];
	switch (c->test) {
	case FH_TEST_NONE:
		return true;
	case FH_TEST_IS:
		return ((uint32_t)v & c->mask) == c->value;
	case FH_TEST_ANY:
		return (uint32_t)v & c->mask;
	case FH_TEST_ABOVE:
		return (uint32_t)v > c->value;
	case FH_TEST_NULL:
		return v == 0;
	case FH_TEST_GIVEN:
		return v != 0;
	}
	return false;
}

/* What the table says, by its own words: the first entry with conditions that hold, else the one without. */
static uint32_t table(const struct seccomp_data *d)
{
	const struct fh_policy_entry *found = NULL;
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *e = &fh_seccomp_policy[i];
		bool conditional = e->when[0].test != FH_TEST_NONE, applies = true;
		if (seccomp_syscall_resolve_name(e->call) != d->nr)
			continue;
		for (int w = 0; w < FH_CONDITIONS_MAX; w++)
			applies = applies && holds(&e->when[w], d);
		if (!applies)
			continue;
		found = e;
		if (conditional)
			break;
	}
	return !found                      ? SECCOMP_RET_ERRNO | ENOSYS
	       : found->action == FH_ALLOW ? SECCOMP_RET_ALLOW
	                                   : SECCOMP_RET_ERRNO | (uint32_t)found->error;
}

/* Arguments of a call at which each of its entries applies, as the table writes them, and each with one bit changed. */
static void the_filter_says_what_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < fh_seccomp_policy_count; i++) {
		const struct fh_policy_entry *e = &fh_seccomp_policy[i];
		struct seccomp_data d = { .nr = seccomp_syscall_resolve_name(e->call), .arch = NATIVE_ARCH };
		if (d.nr < 0)
			continue;
		for (int w = 0; w < FH_CONDITIONS_MAX; w++) {
			const struct fh_condition *c = &e->when[w];
			d.args[c->arg] = c->test == FH_TEST_ANY     ? c->mask & -c->mask
			                 : c->test == FH_TEST_ABOVE ? c->value + 1
			                 : c->test == FH_TEST_GIVEN ? 1ULL << 40
			                 : c->test == FH_TEST_NONE  ? d.args[c->arg]
			                                            : c->value;
		}
		assert_int_equal(whole(&d), table(&d));
		for (int arg = 0; arg < 6; arg++)
			for (int bit = 0; bit < 64; bit++) {
				struct seccomp_data other = d;
				other.args[arg] ^= 1ULL << bit;
				if (whole(&other) != table(&other))
					fail_msg("%s (%llx, %llx, %llx, %llx): the table says %#x, the filter %#x", e->call, other.args[0],
					         other.args[1], other.args[2], other.args[3], table(&other), whole(&other));
			}
	}
}

static void base_and_seal_together_are_the_policy(void **state)
{
	static uint64_t values[1024];
	size_t count = argument_values(values, 1024);
	(void)state;
	for (int nr = -1; nr < 1024; nr++)
		for (size_t i = 0; i < count; i++)
			for (int arg = 0; arg < 3; arg++) {
				struct seccomp_data d = { .nr = nr, .arch = NATIVE_ARCH };
				d.args[arg] = values[i];
				check(&d);
				d.nr = nr | 0x40000000; /* x32 */
				check(&d);
			}
}

static void base_and_seal_refuse_other_architectures_as_the_policy_does(void **state)
{
	static const uint32_t others[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64LE, 0 };
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		for (int nr = 0; nr < 1024; nr++) {
			struct seccomp_data d = { .nr = nr, .arch = others[i] };
			check(&d);
			assert_int_equal(both(base(&d), seal(&d)), SECCOMP_RET_ERRNO | ENOSYS);
		}
}

static void only_the_seal_stands_between_a_program_and_the_calls_of_set_up(void **state)
{
	static const struct {
		int nr, error;
	} calls[] = {
		{ SYS_umount2, EPERM },
		{ SYS_setns, EPERM },
		{ SYS_unshare, EPERM },
		{ SYS_clone3, ENOSYS },
		{ SYS_mount, EPERM },
		{ SYS_fsopen, ENOSYS },
		{ SYS_fsmount, ENOSYS },
		{ SYS_fsconfig, ENOSYS },
		{ SYS_open_tree, ENOSYS },
		{ SYS_move_mount, ENOSYS },
		{ SYS_mount_setattr, ENOSYS },
		{ SYS_openat2, ENOSYS },
		{ SYS_seccomp, EINVAL },
		{ SYS_landlock_create_ruleset, EOPNOTSUPP },
		{ SYS_landlock_add_rule, EOPNOTSUPP },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data d = { .nr = calls[i].nr, .arch = NATIVE_ARCH };
		assert_int_equal(base(&d), SECCOMP_RET_ALLOW);
		assert_int_equal(seal(&d), SECCOMP_RET_ERRNO | calls[i].error);
		assert_int_equal(whole(&d), SECCOMP_RET_ERRNO | calls[i].error);
	}
	assert_int_equal(fh_seccomp_setup_call_count, sizeof(calls) / sizeof(calls[0]));
}

static void what_programs_must_never_have_is_refused_by_the_base_alone(void **state)
{
	static const int calls[] = { SYS_ptrace,      SYS_process_vm_readv, SYS_io_uring_setup, SYS_bpf,
		                         SYS_keyctl,      SYS_pivot_root,       SYS_chroot,         SYS_reboot,
		                         SYS_init_module, SYS_userfaultfd,      SYS_pidfd_getfd,    SYS_open_by_handle_at };
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data d = { .nr = calls[i], .arch = NATIVE_ARCH };
		assert_int_equal(base(&d) & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	}
	struct seccomp_data namespaces = { .nr = SYS_clone, .arch = NATIVE_ARCH, .args = { CLONE_NEWUSER } };
	assert_int_equal(base(&namespaces) & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	struct seccomp_data plain = { .nr = SYS_read, .arch = NATIVE_ARCH };
	assert_int_equal(both(base(&plain), seal(&plain)), SECCOMP_RET_ALLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_filter_says_what_the_table_says),
		cmocka_unit_test(a_zygote_may_set_up_nothing_else),
		cmocka_unit_test(base_and_seal_together_are_the_policy),
		cmocka_unit_test(base_and_seal_refuse_other_architectures_as_the_policy_does),
		cmocka_unit_test(only_the_seal_stands_between_a_program_and_the_calls_of_set_up),
		cmocka_unit_test(what_programs_must_never_have_is_refused_by_the_base_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
