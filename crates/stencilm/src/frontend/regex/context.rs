//! Look-around inside repetition.
//!
//! A *context* is a pair: what is known of the prefix (a state of [`PrefixStates`]), and what is
//! still owed to the conditions that were passed, as the texts that may follow. A character takes
//! the one to its next state and the other to its derivative; a condition is met with what is
//! owed. Each piece of the body is a matrix over contexts, whose entry is the texts that lead from
//! one context to another: sequence, choice and repetition are product, sum and the solution of a
//! system of equations. Rows are made when they are asked for, so that only contexts exist that a
//! text can lead to.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::frontend::regex::ast::{Kind, Node};
use crate::frontend::regex::matrix::{self, Matrix, Row};
use crate::frontend::regex::prefix::PrefixStates;
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
    let conditions = conditions_in(pass, body)?;
    let is_unaware =
        uniform(after).is_some() && conditions.values().all(|texts| uniform(texts).is_some());
    let unaware = PrefixStates::unaware(pass.algebra);
    let prefixes = if is_unaware { &unaware } else { &pass.states };
    let algebra = &mut *pass.algebra;
    let mut contexts = Contexts::new(prefixes, conditions);
    // Nothing is owed at first: the first contexts are the states of the prefix.
    for prefix in 0..prefixes.len() {
        contexts.place(algebra, (prefix, algebra.any))?;
    }
    let (members, steps) =
        contexts.closure(algebra, (0..prefixes.len()).collect(), Step::Match(body))?;
    let mut ends = Matrix::with_capacity(members.len());
    for &member in &members {
        let (prefix, owed) = contexts.known[member];
        let texts = algebra.meet(after[prefix], owed);
        let is_dead = texts == algebra.exprs.nothing();
        ends.push(if is_dead { Row::new() } else { Row::from([(0, texts)]) });
    }
    let texts = if max == UNBOUNDED {
        let start = matrix::power(algebra, &steps, min)?;
        let more = matrix::solve(algebra, steps, ends)?;
        matrix::product(algebra, &start, &more)?
    } else {
        let turns = matrix::repeat(algebra, &steps, min, max)?;
        matrix::product(algebra, &turns, &ends)?
    };
    let nothing = algebra.exprs.nothing();
    let of_state = |row: &Row| row.get(&0).copied().unwrap_or(nothing);
    let mut by_state: ByState = texts[..prefixes.len()].iter().map(of_state).collect();
    // One state that knows nothing stands for all.
    by_state.resize(after.len(), by_state[0]);
    Ok(by_state)
}

/// The prefixes that end in a match of `node`, by what is owed then: the match holds where the
/// suffix is in the key and the prefix in the value.
pub(crate) fn prefixes_owing(
    pass: &mut Pass,
    node: &Node,
) -> Result<BTreeMap<ExprId, ExprId>, Error> {
    let conditions = conditions_in(pass, node)?;
    let algebra = &mut *pass.algebra;
    let mut contexts = Contexts::new(&pass.states, conditions);
    // Where a match may begin, by what it then leads to.
    let mut begins: BTreeMap<BTreeMap<ExprId, ExprId>, Vec<usize>> = BTreeMap::new();
    for state in 0..pass.states.len() {
        let start = contexts.place(algebra, (state, algebra.any))?;
        let mut by_owed = BTreeMap::new();
        for (context, texts) in contexts.row(algebra, node, start)? {
            add(algebra, &mut by_owed, contexts.known[context].1, texts);
        }
        begins.entry(by_owed).or_default().push(state);
    }
    let atoms: Vec<usize> = (0..algebra.atoms.len()).collect();
    let mut prefixes = BTreeMap::new();
    for (by_owed, states) in begins {
        let others: Vec<usize> =
            (0..pass.states.len()).filter(|state| !states.contains(state)).collect();
        let before = pass.states.leading(algebra, 0, (&states, &others), &atoms)?;
        for (owed, texts) in by_owed {
            let texts = algebra.then(before, texts);
            add(algebra, &mut prefixes, owed, texts);
        }
    }
    Ok(prefixes)
}

fn add(algebra: &mut Algebra, by_owed: &mut BTreeMap<ExprId, ExprId>, owed: ExprId, texts: ExprId) {
    let others = by_owed.entry(owed).or_insert(texts);
    *others = algebra.union(&[*others, texts]);
}

fn conditions_in(pass: &mut Pass, node: &Node) -> Result<FxHashMap<u32, ByState>, Error> {
    let mut conditions = FxHashMap::default();
    for look in node.looks(|_| false) {
        conditions.insert(look.id, pass.condition(look)?);
    }
    Ok(conditions)
}

/// What leads from one context to another.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// A match of this piece.
    Match(&'a Node),
    /// One character of these atoms.
    Atoms(&'a [usize]),
}

/// The contexts inside one repetition, by number.
struct Contexts<'a> {
    prefixes: &'a PrefixStates,
    conditions: FxHashMap<u32, ByState>,
    known: Vec<(usize, ExprId)>,
    places: FxHashMap<(usize, ExprId), usize>,
    /// The rows of repetitions, by the address of the piece: they are made many at a time.
    rows: FxHashMap<(*const Node, usize), Row>,
}

impl<'a> Contexts<'a> {
    fn new(prefixes: &'a PrefixStates, conditions: FxHashMap<u32, ByState>) -> Self {
        Self {
            prefixes,
            conditions,
            known: Vec::new(),
            places: FxHashMap::default(),
            rows: FxHashMap::default(),
        }
    }

