//! The macros and rule options of xgrammar, and tokens by number.

use std::sync::Arc;

use proptest::prelude::*;
use stencilm::{Budget, CompiledGrammar, Limits, Matcher, Store, Vocabulary};

use crate::{check, check_error, parse};

/// A matcher of a grammar over these tokens, of which the last one stops.
fn matcher(grammar: &str, tokens: &[&str]) -> Result<Matcher, stencilm::Error> {
    let grammar = stencilm::from_ebnf(grammar, "root", &mut Budget::default())?;
    let size = u32::try_from(tokens.len()).expect("few tokens");
    let texts = tokens.iter().map(|text| Some(*text)).chain([None, None]);
    let vocabulary = Vocabulary::new(texts, [("<x>".to_owned(), size)], [size + 1])?;
    let store = Arc::new(Store::new(1 << 20));
    let compiled = CompiledGrammar::new(&grammar, Arc::new(vocabulary), store, Limits::default())?;
    Ok(Matcher::new(Arc::new(compiled)))
}

/// The mask before each token and after the last one.
#[track_caller]
fn check_masks(grammar: &str, tokens: &[&str], steps: &[u32], masks: &[u32]) {
    let mut matcher = matcher(grammar, tokens).expect("a grammar");
    let mut found = Vec::new();
    for step in steps.iter().copied().map(Some).chain([None]) {
        let mut mask = [0];
        matcher.fill_mask(&mut mask).expect("no limit");
        found.push(mask[0]);
        if let Some(token) = step {
            assert!(matcher.accept(token).expect("no limit"), "{grammar}: token {token}");
        }
    }
    assert_eq!(found, masks, "{grammar}");
}

#[test]
fn tokens_are_named_by_number() {
    let tokens = ["a", "b", "ab", "c"];
    check_masks("root ::= <[2]> \"c\"", &tokens, &[2, 3], &[0b0100, 0b1000, 0b10_0000]);
    check_masks("root ::= <[0-1,3]>", &tokens, &[3], &[0b1011, 0b10_0000]);
    check_masks("root ::= !<[2]> <x>", &tokens, &[4], &[0b1_1011, 0b1_0000]);
    check_masks("root ::= !<x>", &tokens, &[], &[0b1111]);
    check_masks("root ::= ExcludeToken(0, 1)* Token(0)", &tokens, &[], &[0b1_1101]);
}

#[test]
fn a_token_may_be_a_text_and_a_token() {
    let tokens = ["a", "b", "ab", "c"];
    let grammar = "root ::= <[2]> \"c\" | \"ab\" \"a\"";
    check_masks(grammar, &tokens, &[2, 0], &[0b0101, 0b1001, 0b10_0000]);
    check_masks(grammar, &tokens, &[2, 3], &[0b0101, 0b1001, 0b10_0000]);
}

#[test]
fn tokens_that_do_not_exist_are_named() {
    let error = matcher("root ::= <[9]>", &["a"]).expect_err("three tokens").to_string();
    assert!(error.contains("from 0 to 2"), "{error}");
    let error = matcher("root ::= !<y>", &["a"]).expect_err("no such token").to_string();
    assert!(error.contains("\"<y>\""), "{error}");
}

#[test]
fn a_dispatch_of_tokens_goes_on_after_each_rule() {
    let tokens = ["a", "b", "c", "d"];
    let grammar = "root ::= TokenTagDispatch((0, rule), excludes=(3))\nrule ::= \"bc\"";
    check_masks(
        grammar,
        &tokens,
        &[1, 0, 1, 2],
        &[0b11_0111, 0b11_0111, 0b0010, 0b0100, 0b11_0111],
    );
}

#[test]
fn a_dispatch_knows_its_tags() {
    let once = "root ::= TagDispatch((\"<a>\", r), loop_after_dispatch=false) \"!\"\nr ::= \"x\"";
    check(once, &["<a>x!", "free <a<a>x!", "free!", "!!"], &["<a>!", "<a>x", "<a>x<a>x!"]);
    let rules = "root ::= TagDispatch((\"ab\", one), (\"c\", two), excludes=(\"no\"))\n\
                 one ::= \"1\"\ntwo ::= root2? \"2\"\nroot2 ::= \"x\" root2?";
    check(rules, &["", "a", "aab1", "c2c2ab1free", "cxx2"], &["ab", "ab2", "no", "xnox", "c"]);
}

#[test]
fn many_tags_cost_little_where_they_are_apart() {
    let dispatch = |name: &dyn Fn(usize) -> String| {
        let pairs: Vec<String> = (0..20_000).map(|at| format!("(\"{}\", r)", name(at))).collect();
        format!("root ::= TagDispatch({})\nr ::= \"x\"", pairs.join(", "))
    };
    let apart = dispatch(&|at| format!("<t{at}>"));
    assert!(stencilm::from_ebnf(&apart, "root", &mut Budget::default()).is_ok());
    let made = parse(&dispatch(&|at| format!("<t{at}"))).map(|_| ());
    let error = made.expect_err("too many").to_string();
    assert!(error.contains("Limits::alternatives = 1000"), "{error}");
}

