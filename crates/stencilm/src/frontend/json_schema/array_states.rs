//! The states of an array whose items are not asked for by their places alone: how many items with
//! a value are missing or too many, and which values came.

use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::formula::NO_OBJECT;
use crate::frontend::json_schema::object_states::SeenId;
use crate::frontend::json_schema::options::Unsupported;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{
    ANY, ArrayShape, NEVER, NumberShape, Refusal, Shape, StringShape, TermId, TextId,
};
use crate::frontend::json_schema::terms::Term;
use crate::grammar::UNBOUNDED;
use crate::number::{Decimal, Point};

/// Different values up to which an array remembers which came.
const MOST_VALUES: usize = 2_000;

/// Arrays of different items one inside the other whose values are listed.
const MOST_LISTED: usize = 16;

/// A value that is no array and no object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(TextId),
}

/// Where an array stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ItemsAt {
    /// The items so far, as far as they are counted.
    pub(crate) count: u32,
    /// How many items are still missing and allowed, for each `contains`.
    pub(crate) needs: NeedsId,
    /// Which values came, where they must differ.
    seen: SeenId,
    pub(crate) is_first: bool,
}

/// An interned list of what is missing, and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NeedsId(u32);

/// What is known of one array shape.
#[derive(Debug)]
pub(crate) struct ArrayTable {
    array: ArrayShape,
    /// Items from here on are asked for alike.
    last: u32,
    start: NeedsId,
    /// The values that may come, and those of each item up to `last`, where they must differ.
    values: Vec<Scalar>,
    values_at: Vec<Vec<u32>>,
}

impl ArrayTable {
    /// After the opening bracket.
    pub(crate) fn start(&self) -> ItemsAt {
        ItemsAt { count: 0, needs: self.start, seen: SeenId(0), is_first: true }
    }
}

impl Schemas {
    /// The table of an array shape that is not plain.
    ///
    /// # Errors
    /// The shape cannot be enforced, or a limit was reached.
    pub(crate) fn array_table(&mut self, array: &ArrayShape) -> Result<u32, Error> {
        if let Some(&known) = self.reach.array_ids.get(array) {
            return Ok(known);
        }
        let table = self.make_array_table(array)?;
        let id = index(self.reach.array_tables.len());
        self.reach.array_tables.push(Arc::new(table));
        self.reach.array_ids.insert(array.clone(), id);
        Ok(id)
    }

    pub(crate) fn make_array_table(&mut self, array: &ArrayShape) -> Result<ArrayTable, Error> {
        let ends = array.contains.iter().map(|contains| match contains.to {
            UNBOUNDED => contains.from,
            to => to,
        });
        let len = index(array.prefix.len());
        let last = match array.max {
            UNBOUNDED => ends.fold(len.max(array.min), u32::max),
            max => max,
        };
        let needs = array.contains.iter().map(|contains| (contains.min, contains.max)).collect();
        let mut table = ArrayTable {
            array: array.clone(),
            last,
            start: NeedsId(self.reach.needs.id(needs)),
            values: Vec::new(),
            values_at: Vec::new(),
        };
        if let Some(place) = array.unique {
            self.reach.listing.push(array.clone());
            let listed = self.list_values(&mut table, Refusal::new("uniqueItems", place));
            self.reach.listing.pop();
            listed?;
        }
        Ok(table)
    }

    /// The values that different items may have, if they are few.
    fn list_values(&mut self, table: &mut ArrayTable, refusal: Refusal) -> Result<(), Error> {
        let places = table.array.prefix.len() + 1;
        for at in 0..places {
            let item = table.array.item(at);
            let is_used = (at as u64) < u64::from(table.array.max);
            let scalars = if is_used && self.is_alive(item)? {
                self.few_scalars(item)?
            } else {
                Some(Vec::new())
            };
            let Some(scalars) = scalars else {
                if self.options.unsupported == Unsupported::Widen {
                    self.reach.refusals.push(refusal);
                    table.array.unique = None;
                    return Ok(());
                }
                let location = self.sources.location(refusal.place);
                return Err(Error::unsupported(refusal.feature, location));
            };
            let mut own = Vec::with_capacity(scalars.len());
            for scalar in scalars {
                let known = table.values.iter().position(|known| *known == scalar);
                own.push(index(known.unwrap_or(table.values.len())));
                if known.is_none() {
                    table.values.push(scalar);
                }
            }
            table.values_at.push(own);
        }
        Ok(())
    }

