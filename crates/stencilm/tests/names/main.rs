//! No member name comes twice in one object: masks against all sentences, written out.

#[path = "../support/masks.rs"]
mod masks;
mod spelled;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stencilm::frontend::json_schema::{Additional, JsonSchemaOptions, Whitespace};
use stencilm::{CompiledGrammar, Limits, Matcher};

use masks::{begins, bits, compile_with, limits, pieces, vocabulary, walk};

/// A schema and all texts of it.
struct Case {
    schema: &'static str,
    additional: Additional,
    sentences: BTreeSet<String>,
}

/// All objects of different names, each with one of its values, in any order.
fn objects(members: &[(&str, &[String])], least: usize, most: usize) -> Vec<String> {
    fn extend(
        members: &[(&str, &[String])],
        used: &mut Vec<usize>,
        text: &str,
        (least, most): (usize, usize),
        out: &mut Vec<String>,
    ) {
        if used.len() >= least {
            out.push(format!("{{{text}}}"));
        }
        if used.len() == most {
            return;
        }
        for (at, (name, values)) in members.iter().enumerate() {
            if used.contains(&at) {
                continue;
            }
            used.push(at);
            for value in *values {
                let comma = if text.is_empty() { "" } else { "," };
                let text = format!("{text}{comma}\"{name}\":{value}");
                extend(members, used, &text, (least, most), out);
            }
            used.pop();
        }
    }
    let mut out = Vec::new();
    extend(members, &mut Vec::new(), "", (least, most), &mut out);
    out
}

fn same_values<'a>(names: &[&'a str], values: &'a [String]) -> Vec<(&'a str, &'a [String])> {
    names.iter().map(|&name| (name, values)).collect()
}

fn cases() -> Vec<Case> {
    let one = [String::from("null")];
    let either = [String::from("null"), String::from("\"\"")];
    let words = ["", "a", "b", "aa", "ab", "ba", "bb"];
    let mut cases = Vec::new();
    let mut case = |schema, sentences: Vec<String>| {
        let sentences = sentences.into_iter().collect();
        cases.push(Case { schema, additional: Additional::Last, sentences });
    };
    case(
        r#"{"type":"object","propertyNames":{"pattern":"^[ab]{0,2}$"},
            "additionalProperties":{"const":null},"maxProperties":3}"#,
        objects(&same_values(&words, &one), 0, 3),
    );
    case(
        r#"{"type":"object","patternProperties":{"^(|a|ab)$":{"enum":[null,""]}},
            "additionalProperties":false}"#,
        objects(&same_values(&["", "a", "ab"], &either), 0, 9),
    );
    case(
        r#"{"type":"object","patternProperties":{"^(|aa|ab)$":{"const":null}},
            "additionalProperties":false,"minProperties":2}"#,
        objects(&same_values(&["", "aa", "ab"], &one), 2, 9),
    );
    case(
        r#"{"type":"object","patternProperties":{"^[ab]$":{"const":null},"^aa$":{"const":""}},
            "additionalProperties":false}"#,
        objects(&[("a", &one), ("b", &one), ("aa", &either[1..])], 0, 9),
    );
    let inner = objects(&same_values(&["a", "b"], &one), 0, 9);
    case(
        r#"{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":
            {"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"const":null}}}"#,
        objects(&same_values(&["a", "b"], &inner), 0, 9),
    );
    let mut arrays: Vec<String> = inner.iter().map(|item| format!("[{item}]")).collect();
    for first in &inner {
        arrays.extend(inner.iter().map(|second| format!("[{first},{second}]")));
    }
    case(
        r#"{"type":"array","minItems":1,"maxItems":2,"items":
            {"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"const":null}}}"#,
        arrays,
    );
    // Both branches have the names, of which each lists another.
    let mut both = objects(&same_values(&["b", "ab"], &one), 0, 9);
    both.extend(objects(&same_values(&["b", "ab"], &one), 0, 9).into_iter().map(|rest| {
        let comma = if rest == "{}" { "" } else { "," };
        format!("{{\"a\":null{comma}{}", &rest[1..])
    }));
    both.extend(objects(&same_values(&["a", "b"], &either[1..]), 0, 9));
    case(
        r#"{"anyOf":[
            {"type":"object","properties":{"a":{"const":null}},"required":[],
             "patternProperties":{"^a?b$":{"const":null}},"additionalProperties":false},
            {"type":"object","patternProperties":{"^[ab]$":{"const":""}},
             "additionalProperties":false}]}"#,
        both.into_iter()
            .filter(|text| {
                // A listed name comes where it is declared, others where there is room.
                !text.contains("\"a\":null") || text.starts_with("{\"a\":null")
            })
            .collect(),
    );
    // Others come between the listed ones; those that must come are kept for the end.
    let all = objects(&same_values(&["x", "y", "a", "b"], &one), 3, 9);
    let is_in_order = |text: &String| match (text.find('x'), text.find('y')) {
        (Some(x), Some(y)) => x < y,
        _ => true,
    };
    cases.push(Case {
        schema: r#"{"type":"object","properties":{"x":{"const":null},"y":{"const":null}},
            "patternProperties":{"^[ab]$":{"const":null}},"additionalProperties":false,
            "minProperties":3}"#,
        additional: Additional::AfterRequired,
        sentences: all.iter().filter(|text| is_in_order(text)).cloned().collect(),
    });
    let is_complete = |text: &&String| text.contains('x') && text.contains('y');
    cases.push(Case {
        schema: r#"{"type":"object","properties":{"x":{"const":null},"y":{"const":null}},
            "patternProperties":{"^[ab]$":{"const":null}},"additionalProperties":false,
            "required":["y","x"],"minProperties":3,"maxProperties":3}"#,
        additional: Additional::Anywhere,
        sentences: objects(&same_values(&["x", "y", "a", "b"], &one), 3, 3)
            .iter()
            .filter(|text| is_in_order(text))
            .filter(is_complete)
            .cloned()
            .collect(),
    });
    cases
}

