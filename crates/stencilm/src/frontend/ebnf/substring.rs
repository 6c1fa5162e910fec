//! Runs of consecutive chunks: one rule for each state of their suffix automaton.

use std::collections::HashMap;

use crate::error::{Error, Location};
use crate::frontend::ebnf::parser::Parser;
use crate::frontend::ebnf::tree::{Node, NodeId};
use crate::frontend::substrings::automaton;

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
        let states = automaton(letters, self.budget)?;
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
}
