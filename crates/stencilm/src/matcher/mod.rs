//! A matcher: where one sequence of tokens stands in a grammar.

mod draft;
mod items;
mod key;
mod known;
mod marks;
mod moving;
mod names;
mod parts;

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use crate::compiled::{CompiledGrammar, Generation, Lineage};
use crate::error::Error;
use crate::grammar::Exprs;
use crate::mask::Tables;
use crate::matcher::known::{Choices, find_choices, known_choices};
use crate::stack::{Exclusive, Frame, Shared, State, Stop, TextSoFar};
use crate::vocab::Vocabulary;

pub use marks::Capture;
pub use parts::MaskParts;

/// Where one sequence of tokens stands in a grammar.
///
/// A step is what one call of [`accept`](Self::accept) or [`accept_bytes`](Self::accept_bytes)
/// took; [`rollback`](Self::rollback) gives steps back.
#[derive(Clone, Debug)]
pub struct Matcher {
    compiled: Arc<CompiledGrammar>,
    lineage: Arc<Lineage>,
    generation: Arc<Generation>,
    now: Step,
    /// What came before, newest last.
    before: VecDeque<Step>,
}

/// A set of tokens that may come next, cheap to keep.
#[derive(Clone, Debug)]
pub struct Allowed {
    choices: Option<Choices>,
    may_stop: bool,
    vocabulary: Arc<Vocabulary>,
}

impl Allowed {
    /// Writes the set, one bit a token. Words beyond the vocabulary become zero.
    ///
    /// # Panics
    /// If `out` has fewer words than the vocabulary.
    pub fn write(&self, out: &mut [u32]) {
        match &self.choices {
            Some(choices) => choices.mask.write(out),
            None => out.fill(0),
        }
        for &id in self.forbidden() {
            out[id as usize / 32] &= !(1 << (id % 32));
        }
        for &id in self.stops() {
            out[id as usize / 32] |= 1 << (id % 32);
        }
    }

    /// The dense part of the set, one bit a token; none if all of it is in [`singles`](Self::singles).
    /// The tokens in [`removed`](Self::removed) are none of it.
    #[must_use]
    pub fn base(&self) -> Option<&[u32]> {
        self.choices.as_ref().and_then(|choices| choices.mask.base())
    }

    /// Tokens of the dense part that may not come after all.
    pub fn removed(&self) -> impl Iterator<Item = u32> + '_ {
        let cuts = self.choices.as_ref().map_or(&[][..], |choices| choices.mask.cuts());
        cuts.iter().chain(self.forbidden()).copied()
    }

    /// The tokens beside the dense part.
    pub fn singles(&self) -> impl Iterator<Item = u32> + '_ {
        let adds = self.choices.as_ref().map_or(&[][..], |choices| choices.mask.singles());
        let forbidden = self.forbidden();
        let is_in = move |id: &&u32| forbidden.is_empty() || forbidden.binary_search(id).is_err();
        adds.iter().filter(is_in).chain(self.stops()).copied()
    }

    /// Tokens of the mask that its names forbid, sorted.
    fn forbidden(&self) -> &[u32] {
        self.choices.as_ref().map_or(&[], |choices| &choices.removed)
    }

    fn stops(&self) -> &[u32] {
        if self.may_stop { self.vocabulary.stop_ids() } else { &[] }
    }
}

/// The state after a step.
#[derive(Clone, Debug)]
struct Step {
    state: State,
    /// A stop token was taken: nothing follows.
    has_stopped: bool,
    choices: Option<Choices>,
    /// The text up to here, where rules capture parts of it.
    read: Option<Box<TextSoFar>>,
}

impl Step {
    fn at(state: State) -> Self {
        Self { state, has_stopped: false, choices: None, read: None }
    }

    /// Before any text.
    fn first(compiled: &CompiledGrammar, generation: &Generation) -> Self {
        let state = State::start(generation.start, compiled.grammar().rules.accepts_empty());
        if !compiled.has_marks() {
            return Self::at(state);
        }
        let read = compiled.has_captures().then(Box::default);
        Self { read, ..Self::at(state.marked()) }
    }
}

impl Matcher {
    /// At the beginning of a text.
    #[must_use]
    pub fn new(compiled: Arc<CompiledGrammar>) -> Self {
        let lineage = compiled.lineage();
        let generation = lineage.generation();
        let now = Step::first(&compiled, &generation);
        Self { compiled, lineage, generation, now, before: VecDeque::new() }
    }

    /// The grammar it matches.
    #[must_use]
    pub fn compiled(&self) -> &Arc<CompiledGrammar> {
        &self.compiled
    }

    /// Back to the beginning; nothing to give back.
    pub fn reset(&mut self) {
        self.lineage = self.compiled.lineage();
        self.generation = self.lineage.generation();
        self.now = Step::first(&self.compiled, &self.generation);
        self.before.clear();
    }

