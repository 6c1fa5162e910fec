//! What all grammars of one vocabulary share: local results of expressions without calls, found
//! by their content, and sieves.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::{CharSet, ContentHash};
use crate::mask::Mask;
use crate::mask::few::Few;
use crate::mask::tries::SharedTrie;
use crate::vocab::{Parted, Sieve, Vocabulary};

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
    /// How often half of the store was full and what had not been used since the time before went.
    pub generations: u64,
    /// Results that went so.
    pub evictions: u64,
}

/// One generation of results.
#[derive(Debug, Default)]
struct Shelf {
    locals: FxHashMap<LocalKey, Kept>,
    sieves: FxHashMap<SieveKey, Arc<Sieve>>,
    /// Where the dense parts of the results lie in memory: many share one.
    bases: FxHashSet<usize>,
    bytes: usize,
}

/// A result, and its bytes without its dense part.
#[derive(Clone, Debug)]
struct Kept {
    local: SharedLocal,
    bytes: usize,
}

type SieveKey = (Parted, Arc<CharSet>, Most);

/// What a sieve asks for beside a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Most {
    /// At most so many characters, all of them whole.
    Whole(Option<u32>),
    /// The last character may be cut off.
    CutOff,
}

impl Shelf {
    /// What it would take to hold this too.
    fn cost(&self, kept: &Kept) -> usize {
        let base = kept.local.inside.base();
        let is_new = base.is_some_and(|base| !self.bases.contains(&base.as_ptr().addr()));
        kept.bytes + base.filter(|_| is_new).map_or(0, size_of_val)
    }

    fn insert(&mut self, key: LocalKey, kept: Kept) {
        let cost = self.cost(&kept);
        let base = kept.local.inside.base().map(|base| base.as_ptr().addr());
        // A copy that came first may have another dense part, which then counts twice: no harm.
        if self.locals.insert(key, kept).is_none() {
            self.bytes += cost;
            self.bases.extend(base);
        }
    }
}

/// The results in use, and those of the time before, which come over when they are asked for.
#[derive(Debug, Default)]
struct Shelves {
    young: Shelf,
    old: Shelf,
    generations: u64,
    evictions: u64,
}

impl Shelves {
    /// Makes room for `size` more bytes, if a shelf may have `most`. What goes is to be freed when
    /// nobody waits any more: that takes milliseconds.
    fn make_room(&mut self, size: usize, most: usize) -> Option<Shelf> {
        if self.young.bytes + size <= most {
            return None;
        }
        self.evictions += self.old.locals.len() as u64;
        self.generations += 1;
        let young = std::mem::take(&mut self.young);
        Some(std::mem::replace(&mut self.old, young))
    }
}

/// Shared by all grammars compiled with one vocabulary. What is in it is found by content, so
/// dropping any of it is always safe: who holds a result keeps it alive.
///
/// Two generations have half of the room each. When the newer one is full it becomes the older, which
/// goes; what is used meanwhile stays.
#[derive(Debug)]
pub struct Store {
    limit: usize,
    shelves: RwLock<Shelves>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Store {
    /// An empty store that holds at most `limit` bytes, about.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            shelves: RwLock::default(),
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
        }
    }

    /// How full it is and how often it helped.
    #[must_use]
    pub fn usage(&self) -> StoreUse {
        let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
        StoreUse {
            entries: shelves.young.locals.len() + shelves.old.locals.len(),
            bytes: shelves.young.bytes + shelves.old.bytes,
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            generations: shelves.generations,
            evictions: shelves.evictions,
        }
    }

    pub(crate) fn local(&self, key: &LocalKey) -> Option<SharedLocal> {
        let found = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let young = shelves.young.locals.get(key).map(|kept| (kept.local.clone(), None));
            young.or_else(|| {
                let kept = shelves.old.locals.get(key)?;
                Some((kept.local.clone(), Some(kept.clone())))
            })
        };
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        let (local, old) = found?;
        if let Some(kept) = old {
            self.put(*key, kept);
        }
        Some(local)
    }

    pub(crate) fn keep(&self, key: LocalKey, local: SharedLocal) {
        let exits = local.exits.iter().map(SharedTrie::size_in_bytes).sum::<usize>();
        let bytes = 96 + local.inside.size_in_bytes() + exits;
        self.put(key, Kept { local, bytes });
    }

    fn put(&self, key: LocalKey, kept: Kept) {
        if kept.bytes + kept.local.inside.base().map_or(0, size_of_val) > self.half() {
            return;
        }
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(moved) = shelves.old.locals.remove(&key) {
            shelves.old.bytes -= moved.bytes;
        }
        let cost = shelves.young.cost(&kept);
        let gone = shelves.make_room(cost, self.half());
        shelves.young.insert(key, kept);
        drop(shelves);
        drop(gone);
    }

    pub(crate) fn sieve(
        &self,
        vocabulary: &Vocabulary,
        parted: Parted,
        class: &Arc<CharSet>,
        most: Most,
    ) -> Arc<Sieve> {
        let key = (parted, class.clone(), most);
        let old = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = shelves.young.sieves.get(&key) {
                return found.clone();
            }
            shelves.old.sieves.get(&key).cloned()
        };
        let make = || match most {
            Most::Whole(most) => vocabulary.sieve_of(parted, class, most),
            Most::CutOff => vocabulary.sieve_of_beginnings(parted, class),
        };
        let sieve = old.unwrap_or_else(|| Arc::new(make()));
        let size = sieve.size_in_bytes() + 64;
        if size > self.half() {
            return sieve;
        }
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = shelves.young.sieves.get(&key) {
            return found.clone();
        }
        let gone = shelves.make_room(size, self.half());
        shelves.young.bytes += size;
        shelves.young.sieves.insert(key, sieve.clone());
        drop(shelves);
        drop(gone);
        sieve
    }

    /// The most bytes of one generation.
    fn half(&self) -> usize {
        self.limit / 2
    }
}
