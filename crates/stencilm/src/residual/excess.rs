//! Long counters of characters: an expression holds as much of them as tokens can tell, a register
//! of the state holds the rest. So a long text makes no new expression for each of its characters.

use crate::grammar::{CharSet, Expr, ExprId, LONGEST_COUNTER, Spelling, UNBOUNDED};
use crate::residual::{Residuals, spell};

/// What an expression lacks of the bounds of the counter that it begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Excess {
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// So much is taken out of the register at once.
const BLOCK: u32 = 1_024;

impl Excess {
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.max == 0 && self.min == 0
    }

    /// What is taken out of the register at once.
    pub(crate) fn block(self) -> Self {
        Self { min: self.min.min(BLOCK), max: self.max.min(BLOCK) }
    }

    pub(crate) fn less(self, other: Self) -> Self {
        Self { min: self.min - other.min, max: self.max - other.max }
    }
}

/// The counter of characters that an expression begins with, before `rest`.
struct Counter {
    body: ExprId,
    min: u32,
    max: u32,
    rest: ExprId,
}

impl Residuals {
    /// With a counter no greater than this, a token might tell how much is in the register.
    fn low(&self) -> u32 {
        self.longest.0.max(self.longest.1).saturating_add(16)
    }

    fn counter(&self, id: ExprId) -> Option<Counter> {
        let (first, rest) = match self.exprs.get(id) {
            Expr::Seq(first, rest) => (first, rest),
            _ => (id, self.exprs.empty()),
        };
        match self.exprs.get(first) {
            // Inside a character there may be a counter of bytes.
            Expr::Repeat { body, min, max } => matches!(self.exprs.get(body), Expr::Chars { .. })
                .then_some(Counter { body, min, max, rest }),
            _ => None,
        }
    }

    /// `id` with a part of its long counter, and the other part. Only for characters that nothing
    /// behind the counter begins with: a byte says whether it belongs to the counter.
    pub(crate) fn lower(&mut self, id: ExprId) -> (ExprId, Excess) {
        if let Some(&known) = self.lowered.get(&id) {
            return known;
        }
        let lowered = self.find_lowered(id).unwrap_or((id, Excess::default()));
        self.lowered.insert(id, lowered);
        lowered
    }

    /// The same, if it was asked for before.
    pub(crate) fn known_lowered(&self, id: ExprId) -> Option<(ExprId, Excess)> {
        self.lowered.get(&id).copied()
    }

    fn find_lowered(&mut self, id: ExprId) -> Option<(ExprId, Excess)> {
        let Counter { body, min, max, rest } = self.counter(id)?;
        let Expr::Chars { class, spelling } = self.exprs.get(body) else {
            return None;
        };
        let kept = self.low().saturating_add(BLOCK);
        // Which counts several tokens can make is asked of the counter as it is.
        if kept >= LONGEST_COUNTER || self.is_over_tokens() {
            return None;
        }
        if rest != self.exprs.empty() {
            let mut first = spell::raw_part(self.exprs.class(class), spelling);
            if spelling != Spelling::Text {
                first = first.union(&CharSet::of(['\\']));
            }
            if !self.begins_outside(rest, &first) {
                return None;
            }
        }
        let excess = Excess {
            min: min.saturating_sub(kept),
            max: if max == UNBOUNDED { 0 } else { max.saturating_sub(kept) },
        };
        let counter = self.exprs.repeat(body, min - excess.min, max - excess.max);
        Some((self.exprs.seq2(counter, rest), excess))
    }

    /// Whether `id` should take more out of a register.
    pub(crate) fn is_low(&self, id: ExprId, excess: Excess) -> bool {
        let low = self.low();
        self.counter(id).is_some_and(|counter| {
            (excess.min > 0 && counter.min <= low) || (excess.max > 0 && counter.max <= low)
        })
    }

    /// `id`, which begins with a counter, with so much more of it.
    pub(crate) fn raise(&mut self, id: ExprId, more: Excess) -> ExprId {
        if let Some(raised) = self.known_raised(id, more) {
            return raised;
        }
        let raised = match (self.counter(id), self.exprs.get(id)) {
            (Some(Counter { body, min, max, rest }), _) => {
                let max = if more.max == 0 { max } else { max + more.max };
                let counter = self.exprs.repeat(body, min + more.min, max);
                self.exprs.seq2(counter, rest)
            }
            // Inside a character of the counter.
            (None, Expr::Seq(first, rest)) => {
                let rest = self.raise(rest, more);
                self.exprs.seq2(first, rest)
            }
            _ => id,
        };
        self.raised.insert((id, more), raised);
        raised
    }

    /// The same, if it was asked for before.
    pub(crate) fn known_raised(&self, id: ExprId, more: Excess) -> Option<ExprId> {
        self.raised.get(&(id, more)).copied()
    }

    /// The part of `id` whose next byte says whether the counter goes on.
    pub(crate) fn first_part(&self, id: ExprId) -> ExprId {
        match self.exprs.get(id) {
            Expr::Seq(first, _) => first,
            _ => id,
        }
    }
}
