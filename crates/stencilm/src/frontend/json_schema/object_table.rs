//! One object shape as a machine over its members: which names may come after which.
//!
//! Listed names come in their order; a state is the first name that may still come, and how many
//! members there were where that is counted.

use crate::error::Error;
use crate::frontend::json_schema::document::index;
use crate::frontend::json_schema::options::Additional;
use crate::frontend::json_schema::reach::{Compiled, NameClass};
use crate::frontend::json_schema::shape::{ObjectShape, ShapeId};
use crate::frontend::json_schema::text_exprs;
use crate::grammar::{Exprs, Spelling, UNBOUNDED};
use crate::limits::Budget;
use crate::residual::emptiness::without_empty_parts;
use crate::residual::words::count_words;

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
    /// How many such names there are; `UNBOUNDED` if they cannot run out.
    others: u32,
    additional: Additional,
}

/// Where an object stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct At {
    /// The first member that may still come.
    pub(crate) next: u32,
    /// The members so far, as far as they are counted.
    pub(crate) count: u32,
    /// Those of them that are not listed, if such names can run out.
    pub(crate) others: u32,
    pub(crate) is_first: bool,
}

/// After the opening brace.
pub(crate) const START: At = At { next: 0, count: 0, others: 0, is_first: true };

impl ObjectTable {
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn new(
        compiled: &Compiled,
        shape: ShapeId,
        alternative: usize,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
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
        let others = count_other_names(compiled, shape, alternative, budget)?;
        Ok(Self {
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
            others,
            additional: compiled.options.additional,
        })
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
        match self.others {
            _ if !self.has_others => 0,
            UNBOUNDED => UNBOUNDED,
            others => others.saturating_sub(at.others),
        }
    }

    /// Where the object stands after a member.
    pub(crate) fn after(&self, at: At, member: u32) -> At {
        At { next: member + 1, ..self.counted(at) }
    }

    /// Where the object stands after a name that is not listed.
    pub(crate) fn after_other(&self, at: At) -> At {
        let others = if self.others == UNBOUNDED { 0 } else { at.others + 1 };
        let after = At { others, ..self.counted(at) };
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

/// How many names an object may have that it does not list; [`UNBOUNDED`] for more than there can
/// be rules.
///
/// # Errors
/// A limit was reached.
pub(crate) fn count_other_names(
    compiled: &Compiled,
    shape: ShapeId,
    alternative: usize,
    budget: &mut Budget,
) -> Result<u32, Error> {
    let classes = compiled.classes(shape, alternative);
    let mut live = classes.iter().filter(|class| compiled.shape_of(class.value).is_some());
    if live.clone().any(NameClass::is_every_name) {
        return Ok(UNBOUNDED);
    }
    let object = &compiled.shape(shape).objects[alternative];
    let listed = object.members.iter().map(|member| spelled(compiled.texts.get(member.name)));
    let listed: Vec<Box<[u8]>> = listed.collect();
    let mut exprs = Exprs::default();
    let names = live.try_fold(Vec::new(), |mut names, class| {
        names.push(text_exprs::other_name(compiled, class, &listed, &mut exprs, budget)?);
        Ok::<_, Error>(names)
    })?;
    let names = exprs.choice(&names);
    let names = without_empty_parts(&mut exprs, names, budget)?;
    let most = index(budget.limits.rules);
    let count = count_words(&mut exprs, names, most, budget)?;
    Ok(if count < most { count } else { UNBOUNDED })
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
