//! No value comes twice in an array of different items, and one does where items must not all differ:
//! masks against all sentences, written out.

#[path = "support/masks.rs"]
mod masks;

use std::collections::BTreeSet;

use proptest::prelude::*;
use stencilm::frontend::json_schema::{JsonSchemaOptions, KeyOrder, Numbers, Whitespace};
use stencilm::{Limits, Matcher};

use masks::{begins, bits, compile_with, limits, pieces, vocabulary, walk};

/// A schema and all texts of it, each value in one spelling.
struct Case {
    schema: &'static str,
    sentences: BTreeSet<String>,
}

fn compact() -> JsonSchemaOptions {
    JsonSchemaOptions { whitespace: Whitespace::Compact, ..JsonSchemaOptions::default() }
}

fn is_different(items: &[&str]) -> bool {
    (1..items.len()).all(|at| !items[..at].contains(&items[at]))
}

/// All arrays of `least` to `most` items, of those at each place (the last for all later ones), that
/// are different and fulfil a condition.
fn arrays(
    places: &[&[&str]],
    lens: (usize, usize),
    is_one: &dyn Fn(&[&str]) -> bool,
) -> Vec<String> {
    all_arrays(places, lens, &|items| is_different(items) && is_one(items))
}

/// The same, different or not.
fn all_arrays(
    places: &[&[&str]],
    (least, most): (usize, usize),
    is_one: &dyn Fn(&[&str]) -> bool,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut todo: Vec<Vec<&str>> = vec![Vec::new()];
    while let Some(items) = todo.pop() {
        if items.len() >= least && is_one(&items) {
            out.push(format!("[{}]", items.join(",")));
        }
        if items.len() == most {
            continue;
        }
        let place = places[items.len().min(places.len() - 1)];
        for item in place {
            todo.push(items.iter().chain([item]).copied().collect());
        }
    }
    out
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |schema, sentences: Vec<String>| {
        let sentences = sentences.into_iter().collect();
        cases.push(Case { schema, sentences });
    };
    let any = |_: &[&str]| true;
    case(
        r#"{"type":"array","items":{"enum":["","a","b","ab"]},"uniqueItems":true}"#,
        arrays(&[&[r#""""#, r#""a""#, r#""b""#, r#""ab""#]], (0, 4), &any),
    );
    case(
        r#"{"type":"array","items":{"enum":["a",true,null,"b",false]},"uniqueItems":true,
            "minItems":2,"maxItems":4}"#,
        arrays(&[&[r#""a""#, "true", "null", r#""b""#, "false"]], (2, 4), &any),
    );
    case(
        r#"{"type":"array","items":{"type":"integer","minimum":1,"maximum":13},
            "uniqueItems":true,"maxItems":3}"#,
        arrays(
            &[&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"]],
            (0, 3),
            &any,
        ),
    );
    let objects: &[&str] = &[
        "{}",
        r#"{"a":true}"#,
        r#"{"a":false}"#,
        r#"{"b":1}"#,
        r#"{"a":true,"b":1}"#,
        r#"{"a":false,"b":1}"#,
    ];
    case(
        r#"{"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"},
            "b":{"type":"integer","const":1}},"additionalProperties":false},"uniqueItems":true}"#,
        arrays(&[objects], (0, 6), &any),
    );
    let inner = arrays(&[&["true", "false"]], (0, 2), &any);
    let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
    case(
        r#"{"type":"array","items":{"type":"array","items":{"type":"boolean"},
            "uniqueItems":true},"uniqueItems":true,"minItems":1,"maxItems":4}"#,
        arrays(&[&inner], (1, 4), &any),
    );
    case(
        r#"{"type":"array","prefixItems":[{"type":["integer","string"],"enum":[1,2,"a"]},{"enum":["a",true]}],
            "items":{"type":"integer","enum":[2,1]},"uniqueItems":true,"minItems":3}"#,
        arrays(&[&["1", "2", r#""a""#], &[r#""a""#, "true"], &["2", "1"]], (3, 5), &any),
    );
    let numbers = ["1", "2", "3", r#""x""#];
    case(
        r#"{"type":"array","items":{"type":["integer","string"],"enum":[1,2,3,"x"]},"contains":{"enum":[2,"x"]},
            "maxContains":1,"uniqueItems":true}"#,
        arrays(&[&numbers], (0, 4), &|items| {
            items.iter().filter(|item| **item == "2" || **item == r#""x""#).count() == 1
        }),
    );
    let members = arrays(&[&[r#""a""#, r#""b""#]], (0, 3), &any);
    case(
        r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/words"},
            "y":{"$ref":"#/$defs/words"}},"required":["x"],"additionalProperties":false,
            "$defs":{"words":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true}}}"##,
        members
            .iter()
            .flat_map(|x| {
                let both = members.iter().map(move |y| format!(r#"{{"x":{x},"y":{y}}}"#));
                both.chain([format!(r#"{{"x":{x}}}"#)])
            })
            .collect(),
    );
    // Not unique, but not one of these.
    case(
        r#"{"type":"array","items":{"type":"integer","enum":[1,2]},"maxItems":2,
            "not":{"enum":[[],[1],[2,1],[2,2]]}}"#,
        ["[2]", "[1,1]", "[1,2]"].map(String::from).into(),
    );
    let words = arrays(&[&[r#""a""#, r#""b""#]], (0, 3), &any);
    let either = arrays(&[&["1", r#""a""#, "{}"]], (0, 3), &any);
    case(
        r#"{"anyOf":[{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true},
            {"type":"array","items":{"type":["integer","string","object"],"enum":["a",1,{}]},"uniqueItems":true}]}"#,
        words.into_iter().chain(either).collect(),
    );
    // Endless values, of which few come.
    case(
        r#"{"type":"array","prefixItems":[{"type":"array","items":{"type":"integer","const":1}},{"items":{"type":"integer"},"const":[1]},
            {"items":{"type":"integer"},"enum":[[],[1,1]]}],"minItems":3,"maxItems":3,"uniqueItems":true,
            "contains":{"enum":[[],[1,1]]},"not":{"prefixItems":[{"minItems":4}]}}"#,
        arrays(&[&["[]", "[1]", "[1,1]", "[1,1,1]"], &["[1]"], &["[]", "[1,1]"]], (3, 3), &any),
    );
    cases.extend(cases_of_equal_items());
    cases
}

/// Of arrays whose items must not all differ.
fn cases_of_equal_items() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |schema, sentences: Vec<String>| {
        let sentences = sentences.into_iter().collect();
        cases.push(Case { schema, sentences });
    };
    let alike = |items: &[&str]| !is_different(items);
    case(
        r#"{"type":"array","items":{"type":["integer","string","array"],"enum":[1,"ab","a",[1]]},
            "maxItems":3,"not":{"uniqueItems":true}}"#,
        all_arrays(&[&["1", r#""ab""#, r#""a""#, "[1]"]], (2, 3), &alike),
    );
    // The first 2 never comes again; what comes last must be there already, or come now.
    case(
        r#"{"type":"array","prefixItems":[{"type":"integer","enum":[1,2]},
            {"type":["integer","string"],"enum":["a",1]},{"type":["integer","string"],"enum":["a",3]}],
            "items":{"type":"integer","const":3},"maxItems":4,"not":{"uniqueItems":true}}"#,
        all_arrays(&[&["1", "2"], &[r#""a""#, "1"], &[r#""a""#, "3"], &["3"]], (2, 4), &alike),
    );
    case(
        r#"{"type":"array","items":{"enum":["a","ab",{}]},"maxItems":3,
            "oneOf":[{"uniqueItems":true,"minItems":1},{"minItems":3}]}"#,
        all_arrays(&[&[r#""a""#, r#""ab""#, "{}"]], (1, 3), &|items| {
            (items.len() == 3) != is_different(items)
        }),
    );
    cases
}

/// The text with `1` for `1.0`, and whether it ends in such a fraction. `None` for what is none of
/// these texts.
fn without_zeros(text: &[u8]) -> Option<(String, bool)> {
    let mut plain = String::new();
    let mut zeros = None;
    for c in std::str::from_utf8(text).ok()?.chars() {
        match (c, zeros) {
            ('.', None) if plain.ends_with(|c: char| c.is_ascii_digit()) => zeros = Some(0),
            ('0', Some(count)) => zeros = Some(count + 1),
            (',' | ']' | '}', Some(count)) if count > 0 => {
                zeros = None;
                plain.push(c);
            }
            (_, Some(_)) => return None,
            (c, None) => plain.push(c),
        }
    }
    Some((plain, zeros.is_some()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn masks_are_those_of_all_sentences(
        which in 0_usize..14,
        cuts in proptest::collection::vec((0_usize..10_000, 0_usize..200, 1_usize..14), 0..60),
        choices in proptest::collection::vec(0_usize..1_000, 1..16),
        is_small in proptest::bool::ANY,
    ) {
        let case = &cases()[which];
        let tokens = vocabulary(&pieces(&case.sentences, &cuts));
        let compiled = compile_with(case.schema, &compact(), &tokens, limits(is_small))?;
        let begins = |text: &str| begins(&case.sentences, text);
        let is_live = |text: &[u8]| match without_zeros(text) {
            Some((text, false)) => begins(&text),
            Some((text, true)) => [",", "]", "}"].iter().any(|end| begins(&(text.clone() + end))),
            None => false,
        };
        let is_sentence = |text: &[u8]| {
            without_zeros(text).is_some_and(|(text, is_open)| !is_open && case.sentences.contains(&text))
        };
        walk(&tokens, &compiled, &is_live, &is_sentence, &choices)?;
    }

    /// Any values, with white space: a token is allowed exactly if it is accepted.
    #[test]
    fn what_a_mask_allows_is_accepted(
        pieces in proptest::collection::vec(
            r#"([\[\]{},: 1]|1\.0|"a":|"a"|true){1,6}"#,
            0..60,
        ),
        choices in proptest::collection::vec(0_usize..1_000, 1..40),
        (is_small, is_unique) in (proptest::bool::ANY, proptest::bool::ANY),
    ) {
        let schema = if is_unique {
            r#"{"type":"array","uniqueItems":true,"items":{"anyOf":[true,{"uniqueItems":true}]}}"#
        } else {
            r#"{"type":"array","not":{"uniqueItems":true},"maxItems":4,
                "items":{"anyOf":[true,{"not":{"uniqueItems":true}}]}}"#
        };
        let tokens = vocabulary(&pieces);
        let options = JsonSchemaOptions {
            key_order: KeyOrder::Any, numbers: Numbers::Any, ..JsonSchemaOptions::default()
        };
        let compiled = compile_with(schema, &options, &tokens, limits(is_small))?;
        let mut matcher = Matcher::new(compiled);
        for choice in choices {
            let mask = bits(&mut matcher, tokens.len())?;
            let mut open = Vec::new();
            for (place, &is_set) in mask[..tokens.len()].iter().enumerate() {
                let id = u32::try_from(place).expect("few tokens");
                let is_one = matcher.validate(&[id]).expect("no limit") == 1;
                prop_assert_eq!(is_one, is_set, "{:?}", String::from_utf8_lossy(&tokens[place]));
                if is_one && (id > 255 || b"{}[],:\"a1".contains(&tokens[place][0])) {
                    open.push(id);
                }
            }
            let long: Vec<u32> = open.iter().copied().filter(|&id| id > 255).collect();
            let from = if choice % 4 > 0 && !long.is_empty() { &long } else { &open };
            if from.is_empty() {
                break;
            }
            prop_assert!(matcher.accept(from[choice % from.len()]).expect("no limit"));
        }
    }
}

/// Whether each text, with white space and any spelling of numbers, is one of a schema.
fn check(schema: &str, valid: &[&str], invalid: &[&str]) {
    let options = JsonSchemaOptions {
        key_order: KeyOrder::Any,
        numbers: Numbers::Any,
        ..JsonSchemaOptions::default()
    };
    let compiled =
        compile_with(schema, &options, &vocabulary(&[]), Limits::default()).expect("it compiles");
    for (texts, is_valid) in [(valid, true), (invalid, false)] {
        for text in texts {
            let mut matcher = Matcher::new(compiled.clone());
            let is_taken = matcher.accept_bytes(text.as_bytes()).expect("no limit");
            assert_eq!(is_taken && matcher.may_stop(), is_valid, "{text}");
        }
    }
}

#[test]
fn equal_values_are_one_in_any_spelling() {
    check(
        r#"{"uniqueItems":true}"#,
        &[
            r#"[1, "1", [1], {"a": 1}, {"a": "1"}, true, null, false, 0, "", [], {}]"#,
            "[[1], [1, 1], [[1]], [1, 2], [2, 1]]",
            r#"[{"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 1}, {"b": 2}]"#,
            "[ 1 , 10 , 1.5 , 100e-3 , -1 ]",
            r#""no array""#,
        ],
        &[
            r#"["a", "a"]"#,
            "[1, 1.0]",
            "[100, 1e2]",
            "[0, -0.0]",
            "[0.1, 100e-3]",
            "[true, 1, true]",
            "[null,null]",
            "[[1], 2, [ 1 ]]",
            "[[1.0], 2, [1]]",
            r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]"#,
            r#"[{"a": ["x"]}, {"a": ["x"]}]"#,
            "[[], []]",
            "[{}, [], { }]",
        ],
    );
}

#[test]
fn many_items_leave_the_tables_as_they_are() {
    let schema = r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#;
    let compiled =
        compile_with(schema, &compact(), &vocabulary(&[]), Limits::default()).expect("it compiles");
    let mut matcher = Matcher::new(compiled.clone());
    let mut size = 0;
    for at in 0..20_000 {
        let before = if at == 0 { "[" } else { "," };
        let item = format!("{before}\"item {at}\"");
        assert!(matcher.accept_bytes(item.as_bytes()).expect("no limit"), "{item}");
        if at == 100 {
            size = compiled.size_in_bytes();
        }
    }
    assert!(!matcher.accept_bytes(b",\"item 77\"").expect("no limit"));
    assert_eq!(compiled.size_in_bytes(), size);
    assert!(matcher.accept_bytes(b"]").expect("no limit"));
}

#[test]
fn what_texts_leave_behind_is_dropped() {
    let schema = r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#;
    let limits = Limits { grammar_bytes: 200_000, ..Limits::default() };
    let compiled = compile_with(schema, &compact(), &vocabulary(&[]), limits).expect("it compiles");
    // It begins before, and goes on when the rules are other ones.
    let mut old = Matcher::new(compiled.clone());
    assert!(old.accept_bytes(b"[1,22,").expect("no limit"));
    let generations = compiled.generations();
    for from in 0..60 {
        let mut matcher = Matcher::new(compiled.clone());
        for at in 0..20 {
            let item = format!("{}{}", if at == 0 { "[" } else { "," }, from * 20 + at);
            assert!(matcher.accept_bytes(item.as_bytes()).expect("no limit"), "{item}");
        }
        let again = format!(",{}]", from * 20);
        assert!(!matcher.accept_bytes(again.as_bytes()).expect("no limit"));
        assert!(matcher.accept_bytes(b"]").expect("no limit"));
    }
    assert!(compiled.generations() > generations + 3);
    assert!(!old.accept_bytes(b"1,").expect("no limit"));
    assert!(old.accept_bytes(b"2,1").expect("no limit"));
    assert!(!old.accept_bytes(b"]").expect("no limit"));
    assert!(old.accept_bytes(b"0]").expect("no limit"));
}

#[test]
fn what_is_no_array_of_different_items_may_be_another_one() {
    check(
        r#"{"oneOf": [{"type": "array", "items": {"type": "string"}, "uniqueItems": true},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": true}]}"#,
        &["[]", r#"["a"]"#, "[1, 2]"],
        &["[1, 1]", r#"["a", "a"]"#, r#"["a", 1]"#],
    );
}

#[test]
fn items_that_must_not_all_differ() {
    check(
        r#"{"type": "array", "not": {"uniqueItems": true}}"#,
        &[
            "[1, 1]",
            "[1, 2, 1.0]",
            "[[1], 2, 3, [ 1 ], 4]",
            r#"[{"a": 1, "b": 2}, "x", {"b": 2, "a": 1.0}]"#,
            r#"["a", "b", "a", "c"]"#,
            "[null, null, null]",
        ],
        &["[]", "[1]", "[1, 2]", r#"["1", 1]"#, "[true, 1, false, 0]", "[[], {}]", r#"["a", "b"]"#],
    );
    check(
        r#"{"not": {"items": {"uniqueItems": true}}}"#,
        &["[[1, 1]]", "[1, [2, 3, 2], [1]]"],
        &["[]", "[[1]]", "[[1, 2], [2, 1]]", "3"],
    );
    let never = r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "items": false, "not": {"uniqueItems": true}}"#;
    let error = compile_with(never, &compact(), &vocabulary(&[]), Limits::default());
    let error = error.expect_err("they differ").to_string();
    assert!(error.contains("no output can satisfy"), "{error}");
    let counted = r#"{"contains": {"const": 1}, "not": {"uniqueItems": true}, "maxContains": 3}"#;
    let error = compile_with(counted, &compact(), &vocabulary(&[]), Limits::default());
    let error = error.expect_err("it is refused").to_string();
    assert!(error.contains("not"), "{error}");
}

#[test]
fn few_values_run_out() {
    check(
        r#"{"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": true}"#,
        &["[]", r#"["b", 1, "a"]"#, r#"["a"]"#],
        &[r#"["a", "a"]"#, r#"["a", "b", 1, "a"]"#, "[1, 1.0]"],
    );
    check(
        r#"{"type": "array", "uniqueItems": true, "minItems": 2, "items": false,
            "prefixItems": [{"enum": [1, 2]}, {"enum": [1]}]}"#,
        &["[2, 1]"],
        &["[1, 1]", "[1]", "[2]"],
    );
    let too_few = r#"{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true,
        "minItems": 3}"#;
    let error = compile_with(too_few, &compact(), &vocabulary(&[]), Limits::default());
    let error = error.expect_err("there are two values").to_string();
    assert!(error.contains("no output can satisfy"), "{error}");
}

#[test]
fn values_of_values_are_counted_not_listed() {
    let mut schema = r#"{"type": "boolean"}"#.to_owned();
    for _ in 0..14 {
        schema = format!(
            r#"{{"type": "array", "items": {schema}, "minItems": 1, "maxItems": 2, "uniqueItems": true}}"#
        );
    }
    compile_with(&schema, &compact(), &vocabulary(&[]), Limits::default()).expect("it compiles");
    let members: Vec<String> =
        (0..14).map(|at| format!(r#""a{at}": {{"type": "boolean"}}"#)).collect();
    let schema = format!(
        r#"{{"type": "array", "uniqueItems": true, "items": {{"type": "object",
            "properties": {{{}}}, "additionalProperties": false}}}}"#,
        members.join(", ")
    );
    check(
        &schema,
        &[r#"[{}, {"a0": true}, {"a0": false}, {"a13": true, "a0": true}]"#],
        &["[{}, {}]", r#"[{"a1": true, "a0": true}, {"a0": true, "a1": true}]"#],
    );
    // Three tuples of one boolean there are, and nine of two.
    let pairs = r#"{"type": "array", "uniqueItems": true, "minItems": COUNT, "items":
        {"type": "array", "items": {"enum": [null, true, false]}, "minItems": 1, "maxItems": 2}}"#;
    for (count, is_made) in [("12", true), ("13", false)] {
        let schema = pairs.replace("COUNT", count);
        let made = compile_with(&schema, &compact(), &vocabulary(&[]), Limits::default());
        assert_eq!(made.is_ok(), is_made, "{count}");
    }
}

#[test]
fn a_number_too_large_to_compare_is_a_limit() {
    let schema = r#"{"type": "array", "items": {"type": "number"}, "uniqueItems": true}"#;
    let compiled =
        compile_with(schema, &compact(), &vocabulary(&[]), Limits::default()).expect("it compiles");
    let mut matcher = Matcher::new(compiled);
    assert!(matcher.accept_bytes(b"[1e99999999999999999").expect("no limit"));
    let error = matcher.accept_bytes(b",").expect_err("nobody compares it").to_string();
    assert!(error.contains("number_digits"), "{error}");
    assert!(matcher.accept_bytes(b"]").expect("no limit"));
}

/// Only `"a"` is left as a string, and the token that ends it begins another one.
#[test]
fn the_first_string_of_an_array_may_be_the_last() {
    let schema = r#"{"type":"array","items":{"enum":["a",1,{}]},"uniqueItems":true}"#;
    let tokens =
        vocabulary(&[r#"",""#, r#""a",""#, r#"a",""#, r#"",{"#, r#"["a",""#].map(String::from));
    let compiled = compile_with(schema, &compact(), &tokens, Limits::default()).expect("a schema");
    for (before, allowed) in [
        (r#"[1,"a"#, &[r#"",{"#][..]),
        ("", &[]),
        ("[1,", &[]),
        ("[", &[]),
        (r#"[{},""#, &[]),
        (r#"["a"#, &[r#"",{"#]),
    ] {
        let mut matcher = Matcher::new(compiled.clone());
        assert!(matcher.accept_bytes(before.as_bytes()).expect("no limit"), "{before}");
        let mask = bits(&mut matcher, tokens.len()).expect("no limit");
        let found = tokens.iter().zip(&mask).filter(|(token, is_set)| token.len() > 1 && **is_set);
        let found: Vec<&[u8]> = found.map(|(token, _)| &token[..]).collect();
        assert_eq!(found, allowed.iter().map(|it| it.as_bytes()).collect::<Vec<_>>(), "{before}");
    }
}
