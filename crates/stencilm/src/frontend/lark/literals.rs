//! Strings and regular expressions, as Lark reads them.

use std::fmt::Write;

use crate::error::{Error, Location};
use crate::frontend::regex::{self, Dialect, Mode, Regex, RegexOptions};
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
    let regex = regex(source, flags, offset, budget)?;
    let made = regex.to_expr(exprs, Spelling::Text, Mode::FullMatch, budget);
    made.map_err(|error| placed(error, offset))
}

/// A regular expression of a grammar, which begins at `offset`.
pub(crate) fn regex(
    source: &str,
    flags: &str,
    offset: usize,
    budget: &mut Budget,
) -> Result<Regex, Error> {
    let plain: String = flags.chars().filter(|&letter| letter != 'l').collect();
    if plain != flags {
        let message = "the flag `l` makes classes depend on a locale; leave it out";
        return Err(Error::syntax(message, offset));
    }
    let options = RegexOptions::with_flags(Dialect::Python, &plain)
        .map_err(|message| Error::syntax(message, offset))?;
    let options = RegexOptions { properties: true, ..options };
    regex::parse(source, options, budget).map_err(|error| placed(error, offset))
}

/// The same error at its place in the grammar.
fn placed(error: Error, offset: usize) -> Error {
    match error.location() {
        Location::Offset(at) => {
            let at = offset + 1 + at;
            error.moved_to(Location::Offset(at))
        }
        Location::Whole | Location::Pointer(_) => error,
    }
}

/// A string of which either case matches.
pub(crate) fn either_case(
    text: &str,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let regex = either_case_regex(text, budget)?;
    regex.to_expr(exprs, Spelling::Text, Mode::FullMatch, budget)
}

/// The same as a regular expression.
pub(crate) fn either_case_regex(text: &str, budget: &mut Budget) -> Result<Regex, Error> {
    let mut plain = String::with_capacity(text.len() * 10);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = write!(plain, "\\U{:08x}", u32::from(c));
    }
    let options =
        RegexOptions { dialect: Dialect::Python, ignore_case: true, ..RegexOptions::default() };
    regex::parse(&plain, options, budget)
}

#[cfg(test)]
mod tests {
    use super::unescape;

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
}