    /// A matcher at the same place that goes its own way.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// The tokens that may come next.
    ///
    /// # Errors
    /// A limit.
    pub fn allowed(&mut self) -> Result<Allowed, Error> {
        let choices = if self.now.has_stopped { None } else { Some(self.choices()?) };
        Ok(self.allowed_with(choices))
    }

    /// The tokens that may come next, if that is known already and no other thread is learning.
    pub fn known_allowed(&mut self) -> Option<Allowed> {
        if !self.knows_choices() {
            return None;
        }
        let choices = if self.now.has_stopped { None } else { self.now.choices.clone() };
        Some(self.allowed_with(choices))
    }

    /// Whether what may come next is known, and no other thread is learning.
    fn knows_choices(&mut self) -> bool {
        if self.now.has_stopped || self.now.choices.is_some() {
            return true;
        }
        if self.generation.is_retired() {
            return false;
        }
        let Ok(tables) = self.generation.tables.try_read() else { return false };
        self.now.choices = known_choices(&tables, &self.now.state).ok();
        self.now.choices.is_some()
    }

    fn allowed_with(&self, choices: Option<Choices>) -> Allowed {
        let may_stop = self.now.state.may_end && !self.now.has_stopped;
        Allowed { choices, may_stop, vocabulary: self.compiled.vocabulary().clone() }
    }

    /// Writes the tokens that may come next, one bit a token, bit *i % 32* of word *i / 32*. Words
    /// beyond the vocabulary become zero. After a stop token no bit is set.
    ///
    /// # Errors
    /// A limit; `out` is not written then.
    ///
    /// # Panics
    /// If `out` has fewer words than the vocabulary.
    pub fn fill_mask(&mut self, out: &mut [u32]) -> Result<(), Error> {
        assert!(out.len() >= self.compiled.vocabulary().words(), "the mask is too narrow");
        self.allowed()?.write(out);
        Ok(())
    }

    /// Whether `token` may come next. False for an id outside the vocabulary.
    ///
    /// # Errors
    /// A limit.
    pub fn is_allowed(&mut self, token: u32) -> Result<bool, Error> {
        if token >= self.compiled.vocabulary().size() || self.now.has_stopped {
            return Ok(false);
        }
        if self.now.state.may_end && self.compiled.vocabulary().stop_ids().contains(&token) {
            return Ok(true);
        }
        Ok(self.choices()?.contains(token))
    }

    /// Takes `token`. False, and no change, if it may not come next.
    ///
    /// # Errors
    /// A limit; then nothing changes.
    pub fn accept(&mut self, token: u32) -> Result<bool, Error> {
        self.catch_up();
        match self.after(&self.now, token)? {
            Some(step) => {
                self.advance(step);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// As [`accept`](Self::accept), if the answer is known already and no other thread is learning.
    pub fn known_accept(&mut self, token: u32) -> Option<bool> {
        let size = self.compiled.vocabulary().size();
        if self.generation.is_retired() || token >= size || self.compiled.names_token(token) {
            return None;
        }
        if self.compiled.has_marks() {
            return None;
        }
        let vocabulary = self.compiled.vocabulary();
        if self.now.has_stopped || vocabulary.stop_ids().contains(&token) {
            return None;
        }
        let Some(bytes) = vocabulary.token_bytes(token).filter(|bytes| !bytes.is_empty()) else {
            return Some(false);
        };
        let state = {
            let tables = self.generation.tables.try_read().ok()?;
            let (state, done) = push_known(&tables, &self.now.state, bytes).ok()?;
            let is_whole = done == bytes.len() || state.is_dead();
            let state = is_whole.then_some(state)?;
            if vocabulary.tiling().is_some() {
                state.known_live_part(&tables.residuals)?
            } else {
                state
            }
        };
        let lives = !state.is_dead();
        if lives {
            self.advance(Step::at(state));
        }
        Some(lives)
    }

    /// Takes `bytes` of text as one step. False, and no change, if they may not come next, or if no
    /// tokens go on after them. They are no token of a rule that counts its tokens.
    ///
    /// # Errors
    /// A limit; then nothing changes.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        if self.now.has_stopped {
            return Ok(false);
        }
        self.catch_up();
        let state = self.live_part(self.push_all(&self.now.state, bytes)?)?;
        let lives = !state.is_dead();
        if lives {
            self.advance(self.now.to(state, bytes));
        }
        Ok(lives)
    }

    /// How many of `tokens` could be accepted one after the other from here. Nothing changes.
    ///
    /// # Errors
    /// A limit.
    pub fn validate(&mut self, tokens: &[u32]) -> Result<usize, Error> {
        self.catch_up();
        let mut at = self.now.clone();
        for (count, &token) in tokens.iter().enumerate() {
            match self.after(&at, token)? {
                Some(next) => at = next,
                None => return Ok(count),
            }
        }
        Ok(tokens.len())
    }

    /// Gives back the last `steps` steps. False, and no change, if fewer are remembered.
    pub fn rollback(&mut self, steps: usize) -> bool {
        if steps > self.before.len() {
            return false;
        }
        for _ in 0..steps {
            if let Some(step) = self.before.pop_back() {
                self.now = step;
            }
        }
        true
    }

    /// How many steps can be given back.
    #[must_use]
    pub fn rollback_window(&self) -> usize {
        self.before.len()
    }

    /// Whether the text may end here: a stop token may come next, or one came.
    #[must_use]
    pub fn may_stop(&self) -> bool {
        self.now.state.may_end || self.now.has_stopped
    }

    /// Whether no more text can come: a stop token came, or the text is complete and nothing can
    /// be added to it.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.now.has_stopped || self.now.state.items.is_empty()
    }

