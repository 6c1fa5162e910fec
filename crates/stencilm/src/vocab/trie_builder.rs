//! Makes tries node by node, in depth-first order.
//!
//! In: [`TrieBuilder::open`] a node, add its tokens, open and close its children, close it.
//! Out: the arrays of a [`Trie`].

use crate::vocab::trie::{Node, Trie};

/// A trie in the making.
pub(crate) struct TrieBuilder {
    // Invariant: the ends are 0 for the open nodes, final for the closed ones.
    nodes: Vec<Node>,
    tokens: Vec<u32>,
    // Invariant: the path from the root to the node that is being filled; never empty.
    path: Vec<u32>,
}

impl TrieBuilder {
    /// A trie of an open root.
    pub(crate) fn new() -> Self {
        let mut builder = Self { nodes: Vec::new(), tokens: Vec::new(), path: Vec::new() };
        builder.open(0);
        builder
    }

    /// Makes room for this many more nodes.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes + 1);
    }

    /// How many nodes below the root are open.
    pub(crate) fn depth(&self) -> usize {
        self.path.len() - 1
    }

    /// Opens the next child of the innermost open node. Children come by rising bytes.
    pub(crate) fn open(&mut self, byte: u8) {
        self.path.push(to_u32(self.nodes.len()));
        self.nodes.push(Node { end: 0, tokens: to_u32(self.tokens.len()), byte });
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
        let start = self.nodes[self.nodes.len() - 1].tokens as usize;
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
        let copied = &source.nodes()[node as usize + 1..source.end(node) as usize];
        let tokens = source.tokens_strictly_below(node);
        let shift = to_u32(self.nodes.len()).wrapping_sub(node + 1);
        let token_shift = to_u32(self.tokens.len()).wrapping_sub(source.token_start(node + 1));
        self.nodes.extend(copied.iter().map(|node| Node {
            end: node.end.wrapping_add(shift),
            tokens: node.tokens.wrapping_add(token_shift),
            ..*node
        }));
        self.tokens.extend_from_slice(tokens);
    }

    /// Closes the innermost open node.
    pub(crate) fn close(&mut self) {
        if let Some(node) = self.path.pop() {
            self.nodes[node as usize].end = to_u32(self.nodes.len());
        }
    }

    /// Closes the innermost open node, or drops it if it brought no token.
    pub(crate) fn close_or_drop(&mut self) {
        self.close();
        // Children without tokens are gone already, so that an empty node is the last one.
        if self.nodes.last().is_some_and(|last| last.tokens as usize == self.tokens.len()) {
            self.nodes.pop();
        }
    }

    /// Closes what is open and hands the trie out.
    pub(crate) fn finish(mut self) -> Trie {
        while !self.path.is_empty() {
            self.close();
        }
        self.nodes.push(Node { tokens: to_u32(self.tokens.len()), ..Node::default() });
        Trie::from_arrays(self.nodes, self.tokens)
    }
}

/// A position in arrays that a vocabulary's limits keep far below 2³² entries.
pub(crate) fn to_u32(at: usize) -> u32 {
    u32::try_from(at).expect("limits keep vocabularies below 2^32 bytes")
}
