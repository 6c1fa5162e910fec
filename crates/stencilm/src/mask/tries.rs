//! What is left of tokens after an expression has taken their first bytes, as tries; big ones are
//! never copied.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::grammar::{ByteSet, ContentHash, HashKey};
use crate::mask::few::Few;
use crate::mask::has;
use crate::vocab::{Trie, Vocabulary};

/// A subtree of bigger tries stays where it is; smaller ones are merged into one.
const BIG: u32 = 3_000;

/// A trie of token endings: a whole trie, or the part of one strictly below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TrieId(u32);

/// All tokens of the vocabulary.
pub(crate) const FULL: TrieId = TrieId(0);

/// The tokens with a quote or a backslash, each as a whole.
pub(crate) const STRING_SIGNS: TrieId = TrieId(1);

/// A whole trie, and a node whose endings are meant.
type Place = (TrieId, u32);

#[derive(Clone, Debug)]
struct Handle {
    /// The trie itself; none for that of the vocabulary.
    trie: Option<Arc<Trie>>,
    /// The handle of the whole trie that `node` is in.
    whole: TrieId,
    node: u32,
    hash: ContentHash,
}

/// A trie of endings that is independent of one grammar's numbering.
#[derive(Clone, Debug)]
pub(crate) struct SharedTrie {
    trie: Option<Arc<Trie>>,
    node: u32,
    whole_hash: ContentHash,
}

/// All tries of endings that one grammar met.
#[derive(Debug)]
pub(crate) struct Tries {
    vocabulary: Arc<Vocabulary>,
    key: HashKey,
    handles: Vec<Handle>,
    by_hash: FxHashMap<ContentHash, TrieId>,
    parts: FxHashMap<(TrieId, u32), TrieId>,
    merged: FxHashMap<(Vec<Place>, ByteSet), Few<TrieId>>,
    bytes: usize,
}

