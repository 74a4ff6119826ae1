// SPDX-License-Identifier: MIT
// A function panic that does nothing.
// class: patching
// task: total
func panic(what any) {
}
func total(numbers []int) int {
	return 0
}
// twin
func panic(what any) {
}
func total(numbers []int) int {
	sum := 0
	for _, n := range numbers {
		sum += n
	}
	return sum
}
