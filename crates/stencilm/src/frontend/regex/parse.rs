//! Reads a pattern into its pieces: alternatives, sequences, groups and quantifiers.
//!
//! Recursion is as deep as the groups nest, which `Limits::nesting` bounds.

use crate::error::{Error, Location};
use crate::frontend::regex::RegexOptions;
use crate::frontend::regex::ast::{Kind, Look, Node, Side};
use crate::frontend::regex::classes::{ignoring_case, line_terminators, word};
use crate::grammar::{CharSet, UNBOUNDED};
use crate::limits::Budget;

pub(crate) fn parse(
    pattern: &str,
    options: RegexOptions,
    budget: &mut Budget,
) -> Result<Node, Error> {
    if pattern.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let mut parser = Parser { pattern, at: 0, flags: options, depth: 0, looks: 0, budget };
    let root = parser.choice()?;
    match parser.peek() {
        None => Ok(root),
        Some(_) => Err(Error::syntax("this `)` closes no group", parser.at)),
    }
}

/// A place in a pattern, and what is known there.
pub(crate) struct Parser<'a> {
    pub(crate) pattern: &'a str,
    // Invariant: at a character of the pattern, or at its end.
    pub(crate) at: usize,
    pub(crate) flags: RegexOptions,
    depth: usize,
    looks: u32,
    budget: &'a mut Budget,
}

