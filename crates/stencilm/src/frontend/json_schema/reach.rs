//! Every shape that a value may have, found before the first token: what cannot be enforced is
//! refused here, and what no value can fulfil is left out.
//!
//! Conditions that only arise when a value is under way (two alternatives that a member leaves both
//! open) are looked at when they arise; each of their parts was looked at before.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::array_states::ArrayTable;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::extent::Extent;
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::interned::Interned;
use crate::frontend::json_schema::number_text;
use crate::frontend::json_schema::object_states::{At, Names};
use crate::frontend::json_schema::object_table::ObjectTable;
use crate::frontend::json_schema::options::Unsupported;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, NumberShape, Place, Refusal, Shape, ShapeId, TermId, TextId,
};
use crate::grammar::UNBOUNDED;

/// Whether some value has a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Alive {
    #[default]
    New,
    /// Under way: taken for "no" until the contrary is found.
    Open,
    Yes,
    No,
}

/// Members of two lists of rules, multiplied, up to which what both ask of one is looked at together.
const MOST_PAIRS: usize = 10_000;

/// What is known of the values inside a value.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    alive: Vec<Alive>,
    /// The shapes under way, the outer ones first.
    open: Vec<ShapeId>,
    is_settling: bool,
    /// Arrays of different items that were met.
    unique: Vec<ArrayShape>,
    /// Terms of items that are compared, and the keyword that says so.
    pub(crate) compared: Vec<(TermId, Place)>,
    /// Those that can be, and with them what they are while a text is written.
    pub(crate) comparable: FxHashSet<TermId>,
    /// Whether all of them were looked at.
    pub(crate) is_compared: bool,
    /// The shapes whose values are being listed, one inside the other.
    pub(crate) listing: Vec<ShapeId>,
    /// How many values shapes have, as far as it is known which are alive.
    pub(crate) extents: FxHashMap<ShapeId, Extent>,
    /// The terms of `propertyNames`, by which names are told apart, and where the keyword stands.
    pub(crate) name_terms: FxHashMap<TermId, Place>,
    /// What is not enforced, because the caller said so.
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) tables: Vec<Arc<ObjectTable>>,
    pub(crate) table_ids: FxHashMap<(FormulaId, FormulaId), u32>,
    pub(crate) name_orders: FxHashMap<FormulaId, Arc<FxHashMap<TextId, u32>>>,
    pub(crate) names: FxHashMap<(u32, At), Names>,
    /// Sets of members, one bit each.
    pub(crate) seen: Interned<u64>,
    pub(crate) array_tables: Vec<Arc<ArrayTable>>,
    pub(crate) array_ids: FxHashMap<ArrayShape, u32>,
    pub(crate) needs: Interned<(u32, u32)>,
    /// Values that came in arrays, and arrays that must not come.
    pub(crate) came: Interned<ConstantId>,
}

impl Schemas {
    /// The shape of the whole value.
    ///
    /// # Errors
    /// A schema is malformed, asks for what cannot be enforced, or has no value at all.
    pub(crate) fn compile(&mut self) -> Result<ShapeId, Error> {
        let root = self.root_schema()?;
        let shape = self.live_shape(root)?;
        self.check_name_terms()?;
        self.check_compared()?;
        if let Some(shape) = shape {
            return Ok(shape);
        }
        let kind = ErrorKind::Unsatisfiable { reason: self.reason(root)? };
        Err(Error::new(kind, Location::Pointer(String::new())))
    }

    /// Of names, it is not enough to know some that are not to come.
    fn check_name_terms(&self) -> Result<(), Error> {
        let refused = self.reach.name_terms.iter().filter_map(|(&names, &place)| {
            let refusal = self.shape(self.shape_of(names)?).refusal()?;
            Some((place, refusal))
        });
        match refused.min_by_key(|&(place, _)| place) {
            Some((place, refusal)) => {
                Err(Error::unsupported(refusal.feature, self.sources.location(place)))
            }
            None => Ok(()),
        }
    }

