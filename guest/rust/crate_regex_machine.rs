// SPDX-License-Identifier: MIT
// For programs judged in Rust: the automaton below the crate regex (crate_regex.rs, which follows this text in one crate). It
// follows all alternatives at once (Pike), so its time is linear in the text, and finds the same match as backtracking: the
// leftmost one, preferring the earlier alternative. Syntax that is missing here (set operations, most properties) is an error.
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Index, Range};

#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    Syntax(String),
    CompiledTooBig(usize),
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Syntax(what) => write!(f, "regex parse error: {}", what),
            Error::CompiledTooBig(limit) => write!(f, "compiled regex exceeds size limit of {}", limit),
        }
    }
}
impl std::error::Error for Error {}

// ------------------------------------------------------------------------------------------------------------- syntax

#[derive(Clone, Debug)]
enum Item {
    Range(char, char),
    Is(fn(char) -> bool, bool),
    Set(Set),
}
#[derive(Clone, Debug, Default)]
struct Set {
    items: Vec<Item>,
    negated: bool,
    any_case: bool,
}
impl Set {
    fn has(&self, c: char) -> bool {
        let has = |c: char| {
            self.items.iter().any(|item| match item {
                Item::Range(from, to) => (*from..=*to).contains(&c),
                Item::Is(is, wanted) => is(c) == *wanted,
                Item::Set(set) => set.has(c),
            })
        };
        let found = has(c) || (self.any_case && (c.to_lowercase().any(has) || c.to_uppercase().any(has)));
        found != self.negated
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric() && !c.is_alphabetic())
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Start,
    End,
    LineStart,
    LineEnd,
    Word,
    NotWord,
}

enum Node {
    Char(Set),
    Place(Place),
    Group(usize, Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>, bool),
}

#[derive(Clone, Copy, Default)]
struct Flags {
    any_case: bool,
    lines: bool,
    dot_all: bool,
    swap_greed: bool,
    blanks: bool,
}

#[derive(Default)]
struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    groups: usize,
    names: HashMap<String, usize>,
    flags: Flags,
}

type Parsed<T> = Result<T, Error>;

