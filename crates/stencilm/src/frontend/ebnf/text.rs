//! A reading position in a grammar text: blanks, names, literals and classes.

use crate::error::Error;
use crate::frontend::ebnf::escape::{Escape, read_escape};
use crate::grammar::{ByteSet, CharSet};

/// A reading position.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    source: &'a str,
    /// The byte that comes next.
    pub(crate) at: usize,
    /// Whether only blanks came on this line so far.
    pub(crate) is_line_start: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte order mark at the very beginning belongs to the file, not to the grammar.
        let at = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Self { source: text, at, is_line_start: true }
    }

    /// The next byte.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    /// The next character.
    pub(crate) fn peek_char(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Goes past `what` if it comes next.
    pub(crate) fn take(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
            self.is_line_start = false;
        }
        found
    }

    /// Goes past blanks, line ends and comments.
    pub(crate) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => self.is_line_start = true,
                b' ' | b'\t' | b'\r' => {}
                b'#' => {
                    let line = self.rest().find('\n');
                    self.at += line.unwrap_or(self.rest().len());
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
    }

    /// The name that comes next, without going past it; empty if none does.
    pub(crate) fn name(&self) -> &'a str {
        name_at(self.rest())
    }

    /// What the definition that begins here defines; `None` if none begins.
    pub(crate) fn defined_name(&self) -> Option<&'a str> {
        let name = self.name();
        let after = self.rest()[name.len()..].trim_start_matches([' ', '\t']);
        (!name.is_empty() && after.starts_with("::=")).then_some(name)
    }

    /// The options of `name[max_tokens=5] ::=`, xgrammar's, if they come next.
    pub(crate) fn rule_options(&self) -> Option<&'a str> {
        let name = self.name();
        let after = self.rest()[name.len()..].strip_prefix('[')?;
        let line = &after[..after.find('\n').unwrap_or(after.len())];
        let (options, rest) = line.split_once(']')?;
        let is_rule = !name.is_empty() && rest.trim_start().starts_with("::=");
        is_rule.then_some(options)
    }

    /// A literal, whose quote comes next. With `has_raw_bytes` `\xHH` is a byte.
    pub(crate) fn literal(&mut self, has_raw_bytes: bool) -> Result<Box<[u8]>, Error> {
        let begin = self.at;
        let quote = self.next_char();
        let mut bytes = Vec::new();
        loop {
            let offset = self.at;
            match self.next_char() {
                end if end == quote => break,
                None | Some('\n' | '\r') => {
                    let message = "this literal is not closed on its line; a line end is `\\n`";
                    return Err(Error::syntax(message, begin));
                }
                Some('\\') => match read_escape(self.source, &mut self.at, offset)? {
                    Escape::Hex(byte) if has_raw_bytes => bytes.push(byte),
                    escape => push_char(&mut bytes, escape.to_char()),
                },
                Some(c) => push_char(&mut bytes, c),
            }
        }
        self.is_line_start = false;
        Ok(bytes.into())
    }

    /// A class of characters, whose `[` comes next.
    pub(crate) fn class(&mut self) -> Result<CharSet, Error> {
        let begin = self.at;
        self.at += 1;
        let is_negated = self.take("^");
        let mut ranges = Vec::new();
        while !self.take("]") {
            let offset = self.at;
            let low = self.class_char(begin)?;
            let is_range = self.peek() == Some(b'-') && !self.rest().starts_with("-]");
            let high = if is_range {
                self.at += 1;
                self.class_char(begin)?
            } else {
                low
            };
            if low > high {
                return Err(Error::syntax(
                    format!("the range `{low}-{high}` is empty: its ends are in falling order"),
                    offset,
                ));
            }
            ranges.push((low, high));
        }
        self.is_line_start = false;
        let set = CharSet::new(ranges);
        Ok(if is_negated { set.negate() } else { set })
    }

    /// A set of bytes, whose `[` comes next.
    pub(crate) fn byte_class(&mut self) -> Result<ByteSet, Error> {
        let begin = self.at;
        let class = self.class()?;
        let mut set = ByteSet::EMPTY;
        let is_negated = self.source[begin..].starts_with("[^");
        let listed = if is_negated { class.negate() } else { class };
        for &(low, high) in listed.ranges() {
            match (u8::try_from(low), u8::try_from(high)) {
                (Ok(low), Ok(high)) => set = set.union(&ByteSet::range(low, high)),
                _ => return Err(Error::syntax("a byte is at most `\\xFF`", begin)),
            }
        }
        Ok(if is_negated { ByteSet::ALL.difference(&set) } else { set })
    }

    fn class_char(&mut self, begin: usize) -> Result<char, Error> {
        let offset = self.at;
        match self.next_char() {
            None | Some('\n' | '\r') => {
                let message = "this class is not closed on its line; a line end is `\\n`";
                Err(Error::syntax(message, begin))
            }
            Some('\\') => Ok(read_escape(self.source, &mut self.at, offset)?.to_char()),
            Some(c) => Ok(c),
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.peek_char()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

/// The rule name at the beginning of `text`; empty if there is none.
pub(crate) fn name_at(text: &str) -> &str {
    let is_first = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_other = |byte: u8| is_first(byte) || byte == b'-' || byte == b'.';
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|&byte| is_first(byte)) {
        return "";
    }
    &text[..bytes.iter().position(|&byte| !is_other(byte)).unwrap_or(bytes.len())]
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
