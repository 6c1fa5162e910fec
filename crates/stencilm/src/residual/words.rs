//! How many names a language has: where few are left, none may come twice.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::grammar::ExprId;
use crate::residual::Residuals;

/// The number of a language's words, as far as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) count: u32,
    /// There are just so many; else there are more, or nobody looked further.
    pub(crate) is_exact: bool,
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
        let most = u64::from(most.saturating_mul(2).max(64));
        let nothing = self.exprs.nothing();
        let mut looked_at = 0;
        let mut ended = 0_u64;
        let mut open: FxHashMap<(ExprId, bool), u64> = FxHashMap::default();
        open.insert((id, is_escaped), 1);
        let mut met: FxHashSet<Vec<(ExprId, bool)>> = FxHashSet::default();
        while !open.is_empty() {
            let mut places: Vec<(ExprId, bool)> = open.keys().copied().collect();
            places.sort_unstable();
            if !met.insert(places) {
                // What comes again comes again and again.
                let words = Words { count: u32::MAX, is_exact: true };
                self.words.insert((id, is_escaped), words);
                return Ok(words);
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
                for byte in 0..=u8::MAX {
                    let rest = self.step(id, byte)?;
                    if rest == nothing {
                        continue;
                    }
                    if byte == b'"' && !is_escaped {
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
        let words = Words { count, is_exact: open.is_empty() };
        self.words.insert((id, is_escaped), words);
        Ok(words)
    }
}
