//! What rules with a mark took of the text, and what they ask of the next token.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::RuleId;
use crate::matcher::{Matcher, Step};
use crate::stack::{Exclusive, State};

/// What one call of a rule with a capture took of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The name of the capture.
    pub name: Arc<str>,
    /// Bytes of the text before it. Special tokens have no bytes.
    pub start: usize,
    /// What it took.
    pub text: Vec<u8>,
}

impl Matcher {
    /// What the rules with a capture took, by their beginnings, outer ones first: of the whole text if it
    /// may end here, else those that have ended so far. Of several ways to read the text it is one; where
    /// two differ first, the one that goes before takes earlier, or more.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stencilm::{CompiledGrammar, Limits, Matcher, Store, Vocabulary};
    ///
    /// let vocabulary = Arc::new(Vocabulary::new([Some("a"), Some("bc"), None], [], [2])?);
    /// let text = "root ::= \"a\" rest\nrest[capture] ::= [a-z]*";
    /// let grammar = stencilm::from_ebnf(text, "root", &mut stencilm::Budget::default())?;
    /// let store = Arc::new(Store::new(1 << 20));
    /// let compiled = CompiledGrammar::new(&grammar, vocabulary, store, Limits::default())?;
    /// let mut matcher = Matcher::new(Arc::new(compiled));
    /// assert!(matcher.accept(0)? && matcher.accept(1)?);
    /// let captures = matcher.captures();
    /// assert_eq!((&*captures[0].name, captures[0].start, &captures[0].text[..]), ("rest", 1, &b"bc"[..]));
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    #[must_use]
    pub fn captures(&self) -> Vec<Capture> {
        let Some(read) = &self.now.read else { return Vec::new() };
        let text = read.bytes_from(0);
        let of = |rule: RuleId| self.compiled.capture(rule);
        let captured = self.now.state.captured().spans().into_iter().filter_map(|span| {
            let (start, end) = (span.begin as usize, span.end? as usize);
            let text = text.get(start..end)?.to_vec();
            Some(Capture { name: of(span.rule)?, start, text })
        });
        captured.collect()
    }

    /// What the next token should be sampled at, if it is in a rule that says so: the innermost one. Where
    /// the text can go on in several ways, the highest of theirs.
    ///
    /// # Errors
    /// A limit.
    pub fn temperature(&mut self) -> Result<Option<f32>, Error> {
        if !self.compiled.has_marks() || self.now.has_stopped {
            return Ok(None);
        }
        self.catch_up();
        let state = self.now.state.clone();
        self.exclusively(|tables| state.temperature(&mut Exclusive::new(tables)))
    }

    /// The state after a whole token: rules whose tokens are spent end, if they can and something can
    /// follow.
    pub(super) fn after_token(&self, state: State) -> Result<State, Error> {
        if !self.compiled.has_marks() || state.is_dead() {
            return Ok(state);
        }
        let (state, less) =
            self.exclusively(|tables| state.after_token(&mut Exclusive::new(tables)))?;
        match less.map(|less| self.live_part(less)).transpose()? {
            Some(less) if !less.is_dead() => Ok(less),
            _ => Ok(state),
        }
    }
}

impl Step {
    /// The step to `state`, which `bytes` led to.
    pub(super) fn to(&self, state: State, bytes: &[u8]) -> Self {
        let mut step = Self::at(state);
        step.read.clone_from(&self.read);
        if let Some(read) = &mut step.read {
            for &byte in bytes {
                read.push(byte);
            }
        }
        step
    }
}
