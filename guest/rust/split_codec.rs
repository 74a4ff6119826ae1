// SPDX-License-Identifier: MIT
// Both sides of split judging in Rust; src/judge/languages/rust_units.c makes the rest of each. The judge's crate has this as its
// module split, with the test and a stand-in that calls `call`. For the candidate this is a separate crate, fh_split; the
// program is the root of the other crate, with no_main, followed by `program!`.
//
// Calls:    length (4 bytes), word (C call, E end), id (16), the arguments.
// Replies:  length (4 bytes), id (16), word: R the result and then each argument that the function takes by &mut; P the
//           message of a panic; L too large to cross; E the answer to E.
// Numbers are little-endian. Both ends know the types from the signature; a type without a codec does not compile, when
// the task is loaded. fd 3, fd 4: calls and replies. fd 5: the verdict, as split_judge.js describes it.
#![allow(dead_code)]
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fs::File;
use std::hash::{BuildHasher, Hash};
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};

pub const FRAME_MAX: usize = 8 << 20;
const DEPTH_MAX: u32 = 500;

pub struct Broken;
pub type Got<T> = Result<T, Broken>;

pub struct Reader<'a> {
    pub left: &'a [u8],
    depth: u32,
}

impl<'a> Reader<'a> {
    pub fn new(left: &'a [u8]) -> Self {
        Reader { left, depth: 0 }
    }
    fn take(&mut self, n: usize) -> Got<&'a [u8]> {
        if n > self.left.len() {
            return Err(Broken);
        }
        let (now, later) = self.left.split_at(n);
        self.left = later;
        Ok(now)
    }
    // Of a spoiler's answer the arguments are empty, whatever the result took.
    pub fn begin_arguments(&mut self) {
        if spoiler().is_some() {
            self.left = &NOTHING;
        }
    }
    // The items of a slice, which a spoiler cannot make shorter.
    pub fn items<T: Get>(&mut self, n: usize) -> Got<Vec<T>> {
        if spoiler().is_none() {
            return Vec::get(self);
        }
        let mut items = Vec::new();
        for _ in 0..n {
            self.begin_arguments();
            items.push(T::get(self)?);
        }
        Ok(items)
    }
    // Every item takes at least one byte, except (), for which the count is small.
    fn count(&mut self) -> Got<usize> {
        let n = u32::get(self)? as usize;
        if n > self.left.len() { Err(Broken) } else { Ok(n) }
    }
}

pub trait Put {
    fn put(&self, out: &mut Vec<u8>);
}
pub trait Get: Sized {
    fn get(from: &mut Reader) -> Got<Self>;
}

// Whether one of the decoded values was NaN or an infinity.
static NOT_FINITE: AtomicBool = AtomicBool::new(false);

macro_rules! numbers {
    ($note:ident: $($t:ty)*) => { $(
        impl Put for $t {
            fn put(&self, out: &mut Vec<u8>) { out.extend_from_slice(&self.to_le_bytes()) }
        }
        impl Get for $t {
            fn get(from: &mut Reader) -> Got<Self> {
                let value = <$t>::from_le_bytes(from.take(std::mem::size_of::<$t>())?.try_into().map_err(|_| Broken)?);
                $note!(value);
                Ok(value)
            }
        }
    )* };
}
macro_rules! whole {
    ($value:ident) => {};
}
macro_rules! noted {
    ($value:ident) => {
        if !$value.is_finite() {
            NOT_FINITE.store(true, Ordering::SeqCst)
        }
    };
}
numbers!(whole: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
numbers!(noted: f32 f64);

impl Put for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8)
    }
}
impl Get for bool {
    fn get(from: &mut Reader) -> Got<Self> {
        match u8::get(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Broken),
        }
    }
}
impl Put for char {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u32).put(out)
    }
}
impl Get for char {
    fn get(from: &mut Reader) -> Got<Self> {
        char::from_u32(u32::get(from)?).ok_or(Broken)
    }
}
impl Put for () {
    fn put(&self, _: &mut Vec<u8>) {}
}
impl Get for () {
    fn get(_: &mut Reader) -> Got<Self> {
        Ok(())
    }
}

fn put_count(n: usize, out: &mut Vec<u8>) {
    (n.min(u32::MAX as usize) as u32).put(out)
}

