//! What one grammar may cost: every bound, its default, its unit and the error it causes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::error::{Error, ErrorKind, Location};

/// Upper bounds for one grammar. There are no other knobs: no environment variable, no
/// process-wide setting. Reaching one is [`ErrorKind::LimitReached`] with the field's name, or
/// [`ErrorKind::TimeIsUp`].
///
/// ```
/// use stencilm::Limits;
///
/// let limits = Limits { rules: 1_000, ..Limits::default() };
/// assert_eq!(limits.nesting, 250);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep the choices and repetitions of one rule nest, and the groups of a regular
    /// expression. Default 250. (Rules, and so subschemas of a JSON Schema, nest without bound.)
    pub nesting: usize,
    /// Bytes of one source text, and of all URIs of the parts of a JSON Schema. Default 16 MiB.
    pub source_bytes: usize,
    /// Named rules of one grammar, also those made on demand. Default 1,000,000.
    pub rules: usize,
    /// Expressions that a front end or the normalisation may make before the first token.
    /// Default 4,000,000 (about 300 MB).
    pub expressions: usize,
    /// Largest repetition count written in a pattern or in EBNF. Default 2,000,000,000. (Bounds of a
    /// JSON Schema may be any number: a counter costs nothing until it is counted.)
    pub repeat: usize,
    /// Live alternatives of one state (items, and entries of one frame). A grammar that is
    /// ambiguous without bound reaches it. Default 10,000.
    pub items: usize,
    /// Captured spans compared for one byte of a text that may be read in several ways. Default
    /// 1,000,000.
    pub captures: usize,
    /// Alternatives of one type that a JSON Schema may come to, all combinations of its branches
    /// counted, and dynamic scopes that its references may be seen from. Default 1,000: each pair
    /// of alternatives may have to be looked at.
    pub alternatives: usize,
    /// Digits of a divisor of a number, of the least common multiple of several, and of a bound
    /// beside them. Default 2,000. (Without divisors, bounds may have any number of digits.)
    pub number_digits: usize,
    /// Expressions looked at to decide one question of emptiness, or whether tokens can spell
    /// something. Default 50,000.
    pub search: usize,
    /// Trie nodes walked for one mask. Default 50,000,000 (about a second).
    pub mask_work: usize,
    /// Bytes of one compiled grammar's own tables; past it a new generation opens and matchers
    /// move over. Default 64 MiB.
    pub grammar_bytes: usize,
    /// Wall-clock time of one compilation. Default 10 s.
    pub compile_time: Duration,
    /// Tokens that a matcher can give back. Default 1,024.
    pub rollback: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: 250,
            source_bytes: 16 << 20,
            rules: 1_000_000,
            expressions: 4_000_000,
            repeat: 2_000_000_000,
            items: 10_000,
            captures: 1_000_000,
            alternatives: 1_000,
            number_digits: 2_000,
            search: 50_000,
            mask_work: 50_000_000,
            grammar_bytes: 64 << 20,
            compile_time: Duration::from_secs(10),
            rollback: 1_024,
        }
    }
}

/// Stops work from another thread: clone it, hand one to the work, call [`Cancel::cancel`].
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that nobody has raised yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the work that holds a clone of this end with [`ErrorKind::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The limits of one compilation, with its clock and its cancel flag.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The bounds themselves.
    pub limits: Limits,
    cancel: Cancel,
    /// None if it lies beyond what the clock can say.
    deadline: Option<Instant>,
    ticks: u32,
}

impl Budget {
    /// A budget whose clock starts now.
    #[must_use]
    pub fn new(limits: Limits, cancel: Cancel) -> Self {
        let deadline = Instant::now().checked_add(limits.compile_time);
        Self { limits, cancel, deadline, ticks: 0 }
    }

    /// To be called in every loop whose length the caller's input decides; reads the clock
    /// only now and then.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`], or [`ErrorKind::TimeIsUp`].
    pub fn tick(&mut self) -> Result<(), Error> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & 0xFF != 0 {
            return Ok(());
        }
        self.check()
    }

    /// The same in a loop with few and long rounds: reads the clock each time.
    ///
    /// # Errors
    /// As [`Budget::tick`].
    pub fn check(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, Location::Whole));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let kind = ErrorKind::TimeIsUp { allowed: self.limits.compile_time };
            return Err(Error::new(kind, Location::Whole));
        }
        Ok(())
    }

    /// Whether so many situations may be looked at, each of which counts for `cost` expressions.
    ///
    /// # Errors
    /// [`ErrorKind::LimitReached`] for `search`.
    pub(crate) fn check_search(&self, count: usize, cost: usize) -> Result<(), Error> {
        let allowed = self.limits.search;
        if count.saturating_mul(cost) > allowed {
            return Err(Error::limit("search", allowed));
        }
        Ok(())
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Limits::default(), Cancel::new())
    }
}
