//! Every shape that a value may have, found before the first token: what cannot be enforced is
//! refused here, and what no value can fulfil is left out.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::object_table::count_other_names;
use crate::frontend::json_schema::options::{Dialect, JsonSchemaOptions, Unsupported};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, NEVER, NumberShape, ObjectShape, PatternId, Refusal, Shape, ShapeId,
    StringShape, TermId,
};
use crate::frontend::json_schema::terms::Term;
use crate::frontend::json_schema::texts::{Patterns, Texts};
use crate::frontend::json_schema::{document, number_text};
use crate::grammar::{Exprs, UNBOUNDED};
use crate::limits::{Budget, Limits};
use crate::residual::emptiness::is_empty;

/// More different patterns in one object than this would make too many classes of names.
const MOST_PATTERNS: usize = 6;

/// A compiled schema: what the rules are made from. It does not change any more.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) options: JsonSchemaOptions,
    pub(crate) texts: Texts,
    pub(crate) patterns: Patterns,
    pub(crate) shapes: Vec<Arc<Shape>>,
    pub(crate) root: ShapeId,
    /// The shape of each term; the last one that there is for terms nobody asked for.
    of_term: Vec<Option<ShapeId>>,
    /// Whether some value has the shape.
    alive: Vec<bool>,
    /// The classes of names that are not listed, for objects with rules for them.
    classes: FxHashMap<(ShapeId, usize), Arc<[NameClass]>>,
    pub(crate) limits: Limits,
    /// In draft-04 an integer is a spelling: it has no fraction.
    pub(crate) has_plain_integers: bool,
}

/// Names that are not listed and have the same value.
#[derive(Clone, Debug)]
pub(crate) struct NameClass {
    /// In all the languages (or, for `false`, outside) of one of these lists.
    pub(crate) any_of: Vec<Vec<(PatternId, bool)>>,
    /// What `propertyNames` says.
    pub(crate) names: TermId,
    pub(crate) value: TermId,
}

impl NameClass {
    /// Whether every name that is not listed is in the class.
    pub(crate) fn is_every_name(&self) -> bool {
        self.names == ANY && self.any_of.iter().any(Vec::is_empty)
    }
}

impl Compiled {
    /// The shape of a term; `None` if no value has it.
    pub(crate) fn shape_of(&self, term: TermId) -> Option<ShapeId> {
        let shape = self.of_term.get(term.0 as usize).copied().flatten()?;
        self.alive[shape.0 as usize].then_some(shape)
    }

    /// The shape of a `propertyNames`.
    pub(crate) fn names_shape(&self, names: TermId) -> Option<&Shape> {
        let shape = self.of_term.get(names.0 as usize).copied().flatten()?;
        Some(self.shape(shape))
    }

    pub(crate) fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    pub(crate) fn classes(&self, shape: ShapeId, alternative: usize) -> &[NameClass] {
        self.classes.get(&(shape, alternative)).map_or(&[], |classes| classes)
    }

    /// Whether some value has the shape.
    fn is_alive(&self, term: TermId) -> bool {
        self.shape_of(term).is_some()
    }

    pub(crate) fn is_array_alive(&self, array: &ArrayShape) -> bool {
        let item = |at: usize| array.prefix.get(at).copied().unwrap_or(array.items);
        let last = array.prefix.len().saturating_add(1).min(array.min as usize);
        (0..last).all(|at| self.is_alive(item(at)))
    }

    /// Whether some object has the shape.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn is_object_alive(
        &self,
        shape: ShapeId,
        at: usize,
        object: &ObjectShape,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let mut count = 0_usize;
        for member in &object.members {
            let is_alive = self.is_alive(member.value);
            if member.is_required && !is_alive {
                return Ok(false);
            }
            count += usize::from(is_alive);
        }
        if count >= object.min as usize {
            return Ok(true);
        }
        if !self.classes(shape, at).iter().any(|class| self.is_alive(class.value)) {
            return Ok(false);
        }
        let others = count_other_names(self, shape, at, budget)?;
        Ok(count.saturating_add(others as usize) >= object.min as usize)
    }
}

/// What a value of the document's root may have inside.
#[derive(Debug)]
pub(crate) struct Reached {
    root: TermId,
    /// Each shape once, the outer ones first.
    order: Vec<ShapeId>,
    classes: FxHashMap<(ShapeId, usize), Arc<[NameClass]>>,
    /// What is not enforced, because the caller said so.
    pub(crate) refusals: Vec<Refusal>,
}

