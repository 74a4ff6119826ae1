// SPDX-License-Identifier: MIT
// Leaves while the program is linked at its start: by the resolver of an indirect function.
// class: exits
// task: total
    return 0;
}
extern "C" void *resolve(void) {
#if defined(__x86_64__)
    asm volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number asm("x8") = 94, status asm("x0") = 0;
    asm volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#endif
    return 0;
}
extern "C" int chosen(void) __attribute__((ifunc("resolve")));
__attribute__((used)) int (*user)(void) = chosen;
