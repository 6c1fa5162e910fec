//! Values that are remembered or compared. Equal values, as JSON Schema has it, are one: numbers by
//! value, objects whatever the order of their members.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::document::{Document, Node, NodeId};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, Member, NumberShape, ObjectShape, Shape, StringShape, TermId, TextId,
};
use crate::frontend::json_schema::terms::Term;
use crate::frontend::json_schema::values::add_scalars;
use crate::interner::Interner;
use crate::number::Decimal;

/// One JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(TextId),
    Array(Box<[ConstantId]>),
    /// Invariant: sorted by name, each name once.
    Object(Box<[(TextId, ConstantId)]>),
}

/// An interned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConstantId(pub(crate) u32);

/// The table of values.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    values: Interner<Constant>,
}

impl Constants {
    pub(crate) fn get(&self, id: ConstantId) -> &Constant {
        self.values.get(id.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn id(&mut self, value: Constant) -> ConstantId {
        ConstantId(self.values.id(value))
    }

    /// The members of an object; none for another value.
    pub(crate) fn members(&self, id: ConstantId) -> &[(TextId, ConstantId)] {
        match self.get(id) {
            Constant::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of an array; none for another value.
    pub(crate) fn items(&self, id: ConstantId) -> &[ConstantId] {
        match self.get(id) {
            Constant::Array(items) => items,
            _ => &[],
        }
    }
}

impl Schemas {
    /// The value that a text spells.
    ///
    /// # Errors
    /// It is no JSON, or a number in it is too long.
    pub(crate) fn constant_of(&mut self, text: &str) -> Result<ConstantId, Error> {
        let document = Document::parse(text)?;
        // Inner values come before those that they are part of.
        let mut done: FxHashMap<NodeId, ConstantId> = FxHashMap::default();
        let mut todo = vec![document.root()];
        while let Some(&node) = todo.last() {
            self.budget.tick()?;
            let members = document.members(node).map(|(_, value)| value);
            let parts = document.items(node).iter().copied().chain(members);
            let missing: Vec<NodeId> = parts.filter(|part| !done.contains_key(part)).collect();
            if !missing.is_empty() {
                todo.extend(missing);
                continue;
            }
            todo.pop();
            let value = match document.get(node) {
                Node::Null => Constant::Null,
                Node::Bool(value) => Constant::Bool(value),
                Node::Number(run) => {
                    let digits = self.budget.limits.number_digits;
                    let too_long = || Error::limit("number_digits", digits);
                    Constant::Number(Decimal::parse(document.text(run)).ok_or_else(too_long)?)
                }
                Node::String(run) => Constant::Text(self.texts.id(document.text(run))),
                Node::Array { .. } => {
                    Constant::Array(document.items(node).iter().map(|item| done[item]).collect())
                }
                Node::Object { .. } => {
                    let members = document.members(node);
                    let members = members.map(|(name, node)| (self.texts.id(name), done[&node]));
                    let members: BTreeMap<_, _> = members.collect();
                    Constant::Object(members.into_iter().collect())
                }
            };
            done.insert(node, self.constants.id(value));
        }
        Ok(done[&document.root()])
    }

    /// The term of one value.
    pub(crate) fn constant(&mut self, value: ConstantId) -> TermId {
        self.terms.add(Term::Constant(value))
    }

    /// The term of all values but these.
    pub(crate) fn none_of(&mut self, mut values: Vec<ConstantId>) -> TermId {
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return ANY;
        }
        self.terms.add(Term::NoneOf(values.into()))
    }

    /// The shape of one value.
    pub(crate) fn constant_shape(&mut self, value: ConstantId) -> Shape {
        let mut shape = Shape::default();
        match self.constants.get(value).clone() {
            Constant::Null => shape.null = true,
            Constant::Bool(value) => shape.bools = 1 << u8::from(value),
            Constant::Number(value) => add_scalars(&mut shape, Vec::new(), vec![value]),
            Constant::Text(text) => add_scalars(&mut shape, vec![text], Vec::new()),
            Constant::Array(items) => shape.arrays.push(self.constant_array(&items)),
            Constant::Object(members) => {
                let member = |&(name, value): &(TextId, ConstantId)| Member {
                    name,
                    value: self.constant(value),
                    is_required: true,
                    is_declared: true,
                };
                let members = members.iter().map(member).collect();
                shape.objects = self.formulas.object(ObjectShape::of_members(members));
            }
        }
        shape
    }

    /// The shape of one array.
    pub(crate) fn constant_array(&mut self, items: &[ConstantId]) -> ArrayShape {
        ArrayShape::of_items(items.iter().map(|&item| self.constant(item)).collect())
    }

    /// The shape of all values but these.
    pub(crate) fn none_of_shape(&mut self, values: &[ConstantId]) -> Shape {
        let mut shape = Shape::any();
        let (mut numbers, mut texts, mut arrays, mut objects) = (vec![], vec![], vec![], vec![]);
        for &id in values {
            match self.constants.get(id) {
                Constant::Null => shape.null = false,
                Constant::Bool(value) => shape.bools &= !(1 << u8::from(*value)),
                Constant::Number(value) => numbers.push(value.clone()),
                Constant::Text(text) => texts.push(*text),
                Constant::Array(_) => arrays.push(id),
                Constant::Object(_) => objects.push(id),
            }
        }
        if !numbers.is_empty() {
            numbers.sort_unstable();
            let listed = NumberShape { values: Some(numbers.into()), ..NumberShape::default() };
            shape.numbers = listed.complement();
        }
        texts.sort_unstable();
        let except: Arc<[TextId]> = texts.into();
        shape.strings = vec![StringShape { except, ..StringShape::default() }];
        shape.arrays = vec![ArrayShape { except: arrays.into(), ..ArrayShape::default() }];
        shape.objects = self.formulas.except(objects);
        shape
    }
}