fn wrong<T>(what: &str) -> Parsed<T> {
    Err(Error::Syntax(what.to_string()))
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }
    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += found as usize;
        found
    }
    fn next(&mut self) -> Parsed<char> {
        self.at += 1;
        self.text.get(self.at - 1).copied().map_or_else(|| wrong("unexpected end of the pattern"), Ok)
    }
    fn until(&mut self, end: char) -> Parsed<String> {
        let mut word = String::new();
        loop {
            match self.next()? {
                c if c == end => return Ok(word),
                c => word.push(c),
            }
        }
    }
    fn set(&self, items: Vec<Item>) -> Node {
        Node::Char(Set { items, negated: false, any_case: self.flags.any_case })
    }

    fn alternatives(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > 200 {
            return wrong("nested too deeply");
        }
        let flags = self.flags;
        let mut ways = vec![self.sequence()?];
        while self.eat('|') {
            ways.push(self.sequence()?)
        }
        self.flags = flags;
        self.depth -= 1;
        Ok(if ways.len() == 1 { ways.remove(0) } else { Node::Any(ways) })
    }

    fn sequence(&mut self) -> Parsed<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            self.at += 1;
            if self.flags.blanks && c == '#' {
                while self.peek().map_or(false, |c| c != '\n') {
                    self.at += 1
                }
            } else if !(self.flags.blanks && c.is_whitespace()) {
                let node = self.one(c)?;
                nodes.push(self.repeated(node)?)
            }
        }
        Ok(Node::All(nodes))
    }

    fn one(&mut self, c: char) -> Parsed<Node> {
        Ok(match c {
            '(' => self.group()?,
            '[' => Node::Char(self.class()?),
            '.' if self.flags.dot_all => self.set(vec![Item::Range('\0', char::MAX)]),
            '.' => Node::Char(Set { items: vec![Item::Range('\n', '\n')], negated: true, any_case: false }),
            '^' => Node::Place(if self.flags.lines { Place::LineStart } else { Place::Start }),
            '$' => Node::Place(if self.flags.lines { Place::LineEnd } else { Place::End }),
            '*' | '+' | '?' | '{' => return wrong("repetition operator missing expression"),
            '\\' => match self.peek() {
                Some('b') => self.place(Place::Word),
                Some('B') => self.place(Place::NotWord),
                Some('A') => self.place(Place::Start),
                Some('z') => self.place(Place::End),
                _ => {
                    let item = self.escape()?;
                    self.set(vec![item])
                }
            },
            c => self.set(vec![Item::Range(c, c)]),
        })
    }
    fn place(&mut self, place: Place) -> Node {
        self.at += 1;
        Node::Place(place)
    }

    fn group(&mut self) -> Parsed<Node> {
        let flags = self.flags;
        let mut number = 0;
        if self.eat('?') {
            if self.eat('<') || (self.eat('P') && self.eat('<')) {
                if matches!(self.peek(), Some('=') | Some('!')) {
                    return wrong("look-around is not supported");
                }
                self.groups += 1;
                number = self.groups;
                let name = self.until('>')?;
                self.names.insert(name, number);
            } else {
                let mut on = true;
                loop {
                    match self.next()? {
                        ':' => break,
                        ')' => return Ok(Node::All(Vec::new())),
                        '-' => on = false,
                        'i' => self.flags.any_case = on,
                        'm' => self.flags.lines = on,
                        's' => self.flags.dot_all = on,
                        'U' => self.flags.swap_greed = on,
                        'x' => self.flags.blanks = on,
                        'u' if on => {}
                        '=' | '!' => return wrong("look-around is not supported"),
                        _ => return wrong("unrecognized flag"),
                    }
                }
            }
        } else {
            self.groups += 1;
            number = self.groups;
        }
        let inner = self.alternatives()?;
        self.flags = flags;
        if !self.eat(')') {
            return wrong("unclosed group");
        }
        Ok(if number > 0 { Node::Group(number, Box::new(inner)) } else { inner })
    }

    fn hexadecimal(&mut self, digits: usize) -> Parsed<char> {
        let mut text = String::new();
        if self.eat('{') {
            text = self.until('}')?
        } else {
            for _ in 0..digits {
                text.push(self.next()?)
            }
        }
        let number = u32::from_str_radix(&text, 16).ok().and_then(char::from_u32);
        number.map_or_else(|| wrong("invalid hexadecimal digit"), Ok)
    }

    fn property(&mut self, wanted: bool) -> Parsed<Item> {
        let name = if self.eat('{') { self.until('}')? } else { self.next()?.to_string() };
        Ok(Item::Is(
            match name.as_str() {
                "L" | "Letter" | "Alphabetic" => char::is_alphabetic,
                "Lu" | "Uppercase" | "Uppercase_Letter" => char::is_uppercase,
                "Ll" | "Lowercase" | "Lowercase_Letter" => char::is_lowercase,
                "N" | "Number" => char::is_numeric,
                "Nd" => is_digit,
                "White_Space" | "Z" => char::is_whitespace,
                _ => return wrong("Unicode property not found"),
            },
            wanted,
        ))
    }

    fn escape(&mut self) -> Parsed<Item> {
        let c = match self.next()? {
            c @ ('d' | 'D') => return Ok(Item::Is(is_digit, c == 'd')),
            c @ ('w' | 'W') => return Ok(Item::Is(is_word, c == 'w')),
            c @ ('s' | 'S') => return Ok(Item::Is(char::is_whitespace, c == 's')),
            c @ ('p' | 'P') => return self.property(c == 'p'),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'x' => self.hexadecimal(2)?,
            'u' => self.hexadecimal(4)?,
            'U' => self.hexadecimal(8)?,
            '0'..='9' => return wrong("backreferences are not supported"),
            c if c.is_ascii_alphabetic() => return wrong("unrecognized escape sequence"),
            c => c,
        };
        Ok(Item::Range(c, c))
    }

    fn posix(&mut self) -> Option<Item> {
        let rest: String = self.text[self.at..].iter().take(12).collect();
        let inner = rest.strip_prefix(':')?;
        let (name, _) = inner.split_once(":]")?;
        let wanted = !name.starts_with('^');
        let is: fn(char) -> bool = match name.trim_start_matches('^') {
            "alpha" => |c| c.is_ascii_alphabetic(),
            "digit" => |c| c.is_ascii_digit(),
            "alnum" => |c| c.is_ascii_alphanumeric(),
            "lower" => |c| c.is_ascii_lowercase(),
            "upper" => |c| c.is_ascii_uppercase(),
            "punct" => |c| c.is_ascii_punctuation(),
            "space" => |c| c.is_ascii_whitespace() || c == '\x0b',
            "xdigit" => |c| c.is_ascii_hexdigit(),
            "word" => |c| c.is_ascii_alphanumeric() || c == '_',
            _ => return None,
        };
        self.at += name.len() + 3;
        Some(Item::Is(is, wanted))
    }

    fn class(&mut self) -> Parsed<Set> {
        self.depth += 1;
        if self.depth > 200 {
            return wrong("nested too deeply");
        }
        let mut set = Set { negated: self.eat('^'), any_case: self.flags.any_case, ..Set::default() };
        let mut first = true;
        loop {
            let item = match self.next()? {
                ']' if !first => break,
                '[' => match self.posix() {
                    Some(item) => item,
                    None => Item::Set(self.class()?),
                },
                '\\' => self.escape()?,
                c if matches!(c, '&' | '~') && self.peek() == Some(c) => return wrong("set operations are not here"),
                c => Item::Range(c, c),
            };
            first = false;
            match item {
                Item::Range(from, _) if self.peek() == Some('-') && !matches!(self.text.get(self.at + 1), Some(']') | None) => {
                    self.at += 1;
                    let to = match self.next()? {
                        '\\' => match self.escape()? {
                            Item::Range(to, _) => to,
                            _ => return wrong("invalid range boundary"),
                        },
                        '-' => return wrong("set operations are not here"),
                        c => c,
                    };
                    if from > to {
                        return wrong("invalid character class range");
                    }
                    set.items.push(Item::Range(from, to))
                }
                item => set.items.push(item),
            }
        }
        self.depth -= 1;
        Ok(set)
    }

    fn count(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().map_or(false, |c| c.is_ascii_digit()) {
            self.at += 1
        }
        self.text[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn repeated(&mut self, mut node: Node) -> Parsed<Node> {
        loop {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => {
                    self.at += 1;
                    let least = self.count();
                    let most = if self.eat(',') { self.count() } else { least };
                    let least = match (least, self.peek()) {
                        (Some(least), Some('}')) => least,
                        _ => return wrong("invalid repetition count"),
                    };
                    if most.map_or(false, |most| most < least) {
                        return wrong("invalid repetition count range");
                    }
                    (least, most)
                }
                _ => return Ok(node),
            };
            self.at += 1;
            let greedy = self.eat('?') == self.flags.swap_greed;
            node = Node::Repeat(Box::new(node), least, most, greedy)
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ machine

#[derive(Clone, Debug)]
enum Step {
    Char(Set),
    Place(Place),
    Save(usize),
    Either(usize, usize),
    Done,
}
const STEPS_MAX: usize = 100_000;

fn compile(node: &Node, steps: &mut Vec<Step>) -> Parsed<()> {
    if steps.len() > STEPS_MAX {
        return Err(Error::CompiledTooBig(STEPS_MAX));
    }
    match node {
        Node::Char(set) => steps.push(Step::Char(set.clone())),
        Node::Place(place) => steps.push(Step::Place(*place)),
        Node::Group(number, inner) => {
            steps.push(Step::Save(2 * number));
            compile(inner, steps)?;
            steps.push(Step::Save(2 * number + 1))
        }
        Node::All(nodes) => {
            for node in nodes {
                compile(node, steps)?
            }
        }
        Node::Any(ways) => {
            let mut ends = Vec::new();
            for (i, way) in ways.iter().enumerate() {
                let fork = steps.len();
                if i + 1 < ways.len() {
                    steps.push(Step::Either(fork + 1, 0))
                }
                compile(way, steps)?;
                if i + 1 < ways.len() {
                    ends.push(steps.len());
                    steps.push(Step::Either(0, 0));
                    steps[fork] = Step::Either(fork + 1, steps.len())
                }
            }
            for end in ends {
                steps[end] = Step::Either(steps.len(), steps.len())
            }
        }
        Node::Repeat(inner, least, most, greedy) => {
            let either = |on, off| if *greedy { Step::Either(on, off) } else { Step::Either(off, on) };
            for _ in 0..*least {
                compile(inner, steps)?
            }
            let forks: Vec<usize> = match most {
                Some(most) => (*least..*most)
                    .map(|_| {
                        let fork = steps.len();
                        steps.push(Step::Done);
                        compile(inner, steps).map(|()| fork)
                    })
                    .collect::<Parsed<_>>()?,
                None => {
                    let fork = steps.len();
                    steps.push(Step::Done);
                    compile(inner, steps)?;
                    steps.push(Step::Either(fork, fork));
                    vec![fork]
                }
            };
            for fork in forks {
                steps[fork] = either(fork + 1, steps.len())
            }
        }
    }
    Ok(())
}

type Places = Vec<Option<usize>>;

struct Threads {
    list: Vec<(usize, Places)>,
    seen: Vec<bool>,
}
