//! What a state knows for the marks of its grammar.

use rustc_hash::FxHashMap;

use crate::stack::captured::Captured;
use crate::stack::frame::{past_of, without_spans};
use crate::stack::judge::{Verdict, judge};
use crate::stack::register::{Clock, TokenSpan};
use crate::stack::state::{Item, State};
use crate::stack::{Machine, Stop};

/// See the module. A state of a grammar without marks has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marked {
    /// Tokens and bytes of the text.
    pub(super) clock: Clock,
    /// Calls of rules with few tokens that may end here.
    pub(super) ended: Vec<TokenSpan>,
    /// What was captured if the text ends here.
    complete: Captured,
}

impl Marked {
    /// The text may end here, read like this.
    pub(super) fn ends_with(&mut self, machine: &impl Machine, past: Captured) -> Result<(), Stop> {
        if self.complete.is_empty()
            || judge(machine, (&None, &past), (&None, &self.complete))? == Verdict::Better
        {
            self.complete = past;
        }
        Ok(())
    }

    /// None if it says nothing.
    pub(super) fn if_any(self) -> Option<Box<Self>> {
        let is_any = !self.ended.is_empty() || !self.complete.is_empty();
        is_any.then(|| Box::new(self))
    }

    /// The clock of a step over so many bytes.
    pub(super) fn clock_of(&self, step: u32) -> Clock {
        Clock { step, ..self.clock }
    }
}

impl State {
    /// The same in a grammar with marks.
    pub(crate) fn marked(mut self) -> Self {
        self.marked = Some(Box::default());
        self
    }

    /// The time goes on from that of the state before by so many bytes.
    pub(super) fn go_on_from(&mut self, before: &Marked, step: u32) {
        let marked = self.marked.get_or_insert_default();
        marked.clock = Clock { bytes: before.clock_of(step).end(), ..before.clock };
    }

    /// The same after a whole token, and what is left of it when the rules whose tokens are spent end here,
    /// if some do.
    ///
    /// # Errors
    /// The limit of captures.
    pub(crate) fn after_token(
        mut self,
        machine: &mut impl Machine,
    ) -> Result<(Self, Option<Self>), Stop> {
        let Some(marked) = &mut self.marked else { return Ok((self, None)) };
        marked.clock.tokens = marked.clock.tokens.saturating_add(1);
        let now = marked.clock.tokens;
        let spent: Vec<TokenSpan> =
            marked.ended.iter().filter(|span| span.until <= now).copied().collect();
        if spent.is_empty() {
            return Ok((self, None));
        }
        machine.set_clock(marked.clock);
        let (mut done, mut items) = (FxHashMap::default(), Vec::with_capacity(self.items.len()));
        for item in &self.items {
            let link = without_spans(machine, &item.link, &spent, &mut done)?;
            items.extend(link.map(|link| Item { link, ..item.clone() }));
        }
        let less = self.with_items(items.into(), machine.exprs());
        Ok((self, Some(less)))
    }

    /// Another state whose text may end here as well.
    pub(super) fn joins_end_of(
        &mut self,
        machine: &impl Machine,
        other: &Self,
    ) -> Result<(), Stop> {
        match (&mut self.marked, &other.marked) {
            (Some(marked), Some(other)) => marked.ends_with(machine, other.complete.clone()),
            _ => Ok(()),
        }
    }

    /// What was captured: in the whole text if it may end here, else so far.
    pub(crate) fn captured(&self) -> Captured {
        if let Some(marked) = self.marked.as_ref().filter(|_| self.may_end) {
            return marked.complete.clone();
        }
        let ways = self.items.iter().map(|item| past_of(&item.link).then_any(&item.past));
        let better = |best: Captured, way: Captured| {
            if way.compare(&best).is_lt() { way } else { best }
        };
        ways.reduce(better).unwrap_or_default()
    }

    /// The temperature of the innermost rule with one that the next token is in; of several ways to go on,
    /// the highest.
    pub(crate) fn temperature(&self, machine: &mut impl Machine) -> Result<Option<f32>, Stop> {
        let mut found: Option<f32> = None;
        for item in &self.items {
            let outer = item.link.as_ref().and_then(|frame| frame.temperature());
            let closure = machine.closure(item.id)?;
            let mut frames: Vec<Option<f32>> = Vec::with_capacity(closure.frames.len());
            for (callers, &rule) in closure.frames.iter().zip(&closure.rules) {
                let own = machine.mark(rule).and_then(|mark| mark.temperature);
                let below = callers.iter().filter_map(|(_, frame)| frame.among(&frames, outer));
                let below = below.reduce(f32::max);
                frames.push(own.or(below));
            }
            let mut ways = Vec::new();
            for &(id, frame) in &closure.entries {
                if reads_a_byte(machine, id)? {
                    ways.push(frame);
                }
            }
            ways.extend(closure.tokens.iter().map(|&(_, _, frame)| frame));
            let ways = ways.iter().filter_map(|frame| frame.among(&frames, outer));
            found = ways.chain(found).reduce(f32::max);
        }
        Ok(found)
    }
}

/// Whether a text of `id` may begin with a byte of its own, before any call.
fn reads_a_byte(machine: &mut impl Machine, id: crate::grammar::ExprId) -> Result<bool, Stop> {
    let nothing = machine.exprs().nothing();
    for byte in 0..=u8::MAX {
        if machine.step(id, byte)? != nothing {
            return Ok(true);
        }
    }
    Ok(false)
}
