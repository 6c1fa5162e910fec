//! The lengths, in characters, of the texts of an expression: an ultimately periodic set, since
//! sets of residuals that one more character leads to must come again.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, UNBOUNDED};
use crate::residual::Residuals;
use crate::residual::characters::{AfterAny, MOST_HEADS};

/// Steps of single conjuncts spent on the lengths of one expression, where nothing else says how
/// much they are worth, before the answer is "not known".
const STEPS: usize = 4_000;

/// Different sets of residuals, one a length, before the answer is "not known".
const LAYERS: usize = 1_000;

/// Residuals that one expression may lead to before the bound on lengths is "not known".
const MOST_STATES: usize = 64;

/// All that some expressions can be after one character.
type Rests = FxHashMap<ExprId, Vec<ExprId>>;

/// Which lengths are there.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// Whether a text of length `i` is there, up to the end of the first period.
    feasible: Vec<bool>,
    /// Where the period begins.
    period_from: usize,
}

/// What was found out about the lengths of an expression.
#[derive(Debug)]
pub(crate) enum Outcome {
    Lengths(Arc<Lengths>),
    /// So many steps were in vain.
    NotBy(usize),
}

impl Lengths {
    /// Whether a text is there with at least `min` and at most `max` characters.
    pub(crate) fn meet(&self, min: u32, max: u32) -> bool {
        let period = self.feasible.len() - self.period_from;
        let first = min as usize;
        // One whole period says it all.
        let last = first.max(self.period_from) + period;
        let last = if max == UNBOUNDED { last } else { last.min(max as usize) };
        (first..=last).any(|length| self.contains(length))
    }

    fn contains(&self, length: usize) -> bool {
        if length < self.feasible.len() {
            return self.feasible[length];
        }
        let period = self.feasible.len() - self.period_from;
        self.feasible[self.period_from + (length - self.period_from) % period]
    }

    /// The shortest text's length.
    fn shortest(&self) -> Option<usize> {
        self.feasible.iter().position(|&is_there| is_there)
    }

    /// From where on every length is there.
    fn all_from(&self) -> Option<usize> {
        if !self.feasible[self.period_from..].iter().all(|&is_there| is_there) {
            return None;
        }
        let gap = self.feasible.iter().rposition(|&is_there| !is_there);
        Some(gap.map_or(0, |gap| gap + 1))
    }
}

impl Residuals {
    /// Whether an intersection of a counted "any character" and other conditions is alive; `None`
    /// if it has another form, or if this takes more steps.
    pub(super) fn length_verdict(
        &mut self,
        members: &[ExprId],
        steps: usize,
    ) -> Result<Option<bool>, Error> {
        let Some(place) = members.iter().position(|&member| self.is_any_counted(member)) else {
            return Ok(None);
        };
        let Expr::Repeat { body, min, max } = self.exprs.get(members[place]) else {
            return Ok(None);
        };
        let mut others = members.to_vec();
        others.remove(place);
        let other = self.exprs.and(&others);
        Ok(self.lengths(other, body, steps)?.map(|lengths| lengths.meet(min, max)))
    }

    /// A number of characters such that counters beyond it and beyond a token's reach make no
    /// difference, whatever a token does in `other`: no residual of it needs more characters for
    /// its shortest text, and from there on each has texts of every length.
    pub(super) fn length_bound(
        &mut self,
        other: ExprId,
        any: ExprId,
    ) -> Result<Option<u32>, Error> {
        if let Some(&known) = self.length_bounds.get(&other) {
            return Ok(known);
        }
        let mut seen = vec![other];
        let bound = self.find_length_bound(&mut seen, any)?;
        // What was reached from here reaches no more than what was seen.
        for id in seen {
            self.length_bounds.insert(id, bound);
        }
        Ok(bound)
    }

    /// The same, if it was asked for before and there is one.
    pub(super) fn known_length_bound(&self, other: ExprId) -> Option<u32> {
        self.length_bounds.get(&other).copied().flatten()
    }

    fn find_length_bound(
        &mut self,
        seen: &mut Vec<ExprId>,
        any: ExprId,
    ) -> Result<Option<u32>, Error> {
        let mut bound = 0;
        let mut at = 0;
        let mut steps = STEPS;
        let mut known = Rests::default();
        while at < seen.len() {
            let Some(rests) = self.after_one_character(seen[at], any, &mut steps)? else {
                return Ok(None);
            };
            known.insert(seen[at], rests.clone());
            for rest in rests {
                if !seen.contains(&rest) && self.is_alive(rest)? {
                    seen.push(rest);
                }
            }
            at += 1;
            if seen.len() > MOST_STATES {
                return Ok(None);
            }
        }
        for &id in seen.iter() {
            let Some(lengths) = self.lengths_with(id, any, STEPS, &mut known)? else {
                return Ok(None);
            };
            match (lengths.shortest(), lengths.all_from()) {
                (Some(shortest), Some(all_from)) => bound = bound.max(shortest).max(all_from),
                // A residual without a text never becomes part of a state.
                (None, _) => {}
                (Some(_), None) => return Ok(None),
            }
        }
        Ok(u32::try_from(bound).ok())
    }

