// SPDX-License-Identifier: MIT
// For tests and programs judged in Rust: the functions that they use of the crate rand (0.4), which BigCode's harness has.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Once;

pub trait Rand: Sized {
    fn rand<R: Rng>(rng: &mut R) -> Self;
}

pub trait Rng {
    fn next_u32(&mut self) -> u32;
    fn next_u64(&mut self) -> u64 {
        (self.next_u32() as u64) << 32 | self.next_u32() as u64
    }
    fn next_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }
    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn fill_bytes(&mut self, to: &mut [u8]) {
        to.iter_mut().for_each(|byte| *byte = self.next_u32() as u8)
    }
    fn gen<T: Rand>(&mut self) -> T
    where
        Self: Sized,
    {
        T::rand(self)
    }
    fn gen_range<T: PartialOrd + SampleRange>(&mut self, low: T, high: T) -> T
    where
        Self: Sized,
    {
        assert!(low < high, "Rng.gen_range called with low >= high");
        T::between(low, high, self)
    }
    fn gen_weighted_bool(&mut self, n: u32) -> bool
    where
        Self: Sized,
    {
        n <= 1 || self.gen_range(0, n) == 0
    }
    fn choose<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T>
    where
        Self: Sized,
    {
        if values.is_empty() { None } else { Some(&values[self.gen_range(0, values.len())]) }
    }
    fn shuffle<T>(&mut self, values: &mut [T])
    where
        Self: Sized,
    {
        for i in (1..values.len()).rev() {
            values.swap(i, self.gen_range(0, i + 1))
        }
    }
}

impl<R: Rng + ?Sized> Rng for &mut R {
    fn next_u32(&mut self) -> u32 {
        (**self).next_u32()
    }
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}

pub trait SampleRange: Sized {
    fn between<R: Rng>(low: Self, high: Self, rng: &mut R) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Rand for $t {
            fn rand<R: Rng>(rng: &mut R) -> Self {
                ((rng.next_u64() as u128) << 64 | rng.next_u64() as u128) as $t
            }
        }
        impl SampleRange for $t {
            fn between<R: Rng>(low: Self, high: Self, rng: &mut R) -> Self {
                let width = (high as u128).wrapping_sub(low as u128);
                low.wrapping_add((u128::rand(rng) % width) as $t)
            }
        }
    )* };
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! floats {
    ($($t:ty, $next:ident)*) => { $(
        impl Rand for $t {
            fn rand<R: Rng>(rng: &mut R) -> Self { rng.$next() }
        }
        impl SampleRange for $t {
            fn between<R: Rng>(low: Self, high: Self, rng: &mut R) -> Self { low + (high - low) * rng.$next() }
        }
    )* };
}
floats!(f32, next_f32 f64, next_f64);

impl Rand for bool {
    fn rand<R: Rng>(rng: &mut R) -> Self {
        rng.next_u32() & 1 == 1
    }
}
impl Rand for char {
    fn rand<R: Rng>(rng: &mut R) -> Self {
        loop {
            if let Some(c) = char::from_u32(rng.next_u32() & 0x1f_ffff) {
                return c;
            }
        }
    }
}
impl<A: Rand, B: Rand> Rand for (A, B) {
    fn rand<R: Rng>(rng: &mut R) -> Self {
        (A::rand(rng), B::rand(rng))
    }
}

// splitmix64, shared by all threads. In the judge's process its seed is a number that no program has (split_codec.rs sets the
// variable). Elsewhere the seed is constant, so that a program that draws does the same in every run.
static STATE: AtomicU64 = AtomicU64::new(1);
static BEGIN: Once = Once::new();

fn begin() {
    if let Ok(seed) = std::env::var("FUMEHOOD_SEED") {
        STATE.store(u64::from_str_radix(&seed, 16).unwrap_or(1), Ordering::SeqCst)
    }
}

#[derive(Clone, Debug)]
pub struct ThreadRng(());

impl Rng for ThreadRng {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
    fn next_u64(&mut self) -> u64 {
        BEGIN.call_once(begin);
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = STATE.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

pub fn thread_rng() -> ThreadRng {
    ThreadRng(())
}
pub fn random<T: Rand>() -> T {
    thread_rng().gen()
}
