//! Vocabularies in which not every byte is a token: what no sequence of tokens completes is dead.

#[path = "oracle/mod.rs"]
mod oracle;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::{btree_set, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::TestCaseError;
use stencilm::frontend::json_schema::{self, JsonSchemaOptions, Whitespace};
use stencilm::grammar::{CharSet, Exprs, Spelling};
use stencilm::{
    Budget, CompiledGrammar, Error, ErrorKind, Grammar, Limits, Matcher, Store, Vocabulary,
    from_ebnf, from_regex,
};

use crate::oracle::runner::{Verdict, for_all};

/// Tokens with these texts, and a stop token after them.
fn compile<T: AsRef<[u8]>>(grammar: &Grammar, tokens: &[T]) -> Result<Matcher, Error> {
    compile_within(Limits::default(), grammar, tokens)
}

fn compile_within<T: AsRef<[u8]>>(
    limits: Limits,
    grammar: &Grammar,
    tokens: &[T],
) -> Result<Matcher, Error> {
    let stop = u32::try_from(tokens.len()).expect("few tokens");
    let texts = tokens.iter().map(|token| Some(token.as_ref())).chain([None]);
    let vocabulary = Arc::new(Vocabulary::new(texts, [], [stop])?);
    let store = Arc::new(Store::new(1 << 20));
    let compiled = CompiledGrammar::new(grammar, vocabulary, store, limits)?;
    Ok(Matcher::new(Arc::new(compiled)))
}

/// The texts of the allowed tokens; "" is the stop token.
fn allowed<'a>(matcher: &mut Matcher, tokens: &[&'a str]) -> Vec<&'a str> {
    let mut mask = vec![0; tokens.len() / 32 + 1];
    matcher.fill_mask(&mut mask).expect("within limits");
    let is_set = |at: usize| mask[at / 32] >> (at % 32) & 1 == 1;
    (0..=tokens.len())
        .filter(|&at| is_set(at))
        .map(|at| tokens.get(at).copied().unwrap_or(""))
        .collect()
}

#[track_caller]
fn refused(grammar: &Grammar, tokens: &[&str]) -> String {
    let error = compile(grammar, tokens).expect_err("no text can be spelled");
    assert!(matches!(error.kind(), ErrorKind::Vocabulary { .. }), "{error}");
    error.to_string()
}

fn regex(pattern: &str) -> Grammar {
    from_regex(pattern, &mut Budget::default()).expect("a pattern")
}

fn ebnf(text: &str) -> Grammar {
    from_ebnf(text, "root", &mut Budget::default()).expect("a grammar")
}

fn schema(text: &str) -> Grammar {
    let options = JsonSchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    json_schema::grammar(text, &options, &mut Budget::default()).expect("a schema")
}

#[test]
fn a_token_that_leaves_half_a_pair_is_dead() {
    let tokens = ["aa", "aaa", "b", "ab"];
    let mut matcher = compile(&regex("a{5}b"), &tokens).expect("aa aaa b");
    assert_eq!(allowed(&mut matcher, &tokens), ["aa", "aaa"]);
    assert!(matcher.accept(0).expect("within limits"));
    assert_eq!(allowed(&mut matcher, &tokens), ["aa", "aaa"]);
    assert!(matcher.accept(0).expect("within limits"));
    assert_eq!(allowed(&mut matcher, &tokens), ["ab"]);
}

#[test]
fn counts_are_exact_however_large() {
    let tokens = ["aa", "b"];
    for count in [1_000_001, 7] {
        let message = refused(&regex(&format!("a{{{count}}}b")), &tokens);
        assert!(message.contains("0x61 (`a`)"), "{message}");
    }
    let mut matcher = compile(&regex("a{1000000}b"), &tokens).expect("half a million times aa");
    assert_eq!(allowed(&mut matcher, &tokens), ["aa"]);
    // An odd number of `a` is left after `ba`, and an even one after `b`.
    let tokens = ["aa", "b", "ba"];
    let mut matcher = compile(&regex("ba{3,1000001}"), &tokens).expect("b aa aa, ba aa");
    assert_eq!(allowed(&mut matcher, &tokens), ["b", "ba"]);
    let mut matcher = compile(&regex("ba{1001}"), &tokens).expect("ba, 500 times aa");
    assert_eq!(allowed(&mut matcher, &tokens), ["ba"]);
}

