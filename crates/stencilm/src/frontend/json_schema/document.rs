//! A JSON text as a flat tree: the front end's own reader, so that a schema may nest without
//! bound, numbers keep their digits and members their order.
//!
//! In: RFC 8259 text. Out: nodes in document order, children of one node side by side.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

use crate::error::{Error, ErrorKind, Location};
use crate::interner::index;

/// A value of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// A string of one document: a run of its text, or of its decoded strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    start: u32,
    len: u32,
    decoded: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// The literal as written.
    Number(Run),
    String(Run),
    /// Children `start..start + len` of the document's `children`.
    Array {
        start: u32,
        len: u32,
    },
    /// The same, with the names in `names`.
    Object {
        start: u32,
        len: u32,
    },
}

/// The tree.
#[derive(Debug, Default)]
pub(crate) struct Document {
    text: Box<str>,
    decoded: String,
    nodes: Vec<Node>,
    hashes: Vec<u64>,
    parents: Vec<u32>,
    children: Vec<NodeId>,
    /// Beside `children`: the name of a member. Unused for items.
    names: Vec<Run>,
    root: u32,
    /// Members by name, made for an object with many when it is first asked.
    indexes: FxHashMap<NodeId, FxHashMap<Box<str>, NodeId>>,
}

/// Objects with more members than this are looked up through an index.
const SCANNED: u32 = 16;

