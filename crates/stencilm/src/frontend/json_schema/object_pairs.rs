//! The pairs of a member: what its value may be, and what remains of the object's formula then.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::formula::{ANY_OBJECT, Formula, FormulaId, NO_OBJECT};
use crate::frontend::json_schema::object_states::{At, Name};
use crate::frontend::json_schema::object_table::{Leaf, ObjectTable};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, ArrayShape, NEVER, Shape, StringShape, TermId};
use crate::grammar::UNBOUNDED;

/// Pairs of a value and a rest up to which nobody asks whether the value exists.
const FEW_PAIRS: usize = 4;

/// Pairs up to which each two are compared.
const MOST_COMPARED: usize = 16;

impl Schemas {
    /// What a value must be, and what remains of a formula then.
    pub(crate) fn pairs(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
        after: At,
        formula: FormulaId,
        name: Name,
    ) -> Result<Vec<(TermId, FormulaId)>, Error> {
        self.budget.tick()?;
        match self.formulas.get(formula).clone() {
            Formula::Never => Ok(Vec::new()),
            Formula::Or(parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for &part in parts.iter() {
                    all.extend(self.pairs(table, at, after, part, name)?);
                }
                self.joined(all)
            }
            Formula::And(parts) => {
                let mut all = vec![(ANY, ANY_OBJECT)];
                // What the name makes no difference to.
                let mut rests = Vec::new();
                for &part in parts.iter() {
                    let pairs = self.pairs(table, at, after, part, name)?;
                    if pairs[..] == [(ANY, part)] {
                        rests.push(part);
                        continue;
                    }
                    let mut more = Vec::with_capacity(all.len() * pairs.len());
                    for &(value, rest) in &all {
                        for &(own, own_rest) in &pairs {
                            let both = self.terms.and2(value, own);
                            let rest = self.formulas.and(&[rest, own_rest]);
                            if both != NEVER && rest != NO_OBJECT {
                                more.push((both, rest));
                            }
                        }
                    }
                    if more.len() > FEW_PAIRS {
                        let mut alive = Vec::with_capacity(more.len());
                        for (value, rest) in more {
                            if self.is_alive(value)? {
                                alive.push((value, rest));
                            }
                        }
                        more = self.joined(alive)?;
                    }
                    self.check_count(more.len())?;
                    all = more;
                }
                let mut pairs = Vec::with_capacity(all.len());
                for (value, rest) in all {
                    let rest: Vec<FormulaId> = rests.iter().copied().chain([rest]).collect();
                    pairs.push((value, self.formulas.and(&rest)));
                }
                self.joined(pairs)
            }
            Formula::Except(constants) => Ok(self.except_pairs(table, at, after, &constants, name)),
            Formula::Any if !table.leaves.contains_key(&formula) => Ok(vec![(ANY, formula)]),
            Formula::Any | Formula::Object(_) | Formula::Exists(_) => {
                Ok(self.leaf_pairs(table, at, after, formula, name))
            }
        }
    }

    /// What a value may be that leaves the same of the objects that must not come, and these.
    fn except_pairs(
        &mut self,
        table: &ObjectTable,
        at: At,
        after: At,
        constants: &[ConstantId],
        name: Name,
    ) -> Vec<(TermId, FormulaId)> {
        let Name::Member(member) = name else {
            return vec![(ANY, ANY_OBJECT)];
        };
        let mut known: Vec<(ConstantId, Vec<ConstantId>)> = Vec::new();
        for &object in constants {
            let members = &table.constants[&object];
            // Members that are passed over do not come.
            let is_passed = |other: u32| {
                other != member
                    && self.is_left(table, at, other)
                    && !self.is_left(table, after, other)
            };
            if members.iter().any(|&(other, _)| is_passed(other)) {
                continue;
            }
            let Some(&(_, value)) = members.iter().find(|(own, _)| *own == member) else {
                continue;
            };
            match known.iter_mut().find(|(same, _)| *same == value) {
                Some((_, objects)) => objects.push(object),
                None => known.push((value, vec![object])),
            }
        }
        let others = self.none_of(known.iter().map(|&(value, _)| value).collect());
        let mut pairs = vec![(others, ANY_OBJECT)];
        for (value, objects) in known {
            pairs.push((self.constant(value), self.formulas.except(objects)));
        }
        pairs
    }

