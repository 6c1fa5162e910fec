//! Views: what a state shows of its stack. A view is an expression at the top and as many
//! expressions below it as some token reaches; states with the same view have the same mask.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{Expr, ExprId};
use crate::mask::after::{After, First};
use crate::mask::few::Few;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{Mask, MaskBuilder, Tables};
use crate::residual::calls::FrameRef;
use crate::residual::places::Places;

/// A view of one grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ViewId(u32);

/// The tokens that end within a view, and what is left of those that look deeper.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(super) mask: Arc<Mask>,
    pub(super) exits: Few<Exit>,
}

/// What is left of tokens that look deeper than a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    /// These endings.
    Endings(TrieId),
    /// What leaves an expression for these endings: too much to be made without the bytes that
    /// come after it.
    Open(ExprId, TrieId, Places),
}

impl Tables {
    /// The mask of a view.
    pub(crate) fn view_mask(&self, id: ViewId) -> &Arc<Mask> {
        &self.views[id.0 as usize].mask
    }

    /// How many tokens of a view look at what lies below it, as far as that begins like them.
    pub(crate) fn looking_deeper(&self, id: ViewId) -> usize {
        let tokens = |exits: &[TrieId]| exits.iter().map(|&exit| self.tries.tokens(exit)).sum();
        let of = |exit: &Exit| match *exit {
            Exit::Endings(endings) => tokens(&[endings]),
            Exit::Open(id, endings, places) => {
                let known = self.local_ids.get(&(id, endings, places)).into_iter().flatten();
                let known = known.map(|(_, local)| tokens(&self.locals[local.0 as usize].exits));
                known.max().unwrap_or(0)
            }
        };
        self.views[id.0 as usize].exits.iter().map(of).sum()
    }

    /// Whether a view's tokens look at what lies below it.
    pub(crate) fn looks_deeper(&self, id: ViewId) -> bool {
        !self.views[id.0 as usize].exits.is_empty()
    }

    /// The view of `id` at the top of a stack, if it was looked at before. `after` says what lies
    /// below.
    #[inline]
    pub(crate) fn known_first_view(&self, id: ExprId, after: Places) -> Option<ViewId> {
        self.first_views.get(&(id, after)).copied()
    }

    /// The view of `above` and `id` below it, if it was looked at before.
    #[inline]
    pub(crate) fn known_next_view(
        &self,
        above: ViewId,
        id: ExprId,
        after: Places,
    ) -> Option<ViewId> {
        self.next_views.get(&(above, id, after)).copied()
    }