fn compile(
    schema: &str,
    tokens: &[Vec<u8>],
    limits: Limits,
) -> Result<Arc<CompiledGrammar>, TestCaseError> {
    let options = options(Additional::Last);
    compile_with(schema, &options, tokens, limits)
}

fn options(additional: Additional) -> JsonSchemaOptions {
    JsonSchemaOptions {
        whitespace: Whitespace::Compact,
        additional,
        ..JsonSchemaOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn masks_are_those_of_all_sentences(
        which in 0_usize..9,
        cuts in proptest::collection::vec((0_usize..10_000, 0_usize..200, 1_usize..14), 0..60),
        choices in proptest::collection::vec(0_usize..1_000, 1..16),
        is_small in proptest::bool::ANY,
    ) {
        let case = &cases()[which];
        let tokens = vocabulary(&pieces(&case.sentences, &cuts));
        let options = options(case.additional);
        let compiled = compile_with(case.schema, &options, &tokens, limits(is_small))?;
        let is_live = |text: &[u8]| {
            std::str::from_utf8(text).is_ok_and(|text| begins(&case.sentences, text))
        };
        let is_sentence =
            |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| case.sentences.contains(text));
        walk(&tokens, &compiled, &is_live, &is_sentence, &choices)?;
    }

    /// Names without end: whatever was read, another one can come. In the second schema two
    /// branches remember names, one of them lists one.
    #[test]
    fn any_name_comes_once(
        cuts in proptest::collection::vec((0_usize..10, 0_usize..60, 1_usize..14), 0..60),
        choices in proptest::collection::vec(0_usize..1_000, 1..24),
        is_small in proptest::bool::ANY,
        has_branches in proptest::bool::ANY,
    ) {
        let texts = [
            r#"{"a":null,"b":null,"ab":null,"":null}"#, r#"{"":null,"a":null,"aa":null}"#,
            r#"{"b":null,"a":null,"\"":null,"a\"":null}"#, r#"{"\\":null,"\\\\":null,"a\"a":null}"#,
            r#"{"ab":null,"a":null,"b":null}"#, r#"{"a":null,"a":null,"b":null,"a"}"#,
            r#"{"b":null,"b":null,"":null,"":null}"#, r#"{"\n":null,"a\n":null}"#,
            r#"{"a":"","b":"","":"","b":""}"#, r#"{"a":"","":"","":"","a":""}"#,
        ];
        let pieces: Vec<String> = cuts.iter().map(|&(which, start, length)| {
            let start = start % texts[which].len();
            texts[which][start..texts[which].len().min(start + length)].to_owned()
        }).collect();
        let tokens = vocabulary(&pieces);
        let schema = if has_branches { BRANCHES } else { OPEN };
        let compiled = compile(schema, &tokens, limits(is_small))?;
        let is_sentence = |text: &[u8]| matches!(read(text, has_branches), Read::Whole);
        let is_live = |text: &[u8]| !matches!(read(text, has_branches), Read::Wrong);
        walk(&tokens, &compiled, &is_live, &is_sentence, &choices)?;
    }

    /// Any JSON, with white space: a token is allowed exactly if it is accepted, and what is
    /// accepted has no name twice.
    #[test]
    fn what_a_mask_allows_is_accepted(
        pieces in proptest::collection::vec(
            r#"[{}\[\],: ]{0,2}("[ab]?"){0,1}[{}\[\],: ]{0,2}("[ab]?"){0,1}[{}\[\],: 1]{0,2}("[ab]?)?"#,
            0..60,
        ),
        choices in proptest::collection::vec(0_usize..1_000, 1..40),
    ) {
        let tokens = vocabulary(&pieces);
        let options = JsonSchemaOptions::default();
        let compiled = compile_with("true", &options, &tokens, Limits::default())?;
        let mut matcher = Matcher::new(compiled);
        let mut text = Vec::new();
        for choice in choices {
            let mask = bits(&mut matcher, tokens.len())?;
            let mut open = Vec::new();
            for (place, token) in tokens.iter().enumerate() {
                let id = u32::try_from(place).expect("few tokens");
                let is_one = matcher.validate(&[id]).expect("no limit") == 1;
                prop_assert_eq!(
                    is_one,
                    mask[place],
                    "{:?} {:?}",
                    String::from_utf8_lossy(&text),
                    String::from_utf8_lossy(token)
                );
                if is_one && (id > 255 || b"{}[],:\"ab1".contains(&token[0])) {
                    open.push(id);
                }
            }
            let long: Vec<u32> = open.iter().copied().filter(|&id| id > 255).collect();
            let from = if choice % 4 > 0 && !long.is_empty() { &long } else { &open };
            if from.is_empty() {
                break;
            }
            let token = from[choice % from.len()];
            prop_assert!(matcher.accept(token).expect("no limit"));
            text.extend_from_slice(&tokens[token as usize]);
            prop_assert!(!has_repeated_name(&text), "{:?}", String::from_utf8_lossy(&text));
        }
    }
}