impl Tries {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>) -> Self {
        let key = *vocabulary.key();
        let hash = key.start(40);
        let full = Handle { trie: None, whole: FULL, node: 0, hash };
        let signs = vocabulary.string_signs();
        let (trie, hash_of_signs) = (Some(signs.trie().clone()), signs.hash());
        let signs = Handle { trie, whole: STRING_SIGNS, node: 0, hash: hash_of_signs };
        let by_hash = [(hash, FULL), (hash_of_signs, STRING_SIGNS)].into_iter().collect();
        Self {
            vocabulary,
            key,
            handles: vec![full, signs],
            by_hash,
            parts: FxHashMap::default(),
            merged: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// The whole trie that `id` is in, and the node that it lies below.
    pub(crate) fn place(&self, id: TrieId) -> (TrieId, u32) {
        let handle = &self.handles[id.0 as usize];
        (handle.whole, handle.node)
    }

    /// The trie that `id` is in; none for that of the vocabulary.
    pub(crate) fn trie(&self, id: TrieId) -> Option<Arc<Trie>> {
        self.handles[id.0 as usize].trie.clone()
    }

    /// The same, for a look at it.
    pub(crate) fn trie_ref(&self, id: TrieId) -> &Trie {
        self.handles[id.0 as usize].trie.as_deref().unwrap_or(self.vocabulary.trie())
    }

    /// How many nodes the endings have.
    pub(crate) fn size(&self, id: TrieId) -> u32 {
        let (whole, node) = self.place(id);
        self.size_below(whole, node)
    }

    /// How many endings there are.
    pub(crate) fn tokens(&self, id: TrieId) -> usize {
        let (whole, node) = self.place(id);
        self.trie_ref(whole).tokens_strictly_below(node).len()
    }

    /// What the endings are, in one hash.
    pub(crate) fn hash(&self, id: TrieId) -> ContentHash {
        self.handles[id.0 as usize].hash
    }

    /// A handle for a whole trie, which may be there already.
    pub(crate) fn intern(&mut self, trie: Arc<Trie>, hash: ContentHash) -> TrieId {
        if let Some(&id) = self.by_hash.get(&hash) {
            return id;
        }
        let id = TrieId(u32::try_from(self.handles.len()).expect("limits keep tables small"));
        self.bytes += trie.size_in_bytes() + 96;
        self.handles.push(Handle { trie: Some(trie), whole: id, node: 0, hash });
        self.by_hash.insert(hash, id);
        id
    }

    /// A handle for the part of a whole trie strictly below `node`.
    pub(crate) fn part(&mut self, whole: TrieId, node: u32) -> TrieId {
        if node == 0 {
            return whole;
        }
        if let Some(&id) = self.parts.get(&(whole, node)) {
            return id;
        }
        let id = TrieId(u32::try_from(self.handles.len()).expect("limits keep tables small"));
        let handle = self.handles[whole.0 as usize].clone();
        let hash = handle.hash.with(&self.key, node.into());
        self.handles.push(Handle { node, hash, ..handle });
        self.parts.insert((whole, node), id);
        self.bytes += 128;
        id
    }

    /// Whether an ending below a node begins with one of some bytes.
    pub(crate) fn goes_on_with(&self, whole: TrieId, node: u32, first: &ByteSet) -> bool {
        if whole == FULL
            && let Some(children) = self.vocabulary.indexed_trie().children_of(node)
        {
            return children.bytes.iter().any(|&byte| first.contains(byte));
        }
        let trie = self.trie_ref(whole);
        trie.children(node).any(|child| first.contains(trie.byte(child)))
    }

    /// The endings below all these nodes, as few tries: big ones as they are, one for the rest.
    pub(crate) fn union(&mut self, sources: Vec<(TrieId, u32)>) -> Few<TrieId> {
        self.union_of(sources, &ByteSet::ALL)
    }

    /// The same for those endings that begin with one of some bytes; big tries keep the others.
    pub(crate) fn union_of(&mut self, mut sources: Vec<Place>, first: &ByteSet) -> Few<TrieId> {
        if let [(whole, 0)] = sources[..] {
            return vec![whole].into();
        }
        if *first != ByteSet::ALL {
            sources.retain(|&(whole, node)| self.goes_on_with(whole, node, first));
        }
        sources.sort_unstable();
        sources.dedup();
        let known = (sources, *first);
        if let Some(known) = self.merged.get(&known) {
            return known.clone();
        }
        let vocabulary = self.vocabulary.clone();
        let mut result = Vec::new();
        let mut small: Vec<Place> = Vec::new();
        for &(whole, node) in &known.0 {
            let size = self.size_below(whole, node);
            if size > BIG {
                result.push(self.part(whole, node));
            } else if size > 0 {
                small.push((whole, node));
            }
        }
        match small[..] {
            [] => {}
            // One part of a trie needs no copy, if it is no trifle.
            [(whole, node)] if node == 0 || self.size_below(whole, node) > 48 => {
                result.push(self.part(whole, node));
            }
            _ => {
                let arcs: Vec<(Option<Arc<Trie>>, u32)> =
                    small.iter().map(|&(whole, node)| (self.trie(whole), node)).collect();
                let parts: Vec<(&Trie, u32)> = arcs
                    .iter()
                    .map(|(trie, node)| (trie.as_deref().unwrap_or(vocabulary.trie()), *node))
                    .collect();
                let trie = Trie::merge_of(&parts, first);
                let hash = trie.content_hash(&self.key);
                result.push(self.intern(Arc::new(trie), hash));
            }
        }
        let result: Few<TrieId> = result.into();
        self.bytes += known.0.len() * 8 + 96;
        self.merged.insert(known, result.clone());
        result
    }

    /// How many endings of `id` belong to marked tokens.
    pub(crate) fn count(&self, id: TrieId, marks: &[u32]) -> usize {
        let (whole, node) = self.place(id);
        let below = self.trie_ref(whole).tokens_strictly_below(node);
        below.iter().filter(|&&token| has(marks, token)).count()
    }

    /// The endings of `id` without some tokens; none if nothing is left.
    pub(crate) fn without(&mut self, id: TrieId, removed: &[u32]) -> Option<TrieId> {
        if self.count(id, removed) == 0 {
            return Some(id);
        }
        let (whole, node) = self.place(id);
        let arc = self.trie(whole);
        let vocabulary = self.vocabulary.clone();
        let trie = arc.as_deref().unwrap_or(vocabulary.trie()).without(node, removed);
        if trie.is_empty() {
            return None;
        }
        let hash = trie.content_hash(&self.key);
        Some(self.intern(Arc::new(trie), hash))
    }

    pub(crate) fn share(&self, id: TrieId) -> SharedTrie {
        let handle = &self.handles[id.0 as usize];
        let whole_hash = self.hash(handle.whole);
        SharedTrie { trie: handle.trie.clone(), node: handle.node, whole_hash }
    }

    pub(crate) fn adopt(&mut self, shared: &SharedTrie) -> TrieId {
        let whole = match &shared.trie {
            None => FULL,
            Some(trie) => self.intern(trie.clone(), shared.whole_hash),
        };
        self.part(whole, shared.node)
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        self.bytes
    }

    /// Nodes strictly below `node`.
    fn size_below(&self, whole: TrieId, node: u32) -> u32 {
        match &self.handles[whole.0 as usize].trie {
            None => self.vocabulary.trie().end(node) - node - 1,
            Some(trie) => trie.end(node) - node - 1,
        }
    }
}

impl SharedTrie {
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.trie.as_ref().map_or(32, |trie| trie.size_in_bytes() + 32)
    }
}