    /// The values of a term, if they are few and neither arrays nor objects.
    fn few_scalars(&mut self, term: TermId) -> Result<Option<Vec<Scalar>>, Error> {
        let id = self.evaluate(term)?;
        let shape = self.shape(id).clone();
        let mut scalars = Vec::new();
        if shape.null {
            scalars.push(Scalar::Null);
        }
        let bools = [(1, false), (2, true)].into_iter().filter(|(bit, _)| shape.bools & bit != 0);
        scalars.extend(bools.map(|(_, value)| Scalar::Bool(value)));
        for number in &shape.numbers {
            match number.few() {
                Some(values) => scalars.extend(values.into_iter().map(Scalar::Number)),
                None => return Ok(None),
            }
        }
        for string in &shape.strings {
            match self.few_strings(string, MOST_VALUES)? {
                Some(texts) => scalars.extend(texts.into_iter().map(Scalar::Text)),
                None => return Ok(None),
            }
        }
        for array in &shape.arrays {
            // An array inside of itself has no few values; far inside of others nobody looks.
            let is_deep = self.reach.listing.len() > MOST_LISTED;
            if is_deep || self.reach.listing.contains(array) || self.is_array_alive(array)? {
                return Ok(None);
            }
        }
        if shape.objects != NO_OBJECT {
            for formula in self.formulas.alternatives(shape.objects) {
                if self.is_formula_alive(formula)? {
                    return Ok(None);
                }
            }
        }
        Ok((scalars.len() <= MOST_VALUES).then_some(scalars))
    }

    /// The shape of one value.
    pub(crate) fn scalar_shape(scalar: &Scalar) -> Shape {
        let mut shape = Shape::default();
        match scalar {
            Scalar::Null => shape.null = true,
            Scalar::Bool(value) => shape.bools = 1 << u8::from(*value),
            Scalar::Number(value) => {
                let values = Some([value.clone()].into());
                shape.numbers.push(NumberShape { values, ..NumberShape::default() });
            }
            Scalar::Text(text) => {
                let values = Some([*text].into());
                shape.strings.push(StringShape { values, ..StringShape::default() });
            }
        }
        shape
    }

    /// Whether the array may end.
    pub(crate) fn may_end(&self, table: &ArrayTable, at: ItemsAt) -> bool {
        at.count >= table.array.min
            && self.reach.needs.get(at.needs.0).iter().all(|&(min, _)| min == 0)
    }

