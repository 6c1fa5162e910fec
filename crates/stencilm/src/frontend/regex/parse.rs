//! Reads a pattern into its pieces: alternatives, sequences, groups and quantifiers.
//!
//! Recursion is as deep as the groups nest, which `Limits::nesting` bounds.

use rustc_hash::FxHashSet;

use crate::error::{Error, Location};
use crate::frontend::regex::ast::{Kind, Look, Node, Side};
use crate::frontend::regex::meaning::Meanings;
use crate::frontend::regex::{Dialect, RegexOptions};
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
    let mut parser = Parser {
        pattern,
        at: 0,
        flags: options,
        depth: 0,
        looks: 0,
        names: FxHashSet::default(),
        meanings: Meanings::default(),
        budget,
    };
    parser.global_flags()?;
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
    // The groups that have a name: in Python no two have the same.
    names: FxHashSet<String>,
    pub(crate) meanings: Meanings,
    budget: &'a mut Budget,
}

impl Parser<'_> {
    pub(crate) fn is_python(&self) -> bool {
        self.flags.dialect == Dialect::Python
    }

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
        loop {
            self.skip_unread()?;
            if let None | Some('|' | ')') = self.peek() {
                break;
            }
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
        self.skip_unread()?;
        let quantifier_at = self.at;
        let Some((min, max)) = self.quantifier()? else {
            return Ok(atom);
        };
        if !self.may_be_repeated(start) {
            return Err(Error::syntax("this condition cannot be repeated", quantifier_at));
        }
        let is_lazy = self.take("?");
        if is_lazy || self.peek() != Some('+') {
            self.skip_unread()?;
        }
        match self.peek() {
            Some('+') if !is_lazy => return self.possessive(&atom, (min, max), start),
            Some('*' | '?' | '+') => {
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
        let repeat = Node::new(Kind::Repeat { body: Box::new(atom), min, max }, start..self.at);
        Ok(if is_lazy { repeat.lazy() } else { repeat })
    }

    /// `++`, `*+` and the like, at the second `+`: after one class, which leaves no choice but how
    /// often, "as often as possible" is "and then no more, or the most".
    fn possessive(
        &mut self,
        atom: &Node,
        (min, max): (u32, u32),
        start: usize,
    ) -> Result<Node, Error> {
        let Kind::Chars(set) = atom.kind() else {
            return Err(unsupported("a possessive quantifier (`++`, `*+`, …)", self.at));
        };
        if !self.is_python() {
            return Err(unsupported("a possessive quantifier (`++`, `*+`, …)", self.at));
        }
        let set = set.clone();
        self.take("+");
        self.skip_unread()?;
        if let Some('*' | '?' | '+') = self.peek() {
            return Err(Error::syntax("a quantifier cannot follow a quantifier", self.at));
        }
        let span = start..self.at;
        let repeat = |min, max| {
            let body = Box::new(atom.clone());
            Node::new(Kind::Repeat { body, min, max }, span.clone())
        };
        if min == max {
            return Ok(repeat(min, max));
        }
        let no_more = self.look(Side::Ahead, true, set, start);
        let fewer = repeat(min, if max == UNBOUNDED { max } else { max - 1 });
        let fewer = Node::new(Kind::Seq(vec![fewer, no_more]), span.clone());
        if max == UNBOUNDED {
            return Ok(fewer);
        }
        Ok(Node::new(Kind::Choice(vec![fewer, repeat(max, max)]), span.clone()))
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
        // `{,n}` is a count in Python only.
        let may_begin = !low.is_empty() || (high.is_some() && self.is_python());
        if !may_begin || !is_number(low) || !high.is_none_or(is_number) {
            return Ok(None);
        }
        let (low, high) = (low.to_owned(), high.map(str::to_owned));
        self.at += text.len() + 2;
        let min = if low.is_empty() { 0 } else { self.count(&low)? };
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
            Some('$') if self.is_python() && !self.flags.multiline => Ok(self.last_line_end(start)),
            Some('$') => Ok(self.line_edge(Side::Ahead, start)),
            Some('.') if self.flags.dot_all => Ok(self.chars(CharSet::any(), start)),
            Some('.') => Ok(self.chars(self.flags.line_terminators().negate(), start)),
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
        if self.flags.ignore_case { self.flags.ignoring_case(set) } else { set.clone() }
    }

    /// `^` and `$`: on this side is no character, or a line terminator under the flag `m`.
    fn line_edge(&mut self, side: Side, start: usize) -> Node {
        let within = if self.flags.multiline {
            self.flags.line_terminators().negate()
        } else {
            CharSet::any()
        };
        self.look(side, true, within, start)
    }

    /// `\A` and `\Z` of Python: the text ends on this side.
    pub(crate) fn text_edge(&mut self, side: Side, start: usize) -> Node {
        self.look(side, true, CharSet::any(), start)
    }

    /// `$` of Python: here the text ends, or only a line feed is left.
    fn last_line_end(&mut self, start: usize) -> Node {
        let feed = self.flags.line_terminators();
        let goes_on = self.chars(feed.negate(), start);
        let feed = self.chars(feed, start);
        let any = self.chars(CharSet::any(), start);
        let feed_and_more = Node::new(Kind::Seq(vec![feed, any]), start..self.at);
        let more = Node::new(Kind::Choice(vec![goes_on, feed_and_more]), start..self.at);
        let id = self.next_look();
        let look = Look { id, side: Side::Ahead, is_negative: true, body: Box::new(more) };
        Node::new(Kind::Look(look), start..self.at)
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
        let word = self.class('w');
        let sides = [false, true].map(|is_outside| {
            let before = self.look(Side::Behind, is_outside, word.clone(), start);
            let after = self.look(Side::Ahead, is_outside == is_negative, word.clone(), start);
            Node::new(Kind::Seq(vec![before, after]), start..self.at)
        });
        let edge = Node::new(Kind::Choice(sides.into()), start..self.at);
        if !is_negative || !self.is_python() {
            return edge;
        }
        // Up to Python 3.13 `\B` does not hold in the empty text.
        let sides =
            [Side::Behind, Side::Ahead].map(|side| self.look(side, false, CharSet::any(), start));
        let has_characters = Node::new(Kind::Choice(sides.into()), start..self.at);
        Node::new(Kind::Seq(vec![edge, has_characters]), start..self.at)
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
        if self.take(">") {
            return Err(unsupported("an atomic group `(?>…)`", start));
        }
        if self.rest().starts_with("P=") {
            return Err(unsupported("a back-reference `(?P=…)`", start));
        }
        if self.rest().starts_with('(') {
            return Err(unsupported("a conditional group `(?(…)…)`", start));
        }
        if self.is_python() {
            if self.take("P<") {
                self.name(start)?;
                return Ok(None);
            }
            if self.rest().starts_with('<') {
                let message = "a named group is written `(?P<name>…)` in Python, with a `P`";
                return Err(Error::syntax(message, start));
            }
        } else {
            if self.take("<") || (self.flags.names_with_p && self.take("P<")) {
                self.name(start)?;
                return Ok(None);
            }
            if self.rest().starts_with("P<") {
                let message = "a named group is written `(?<name>…)`, without `P`";
                return Err(Error::syntax(message, start));
            }
            if self.rest().starts_with('#') {
                return Err(Error::syntax("ECMA-262 has no comments `(?#…)`", start));
            }
        }
        self.modifiers(start)?;
        Ok(None)
    }

    /// The name of a group and its `>`. It matters to back-references only.
    pub(crate) fn name(&mut self, start: usize) -> Result<(), Error> {
        let is_python = self.is_python();
        let is_start = |c: char| c.is_alphabetic() || c == '_' || (c == '$' && !is_python);
        let name = self.rest().split_once('>').map(|(name, _)| name.to_owned());
        match name {
            Some(name)
                if name.starts_with(is_start)
                    && name.chars().all(|c| is_start(c) || c.is_alphanumeric()) =>
            {
                self.at += name.len() + 1;
                if is_python && !self.names.insert(name.clone()) {
                    let message = format!("two groups have the name `{name}`");
                    return Err(Error::syntax(message, start));
                }
                Ok(())
            }
            _ => Err(Error::syntax("a group's name is letters and digits in `<…>`", start)),
        }
    }

    /// In ECMA-262 anchors and look-behind may not, a look-ahead may (Annex B.1.2); in Python
    /// only anchors may not.
    fn may_be_repeated(&self, start: usize) -> bool {
        let piece = &self.pattern[start..];
        let signs: &[&str] = if self.is_python() {
            &["^", "$", "\\b", "\\B", "\\A", "\\Z", "\\z"]
        } else {
            &["^", "$", "\\b", "\\B", "(?<=", "(?<!"]
        };
        !signs.iter().any(|sign| piece.starts_with(sign))
    }
}

pub(crate) fn unsupported(feature: &str, offset: usize) -> Error {
    Error::unsupported(feature, Location::Offset(offset))
}

fn one_or(mut parts: Vec<Node>, wrap: fn(Vec<Node>) -> Kind, span: std::ops::Range<usize>) -> Node {
    if parts.len() == 1 { parts.swap_remove(0) } else { Node::new(wrap(parts), span) }
}
