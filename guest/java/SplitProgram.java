// SPDX-License-Identifier: MIT
// Compiled with each program, so that one without the class under test, whose name is put in here for
// Solution, does not compile. Never loaded.
final class SplitProgram {
	static final Class<?> SOLUTION = Solution.class;
}
