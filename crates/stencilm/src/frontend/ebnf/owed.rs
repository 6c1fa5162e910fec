//! What is owed: a condition says of which language some text must begin what follows.
//!
//! Such a condition goes along with the texts that follow, byte by byte, until it is met. Conditions
//! that mean the same have one number.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::Error;
use crate::frontend::automaton::{Automaton, Edge};
use crate::grammar::{ByteSet, ExprId, Exprs, Imported, Spelling};
use crate::limits::{Budget, Limits};
use crate::residual::languages::Languages;

/// The condition that asks for nothing.
pub(super) const NONE: usize = 0;

/// Texts by what is owed after them, which rises.
pub(super) type Split = Rc<[(usize, ExprId)]>;

/// Where each byte takes a condition; `None` where it must not come.
type Steps = Rc<[Option<usize>]>;

/// All conditions of a grammar.
#[derive(Debug)]
pub(super) struct Owed {
    languages: Languages,
    /// For each condition all texts, to the end of the whole, that meet it. Once it is met anything
    /// may come, so that the empty text meets only [`NONE`].
    known: Vec<ExprId>,
    ids: FxHashMap<ExprId, Option<usize>>,
    steps: FxHashMap<usize, Steps>,
    splits: FxHashMap<(ExprId, usize), Split>,
    most: usize,
}

impl Owed {
    pub(super) fn new(limits: Limits) -> Self {
        let mut languages = Languages::new(limits);
        let any = languages.exprs().any_text(Spelling::Text);
        Self {
            languages,
            known: vec![any],
            ids: FxHashMap::from_iter([(any, Some(NONE))]),
            steps: FxHashMap::default(),
            splits: FxHashMap::default(),
            most: limits.alternatives,
        }
    }

    /// The condition that what follows begins with one of `texts`, and that `before` is met too.
    /// `None` if nothing can meet both.
    ///
    /// # Errors
    /// A limit was reached.
    pub(super) fn with(
        &mut self,
        before: usize,
        exprs: &Exprs,
        texts: ExprId,
        budget: &mut Budget,
    ) -> Result<Option<usize>, Error> {
        let own = self.languages.exprs();
        let texts = own.import(exprs, texts, &mut Imported::default());
        let any = own.any_text(Spelling::Text);
        let begun = own.seq2(texts, any);
        let both = own.and(&[self.known[before], begun]);
        self.id(both, budget)
    }

    fn id(&mut self, whole: ExprId, budget: &mut Budget) -> Result<Option<usize>, Error> {
        if self.languages.exprs().is_nullable(whole) {
            return Ok(Some(NONE));
        }
        if let Some(&known) = self.ids.get(&whole) {
            return Ok(known);
        }
        let mut id = None;
        if !self.languages.is_empty(whole)? {
            for place in 1..self.known.len() {
                budget.check()?;
                let other = self.known[place];
                if self.is_within(whole, other)? && self.is_within(other, whole)? {
                    id = Some(place);
                    break;
                }
            }
            if id.is_none() {
                if self.known.len() > self.most {
                    return Err(Error::limit("alternatives", self.most));
                }
                id = Some(self.known.len());
                self.known.push(whole);
            }
        }
        self.ids.insert(whole, id);
        Ok(id)
    }

    fn is_within(&mut self, part: ExprId, whole: ExprId) -> Result<bool, Error> {
        let rest = self.languages.exprs().minus(part, whole);
        self.languages.is_empty(rest)
    }

    fn steps(&mut self, owed: usize, budget: &mut Budget) -> Result<Steps, Error> {
        if let Some(steps) = self.steps.get(&owed) {
            return Ok(steps.clone());
        }
        let mut steps = vec![None; 256];
        for (bytes, rest) in self.languages.ways(self.known[owed])? {
            let next = self.id(rest, budget)?;
            for byte in bytes {
                steps[usize::from(byte)] = next;
            }
        }
        let steps: Steps = steps.into();
        self.steps.insert(owed, steps.clone());
        Ok(steps)
    }

    /// The texts of an expression without calls that may come where `owed` is, by what is owed
    /// after them.
    ///
    /// # Errors
    /// A limit was reached.
    pub(super) fn split(
        &mut self,
        exprs: &mut Exprs,
        texts: ExprId,
        owed: usize,
        budget: &mut Budget,
    ) -> Result<Split, Error> {
        if owed == NONE {
            return Ok([(NONE, texts)].into());
        }
        if let Some(known) = self.splits.get(&(texts, owed)) {
            return Ok(known.clone());
        }
        let own = self.languages.exprs().import(exprs, texts, &mut Imported::default());
        let split = self.split_anew(own, owed, budget)?;
        let (languages, imported) = (self.languages.exprs(), &mut Imported::default());
        let split: Split = split
            .into_iter()
            .map(|(owed, texts)| (owed, exprs.import(languages, texts, imported)))
            .collect();
        self.splits.insert((texts, owed), split.clone());
        Ok(split)
    }

    fn split_anew(
        &mut self,
        texts: ExprId,
        owed: usize,
        budget: &mut Budget,
    ) -> Result<Vec<(usize, ExprId)>, Error> {
        let mut ids: FxHashMap<(ExprId, usize), usize> = FxHashMap::from_iter([((texts, owed), 0)]);
        let mut states = vec![(texts, owed)];
        let mut edges: Vec<(usize, usize, ByteSet)> = Vec::new();
        // Where nothing is owed any more the rest stays as it is.
        let mut met: Vec<(usize, ByteSet, ExprId)> = Vec::new();
        let mut at = 0;
        while at < states.len() {
            budget.check()?;
            let (texts, owed) = states[at];
            let steps = self.steps(owed, budget)?;
            for (bytes, rest) in self.languages.ways(texts)? {
                let mut by_owed: BTreeMap<usize, ByteSet> = BTreeMap::new();
                for byte in bytes {
                    if let Some(next) = steps[usize::from(byte)] {
                        by_owed.entry(next).or_default().insert(byte);
                    }
                }
                for (next, set) in by_owed {
                    if next == NONE {
                        met.push((at, set, rest));
                        continue;
                    }
                    let count = states.len();
                    let to = *ids.entry((rest, next)).or_insert_with(|| {
                        states.push((rest, next));
                        count
                    });
                    edges.push((at, to, set));
                }
            }
            at += 1;
            if states.len() > self.most {
                return Err(Error::limit("alternatives", self.most));
            }
        }
        let exprs = self.languages.exprs();
        let end = states.len();
        let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        if !met.is_empty() {
            ends.insert(NONE, vec![end]);
        }
        for (place, &(texts, owed)) in states.iter().enumerate() {
            if exprs.is_nullable(texts) {
                ends.entry(owed).or_default().push(place);
            }
        }
        let mut ways = Vec::with_capacity(edges.len() + met.len());
        for (from, to, set) in edges {
            ways.push(Edge { from, to, texts: exprs.byte_set(&set) });
        }
        for (from, set, rest) in met {
            let first = exprs.byte_set(&set);
            ways.push(Edge { from, to: end, texts: exprs.seq2(first, rest) });
        }
        let automaton = Automaton { count: end + 1, edges: ways };
        let mut split = Vec::with_capacity(ends.len());
        for (owed, places) in ends {
            split.push((owed, automaton.texts(0, &places, exprs, budget)?));
        }
        Ok(split)
    }
}
