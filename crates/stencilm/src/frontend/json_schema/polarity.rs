//! Which schemas have to hold and which have to fail, for the report: not every keyword is enforced
//! alike in both.

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::frontend::json_schema::name_set::NameSet;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{Place, TermId};
use crate::frontend::json_schema::terms::Term;

/// The schemas whose own assertions a value meets.
#[derive(Debug, Default)]
pub(crate) struct Polarity {
    pub(crate) holding: FxHashSet<Place>,
    pub(crate) failing: FxHashSet<Place>,
    seen: FxHashSet<(TermId, bool)>,
}

impl Schemas {
    /// The polarity of all schemas in a compiled one.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn polarity(&mut self) -> Result<Polarity, Error> {
        let mut found = Polarity::default();
        let mut values = vec![self.root_schema()?];
        let mut met = FxHashSet::default();
        while let Some(value) = values.pop() {
            self.budget.tick()?;
            if !met.insert(value) {
                continue;
            }
            self.walk(value, true, &mut found);
            let Some(shape) = self.shape_of(value) else {
                continue;
            };
            let shape = self.shape(shape).clone();
            for array in &shape.arrays {
                values.extend_from_slice(&array.prefix);
                values.push(array.items);
                values.extend(array.contains.iter().map(|contains| contains.value));
            }
            self.push_members(shape.objects, &mut values);
            let (objects, exists, _) = self.leaves_of(shape.objects);
            let rules = objects.iter().flat_map(|(_, object)| &object.rules).map(|rule| &rule.set);
            let sets = rules.chain(exists.iter().map(|(_, exists)| &exists.set));
            for names in sets.flat_map(NameSet::terms) {
                // Names are told apart: those that have the shape and those that do not.
                self.walk(names, false, &mut found);
            }
        }
        Ok(found)
    }

    /// Goes through what holds of a value if a term does (or, for `false`, if it fails).
    fn walk(&self, term: TermId, holds: bool, found: &mut Polarity) {
        let mut todo = vec![(term, holds)];
        while let Some((term, holds)) = todo.pop() {
            if !found.seen.insert((term, holds)) {
                continue;
            }
            match self.terms.get(term) {
                Term::Schema(_) => {
                    todo.extend(self.lowered.get(&term).map(|&lowered| (lowered, holds)));
                }
                &Term::Assertions(place) => {
                    let places = if holds { &mut found.holding } else { &mut found.failing };
                    places.insert(place.open());
                }
                Term::And(parts) | Term::Or(parts) => {
                    todo.extend(parts.iter().map(|&part| (part, holds)));
                }
                // One holds, and the others fail.
                Term::One(_, parts) => {
                    todo.extend(parts.iter().flat_map(|&part| [(part, true), (part, false)]));
                }
                &Term::Not(_, inner) => todo.push((inner, !holds)),
                Term::Any
                | Term::Never
                | Term::Unknown(_)
                | Term::Value(_)
                | Term::Present(_)
                | Term::Member(..)
                | Term::Others { .. }
                | Term::Items { .. }
                | Term::Constant(_)
                | Term::NoneOf(_) => {}
            }
        }
    }
}