impl Schemas<'_> {
    /// Compiles the schema.
    ///
    /// # Errors
    /// A schema is malformed, asks for what cannot be enforced, or has no value at all.
    pub(crate) fn compile(mut self) -> Result<Compiled, Error> {
        let reached = self.explore()?;
        let root = self.evaluate(reached.root)?;
        let has_plain_integers = self.sources.dialect(self.sources.root()) == Dialect::Draft4;
        let compiled = Compiled {
            options: self.options.clone(),
            of_term: (0..self.terms.len()).map(|at| self.shape_of(term_at(at))).collect(),
            alive: vec![false; self.shapes.len()],
            texts: self.texts,
            patterns: self.patterns,
            shapes: self.shapes,
            root,
            classes: reached.classes,
            limits: self.budget.limits,
            has_plain_integers,
        };
        compiled.settle(&reached.order, self.budget)
    }

    /// Looks at all shapes that a value of the document's root may have inside.
    ///
    /// # Errors
    /// A schema is malformed or asks for what cannot be enforced.
    pub(crate) fn explore(&mut self) -> Result<Reached, Error> {
        let root = self.schema(self.sources.root())?;
        let mut reached = Reached {
            root,
            order: Vec::new(),
            classes: FxHashMap::default(),
            refusals: Vec::new(),
        };
        let mut todo = vec![root];
        let mut seen: Vec<bool> = Vec::new();
        while let Some(term) = todo.pop() {
            self.budget.tick()?;
            let id = self.evaluate(term)?;
            let at = id.0 as usize;
            if seen.len() <= at {
                seen.resize(self.shapes.len(), false);
            }
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            reached.order.push(id);
            if reached.order.len() > self.budget.limits.rules {
                return Err(Error::limit("rules", self.budget.limits.rules));
            }
            let shape = self.shape(id).clone();
            if let Some(refusal) = shape.refusal() {
                if self.options.unsupported == Unsupported::Refuse {
                    let location = self.sources.location(refusal.place);
                    return Err(Error::unsupported(refusal.feature, location));
                }
                reached.refusals.push(refusal);
            }
            for array in &shape.arrays {
                todo.extend_from_slice(&array.prefix);
                if array.max as usize > array.prefix.len() {
                    todo.push(array.items);
                }
            }
            for (at, object) in shape.objects.iter().enumerate() {
                todo.extend(object.members.iter().map(|member| member.value));
                let found = self.name_classes(object)?;
                todo.extend(found.iter().map(|class| class.value));
                if !found.is_empty() {
                    reached.classes.insert((id, at), found.into());
                }
            }
        }
        Ok(reached)
    }

    /// The classes of the names that an object does not list.
    fn name_classes(&mut self, object: &ObjectShape) -> Result<Vec<NameClass>, Error> {
        if object.is_closed() || object.max == 0 {
            return Ok(Vec::new());
        }
        let names = object.names;
        if names != ANY {
            let shape = self.evaluate(names)?;
            let refusal = self.shape(shape).strings.iter().find_map(|string| string.refusal);
            if let Some(refusal) = refusal {
                let location = self.sources.location(refusal.place);
                return Err(Error::unsupported(refusal.feature, location));
            }
        }
        let mut patterns: Vec<PatternId> = Vec::new();
        for &(pattern, _) in object.rest.iter().flat_map(|rest| &rest.patterns) {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        if patterns.is_empty() {
            let parts: Vec<TermId> = object.rest.iter().map(|rest| rest.additional).collect();
            let value = self.terms.and(&parts);
            return Ok(vec![NameClass { any_of: vec![Vec::new()], names, value }]);
        }
        if let Some(classes) = Self::alike(object, &patterns) {
            return Ok(classes);
        }
        if patterns.len() > MOST_PATTERNS {
            return Err(self.too_many_patterns(object));
        }
        let mut classes: Vec<NameClass> = Vec::new();
        for subset in 0_u32..1 << patterns.len() {
            let is_in = |pattern: PatternId| {
                patterns.iter().position(|&p| p == pattern).is_some_and(|at| subset >> at & 1 == 1)
            };
            let mut parts = Vec::new();
            for rest in &object.rest {
                let before = parts.len();
                let hits = rest.patterns.iter().filter(|&&(pattern, _)| is_in(pattern));
                parts.extend(hits.map(|&(_, value)| value));
                if parts.len() == before {
                    parts.push(rest.additional);
                }
            }
            let value = self.terms.and(&parts);
            if value == NEVER {
                continue;
            }
            let list: Vec<(PatternId, bool)> =
                patterns.iter().map(|&pattern| (pattern, is_in(pattern))).collect();
            if subset.count_ones() > 1
                && self.patterns.is_empty(&list, (0, UNBOUNDED), (&[], &self.texts), self.budget)?
            {
                continue;
            }
            match classes.iter_mut().find(|class| class.value == value) {
                Some(class) => class.any_of.push(list),
                None => classes.push(NameClass { any_of: vec![list], names, value }),
            }
        }
        Ok(classes)
    }

    /// The classes where all patterns ask for the same value: it does not matter which match.
    fn alike(object: &ObjectShape, patterns: &[PatternId]) -> Option<Vec<NameClass>> {
        let [rest] = &object.rest[..] else {
            return None;
        };
        let value = rest.patterns.first()?.1;
        if rest.patterns.iter().any(|&(_, other)| other != value) {
            return None;
        }
        let names = object.names;
        let any_of = patterns.iter().map(|&pattern| vec![(pattern, true)]).collect();
        let mut classes = vec![NameClass { any_of, names, value }];
        if rest.additional != NEVER {
            let list = patterns.iter().map(|&pattern| (pattern, false)).collect();
            classes.push(NameClass { any_of: vec![list], names, value: rest.additional });
        }
        classes.retain(|class| class.value != NEVER);
        Some(classes)
    }

    fn too_many_patterns(&self, object: &ObjectShape) -> Error {
        let mut terms = object.rest.iter().flat_map(|rest| &rest.patterns);
        let place = terms.find_map(|&(_, value)| match *self.terms.get(value) {
            Term::Schema(place) => Some(place),
            _ => None,
        });
        let place = place.unwrap_or_else(|| self.sources.root());
        let message = "patternProperties with more than 6 patterns that differ in their values";
        Error::unsupported(message, self.sources.location(place))
    }

    /// `propertyNames` that needs the shape of the schema it stands in.
    pub(crate) fn recursive_names(&self, names: TermId) -> Error {
        let place = match *self.terms.get(names) {
            Term::Schema(place) => place,
            _ => self.sources.root(),
        };
        let location = self.sources.location(place);
        Error::unsupported("propertyNames that refers to the schema around it", location)
    }
}

