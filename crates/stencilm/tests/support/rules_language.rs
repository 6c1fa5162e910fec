//! A slow recogniser for grammars given by `Rules`: for each expression and place the set of
//! places where a match ends. It shares no code with the engine, and remembers no names.

use std::{collections::HashMap, rc::Rc};

use stencilm::grammar::{Expr, ExprId, Exprs, Grammar, RuleId, Spelling};

/// Whether the whole `text` is in the language of `grammar`.
pub(crate) fn accepts(grammar: &Grammar, text: &[u8]) -> bool {
    let (grammar, text) = (grammar.clone(), text.to_vec());
    let run = move || {
        let mut recogniser = Recogniser {
            exprs: Exprs::default(),
            bodies: HashMap::new(),
            known: HashMap::new(),
            grammar,
            text,
        };
        let start = recogniser.exprs.call(recogniser.grammar.start);
        recogniser.ends(start, 0).contains(&recogniser.text.len())
    };
    // Nested texts nest calls here.
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(run);
    thread.expect("a thread starts").join().expect("the recogniser does not panic")
}

type Ends = Rc<[usize]>;

struct Recogniser {
    exprs: Exprs,
    bodies: HashMap<RuleId, ExprId>,
    known: HashMap<(ExprId, usize), Ends>,
    grammar: Grammar,
    text: Vec<u8>,
}

impl Recogniser {
    fn ends(&mut self, id: ExprId, at: usize) -> Ends {
        if let Some(known) = self.known.get(&(id, at)) {
            return known.clone();
        }
        let mut ends = self.find(id, at);
        ends.sort_unstable();
        ends.dedup();
        let ends: Ends = ends.into();
        self.known.insert((id, at), ends.clone());
        ends
    }

    fn find(&mut self, id: ExprId, at: usize) -> Vec<usize> {
        match self.exprs.get(id) {
            Expr::Nothing | Expr::Partial { .. } | Expr::Token(_) => Vec::new(),
            Expr::Empty => vec![at],
            Expr::Bytes { literal, from } => {
                let rest = &self.exprs.literal(literal)[from as usize..];
                self.text[at..].starts_with(rest).then_some(at + rest.len()).into_iter().collect()
            }
            Expr::OneOf { literals, low, high, depth, spelling } if spelling.is_free() => {
                let ids = self.exprs.literal_ids(literals)[low as usize..high as usize].to_vec();
                let rest = |id| {
                    let rest = &self.exprs.literal(id)[depth as usize..];
                    std::str::from_utf8(rest).expect("tests ask between characters")
                };
                let mut ends = Vec::new();
                for id in ids {
                    let mut end = Some(at);
                    for c in rest(id).chars() {
                        let found = end.and_then(|end| character(&self.text, end, spelling));
                        end = found.filter(|found| found.0 == c).map(|(_, end)| end);
                    }
                    ends.extend(end);
                }
                ends
            }
            Expr::OneOf { literals, low, high, depth, .. } => {
                let ids = self.exprs.literal_ids(literals)[low as usize..high as usize].to_vec();
                let rest = |id| &self.exprs.literal(id)[depth as usize..];
                let hits = ids.into_iter().map(rest);
                hits.filter(|rest| self.text[at..].starts_with(rest))
                    .map(|rest| at + rest.len())
                    .collect()
            }
            Expr::Bytes1(set) => {
                let set = self.exprs.byte_set_of(set);
                let byte = self.text.get(at).filter(|&&byte| set.contains(byte));
                byte.map(|_| at + 1).into_iter().collect()
            }
            Expr::Chars { class, spelling } => {
                let character = character(&self.text, at, spelling);
                let class = self.exprs.class(class);
                let hit = character.filter(|&(c, _)| class.contains(c));
                hit.map(|(_, end)| end).into_iter().collect()
            }
            Expr::Seq(first, rest) => {
                let middles = self.ends(first, at);
                middles.iter().flat_map(|&middle| self.ends(rest, middle).to_vec()).collect()
            }
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                members.into_iter().flat_map(|member| self.ends(member, at).to_vec()).collect()
            }
            Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                let mut common: Vec<usize> = (at..=self.text.len()).collect();
                for member in members {
                    let ends = self.ends(member, at);
                    common.retain(|end| ends.binary_search(end).is_ok());
                }
                common
            }
            Expr::Not(body) => {
                let ends = self.ends(body, at);
                (at..=self.text.len()).filter(|end| ends.binary_search(end).is_err()).collect()
            }
            Expr::Repeat { body, min, max } => self.repeated(body, min, max, at),
            Expr::Call(rule) => {
                let body = if let Some(&body) = self.bodies.get(&rule) {
                    body
                } else {
                    let rules = self.grammar.rules.clone();
                    let body = rules.body(rule, &mut self.exprs).expect("a body");
                    self.bodies.insert(rule, body);
                    body
                };
                self.ends(body, at).to_vec()
            }
            Expr::Number { .. } => self.number(id, at),
            Expr::Names { state, low, high, depth: 0, other } => {
                self.member(state, low, high, other, at)
            }
            Expr::Names { .. } => unreachable!("names begin at their first byte"),
            Expr::OtherName(text) => {
                let ends = self.ends(text, at);
                let closed = ends.iter().filter(|&&end| self.text.get(end) == Some(&b'"'));
                closed.map(|end| end + 1).collect()
            }
        }
    }

    /// The spellings of numbers have a judge of their own: see `tests/numbers.rs`.
    fn number(&mut self, id: ExprId, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut rest = id;
        for end in at..=self.text.len() {
            if self.exprs.is_nullable(rest) {
                found.push(end);
            }
            let (Expr::Number { set, state }, Some(&byte)) =
                (self.exprs.get(rest), self.text.get(end))
            else {
                break;
            };
            rest = self.exprs.after_number_byte(set, state, byte);
        }
        found
    }

    fn repeated(&mut self, body: ExprId, min: u32, max: u32, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut level = vec![at];
        let mut seen = std::collections::HashSet::new();
        for count in 0.. {
            if count >= min {
                level.retain(|&end| seen.insert(end));
                found.extend_from_slice(&level);
            }
            if level.is_empty() || count == max || count as usize > self.text.len() + min as usize {
                break;
            }
            let mut next: Vec<usize> =
                level.iter().flat_map(|&end| self.ends(body, end).to_vec()).collect();
            next.sort_unstable();
            next.dedup();
            if next == level && count > 0 && count < min {
                // Only empty rounds are left.
                return next;
            }
            level = next;
        }
        found
    }

    fn member(&mut self, state: u32, low: u32, high: u32, other: bool, at: usize) -> Vec<usize> {
        let rules = self.grammar.rules.clone();
        let Some(close) = closing_quote(&self.text, at) else {
            return Vec::new();
        };
        let spelling = rules.name_spelling().expect("it has names");
        let Some(name) = listed(&self.text[at..close], spelling) else {
            return Vec::new();
        };
        let names = rules.names(rules.object_of(state), &mut self.exprs);
        let ids = self.exprs.literal_ids(names).to_vec();
        let place = ids.iter().position(|&id| self.exprs.literal(id) == name);
        let after = match place.map(|place| u32::try_from(place).expect("few names")) {
            Some(place) if low <= place && place < high => {
                if rules.next_name(state, place, place + 1).expect("a name") != Some(place) {
                    return Vec::new();
                }
                rules.after_name(state, place, &mut self.exprs).expect("a rest")
            }
            None if other => rules.after_other_name(state, &mut self.exprs).expect("a rest"),
            _ => return Vec::new(),
        };
        self.ends(after, close + 1).to_vec()
    }
}

