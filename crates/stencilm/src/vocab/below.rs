//! What occurs strictly below the bigger nodes of the trie, so that a walk can take a whole
//! subtree at once.

use crate::{
    grammar::ByteSet,
    vocab::{
        bits,
        characters::{Characters, is_continuation},
        trie::Trie,
    },
};

/// Below this many tokens, walking a subtree costs no more than asking about it.
const FEWEST_TOKENS: u32 = 8;

/// What occurs strictly below a node of a vocabulary's trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Below {
    /// The bytes of all nodes below.
    pub bytes: ByteSet,
    /// The most characters that begin below the node on one way down; at the root, one that
    /// only goes on counts too.
    pub chars: u32,
    /// Whether a token below is not whole UTF-8.
    pub has_partial: bool,
}

impl Below {
    /// Adds the nodes `from..to` and their tokens; characters are those of whole tokens.
    fn add_nodes(&mut self, trie: &Trie, characters: &Characters, from: u32, to: u32) {
        let nodes = &trie.nodes()[from as usize..to as usize];
        for node in nodes {
            self.bytes.insert(node.byte);
        }
        let tokens = trie.token_start(from) as usize..trie.token_start(to) as usize;
        for &id in &trie.tokens()[tokens] {
            self.chars = self.chars.max(characters.count(id));
            self.has_partial |= characters.is_partial(id);
        }
    }

    fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.union(&other.bytes);
        self.chars = self.chars.max(other.chars);
        self.has_partial |= other.has_partial;
    }
}

/// Turns the characters of whole tokens into those below the node. All ancestors of a stored
/// node are stored.
fn subtract_chars_above(trie: &Trie, nodes: &[u32], entries: &mut [Below]) {
    let mut path: Vec<(u32, u32)> = Vec::new();
    for (&node, below) in nodes.iter().zip(entries) {
        while path.last().is_some_and(|(end, _)| *end <= node) {
            path.pop();
        }
        let above = path.last().map_or(0, |(_, chars)| *chars);
        // The first byte of a text always touches a character.
        let begins = path.len() == 1 || !is_continuation(trie.byte(node));
        let chars = above + u32::from(node > 0 && begins);
        below.chars -= chars;
        path.push((trie.end(node), chars));
    }
}

/// What occurs below each node that has enough tokens below.
#[derive(Debug)]
pub(crate) struct BelowIndex {
    // Invariant: a bitset by node of those that have an entry.
    stored: Box<[u32]>,
    // Invariant: how many entries belong to nodes before each word of `stored`.
    before: Box<[u32]>,
    entries: Box<[Below]>,
}

impl BelowIndex {
    /// Looks at every node once, from the last to the first.
    pub(crate) fn of(trie: &Trie, characters: &Characters) -> Self {
        let mut stored = bits::none_of(trie.len() as usize);
        let mut nodes = Vec::new();
        let mut entries: Vec<Below> = Vec::new();
        // Stored nodes that wait for their parent, the first one last.
        let mut waiting: Vec<(u32, Below)> = Vec::new();
        for node in (0..trie.len()).rev() {
            let end = trie.end(node);
            if trie.token_start(end) - trie.token_start(node + 1) < FEWEST_TOKENS {
                continue;
            }
            let mut below = Below { bytes: ByteSet::EMPTY, chars: 0, has_partial: false };
            let mut next = node + 1;
            while let Some(&(child, inside)) = waiting.last().filter(|(child, _)| *child < end) {
                waiting.pop();
                below.add_nodes(trie, characters, next, child + 1);
                below.add(&inside);
                next = trie.end(child);
            }
            below.add_nodes(trie, characters, next, end);
            bits::insert(&mut stored, node);
            waiting.push((node, below));
            nodes.push(node);
            entries.push(below);
        }
        nodes.reverse();
        entries.reverse();
        subtract_chars_above(trie, &nodes, &mut entries);
        let mut count = 0;
        let mut before = Vec::with_capacity(stored.len());
        for word in &stored {
            before.push(count);
            count += word.count_ones();
        }
        Self { stored: stored.into(), before: before.into(), entries: entries.into() }
    }

    /// What occurs strictly below `node`, if that is worth knowing.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<&Below> {
        let at = (node >> 5) as usize;
        let (word, bit) = (self.stored[at], 1 << (node & 31));
        (word & bit != 0)
            .then(|| &self.entries[(self.before[at] + (word & (bit - 1)).count_ones()) as usize])
    }

    /// The memory it takes, in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        (self.stored.len() + self.before.len()) * size_of::<u32>()
            + self.entries.len() * size_of::<Below>()
    }
}
