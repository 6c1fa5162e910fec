//! What a backslash means, outside a class and inside one.

use crate::error::Error;
use crate::frontend::regex::ast::Node;
use crate::frontend::regex::classes::{digits, property, space, word};
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
            Some(digit @ '1'..='9') => {
                Err(unsupported(&format!("the back-reference `\\{digit}`"), start))
            }
            Some('k') => Err(unsupported("the back-reference `\\k`", start)),
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
        match c {
            'd' => Ok(Escaped::Set(digits())),
            'D' => Ok(Escaped::Set(digits().negate())),
            's' => Ok(Escaped::Set(space())),
            'S' => Ok(Escaped::Set(space().negate())),
            'w' => Ok(Escaped::Set(self.fold(&word()))),
            'W' => Ok(Escaped::Set(self.fold(&word()).negate())),
            'p' | 'P' => self.property_escape(c == 'P', start),
            't' => one('\t'),
            'n' => one('\n'),
            'v' => one('\u{B}'),
            'f' => one('\u{C}'),
            'r' => one('\r'),
            '0' if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                Err(Error::syntax("a digit cannot follow `\\0`: write `\\x00`", start))
            }
            '0' => one('\0'),
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    Ok(Escaped::One(u32::from(letter) % 32))
                }
                _ => Err(Error::syntax("a letter has to follow `\\c`", start)),
            },
            'x' => match self.hex(2) {
                Some(code) => Ok(Escaped::One(code)),
                None => Err(Error::syntax("two hexadecimal digits have to follow `\\x`", start)),
            },
            'u' => self.code_point(start),
            c if c.is_ascii_alphanumeric() => Err(unknown_letter(c, start)),
            c => one(c),
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
        let set = property(&name, self.at + 1)?;
        self.at += name.len() + 2;
        let set = if is_negative { set.negate() } else { set };
        Ok(Escaped::Set(self.fold(&set)))
    }
}

/// The code points `low..=high` as characters: surrogates are in no text, so they match nothing.
pub(crate) fn of_code(low: u32, high: u32) -> CharSet {
    CharSet::from_code_points([(low, high)])
}

fn unknown_letter(c: char, start: usize) -> Error {
    let instead = match c {
        'A' => "; write `^`",
        'Z' | 'z' => "; write `$`",
        'h' => r"; write `[\t\p{Zs}]`",
        'R' => r"; write `(?:\r\n|[\n\v\f\r\u0085\u2028\u2029])`",
        'a' => r"; write `\x07`",
        'e' => r"; write `\x1B`",
        'Q' | 'E' => "; escape each character",
        _ => "",
    };
    Error::syntax(format!("`\\{c}` is no escape of ECMA-262{instead}"), start)
}
