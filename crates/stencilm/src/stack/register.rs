//! What the rest of an object or an array remembers of the text, in the frame below it.

use crate::grammar::{ContentHash, HashKey};
use crate::stack::seen::Seen;

/// See the module. Never empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    /// The names that came in an object and that it does not list, or the strings that came in an
    /// array of different items.
    pub(crate) seen: Option<Seen>,
    /// Where the item of an array began that a text is inside of, in the text that the state keeps.
    pub(crate) item: Option<u32>,
}

impl Register {
    /// Equal for what remembers the same.
    pub(crate) fn hash(&self, key: &HashKey) -> ContentHash {
        let item = self.item.map_or(0, |item| u64::from(item) + 1);
        let hash = key.start(53).with(key, item);
        match &self.seen {
            Some(seen) => hash.with_hash(key, seen.hash()),
            None => hash,
        }
    }
}
