//! All parts of a text: its suffix automaton (Blumer et al. 1985), built character by character,
//! with a rule for each state.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::grammar::{CharSet, Exprs, RuleId, RuleSet, Spelling};
use crate::limits::Budget;

#[derive(Clone, Debug, Default)]
struct State {
    next: BTreeMap<char, usize>,
    /// The state of the longest suffix that comes elsewhere, too.
    link: Option<usize>,
    length: usize,
}

/// The texts that stand somewhere in `text`, the empty one included.
///
/// # Errors
/// A limit: two rules a character, at most, and `source_bytes`.
pub fn rules(text: &str, budget: &mut Budget) -> Result<RuleSet, Error> {
    if text.len() > budget.limits.source_bytes {
        return Err(Error::limit("source_bytes", budget.limits.source_bytes));
    }
    let states = automaton(text, budget)?;
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

fn automaton(text: &str, budget: &mut Budget) -> Result<Vec<State>, Error> {
    let mut states = vec![State::default()];
    let mut last = 0;
    for c in text.chars() {
        budget.tick()?;
        if states.len() + 2 > budget.limits.rules {
            return Err(Error::limit("rules", budget.limits.rules));
        }
        let new = states.len();
        states.push(State { length: states[last].length + 1, ..State::default() });
        let mut at = Some(last);
        while let Some(place) = at.filter(|&place| !states[place].next.contains_key(&c)) {
            states[place].next.insert(c, new);
            at = states[place].link;
        }
        states[new].link = Some(match at {
            None => 0,
            Some(place) => continued(&mut states, place, c),
        });
        last = new;
    }
    Ok(states)
}

/// The state after `c` that has all suffixes of one length: a copy if the known one has longer ones.
fn continued(states: &mut Vec<State>, place: usize, c: char) -> usize {
    let next = states[place].next[&c];
    let length = states[place].length + 1;
    if states[next].length == length {
        return next;
    }
    let copy = states.len();
    states.push(State { length, ..states[next].clone() });
    let mut at = Some(place);
    while let Some(place) = at.filter(|&place| states[place].next.get(&c) == Some(&next)) {
        states[place].next.insert(c, copy);
        at = states[place].link;
    }
    states[next].link = Some(copy);
    copy
}
