//! A state and its step.

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::grammar::{ExprId, Exprs, TOKEN_IN_TEXT, TokenName};
use crate::residual::Residuals;
use crate::residual::excess::Excess;
use crate::stack::ambiguity::Closing;
use crate::stack::captured::Captured;
use crate::stack::enter::{Frames, push_closure};
use crate::stack::frame::{
    Frame, Link, has_captured, is_last, keeps_text, known_places_after, places_after, register_of,
    seen_of,
};
use crate::stack::gather;
use crate::stack::marked::Marked;
use crate::stack::name::NameSoFar;
use crate::stack::spelled_place::SpelledPlace;
use crate::stack::text::TextSoFar;
use crate::stack::unseen::has_unseen;
use crate::stack::{Machine, Stop};

/// What remains of an innermost rule, and where it returns to.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) id: ExprId,
    pub(crate) link: Link,
    /// What was captured since the rule began.
    pub(crate) past: Captured,
}

impl Item {
    /// Whether something was captured on the way to it.
    pub(super) fn has_captured(&self) -> bool {
        has_captured(&self.link, &self.past)
    }
}

/// Where a text stands in a grammar.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    // Invariant: different expressions, unless they remember different names; none empty. Whatever
    // a complete item returns to is here as an item of its own.
    pub(crate) items: SmallVec<[Item; 1]>,
    // Invariant: open exactly if some item is inside a name that its object may not list. All such
    // items began it at the same byte: a JSON text says by itself where its strings begin.
    pub(crate) name: NameSoFar,
    // Invariant: open exactly if some frame below the items knows where an item of an array began:
    // what was read since the outermost such array did.
    pub(crate) text: TextSoFar,
    // Invariant: none, unless there is one item, which begins with a counter of characters: what
    // that counter lacks. It is greater than any token reaches, so that masks need not know.
    excess: Excess,
    // Invariant: some in every state of a grammar with marks.
    pub(super) marked: Option<Box<Marked>>,
    /// Whether the text may end here.
    pub(crate) may_end: bool,
}

impl State {
    /// At the beginning of `id`, if anything but the empty text matches.
    pub(crate) fn start(id: Option<ExprId>, accepts_empty: bool) -> Self {
        let items =
            id.map(|id| Item { id, link: None, past: Captured::default() }).into_iter().collect();
        Self { items, may_end: accepts_empty, ..Self::default() }
    }

    /// Whether no text goes through this state.
    pub(crate) fn is_dead(&self) -> bool {
        self.items.is_empty() && !self.may_end
    }

    /// Without the items that no tokens complete, from between two of them; if that is known.
    pub(crate) fn known_live_part(&self, residuals: &Residuals) -> Option<Self> {
        let mut items = SmallVec::new();
        for item in &self.items {
            let after = known_places_after(residuals, &item.link)?;
            if residuals.known_completes(item.id, after)? {
                items.push(item.clone());
            }
        }
        Some(self.with_items(items, &residuals.exprs))
    }

