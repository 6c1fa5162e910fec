//! Regular expressions, fact by fact: what ECMA-262 says, what is refused and where, what it costs.

#[path = "support/language.rs"]
mod language;

use stencilm::frontend::regex::{self, Dialect, Mode, RegexOptions};
use stencilm::grammar::{ExprId, Exprs, Spelling};
use stencilm::{Budget, Cancel, Error, ErrorKind, Limits, Location};

use language::matches;

const NO_FLAGS: RegexOptions = RegexOptions {
    dialect: Dialect::Ecma,
    ignore_case: false,
    dot_all: false,
    multiline: false,
    ascii: false,
    verbose: false,
    properties: false,
    names_with_p: false,
};

fn compile(
    pattern: &str,
    options: RegexOptions,
    (spelling, mode): (Spelling, Mode),
    limits: Limits,
) -> Result<(Exprs, ExprId), Error> {
    let mut budget = Budget::new(limits, Cancel::new());
    let regex = regex::parse(pattern, options, &mut budget)?;
    let mut exprs = Exprs::default();
    let id = regex.to_expr(&mut exprs, spelling, mode, &mut budget)?;
    Ok((exprs, id))
}

#[track_caller]
fn check_flags(pattern: &str, options: RegexOptions, yes: &[&str], no: &[&str]) {
    let how = (Spelling::Text, Mode::Search);
    let (exprs, id) = compile(pattern, options, how, Limits::default()).expect("a good pattern");
    for (texts, is_right) in [(yes, true), (no, false)] {
        for text in texts {
            let found = matches(&exprs, id, text.as_bytes());
            assert_eq!(found, is_right, "{pattern} in {text:?}: {}", exprs.show(id));
        }
    }
}

/// Texts that have a match inside, and texts that have none.
#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    check_flags(pattern, NO_FLAGS, yes, no);
}

/// What a search for the pattern becomes.
#[track_caller]
fn check_shape(pattern: &str, shape: &str) {
    let how = (Spelling::Text, Mode::Search);
    let (exprs, id) = compile(pattern, NO_FLAGS, how, Limits::default()).expect("a good pattern");
    let any = r"[\x00-\uD7FF\uE000-\U0010FFFF]";
    assert_eq!(exprs.show(id).replace(any, "Σ"), shape, "{pattern}");
}

#[track_caller]
fn check_error(pattern: &str, message: &str) {
    let error = regex::parse(pattern, NO_FLAGS, &mut Budget::default())
        .map(|_| ())
        .expect_err("a wrong pattern");
    assert_eq!(error.to_string(), message, "{pattern}");
}

#[track_caller]
fn check_limit(pattern: &str, limits: Limits, limit: &str) {
    let how = (Spelling::Text, Mode::Search);
    let error = compile(pattern, NO_FLAGS, how, limits).map(|_| ()).expect_err("over the limit");
    match error.kind() {
        ErrorKind::LimitReached { limit: reached, .. } => assert_eq!(*reached, limit),
        _ => panic!("{pattern}: {error}"),
    }
}

