//! Masks of a schema against a judge that says which texts begin a sentence.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
use stencilm::{Budget, CompiledGrammar, Grammar, Limits, Matcher, Store, Vocabulary};

pub(crate) fn compile_with(
    schema: &str,
    options: &JsonSchemaOptions,
    tokens: &[Vec<u8>],
    limits: Limits,
) -> Result<Arc<CompiledGrammar>, TestCaseError> {
    let fail = |error: stencilm::Error| TestCaseError::fail(format!("{schema}: {error}"));
    let grammar = grammar(schema, options, &mut Budget::default()).map_err(fail)?;
    compile_grammar(&grammar, tokens, limits)
}

pub(crate) fn compile_grammar(
    grammar: &Grammar,
    tokens: &[Vec<u8>],
    limits: Limits,
) -> Result<Arc<CompiledGrammar>, TestCaseError> {
    let fail = |error: stencilm::Error| TestCaseError::fail(error.to_string());
    let stop = u32::try_from(tokens.len()).expect("few tokens");
    let texts = tokens.iter().map(Some).chain([None]);
    let vocabulary = Arc::new(Vocabulary::new(texts, [], [stop]).map_err(fail)?);
    let store = Arc::new(Store::new(16 << 20));
    Ok(Arc::new(CompiledGrammar::new(grammar, vocabulary, store, limits).map_err(fail)?))
}

/// Pieces of sentences: of which, from where, how long.
pub(crate) fn pieces(sentences: &BTreeSet<String>, cuts: &[(usize, usize, usize)]) -> Vec<String> {
    let sentences: Vec<&String> = sentences.iter().collect();
    let piece = |&(which, start, length): &(usize, usize, usize)| {
        let sentence = sentences[which % sentences.len()];
        let start = start % sentence.len();
        sentence[start..sentence.len().min(start + length)].to_owned()
    };
    cuts.iter().map(piece).collect()
}

/// Whether some sentence begins so.
pub(crate) fn begins(sentences: &BTreeSet<String>, text: &str) -> bool {
    sentences.range(text.to_owned()..).next().is_some_and(|next| next.starts_with(text))
}

/// Every byte, and these.
pub(crate) fn vocabulary(more: &[String]) -> Vec<Vec<u8>> {
    let more: BTreeSet<Vec<u8>> =
        more.iter().filter(|text| text.len() > 1).map(|text| text.clone().into_bytes()).collect();
    (0..=u8::MAX).map(|byte| vec![byte]).chain(more).collect()
}

pub(crate) fn bits(matcher: &mut Matcher, count: usize) -> Result<Vec<bool>, TestCaseError> {
    let mut words = vec![0_u32; (count + 1).div_ceil(32)];
    matcher.fill_mask(&mut words).map_err(|error| TestCaseError::fail(error.to_string()))?;
    Ok((0..=count).map(|id| words[id / 32] >> (id % 32) & 1 == 1).collect())
}

/// Walks from the beginning along `choices`; at each step the mask must be what the sentences say.
pub(crate) fn walk(
    tokens: &[Vec<u8>],
    compiled: &Arc<CompiledGrammar>,
    is_live: &dyn Fn(&[u8]) -> bool,
    is_sentence: &dyn Fn(&[u8]) -> bool,
    choices: &[usize],
) -> Result<(), TestCaseError> {
    let mut matcher = Matcher::new(compiled.clone());
    let mut text: Vec<u8> = Vec::new();
    let mut masks = Vec::new();
    for &choice in choices {
        let mask = bits(&mut matcher, tokens.len())?;
        let mut open = Vec::new();
        for (id, token) in tokens.iter().enumerate() {
            let judged = is_live(&[&text[..], token].concat());
            prop_assert_eq!(
                judged,
                mask[id],
                "after {:?} {:?}",
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(token)
            );
            let id = u32::try_from(id).expect("few tokens");
            if judged {
                open.push(id);
            }
            let is_one = matcher.validate(&[id]).expect("no limit") == 1;
            prop_assert_eq!(is_one, judged, "validate");
        }
        prop_assert_eq!(mask[tokens.len()], is_sentence(&text), "the stop token");
        let bytes = matcher.next_bytes().expect("no limit");
        let live: Vec<u8> =
            (0..=u8::MAX).filter(|&byte| is_live(&[&text[..], &[byte]].concat())).collect();
        prop_assert_eq!(bytes, live, "next bytes after {:?}", String::from_utf8_lossy(&text));
        masks.push(mask);
        if open.is_empty() {
            break;
        }
        // Longer tokens more often than not.
        let long: Vec<u32> = open.iter().copied().filter(|&id| id > 255).collect();
        let from = if choice % 4 > 0 && !long.is_empty() { &long } else { &open };
        let token = from[choice % from.len()];
        prop_assert!(matcher.accept(token).expect("no limit"));
        text.extend_from_slice(&tokens[token as usize]);
    }
    // Back, step by step.
    while let Some(mask) = masks.pop() {
        if masks.len() < matcher.rollback_window() {
            prop_assert!(matcher.rollback(matcher.rollback_window() - masks.len()));
        }
        let fork = bits(&mut matcher.fork(), tokens.len())?;
        prop_assert_eq!(&fork, &mask, "after going back");
    }
    Ok(())
}

/// With the smaller ones, every piece of learning opens a new generation.
pub(crate) fn limits(is_small: bool) -> Limits {
    let limits = Limits::default();
    if is_small { Limits { grammar_bytes: 1, ..limits } } else { limits }
}
