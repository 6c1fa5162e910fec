//! The states of an array whose items are not asked for by their places alone: how many items with
//! a value are missing or too many, and which values came.
//!
//! Of different items, a state remembers the values that may run out, and those that came and are no
//! strings; the strings are remembered by the frame of the text, as names are (`stack/seen.rs`).

use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::constants::ConstantId;
use crate::frontend::json_schema::extent::Extent;
use crate::frontend::json_schema::object_states::SeenId;
use crate::frontend::json_schema::options::Unsupported;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ArrayShape, NEVER, Place, Refusal, TermId};
use crate::grammar::UNBOUNDED;
use crate::interner::index;

/// Where an array stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ItemsAt {
    /// The items so far, as far as they are counted.
    pub(crate) count: u32,
    /// How many items are still missing and allowed, for each `contains`.
    pub(crate) needs: NeedsId,
    /// Which of the few values came, where they must differ.
    pub(crate) seen: SeenId,
    /// And which of the others, strings aside: an interned list.
    pub(crate) came: u32,
    pub(crate) repeat: Repeat,
    /// The arrays that it must not be and still may become: an interned list.
    pub(crate) except: u32,
    pub(crate) is_first: bool,
}

/// Whether two items must still be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Repeat {
    No,
    /// One must come that came.
    Missing,
    /// The same, and it is not known what came last.
    Unknown,
}

/// An interned list of what is missing, and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NeedsId(u32);

/// What is known of one array shape.
#[derive(Debug)]
pub(crate) struct ArrayTable {
    pub(crate) array: ArrayShape,
    /// Items from here on are asked for alike.
    pub(crate) last: u32,
    start: NeedsId,
    except: u32,
    /// The values that may run out, where items must differ, and those of each place.
    values: Vec<ConstantId>,
    values_at: Vec<Vec<u32>>,
    /// Whether there are others, more than can run out.
    is_open_at: Vec<bool>,
}

/// What an item may be, and where the array stands then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemStep {
    pub(crate) value: TermId,
    pub(crate) next: ItemsAt,
    /// The value is to be remembered.
    pub(crate) is_new: bool,
}

impl ArrayTable {
    /// After the opening bracket.
    pub(crate) fn start(&self) -> ItemsAt {
        let Self { start: needs, except, .. } = *self;
        let repeat = if self.array.has_repeats() { Repeat::Missing } else { Repeat::No };
        ItemsAt { count: 0, needs, seen: SeenId(0), came: 0, repeat, except, is_first: true }
    }

    /// Whether its items must differ.
    pub(crate) fn is_unique(&self) -> bool {
        self.array.unique.is_some()
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
        let lens = array.except.iter().map(|&known| index(self.constants.items(known).len()));
        let len = lens.fold(index(array.prefix.len()), u32::max);
        let last = match array.max {
            UNBOUNDED => ends.fold(len.max(array.min), u32::max),
            max => max,
        };
        let needs = array.contains.iter().map(|contains| (contains.min, contains.max)).collect();
        let mut table = ArrayTable {
            array: array.clone(),
            last,
            start: NeedsId(self.reach.needs.id(needs)),
            except: self.reach.came.id(array.except.to_vec()),
            values: Vec::new(),
            values_at: Vec::new(),
            is_open_at: Vec::new(),
        };
        if let Some(place) = array.unique {
            self.list_values(&mut table, place)?;
        }
        Ok(table)
    }

