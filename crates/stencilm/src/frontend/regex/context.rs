//! Look-around inside repetition.
//!
//! A *context* is a pair: what is known of the prefix ([`PrefixStates`]) and what is known of the
//! suffix ([`SuffixStates`]). Each piece of the body is a matrix over contexts, whose entry is the
//! texts that lead from one context to another. A character leads from `(f, b)` to `(f', b')` where
//! reading it from the front takes `f` to `f'`, and reading it from the end takes `b'` to `b`; a
//! condition keeps the contexts in which it holds; sequence, choice and repetition are product, sum
//! and the solution of a system of equations.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::frontend::regex::ast::{Kind, Node};
use crate::frontend::regex::matrix::{self, Matrix, Row};
use crate::frontend::regex::prefix::PrefixStates;
use crate::frontend::regex::suffix::SuffixStates;
use crate::frontend::regex::translate::{ByState, Pass, atoms_in, plain, uniform};
use crate::grammar::{ExprId, UNBOUNDED};

/// Repetitions up to this count are powers of a matrix; larger ones keep their counts, under an
/// intersection with the paths between contexts.
const SMALL: u32 = 3;

/// The texts that match `body` between `min` and `max` times and go on as `after` says.
pub(crate) fn before_repeat(
    pass: &mut Pass,
    body: &Node,
    (min, max): (u32, u32),
    after: &[ExprId],
) -> Result<ByState, Error> {
    let mut conditions: BTreeMap<u32, ByState> = BTreeMap::new();
    for look in body.looks(|_| false) {
        conditions.insert(look.id, pass.condition(look)?);
    }
    let asked: Vec<ExprId> = conditions.values().flatten().copied().collect();
    let suffixes = SuffixStates::new(pass.algebra, &asked)?;
    let is_unaware =
        uniform(after).is_some() && conditions.values().all(|texts| uniform(texts).is_some());
    let unaware = PrefixStates::unaware(pass.algebra);
    let prefixes = if is_unaware { &unaware } else { &pass.states };
    pass.algebra.check_search(prefixes.len() * suffixes.len())?;
    let contexts = Contexts { prefixes, suffixes, conditions };

    let ends = contexts.ends(pass.algebra, after)?;
    let steps = contexts.matrix(pass.algebra, body)?;
    let texts = if max == UNBOUNDED {
        let start = matrix::power(pass.algebra, &steps, min)?;
        let more = matrix::solve(pass.algebra, steps, ends)?;
        matrix::product(pass.algebra, &start, &more)?
    } else {
        let turns = matrix::repeat(pass.algebra, &steps, min, max)?;
        matrix::product(pass.algebra, &turns, &ends)?
    };
    let mut by_state = Vec::with_capacity(after.len());
    for rows in texts.chunks(contexts.suffixes.len()) {
        let texts: Vec<ExprId> = rows.iter().flat_map(|row| row.values().copied()).collect();
        by_state.push(pass.algebra.union(&texts));
    }
    // One state that knows nothing stands for all.
    by_state.resize(after.len(), by_state[0]);
    Ok(by_state)
}

/// The contexts inside one repetition, numbered prefix first.
struct Contexts<'a> {
    prefixes: &'a PrefixStates,
    suffixes: SuffixStates,
    conditions: BTreeMap<u32, ByState>,
}

