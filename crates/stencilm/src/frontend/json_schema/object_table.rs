//! One object shape as a machine over its members: which names may come after which.
//!
//! Listed names come in their order; a state is the first name that may still come, and how many
//! members there were where that is counted.

use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::options::Additional;
use crate::frontend::json_schema::reach::Compiled;
use crate::frontend::json_schema::shape::{ObjectShape, ShapeId};
use crate::grammar::{Exprs, Spelling, UNBOUNDED};

/// Sorted names in one block of [`ObjectTable::blocks`].
const BLOCK: usize = 64;

/// What is known of an object shape once its names are sorted.
#[derive(Debug)]
pub(crate) struct ObjectTable {
    pub(crate) shape: ShapeId,
    pub(crate) alternative: usize,
    /// The spelled names, sorted.
    pub(crate) names: Vec<Box<[u8]>>,
    /// The member at each place of the sorted names, and the place of each member.
    pub(crate) member_at: Vec<u32>,
    place_of: Vec<u32>,
    /// The value of each member; `None` if it must not come.
    pub(crate) values: Vec<Option<ShapeId>>,
    /// The first required member from each one on; the number of members for none.
    next_required: Vec<u32>,
    /// How many required members, and how many that may come, there are from each one on.
    required_from: Vec<u32>,
    alive_from: Vec<u32>,
    /// The least and the greatest member of each block of the sorted names.
    blocks: Vec<(u32, u32)>,
    min: u32,
    max: u32,
    /// Whether some name may come that is not listed.
    pub(crate) has_others: bool,
    additional: Additional,
}

/// Where an object stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct At {
    /// The first member that may still come.
    pub(crate) next: u32,
    /// The members so far, as far as they are counted.
    pub(crate) count: u32,
    pub(crate) is_first: bool,
}

/// After the opening brace.
pub(crate) const START: At = At { next: 0, count: 0, is_first: true };

impl ObjectTable {
    pub(crate) fn new(compiled: &Compiled, shape: ShapeId, alternative: usize) -> Self {
        let object: &ObjectShape = &compiled.shape(shape).objects[alternative];
        let count = object.members.len();
        let spell = |at: usize| spelled(compiled.texts.get(object.members[at].name));
        let mut sorted: Vec<(Box<[u8]>, u32)> =
            (0..count).map(|at| (spell(at), index(at))).collect();
        sorted.sort_unstable();
        let (names, member_at): (Vec<Box<[u8]>>, Vec<u32>) = sorted.into_iter().unzip();
        let mut place_of = vec![0; count];
        for (place, &member) in member_at.iter().enumerate() {
            place_of[member as usize] = index(place);
        }
        let values: Vec<Option<ShapeId>> =
            object.members.iter().map(|member| compiled.shape_of(member.value)).collect();
        let mut next_required = vec![index(count); count + 1];
        let mut required_from = vec![0; count + 1];
        let mut alive_from = vec![0; count + 1];
        for at in (0..count).rev() {
            let is_required = object.members[at].is_required;
            next_required[at] = if is_required { index(at) } else { next_required[at + 1] };
            required_from[at] = required_from[at + 1] + u32::from(is_required);
            alive_from[at] = alive_from[at + 1] + u32::from(values[at].is_some());
        }
        let blocks = member_at.chunks(BLOCK).map(|block| {
            let least = block.iter().copied().min().unwrap_or(0);
            (least, block.iter().copied().max().unwrap_or(0))
        });
        let classes = compiled.classes(shape, alternative);
        Self {
            shape,
            alternative,
            blocks: blocks.collect(),
            names,
            member_at,
            place_of,
            values,
            next_required,
            required_from,
            alive_from,
            min: object.min,
            max: object.max,
            has_others: classes.iter().any(|class| compiled.shape_of(class.value).is_some()),
            additional: compiled.options.additional,
        }
    }

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
        if !self.has_others && at.count < self.min {
            // Each member that is passed over is one fewer.
            let missing = self.min - at.count;
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
        self.has_others && is_place && !self.is_full(at)
    }

    /// Where the object stands after a member.
    pub(crate) fn after(&self, at: At, member: u32) -> At {
        At { next: member + 1, ..self.counted(at) }
    }

    /// Where the object stands after a name that is not listed.
    pub(crate) fn after_other(&self, at: At) -> At {
        match self.additional {
            Additional::Last => At { next: self.len(), ..self.counted(at) },
            Additional::Anywhere | Additional::AfterRequired => self.counted(at),
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
            let places = places.map(|member| self.place_of[member as usize]);
            return places.filter(|&place| low <= place && place < high).min();
        }
        let is_here = |place: u32| {
            let member = self.member_at[place as usize];
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

/// A name as it stands between the quotes.
pub(crate) fn spelled(name: &str) -> Box<[u8]> {
    let is_plain = |b: &u8| *b >= b' ' && *b != b'"' && *b != b'\\';
    if name.as_bytes().iter().all(is_plain) {
        return name.as_bytes().into();
    }
    let mut exprs = Exprs::default();
    let text = exprs.text(name, Spelling::JsonCanonical);
    match exprs.get(text) {
        crate::grammar::Expr::Bytes { literal, .. } => exprs.literal(literal).into(),
        _ => Box::default(),
    }
}
