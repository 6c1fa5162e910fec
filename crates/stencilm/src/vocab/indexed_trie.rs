//! A trie with the children of its widest nodes in lists: the children themselves lie far apart, and
//! a look at each of them costs as much as all else.

use rustc_hash::FxHashMap;

use crate::vocab::trie::Trie;
use crate::vocab::trie_builder::to_u32;

/// A trie whose widest nodes' children are found at once.
#[derive(Debug)]
pub struct IndexedTrie {
    trie: Trie,
    root: Box<[Option<u32>; 256]>,
    // Invariant: for each node with enough below, where its children are in the lists.
    wide: FxHashMap<u32, (u32, u32)>,
    // Invariant: rising within a node, and one more that means nothing.
    bytes: Box<[u8]>,
    // Invariant: those of a node, and its end.
    children: Box<[u32]>,
    // Invariant: where the tokens of these start.
    ranks: Box<[u32]>,
}

/// The children of a node, side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children<'a> {
    /// The bytes that they go on with.
    pub(crate) bytes: &'a [u8],
    /// The children, and where the last one ends. Each ends where the next one begins.
    pub(crate) nodes: &'a [u32],
    /// Where the tokens of each start, and where those of the last one end.
    pub(crate) ranks: &'a [u32],
}

impl IndexedTrie {
    /// Nodes with fewer below them have their children close by, and no list of them.
    pub(crate) const FEWEST_BELOW: u32 = 64;

    pub(super) fn new(trie: Trie) -> Self {
        let mut root = Box::new([None; 256]);
        for child in trie.children(0) {
            root[usize::from(trie.byte(child))] = Some(child);
        }
        let (mut bytes, mut children) = (Vec::new(), Vec::new());
        let mut wide = FxHashMap::default();
        let mut todo = vec![0];
        while let Some(node) = todo.pop() {
            let from = to_u32(children.len());
            for child in trie.children(node) {
                bytes.push(trie.byte(child));
                children.push(child);
                if trie.end(child) - child > Self::FEWEST_BELOW {
                    todo.push(child);
                }
            }
            bytes.push(0);
            children.push(trie.end(node));
            wide.insert(node, (from, to_u32(children.len())));
        }
        let ranks = children.iter().map(|&child| trie.token_start(child)).collect();
        Self { trie, root, wide, bytes: bytes.into(), children: children.into(), ranks }
    }

    /// The trie.
    #[must_use]
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The child of `node` that goes on with `byte`.
    #[must_use]
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 {
            return self.root[usize::from(byte)];
        }
        match self.children_of(node) {
            Some(children) => Some(children.nodes[children.bytes.binary_search(&byte).ok()?]),
            None => self.trie.child(node, byte),
        }
    }

    /// The children of `node`, if it has a list of them.
    #[inline]
    pub(crate) fn children_of(&self, node: u32) -> Option<Children<'_>> {
        if self.trie.end(node) - node <= Self::FEWEST_BELOW && node > 0 {
            return None;
        }
        let &(from, to) = self.wide.get(&node)?;
        let range = from as usize..to as usize;
        Some(Children {
            bytes: &self.bytes[range.start..range.end - 1],
            nodes: &self.children[range.clone()],
            ranks: &self.ranks[range],
        })
    }

    /// The children of `node` that go on with one of some rising bytes, with what comes with these.
    pub fn meet<T>(
        &self,
        node: u32,
        bytes: impl Iterator<Item = (u8, T)>,
    ) -> impl Iterator<Item = (u32, u8, T)> {
        let mut children = self.trie.children(node).peekable();
        bytes.filter_map(move |(byte, with)| {
            if node == 0 {
                return self.root[usize::from(byte)].map(|child| (child, byte, with));
            }
            while children.next_if(|&child| self.trie.byte(child) < byte).is_some() {}
            let child = children.next_if(|&child| self.trie.byte(child) == byte)?;
            Some((child, byte, with))
        })
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.root)
            + self.trie.size_in_bytes()
            + self.wide.len() * 16
            + self.bytes.len()
            + size_of_val(&*self.children)
            + size_of_val(&*self.ranks)
    }
}