    /// Which values different items may have: the few that may run out are remembered by the state,
    /// the others while a text is written.
    fn list_values(&mut self, table: &mut ArrayTable, place: Place) -> Result<(), Error> {
        let array = table.array.clone();
        let mut at_least = UNBOUNDED;
        if array.is_uniform() {
            // It is no matter which values came, only how many.
            match self.extent(array.items)? {
                Extent::Few(values) => table.array.max = array.max.min(index(values.len())),
                Extent::Many { at_least: count } => at_least = count,
                Extent::Unknown => return self.too_many_values(table, place),
            }
            table.values_at.push(Vec::new());
            table.is_open_at.push(true);
        } else {
            for at in 0..=array.prefix.len() {
                let mut own = Vec::new();
                let mut is_open = false;
                if (at as u64) < u64::from(array.max) {
                    for case in self.cases(&array, at)? {
                        match self.extent(case)? {
                            Extent::Few(values) => own.extend(values.iter().copied()),
                            Extent::Many { at_least: count } => {
                                is_open = true;
                                at_least = at_least.min(count);
                            }
                            Extent::Unknown => return self.too_many_values(table, place),
                        }
                    }
                }
                own.sort_unstable();
                own.dedup();
                table.values.extend_from_slice(&own);
                table.values_at.push(own.into_iter().map(|value| value.0).collect());
                table.is_open_at.push(is_open);
            }
            table.values.sort_unstable();
            table.values.dedup();
            for (own, &is_open) in table.values_at.iter_mut().zip(&table.is_open_at) {
                if is_open {
                    // Any of them may be among the others.
                    *own = (0..index(table.values.len())).collect();
                    continue;
                }
                for value in own {
                    let known = table.values.binary_search(&ConstantId(*value));
                    *value = index(known.expect("all of them were listed"));
                }
            }
        }
        if at_least < table.array.max {
            // So many values there are for sure.
            if table.array.min > at_least {
                return self.too_many_values(table, place);
            }
            table.array.max = at_least;
        }
        if table.array.max < UNBOUNDED {
            table.last = table.array.max;
        }
        Ok(())
    }

    /// What an item may be that differs from others in what it counts for.
    fn cases(&mut self, array: &ArrayShape, at: usize) -> Result<Vec<TermId>, Error> {
        let item = array.item(at);
        let mut cases = vec![item];
        for contains in &array.contains {
            let not = self.terms.not(self.sources.root(), contains.value);
            let mut more = Vec::with_capacity(cases.len() * 2);
            for case in cases {
                more.extend([self.terms.and2(case, contains.value), self.terms.and2(case, not)]);
            }
            self.check_count(more.len())?;
            cases = more;
        }
        let same = array.except.iter().filter_map(|&known| {
            let items = self.constants.items(known);
            items.get(at..).map(|items| {
                if at < array.prefix.len() { &items[..items.len().min(1)] } else { items }
            })
        });
        let same: Vec<ConstantId> = same.flatten().copied().collect();
        cases.extend(same.into_iter().map(|value| self.constant(value)));
        Ok(cases)
    }

    /// Nobody can tell in time when the values run out.
    fn too_many_values(&mut self, table: &mut ArrayTable, place: Place) -> Result<(), Error> {
        let refusal = Refusal::new("uniqueItems", place);
        if self.options.unsupported == Unsupported::Widen {
            self.reach.refusals.push(refusal);
            table.array.unique = None;
            return Ok(());
        }
        Err(Error::unsupported(refusal.feature, self.sources.location(place)))
    }

    /// Whether the array may end.
    pub(crate) fn may_end(&self, table: &ArrayTable, at: ItemsAt) -> bool {
        at.count >= table.array.min
            && at.repeat == Repeat::No
            && self.reach.needs.get(at.needs.0).iter().all(|&(min, _)| min == 0)
            && !self
                .reach
                .came
                .get(at.except)
                .iter()
                .any(|&known| self.constants.items(known).len() == at.count as usize)
    }

    /// Where an array stands that remembers one more value.
    pub(crate) fn with_item(&mut self, at: ItemsAt, value: ConstantId) -> ItemsAt {
        let mut came = self.reach.came.get(at.came).to_vec();
        if let Err(place) = came.binary_search(&value) {
            came.insert(place, value);
        }
        let repeat = if at.repeat == Repeat::No { Repeat::No } else { Repeat::Missing };
        ItemsAt { came: self.reach.came.id(came), repeat, ..at }
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
    ) -> Result<Vec<ItemStep>, Error> {
        let mut steps = Vec::new();
        for step in self.raw_steps(table, at)? {
            if self.may_be_next(table, step)? {
                steps.push(step);
            }
        }
        Ok(steps)
    }

