//! Sets of places of a vocabulary's tiling: where a text may stand, between or inside tokens.

use std::sync::Arc;

use crate::grammar::{ContentHash, HashKey};
use crate::interner::Interner;

/// What comes after an expression, as far as liveness and masks ask: the places at which a text
/// may stand when the expression is complete, so that tokens can complete the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Places(u32);

impl Places {
    /// The end of the text, where no token may be cut off: place 0 alone.
    pub(crate) const END: Self = Self(0);
    /// More text, and any place will do: where every byte is a token.
    pub(crate) const ANY: Self = Self(1);
    /// No place at all.
    pub(super) const NONE: Self = Self(2);
    /// Place 0 alone, before more text.
    pub(super) const BETWEEN: Self = Self(3);

    /// Whether more text comes.
    #[inline]
    pub(crate) fn goes_on(self) -> bool {
        self != Self::END
    }
}

/// The sets that one grammar met.
#[derive(Debug)]
pub(super) struct PlaceSets {
    /// The first two are no place at all and place 0 alone.
    sets: Interner<Arc<[u32]>>,
}

impl PlaceSets {
    pub(super) fn new() -> Self {
        let mut sets = Interner::default();
        sets.id(Arc::from([]));
        sets.id(Arc::from([0]));
        Self { sets }
    }

    /// The set of these places.
    pub(super) fn id(&mut self, mut places: Vec<u32>) -> Places {
        places.sort_unstable();
        places.dedup();
        Places(self.sets.id_of(&places[..], || places.as_slice().into()) + Places::NONE.0)
    }

    /// The places of a set, rising.
    pub(super) fn get(&self, id: Places) -> &Arc<[u32]> {
        let id = match id {
            Places::END => Places::BETWEEN,
            Places::ANY => Places::NONE,
            other => other,
        };
        self.sets.get(id.0 - Places::NONE.0)
    }

    pub(super) fn contains(&self, id: Places, place: u32) -> bool {
        self.get(id).binary_search(&place).is_ok()
    }

    /// What the set is, in one hash.
    pub(super) fn hash(&self, key: &HashKey, id: Places) -> ContentHash {
        self.get(id).iter().fold(key.start(60), |hash, &place| hash.with(key, place.into()))
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.sets.iter().map(|set| set.len() * 4 + 64).sum()
    }
}
