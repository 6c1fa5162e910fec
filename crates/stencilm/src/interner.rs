//! Values that are each kept once and known by a number.
//!
//! Every arena of the engine has such tables, most of them small and all of them new for each
//! grammar. The part that finds and grows does not depend on what is kept: its code is in the
//! processor's cache however many kinds of tables there are.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// Values by number, in the order in which they first came.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    index: Index,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: Index::default() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of a value, a new one if it never came.
    pub(crate) fn id(&mut self, item: T) -> u32 {
        let hash = hash_of(&item);
        if let Some(id) = self.index.find(hash, |id| self.items[id as usize] == item) {
            return id;
        }
        self.push(hash, item)
    }

    /// The same for a value that is made only if it never came.
    pub(crate) fn id_of<Q>(&mut self, wanted: &Q, make: impl FnOnce() -> T) -> u32
    where
        T: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let hash = hash_of(wanted);
        if let Some(id) = self.position(hash, wanted) {
            return id;
        }
        self.push(hash, make())
    }

    /// The number of a value that came.
    pub(crate) fn find<Q>(&self, wanted: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.position(hash_of(wanted), wanted)
    }

    fn position<Q>(&self, hash: u32, wanted: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.index.find(hash, |id| self.items[id as usize].borrow() == wanted)
    }

    fn push(&mut self, hash: u32, item: T) -> u32 {
        let id = index(self.items.len());
        self.items.push(item);
        self.index.insert(hash, id);
        id
    }
}

impl<T> Interner<T> {
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The values in the order of their numbers.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
}

/// Numbers by the hash of what they stand for: open addressing, a power of two of slots, of which a
/// quarter at least is vacant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    slots: Vec<Slot>,
    taken: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    id: u32,
}

const VACANT: Slot = Slot { hash: 0, id: u32::MAX };

const FEWEST_SLOTS: usize = 16;

impl Index {
    /// The number with this hash that `is` what is looked for.
    #[inline]
    pub(crate) fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & last;
        for step in 1.. {
            let slot = self.slots[at];
            if slot.id == VACANT.id {
                return None;
            }
            if slot.hash == hash && is(slot.id) {
                return Some(slot.id);
            }
            at = (at + step) & last;
        }
        None
    }

    /// Adds a number that is not there.
    #[inline(never)]
    pub(crate) fn insert(&mut self, hash: u32, id: u32) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.taken += 1;
        self.place(Slot { hash, id });
    }

    fn place(&mut self, slot: Slot) {
        let last = self.slots.len() - 1;
        let mut at = slot.hash as usize & last;
        for step in 1.. {
            if self.slots[at].id == VACANT.id {
                self.slots[at] = slot;
                return;
            }
            at = (at + step) & last;
        }
    }

    #[inline(never)]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(FEWEST_SLOTS);
        let slots = std::mem::replace(&mut self.slots, vec![VACANT; size]);
        for slot in slots {
            if slot.id != VACANT.id {
                self.place(slot);
            }
        }
    }
}

/// The hash by which an [`Index`] finds a value.
#[inline]
pub(crate) fn hash_of<Q: Hash + ?Sized>(value: &Q) -> u32 {
    // The good bits of this hash are the low ones.
    #[allow(clippy::cast_possible_truncation)]
    let low = FxBuildHasher.hash_one(value) as u32;
    low
}

/// The number of the next value of a table, all of which end far below 2³².
///
/// # Panics
/// The table is larger than any limit allows.
pub(crate) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("limits keep tables below 2^32 entries")
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_value_has_one_number(values in proptest::collection::vec(0_u16..300, 0..2_000)) {
            let mut interner = Interner::default();
            let mut seen: Vec<u16> = Vec::new();
            for &value in &values {
                let known = seen.iter().position(|&one| one == value);
                assert_eq!(interner.find(&value), known.map(index));
                let id = if value % 2 == 0 { interner.id(value) } else { interner.id_of(&value, || value) };
                if known.is_none() {
                    seen.push(value);
                }
                assert_eq!(seen[id as usize], value);
                assert_eq!(*interner.get(id), value);
            }
            assert!(interner.iter().eq(&seen));
        }

        #[test]
        fn values_with_one_hash_are_told_apart(hashes in proptest::collection::vec(0_u32..4, 0..200)) {
            let mut table = Index::default();
            for (id, &hash) in hashes.iter().enumerate() {
                table.insert(hash, index(id));
            }
            for (id, &hash) in hashes.iter().enumerate() {
                assert_eq!(table.find(hash, |other| other == index(id)), Some(index(id)));
                assert_eq!(table.find(hash + 4, |_| true), None);
            }
        }
    }
}
