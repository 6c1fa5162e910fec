//! Conditions on objects: formulas over lists of rules ([`ObjectShape`]) and members that must be
//! there ([`Exists`]), each kept once.
//!
//! "And" of two lists of rules is one list. "And" of alternatives is multiplied out only where that
//! costs little: else it stays a formula, whose alternatives are told apart member by member.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, Exists, Member, NEVER, NameRule, ObjectShape, Place,
};
use crate::grammar::UNBOUNDED;
use crate::interner::Interner;

/// An interned formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FormulaId(pub(crate) u32);

/// No object.
pub(crate) const NO_OBJECT: FormulaId = FormulaId(0);
/// Every object.
pub(crate) const ANY_OBJECT: FormulaId = FormulaId(1);

/// Alternatives up to which two unions are multiplied out.
const MOST_PRODUCTS: usize = 16;

/// Parts up to which one is looked for inside the others.
const MOST_ABSORBED: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formula {
    Never,
    Any,
    Object(Arc<ObjectShape>),
    Exists(Arc<Exists>),
    /// Objects that are none of these; sorted, not empty.
    Except(Arc<[ConstantId]>),
    /// In the order in which their names come.
    And(Arc<[FormulaId]>),
    Or(Arc<[FormulaId]>),
}

/// The table of formulas.
#[derive(Debug)]
pub(crate) struct Formulas {
    list: Interner<Formula>,
    /// How many formulas each has one inside the other.
    depths: Vec<u32>,
    /// The parts, members and rules of all formulas.
    size: usize,
}

impl Default for Formulas {
    fn default() -> Self {
        let mut formulas = Self { list: Interner::default(), depths: Vec::new(), size: 0 };
        formulas.add(Formula::Never);
        formulas.add(Formula::Any);
        formulas
    }
}

