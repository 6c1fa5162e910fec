//! Long counters: masks against a count by hand, and tables that do not grow with the text.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
use stencilm::{Budget, CompiledGrammar, Grammar, Limits, Matcher, Store, Vocabulary};

/// Runs of characters, beside every byte.
fn tokens() -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    tokens.extend([2, 3, 7, 31, 64].map(|count| b"a".repeat(count)));
    tokens.extend([2, 9].map(|count| "é".repeat(count).into_bytes()));
    tokens.extend(
        ["aé\"", "\"", "aaaaaaa\"", "\\u00e9", "\\u00e9a\\n", "\\", "éa", "aaax", "x"]
            .map(Vec::from),
    );
    tokens.sort();
    tokens.dedup();
    tokens
}

fn compile(grammar: &Grammar, limits: Limits) -> Arc<CompiledGrammar> {
    let tokens = tokens();
    let stop = u32::try_from(tokens.len()).expect("few tokens");
    let texts = tokens.iter().map(Some).chain([None]);
    let vocabulary = Arc::new(Vocabulary::new(texts, [], [stop]).expect("a vocabulary"));
    let store = Arc::new(Store::new(16 << 20));
    Arc::new(CompiledGrammar::new(grammar, vocabulary, store, limits).expect("it compiles"))
}

fn string(min: u32, max: u32) -> Grammar {
    let schema = format!(r#"{{"type":"string","minLength":{min},"maxLength":{max}}}"#);
    grammar(&schema, &JsonSchemaOptions::default(), &mut Budget::default()).expect("a schema")
}

fn regex(pattern: &str) -> Grammar {
    stencilm::from_regex(pattern, &mut Budget::default()).expect("a pattern")
}

/// What is being counted, and what may follow.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A JSON string.
    Json,
    /// `[aé]` and an `x`.
    ThenX,
    /// `[aé]` and nothing.
    Alone,
}