    /// The values that the next item may have, with what follows each; only those with which the
    /// array can be completed.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn item_steps(
        &mut self,
        table: &ArrayTable,
        at: ItemsAt,
    ) -> Result<Vec<(TermId, ItemsAt)>, Error> {
        let mut steps = Vec::new();
        for (value, next) in self.raw_steps(table, at)? {
            if self.is_alive(value)? && self.can_end(table, next)? {
                steps.push((value, next));
            }
        }
        Ok(steps)
    }

    fn raw_steps(
        &mut self,
        table: &ArrayTable,
        at: ItemsAt,
    ) -> Result<Vec<(TermId, ItemsAt)>, Error> {
        let array = &table.array;
        if at.count >= array.max {
            return Ok(Vec::new());
        }
        let needs = self.reach.needs.get(at.needs.0).clone();
        // What is missing is looked for first.
        let mut cases = vec![(array.item(at.count as usize), needs.to_vec())];
        for (place, contains) in array.contains.iter().enumerate() {
            if at.count < contains.from || at.count >= contains.to {
                continue;
            }
            let mut more = Vec::with_capacity(cases.len() * 2);
            for (value, needs) in cases {
                self.budget.tick()?;
                let (min, max) = needs[place];
                let has = self.terms.and2(value, contains.value);
                let lacks = if max == UNBOUNDED {
                    value
                } else {
                    let not = self.terms.not(self.sources.root(), contains.value);
                    self.terms.and2(value, not)
                };
                if max > 0 && has != NEVER && (min > 0 || max < UNBOUNDED) {
                    let mut fewer = needs.clone();
                    let less = if max == UNBOUNDED { max } else { max - 1 };
                    fewer[place] = (min.saturating_sub(1), less);
                    more.push((has, fewer));
                }
                if lacks != NEVER {
                    more.push((lacks, needs));
                }
            }
            self.check_count(more.len())?;
            cases = more;
        }
        let count = at.count.saturating_add(1).min(table.last);
        let mut steps = Vec::with_capacity(cases.len());
        for (value, needs) in cases {
            let needs = NeedsId(self.reach.needs.id(needs));
            let next = ItemsAt { count, needs, seen: at.seen, is_first: false };
            if array.unique.is_none() {
                steps.push((value, next));
                continue;
            }
            for &scalar in &table.values_at[(at.count as usize).min(array.prefix.len())] {
                self.budget.tick()?;
                if self.has_seen(at.seen, scalar) {
                    continue;
                }
                let one = self.terms.add(Term::Scalar(table.values[scalar as usize].clone()));
                let value = self
                    .terms
                    .and2(one, if value == array.item(at.count as usize) { ANY } else { value });
                let seen = self.with_seen(at.seen, scalar);
                steps.push((value, ItemsAt { seen, ..next }));
            }
        }
        Ok(steps)
    }

    /// Whether an array can be completed.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn can_end(&mut self, table: &ArrayTable, at: ItemsAt) -> Result<bool, Error> {
        if table.array.unique.is_some() {
            if !self.has_room(table, at)? {
                return Ok(false);
            }
            if table.array.contains.is_empty() {
                return Ok(true);
            }
        }
        let mut seen = FxHashSet::default();
        let mut todo = vec![at];
        while let Some(at) = todo.pop() {
            self.budget.tick()?;
            if self.may_end(table, at) {
                return Ok(true);
            }
            if !seen.insert(at) {
                continue;
            }
            if seen.len() > self.budget.limits.search {
                return Err(Error::limit("search", self.budget.limits.search));
            }
            if table.array.unique.is_none() && self.is_only_short(table, at) {
                let mut is_alive = true;
                for place in at.count..table.array.min.min(index(table.array.prefix.len()) + 1) {
                    is_alive = is_alive && self.is_alive(table.array.item(place as usize))?;
                }
                is_alive =
                    is_alive && self.is_alive(table.array.item(table.array.min as usize - 1))?;
                if is_alive {
                    return Ok(true);
                }
            }
            let steps = self.raw_steps(table, at)?;
            for (value, next) in steps.into_iter().rev() {
                if self.is_alive(value)? {
                    todo.push(next);
                }
            }
        }
        Ok(false)
    }

    /// Whether nothing is missing but items, whatever they are.
    fn is_only_short(&self, table: &ArrayTable, at: ItemsAt) -> bool {
        table.array.min > 0
            && self
                .reach
                .needs
                .get(at.needs.0)
                .iter()
                .all(|&(min, max)| min == 0 && max == UNBOUNDED)
    }

    /// Whether the items that are missing can all have different values: a matching of items to
    /// values that did not come yet.
    fn has_room(&self, table: &ArrayTable, at: ItemsAt) -> Result<bool, Error> {
        let missing = table.array.min.saturating_sub(at.count) as usize;
        if missing > table.values.len() {
            return Ok(false);
        }
        let choices = |item: usize| {
            let place = (at.count as usize + item).min(table.array.prefix.len());
            table.values_at[place].iter().copied().filter(|&value| !self.has_seen(at.seen, value))
        };
        // Items of one kind at the end need no more than enough values; the others are few.
        let mut owner: Vec<Option<usize>> = vec![None; table.values.len()];
        for item in 0..missing {
            self.budget.check()?;
            let mut visited = vec![false; table.values.len()];
            let mut came_from: Vec<(u32, Option<u32>)> = Vec::new();
            // Breadth first: a value that is free, or whose owner can take another one.
            let mut queue: std::collections::VecDeque<(usize, Option<u32>)> =
                std::collections::VecDeque::from([(item, None)]);
            let mut end = None;
            'search: while let Some((item, through)) = queue.pop_front() {
                for value in choices(item) {
                    if std::mem::replace(&mut visited[value as usize], true) {
                        continue;
                    }
                    came_from.push((value, through));
                    match owner[value as usize] {
                        None => {
                            end = Some((value, item));
                            break 'search;
                        }
                        Some(other) => queue.push_back((other, Some(value))),
                    }
                }
            }
            let Some((mut value, _)) = end else {
                return Ok(false);
            };
            loop {
                let through = came_from.iter().find(|(known, _)| *known == value);
                let Some(before) = through.and_then(|&(_, through)| through) else {
                    owner[value as usize] = Some(item);
                    break;
                };
                owner[value as usize] = owner[before as usize];
                value = before;
            }
        }
        Ok(true)
    }
}

impl NumberShape {
    /// The numbers, if they are few.
    fn few(&self) -> Option<Vec<Decimal>> {
        if let Some(values) = &self.values {
            return Some(values.to_vec());
        }
        let is_whole = self.point == Point::Never || !self.multiples.is_empty();
        let (true, Some(low), Some(high)) = (is_whole, &self.low, &self.high) else {
            return None;
        };
        if self.point != Point::Never && !self.multiples.iter().any(Decimal::is_integer) {
            return None;
        }
        let mut values = Vec::new();
        let mut at = low.value.ceil();
        for _ in 0..MOST_VALUES {
            if at > high.value {
                return Some(values);
            }
            if self.has(&at) {
                values.push(at.clone());
            }
            at = at.next_integer();
        }
        None
    }
}
