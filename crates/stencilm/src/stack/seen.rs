//! The member names that came in one object: a persistent set. Adding a name leaves the set as it
//! was, so states share what they have in common.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::grammar::{ContentHash, Escaped, HashKey, Progress, after_byte};

/// The names that an object has had so far, of those that it does not list. Never empty.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    root: Arc<Node>,
    /// Of the names in the order in which they came.
    hash: ContentHash,
}

/// A node of a radix tree: some bytes that all names below it go on with.
#[derive(Debug)]
struct Node {
    edge: SmallVec<[u8; 16]>,
    /// Whether a name ends here.
    is_name: bool,
    /// The names that end here or below.
    count: u32,
    // Invariant: with the first bytes of their edges, which are not empty, rising and different.
    children: SmallVec<[(u8, Arc<Node>); 1]>,
}

/// A place in a set of names: a beginning that some of them have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    node: &'a Node,
    /// Bytes of the node's edge that were read.
    read: usize,
}

impl Seen {
    /// A set with one name.
    pub(crate) fn one(key: &HashKey, name: &[u8]) -> Self {
        let root = Node::leaf(name);
        Self { root: Arc::new(root), hash: key.start(52).with_bytes(key, name) }
    }

    /// The set with a name that is not in it.
    pub(crate) fn with(&self, key: &HashKey, name: &[u8]) -> Self {
        Self { root: with_name(&self.root, name), hash: self.hash.with_bytes(key, name) }
    }

    /// Equal for equal sets that were made in the same order.
    pub(crate) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The place of the empty beginning.
    pub(crate) fn start(&self) -> Place<'_> {
        Place { node: &self.root, read: 0 }
    }

    /// The place of `beginning`, if some name has it.
    pub(crate) fn find(&self, beginning: &[u8]) -> Option<Place<'_>> {
        self.start().after(beginning)
    }

    /// Whether `name` is in the set.
    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        self.find(name).is_some_and(Place::is_name)
    }
}

impl<'a> Place<'a> {
    /// The place after these bytes, if some name goes on with them.
    pub(crate) fn after(self, bytes: &[u8]) -> Option<Self> {
        let mut at = self;
        let mut left = bytes;
        loop {
            let edge = &at.node.edge[at.read..];
            let common = common_length(edge, left);
            (at.read, left) = (at.read + common, &left[common..]);
            let Some(&byte) = left.first() else {
                return Some(at);
            };
            if common < edge.len() {
                return None;
            }
            at = Self { node: at.node.child(byte)?, read: 0 };
        }
    }

    /// The bytes that some name has next, and the places after them.
    pub(crate) fn nexts(self) -> impl Iterator<Item = (u8, Self)> + 'a {
        let (own, children) = match self.node.edge.get(self.read) {
            Some(&next) => (Some((next, Self { read: self.read + 1, ..self })), &[][..]),
            None => (None, &self.node.children[..]),
        };
        let places = children.iter().map(|(byte, child)| (*byte, Self { node: child, read: 1 }));
        own.into_iter().chain(places)
    }

    /// The characters that some name has next, and the places after them; none inside of one.
    pub(crate) fn next_chars(self) -> Vec<(char, Self)> {
        let mut chars = Vec::new();
        let mut todo: Vec<(SmallVec<[u8; 6]>, Self)> = vec![(SmallVec::new(), self)];
        while let Some((read, at)) = todo.pop() {
            if let Some(c) = first_char(&read) {
                chars.push((c, at));
                continue;
            }
            for (byte, next) in at.nexts().filter(|(byte, _)| !read.is_empty() || !goes_on(*byte)) {
                let mut longer = read.clone();
                longer.push(byte);
                todo.push((longer, next));
            }
        }
        chars
    }

    /// The bytes that end the character that the place is inside of, one by one.
    pub(crate) fn next_inner_bytes(self) -> impl Iterator<Item = (u8, Self)> + 'a {
        self.nexts().filter(|(byte, _)| goes_on(*byte))
    }

    /// Whether the beginning is a name itself.
    pub(crate) fn is_name(self) -> bool {
        self.node.is_name && self.read == self.node.edge.len()
    }

    /// How many names have the beginning.
    pub(crate) fn count(self) -> u32 {
        self.node.count
    }
}

impl Node {
    fn leaf(edge: &[u8]) -> Self {
        Self {
            edge: SmallVec::from_slice(edge),
            is_name: true,
            count: 1,
            children: SmallVec::new(),
        }
    }

    /// The child whose edge begins with `byte`, or where it would stand.
    fn search(&self, byte: u8) -> Result<usize, usize> {
        self.children.binary_search_by_key(&byte, |child| child.0)
    }

    fn child(&self, byte: u8) -> Option<&Self> {
        self.search(byte).ok().map(|at| &*self.children[at].1)
    }
}

