//! The answer to "which tokens may come next?", put together from what one expression alone can
//! say of the whole vocabulary (a *local result*) and of what is left of the tokens that leave it
//! (its *exits*).

mod after;
mod alike;
mod counted;
mod few;
mod key;
mod local;
mod names;
mod sieved;
pub(crate) mod store;
mod tables;
mod tries;
mod view;
mod walk;

use std::sync::Arc;

pub(crate) use few::Few;
pub(crate) use key::key_of;
pub use tables::Learnt;
pub(crate) use tables::Tables;
pub(crate) use view::ViewId;

/// Single tokens beside a dense base, or cut out of it; more of them make a base of their own.
const MOST_SINGLES: usize = 250;

/// A set of tokens: a shared dense part but for some tokens, and some more tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask {
    base: Option<Arc<[u32]>>,
    // Invariant: sorted, distinct, all of them in the base.
    cuts: Few<u32>,
    // Invariant: none of them is in the base, unless it is cut out of it.
    adds: Few<u32>,
    keys: key::Keys,
}

impl Mask {
    /// Writes the set into `out`, one bit a token; `out` may be wider than the vocabulary.
    ///
    /// # Panics
    /// If `out` is narrower than the vocabulary.
    pub(crate) fn write(&self, out: &mut [u32]) {
        match &self.base {
            Some(base) => {
                let (set, padding) = out.split_at_mut(base.len());
                set.copy_from_slice(base);
                padding.fill(0);
            }
            None => out.fill(0),
        }
        for &token in self.cuts.iter() {
            out[token as usize / 32] &= !(1 << (token % 32));
        }
        for &token in self.adds.iter() {
            insert(out, token);
        }
    }

    /// Whether `token` is in the set.
    pub(crate) fn contains(&self, token: u32) -> bool {
        self.has_dense(token) || self.adds.contains(&token)
    }

    fn has_dense(&self, token: u32) -> bool {
        self.base.as_ref().is_some_and(|base| has(base, token))
            && self.cuts.binary_search(&token).is_err()
    }

    /// The dense part.
    pub(crate) fn base(&self) -> Option<&[u32]> {
        self.base.as_deref()
    }

    /// The tokens of the dense part that are not in the set.
    pub(crate) fn cuts(&self) -> &[u32] {
        &self.cuts
    }

    /// The tokens beside it.
    pub(crate) fn singles(&self) -> &[u32] {
        &self.adds
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        // Bases are shared; each is counted where it was made.
        (self.adds.len() + self.cuts.len()) * 4 + 64
    }
}

/// Collects a set of tokens from parts.
#[derive(Debug, Default)]
pub(crate) struct MaskBuilder {
    base: Option<Arc<[u32]>>,
    // Invariant: sorted, distinct, all of them in the base.
    cuts: Few<u32>,
    adds: Vec<u32>,
}

impl MaskBuilder {
    /// Adds a whole set.
    pub(crate) fn add(&mut self, mask: &Mask) {
        if let Some(base) = &mask.base {
            self.add_dense(base, &mask.cuts);
        }
        self.adds.extend_from_slice(&mask.adds);
    }

    /// Adds a dense set.
    pub(crate) fn add_base(&mut self, more: &Arc<[u32]>) {
        self.add_dense(more, &Few::default());
    }

    /// Adds a whole set but for some tokens, one bit a token.
    pub(crate) fn add_without(&mut self, mask: &Mask, left_out: &[u32]) {
        if let Some(base) = &mask.base {
            let kept = base.iter().zip(left_out).map(|(base, left_out)| base & !left_out);
            let cuts = mask.cuts.iter().copied().filter(|&token| !has(left_out, token));
            self.add_dense(&kept.collect(), &cuts.collect());
        }
        let singles = mask.adds.iter().copied().filter(|&token| !has(left_out, token));
        self.adds.extend(singles);
    }

    /// Adds a dense set but for some of its tokens.
    fn add_dense(&mut self, more: &Arc<[u32]>, more_cuts: &Few<u32>) {
        let Some(base) = &self.base else {
            (self.base, self.cuts) = (Some(more.clone()), more_cuts.clone());
            return;
        };
        let is_cut = |cuts: &Few<u32>, token: &u32| cuts.binary_search(token).is_ok();
        if Arc::ptr_eq(base, more) {
            if self.cuts.is_empty() || more_cuts.is_empty() {
                self.cuts = Few::default();
            } else {
                let both = self.cuts.iter().filter(|token| is_cut(more_cuts, token));
                self.cuts = both.copied().collect();
            }
            return;
        }
        let lacks =
            |base: &[u32], cuts: &Few<u32>, token| !has(base, token) || is_cut(cuts, &token);
        let mine = self.cuts.iter().filter(|token| lacks(more, more_cuts, **token));
        let theirs = more_cuts.iter().filter(|token| lacks(base, &self.cuts, **token));
        let mut cuts: Vec<u32> = mine.chain(theirs).copied().collect();
        cuts.sort_unstable();
        cuts.dedup();
        let union: Arc<[u32]> = base.iter().zip(more.iter()).map(|(a, b)| a | b).collect();
        if union == *more {
            self.base = Some(more.clone());
        } else if union != *base {
            self.base = Some(union);
        }
        self.cuts = cuts.into();
    }

    /// Single tokens, to be extended by a walk.
    pub(crate) fn adds(&mut self) -> &mut Vec<u32> {
        &mut self.adds
    }

    /// Takes out tokens, which are sorted and distinct.
    pub(crate) fn remove(&mut self, tokens: &[u32]) {
        self.adds.retain(|token| tokens.binary_search(token).is_err());
        let Some(base) = &self.base else { return };
        let dense = tokens.iter().copied().filter(|&token| has(base, token));
        let mut cuts: Vec<u32> = dense.chain(self.cuts.iter().copied()).collect();
        cuts.sort_unstable();
        cuts.dedup();
        self.cuts = cuts.into();
    }

    /// The set; `words` is the width of the vocabulary.
    pub(crate) fn finish(self, words: usize) -> Mask {
        let Self { mut base, mut cuts, mut adds } = self;
        if let Some(base) = &base {
            let is_cut = |token: &u32| cuts.binary_search(token).is_ok();
            adds.retain(|&token| !has(base, token) || is_cut(&token));
        }
        if let Some(own) = base.as_mut().and_then(Arc::get_mut) {
            cuts.iter().for_each(|&token| own[token as usize / 32] &= !(1 << (token % 32)));
            adds.drain(..).for_each(|token| insert(own, token));
            cuts = Few::default();
        }
        if adds.len() > MOST_SINGLES || cuts.len() > MOST_SINGLES {
            let mut dense = base.map_or_else(|| vec![0; words], |base| base.to_vec());
            for &token in cuts.iter() {
                dense[token as usize / 32] &= !(1 << (token % 32));
            }
            for &token in &adds {
                insert(&mut dense, token);
            }
            (base, cuts) = (Some(dense.into()), Few::default());
            adds.clear();
        }
        // Neither sorted nor without repeats: to make them so costs more than it saves.
        Mask { base, cuts, adds: adds.into(), keys: key::Keys::default() }
    }
}

/// Whether bit `token` of a row of words is set.
#[inline]
pub(crate) fn has(words: &[u32], token: u32) -> bool {
    words.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

/// Sets bit `token` of a row of words.
#[inline]
pub(crate) fn insert(words: &mut [u32], token: u32) {
    words[token as usize / 32] |= 1 << (token % 32);
}
