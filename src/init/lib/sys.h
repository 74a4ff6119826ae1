/* SPDX-License-Identifier: MIT */
/*
 * System calls and program start without a libc. This is the only file of the project that depends on the processor.
 *
 * fh_sys(number, …) returns the kernel's result: -errno on failure.
 */
#pragma once
#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

static inline long fh_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;
	__asm__ volatile("syscall"
	                 : "=a"(r)
	                 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return r;
}

/* At entry the stack holds argc, argv …, NULL, envp …; its address is passed to fh_init_main. */
#define FH_START                                                                                                       \
	__asm__(".text\n.global _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\t"                 \
	        "call fh_init_main\n\thlt\n")

#elif defined(__aarch64__)

static inline long fh_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}

#define FH_START __asm__(".text\n.global _start\n_start:\n\tmov x29, #0\n\tmov x0, sp\n\tbl fh_init_main\n\tbrk #1\n")

#else
#error "fumehood-init knows x86-64 and aarch64; add this processor's system call and program start here"
#endif

#define FH_SYS_PICK(n, a, b, c, d, e, f, ...)                                                                          \
	fh_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define fh_sys(...) FH_SYS_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* clone(2) on the caller's stack, whose arguments are in another order on each processor: where the new process' id (or
 * with CLONE_PIDFD the descriptor of it) is stored for the parent, and for the child. */
static inline long fh_clone(unsigned long flags, int *for_parent, int *for_child)
{
#if defined(__x86_64__)
	return fh_sys(__NR_clone, flags, 0, for_parent, for_child, 0);
#else
	return fh_sys(__NR_clone, flags, 0, for_parent, 0, for_child);
#endif
}

/* landlock_restrict_self(2). What the domain refuses a program that was forked in it is not to be written to the host's
 * audit log, which the program could fill (flag since Linux 6.15; before, nothing was written). */
static inline long fh_enter_domain(int rules)
{
	enum { LOG_SAME_EXEC_OFF = 1, INVALID = -22 /* -EINVAL */ };
	long r = fh_sys(__NR_landlock_restrict_self, rules, LOG_SAME_EXEC_OFF);
	return r == INVALID ? fh_sys(__NR_landlock_restrict_self, rules, 0) : r;
}