impl Compiled {
    /// The least fixpoint: a shape is alive if some value of it is made of values of shapes that
    /// are alive already. Inner shapes come later in `order`, so that most are settled in the
    /// first round, from the end.
    fn settle(mut self, order: &[ShapeId], budget: &mut Budget) -> Result<Self, Error> {
        let mut open: Vec<ShapeId> = order.iter().rev().copied().collect();
        loop {
            let before = open.len();
            let mut left = Vec::new();
            for id in open {
                budget.tick()?;
                if self.has_value(id, budget)? {
                    self.alive[id.0 as usize] = true;
                } else {
                    left.push(id);
                }
            }
            open = left;
            if open.is_empty() || open.len() == before {
                break;
            }
        }
        if self.alive[self.root.0 as usize] {
            return Ok(self);
        }
        let reason = self.reason();
        Err(Error::new(ErrorKind::Unsatisfiable { reason }, Location::Pointer(String::new())))
    }

    fn has_value(&mut self, id: ShapeId, budget: &mut Budget) -> Result<bool, Error> {
        let shape = self.shapes[id.0 as usize].clone();
        if shape.null || shape.bools != 0 {
            return Ok(true);
        }
        for number in &shape.numbers {
            if !self.is_number_empty(number, budget)? {
                return Ok(true);
            }
        }
        for string in &shape.strings {
            if !self.is_string_empty(string, budget)? {
                return Ok(true);
            }
        }
        if shape.arrays.iter().any(|array| self.is_array_alive(array)) {
            return Ok(true);
        }
        for (at, object) in shape.objects.iter().enumerate() {
            if self.is_object_alive(id, at, object, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_number_empty(
        &mut self,
        number: &NumberShape,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        // Without a divisor, the normal form of an interval has a number in it.
        if number.values.is_some() || number.multiples.is_empty() {
            return Ok(false);
        }
        let mut exprs = Exprs::default();
        let text = number_text::number(&mut exprs, number, self.has_plain_integers);
        is_empty(&mut exprs, text, budget)
    }

    fn is_string_empty(
        &mut self,
        string: &StringShape,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let is_only_empty = string.max == 0 && string.patterns.is_empty();
        if is_only_empty && string.except.iter().any(|&text| self.texts.get(text).is_empty()) {
            return Ok(true);
        }
        if string.values.is_some() || string.patterns.is_empty() {
            return Ok(false);
        }
        if let [(pattern, true)] = string.patterns[..]
            && (string.min, string.max) == (0, UNBOUNDED)
            && string.except.is_empty()
            && self.patterns.is_plain(pattern)
        {
            return Ok(false);
        }
        let lengths = (string.min, string.max);
        let except = (&*string.except, &self.texts);
        self.patterns.is_empty(&string.patterns, lengths, except, budget)
    }

    /// Why the root has no value.
    fn reason(&self) -> String {
        let shape = self.shape(self.root);
        for object in &shape.objects {
            let dead = object
                .members
                .iter()
                .find(|member| member.is_required && !self.is_alive(member.value));
            if let Some(member) = dead {
                let name = self.texts.get(member.name);
                return format!("the required member `{name}` can have no value");
            }
        }
        if shape.is_never() {
            return "its assertions exclude each other".to_owned();
        }
        "no finite value fulfils its assertions".to_owned()
    }
}

/// The term at a place of the table.
pub(crate) fn term_at(at: usize) -> TermId {
    TermId(document::index(at))
}
