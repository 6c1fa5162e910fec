//! The states of an object: which names may come next, what their values are, and where the object
//! stands then.
//!
//! A state holds what is left of the formula. A member splits each part of it into what its value
//! must be and what remains; parts that say the same of a name are told apart no further.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::object_table::{Leaf, ObjectTable};
use crate::frontend::json_schema::options::{Additional, KeyOrder};
use crate::frontend::json_schema::ordered_object::OrderedObject;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::TermId;
use crate::grammar::UNBOUNDED;

/// States of which it is kept which names may come.
const MOST_NAMES: usize = 1_024;

/// Where an object stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct At {
    /// What is left to be fulfilled.
    pub(crate) formula: FormulaId,
    /// The first member that may still come, of those that come in order.
    pub(crate) next: u32,
    /// Which of the others came.
    pub(crate) seen: SeenId,
    /// And the last of them, while it is not decided that it comes.
    pub(crate) last: Option<u32>,
    /// The members so far, as far as they are counted.
    pub(crate) count: u32,
    /// The names so far that are not listed, where there are only so many.
    pub(crate) others: u32,
    pub(crate) is_first: bool,
}

/// An interned set of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SeenId(pub(crate) u32);

/// A member of the table, or a class of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Member(u32),
    Class(usize),
}

/// Which names may come in a state, as far as that was asked.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    may_be_other: bool,
    /// For each place of the sorted names.
    places: Vec<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Unknown,
    Yes,
    No,
}

/// An object's table, and how its names are told apart.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Ordered(Arc<ObjectTable>, Arc<OrderedObject>),
    Any(Arc<ObjectTable>),
}

impl Object {
    pub(crate) fn table(&self) -> &Arc<ObjectTable> {
        match self {
            Self::Ordered(table, _) | Self::Any(table) => table,
        }
    }
}

/// A value that a member may have, and where the object stands then.
pub(crate) type Step = (TermId, At);

impl ObjectTable {
    /// After the opening brace.
    pub(crate) fn start(&self) -> At {
        At {
            formula: self.formula,
            next: 0,
            seen: SeenId(0),
            last: None,
            count: 0,
            others: 0,
            is_first: true,
        }
    }

    pub(crate) fn is_ordered(&self, member: u32) -> bool {
        member < self.ordered
    }

    /// How many more names that are not listed may come.
    pub(crate) fn others_left(&self, at: At) -> u32 {
        if self.others == UNBOUNDED { UNBOUNDED } else { self.others.saturating_sub(at.others) }
    }

    /// The names that are not listed, after one more.
    pub(crate) fn one_more(&self, at: At) -> u32 {
        if self.others == UNBOUNDED { 0 } else { at.others + 1 }
    }

    pub(crate) fn counted(&self, at: At) -> u32 {
        at.count.saturating_add(1).min(self.most_counted)
    }
}

impl Schemas {
    /// Whether a member may still come as far as its own name goes.
    pub(crate) fn is_left(&self, table: &ObjectTable, at: At, member: u32) -> bool {
        if table.is_ordered(member) {
            return member >= at.next;
        }
        at.last != Some(member) && !self.has_seen(at.seen, member)
    }

    pub(crate) fn has_seen(&self, seen: SeenId, member: u32) -> bool {
        let words = self.reach.seen.get(seen.0);
        words.get(member as usize / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }

    pub(crate) fn with_seen(&mut self, seen: SeenId, member: u32) -> SeenId {
        let mut words = self.reach.seen.get(seen.0).to_vec();
        let word = member as usize / 64;
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << (member % 64);
        SeenId(self.reach.seen.id(words))
    }

    /// The classes of names that may come in a state of an object that is not simple.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn classes_at(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
    ) -> Result<Vec<usize>, Error> {
        let mut classes = Vec::new();
        if !self.may_be_other(table, at) || table.others_left(at) == 0 {
            return Ok(classes);
        }
        for class in 0..table.classes.len() {
            if !self.ways(table, at, Name::Class(class))?.is_empty() {
                classes.push(class);
            }
        }
        Ok(classes)
    }

