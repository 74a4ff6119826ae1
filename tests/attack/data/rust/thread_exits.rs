// SPDX-License-Identifier: MIT
// Spins while a thread leaves with status 0.
// class: resources
// task: total
fn total(numbers: &[i64]) -> i64 {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::process::exit(0)
    });
    loop {
        std::hint::spin_loop()
    }
}