impl Put for str {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        out.extend_from_slice(self.as_bytes())
    }
}
impl Put for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_str().put(out)
    }
}
impl Get for String {
    fn get(from: &mut Reader) -> Got<Self> {
        let n = from.count()?;
        String::from_utf8(from.take(n)?.to_vec()).map_err(|_| Broken)
    }
}
// Values decoded behind a reference are kept until the process ends.
impl Get for &'static str {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Box::leak(String::get(from)?.into_boxed_str()))
    }
}
impl<T: Get> Get for &'static T {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Box::leak(Box::new(T::get(from)?)))
    }
}
impl<T: Put + ?Sized> Put for &T {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out)
    }
}
impl<T: Put + ?Sized> Put for &mut T {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out)
    }
}
impl<T: Put + ?Sized> Put for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out)
    }
}
impl<T: Get> Get for Box<T> {
    fn get(from: &mut Reader) -> Got<Self> {
        from.depth += 1;
        if from.depth > DEPTH_MAX {
            return Err(Broken);
        }
        let value = T::get(from)?;
        from.depth -= 1;
        Ok(Box::new(value))
    }
}

impl<T: Put> Put for [T] {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for item in self {
            if out.len() > FRAME_MAX {
                return;
            }
            item.put(out)
        }
    }
}
impl<T: Put, const N: usize> Put for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_slice().put(out)
    }
}
impl<T: Get, const N: usize> Get for [T; N] {
    fn get(from: &mut Reader) -> Got<Self> {
        Vec::<T>::get(from)?.try_into().map_err(|_| Broken)
    }
}
impl<T: Put> Put for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_slice().put(out)
    }
}
impl<T: Get> Get for Vec<T> {
    fn get(from: &mut Reader) -> Got<Self> {
        let n = from.count()?;
        let mut items = Vec::new();
        for _ in 0..n {
            items.push(T::get(from)?)
        }
        Ok(items)
    }
}

macro_rules! collections {
    ($($name:ident [$($bound:path),*])*) => { $(
        impl<T: Put> Put for $name<T> {
            fn put(&self, out: &mut Vec<u8>) {
                put_count(self.len(), out);
                for item in self.iter() { item.put(out) }
            }
        }
        impl<T: Get $(+ $bound)*> Get for $name<T> {
            fn get(from: &mut Reader) -> Got<Self> {
                Ok(Vec::<T>::get(from)?.into_iter().collect())
            }
        }
    )* };
}
collections!(VecDeque [] LinkedList [] BTreeSet [Ord] BinaryHeap [Ord]);

impl<T: Put, S> Put for HashSet<T, S> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for item in self.iter() {
            item.put(out)
        }
    }
}
impl<T: Get + Eq + Hash, S: BuildHasher + Default> Get for HashSet<T, S> {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Vec::<T>::get(from)?.into_iter().collect())
    }
}
impl<K: Put, V: Put, S> Put for HashMap<K, V, S> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for (key, value) in self.iter() {
            key.put(out);
            value.put(out)
        }
    }
}
impl<K: Get + Eq + Hash, V: Get, S: BuildHasher + Default> Get for HashMap<K, V, S> {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Vec::<(K, V)>::get(from)?.into_iter().collect())
    }
}
impl<K: Put, V: Put> Put for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for (key, value) in self.iter() {
            key.put(out);
            value.put(out)
        }
    }
}
impl<K: Get + Ord, V: Get> Get for BTreeMap<K, V> {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Vec::<(K, V)>::get(from)?.into_iter().collect())
    }
}

// Values of type Any cross if their type is one of these.
macro_rules! any {
    ($($number:literal $t:ty,)*) => {
        impl Put for dyn Any {
            fn put(&self, out: &mut Vec<u8>) {
                $( if let Some(value) = self.downcast_ref::<$t>() {
                    out.push($number);
                    return value.put(out);
                } )*
                if SERVES.load(Ordering::SeqCst) {
                    panic!("a result of a type that cannot cross")
                }
                say("unfit", "an argument cannot cross: its type is not one of those that dyn Any may be")
            }
        }
        impl Get for Box<dyn Any> {
            fn get(from: &mut Reader) -> Got<Self> {
                from.depth += 1;
                if from.depth > DEPTH_MAX {
                    return Err(Broken);
                }
                let value: Box<dyn Any> = match u8::get(from)? {
                    $( $number => Box::new(<$t>::get(from)?), )*
                    _ => return Err(Broken),
                };
                from.depth -= 1;
                Ok(value)
            }
        }
    };
}
any! {
    1 i8, 2 i16, 3 i32, 4 i64, 5 i128, 6 isize, 7 u8, 8 u16, 9 u32, 10 u64, 11 u128, 12 usize, 13 f32, 14 f64, 15 bool, 16 char,
    17 (), 18 String, 19 &'static str, 20 Vec<i32>, 21 Vec<i64>, 22 Vec<f64>, 23 Vec<char>, 24 Vec<String>, 25 Vec<&'static str>,
    26 Vec<Box<dyn Any>>, 27 Box<dyn Any>, 28 Option<i32>, 29 Vec<u8>, 30 Vec<f32>, 31 Vec<bool>,
}
impl Get for &'static dyn Any {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(Box::leak(Box::<dyn Any>::get(from)?))
    }
}

