// SPDX-License-Identifier: MIT
// Follows a program and its test in one crate, runs the test's functions and reports how they ended. Before it come the
// program, as the crate's root with no_main, and a module fh_test with the test and a list of its functions
// (src/judge/languages/rust_units.c).
//
// stdin:  the secret of this run, 32 bytes.
// stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// A program that calls exit() has reported nothing. The secret stays unread in the pipe until the test has ended, and standard
// input is moved before any constructor of the program runs. Nothing is called by a name that the program may have redefined:
// macros only by their path, and std by a name of ours, because a program may have something called std.
mod fh_judge {
    #![allow(unsafe_code, non_snake_case, unreachable_pub, missing_docs)]
    extern crate std as fh_std;
    use self::fh_std::any::Any;
    use self::fh_std::marker::Send;
    use self::fh_std::mem::forget;
    use self::fh_std::panic::catch_unwind;
    use self::fh_std::prelude::rust_2021::*;
    use self::fh_std::process::exit;

    pub type Tests = &'static [(&'static str, fn())];

    const SECRET_SIZE: usize = 32;
    const REASON_MAX: usize = 900;
    const SECRET: i32 = 900;
    const OUT: i32 = 901;

    extern "C" {
        fn read(from: i32, to: *mut u8, size: usize) -> isize;
        fn write(to: i32, from: *const u8, size: usize) -> isize;
        fn open(path: *const u8, flags: i32, ...) -> i32;
        fn close(descriptor: i32) -> i32;
        fn dup2(from: i32, to: i32) -> i32;
        fn signal(number: i32, action: usize) -> usize;
    }

    extern "C" fn begin() {
        // SAFETY: the descriptors belong to this process, and nothing else has run yet.
        unsafe {
            dup2(0, SECRET);
            dup2(1, OUT);
            close(0);
            open(b"/dev/null\0".as_ptr(), 0);
        }
    }
    #[used]
    #[link_section = ".init_array.00101"]
    static BEGIN: extern "C" fn() = begin;

    struct Message {
        text: [u8; SECRET_SIZE + REASON_MAX + 32],
        size: usize,
    }

    impl Message {
        fn add(&mut self, bytes: &[u8]) {
            self.text[self.size..self.size + bytes.len()].copy_from_slice(bytes);
            self.size += bytes.len();
        }
        fn add_number(&mut self, n: usize) {
            let digits = [n / 100, n / 10 % 10, n % 10].map(|digit| b'0' + digit as u8);
            self.add(&digits);
        }
        // Written by one call, so that no output of another thread can come between.
        fn send(&self) {
            let mut sent = 0;
            while sent < self.size {
                // SAFETY: the first `size` bytes of text are initialised.
                let n = unsafe { write(OUT, self.text.as_ptr().add(sent), self.size - sent) };
                if n <= 0 {
                    return;
                }
                sent += n as usize;
            }
        }
    }

    fn say(verdict: &[u8], reason: &[u8]) {
        let mut secret = [0; SECRET_SIZE];
        let mut have = 0;
        while have < SECRET_SIZE {
            // SAFETY: the rest of `secret` has that length.
            let n = unsafe { read(SECRET, secret.as_mut_ptr().add(have), SECRET_SIZE - have) };
            if n <= 0 {
                return;
            }
            have += n as usize;
        }
        let reason = &reason[..reason.len().min(REASON_MAX)];
        let mut message = Message {
            text: [0; SECRET_SIZE + REASON_MAX + 32],
            size: 0,
        };
        message.add(b"\n");
        message.add(&secret);
        message.add(b" ");
        message.add(verdict);
        message.add(b" ");
        message.add_number(reason.len());
        message.add(b"\n");
        message.add(reason);
        message.send();
    }

    fn text_of(panic: &(dyn Any + Send)) -> &str {
        match panic.downcast_ref::<String>() {
            Some(text) => text,
            None => panic.downcast_ref::<&'static str>().copied().unwrap_or("it panicked"),
        }
    }

    #[export_name = "main"]
    extern "C" fn fh_judge_main() -> i32 {
        const SIGPIPE: i32 = 13;
        const SIG_IGN: usize = 1;
        // As std does before main. SAFETY: no handler is installed.
        unsafe {
            signal(SIGPIPE, SIG_IGN);
        }
        for (name, test) in crate::fh_test::FH_JUDGE_TESTS {
            if let Err(panic) = catch_unwind(*test) {
                say(b"failed", [*name, ": ", text_of(&*panic)].concat().as_bytes());
                forget(panic); // dropping it would run code of the program's
                exit(1)
            }
        }
        say(b"passed", b"");
        exit(0)
    }
}
