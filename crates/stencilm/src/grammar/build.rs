//! The constructors of expressions. Each keeps a normal form, so that what remains of a grammar
//! after many bytes is one of few expressions.

use crate::grammar::arena::Exprs;
use crate::grammar::byte_set::ByteSet;
use crate::grammar::char_set::CharSet;
use crate::grammar::expr::{Expr, ExprId, LiteralId, LiteralsId, Progress, RuleId, Spelling};
use crate::grammar::json_text::{canonical, canonical_ascii};

/// From so many literals on, a choice of many is a list.
const LIST_FROM: usize = 16;

impl Exprs {
    /// No text at all.
    #[must_use]
    pub fn nothing(&self) -> ExprId {
        ExprId(0)
    }

    /// The empty text.
    #[must_use]
    pub fn empty(&self) -> ExprId {
        ExprId(1)
    }

    /// These bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> ExprId {
        if bytes.is_empty() {
            return self.empty();
        }
        let literal = self.literal_id(bytes);
        self.intern(Expr::Bytes { literal, from: 0 })
    }

    /// A literal from byte `from` on.
    pub(crate) fn bytes_from(&mut self, literal: LiteralId, from: u32) -> ExprId {
        if self.literal(literal).len() == from as usize {
            return self.empty();
        }
        self.intern(Expr::Bytes { literal, from })
    }

    /// This text, spelled.
    ///
    /// ```
    /// use stencilm::grammar::{Exprs, Spelling};
    ///
    /// let mut exprs = Exprs::default();
    /// let text = exprs.text("say \"hi\"", Spelling::JsonCanonical);
    /// assert_eq!(exprs.show(text), r#""say \\\"hi\\\"""#);
    /// ```
    pub fn text(&mut self, text: &str, spelling: Spelling) -> ExprId {
        if !spelling.is_free() {
            return self.bytes(&listed(text, spelling));
        }
        let parts: Vec<ExprId> =
            text.chars().map(|c| self.chars(&CharSet::of([c]), spelling)).collect();
        self.seq(&parts)
    }

    /// Any of these literals. `Nothing` for none.
    pub fn one_of<'a>(&mut self, literals: impl IntoIterator<Item = &'a [u8]>) -> ExprId {
        let ids = literals.into_iter().map(|literal| self.literal_id(literal)).collect();
        self.one_of_list(ids, Spelling::Text)
    }

    /// Any of these texts, spelled. `Nothing` for none.
    pub fn one_of_texts<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
        spelling: Spelling,
    ) -> ExprId {
        let ids = texts.into_iter().map(|text| self.literal_id(&listed(text, spelling))).collect();
        self.one_of_list(ids, if spelling.is_free() { spelling } else { Spelling::Text })
    }

    fn one_of_list(&mut self, ids: Vec<LiteralId>, spelling: Spelling) -> ExprId {
        let list = self.literal_list(ids);
        let len = crate::interner::index(self.literal_ids(list).len());
        self.one_of_run(list, (0, len), 0, spelling)
    }

    /// A run of a sorted list of literals, from byte `depth` on.
    pub(crate) fn one_of_run(
        &mut self,
        literals: LiteralsId,
        (low, high): (u32, u32),
        depth: u32,
        spelling: Spelling,
    ) -> ExprId {
        match high - low {
            0 => self.nothing(),
            1 => self.literal_from(self.literal_ids(literals)[low as usize], depth, spelling),
            _ => self.intern(Expr::OneOf { literals, low, high, depth, spelling }),
        }
    }

    /// A literal of a list from byte `depth` on, spelled.
    pub(crate) fn literal_from(
        &mut self,
        literal: LiteralId,
        depth: u32,
        spelling: Spelling,
    ) -> ExprId {
        if !spelling.is_free() {
            return self.bytes_from(literal, depth);
        }
        let text = self.literal(literal)[depth as usize..].to_vec();
        // What is left of a character that has begun is as it is.
        let begun = text.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
        let rest = self.text(&String::from_utf8_lossy(&text[begun..]), spelling);
        let begun = self.bytes(&text[..begun]);
        self.seq2(begun, rest)
    }

    /// One byte of a set.
    pub fn byte_set(&mut self, set: &ByteSet) -> ExprId {
        if set.is_empty() {
            return self.nothing();
        }
        let id = self.byte_set_id(*set);
        self.intern(Expr::Bytes1(id))
    }

    /// One character of a set, spelled.
    pub fn chars(&mut self, set: &CharSet, spelling: Spelling) -> ExprId {
        if set.is_empty() {
            return self.nothing();
        }
        let class = self.class_id(set);
        self.intern(Expr::Chars { class, spelling })
    }

    /// Any text in this spelling: any number of any characters.
    pub fn any_text(&mut self, spelling: Spelling) -> ExprId {
        let any = self.intern(Expr::Chars { class: self.any, spelling });
        self.repeat(any, 0, crate::grammar::expr::UNBOUNDED)
    }

    /// The rest of one character's spelling.
    pub(crate) fn partial(
        &mut self,
        set: &CharSet,
        spelling: Spelling,
        progress: Progress,
    ) -> ExprId {
        if set.is_empty() {
            return self.nothing();
        }
        let class = self.class_id(set);
        self.intern(Expr::Partial { class, spelling, progress })
    }

    /// A special token, by its name in the vocabulary.
    pub fn token(&mut self, name: &str) -> ExprId {
        let name = self.token_id(name);
        self.intern(Expr::Token(name))
    }

    /// A rule.
    pub fn call(&mut self, rule: RuleId) -> ExprId {
        self.intern(Expr::Call(RuleId(self.first_number + rule.0)))
    }

    /// The member names of an object; see [`Expr::Names`].
    pub fn names(&mut self, state: u32, low: u32, high: u32, depth: u32, other: bool) -> ExprId {
        self.has_other_names |= other;
        let state = self.first_number + state;
        self.intern(Expr::Names { state, low, high, depth, other })
    }

    /// A member name that its object does not list, spelled as JSON between its quotes, and its
    /// closing quote. See [`Expr::OtherName`].
    pub fn other_name(&mut self, text: ExprId) -> ExprId {
        if text == self.nothing() {
            return text;
        }
        self.has_other_names = true;
        self.has_scarce_names |= !self.is_endless(text);
        self.intern(Expr::OtherName(text))
    }

    /// `id` with plain text for what is left of a name outside the list: the same texts, but
    /// nobody remembers them.
    pub(crate) fn unmarked(&mut self, id: ExprId) -> ExprId {
        if !self.is_naming(id) {
            return id;
        }
        match self.get(id) {
            Expr::OtherName(text) => {
                let quote = self.bytes(b"\"");
                self.seq2(text, quote)
            }
            Expr::Seq(first, rest) => {
                let first = self.unmarked(first);
                self.seq2(first, rest)
            }
            Expr::Choice(list) => {
                let mut members = self.list(list).to_vec();
                for member in &mut members {
                    *member = self.unmarked(*member);
                }
                self.choice(&members)
            }
            _ => id,
        }
    }

    /// One after the other.
    pub fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        parts.iter().rev().fold(self.empty(), |rest, &part| self.seq2(part, rest))
    }

    /// `first`, then `rest`. Sequences lean to the right; neighbouring repetitions of the same
    /// body are one.
    pub fn seq2(&mut self, first: ExprId, rest: ExprId) -> ExprId {
        let (nothing, empty) = (self.nothing(), self.empty());
        if first == nothing || rest == nothing {
            return nothing;
        }
        if first == empty {
            return rest;
        }
        if rest == empty {
            return first;
        }
        if let Expr::Seq(..) = self.get(first) {
            let parts = self.spine(first);
            return parts.iter().rev().fold(rest, |rest, &part| self.seq2(part, rest));
        }
        let (next, after) = match self.get(rest) {
            Expr::Seq(next, after) => (next, after),
            _ => (rest, empty),
        };
        if let Some(joined) = self.join_repeats(first, next) {
            return self.seq2(joined, after);
        }
        self.intern(Expr::Seq(first, rest))
    }

    /// The parts of a sequence; the expression alone if it is none.
    #[must_use]
    pub fn spine(&self, id: ExprId) -> Vec<ExprId> {
        let mut parts = Vec::new();
        let mut at = id;
        while let Expr::Seq(first, rest) = self.get(at) {
            parts.push(first);
            at = rest;
        }
        parts.push(at);
        parts
    }

    /// The first part of a sequence and what follows it, which is empty for anything else.
    pub(crate) fn head_and_rest(&self, id: ExprId) -> (ExprId, ExprId) {
        match self.get(id) {
            Expr::Seq(head, rest) => (head, rest),
            _ => (id, self.empty()),
        }
    }

    /// Nothing at all or `id`.
    pub fn optional(&mut self, id: ExprId) -> ExprId {
        self.choice(&[self.empty(), id])
    }

    /// Any of these.
    pub fn choice(&mut self, alternatives: &[ExprId]) -> ExprId {
        self.choice_within(alternatives, DEEPEST_FACTOR)
    }

    /// Any of these: where many are literals, as one sorted list of them. A list is entered by its
    /// next byte, a choice member by member.
    pub fn choice_of_many(&mut self, alternatives: &[ExprId]) -> ExprId {
        let is_literal = |exprs: &Self, id: ExprId| match exprs.get(id) {
            Expr::Bytes { literal, from: 0 } => Some(literal),
            _ => None,
        };
        let literals: Vec<LiteralId> =
            alternatives.iter().filter_map(|&id| is_literal(self, id)).collect();
        if literals.len() < LIST_FROM {
            return self.choice(alternatives);
        }
        let list = self.one_of_list(literals, Spelling::Text);
        let mut members: Vec<ExprId> =
            alternatives.iter().copied().filter(|&id| is_literal(self, id).is_none()).collect();
        members.push(list);
        self.choice(&members)
    }

    /// A choice that is factored no deeper than `depth`.
    fn choice_within(&mut self, alternatives: &[ExprId], depth: u32) -> ExprId {
        let mut members = Vec::with_capacity(alternatives.len());
        for &id in alternatives {
            match self.get(id) {
                Expr::Nothing => {}
                Expr::Choice(list) => members.extend_from_slice(self.list(list)),
                _ => members.push(id),
            }
        }
        members.sort_unstable();
        members.dedup();
        if members.len() > 1 {
            self.merge_alternatives(&mut members, depth);
        }
        match members[..] {
            [] => self.nothing(),
            [one] => one,
            _ => self.intern_list(Expr::Choice, &members),
        }
    }

    /// All of these at once.
    pub fn and(&mut self, conjuncts: &[ExprId]) -> ExprId {
        let nothing = self.nothing();
        let mut members = Vec::with_capacity(conjuncts.len());
        for &id in conjuncts {
            match self.get(id) {
                Expr::And(list) => members.extend_from_slice(self.list(list)),
                Expr::Not(inner) if inner == nothing => {}
                _ => members.push(id),
            }
        }
        members.sort_unstable();
        members.dedup();
        if members.contains(&nothing) || self.merge_conjuncts(&mut members) {
            return nothing;
        }
        match members[..] {
            [] => self.not(nothing),
            [one] => one,
            _ => self.intern_list(Expr::And, &members),
        }
    }

    /// The texts of `from` that are not texts of `without`.
    pub fn minus(&mut self, from: ExprId, without: ExprId) -> ExprId {
        let not = self.not(without);
        self.and(&[from, not])
    }

    /// Any bytes but these. Without an `And` beside it also bytes that are no text: see
    /// [`Exprs::minus`].
    pub fn not(&mut self, id: ExprId) -> ExprId {
        match self.get(id) {
            Expr::Not(inner) => inner,
            _ => self.intern(Expr::Not(id)),
        }
    }

    /// Joins, factors and absorbs alternatives, in place. They stay sorted and different.
    fn merge_alternatives(&mut self, members: &mut Vec<ExprId>, depth: u32) {
        self.unite_classes(members);
        self.unite_repeats(members);
        self.absorb_into_stars(members);
        let empty = self.empty();
        if members.iter().any(|&id| id != empty && self.is_nullable(id)) {
            members.retain(|&id| id != empty);
        }
        self.factor(members, Side::Head, depth);
        self.factor(members, Side::Tail, depth);
        members.sort_unstable();
        members.dedup();
    }

    /// Sets of bytes unite, and so do classes in the same spelling.
    fn unite_classes(&mut self, members: &mut Vec<ExprId>) {
        let mut bytes = ByteSet::EMPTY;
        let mut sets = 0;
        let mut classes: Vec<(Spelling, CharSet, usize)> = Vec::new();
        for &id in members.iter() {
            match self.get(id) {
                Expr::Bytes1(set) => {
                    bytes = bytes.union(&self.byte_set_of(set));
                    sets += 1;
                }
                Expr::Chars { class, spelling } => {
                    let class = self.class(class).clone();
                    match classes.iter_mut().find(|(of, ..)| *of == spelling) {
                        Some((_, set, count)) => {
                            *set = set.union(&class);
                            *count += 1;
                        }
                        None => classes.push((spelling, (*class).clone(), 1)),
                    }
                }
                _ => {}
            }
        }
        if sets > 1 {
            members.retain(|&id| !matches!(self.get(id), Expr::Bytes1(_)));
            members.push(self.byte_set(&bytes));
        }
        for (of, set, count) in classes {
            if count > 1 {
                members.retain(
                    |&id| !matches!(self.get(id), Expr::Chars { spelling, .. } if spelling == of),
                );
                members.push(self.chars(&set, of));
            }
        }
    }

    /// The parts that two or more sequences all begin with, and what is left of each; without
    /// recursion, since such a beginning may be as long as the text.
    fn common_head(&self, sequences: Vec<ExprId>) -> (Vec<ExprId>, Vec<ExprId>) {
        let (mut head, mut rests) = (Vec::new(), sequences);
        while rests.len() > 1 {
            let split: Option<Vec<(ExprId, ExprId)>> = rests
                .iter()
                .map(|&id| match self.get(id) {
                    Expr::Seq(first, rest) => Some((first, rest)),
                    _ => None,
                })
                .collect();
            match split {
                Some(split) if split.iter().all(|part| part.0 == split[0].0) => {
                    head.push(split[0].0);
                    rests = split.into_iter().map(|part| part.1).collect();
                }
                _ => break,
            }
        }
        (head, rests)
    }

    /// `ab | ac` becomes `a(b | c)`, and `ac | bc` becomes `(a | b)c`.
    fn factor(&mut self, members: &mut Vec<ExprId>, side: Side, depth: u32) {
        if members.len() < 2 || depth == 0 {
            return;
        }
        let empty = self.empty();
        let split = |exprs: &Self, id: ExprId| match (exprs.get(id), side) {
            (Expr::Seq(first, rest), Side::Head) => (first, rest),
            (Expr::Seq(first, rest), Side::Tail) => (rest, first),
            _ => (id, empty),
        };
        let mut parts: Vec<(ExprId, ExprId)> = members.iter().map(|&id| split(self, id)).collect();
        parts.sort_unstable();
        if parts.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return;
        }
        members.clear();
        for group in parts.chunk_by(|a, b| a.0 == b.0) {
            let common = group[0].0;
            let others: Vec<ExprId> = group.iter().map(|&(_, other)| other).collect();
            let (more, others) = self.common_head(others);
            let other = match others[..] {
                [one] => one,
                _ => self.choice_within(&others, depth - 1),
            };
            let other = more.iter().rev().fold(other, |rest, &part| self.seq2(part, rest));
            let joined = match side {
                Side::Head => self.seq2(common, other),
                Side::Tail => self.seq2(other, common),
            };
            match self.get(joined) {
                Expr::Choice(list) => members.extend_from_slice(self.list(list)),
                _ => members.push(joined),
            }
        }
    }
}

/// So deep do alternatives nest that share beginnings, one within the other: what walks
/// expressions may recurse.
const DEEPEST_FACTOR: u32 = 100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Head,
    Tail,
}

/// A text as it stands in a list: spelled, or as it is if it has several spellings.
pub(crate) fn listed(text: &str, spelling: Spelling) -> Vec<u8> {
    let stands_raw = |&byte: &u8| (b' '..b'\x7F').contains(&byte) && byte != b'"' && byte != b'\\';
    if text.as_bytes().iter().all(stands_raw) {
        return text.into();
    }
    match spelling {
        Spelling::Text
        | Spelling::Json
        | Spelling::JsonAscii
        | Spelling::SingleQuoted
        | Spelling::DoubleQuoted => text.into(),
        Spelling::JsonCanonical => text.chars().flat_map(canonical).collect(),
        Spelling::JsonAsciiCanonical => text.chars().flat_map(canonical_ascii).collect(),
    }
}