/// Whether a text begins a sentence, and whether it is one.
fn judge(kind: Kind, text: &[u8], min: usize, max: usize) -> (bool, bool) {
    let mut left = text;
    if let Kind::Json = kind {
        match left {
            [] => return (true, false),
            [b'"', rest @ ..] => left = rest,
            _ => return (false, false),
        }
    }
    let mut count = 0;
    loop {
        let length = match (kind, left) {
            (_, []) => {
                let is_whole = matches!(kind, Kind::Alone) && (min..=max).contains(&count);
                return (true, is_whole);
            }
            (Kind::Json, [b'"']) | (Kind::ThenX, [b'x']) => {
                let is_whole = (min..=max).contains(&count);
                return (is_whole, is_whole);
            }
            (Kind::Json, [b'\\', rest @ ..]) => match rest {
                [] => return (count < max, false),
                [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                [b'u', digits @ ..] => {
                    let digits = &digits[..digits.len().min(4)];
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return (false, false);
                    }
                    // Surrogates are not needed here.
                    if digits.len() >= 2 && matches!(digits[..2], [b'd' | b'D', b'8'..=b'f']) {
                        return (false, false);
                    }
                    if digits.len() < 4 {
                        return (count < max, false);
                    }
                    6
                }
                _ => return (false, false),
            },
            (Kind::Json, [b'"' | 0..0x20, ..]) => return (false, false),
            (Kind::Json, [0x20..0x80, ..]) | (_, [b'a', ..]) => 1,
            (_, [first, ..]) => {
                let is_ours = matches!(kind, Kind::Json) || *first == 0xC3;
                match std::str::from_utf8(left) {
                    _ if !is_ours => return (false, false),
                    Err(error) if error.valid_up_to() == 0 => {
                        let is_open = error.error_len().is_none();
                        return (is_open && count < max, false);
                    }
                    _ => {
                        let length = first.leading_ones() as usize;
                        if !matches!(kind, Kind::Json) && left[..length] != *"é".as_bytes() {
                            return (false, false);
                        }
                        length
                    }
                }
            }
        };
        count += 1;
        if count > max {
            return (false, false);
        }
        left = &left[length..];
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn masks_are_those_of_a_count_by_hand(
        which in 0_usize..3,
        min in prop_oneof![Just(0_usize), 1_usize..40, 4_000_usize..7_000],
        more in prop_oneof![Just(0_usize), 1_usize..20, 4_000_usize..7_000],
        choices in proptest::collection::vec(0_usize..1_000, 400),
        is_small in proptest::bool::ANY,
    ) {
        let max = min + more;
        let (kind, grammar) = match which {
            0 => (Kind::Json, string(u32::try_from(min).expect("small"), u32::try_from(max).expect("small"))),
            1 => (Kind::ThenX, regex(&format!("[aé]{{{min},{max}}}x"))),
            _ => (Kind::Alone, regex(&format!("[aé]{{{min},{max}}}"))),
        };
        let limits = Limits::default();
        let limits = if is_small { Limits { grammar_bytes: 1, ..limits } } else { limits };
        let compiled = compile(&grammar, limits);
        let tokens = tokens();
        let mut matcher = Matcher::new(compiled);
        let mut text: Vec<u8> = Vec::new();
        let mut row = vec![0_u32; tokens.len() / 32 + 1];
        for choice in choices {
            // Every mask near the ends, some elsewhere.
            let near = |count: usize| text.len().abs_diff(count) < 200;
            let mut open = Vec::new();
            if choice % 16 == 0 || near(min) || near(max) || text.len() < 3 {
                matcher.fill_mask(&mut row).expect("no limit");
                for (id, token) in tokens.iter().enumerate() {
                    let is_set = row[id / 32] >> (id % 32) & 1 == 1;
                    let (is_live, _) = judge(kind, &[&text[..], token].concat(), min, max);
                    if token.starts_with(b"\\") || text.ends_with(b"\\") {
                        continue;
                    }
                    prop_assert_eq!(is_set, is_live, "{:?} {} bytes, then {:?}", kind, text.len(), token);
                }
                let (_, is_whole) = judge(kind, &text, min, max);
                prop_assert_eq!(matcher.may_stop(), is_whole);
            }
            let is_good = |token: &Vec<u8>| {
                !token.contains(&b'"') && !token.contains(&b'x') || text.is_empty() || choice == 0
            };
            for (id, token) in tokens.iter().enumerate() {
                if is_good(token) && judge(kind, &[&text[..], token].concat(), min, max).0 {
                    open.push(id);
                }
            }
            let long: Vec<usize> = open.iter().copied().filter(|&id| tokens[id].len() > 20).collect();
            let from = if choice % 3 > 0 && !long.is_empty() { &long } else { &open };
            let Some(&id) = from.get(choice % from.len().max(1)) else { break };
            let token = u32::try_from(id).expect("few tokens");
            let is_taken = matcher.accept(token).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let tail = String::from_utf8_lossy(&text[text.len().saturating_sub(12)..]).into_owned();
            prop_assert!(is_taken, "{:?} after {tail:?}: {} {}", tokens[id].len(), String::from_utf8_lossy(&text).chars().count(), matcher.describe());
            text.extend_from_slice(&tokens[id]);
        }
    }
}

#[test]
fn long_texts_leave_the_tables_as_they_are() {
    let grammars = [
        string(0, 150_000),
        string(149_000, 150_000),
        regex("[aé]{5,150000}x"),
        regex("[aé]{0,150000}"),
    ];
    for (place, grammar) in grammars.iter().enumerate() {
        let compiled = compile(grammar, Limits::default());
        let mut matcher = Matcher::new(compiled.clone());
        if place < 2 {
            assert!(matcher.accept_bytes(b"\"").expect("no limit"));
        }
        let mut row = vec![0_u32; tokens().len() / 32 + 1];
        let mut sizes = Vec::new();
        for count in 0..20_000 {
            assert!(matcher.accept_bytes("aaéaa".as_bytes()).expect("no limit"));
            matcher.fill_mask(&mut row).expect("no limit");
            if count == 7_000 || count == 19_999 {
                sizes.push(compiled.size_in_bytes());
            }
        }
        assert_eq!(sizes[0], sizes[1], "grammar {place}");
    }
}
