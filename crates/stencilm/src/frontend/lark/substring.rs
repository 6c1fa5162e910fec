//! Runs of the pieces of a text: a rule for each state of their suffix automaton, or, where no rule
//! may be called, an expression.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;

use crate::error::Error;
use crate::frontend::substrings::automaton;
use crate::grammar::{ExprId, Exprs, RuleId};
use crate::limits::Budget;

/// The rules that runs of pieces need.
#[derive(Debug)]
pub(crate) struct Rules {
    first: usize,
    /// Their bodies. Each begins with a piece.
    pub(crate) bodies: Vec<ExprId>,
}

impl Rules {
    /// None yet; the first will have the number `first`.
    pub(crate) fn new(first: usize) -> Self {
        Self { first, bodies: Vec::new() }
    }

    /// Any run of `pieces`, the empty one too.
    pub(crate) fn any_run(
        &mut self,
        pieces: &[Box<str>],
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let states = automaton(letters(pieces), budget)?;
        let base = self.bodies.len();
        let allowed = budget.limits.rules;
        if self.first + base + states.len() > allowed {
            return Err(Error::limit("rules", allowed));
        }
        let texts: Vec<&str> = pieces.iter().map(|piece| &**piece).collect();
        for state in &states {
            budget.tick()?;
            let mut alternatives = Vec::with_capacity(state.next.len());
            for (&piece, &to) in &state.next {
                let piece = exprs.bytes(texts[piece].as_bytes());
                let has_more = !states[to].next.is_empty();
                let rest = if has_more {
                    let call = exprs.call(self.rule(base + to));
                    exprs.optional(call)
                } else {
                    exprs.empty()
                };
                alternatives.push(exprs.seq2(piece, rest));
            }
            self.bodies.push(exprs.choice(&alternatives));
        }
        if states[0].next.is_empty() {
            return Ok(exprs.empty());
        }
        let whole = exprs.call(self.rule(base));
        Ok(exprs.optional(whole))
    }

    fn rule(&self, place: usize) -> RuleId {
        RuleId(u32::try_from(self.first + place).expect("limits keep rules below 2^32"))
    }
}

/// Any run of `pieces`, the empty one too, without rules. It nests as deep as there are pieces.
pub(crate) fn any_run(
    pieces: &[Box<str>],
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let states = automaton(letters(pieces), budget)?;
    // What comes next is longer than what came before: a state's successors are made before it.
    let mut order: Vec<usize> = (0..states.len()).collect();
    order.sort_unstable_by_key(|&place| Reverse(states[place].length));
    let mut made = vec![exprs.empty(); states.len()];
    for place in order {
        budget.tick()?;
        let mut ways = vec![exprs.empty()];
        for (&piece, &to) in &states[place].next {
            let piece = exprs.bytes(pieces[piece].as_bytes());
            ways.push(exprs.seq2(piece, made[to]));
        }
        made[place] = exprs.choice(&ways);
    }
    Ok(made[0])
}

/// Equal pieces are one letter, the place of the first of them; empty ones are none.
fn letters(pieces: &[Box<str>]) -> impl Iterator<Item = usize> {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let pieces = pieces.iter().enumerate().filter(|(_, piece)| !piece.is_empty());
    pieces.map(move |(place, piece)| *known.entry(piece).or_insert(place))
}
