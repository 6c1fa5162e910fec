//! How many values a term has, and which, if they are few: arrays of different items run out of
//! values, or do not.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::array_states::ItemsAt;
use crate::frontend::json_schema::constants::{Constant, ConstantId};
use crate::frontend::json_schema::formula::{ANY_OBJECT, Formula, FormulaId};
use crate::frontend::json_schema::object_states::{At, Name};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ArrayShape, NumberShape, ShapeId, StringShape, TermId, TextId,
};
use crate::grammar::UNBOUNDED;
use crate::interner::index;
use crate::number::{Decimal, Point};

/// Values up to which they are listed.
pub(crate) const MOST_VALUES: usize = 2_000;

/// Values inside each other that are looked into.
const MOST_NESTED: usize = 16;

/// Numbers that are looked at to list those of a set.
const MOST_TRIED: u64 = 20_000;

/// The values of a term.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// Just these, each once.
    Few(Arc<[ConstantId]>),
    /// More than [`MOST_VALUES`]: at least so many, `UNBOUNDED` for more than any text has.
    Many { at_least: u32 },
    /// It would take too long to tell.
    Unknown,
}

/// What is known of a union so far.
#[derive(Default)]
struct Union {
    few: Vec<ConstantId>,
    many: Option<u32>,
    is_unknown: bool,
}

impl Union {
    /// Adds values. True if no more have to be looked at.
    fn add(&mut self, extent: Extent) -> bool {
        match extent {
            Extent::Few(values) => self.few.extend(values.iter()),
            Extent::Many { at_least } => self.many = self.many.max(Some(at_least)),
            Extent::Unknown => self.is_unknown = true,
        }
        self.many == Some(UNBOUNDED)
    }

    fn extent(mut self) -> Extent {
        self.few.sort_unstable();
        self.few.dedup();
        match self.many {
            Some(at_least) => Extent::Many { at_least },
            None if self.few.len() > MOST_VALUES => many(self.few.len()),
            None if self.is_unknown => Extent::Unknown,
            None => Extent::Few(self.few.into()),
        }
    }
}

