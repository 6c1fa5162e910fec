//! How many names a language has: where few are left, none may come twice.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::grammar::{ExprId, Exprs};
use crate::limits::Budget;
use crate::residual::Residuals;

/// Where a word ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// At the closing quote; `is_escaped` says that the next byte is none.
    AtQuote { is_escaped: bool },
    /// Where nothing has to follow.
    AtEnd,
}

/// The number of a language's words, as far as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) count: u32,
    /// There are just so many; else there are more, or nobody looked further.
    pub(crate) is_exact: bool,
}

/// How many texts `id` has, an expression without calls; `u32::MAX` for so many, or more.
///
/// # Errors
/// A limit was reached.
pub(crate) fn count_texts(exprs: &mut Exprs, id: ExprId, budget: &Budget) -> Result<u32, Error> {
    if exprs.is_endless(id) {
        return Ok(u32::MAX);
    }
    Residuals::lent(exprs, budget, |residuals| {
        let id = residuals.without_empty_parts(id)?;
        Ok(residuals.count(id, Ends::AtEnd, u32::MAX)?.count)
    })
}

/// How many texts `id` has, an expression without calls for the inside of a JSON string, counted
/// up to `most`.
///
/// # Errors
/// A limit was reached.
pub(crate) fn count_words(
    exprs: &mut Exprs,
    id: ExprId,
    most: u32,
    budget: &Budget,
) -> Result<u32, Error> {
    let name = exprs.other_name(id);
    let words =
        Residuals::lent(exprs, budget, |residuals| residuals.names_left(name, false, most))?;
    Ok(words.count.min(most))
}

impl Residuals {
    /// What is known of the names that `id` may still become, if that is at least `most` of them
    /// or all. `is_escaped` says that the next byte is no closing quote.
    pub(crate) fn known_names_left(
        &self,
        id: ExprId,
        is_escaped: bool,
        most: u32,
    ) -> Option<Words> {
        let words = *self.words.get(&(id, is_escaped))?;
        (words.is_exact || words.count >= most).then_some(words)
    }

    /// How many names `id` may still become, counted up to `most` at least. No state is dead, so
    /// that each way of the same length leads to a name of its own: their number decides long
    /// before the names are all found.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn names_left(
        &mut self,
        id: ExprId,
        is_escaped: bool,
        most: u32,
    ) -> Result<Words, Error> {
        if let Some(words) = self.known_names_left(id, is_escaped, most) {
            return Ok(words);
        }
        // Whoever asks will ask for one more next.
        let words = self.count(id, Ends::AtQuote { is_escaped }, most.saturating_mul(2).max(64))?;
        self.words.insert((id, is_escaped), words);
        Ok(words)
    }

    /// How many texts `id` has, counted up to `most` at least.
    fn count(&mut self, id: ExprId, ends: Ends, most: u32) -> Result<Words, Error> {
        let most = u64::from(most);
        let nothing = self.exprs.nothing();
        let mut looked_at = 0;
        let mut ended = 0_u64;
        let mut open: FxHashMap<(ExprId, bool), u64> = FxHashMap::default();
        if id != nothing {
            open.insert((id, ends == Ends::AtQuote { is_escaped: true }), 1);
        }
        let mut met: FxHashSet<Vec<(ExprId, bool)>> = FxHashSet::default();
        while !open.is_empty() {
            let mut places: Vec<(ExprId, bool)> = open.keys().copied().collect();
            places.sort_unstable();
            if !met.insert(places) {
                // What comes again comes again and again.
                return Ok(Words { count: u32::MAX, is_exact: true });
            }
            let ways = open.values().fold(0, |sum: u64, &ways| sum.saturating_add(ways));
            if ended.saturating_add(ways) >= most {
                break;
            }
            looked_at += open.len();
            if looked_at > self.limits.search {
                return Err(Error::limit("search", self.limits.search));
            }
            for ((id, is_escaped), ways) in std::mem::take(&mut open) {
                if ends == Ends::AtEnd && self.exprs.is_nullable(id) {
                    ended = ended.saturating_add(ways);
                }
                for byte in 0..=u8::MAX {
                    let rest = self.step(id, byte)?;
                    if rest == nothing {
                        continue;
                    }
                    if ends != Ends::AtEnd && byte == b'"' && !is_escaped {
                        ended = ended.saturating_add(ways);
                        continue;
                    }
                    let key = (rest, byte == b'\\' && !is_escaped);
                    let sum = open.entry(key).or_default();
                    *sum = sum.saturating_add(ways);
                }
            }
        }
        let ways = open.values().fold(ended, |sum, &ways| sum.saturating_add(ways));
        let count = u32::try_from(ways).unwrap_or(u32::MAX);
        Ok(Words { count, is_exact: open.is_empty() })
    }
}