    /// Whether there are any.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn may_go_on(&mut self, table: &ArrayTable, at: ItemsAt) -> Result<bool, Error> {
        for step in self.raw_steps(table, at)? {
            if self.may_be_next(table, step)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn may_be_next(&mut self, table: &ArrayTable, step: ItemStep) -> Result<bool, Error> {
        Ok(self.is_alive(step.value)? && self.can_end(table, step.next)?)
    }

    fn raw_steps(&mut self, table: &ArrayTable, at: ItemsAt) -> Result<Vec<ItemStep>, Error> {
        let array = &table.array;
        if at.count >= array.max {
            return Ok(Vec::new());
        }
        match at.repeat {
            Repeat::No => {}
            Repeat::Missing => return self.steps_to_repeat(table, at),
            Repeat::Unknown => return self.raw_steps(table, at.repeated()),
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
            let next = ItemsAt { count, needs, is_first: false, ..at };
            for (value, except) in self.told_apart(at, value) {
                let next = ItemsAt { except, ..next };
                if array.unique.is_some() {
                    self.push_different(table, at, (value, next), &mut steps)?;
                } else {
                    steps.push(ItemStep { value, next, is_new: false });
                }
            }
        }
        Ok(steps)
    }

    /// What an item may be that leaves the same of the arrays that must not come, and these.
    fn told_apart(&mut self, at: ItemsAt, value: TermId) -> Vec<(TermId, u32)> {
        let mut known: Vec<(ConstantId, Vec<ConstantId>)> = Vec::new();
        for &array in self.reach.came.get(at.except).iter() {
            let Some(&item) = self.constants.items(array).get(at.count as usize) else { continue };
            match known.iter_mut().find(|(same, _)| *same == item) {
                Some((_, arrays)) => arrays.push(array),
                None => known.push((item, vec![array])),
            }
        }
        let items = known.iter().map(|&(item, _)| item).collect();
        let others = self.none_of(items);
        let mut all = vec![(self.terms.and2(value, others), 0)];
        for (item, arrays) in known {
            let same = self.constant(item);
            all.push((self.terms.and2(same, value), self.reach.came.id(arrays)));
        }
        all
    }

    /// The steps to an item that is none of those that came.
    fn push_different(
        &mut self,
        table: &ArrayTable,
        at: ItemsAt,
        (value, next): (TermId, ItemsAt),
        steps: &mut Vec<ItemStep>,
    ) -> Result<(), Error> {
        let place = (at.count as usize).min(table.array.prefix.len());
        for &known in &table.values_at[place] {
            self.budget.tick()?;
            if self.has_seen(at.seen, known) {
                continue;
            }
            let same = self.constant(table.values[known as usize]);
            let value = self.terms.and2(same, value);
            let seen = self.with_seen(at.seen, known);
            steps.push(ItemStep { value, next: ItemsAt { seen, ..next }, is_new: false });
        }
        if table.is_open_at[place] {
            let mut except = table.values.clone();
            except.extend(self.reach.came.get(at.came).iter());
            let others = self.none_of(except);
            let value = self.terms.and2(value, others);
            steps.push(ItemStep { value, next, is_new: true });
        }
        Ok(())
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
            if table.array.contains.is_empty() && self.reach.came.get(at.except).is_empty() {
                return Ok(true);
            }
        }
        if at.repeat == Repeat::Missing {
            return self.can_repeat(table, at);
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
            for step in steps.into_iter().rev() {
                if self.is_alive(step.value)? {
                    todo.push(step.next);
                }
            }
        }
        Ok(false)
    }

    /// Whether nothing is missing but items, whatever they are.
    fn is_only_short(&self, table: &ArrayTable, at: ItemsAt) -> bool {
        table.array.min > 0
            && at.repeat == Repeat::No
            && self.reach.came.get(at.except).is_empty()
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
        if table.array.min > table.array.max {
            return Ok(false);
        }
        let place = |item: usize| (at.count as usize + item).min(table.array.prefix.len());
        let choices = |item: usize| {
            let own = table.values_at[place(item)].iter().copied();
            own.filter(|&value| !self.has_seen(at.seen, value))
        };
        // Items of one kind at the end need no more than enough values; the others are few.
        let mut owner: Vec<Option<usize>> = vec![None; table.values.len()];
        // Others never run out.
        for item in (0..missing).filter(|&item| !table.is_open_at[place(item)]) {
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