const OPEN: &str = r#"{"type":"object","additionalProperties":{"const":null}}"#;

const BRANCHES: &str = r#"{"anyOf":[{"type":"object","additionalProperties":{"const":null}},
    {"type":"object","properties":{"a":{"const":""}},"additionalProperties":{"const":""}}]}"#;

/// Whether a name comes twice in one object of the beginning of a text without escapes.
fn has_repeated_name(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut open: Vec<BTreeSet<&str>> = Vec::new();
    let mut parts = text.split('"').enumerate().peekable();
    while let Some((at, part)) = parts.next() {
        if at % 2 == 0 {
            for c in part.chars() {
                match c {
                    '{' | '[' => open.push(BTreeSet::new()),
                    '}' | ']' => drop(open.pop()),
                    _ => {}
                }
            }
        } else if parts.peek().is_some_and(|(_, next)| next.trim_start().starts_with(':'))
            && !open.last_mut().is_none_or(|names| names.insert(part))
        {
            return true;
        }
    }
    false
}

/// A matcher with a schema after a text, and no other tokens than bytes.
fn after(schema: &str, text: &str) -> Matcher {
    let compiled = compile(schema, &vocabulary(&[]), Limits::default()).expect("it compiles");
    let mut matcher = Matcher::new(compiled);
    assert!(matcher.accept_bytes(text.as_bytes()).expect("no limit"), "{text}");
    matcher
}