#[test]
fn rules_that_nest_are_completed_by_tokens() {
    // Tokens open two at once and close one at once: only even depths.
    let tokens = ["((", ")", "x", "(", "x)"];
    let grammar = ebnf("root ::= \"(\" root \")\" | \"x\"");
    let mut matcher = compile(&grammar, &tokens[..3]).expect("((x))");
    assert_eq!(allowed(&mut matcher, &tokens[..3]), ["((", "x"]);
    // What closes is three at once: the depth is a multiple of six.
    let tokens = ["((", ")))", "x"];
    let mut matcher = compile(&grammar, &tokens).expect("((((((x))))))");
    for expected in [&["((", "x"][..], &["(("], &["(("], &["((", "x"], &["(("]] {
        assert_eq!(allowed(&mut matcher, &tokens), expected);
        assert!(matcher.accept(0).expect("within limits"));
    }
    let message = refused(&grammar, &["(", ")"]);
    assert!(message.contains("0x78 (`x`)"), "{message}");
}

#[test]
fn a_brace_may_only_come_with_its_quote() {
    let tokens = ["{\"", "a", "\"", ":", "1", "}", "\":", ",", "{}"];
    let object = r#"{"type": "object", "properties": {"a": {"const": 1}}}"#;
    let mut matcher = compile(&schema(object), &tokens).expect("an object");
    assert_eq!(allowed(&mut matcher, &tokens), ["{\"", "{}"]);
    let nested = r#"{"required": ["a"], "properties": {"a": {"type": "object",
        "additionalProperties": false}}, "type": "object", "additionalProperties": false}"#;
    let mut matcher = compile(&schema(nested), &tokens).expect("{\"a\":{}}");
    assert!(matcher.accept(0).expect("within limits"));
    assert!(matcher.accept(1).expect("within limits"));
    assert!(matcher.accept(6).expect("within limits"));
    assert_eq!(allowed(&mut matcher, &tokens), ["{}"]);
}

#[test]
fn a_value_that_cannot_be_spelled_is_found_when_compiling() {
    let tokens = ["{", "}", "\"", "a", ":", "1"];
    let optional = r#"{"type": "object", "properties": {"a": {"const": true}, "1": {"const": 1}},
        "additionalProperties": false}"#;
    let mut matcher = compile(&schema(optional), &tokens).expect("{}");
    assert!(matcher.accept_bytes(b"{\"").expect("within limits"));
    assert_eq!(allowed(&mut matcher, &tokens), ["1"]);
    assert!(!matcher.accept_bytes(b"a").expect("within limits"));
    let required = optional.replace("\"type\"", "\"required\": [\"a\"], \"type\"");
    let message = refused(&schema(&required), &tokens);
    assert!(message.contains("0x74 (`t`)") && message.contains("Add them"), "{message}");
}

#[test]
fn what_takes_too_long_to_find_out_is_refused_by_name() {
    let tokens = ["((", ")))", "x"];
    let grammar = ebnf("root ::= \"(\" root \")\" | \"x\"");
    let limits = |search| Limits { search, ..Limits::default() };
    // The tokens have more places inside them than may be looked at.
    let error = compile_within(limits(1), &grammar, &tokens).expect_err("too much work");
    let message = error.to_string();
    assert!(matches!(error.kind(), ErrorKind::Vocabulary { .. }), "{message}");
    assert!(message.contains("Limits::search = 1 "), "{message}");
    assert!(message.contains("0x28 (`(`), 0x29 (`)`)"), "{message}");
    compile_within(limits(1_000), &grammar, &tokens).expect("enough");
    // Where every byte is a token nothing is to be found out.
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    compile_within(limits(1), &grammar, &bytes).expect("all bytes");
}