    /// Whether a stop token came.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.now.has_stopped
    }

    /// The bytes that must come next, as far as there is no choice: empty where the text may end.
    /// At most `most` bytes.
    ///
    /// # Errors
    /// A limit.
    pub fn forced_bytes(&mut self, most: usize) -> Result<Vec<u8>, Error> {
        self.catch_up();
        let mut forced = Vec::new();
        let mut state = self.now.state.clone();
        while forced.len() < most && !state.may_end && !self.now.has_stopped {
            let Some(byte) = self.only_byte(&state)? else { break };
            state = self.push_all(&state, &[byte])?;
            forced.push(byte);
        }
        Ok(forced)
    }

    /// The bytes that may come next, in rising order.
    ///
    /// # Errors
    /// A limit.
    pub fn next_bytes(&mut self) -> Result<Vec<u8>, Error> {
        if self.now.has_stopped {
            return Ok(Vec::new());
        }
        self.catch_up();
        let state = self.now.state.clone();
        let mut bytes = self.exclusively(|tables| state.next_bytes(&mut Exclusive::new(tables)))?;
        let vocabulary = self.compiled.vocabulary().clone();
        if vocabulary.tiling().is_some() {
            // Only what some token begins with.
            let choices = self.choices()?;
            let allowed = (0..vocabulary.size()).filter(|&token| choices.contains(token));
            let first = allowed.filter_map(|token| vocabulary.token_bytes(token)?.first().copied());
            bytes = bytes.intersection(&first.collect());
        }
        Ok(bytes.iter().collect())
    }

    /// What remains, for people: an expression a line, with the rules that wait below it.
    #[must_use]
    pub fn describe(&self) -> String {
        use std::fmt::Write;
        let tables = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
        let exprs = &tables.residuals.exprs;
        let rules = tables.residuals.rules();
        let name = |rule| rules.name(rule);
        let mut out = String::new();
        if self.may_stop() {
            out.push_str("the text may end here\n");
        }
        for item in &self.now.state.items {
            let _ = writeln!(out, "{}", exprs.show_with(item.id, &name));
            let excess = self.now.state.excess();
            if !excess.is_none() {
                let _ = writeln!(out, "    its counter has {} and {} more", excess.min, excess.max);
            }
            let mut link = item.link.clone();
            while let Some(frame) = link {
                for entry in frame.entries() {
                    let _ = writeln!(out, "    then {}", exprs.show_with(entry.id, &name));
                }
                link = frame.entries().first().and_then(|entry| entry.link.clone());
            }
        }
        out
    }

    /// The number of live alternatives, and of the frames below them: what ambiguity costs here.
    #[must_use]
    pub fn live_size(&self) -> (usize, usize) {
        let mut seen: Vec<*const Frame> = Vec::new();
        let mut todo: Vec<Arc<Frame>> =
            self.now.state.items.iter().filter_map(|item| item.link.clone()).collect();
        while let Some(frame) = todo.pop() {
            if !seen.contains(&Arc::as_ptr(&frame)) {
                seen.push(Arc::as_ptr(&frame));
                todo.extend(frame.entries().iter().filter_map(|entry| entry.link.clone()));
            }
        }
        (self.now.state.items.len(), seen.len())
    }

    fn advance(&mut self, step: Step) {
        let past = std::mem::replace(&mut self.now, step);
        let most = self.compiled.limits().rollback;
        if self.before.len() >= most {
            self.before.pop_front();
        }
        if most > 0 {
            self.before.push_back(past);
        }
    }

    /// The step after `token`, if it may come.
    fn after(&self, from: &Step, token: u32) -> Result<Option<Step>, Error> {
        if from.has_stopped || token >= self.compiled.vocabulary().size() {
            return Ok(None);
        }
        let vocabulary = self.compiled.vocabulary().clone();
        let is_stop = vocabulary.stop_ids().contains(&token);
        if is_stop && from.state.may_end {
            return Ok(Some(Step { has_stopped: true, ..from.clone() }));
        }
        let bytes = vocabulary.token_bytes(token).filter(|bytes| !bytes.is_empty());
        let mut state = match bytes {
            Some(bytes) => self.push_all(&from.state, bytes)?,
            None => State::default(),
        };
        if self.compiled.names_token(token) {
            // A token that the grammar names by its number may be a text as well.
            state = self.exclusively(|tables| {
                let vocabulary = tables.vocabulary.clone();
                let is_named = |exprs: &Exprs, name| {
                    let named = vocabulary.named(exprs.token_name(name));
                    named.is_ok_and(|named| vocabulary.is_among(&named, token))
                };
                let len = bytes.map_or(0, <[u8]>::len);
                from.state.push_special(&mut Exclusive::new(tables), len, is_named, &state)
            })?;
        }
        let state = self.after_token(self.live_part(state)?)?;
        Ok((!state.is_dead()).then(|| from.to(state, bytes.unwrap_or_default())))
    }

    /// The state after `bytes`: with what is known already if that is enough, else learning.
    fn push_all(&self, state: &State, bytes: &[u8]) -> Result<State, Error> {
        let (at, done) = {
            let tables = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
            push_known(&tables, state, bytes)?
        };
        if done == bytes.len() || at.is_dead() {
            return Ok(at);
        }
        self.exclusively(|tables| at.push_bytes(&mut Exclusive::new(tables), &bytes[done..]))
    }

    /// The state after whole tokens: without what no tokens complete.
    fn live_part(&self, state: State) -> Result<State, Error> {
        if self.compiled.vocabulary().tiling().is_none() {
            return Ok(state);
        }
        let known = {
            let tables = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
            state.known_live_part(&tables.residuals)
        };
        match known {
            Some(live) => Ok(live),
            None => self.exclusively(|tables| Ok(state.live_part(&mut tables.residuals)?)),
        }
    }

    /// Runs `work` with tables that may learn.
    fn exclusively<T>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, Stop>,
    ) -> Result<T, Error> {
        let (result, size) = {
            let mut tables = self.generation.tables.write().unwrap_or_else(PoisonError::into_inner);
            let result = work(&mut tables);
            (result, tables.size_in_bytes())
        };
        self.generation.has_size(size);
        self.compiled.roll_over(&self.lineage, &self.generation, size)?;
        result.map_err(|stop| match stop {
            Stop::Failed(error) => *error,
            Stop::Unknown => unreachable!("tables that may learn always know"),
        })
    }

    fn choices(&mut self) -> Result<Choices, Error> {
        if let Some(choices) = &self.now.choices {
            return Ok(choices.clone());
        }
        self.catch_up();
        let known = {
            let tables = self.generation.tables.read().unwrap_or_else(PoisonError::into_inner);
            known_choices(&tables, &self.now.state)
        };
        let choices = match known {
            Ok(choices) => choices,
            Err(Stop::Failed(error)) => return Err(*error),
            Err(Stop::Unknown) => {
                let state = &self.now.state;
                self.exclusively(|tables| {
                    tables.begin_mask();
                    find_choices(tables, state)
                })?
            }
        };
        self.now.choices = Some(choices.clone());
        Ok(choices)
    }

    /// The only byte that may come, if there is just one.
    fn only_byte(&self, state: &State) -> Result<Option<u8>, Error> {
        let bytes = self.exclusively(|tables| {
            let mut machine = Exclusive::new(tables);
            if state.takes_special(&mut machine)? {
                return Ok(None);
            }
            state.next_bytes(&mut machine).map(Some)
        })?;
        let bytes = bytes.unwrap_or_default();
        let mut bytes = bytes.iter();
        Ok(match (bytes.next(), bytes.next()) {
            (Some(byte), None) => Some(byte),
            _ => None,
        })
    }
}

/// The state after as many of `bytes` as the tables know of, and their number.
fn push_known(tables: &Tables, state: &State, bytes: &[u8]) -> Result<(State, usize), Error> {
    let (mut at, mut done) = (state.clone(), 0);
    let mut machine = Shared::new(tables);
    while done < bytes.len() && !at.is_dead() {
        if at.push_in_place(&tables.residuals, bytes[done]) {
            done += 1;
            continue;
        }
        match at.push(&mut machine, bytes[done]) {
            Ok(next) => (at, done) = (next, done + 1),
            Err(Stop::Unknown) => break,
            Err(Stop::Failed(error)) => return Err(*error),
        }
    }
    Ok((at, done))
}
