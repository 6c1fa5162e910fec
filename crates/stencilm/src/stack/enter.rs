//! Entering rules: the frames of those that a state's only item may begin with.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{ExprId, RuleId};
use crate::residual::calls::{Closure, FrameRef};
use crate::stack::ambiguity::{Closing, simpler_link};
use crate::stack::captured::Captured;
use crate::stack::frame::{Entry, Frame, Link, entries_of, register_of};
use crate::stack::judge::keep_best;
use crate::stack::state::{Item, State};
use crate::stack::{Machine, Stop};

/// The usual step: one item, whose calls were found before.
pub(super) fn push_closure(
    machine: &mut impl Machine,
    closure: &Arc<Closure>,
    item: &Item,
    byte: u8,
) -> Result<State, Stop> {
    let nothing = machine.exprs().nothing();
    let mut frames = Frames::new(closure, item);
    let mut first: Option<Item> = None;
    let mut closing: Option<Closing> = None;
    for &(id, frame) in &closure.entries {
        let rest = machine.step(id, byte)?;
        if rest == nothing {
            continue;
        }
        let reached = frames.item(machine, rest, frame)?;
        match (&mut first, &mut closing) {
            (None, None) => first = Some(reached),
            (_, Some(closing)) => closing.add(reached),
            (Some(_), none) => {
                let mut more = Closing::default();
                if let Some(item) = first.take() {
                    more.add(item);
                }
                more.add(reached);
                *none = Some(more);
            }
        }
    }
    match (first, closing) {
        (_, Some(closing)) => closing.finish(machine),
        (None, None) => Ok(State::default()),
        (Some(item), None) => {
            if !machine.exprs().is_nullable(item.id) {
                return Ok(State::of(item));
            }
            let mut closing = Closing::default();
            closing.add(item);
            closing.finish(machine)
        }
    }
}

/// The frames of a closure, made when first needed.
pub(super) struct Frames<'a> {
    closure: &'a Closure,
    outer: &'a Item,
    made: SmallVec<[Option<Link>; 4]>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(closure: &'a Closure, outer: &'a Item) -> Self {
        Self { closure, outer, made: smallvec![None; closure.frames.len()] }
    }

    /// What remains where a way into the closure begins.
    pub(super) fn item(
        &mut self,
        machine: &impl Machine,
        id: ExprId,
        frame: FrameRef,
    ) -> Result<Item, Stop> {
        match frame {
            FrameRef::Outer => Ok(Item { id, ..self.outer.clone() }),
            FrameRef::Inner(wanted) => {
                Ok(Item { id, link: self.link(machine, wanted)?, past: Captured::default() })
            }
        }
    }

    /// A frame of the closure. The callers of an inner frame come before it, so one pass from the
    /// outermost makes all.
    fn link(&mut self, machine: &impl Machine, wanted: usize) -> Result<Link, Stop> {
        let mut todo: SmallVec<[usize; 8]> = smallvec![wanted];
        while let Some(&at) = todo.last() {
            if self.made[at].is_some() {
                todo.pop();
                continue;
            }
            let missing = self.closure.frames[at].iter().find_map(|&(_, frame)| match frame {
                FrameRef::Inner(inner) if self.made[inner].is_none() => Some(inner),
                _ => None,
            });
            if let Some(inner) = missing {
                todo.push(inner);
                continue;
            }
            let link = self.make(machine, at)?;
            self.made[at] = Some(link);
            todo.pop();
        }
        Ok(self.made[wanted].clone().expect("it was made just now"))
    }

    fn caller(&self, id: ExprId, frame: FrameRef) -> Entry {
        let (link, past) = match frame {
            FrameRef::Outer => (&self.outer.link, self.outer.past.clone()),
            FrameRef::Inner(inner) => {
                let made = self.made[inner].as_ref().expect("callers are made first");
                (made, Captured::default())
            }
        };
        Entry { id, link: link.clone(), past }
    }

    fn make(&self, machine: &impl Machine, at: usize) -> Result<Link, Stop> {
        let exprs = machine.exprs();
        let callers = &self.closure.frames[at];
        let rule = self.closure.rules[at];
        if let &[(id, frame)] = &callers[..]
            && id != exprs.empty()
            && exprs.last_star(id).is_none()
            && machine.mark(rule).is_none()
        {
            return Ok(Some(Frame::one(&exprs.key, self.caller(id, frame))));
        }
        let callers = callers.iter().map(|&(id, frame)| self.caller(id, frame));
        make_frame(machine, rule, callers.collect())
    }
}

/// The frame of a rule for these callers, whatever they are: those in tail position hand their own
/// callers on.
pub(super) fn make_frame(
    machine: &impl Machine,
    rule: RuleId,
    callers: Vec<Entry>,
) -> Result<Link, Stop> {
    let exprs = machine.exprs();
    let empty = exprs.empty();
    let mut entries = Vec::with_capacity(callers.len());
    // In tail position the rest of an object or an array goes on with what it remembers.
    let kept =
        callers.iter().find_map(|it| register_of(&it.link).filter(|_| it.id == empty).cloned());
    debug_assert!(
        kept.is_none()
            || callers.iter().all(|it| it.id == empty && register_of(&it.link).is_some()),
        "only what is in tail position goes on with what the frame remembers"
    );
    for Entry { id, link, past } in callers {
        if id == empty {
            let below = entries_of(&link, empty).into_iter();
            entries.extend(below.map(|below| Entry { past: below.past.then(&past), ..below }));
        } else {
            let link = simpler_link(machine, id, link)?;
            entries.push(Entry { id, link, past });
        }
    }
    if entries.len() > machine.most_items() {
        return Err(Error::limit("items", machine.most_items()).into());
    }
    keep_best(machine, &mut entries)?;
    let Some(mark) = machine.mark(rule) else {
        return Ok(Frame::with(&exprs.key, empty, entries, kept));
    };
    let now = machine.clock();
    if mark.capture.is_some() {
        for entry in &mut entries {
            entry.past = entry.past.opened(rule, now.bytes);
        }
    }
    let register = if mark.max_tokens.is_some() || mark.temperature.is_some() {
        Some(kept.unwrap_or_default().marked(rule, mark, now))
    } else {
        kept
    };
    Ok(Frame::with(&exprs.key, empty, entries, register))
}
