//! How much of the stack a mask is made of: figures for people.

use std::sync::PoisonError;

use smallvec::SmallVec;

use crate::error::Error;
use crate::mask::{Tables, ViewId};
use crate::matcher::Matcher;
use crate::matcher::known::Met;
use crate::stack::{Entry, Item, Link, State, known_places_after};

/// What one mask was put together from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskParts {
    /// Ways down the stack that tokens take: one if nothing is ambiguous.
    pub ways: usize,
    /// The most expressions that one of them reads, one below the other.
    pub depth: usize,
    /// Tokens that the expressions at the top leave open: those below decide about them.
    pub open_tokens: usize,
}

impl Matcher {
    /// What the mask of this state is put together from.
    ///
    /// # Errors
    /// A limit.
    pub fn mask_parts(&mut self) -> Result<MaskParts, Error> {
        if self.now.has_stopped {
            return Ok(MaskParts::default());
        }
        self.now.choices = None;
        self.choices()?;
        let tables = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
        Ok(parts_of(&tables, &self.now.state).unwrap_or_default())
    }
}

/// None if some of it is not known.
fn parts_of(tables: &Tables, state: &State) -> Option<MaskParts> {
    let mut parts = MaskParts::default();
    let mut met = Met::default();
    for Item { id, link, .. } in &state.items {
        let view = tables.known_first_view(*id, known_places_after(&tables.residuals, link)?)?;
        parts.open_tokens += tables.looking_deeper(view);
        let mut todo: SmallVec<[(ViewId, &Link, usize); 4]> =
            SmallVec::from_slice(&[(view, link, 1)]);
        while let Some((view, link, depth)) = todo.pop() {
            match link {
                Some(frame) if tables.looks_deeper(view) => {
                    if met.is_new(view, frame) {
                        for Entry { id: rest, link, .. } in frame.entries() {
                            let after = known_places_after(&tables.residuals, link)?;
                            let below = tables.known_next_view(view, *rest, after)?;
                            todo.push((below, link, depth + 1));
                        }
                    }
                }
                _ => {
                    parts.ways += 1;
                    parts.depth = parts.depth.max(depth);
                }
            }
        }
    }
    Some(parts)
}
