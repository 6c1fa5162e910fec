//! What an expression may begin with, as its form tells it: never too little, sometimes too much.
//! Derivatives would be exact, but those of wide choices cost milliseconds.

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::grammar::{ByteSet, Expr, ExprId, Spelling};
use crate::residual::calls::Callee;
use crate::residual::{Residuals, spell};

/// In the place of a number of rules: none is entered, and calls bring nothing.
const NOT_ENTERED: u32 = u32::MAX;

/// What some text of an expression may begin with, and maybe more.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) bytes: ByteSet,
    /// A special token may come first; those come between tokens only.
    pub(super) is_special: bool,
}

impl First {
    const ANYTHING: Self = Self { bytes: ByteSet::ALL, is_special: true };

    fn of(bytes: ByteSet) -> Self {
        Self { bytes, is_special: false }
    }

    fn or(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.union(&other.bytes),
            is_special: self.is_special || other.is_special,
        }
    }
}

impl Residuals {
    /// The bytes that a text of `id` may begin with, all rules entered.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn first_bytes_through_calls(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        if !self.exprs.has_leading_call(id) {
            return Ok(self.first(id, NOT_ENTERED)?.bytes);
        }
        if let Some(&known) = self.first_through_calls.get(&id) {
            return Ok(known);
        }
        let mut bytes = ByteSet::EMPTY;
        let mut entered = FxHashSet::default();
        let mut todo = vec![id];
        while let Some(at) = todo.pop() {
            bytes = bytes.union(&self.first(at, NOT_ENTERED)?.bytes);
            for &(callee, _) in self.calls(at).iter() {
                if let Callee::Rule(rule) = callee
                    && entered.insert(rule)
                {
                    todo.push(self.body(rule)?);
                }
            }
        }
        self.first_through_calls.insert(id, bytes);
        Ok(bytes)
    }

    /// What some text of `id` may begin with, as far as so many rules one inside the other tell.
    pub(super) fn first(&mut self, id: ExprId, rules: u32) -> Result<First, Error> {
        if let Some(&known) = self.firsts.get(&(id, rules)) {
            return Ok(known);
        }
        let first = self.find_first(id, rules)?;
        self.firsts.insert((id, rules), first);
        Ok(first)
    }

    fn find_first(&mut self, id: ExprId, rules: u32) -> Result<First, Error> {
        let one = |byte| First::of(std::iter::once(byte).collect());
        Ok(match self.exprs.get(id) {
            Expr::Nothing | Expr::Empty => First::of(ByteSet::EMPTY),
            Expr::Bytes { literal, from } => one(self.exprs.literal(literal)[from as usize]),
            Expr::OneOf { literals, low, high, depth, spelling } => {
                First::of(self.next_spelled_bytes(literals, (low, high), depth, spelling))
            }
            Expr::Bytes1(set) => First::of(self.exprs.byte_set_of(set)),
            Expr::Chars { .. } => {
                let (set, spelling, _) =
                    spell::character(&self.exprs, id).expect("it is a character");
                let raw = spell::raw_part(&set, spelling);
                let mut bytes: ByteSet =
                    (0..0x80).filter(|&byte| raw.contains(char::from(byte))).collect();
                if !raw.clamp(0x80, u32::from(char::MAX)).is_empty() {
                    bytes = bytes.union(&ByteSet::range(0xC2, 0xF4));
                }
                if spelling != Spelling::Text {
                    bytes.insert(b'\\');
                }
                First::of(bytes)
            }
            Expr::OtherName(_) => {
                let text = self.exprs.unmarked(id);
                self.first(text, rules)?
            }
            Expr::Number { set, state } => {
                let nothing = self.exprs.nothing();
                let leads = |byte: &u8| self.exprs.after_number_byte(set, state, *byte) != nothing;
                let bytes = b"0123456789-+.eE".iter().copied();
                First::of(bytes.filter(leads).collect())
            }
            Expr::Seq(..) => {
                let mut whole = First::of(ByteSet::EMPTY);
                for part in self.exprs.spine(id) {
                    whole = whole.or(self.first(part, rules)?);
                    if !self.exprs.is_nullable(part) {
                        break;
                    }
                }
                whole
            }
            Expr::Choice(list) => {
                let mut whole = First::of(ByteSet::EMPTY);
                for member in self.exprs.list(list).to_vec() {
                    whole = whole.or(self.first(member, rules)?);
                }
                whole
            }
            Expr::And(list) => {
                let mut bytes = ByteSet::ALL;
                for member in self.exprs.list(list).to_vec() {
                    bytes = bytes.intersection(&self.first(member, rules)?.bytes);
                }
                First::of(bytes)
            }
            Expr::Repeat { body, .. } => self.first(body, rules)?,
            Expr::Call(_) if rules == NOT_ENTERED => First::of(ByteSet::EMPTY),
            Expr::Call(_) if rules == 0 => First::ANYTHING,
            Expr::Call(rule) => {
                let body = self.body(rule)?;
                self.first(body, rules - 1)?
            }
            Expr::Token(_) => First { bytes: ByteSet::EMPTY, is_special: true },
            Expr::Partial { .. } | Expr::Not(_) | Expr::Names { .. } => First::of(ByteSet::ALL),
        })
    }
}
