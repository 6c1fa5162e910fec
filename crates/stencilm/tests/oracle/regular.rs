//! Deterministic automata over bytes, for `And` and `Not`: subsets, products, complements.

use std::collections::{BTreeSet, HashMap};

use crate::oracle::nfa::{ACCEPT, FIRST_TOKEN, Label, Nfa, START, Symbol, TooBig};

const MOST_STATES: usize = 1_500;

/// A complete deterministic automaton over bytes. It starts in state 0.
#[derive(Debug)]
pub(crate) struct Dfa {
    /// The first byte of each run of bytes that no state tells apart. Sorted, starts with 0.
    cuts: Vec<Symbol>,
    /// For each state and each run the next state.
    next: Vec<Vec<usize>>,
    accepting: Vec<bool>,
}

impl Dfa {
    /// The subset construction. The automaton has no calls and no special tokens.
    pub(crate) fn new(nfa: &Nfa) -> Result<Self, TooBig> {
        let mut cuts = BTreeSet::from([0]);
        for &(label, _) in nfa.edges.iter().flatten() {
            match label {
                Label::Symbols(low, high) => cuts.extend([low, high + 1]),
                Label::Empty => {}
                Label::Call(_) => panic!("calls inside And or Not"),
            }
        }
        assert!(cuts.iter().all(|&cut| cut <= FIRST_TOKEN), "special tokens inside And or Not");
        cuts.remove(&FIRST_TOKEN);
        let cuts: Vec<Symbol> = cuts.into_iter().collect();
        let mut dfa = Self { cuts, next: Vec::new(), accepting: Vec::new() };
        let mut sets = vec![closed(nfa, [START].into())];
        let mut numbers = HashMap::from([(sets[0].clone(), 0)]);
        while dfa.next.len() < sets.len() {
            let set = sets[dfa.next.len()].clone();
            let mut row = Vec::new();
            for &byte in &dfa.cuts {
                let edges = set.iter().flat_map(|&state| &nfa.edges[state]);
                let read = |label| matches!(label, Label::Symbols(a, b) if a <= byte && byte <= b);
                let to = edges.filter(|edge| read(edge.0)).map(|edge| edge.1).collect();
                let to = closed(nfa, to);
                let fresh = sets.len();
                let number = *numbers.entry(to.clone()).or_insert(fresh);
                if number == fresh {
                    sets.push(to);
                }
                row.push(number);
            }
            dfa.next.push(row);
            dfa.accepting.push(set.contains(&ACCEPT));
            if sets.len() > MOST_STATES {
                return Err(TooBig);
            }
        }
        Ok(dfa)
    }

    /// Any bytes.
    pub(crate) fn everything() -> Self {
        Self { cuts: vec![0], next: vec![vec![0]], accepting: vec![true] }
    }

    /// What both accept: the product.
    pub(crate) fn and(&self, other: &Self) -> Result<Self, TooBig> {
        let cuts: BTreeSet<Symbol> = self.cuts.iter().chain(&other.cuts).copied().collect();
        let cuts: Vec<Symbol> = cuts.into_iter().collect();
        let mut both = Self { cuts, next: Vec::new(), accepting: Vec::new() };
        let mut pairs = vec![(0, 0)];
        let mut numbers = HashMap::from([((0, 0), 0)]);
        while both.next.len() < pairs.len() {
            let (a, b) = pairs[both.next.len()];
            let mut row = Vec::new();
            for &byte in &both.cuts {
                let to = (self.step(a, byte), other.step(b, byte));
                let fresh = pairs.len();
                let number = *numbers.entry(to).or_insert(fresh);
                if number == fresh {
                    pairs.push(to);
                }
                row.push(number);
            }
            both.next.push(row);
            both.accepting.push(self.accepting[a] && other.accepting[b]);
            if pairs.len() > MOST_STATES {
                return Err(TooBig);
            }
        }
        Ok(both)
    }

    /// What this one does not accept.
    pub(crate) fn not(mut self) -> Self {
        self.accepting.iter_mut().for_each(|accepting| *accepting = !*accepting);
        self
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.next.len()
    }

    /// Whether a text may end in `state`.
    pub(crate) fn accepts_in(&self, state: usize) -> bool {
        self.accepting[state]
    }

    /// The edges out of `state`, as inclusive ranges of bytes.
    pub(crate) fn edges(&self, state: usize) -> Vec<(u8, u8, usize)> {
        let ends = self.cuts[1..].iter().copied().chain([FIRST_TOKEN]);
        let byte = |symbol| u8::try_from(symbol).expect("cuts are bytes");
        let runs = self.cuts.iter().zip(ends).zip(&self.next[state]);
        runs.map(|((&low, end), &next)| (byte(low), byte(end - 1), next)).collect()
    }

    fn step(&self, state: usize, byte: Symbol) -> usize {
        let run = self.cuts.partition_point(|&cut| cut <= byte) - 1;
        self.next[state][run]
    }
}

/// The states and all that they reach without reading.
fn closed(nfa: &Nfa, mut states: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut todo: Vec<usize> = states.iter().copied().collect();
    while let Some(state) = todo.pop() {
        for &(label, next) in &nfa.edges[state] {
            if label == Label::Empty && states.insert(next) {
                todo.push(next);
            }
        }
    }
    states
}