    fn place(&mut self, algebra: &mut Algebra, context: (usize, ExprId)) -> Result<usize, Error> {
        algebra.check_search(self.known.len())?;
        Ok(*self.places.entry(context).or_insert_with(|| {
            self.known.push(context);
            self.known.len() - 1
        }))
    }

    /// The contexts that any number of steps lead to, those of `start` first, and the matrix of
    /// one step over their places in this list.
    fn closure(
        &mut self,
        algebra: &mut Algebra,
        start: Vec<usize>,
        step: Step,
    ) -> Result<(Vec<usize>, Matrix), Error> {
        let mut places: FxHashMap<usize, usize> =
            start.iter().enumerate().map(|(place, &context)| (context, place)).collect();
        let mut members = start;
        let mut steps = Matrix::new();
        while let Some(&from) = members.get(steps.len()) {
            let row = match step {
                Step::Match(node) => self.row(algebra, node, from)?,
                Step::Atoms(atoms) => self.row_of_atoms(algebra, atoms, from)?,
            };
            let mut local = Row::new();
            for (to, texts) in row {
                let place = *places.entry(to).or_insert_with(|| {
                    members.push(to);
                    members.len() - 1
                });
                local.insert(place, texts);
            }
            steps.push(local);
        }
        Ok((members, steps))
    }

    /// The texts of `node` that lead from `from`, by the contexts that they lead to.
    fn row(&mut self, algebra: &mut Algebra, node: &Node, from: usize) -> Result<Row, Error> {
        algebra.check()?;
        let (prefix, owed) = self.known[from];
        match node.kind() {
            Kind::Empty => Ok(Row::from([(from, algebra.exprs.empty())])),
            Kind::Chars(set) => {
                let atoms = algebra.atoms.of(set);
                self.row_of_atoms(algebra, &atoms, from)
            }
            Kind::Seq(parts) => {
                let mut row = Row::from([(from, algebra.exprs.empty())]);
                for part in parts {
                    let mut longer = Vec::with_capacity(row.len());
                    for (middle, first) in row {
                        let mut rest = self.row(algebra, part, middle)?;
                        for texts in rest.values_mut() {
                            *texts = algebra.then(first, *texts);
                        }
                        longer.push(rest);
                    }
                    row = matrix::sum_of_rows(algebra, &longer);
                }
                Ok(row)
            }
            Kind::Choice(alternatives) => {
                let mut rows = Vec::with_capacity(alternatives.len());
                for alternative in alternatives {
                    rows.push(self.row(algebra, alternative, from)?);
                }
                Ok(matrix::sum_of_rows(algebra, &rows))
            }
            Kind::Repeat { body, min, max } => {
                let key = (std::ptr::from_ref(node), from);
                if !self.rows.contains_key(&key) {
                    self.add_rows(algebra, node, (body, *min, *max), from)?;
                }
                Ok(self.rows[&key].clone())
            }
            Kind::Look(look) => {
                let condition = self.conditions[&look.id][prefix];
                let owed = algebra.meet(owed, condition);
                if owed == algebra.exprs.nothing() {
                    return Ok(Row::new());
                }
                Ok(Row::from([(self.place(algebra, (prefix, owed))?, algebra.exprs.empty())]))
            }
        }
    }

    fn row_of_atoms(
        &mut self,
        algebra: &mut Algebra,
        atoms: &[usize],
        from: usize,
    ) -> Result<Row, Error> {
        let (prefix, owed) = self.known[from];
        let mut atoms_to: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &atom in atoms {
            let owed = algebra.derivative(owed, atom)?;
            if owed != algebra.exprs.nothing() {
                let to = self.place(algebra, (self.prefixes.next(prefix, atom), owed))?;
                atoms_to.entry(to).or_default().push(atom);
            }
        }
        let mut row = Row::new();
        for (to, atoms) in atoms_to {
            let set = algebra.atoms.union(&atoms);
            row.insert(to, algebra.chars(&set));
        }
        Ok(row)
    }

    /// Makes the rows of a repetition for `from` and all that its turns lead to.
    fn add_rows(
        &mut self,
        algebra: &mut Algebra,
        node: &Node,
        (body, min, max): (&Node, u32, u32),
        from: usize,
    ) -> Result<(), Error> {
        let is_small = max <= SMALL || (max == UNBOUNDED && min <= SMALL);
        let (members, rows) = if is_small || body.has_look() {
            let (members, steps) = self.closure(algebra, vec![from], Step::Match(body))?;
            (members, matrix::repeat(algebra, &steps, min, max)?)
        } else {
            let atoms = atoms_in(algebra, body);
            let (members, steps) = self.closure(algebra, vec![from], Step::Atoms(&atoms))?;
            let mut paths = matrix::repeat(algebra, &steps, 0, UNBOUNDED)?;
            let id = plain(algebra, node)?;
            for row in &mut paths {
                for texts in row.values_mut() {
                    *texts = algebra.meet(id, *texts);
                }
                row.retain(|_, texts| *texts != algebra.exprs.nothing());
            }
            (members, paths)
        };
        for (place, row) in rows.into_iter().enumerate() {
            let row = row.into_iter().map(|(to, texts)| (members[to], texts)).collect();
            self.rows.insert((std::ptr::from_ref(node), members[place]), row);
        }
        Ok(())
    }
}
