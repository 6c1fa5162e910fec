//! Runs of consecutive chunks: a suffix automaton (Blumer et al., 1985), one rule for each state.
//!
//! It has at most twice as many states as there are chunks, and one way at most for each chunk out
//! of a state, where an automaton of all suffixes would have as many ways as chunks.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Location};
use crate::frontend::ebnf::parser::Parser;
use crate::frontend::ebnf::tree::{Node, NodeId};

/// A set of runs that may go on alike.
#[derive(Clone, Debug, Default)]
struct State {
    /// Chunks of the longest run.
    length: usize,
    /// The state of the longest suffix that is not in this one.
    suffix: Option<usize>,
    next: BTreeMap<usize, usize>,
}

impl Parser<'_> {
    /// Any run of these chunks, none of them included.
    pub(crate) fn substring(&mut self, chunks: &[&[u8]], offset: usize) -> Result<Node, Error> {
        let allowed = self.budget.limits.rules;
        if chunks.len() > allowed {
            return Err(Error::limit("rules", allowed).moved_to(Location::Offset(offset)));
        }
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let mut literals: Vec<NodeId> = Vec::new();
        let mut letters = Vec::with_capacity(chunks.len());
        for &chunk in chunks {
            self.budget.tick()?;
            let number = *numbers.entry(chunk).or_insert(literals.len());
            if number == literals.len() {
                literals.push(self.tree.add(Node::Literal(chunk.into()), offset));
            }
            letters.push(number);
        }
        let states = self.automaton(&letters)?;
        let mut rules = Vec::with_capacity(states.len());
        for at in 0..states.len() {
            rules.push(self.rule_id(format!("substring.{offset}.{at}"), offset)?);
        }
        let empty = self.tree.add(Node::Literal(Box::default()), offset);
        for (state, &rule) in states.iter().zip(&rules) {
            self.budget.tick()?;
            let mut ways = vec![empty];
            for (&letter, &next) in &state.next {
                let call = self.tree.add(Node::Call(rules[next]), offset);
                ways.push(self.tree.add(Node::Seq([literals[letter], call].into()), offset));
            }
            let body = self.tree.add(Node::Choice(ways.into()), offset);
            self.tree.rules[rule].body = Some(body);
        }
        Ok(Node::Call(rules[0]))
    }

    fn automaton(&mut self, letters: &[usize]) -> Result<Vec<State>, Error> {
        let mut states = vec![State::default()];
        let mut last = 0;
        for &letter in letters {
            self.budget.tick()?;
            let added = states.len();
            states.push(State { length: states[last].length + 1, ..State::default() });
            let mut before = Some(last);
            while let Some(at) = before.filter(|&at| !states[at].next.contains_key(&letter)) {
                states[at].next.insert(letter, added);
                before = states[at].suffix;
            }
            let suffix = match before {
                None => 0,
                Some(at) => split(&mut states, at, letter),
            };
            states[added].suffix = Some(suffix);
            last = added;
        }
        Ok(states)
    }
}

/// The state of exactly the runs of `at` and `letter`, cut out of a larger one where need be.
fn split(states: &mut Vec<State>, at: usize, letter: usize) -> usize {
    let whole = states[at].next[&letter];
    if states[whole].length == states[at].length + 1 {
        return whole;
    }
    let part = states.len();
    states.push(State { length: states[at].length + 1, ..states[whole].clone() });
    states[whole].suffix = Some(part);
    let mut before = Some(at);
    while let Some(at) = before.filter(|&at| states[at].next.get(&letter) == Some(&whole)) {
        states[at].next.insert(letter, part);
        before = states[at].suffix;
    }
    part
}
