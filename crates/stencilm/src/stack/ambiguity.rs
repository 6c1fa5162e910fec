//! Identities that keep ambiguous grammars small. Below something that ends in a star `X*`, a
//! caller that waits with `X*` of its own adds nothing by it; equal expressions at one state
//! share one frame.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs};
use crate::stack::captured::Captured;
use crate::stack::frame::{
    Entry, Frame, Link, captured_at, entries_of, hash_of, is_better, is_same, register_of,
};
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
        // What returned from an equal expression above it adds nothing.
        let mut todo: Vec<(Item, Option<ExprId>)> =
            self.reached.into_iter().map(|item| (item, None)).collect();
        let mut seen: FxHashMap<_, (Link, Captured)> = FxHashMap::default();
        while let Some((Item { id, link, past }, above)) = todo.pop() {
            let link = simpler_link(machine, id, link)?;
            if id == empty && link.is_none() {
                state.may_end = true;
                marked.ends_with(past);
                continue;
            }
            let is_covered = above == Some(id);
            if exprs.is_nullable(id) || !todo.is_empty() || !state.items.is_empty() {
                match seen.entry((id, hash_of(&exprs.key, &link), is_covered)) {
                    Occupied(mut best) => {
                        let (known, known_past) = best.get();
                        if !is_better((&link, &past), (known, known_past)) {
                            continue;
                        }
                        best.insert((link.clone(), past.clone()));
                    }
                    Vacant(place) => {
                        place.insert((link.clone(), past.clone()));
                    }
                }
            }
            if seen.len() > machine.most_items() {
                return Err(Error::limit("items", machine.most_items()).into());
            }
            if exprs.is_nullable(id) {
                // What is above goes when its tokens are spent.
                let mut above = Some(id);
                if let Some(register) = register_of(&link) {
                    marked.ended.extend_from_slice(&register.spans);
                    above = above.filter(|_| register.spans.is_empty());
                }
                for entry in entries_of(&link, empty) {
                    let past = entry.past.closed(end).then(&past);
                    todo.push((Item { id: entry.id, link: entry.link, past }, above));
                }
            }
            if id != empty && !is_covered {
                join_item(machine, &mut state, Item { id, link, past })?;
            }
        }
        state.items.sort_unstable_by_key(|item| item.id);
        state.marked = marked.if_any();
        Ok(state)
    }
}

/// Equal expressions share one frame, unless they remember different things.
fn join_item(machine: &impl Machine, state: &mut State, new: Item) -> Result<(), Stop> {
    let exprs = machine.exprs();
    let hash = |link: &Link| register_of(link).map(|register| register.hash(&exprs.key));
    let is_alike = |item: &Item| item.id == new.id && hash(&item.link) == hash(&new.link);
    match state.items.iter_mut().find(|item| is_alike(item)) {
        Some(item) if is_same(&item.link, &new.link) => {
            if is_better((&new.link, &new.past), (&item.link, &item.past)) {
                *item = new;
            }
        }
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
