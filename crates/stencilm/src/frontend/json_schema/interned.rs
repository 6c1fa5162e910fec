//! Lists that are each kept once and known by a number.

use std::hash::Hash;
use std::sync::Arc;

use crate::interner::Interner;

/// See the module. The empty list is number 0.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    lists: Interner<Arc<[T]>>,
    /// The members of all lists.
    size: usize,
}

impl<T: Eq + Hash> Default for Interned<T> {
    fn default() -> Self {
        let mut lists = Interner::default();
        lists.id(Arc::new([]) as Arc<[T]>);
        Self { lists, size: 0 }
    }
}

impl<T: Eq + Hash> Interned<T> {
    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// About how many bytes it takes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.lists.len() * 64 + self.size * size_of::<T>()
    }

    pub(crate) fn get(&self, id: u32) -> &Arc<[T]> {
        self.lists.get(id)
    }

    pub(crate) fn id(&mut self, list: Vec<T>) -> u32 {
        if let Some(id) = self.lists.find(&list[..]) {
            return id;
        }
        self.size += list.len();
        self.lists.id(list.into())
    }
}
