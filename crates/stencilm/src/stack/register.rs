//! What a frame remembers of the text: for the rest of an object or an array, and for a rule with a
//! mark.

use smallvec::SmallVec;

use crate::grammar::{ContentHash, HashKey, Mark, RuleId};
use crate::stack::seen::Seen;

/// See the module. Never empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    /// The names that came in an object and that it does not list, or the strings that came in an
    /// array of different items.
    pub(crate) seen: Option<Seen>,
    /// Where the item of an array began that a text is inside of, in the text that the state keeps.
    pub(crate) item: Option<u32>,
    /// The rules that end with this frame and have few tokens, outermost first. Of one rule only the
    /// outermost counts: its tokens are spent first.
    pub(crate) spans: SmallVec<[TokenSpan; 1]>,
    /// The temperature of the innermost rule that ends with this frame and has one.
    pub(crate) temperature: Option<f32>,
}

/// One call of a rule that has few tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenSpan {
    rule: RuleId,
    /// Bytes of the text before it.
    begin: u32,
    /// Tokens of the text when all of its own are spent.
    pub(crate) until: u32,
}

/// How much of a text was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Whole tokens, before the one that is being read.
    pub(crate) tokens: u32,
    /// Bytes, before those that are being read.
    pub(crate) bytes: u32,
    /// Bytes that are being read at once.
    pub(crate) step: u32,
}

impl Clock {
    /// Bytes when this step is done.
    pub(crate) fn end(self) -> u32 {
        self.bytes.saturating_add(self.step)
    }
}

impl Register {
    /// The same for a rule that is called in tail position, or of its own.
    pub(crate) fn marked(mut self, rule: RuleId, mark: &Mark, now: Clock) -> Self {
        if let Some(most) = mark.max_tokens
            && self.spans.iter().all(|span| span.rule != rule)
        {
            let until = now.tokens.saturating_add(most);
            self.spans.push(TokenSpan { rule, begin: now.bytes, until });
        }
        self.temperature = mark.temperature.or(self.temperature);
        self
    }

    /// Whether a rule that ends with the frame has a budget or a temperature.
    pub(crate) fn has_mark(&self) -> bool {
        !self.spans.is_empty() || self.temperature.is_some()
    }

    /// Equal for what remembers the same.
    pub(crate) fn hash(&self, key: &HashKey) -> ContentHash {
        let item = self.item.map_or(0, |item| u64::from(item) + 1);
        let mut hash = key.start(53).with(key, item);
        if let Some(seen) = &self.seen {
            hash = hash.with_hash(key, seen.hash());
        }
        for span in &self.spans {
            let place = u64::from(span.begin) << 32 | u64::from(span.until);
            hash = hash.with(key, u64::from(span.rule.0) + 1).with(key, place);
        }
        if let Some(temperature) = self.temperature {
            hash = hash.with(key, u64::from(temperature.to_bits())).with(key, 54);
        }
        hash
    }
}