impl Schemas {
    /// The values of a term.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn extent(&mut self, term: TermId) -> Result<Extent, Error> {
        if !self.is_alive(term)? {
            return Ok(Extent::Few(Arc::new([])));
        }
        let id = self.evaluate(term)?;
        if let Some(known) = self.reach.extents.get(&id) {
            return Ok(known.clone());
        }
        if self.reach.listing.contains(&id) {
            // A value inside of one of the same kind: there is no largest one.
            return Ok(Extent::Many { at_least: UNBOUNDED });
        }
        if self.reach.listing.len() > MOST_NESTED {
            return Ok(Extent::Unknown);
        }
        self.reach.listing.push(id);
        let extent = self.extent_of(id);
        self.reach.listing.pop();
        let extent = extent?;
        // How much is looked into depends on what is around it.
        if !matches!(extent, Extent::Unknown) {
            self.reach.extents.insert(id, extent.clone());
        }
        Ok(extent)
    }

    fn extent_of(&mut self, id: ShapeId) -> Result<Extent, Error> {
        let shape = self.shape(id).clone();
        let mut all = Union::default();
        if shape.null {
            all.few.push(self.constants.id(Constant::Null));
        }
        let bools = [(1, false), (2, true)].into_iter().filter(|(bit, _)| shape.bools & bit != 0);
        for (_, value) in bools {
            all.few.push(self.constants.id(Constant::Bool(value)));
        }
        for number in &shape.numbers {
            if all.add(self.numbers(number)?) {
                return Ok(all.extent());
            }
        }
        for string in &shape.strings {
            if all.add(self.texts_of(string)?) {
                return Ok(all.extent());
            }
        }
        for array in &shape.arrays {
            if self.is_array_alive(array)? && all.add(self.arrays_of(array)?) {
                return Ok(all.extent());
            }
        }
        for formula in self.formulas.alternatives(shape.objects) {
            if self.is_formula_alive(formula)? && all.add(self.objects_of(formula)?) {
                return Ok(all.extent());
            }
        }
        Ok(all.extent())
    }

    fn numbers(&mut self, number: &NumberShape) -> Result<Extent, Error> {
        if self.is_number_empty(number)? {
            return Ok(Extent::Few(Arc::new([])));
        }
        Ok(match number.few(MOST_TRIED) {
            Few::All(values) => Extent::Few(
                values.into_iter().map(|v| self.constants.id(Constant::Number(v))).collect(),
            ),
            Few::Many { at_least } => Extent::Many { at_least },
            Few::Unknown => Extent::Unknown,
        })
    }

    fn texts_of(&mut self, string: &StringShape) -> Result<Extent, Error> {
        if let Some(values) = &string.values {
            let values = values.iter().map(|&text| self.constants.id(Constant::Text(text)));
            return Ok(Extent::Few(values.collect()));
        }
        if string.patterns.is_empty() && string.max > 0 {
            // The characters are 1,112,064, and two of them 10¹² pairs.
            let at_least = if string.max == 1 { 1_000_000 } else { UNBOUNDED };
            return Ok(Extent::Many { at_least });
        }
        let none = (&[][..], &self.texts);
        let count = self.patterns.count([string], none, u32::MAX, &mut self.budget)?;
        if count as usize > MOST_VALUES {
            return Ok(Extent::Many { at_least: count });
        }
        let texts = self.few_strings(string, MOST_VALUES)?;
        Ok(texts.map_or(Extent::Unknown, |texts| {
            Extent::Few(texts.into_iter().map(|t| self.constants.id(Constant::Text(t))).collect())
        }))
    }

    /// Arrays, the shorter ones first: each beginning is one that some array has.
    fn arrays_of(&mut self, array: &ArrayShape) -> Result<Extent, Error> {
        let is_free = array.max == UNBOUNDED
            && array.unique.is_none()
            && array.contains.iter().all(|contains| contains.max == UNBOUNDED);
        if is_free && self.is_alive(array.items)? {
            return Ok(Extent::Many { at_least: UNBOUNDED });
        }
        if array.prefix.is_empty()
            && array.contains.is_empty()
            && !array.has_repeats()
            && array.max > 0
        {
            return match self.extent(array.items)? {
                Extent::Few(values) => self.arrays_of_few(array, &values),
                many => Ok(many),
            };
        }
        let table = self.make_array_table(array)?;
        let mut found = Vec::new();
        let mut level: BTreeMap<Vec<ConstantId>, Vec<ItemsAt>> = BTreeMap::new();
        level.insert(Vec::new(), vec![table.start()]);
        for _ in 0..=MOST_VALUES {
            let mut longer: BTreeMap<Vec<ConstantId>, Vec<ItemsAt>> = BTreeMap::new();
            for (items, states) in level {
                if states.iter().any(|&at| self.may_end(&table, at)) {
                    found.push(self.constants.id(Constant::Array(items.clone().into())));
                }
                for at in states {
                    for step in self.item_steps(&table, at)? {
                        let values = match self.extent(step.value)? {
                            Extent::Few(values) => values,
                            many => return Ok(many),
                        };
                        for &value in values.iter() {
                            self.budget.tick()?;
                            let next = if step.is_new {
                                self.with_item(step.next, value)
                            } else {
                                step.next
                            };
                            let items = items.iter().copied().chain([value]).collect();
                            let states = longer.entry(items).or_default();
                            if !states.contains(&next) {
                                states.push(next);
                            }
                        }
                        if found.len() + longer.len() > MOST_VALUES {
                            return Ok(many(found.len() + longer.len()));
                        }
                    }
                }
            }
            if longer.is_empty() {
                return Ok(Extent::Few(found.into()));
            }
            level = longer;
        }
        Ok(Extent::Unknown)
    }

    /// The arrays of items of these values: counted first, since their number may be anything.
    fn arrays_of_few(
        &mut self,
        array: &ArrayShape,
        values: &[ConstantId],
    ) -> Result<Extent, Error> {
        if array.min as usize > MOST_VALUES {
            return Ok(Extent::Unknown);
        }
        let is_unique = array.unique.is_some();
        let most = MOST_VALUES as u64 + array.except.len() as u64;
        let (mut count, mut ways, mut len) = (0_u64, 1_u64, 0_u32);
        while len <= array.max && ways > 0 {
            self.budget.tick()?;
            count = count.saturating_add(if len < array.min { 0 } else { ways });
            if count > most {
                let at_least = count - array.except.len() as u64;
                return Ok(Extent::Many { at_least: u32::try_from(at_least).unwrap_or(UNBOUNDED) });
            }
            let used = if is_unique { u64::from(len) } else { 0 };
            ways = ways.saturating_mul((values.len() as u64).saturating_sub(used));
            len += 1;
        }
        let mut found = Vec::new();
        let mut todo: Vec<Vec<ConstantId>> = vec![Vec::new()];
        while let Some(items) = todo.pop() {
            self.budget.tick()?;
            if items.len() < array.max as usize {
                for &value in values.iter().filter(|value| !is_unique || !items.contains(value)) {
                    todo.push(items.iter().copied().chain([value]).collect());
                }
            }
            if items.len() >= array.min as usize {
                found.push(self.constants.id(Constant::Array(items.into())));
            }
        }
        found.retain(|known| !array.except.contains(known));
        Ok(Extent::Few(found.into()))
    }

    /// How many objects keep a list of rules that has no other names and counts none; none if it is
    /// no such list, or has few.
    fn count_members(&mut self, formula: FormulaId) -> Result<Option<u32>, Error> {
        let (mut rules, mut except) = (None, 0);
        for part in self.formulas.conjuncts(formula) {
            match self.formulas.get(part) {
                Formula::Object(object) if rules.is_none() => rules = Some(object.clone()),
                Formula::Except(constants) => except += constants.len() as u64,
                _ => return Ok(None),
            }
        }
        let Some(rules) = rules.filter(|rules| {
            let required = rules.members.iter().filter(|member| member.is_required).count();
            rules.is_closed()
                && rules.min as usize <= required
                && rules.max as usize >= rules.members.len()
        }) else {
            return Ok(None);
        };
        let mut count = 1_u64;
        for member in &rules.members {
            let ways = match self.extent(member.value)? {
                Extent::Few(values) => values.len() as u64,
                Extent::Many { at_least } => at_least.into(),
                Extent::Unknown => return Ok(None),
            };
            count = count.saturating_mul(ways + u64::from(!member.is_required));
        }
        let count = u32::try_from(count.saturating_sub(except)).unwrap_or(UNBOUNDED);
        Ok((count as usize > MOST_VALUES).then_some(count))
    }

    /// Objects, those with fewer members first: each set of members is one that some object has.
    fn objects_of(&mut self, formula: FormulaId) -> Result<Extent, Error> {
        if formula == ANY_OBJECT {
            return Ok(Extent::Many { at_least: UNBOUNDED });
        }
        if let Some(at_least) = self.count_members(formula)? {
            return Ok(Extent::Many { at_least });
        }
        let id = self.object_table(formula, formula)?;
        let table = self.reach.tables[id as usize].clone();
        let mut found = Vec::new();
        let mut level: BTreeMap<Vec<(TextId, ConstantId)>, Vec<At>> = BTreeMap::new();
        level.insert(Vec::new(), vec![table.start()]);
        while !level.is_empty() {
            let mut longer: BTreeMap<Vec<(TextId, ConstantId)>, Vec<At>> = BTreeMap::new();
            for (members, states) in level {
                if states.iter().any(|&at| self.may_close(&table, at)) {
                    found.push(self.constants.id(Constant::Object(members.clone().into())));
                }
                for at in states {
                    if let Some(&class) = self.classes_at(&table, at)?.first() {
                        for string in &table.classes[class].strings {
                            match self.texts_of(string)? {
                                many @ Extent::Many { .. } => return Ok(many),
                                Extent::Few(_) | Extent::Unknown => {}
                            }
                        }
                        return Ok(Extent::Unknown);
                    }
                    let mut place = 0;
                    while let Some(found_at) =
                        self.next_place(&table, id, at, (place, table.len()))?
                    {
                        place = found_at + 1;
                        let member = table.member_at[found_at as usize];
                        let name = table.members[member as usize];
                        for (value, next) in self.steps(&table, at, Name::Member(member))? {
                            let values = match self.extent(value)? {
                                Extent::Few(values) => values,
                                many => return Ok(many),
                            };
                            for &value in values.iter() {
                                self.budget.tick()?;
                                let mut members = members.clone();
                                let slot = members.partition_point(|&(known, _)| known < name);
                                members.insert(slot, (name, value));
                                let states = longer.entry(members).or_default();
                                if !states.contains(&next) {
                                    states.push(next);
                                }
                            }
                            if found.len() + longer.len() > 4 * MOST_VALUES {
                                // Sets of members that others contain may be those of one object.
                                return Ok(Extent::Unknown);
                            }
                        }
                    }
                }
            }
            level = longer;
        }
        let found: FxHashSet<ConstantId> = found.into_iter().collect();
        if found.len() > MOST_VALUES {
            return Ok(many(found.len()));
        }
        Ok(Extent::Few(found.into_iter().collect()))
    }
}

