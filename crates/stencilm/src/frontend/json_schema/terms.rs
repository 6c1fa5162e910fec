//! Conditions on values as a boolean formula over places in the documents, each kept once.
//!
//! A term says what is asked; its shape, made when a value of it may come, says what that means
//! for each type. Members of `And` and `Or` keep their order: it is the order in which property
//! names come.

use rustc_hash::FxHashSet;

use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::name_set::NameSet;
use crate::frontend::json_schema::shape::{ANY, NEVER, Place, TermId, TextId};
use crate::interner::Interner;

/// Members up to which one is looked for among the others one by one.
const FEW_MEMBERS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    Any,
    Never,
    /// The schema at a place, with everything in it.
    Schema(Place),
    /// Of the schema at a place only the keywords that assert something by themselves.
    Assertions(Place),
    /// A keyword, by the place of its value, that says nothing, and its negation neither.
    Unknown(Place),
    /// The value written at a place.
    Value(Place),
    And(Box<[TermId]>),
    Or(Box<[TermId]>),
    /// Exactly one of these; the place is the keyword's, for errors.
    One(Place, Box<[TermId]>),
    Not(Place, TermId),
    /// An object with this member, or no object.
    Present(TextId),
    /// An object whose member of this name, if there is one, has this value, or no object.
    Member(TextId, TermId),
    /// The same for the members with names in a set, the excepted ones aside.
    Others {
        set: NameSet,
        /// Sorted.
        except: Box<[TextId]>,
        value: TermId,
    },
    /// An array whose items from one place on, up to another, have this value, or no array.
    Items {
        from: u32,
        to: u32,
        value: TermId,
    },
    /// One value.
    Constant(ConstantId),
    /// All values but these; sorted.
    NoneOf(Box<[ConstantId]>),
}

/// The table of terms.
#[derive(Debug)]
pub(crate) struct Terms {
    terms: Interner<Term>,
}

impl Default for Terms {
    fn default() -> Self {
        let mut terms = Self { terms: Interner::default() };
        terms.add(Term::Any);
        terms.add(Term::Never);
        terms
    }
}

impl Terms {
    pub(crate) fn get(&self, id: TermId) -> &Term {
        self.terms.get(id.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn add(&mut self, term: Term) -> TermId {
        TermId(self.terms.id(term))
    }

    /// All of these.
    pub(crate) fn and(&mut self, parts: &[TermId]) -> TermId {
        let mut members: Vec<TermId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.terms.get(part.0) {
                Term::Any => {}
                Term::Never => return NEVER,
                Term::And(inner) => members.extend_from_slice(inner),
                _ => members.push(part),
            }
        }
        keep_first(&mut members);
        if self.has_opposites(&members) {
            return NEVER;
        }
        match members[..] {
            [] => ANY,
            [one] => one,
            _ => self.add(Term::And(members.into())),
        }
    }

    /// Both of these.
    pub(crate) fn and2(&mut self, a: TermId, b: TermId) -> TermId {
        match (a, b) {
            (ANY, other) | (other, ANY) => other,
            (NEVER, _) | (_, NEVER) => NEVER,
            _ if a == b => a,
            _ => self.and(&[a, b]),
        }
    }

    /// Any of these.
    pub(crate) fn or(&mut self, parts: &[TermId]) -> TermId {
        let mut members: Vec<TermId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.terms.get(part.0) {
                Term::Any => return ANY,
                Term::Never => {}
                Term::Or(inner) => members.extend_from_slice(inner),
                _ => members.push(part),
            }
        }
        keep_first(&mut members);
        if self.has_opposites(&members) {
            return ANY;
        }
        match members[..] {
            [] => NEVER,
            [one] => one,
            _ => self.add(Term::Or(members.into())),
        }
    }

    /// Whether one member is what another one is not.
    fn has_opposites(&self, members: &[TermId]) -> bool {
        let negated = |&member: &TermId| match *self.terms.get(member.0) {
            Term::Not(_, inner) => Some(inner),
            _ => None,
        };
        if members.len() <= FEW_MEMBERS {
            return members.iter().filter_map(negated).any(|inner| members.contains(&inner));
        }
        let all: FxHashSet<TermId> = members.iter().copied().collect();
        members.iter().filter_map(negated).any(|inner| all.contains(&inner))
    }

    /// Anything but this.
    pub(crate) fn not(&mut self, place: Place, term: TermId) -> TermId {
        match *self.get(term) {
            Term::Any => NEVER,
            Term::Never => ANY,
            Term::Not(_, inner) => inner,
            _ => self.add(Term::Not(place, term)),
        }
    }
}

/// Drops what comes again, and keeps the order.
fn keep_first(members: &mut Vec<TermId>) {
    if members.len() > FEW_MEMBERS {
        let mut seen = FxHashSet::default();
        members.retain(|&member| seen.insert(member));
        return;
    }
    let mut kept = 0;
    for at in 0..members.len() {
        if !members[..kept].contains(&members[at]) {
            members[kept] = members[at];
            kept += 1;
        }
    }
    members.truncate(kept);
}
