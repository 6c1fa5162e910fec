//! Expressions that begin with a loop over characters: their masks come from a sieve of the
//! vocabulary, not from a walk.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, Spelling, UNBOUNDED};
use crate::residual::{Lead, Residuals, spell};

/// Parts looked at to see what a loop is followed by.
const FUEL: u32 = 200;

/// A loop over single characters at the beginning of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The characters, as far as they stand for themselves.
    pub(crate) class: Arc<CharSet>,
    /// At most so many of them.
    pub(crate) max: u32,
    /// Whether a token of more of these characters is surely refused.
    pub(crate) is_exact: bool,
    /// Whether every text of the expression has a byte that is none of these characters', before
    /// any call: no token made of them leaves the expression.
    pub(crate) is_guarded: bool,
    /// Whether the class has so many characters that a sieve beats a walk.
    pub(crate) is_wide: bool,
    /// The bytes that only characters of the class have.
    pub(crate) bytes: ByteSet,
}

/// Classes with fewer characters of ASCII, and none beyond, are walked.
const NARROW: u32 = 12;

impl Loop {
    fn new(class: Arc<CharSet>, max: u32, is_exact: bool) -> Self {
        let ascii: ByteSet = (0..0x80).filter(|&byte| class.contains(char::from(byte))).collect();
        let beyond = !class.clamp(0x80, u32::from(char::MAX)).is_empty();
        let bytes = if class.covers(0x80, u32::from(char::MAX)) {
            ascii.union(&ByteSet::range(0x80, u8::MAX))
        } else {
            ascii
        };
        let is_wide = beyond || ascii.len() > NARROW;
        Self { class, max, is_exact, is_guarded: false, is_wide, bytes }
    }

    /// All bytes that its characters have, and maybe more.
    fn all_bytes(&self) -> ByteSet {
        if self.class.clamp(0x80, u32::from(char::MAX)).is_empty() {
            return self.bytes;
        }
        self.bytes.union(&ByteSet::range(0x80, u8::MAX))
    }
}

impl Residuals {
    /// The loop that `id` begins with.
    pub(crate) fn leading_loop(&mut self, id: ExprId) -> Option<Arc<Loop>> {
        match &self.known(id).lead {
            Lead::Loop(found) => return Some(found.clone()),
            Lead::None => return None,
            Lead::Unknown => {}
        }
        let plain = self.exprs.unmarked(id);
        let found = self.find_loop(plain, &mut FUEL.clone());
        let Some(mut found) = found.or_else(|| self.repeated_way_back(plain)) else {
            self.known(id).lead = Lead::None;
            return None;
        };
        let class = found.class.clone();
        found.is_guarded = self.is_guarded(plain, &class, &mut FUEL.clone());
        let found = Arc::new(found);
        self.known(id).lead = Lead::Loop(found.clone());
        Some(found)
    }

