//! What came before a place, as far as terminals look back at it.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::frontend::lark::contextual::preferred::atoms;
use crate::frontend::lark::contextual::program::Step;
use crate::grammar::{CharSet, ExprId, Exprs, Spelling};
use crate::limits::Budget;

/// What a past counts for: every class of what follows is looked at for each.
const PAST: usize = 500;

/// Where a text begins.
pub(crate) const BEGINNING: usize = 0;

/// The pasts that the bodies of look-behind tell apart, by number.
#[derive(Debug)]
pub(crate) struct Pasts {
    /// Sets of characters between which no body tells a difference.
    atoms: Vec<CharSet>,
    /// For each past, the bodies that match a text that ends there.
    holds: Vec<Vec<bool>>,
    /// For each past and each atom, the past after it.
    next: Vec<Vec<usize>>,
}

/// For each body, where its threads are, and whether one is complete.
type Threads = (Vec<Vec<usize>>, Vec<bool>);

impl Pasts {
    /// The pasts of `bodies`, of which each comes after those inside of it.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn new(bodies: &[Vec<Step>], budget: &mut Budget) -> Result<Self, Error> {
        let atoms = atoms(bodies.iter().flatten().filter_map(Step::chars), budget)?;
        let first = followed(bodies, vec![Vec::new(); bodies.len()]);
        let mut ids: FxHashMap<Threads, usize> = FxHashMap::default();
        let mut states = vec![first.clone()];
        ids.insert(first, BEGINNING);
        let mut next = Vec::new();
        while next.len() < states.len() {
            budget.check()?;
            let (threads, _) = states[next.len()].clone();
            let mut to = Vec::with_capacity(atoms.len());
            for atom in &atoms {
                let moved = threads.iter().zip(bodies).map(|(threads, body)| {
                    let goes =
                        |&&at: &&usize| matches!(&body[at], Step::Chars(set) if atom.is_subset(set));
                    threads.iter().filter(goes).map(|at| at + 1).collect()
                });
                let state = followed(bodies, moved.collect());
                let count = states.len();
                to.push(*ids.entry(state).or_insert_with_key(|state| {
                    states.push(state.clone());
                    count
                }));
            }
            next.push(to);
            budget.check_search(states.len(), PAST)?;
        }
        Ok(Self { atoms, holds: states.into_iter().map(|(_, holds)| holds).collect(), next })
    }

    /// Sets of characters between which no past is told apart.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = &CharSet> {
        self.atoms.iter()
    }

    pub(crate) fn count(&self) -> usize {
        self.holds.len()
    }

    /// Whether a body matches a text that ends there.
    pub(crate) fn holds(&self, past: usize, body: usize) -> bool {
        self.holds[past][body]
    }

    /// The past after one more character.
    pub(crate) fn after(&self, past: usize, c: char) -> usize {
        let atom = self.atoms.iter().position(|atom| atom.contains(c));
        self.next[past][atom.expect("every character is in one of the sets")]
    }

    /// The texts that lead from one past to another.
    pub(crate) fn between(
        &self,
        from: usize,
        to: usize,
        exprs: &mut Exprs,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let mut edges = Vec::new();
        for (from, next) in self.next.iter().enumerate() {
            for (atom, &to) in self.atoms.iter().zip(next) {
                edges.push(Edge { from, to, texts: exprs.chars(atom, Spelling::Text) });
            }
        }
        Automaton { count: self.count(), edges }.texts(from, &[to], exprs, budget)
    }
}

/// Threads go on without a character; each body may begin here, too.
fn followed(bodies: &[Vec<Step>], moved: Vec<Vec<usize>>) -> Threads {
    let mut all = Vec::with_capacity(bodies.len());
    let mut holds = Vec::with_capacity(bodies.len());
    for (body, mut todo) in bodies.iter().zip(moved) {
        let mut seen = vec![false; body.len()];
        let (mut found, mut is_complete) = (Vec::new(), false);
        todo.push(0);
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match &body[at] {
                Step::Chars(_) => found.push(at),
                Step::Match => is_complete = true,
                Step::Jump(to) => todo.push(*to),
                Step::Split(first, second) => todo.extend([*second, *first]),
                Step::Behind { body, is_negative } => {
                    let inner: bool = holds[*body];
                    if inner != *is_negative {
                        todo.push(at + 1);
                    }
                }
                Step::Ahead { .. } => unreachable!("look-ahead in look-behind was refused"),
            }
        }
        found.sort_unstable();
        all.push(found);
        holds.push(is_complete);
    }
    (all, holds)
}
