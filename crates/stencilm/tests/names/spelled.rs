//! Names and listed strings in every spelling that an option allows: masks against a reader by hand.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stencilm::Limits;
use stencilm::frontend::json_schema::{Escapes, JsonSchemaOptions, KeyOrder, Whitespace};

use crate::{compile_with, limits, vocabulary, walk};

/// An object whose members may come in any order.
struct Object {
    schema: &'static str,
    /// The names that are listed, and those of a pattern, each with the strings it may have.
    members: &'static [(&'static str, &'static [&'static str])],
    required: &'static [&'static str],
    least: usize,
    most: usize,
    /// Every other name may come, with an empty string.
    is_open: bool,
}

const OBJECTS: [Object; 6] = [
    Object {
        schema: r#"{"type":"object","properties":{"a":{"const":""},"é":{"enum":["","/"]},
            "😀b":{"const":""}},"required":["a"],"additionalProperties":false}"#,
        members: &[("a", &[""]), ("é", &["", "/"]), ("😀b", &[""])],
        required: &["a"],
        least: 0,
        most: 9,
        is_open: false,
    },
    Object {
        schema: r#"{"type":"object","properties":{"a":{"const":"é"},"a\nb":{"const":"\""},"\\":false},
            "additionalProperties":{"const":""}}"#,
        members: &[("a", &["é"]), ("a\nb", &["\""]), ("\\", &[])],
        required: &[],
        least: 0,
        most: 9_999,
        is_open: true,
    },
    Object {
        schema: r#"{"type":"object","patternProperties":{"^(|a|aé|é)$":{"const":""}},
            "additionalProperties":false,"minProperties":2}"#,
        members: &[("", &[""]), ("a", &[""]), ("aé", &[""]), ("é", &[""])],
        required: &[],
        least: 2,
        most: 9,
        is_open: false,
    },
    Object {
        schema: r#"{"type":"object","propertyNames":{"pattern":"^[ab]{0,2}$"},
            "properties":{"aa":{"const":"a"}},"additionalProperties":{"const":""},
            "maxProperties":3,"required":["aa"]}"#,
        members: &[
            ("", &[""]),
            ("a", &[""]),
            ("b", &[""]),
            ("aa", &["a"]),
            ("ab", &[""]),
            ("ba", &[""]),
            ("bb", &[""]),
        ],
        required: &["aa"],
        least: 0,
        most: 3,
        is_open: false,
    },
    Object {
        schema: r#"{"type":"object","propertyNames":{"pattern":"^[😀-😂\u0000]$"},
            "additionalProperties":{"const":""},"minProperties":3}"#,
        members: &[("😀", &[""]), ("😁", &[""]), ("😂", &[""]), ("\0", &[""])],
        required: &[],
        least: 3,
        most: 9,
        is_open: false,
    },
    Object {
        schema: r#"{"type":"object","additionalProperties":{"const":""},"properties":{}}"#,
        members: &[],
        required: &[],
        least: 0,
        most: 9_999,
        is_open: true,
    },
];

/// Each text, some of them wrong, to cut tokens from.
const TEXTS: [&str; 12] = [
    r#"{"a":"","\u0061":"","\u00e9":"/"}"#,
    r#"{"\u0061":"","é":"\/","\uD83D\uDE00b":""}"#,
    r#"{"a":"\u00E9","a\nb":"\"","\u0061\u000ab":"","\\":""}"#,
    r#"{"a\u000a\u0062":"\u0022","\u005c":"","\u005C\\":""}"#,
    r#"{"":"","a":"","a\u00e9":"","\u00e9":"","é":""}"#,
    r#"{"aa":"a","\u0062b":"","b\u0062":"","\u0061a":"a"}"#,
    r#"{"\ud83d\ude00":"","😁":"","\u0000":"","\uD83D\uDE02":""}"#,
    r#"{"\uD83D\uDE01":"","\uDE01":"","\uD83D\u0061":"","\uD83Da":""}"#,
    r#"{"x":"","\u0078":"","\/":"","/":""}"#,
    r#"{"b":"","\u0062":"","b\u0062":"","bb":""}"#,
    r#"","\u0061":"","a":"","\u00"#,
    r#"\u0061","a":"","#,
];

