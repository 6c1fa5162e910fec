//! A reading position in a grammar text: blanks, names, literals and classes.

use crate::error::{Error, Location};
use crate::frontend::ebnf::Notation;
use crate::frontend::ebnf::escape::{Escape, read_escape};
use crate::grammar::{ByteSet, CharSet};

/// A reading position.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    source: &'a str,
    notation: Notation,
    /// The byte that comes next.
    pub(crate) at: usize,
    /// Whether only blanks came on this line so far.
    pub(crate) is_line_start: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str, notation: Notation) -> Self {
        // A byte order mark at the very beginning belongs to the file, not to the grammar.
        let at = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Self { source: text, notation, at, is_line_start: true }
    }

    pub(crate) fn is_w3c(&self) -> bool {
        self.notation == Notation::W3c
    }

    /// Whether the W3C's notation is meant, which has no such sign.
    pub(crate) fn is_foreign(&self, sign: u8) -> bool {
        self.is_w3c() && matches!(sign, b'&' | b'~' | b'.' | b'%' | b'<' | b'!' | b'{')
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
                b'#' | b'/' => match self.comment() {
                    Some(length) => {
                        self.is_line_start |= self.rest()[..length].contains('\n');
                        self.at += length;
                        continue;
                    }
                    None => break,
                },
                _ => break,
            }
            self.at += 1;
        }
    }

    /// How long the comment is that begins here.
    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        match self.notation {
            Notation::Gbnf if rest.starts_with('#') => Some(rest.find('\n').unwrap_or(rest.len())),
            Notation::W3c if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ => None,
        }
    }

    /// What to say of a comment in another notation.
    pub(crate) fn comment_hint(&self) -> &'static str {
        let begins = |sign| self.rest().starts_with(sign);
        match self.notation {
            Notation::Gbnf if begins("//") || begins("/*") => "; a comment begins with `#`",
            Notation::W3c if begins("/*") => "; this comment has no end `*/`",
            _ => "",
        }
    }

    /// Goes past the number before a production, `[12]`, and blanks: the W3C's.
    pub(crate) fn skip_number(&mut self) {
        self.at += self.number_length();
        self.skip_blanks();
    }

    fn number_length(&self) -> usize {
        let inside = self.rest().strip_prefix('[').filter(|_| self.is_w3c());
        let end = inside.and_then(|inside| inside.find(|c: char| !c.is_ascii_alphanumeric()));
        match (inside, end) {
            (Some(inside), Some(end)) if end > 0 && inside[end..].starts_with(']') => end + 2,
            _ => 0,
        }
    }

    /// Whether a rule begins here: its options and its number may stand around the name.
    pub(crate) fn begins_rule(&self) -> bool {
        let mut at = Self { at: self.at + self.number_length(), ..*self };
        at.skip_blanks();
        at.rule_options().is_some() || at.defined_name().is_some()
    }

    /// The name that comes next, without going past it; empty if none does.
    pub(crate) fn name(&self) -> &'a str {
        let name = name_at(self.rest());
        // There `-` and `.` are signs of their own.
        let end = if self.is_w3c() { name.find(['-', '.']) } else { None };
        &name[..end.unwrap_or(name.len())]
    }

    /// What the definition that begins here defines; `None` if none begins.
    pub(crate) fn defined_name(&self) -> Option<&'a str> {
        let name = self.name();
        let options = self.rule_options().map_or(0, |options| options.len() + 2);
        let after = self.rest()[name.len() + options..].trim_start_matches([' ', '\t']);
        (!name.is_empty() && after.starts_with("::=")).then_some(name)
    }

    /// The options of `name[lazy] ::=`, xgrammar's, if they come next.
    pub(crate) fn rule_options(&self) -> Option<&'a str> {
        let name = self.name();
        let after = self.rest()[name.len()..].strip_prefix('[')?;
        let line = &after[..after.find('\n').unwrap_or(after.len())];
        let (options, rest) = line.split_once(']')?;
        let is_rule = !name.is_empty() && !self.is_w3c() && rest.trim_start().starts_with("::=");
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
                Some('\\') if !self.is_w3c() => {
                    match read_escape(self.source, &mut self.at, offset)? {
                        Escape::Hex(byte) if has_raw_bytes => bytes.push(byte),
                        escape => push_char(&mut bytes, escape.to_char()),
                    }
                }
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
        self.refuse_constraint(begin)?;
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
            Some('#') if self.is_w3c() && self.peek() == Some(b'x') => {
                self.at = offset;
                self.hex_character()
            }
            Some('\\') if !self.is_w3c() => {
                Ok(read_escape(self.source, &mut self.at, offset)?.to_char())
            }
            Some(c) => Ok(c),
        }
    }

    /// `#x41`.
    pub(crate) fn hex_character(&mut self) -> Result<char, Error> {
        let offset = self.at;
        let digits = self
            .rest()
            .strip_prefix("#x")
            .map_or("", |rest| &rest[..rest.bytes().take_while(u8::is_ascii_hexdigit).count()]);
        let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        self.at += digits.len() + 2;
        self.is_line_start = false;
        code.ok_or_else(|| {
            Error::syntax("a character is written `#x41`, with a Unicode code point", offset)
        })
    }

    /// `[ wfc: … ]` and `[ vc: … ]` say what no production says.
    fn refuse_constraint(&self, begin: usize) -> Result<(), Error> {
        let word = self.rest().trim_start();
        let is_constraint =
            ["wfc:", "vc:", "WFC:", "VC:"].iter().any(|sign| word.starts_with(sign));
        if self.is_w3c() && is_constraint {
            let end = self.rest().find(']').unwrap_or(0);
            let feature = format!("the constraint `[{}]`", &self.rest()[..end]);
            return Err(Error::unsupported(feature, Location::Offset(begin)));
        }
        Ok(())
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
