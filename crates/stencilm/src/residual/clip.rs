//! Counters that no token can exhaust, made alike: for a mask only what one token reaches counts.

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Spelling, UNBOUNDED};
use crate::residual::Residuals;

/// Parts of a sequence whose counters are looked at: the token's first steps.
const PARTS: usize = 4;

impl Residuals {
    /// `id` with counters beyond the longest token taken as unbounded. Its mask is the same.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn clip(&mut self, id: ExprId) -> Result<ExprId, Error> {
        if let Some(clipped) = self.known(id).clipped {
            return Ok(clipped);
        }
        let clipped = match self.exprs.get(id) {
            Expr::Repeat { body, max, .. } if !self.may_clip(body, max) => id,
            Expr::Repeat { body, min, max } => {
                let reach = self.reach(body);
                let (min, max) = (min.min(reach + 1), if max > reach { UNBOUNDED } else { max });
                self.exprs.repeat(body, min, max)
            }
            // Lengths are those of all texts, also of those that tokens cannot spell.
            Expr::And(_) if self.is_over_tokens() => id,
            Expr::Seq(..) => self.clip_sequence(id)?,
            Expr::Choice(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.clip(*member)?;
                }
                self.exprs.choice(&members)
            }
            Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                self.clip_and(id, &members)?
            }
            Expr::Number { set, state } => {
                let sets = &self.exprs;
                match sets.number_set(set).clip(sets.number_state(state), self.longest.2) {
                    Some(state) => self.exprs.number_from(set, state),
                    None => id,
                }
            }
            Expr::OtherName(text) => {
                let text = self.clip(text)?;
                self.exprs.other_name(text)
            }
            Expr::Nothing
            | Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Token(_)
            | Expr::Not(_)
            | Expr::Call(_)
            | Expr::Names { .. } => id,
        };
        self.known(id).clipped = Some(clipped);
        Ok(clipped)
    }

    fn clip_sequence(&mut self, id: ExprId) -> Result<ExprId, Error> {
        let mut heads = Vec::with_capacity(PARTS);
        let mut at = id;
        while let Expr::Seq(first, rest) = self.exprs.get(at)
            && heads.len() < PARTS
        {
            heads.push(first);
            at = rest;
        }
        let mut changed = false;
        for head in &mut heads {
            let clipped = self.clip(*head)?;
            changed |= clipped != *head;
            *head = clipped;
        }
        if !changed {
            return Ok(id);
        }
        let mut whole = at;
        for &head in heads.iter().rev() {
            whole = self.exprs.seq2(head, whole);
        }
        Ok(whole)
    }

    /// A counter beside other conditions is clipped only where the lengths that the others allow
    /// cannot tell: see [`Residuals::length_bound`].
    fn clip_and(&mut self, id: ExprId, members: &[ExprId]) -> Result<ExprId, Error> {
        let Some(place) = members.iter().position(|&member| self.is_counted(member)) else {
            return Ok(id);
        };
        let Expr::Repeat { body, min, max } = self.exprs.get(members[place]) else {
            return Ok(id);
        };
        let reach = self.reach(body);
        // It stays as it is, whatever the lengths: `.+` and the like.
        if min <= reach && (max <= reach || max == UNBOUNDED) {
            return Ok(id);
        }
        let mut others = members.to_vec();
        others.remove(place);
        let mut bound = self.plain_bound(&others, body, min);
        if bound.is_none() {
            bound = self.searched_bound(&others, body)?;
        }
        let Some(bound) = bound else { return Ok(id) };
        let reach = reach.saturating_add(bound);
        let clipped_max = if max > reach { UNBOUNDED } else { max };
        let clipped_min = if clipped_max == UNBOUNDED { min.min(reach + 1) } else { min };
        let counter = self.exprs.repeat(body, clipped_min, clipped_max);
        others.push(counter);
        Ok(self.exprs.and(&others))
    }

    /// How many more characters than have come a counter of `body` beside `others` must let through to
    /// make no difference; none if that is not plain to see, and nobody has searched for it.
    pub(crate) fn plain_bound(&mut self, others: &[ExprId], body: ExprId, min: u32) -> Option<u32> {
        let Expr::Chars { class, spelling } = self.exprs.get(body) else { return None };
        if spelling == Spelling::Text
            && let Some(missing) = self.missing_beside(others, self.exprs.class(class))
        {
            return Some(missing);
        }
        if class != self.exprs.any {
            return None;
        }
        let other = self.exprs.and(others);
        let shape = self.shape(other);
        if min == 0 && shape.is_exact { Some(shape.worst) } else { self.known_length_bound(other) }
    }

    fn searched_bound(&mut self, others: &[ExprId], body: ExprId) -> Result<Option<u32>, Error> {
        if !matches!(self.exprs.get(body), Expr::Chars { class, .. } if class == self.exprs.any) {
            return Ok(None);
        }
        let other = self.exprs.and(others);
        self.length_bound(other, body)
    }

    /// How often one token can go through `body`.
    fn reach(&self, body: ExprId) -> u32 {
        let (characters, bytes, _) = self.longest;
        // A token may begin and end inside a character.
        if self.is_character(body) { characters + 2 } else { bytes }
    }

    fn is_character(&self, id: ExprId) -> bool {
        matches!(self.exprs.get(id), Expr::Chars { .. })
    }

    /// Whether these are counted characters.
    pub(crate) fn is_counted(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::Repeat { body, min, max } => {
                (min > 0 || max != UNBOUNDED) && self.is_character(body)
            }
            _ => false,
        }
    }

    /// Whether this is a counted "any character".
    pub(crate) fn is_any_counted(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::Repeat { body, min, max } => {
                let any = self.exprs.any;
                (min > 0 || max != UNBOUNDED)
                    && matches!(self.exprs.get(body), Expr::Chars { class, .. } if class == any)
            }
            _ => false,
        }
    }
}
