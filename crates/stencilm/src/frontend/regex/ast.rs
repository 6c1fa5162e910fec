//! What a regular expression is made of, after its shorthand has been spelled out.
//!
//! `^`, `$`, `\b` and `\B` are look-around ([`Kind::Look`]) like any other, flags have been worked
//! into the classes, and greed is gone: it decides which match is found, never whether one is.

use std::ops::Range;

use crate::grammar::CharSet;

/// A piece of a pattern.
#[derive(Clone, Debug)]
pub struct Node {
    kind: Kind,
    span: Range<usize>,
    // Invariant: whether a `Look` is inside.
    has_look: bool,
    // For a repetition: whether it would rather end than go on.
    is_lazy: bool,
}

/// The kinds of pieces.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The empty text.
    Empty,
    /// One character of a set, which may be empty.
    Chars(CharSet),
    /// One after the other.
    Seq(Vec<Node>),
    /// Any of these.
    Choice(Vec<Node>),
    /// Between `min` and `max` times.
    Repeat {
        /// What is repeated.
        body: Box<Node>,
        /// At least so often.
        min: u32,
        /// At most so often; [`UNBOUNDED`](crate::grammar::UNBOUNDED) for no bound.
        max: u32,
    },
    /// A condition on what comes before or after this place.
    Look(Look),
}

/// A look-ahead or a look-behind.
#[derive(Clone, Debug)]
pub struct Look {
    /// A number of its own in the pattern.
    pub id: u32,
    /// Which way it looks.
    pub side: Side,
    /// Whether the body must *not* match.
    pub is_negative: bool,
    /// What it looks for.
    pub body: Box<Node>,
}

/// Which way a [`Look`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At what follows.
    Ahead,
    /// At what came before.
    Behind,
}

impl Node {
    pub(crate) fn new(kind: Kind, span: Range<usize>) -> Self {
        let has_look = match &kind {
            Kind::Empty | Kind::Chars(_) => false,
            Kind::Seq(parts) | Kind::Choice(parts) => parts.iter().any(Self::has_look),
            Kind::Repeat { body, .. } => body.has_look,
            Kind::Look(_) => true,
        };
        Self { kind, span, has_look, is_lazy: false }
    }

    /// A repetition that would rather end than go on. Which texts match does not depend on it, only
    /// which part of a text does.
    pub(crate) fn lazy(self) -> Self {
        Self { is_lazy: true, ..self }
    }

    /// Whether it is such a repetition.
    pub(crate) fn is_lazy(&self) -> bool {
        self.is_lazy
    }

    /// The same piece with its parentheses.
    pub(crate) fn spanning(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }

    /// What the piece is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Where it stands in the pattern, in bytes.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether look-around is inside.
    #[must_use]
    pub fn has_look(&self) -> bool {
        self.has_look
    }

    /// The same piece for a text that is read from its end.
    pub(crate) fn mirrored(&self) -> Self {
        let kind = match &self.kind {
            Kind::Empty => Kind::Empty,
            Kind::Chars(set) => Kind::Chars(set.clone()),
            Kind::Seq(parts) => Kind::Seq(parts.iter().rev().map(Self::mirrored).collect()),
            Kind::Choice(parts) => Kind::Choice(parts.iter().map(Self::mirrored).collect()),
            Kind::Repeat { body, min, max } => {
                Kind::Repeat { body: Box::new(body.mirrored()), min: *min, max: *max }
            }
            Kind::Look(look) => Kind::Look(Look {
                id: look.id,
                side: match look.side {
                    Side::Ahead => Side::Behind,
                    Side::Behind => Side::Ahead,
                },
                is_negative: look.is_negative,
                body: Box::new(look.body.mirrored()),
            }),
        };
        Self { kind, span: self.span(), ..*self }
    }

    /// The pieces directly inside, the bodies of look-around too.
    fn parts(&self) -> &[Self] {
        match &self.kind {
            Kind::Empty | Kind::Chars(_) => &[],
            Kind::Seq(parts) | Kind::Choice(parts) => parts,
            Kind::Repeat { body, .. } => std::slice::from_ref(body),
            Kind::Look(look) => std::slice::from_ref(&look.body),
        }
    }

    /// Every set of characters inside.
    pub(crate) fn sets(&self) -> Vec<&CharSet> {
        let mut sets = Vec::new();
        let mut todo = vec![self];
        while let Some(node) = todo.pop() {
            if let Kind::Chars(set) = &node.kind {
                sets.push(set);
            }
            todo.extend(node.parts());
        }
        sets
    }

    /// The look-around inside that `enters` lets through; bodies are searched where it says so.
    pub(crate) fn looks(&self, enters: fn(&Look) -> bool) -> Vec<&Look> {
        let mut looks = Vec::new();
        let mut todo = vec![self];
        while let Some(node) = todo.pop() {
            match &node.kind {
                Kind::Look(look) => {
                    looks.push(look);
                    if enters(look) {
                        todo.push(&look.body);
                    }
                }
                _ if node.has_look => todo.extend(node.parts().iter().rev()),
                _ => {}
            }
        }
        looks
    }
}
