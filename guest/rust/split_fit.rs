// SPDX-License-Identifier: MIT
// Follows split_codec.rs in crate fh_split, for programs whose function has other types than the declared ones where a test would
// not notice, since a literal takes the number type that is needed. Values are converted one by one; one that the other type
// cannot represent is a panic. A &'static str is as good a result as a String. A program may take references where the declared
// function takes values, or the other way round: a reference that is handed out stays valid for ever.
use std::borrow::Cow;

pub trait Fit<T> {
    fn fit(self) -> T;
}

macro_rules! integers {
    ($from:ty: $($to:ty)*) => { $(
        impl Fit<$to> for $from {
            fn fit(self) -> $to {
                match self.try_into() {
                    Ok(value) => value,
                    Err(_) => panic!("{} does not fit into {}", self, stringify!($to)),
                }
            }
        }
    )* };
    ($($from:ty)*) => { $( integers!($from: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize); )* };
}
integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! as_they_are {
    ($($from:ty => $to:ty),*) => { $(
        impl Fit<$to> for $from {
            fn fit(self) -> $to {
                self as $to
            }
        }
    )* };
}
as_they_are!(f32 => f32, f32 => f64, f64 => f32, f64 => f64, bool => bool, char => char, () => (), String => String);

impl<'a> Fit<&'a str> for &'a str {
    fn fit(self) -> &'a str {
        self
    }
}
impl Fit<String> for &str {
    fn fit(self) -> String {
        self.to_string()
    }
}
impl<'a> Fit<&'a str> for String {
    fn fit(self) -> &'a str {
        Box::leak(self.into_boxed_str())
    }
}
impl Fit<String> for Cow<'_, str> {
    fn fit(self) -> String {
        self.into_owned()
    }
}
impl<'a> Fit<&'a str> for Cow<'_, str> {
    fn fit(self) -> &'a str {
        Box::leak(self.into_owned().into_boxed_str())
    }
}
impl<'a, A: Fit<B>, B: 'a> Fit<&'a B> for A {
    fn fit(self) -> &'a B {
        Box::leak(Box::new(self.fit()))
    }
}
impl<'a, A: Fit<B>, B: 'a> Fit<&'a [B]> for Vec<A> {
    fn fit(self) -> &'a [B] {
        Box::leak(self.into_iter().map(Fit::fit).collect::<Vec<B>>().into_boxed_slice())
    }
}
impl<A: Fit<B>, B> Fit<Box<B>> for Box<A> {
    fn fit(self) -> Box<B> {
        Box::new((*self).fit())
    }
}
impl<A: Fit<B>, B> Fit<Option<B>> for Option<A> {
    fn fit(self) -> Option<B> {
        self.map(Fit::fit)
    }
}
impl<A: Fit<B>, B, E: Fit<F>, F> Fit<Result<B, F>> for Result<A, E> {
    fn fit(self) -> Result<B, F> {
        self.map(Fit::fit).map_err(Fit::fit)
    }
}
impl<A: Fit<B>, B, const N: usize> Fit<[B; N]> for [A; N] {
    fn fit(self) -> [B; N] {
        self.map(Fit::fit)
    }
}
// What equals a Vec with the same items.
impl<A: Fit<B>, B, const N: usize> Fit<Vec<B>> for [A; N] {
    fn fit(self) -> Vec<B> {
        self.into_iter().map(Fit::fit).collect()
    }
}
impl<A: Fit<B>, B> Fit<Vec<B>> for VecDeque<A> {
    fn fit(self) -> Vec<B> {
        self.into_iter().map(Fit::fit).collect()
    }
}

macro_rules! fit_collections {
    ($($name:ident [$($bound:path),*])*) => { $(
        impl<A: Fit<B>, B $(: $bound +)*> Fit<$name<B>> for $name<A> {
            fn fit(self) -> $name<B> {
                self.into_iter().map(Fit::fit).collect()
            }
        }
    )* };
}
fit_collections!(Vec [] VecDeque [] LinkedList [] BinaryHeap [Ord]);

// A test that only looks values up notices no difference between the two kinds.
macro_rules! fit_sets_and_maps {
    ($($set:ident $map:ident from $from_set:ident $from_map:ident [$($bound:path),*])*) => { $(
        impl<A: Fit<B>, B: $($bound +)*> Fit<$set<B>> for $from_set<A> {
            fn fit(self) -> $set<B> {
                self.into_iter().map(Fit::fit).collect()
            }
        }
        impl<A: Fit<B>, B: $($bound +)*, V: Fit<W>, W> Fit<$map<B, W>> for $from_map<A, V> {
            fn fit(self) -> $map<B, W> {
                self.into_iter().map(|(key, value)| (key.fit(), value.fit())).collect()
            }
        }
    )* };
}
fit_sets_and_maps! {
    HashSet HashMap from HashSet HashMap [Eq, Hash]
    HashSet HashMap from BTreeSet BTreeMap [Eq, Hash]
    BTreeSet BTreeMap from BTreeSet BTreeMap [Ord]
    BTreeSet BTreeMap from HashSet HashMap [Ord]
}

macro_rules! fit_tuples {
    ($(($($from:ident $to:ident)*))*) => { $(
        impl<$($from: Fit<$to>, $to),*> Fit<($($to,)*)> for ($($from,)*) {
            #[allow(non_snake_case)]
            fn fit(self) -> ($($to,)*) {
                let ($($from,)*) = self;
                ($($from.fit(),)*)
            }
        }
    )* };
}
fit_tuples!((A P) (A P B Q) (A P B Q C R) (A P B Q C R D S) (A P B Q C R D S E T) (A P B Q C R D S E T F U)
    (A P B Q C R D S E T F U G V) (A P B Q C R D S E T F U G V H W));

// The text of an error of any type, where a String is declared: what it displays, else its debug form, else nothing. The first
// trait that applies is taken, since a method call looks at `&&&T` before `&&T` and `&T`.
pub struct ErrorOf<E>(pub E);
pub trait DisplayedError {
    fn fh_split_text(&self) -> String;
}
impl<E: std::fmt::Display> DisplayedError for &&ErrorOf<E> {
    fn fh_split_text(&self) -> String {
        self.0.to_string()
    }
}
pub trait DebuggedError {
    fn fh_split_text(&self) -> String;
}
impl<E: std::fmt::Debug> DebuggedError for &ErrorOf<E> {
    fn fh_split_text(&self) -> String {
        format!("{:?}", self.0)
    }
}
pub trait SilentError {
    fn fh_split_text(&self) -> String;
}
impl<E> SilentError for ErrorOf<E> {
    fn fh_split_text(&self) -> String {
        String::new()
    }
}