    /// Whether what follows the loop that `id` begins with, before one of the bytes of `first`, begins
    /// with no byte that a character of the loop has: no token made of them leaves the loop.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn is_parted(
        &mut self,
        id: ExprId,
        lead: &Loop,
        first: &ByteSet,
    ) -> Result<bool, Error> {
        let (head, rest) = self.exprs.head_and_rest(id);
        if !matches!(self.exprs.get(head), Expr::Repeat { .. } | Expr::And(_)) {
            return Ok(false);
        }
        Ok(self.bytes_after(rest, first)?.is_disjoint(&lead.all_bytes()))
    }

    /// The bytes that `rest` may begin with before one of `first`.
    pub(crate) fn bytes_after(&mut self, rest: ExprId, first: &ByteSet) -> Result<ByteSet, Error> {
        let bytes = self.first_bytes_through_calls(rest)?;
        Ok(if self.exprs.is_nullable(rest) { bytes.union(first) } else { bytes })
    }

    fn find_loop(&mut self, id: ExprId, fuel: &mut u32) -> Option<Loop> {
        *fuel = fuel.checked_sub(1)?;
        match self.exprs.get(id) {
            Expr::Repeat { body, max, .. } => {
                let (class, is_all) = self.characters_of(body)?;
                let is_exact = is_all || max == UNBOUNDED;
                Some(Loop::new(class, max, is_exact))
            }
            Expr::Seq(first, rest) => {
                let mut found = self.find_loop(first, fuel)?;
                if found.max != UNBOUNDED && found.is_exact {
                    found.is_exact = self.begins_outside(rest, &found.class.clone());
                }
                Some(found)
            }
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                self.widest_loop(&members, fuel).map(|(_, found)| found)
            }
            Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                self.loop_of_and(id, &members, fuel)
            }
            Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Not(_)
            | Expr::Call(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => None,
        }
    }

    fn widest_loop(&mut self, members: &[ExprId], fuel: &mut u32) -> Option<(ExprId, Loop)> {
        let mut widest: Option<(ExprId, Loop)> = None;
        for &member in members {
            let Some(found) = self.find_loop(member, fuel) else { continue };
            let is_wider =
                widest.as_ref().is_none_or(|(_, best)| found.class.len() > best.class.len());
            if found.max == UNBOUNDED && is_wider {
                widest = Some((member, found));
            }
        }
        widest
    }

    /// What is left of `id` however many characters of its loop came: of a choice at the beginning
    /// the way that is the loop.
    fn after_loop(&mut self, id: ExprId, fuel: &mut u32) -> Option<ExprId> {
        *fuel = fuel.checked_sub(1)?;
        match self.exprs.get(id) {
            Expr::Seq(first, rest) => {
                let left = self.after_loop(first, fuel)?;
                Some(self.exprs.seq2(left, rest))
            }
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                let (way, _) = self.widest_loop(&members, fuel)?;
                self.after_loop(way, fuel)
            }
            _ => Some(id),
        }
    }

    /// All conjuncts must take the characters: classes and stars of classes do as long as the
    /// token lasts, and finitely many refused texts leave an unbounded loop alive.
    fn loop_of_and(&mut self, id: ExprId, members: &[ExprId], fuel: &mut u32) -> Option<Loop> {
        let mut met: Option<Loop> = None;
        let mut refuses_many = false;
        for &member in members {
            let part = match self.exprs.get(member) {
                Expr::Not(body) => {
                    refuses_many |= !self.is_finite(body);
                    continue;
                }
                Expr::Repeat { .. } => self.find_loop(member, fuel)?,
                Expr::Seq(..) => {
                    let part = self.find_loop(member, fuel)?;
                    // What follows such a loop always can, if no counter beside it runs out.
                    if part.max != UNBOUNDED {
                        return None;
                    }
                    part
                }
                _ => return None,
            };
            met = Some(match met {
                None => part,
                Some(before) => {
                    let class = Arc::new(before.class.intersection(&part.class));
                    Loop::new(class, before.max.min(part.max), false)
                }
            });
        }
        let met = met?;
        let mut left = Vec::with_capacity(members.len());
        for &member in members {
            left.push(self.after_loop(member, fuel)?);
        }
        if left != members {
            // The ways that stay in the loop may have no text in common.
            let left = self.exprs.and(&left);
            let left = self.without_empty_parts(left).ok()?;
            if left == self.exprs.nothing() {
                return None;
            }
        }
        if refuses_many {
            let back = self.way_back(id).filter(|found| found.is_wide);
            return back.or_else(|| self.loop_before_refused(members, met));
        }
        // A bounded loop may run into a text that a conjunct still needs: only the walk knows.
        let is_plain = members
            .iter()
            .all(|&member| matches!(self.exprs.get(member), Expr::Repeat { .. } | Expr::Not(_)));
        let is_bounded = met.max != UNBOUNDED
            || members.iter().any(|&member| {
                matches!(self.exprs.get(member), Expr::Repeat { max, .. } if max != UNBOUNDED)
            });
        if met.class.is_empty() || (is_bounded && (!is_plain || members.len() > 1)) {
            return None;
        }
        Some(Loop { is_exact: true, ..met })
    }

    /// A loop beside refused texts: shorter texts than those are texts of it.
    fn loop_before_refused(&mut self, members: &[ExprId], met: Loop) -> Option<Loop> {
        let (mut shortest, mut escapes) = (UNBOUNDED, 0);
        for &member in members {
            match self.exprs.get(member) {
                Expr::Repeat { min: 0, .. } => {}
                Expr::Not(body) if self.lacks_some_of(body, &met) => escapes += 1,
                Expr::Not(body) => shortest = shortest.min(self.shape(body).shortest),
                _ => return None,
            }
        }
        if self.is_over_tokens() || (escapes > 0 && met.max != UNBOUNDED) {
            return None;
        }
        let max = match shortest {
            UNBOUNDED => met.max,
            // One more character each leads out of the texts of too few characters.
            _ => met.max.min(shortest.checked_sub(1 + escapes)?),
        };
        (max > 1 && !met.class.is_empty()).then(|| Loop::new(met.class, max, max == UNBOUNDED))
    }

    /// The characters that lead back to a repetition of something longer: all but a dash in
    /// `(-?[^-])*`.
    fn repeated_way_back(&mut self, id: ExprId) -> Option<Loop> {
        let (head, _) = self.exprs.head_and_rest(id);
        match self.exprs.get(head) {
            Expr::Repeat { max: UNBOUNDED, .. } => self.way_back(id).filter(|found| found.is_wide),
            _ => None,
        }
    }

    /// The characters that lead from `id` to itself: all but the first ones of texts that must not
    /// occur, say.
    pub(crate) fn way_back(&mut self, id: ExprId) -> Option<Loop> {
        let mut ranges = Vec::new();
        for byte in 0..0x80 {
            if self.step(id, byte).ok()? == id {
                ranges.push((byte.into(), byte.into()));
            }
        }
        if ranges.len() <= NARROW as usize {
            return None;
        }
        if self.comes_back_beyond_ascii(id)? {
            ranges.push((0x80, u32::from(char::MAX)));
        }
        let class = CharSet::from_code_points(ranges);
        (!class.is_empty()).then(|| Loop::new(Arc::new(class), UNBOUNDED, true))
    }

    /// Whether every character beyond ASCII leads from `id` to itself; `None` if it is too much to
    /// find out.
    fn comes_back_beyond_ascii(&mut self, id: ExprId) -> Option<bool> {
        let (any, nothing) = (self.exprs.any_text(Spelling::Text), self.exprs.nothing());
        let mut seen = FxHashSet::default();
        let mut todo = vec![(id, any)];
        while let Some((at, text)) = todo.pop() {
            for byte in 0x80..=u8::MAX {
                let text = self.step(text, byte).ok()?;
                if text == nothing {
                    continue;
                }
                let next = self.step(at, byte).ok()?;
                if next == nothing || (text == any && next != id) {
                    return Some(false);
                }
                if text != any && seen.insert((next, text)) {
                    todo.push((next, text));
                }
            }
            if seen.len() > FUEL as usize {
                return None;
            }
        }
        Some(true)
    }

    /// Whether `body` is characters of a class that lacks some of an endless loop's: whatever came,
    /// one of them leads out of it.
    fn lacks_some_of(&self, body: ExprId, met: &Loop) -> bool {
        let class = match self.exprs.get(body) {
            Expr::Repeat { body, .. } => match self.exprs.get(body) {
                Expr::Chars { class, .. } => class,
                _ => return false,
            },
            _ => return false,
        };
        met.max == UNBOUNDED && !met.class.difference(self.exprs.class(class)).is_empty()
    }

    /// The characters that stand for themselves in a loop's body, and whether nothing else is
    /// in it.
    fn characters_of(&self, body: ExprId) -> Option<(Arc<CharSet>, bool)> {
        let raw = |class: &CharSet, spelling: Spelling| {
            let set = spell::raw_part(class, spelling);
            (!set.is_empty()).then(|| Arc::new(set))
        };
        match self.exprs.get(body) {
            Expr::Chars { class, spelling } => {
                Some((raw(self.exprs.class(class), spelling)?, true))
            }
            Expr::Choice(list) => {
                self.exprs.list(list).iter().find_map(|&member| match self.exprs.get(member) {
                    Expr::Chars { class, spelling } => {
                        Some((raw(self.exprs.class(class), spelling)?, false))
                    }
                    _ => None,
                })
            }
            _ => None,
        }
    }

    fn is_finite(&self, id: ExprId) -> bool {
        matches!(self.exprs.get(id), Expr::OneOf { .. } | Expr::Bytes { .. } | Expr::Empty)
    }

    /// Whether no text of `id` begins with a character of `class`, and it is not empty.
    pub(crate) fn begins_outside(&mut self, id: ExprId, class: &CharSet) -> bool {
        let mut at = id;
        loop {
            let (first, rest) = match self.exprs.get(at) {
                Expr::Seq(first, rest) => (first, Some(rest)),
                _ => (at, None),
            };
            let is_outside = match self.exprs.get(first) {
                Expr::Bytes { literal, from } => {
                    let byte = self.exprs.literal(literal)[from as usize];
                    byte.is_ascii() && !class.contains(char::from(byte))
                }
                Expr::Chars { class: other, .. } => {
                    self.exprs.class(other).intersection(class).is_empty()
                }
                Expr::Repeat { body, .. } => match self.exprs.get(body) {
                    Expr::Chars { class: other, .. } => {
                        self.exprs.class(other).intersection(class).is_empty()
                    }
                    _ => false,
                },
                _ => false,
            };
            match rest {
                _ if !is_outside => return false,
                Some(rest) if self.exprs.is_nullable(first) => at = rest,
                _ => return !self.exprs.is_nullable(first),
            }
        }
    }

    /// Whether every text of `id` has, before any call, a byte that no character of `class` has.
    fn is_guarded(&self, id: ExprId, class: &CharSet, fuel: &mut u32) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        let is_outside = |byte: u8| byte.is_ascii() && !class.contains(char::from(byte));
        match self.exprs.get(id) {
            Expr::Nothing => true,
            Expr::Bytes { literal, from } => {
                self.exprs.literal(literal)[from as usize..].iter().any(|&byte| is_outside(byte))
            }
            Expr::Bytes1(set) => self.exprs.byte_set_of(set).iter().all(is_outside),
            Expr::Chars { class: other, .. } => {
                self.exprs.class(other).intersection(class).is_empty()
            }
            Expr::Seq(first, rest) => {
                self.is_guarded(first, class, fuel)
                    || (!self.exprs.has_calls(first) && self.is_guarded(rest, class, fuel))
            }
            Expr::Choice(list) => {
                self.exprs.list(list).iter().all(|&member| self.is_guarded(member, class, fuel))
            }
            Expr::And(list) => {
                self.exprs.list(list).iter().any(|&member| self.is_guarded(member, class, fuel))
            }
            Expr::Repeat { body, min, .. } => min > 0 && self.is_guarded(body, class, fuel),
            Expr::Names { .. } | Expr::OtherName(_) => is_outside(b'"'),
            Expr::Empty
            | Expr::OneOf { .. }
            | Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Token(_)
            | Expr::Not(_)
            | Expr::Call(_) => false,
        }
    }
}
