//! Questions about languages that have nothing to do with a vocabulary. One automaton answers all
//! of them, so that what was found for one question is there for the next.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{ExprId, Exprs};
use crate::limits::Limits;
use crate::residual::{NoRules, Residuals};

/// Bytes up to which the texts of a language are listed.
const LONGEST_FEW: usize = 256;

/// Steps in which a language without end that is no more than some patterns shows that it is one.
const LONGEST_WALK: usize = 32;

/// Languages of texts: expressions without calls, and what was found out about them.
#[derive(Debug)]
pub(crate) struct Languages {
    residuals: Residuals,
}

impl Languages {
    pub(crate) fn new(limits: Limits) -> Self {
        let exprs = Exprs::default();
        Self { residuals: Residuals::over(exprs, Arc::new(NoRules), limits, (0, 0, 0)) }
    }

    pub(crate) fn exprs(&mut self) -> &mut Exprs {
        &mut self.residuals.exprs
    }

    /// Whether the tables have grown as large as those of a grammar may.
    pub(crate) fn is_full(&self) -> bool {
        self.residuals.size_in_bytes() > self.residuals.limits.grammar_bytes
    }

    /// Whether no text matches `id`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn is_empty(&mut self, id: ExprId) -> Result<bool, Error> {
        let id = self.residuals.without_empty_parts(id)?;
        Ok(id == self.residuals.exprs.nothing())
    }

    /// Whether a text matches `id`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn has(&mut self, id: ExprId, text: &[u8]) -> Result<bool, Error> {
        let mut at = id;
        for &byte in text {
            // Whether something else matches an intersection makes no difference here.
            at = self.residuals.past_byte(at, byte)?;
        }
        Ok(self.residuals.exprs.is_nullable(at))
    }

    /// The texts of `id` if there are no more than `most`. `None` too if that is not seen soon.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn few(&mut self, id: ExprId, most: usize) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let nothing = self.residuals.exprs.nothing();
        let id = self.residuals.without_empty_parts(id)?;
        let mut words = Vec::new();
        let mut level = if id == nothing { Vec::new() } else { vec![(Vec::new(), id)] };
        for _ in 0..LONGEST_FEW {
            let mut next: Vec<(Vec<u8>, ExprId)> = Vec::new();
            for (word, at) in level {
                for (bytes, rest) in self.ways(at)? {
                    // Each of these begins some text.
                    if next.len() + bytes.len() > most {
                        return Ok(None);
                    }
                    let longer = |byte| word.iter().copied().chain([byte]).collect();
                    next.extend(bytes.into_iter().map(|byte| (longer(byte), rest)));
                }
                if self.residuals.exprs.is_nullable(at) {
                    words.push(word);
                }
            }
            if words.len() > most {
                return Ok(None);
            }
            if next.is_empty() {
                return Ok(Some(words));
            }
            level = next;
        }
        Ok(None)
    }

    /// How many texts `id` has, counted up to `most`. No state is dead, so that each way of the
    /// same length leads to a text of its own: their number decides long before the texts are all
    /// found.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn count(&mut self, id: ExprId, most: u32) -> Result<u32, Error> {
        let nothing = self.residuals.exprs.nothing();
        let id = self.residuals.without_empty_parts(id)?;
        if self.residuals.exprs.is_endless(id) || (id != nothing && self.comes_back(id)?) {
            return Ok(most);
        }
        let mut open: FxHashMap<ExprId, u64> = FxHashMap::default();
        if id != nothing {
            open.insert(id, 1);
        }
        let mut ended = 0_u64;
        let mut looked_at = 0;
        let mut met: FxHashSet<Vec<ExprId>> = FxHashSet::default();
        while !open.is_empty() {
            let ways = open.values().fold(ended, |sum: u64, &ways| sum.saturating_add(ways));
            let mut states: Vec<ExprId> = open.keys().copied().collect();
            states.sort_unstable();
            // What comes again comes again and again.
            if ways >= u64::from(most) || !met.insert(states) {
                return Ok(most);
            }
            looked_at += open.len();
            let limit = self.residuals.limits.search;
            if looked_at > limit {
                return Err(Error::limit("search", limit));
            }
            for (at, ways) in std::mem::take(&mut open) {
                if self.residuals.exprs.is_nullable(at) {
                    ended = ended.saturating_add(ways);
                }
                for (bytes, rest) in self.ways(at)? {
                    let sum = open.entry(rest).or_default();
                    *sum = sum.saturating_add(ways.saturating_mul(bytes.len() as u64));
                }
            }
        }
        Ok(u32::try_from(ended).unwrap_or(u32::MAX).min(most))
    }

    /// Whether the first way that leads on with the most bytes, step by step, comes to a state that
    /// was there before: then there is no end of texts.
    fn comes_back(&mut self, id: ExprId) -> Result<bool, Error> {
        let mut path = vec![id];
        for _ in 0..LONGEST_WALK {
            let ways = self.ways(path[path.len() - 1])?;
            if ways.iter().any(|(_, rest)| path.contains(rest)) {
                return Ok(true);
            }
            let Some((_, widest)) = ways.into_iter().max_by_key(|(bytes, _)| bytes.len()) else {
                break;
            };
            path.push(widest);
        }
        Ok(false)
    }

    /// What `id` leads to, and with which bytes.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn ways(&mut self, id: ExprId) -> Result<Vec<(Vec<u8>, ExprId)>, Error> {
        let nothing = self.residuals.exprs.nothing();
        let partition = self.residuals.partition(id)?;
        let mut ways = Vec::new();
        for byte in self.residuals.partitions.representatives(partition) {
            let rest = self.residuals.step(id, byte)?;
            if rest != nothing {
                ways.push((self.residuals.partitions.members(partition, byte).collect(), rest));
            }
        }
        Ok(ways)
    }
}