    /// The shape of a term; `None` if no value has it.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn live_shape(&mut self, term: TermId) -> Result<Option<ShapeId>, Error> {
        Ok(if self.is_alive(term)? { self.shape_of(term) } else { None })
    }

    /// Whether some value fulfils a term.
    ///
    /// # Errors
    /// A limit was reached, or the term was not looked at before and has a mistake.
    pub(crate) fn is_alive(&mut self, term: TermId) -> Result<bool, Error> {
        if let Some(known) = self.known_alive(term) {
            return Ok(known);
        }
        if self.reach.is_settling {
            self.explore(term)?;
            return Ok(self.known_alive(term) == Some(true));
        }
        self.reach.is_settling = true;
        let settled = self.settle(term);
        self.reach.is_settling = false;
        if settled.is_err() {
            self.forget_open();
        }
        settled?;
        // Refused here if too many values would have to be remembered.
        for array in std::mem::take(&mut self.reach.unique) {
            self.array_table(&array)?;
        }
        Ok(self.known_alive(term) == Some(true))
    }

    /// Whether some value fulfils a term, if that was asked before; "no" while it is under way.
    fn known_alive(&self, term: TermId) -> Option<bool> {
        let shape = self.shape_of(term)?;
        match self.reach.alive.get(shape.0 as usize).copied().unwrap_or_default() {
            Alive::New => None,
            Alive::Yes => Some(true),
            Alive::No | Alive::Open => Some(false),
        }
    }

    fn forget_open(&mut self) {
        for alive in self.reach.alive.iter_mut().filter(|alive| **alive == Alive::Open) {
            *alive = Alive::New;
        }
        self.reach.open.clear();
        self.reach.extents.clear();
    }

    /// The least fixpoint: a shape is alive if some value of it is made of values of shapes that
    /// are alive already. Inner shapes come later in the list, so that most are settled in the
    /// first round, from the end.
    fn settle(&mut self, term: TermId) -> Result<(), Error> {
        self.explore(term)?;
        loop {
            let mut has_changed = false;
            let mut left = Vec::new();
            for id in std::mem::take(&mut self.reach.open).into_iter().rev() {
                self.budget.tick()?;
                if self.has_value(id)? {
                    self.reach.alive[id.0 as usize] = Alive::Yes;
                    self.reach.extents.clear();
                    has_changed = true;
                } else {
                    left.push(id);
                }
            }
            left.reverse();
            // What a shape asked for that nobody had looked at before.
            has_changed |= !self.reach.open.is_empty();
            left.append(&mut self.reach.open);
            self.reach.open = left;
            if self.reach.open.is_empty() || !has_changed {
                break;
            }
        }
        for id in std::mem::take(&mut self.reach.open) {
            self.reach.alive[id.0 as usize] = Alive::No;
        }
        Ok(())
    }

    /// Looks at all shapes that a value of a term may have inside.
    fn explore(&mut self, term: TermId) -> Result<(), Error> {
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            self.budget.tick()?;
            let id = self.evaluate(term)?;
            let at = id.0 as usize;
            if self.reach.alive.len() <= at {
                self.reach.alive.resize(self.shapes.len(), Alive::New);
            }
            if self.reach.alive[at] != Alive::New {
                continue;
            }
            let shape = self.shape(id).clone();
            self.reach.alive[at] = Alive::Open;
            if self.has_plain_value(&shape)? {
                self.reach.alive[at] = Alive::Yes;
            } else {
                self.reach.open.push(id);
                if self.reach.open.len() > self.budget.limits.rules {
                    return Err(Error::limit("rules", self.budget.limits.rules));
                }
            }
            if let Some(refusal) = shape.refusal() {
                if self.options.unsupported == Unsupported::Refuse {
                    let location = self.sources.location(refusal.place);
                    return Err(Error::unsupported(refusal.feature, location));
                }
                self.reach.refusals.push(refusal);
            }
            self.check_notation(term, &shape)?;
            self.note_compared(&shape);
            for number in shape.numbers.iter().filter(|number| number.values.is_none()) {
                number_text::number_set(number, self.options.numbers, &self.budget.limits)?;
            }
            for array in &shape.arrays {
                todo.extend_from_slice(&array.prefix);
                if array.max as usize > array.prefix.len() {
                    todo.push(array.items);
                }
                if array.unique.is_some() {
                    self.reach.unique.push(array.clone());
                }
                for contains in &array.contains {
                    // What cannot be written must be known now, so items that are not counted are
                    // looked at too.
                    let is_bounded = contains.max != UNBOUNDED && self.is_written_otherwise();
                    let others =
                        is_bounded.then(|| self.terms.not(self.sources.root(), contains.value));
                    for at in 0..=array.prefix.len() {
                        todo.push(self.terms.and2(array.item(at), contains.value));
                        todo.extend(others.map(|it| self.terms.and2(array.item(at), it)));
                    }
                }
            }
            for formula in self.formulas.alternatives(shape.objects) {
                self.push_members_of_all(formula, &mut todo)?;
            }
        }
        Ok(())
    }

    /// The terms that a formula's members may have to fulfil, each with what the formula's own list
    /// of rules asks of that member.
    pub(crate) fn push_members_of_all(
        &mut self,
        formula: FormulaId,
        todo: &mut Vec<TermId>,
    ) -> Result<(), Error> {
        let parts = self.formulas.conjuncts(formula);
        let rules = parts.iter().find_map(|&part| self.rules_of(part));
        let Some(rules) = rules.filter(|_| parts.len() > 1) else {
            self.push_members(formula, todo);
            return Ok(());
        };
        let mut todo_parts = parts;
        while let Some(part) = todo_parts.pop() {
            let object = match self.formulas.get(part) {
                Formula::And(inner) | Formula::Or(inner) => {
                    todo_parts.extend(inner.iter());
                    continue;
                }
                Formula::Object(object) if *object != rules => object.clone(),
                _ => {
                    self.push_members(part, todo);
                    continue;
                }
            };
            if object.members.len().saturating_mul(rules.members.len()) > MOST_PAIRS {
                self.push_members(part, todo);
                continue;
            }
            for member in &object.members {
                self.budget.tick()?;
                let own = self.value_of(&rules, member.name)?;
                todo.push(self.terms.and2(own, member.value));
            }
            for rule in &object.rules {
                todo.push(rule.value);
                todo.extend(rule.set.terms());
            }
        }
        Ok(())
    }

    /// Whether it is plain to see that a shape has values, whatever is inside of it.
    fn has_plain_value(&mut self, shape: &Shape) -> Result<bool, Error> {
        if shape.null || shape.bools != 0 {
            return Ok(true);
        }
        for number in &shape.numbers {
            if !self.is_number_empty(number)? {
                return Ok(true);
            }
        }
        for string in &shape.strings {
            if self.is_string_possible(string)? {
                return Ok(true);
            }
        }
        if shape.arrays.iter().any(ArrayShape::has_empty) {
            return Ok(true);
        }
        let alternatives = self.formulas.alternatives(shape.objects);
        Ok(alternatives.into_iter().any(|formula| match self.formulas.get(formula) {
            Formula::Any => true,
            Formula::Object(object) => {
                object.min == 0 && !object.members.iter().any(|member| member.is_required)
            }
            _ => false,
        }))
    }

    /// The terms that a formula's members may have to fulfil.
    pub(crate) fn push_members(&self, formula: FormulaId, todo: &mut Vec<TermId>) {
        let mut formulas = vec![formula];
        while let Some(formula) = formulas.pop() {
            match self.formulas.get(formula) {
                Formula::Never | Formula::Except(_) => {}
                Formula::Any => todo.push(ANY),
                Formula::And(parts) | Formula::Or(parts) => formulas.extend(parts.iter()),
                Formula::Exists(exists) => {
                    todo.push(exists.value);
                    todo.extend(exists.set.terms());
                }
                Formula::Object(object) => {
                    todo.extend(object.members.iter().map(|member| member.value));
                    if object.rules.is_empty() {
                        todo.push(ANY);
                    }
                    for rule in &object.rules {
                        todo.push(rule.value);
                        todo.extend(rule.set.terms());
                    }
                }
            }
        }
    }

    /// `propertyNames` that needs the shape of the schema it stands in.
    pub(crate) fn recursive_names(&self, names: TermId) -> Error {
        let location = self.sources.location(self.names_place(names));
        Error::unsupported("propertyNames that refers to the schema around it", location)
    }

    /// Where the `propertyNames` with a term stands.
    pub(crate) fn names_place(&self, names: TermId) -> Place {
        self.reach.name_terms.get(&names).copied().unwrap_or_else(|| self.sources.root())
    }

    /// Whether a shape without a plain value has one.
    fn has_value(&mut self, id: ShapeId) -> Result<bool, Error> {
        let shape = self.shape(id).clone();
        for array in &shape.arrays {
            if self.is_array_alive(array)? {
                return Ok(true);
            }
        }
        for formula in self.formulas.alternatives(shape.objects) {
            if self.is_formula_alive(formula)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn is_array_alive(&mut self, array: &ArrayShape) -> Result<bool, Error> {
        if array.has_empty() {
            return Ok(true);
        }
        if !array.is_plain() {
            if self.reach.is_settling {
                // While it is not known which items have values, nothing of it is kept.
                let table = self.make_array_table(array)?;
                return self.can_end(&table, table.start());
            }
            let id = self.array_table(array)?;
            let table = self.reach.array_tables[id as usize].clone();
            return self.can_end(&table, table.start());
        }
        let last = array.prefix.len().saturating_add(1).min(array.min as usize);
        for at in 0..last {
            let item = array.prefix.get(at).copied().unwrap_or(array.items);
            if !self.is_alive(item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn is_number_empty(&self, number: &NumberShape) -> Result<bool, Error> {
        if number.values.is_some() {
            return Ok(false);
        }
        let set = number_text::number_set(number, self.options.numbers, &self.budget.limits)?;
        Ok(set.is_none())
    }

    /// Why no value has the shape of a term.
    fn reason(&mut self, term: TermId) -> Result<String, Error> {
        let id = self.evaluate(term)?;
        let shape = self.shape(id).clone();
        for formula in self.formulas.alternatives(shape.objects) {
            let Some(object) = self.rules_of(formula) else { continue };
            for member in object.members.iter().filter(|member| member.is_required) {
                if !self.is_alive(member.value)? {
                    let name = self.texts.get(member.name);
                    return Ok(format!("the required member `{name}` can have no value"));
                }
            }
        }
        if shape.is_never() {
            return Ok("its assertions exclude each other".to_owned());
        }
        Ok("no finite value fulfils its assertions".to_owned())
    }
}
