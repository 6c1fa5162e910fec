//! What a grammar text says, before any of it is an expression.
//!
//! Invariant: parts come before what they are part of, so one pass in order builds everything.

use crate::frontend::regex::Regex;
use crate::grammar::{ByteSet, CharSet, Mark, Spelling};

/// A place in [`Tree::nodes`].
pub(crate) type NodeId = usize;

/// One piece of a grammar text.
#[derive(Debug)]
pub(crate) enum Node {
    /// These bytes.
    Literal(Box<[u8]>),
    /// One character of a class.
    Chars(Box<CharSet>, Spelling),
    /// One byte of a set.
    Bytes(Box<ByteSet>),
    /// A special token, or tokens by number.
    Token(Box<str>),
    /// A regular expression for a whole text, of characters that a JSON string has unescaped if so
    /// marked.
    Regex(Box<Regex>, bool),
    /// A rule, as a place in [`Tree::rules`].
    Call(usize),
    /// One after the other.
    Seq(Box<[NodeId]>),
    /// Any of these.
    Choice(Box<[NodeId]>),
    /// All of these at once; a `Not` among them is taken from the others.
    And(Box<[NodeId]>),
    /// Any text but these.
    Not(NodeId),
    /// Between so many and so many times.
    Repeat(NodeId, u32, u32),
    /// Nothing, before what begins with one of these.
    Ahead(NodeId),
}

/// A rule, called or defined.
#[derive(Debug)]
pub(crate) struct NamedRule {
    /// Its name.
    pub(crate) name: Box<str>,
    /// Its body, once it is defined.
    pub(crate) body: Option<NodeId>,
    /// What it asks for beside its texts.
    pub(crate) mark: Mark,
    /// Where it is defined; before that, where it is called first.
    pub(crate) offset: usize,
}

/// A whole grammar text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Every piece, parts before wholes.
    pub(crate) nodes: Vec<Node>,
    /// Where each piece begins in the text.
    pub(crate) offsets: Vec<usize>,
    /// Every rule, in the order of first mention.
    pub(crate) rules: Vec<NamedRule>,
}

impl Tree {
    /// Adds a piece whose parts are in the tree.
    pub(crate) fn add(&mut self, node: Node, offset: usize) -> NodeId {
        self.nodes.push(node);
        self.offsets.push(offset);
        self.nodes.len() - 1
    }

    /// The parts of a piece.
    pub(crate) fn parts(&self, id: NodeId) -> &[NodeId] {
        match &self.nodes[id] {
            Node::Seq(parts) | Node::Choice(parts) | Node::And(parts) => parts,
            Node::Not(part) | Node::Repeat(part, ..) | Node::Ahead(part) => {
                std::slice::from_ref(part)
            }
            Node::Literal(_)
            | Node::Chars(..)
            | Node::Bytes(_)
            | Node::Token(_)
            | Node::Regex(..)
            | Node::Call(_) => &[],
        }
    }
}
