//! Sets of characters by name: the escapes of ECMA-262, Unicode properties, and letter case.
//!
//! The tables of Unicode come from `regex-syntax`; nothing else of that crate is used.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::error::Error;
use crate::grammar::CharSet;

/// `\d`.
pub(crate) fn digits() -> CharSet {
    CharSet::new([('0', '9')])
}

/// `\w`.
pub(crate) fn word() -> CharSet {
    CharSet::new([('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')])
}

/// `\s`: `WhiteSpace` and `LineTerminator` (ECMA-262 sections 12.2 and 12.3).
pub(crate) fn space() -> CharSet {
    CharSet::new([
        ('\t', '\r'),
        (' ', ' '),
        ('\u{A0}', '\u{A0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200A}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202F}', '\u{202F}'),
        ('\u{205F}', '\u{205F}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{FEFF}', '\u{FEFF}'),
    ])
}

/// `\s` of Python: what `str.isspace` says.
pub(crate) fn python_space() -> CharSet {
    CharSet::new([
        ('\t', '\r'),
        ('\u{1C}', ' '),
        ('\u{85}', '\u{85}'),
        ('\u{A0}', '\u{A0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200A}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202F}', '\u{202F}'),
        ('\u{205F}', '\u{205F}'),
        ('\u{3000}', '\u{3000}'),
    ])
}

/// What `.` leaves out, and where lines end for `^` and `$`.
pub(crate) fn line_terminators() -> CharSet {
    CharSet::of(['\n', '\r', '\u{2028}', '\u{2029}'])
}

/// The characters that are equal to one of `set` when case is ignored: simple case folding, which
/// is what ECMA-262 section 22.2.2.7.3 asks for under the `u` flag.
pub(crate) fn ignoring_case(set: &CharSet) -> CharSet {
    let ranges = set.ranges().iter().filter_map(|&(low, high)| {
        Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?))
    });
    let mut class = ClassUnicode::new(ranges);
    class.case_fold_simple();
    of_class(&class)
}

/// The characters with the property that `text`, found between the braces of `\p{…}`, names.
///
/// # Errors
/// There is no such property; `offset` is where `text` stands.
pub(crate) fn property(text: &str, offset: usize) -> Result<CharSet, Error> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let unknown = || Error::syntax(format!("there is no Unicode property `{text}`"), offset);
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (Some(key), value),
        None => (None, text),
    };
    if !is_name(value) {
        return Err(unknown());
    }
    match key {
        Some("General_Category" | "gc") => category(value),
        Some("Script" | "sc") => table(&format!("sc={value}")),
        Some("Script_Extensions" | "scx") => table(&format!("scx={value}")),
        Some(_) => None,
        None => match category(value) {
            Some(set) => Some(set),
            None if table(&format!("sc={value}")).is_some() => {
                let message = format!("`{value}` is a script: write `\\p{{Script={value}}}`");
                return Err(Error::syntax(message, offset));
            }
            None => table(value),
        },
    }
    .ok_or_else(unknown)
}

fn category(name: &str) -> Option<CharSet> {
    // Texts are sequences of scalar values: there are no surrogates in them.
    if matches!(name, "Cs" | "Surrogate") {
        return Some(CharSet::of([]));
    }
    table(&format!("gc={name}"))
}

fn table(query: &str) -> Option<CharSet> {
    let hir = regex_syntax::parse(&format!("\\p{{{query}}}")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(of_class(class)),
        // A set of one character comes back as a literal.
        HirKind::Literal(literal) => {
            Some(CharSet::of(std::str::from_utf8(&literal.0).ok()?.chars()))
        }
        _ => None,
    }
}

fn of_class(class: &ClassUnicode) -> CharSet {
    CharSet::new(class.ranges().iter().map(|range| (range.start(), range.end())))
}

#[cfg(test)]
mod tests {
    use crate::frontend::regex::classes::{ignoring_case, property, space, word};
    use crate::grammar::CharSet;

    /// The only place in this module's tests that calls `property`.
    #[track_caller]
    fn check(name: &str, inside: char, outside: char) {
        let set = property(name, 0).expect("a property of ECMA-262");
        assert!(set.contains(inside) && !set.contains(outside), "{name}");
    }

    #[test]
    fn properties_have_their_ecma_names() {
        check("L", 'é', '1');
        check("Uppercase_Letter", 'A', 'a');
        check("gc=Nd", '٣', 'x');
        check("General_Category=Decimal_Number", '3', 'x');
        check("Script=Greek", 'α', 'a');
        check("sc=Cyrl", 'ж', 'a');
        check("Script_Extensions=Latin", 'a', 'α');
        check("Alphabetic", 'é', '-');
        check("ASCII", 'a', 'é');
        check("Zl", '\u{2028}', ' ');
        check("Emoji", '😀', 'a');
    }

    #[test]
    fn any_is_every_character_and_surrogates_are_none() {
        assert_eq!(property("Any", 0), Ok(CharSet::any()));
        assert_eq!(property("Cs", 0), Ok(CharSet::of([])));
    }

    #[test]
    fn unknown_properties_are_errors_at_their_place() {
        for name in ["", "Nope", "L}", "Script=Nope", "age=6.0", "^L", "Greek", "IsGreek"] {
            let error = property(name, 7).expect_err("not a property of ECMA-262").to_string();
            assert!(error.starts_with("at byte 7: "), "{error}");
        }
    }

    #[test]
    fn case_is_ignored_by_simple_folding() {
        let set = ignoring_case(&CharSet::of(['k']));
        assert_eq!(set, CharSet::of(['k', 'K', '\u{212A}']));
        assert!(ignoring_case(&word()).contains('\u{17F}'), "long s folds to s");
    }

    #[test]
    fn white_space_is_that_of_ecma() {
        for c in ['\u{B}', '\u{FEFF}', '\u{2029}', '\u{3000}'] {
            assert!(space().contains(c));
        }
        for c in ['\u{85}', '\u{200B}', '\u{180E}'] {
            assert!(!space().contains(c));
        }
    }
}