impl Formulas {
    /// The parts, members and rules of all formulas.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn get(&self, id: FormulaId) -> &Formula {
        self.list.get(id.0)
    }

    pub(crate) fn add(&mut self, formula: Formula) -> FormulaId {
        let id = self.list.id(formula);
        if (id as usize) < self.depths.len() {
            return FormulaId(id);
        }
        let (depth, size) = match self.list.get(id) {
            Formula::And(parts) | Formula::Or(parts) => {
                let depth = parts.iter().map(|&part| self.depth(part) + 1).max();
                (depth.unwrap_or(0), parts.len())
            }
            Formula::Object(object) => (0, object.members.len() + object.rules.len()),
            Formula::Exists(exists) => (0, exists.except.len()),
            Formula::Except(constants) => (0, constants.len()),
            Formula::Never | Formula::Any => (0, 0),
        };
        self.size += 1 + size;
        self.depths.push(depth);
        FormulaId(id)
    }

    fn depth(&self, id: FormulaId) -> u32 {
        self.depths[id.0 as usize]
    }

    pub(crate) fn object(&mut self, object: ObjectShape) -> FormulaId {
        if object == ObjectShape::default() {
            return ANY_OBJECT;
        }
        self.add(Formula::Object(Arc::new(object)))
    }

    /// Objects that are none of these.
    pub(crate) fn except(&mut self, mut constants: Vec<ConstantId>) -> FormulaId {
        constants.sort_unstable();
        constants.dedup();
        if constants.is_empty() {
            return ANY_OBJECT;
        }
        self.add(Formula::Except(constants.into()))
    }

    pub(crate) fn object_or_none(&mut self, object: Option<ObjectShape>) -> FormulaId {
        object.map_or(NO_OBJECT, |object| self.object(object))
    }

    /// The parts of a conjunction.
    pub(crate) fn conjuncts(&self, id: FormulaId) -> Vec<FormulaId> {
        match self.get(id) {
            Formula::Any => Vec::new(),
            Formula::And(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    /// The alternatives of a union.
    pub(crate) fn alternatives(&self, id: FormulaId) -> Vec<FormulaId> {
        match self.get(id) {
            Formula::Never => Vec::new(),
            Formula::Or(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    /// All of these, as they are.
    pub(crate) fn and(&mut self, parts: &[FormulaId]) -> FormulaId {
        let mut members: Vec<FormulaId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.get(part) {
                Formula::Never => return NO_OBJECT,
                Formula::Any => {}
                Formula::And(inner) => members.extend_from_slice(inner),
                _ => members.push(part),
            }
        }
        keep_first(&mut members);
        if members.len() <= MOST_ABSORBED {
            let all = members.clone();
            members.retain(|&part| match self.get(part) {
                Formula::Or(inner) => !inner.iter().any(|other| all.contains(other)),
                _ => true,
            });
        }
        match members[..] {
            [] => ANY_OBJECT,
            [one] => one,
            _ => self.add(Formula::And(members.into())),
        }
    }

    /// Any of these.
    pub(crate) fn or(&mut self, parts: &[FormulaId]) -> FormulaId {
        let mut members: Vec<FormulaId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.get(part) {
                Formula::Any => return ANY_OBJECT,
                Formula::Never => {}
                Formula::Or(inner) => members.extend_from_slice(inner),
                _ => members.push(part),
            }
        }
        keep_first(&mut members);
        if members.len() <= MOST_ABSORBED {
            let all = members.clone();
            members.retain(|&part| match self.get(part) {
                Formula::And(inner) => !inner.iter().any(|other| all.contains(other)),
                _ => true,
            });
        }
        match members[..] {
            [] => NO_OBJECT,
            [one] => one,
            _ => self.add(Formula::Or(members.into())),
        }
    }
}

fn keep_first(members: &mut Vec<FormulaId>) {
    if members.len() > 1 {
        let mut seen = rustc_hash::FxHashSet::default();
        members.retain(|&member| seen.insert(member));
    }
}

impl Schemas {
    /// What looks into a formula goes down it by recursion; all formulas together take memory.
    ///
    /// # Errors
    /// It is too deep, or there are too many.
    pub(crate) fn check_formula(&self, id: FormulaId) -> Result<(), Error> {
        let limits = &self.budget.limits;
        if self.formulas.depth(id) as usize > limits.nesting {
            return Err(self.at_work(Error::limit("nesting", limits.nesting)));
        }
        if self.formulas.size > limits.expressions {
            return Err(self.at_work(Error::limit("expressions", limits.expressions)));
        }
        Ok(())
    }

    /// The objects of all these formulas: lists of rules become one, and alternatives are
    /// multiplied out where that costs little.
    pub(crate) fn and_objects(&mut self, parts: &[FormulaId]) -> Result<FormulaId, Error> {
        let mut rules: Option<Arc<ObjectShape>> = None;
        let mut members = Vec::new();
        let mut except = Vec::new();
        let mut unions: Vec<FormulaId> = Vec::new();
        let mut todo: Vec<FormulaId> = parts.iter().rev().copied().collect();
        while let Some(part) = todo.pop() {
            match self.formulas.get(part).clone() {
                Formula::Never => return Ok(NO_OBJECT),
                Formula::Any => {}
                Formula::And(inner) => todo.extend(inner.iter().rev()),
                Formula::Or(_) => unions.push(part),
                Formula::Exists(_) => members.push(part),
                Formula::Except(constants) => except.extend_from_slice(&constants),
                Formula::Object(object) => {
                    rules = match rules {
                        None => Some(object),
                        Some(known) => match self.meet_objects(&known, &object)? {
                            Some(both) => Some(Arc::new(both)),
                            None => return Ok(NO_OBJECT),
                        },
                    };
                }
            }
        }
        keep_first(&mut unions);
        let mut all = Vec::with_capacity(2 + members.len() + unions.len());
        if let Some(rules) = rules
            && *rules != ObjectShape::default()
        {
            all.push(self.formulas.add(Formula::Object(rules)));
        }
        all.extend(members);
        let except = self.formulas.except(except);
        all.extend((except != ANY_OBJECT).then_some(except));
        let has_sides = !all.is_empty();
        let len = |id: &FormulaId| self.formulas.alternatives(*id).len();
        let products = unions.iter().map(len).fold(1, usize::saturating_mul);
        if products > self.budget.limits.alternatives
            && let Some(tagged) = self.by_tag(&all, &unions, MOST_PRODUCTS)?
        {
            self.check_formula(tagged)?;
            return Ok(tagged);
        }
        if unions.is_empty()
            || (unions.len() == 1 && !has_sides)
            || (unions.len() > 1 && products > MOST_PRODUCTS)
        {
            all.extend(unions);
            let all = self.formulas.and(&all);
            self.check_formula(all)?;
            return Ok(all);
        }
        let mut products = vec![self.formulas.and(&all)];
        for union in unions {
            let mut more = Vec::new();
            for &product in &products {
                for alternative in self.formulas.alternatives(union) {
                    self.budget.tick()?;
                    let both = self.and_objects(&[product, alternative])?;
                    self.add_alternative(&mut more, both);
                }
            }
            self.check_count(more.len())?;
            products = more;
        }
        let all = self.formulas.or(&products);
        self.check_formula(all)?;
        Ok(all)
    }

    /// Adds an alternative that is not plainly within another one.
    fn add_alternative(&self, list: &mut Vec<FormulaId>, more: FormulaId) {
        if more == NO_OBJECT || list.contains(&more) {
            return;
        }
        if list.len() <= MOST_ABSORBED {
            if list.iter().any(|&known| self.is_within(more, known)) {
                return;
            }
            list.retain(|&known| !self.is_within(known, more));
        }
        list.push(more);
    }

    /// Whether it is plain to see that every object of `a` is one of `b`.
    fn is_within(&self, a: FormulaId, b: FormulaId) -> bool {
        match (self.formulas.get(a), self.formulas.get(b)) {
            (_, Formula::Any) => true,
            (Formula::Object(a), Formula::Object(b)) => a.is_within(b),
            _ => a == b,
        }
    }

    /// The other objects.
    pub(crate) fn not_objects(&mut self, place: Place, id: FormulaId) -> Result<FormulaId, Error> {
        if let Some(&known) = self.negated.get(&id) {
            return Ok(known);
        }
        self.budget.tick()?;
        let other = match self.formulas.get(id).clone() {
            Formula::Never => ANY_OBJECT,
            Formula::Any => NO_OBJECT,
            Formula::And(parts) => {
                let mut others = Vec::with_capacity(parts.len());
                for &part in parts.iter() {
                    others.push(self.not_objects(place, part)?);
                }
                self.formulas.or(&others)
            }
            Formula::Or(parts) => {
                let mut others = Vec::with_capacity(parts.len());
                for &part in parts.iter() {
                    others.push(self.not_objects(place, part)?);
                }
                self.and_objects(&others)?
            }
            Formula::Object(object) => self.objects_outside(place, &object),
            Formula::Except(constants) => {
                let objects: Vec<FormulaId> =
                    constants.iter().map(|&known| self.constant_shape(known).objects).collect();
                self.formulas.or(&objects)
            }
            Formula::Exists(exists) => {
                let value = self.terms.not(place, exists.value);
                let member =
                    |&name: &_| Member { name, value: ANY, is_required: false, is_declared: false };
                let object = ObjectShape {
                    members: exists.except.iter().map(member).collect(),
                    rules: vec![NameRule { set: exists.set.clone(), value }],
                    ..ObjectShape::default()
                };
                self.formulas.object_or_none(object.normal())
            }
        };
        self.negated.insert(id, other);
        self.negated.entry(other).or_insert(id);
        Ok(other)
    }

    /// The objects that break one of some rules.
    fn objects_outside(&mut self, place: Place, object: &ObjectShape) -> FormulaId {
        let any = ObjectShape::default;
        let mut outside = Vec::new();
        if object.min > 0 {
            outside.push(self.formulas.object(ObjectShape { max: object.min - 1, ..any() }));
        }
        if object.max < UNBOUNDED {
            outside.push(self.formulas.object(ObjectShape { min: object.max + 1, ..any() }));
        }
        for member in &object.members {
            let alone = |member| ObjectShape { members: vec![member], ..any() };
            if member.is_required {
                let absent =
                    Member { value: NEVER, is_required: false, is_declared: false, ..*member };
                outside.push(self.formulas.object(alone(absent)));
            }
            let value = self.terms.not(place, member.value);
            if value != NEVER {
                let broken = Member { value, is_required: true, is_declared: false, ..*member };
                outside.push(self.formulas.object(alone(broken)));
            }
        }
        let mut except: Vec<_> = object.members.iter().map(|member| member.name).collect();
        except.sort_unstable();
        let except: Arc<[_]> = except.into();
        for rule in &object.rules {
            let value = self.terms.not(place, rule.value);
            if value != NEVER {
                let exists = Exists { set: rule.set.clone(), except: except.clone(), value };
                outside.push(self.formulas.add(Formula::Exists(Arc::new(exists))));
            }
        }
        self.formulas.or(&outside)
    }

    /// The objects of exactly one of some formulas.
    pub(crate) fn one_of_objects(
        &mut self,
        place: Place,
        parts: &[FormulaId],
    ) -> Result<FormulaId, Error> {
        let mut one = Vec::with_capacity(parts.len());
        for (at, &part) in parts.iter().enumerate() {
            let mut left = part;
            for (other_at, &other) in parts.iter().enumerate() {
                if at != other_at && left != NO_OBJECT && self.do_formulas_meet(left, other)? {
                    let outside = self.not_objects(place, other)?;
                    left = self.and_objects(&[left, outside])?;
                }
            }
            one.push(left);
            self.check_count(one.len())?;
        }
        Ok(self.formulas.or(&one))
    }

    /// False if it is plain to see that no object has both.
    fn do_formulas_meet(&mut self, a: FormulaId, b: FormulaId) -> Result<bool, Error> {
        for a in self.formulas.alternatives(a) {
            for b in self.formulas.alternatives(b) {
                self.budget.tick()?;
                let meets = match (self.rules_of(a), self.rules_of(b)) {
                    (Some(a), Some(b)) => self.do_objects_meet(&a, &b)?,
                    _ => true,
                };
                if meets {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The list of rules that every object of a formula keeps.
    pub(crate) fn rules_of(&self, id: FormulaId) -> Option<Arc<ObjectShape>> {
        let parts = self.formulas.conjuncts(id);
        parts.iter().find_map(|&part| match self.formulas.get(part) {
            Formula::Object(object) => Some(object.clone()),
            _ => None,
        })
    }
}