fn many(count: usize) -> Extent {
    Extent::Many { at_least: index(count) }
}

/// The numbers of a set.
#[derive(Debug)]
enum Few {
    All(Vec<Decimal>),
    Many { at_least: u32 },
    Unknown,
}

impl NumberShape {
    /// The numbers of a set that is not empty, if no more than `tried` have to be looked at.
    fn few(&self, tried: u64) -> Few {
        if let Some(values) = &self.values {
            return Few::All(values.to_vec());
        }
        let (Some(low), Some(high)) = (&self.low, &self.high) else {
            return Few::Many { at_least: UNBOUNDED };
        };
        if low.value == high.value {
            return Few::All(vec![low.value.clone()]);
        }
        let mut steps: Vec<Decimal> = self.multiples.clone();
        if self.point == Point::Never {
            steps.push(Decimal::one());
        }
        let Some(step) = steps.into_iter().max() else {
            return Few::Many { at_least: UNBOUNDED };
        };
        let Some((first, last)) = step.multiples_between(&low.value, &high.value) else {
            return Few::Unknown;
        };
        let count = last.clone() - first.clone() + 1;
        if count > tried.into() {
            let is_plain = self.others.is_empty()
                && self.multiples.iter().all(|divisor| step.is_multiple_of(divisor));
            let is_plain = is_plain && (self.point == Point::Maybe || step.is_integer());
            let at_least = u32::try_from(count).unwrap_or(UNBOUNDED);
            return if is_plain { Few::Many { at_least } } else { Few::Unknown };
        }
        let mut values = Vec::new();
        let mut at = first;
        while at <= last {
            let value = step.times(&at);
            if self.has(&value) {
                values.push(value);
            }
            at += 1;
        }
        Few::All(values)
    }
}