    /// Without the items that no tokens complete, from between two of them.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn live_part(&self, residuals: &mut Residuals) -> Result<Self, Error> {
        let mut items = SmallVec::new();
        for item in &self.items {
            let after = places_after(residuals, &item.link)?;
            if residuals.completes(item.id, after)? {
                items.push(item.clone());
            }
        }
        Ok(self.with_items(items, &residuals.exprs))
    }

    /// The same with these of its items.
    pub(super) fn with_items(&self, items: SmallVec<[Item; 1]>, exprs: &Exprs) -> Self {
        let mut state = Self { items, ..self.clone() };
        if state.items.is_empty() {
            state.excess = Excess::default();
        }
        if !state.is_naming(exprs) {
            state.name = NameSoFar::default();
        }
        state
    }

    /// The state after `byte`; dead if it may not come.
    pub(crate) fn push(&self, machine: &mut impl Machine, byte: u8) -> Result<Self, Stop> {
        if let Some(marked) = &self.marked {
            machine.set_clock(marked.clock_of(1));
        }
        let mut next = self.push_byte(machine, byte)?;
        if let Some(marked) = &self.marked {
            next.go_on_from(marked, 1);
        }
        // A new generation may not have met the array yet that the text is inside of.
        if machine.exprs().has_items() || self.text.is_open() {
            next.text = self.text.clone();
            next.keep_text(machine, byte)?;
        }
        Ok(next)
    }

    /// The state after these bytes, or a dead one on the way.
    pub(crate) fn push_bytes(
        &self,
        machine: &mut impl Machine,
        bytes: &[u8],
    ) -> Result<Self, Stop> {
        let mut at = self.clone();
        for &byte in bytes {
            at = at.push(machine, byte)?;
            if at.is_dead() {
                break;
            }
        }
        Ok(at)
    }

    /// What an array remembers of its items, and the text that it remembers them by.
    fn keep_text(&mut self, machine: &mut impl Machine, byte: u8) -> Result<(), Stop> {
        if self.text.is_open() {
            self.text.push(byte);
        }
        if self.items.iter().any(|item| machine.exprs().has_next_item(item.id)) {
            self.begin_items(machine)?;
        }
        if !self.items.iter().any(|item| keeps_text(&item.link)) {
            self.text = TextSoFar::default();
        }
        Ok(())
    }

    /// Exchanges each rest of an array from an item on for what it is after the items before.
    fn begin_items(&mut self, machine: &mut impl Machine) -> Result<(), Stop> {
        let (key, empty) = (machine.exprs().key, machine.exprs().empty());
        for Item { id, link, past } in std::mem::take(&mut self.items) {
            for id in machine.exprs().apart(id) {
                let mut item = Item { id, link: link.clone(), past: past.clone() };
                if machine.exprs().is_next_item(id) {
                    if let Some(began) = register_of(&link).and_then(|register| register.item) {
                        item.id = machine.after_item(id, &self.text.bytes_from(began))?;
                    }
                    self.text.begin();
                    item.link = Frame::at_item(&key, empty, &link, self.text.len());
                }
                self.items.push(item);
            }
        }
        self.items.sort_unstable_by_key(|item| item.id);
        Ok(())
    }

    /// The same, whatever arrays remember.
    fn push_byte(&self, machine: &mut impl Machine, byte: u8) -> Result<Self, Stop> {
        if self.name.is_open() {
            return self.push_in_name(machine, byte);
        }
        if !self.excess.is_none() {
            return self.push_in_counter(machine, byte);
        }
        let mut next = self.step(machine, byte)?;
        next.lower(machine)?;
        next.begin_name(machine)?;
        Ok(next)
    }

    /// Begins a name, if some item is in one: without the items that have no name left.
    fn begin_name(&mut self, machine: &mut impl Machine) -> Result<(), Stop> {
        if !self.is_naming(machine.exprs()) {
            return Ok(());
        }
        self.name.begin();
        if machine.exprs().has_scarce_names {
            self.keep_unseen(machine)?;
        }
        Ok(())
    }

    /// Leaves out the items inside a name that can only become one that came.
    fn keep_unseen(&mut self, machine: &mut impl Machine) -> Result<(), Stop> {
        let mut name = None;
        let mut kept = SmallVec::new();
        for item in std::mem::take(&mut self.items) {
            let exprs = machine.exprs();
            let is_scarce = exprs.is_naming(item.id) && !exprs.is_fresh(item.id);
            if let Some(seen) = seen_of(&item.link).filter(|_| is_scarce) {
                let name = name.get_or_insert_with(|| self.name.bytes());
                let is_plain = machine.exprs().has_plain_names;
                if let Some(place) = SpelledPlace::find(seen, &self.name, name, is_plain)
                    && !has_unseen(machine, item.id, place)?
                {
                    continue;
                }
            }
            kept.push(item);
        }
        self.items = kept;
        if !self.is_naming(machine.exprs()) {
            self.name = NameSoFar::default();
        }
        Ok(())
    }

    /// What the counter lacks that the only item begins with.
    pub(crate) fn excess(&self) -> Excess {
        self.excess
    }

    /// Moves most of a long counter into the register.
    fn lower(&mut self, machine: &mut impl Machine) -> Result<(), Stop> {
        if let [item] = &mut self.items[..]
            && machine.exprs().is_long(item.id)
        {
            (item.id, self.excess) = machine.lower(item.id)?;
        }
        Ok(())
    }

    /// The state after a byte of a counter that is partly in the register, or after its end.
    fn push_in_counter(&self, machine: &mut impl Machine, byte: u8) -> Result<Self, Stop> {
        let (nothing, empty) = (machine.exprs().nothing(), machine.exprs().empty());
        let Item { id, link, past } = &self.items[0];
        let first = machine.first_part(*id);
        let goes_on = machine.step(first, byte)? != nothing;
        if !goes_on {
            // Whatever ends the counter needs none of it.
            return Self { excess: Excess::default(), ..self.clone() }.push_byte(machine, byte);
        }
        let rest = machine.step(*id, byte)?;
        let is_nullable = machine.exprs().is_nullable(rest);
        if is_nullable && !is_last(link, empty) {
            // What it returns to may go on beside it.
            let id = machine.raise(*id, self.excess)?;
            let whole = Item { id, link: link.clone(), past: past.clone() };
            let mut next = Self::of(whole).step(machine, byte)?;
            next.lower(machine)?;
            return Ok(next);
        }
        let mut next = Self::of(Item { id: rest, link: link.clone(), past: past.clone() });
        (next.may_end, next.excess) = (is_nullable, self.excess);
        if machine.is_low(rest, next.excess) {
            let more = next.excess.block();
            next.items[0].id = machine.raise(rest, more)?;
            next.excess = next.excess.less(more);
        }
        Ok(next)
    }

    /// The state after `byte`, of names nothing but what is below the items.
    fn step(&self, machine: &mut impl Machine, byte: u8) -> Result<Self, Stop> {
        let [item] = &self.items[..] else {
            return gather::push(machine, &self.items, byte);
        };
        let (nothing, empty) = (machine.exprs().nothing(), machine.exprs().empty());
        if machine.exprs().has_leading_call(item.id) {
            let closure = machine.closure(item.id)?;
            return push_closure(machine, &closure, item, byte);
        }
        let rest = machine.step(item.id, byte)?;
        if rest == nothing {
            return Ok(Self::default());
        }
        if rest != empty && !machine.exprs().is_nullable(rest) {
            return Ok(Self::of(Item { id: rest, ..item.clone() }));
        }
        let mut closing = Closing::default();
        closing.add(Item { id: rest, ..item.clone() });
        closing.finish(machine)
    }

    /// The usual byte inside a rule: one item that neither ends nor calls. False, and no change,
    /// if it is not that, or not known.
    #[inline]
    pub(crate) fn push_in_place(&mut self, residuals: &Residuals, byte: u8) -> bool {
        let [item] = &mut self.items[..] else {
            return false;
        };
        let exprs = &residuals.exprs;
        let is_unusual = !self.excess.is_none() || self.marked.is_some();
        if exprs.has_leading_call(item.id) || is_unusual {
            return false;
        }
        if self.name.is_open() {
            return self.push_in_name_in_place(residuals, byte);
        }
        let Some(rest) = residuals.known_step(item.id, byte) else {
            return false;
        };
        let is_next = exprs.has_items() && exprs.has_leading_call(rest);
        if rest == exprs.nothing() || exprs.is_nullable(rest) || exprs.is_long(rest) || is_next {
            return false;
        }
        if exprs.is_naming(rest) {
            if !exprs.is_fresh(rest) && seen_of(&item.link).is_some() {
                return false;
            }
            self.name.begin();
        }
        item.id = rest;
        self.may_end = false;
        if self.text.is_open() {
            self.text.push(byte);
        }
        true
    }

    /// The same inside a name, where it is no matter which names came before.
    fn push_in_name_in_place(&mut self, residuals: &Residuals, byte: u8) -> bool {
        let [item] = &mut self.items[..] else {
            return false;
        };
        let exprs = &residuals.exprs;
        let Some(rest) = residuals.known_step(item.id, byte) else {
            return false;
        };
        if rest == exprs.nothing() || exprs.is_nullable(rest) {
            return false;
        }
        if self.name.ends_with(byte) {
            let is_next = exprs.has_items() && exprs.has_leading_call(rest);
            if exprs.is_naming(rest) || residuals.ends_other_name(item.id) || is_next {
                return false;
            }
            self.name = NameSoFar::default();
        } else {
            if !exprs.is_naming(rest) || (!exprs.is_fresh(rest) && seen_of(&item.link).is_some()) {
                return false;
            }
            self.name.push(byte);
        }
        item.id = rest;
        if self.text.is_open() {
            self.text.push(byte);
        }
        true
    }

    pub(super) fn of(item: Item) -> Self {
        Self { items: smallvec![item], ..Self::default() }
    }

    /// Whether some item is inside a name that its object may not list.
    fn is_naming(&self, exprs: &Exprs) -> bool {
        self.items.iter().any(|item| exprs.is_naming(item.id))
    }

    /// The state after a byte of a name, or after its closing quote.
    fn push_in_name(&self, machine: &mut impl Machine, byte: u8) -> Result<Self, Stop> {
        if self.name.ends_with(byte) {
            let mut next = self.after_name(machine).step(machine, byte)?;
            next.begin_name(machine)?;
            return Ok(next);
        }
        let mut next = self.step(machine, byte)?;
        if !next.is_naming(machine.exprs()) {
            return Ok(next);
        }
        next.name = self.name.clone();
        next.name.push(byte);
        next.keep_unseen(machine)?;
        Ok(next)
    }

    /// The state before a closing quote, where the name is remembered already: without the items
    /// whose object had it before.
    fn after_name(&self, machine: &impl Machine) -> Self {
        let (key, empty) = (machine.exprs().key, machine.exprs().empty());
        let mut name = None;
        let mut state = Self::default();
        for item in &self.items {
            let mut item = item.clone();
            if machine.ends_other_name(item.id) {
                let name = name.get_or_insert_with(|| self.name.bytes());
                if seen_of(&item.link).is_some_and(|seen| seen.contains(name)) {
                    continue;
                }
                item.link = Frame::after_name(&key, empty, &item.link, name);
            }
            state.items.push(item);
        }
        state
    }

    /// The state after a token of `len` bytes that is named, beside the state where its text was `read`.
    pub(crate) fn push_special(
        &self,
        machine: &mut impl Machine,
        len: usize,
        is_token: impl Fn(&Exprs, TokenName) -> bool,
        read: &Self,
    ) -> Result<Self, Stop> {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        if let Some(marked) = &self.marked {
            machine.set_clock(marked.clock_of(len));
        }
        let mut closing = Closing::default();
        for item in &self.items {
            if !machine.exprs().has_leading_call(item.id) {
                continue;
            }
            let closure = machine.closure(item.id)?;
            let mut frames = Frames::new(&closure, item);
            for &(name, rest, frame) in &closure.tokens {
                if is_token(machine.exprs(), name) {
                    closing.add(frames.item(machine, rest, frame)?);
                }
            }
        }
        if closing.is_empty() {
            return Ok(read.clone());
        }
        closing.add_all(machine, read)?;
        let mut text = if read.is_dead() { self.text.clone() } else { read.text.clone() };
        if read.is_dead() && text.is_open() {
            text.push(TOKEN_IN_TEXT);
        }
        let mut state = closing.finish(machine)?;
        if let Some(marked) = &self.marked {
            state.go_on_from(marked, len);
            state.joins_end_of(machine, read)?;
        }
        state.may_end |= read.may_end;
        Ok(Self { name: read.name.clone(), text, ..state })
    }

    /// Whether a special token may come next.
    pub(crate) fn takes_special(&self, machine: &mut impl Machine) -> Result<bool, Stop> {
        for item in &self.items {
            if machine.exprs().has_leading_call(item.id)
                && !machine.closure(item.id)?.tokens.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bytes that may come next.
    pub(crate) fn next_bytes(
        &self,
        machine: &mut impl Machine,
    ) -> Result<crate::grammar::ByteSet, Stop> {
        let mut bytes = crate::grammar::ByteSet::EMPTY;
        let nothing = machine.exprs().nothing();
        for item in &self.items {
            let closure = machine.closure(item.id)?;
            for &(id, _) in &closure.entries {
                for byte in 0..=u8::MAX {
                    if !bytes.contains(byte) && machine.step(id, byte)? != nothing {
                        bytes.insert(byte);
                    }
                }
            }
        }
        if self.name.is_open() || machine.exprs().has_scarce_names {
            let mut live = crate::grammar::ByteSet::EMPTY;
            for byte in bytes.iter() {
                if !self.push(machine, byte)?.is_dead() {
                    live.insert(byte);
                }
            }
            bytes = live;
        }
        Ok(bytes)
    }
}
