//! What grammar texts say, before names are resolved.
//!
//! Invariant: parts come before what they are part of.

use rustc_hash::FxHashMap;
use std::ops::Range;

use crate::grammar::Mark;

/// A place in [`Tree::nodes`].
pub(crate) type NodeId = usize;

/// A place in [`Tree::scopes`].
pub(crate) type ScopeId = usize;

/// A name, and the text that it stands in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    /// The text.
    pub(crate) scope: ScopeId,
    /// As it is written.
    pub(crate) text: Box<str>,
}

impl Name {
    /// Whether it names a terminal: its letters are upper case.
    pub(crate) fn is_terminal(&self) -> bool {
        self.text.bytes().find(u8::is_ascii_alphabetic).is_some_and(|it| it.is_ascii_uppercase())
    }
}

/// One piece of a grammar text.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A string, its escapes read; whether either case matches.
    Literal(Box<str>, bool),
    /// A regular expression, its escapes read as those of a string, and its flags.
    Pattern(Box<str>, Box<str>),
    /// One character of a range.
    Range(char, char),
    /// A rule, a terminal, or a parameter of a template.
    Name(Name),
    /// A template with its arguments.
    Template(Name, Box<[NodeId]>),
    /// A rule with a number.
    Numbered(Name, Argument),
    /// A special token, by its name.
    Special(Box<str>),
    /// Any run of these pieces of a text, one after the other.
    Substring(Box<[Box<str>]>),
    /// A JSON Schema, as a place in the text.
    Schema(Range<usize>),
    /// The start of a grammar inside this one.
    Inner(ScopeId),
    /// One after the other.
    Seq(Box<[NodeId]>),
    /// Any of these.
    Choice(Box<[NodeId]>),
    /// All of these at once.
    And(Box<[NodeId]>),
    /// Any text but these.
    Not(NodeId),
    /// Between so many and so many times.
    Repeat(NodeId, u32, u32),
    /// An alternative that stands only if the rule's number fulfils a condition.
    If(NodeId, Box<Condition>),
}

/// Bits of a rule's number, the lowest first: from one place up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// The number that a rule is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// This number.
    Number(u64),
    /// The number of the calling rule.
    Same,
    /// With a bit set, or cleared.
    SetBit(u32),
    ClearBit(u32),
    /// With the bits of a mask alone, or beside them.
    BitAnd(u64),
    BitOr(u64),
    /// With one more, or one less, in some of its bits.
    Increment(Bits),
    Decrement(Bits),
}

/// What an alternative asks of a rule's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    True,
    /// Whether a bit is set.
    Bit(u32, bool),
    /// Whether all bits are set, or none is.
    All(Bits, bool),
    /// How a number made of some bits compares with another.
    Compare(Bits, Comparison, u64),
    /// How the number of set bits compares with another.
    Count(Bits, Comparison, u64),
    And(Box<[Condition]>),
    Or(Box<[Condition]>),
    Not(Box<Condition>),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What stands in the brackets behind a rule's name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// The rule ends as soon as it can.
    pub(crate) is_lazy: bool,
    /// What ends the rule.
    pub(crate) end: Option<NodeId>,
    /// Whether what ends the rule does not belong to its text.
    pub(crate) hides_end: bool,
    /// How many characters its texts have at most.
    pub(crate) max_chars: Option<u32>,
    /// What it asks for beside its texts.
    pub(crate) mark: Mark,
}

impl Attributes {
    /// Whether they say something about the texts of the rule, which then is like a terminal.
    pub(crate) fn change_texts(&self) -> bool {
        self.is_lazy || self.end.is_some() || self.max_chars.is_some()
    }
}

/// A rule, a terminal or a template.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// Its name.
    pub(crate) name: Name,
    /// The parameters of a template.
    pub(crate) parameters: Vec<Name>,
    /// Whether it has a number.
    pub(crate) is_numbered: bool,
    /// Its priority.
    pub(crate) priority: i64,
    /// For a terminal of the library: the length of its regular expression there.
    pub(crate) length: Option<usize>,
    /// What stands in the brackets behind the name.
    pub(crate) attributes: Attributes,
    /// What it is made of; `None` if it was only declared.
    pub(crate) body: Option<NodeId>,
    /// Where it is defined.
    pub(crate) offset: usize,
}

/// How a definition meets one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There is none.
    New,
    /// It takes its place: `%override`.
    Override,
    /// It adds alternatives to it: `%extend`.
    Extend,
}

/// Names that come from another grammar.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// Which grammar: the names before the last dot.
    pub(crate) path: String,
    /// The name there, the name here, and where it is written.
    pub(crate) names: Vec<(Box<str>, Box<str>, usize)>,
    /// Where the statement begins.
    pub(crate) offset: usize,
}

/// One statement of a grammar text.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// A rule or a terminal.
    Define(Definition, Mode),
    /// What may stand between terminals.
    Ignore(NodeId),
    /// Names of another grammar.
    Import(Import),
}

/// A grammar text: the main one, one inside it, or a part of the library.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// What the text says, in order.
    pub(crate) statements: Vec<Statement>,
    /// Whether at most one ignored text comes between two terminals.
    pub(crate) ignores_once: bool,
    /// Whether ignored texts may come before the first terminal; yes if not said.
    pub(crate) ignores_at_first: Option<bool>,
    /// Where its text ends.
    pub(crate) end: usize,
    /// Whether it is a part of the library.
    pub(crate) is_library: bool,
}

/// All texts of one grammar.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Every piece, parts before wholes.
    pub(crate) nodes: Vec<Node>,
    /// Where each piece begins in the text.
    pub(crate) offsets: Vec<usize>,
    /// How many levels Lark's own tree has around a piece that this one has not.
    pub(crate) levels: FxHashMap<NodeId, u64>,
    /// Every text.
    pub(crate) scopes: Vec<Scope>,
}

impl Tree {
    /// Adds a piece whose parts are in the tree.
    pub(crate) fn add(&mut self, node: Node, offset: usize) -> NodeId {
        self.nodes.push(node);
        self.offsets.push(offset);
        self.nodes.len() - 1
    }

    /// Says that there are `more` levels around a piece.
    pub(crate) fn deepen(&mut self, id: NodeId, more: u64) {
        *self.levels.entry(id).or_default() += more;
    }

    /// The parts of a piece.
    pub(crate) fn parts(&self, id: NodeId) -> &[NodeId] {
        match &self.nodes[id] {
            Node::Seq(parts)
            | Node::Choice(parts)
            | Node::And(parts)
            | Node::Template(_, parts) => parts,
            Node::Not(part) | Node::Repeat(part, ..) | Node::If(part, _) => {
                std::slice::from_ref(part)
            }
            Node::Literal(..)
            | Node::Pattern(..)
            | Node::Range(..)
            | Node::Name(_)
            | Node::Numbered(..)
            | Node::Special(_)
            | Node::Substring(_)
            | Node::Schema(_)
            | Node::Inner(_) => &[],
        }
    }
}
