//! Grammars that call other grammars: each keeps its names, its items and its numbers to itself.

#[allow(dead_code, reason = "grammars are put together here, not read from one schema")]
#[path = "support/masks.rs"]
mod masks;

use std::collections::BTreeSet;
use std::thread;

use proptest::prelude::*;
use stencilm::frontend::json_schema::{self, Escapes, JsonSchemaOptions, Whitespace};
use stencilm::grammar::{Exprs, RuleId, RuleSet};
use stencilm::{Budget, Error, ErrorKind, Grammar, Limits, Matcher};

use masks::{begins, compile_grammar, limits, pieces, vocabulary, walk};

const NAMES: &str = r#"{"type":"object","patternProperties":{"^[ab]$":{"const":null}},
    "additionalProperties":false}"#;
const OTHER_NAMES: &str = r#"{"type":"object","patternProperties":{"^(b|ab)$":{"enum":[null,true]}},
    "additionalProperties":false,"maxProperties":1}"#;
const ITEMS: &str =
    r#"{"type":"array","items":{"enum":[null,"0",{"a":true}]},"uniqueItems":true,"maxItems":2}"#;

fn schema(schema: &str, options: &JsonSchemaOptions) -> Grammar {
    json_schema::grammar(schema, options, &mut Budget::default()).expect("a schema")
}

fn compact(text: &str) -> Grammar {
    let options =
        JsonSchemaOptions { whitespace: Whitespace::Compact, ..JsonSchemaOptions::default() };
    schema(text, &options)
}

fn rule_set() -> RuleSet {
    RuleSet::new(Exprs::default(), Vec::new(), RuleId(0))
}

/// One after the other.
fn joined(grammars: &[&Grammar]) -> Result<Grammar, Error> {
    let mut rules = rule_set();
    let parts: Result<Vec<_>, _> = grammars.iter().map(|grammar| rules.supply(grammar)).collect();
    let body = rules.exprs.seq(&parts?);
    rules.rules.push(("root".to_owned(), body));
    stencilm::from_rules(rules, &mut Budget::default())
}

fn regex(pattern: &str) -> Grammar {
    stencilm::from_regex(pattern, &mut Budget::default()).expect("a pattern")
}

/// `["{x]{0,2}`, a value of any of three schemas, and maybe a semicolon and one of two of them.
fn mixed() -> (Grammar, BTreeSet<String>) {
    let mut rules = rule_set();
    let supplied = [NAMES, OTHER_NAMES, ITEMS].map(|text| {
        let part = compact(text);
        // Put together twice, so that parts have parts.
        let part = joined(&[&regex(""), &part]).expect("fits");
        rules.supply(&part).expect("fits")
    });
    let exprs = &mut rules.exprs;
    let head = exprs.one_of([&b"\""[..], b"{", b"x"]);
    let head = exprs.repeat(head, 0, 2);
    let value = exprs.choice(&supplied);
    let last = exprs.choice(&[supplied[0], supplied[2]]);
    let semicolon = exprs.bytes(b";");
    let tail = exprs.seq(&[semicolon, last]);
    let tail = exprs.optional(tail);
    let body = exprs.seq(&[head, value, tail]);
    rules.rules.push(("root".to_owned(), body));
    let whole = stencilm::from_rules(rules, &mut Budget::default()).expect("a grammar");

    let names = [
        "{}",
        r#"{"a":null}"#,
        r#"{"b":null}"#,
        r#"{"a":null,"b":null}"#,
        r#"{"b":null,"a":null}"#,
    ];
    let others = ["{}", r#"{"b":null}"#, r#"{"b":true}"#, r#"{"ab":null}"#, r#"{"ab":true}"#];
    let values = ["null", r#""0""#, r#"{"a":true}"#];
    let mut items = vec!["[]".to_owned()];
    for first in values {
        items.push(format!("[{first}]"));
        let seconds = values.iter().filter(|second| **second != first);
        items.extend(seconds.map(|second| format!("[{first},{second}]")));
    }
    let last: Vec<String> = names.map(str::to_owned).into_iter().chain(items).collect();
    let all: Vec<String> = last.iter().cloned().chain(others.map(str::to_owned)).collect();
    let tails: Vec<String> =
        std::iter::once(String::new()).chain(last.iter().map(|last| format!(";{last}"))).collect();
    let signs = ["", "\"", "{", "x"];
    let mut sentences = BTreeSet::new();
    for first in signs {
        for second in signs {
            for value in &all {
                for tail in &tails {
                    sentences.insert(format!("{first}{second}{value}{tail}"));
                }
            }
        }
    }
    (whole, sentences)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn masks_are_those_of_all_sentences(
        cuts in proptest::collection::vec((0_usize..100_000, 0_usize..200, 1_usize..14), 0..60),
        choices in proptest::collection::vec(0_usize..1_000, 1..20),
        is_small in proptest::bool::ANY,
    ) {
        let (grammar, sentences) = mixed();
        let tokens = vocabulary(&pieces(&sentences, &cuts));
        let compiled = compile_grammar(&grammar, &tokens, limits(is_small))?;
        let is_live =
            |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| begins(&sentences, text));
        let is_sentence =
            |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| sentences.contains(text));
        walk(&tokens, &compiled, &is_live, &is_sentence, &choices)?;
    }
}

