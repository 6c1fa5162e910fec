//! Values written in a schema (`const`, `enum`) as shapes: scalars by value, arrays and objects
//! part by part.

use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::document::Node;
use crate::frontend::json_schema::formula::FormulaId;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ArrayShape, Member, NumberShape, ObjectShape, Place, Shape, StringShape, TermId, TextId,
};
use crate::frontend::json_schema::terms::Term;
use crate::number::Decimal;

impl Schemas {
    /// The value at a place.
    pub(crate) fn value(&mut self, place: Place) -> Result<Shape, Error> {
        let mut shape = Shape::default();
        let mut strings = Vec::new();
        let mut numbers = Vec::new();
        let mut objects = Vec::new();
        self.add_value(place, &mut shape, &mut strings, &mut numbers, &mut objects)?;
        shape.objects = self.formulas.or(&objects);
        add_scalars(&mut shape, strings, numbers);
        Ok(shape)
    }

    /// The values of the array at a place.
    pub(crate) fn values(&mut self, place: Place) -> Result<Shape, Error> {
        let Node::Array { .. } = self.sources.document(place).get(place.node) else {
            return Err(self.sources.error("an array of values is expected here", place));
        };
        let mut shape = Shape::default();
        let mut strings = Vec::new();
        let mut numbers = Vec::new();
        let mut objects = Vec::new();
        for node in self.sources.document(place).items(place.node).to_vec() {
            self.budget.tick()?;
            let place = Place { node, ..place };
            self.add_value(place, &mut shape, &mut strings, &mut numbers, &mut objects)?;
        }
        shape.objects = self.formulas.or(&objects);
        add_scalars(&mut shape, strings, numbers);
        Ok(shape)
    }

    fn add_value(
        &mut self,
        place: Place,
        shape: &mut Shape,
        strings: &mut Vec<TextId>,
        numbers: &mut Vec<Decimal>,
        objects: &mut Vec<FormulaId>,
    ) -> Result<(), Error> {
        let document = self.sources.document(place);
        match document.get(place.node) {
            Node::Null => shape.null = true,
            Node::Bool(value) => shape.bools |= 1 << u8::from(value),
            Node::Number(_) => numbers.push(self.decimal(place)?),
            Node::String(run) => strings.push(self.texts.id(document.text(run))),
            Node::Array { .. } => {
                let items = document.items(place.node).to_vec();
                let items = items.into_iter().map(|node| self.written(Place { node, ..place }));
                let array = ArrayShape::of_items(items.collect());
                if !shape.arrays.contains(&array) {
                    shape.arrays.push(array);
                }
            }
            Node::Object { len, .. } => {
                let mut members: Vec<Member> = Vec::with_capacity(len as usize);
                for at in 0..len as usize {
                    let (name, node) = self.sources.document(place).member(place.node, at);
                    let name = self.texts.id(name);
                    let value = self.written(Place { node, ..place });
                    let member = Member { name, value, is_required: true, is_declared: true };
                    match members.iter_mut().find(|known| known.name == name) {
                        Some(known) => known.value = value,
                        None => members.push(member),
                    }
                }
                objects.push(self.formulas.object(ObjectShape::of_members(members)));
            }
        }
        Ok(())
    }

    /// The term of the value at a place.
    fn written(&mut self, place: Place) -> TermId {
        self.terms.add(Term::Value(place))
    }
}

/// Adds listed strings and numbers.
pub(crate) fn add_scalars(shape: &mut Shape, strings: Vec<TextId>, mut numbers: Vec<Decimal>) {
    if !strings.is_empty() {
        let mut seen = FxHashSet::default();
        let strings: Vec<TextId> = strings.into_iter().filter(|&text| seen.insert(text)).collect();
        let values: Option<Arc<[TextId]>> = Some(strings.into());
        shape.strings.push(StringShape { values, ..StringShape::default() });
    }
    if !numbers.is_empty() {
        numbers.sort_unstable();
        numbers.dedup();
        let values: Option<Arc<[Decimal]>> = Some(numbers.into());
        shape.numbers.push(NumberShape { values, ..NumberShape::default() });
    }
}