impl Contexts<'_> {
    fn len(&self) -> usize {
        self.prefixes.len() * self.suffixes.len()
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (prefixes, suffixes) = (self.prefixes.len(), self.suffixes.len());
        (0..prefixes).flat_map(move |prefix| (0..suffixes).map(move |suffix| (prefix, suffix)))
    }

    fn place(&self, prefix: usize, suffix: usize) -> usize {
        prefix * self.suffixes.len() + suffix
    }

    /// The texts that go on from each context as `after` says, in one column.
    fn ends(&self, algebra: &mut Algebra, after: &[ExprId]) -> Result<Matrix, Error> {
        let (nothing, empty) = (algebra.exprs.nothing(), algebra.exprs.empty());
        let mut rows = vec![Row::new(); self.len()];
        for suffix in 0..self.suffixes.len() {
            let mut following = None;
            for (prefix, &after) in after.iter().enumerate().take(self.prefixes.len()) {
                let texts = if after == nothing {
                    nothing
                } else if after == empty {
                    // State 0 is the end of the text, and only the end leads there.
                    if suffix == 0 { empty } else { nothing }
                } else {
                    let following = match following {
                        Some(known) => known,
                        None => *following.insert(self.suffixes.suffixes(algebra, suffix)?),
                    };
                    algebra.meet(after, following)
                };
                if texts != nothing {
                    rows[self.place(prefix, suffix)].insert(0, texts);
                }
            }
        }
        Ok(rows)
    }

    fn matrix(&self, algebra: &mut Algebra, node: &Node) -> Result<Matrix, Error> {
        algebra.check()?;
        match node.kind() {
            Kind::Empty => Ok(matrix::identity(algebra, self.len())),
            Kind::Chars(set) => {
                let atoms = algebra.atoms.of(set);
                self.of_atoms(algebra, &atoms)
            }
            Kind::Seq(parts) => {
                let mut texts = matrix::identity(algebra, self.len());
                for part in parts.iter().rev() {
                    let first = self.matrix(algebra, part)?;
                    texts = matrix::product(algebra, &first, &texts)?;
                }
                Ok(texts)
            }
            Kind::Choice(alternatives) => {
                let mut texts = Vec::with_capacity(alternatives.len());
                for alternative in alternatives {
                    texts.push(self.matrix(algebra, alternative)?);
                }
                Ok(matrix::sum(algebra, &texts))
            }
            Kind::Repeat { body, min, max } => {
                let is_small = *max <= SMALL || (*max == UNBOUNDED && *min <= SMALL);
                if !is_small && !body.has_look() {
                    return self.counted(algebra, node);
                }
                let turn = self.matrix(algebra, body)?;
                matrix::repeat(algebra, &turn, *min, *max)
            }
            Kind::Look(look) => {
                let condition = &self.conditions[&look.id];
                let empty = algebra.exprs.empty();
                let mut rows = Matrix::with_capacity(self.len());
                for (place, (prefix, suffix)) in self.pairs().enumerate() {
                    let holds = self.suffixes.holds(suffix, condition[prefix]);
                    rows.push(if holds { Row::from([(place, empty)]) } else { Row::new() });
                }
                Ok(rows)
            }
        }
    }

    /// One character of these atoms.
    fn of_atoms(&self, algebra: &mut Algebra, atoms: &[usize]) -> Result<Matrix, Error> {
        let mut steps: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (prefix, suffix) in self.pairs() {
            for &atom in atoms {
                let from = self.place(prefix, self.suffixes.previous(suffix, atom));
                let to = self.place(self.prefixes.next(prefix, atom), suffix);
                steps.entry((from, to)).or_default().push(atom);
                algebra.check()?;
            }
        }
        let mut rows = vec![Row::new(); self.len()];
        for ((from, to), atoms) in steps {
            let set = algebra.atoms.union(&atoms);
            rows[from].insert(to, algebra.chars(&set));
        }
        Ok(rows)
    }

    /// A counted repetition without look-around: on every path between two contexts.
    fn counted(&self, algebra: &mut Algebra, node: &Node) -> Result<Matrix, Error> {
        let id = plain(algebra, node)?;
        let atoms = atoms_in(algebra, node);
        let steps = self.of_atoms(algebra, &atoms)?;
        let start = matrix::identity(algebra, self.len());
        let mut paths = matrix::solve(algebra, steps, start)?;
        for row in &mut paths {
            for texts in row.values_mut() {
                *texts = algebra.meet(id, *texts);
            }
            row.retain(|_, texts| *texts != algebra.exprs.nothing());
        }
        Ok(paths)
    }
}