#[test]
fn only_what_is_left_is_forced() {
    let schema = r#"{"type":"object","propertyNames":{"enum":["ab","ac"]},
        "additionalProperties":{"const":null},"minProperties":2}"#;
    let mut matcher = after(schema, r#"{"ab":null"#);
    assert_eq!(matcher.forced_bytes(100).expect("no limit"), br#","ac":null}"#);
    let error = compile(&schema.replace(":2", ":3"), &vocabulary(&[]), Limits::default());
    let error = error.expect_err("there are two names").to_string();
    assert!(error.contains("no output can satisfy"), "{error}");
}

#[test]
fn listed_names_that_must_come_are_kept_where_others_run_out() {
    let schema = r#"{"type":"object","properties":{"x":{"const":null},"y":{"const":null}},
        "patternProperties":{"^[ab]$":{"const":null}},"additionalProperties":false,
        "minProperties":4}"#;
    let mut matcher = after(schema, r#"{""#);
    assert_eq!(matcher.next_bytes().expect("no limit"), b"x");
    let mut matcher = after(schema, r#"{"x":null,"y":null,"b":null"#);
    assert_eq!(matcher.forced_bytes(100).expect("no limit"), br#","a":null}"#);
}

#[test]
fn rows_of_a_draft_know_the_names_of_the_draft() {
    let pieces = [r#"{"a":"#, r#"null,"a":"#, r#"null,"b":"#].map(String::from);
    let tokens = vocabulary(&pieces);
    let id = |text: &str| {
        let place = tokens.iter().position(|token| token == text.as_bytes());
        u32::try_from(place.expect("a token")).expect("few tokens")
    };
    let compiled = compile(OPEN, &tokens, Limits::default()).expect("it compiles");
    let mut matcher = Matcher::new(compiled);
    let draft = [id(r#"{"a":"#), id(r#"null,"b":"#), id(r#"null,"a":"#)];
    let mut rows = vec![vec![0_u32; tokens.len() / 32 + 1]; 4];
    assert_eq!(matcher.fill_draft(&draft, &mut rows).expect("no limit"), 2);
    let has = |row: usize, id: u32| rows[row][id as usize / 32] >> (id % 32) & 1 == 1;
    assert!(!has(1, id(r#"null,"a":"#)) && has(1, id(r#"null,"b":"#)));
    assert!(!has(2, id(r#"null,"a":"#)) && !has(2, id(r#"null,"b":"#)));
    assert!(rows[3].iter().all(|&word| word == 0));
}

#[test]
fn many_names_leave_the_tables_as_they_are() {
    let mut matcher = after(OPEN, r#"{"x":null"#);
    let compiled = matcher.compiled().clone();
    let mut sizes = Vec::new();
    for count in 0..100_000 {
        let member = format!(",\"{count}\":null");
        assert!(matcher.accept_bytes(member.as_bytes()).expect("no limit"));
        if count % 10_000 == 9_999 {
            assert!(!matcher.is_allowed(0).expect("no limit"));
            assert!(!matcher.fork().accept_bytes(br#","777":"#).expect("no limit"));
            sizes.push(compiled.size_in_bytes());
        }
    }
    assert_eq!(sizes.first(), sizes.last());
    assert_eq!(compiled.generations(), 1);
}

#[test]
fn names_that_came_are_not_looked_at_one_by_one() {
    // The beginnings of the names are tokens, with and without a quote.
    let pieces: Vec<String> = (0..2_000).flat_map(|n| [format!("{n}"), format!("{n}\"")]).collect();
    let tokens = vocabulary(&pieces);
    let compiled = compile(OPEN, &tokens, Limits::default()).expect("it compiles");
    let after = |count: usize| {
        let mut matcher = Matcher::new(compiled.clone());
        assert!(matcher.accept_bytes(br#"{"x":null"#).expect("no limit"));
        for name in 0..count {
            let member = format!(",\"{}\":null", 100_000 + name * 7_919 % 900_000);
            assert!(matcher.accept_bytes(member.as_bytes()).expect("no limit"));
        }
        assert!(matcher.accept_bytes(br#",""#).expect("no limit"));
        matcher
    };
    let (few, many) = (after(15_000), after(300_000));
    let mut row = vec![0_u32; tokens.len() / 32 + 1];
    let mut time = |matcher: &Matcher| {
        let mut fork = matcher.fork();
        let began = std::time::Instant::now();
        fork.fill_mask(&mut row).expect("no limit");
        began.elapsed()
    };
    // In turn, and the shortest: a busy machine slows down both.
    let times: Vec<_> = (0..30).map(|_| (time(&few), time(&many))).collect();
    let few = times.iter().map(|pair| pair.0).min().expect("some runs");
    let many = times.iter().map(|pair| pair.1).min().expect("some runs");
    // The tokens that names have in common with them are all there after the first 15,000.
    println!("{few:?} and {many:?}");
    assert!(many < few * 10, "{few:?} and {many:?}, with 20 times as many names");
}

enum Read {
    Whole,
    Beginning,
    Wrong,
}

/// An object of different names in their shortest spelling and the value `null`, read by hand; with
/// branches, or all values are empty strings and the name `a` comes only first.
fn read(text: &[u8], has_branches: bool) -> Read {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut left = text;
    let mut kind: &[u8] = b"";
    // Takes one byte of those given.
    macro_rules! take {
        ($($byte:literal)|+) => {
            match left {
                [] => return Read::Beginning,
                [byte, rest @ ..] if matches!(byte, $($byte)|+) => { left = rest; *byte }
                _ => return Read::Wrong,
            }
        };
    }
    take!(b'{');
    if take!(b'"' | b'}') == b'}' {
        return if left.is_empty() { Read::Whole } else { Read::Wrong };
    }
    loop {
        let start = left;
        loop {
            match left {
                [b'"', ..] => break,
                [b'\\', b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => left = rest,
                [b'\\']
                | [b'\\', b'u']
                | [b'\\', b'u', b'0']
                | [b'\\', b'u', b'0', b'0']
                | [b'\\', b'u', b'0', b'0', b'0' | b'1']
                | [] => return Read::Beginning,
                [b'\\', b'u', b'0', b'0', high @ (b'0' | b'1'), low, rest @ ..] => {
                    let value =
                        u32::from_str_radix(std::str::from_utf8(&[*high, *low]).unwrap_or("x"), 16);
                    let is_short = matches!(value, Ok(8 | 9 | 10 | 12 | 13) | Err(_));
                    if is_short || low.is_ascii_uppercase() {
                        return Read::Wrong;
                    }
                    left = rest;
                }
                [0x20..0x80, rest @ ..] if left[0] != b'\\' => left = rest,
                [0x80..=0xFF, ..] => match std::str::from_utf8(left) {
                    Ok(_) => left = &left[left[0].leading_ones() as usize..],
                    Err(error) if error.valid_up_to() > 0 => {
                        left = &left[left[0].leading_ones() as usize..];
                    }
                    Err(error) if error.error_len().is_none() => return Read::Beginning,
                    Err(_) => return Read::Wrong,
                },
                _ => return Read::Wrong,
            }
        }
        let name = &start[..start.len() - left.len()];
        if names.contains(&name) || (name == b"a" && kind == b"\"\"") {
            return Read::Wrong;
        }
        names.push(name);
        take!(b'"');
        take!(b':');
        let value: &[u8] = match (names.len(), left.first()) {
            (1, Some(b'"')) if has_branches => b"\"\"",
            (1, _) => b"null",
            _ => kind,
        };
        kind = value;
        for &byte in value {
            match left {
                [] => return Read::Beginning,
                [first, rest @ ..] if *first == byte => left = rest,
                _ => return Read::Wrong,
            }
        }
        if take!(b',' | b'}') == b'}' {
            return if left.is_empty() { Read::Whole } else { Read::Wrong };
        }
        take!(b'"');
    }
}