    fn lengths(
        &mut self,
        id: ExprId,
        any: ExprId,
        steps: usize,
    ) -> Result<Option<Arc<Lengths>>, Error> {
        self.lengths_with(id, any, steps, &mut Rests::default())
    }

    fn lengths_with(
        &mut self,
        id: ExprId,
        any: ExprId,
        steps: usize,
        rests: &mut Rests,
    ) -> Result<Option<Arc<Lengths>>, Error> {
        match self.lengths.get(&id) {
            Some(Outcome::Lengths(known)) => return Ok(Some(known.clone())),
            Some(&Outcome::NotBy(tried)) if tried >= steps => return Ok(None),
            Some(Outcome::NotBy(_)) | None => {}
        }
        let lengths = self.find_lengths(id, any, steps, rests)?.map(Arc::new);
        let known = lengths.clone().map_or(Outcome::NotBy(steps), Outcome::Lengths);
        self.lengths.insert(id, known);
        Ok(lengths)
    }

    fn find_lengths(
        &mut self,
        id: ExprId,
        any: ExprId,
        mut steps: usize,
        rests: &mut Rests,
    ) -> Result<Option<Lengths>, Error> {
        let mut layers: FxHashMap<Vec<ExprId>, usize> = FxHashMap::default();
        let mut feasible = Vec::new();
        let mut layer = vec![id];
        loop {
            if let Some(&period_from) = layers.get(&layer) {
                return Ok(Some(Lengths { feasible, period_from }));
            }
            if layers.len() >= LAYERS {
                return Ok(None);
            }
            layers.insert(layer.clone(), feasible.len());
            feasible.push(layer.iter().any(|&at| self.exprs.is_nullable(at)));
            let mut next = Vec::new();
            for at in layer {
                if let Entry::Vacant(place) = rests.entry(at) {
                    let Some(found) = self.after_one_character(at, any, &mut steps)? else {
                        return Ok(None);
                    };
                    place.insert(found);
                }
                next.extend_from_slice(&rests[&at]);
            }
            next.sort_unstable();
            next.dedup();
            layer = next;
        }
    }

    /// All that `id` can be after one character, whichever; `any` is the character.
    fn after_one_character(
        &mut self,
        id: ExprId,
        any: ExprId,
        steps: &mut usize,
    ) -> Result<Option<Vec<ExprId>>, Error> {
        let (nothing, empty) = (self.exprs.nothing(), self.exprs.empty());
        if let Expr::Chars { spelling: own, .. } = self.exprs.get(any)
            && let Some(AfterAny { spelling, rests }) = self.after_any_character(id)?
            && spelling == own
        {
            let Some(left) = steps.checked_sub(rests.len() * self.conjuncts(id)) else {
                return Ok(None);
            };
            *steps = left;
            return Ok(Some(rests.into_iter().map(|(rest, _)| rest).collect()));
        }
        let mut seen = vec![(id, any)];
        let mut found = Vec::new();
        let mut at = 0;
        while at < seen.len() {
            let (text, character) = seen[at];
            at += 1;
            if let Some(rests) = self.after_escape(text, MOST_HEADS) {
                found.extend(rests.into_iter().map(|(rest, _)| rest));
                continue;
            }
            let partition = self.partition(text)?;
            let other = self.partition(character)?;
            let both = self.partitions.product(partition, other);
            for byte in self.partitions.representatives(both) {
                let Some(left) = steps.checked_sub(self.conjuncts(text)) else {
                    return Ok(None);
                };
                *steps = left;
                // What is empty has no lengths: nobody needs to know that first.
                let rest = (self.past_byte(text, byte)?, self.step(character, byte)?);
                if rest.0 == nothing || rest.1 == nothing {
                    continue;
                }
                if rest.1 == empty {
                    found.push(rest.0);
                } else if !seen.contains(&rest) {
                    seen.push(rest);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Some(found))
    }

    /// How many expressions a step of `id` is a step of.
    fn conjuncts(&self, id: ExprId) -> usize {
        match self.exprs.get(id) {
            Expr::And(list) => self.exprs.list(list).len(),
            _ => 1,
        }
    }
}
