//! Makes tries node by node, in depth-first order.
//!
//! In: [`TrieBuilder::open`] a node, add its tokens, open and close its children, close it.
//! Out: the arrays of a [`Trie`].

use crate::vocab::trie::Trie;

/// A trie in the making.
pub(crate) struct TrieBuilder {
    bytes: Vec<u8>,
    // Invariant: 0 for the open nodes, final for the closed ones.
    ends: Vec<u32>,
    // Invariant: one for each node; `finish` adds the last one.
    token_starts: Vec<u32>,
    tokens: Vec<u32>,
    // Invariant: the path from the root to the node that is being filled; never empty.
    path: Vec<u32>,
}

impl TrieBuilder {
    /// A trie of an open root.
    pub(crate) fn new() -> Self {
        let mut builder = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            token_starts: Vec::new(),
            tokens: Vec::new(),
            path: Vec::new(),
        };
        builder.open(0);
        builder
    }

    /// Makes room for this many more nodes.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.bytes.reserve(nodes);
        self.ends.reserve(nodes);
        self.token_starts.reserve(nodes + 1);
    }

    /// How many nodes below the root are open.
    pub(crate) fn depth(&self) -> usize {
        self.path.len() - 1
    }

    /// Opens the next child of the innermost open node. Children come by rising bytes.
    pub(crate) fn open(&mut self, byte: u8) {
        self.path.push(to_u32(self.bytes.len()));
        self.bytes.push(byte);
        self.ends.push(0);
        self.token_starts.push(to_u32(self.tokens.len()));
    }

    /// Adds a token of the node that was opened last.
    pub(crate) fn push_token(&mut self, token: u32) {
        self.tokens.push(token);
    }

    /// Adds tokens of the node that was opened last.
    pub(crate) fn push_tokens(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
    }

    /// Sorts the tokens of the node that was opened last and drops repeated ones.
    pub(crate) fn settle_tokens(&mut self) {
        let start = self.token_starts[self.token_starts.len() - 1] as usize;
        self.tokens[start..].sort_unstable();
        let mut kept = start;
        for at in start..self.tokens.len() {
            if kept == start || self.tokens[kept - 1] != self.tokens[at] {
                self.tokens[kept] = self.tokens[at];
                kept += 1;
            }
        }
        self.tokens.truncate(kept);
    }

    /// Copies everything strictly below `node` to the innermost open node, which must have no
    /// children yet.
    pub(crate) fn copy_below(&mut self, source: &Trie, node: u32) {
        let (first, end) = (node as usize + 1, source.end(node) as usize);
        let starts = source.token_starts();
        let (first_token, end_token) = (starts[first], starts[end]);
        let shift = to_u32(self.bytes.len()).wrapping_sub(node + 1);
        let token_shift = to_u32(self.tokens.len()).wrapping_sub(first_token);
        self.bytes.extend_from_slice(&source.bytes()[first..end]);
        self.ends.extend(source.ends()[first..end].iter().map(|end| end.wrapping_add(shift)));
        self.token_starts
            .extend(starts[first..end].iter().map(|start| start.wrapping_add(token_shift)));
        self.tokens.extend_from_slice(&source.tokens()[first_token as usize..end_token as usize]);
    }

    /// Closes the innermost open node.
    pub(crate) fn close(&mut self) {
        if let Some(node) = self.path.pop() {
            self.ends[node as usize] = to_u32(self.bytes.len());
        }
    }

    /// Closes the innermost open node, or drops it if it brought no token.
    pub(crate) fn close_or_drop(&mut self) {
        self.close();
        let last = self.token_starts.len() - 1;
        // Children without tokens are gone already, so that an empty node is the last one.
        if self.token_starts[last] as usize == self.tokens.len() {
            self.bytes.truncate(last);
            self.ends.truncate(last);
            self.token_starts.truncate(last);
        }
    }

    /// Closes what is open and hands the trie out.
    pub(crate) fn finish(mut self) -> Trie {
        while !self.path.is_empty() {
            self.close();
        }
        self.token_starts.push(to_u32(self.tokens.len()));
        Trie::from_arrays(self.bytes, self.ends, self.token_starts, self.tokens)
    }
}

/// A position in arrays that a vocabulary's limits keep far below 2³² entries.
pub(crate) fn to_u32(at: usize) -> u32 {
    u32::try_from(at).expect("limits keep vocabularies below 2^32 bytes")
}
