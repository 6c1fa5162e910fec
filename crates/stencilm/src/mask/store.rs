//! What all grammars of one vocabulary share: local results of expressions without calls, found
//! by their content, and sieves.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use rustc_hash::FxHashMap;

use crate::grammar::{CharSet, ContentHash};
use crate::mask::Mask;
use crate::mask::few::Few;
use crate::mask::tries::SharedTrie;
use crate::vocab::{Sieve, Vocabulary};

/// A local result without the numbering of one grammar.
#[derive(Clone, Debug)]
pub(crate) struct SharedLocal {
    pub(crate) inside: Mask,
    pub(crate) exits: Few<SharedTrie>,
}

/// What a shared local result is of: the expression, the endings that it was walked over, and
/// whether exits were asked for.
pub(crate) type LocalKey = (ContentHash, ContentHash, bool);

/// How the store is used; counts since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreUse {
    /// Local results held.
    pub entries: usize,
    /// Bytes held, about.
    pub bytes: usize,
    /// Look-ups that found a result.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// How often the store was full and began anew.
    pub generations: u64,
}

#[derive(Debug, Default)]
struct Shelf {
    locals: FxHashMap<LocalKey, SharedLocal>,
    sieves: FxHashMap<(Arc<CharSet>, Option<u32>), Arc<Sieve>>,
    bytes: usize,
    generations: u64,
}

/// Shared by all grammars compiled with one vocabulary. What is in it is found by content, so
/// dropping any of it is always safe: who holds a result keeps it alive.
#[derive(Debug)]
pub struct Store {
    limit: usize,
    shelf: RwLock<Shelf>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Store {
    /// An empty store that holds at most `limit` bytes, about.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            shelf: RwLock::default(),
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
        }
    }

    /// How full it is and how often it helped.
    #[must_use]
    pub fn usage(&self) -> StoreUse {
        let shelf = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
        StoreUse {
            entries: shelf.locals.len(),
            bytes: shelf.bytes,
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            generations: shelf.generations,
        }
    }

    pub(crate) fn local(&self, key: &LocalKey) -> Option<SharedLocal> {
        let shelf = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
        let found = shelf.locals.get(key).cloned();
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    pub(crate) fn keep(&self, key: LocalKey, local: SharedLocal) {
        let size = 96
            + local.inside.size_in_bytes()
            + local.exits.iter().map(SharedTrie::size_in_bytes).sum::<usize>();
        if size > self.limit {
            return;
        }
        let mut shelf = self.shelf.write().unwrap_or_else(PoisonError::into_inner);
        self.make_room(&mut shelf, size);
        if shelf.locals.insert(key, local).is_none() {
            shelf.bytes += size;
        }
    }

    pub(crate) fn sieve(
        &self,
        vocabulary: &Vocabulary,
        class: &Arc<CharSet>,
        max_chars: Option<u32>,
    ) -> Arc<Sieve> {
        let key = (class.clone(), max_chars);
        if let Some(found) =
            self.shelf.read().unwrap_or_else(PoisonError::into_inner).sieves.get(&key)
        {
            return found.clone();
        }
        let sieve = Arc::new(vocabulary.sieve(class, max_chars));
        let size = sieve.size_in_bytes() + 64;
        if size > self.limit {
            return sieve;
        }
        let mut shelf = self.shelf.write().unwrap_or_else(PoisonError::into_inner);
        self.make_room(&mut shelf, size);
        shelf.bytes += size;
        shelf.sieves.entry(key).or_insert(sieve).clone()
    }

    /// At the limit a new generation begins.
    fn make_room(&self, shelf: &mut Shelf, size: usize) {
        if shelf.bytes + size > self.limit {
            shelf.locals = FxHashMap::default();
            shelf.sieves = FxHashMap::default();
            shelf.bytes = 0;
            shelf.generations += 1;
        }
    }
}
