// SPDX-License-Identifier: MIT
// For programs judged in Rust: the functions that they use of the crate regex (1), which BigCode's harness has. This text follows
// crate_regex_machine.rs in one crate.

#[derive(Clone)]
pub struct Regex {
    pattern: String,
    steps: Vec<Step>,
    groups: usize,
    names: HashMap<String, usize>,
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Regex({:?})", self.pattern)
    }
}
impl fmt::Display for Regex {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}
impl std::str::FromStr for Regex {
    type Err = Error;
    fn from_str(pattern: &str) -> Result<Self, Error> {
        Regex::new(pattern)
    }
}

fn holds(place: Place, text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at..].chars().next();
    let edge = before.map_or(false, is_word) != after.map_or(false, is_word);
    match place {
        Place::Start => at == 0,
        Place::End => at == text.len(),
        Place::LineStart => before.map_or(true, |c| c == '\n'),
        Place::LineEnd => after.map_or(true, |c| c == '\n'),
        Place::Word => edge,
        Place::NotWord => !edge,
    }
}

impl Regex {
    pub fn new(pattern: &str) -> Result<Regex, Error> {
        let mut parser = Parser { text: pattern.chars().collect(), ..Parser::default() };
        let node = parser.alternatives()?;
        if parser.at < parser.text.len() {
            return wrong("unopened group");
        }
        let mut steps = Vec::new();
        compile(&Node::Group(0, Box::new(node)), &mut steps)?;
        steps.push(Step::Done);
        Ok(Regex { pattern: pattern.to_string(), steps, groups: parser.groups + 1, names: parser.names })
    }

    // Follows transitions that consume no character, the preferred one first.
    fn add(&self, threads: &mut Threads, text: &str, at: usize, first: usize, places: Places) {
        let mut later = vec![(first, places)];
        while let Some((step, mut places)) = later.pop() {
            if std::mem::replace(&mut threads.seen[step], true) {
                continue;
            }
            match &self.steps[step] {
                Step::Either(one, other) => {
                    later.push((*other, places.clone()));
                    later.push((*one, places))
                }
                Step::Save(slot) => {
                    places[*slot] = Some(at);
                    later.push((step + 1, places))
                }
                Step::Place(place) if holds(*place, text, at) => later.push((step + 1, places)),
                Step::Place(_) => {}
                _ => threads.list.push((step, places)),
            }
        }
    }

    fn search(&self, text: &str, from: usize) -> Option<Places> {
        let none = || Threads { list: Vec::new(), seen: vec![false; self.steps.len()] };
        let (mut now, mut found, mut at) = (none(), None, from);
        loop {
            if found.is_none() {
                self.add(&mut now, text, at, 0, vec![None; 2 * self.groups])
            }
            let c = text[at..].chars().next();
            let after = at + c.map_or(0, char::len_utf8);
            let mut then = none();
            for (step, places) in now.list {
                match (&self.steps[step], c) {
                    (Step::Done, _) => {
                        found = Some(places);
                        break;
                    }
                    (Step::Char(set), Some(c)) if set.has(c) => self.add(&mut then, text, after, step + 1, places),
                    _ => {}
                }
            }
            if c.is_none() || (found.is_some() && then.list.is_empty()) {
                return found;
            }
            now = then;
            at = after
        }
    }

    pub fn as_str(&self) -> &str {
        &self.pattern
    }
    pub fn captures_len(&self) -> usize {
        self.groups
    }
    pub fn is_match(&self, text: &str) -> bool {
        self.search(text, 0).is_some()
    }
    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.find_iter(text).next()
    }
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.captures_iter(text).next()
    }
    pub fn captures_iter<'r, 't>(&'r self, text: &'t str) -> CaptureMatches<'r, 't> {
        CaptureMatches { regex: self, text, at: 0, last: None }
    }
    pub fn find_iter<'r, 't>(&'r self, text: &'t str) -> Matches<'r, 't> {
        Matches(self.captures_iter(text))
    }
    pub fn split<'r, 't>(&'r self, text: &'t str) -> Split<'r, 't> {
        Split { matches: self.find_iter(text), rest: Some(0), left: usize::MAX }
    }
    pub fn splitn<'r, 't>(&'r self, text: &'t str, limit: usize) -> Split<'r, 't> {
        Split { matches: self.find_iter(text), rest: Some(0), left: limit }
    }
    pub fn replace<'t, R: Replacer>(&self, text: &'t str, by: R) -> Cow<'t, str> {
        self.replacen(text, 1, by)
    }
    pub fn replace_all<'t, R: Replacer>(&self, text: &'t str, by: R) -> Cow<'t, str> {
        self.replacen(text, 0, by)
    }
    pub fn replacen<'t, R: Replacer>(&self, text: &'t str, limit: usize, mut by: R) -> Cow<'t, str> {
        let (mut out, mut last) = (String::new(), None);
        for captures in self.captures_iter(text).take(if limit == 0 { usize::MAX } else { limit }) {
            let whole = captures.get(0).unwrap();
            out.push_str(&text[last.unwrap_or(0)..whole.start]);
            by.replace_append(&captures, &mut out);
            last = Some(whole.end)
        }
        match last {
            None => Cow::Borrowed(text),
            Some(last) => Cow::Owned(out + &text[last..]),
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ results

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}
impl<'t> Match<'t> {
    pub fn start(&self) -> usize {
        self.start
    }
    pub fn end(&self) -> usize {
        self.end
    }
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
    pub fn len(&self) -> usize {
        self.end - self.start
    }
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
    pub fn as_str(&self) -> &'t str {
        &self.text[self.start..self.end]
    }
}
impl<'t> From<Match<'t>> for &'t str {
    fn from(found: Match<'t>) -> &'t str {
        found.as_str()
    }
}

