//! What grammar languages say of a rule beside its texts: the values that a [`Mark`] may have.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::Mark;

/// How many tokens a rule may have: from 1 on, since none is no rule.
pub(crate) fn max_tokens(most: u32, offset: usize) -> Result<u32, Error> {
    if most == 0 {
        return Err(Error::syntax("`max_tokens` is 1 at least", offset));
    }
    Ok(most)
}

/// What a rule is sampled at.
pub(crate) fn temperature(written: &str, offset: usize) -> Result<f32, Error> {
    let number = written.parse().ok().filter(|&number| is_temperature(number));
    number.ok_or_else(|| Error::syntax("`temperature` needs a number from 0 on", offset))
}

fn is_temperature(number: f32) -> bool {
    number.is_finite() && number >= 0.0
}

/// Whether each value of a mark is one.
pub(crate) fn check(mark: &Mark) -> Result<(), Error> {
    if let Some(name) = &mark.capture {
        capture(name, 0)?;
    }
    if let Some(most) = mark.max_tokens {
        max_tokens(most, 0)?;
    }
    match mark.temperature {
        Some(number) if !is_temperature(number) => {
            Err(Error::syntax("`temperature` needs a number from 0 on", 0))
        }
        _ => Ok(()),
    }
}

/// The name of a capture.
pub(crate) fn capture(name: &str, offset: usize) -> Result<Arc<str>, Error> {
    let is_known = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_known) {
        let message = "the name of a capture is made of letters, digits, `_`, `-` and `.`: \
                       `capture=\"name\"`";
        return Err(Error::syntax(message, offset));
    }
    Ok(name.into())
}
