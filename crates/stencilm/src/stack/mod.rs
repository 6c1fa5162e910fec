//! The parse state: what remains of the innermost rules, and where each returns to. Push a byte,
//! get another state.
//!
//! A state is immutable, so rollback and fork keep states, not histories. Frames belong to the
//! matcher that made them and are freed with the states that need them.

mod ambiguity;
mod captured;
mod enter;
mod frame;
mod gather;
mod judge;
mod marked;
mod name;
mod register;
mod seen;
mod spelled_place;
mod state;
mod text;
mod unseen;

pub(crate) use frame::{Entry, Frame, Link, known_places_after, places_after, seen_of};

pub(crate) use spelled_place::{NamePlace, SpelledPlace};
pub(crate) use state::{Item, State};
pub(crate) use text::TextSoFar;
pub(crate) use unseen::has_unseen;

use std::cell::Cell;
use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{ExprId, Exprs, Mark, RuleId};
use crate::mask::Tables;
use crate::residual::calls::{Callee, Closure};
use crate::residual::excess::Excess;
use crate::residual::words::Words;
use crate::stack::register::Clock;

/// Why a step could not be taken.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The tables don't know yet, and may not learn now.
    Unknown,
    /// A limit was reached.
    Failed(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// The tables as a step sees them: shared with other threads, or its own to extend.
pub(crate) trait Machine {
    /// The tables, to read.
    fn tables(&self) -> &Tables;
    /// The arena.
    fn exprs(&self) -> &Exprs {
        &self.tables().residuals.exprs
    }
    /// What remains of `id` after `byte`.
    fn step(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Stop>;
    /// All ways into `id`.
    fn closure(&mut self, id: ExprId) -> Result<Arc<Closure>, Stop>;
    /// The calls that `id` may begin with.
    fn calls(&mut self, id: ExprId) -> Result<Arc<[(Callee, ExprId)]>, Stop>;
    /// The body of a rule.
    fn body(&mut self, rule: RuleId) -> Result<ExprId, Stop>;
    /// The place of a rule in the order in which rules are entered.
    fn rank(&self, rule: RuleId) -> u32 {
        self.tables().residuals.rules().rank(rule)
    }
    /// What a rule asks for beside its texts.
    fn mark(&self, rule: RuleId) -> Option<&Mark> {
        self.tables().residuals.mark(rule)
    }
    /// How much of the text was read; only in grammars with marks.
    fn clock(&self) -> Clock;
    /// Begins a step at this time.
    fn set_clock(&mut self, clock: Clock);
    /// Counts the spans looked at to compare ways to read the text, in one step.
    ///
    /// # Errors
    /// The limit of captures.
    fn has_compared(&self, spans: usize) -> Result<(), Stop>;
    /// The most items of one state, and entries of one frame.
    fn most_items(&self) -> usize {
        self.tables().limits().items
    }
    /// Whether the closing quote ends a name that its object does not list.
    fn ends_other_name(&self, id: ExprId) -> bool {
        self.tables().residuals.ends_other_name(id)
    }
    /// `id` with a part of its long counter, and the other part.
    fn lower(&mut self, id: ExprId) -> Result<(ExprId, Excess), Stop>;
    /// `id` with so much more of its counter.
    fn raise(&mut self, id: ExprId, more: Excess) -> Result<ExprId, Stop>;
    /// Whether `id` should have more of its counter.
    fn is_low(&self, id: ExprId, excess: Excess) -> bool {
        self.tables().residuals.is_low(id, excess)
    }
    /// The part of `id` whose next byte says whether its counter goes on.
    fn first_part(&self, id: ExprId) -> ExprId {
        self.tables().residuals.first_part(id)
    }
    /// What `id`, the rest of an array from an item on, stands for after an item.
    fn after_item(&mut self, id: ExprId, item: &[u8]) -> Result<ExprId, Stop>;
    /// How many names `id` may still become, if fewer than `most` all of them; `in_escape` says that
    /// the text is inside of an escape.
    fn names_left(&mut self, id: ExprId, in_escape: bool, most: u32) -> Result<Words, Stop>;
}

/// One step in a grammar with marks.
#[derive(Default)]
struct Step {
    clock: Clock,
    /// Spans looked at to compare ways to read the text.
    compared: Cell<usize>,
}

impl Step {
    fn has_compared(&self, spans: usize, most: usize) -> Result<(), Stop> {
        let compared = self.compared.get().saturating_add(spans);
        self.compared.set(compared);
        if compared > most { Err(Error::limit("captures", most).into()) } else { Ok(()) }
    }
}

/// Tables that other threads read, too: only what is known already.
pub(crate) struct Shared<'a>(&'a Tables, Step);

impl<'a> Shared<'a> {
    pub(crate) fn new(tables: &'a Tables) -> Self {
        Self(tables, Step::default())
    }
}

/// Tables that may learn.
pub(crate) struct Exclusive<'a>(&'a mut Tables, Step);

