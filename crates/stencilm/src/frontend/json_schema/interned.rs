//! Lists that are each kept once and known by a number.

use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::frontend::json_schema::document::index;

/// See the module. The empty list is number 0.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    lists: Vec<Arc<[T]>>,
    /// The members of all lists.
    size: usize,
    ids: FxHashMap<Arc<[T]>, u32>,
}

impl<T: Eq + Hash> Default for Interned<T> {
    fn default() -> Self {
        let none: Arc<[T]> = Arc::new([]);
        Self { lists: vec![none.clone()], size: 0, ids: FxHashMap::from_iter([(none, 0)]) }
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
        &self.lists[id as usize]
    }

    pub(crate) fn id(&mut self, list: Vec<T>) -> u32 {
        if let Some(&id) = self.ids.get(&list[..]) {
            return id;
        }
        let id = index(self.lists.len());
        self.size += list.len();
        let list: Arc<[T]> = list.into();
        self.lists.push(list.clone());
        self.ids.insert(list, id);
        id
    }
}
