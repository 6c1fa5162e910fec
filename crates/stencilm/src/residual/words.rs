//! How many names a language has: where few are left, none may come twice.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::grammar::{ByteSet, Expr, ExprId, Spelling};
use crate::residual::Residuals;

/// Characters that listed names may have next, beside others that may run out.
const MOST_ALTERNATIVES: usize = 1_024;

/// The number of a language's words, as far as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) count: u32,
    /// There are just so many; else there are more, or nobody looked further.
    pub(crate) is_exact: bool,
}

impl Residuals {
    /// What is known of the names that `id` may still become, if that is at least `most` of them
    /// or all. `in_escape` says that the text is inside of an escape.
    pub(crate) fn known_names_left(&self, id: ExprId, in_escape: bool, most: u32) -> Option<Words> {
        let words = *self.words.get(&(id, in_escape))?;
        (words.is_exact || words.count >= most).then_some(words)
    }

    /// How many names `id` may still become, counted up to `most` at least.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn names_left(
        &mut self,
        id: ExprId,
        in_escape: bool,
        most: u32,
    ) -> Result<Words, Error> {
        if let Some(words) = self.known_names_left(id, in_escape, most) {
            return Ok(words);
        }
        // Whoever asks will ask for one more next.
        let most = most.saturating_mul(2).max(64);
        let words = if in_escape {
            let mut words = Words { count: 0, is_exact: true };
            let Some(rests) = self.after_escape(id, MOST_ALTERNATIVES) else {
                return Err(Error::limit("search", self.limits.search));
            };
            for (rest, characters) in rests {
                let more = self.names_left(rest, false, most)?;
                words.count = words.count.saturating_add(more.count.saturating_mul(characters));
                words.is_exact &= more.is_exact;
            }
            words
        } else {
            let id = self.in_one_spelling(id)?;
            self.count(id, most)?
        };
        self.words.insert((id, in_escape), words);
        Ok(words)
    }

    /// `id` with names in their canonical spelling alone, where they have several.
    fn in_one_spelling(&mut self, id: ExprId) -> Result<ExprId, Error> {
        if !self.name_spelling().is_free() || !self.exprs.is_naming(id) {
            return Ok(id);
        }
        Ok(match self.exprs.get(id) {
            Expr::OtherName(text) => {
                // Inside of a character as many bytes come first as it lacks.
                let more = self.exprs.byte_set(&ByteSet::range(0x80, 0xBF));
                let more = self.exprs.repeat(more, 0, 3);
                let canonical = self.exprs.any_text(Spelling::JsonCanonical);
                let canonical = self.exprs.seq2(more, canonical);
                let text = self.exprs.and(&[text, canonical]);
                let text = self.without_empty_parts(text)?;
                self.exprs.other_name(text)
            }
            Expr::Seq(first, rest) => {
                let first = self.in_one_spelling(first)?;
                self.exprs.seq2(first, rest)
            }
            Expr::Choice(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.in_one_spelling(*member)?;
                }
                self.exprs.choice(&members)
            }
            _ => id,
        })
    }

    /// How many texts `id` has, each in one spelling, counted up to `most` at least.
    fn count(&mut self, id: ExprId, most: u32) -> Result<Words, Error> {
        let most = u64::from(most);
        let nothing = self.exprs.nothing();
        let mut looked_at = 0;
        let mut ended = 0_u64;
        let mut open: FxHashMap<(ExprId, bool), u64> = FxHashMap::default();
        if id != nothing {
            open.insert((id, false), 1);
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
        Ok(Words { count, is_exact: open.is_empty() })
    }
}
