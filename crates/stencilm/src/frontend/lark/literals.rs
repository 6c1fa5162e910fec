//! Strings and regular expressions, as Lark reads them.

use std::fmt::Write;

use crate::error::{Error, Location};
use crate::frontend::regex::{self, Mode, RegexOptions};
use crate::grammar::{ExprId, Exprs, Spelling};
use crate::limits::Budget;

/// The text of a string, given without its quotes. `\n \r \t \f \\ \"` and `\xHH \uHHHH
/// \UHHHHHHHH` are escapes; before any other character a backslash is itself, as in Python.
pub(crate) fn unescape(source: &str, offset: usize) -> Result<String, Error> {
    let mut text = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let begin = at;
        at += c.len_utf8();
        let kind = source[at..].chars().next();
        let (Some(kind), '\\') = (kind, c) else {
            text.push(c);
            continue;
        };
        at += kind.len_utf8();
        match kind {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'f' => text.push('\u{C}'),
            '\\' | '"' => text.push(kind),
            'x' | 'u' | 'U' => {
                let digits = hex_digits(kind);
                text.push(code_point(&source[at..], digits).ok_or_else(|| {
                    let message = format!(
                        "`\\{kind}` is followed by the {digits} hexadecimal digits of a character"
                    );
                    Error::syntax(message, offset + begin)
                })?);
                at += digits;
            }
            _ => text.extend(['\\', kind]),
        }
    }
    Ok(text)
}

fn hex_digits(kind: char) -> usize {
    match kind {
        'x' => 2,
        'u' => 4,
        _ => 8,
    }
}

fn code_point(text: &str, digits: usize) -> Option<char> {
    let digits = text.get(..digits).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// The texts of a regular expression, which begins at `offset`.
pub(crate) fn pattern(
    source: &str,
    flags: &str,
    offset: usize,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let options = RegexOptions {
        ignore_case: flags.contains('i'),
        dot_all: flags.contains('s'),
        multiline: flags.contains('m'),
    };
    if flags.contains('l') {
        let message = "the flag `l` makes classes depend on a locale; leave it out";
        return Err(Error::syntax(message, offset));
    }
    let plain = respelled(source, flags.contains('x'));
    let found = regex::parse(&plain, options, budget)
        .and_then(|regex| regex.to_expr(exprs, Spelling::Text, Mode::FullMatch, budget));
    found.map_err(|error| {
        // Where nothing was respelled, places in the pattern are places in the grammar.
        let inside = match error.location() {
            Location::Offset(at) if plain == source => *at,
            Location::Offset(_) | Location::Pointer(_) | Location::Whole => 0,
        };
        error.moved_to(Location::Offset(offset + 1 + inside))
    })
}

/// A string of which either case matches.
pub(crate) fn either_case(
    text: &str,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut plain = String::with_capacity(text.len() * 6);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = write!(plain, "\\u{{{:x}}}", u32::from(c));
    }
    let options = RegexOptions { ignore_case: true, ..RegexOptions::default() };
    let regex = regex::parse(&plain, options, budget)?;
    regex.to_expr(exprs, Spelling::Text, Mode::FullMatch, budget)
}

/// A pattern as the other front end writes it: `\UHHHHHHHH` is `\u{H…}`, and a verbose pattern
/// loses its blanks and comments.
fn respelled(source: &str, is_verbose: bool) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut in_class = false;
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        at += c.len_utf8();
        match c {
            '\\' => {
                let kind = source[at..].chars().next().unwrap_or('\\');
                at += kind.len_utf8();
                match (kind, source.get(at..at + 8)) {
                    ('U', Some(digits)) if digits.bytes().all(|it| it.is_ascii_hexdigit()) => {
                        let digits = digits.trim_start_matches('0');
                        plain.push_str("\\u{");
                        plain.push_str(if digits.is_empty() { "0" } else { digits });
                        plain.push('}');
                        at += 8;
                    }
                    (' ', _) if is_verbose => plain.push(' '),
                    _ => plain.extend(['\\', kind]),
                }
            }
            '#' if is_verbose && !in_class => {
                at += source[at..].find('\n').unwrap_or(source.len() - at);
            }
            _ if is_verbose && !in_class && c.is_ascii_whitespace() => {}
            _ => {
                // A bracket first in a class is a member of it.
                let is_first = plain.ends_with('[') || plain.ends_with("[^");
                in_class = if in_class { c != ']' || is_first } else { c == '[' };
                plain.push(c);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{respelled, unescape};

    /// The only place in this module's tests that calls the API.
    #[track_caller]
    fn check(source: &str, text: &str) {
        assert_eq!(unescape(source, 0).as_deref(), Ok(text), "{source}");
    }

    #[test]
    fn escapes_are_those_of_python() {
        check(r"a\n\r\t\f", "a\n\r\t\u{C}");
        check(r#"\\ \" \' \- \d"#, r#"\ " \' \- \d"#);
        check(r"\x41\u00e9\U0001F600é\x41", "Aé😀éA");
    }

    #[test]
    fn verbose_patterns_lose_blanks_and_comments() {
        assert_eq!(respelled(" a  b # c\n [ #] \\ \\U00000041", true), "ab[ #] \\u{41}");
        assert_eq!(respelled(" a #", false), " a #");
    }
}
