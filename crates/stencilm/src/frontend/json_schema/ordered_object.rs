//! One list of rules whose names come in order: which may come after which, without looking at each.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::object_states::At;
use crate::frontend::json_schema::object_table::{Leaf, ObjectTable};
use crate::frontend::json_schema::options::Additional;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::ShapeId;
use crate::grammar::UNBOUNDED;
use crate::interner::index;

/// Sorted names in one block of [`OrderedObject::blocks`].
const BLOCK: usize = 64;

/// What decides which names may come.
#[derive(Debug)]
pub(crate) struct OrderedObject {
    table: Arc<ObjectTable>,
    /// The value of each member; `None` if it must not come.
    pub(crate) values: Vec<Option<ShapeId>>,
    /// The value of each class of names that are not listed.
    pub(crate) classes: Vec<Option<ShapeId>>,
    /// The first required member from each one on; the number of members for none.
    next_required: Vec<u32>,
    /// How many required members, and how many that may come, there are from each one on.
    required_from: Vec<u32>,
    alive_from: Vec<u32>,
    /// The least and the greatest member of each block of the sorted names.
    blocks: Vec<(u32, u32)>,
    min: u32,
    max: u32,
    has_others: bool,
    additional: Additional,
}

impl Schemas {
    /// What decides the names of a simple table.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn ordered_object(
        &mut self,
        table: &Arc<ObjectTable>,
    ) -> Result<OrderedObject, Error> {
        let Some(Leaf::Rules { values, is_required, classes, min, max, .. }) =
            table.leaves.values().next()
        else {
            unreachable!("a simple table has one list of rules");
        };
        let count = values.len();
        let mut shapes = Vec::with_capacity(count);
        for &value in values {
            shapes.push(self.live_shape(value)?);
        }
        let mut class_shapes = Vec::with_capacity(classes.len());
        for &value in classes {
            class_shapes.push(self.live_shape(value)?);
        }
        let mut next_required = vec![index(count); count + 1];
        let mut required_from = vec![0; count + 1];
        let mut alive_from = vec![0; count + 1];
        for at in (0..count).rev() {
            next_required[at] = if is_required[at] { index(at) } else { next_required[at + 1] };
            required_from[at] = required_from[at + 1] + u32::from(is_required[at]);
            alive_from[at] = alive_from[at + 1] + u32::from(shapes[at].is_some());
        }
        let blocks = table.member_at.chunks(BLOCK).map(|block| {
            let least = block.iter().copied().min().unwrap_or(0);
            (least, block.iter().copied().max().unwrap_or(0))
        });
        Ok(OrderedObject {
            blocks: blocks.collect(),
            has_others: class_shapes.iter().any(Option::is_some),
            table: table.clone(),
            values: shapes,
            classes: class_shapes,
            next_required,
            required_from,
            alive_from,
            min: *min,
            max: *max,
            additional: self.options.additional,
        })
    }
}

impl OrderedObject {
    fn len(&self) -> u32 {
        index(self.values.len())
    }

    /// Whether the object may end here.
    pub(crate) fn may_close(&self, at: At) -> bool {
        self.required_from[at.next as usize] == 0 && at.count >= self.min
    }

    /// The members that may come next: a run of their order. Empty if the first is greater.
    fn window(&self, at: At) -> (u32, u32) {
        let last = self.next_required[at.next as usize].min(self.len().wrapping_sub(1));
        if at.next >= self.len() {
            return (1, 0);
        }
        let is_required = self.next_required[at.next as usize] < self.len();
        let mut first = at.next;
        if self.is_full(at) {
            // Only a required member is left to come.
            if !is_required {
                return (1, 0);
            }
            first = last;
        }
        let mut last = last;
        let left = self.others_left(at);
        if left < UNBOUNDED && at.count < self.min {
            // Each member that is passed over is one fewer.
            let missing = (self.min - at.count).saturating_sub(left);
            let enough = |member: u32| self.alive_from[member as usize] >= missing;
            let run = first..=last;
            if !run.clone().any(enough) {
                return (1, 0);
            }
            last = first
                + index(
                    self.alive_from[first as usize..=last as usize]
                        .partition_point(|&n| n >= missing),
                )
                - 1;
        }
        (first, last)
    }

    /// Whether another member that is not required would be too many.
    fn is_full(&self, at: At) -> bool {
        let required = self.required_from[at.next as usize];
        self.max < UNBOUNDED && at.count.saturating_add(1).saturating_add(required) > self.max
    }

    /// Whether a name that is not listed may come next.
    pub(crate) fn may_be_other(&self, at: At) -> bool {
        let is_place = match self.additional {
            Additional::Anywhere => true,
            Additional::AfterRequired | Additional::Last => {
                self.required_from[at.next as usize] == 0
            }
        };
        let left = self.others_left(at);
        let is_enough = match self.additional {
            // No listed name comes after it.
            Additional::Last => left >= self.min.saturating_sub(at.count),
            Additional::Anywhere | Additional::AfterRequired => true,
        };
        left > 0 && is_enough && is_place && !self.is_full(at)
    }

    /// How many more names that are not listed may come.
    fn others_left(&self, at: At) -> u32 {
        if self.has_others { self.table.others_left(at) } else { 0 }
    }

    /// Where the object stands after a member.
    pub(crate) fn after(&self, at: At, member: u32) -> At {
        At { next: member + 1, ..self.counted(at) }
    }

    /// Where the object stands after a name that is not listed.
    pub(crate) fn after_other(&self, at: At) -> At {
        let after = At { others: self.table.one_more(at), ..self.counted(at) };
        match self.additional {
            Additional::Last => At { next: self.len(), ..after },
            Additional::Anywhere | Additional::AfterRequired => after,
        }
    }

    fn counted(&self, at: At) -> At {
        let most = if self.max < UNBOUNDED { self.max } else { self.min };
        At { count: at.count.saturating_add(1).min(most), is_first: false, ..at }
    }

    /// The first place of the sorted names in `low..high` whose member may come next.
    pub(crate) fn next_place(&self, at: At, low: u32, high: u32) -> Option<u32> {
        let (first, last) = self.window(at);
        let high = high.min(self.len());
        if first > last || low >= high {
            return None;
        }
        if last - first < index(BLOCK) {
            let places = (first..=last).filter(|&member| self.values[member as usize].is_some());
            let places = places.map(|member| self.table.place_of[member as usize]);
            return places.filter(|&place| low <= place && place < high).min();
        }
        let is_here = |place: u32| {
            let member = self.table.member_at[place as usize];
            first <= member && member <= last && self.values[member as usize].is_some()
        };
        let mut place = low;
        while place < high {
            let block = place as usize / BLOCK;
            let end = index((block + 1) * BLOCK).min(high);
            let (least, greatest) = self.blocks[block];
            if least <= last
                && first <= greatest
                && let Some(found) = (place..end).find(|&place| is_here(place))
            {
                return Some(found);
            }
            place = end;
        }
        None
    }
}
