//! Backslash escapes of literals and classes.

use crate::error::Error;

/// What an escape stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// `\xHH`: a code point, or a byte where bytes are meant.
    Hex(u8),
    /// Any other: a character.
    Char(char),
}

impl Escape {
    /// The character that is meant where no bytes are.
    pub(crate) fn to_char(self) -> char {
        match self {
            Self::Hex(code) => char::from(code),
            Self::Char(c) => c,
        }
    }
}

/// Reads an escape of `text` from just after its backslash, which is at `offset`.
pub(crate) fn read_escape(text: &str, at: &mut usize, offset: usize) -> Result<Escape, Error> {
    let Some(kind) = text[*at..].chars().next() else {
        return Err(Error::syntax("the text ends after a backslash", offset));
    };
    *at += kind.len_utf8();
    let plain = match kind {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{C}',
        'a' => '\u{7}',
        'v' => '\u{B}',
        'e' => '\u{1B}',
        '0' => '\0',
        '\\' | '"' | '\'' | '/' | '?' | '[' | ']' | '-' | '^' => kind,
        'x' => {
            let code = digits(text, at, 2, offset)?;
            return u8::try_from(code).map(Escape::Hex).map_err(|_| bad_code(code, offset));
        }
        'u' if text[*at..].starts_with('{') => braced(text, at, offset)?,
        'u' => scalar(digits(text, at, 4, offset)?, offset)?,
        'U' => scalar(digits(text, at, 8, offset)?, offset)?,
        'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P' => {
            let message = format!("`\\{kind}` is not known here; write the class out, as `[0-9]`");
            return Err(Error::syntax(message, offset));
        }
        _ => return Err(Error::syntax(format!("unknown escape `\\{kind}`"), offset)),
    };
    Ok(Escape::Char(plain))
}

/// `count` hexadecimal digits.
fn digits(text: &str, at: &mut usize, count: usize, offset: usize) -> Result<u32, Error> {
    let code = text.get(*at..*at + count).filter(|digits| {
        // `from_str_radix` also takes a sign.
        digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    *at += count;
    code.ok_or_else(|| {
        Error::syntax(format!("this escape needs {count} hexadecimal digits"), offset)
    })
}

/// `{H…}`, one to six digits.
fn braced(text: &str, at: &mut usize, offset: usize) -> Result<char, Error> {
    let inside = text[*at + 1..].split_once('}').map(|(inside, _)| inside);
    let is_code = |inside: &&str| {
        (1..=6).contains(&inside.len()) && inside.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let Some(inside) = inside.filter(is_code) else {
        return Err(Error::syntax("`\\u{…}` needs one to six hexadecimal digits", offset));
    };
    *at += inside.len() + 2;
    scalar(u32::from_str_radix(inside, 16).unwrap_or(u32::MAX), offset)
}

fn scalar(code: u32, offset: usize) -> Result<char, Error> {
    char::from_u32(code).ok_or_else(|| bad_code(code, offset))
}

fn bad_code(code: u32, offset: usize) -> Error {
    let message = if (0xD800..=0xDFFF).contains(&code) {
        format!("U+{code:04X} is half of a surrogate pair; write the character as `\\U0001F600`")
    } else {
        format!("U+{code:04X} is no Unicode code point")
    };
    Error::syntax(message, offset)
}
