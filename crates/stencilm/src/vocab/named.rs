//! The tokens that a grammar means by a name: special tokens, and tokens by number.
//!
//! `<[42]>` is the token with this number, `<[1-5,7]>` one of several, `<[^42]>` any other one, and
//! `!<end>` any other than the special token `<end>`. Stop tokens are never among "any other", nor
//! are numbers behind which no token stands.

use crate::vocab::Vocabulary;

/// Tokens that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTokens {
    /// Inclusive, in any order.
    ranges: Vec<(u32, u32)>,
    is_negated: bool,
}

impl Vocabulary {
    /// The tokens that `name` stands for.
    ///
    /// # Errors
    /// Says that there are none.
    pub(crate) fn named(&self, name: &str) -> Result<NamedTokens, String> {
        if let Some(id) = self.special_id(name) {
            return Ok(NamedTokens { ranges: vec![(id, id)], is_negated: false });
        }
        if let Some(numbers) = name.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) {
            return self.numbered(numbers).ok_or_else(|| {
                let last = self.size().saturating_sub(1);
                format!("the grammar names the tokens {name:?}; their numbers go from 0 to {last}")
            });
        }
        match name.strip_prefix('!').map(|other| self.named(other)) {
            Some(Ok(other)) => Ok(NamedTokens { is_negated: !other.is_negated, ..other }),
            Some(Err(reason)) => Err(reason),
            None => Err(format!(
                "the grammar names the token {name:?}, which is no special token of the vocabulary"
            )),
        }
    }

    fn numbered(&self, numbers: &str) -> Option<NamedTokens> {
        let (is_negated, list) = match numbers.strip_prefix('^') {
            Some(list) => (true, list),
            None => (false, numbers),
        };
        if list == "*" {
            return (!is_negated).then_some(NamedTokens { ranges: Vec::new(), is_negated: true });
        }
        let number = |digits: &str| digits.trim().parse().ok().filter(|&id| id < self.size());
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for part in list.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            ranges.push((number(low)?, number(high)?));
        }
        Some(NamedTokens { ranges, is_negated })
    }

    /// Whether `id` is one of these tokens.
    pub(crate) fn is_among(&self, named: &NamedTokens, id: u32) -> bool {
        let is_listed = named.ranges.iter().any(|&(low, high)| (low..=high).contains(&id));
        if !named.is_negated {
            return is_listed;
        }
        let exists = self.token_bytes(id).is_some_and(|bytes| !bytes.is_empty())
            || self.special().iter().any(|&(_, special)| special == id);
        !is_listed && exists && !self.stop_ids().contains(&id)
    }

    /// All of these tokens.
    pub(crate) fn all_named(&self, named: &NamedTokens) -> Vec<u32> {
        let (low, high) = match named.ranges[..] {
            // Most names are names of one token.
            [range] if !named.is_negated => range,
            _ => (0, self.size().saturating_sub(1)),
        };
        (low..=high).filter(|&id| self.is_among(named, id)).collect()
    }
}