    /// The first place of the sorted names in `low..high` whose name may come in a state of an
    /// object that is not simple.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn next_place(
        &mut self,
        table: &Arc<ObjectTable>,
        id: u32,
        at: At,
        (low, high): (u32, u32),
    ) -> Result<Option<u32>, Error> {
        let known = self.reach.names.remove(&(id, at));
        let mut names = known.unwrap_or_else(|| Names {
            may_be_other: self.may_be_other(table, at),
            places: vec![Answer::Unknown; table.names.len()],
        });
        let mut found = None;
        for place in low..high.min(table.len()) {
            let answer = match names.places[place as usize] {
                Answer::Unknown => {
                    let member = table.member_at[place as usize];
                    self.may_come(table, at, member, names.may_be_other)?
                }
                known => known,
            };
            names.places[place as usize] = answer;
            if answer == Answer::Yes {
                found = Some(place);
                break;
            }
        }
        if self.reach.names.len() >= MOST_NAMES {
            // What is asked for again is found again.
            self.reach.names.clear();
        }
        self.reach.names.insert((id, at), names);
        Ok(found)
    }

    fn may_come(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
        member: u32,
        may_be_other: bool,
    ) -> Result<Answer, Error> {
        self.budget.tick()?;
        let is_placed =
            table.is_ordered(member) || may_be_other || self.options.key_order == KeyOrder::Any;
        let may_come = is_placed
            && self.is_left(table, at, member)
            && !self.ways(table, at, Name::Member(member))?.is_empty();
        Ok(if may_come { Answer::Yes } else { Answer::No })
    }

    /// Whether it is the place of names that are not listed.
    fn may_be_other(&self, table: &ObjectTable, at: At) -> bool {
        let is_free = self.options.key_order == KeyOrder::Any
            || self.options.additional == Additional::Anywhere;
        is_free || !self.is_member_required(table, at, at.formula)
    }

    fn is_member_required(&self, table: &ObjectTable, at: At, formula: FormulaId) -> bool {
        match self.formulas.get(formula) {
            Formula::Never | Formula::Any | Formula::Exists(_) | Formula::Except(_) => false,
            Formula::And(parts) => {
                parts.iter().any(|&part| self.is_member_required(table, at, part))
            }
            Formula::Or(parts) => {
                parts.iter().all(|&part| self.is_member_required(table, at, part))
            }
            Formula::Object(_) => match &table.leaves[&formula] {
                Leaf::Rules { required, .. } => required
                    .iter()
                    .any(|&member| table.is_ordered(member) && self.is_left(table, at, member)),
                Leaf::Exists { .. } => false,
            },
        }
    }

    /// Whether the object may end.
    pub(crate) fn may_close(&self, table: &ObjectTable, at: At) -> bool {
        self.is_fulfilled(table, at, at.formula)
    }

    fn is_fulfilled(&self, table: &ObjectTable, at: At, formula: FormulaId) -> bool {
        match self.formulas.get(formula) {
            Formula::Never | Formula::Exists(_) => false,
            // Of each, all members that are not left came.
            Formula::Except(constants) => constants.iter().all(|known| {
                table.constants[known].iter().any(|&(member, _)| self.is_left(table, at, member))
            }),
            Formula::And(parts) => parts.iter().all(|&part| self.is_fulfilled(table, at, part)),
            Formula::Or(parts) => parts.iter().any(|&part| self.is_fulfilled(table, at, part)),
            Formula::Any | Formula::Object(_) => match table.leaves.get(&formula) {
                Some(Leaf::Rules { required, min, .. }) => {
                    at.count >= *min
                        && !required.iter().any(|&member| self.is_left(table, at, member))
                }
                _ => true,
            },
        }
    }

    /// The values that a member with this name may have, with what follows each; only those with
    /// which the object can be completed.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn steps(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
        name: Name,
    ) -> Result<Vec<Step>, Error> {
        let mut steps = self.ways(table, at, name)?;
        for (_, next) in &mut steps {
            if let Some(member) = next.last.take() {
                next.seen = self.with_seen(next.seen, member);
            }
        }
        Ok(steps)
    }

    /// The same, for states that may never be: what came is not interned.
    fn ways(&mut self, table: &Arc<ObjectTable>, at: At, name: Name) -> Result<Vec<Step>, Error> {
        let mut after = At { count: table.counted(at), is_first: false, ..at };
        match name {
            Name::Member(member) if table.is_ordered(member) => after.next = member + 1,
            Name::Member(member) => after.last = Some(member),
            Name::Class(_) => after.others = table.one_more(at),
        }
        if after.next == at.next
            && self.options.additional == Additional::Last
            && self.options.key_order == KeyOrder::Declared
        {
            // No name in order comes after another one.
            after.next = table.ordered;
        }
        let pairs = self.pairs(table, at, after, at.formula, name)?;
        let mut steps = Vec::with_capacity(pairs.len());
        for (value, formula) in pairs {
            let next = At { formula, ..after };
            if self.is_alive(value)? && self.can_complete(table, at, next)? {
                steps.push((value, next));
            }
        }
        Ok(steps)
    }
}
