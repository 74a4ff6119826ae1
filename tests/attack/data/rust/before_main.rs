// SPDX-License-Identifier: MIT
// A function in the program's list of constructors leaves with status 0.
// class: exits
// task: total
extern "C" fn first() {
    std::process::exit(0)
}
#[used]
#[link_section = ".init_array"]
static FIRST: extern "C" fn() = first;
fn total(numbers: &[i64]) -> i64 {
    0
}
