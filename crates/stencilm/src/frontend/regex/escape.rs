//! What a backslash means, outside a class and inside one.

use crate::error::Error;
use crate::frontend::regex::Dialect;
use crate::frontend::regex::ast::{Node, Side};
use crate::frontend::regex::parse::{Parser, unsupported};
use crate::grammar::CharSet;

/// What an escape stands for where it stands for characters.
pub(crate) enum Escaped {
    /// One code point, which may be a surrogate.
    One(u32),
    /// A set.
    Set(CharSet),
}

impl Parser<'_> {
    /// What follows a backslash outside a class.
    pub(crate) fn escape(&mut self, start: usize) -> Result<Node, Error> {
        match self.peek() {
            Some(edge @ ('b' | 'B')) => {
                self.next();
                Ok(self.word_edge(edge == 'B', start))
            }
            Some('A') if self.is_python() => {
                self.next();
                Ok(self.text_edge(Side::Behind, start))
            }
            Some('Z' | 'z') if self.is_python() => {
                self.next();
                Ok(self.text_edge(Side::Ahead, start))
            }
            Some(digit @ '1'..='9') if !self.is_python() || !self.is_octal(3) => {
                Err(unsupported(&format!("the back-reference `\\{digit}`"), start))
            }
            Some('k') if !self.is_python() => Err(unsupported("the back-reference `\\k`", start)),
            _ => match self.character_escape(start)? {
                Escaped::One(code) => Ok(self.folded(&of_code(code, code), start)),
                // Already in both cases: folding the complement of a set again would be wrong.
                Escaped::Set(set) => Ok(self.chars(set, start)),
            },
        }
    }

    /// What follows a backslash and means the same inside a class and outside. Sets are folded
    /// under the flag `i`.
    pub(crate) fn character_escape(&mut self, start: usize) -> Result<Escaped, Error> {
        let Some(c) = self.next() else {
            return Err(Error::syntax("the pattern ends in a backslash", start));
        };
        let one = |c: char| Ok(Escaped::One(c.into()));
        let dialect = self.flags.dialect;
        match (c, dialect) {
            ('d' | 'D' | 's' | 'S' | 'w' | 'W', _) => Ok(Escaped::Set(self.class(c))),
            ('p' | 'P', _) if self.flags.properties || dialect == Dialect::Ecma => {
                self.property_escape(c == 'P', start)
            }
            ('t', _) => one('\t'),
            ('n', _) => one('\n'),
            ('v', _) => one('\u{B}'),
            ('f', _) => one('\u{C}'),
            ('r', _) => one('\r'),
            ('a', Dialect::Python) => one('\u{7}'),
            ('0'..='7', Dialect::Python) => self.octal(start),
            ('0', _) if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                Err(Error::syntax("a digit cannot follow `\\0`: write `\\x00`", start))
            }
            ('0', _) => one('\0'),
            ('c', Dialect::Ecma) => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    Ok(Escaped::One(u32::from(letter) % 32))
                }
                _ => Err(Error::syntax("a letter has to follow `\\c`", start)),
            },
            ('x', _) => match self.hex(2) {
                Some(code) => Ok(Escaped::One(code)),
                None => Err(Error::syntax("two hexadecimal digits have to follow `\\x`", start)),
            },
            ('u', Dialect::Ecma) => self.code_point(start),
            ('u', Dialect::Python) => match self.hex(4) {
                Some(code) => Ok(Escaped::One(code)),
                None => Err(Error::syntax("four hexadecimal digits have to follow `\\u`", start)),
            },
            ('U', Dialect::Python) => match self.hex(8) {
                Some(code @ 0..=0x10_FFFF) => Ok(Escaped::One(code)),
                _ => Err(Error::syntax("`\\U` needs a code point of eight digits", start)),
            },
            ('N', Dialect::Python) => {
                Err(unsupported("a character by its name, `\\N{…}`; write `\\uXXXX`", start))
            }
            (c, _) if c.is_ascii_alphanumeric() => Err(unknown_letter(c, dialect, start)),
            (c, _) => one(c),
        }
    }

    /// Whether `count` octal digits come next.
    fn is_octal(&self, count: usize) -> bool {
        let digits = self.rest().bytes().take_while(|byte| matches!(byte, b'0'..=b'7'));
        digits.take(count).count() == count
    }

    /// Up to three octal digits, of which the first was read.
    fn octal(&mut self, start: usize) -> Result<Escaped, Error> {
        let first = start + 1;
        while self.at < first + 3 && self.is_octal(1) {
            self.at += 1;
        }
        match u32::from_str_radix(&self.pattern[first..self.at], 8) {
            Ok(code @ 0..=0o377) => Ok(Escaped::One(code)),
            _ => Err(Error::syntax("an octal escape is at most `\\377`", start)),
        }
    }

    /// What follows `\u`; two halves of a surrogate pair are one.
    fn code_point(&mut self, start: usize) -> Result<Escaped, Error> {
        if self.take("{") {
            let digits = self.rest().split_once('}').map_or("", |(digits, _)| digits).to_owned();
            let is_hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits.trim_start_matches('0'), 16);
            return match code {
                Ok(code) if is_hex && code <= 0x10_FFFF => {
                    self.at += digits.len() + 1;
                    Ok(Escaped::One(code))
                }
                Err(_) if is_hex && digits.bytes().all(|byte| byte == b'0') => {
                    self.at += digits.len() + 1;
                    Ok(Escaped::One(0))
                }
                _ => Err(Error::syntax("`\\u{…}` needs a code point, 0 to 10FFFF", start)),
            };
        }
        let Some(code) = self.hex(4) else {
            return Err(Error::syntax("four hexadecimal digits have to follow `\\u`", start));
        };
        let after = self.at;
        if (0xD800..0xDC00).contains(&code) && self.take("\\u") {
            if let Some(low @ 0xDC00..=0xDFFF) = self.hex(4) {
                return Ok(Escaped::One(0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00)));
            }
            self.at = after;
        }
        Ok(Escaped::One(code))
    }

    /// The value of `count` hexadecimal digits, if they come next.
    fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest().get(..count)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += count;
        Some(code)
    }

    /// What follows `\p` or `\P`.
    fn property_escape(&mut self, is_negative: bool, start: usize) -> Result<Escaped, Error> {
        let named = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some(name) = named.map(|(name, _)| name.to_owned()) else {
            let message = "a property is written in braces, for example `\\p{Letter}`";
            return Err(Error::syntax(message, start));
        };
        let set = self.property(&name, is_negative, self.at + 1)?;
        self.at += name.len() + 2;
        Ok(Escaped::Set(set))
    }
}

/// The code points `low..=high` as characters: surrogates are in no text, so they match nothing.
pub(crate) fn of_code(low: u32, high: u32) -> CharSet {
    CharSet::from_code_points([(low, high)])
}

fn unknown_letter(c: char, dialect: Dialect, start: usize) -> Error {
    let instead = match (c, dialect) {
        ('A', Dialect::Ecma) => "; write `^`",
        ('Z' | 'z', Dialect::Ecma) => "; write `$`",
        ('h', Dialect::Ecma) => r"; write `[\t\p{Zs}]`",
        ('h', Dialect::Python) => r"; write `[ \t]`",
        ('R', _) => r"; write `(?:\r\n|[\n\v\f\r\u0085\u2028\u2029])`",
        ('a', _) => r"; write `\x07`",
        ('e', _) => r"; write `\x1B`",
        ('Q' | 'E', _) => "; escape each character",
        ('p' | 'P', Dialect::Python) => "; write the class out",
        _ => "",
    };
    Error::syntax(format!("`\\{c}` is no escape of {}{instead}", dialect.name()), start)
}