/// A name as it stands in lists; none if it is not spelled so.
fn listed(name: &[u8], spelling: Spelling) -> Option<Vec<u8>> {
    let mut text = String::new();
    let mut at = 0;
    while at < name.len() {
        let (c, end) = character(name, at, spelling)?;
        text.push(c);
        at = end;
    }
    Some(if spelling.is_free() { text.into_bytes() } else { name.to_vec() })
}

fn closing_quote(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The character at a place and where its spelling ends.
fn character(text: &[u8], at: usize, spelling: Spelling) -> Option<(char, usize)> {
    let first = *text.get(at)?;
    let most = match spelling {
        Spelling::JsonAscii => b'\x7F',
        Spelling::JsonAsciiCanonical => b'~',
        _ => u8::MAX,
    };
    let is_raw = first >= b' ' && first <= most && first != b'"' && first != b'\\';
    if spelling == Spelling::Text || is_raw {
        let width = (1..=4).find(|&n| {
            text.get(at..at + n).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok())
        })?;
        let c = std::str::from_utf8(&text[at..at + width]).ok()?.chars().next()?;
        return Some((c, at + width));
    }
    if first != b'\\' {
        return None;
    }
    let short = |c: char| Some((c, at + 2));
    match (*text.get(at + 1)?, spelling) {
        (b'"', _) => short('"'),
        (b'\\', _) => short('\\'),
        (b'/', _) if spelling.is_free() => short('/'),
        (b'b', _) => short('\u{8}'),
        (b'f', _) => short('\u{C}'),
        (b'n', _) => short('\n'),
        (b'r', _) => short('\r'),
        (b't', _) => short('\t'),
        (b'u', _) => {
            let unit = hex(text, at)?;
            let (c, end) = match unit {
                0xD800..=0xDBFF => {
                    let low = hex(text, at + 6).filter(|low| (0xDC00..0xE000).contains(low))?;
                    let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    (char::from_u32(code)?, at + 12)
                }
                _ => (char::from_u32(unit)?, at + 6),
            };
            let is_short = [8, 9, 10, 12, 13].contains(&unit);
            let is_lower = !text[at..end].iter().any(u8::is_ascii_uppercase);
            let is_needed = unit < 0x20 || (spelling == Spelling::JsonAsciiCanonical && c > '~');
            (spelling.is_free() || (is_needed && !is_short && is_lower)).then_some((c, end))
        }
        _ => None,
    }
}

fn hex(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at + 2..at + 6).filter(|_| text[at..].starts_with(b"\\u"))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
