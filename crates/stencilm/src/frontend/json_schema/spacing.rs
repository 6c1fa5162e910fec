//! White space and separators between the tokens of a JSON text.

use crate::error::{Error, ErrorKind, Location};
use crate::frontend::json_schema::options::Whitespace;
use crate::grammar::{ByteSet, ExprId, Exprs};

impl Whitespace {
    /// Checks that separators are a comma or a colon among white space.
    ///
    /// # Errors
    /// They are not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (Self::Separators { item, key } | Self::Lines { item, key, .. }) = self else {
            return Ok(());
        };
        for (text, mark) in [(item, ","), (key, ":")] {
            let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
            if text.trim_matches(is_space) != mark {
                let message = format!("a separator is `{mark}` with white space around it");
                return Err(Error::new(ErrorKind::Syntax { message }, Location::Whole));
            }
        }
        Ok(())
    }

    /// Comes before a comma or a closing bracket, also in an empty array or object.
    pub(crate) fn lead(&self, exprs: &mut Exprs) -> ExprId {
        match self {
            Self::Any { cap } => {
                let space = ByteSet::from_iter([b' ', b'\t', b'\n', b'\r']);
                let space = exprs.byte_set(&space);
                exprs.repeat(space, 0, *cap)
            }
            Self::Compact | Self::Separators { .. } | Self::Lines { .. } => exprs.empty(),
        }
    }

    /// Comes between an opening bracket (and `lead`) and the first item at this depth.
    pub(crate) fn begin(&self, exprs: &mut Exprs, depth: u32) -> ExprId {
        match self {
            Self::Any { .. } | Self::Compact | Self::Separators { .. } => exprs.empty(),
            Self::Lines { width, .. } => new_line(exprs, *width, depth + 1),
        }
    }

    /// The comma (after `lead`) and what comes before the next item.
    pub(crate) fn comma(&self, exprs: &mut Exprs, depth: u32) -> ExprId {
        let comma = self.until_comma(exprs);
        let space = self.after_comma(exprs, depth);
        exprs.seq2(comma, space)
    }

    /// The comma (after `lead`).
    pub(crate) fn until_comma(&self, exprs: &mut Exprs) -> ExprId {
        match self {
            Self::Any { .. } | Self::Compact => exprs.bytes(b","),
            Self::Separators { item, .. } | Self::Lines { item, .. } => {
                exprs.bytes(around_comma(item).0.as_bytes())
            }
        }
    }

    /// Comes between a comma and the next item.
    pub(crate) fn after_comma(&self, exprs: &mut Exprs, depth: u32) -> ExprId {
        match self {
            Self::Any { .. } => self.lead(exprs),
            Self::Compact => exprs.empty(),
            Self::Separators { item, .. } => exprs.bytes(around_comma(item).1.as_bytes()),
            Self::Lines { width, item, .. } => {
                let space = exprs.bytes(around_comma(item).1.as_bytes());
                let line = new_line(exprs, *width, depth + 1);
                exprs.seq2(space, line)
            }
        }
    }

    /// Comes (after `lead`) before the closing bracket of what is not empty.
    pub(crate) fn end(&self, exprs: &mut Exprs, depth: u32) -> ExprId {
        match self {
            Self::Any { .. } | Self::Compact | Self::Separators { .. } => exprs.empty(),
            Self::Lines { width, .. } => new_line(exprs, *width, depth),
        }
    }

    /// Between the closing quote of a name and its value.
    pub(crate) fn colon(&self, exprs: &mut Exprs) -> ExprId {
        match self {
            Self::Any { .. } => {
                let space = self.lead(exprs);
                let colon = exprs.bytes(b":");
                exprs.seq(&[space, colon, space])
            }
            Self::Compact => exprs.bytes(b":"),
            Self::Separators { key, .. } | Self::Lines { key, .. } => exprs.bytes(key.as_bytes()),
        }
    }

    /// The depth of what is inside, where it makes a difference.
    pub(crate) fn inside(&self, depth: u32) -> u32 {
        match self {
            Self::Any { .. } | Self::Compact | Self::Separators { .. } => 0,
            Self::Lines { .. } => depth + 1,
        }
    }
}

/// A separator up to its comma, and the rest.
fn around_comma(separator: &str) -> (&str, &str) {
    separator.split_at(separator.find(',').map_or(separator.len(), |at| at + 1))
}

fn new_line(exprs: &mut Exprs, width: u32, depth: u32) -> ExprId {
    let start = exprs.bytes(b"\n");
    let space = exprs.bytes(b" ");
    let count = width.saturating_mul(depth);
    let indent = exprs.repeat(space, count, count);
    exprs.seq(&[start, indent])
}
