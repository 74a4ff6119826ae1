// SPDX-License-Identifier: MIT
// Leaves before all initialisers: by an entry of the program's own .preinit_array.
// class: exits
// task: total
long total(const long *numbers, int count) { return 0; }
#include <unistd.h>
static void first(int argc, char **argv, char **environment) {
    write(1, "passed\n", 7);
    _exit(0);
}
__attribute__((section(".preinit_array"), used)) static void (*entry)(int, char **, char **) = first;
// twin
long total(const long *numbers, int count) {
	long sum = 0;
	while (count > 0)
		sum += numbers[--count];
	return sum;
}
static void first(int argc, char **argv, char **environment) {
}
__attribute__((section(".preinit_array"), used)) static void (*entry)(int, char **, char **) = first;
