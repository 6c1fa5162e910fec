//! Prints plain grammars as EBNF: every part as it was made, with all parentheses.

use std::fmt::{self, Write};

use stencilm::grammar::Spelling;

use crate::oracle::plain::{Plain, Tree};

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = (0..self.rules.len()).filter(|&rule| rule != self.start);
        for rule in std::iter::once(self.start).chain(others) {
            writeln!(f, "r{rule} ::= {}", self.rules[rule])?;
        }
        Ok(())
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("[]"),
            Self::Empty => f.write_str("\"\""),
            Self::Literal(bytes) => write_literal(f, bytes),
            Self::OneOf(list) => {
                f.write_str("(")?;
                for (at, literal) in list.iter().enumerate() {
                    f.write_str(if at > 0 { " | " } else { "" })?;
                    write_literal(f, literal)?;
                }
                f.write_str(if list.is_empty() { "[])" } else { ")" })
            }
            Self::Bytes(bytes) => {
                f.write_str("%bytes[")?;
                bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02X}"))?;
                f.write_str("]")
            }
            Self::Chars(ranges, spelling) => {
                f.write_str(match spelling {
                    Spelling::Text => "[",
                    Spelling::Json => "%json[",
                    Spelling::JsonCanonical => "%canonical[",
                    Spelling::JsonAscii => "%ascii[",
                    Spelling::JsonAsciiCanonical => "%canonical_ascii[",
                    Spelling::SingleQuoted => "%single_quoted[",
                    Spelling::DoubleQuoted => "%double_quoted[",
                })?;
                for &(low, high) in ranges {
                    write_char(f, low)?;
                    if low != high {
                        f.write_str("-")?;
                        write_char(f, high)?;
                    }
                }
                f.write_str("]")
            }
            Self::Token(name) => write!(f, "%token({name:?})"),
            Self::Seq(parts) => write_all(f, parts, " ", "\"\""),
            Self::Choice(parts) => write_all(f, parts, " | ", "[]"),
            Self::And(parts) => write_all(f, parts, " & ", "~[]"),
            Self::Not(body) => write!(f, "~({body})"),
            Self::Repeat(body, min, Some(max)) => write!(f, "({body}){{{min},{max}}}"),
            Self::Repeat(body, min, None) => write!(f, "({body}){{{min},}}"),
            Self::Call(rule) => write!(f, "r{rule}"),
        }
    }
}

fn write_all(f: &mut fmt::Formatter<'_>, parts: &[Tree], by: &str, none: &str) -> fmt::Result {
    if parts.is_empty() {
        return f.write_str(none);
    }
    f.write_str("(")?;
    for (at, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if at > 0 { by } else { "" })?;
    }
    f.write_str(")")
}

fn write_literal(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let Ok(text) = std::str::from_utf8(bytes) else {
        f.write_str("%raw\"")?;
        bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02X}"))?;
        return f.write_str("\"");
    };
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_str("\"")
}

fn write_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match u32::from(c) {
        _ if c.is_ascii_alphanumeric() => f.write_char(c),
        code @ 0..0x1_0000 => write!(f, "\\u{code:04X}"),
        code => write!(f, "\\U{code:08X}"),
    }
}
