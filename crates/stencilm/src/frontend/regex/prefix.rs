//! What a place in a text has to know of the text before it: the states of a deterministic
//! automaton that reads from the beginning.
//!
//! In: the languages of prefixes that look-behind asks about. Out: states, each of which says
//! which of them the prefix belongs to. A state *is* what remains of each language.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::frontend::regex::matrix::{Matrix, Row, solve};
use crate::grammar::{CharSet, ExprId};

/// The automaton. State 0 is the beginning of the text.
#[derive(Debug)]
pub(crate) struct PrefixStates {
    states: Vec<Vec<ExprId>>,
    // Invariant: for each state, the state after a character of each atom.
    next: Vec<Vec<usize>>,
}

impl PrefixStates {
    pub(crate) fn new(algebra: &mut Algebra, languages: Vec<ExprId>) -> Result<Self, Error> {
        let mut places = FxHashMap::default();
        places.insert(languages.clone(), 0);
        let mut states = vec![languages];
        let mut next: Vec<Vec<usize>> = Vec::new();
        while let Some(state) = states.get(next.len()).cloned() {
            let mut row = Vec::with_capacity(algebra.atoms.len());
            // With nothing to track there is one state, and atoms may not have been made.
            for atom in 0..algebra.atoms.len() {
                let mut after = Vec::with_capacity(state.len());
                for &language in &state {
                    after.push(algebra.derivative(language, atom)?);
                }
                let place = *places.entry(after).or_insert_with_key(|after| {
                    states.push(after.clone());
                    states.len() - 1
                });
                row.push(place);
                algebra.check_search(states.len())?;
            }
            next.push(row);
        }
        Ok(Self { states, next })
    }

    /// One state that knows nothing.
    pub(crate) fn unaware(algebra: &Algebra) -> Self {
        Self { states: vec![Vec::new()], next: vec![vec![0; algebra.atoms.len()]] }
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn next(&self, state: usize, atom: usize) -> usize {
        self.next[state][atom]
    }

    /// Whether a prefix that leads to `state` is in the language.
    pub(crate) fn holds(&self, algebra: &Algebra, state: usize, language: usize) -> bool {
        algebra.exprs.is_nullable(self.states[state][language])
    }

    /// The states that texts of `id` may lead to from `from`: all of those, perhaps more.
    pub(crate) fn reachable(
        &self,
        algebra: &mut Algebra,
        from: usize,
        id: ExprId,
        atoms: &[usize],
    ) -> Result<Vec<usize>, Error> {
        // A few steps decide nearly all; giving up only costs a larger expression.
        const FEW: usize = 200;
        let mut seen = vec![(id, from)];
        let mut at = 0;
        while at < seen.len() && seen.len() < FEW {
            let (id, state) = seen[at];
            for &atom in atoms {
                let after = (algebra.derivative(id, atom)?, self.next(state, atom));
                if after.0 != algebra.exprs.nothing() && !seen.contains(&after) {
                    seen.push(after);
                }
            }
            at += 1;
        }
        let mut reached: Vec<usize> = if at < seen.len() {
            self.closure(from, atoms)
        } else {
            let ends = seen.iter().filter(|(id, _)| algebra.exprs.is_nullable(*id));
            ends.map(|&(_, state)| state).collect()
        };
        reached.sort_unstable();
        reached.dedup();
        Ok(reached)
    }

    /// The states that any texts over `atoms` lead to.
    fn closure(&self, from: usize, atoms: &[usize]) -> Vec<usize> {
        let mut seen = vec![from];
        let mut is_seen = vec![false; self.len()];
        is_seen[from] = true;
        let mut at = 0;
        while at < seen.len() {
            for &atom in atoms {
                let after = self.next(seen[at], atom);
                if !std::mem::replace(&mut is_seen[after], true) {
                    seen.push(after);
                }
            }
            at += 1;
        }
        seen
    }

    /// A language that has the texts over `atoms` leading from `from` into `group`, and none that
    /// lead to one of `others`. It may have texts that lead elsewhere.
    pub(crate) fn leading(
        &self,
        algebra: &mut Algebra,
        from: usize,
        (group, others): (&[usize], &[usize]),
        atoms: &[usize],
    ) -> Result<ExprId, Error> {
        if others.is_empty() {
            return Ok(algebra.any);
        }
        let truths: Vec<Vec<bool>> = (0..self.len())
            .map(|state| {
                (0..self.states[state].len()).map(|l| self.holds(algebra, state, l)).collect()
            })
            .collect();
        let is_told = group.iter().all(|&a| others.iter().all(|&b| truths[a] != truths[b]));
        if !is_told {
            return self.paths(algebra, from, group, atoms);
        }
        let others: Vec<&[bool]> = others.iter().map(|&state| &truths[state][..]).collect();
        let mut members: Vec<&[bool]> = group.iter().map(|&state| &truths[state][..]).collect();
        members.sort_unstable();
        members.dedup();
        let mut languages = Vec::with_capacity(members.len());
        for member in members {
            languages.push(distinguish(algebra, &self.states[from], member, &others)?);
        }
        Ok(algebra.union(&languages))
    }

    /// The texts over `atoms` that lead from `from` to one of `group`.
    pub(crate) fn paths(
        &self,
        algebra: &mut Algebra,
        from: usize,
        group: &[usize],
        atoms: &[usize],
    ) -> Result<ExprId, Error> {
        let mut steps: Matrix = Vec::with_capacity(self.len());
        for state in 0..self.len() {
            let mut atoms_to: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for &atom in atoms {
                atoms_to.entry(self.next(state, atom)).or_default().push(atom);
            }
            let mut row = Row::new();
            for (to, atoms) in atoms_to {
                let set: CharSet = algebra.atoms.union(&atoms);
                row.insert(to, algebra.chars(&set));
            }
            steps.push(row);
        }
        let empty = algebra.exprs.empty();
        let is_end = |state: usize| group.contains(&state);
        let ends = (0..self.len())
            .map(|state| if is_end(state) { Row::from([(0, empty)]) } else { Row::new() })
            .collect();
        let solved = solve(algebra, steps, ends)?;
        Ok(solved[from].get(&0).copied().unwrap_or_else(|| algebra.exprs.nothing()))
    }
}

/// A conjunction of `languages` and their complements that is true where they hold as `wanted`
/// says, and false where they hold as one of `others` says. It uses few of them.
///
/// None of `others` is `wanted`.
fn distinguish(
    algebra: &mut Algebra,
    languages: &[ExprId],
    wanted: &[bool],
    others: &[&[bool]],
) -> Result<ExprId, Error> {
    let mut left: Vec<&[bool]> = others.to_vec();
    let mut condition = algebra.any;
    while !left.is_empty() {
        let (mut best, mut most) = (0, 0);
        for (place, &holds) in wanted.iter().enumerate() {
            algebra.check()?;
            let ruled_out = left.iter().filter(|other| other[place] != holds).count();
            if ruled_out > most {
                (best, most) = (place, ruled_out);
            }
        }
        assert!(most > 0, "none of the others is the wanted one");
        let language = languages[best];
        let language = if wanted[best] { language } else { algebra.complement(language) };
        condition = algebra.meet(condition, language);
        left.retain(|other| other[best] == wanted[best]);
    }
    Ok(condition)
}