#[test]
fn escapes_stand_for_characters() {
    check(
        r"^\x41\u0042\u{43}\u{1F600}\uD83D\uDE00\cJ\0\t\v\f\r$",
        &["ABC😀😀\n\0\t\u{B}\u{C}\r"],
        &[],
    );
    check(r"^\u{00000000000041}\u{0}$", &["A\0"], &[]);
    check(r"^[\b]$", &["\u{8}"], &["b"]);
    check(r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", &[r"^$\.*+?()[]{}|/"], &[]);
}

#[test]
fn lone_surrogates_are_in_no_text() {
    check(r"\uD83D|\uDE00\uD83D|[\uD800-\uDFFF]", &[], &["", "😀", "a"]);
    check(r"^[^\uD800]$", &["a"], &[]);
}

#[test]
fn punctuation_may_be_escaped_without_need() {
    check(r#"^\-\_\/\"\'\@\ \%\:\&\<\#\~\`\!\,\;\=é$"#, &["-_/\"'@ %:&<#~`!,;=é"], &[]);
    check(r"^[\.\-\_\@]$", &[".", "-", "_", "@"], &["\\"]);
}

#[test]
fn braces_and_brackets_stand_for_themselves_where_nothing_else_is_meant() {
    check(r"^{a}$", &["{a}"], &[]);
    check(r"^a{,5}]x{$", &["a{,5}]x{"], &["a"]);
    check(r"^a{2}b{1,}c{0,1}$", &["aabc", "aabbb"], &["abc", "aab{1,}c"]);
}

#[test]
fn classes_are_those_of_ecma() {
    check(r"^\d$", &["7"], &["٣", "a"]);
    check(r"^\w$", &["_", "Z"], &["é", "-"]);
    check(r"^\s$", &["\u{FEFF}", "\u{A0}", "\u{2028}", "\u{B}"], &["\u{85}", "\u{200B}"]);
    check(r"^\S\D\W$", &["aa-"], &[" a-", "a1-", "aaa"]);
    check("^.$", &["a", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}"]);
    check("[]", &[], &["", "a", "]"]);
    check("^[^]$", &["a", "\n"], &["", "aa"]);
    check(r"^[\w-.]$", &["a", "-", "."], &[","]);
    check(r"^[a-c-e]$", &["b", "-", "e"], &["d"]);
    check(r"^[-a][a-][^^-]$", &["-ab", "a-b"], &["a-^", "a--"]);
    check(r"^\p{Lu}\P{L}[\p{Script=Greek}\d]$", &["É!α", "A12"], &["a!α", "AbA"]);
}

#[test]
fn anchors_bind_wherever_they_stand() {
    check("^a|b$", &["ax", "xb"], &["xa", "bx", ""]);
    check("a^b|a$b|x*^y", &["y"], &["ab", "xy"]);
    check("(^|,)a(,|$)", &["a", "x,a", "a,x"], &["xa", "ax"]);
    check("^([^,]+(,|$)){3,}$", &["a,b,c", "a,b,c,"], &["a,b", "a,b,c,,"]);
}

#[test]
fn word_edges_know_both_sides() {
    check(r"\bfoo\b", &["foo", "a foo!"], &["xfoo", "foo_", "food"]);
    check(r"\Boo\B", &["foods"], &["foo", "oops"]);
    check(r"^(?:\b\w{1,9}\b ?)+$", &["a bc d"], &["a  b", "", "abcdefghij"]);
    check(r"é\b", &["éa"], &["é", "éé"]);
}

#[test]
fn look_around_is_exact() {
    check(r"^(?!.*\.\.)(?=.{3,10}$)[a-z.]+$", &["a.b"], &["ab", "a..b", "abcdefghijk"]);
    check(r"^((?!mode)(?!Mode).)*$", &["mood", ""], &["a mode", "Mode"]);
    check(r"(?<=\$)\d+(?!\d|%)", &["$12", "a $1 b"], &["12", "$1%", "$12%"]);
    check(r"^[a-z-]+(?<!-)$", &["a-b"], &["a-", "-"]);
    check(r"(?<=\bfoo)bar", &["foobar", "a foobar"], &["xfoobar"]);
    check(r"^(?:(?!--)[a-z-])+;$", &["a-b;"], &["a--b;", ";"]);
    check(r"(?<=^(?=a.c)..)c", &["abc"], &["xbc", "aabc"]);
    check(r"(?=a)*b(?=c)+c", &["bc"], &["bd"]);
}

#[test]
fn counts_of_look_around_are_exact() {
    let a = |count: usize| "a".repeat(count);
    check("^(?:(?=a)ab?){2,9}$", &["aa", &a(9), "abaaab"], &["a", "", &a(10), &a(19)]);
    check("^(?:(?=a)ab?){9}$", &[&a(9)], &[&a(8), &a(10)]);
    check("^(?:(?=a)ab?){9,}$", &[&a(9), &a(30)], &[&a(8)]);
    check("^(?:(?!b)[ab]{2,5};)*$", &["aa;abbbb;", ""], &["a;", "ba;", "aaaaaa;", "aa;bb;"]);
    check("^(?:a{4,5}(?=b|$)b?)*$", &["aaaab", "aaaaabaaaa"], &["aaa", "aaaaaa", "aaaabaaa"]);
    check(r"^(?:(?:\ba ?){3}-){0,9}$", &["a a a-", ""], &["a a-", "aaa-", "a a a a-"]);
}

#[test]
fn flags_are_exact() {
    let ignore_case = RegexOptions { ignore_case: true, ..NO_FLAGS };
    check_flags(r"^[^x]k\u017F$", ignore_case, &["yKS", "y\u{212A}s"], &["XKS"]);
    check_flags(r"^\W\w$", ignore_case, &["-\u{17F}"], &["\u{17F}a", "aa"]);
    check_flags("^É(?-i:É)$", ignore_case, &["éÉ"], &["éé"]);
    let dot_all = RegexOptions { dot_all: true, ..NO_FLAGS };
    check_flags("^.(?-s:.)$", dot_all, &["\na"], &["\n\n"]);
    let multiline = RegexOptions { multiline: true, ..NO_FLAGS };
    check_flags("^b$", multiline, &["a\nb\u{2028}c", "b"], &["ab", "bc"]);
    check("(?i:a(?-i:b))c", &["Abc"], &["ABc", "abC"]);
}

#[test]
fn groups_and_greed_change_nothing() {
    check("^(a)(?:b)(?<name>c)$", &["abc"], &["ab"]);
    check("^a*?b+?c??d{1,2}?$", &["abd", "aabbcdd"], &["ad", "abddd"]);
}

#[test]
fn expressions_stay_simple() {
    check_shape("", "Σ*");
    check_shape("abc", r#"Σ* "abc" Σ*"#);
    check_shape("^abc", r#""abc" Σ*"#);
    check_shape("^[a-z]+$", "[a-z]+");
    check_shape("^[a-z]+", "[a-z] Σ*");
    check_shape("^a|b$", "Σ* [b] | [a] Σ*");
    check_shape("^(?!ab)[a-z]{2,9}$", r#"(~("ab" Σ*)) & [a-z]{2,9}"#);
    check_shape("^((?!mode)[a-z])*$", r#"(~(Σ* "mode" Σ*)) & [a-z]*"#);
    check_shape("^[a-z-]+(?<!-)$", r"[\-a-z]* [a-z]");
    check_shape(r"^\w+\b$", "[0-9A-Z_a-z]+");
}

#[test]
fn a_grammar_matches_the_whole_text() {
    let rules = regex::grammar("a|b$", NO_FLAGS, Mode::FullMatch, &mut Budget::default())
        .expect("a good pattern");
    assert_eq!(rules.to_string(), "root ::= [a-b]\n");
}

#[test]
fn json_spelling_counts_characters_not_bytes() {
    let how = (Spelling::Json, Mode::FullMatch);
    let (exprs, id) = compile("^.{2}$", NO_FLAGS, how, Limits::default()).expect("a good pattern");
    for text in ["ab", r"\u0061b", r"\uD83D\uDE00é", r#"\"\/"#] {
        assert!(matches(&exprs, id, text.as_bytes()), "{text}");
    }
    for text in ["a", r"\n\n", r"\uD83Da", "\"\""] {
        assert!(!matches(&exprs, id, text.as_bytes()), "{text}");
    }
}

#[test]
fn what_is_not_regular_is_refused_by_name() {
    for (pattern, feature, at) in [
        (r"(a)\1", r"the back-reference `\1`", 3),
        (r"(?<n>a)\k<n>", r"the back-reference `\k`", 7),
        ("a(?>b)", "an atomic group `(?>…)`", 1),
        ("a++", "a possessive quantifier (`++`, `*+`, …)", 2),
        ("a(?i)b", "the inline flag `(?i)`", 1),
        ("(?(1)a)", "a conditional group `(?(…)…)`", 0),
    ] {
        let error = regex::parse(pattern, NO_FLAGS, &mut Budget::default())
            .map(|_| ())
            .expect_err("not regular");
        let kind = ErrorKind::Unsupported { feature: feature.to_owned() };
        assert_eq!((error.kind(), error.location()), (&kind, &Location::Offset(at)), "{pattern}");
    }
}

#[test]
fn wrong_patterns_are_errors_at_their_place() {
    check_error("ab)", "at byte 2: this `)` closes no group");
    check_error("a(b", "at byte 1: this group has no closing `)`");
    check_error("é[a", "at byte 2: this class has no closing `]`");
    check_error("[b-a]", "at byte 1: this range is out of order");
    check_error("a|*", "at byte 2: there is nothing to repeat here");
    check_error("{1}", "at byte 0: there is nothing to repeat here");
    check_error("a**", "at byte 2: a quantifier cannot follow a quantifier");
    check_error("a{2}{3}", "at byte 4: a quantifier cannot follow a quantifier: add a group");
    check_error("a{3,2}", "at byte 1: the counts of this repetition are out of order");
    check_error("^*", "at byte 1: this condition cannot be repeated");
    check_error(r"\b+", "at byte 2: this condition cannot be repeated");
    check_error(r"a\", "at byte 1: the pattern ends in a backslash");
    check_error(r"\Aa", r"at byte 0: `\A` is no escape of ECMA-262; write `^`");
    check_error(r"a\z", r"at byte 1: `\z` is no escape of ECMA-262; write `$`");
    check_error(r"\y", r"at byte 0: `\y` is no escape of ECMA-262");
    check_error(r"\u12", r"at byte 0: four hexadecimal digits have to follow `\u`");
    check_error(r"\u{110000}", r"at byte 0: `\u{…}` needs a code point, 0 to 10FFFF");
    check_error(r"\p{Nope}", "at byte 3: there is no Unicode property `Nope`");
    check_error(r"\pL", r"at byte 0: a property is written in braces, for example `\p{Letter}`");
    check_error("(?P<n>a)", "at byte 0: a named group is written `(?<name>…)`, without `P`");
}

#[test]
fn limits_are_named() {
    let limits = Limits::default();
    check_limit("a{2000000001}", limits, "repeat");
    check_limit("a{99999999999999999999999}", limits, "repeat");
    check_limit(&"(".repeat(300), limits, "nesting");
    check_limit("abcd", Limits { source_bytes: 3, ..limits }, "source_bytes");
    check_limit("abcd", Limits { expressions: 3, ..limits }, "expressions");
    check_limit("(?:(?=a.{9}b)a|c)*d", Limits { search: 50, ..limits }, "search");
    check_limit("(?<=a.{20})b", Limits { search: 1_000, ..limits }, "search");
}

#[test]
fn the_deepest_allowed_nesting_is_fine() {
    let nest = |open: &str, close: &str| format!("{}a{}", open.repeat(249), close.repeat(249));
    for pattern in
        [nest("(?:(?=a)", ")?"), nest("(?=", ")"), nest("(?:(?<!b)", ")*"), nest("(", ")")]
    {
        let how = (Spelling::Text, Mode::Search);
        let compiled = compile(&pattern, NO_FLAGS, how, Limits::default());
        let (exprs, id) = compiled.expect("within the limits");
        assert!(matches(&exprs, id, b"a"), "{pattern}");
    }
}

#[test]
fn long_patterns_take_linear_time() {
    let letters = "ab".repeat(50_000);
    let pattern = format!("^{letters}[^x]{{0,100000}}(?!{letters})$");
    let how = (Spelling::Text, Mode::Search);
    let (exprs, _) = compile(&pattern, NO_FLAGS, how, Limits::default()).expect("in time");
    assert!(exprs.len() < 100, "one literal, one count");
}
