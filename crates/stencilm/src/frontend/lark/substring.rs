//! Runs of the pieces of a text: its suffix automaton (Blumer et al., "The smallest automaton
//! recognizing the subwords of a text", 1985), a rule for each state.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::{ExprId, Exprs, RuleId};
use crate::limits::Budget;

/// The rules that runs of pieces need.
#[derive(Debug)]
pub(crate) struct Rules {
    first: usize,
    /// Their bodies. Each begins with a piece.
    pub(crate) bodies: Vec<ExprId>,
}

/// A state: the runs that end at the same places.
#[derive(Clone, Debug, Default)]
struct State {
    longest: usize,
    link: Option<usize>,
    next: FxHashMap<usize, usize>,
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
        let states = automaton(pieces, budget)?;
        let base = self.bodies.len();
        let allowed = budget.limits.rules;
        if self.first + base + states.len() > allowed {
            return Err(Error::limit("rules", allowed));
        }
        let texts: Vec<&str> = pieces.iter().map(|piece| &**piece).collect();
        for state in &states {
            budget.tick()?;
            let mut ways: Vec<(usize, usize)> = state.next.iter().map(|(&a, &b)| (a, b)).collect();
            ways.sort_unstable();
            let mut alternatives = Vec::with_capacity(ways.len());
            for (piece, to) in ways {
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

/// The states of a list of pieces; equal pieces count as one letter, the first of them.
fn automaton(pieces: &[Box<str>], budget: &mut Budget) -> Result<Vec<State>, Error> {
    let mut letters: FxHashMap<&str, usize> = FxHashMap::default();
    let mut states = vec![State::default()];
    let mut last = 0;
    for (place, piece) in pieces.iter().enumerate().filter(|(_, piece)| !piece.is_empty()) {
        budget.tick()?;
        let letter = *letters.entry(piece).or_insert(place);
        let new = states.len();
        states.push(State { longest: states[last].longest + 1, ..State::default() });
        let mut at = Some(last);
        while let Some(state) = at.filter(|&it| !states[it].next.contains_key(&letter)) {
            states[state].next.insert(letter, new);
            at = states[state].link;
        }
        states[new].link = Some(0);
        if let Some(state) = at {
            let to = states[state].next[&letter];
            states[new].link = Some(if states[to].longest == states[state].longest + 1 {
                to
            } else {
                let copy = states.len();
                let longest = states[state].longest + 1;
                states.push(State { longest, ..states[to].clone() });
                let mut at = Some(state);
                while let Some(state) = at.filter(|&it| states[it].next.get(&letter) == Some(&to)) {
                    states[state].next.insert(letter, copy);
                    at = states[state].link;
                }
                states[to].link = Some(copy);
                copy
            });
        }
        last = new;
    }
    Ok(states)
}
