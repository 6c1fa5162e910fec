//! The answer to "which tokens may come next?", put together from what one expression alone can
//! say of the whole vocabulary (a *local result*) and of what is left of the tokens that leave it
//! (its *exits*).

mod counted;
mod few;
mod local;
pub(crate) mod store;
mod tables;
mod tries;
mod view;
mod walk;

use std::sync::Arc;

pub(crate) use few::Few;
pub(crate) use tables::Tables;
pub(crate) use view::ViewId;

/// Single tokens beside a dense base; more of them become a base of their own.
const MOST_ADDS: usize = 1_000;

/// A set of tokens: a shared dense part and some more tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask {
    base: Option<Arc<[u32]>>,
    adds: Few<u32>,
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
        for &token in self.adds.iter() {
            insert(out, token);
        }
    }

    /// Whether `token` is in the set.
    pub(crate) fn contains(&self, token: u32) -> bool {
        self.base.as_ref().is_some_and(|base| has(base, token)) || self.adds.contains(&token)
    }

    /// The dense part.
    pub(crate) fn base(&self) -> Option<&[u32]> {
        self.base.as_deref()
    }

    /// The tokens beside it.
    pub(crate) fn singles(&self) -> &[u32] {
        &self.adds
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        // Bases are shared; each is counted where it was made.
        self.adds.len() * 4 + 48
    }
}

/// Collects a set of tokens from parts.
#[derive(Debug, Default)]
pub(crate) struct MaskBuilder {
    base: Option<Arc<[u32]>>,
    adds: Vec<u32>,
}

impl MaskBuilder {
    /// Adds a whole set.
    pub(crate) fn add(&mut self, mask: &Mask) {
        if let Some(base) = &mask.base {
            self.add_base(base);
        }
        self.adds.extend_from_slice(&mask.adds);
    }

    /// Adds a dense set.
    pub(crate) fn add_base(&mut self, more: &Arc<[u32]>) {
        let Some(base) = &self.base else {
            self.base = Some(more.clone());
            return;
        };
        if Arc::ptr_eq(base, more) {
            return;
        }
        let union: Arc<[u32]> = base.iter().zip(more.iter()).map(|(a, b)| a | b).collect();
        if union == *more {
            self.base = Some(more.clone());
        } else if union != *base {
            self.base = Some(union);
        }
    }

    /// Single tokens, to be extended by a walk.
    pub(crate) fn adds(&mut self) -> &mut Vec<u32> {
        &mut self.adds
    }

    /// The set; `words` is the width of the vocabulary.
    pub(crate) fn finish(self, words: usize) -> Mask {
        let Self { mut base, mut adds } = self;
        if let Some(base) = &base {
            adds.retain(|&token| !has(base, token));
        }
        if adds.len() > MOST_ADDS {
            let mut dense = base.map_or_else(|| vec![0; words], |base| base.to_vec());
            for &token in &adds {
                insert(&mut dense, token);
            }
            base = Some(dense.into());
            adds.clear();
        }
        // Neither sorted nor without repeats: to make them so costs more than it saves.
        Mask { base, adds: adds.into() }
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
