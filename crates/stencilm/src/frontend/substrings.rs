//! All parts of a text, or runs of pieces of one: the suffix automaton (Blumer et al. 1985), which has
//! at most twice as many states as there are letters, and for each letter one way out of a state.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::grammar::{CharSet, Exprs, RuleId, RuleSet, Spelling};
use crate::limits::Budget;

/// The runs of letters that end at the same places.
#[derive(Clone, Debug)]
pub(crate) struct State<L> {
    /// The state after one more letter.
    pub(crate) next: BTreeMap<L, usize>,
    /// The state of the longest suffix that comes elsewhere, too.
    link: Option<usize>,
    /// Letters of the longest run.
    pub(crate) length: usize,
}

impl<L> State<L> {
    fn of_length(length: usize) -> Self {
        Self { next: BTreeMap::new(), link: None, length }
    }
}

/// The texts that stand somewhere in `text`, the empty one included.
///
/// # Errors
/// A limit: two rules a character, at most, and `source_bytes`.
pub fn rules(text: &str, budget: &mut Budget) -> Result<RuleSet, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let states = automaton(text.chars(), budget)?;
    let mut exprs = Exprs::default();
    let mut rules = Vec::with_capacity(states.len());
    for (place, state) in states.iter().enumerate() {
        budget.tick()?;
        let mut ways = vec![exprs.empty()];
        for (&c, &next) in &state.next {
            let c = exprs.chars(&CharSet::of([c]), Spelling::Text);
            let next =
                u32::try_from(next).map_err(|_| Error::limit("rules", budget.limits.rules))?;
            let next = exprs.call(RuleId(next));
            ways.push(exprs.seq2(c, next));
        }
        rules.push((format!("at_{place}"), exprs.choice(&ways)));
    }
    Ok(RuleSet::new(exprs, rules, RuleId(0)))
}

/// The states of all runs of these letters; the empty run is in the first one.
///
/// # Errors
/// There are more states than there may be rules.
pub(crate) fn automaton<L: Copy + Ord>(
    letters: impl IntoIterator<Item = L>,
    budget: &mut Budget,
) -> Result<Vec<State<L>>, Error> {
    let mut states = vec![State::of_length(0)];
    let mut last = 0;
    for letter in letters {
        budget.tick()?;
        if states.len() + 2 > budget.limits.rules {
            return Err(Error::limit("rules", budget.limits.rules));
        }
        let new = states.len();
        states.push(State::of_length(states[last].length + 1));
        let mut at = Some(last);
        while let Some(place) = at.filter(|&place| !states[place].next.contains_key(&letter)) {
            states[place].next.insert(letter, new);
            at = states[place].link;
        }
        states[new].link = Some(match at {
            None => 0,
            Some(place) => continued(&mut states, place, letter),
        });
        last = new;
    }
    Ok(states)
}

/// The state after `letter` that has all suffixes of one length: a copy if the known one has longer
/// ones.
fn continued<L: Copy + Ord>(states: &mut Vec<State<L>>, place: usize, letter: L) -> usize {
    let next = states[place].next[&letter];
    let length = states[place].length + 1;
    if states[next].length == length {
        return next;
    }
    let copy = states.len();
    states.push(State { length, ..states[next].clone() });
    let mut at = Some(place);
    while let Some(place) = at.filter(|&place| states[place].next.get(&letter) == Some(&next)) {
        states[place].next.insert(letter, copy);
        at = states[place].link;
    }
    states[next].link = Some(copy);
    copy
}
