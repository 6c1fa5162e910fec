//! Identities that keep ambiguous grammars small. Below something that ends in a star `X*`, a
//! caller that waits with `X*` of its own adds nothing by it; equal expressions at one state
//! share one frame.

use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{ContentHash, Expr, ExprId, Exprs};
use crate::stack::captured::Captured;
use crate::stack::frame::{
    Entry, Frame, Link, captured_at, depth_of, entries_of, hash_of, is_same, register_of,
};
use crate::stack::judge::{Place, keep_best, place_among};
use crate::stack::marked::Marked;
use crate::stack::state::{Item, State};
use crate::stack::{Machine, Stop};

/// Collects what a byte led to and closes it: what is complete returns to its callers.
#[derive(Debug, Default)]
pub(super) struct Closing {
    reached: SmallVec<[Item; 2]>,
}

impl Closing {
    pub(super) fn add(&mut self, item: Item) {
        self.reached.push(item);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }

    /// Adds what remains in another state.
    pub(super) fn add_all(
        &mut self,
        machine: &mut impl Machine,
        state: &State,
    ) -> Result<(), Stop> {
        for item in &state.items {
            let id = machine.raise(item.id, state.excess())?;
            self.add(Item { id, ..item.clone() });
        }
        Ok(())
    }

    /// The state of all that was added.
    pub(super) fn finish(self, machine: &impl Machine) -> Result<State, Stop> {
        let exprs = machine.exprs();
        let (empty, end) = (exprs.empty(), machine.clock().end());
        let mut state = State::default();
        let mut marked = Marked::default();
        let mut ways = Ways::default();
        let mut reached: SmallVec<[(Item, Option<ExprId>); 2]> =
            self.reached.into_iter().map(|item| (item, None)).collect();
        loop {
            for (item, above) in reached.drain(..) {
                let link = simpler_link(machine, item.id, item.link)?;
                if item.id == empty && link.is_none() {
                    state.may_end = true;
                    marked.ends_with(machine, item.past)?;
                    continue;
                }
                let is_covered = above == Some(item.id);
                ways.add(machine, Way { item: Item { link, ..item }, is_covered })?;
            }
            let Some(Way { item, is_covered }) = ways.pop() else { break };
            if exprs.is_nullable(item.id) {
                // What is above goes when its tokens are spent, and may have another temperature.
                let mut above = Some(item.id);
                if let Some(register) = register_of(&item.link) {
                    marked.ended.extend_from_slice(&register.spans);
                    above = above.filter(|_| !register.has_mark());
                }
                reached.extend(entries_of(&item.link, empty).into_iter().map(|entry| {
                    let past = entry.past.closed(end).then(&item.past);
                    (Item { id: entry.id, link: entry.link, past }, above)
                }));
            }
            // What returned from an equal expression above it adds nothing.
            if item.id != empty && !is_covered {
                join_item(machine, &mut state, item)?;
            }
        }
        state.items.sort_unstable_by_key(|item| item.id);
        state.marked = marked.if_any();
        Ok(state)
    }
}

/// What was reached, to be taken from the top of the stack downwards: whatever leads to one place is
/// known before the place is left.
#[derive(Default)]
struct Ways {
    places: FxHashMap<(ExprId, ContentHash, bool), SmallVec<[usize; 1]>>,
    /// None once it was left.
    best: Vec<Option<Way>>,
    /// The depth of the link, and the place.
    todo: BinaryHeap<(u32, usize)>,
}

/// A way to one place that no other is better than.
struct Way {
    item: Item,
    /// Whether it returned from an equal expression above it.
    is_covered: bool,
}

