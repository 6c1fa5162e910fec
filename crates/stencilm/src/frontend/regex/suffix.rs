//! What a place in a text has to know of the text after it: the states of a deterministic
//! automaton that reads from the end.
//!
//! In: the languages of suffixes that look-ahead asks about. Out: states, each of which says which
//! of them, and of all that can remain of them, the suffix belongs to.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::regex::algebra::Algebra;
use crate::frontend::regex::prefix::distinguish;
use crate::grammar::ExprId;

/// The automaton. State 0 is the end of the text.
#[derive(Debug)]
pub(crate) struct SuffixStates {
    // Invariant: closed under derivatives.
    languages: Vec<ExprId>,
    places: FxHashMap<ExprId, usize>,
    // Invariant: for each state, which of the languages hold. Different states differ here.
    truths: Vec<Vec<bool>>,
    // Invariant: for each state, the state before a character of each atom.
    previous: Vec<Vec<usize>>,
}

impl SuffixStates {
    pub(crate) fn new(algebra: &mut Algebra, asked: &[ExprId]) -> Result<Self, Error> {
        let mut places = FxHashMap::default();
        let mut languages = Vec::new();
        for &language in asked {
            places.entry(language).or_insert_with(|| {
                languages.push(language);
                languages.len() - 1
            });
        }
        let mut after: Vec<Vec<usize>> = Vec::new();
        while let Some(&language) = languages.get(after.len()) {
            let mut row = Vec::with_capacity(algebra.atoms.len());
            for atom in 0..algebra.atoms.len() {
                let derivative = algebra.derivative(language, atom)?;
                row.push(*places.entry(derivative).or_insert_with(|| {
                    languages.push(derivative);
                    languages.len() - 1
                }));
            }
            after.push(row);
            algebra.check_search(languages.len())?;
        }
        let (truths, previous) = states(algebra, &languages, &after)?;
        Ok(Self { languages, places, truths, previous })
    }

    pub(crate) fn len(&self) -> usize {
        self.truths.len()
    }

    pub(crate) fn previous(&self, state: usize, atom: usize) -> usize {
        self.previous[state][atom]
    }

    /// Whether the suffixes of `state` are in `language`, which is one of those asked about.
    pub(crate) fn holds(&self, state: usize, language: ExprId) -> bool {
        self.truths[state][self.places[&language]]
    }

    /// The suffixes of `state`.
    pub(crate) fn suffixes(&self, algebra: &mut Algebra, state: usize) -> Result<ExprId, Error> {
        let others: Vec<&[bool]> = (0..self.len())
            .filter(|&other| other != state)
            .map(|other| &self.truths[other][..])
            .collect();
        distinguish(algebra, &self.languages, &self.truths[state], &others)
    }
}

/// The reachable states. After a character, a language holds where its derivative held before it.
#[expect(clippy::type_complexity, reason = "two tables with one row a state")]
fn states(
    algebra: &mut Algebra,
    languages: &[ExprId],
    after: &[Vec<usize>],
) -> Result<(Vec<Vec<bool>>, Vec<Vec<usize>>), Error> {
    let end: Vec<bool> = languages.iter().map(|&id| algebra.exprs.is_nullable(id)).collect();
    let mut places = FxHashMap::default();
    places.insert(end.clone(), 0);
    let mut truths = vec![end];
    let mut previous: Vec<Vec<usize>> = Vec::new();
    while let Some(truth) = truths.get(previous.len()).cloned() {
        let mut row = Vec::with_capacity(algebra.atoms.len());
        for atom in 0..algebra.atoms.len() {
            let before: Vec<bool> = after.iter().map(|after| truth[after[atom]]).collect();
            row.push(*places.entry(before).or_insert_with_key(|before| {
                truths.push(before.clone());
                truths.len() - 1
            }));
        }
        previous.push(row);
        algebra.check_search(truths.len())?;
    }
    Ok((truths, previous))
}
