//! The automaton of one rule: Thompson's construction, with calls of rules as edges.

use crate::oracle::plain::Tree;
use crate::oracle::regular::Dfa;
use crate::oracle::spelled::sequences;

/// A byte, or from 256 on a special token.
pub(crate) type Symbol = u16;

/// The first symbol that is no byte.
pub(crate) const FIRST_TOKEN: Symbol = 256;

/// The grammar needs more states than the judge looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooBig;

/// What is read along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// Nothing.
    Empty,
    /// One symbol of this inclusive range.
    Symbols(Symbol, Symbol),
    /// A text of this rule.
    Call(usize),
}

/// A nondeterministic automaton. It starts in state 0 and accepts in state 1.
#[derive(Debug)]
pub(crate) struct Nfa {
    /// The edges out of each state.
    pub(crate) edges: Vec<Vec<(Label, usize)>>,
}

pub(crate) const START: usize = 0;
pub(crate) const ACCEPT: usize = 1;
const MOST_STATES: usize = 6_000;

impl Nfa {
    /// The automaton of `tree`; special tokens are numbered by their place in `tokens`.
    pub(crate) fn new(tree: &Tree, tokens: &[String]) -> Result<Self, TooBig> {
        let mut nfa = Self { edges: vec![Vec::new(), Vec::new()] };
        nfa.put(tree, START, ACCEPT, tokens)?;
        Ok(nfa)
    }

    /// Lets exactly the texts of `tree` lead from one state to the other. All states between
    /// them are new.
    fn put(
        &mut self,
        tree: &Tree,
        from: usize,
        to: usize,
        tokens: &[String],
    ) -> Result<(), TooBig> {
        match tree {
            Tree::Nothing => {}
            Tree::Empty => self.edge(from, Label::Empty, to),
            Tree::Literal(bytes) => self.put_bytes(bytes, from, to)?,
            Tree::OneOf(list) => {
                for bytes in list {
                    self.put_bytes(bytes, from, to)?;
                }
            }
            Tree::Bytes(bytes) => {
                for &byte in bytes {
                    self.edge(from, byte_label(byte, byte), to);
                }
            }
            Tree::Chars(ranges, spelling) => {
                for sequence in sequences(ranges, *spelling) {
                    let mut at = from;
                    for (place, step) in sequence.iter().enumerate() {
                        let next = if place + 1 == sequence.len() { to } else { self.state()? };
                        for &(low, high) in step {
                            self.edge(at, byte_label(low, high), next);
                        }
                        at = next;
                    }
                }
            }
            Tree::Token(name) => {
                let place = tokens.iter().position(|token| token == name);
                let place = Symbol::try_from(place.expect("collected before")).expect("few tokens");
                self.edge(from, Label::Symbols(FIRST_TOKEN + place, FIRST_TOKEN + place), to);
            }
            Tree::Seq(parts) => {
                let mut at = from;
                for part in parts {
                    let next = self.state()?;
                    self.put(part, at, next, tokens)?;
                    at = next;
                }
                self.edge(at, Label::Empty, to);
            }
            Tree::Choice(parts) => {
                for part in parts {
                    self.put(part, from, to, tokens)?;
                }
            }
            Tree::And(parts) => {
                let mut all = Dfa::everything();
                for part in parts {
                    all = all.and(&Dfa::new(&Self::new(part, tokens)?)?)?;
                }
                self.put_dfa(&all, from, to)?;
            }
            Tree::Not(body) => {
                let dfa = Dfa::new(&Self::new(body, tokens)?)?;
                self.put_dfa(&dfa.not(), from, to)?;
            }
            Tree::Repeat(body, min, max) => {
                let mut at = from;
                for _ in 0..*min {
                    let next = self.state()?;
                    self.put(body, at, next, tokens)?;
                    at = next;
                }
                match max {
                    None => {
                        let again = self.state()?;
                        self.edge(at, Label::Empty, again);
                        self.put(body, again, again, tokens)?;
                        at = again;
                    }
                    Some(max) => {
                        for _ in *min..*max {
                            let next = self.state()?;
                            self.edge(at, Label::Empty, to);
                            self.put(body, at, next, tokens)?;
                            at = next;
                        }
                    }
                }
                self.edge(at, Label::Empty, to);
            }
            Tree::Call(rule) => self.edge(from, Label::Call(*rule), to),
        }
        Ok(())
    }

    fn put_bytes(&mut self, bytes: &[u8], from: usize, to: usize) -> Result<(), TooBig> {
        let mut at = from;
        for &byte in bytes {
            let next = self.state()?;
            self.edge(at, byte_label(byte, byte), next);
            at = next;
        }
        self.edge(at, Label::Empty, to);
        Ok(())
    }

    fn put_dfa(&mut self, dfa: &Dfa, from: usize, to: usize) -> Result<(), TooBig> {
        let mut states = Vec::new();
        for _ in 0..dfa.len() {
            states.push(self.state()?);
        }
        self.edge(from, Label::Empty, states[0]);
        for (at, &state) in states.iter().enumerate() {
            if dfa.accepts_in(at) {
                self.edge(state, Label::Empty, to);
            }
            for (low, high, next) in dfa.edges(at) {
                self.edge(state, byte_label(low, high), states[next]);
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<usize, TooBig> {
        if self.edges.len() >= MOST_STATES {
            return Err(TooBig);
        }
        self.edges.push(Vec::new());
        Ok(self.edges.len() - 1)
    }

    fn edge(&mut self, from: usize, label: Label, to: usize) {
        self.edges[from].push((label, to));
    }
}

fn byte_label(low: u8, high: u8) -> Label {
    Label::Symbols(low.into(), high.into())
}
