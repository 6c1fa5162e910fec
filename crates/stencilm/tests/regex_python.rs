//! The dialect of Python's `re`, fact by fact: what differs from ECMA-262, what is refused and where.
//! `tests/test_python_regex.py` compares it with `re` itself.

#[path = "support/language.rs"]
mod language;

use stencilm::frontend::regex::{self, Dialect, Mode, RegexOptions};
use stencilm::grammar::{Exprs, Spelling};
use stencilm::{Budget, ErrorKind, Location};

use language::matches;

const PYTHON: RegexOptions = RegexOptions {
    dialect: Dialect::Python,
    ignore_case: false,
    dot_all: false,
    multiline: false,
    ascii: false,
    verbose: false,
    properties: false,
    names_with_p: false,
};

/// Texts that match from end to end, and texts that do not.
#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    let mut budget = Budget::default();
    let regex = regex::parse(pattern, PYTHON, &mut budget).expect("a good pattern");
    let mut exprs = Exprs::default();
    let id = regex
        .to_expr(&mut exprs, Spelling::Text, Mode::FullMatch, &mut budget)
        .expect("within the limits");
    for (texts, is_right) in [(yes, true), (no, false)] {
        for text in texts {
            let found = matches(&exprs, id, text.as_bytes());
            assert_eq!(found, is_right, "{pattern} on {text:?}: {}", exprs.show(id));
        }
    }
}

#[track_caller]
fn check_error(pattern: &str, message: &str) {
    let error = regex::parse(pattern, PYTHON, &mut Budget::default())
        .map(|_| ())
        .expect_err("a wrong pattern");
    assert_eq!(error.to_string(), message, "{pattern}");
}

#[test]
fn classes_are_those_of_unicode_or_of_ascii() {
    check(r"\d\w\s", &["٣é\u{85}", "1_\u{1C}"], &["Ⅷé ", "1- ", "1a\u{FEFF}"]);
    check(r"(?a)\d\w\s", &["1_\u{B}"], &["٣a ", "1é ", "1a\u{1C}"]);
    check(r"(?a:\w)\w", &["aé"], &["éa"]);
    check(".", &["\r", "\u{2028}"], &["\n"]);
    check(r"[]\d-]{,2}", &["]٣", "-", ""], &["a", "]]]"]);
    check("{}x{,y}", &["{}x{,y}"], &[]);
}

#[test]
fn case_is_that_of_lower_case_letters() {
    check("(?i)[I]ß", &["iẞ", "ıß", "İß"], &["jß"]);
    check("(?ia)kſ", &["Kſ"], &["\u{212A}ſ", "ks"]);
    check(r"(?i)[\Wσ]", &["ς", "Σ", "-"], &["s"]);
}

#[test]
fn anchors_are_those_of_python() {
    check("a$\n", &["a\n"], &["a"]);
    check("a$\n\n", &[], &["a\n\n"]);
    check(r"a\Z\n|\Ab\Z", &["b"], &["a\n"]);
    check(r"(?m)a$\n^b", &["a\nb"], &["a\rb"]);
    check(r"\B", &[], &[""]);
    check(r"é\b.", &["é-"], &["éa", "éé"]);
}

#[test]
fn flags_and_comments_are_read() {
    check("(?x) a b # c\n [ #]\\ ", &["ab  ", "ab# "], &["a b  "]);
    check("(?#one)a(?#two)+", &["aa"], &[""]);
    check("(?s-i:.)(?x: a )", &["\na"], &["\n a "]);
}

#[test]
fn escapes_are_those_of_python() {
    check(r"\a\x41\u00e9\U0001F600\0\101[\b\18]", &["\u{7}Aé😀\0A\u{1}", "\u{7}Aé😀\0A8"], &[]);
    check(r"\uD83D\uDE00|a", &["a"], &["😀"]);
}

#[test]
fn possessive_quantifiers_of_one_class_are_exact() {
    check("a*+ab?", &[], &["a", "aa", "ab"]);
    check("a{2,3}+a?", &["aa", "aaa", "aaaa"], &["a", "aaaaa"]);
    check("[ab]?+b", &["ab", "bb"], &["b"]);
}

#[test]
fn look_behind_may_have_any_width() {
    check("(?:a(?<=^a+)|b)*", &["aab", ""], &["ba"]);
    check("(?<=a)*b", &["b"], &[]);
}

#[test]
fn what_is_not_regular_is_refused_by_name() {
    for (pattern, feature, at) in [
        (r"(a)\1", r"the back-reference `\1`", 3),
        ("(?P<n>a)(?P=n)", "a back-reference `(?P=…)`", 8),
        ("a(?>b)", "an atomic group `(?>…)`", 1),
        ("(?:ab)++", "a possessive quantifier (`++`, `*+`, …)", 7),
        ("(a)(?(1)b|c)", "a conditional group `(?(…)…)`", 3),
        (r"\N{BULLET}", r"a character by its name, `\N{…}`; write `\uXXXX`", 0),
    ] {
        let error = regex::parse(pattern, PYTHON, &mut Budget::default())
            .map(|_| ())
            .expect_err("not regular");
        let kind = ErrorKind::Unsupported { feature: feature.to_owned() };
        assert_eq!((error.kind(), error.location()), (&kind, &Location::Offset(at)), "{pattern}");
    }
}

#[test]
fn wrong_patterns_are_errors_at_their_place() {
    check_error("[]a", "at byte 0: this class has no closing `]`");
    check_error("a{2}+*", "at byte 5: a quantifier cannot follow a quantifier");
    check_error(r"\Z*", "at byte 2: this condition cannot be repeated");
    check_error(
        r"[\d-x]",
        "at byte 1: a range goes from one character to another, no class of them",
    );
    check_error(r"\400", r"at byte 0: an octal escape is at most `\377`");
    check_error(r"\pL", r"at byte 0: `\p` is no escape of Python; write the class out");
    check_error(
        "(?<n>a)",
        "at byte 0: a named group is written `(?P<name>…)` in Python, with a `P`",
    );
    check_error("(?P<n>a)(?P<n>b)", "at byte 8: two groups have the name `n`");
    check_error("(?#a", "at byte 0: this comment has no closing `)`");
    check_error("(?L)a", "at byte 0: the flag `L` is for `bytes`, and a text is a `str`");
    check_error("(?au)a", "at byte 0: the flags `a` and `u` exclude each other");
    check_error("(?i-i:a)", "at byte 0: this flag is turned on and off in one group");
    check_error(
        "a(?i)b",
        "at byte 1: flags of the whole pattern stand at its beginning; for a part of it write `(?i:…)`",
    );
}

#[test]
fn many_names_of_one_class_share_it() {
    let pattern = r"\w".repeat(1 << 20);
    let regex = regex::parse(&pattern, PYTHON, &mut Budget::default()).expect("a good pattern");
    assert!(!regex.root().has_look());
}