    /// The view of `id` at the top of a stack. `below` may name what waits below it, which then is
    /// answered at once.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn first_view(
        &mut self,
        id: ExprId,
        after: Places,
        below: impl FnOnce(&Self) -> Vec<ExprId>,
    ) -> Result<ViewId, Error> {
        if let Some(known) = self.known_first_view(id, after) {
            return Ok(known);
        }
        let clipped = self.residuals.clip(id)?;
        if clipped != id {
            let view = self.first_view(clipped, after, below)?;
            self.first_views.insert((id, after), view);
            return Ok(view);
        }
        let is_open = after.goes_on() && self.may_be_open(id)?;
        let first = if is_open { self.first_of(&below(self))? } else { First::NONE };
        let local = self.local(id, FULL, After { places: after, first })?;
        let exits = local.exits.iter().map(|&endings| Exit::Endings(endings));
        let exits =
            if local.is_whole { exits.collect() } else { vec![Exit::Open(id, FULL, after)].into() };
        let specials = self.special_tokens(id, after)?;
        let mask = if specials.is_empty() {
            local.inside
        } else {
            let mut builder = MaskBuilder::default();
            builder.add(&local.inside);
            builder.adds().extend(specials);
            builder.finish(self.vocabulary.words())
        };
        let view = self.keep_view(mask, exits);
        self.first_views.insert((id, after), view);
        Ok(view)
    }

    /// Whether nearly all tokens may leave `id`.
    fn may_be_open(&mut self, id: ExprId) -> Result<bool, Error> {
        if let Expr::Choice(list) = self.residuals.exprs.get(id) {
            let members = self.residuals.exprs.list(list).to_vec();
            return Ok(members.iter().any(|&member| self.begins_open(member)));
        }
        Ok(self.begins_open(id) || self.is_loop_inside(id)?)
    }

    fn begins_open(&mut self, id: ExprId) -> bool {
        self.residuals.leading_loop(id).is_some_and(|lead| lead.is_wide && !lead.is_guarded)
    }

    /// The special tokens that may come next in `id`.
    fn special_tokens(&mut self, id: ExprId, after: Places) -> Result<Vec<u32>, Error> {
        let closure = self.residuals.closure(id)?;
        if closure.tokens.is_empty() {
            return Ok(Vec::new());
        }
        // Callers come before the frames of what they call.
        let mut frames: Vec<Places> = Vec::new();
        let of = |frame, frames: &[Places]| match frame {
            FrameRef::Outer => after,
            FrameRef::Inner(at) => frames[at],
        };
        for callers in &closure.frames {
            let mut whole: Option<Places> = None;
            for &(rest, frame) in callers {
                let places = self.residuals.before(rest, of(frame, &frames))?;
                whole = Some(match whole {
                    None => places,
                    Some(whole) => self.residuals.either(whole, places),
                });
            }
            frames.push(whole.unwrap_or(after));
        }
        let mut specials = Vec::new();
        for &(name, rest, frame) in &closure.tokens {
            if self.residuals.completes(rest, of(frame, &frames))? {
                specials.extend(self.named_tokens(name));
            }
        }
        Ok(specials)
    }

    /// The view of `above` and `id` below it.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn next_view(
        &mut self,
        above: ViewId,
        id: ExprId,
        after: Places,
    ) -> Result<ViewId, Error> {
        if let Some(known) = self.known_next_view(above, id, after) {
            return Ok(known);
        }
        let clipped = self.residuals.clip(id)?;
        if clipped != id {
            let view = self.next_view(above, clipped, after)?;
            self.next_views.insert((above, id, after), view);
            return Ok(view);
        }
        let View { mask, exits } = self.views[above.0 as usize].clone();
        let mut builder = MaskBuilder::default();
        builder.add(&mask);
        let passes = after.goes_on() && self.residuals.exprs.is_nullable(id);
        let (mut endings, mut deeper, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for &exit in exits.iter() {
            match exit {
                Exit::Endings(one) => {
                    endings.push(one);
                    deeper.extend(passes.then_some(one));
                }
                Exit::Open(top, trie, places) => {
                    let first = self.before(id, After::unseen(places))?.first;
                    let local = self.local(top, trie, After { places, first })?;
                    endings.extend_from_slice(&local.exits);
                    open.extend(passes.then_some(exit));
                }
            }
        }
        for ending in endings {
            let local = self.local(id, ending, After::unseen(after))?;
            builder.add(&local.inside);
            if local.is_whole {
                deeper.extend_from_slice(&local.exits);
            } else {
                open.push(Exit::Open(id, ending, after));
            }
        }
        let local = self.finish_local(builder, deeper, true);
        open.extend(local.exits.iter().map(|&endings| Exit::Endings(endings)));
        open.sort_unstable();
        open.dedup();
        let view = self.keep_view(local.inside, open.into());
        self.next_views.insert((above, id, after), view);
        Ok(view)
    }

    fn keep_view(&mut self, mask: Mask, exits: Few<Exit>) -> ViewId {
        let id = ViewId(u32::try_from(self.views.len()).expect("limits keep tables small"));
        self.mask_bytes += exits.len() * 16 + 64;
        self.count_mask(&mask);
        self.views.push(View { mask: Arc::new(mask), exits });
        id
    }

    /// The union of some views' masks, if it was asked for before.
    pub(crate) fn known_union(&self, views: &[ViewId]) -> Option<&Arc<Mask>> {
        match views {
            [view] => Some(self.view_mask(*view)),
            _ => self.unions.get(views),
        }
    }

    /// The union of some views' masks; `views` is sorted.
    pub(crate) fn union_of_views(&mut self, views: &[ViewId]) -> Arc<Mask> {
        if let Some(known) = self.known_union(views) {
            return known.clone();
        }
        let mut builder = MaskBuilder::default();
        for &view in views {
            builder.add(&self.views[view.0 as usize].mask);
        }
        let mask = Arc::new(builder.finish(self.vocabulary.words()));
        self.count_mask(&mask);
        self.unions.insert(views.into(), mask.clone());
        mask
    }

    /// Gives the mask in the making its whole budget.
    pub(crate) fn begin_mask(&mut self) {
        self.work = self.limits().mask_work;
        self.depth = 0;
    }
}