    fn leaf_pairs(
        &mut self,
        table: &Arc<ObjectTable>,
        at: At,
        after: At,
        formula: FormulaId,
        name: Name,
    ) -> Vec<(TermId, FormulaId)> {
        match &table.leaves[&formula] {
            Leaf::Exists { value, members, classes } => {
                let is_hit = match name {
                    Name::Member(member) => members[member as usize],
                    Name::Class(class) => classes[class],
                };
                let mut pairs = vec![(ANY, formula)];
                if is_hit {
                    pairs.push((*value, ANY_OBJECT));
                }
                pairs
            }
            Leaf::Rules { values, required, classes, max, .. } => {
                let value = match name {
                    Name::Member(member) => values[member as usize],
                    Name::Class(class) => classes[class],
                };
                // Members that are passed over do not come.
                let end = match name {
                    Name::Member(member) if table.is_ordered(member) => member,
                    _ => after.next,
                };
                let first = required.partition_point(|&member| member < at.next);
                let misses = required.get(first).is_some_and(|&member| member < end);
                let is_full = *max < UNBOUNDED && at.count >= *max;
                if value == NEVER || misses || is_full {
                    return Vec::new();
                }
                let is_spent = self.is_spent(table, after, &table.leaves[&formula]);
                vec![(value, if is_spent { ANY_OBJECT } else { formula })]
            }
        }
    }

    /// Whether a list of rules asks for nothing any more.
    fn is_spent(&self, table: &ObjectTable, at: At, leaf: &Leaf) -> bool {
        let Leaf::Rules { touched, classes, min, max, .. } = leaf else {
            return false;
        };
        at.count >= *min
            && *max == UNBOUNDED
            && classes.iter().all(|&value| value == ANY)
            && !touched.iter().any(|&member| self.is_left(table, at, member))
    }

    /// Pairs with the same value have one rest; pairs with the same rest have one value.
    fn joined(
        &mut self,
        pairs: Vec<(TermId, FormulaId)>,
    ) -> Result<Vec<(TermId, FormulaId)>, Error> {
        if pairs.len() < 2 {
            return Ok(pairs);
        }
        let mut by_value: Vec<(TermId, Vec<FormulaId>)> = Vec::new();
        for (value, rest) in pairs {
            self.budget.tick()?;
            match by_value.iter_mut().find(|(known, _)| *known == value) {
                Some((_, rests)) => rests.push(rest),
                None => by_value.push((value, vec![rest])),
            }
        }
        let mut by_rest: Vec<(Vec<TermId>, FormulaId)> = Vec::new();
        for (value, rests) in by_value {
            let rest = self.formulas.or(&rests);
            match by_rest.iter_mut().find(|(_, known)| *known == rest) {
                Some((values, _)) => values.push(value),
                None => by_rest.push((vec![value], rest)),
            }
        }
        let union = |(values, rest): (Vec<_>, _)| (self.terms.or(&values), rest);
        let pairs = by_rest.into_iter().map(union).collect();
        self.apart(pairs)
    }

    /// A value after which less is asked goes that way only: the two ways would stay open side by
    /// side, and double with each member.
    fn apart(
        &mut self,
        mut pairs: Vec<(TermId, FormulaId)>,
    ) -> Result<Vec<(TermId, FormulaId)>, Error> {
        if pairs.len() > MOST_COMPARED {
            return Ok(pairs);
        }
        for wide in 0..pairs.len() {
            let (value, rest) = pairs[wide];
            if value == NEVER || (value != ANY && !self.is_told_at_once(value)?) {
                continue;
            }
            for (narrow, own_rest) in &mut pairs {
                if self.asks_more(*own_rest, rest) {
                    let other = self.terms.not(self.sources.root(), value);
                    *narrow = self.terms.and2(*narrow, other);
                }
            }
        }
        pairs.retain(|&(value, _)| value != NEVER);
        Ok(pairs)
    }

    /// Whether it is plain to see that a formula asks for all that another one asks for, and more.
    fn asks_more(&self, formula: FormulaId, than: FormulaId) -> bool {
        let (parts, fewer) = (self.formulas.conjuncts(formula), self.formulas.conjuncts(than));
        fewer.len() < parts.len() && fewer.iter().all(|part| parts.contains(part))
    }

    /// Whether what a value is not is as simple as what it is, and exact.
    fn is_told_at_once(&mut self, value: TermId) -> Result<bool, Error> {
        let Some(id) = self.try_evaluate(value)? else {
            return Ok(false);
        };
        let Shape { strings, arrays, objects, numbers, .. } = &**self.shape(id);
        let is_plain =
            |string: &StringShape| string.patterns.is_empty() && string.refusal.is_none();
        let is_one = |count| count <= 1;
        Ok(is_one(strings.len())
            && is_one(numbers.len())
            && strings.iter().all(is_plain)
            && numbers.iter().all(|number| number.multiples.len() + number.others.len() <= 1)
            && arrays.iter().all(|array| *array == ArrayShape::default())
            && matches!(*objects, ANY_OBJECT | NO_OBJECT))
    }
}