/// All ways to spell a character in listed strings.
fn ways(c: char, escapes: Escapes) -> Vec<String> {
    let short = match c {
        '"' | '\\' | '/' => Some(c),
        '\u{8}' => Some('b'),
        '\u{C}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    let short = short.map(|letter| format!("\\{letter}"));
    let mut units = [0; 2];
    let mut long = String::new();
    for unit in c.encode_utf16(&mut units) {
        let _ = write!(long, "\\u{unit:04x}");
    }
    let is_raw = c >= ' ' && c != '"' && c != '\\';
    match escapes {
        Escapes::Any => {
            let raw = is_raw.then(|| c.to_string());
            [raw, short, Some(long)].into_iter().flatten().collect()
        }
        Escapes::Plain | Escapes::Ascii => {
            let is_raw = is_raw && (escapes == Escapes::Plain || c < '\u{7f}');
            vec![if is_raw { c.to_string() } else { short.filter(|_| c != '/').unwrap_or(long) }]
        }
    }
}

/// Whether `text` begins with `way`, or the other way round; hexadecimal digits of either case if
/// there is a choice.
fn meets(text: &[u8], way: &str, escapes: Escapes) -> bool {
    let pairs = text.iter().zip(way.as_bytes()).enumerate();
    let is_digit = |at: usize| way.starts_with("\\u") && at % 6 > 1;
    pairs.into_iter().all(|(at, (a, b))| {
        a == b || (escapes == Escapes::Any && is_digit(at) && a.eq_ignore_ascii_case(b))
    })
}

/// Whether some spelling of `string` begins with `text`.
fn begins(text: &[u8], string: &str, escapes: Escapes) -> bool {
    if text.is_empty() {
        return true;
    }
    let mut rest = string.chars();
    let Some(c) = rest.next() else { return false };
    ways(c, escapes).iter().any(|way| {
        meets(text, way, escapes)
            && (text.len() <= way.len() || begins(&text[way.len()..], rest.as_str(), escapes))
    })
}

/// Whether `text` spells `string`.
fn spells(text: &[u8], string: &str, escapes: Escapes) -> bool {
    let mut rest = string.chars();
    let Some(c) = rest.next() else { return text.is_empty() };
    ways(c, escapes).iter().any(|way| {
        text.len() >= way.len()
            && meets(text, way, escapes)
            && spells(&text[way.len()..], rest.as_str(), escapes)
    })
}

#[derive(PartialEq, Eq)]
enum Read {
    Whole,
    Beginning,
    Wrong,
}

/// A string up to its closing quote: what was read of it, and what follows the quote if it came.
fn string(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => return (&text[..at], Some(&text[at + 1..])),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (text, None)
}

/// What a JSON string says, by a library; with `end` behind it.
fn decoded(inside: &[u8], end: &str) -> Option<String> {
    let text = format!("\"{}{end}\"", std::str::from_utf8(inside).ok()?);
    serde_json::from_str(&text).ok()
}

/// Whether this can go on to a JSON string in whatever spelling.
fn is_beginning(inside: &[u8]) -> bool {
    let mut ends = vec![
        "", "\\", "u0061", "0061", "061", "61", "1", "\\ude00", "ude00", "de00", "e00", "00", "0",
    ];
    ends.extend(["c00", "dc00", "00\\ude00", "0\\ude00"]);
    // What is missing of a character in UTF-8.
    let raw = match std::str::from_utf8(inside) {
        Ok(_) => inside,
        Err(error) if error.error_len().is_none() => &inside[..error.valid_up_to()],
        Err(_) => return false,
    };
    if raw.len() < inside.len() {
        return decoded(raw, "").is_some();
    }
    ends.iter().any(|end| decoded(raw, end).is_some())
}

/// Reads a text of the object, as far as it goes.
fn read(text: &[u8], object: &Object, escapes: Escapes) -> Read {
    let mut came: BTreeSet<String> = BTreeSet::new();
    let listed = |came: &BTreeSet<String>| {
        object
            .members
            .iter()
            .filter(|(name, values)| !values.is_empty() && !came.contains(*name))
            .count()
    };
    // Whether the object can be completed when these names came.
    let can_end = |came: &BTreeSet<String>| {
        let missing = object.required.iter().filter(|name| !came.contains(**name)).count();
        let room = if object.is_open { usize::MAX } else { came.len() + listed(came) };
        came.len() + missing <= object.most && room >= object.least
    };
    let is_done = |came: &BTreeSet<String>| {
        came.len() >= object.least && object.required.iter().all(|name| came.contains(*name))
    };
    let may_come = |came: &BTreeSet<String>, name: &str| {
        let with: BTreeSet<String> = came.iter().cloned().chain([name.to_owned()]).collect();
        with.len() > came.len() && can_end(&with)
    };
    let Some((b'{', mut left)) = text.split_first() else {
        return if text.is_empty() { Read::Beginning } else { Read::Wrong };
    };
    loop {
        match left {
            [] => return Read::Beginning,
            [b'}'] if is_done(&came) => return Read::Whole,
            [b',', rest @ ..] if !came.is_empty() => {
                left = rest;
                // After a comma a name must be left.
                let is_left = object.is_open && came.len() < object.most
                    || object
                        .members
                        .iter()
                        .any(|(name, values)| !values.is_empty() && may_come(&came, name));
                if !is_left {
                    return Read::Wrong;
                }
                if left.is_empty() {
                    return Read::Beginning;
                }
            }
            _ if came.is_empty() => {}
            _ => return Read::Wrong,
        }
        let [b'"', rest @ ..] = left else { return Read::Wrong };
        let (name, after) = string(rest);
        let open = object.is_open && came.len() < object.most;
        let Some(after) = after else {
            let is_listed = object.members.iter().any(|(listed, values)| {
                !values.is_empty() && may_come(&came, listed) && begins(name, listed, escapes)
            });
            let is_live = is_listed || (open && is_beginning(name));
            return if is_live { Read::Beginning } else { Read::Wrong };
        };
        let member = object.members.iter().find(|(listed, _)| spells(name, listed, escapes));
        let (name, values) = match (member, decoded(name, "")) {
            (Some((name, values)), _) => ((*name).to_owned(), *values),
            (None, Some(other)) if open => (other, &[""][..]),
            _ => return Read::Wrong,
        };
        if values.is_empty() || !may_come(&came, &name) {
            return Read::Wrong;
        }
        came.insert(name);
        left = after;
        for byte in [b':', b'"'] {
            match left {
                [] => return Read::Beginning,
                [first, rest @ ..] if *first == byte => left = rest,
                _ => return Read::Wrong,
            }
        }
        let (value, after) = string(left);
        let Some(after) = after else {
            let is_live = values.iter().any(|it| begins(value, it, escapes));
            return if is_live { Read::Beginning } else { Read::Wrong };
        };
        if !values.iter().any(|it| spells(value, it, escapes)) {
            return Read::Wrong;
        }
        left = after;
    }
}

fn check(
    object: &Object,
    escapes: Escapes,
    pieces: &[String],
    choices: &[usize],
    limits: Limits,
) -> Result<(), TestCaseError> {
    let options = JsonSchemaOptions {
        whitespace: Whitespace::Compact,
        key_order: KeyOrder::Any,
        escapes,
        ..JsonSchemaOptions::default()
    };
    let tokens = vocabulary(pieces);
    let compiled = compile_with(object.schema, &options, &tokens, limits)?;
    let is_live = |text: &[u8]| read(text, object, escapes) != Read::Wrong;
    let is_sentence = |text: &[u8]| read(text, object, escapes) == Read::Whole;
    walk(&tokens, &compiled, &is_live, &is_sentence, choices)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn masks_are_those_of_a_reader(
        which in 0_usize..OBJECTS.len(),
        escapes in prop_oneof![
            3 => Just(Escapes::Any),
            1 => Just(Escapes::Plain),
            1 => Just(Escapes::Ascii),
        ],
        cuts in proptest::collection::vec((0_usize..TEXTS.len(), 0_usize..60, 1_usize..20), 0..80),
        choices in proptest::collection::vec(0_usize..1_000, 1..24),
        is_small in proptest::bool::ANY,
    ) {
        let object = &OBJECTS[which];
        // The reader knows of other names in every spelling only.
        let escapes = if object.is_open { Escapes::Any } else { escapes };
        let pieces: Vec<String> = cuts.iter().filter_map(|&(which, start, length)| {
            let start = start % TEXTS[which].len();
            TEXTS[which].get(start..TEXTS[which].len().min(start + length)).map(str::to_owned)
        }).collect();
        check(object, escapes, &pieces, &choices, limits(is_small))?;
    }
}

/// Whole texts, and where they are refused.
#[test]
fn an_escaped_name_is_that_name() {
    let object = &OBJECTS[0];
    let read = |text: &str| read(text.as_bytes(), object, Escapes::Any);
    assert!(read(TEXTS[1]) == Read::Whole);
    assert!(read(r#"{"a":"","\u0061""#) == Read::Wrong);
    assert!(read(r#"{"\uD83D\u"#) == Read::Beginning);
    for at in 0..40 {
        let pieces: Vec<String> =
            TEXTS.iter().filter_map(|text| text.get(at..at + 7)).map(str::to_owned).collect();
        for object in &OBJECTS {
            check(object, Escapes::Any, &pieces, &[4; 12], Limits::default()).expect("as read");
        }
    }
}
