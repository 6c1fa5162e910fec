//! The key of the mask at a state: for whoever keeps masks and wants to be told which.

use crate::error::Error;
use crate::mask::key_of;
use crate::matcher::Matcher;

impl Matcher {
    /// A key of the set of tokens that may come next: for one vocabulary, equal exactly where
    /// [`fill_mask`](Self::fill_mask) writes equal masks. It is a hash of the set under the
    /// vocabulary's secret, so it means nothing to another vocabulary or process.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stencilm::{Budget, CompiledGrammar, Limits, Matcher, Store, Vocabulary};
    ///
    /// let vocabulary = Arc::new(Vocabulary::new([Some("a"), Some("b")], [], [])?);
    /// let store = Arc::new(Store::new(1 << 20));
    /// let grammar = stencilm::from_regex("ab|bb", &mut Budget::default())?;
    /// let compiled = CompiledGrammar::new(&grammar, vocabulary, store, Limits::default())?;
    /// let mut matcher = Matcher::new(Arc::new(compiled));
    /// let first = matcher.mask_key()?;
    /// let mut other = matcher.fork();
    /// assert!(matcher.accept(0)? && other.accept(1)?);
    /// assert_eq!(matcher.mask_key()?, other.mask_key()?);
    /// assert_ne!(matcher.mask_key()?, first);
    /// # Ok::<(), stencilm::Error>(())
    /// ```
    ///
    /// # Errors
    /// A limit.
    pub fn mask_key(&mut self) -> Result<[u8; 16], Error> {
        if !self.now.has_stopped && self.now.choices.is_none() {
            self.choices()?;
        }
        Ok(self.key_now())
    }

    /// As [`mask_key`](Self::mask_key), if the mask is known already and no other thread is learning.
    pub fn known_mask_key(&mut self) -> Option<[u8; 16]> {
        self.knows_choices().then(|| self.key_now())
    }

    /// The choices are known, or nothing follows.
    fn key_now(&self) -> [u8; 16] {
        let vocabulary = self.compiled.vocabulary();
        let (key, words, stops) = (vocabulary.key(), vocabulary.words(), vocabulary.stop_ids());
        let hash = match &self.now.choices {
            Some(choices) if !self.now.has_stopped && choices.removed.is_empty() => {
                choices.mask.key(key, words, stops, self.now.state.may_end)
            }
            // What only this text forbids is shared with no other: there is no place to keep it.
            choices => {
                let choices = choices.clone().filter(|_| !self.now.has_stopped);
                let mut row = vec![0; words];
                self.allowed_with(choices).write(&mut row);
                key_of(key, &row)
            }
        };
        hash.to_bytes()
    }
}