#[test]
fn characters_may_be_tokens_whose_bytes_are_none() {
    let tokens = ["\"", "a", "é", "€", "ü"];
    let string = r#"{"type": "string", "minLength": 2, "maxLength": 100, "pattern": "é.*$"}"#;
    let mut matcher = compile(&schema(string), &tokens).expect("a string");
    assert_eq!(allowed(&mut matcher, &tokens), ["\""]);
    assert!(matcher.accept(0).expect("within limits"));
    assert_eq!(allowed(&mut matcher, &tokens), ["a", "é", "€", "ü"]);
}

#[test]
fn a_list_of_texts_is_alive_inside_a_character() {
    let any = CharSet::new([('\0', char::MAX)]);
    let cases = [
        (["é", "éa"], Spelling::Text, CharSet::new([('é', 'é')])),
        (["\\n", "\\ta"], Spelling::JsonCanonical, any),
    ];
    for (texts, spelling, class) in cases {
        let mut exprs = Exprs::default();
        let list = exprs.one_of(texts.map(str::as_bytes));
        let first = exprs.bytes(texts[0].as_bytes());
        let character = exprs.chars(&class, spelling);
        for one in [list, first] {
            let both = exprs.and(&[one, character]);
            let is_empty =
                stencilm::residual::emptiness::is_empty(&mut exprs, both, &Budget::default());
            assert!(!is_empty.expect("within limits"), "{}", exprs.show(both));
        }
    }
}