impl Ways {
    fn add(&mut self, machine: &impl Machine, way: Way) -> Result<(), Stop> {
        let Item { id, link, .. } = &way.item;
        let place = (*id, hash_of(&machine.exprs().key, link), way.is_covered);
        let places = self.places.entry(place).or_default();
        let known = places.iter().map(|&at| {
            let known = self.best[at].as_ref().expect("later ways come from above");
            (at, (&known.item.link, &known.item.past))
        });
        match place_among(machine, (link, &way.item.past), known)? {
            Place::At(at) => self.best[at] = Some(way),
            Place::None => {}
            Place::New => {
                self.todo.push((depth_of(link), self.best.len()));
                places.push(self.best.len());
                self.best.push(Some(way));
                if self.best.len() > machine.most_items() {
                    return Err(Error::limit("items", machine.most_items()).into());
                }
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<Way> {
        let (_, place) = self.todo.pop()?;
        self.best[place].take()
    }
}

/// Equal expressions share one frame, unless they remember different things.
fn join_item(machine: &impl Machine, state: &mut State, new: Item) -> Result<(), Stop> {
    let exprs = machine.exprs();
    let hash = |link: &Link| register_of(link).map(|register| register.hash(&exprs.key));
    let is_alike = |item: &Item| item.id == new.id && hash(&item.link) == hash(&new.link);
    match state.items.iter_mut().find(|item| is_alike(item)) {
        Some(item)
            if is_same(&item.link, &new.link) && !item.has_captured() && !new.has_captured() => {}
        Some(item) => {
            let empty = exprs.empty();
            let mut entries = Vec::new();
            for Item { link, past, .. } in [&*item, &new] {
                let of_one = entries_of(link, empty).into_iter();
                entries.extend(of_one.map(|entry| Entry { past: entry.past.then(past), ..entry }));
            }
            if entries.len() > machine.most_items() {
                return Err(Error::limit("items", machine.most_items()).into());
            }
            keep_best(machine, &mut entries)?;
            let register = register_of(&new.link).cloned();
            item.link = Frame::with(&exprs.key, empty, entries, register);
            item.past = Captured::default();
        }
        None => state.items.push(new),
    }
    Ok(())
}

/// The frame below `id` without what `id` itself can do, if it ends in a star.
pub(super) fn simpler_link(machine: &impl Machine, id: ExprId, link: Link) -> Result<Link, Stop> {
    let exprs = machine.exprs();
    let Some(star) = exprs.last_star(id) else {
        return Ok(link);
    };
    let is_plain = |frame: &&Arc<Frame>| {
        frame.register().is_none() && frame.entries().iter().all(|entry| entry.past.is_empty())
    };
    let Some(frame) = link.as_ref().filter(is_plain) else {
        return Ok(link);
    };
    let empty = exprs.empty();
    let mut todo: Vec<Entry> = frame.entries().to_vec();
    let mut kept: Vec<Entry> = Vec::with_capacity(todo.len());
    let mut seen: FxHashSet<_> = FxHashSet::default();
    let mut is_changed = false;
    while let Some(entry) = todo.pop() {
        // Of ways that differ in what they captured, the frame keeps the better one.
        let way = captured_at(&entry.link);
        if !seen.insert((entry.id, hash_of(&exprs.key, &entry.link), way)) {
            continue;
        }
        if seen.len() > machine.most_items() {
            return Err(Error::limit("items", machine.most_items()).into());
        }
        match shorter(exprs, entry.id, star) {
            Shorter::Gone if entry.link.as_ref().is_none_or(|frame| is_plain(&frame)) => {
                todo.extend(entries_of(&entry.link, empty));
                is_changed = true;
            }
            Shorter::Same | Shorter::Gone => kept.push(entry),
            Shorter::Rest(rest) => {
                todo.push(Entry { id: rest, ..entry });
                is_changed = true;
            }
        }
    }
    // `Y X*` with `Y` inside `X*` adds nothing where all it returns to is waiting here already.
    let covered: Vec<bool> = kept
        .iter()
        .map(|Entry { id: rest, link: deeper, .. }| {
            *rest != star
                && exprs.last_star(*rest) == Some(star)
                && exprs.is_inside_star(*rest, star)
                && deeper.as_ref().is_none_or(|frame| is_plain(&frame))
                && entries_of(deeper, empty).iter().all(|Entry { id, link, .. }| {
                    matches!(shorter(exprs, *id, star), Shorter::Same)
                        && kept.iter().any(|other| other.id == *id && is_same(&other.link, link))
                })
        })
        .collect();
    if !is_changed && !covered.contains(&true) {
        return Ok(link);
    }
    let mut places = covered.iter();
    kept.retain(|_| places.next() == Some(&false));
    keep_best(machine, &mut kept)?;
    Ok(Frame::of(&exprs.key, empty, kept))
}

enum Shorter {
    /// Nothing to take away.
    Same,
    /// All of it is inside the star.
    Gone,
    /// This is left.
    Rest(ExprId),
}

/// What is left of a waiting expression below something that ends in `star`.
fn shorter(exprs: &Exprs, id: ExprId, star: ExprId) -> Shorter {
    if id == exprs.empty() {
        return Shorter::Same;
    }
    let is_idle = |id| id == star || (exprs.is_nullable(id) && exprs.is_inside_star(id, star));
    if is_idle(id) {
        return Shorter::Gone;
    }
    match exprs.get(id) {
        Expr::Seq(first, rest) if is_idle(first) => Shorter::Rest(rest),
        _ => Shorter::Same,
    }
}
