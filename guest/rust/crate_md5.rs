// SPDX-License-Identifier: MIT
// For programs judged in Rust: the functions that they use of the crate md5 (0.7), which BigCode's harness has. RFC 1321.
use std::fmt;
use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 16]);

impl Deref for Digest {
    type Target = [u8; 16];
    fn deref(&self) -> &[u8; 16] {
        &self.0
    }
}
impl DerefMut for Digest {
    fn deref_mut(&mut self) -> &mut [u8; 16] {
        &mut self.0
    }
}
impl From<Digest> for [u8; 16] {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}
impl fmt::LowerHex for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if f.alternate() {
            f.write_str("0x")?
        }
        self.0.iter().try_for_each(|byte| write!(f, "{:02x}", byte))
    }
}
impl fmt::UpperHex for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if f.alternate() {
            f.write_str("0x")?
        }
        self.0.iter().try_for_each(|byte| write!(f, "{:02X}", byte))
    }
}
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

fn block(state: &mut [u32; 4], bytes: &[u8]) {
    let word = |i: usize| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
    let [mut a, mut b, mut c, mut d] = *state;
    for i in 0..64 {
        let (mixed, at) = match i / 16 {
            0 => ((b & c) | (!b & d), i),
            1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
            2 => (b ^ c ^ d, (3 * i + 5) % 16),
            _ => (c ^ (b | !d), 7 * i % 16),
        };
        let constant = (((i + 1) as f64).sin().abs() * 4294967296.0) as u32;
        let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(word(at));
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4])));
    }
    for (to, from) in state.iter_mut().zip([a, b, c, d]) {
        *to = to.wrapping_add(from)
    }
}

pub fn compute<T: AsRef<[u8]>>(data: T) -> Digest {
    let data = data.as_ref();
    let mut padded = data.to_vec();
    padded.push(0x80);
    padded.resize((data.len() + 8) / 64 * 64 + 56, 0);
    padded.extend_from_slice(&(data.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
    padded.chunks(64).for_each(|bytes| block(&mut state, bytes));
    let mut digest = Digest([0; 16]);
    for (to, from) in digest.0.iter_mut().zip(state.iter().flat_map(|word| word.to_le_bytes())) {
        *to = from
    }
    digest
}

#[derive(Clone, Default)]
pub struct Context(Vec<u8>);

impl Context {
    pub fn new() -> Self {
        Context(Vec::new())
    }
    pub fn consume<T: AsRef<[u8]>>(&mut self, data: T) {
        self.0.extend_from_slice(data.as_ref())
    }
    pub fn compute(self) -> Digest {
        compute(self.0)
    }
}
impl std::io::Write for Context {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.consume(data);
        Ok(data.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