impl<'a> Exclusive<'a> {
    pub(crate) fn new(tables: &'a mut Tables) -> Self {
        Self(tables, Step::default())
    }
}

impl Machine for Shared<'_> {
    fn tables(&self) -> &Tables {
        self.0
    }

    #[inline]
    fn step(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Stop> {
        self.0.residuals.known_step(id, byte).ok_or(Stop::Unknown)
    }

    fn closure(&mut self, id: ExprId) -> Result<Arc<Closure>, Stop> {
        self.0.residuals.known_closure(id).cloned().ok_or(Stop::Unknown)
    }

    fn calls(&mut self, id: ExprId) -> Result<Arc<[(Callee, ExprId)]>, Stop> {
        self.0.residuals.known_calls(id).cloned().ok_or(Stop::Unknown)
    }

    fn body(&mut self, rule: RuleId) -> Result<ExprId, Stop> {
        self.0.residuals.known_body(rule).ok_or(Stop::Unknown)
    }

    fn clock(&self) -> Clock {
        self.1.clock
    }

    fn set_clock(&mut self, clock: Clock) {
        self.1 = Step { clock, ..Step::default() };
    }

    fn has_compared(&self, spans: usize) -> Result<(), Stop> {
        self.1.has_compared(spans, self.0.limits().captures)
    }

    fn lower(&mut self, id: ExprId) -> Result<(ExprId, Excess), Stop> {
        self.0.residuals.known_lowered(id).ok_or(Stop::Unknown)
    }

    fn raise(&mut self, id: ExprId, more: Excess) -> Result<ExprId, Stop> {
        self.0.residuals.known_raised(id, more).ok_or(Stop::Unknown)
    }

    fn after_item(&mut self, id: ExprId, item: &[u8]) -> Result<ExprId, Stop> {
        let depends = self.0.residuals.exprs.depends_on_item(id, item);
        if depends { Err(Stop::Unknown) } else { Ok(id) }
    }

    fn names_left(&mut self, id: ExprId, in_escape: bool, most: u32) -> Result<Words, Stop> {
        self.0.residuals.known_names_left(id, in_escape, most).ok_or(Stop::Unknown)
    }
}

impl Machine for Exclusive<'_> {
    fn tables(&self) -> &Tables {
        self.0
    }

    fn step(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Stop> {
        Ok(self.0.residuals.step(id, byte)?)
    }

    fn closure(&mut self, id: ExprId) -> Result<Arc<Closure>, Stop> {
        Ok(self.0.residuals.closure(id)?)
    }

    fn calls(&mut self, id: ExprId) -> Result<Arc<[(Callee, ExprId)]>, Stop> {
        Ok(self.0.residuals.calls(id))
    }

    fn body(&mut self, rule: RuleId) -> Result<ExprId, Stop> {
        Ok(self.0.residuals.body(rule)?)
    }

    fn clock(&self) -> Clock {
        self.1.clock
    }

    fn set_clock(&mut self, clock: Clock) {
        self.1 = Step { clock, ..Step::default() };
    }

    fn has_compared(&self, spans: usize) -> Result<(), Stop> {
        self.1.has_compared(spans, self.0.limits().captures)
    }

    fn lower(&mut self, id: ExprId) -> Result<(ExprId, Excess), Stop> {
        Ok(self.0.residuals.lower(id))
    }

    fn raise(&mut self, id: ExprId, more: Excess) -> Result<ExprId, Stop> {
        Ok(self.0.residuals.raise(id, more))
    }

    fn after_item(&mut self, id: ExprId, item: &[u8]) -> Result<ExprId, Stop> {
        Ok(self.0.residuals.after_item(id, item)?)
    }

    fn names_left(&mut self, id: ExprId, in_escape: bool, most: u32) -> Result<Words, Stop> {
        Ok(self.0.residuals.names_left(id, in_escape, most)?)
    }
}