/// The tree with one more name: the nodes on its way are new, the others shared. Without
/// recursion: names may be as long as the text.
fn with_name(root: &Arc<Node>, name: &[u8]) -> Arc<Node> {
    let mut way: Vec<(&Arc<Node>, usize)> = Vec::new();
    let (mut at, mut left) = (root, name);
    let mut made = loop {
        let common = common_length(&at.edge, left);
        if common < at.edge.len() {
            break split(at, common, &left[common..]);
        }
        left = &left[common..];
        let Some(&byte) = left.first() else {
            let children = at.children.clone();
            let count = at.count + u32::from(!at.is_name);
            break Node { edge: at.edge.clone(), is_name: true, count, children };
        };
        match at.search(byte) {
            Ok(place) => {
                way.push((at, place));
                at = &at.children[place].1;
            }
            Err(place) => {
                let mut children = at.children.clone();
                children.insert(place, (byte, Arc::new(Node::leaf(left))));
                let edge = at.edge.clone();
                break Node { edge, is_name: at.is_name, count: at.count + 1, children };
            }
        }
    };
    while let Some((above, place)) = way.pop() {
        let mut children = above.children.clone();
        let count = above.count - children[place].1.count + made.count;
        children[place].1 = Arc::new(made);
        made = Node { edge: above.edge.clone(), is_name: above.is_name, count, children };
    }
    Arc::new(made)
}

/// The node cut after `common` bytes of its edge, and a name that goes on with `left` there.
fn split(node: &Arc<Node>, common: usize, left: &[u8]) -> Node {
    let lower = Node {
        edge: SmallVec::from_slice(&node.edge[common..]),
        is_name: node.is_name,
        count: node.count,
        children: node.children.clone(),
    };
    let mut children = SmallVec::new();
    children.push((lower.edge[0], Arc::new(lower)));
    if let Some(&byte) = left.first() {
        let place = usize::from(node.edge[common] < byte);
        children.insert(place, (byte, Arc::new(Node::leaf(left))));
    }
    let edge = SmallVec::from_slice(&node.edge[..common]);
    Node { edge, is_name: left.is_empty(), count: node.count + 1, children }
}

/// Whether a byte goes on in a character.
fn goes_on(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The character that these bytes spell, if they are whole.
fn first_char(bytes: &[u8]) -> Option<char> {
    let mut escape = None;
    for &byte in bytes {
        match escape {
            None if byte == b'\\' => escape = Some(Progress::Escape),
            None => break,
            Some(progress) => match after_byte(progress, byte) {
                Escaped::Inside(next) => escape = Some(next),
                Escaped::Char(c) => return Some(c),
                Escaped::Wrong => return None,
            },
        }
    }
    std::str::from_utf8(bytes).ok().filter(|_| escape.is_none())?.chars().next()
}

fn common_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl Drop for Node {
    /// Frees a deep tree without recursion.
    fn drop(&mut self) {
        let mut freed: Vec<Arc<Self>> = Vec::new();
        freed.extend(self.children.drain(..).map(|(_, child)| child));
        while let Some(node) = freed.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                freed.extend(node.children.drain(..).map(|(_, child)| child));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use crate::grammar::HashKey;
    use crate::stack::seen::{Place, Seen};

    /// All names below a place, with what was read before.
    fn names(at: Place<'_>, read: &mut Vec<u8>, out: &mut Vec<Vec<u8>>) {
        if at.is_name() {
            out.push(read.clone());
        }
        for (byte, next) in at.nexts() {
            read.push(byte);
            names(next, read, out);
            read.pop();
        }
    }

    proptest! {
        #[test]
        fn a_set_holds_what_was_added(
            words in proptest::collection::vec("[ab]{0,5}", 1..40),
            asked in proptest::collection::vec("[ab]{0,6}", 1..40),
        ) {
            let key = HashKey::random();
            let mut sets: Vec<(Option<Seen>, BTreeSet<Vec<u8>>)> = vec![(None, BTreeSet::new())];
            for word in &words {
                let word = word.as_bytes();
                let (set, plain) = sets.last().expect("there is one");
                if plain.contains(word) {
                    continue;
                }
                let set = match set {
                    None => Seen::one(&key, word),
                    Some(set) => set.with(&key, word),
                };
                let mut plain = plain.clone();
                plain.insert(word.to_vec());
                sets.push((Some(set), plain));
            }
            // Older sets are as they were.
            for (set, plain) in &sets[1..] {
                let set = set.as_ref().expect("it has a name");
                let mut all = Vec::new();
                names(set.start(), &mut Vec::new(), &mut all);
                prop_assert_eq!(&all, &plain.iter().cloned().collect::<Vec<_>>());
                for word in &asked {
                    let word = word.as_bytes();
                    prop_assert_eq!(set.contains(word), plain.contains(word));
                    let below = plain.iter().filter(|name| name.starts_with(word)).count();
                    let found = set.find(word).map_or(0, Place::count);
                    prop_assert_eq!(found as usize, below);
                }
            }
        }
    }

    #[test]
    fn a_deep_tree_needs_no_deep_stack() {
        let key = HashKey::random();
        let name = vec![b'a'; 20_000];
        let mut set = Seen::one(&key, b"a");
        for length in 2..3_000 {
            set = set.with(&key, &name[..length]);
        }
        set = set.with(&key, &name);
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || drop(set))
            .expect("a thread starts")
            .join()
            .expect("nothing overflows");
    }
}
