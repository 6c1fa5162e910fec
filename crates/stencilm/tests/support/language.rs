//! Which byte strings an expression matches, straight from the definition: the slow judge of every
//! front end. It knows no derivatives and no normal forms.

use std::collections::HashMap;

use stencilm::grammar::{Expr, ExprId, Exprs, Spelling, UNBOUNDED};

/// Whether `bytes`, 63 at most, are a text of `id`, which calls no rules.
pub(crate) fn matches(exprs: &Exprs, id: ExprId, bytes: &[u8]) -> bool {
    assert!(bytes.len() < 64, "the ends of matches are the bits of one word");
    let mut judge = Judge { exprs, bytes, known: HashMap::new() };
    judge.ends(id, 0) >> bytes.len() & 1 == 1
}

struct Judge<'a> {
    exprs: &'a Exprs,
    bytes: &'a [u8],
    known: HashMap<(ExprId, usize), u64>,
}

impl Judge<'_> {
    /// Where matches that begin at `start` end, as bits.
    fn ends(&mut self, id: ExprId, start: usize) -> u64 {
        if let Some(&known) = self.known.get(&(id, start)) {
            return known;
        }
        let ends = match self.exprs.get(id) {
            Expr::Nothing => 0,
            Expr::Empty => 1 << start,
            Expr::Bytes { literal, from } => {
                let literal = &self.exprs.literal(literal)[from as usize..];
                self.literal_end(literal, start)
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                assert_eq!(spelling, Spelling::Text, "patterns have no lists of texts");
                let run = &self.exprs.literal_ids(literals)[low as usize..high as usize];
                run.iter().fold(0, |ends, &literal| {
                    let literal = &self.exprs.literal(literal)[depth as usize..];
                    ends | self.literal_end(literal, start)
                })
            }
            Expr::Bytes1(set) => match self.bytes.get(start) {
                Some(&byte) if self.exprs.byte_set_of(set).contains(byte) => 1 << (start + 1),
                _ => 0,
            },
            Expr::Chars { class, spelling } => {
                let class = self.exprs.class(class);
                (start + 1..=self.bytes.len().min(start + 12))
                    .filter(|&end| {
                        spelled(&self.bytes[start..end], spelling)
                            .is_some_and(|c| class.contains(c))
                    })
                    .fold(0, |ends, end| ends | 1 << end)
            }
            Expr::Seq(first, rest) => {
                let middles = self.ends(first, start);
                self.after(middles, rest)
            }
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                members.into_iter().fold(0, |ends, member| ends | self.ends(member, start))
            }
            Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                members.into_iter().fold(u64::MAX, |ends, member| ends & self.ends(member, start))
            }
            Expr::Not(body) => {
                let within = (start..=self.bytes.len()).fold(0, |ends, end| ends | 1 << end);
                within & !self.ends(body, start)
            }
            Expr::Repeat { body, min, max } => self.repeated(body, (min, max), start),
            Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => {
                panic!("this judge knows whole texts without rules only")
            }
        };
        self.known.insert((id, start), ends);
        ends
    }

    /// Where matches that begin at one of `starts` end.
    fn after(&mut self, starts: u64, id: ExprId) -> u64 {
        let starts = (0..64).filter(|start| starts >> start & 1 == 1);
        starts.fold(0, |ends, start| ends | self.ends(id, start))
    }

    fn literal_end(&self, literal: &[u8], start: usize) -> u64 {
        if self.bytes[start..].starts_with(literal) { 1 << (start + literal.len()) } else { 0 }
    }

    fn repeated(&mut self, body: ExprId, (min, max): (u32, u32), start: usize) -> u64 {
        let mut at: u64 = 1 << start;
        let mut ends = 0;
        let mut count = 0;
        loop {
            if count >= min {
                let more = ends | at;
                if more == ends && count > min {
                    return ends;
                }
                ends = more;
            }
            if at == 0 || (count == max && max != UNBOUNDED) {
                return ends;
            }
            // A body without progress was made optional by the arena, so large counts end above.
            at = self.after(at, body);
            count += 1;
        }
    }
}

/// The character that all of `bytes` spell.
fn spelled(bytes: &[u8], spelling: Spelling) -> Option<char> {
    let raw = std::str::from_utf8(bytes).ok().and_then(|text| {
        let mut characters = text.chars();
        let first = characters.next()?;
        characters.next().is_none().then_some(first)
    });
    if spelling == Spelling::Text {
        return raw;
    }
    if let Some(c) = raw {
        let most = match spelling {
            Spelling::JsonAscii => '\u{7F}',
            Spelling::JsonAsciiCanonical => '~',
            _ => char::MAX,
        };
        return (c >= ' ' && c <= most && c != '"' && c != '\\').then_some(c);
    }
    let short = match bytes {
        b"\\\"" => Some('"'),
        b"\\\\" => Some('\\'),
        b"\\b" => Some('\u{8}'),
        b"\\f" => Some('\u{C}'),
        b"\\n" => Some('\n'),
        b"\\r" => Some('\r'),
        b"\\t" => Some('\t'),
        b"\\/" if spelling.is_free() => Some('/'),
        _ => None,
    };
    if short.is_some() {
        return short;
    }
    let units = bytes
        .chunks(6)
        .map(|chunk| match chunk {
            [b'\\', b'u', digits @ ..] if digits.len() == 4 => {
                let digits = std::str::from_utf8(digits).ok()?;
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
            }
            _ => None,
        })
        .collect::<Option<Vec<u16>>>()?;
    let c = match *units {
        [_] | [0xD800..=0xDBFF, _] => char::decode_utf16(units).next()?.ok()?,
        _ => return None,
    };
    if bytes.len() == 12 && u32::from(c) < 0x1_0000 {
        return None;
    }
    let has_short = "\u{8}\u{C}\n\r\t".contains(c);
    let needs_escape = c < ' ' || (spelling == Spelling::JsonAsciiCanonical && c > '~');
    let is_lower = !bytes.iter().any(u8::is_ascii_uppercase);
    (spelling.is_free() || (needs_escape && !has_short && is_lower)).then_some(c)
}
