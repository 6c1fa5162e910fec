//! The one error type of the crate.
//!
//! Something the *caller* got wrong, or asked too much of, is an [`Error`]. A refused token is an
//! ordinary answer (`false`). Something *we* got wrong is a panic.

use std::fmt;
use std::time::Duration;

/// What went wrong, and where in the caller's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    at: Location,
}

/// The kinds a caller may want to tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not a grammar in its language.
    Syntax {
        /// What is wrong, and what would have been right here.
        message: String,
    },
    /// A construct that is understood but cannot be enforced exactly.
    Unsupported {
        /// The name the caller wrote, for example `uniqueItems`.
        feature: String,
    },
    /// No output at all can satisfy the grammar.
    Unsatisfiable {
        /// Why, in the grammar's own words.
        reason: String,
    },
    /// A field of [`Limits`](crate::Limits) was reached.
    LimitReached {
        /// The field's name.
        limit: &'static str,
        /// The field's value.
        allowed: usize,
    },
    /// [`Limits::compile_time`](crate::Limits) is over.
    TimeIsUp {
        /// The field's value.
        allowed: Duration,
    },
    /// The caller cancelled the work from another thread.
    Cancelled,
    /// The vocabulary, or a token of it, cannot be used.
    Vocabulary {
        /// What is wrong with it.
        message: String,
    },
}

/// A place in the caller's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The whole input, or no input of the caller's.
    Whole,
    /// Byte offset into a grammar text.
    Offset(usize),
    /// JSON Pointer into a schema or a structural tag.
    Pointer(String),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, at: Location) -> Self {
        Self { kind, at }
    }

    pub(crate) fn syntax(message: impl Into<String>, offset: usize) -> Self {
        Self::new(ErrorKind::Syntax { message: message.into() }, Location::Offset(offset))
    }

    pub(crate) fn unsupported(feature: impl Into<String>, at: Location) -> Self {
        Self::new(ErrorKind::Unsupported { feature: feature.into() }, at)
    }

    pub(crate) fn unsatisfiable(reason: impl Into<String>, at: Location) -> Self {
        Self::new(ErrorKind::Unsatisfiable { reason: reason.into() }, at)
    }

    pub(crate) fn limit(limit: &'static str, allowed: usize) -> Self {
        Self::new(ErrorKind::LimitReached { limit, allowed }, Location::Whole)
    }

    pub(crate) fn vocabulary(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Vocabulary { message: message.into() }, Location::Whole)
    }

    /// The same error at another place, for a front end that embeds another one.
    #[must_use]
    pub(crate) fn moved_to(mut self, at: Location) -> Self {
        self.at = at;
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where it went wrong.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.at
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Location::Whole => {}
            Location::Offset(byte) => write!(f, "at byte {byte}: ")?,
            Location::Pointer(pointer) => write!(f, "at `{pointer}`: ")?,
        }
        match &self.kind {
            ErrorKind::Syntax { message } | ErrorKind::Vocabulary { message } => {
                f.write_str(message)
            }
            ErrorKind::Unsupported { feature } => {
                write!(f, "{feature} cannot be enforced exactly, so it is refused")
            }
            ErrorKind::Unsatisfiable { reason } => {
                write!(f, "no output can satisfy this: {reason}")
            }
            ErrorKind::LimitReached { limit, allowed } => {
                write!(f, "needs more than Limits::{limit} = {allowed}")
            }
            ErrorKind::TimeIsUp { allowed } => {
                write!(f, "needs more than Limits::compile_time = {} s", allowed.as_secs_f64())
            }
            ErrorKind::Cancelled => f.write_str("cancelled by the caller"),
        }
    }
}

impl std::error::Error for Error {}