/// Whether the text is a sentence.
fn accepts(grammar: &Grammar, text: &str) -> bool {
    let tokens = vocabulary(&[]);
    let compiled = compile_grammar(grammar, &tokens, Limits::default()).expect("compiles");
    let mut matcher = Matcher::new(compiled);
    text.bytes().all(|byte| matcher.accept(byte.into()).expect("no limit")) && matcher.may_stop()
}

#[test]
fn the_empty_text_of_a_part_is_kept() {
    let (maybe, nothing, word) = (regex("a?"), regex(""), regex("b"));
    let whole = joined(&[&maybe, &nothing, &word, &maybe, &nothing]).expect("fits");
    for (text, expected) in
        [("b", true), ("ab", true), ("aba", true), ("ba", true), ("", false), ("a", false)]
    {
        assert_eq!(accepts(&whole, text), expected, "{text:?}");
    }
    let empty = joined(&[&maybe, &nothing]).expect("fits");
    assert!(accepts(&empty, "") && accepts(&empty, "a") && !accepts(&empty, "aa"));
    assert!(accepts(&joined(&[&nothing, &nothing]).expect("fits"), ""));
}

#[test]
fn names_must_have_one_spelling() {
    let plain = JsonSchemaOptions { escapes: Escapes::Plain, ..JsonSchemaOptions::default() };
    let free = JsonSchemaOptions { escapes: Escapes::Any, ..JsonSchemaOptions::default() };
    let (plain, free) = (schema(NAMES, &plain), schema(NAMES, &free));
    let error = joined(&[&plain, &regex("x"), &free]).expect_err("they differ");
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    assert!(joined(&[&plain, &plain]).is_ok() && joined(&[&free, &free]).is_ok());
}

#[test]
fn a_part_is_no_regular_expression() {
    let mut rules = rule_set();
    let part = rules.supply(&regex("a*")).expect("fits");
    let body = rules.exprs.not(part);
    rules.rules.push(("root".to_owned(), body));
    let error = stencilm::from_rules(rules, &mut Budget::default()).expect_err("a call below ~");
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
}

#[test]
fn special_tokens_of_parts_are_known() {
    let mut budget = Budget::default();
    let part = |text: &str| stencilm::from_ebnf(text, "root", &mut Budget::default());
    let (x, y) = (part("root ::= <x> | \"a\"").unwrap(), part("root ::= <y>").unwrap());
    let mut rules = rule_set();
    let parts = [rules.supply(&x).unwrap(), rules.supply(&y).unwrap()];
    let body = rules.exprs.choice(&parts);
    rules.rules.push(("root".to_owned(), body));
    let whole = stencilm::from_rules(rules, &mut budget).unwrap();
    assert_eq!(whole.rules.special_tokens(), ["<x>", "<y>"]);
}

#[test]
fn parts_may_be_many_and_nest() {
    let work = || {
        let (word, value) = (regex("ab"), compact(NAMES));
        let mut whole = word.clone();
        for _ in 0..2_000 {
            whole = joined(&[&whole, &word]).expect("fits");
        }
        assert!(accepts(&whole, &"ab".repeat(2_001)) && !accepts(&whole, &"ab".repeat(2_000)));
        let all: Vec<&Grammar> = (0..2_000).map(|_| &value).collect();
        let whole = joined(&all).expect("fits");
        assert!(accepts(&whole, &r#"{"a":null}"#.repeat(2_000)));
        assert!(!accepts(&whole, &r#"{"a":null,"a":null}"#.repeat(2_000)));
        // Each could come to a million rules: together to more than there are numbers.
        let apart: Vec<Grammar> = (0..2_200).map(|_| compact(NAMES)).collect();
        let error = joined(&apart.iter().collect::<Vec<_>>()).expect_err("too many");
        assert!(matches!(error.kind(), ErrorKind::LimitReached { limit: "rules", .. }), "{error}");
    };
    let thread = thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn what_is_shown_says_which_part() {
    let whole = joined(&[&compact(NAMES), &compact(ITEMS)]).expect("fits");
    let shown = whole.show(100).expect("no limit");
    assert!(shown.starts_with("root ::= part_1.value_2 part_2.value_2\n"), "{shown}");
    let heads: Vec<&str> = shown.lines().filter_map(|line| line.split(" ::= ").next()).collect();
    assert!(heads.iter().any(|head| head.starts_with("part_1.")), "{shown}");
    assert!(heads.iter().any(|head| head.starts_with("part_2.")), "{shown}");
}