/// Schemas with few values.
fn schemas() -> BoxedStrategy<String> {
    let leaf = select(vec![
        r#"{"type": "boolean"}"#,
        r#"{"type": "null"}"#,
        r#"{"enum": ["ab", "a{b", "é"]}"#,
        r#"{"enum": [1, 12, -1]}"#,
        r#"{"enum": ["", "\"", "b"]}"#,
        r#"{"type": "string", "pattern": "^a?[bé]$"}"#,
        r#"{"enum": [{"a": 1}, [], [1]]}"#,
        r#"{"type": "integer", "minimum": 9, "maximum": 12}"#,
    ]);
    let name = || select(vec!["a", "b", "ab", "é", "{"]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(2, 8, 3, move |inner| {
            let members = vec((name(), inner.clone()), 0..=3);
            prop_oneof![
                3 => (members, btree_set(name(), 0..=1)).prop_map(|(members, required)| {
                    let members: BTreeMap<_, _> = members.into_iter().collect();
                    let required: Vec<_> =
                        required.iter().filter(|name| members.contains_key(*name)).collect();
                    let shown = |(name, schema)| format!("\"{name}\": {schema}");
                    let members: Vec<String> = members.iter().map(shown).collect();
                    let members = members.join(", ");
                    format!("{{\"type\": \"object\", \"properties\": {{{members}}}, \
                        \"required\": {required:?}, \"additionalProperties\": false}}")
                }),
                1 => inner.clone().prop_map(|items| {
                    format!("{{\"type\": \"array\", \"maxItems\": 2, \"items\": {items}}}")
                }),
                1 => (inner.clone(), inner).prop_map(|(a, b)| format!("{{\"anyOf\": [{a}, {b}]}}")),
            ]
        })
        .boxed()
}

/// All texts of a grammar, by a matcher whose tokens are all the bytes; none if there are many.
fn texts(grammar: &Grammar) -> Option<Vec<Vec<u8>>> {
    const MOST: usize = 1_500;
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut texts = Vec::new();
    let mut todo = vec![(Vec::new(), compile(grammar, &bytes).ok()?)];
    let mut count = 0;
    while let Some((text, mut matcher)) = todo.pop() {
        count += 1;
        if count > MOST {
            return None;
        }
        for byte in matcher.next_bytes().ok()? {
            let mut next = matcher.fork();
            assert!(next.accept_bytes(&[byte]).ok()?);
            todo.push(([&text[..], &[byte]].concat(), next));
        }
        if matcher.may_stop() {
            texts.push(text);
        }
    }
    Some(texts)
}

/// The beginnings of texts that tokens can complete, by definition.
fn live_beginnings(texts: &[Vec<u8>], tokens: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
    let mut live = BTreeSet::new();
    for text in texts {
        let mut completes = vec![false; text.len() + 1];
        completes[text.len()] = true;
        for from in (0..=text.len()).rev() {
            let rest = &text[from..];
            completes[from] |=
                tokens.iter().any(|token| rest.starts_with(token) && completes[from + token.len()]);
            if completes[from] {
                live.insert(text[..from].to_vec());
            }
        }
    }
    live
}

/// Every mask on the way to any text.
fn masks_are_exact(schema_text: &str, tokens: &[Vec<u8>]) -> Verdict {
    let grammar = schema(schema_text);
    let Some(texts) = texts(&grammar) else {
        return Err(TestCaseError::reject("many texts"));
    };
    let live = live_beginnings(&texts, tokens);
    let matcher = match compile(&grammar, tokens) {
        Ok(matcher) => matcher,
        Err(error) if matches!(error.kind(), ErrorKind::Vocabulary { .. }) => {
            let is_right = !live.contains(&Vec::new());
            return if is_right { Ok(()) } else { Err(TestCaseError::fail(error.to_string())) };
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let mut seen = BTreeSet::new();
    let mut todo = vec![(Vec::new(), matcher)];
    while let Some((text, mut matcher)) = todo.pop() {
        let mut mask = vec![0; tokens.len() / 32 + 1];
        matcher.fill_mask(&mut mask).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for (id, token) in tokens.iter().enumerate() {
            let next = [&text[..], token].concat();
            let is_set = mask[id / 32] >> (id % 32) & 1 == 1;
            let is_taken = matcher.is_allowed(u32::try_from(id).expect("few tokens"));
            if is_set != live.contains(&next) || is_taken != Ok(is_set) {
                let (text, token) = (text.escape_ascii(), token.escape_ascii());
                let what = format!("after \"{text}\": \"{token}\" is {is_set}, {is_taken:?}");
                return Err(TestCaseError::fail(what));
            }
            if is_set && seen.len() < 60 && seen.insert(next.clone()) {
                let mut after = matcher.fork();
                let taken = after.accept(u32::try_from(id).expect("few tokens"));
                if taken != Ok(true) {
                    return Err(TestCaseError::fail(format!("accepting gives {taken:?}")));
                }
                todo.push((next, after));
            }
        }
    }
    Ok(())
}

#[test]
fn masks_of_schemas_are_exact() {
    let longer = vec![
        "{\"", "\":", "\"}", ",\"", "[{", "true", "é", "\"a", "{}", "[]", "}]", "],", "\"é\"",
        "a\":", "tr", "ue", "nu", "ll", "a{", "12", "1,", "1}", "\":{\"", "\\\"", "}}",
    ];
    let single = || {
        (any::<u64>(), any::<u64>()).prop_map(|(some, more)| {
            let all = "{}[]\":,-abtruefalsn0129\\é".bytes().collect::<BTreeSet<u8>>();
            let is_kept = |&(at, _): &(usize, u8)| (some | more) >> at & 1 == 1;
            all.into_iter().enumerate().filter(is_kept).map(|(_, byte)| vec![byte]).collect()
        })
    };
    let few = vec(select(longer), 2..=16).prop_map(|texts| {
        texts.into_iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>()
    });
    let none: BoxedStrategy<Vec<Vec<u8>>> = Just(Vec::new()).boxed();
    let tokens = (prop_oneof![9 => single().boxed(), 1 => none], few)
        .prop_map(|(single, longer): (Vec<Vec<u8>>, _)| [single, longer].concat());
    for_all(150.0, &(schemas(), tokens), |(schema, tokens)| masks_are_exact(&schema, &tokens));
}
