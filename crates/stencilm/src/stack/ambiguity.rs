//! Identities that keep ambiguous grammars small. Below something that ends in a star `X*`, a
//! caller that waits with `X*` of its own adds nothing by it; equal expressions at one state
//! share one frame.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{Expr, ExprId, Exprs};
use crate::stack::frame::{Frame, Link, entries_of, hash_of, is_same, register_of};
use crate::stack::state::{Item, State};
use crate::stack::{Machine, Stop};

/// Collects what a byte led to and closes it: what is complete returns to its callers.
#[derive(Debug, Default)]
pub(super) struct Closing {
    reached: SmallVec<[(ExprId, Link); 2]>,
}

impl Closing {
    pub(super) fn add(&mut self, id: ExprId, link: Link) {
        self.reached.push((id, link));
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
            self.add(id, item.link.clone());
        }
        Ok(())
    }

    /// The state of all that was added.
    pub(super) fn finish(self, machine: &impl Machine) -> Result<State, Stop> {
        let exprs = machine.exprs();
        let empty = exprs.empty();
        let mut state = State::default();
        // What returned from an equal expression above it adds nothing.
        let mut todo: Vec<(ExprId, Link, Option<ExprId>)> =
            self.reached.into_iter().map(|(id, link)| (id, link, None)).collect();
        let mut seen: FxHashSet<_> = FxHashSet::default();
        while let Some((id, link, above)) = todo.pop() {
            let link = simpler_link(machine, id, link)?;
            if id == empty && link.is_none() {
                state.may_end = true;
                continue;
            }
            let is_covered = above == Some(id);
            if (exprs.is_nullable(id) || !todo.is_empty() || !state.items.is_empty())
                && !seen.insert((id, hash_of(&exprs.key, &link), is_covered))
            {
                continue;
            }
            if seen.len() > machine.most_items() {
                return Err(Error::limit("items", machine.most_items()).into());
            }
            if exprs.is_nullable(id) {
                for (rest, deeper) in entries_of(&link, empty) {
                    todo.push((rest, deeper, Some(id)));
                }
            }
            if id != empty && !is_covered {
                join_item(machine, &mut state, id, link)?;
            }
        }
        state.items.sort_unstable_by_key(|item| item.id);
        Ok(state)
    }
}

/// Equal expressions share one frame, unless they remember different things.
fn join_item(
    machine: &impl Machine,
    state: &mut State,
    id: ExprId,
    link: Link,
) -> Result<(), Stop> {
    let exprs = machine.exprs();
    let hash = |link: &Link| register_of(link).map(|register| register.hash(&exprs.key));
    let is_alike = |item: &Item| item.id == id && hash(&item.link) == hash(&link);
    match state.items.iter_mut().find(|item| is_alike(item)) {
        Some(item) if is_same(&item.link, &link) => {}
        Some(item) => {
            let empty = exprs.empty();
            let mut entries = entries_of(&item.link, empty).into_vec();
            entries.extend(entries_of(&link, empty));
            if entries.len() > machine.most_items() {
                return Err(Error::limit("items", machine.most_items()).into());
            }
            let register = register_of(&link).cloned();
            item.link = Frame::with(&exprs.key, empty, entries, register);
        }
        None => state.items.push(Item { id, link }),
    }
    Ok(())
}

/// The frame below `id` without what `id` itself can do, if it ends in a star.
pub(super) fn simpler_link(machine: &impl Machine, id: ExprId, link: Link) -> Result<Link, Stop> {
    let exprs = machine.exprs();
    let Some(star) = exprs.last_star(id) else {
        return Ok(link);
    };
    let Some(frame) = link.as_ref().filter(|frame| frame.register().is_none()) else {
        return Ok(link);
    };
    let empty = exprs.empty();
    let mut todo: Vec<(ExprId, Link)> = frame.entries().to_vec();
    let mut kept: Vec<(ExprId, Link)> = Vec::with_capacity(todo.len());
    let mut seen: FxHashSet<_> = FxHashSet::default();
    let mut is_changed = false;
    while let Some((rest, deeper)) = todo.pop() {
        if !seen.insert((rest, hash_of(&exprs.key, &deeper))) {
            continue;
        }
        if seen.len() > machine.most_items() {
            return Err(Error::limit("items", machine.most_items()).into());
        }
        match shorter(exprs, rest, star) {
            Shorter::Same => kept.push((rest, deeper)),
            Shorter::Gone => {
                todo.extend(entries_of(&deeper, empty));
                is_changed = true;
            }
            Shorter::Rest(rest) => {
                todo.push((rest, deeper));
                is_changed = true;
            }
        }
    }
    // `Y X*` with `Y` inside `X*` adds nothing where all it returns to is waiting here already.
    let covered: Vec<bool> = kept
        .iter()
        .map(|(rest, deeper)| {
            *rest != star
                && exprs.last_star(*rest) == Some(star)
                && exprs.is_inside_star(*rest, star)
                && entries_of(deeper, empty).iter().all(|(id, link)| {
                    matches!(shorter(exprs, *id, star), Shorter::Same)
                        && kept.iter().any(|(other, at)| other == id && is_same(at, link))
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