impl Document {
    /// Reads `text`.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`] at the byte where it is not JSON.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let nodes = text.len() / 12 + 4;
        let document = Self {
            text: text.into(),
            nodes: Vec::with_capacity(nodes),
            hashes: Vec::with_capacity(nodes),
            parents: Vec::with_capacity(nodes),
            children: Vec::with_capacity(nodes),
            names: Vec::with_capacity(nodes),
            ..Self::default()
        };
        Reader { document, at: 0, open: Vec::new(), pending: Vec::new() }.read(text.as_bytes())
    }

    /// The text that was read.
    pub(crate) fn source(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> NodeId {
        NodeId(self.root)
    }

    pub(crate) fn get(&self, node: NodeId) -> Node {
        self.nodes[node.0 as usize]
    }

    /// A hash of the value, with the order of its members.
    pub(crate) fn hash(&self, node: NodeId) -> u64 {
        self.hashes[node.0 as usize]
    }

    pub(crate) fn text(&self, run: Run) -> &str {
        let from = if run.decoded { &self.decoded } else { &*self.text };
        &from[run.start as usize..(run.start + run.len) as usize]
    }

    pub(crate) fn as_str(&self, node: NodeId) -> Option<&str> {
        match self.get(node) {
            Node::String(run) => Some(self.text(run)),
            _ => None,
        }
    }

    /// The items of an array; none for another value.
    pub(crate) fn items(&self, node: NodeId) -> &[NodeId] {
        match self.get(node) {
            Node::Array { start, len } => &self.children[start as usize..(start + len) as usize],
            _ => &[],
        }
    }

    /// The number of members of an object; zero for another value.
    pub(crate) fn len(&self, node: NodeId) -> usize {
        match self.get(node) {
            Node::Object { len, .. } => len as usize,
            _ => 0,
        }
    }

    /// The name and the value of an object's member.
    pub(crate) fn member(&self, node: NodeId, place: usize) -> (&str, NodeId) {
        match self.get(node) {
            Node::Object { start, .. } => {
                let at = start as usize + place;
                (self.text(self.names[at]), self.children[at])
            }
            _ => ("", node),
        }
    }

    /// The members of an object in their order; none for another value.
    pub(crate) fn members(&self, node: NodeId) -> impl Iterator<Item = (&str, NodeId)> {
        (0..self.len(node)).map(move |place| self.member(node, place))
    }

    /// The member of this name. A name that comes twice has its last value, as `json.loads` says.
    pub(crate) fn find(&self, node: NodeId, name: &str) -> Option<NodeId> {
        if let Some(index) = self.indexes.get(&node) {
            return index.get(name).copied();
        }
        (0..self.len(node))
            .rev()
            .map(|place| self.member(node, place))
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The same for callers that look into one object again and again.
    pub(crate) fn find_indexed(&mut self, node: NodeId, name: &str) -> Option<NodeId> {
        if self.len(node) > SCANNED as usize && !self.indexes.contains_key(&node) {
            let index = self.members(node).map(|(name, value)| (name.into(), value)).collect();
            self.indexes.insert(node, index);
        }
        self.find(node, name)
    }

    /// The value in which this one is written; `None` for the root.
    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.parents[node.0 as usize];
        (parent != u32::MAX).then_some(NodeId(parent))
    }

    /// The JSON Pointer of a node.
    pub(crate) fn pointer(&self, node: NodeId) -> String {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            let item = self.items(parent).iter().position(|&child| child == at);
            steps.push(match item {
                Some(place) => place.to_string(),
                None => self
                    .members(parent)
                    .find(|&(_, value)| value == at)
                    .map_or_else(String::new, |(name, _)| {
                        name.replace('~', "~0").replace('/', "~1")
                    }),
            });
            at = parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }

    /// How many values the document has inside, itself counted.
    pub(crate) fn len_all(&self) -> usize {
        self.nodes.len()
    }

    /// The names of all members of all objects.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|&name| self.text(name))
    }

    /// Whether two values are the same, with the order of their members.
    pub(crate) fn is_same(&self, a: NodeId, other: &Self, b: NodeId) -> bool {
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            if self.hash(a) != other.hash(b) {
                return false;
            }
            match (self.get(a), other.get(b)) {
                (Node::Null, Node::Null) => {}
                (Node::Bool(a), Node::Bool(b)) if a == b => {}
                (Node::Number(a), Node::Number(b)) | (Node::String(a), Node::String(b)) => {
                    if self.text(a) != other.text(b) {
                        return false;
                    }
                }
                (Node::Array { len, .. }, Node::Array { len: more, .. }) if len == more => {
                    let pairs = self.items(a).iter().zip(other.items(b));
                    todo.extend(pairs.map(|(&a, &b)| (a, b)));
                }
                (Node::Object { len, .. }, Node::Object { len: more, .. }) if len == more => {
                    for ((name, a), (other_name, b)) in self.members(a).zip(other.members(b)) {
                        if name != other_name {
                            return false;
                        }
                        todo.push((a, b));
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

/// What is being read.
struct Reader {
    document: Document,
    at: usize,
    open: Vec<Open>,
    /// The finished children of all open values, outermost first.
    pending: Vec<(Run, NodeId)>,
}

struct Open {
    is_object: bool,
    /// Where its children begin in `pending`.
    first: usize,
    /// The name of the member that this value is.
    name: Run,
}

const NO_NAME: Run = Run { start: 0, len: 0, decoded: false };

impl Reader {
    fn read(mut self, text: &[u8]) -> Result<Document, Error> {
        let mut name = NO_NAME;
        'value: loop {
            self.skip_space(text);
            let node = match text.get(self.at) {
                Some(b'{') => {
                    self.at += 1;
                    self.open.push(Open { is_object: true, first: self.pending.len(), name });
                    self.skip_space(text);
                    if text.get(self.at) == Some(&b'}') {
                        self.at += 1;
                        self.close(&mut name)
                    } else {
                        name = self.read_name(text)?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.open.push(Open { is_object: false, first: self.pending.len(), name });
                    name = NO_NAME;
                    self.skip_space(text);
                    if text.get(self.at) == Some(&b']') {
                        self.at += 1;
                        self.close(&mut name)
                    } else {
                        continue 'value;
                    }
                }
                Some(b'"') => {
                    let run = self.read_string(text)?;
                    let hash = hash_of(3, self.document.text(run));
                    self.add(Node::String(run), hash)
                }
                Some(b'-' | b'0'..=b'9') => {
                    let run = self.read_number(text)?;
                    let hash = hash_of(4, self.document.text(run));
                    self.add(Node::Number(run), hash)
                }
                Some(b't') => self.read_word(text, b"true", Node::Bool(true), 2)?,
                Some(b'f') => self.read_word(text, b"false", Node::Bool(false), 1)?,
                Some(b'n') => self.read_word(text, b"null", Node::Null, 5)?,
                _ => return Err(self.error("a JSON value is expected here")),
            };
            let mut node = node;
            loop {
                let Some(open) = self.open.last() else {
                    self.skip_space(text);
                    if self.at < text.len() {
                        return Err(self.error("nothing may follow the JSON value"));
                    }
                    self.document.root = node.0;
                    return Ok(self.document);
                };
                let is_object = open.is_object;
                self.pending.push((name, node));
                self.skip_space(text);
                match text.get(self.at) {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.skip_space(text);
                            name = self.read_name(text)?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if is_object => self.at += 1,
                    Some(b']') if !is_object => self.at += 1,
                    _ if is_object => return Err(self.error("`,` or `}` is expected here")),
                    _ => return Err(self.error("`,` or `]` is expected here")),
                }
                node = self.close(&mut name);
            }
        }
    }

    fn add(&mut self, node: Node, hash: u64) -> NodeId {
        let id = NodeId(index(self.document.nodes.len()));
        self.document.nodes.push(node);
        self.document.hashes.push(hash);
        self.document.parents.push(u32::MAX);
        id
    }

    /// Ends the innermost open value; `name` becomes the name that it is a member by.
    fn close(&mut self, name: &mut Run) -> NodeId {
        let open = self.open.pop().expect("a value is open where one is closed");
        let start = index(self.document.children.len());
        let len = index(self.pending.len() - open.first);
        let node =
            if open.is_object { Node::Object { start, len } } else { Node::Array { start, len } };
        let mut hash = FxBuildHasher.hash_one((open.is_object, len));
        let id = NodeId(index(self.document.nodes.len()));
        for (name, child) in self.pending.drain(open.first..) {
            if open.is_object {
                hash = FxBuildHasher.hash_one((hash, self.document.text(name)));
            }
            hash = FxBuildHasher.hash_one((hash, self.document.hashes[child.0 as usize]));
            self.document.parents[child.0 as usize] = id.0;
            self.document.children.push(child);
            self.document.names.push(name);
        }
        *name = open.name;
        self.add(node, hash)
    }

    fn read_name(&mut self, text: &[u8]) -> Result<Run, Error> {
        if text.get(self.at) != Some(&b'"') {
            return Err(self.error("a member name in double quotes is expected here"));
        }
        let name = self.read_string(text)?;
        self.skip_space(text);
        if text.get(self.at) != Some(&b':') {
            return Err(self.error("`:` is expected here"));
        }
        self.at += 1;
        Ok(name)
    }

    fn read_word(
        &mut self,
        text: &[u8],
        word: &[u8],
        node: Node,
        hash: u64,
    ) -> Result<NodeId, Error> {
        if !text[self.at..].starts_with(word) {
            return Err(self.error("a JSON value is expected here"));
        }
        self.at += word.len();
        Ok(self.add(node, hash))
    }

    fn read_number(&mut self, text: &[u8]) -> Result<Run, Error> {
        let start = self.at;
        let digits = |at: usize| text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = start + usize::from(text[start] == b'-');
        let whole = digits(at);
        let leading_zero = text.get(at) == Some(&b'0') && whole > 1;
        at += whole;
        let mut is_legal = whole > 0 && !leading_zero;
        if text.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            is_legal &= fraction > 0;
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = text.get(at) {
            at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
            let exponent = if at <= text.len() { digits(at.min(text.len())) } else { 0 };
            is_legal &= exponent > 0;
            at += exponent;
        }
        if !is_legal {
            return Err(self.error("this is no JSON number"));
        }
        self.at = at;
        Ok(Run { start: index(start), len: index(at - start), decoded: false })
    }

    fn read_string(&mut self, text: &[u8]) -> Result<Run, Error> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match text.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Run { start: index(start), len: index(at - start), decoded: false });
                }
                Some(b'\\') => return self.read_escaped(text, start, at),
                Some(0..=0x1F) => {
                    self.at = at;
                    return Err(self.error("a control character must be escaped in a string"));
                }
                Some(_) => at += 1,
                None => {
                    self.at = at;
                    return Err(self.error("the string does not end"));
                }
            }
        }
    }

    /// A string with an escape, whose first one is at `at`.
    fn read_escaped(&mut self, text: &[u8], start: usize, at: usize) -> Result<Run, Error> {
        let from = self.document.decoded.len();
        let mut plain = start;
        self.at = at;
        loop {
            match text.get(self.at) {
                Some(b'"') => {
                    self.copy(plain, self.at);
                    self.at += 1;
                    let len = index(self.document.decoded.len() - from);
                    return Ok(Run { start: index(from), len, decoded: true });
                }
                Some(b'\\') => {
                    self.copy(plain, self.at);
                    let c = self.read_escape(text)?;
                    self.document.decoded.push(c);
                    plain = self.at;
                }
                Some(0..=0x1F) => {
                    return Err(self.error("a control character must be escaped in a string"));
                }
                Some(_) => self.at += 1,
                None => return Err(self.error("the string does not end")),
            }
        }
    }

    fn copy(&mut self, from: usize, to: usize) {
        let Document { text, decoded, .. } = &mut self.document;
        decoded.push_str(&text[from..to]);
    }

    fn read_escape(&mut self, text: &[u8]) -> Result<char, Error> {
        let c = match text.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.read_unicode(text),
            _ => return Err(self.error("this is no JSON escape")),
        };
        self.at += 2;
        Ok(c)
    }

    fn read_unicode(&mut self, text: &[u8]) -> Result<char, Error> {
        let hex = |at: usize| {
            let digits = text.get(at + 2..at + 6).filter(|_| text[at..].starts_with(b"\\u"))?;
            let digits = std::str::from_utf8(digits).ok()?;
            let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
            u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
        };
        let Some(unit) = hex(self.at) else {
            return Err(self.error("four hexadecimal digits are expected after `\\u`"));
        };
        let (code, len) = match (unit, hex(self.at + 6)) {
            (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                (0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12)
            }
            _ => (unit, 6),
        };
        let Some(c) = char::from_u32(code) else {
            return Err(self.error("a lone surrogate is no text"));
        };
        self.at += len;
        Ok(c)
    }

    fn skip_space(&mut self, text: &[u8]) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = text.get(self.at) {
            self.at += 1;
        }
    }

    fn error(&self, message: &str) -> Error {
        Error::new(ErrorKind::Syntax { message: message.into() }, Location::Offset(self.at))
    }
}

fn hash_of(kind: u64, text: &str) -> u64 {
    FxBuildHasher.hash_one((kind, text))
}