#[derive(Clone, Debug)]
pub struct Captures<'t> {
    text: &'t str,
    places: Places,
    names: HashMap<String, usize>,
}
impl<'t> Captures<'t> {
    pub fn get(&self, i: usize) -> Option<Match<'t>> {
        let (start, end) = ((*self.places.get(2 * i)?)?, (*self.places.get(2 * i + 1)?)?);
        Some(Match { text: self.text, start, end })
    }
    pub fn name(&self, name: &str) -> Option<Match<'t>> {
        self.get(*self.names.get(name)?)
    }
    pub fn len(&self) -> usize {
        self.places.len() / 2
    }
    pub fn iter<'c>(&'c self) -> impl Iterator<Item = Option<Match<'t>>> + 'c {
        (0..self.len()).map(|i| self.get(i))
    }
    pub fn extract<const N: usize>(&self) -> (&'t str, [&'t str; N]) {
        let text = |i| self.get(i).expect("too few matching groups").as_str();
        (text(0), std::array::from_fn(|i| text(i + 1)))
    }
    pub fn expand(&self, template: &str, out: &mut String) {
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                out.push('$');
                rest = after;
                continue;
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let bare = rest.find(|c| !plain(c)).unwrap_or(rest.len());
            let (name, after) = match rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some(parts) => parts,
                None => rest.split_at(bare),
            };
            if name.is_empty() {
                out.push('$');
                continue;
            }
            let group = name.parse().map_or_else(|_| self.name(name), |i: usize| self.get(i));
            out.push_str(group.map_or("", |found| found.as_str()));
            rest = after
        }
        out.push_str(rest)
    }
}
impl<'t> Index<usize> for Captures<'t> {
    type Output = str;
    fn index(&self, i: usize) -> &str {
        self.get(i).map_or_else(|| panic!("no group at index '{}'", i), |found| found.as_str())
    }
}
impl<'t, 'n> Index<&'n str> for Captures<'t> {
    type Output = str;
    fn index(&self, name: &'n str) -> &str {
        self.name(name).map_or_else(|| panic!("no group named '{}'", name), |found| found.as_str())
    }
}

pub struct CaptureMatches<'r, 't> {
    regex: &'r Regex,
    text: &'t str,
    at: usize,
    last: Option<usize>,
}
impl<'r, 't> Iterator for CaptureMatches<'r, 't> {
    type Item = Captures<'t>;
    fn next(&mut self) -> Option<Captures<'t>> {
        while self.at <= self.text.len() {
            let places = self.regex.search(self.text, self.at)?;
            let (start, end) = (places[0]?, places[1]?);
            self.at = end;
            if start == end {
                self.at += self.text[end..].chars().next().map_or(1, char::len_utf8);
                if self.last == Some(end) {
                    continue;
                }
            }
            self.last = Some(end);
            return Some(Captures { text: self.text, places, names: self.regex.names.clone() });
        }
        None
    }
}

pub struct Matches<'r, 't>(CaptureMatches<'r, 't>);
impl<'r, 't> Iterator for Matches<'r, 't> {
    type Item = Match<'t>;
    fn next(&mut self) -> Option<Match<'t>> {
        self.0.next()?.get(0)
    }
}

pub struct Split<'r, 't> {
    matches: Matches<'r, 't>,
    rest: Option<usize>,
    left: usize,
}
impl<'r, 't> Iterator for Split<'r, 't> {
    type Item = &'t str;
    fn next(&mut self) -> Option<&'t str> {
        let (from, text) = (self.rest?, self.matches.0.text);
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let found = if self.left == 0 { None } else { self.matches.next() };
        self.rest = found.map(|found| found.end);
        Some(&text[from..found.map_or(text.len(), |found| found.start)])
    }
}

pub trait Replacer {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String);
}
impl<'a> Replacer for &'a str {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String) {
        captures.expand(self, out)
    }
}
impl<'a> Replacer for &'a String {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String) {
        captures.expand(self, out)
    }
}
impl Replacer for String {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String) {
        captures.expand(self, out)
    }
}
impl<'a> Replacer for Cow<'a, str> {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String) {
        captures.expand(self, out)
    }
}
impl<F: FnMut(&Captures<'_>) -> T, T: AsRef<str>> Replacer for F {
    fn replace_append(&mut self, captures: &Captures<'_>, out: &mut String) {
        out.push_str(self(captures).as_ref())
    }
}

pub struct NoExpand<'a>(pub &'a str);
impl<'a> Replacer for NoExpand<'a> {
    fn replace_append(&mut self, _: &Captures<'_>, out: &mut String) {
        out.push_str(self.0)
    }
}

pub fn escape(text: &str) -> String {
    text.chars().flat_map(|c| if r"\.+*?()|[]{}^$#&-~".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}
