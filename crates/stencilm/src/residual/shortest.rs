//! How many characters a text must still have: what decides nearly every question of emptiness.

use crate::grammar::{Expr, ExprId};
use crate::residual::Residuals;

/// Lengths in characters, as far as the shape of an expression tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// No text is shorter. Some text is just so long if `is_exact`.
    pub(crate) shortest: u32,
    /// Whatever remains after some bytes of a text has a text of at most so many more characters,
    /// if `is_exact`.
    pub(crate) worst: u32,
    /// No text is longer.
    pub(crate) longest: u32,
    /// Nothing inside hides what matches.
    pub(crate) is_exact: bool,
}

impl Residuals {
    /// The lengths of `id`'s texts, an expression without calls.
    pub(crate) fn shape(&mut self, id: ExprId) -> Shape {
        if let Some(shape) = self.known(id).shape {
            return shape;
        }
        let shape = self.find_shape(id);
        self.known(id).shape = Some(shape);
        shape
    }

    fn find_shape(&mut self, id: ExprId) -> Shape {
        let exact = |shortest, longest| Shape { shortest, worst: longest, longest, is_exact: true };
        match self.exprs.get(id) {
            // A character was counted at its first byte.
            Expr::Nothing | Expr::Empty | Expr::Partial { .. } => exact(0, 0),
            Expr::Bytes { literal, from } => {
                let whole = self.exprs.literal(literal);
                let length = characters(&whole[from as usize..]);
                // A backslash may begin an escape, several bytes for one character, which was
                // counted at its first byte.
                let is_exact = !whole.contains(&b'\\');
                let shortest = if is_exact { length } else { length.min(u32::from(from == 0)) };
                Shape { is_exact, ..exact(shortest, length) }
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                let run = &self.exprs.literal_ids(literals)[low as usize..high as usize];
                let lengths =
                    run.iter().map(|&id| characters(&self.exprs.literal(id)[depth as usize..]));
                let (least, longest) = (lengths.clone().min(), lengths.max().unwrap_or(0));
                if spelling.is_free() {
                    return exact(least.unwrap_or(0), longest);
                }
                // Escapes make texts shorter than their bytes: this is the least that can be said.
                let is_inner =
                    depth > 0 && run.iter().any(|&id| self.exprs.literal(id).contains(&b'\\'));
                let shortest = if is_inner { 0 } else { least.unwrap_or(0).min(1) };
                Shape { is_exact: false, ..exact(shortest, longest) }
            }
            Expr::Bytes1(set) => {
                // A continuation byte ends a character that was counted at its first byte.
                let is_inner = self.exprs.byte_set_of(set).iter().all(|byte| byte & 0xC0 == 0x80);
                if is_inner { exact(0, 0) } else { exact(1, 1) }
            }
            Expr::Chars { .. } => exact(1, 1),
            Expr::Seq(..) => {
                let mut whole = exact(0, 0);
                for part in self.exprs.spine(id).into_iter().rev() {
                    let first = self.shape(part);
                    whole = Shape {
                        shortest: first.shortest.saturating_add(whole.shortest),
                        worst: first.worst.saturating_add(whole.shortest).max(whole.worst),
                        longest: first.longest.saturating_add(whole.longest),
                        is_exact: first.is_exact && whole.is_exact,
                    };
                }
                whole
            }
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                let mut whole = exact(u32::MAX, 0);
                for member in members {
                    let part = self.shape(member);
                    whole = Shape {
                        shortest: whole.shortest.min(part.shortest),
                        worst: whole.worst.max(part.worst),
                        longest: whole.longest.max(part.longest),
                        is_exact: whole.is_exact && part.is_exact,
                    };
                }
                whole
            }
            Expr::Repeat { body, min, max } => {
                let body = self.shape(body);
                let others = min.saturating_sub(1);
                Shape {
                    shortest: body.shortest.saturating_mul(min),
                    worst: body.worst.saturating_add(body.shortest.saturating_mul(others)),
                    longest: body.longest.saturating_mul(max),
                    is_exact: body.is_exact,
                }
            }
            Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                let mut whole = Shape { worst: u32::MAX, is_exact: false, ..exact(0, u32::MAX) };
                for member in members {
                    let part = self.shape(member);
                    whole.shortest = whole.shortest.max(part.shortest);
                    whole.longest = whole.longest.min(part.longest);
                }
                whole
            }
            Expr::Number { .. } => {
                let shortest = u32::from(!self.exprs.is_nullable(id));
                Shape { is_exact: false, ..exact(shortest, u32::MAX) }
            }
            Expr::Not(_)
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => Shape { is_exact: false, ..exact(0, u32::MAX) },
        }
    }
}

impl Residuals {
    /// `id` without alternatives whose texts all have more than `most` characters; `Nothing` if
    /// none is left.
    pub(super) fn cut(&mut self, id: ExprId, most: u32) -> ExprId {
        if self.shape(id).shortest > most {
            return self.exprs.nothing();
        }
        match self.exprs.get(id) {
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                let cut: Vec<ExprId> =
                    members.iter().map(|&member| self.cut(member, most)).collect();
                if cut == members { id } else { self.exprs.choice(&cut) }
            }
            Expr::Seq(first, rest) => {
                let others = self.shape(rest).shortest;
                let cut = self.cut(first, most.saturating_sub(others));
                if cut == first { id } else { self.exprs.seq2(cut, rest) }
            }
            _ => id,
        }
    }
}

/// How many characters begin in these bytes.
fn characters(bytes: &[u8]) -> u32 {
    let count = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
