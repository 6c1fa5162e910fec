//! Tries in depth-first arrays: a subtree is one slice, and so are the tokens below a node.
//!
//! In: texts in rising order, or subtrees of other tries. Out: equal sets of (text, token) give
//! equal arrays, so that tries can be interned by content.

use std::{cmp::Ordering, ops::Range};

use crate::{
    grammar::{ByteSet, ContentHash, HashKey},
    vocab::{bits, trie_builder::TrieBuilder},
};

/// The texts of tokens, by their beginnings. A node stands for a text; node 0, the root, for
/// the empty one.
///
/// ```
/// use stencilm::vocab::Trie;
///
/// let texts: [(&[u8], u32); 4] = [(b"a", 7), (b"an", 1), (b"an", 3), (b"b", 0)];
/// let trie = Trie::from_sorted(texts);
/// let a = trie.child(0, b'a').expect("a token begins with it");
/// assert_eq!(trie.tokens_at(a), [7]);
/// assert_eq!(trie.tokens_below(a), [7, 1, 3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trie {
    // Invariant: a node stands right before its first child; the children of a node have
    // strictly rising bytes. The root's byte is 0 and means nothing. One more than there are nodes:
    // the last has no byte, no end, and the number of tokens.
    nodes: Box<[Node]>,
    // Invariant: rising and distinct within a node.
    tokens: Box<[u32]>,
}

/// What a walk reads of a node, side by side: its place in memory is what a look at it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// One past the node's subtree.
    pub(crate) end: u32,
    /// Where the node's tokens start. Rising.
    pub(crate) tokens: u32,
    /// The last byte of the node's text.
    pub(crate) byte: u8,
}

impl Default for Trie {
    /// A root without tokens.
    fn default() -> Self {
        TrieBuilder::new().finish()
    }
}