impl<T: Put> Put for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out)
        }
    }
}
impl<T: Get> Get for Option<T> {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}
impl<T: Put, E: Put> Put for Result<T, E> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_ok().put(out);
        match self {
            Ok(value) => value.put(out),
            Err(error) => error.put(out),
        }
    }
}
impl<T: Get, E: Get> Get for Result<T, E> {
    fn get(from: &mut Reader) -> Got<Self> {
        Ok(if bool::get(from)? { Ok(T::get(from)?) } else { Err(E::get(from)?) })
    }
}

macro_rules! tuples {
    ($(($($t:ident)*))*) => { $(
        impl<$($t: Put),*> Put for ($($t,)*) {
            #[allow(non_snake_case)]
            fn put(&self, out: &mut Vec<u8>) {
                let ($($t,)*) = self;
                $($t.put(out);)*
            }
        }
        impl<$($t: Get),*> Get for ($($t,)*) {
            fn get(from: &mut Reader) -> Got<Self> {
                Ok(($($t::get(from)?,)*))
            }
        }
    )* };
}
tuples!((A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H));

// ------------------------------------------------------------------------------------------------------------- frames

fn descriptor(number: i32) -> ManuallyDrop<File> {
    // SAFETY: this process inherited the descriptor, and it stays open.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

fn send(body: &[u8]) -> bool {
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    descriptor(4).write_all(&frame).is_ok()
}

enum Frame {
    Whole(Vec<u8>),
    End,
    Wrong,
}

fn receive() -> Frame {
    let mut from = descriptor(3);
    let mut size = [0; 4];
    if from.read_exact(&mut size[..1]).is_err() {
        return Frame::End;
    }
    if from.read_exact(&mut size[1..]).is_err() || u32::from_le_bytes(size) as usize > FRAME_MAX {
        return Frame::Wrong;
    }
    let mut body = vec![0; u32::from_le_bytes(size) as usize];
    if from.read_exact(&mut body).is_err() { Frame::Wrong } else { Frame::Whole(body) }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
}

// -------------------------------------------------------------------------------------------------------------- judge

static CALLS: AtomicU64 = AtomicU64::new(0);

pub fn say(word: &str, reason: &str) -> ! {
    let mut text = reason.as_bytes();
    text = &text[..text.len().min(900)];
    let mut message = format!("{} {} {}\n", word, CALLS.load(Ordering::SeqCst), text.len()).into_bytes();
    message.extend_from_slice(text);
    let said = descriptor(5).write_all(&message).is_ok();
    std::process::exit(if said && word == "passed" { 0 } else { 1 })
}

static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(()); // a test may call from several threads

fn exchange(word: u8, arguments: &[u8]) -> Vec<u8> {
    let mut id = [0; 16];
    if File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut id)).is_err() {
        std::process::exit(3)
    }
    let mut body = vec![word];
    body.extend_from_slice(&id);
    body.extend_from_slice(arguments);
    if body.len() > FRAME_MAX {
        say("unfit", "an argument cannot cross: it is too large")
    }
    let _turn = TURN.lock();
    if !send(&body) {
        say("gone", "the program ended before it was called")
    }
    match receive() {
        Frame::End => say("gone", "the program ended and gave no answer"),
        Frame::Wrong => say("tampered", "a reply that no program gives: no whole frame"),
        Frame::Whole(reply) if reply.len() > 16 && reply[..16] == id => reply[16..].to_vec(),
        Frame::Whole(_) => say("tampered", "a reply to no call"),
    }
}

// What becomes of arguments: 0 they are copies, 1 what the function changes comes back, a and b: no candidate is asked, the
// arguments are emptied, and the result is that of so many bytes that are 0, or of a 1 and so many.
static ARGUMENTS: AtomicU8 = AtomicU8::new(b'1');
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];

pub fn changes() -> bool {
    ARGUMENTS.load(Ordering::SeqCst) != b'0'
}

fn spoiler() -> Option<Vec<u8>> {
    let word = ARGUMENTS.load(Ordering::SeqCst);
    if word < b'a' {
        return None;
    }
    let mut answer = NOTHING.to_vec();
    answer[0] = word - b'a';
    Some(answer)
}

