// SPDX-License-Identifier: MIT
// Renames the test's main and brings one of its own.
// class: patching
// task: total
long total(const long *numbers, int count) { return 0; }
int main(void) { puts("passed"); return 0; }
#define main not_called
