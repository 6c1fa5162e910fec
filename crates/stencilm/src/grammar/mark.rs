//! What a rule asks for beside its texts.

use std::fmt;
use std::sync::Arc;

use crate::grammar::RuleId;

/// What a rule asks for beside its texts: its place in them is remembered, tokens are counted in it,
/// or it is sampled at a temperature of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// What of a text the rule took is kept, under this name.
    pub capture: Option<Arc<str>>,
    /// The rule ends at the first boundary between two tokens, from this many tokens of its own on, at
    /// which it can end. At least 1.
    pub max_tokens: Option<u32>,
    /// What its tokens are sampled at.
    pub temperature: Option<f32>,
}

impl Mark {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Mark {
    /// As the options of a rule in EBNF; nothing if it asks for nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = [
            self.capture.as_ref().map(|name| format!("capture=\"{name}\"")),
            self.max_tokens.map(|most| format!("max_tokens={most}")),
            self.temperature.map(|temperature| format!("temperature={temperature}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        if options.is_empty() { Ok(()) } else { write!(f, "[{}]", options.join(", ")) }
    }
}

/// The marked rules of a grammar, each once.
pub type Marks = Vec<(RuleId, Mark)>;