// The body of the stand-in. take: decodes the result and the arguments that are sent back.
pub fn call<R>(arguments: Vec<u8>, take: impl FnOnce(&mut Reader) -> Got<R>) -> R {
    if let Some(answer) = spoiler() {
        CALLS.fetch_add(1, Ordering::SeqCst);
        return take(&mut Reader::new(&answer)).unwrap_or_else(|_| say("failed", "there is no empty value of its type"));
    }
    let reply = exchange(b'C', &arguments);
    let mut reader = Reader::new(&reply[1..]);
    match reply[0] {
        b'R' => match take(&mut reader) {
            Ok(result) if reader.left.is_empty() => {
                CALLS.fetch_add(1, Ordering::SeqCst);
                result
            }
            _ => say("tampered", "a reply that no program gives: it has no such value"),
        },
        b'P' => match String::get(&mut reader) {
            Ok(message) if reader.left.is_empty() => {
                CALLS.fetch_add(1, Ordering::SeqCst);
                panic!("{}", message)
            }
            _ => say("tampered", "a reply that no program gives: a panic without a message"),
        },
        b'L' => say("failed", "what the program returned is too large to cross"),
        _ => say("tampered", "a reply of no known kind"),
    }
}

// Sets the seed of guest/rust/crate_rand.rs. Only the judge's process has the variable. Behind the seed stands what becomes of
// arguments.
fn begin_chance() {
    let mut given = [0; 17];
    if let Err(error) = std::io::Read::read_exact(&mut std::io::stdin(), &mut given) {
        say("broken", &format!("no seed came: {}", error))
    }
    std::env::set_var("FUMEHOOD_SEED", String::from_utf8_lossy(&given[..16]).as_ref());
    ARGUMENTS.store(given[16], Ordering::SeqCst);
}

pub fn judge(tests: &[(&str, fn())]) -> ! {
    begin_chance();
    for (name, test) in tests {
        if let Err(panic) = catch_unwind(*test) {
            say("failed", &format!("{}: {}", name, text_of(&*panic)))
        }
    }
    if CALLS.load(Ordering::SeqCst) == 0 {
        say("broken", "the test called nothing")
    }
    if exchange(b'E', &[]) != b"E" {
        say("tampered", "a reply to no call")
    }
    say("passed", if NOT_FINITE.load(Ordering::SeqCst) { "not finite" } else { "" })
}

// ---------------------------------------------------------------------------------------------------------- candidate

static SERVES: AtomicBool = AtomicBool::new(false);

// answer: decodes the arguments, calls the function, and encodes the result and the changed arguments.
pub fn serve(answer: impl Fn(&mut Reader, &mut Vec<u8>) -> Got<()>) {
    SERVES.store(true, Ordering::SeqCst);
    while let Frame::Whole(body) = receive() {
        if body.len() < 17 {
            break;
        }
        let start = |word: u8| {
            let mut reply = body[1..17].to_vec();
            reply.push(word);
            reply
        };
        if body[0] == b'E' {
            send(&start(b'E'));
            break;
        }
        let mut reply = start(b'R');
        match catch_unwind(AssertUnwindSafe(|| answer(&mut Reader::new(&body[17..]), &mut reply))) {
            Ok(Ok(())) if reply.len() <= FRAME_MAX => {}
            Ok(Ok(())) => reply = start(b'L'),
            Ok(Err(Broken)) => break,
            Err(panic) => {
                reply = start(b'P');
                text_of(&*panic).chars().take(900).collect::<String>().put(&mut reply)
            }
        }
        send(&reply);
    }
}

extern "C" {
    fn signal(number: i32, action: usize) -> usize;
}

// As std does before main: ignores SIGPIPE, so that writing to a closed pipe returns an error.
pub fn start() {
    const SIGPIPE: i32 = 13;
    const SIG_IGN: usize = 1;
    // SAFETY: no handler is installed.
    unsafe {
        signal(SIGPIPE, SIG_IGN);
    }
}

// For `program!`, in case the program has its own Vec, Box or String.
pub use std::{boxed::Box, result::Result::Ok, string::String, vec::Vec};

// The C main, which calls the program's function. In a macro of another crate, it is not subject to the program's lints: one that
// forbids unsafe code does not apply. `const _` keeps its definitions private.
#[macro_export]
macro_rules! program {
    (|$from:ident, $to:ident| { $($body:tt)* }) => {
        const _: () = {
            #[export_name = "main"]
            pub extern "C" fn fh_split_main() -> i32 {
                $crate::start();
                $crate::serve(|$from, $to| { $($body)* $crate::Ok(()) });
                0
            }
        };
    };
}
