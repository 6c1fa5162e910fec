//! The texts that a program ends with: a match of Python's `re` is then the longest of them.
//!
//! Threads of a program stand in the order of their choices (Pike's machine, as in Cox, "Regular
//! expression matching: the virtual machine approach", 2009). A thread that is complete ends all
//! behind it, and what was complete last is the match. So the texts after which a thread is
//! complete are a regular language, and the match is its longest text that the input begins with.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::frontend::lark::contextual::program::Step;
use crate::grammar::{CharSet, ExprId, Exprs, Spelling};
use crate::limits::Budget;

/// So many threads of states count as much as one state.
pub(crate) const THREADS: usize = 64;

/// The texts that `steps` ends with; `all` are those that it could end with.
///
/// # Errors
/// A limit was reached.
pub(crate) fn preferred(
    steps: &[Step],
    all: ExprId,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let atoms = atoms(steps.iter().filter_map(Step::chars), budget)?;
    let machine = Machine { steps };
    let first = machine.follow(&[0]);
    let mut ids: FxHashMap<(Vec<usize>, Vec<usize>), usize> = FxHashMap::default();
    let mut states = vec![first.clone()];
    ids.insert(first, 0);
    let mut edges: Vec<Edge> = Vec::new();
    let mut is_plain = true;
    let mut threads = 0;
    let mut at = 0;
    while at < states.len() {
        budget.check()?;
        let (ordered, any) = states[at].clone();
        is_plain &= machine.is_complete(&ordered) == machine.is_complete(&any);
        let mut by_target: Vec<(usize, CharSet)> = Vec::new();
        for atom in &atoms {
            let Some(sample) = atom.ranges().first().and_then(|it| char::from_u32(it.0)) else {
                continue;
            };
            let next = machine.step(&ordered, &any, sample);
            if next.1.is_empty() {
                continue;
            }
            let count = states.len();
            let to = *ids.entry(next).or_insert_with_key(|next| {
                threads += next.0.len() + next.1.len();
                states.push(next.clone());
                count
            });
            join(&mut by_target, to, atom);
        }
        for (to, set) in by_target {
            edges.push(Edge { from: at, to, texts: exprs.chars(&set, Spelling::Text) });
        }
        at += 1;
        budget.check_search(states.len() + threads / THREADS, 1)?;
    }
    if is_plain {
        return Ok(all);
    }
    let ends: Vec<usize> =
        (0..states.len()).filter(|&it| machine.is_complete(&states[it].0)).collect();
    Automaton { count: states.len(), edges }.texts(0, &ends, exprs, budget)
}

#[derive(Debug)]
struct Machine<'a> {
    steps: &'a [Step],
}

impl Machine<'_> {
    fn is_complete(&self, threads: &[usize]) -> bool {
        threads.iter().any(|&it| matches!(self.steps[it], Step::Match))
    }

    /// Threads in their order up to one that is complete, and all threads.
    fn follow(&self, from: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut ordered = self.closure(from);
        let mut any = ordered.clone();
        any.sort_unstable();
        if let Some(end) = ordered.iter().position(|&it| matches!(self.steps[it], Step::Match)) {
            ordered.truncate(end + 1);
        }
        (ordered, any)
    }

    fn closure(&self, from: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.steps.len()];
        let mut found = Vec::new();
        let mut todo: Vec<usize> = from.iter().rev().copied().collect();
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.steps[at] {
                Step::Chars(_) | Step::Match => found.push(at),
                Step::Jump(to) => todo.push(to),
                Step::Split(first, second) => todo.extend([second, first]),
                Step::Ahead { .. } | Step::Behind { .. } => {
                    unreachable!("a program that looks around is not asked for")
                }
            }
        }
        found
    }

    fn step(&self, ordered: &[usize], any: &[usize], c: char) -> (Vec<usize>, Vec<usize>) {
        let moved = |threads: &[usize]| -> Vec<usize> {
            let goes =
                |&&it: &&usize| matches!(&self.steps[it], Step::Chars(set) if set.contains(c));
            threads.iter().filter(goes).map(|it| it + 1).collect()
        };
        (self.follow(&moved(ordered)).0, self.follow(&moved(any)).1)
    }
}

/// Adds characters to those that lead to a state.
pub(crate) fn join(by_target: &mut Vec<(usize, CharSet)>, to: usize, more: &CharSet) {
    match by_target.iter_mut().find(|(known, _)| *known == to) {
        Some((_, set)) => *set = set.union(more),
        None => by_target.push((to, more.clone())),
    }
}

/// The coarsest sets of characters of which `sets` are made.
pub(crate) fn atoms<'a>(
    sets: impl Iterator<Item = &'a CharSet>,
    budget: &mut Budget,
) -> Result<Vec<CharSet>, Error> {
    let mut atoms = vec![CharSet::any()];
    let mut known: Vec<&CharSet> = Vec::new();
    for set in sets {
        if known.contains(&set) {
            continue;
        }
        known.push(set);
        let mut finer = Vec::with_capacity(atoms.len() + 1);
        for atom in atoms {
            budget.tick()?;
            let parts = [atom.intersection(set), atom.difference(set)];
            finer.extend(parts.into_iter().filter(|part| !part.is_empty()));
        }
        atoms = finer;
    }
    Ok(atoms)
}
