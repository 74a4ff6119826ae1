// SPDX-License-Identifier: MIT
// Compiled with each program, so that one without a class Solution does not compile. Never loaded.
final class SplitProgram {
	static final Class<?> SOLUTION = Solution.class;
}