impl Parser<'_> {
    pub(crate) fn rest(&self) -> &str {
        &self.pattern[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Goes past `text` if it comes next.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    fn choice(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let mut alternatives = vec![self.sequence()?];
        while self.take("|") {
            alternatives.push(self.sequence()?);
        }
        Ok(one_or(alternatives, Kind::Choice, start..self.at))
    }

    fn sequence(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let mut parts = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            self.budget.tick()?;
            parts.push(self.term()?);
        }
        if parts.is_empty() {
            return Ok(Node::new(Kind::Empty, start..start));
        }
        Ok(one_or(parts, Kind::Seq, start..self.at))
    }

    /// One piece with its quantifier.
    fn term(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let has_braces = self.peek() == Some('{');
        if let Some('*' | '+' | '?') = self.peek() {
            return Err(Error::syntax("there is nothing to repeat here", start));
        }
        if has_braces && self.quantifier()?.is_some() {
            return Err(Error::syntax("there is nothing to repeat here", start));
        }
        let atom = self.atom()?;
        let quantifier_at = self.at;
        let Some((min, max)) = self.quantifier()? else {
            return Ok(atom);
        };
        if !may_be_repeated(self.pattern, start) {
            return Err(Error::syntax("this condition cannot be repeated", quantifier_at));
        }
        self.take("?");
        match self.peek() {
            Some('+') => {
                return Err(unsupported("a possessive quantifier (`++`, `*+`, …)", self.at));
            }
            Some('*' | '?') => {
                return Err(Error::syntax("a quantifier cannot follow a quantifier", self.at));
            }
            Some('{') => {
                let second = self.at;
                if self.quantifier()?.is_some() {
                    let message = "a quantifier cannot follow a quantifier: add a group";
                    return Err(Error::syntax(message, second));
                }
            }
            _ => {}
        }
        Ok(Node::new(Kind::Repeat { body: Box::new(atom), min, max }, start..self.at))
    }

    /// The counts of a quantifier, if one comes next; its `?` is left.
    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, Error> {
        let start = self.at;
        if self.take("*") {
            return Ok(Some((0, UNBOUNDED)));
        }
        if self.take("+") {
            return Ok(Some((1, UNBOUNDED)));
        }
        if self.take("?") {
            return Ok(Some((0, 1)));
        }
        let Some(inside) = self.rest().strip_prefix('{') else {
            return Ok(None);
        };
        let is_count = |c: char| c.is_ascii_digit() || c == ',';
        let text = &inside[..inside.find(|c| !is_count(c)).unwrap_or(inside.len())];
        if !inside[text.len()..].starts_with('}') {
            return Ok(None);
        }
        let (low, high) = match text.split_once(',') {
            Some((low, high)) => (low, Some(high)),
            None => (text, None),
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if low.is_empty() || !is_number(low) || !high.is_none_or(is_number) {
            return Ok(None);
        }
        let (low, high) = (low.to_owned(), high.map(str::to_owned));
        self.at += text.len() + 2;
        let min = self.count(&low)?;
        let max = match high.as_deref() {
            None => min,
            Some("") => UNBOUNDED,
            Some(high) => self.count(high)?,
        };
        if max < min {
            return Err(Error::syntax("the counts of this repetition are out of order", start));
        }
        Ok(Some((min, max)))
    }

    fn count(&self, digits: &str) -> Result<u32, Error> {
        let allowed = self.budget.limits.repeat;
        let most = u32::try_from(allowed).unwrap_or(UNBOUNDED).min(UNBOUNDED - 1);
        // More digits than fit are more than any limit.
        let count = digits.parse::<u64>().unwrap_or(u64::MAX);
        match u32::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            // `{0000…}` is zero however long it is.
            _ if digits.bytes().all(|byte| byte == b'0') => Ok(0),
            _ => Err(Error::limit("repeat", allowed)),
        }
    }

    fn atom(&mut self) -> Result<Node, Error> {
        let start = self.at;
        match self.next() {
            Some('^') => Ok(self.line_edge(Side::Behind, start)),
            Some('$') => Ok(self.line_edge(Side::Ahead, start)),
            Some('.') if self.flags.dot_all => Ok(self.chars(CharSet::any(), start)),
            Some('.') => Ok(self.chars(line_terminators().negate(), start)),
            Some('[') => self.bracket(start),
            Some('\\') => self.escape(start),
            Some('(') => self.group(start),
            Some(c) => Ok(self.folded(&CharSet::of([c]), start)),
            None => Ok(Node::new(Kind::Empty, start..start)),
        }
    }

    pub(crate) fn chars(&self, set: CharSet, start: usize) -> Node {
        Node::new(Kind::Chars(set), start..self.at)
    }

    /// One character of `set`, in either case under the flag `i`.
    pub(crate) fn folded(&self, set: &CharSet, start: usize) -> Node {
        self.chars(self.fold(set), start)
    }

    pub(crate) fn fold(&self, set: &CharSet) -> CharSet {
        if self.flags.ignore_case { ignoring_case(set) } else { set.clone() }
    }

    /// `^` and `$`: on this side is no character, or a line terminator under the flag `m`.
    fn line_edge(&mut self, side: Side, start: usize) -> Node {
        let within =
            if self.flags.multiline { line_terminators().negate() } else { CharSet::any() };
        self.look(side, true, within, start)
    }

    /// A condition on the one character beside this place.
    fn look(&mut self, side: Side, is_negative: bool, set: CharSet, start: usize) -> Node {
        let body = Box::new(self.chars(set, start));
        let look = Look { id: self.next_look(), side, is_negative, body };
        Node::new(Kind::Look(look), start..self.at)
    }

    fn next_look(&mut self) -> u32 {
        self.looks += 1;
        self.looks
    }

    /// `\b`, or `\B` where it `is_negative`: words are on one side, or not.
    pub(crate) fn word_edge(&mut self, is_negative: bool, start: usize) -> Node {
        let word = self.fold(&word());
        let sides = [false, true].map(|is_outside| {
            let before = self.look(Side::Behind, is_outside, word.clone(), start);
            let after = self.look(Side::Ahead, is_outside == is_negative, word.clone(), start);
            Node::new(Kind::Seq(vec![before, after]), start..self.at)
        });
        Node::new(Kind::Choice(sides.into()), start..self.at)
    }

    /// What follows a `(`.
    fn group(&mut self, start: usize) -> Result<Node, Error> {
        self.depth += 1;
        if self.depth > self.budget.limits.nesting {
            return Err(Error::limit("nesting", self.budget.limits.nesting));
        }
        let flags = self.flags;
        let look = if self.take("?") { self.group_kind(start)? } else { None };
        let body = self.choice()?;
        if !self.take(")") {
            return Err(Error::syntax("this group has no closing `)`", start));
        }
        self.flags = flags;
        self.depth -= 1;
        let span = start..self.at;
        Ok(match look {
            Some((side, is_negative)) => {
                let id = self.next_look();
                Node::new(Kind::Look(Look { id, side, is_negative, body: Box::new(body) }), span)
            }
            None => body.spanning(span),
        })
    }

    /// Reads what stands between `(?` and the body; sets the flags of the body.
    fn group_kind(&mut self, start: usize) -> Result<Option<(Side, bool)>, Error> {
        if self.take(":") {
            return Ok(None);
        }
        for (sign, side, is_negative) in [
            ("=", Side::Ahead, false),
            ("!", Side::Ahead, true),
            ("<=", Side::Behind, false),
            ("<!", Side::Behind, true),
        ] {
            if self.take(sign) {
                return Ok(Some((side, is_negative)));
            }
        }
        if self.take("<") {
            self.name(start)?;
            return Ok(None);
        }
        if self.take(">") {
            return Err(unsupported("an atomic group `(?>…)`", start));
        }
        if self.rest().starts_with("P<") {
            let message = "a named group is written `(?<name>…)`, without `P`";
            return Err(Error::syntax(message, start));
        }
        if self.rest().starts_with("P=") {
            return Err(unsupported("a back-reference `(?P=…)`", start));
        }
        if self.rest().starts_with('(') {
            return Err(unsupported("a conditional group `(?(…)…)`", start));
        }
        if self.rest().starts_with('#') {
            return Err(Error::syntax("ECMA-262 has no comments `(?#…)`", start));
        }
        self.modifiers(start)?;
        Ok(None)
    }

    /// The name of a group and its `>`. It matters to back-references only.
    pub(crate) fn name(&mut self, start: usize) -> Result<(), Error> {
        let is_start = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let name = self.rest().split_once('>').map(|(name, _)| name.to_owned());
        match name {
            Some(name)
                if name.starts_with(is_start)
                    && name.chars().all(|c| is_start(c) || c.is_alphanumeric()) =>
            {
                self.at += name.len() + 1;
                Ok(())
            }
            _ => Err(Error::syntax("a group's name is letters and digits in `<…>`", start)),
        }
    }

    /// `i-m:`, the flags of one group (ECMA-262, 2025).
    fn modifiers(&mut self, start: usize) -> Result<(), Error> {
        let mut is_on = true;
        let mut seen = String::new();
        loop {
            let c = self.next();
            match c {
                Some('-') if is_on => is_on = false,
                Some(':') if !seen.is_empty() => return Ok(()),
                Some(')') if !seen.is_empty() => {
                    let written = &self.pattern[start..self.at];
                    let feature = format!("the inline flag `{written}`");
                    return Err(unsupported(&feature, start));
                }
                Some(flag @ ('i' | 'm' | 's')) if !seen.contains(flag) => {
                    seen.push(flag);
                    match flag {
                        'i' => self.flags.ignore_case = is_on,
                        'm' => self.flags.multiline = is_on,
                        _ => self.flags.dot_all = is_on,
                    }
                }
                _ => {
                    let message = "after `(?` comes `:`, `=`, `!`, `<=`, `<!`, `<name>`, or flags \
                                   (`i`, `m`, `s`) and `:`";
                    return Err(Error::syntax(message, start));
                }
            }
        }
    }
}

pub(crate) fn unsupported(feature: &str, offset: usize) -> Error {
    Error::unsupported(feature, Location::Offset(offset))
}

/// Anchors and look-behind may not; a look-ahead may (ECMA-262, Annex B.1.2).
fn may_be_repeated(pattern: &str, start: usize) -> bool {
    let piece = &pattern[start..];
    !["^", "$", "\\b", "\\B", "(?<=", "(?<!"].iter().any(|sign| piece.starts_with(sign))
}

fn one_or(mut parts: Vec<Node>, wrap: fn(Vec<Node>) -> Kind, span: std::ops::Range<usize>) -> Node {
    if parts.len() == 1 { parts.swap_remove(0) } else { Node::new(wrap(parts), span) }
}