impl Trie {
    /// The trie of these texts, which must come in rising order, and tokens of one text in
    /// rising order too.
    ///
    /// # Panics
    /// If they do not.
    pub fn from_sorted<'a>(texts: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        let mut builder = TrieBuilder::new();
        let mut last: (&[u8], Option<u32>) = (&[], None);
        for (text, token) in texts {
            let common = last.0.iter().zip(text).take_while(|(a, b)| a == b).count();
            let rises = match (last.0.get(common), text.get(common)) {
                (None, None) => last.1 < Some(token),
                (before, now) => before < now,
            };
            assert!(rises, "tokens are sorted by text and number before a trie is made of them");
            while builder.depth() > common {
                builder.close();
            }
            text[common..].iter().for_each(|&byte| builder.open(byte));
            builder.push_token(token);
            last = (text, Some(token));
        }
        builder.finish()
    }

    /// What is left of the tokens strictly below the given nodes, as one trie: the union of
    /// the subtrees, without the tokens that end in the nodes themselves.
    ///
    /// ```
    /// use stencilm::vocab::Trie;
    ///
    /// let texts: [(&[u8], u32); 4] = [(b"a", 0), (b"abc", 1), (b"xab", 2), (b"xb", 3)];
    /// let trie = Trie::from_sorted(texts);
    /// let node = |byte| trie.child(0, byte).expect("a token begins with it");
    /// let rest: [(&[u8], u32); 3] = [(b"ab", 2), (b"b", 3), (b"bc", 1)];
    /// assert_eq!(Trie::merge(&[(&trie, node(b'a')), (&trie, node(b'x'))]), Trie::from_sorted(rest));
    /// ```
    #[must_use]
    pub fn merge(sources: &[(&Self, u32)]) -> Self {
        Self::merge_of(sources, &ByteSet::ALL)
    }

    /// The same for what begins with one of some bytes.
    #[must_use]
    pub(crate) fn merge_of(sources: &[(&Self, u32)], first: &ByteSet) -> Self {
        let mut builder = TrieBuilder::new();
        let is_all = *first == ByteSet::ALL;
        if let [(source, node)] = sources
            && is_all
        {
            builder.copy_below(source, *node);
            return builder.finish();
        }
        if is_all {
            let nodes = sources.iter().map(|(trie, node)| (trie.end(*node) - node) as usize);
            builder.reserve(nodes.sum());
        }
        let node = |&(trie, node): &(_, u32)| Branch { byte: 0, trie, node };
        let mut branches: Vec<Branch> = sources.iter().map(node).collect();
        let mut levels =
            vec![Level::below(0..sources.len(), &mut branches, |byte| first.contains(byte))];
        while let Some(level) = levels.last_mut() {
            let Some(byte) = branches.get(level.next).map(|branch| branch.byte) else {
                branches.truncate(level.from);
                levels.pop();
                builder.close();
                continue;
            };
            let from = level.next;
            let same = branches[from..].iter().take_while(|branch| branch.byte == byte).count();
            level.next += same;
            builder.open(byte);
            for branch in &branches[from..from + same] {
                builder.push_tokens(branch.trie.tokens_at(branch.node));
            }
            if same == 1 {
                builder.copy_below(branches[from].trie, branches[from].node);
                builder.close();
            } else {
                builder.settle_tokens();
                levels.push(Level::below(from..from + same, &mut branches, |_| true));
            }
        }
        builder.finish()
    }

    /// What is left of the tokens strictly below `node`, but for those in `removed`, a bitset
    /// by token (bit *i % 32* of word *i / 32*; what lies beyond it stays).
    #[must_use]
    pub fn without(&self, node: u32, removed: &[u32]) -> Self {
        let mut builder = TrieBuilder::new();
        let mut open_ends: Vec<u32> = Vec::new();
        for at in node + 1..self.end(node) {
            while open_ends.last().is_some_and(|&end| end <= at) {
                open_ends.pop();
                builder.close_or_drop();
            }
            builder.open(self.byte(at));
            open_ends.push(self.end(at));
            for &token in self.tokens_at(at) {
                if !bits::has(removed, token) {
                    builder.push_token(token);
                }
            }
        }
        for _ in open_ends {
            builder.close_or_drop();
        }
        builder.finish()
    }

    /// The trie of these nodes, which a builder has made.
    pub(crate) fn from_arrays(nodes: Vec<Node>, tokens: Vec<u32>) -> Self {
        Self { nodes: nodes.into(), tokens: tokens.into() }
    }

    /// The number of nodes, the root included.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.nodes[0].end
    }

    /// Whether there is no token in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The last byte of the node's text.
    #[must_use]
    #[inline]
    pub fn byte(&self, node: u32) -> u8 {
        self.nodes[node as usize].byte
    }

    /// One past the last node of the node's subtree.
    #[must_use]
    #[inline]
    pub fn end(&self, node: u32) -> u32 {
        self.nodes[node as usize].end
    }

    /// The tokens that spell the node's text.
    #[must_use]
    #[inline]
    pub fn tokens_at(&self, node: u32) -> &[u32] {
        self.tokens_between(node, node + 1)
    }

    /// The tokens whose text begins with the node's text, in trie order.
    #[must_use]
    #[inline]
    pub fn tokens_below(&self, node: u32) -> &[u32] {
        self.tokens_between(node, self.end(node))
    }

    /// The same without those that spell the node's text itself.
    #[must_use]
    #[inline]
    pub fn tokens_strictly_below(&self, node: u32) -> &[u32] {
        self.tokens_between(node + 1, self.end(node))
    }

    /// The child of `node` that goes on with `byte`.
    #[must_use]
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let (mut child, end) = (node + 1, self.end(node));
        while child < end {
            match self.byte(child).cmp(&byte) {
                Ordering::Less => child = self.end(child),
                Ordering::Equal => return Some(child),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// The children of `node`, by rising bytes.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let within = move |child: u32| (child < end).then_some(child);
        std::iter::successors(within(node + 1), move |&child| within(self.end(child)))
    }

    /// The node of `text`.
    ///
    /// ```
    /// use stencilm::vocab::Trie;
    ///
    /// let trie = Trie::from_sorted([(b"abc".as_slice(), 5)]);
    /// assert_eq!(trie.find(b"ab"), Some(2));
    /// assert_eq!(trie.find(b"ac"), None);
    /// ```
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        text.iter().try_fold(0, |node, &byte| self.child(node, byte))
    }

    /// Where the node's tokens start in [`tokens`](Self::tokens); one past the last node, where they
    /// all end.
    #[must_use]
    #[inline]
    pub fn token_start(&self, node: u32) -> u32 {
        self.nodes[node as usize].tokens
    }

    /// All nodes, and one more that ends them.
    #[inline]
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All tokens in trie order. A token's position here is its *rank*.
    #[must_use]
    #[inline]
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The hash of the whole content.
    #[must_use]
    pub fn content_hash(&self, key: &HashKey) -> ContentHash {
        let mut hash = key.start(KIND).with(key, self.nodes.len() as u64);
        for (node, next) in self.nodes.iter().zip(&self.nodes[1..]) {
            // A vocabulary has fewer than 2^24 tokens.
            let count = u64::from(next.tokens - node.tokens);
            let whole = u64::from(node.end) | u64::from(node.byte) << 32 | count << 40;
            hash = hash.with(key, whole);
        }
        for pair in self.tokens.chunks(2) {
            let high = pair.get(1).copied().unwrap_or(0);
            hash = hash.with(key, u64::from(pair[0]) | u64::from(high) << 32);
        }
        hash
    }

    /// The memory it takes, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.nodes) + size_of_val(&*self.tokens)
    }

    /// The tokens of the nodes `from..to`.
    #[inline]
    fn tokens_between(&self, from: u32, to: u32) -> &[u32] {
        &self.tokens[self.token_start(from) as usize..self.token_start(to) as usize]
    }
}

/// What the hash of a trie starts with.
const KIND: u64 = u64::from_be_bytes(*b"trie    ");

/// A node that a merge has still to visit.
#[derive(Clone, Copy)]
struct Branch<'a> {
    byte: u8,
    trie: &'a Trie,
    node: u32,
}

/// The children of one node of a merged trie.
struct Level {
    // Invariant: where its branches start; those of the innermost level are the last ones.
    from: usize,
    // Invariant: its first branch that is not done.
    next: usize,
}

impl Level {
    /// Adds the children of some branches that have one of some bytes to all branches, by rising bytes.
    fn below(
        parents: Range<usize>,
        branches: &mut Vec<Branch>,
        is_asked: impl Fn(u8) -> bool,
    ) -> Self {
        let from = branches.len();
        for parent in parents {
            let Branch { trie, node, .. } = branches[parent];
            let children = trie.children(node);
            let children = children.map(|node| Branch { byte: trie.byte(node), trie, node });
            branches.extend(children.filter(|branch| is_asked(branch.byte)));
        }
        // Any order among equal bytes will do, since tokens are sorted where they meet.
        branches[from..].sort_unstable_by_key(|branch| branch.byte);
        Self { from, next: from }
    }
}
