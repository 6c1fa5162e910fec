//! What may come next at a state: the mask of what it shows of its stack, less the tokens that
//! its names forbid.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::ExprId;
use crate::mask::{Few, Mask, Tables, ViewId};
use crate::matcher::names::{Reached, refused};
use crate::stack::{
    Entry, Exclusive, Frame, Item, Link, Shared, State, Stop, known_places_after, places_after,
};

/// The tokens that may come next.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// What all states with the same view share.
    pub(super) mask: Arc<Mask>,
    /// Those that may not come here, sorted.
    pub(super) removed: Few<u32>,
}

impl Choices {
    pub(super) fn contains(&self, token: u32) -> bool {
        self.mask.contains(token) && self.removed.binary_search(&token).is_err()
    }
}

/// Which frames were looked at below which views: in an ambiguous state many ways lead to one
/// frame, and their number would double with its depth.
#[derive(Default)]
pub(super) struct Met {
    /// A single way needs no memory.
    branched: bool,
    seen: FxHashSet<(ViewId, *const Frame)>,
}

impl Met {
    pub(super) fn is_new(&mut self, view: ViewId, frame: &Arc<Frame>) -> bool {
        self.branched |= frame.entries().len() > 1;
        !self.branched || self.seen.insert((view, Arc::as_ptr(frame)))
    }
}

/// The choices at a state, if all of them are known.
pub(super) fn known_choices(tables: &Tables, state: &State) -> Result<Choices, Stop> {
    let mut reached = Reached::new();
    let mask = known_mask(tables, state, &mut reached).ok_or(Stop::Unknown)?;
    let removed = refused(&mut Shared::new(tables), &tables.vocabulary, state, &reached, &mask)?;
    Ok(Choices { mask, removed })
}

/// The choices at a state.
pub(super) fn find_choices(tables: &mut Tables, state: &State) -> Result<Choices, Stop> {
    let mut reached = Reached::new();
    let mask = find_mask(tables, state, &mut reached)?;
    let vocabulary = tables.vocabulary.clone();
    let removed = refused(&mut Exclusive::new(tables), &vocabulary, state, &reached, &mask)?;
    Ok(Choices { mask, removed })
}

/// The mask of a state, if all of it is known, and the names that its tokens may come upon.
fn known_mask<'s>(
    tables: &Tables,
    state: &'s State,
    reached: &mut Reached<'s>,
) -> Option<Arc<Mask>> {
    let mut views: SmallVec<[ViewId; 4]> = SmallVec::new();
    let mut met = Met::default();
    for Item { id, link, .. } in &state.items {
        let view = tables.known_first_view(*id, known_places_after(&tables.residuals, link)?)?;
        let mut todo: SmallVec<[(ViewId, &Link); 4]> = SmallVec::from_slice(&[(view, link)]);
        while let Some((view, link)) = todo.pop() {
            reached.extend(link.as_deref().filter(|frame| frame.remembers()));
            match link {
                Some(frame) if tables.looks_deeper(view) => {
                    if met.is_new(view, frame) {
                        for Entry { id: rest, link, .. } in frame.entries() {
                            let after = known_places_after(&tables.residuals, link)?;
                            let below = tables.known_next_view(view, *rest, after)?;
                            todo.push((below, link));
                        }
                    }
                }
                _ => views.push(view),
            }
        }
    }
    views.sort_unstable();
    views.dedup();
    tables.known_union(&views).cloned()
}

/// The mask of a state, and the names that its tokens may come upon.
fn find_mask<'s>(
    tables: &mut Tables,
    state: &'s State,
    reached: &mut Reached<'s>,
) -> Result<Arc<Mask>, Error> {
    let mut views: Vec<ViewId> = Vec::new();
    let mut met = Met::default();
    let most = tables.limits().items;
    for Item { id, link, .. } in &state.items {
        let after = places_after(&mut tables.residuals, link)?;
        let view = tables.first_view(*id, after, |tables| waiting(tables, link))?;
        let mut todo: Vec<(ViewId, &Link)> = vec![(view, link)];
        while let Some((view, link)) = todo.pop() {
            reached.extend(link.as_deref().filter(|frame| frame.remembers()));
            match link {
                Some(frame) if tables.looks_deeper(view) => {
                    if met.is_new(view, frame) {
                        for Entry { id: rest, link, .. } in frame.entries() {
                            let after = places_after(&mut tables.residuals, link)?;
                            todo.push((tables.next_view(view, *rest, after)?, link));
                        }
                    }
                }
                _ => views.push(view),
            }
            if views.len() + todo.len() > most {
                return Err(Error::limit("items", most));
            }
        }
    }
    views.sort_unstable();
    views.dedup();
    Ok(tables.union_of_views(&views))
}

/// What waits below an item, as deep as all above it may be empty, and not too much of it.
fn waiting(tables: &Tables, link: &Link) -> Vec<ExprId> {
    const MOST: usize = 32;
    let mut ids = Vec::new();
    let mut todo: Vec<&Link> = vec![link];
    while let Some(link) = todo.pop() {
        for Entry { id, link: below, .. } in link.iter().flat_map(|frame| frame.entries()) {
            if ids.len() < MOST && !ids.contains(id) {
                ids.push(*id);
                todo.extend(tables.residuals.exprs.is_nullable(*id).then_some(below));
            }
        }
    }
    ids
}