#[test]
fn regexes_are_whole_texts() {
    check(r#"root ::= "x" Regex("\\d+|é?") "y""#, &["x12y", "xéy", "xy"], &["x", "x1é"]);
    check(r#"root ::= Regex("(?i)aſ.")"#, &["Aſ\n"], &["as\n"]);
    check(r#"root ::= Regex("aſ.", flags="iu")"#, &["AS-"], &["as\n"]);
    check(r#"root ::= Regex("[^a]+", json_string=true)"#, &["é"], &["\"", "\\n", "\n", "a"]);
    check_error("root ::= Regex(\"a\", flags=\"x\")", 9, "`x` is no flag");
    check_error("root ::= \"a\" Regex(\"a(\")", 13, "no closing `)`");
    check_error("root ::= Regex()", 9, "needs a pattern");
    check_error("root ::= Regex(1)", 15, "not known here");
}

#[test]
fn options_say_what_a_rule_may_be() {
    check("root ::= r \"a\"\nr[lazy] ::= [a-c]* \"b\"", &["aba", "ba"], &["bba", "abba"]);
    check("root ::= r \"!\"\nr[max_chars=2] ::= [^!]+", &["éé!"], &["!", "aaa!"]);
    check("r[lazy, max_chars=3] ::= [a-c]* \"b\"\nroot ::= r", &["aab"], &["aaab", "bb"]);
}

#[test]
fn wrong_arguments_are_errors_at_their_place() {
    check_error("root ::= TagDispatch((\"\", root))", 22, "not empty");
    check_error("root ::= TagDispatch((\"a\", r))", 21, "unknown rule `r`");
    check_error("root ::= TagDispatch(\"a\", r)\nr ::= \"\"", 21, "not known here");
    check_error("root ::= TagDispatch((\"a\" r))\nr ::= \"\"", 26, "separated by `,`");
    check_error("root ::= TagDispatch((\"a\", r), stop=true)\nr ::= \"\"", 31, "`stop`");
    check_error("root ::= TagDispatch((\"ab\", r), excludes=(\"a\"))\nr ::= \"\"", 21, "excluded");
    check_error("root ::= Token()", 9, "at least one token");
    check_error("root ::= Token(\"a\")", 15, "by its number");
    check_error("root ::= Substring(((\"a\")))", 20, "an argument is");
    check_error("root ::= Token(1", 14, "end with `)`");
}

#[test]
fn many_chunks_are_a_small_automaton() {
    let chunks: Vec<String> = (0..20_000).map(|at| format!("\"{}\"", at * 7 % 1_001)).collect();
    let grammar = format!("root ::= Substring({})", chunks.join(", "));
    let rules = parse(&grammar).expect("within the limits").rules.len();
    assert!(rules <= 2 * 20_000 + 1, "{rules}");
    assert!(stencilm::from_ebnf(&grammar, "root", &mut Budget::default()).is_ok());
}

/// Whether a text is one of a dispatch whose tags are all followed by a `c`, by going through it once.
fn is_dispatched(text: &str, tags: &[String], excludes: &[String], loops: bool) -> bool {
    for end in 1..=text.len() {
        let read = &text[..end];
        if excludes.iter().any(|exclude| read.ends_with(exclude.as_str())) {
            return false;
        }
        if tags.iter().any(|tag| read.ends_with(tag.as_str())) {
            return match text[end..].strip_prefix('c') {
                Some(rest) if loops => is_dispatched(rest, tags, excludes, loops),
                rest => rest == Some(""),
            };
        }
    }
    true
}

/// All texts of these letters with up to `longest` of them.
fn texts(letters: &[char], longest: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..longest {
        let shorter = from..texts.len();
        from = texts.len();
        for place in shorter {
            let longer = letters.iter().map(|letter| format!("{}{letter}", texts[place]));
            let longer: Vec<String> = longer.collect();
            texts.extend(longer);
        }
    }
    texts
}

fn quoted(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("\"{text}\"")).collect()
}

/// Compares a grammar with a judge on all short texts.
#[track_caller]
fn check_all(grammar: &str, texts: Vec<String>, is_right: impl Fn(&str) -> bool) {
    let (yes, no): (Vec<String>, Vec<String>) = texts.into_iter().partition(|text| is_right(text));
    let yes: Vec<&str> = yes.iter().map(String::as_str).collect();
    let no: Vec<&str> = no.iter().map(String::as_str).collect();
    check(grammar, &yes, &no);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn substrings_are_runs_of_chunks(
        chunks in prop::collection::vec(prop::sample::select(&["a", "b", "ab", "ba", ""][..]), 0..7),
    ) {
        let chunks: Vec<String> = chunks.into_iter().map(str::to_owned).collect();
        let grammar = format!("root ::= Substring({})", quoted(&chunks).join(", "));
        let runs: Vec<String> = (0..=chunks.len())
            .flat_map(|end| (0..=end).map(move |begin| (begin, end)))
            .map(|(begin, end)| chunks[begin..end].concat())
            .collect();
        check_all(&grammar, texts(&['a', 'b'], 5), |text| runs.contains(&text.to_owned()));
    }

    #[test]
    fn dispatches_are_those_of_a_reader(
        tags in prop::collection::vec(prop_oneof!["[ab]{1,3}", "b?a{1,2}"], 1..3),
        excludes in prop::collection::vec(prop_oneof!["[ab]{1,3}", "ba"], 0..2),
        loops in any::<bool>(),
    ) {
        // That is an error of its own.
        let excludes: Vec<String> = excludes
            .into_iter()
            .filter(|exclude| !tags.iter().any(|tag| tag.starts_with(exclude.as_str())))
            .collect();
        let pairs: Vec<String> = tags.iter().map(|tag| format!("(\"{tag}\", c)")).collect();
        let grammar = format!(
            "root ::= TagDispatch({}, excludes=({}), loop_after_dispatch={loops})\nc ::= \"c\"",
            pairs.join(", "),
            quoted(&excludes).join(", "),
        );
        check_all(&grammar, texts(&['a', 'b', 'c'], 5), |text| {
            is_dispatched(text, &tags, &excludes, loops)
        });
    }
}
