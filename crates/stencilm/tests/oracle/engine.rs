//! The engine under test, as the properties see it: the only place that compiles.

use std::sync::Arc;

use proptest::test_runner::TestCaseError;
use stencilm::{
    Budget, CompiledGrammar, Error, ErrorKind, Grammar, Limits, Matcher, Store, Vocabulary,
};

use crate::oracle::chart::Chart;
use crate::oracle::judge::Judge;
use crate::oracle::nfa::Symbol;
use crate::oracle::plain::Plain;
use crate::oracle::runner::Verdict;
use crate::oracle::vocabulary::{Token, Tokens};

/// Words after the vocabulary's own that a mask must clear.
const PADDING: usize = 2;

pub(crate) fn fail<T>(what: impl Into<String>) -> Result<T, TestCaseError> {
    Err(TestCaseError::fail(what.into()))
}

/// An error of the engine's where there should be none. A grammar may be ambiguous without bound:
/// then `items` may be reached, and the case says nothing.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn unexpected(error: Error) -> TestCaseError {
    match error.kind() {
        ErrorKind::LimitReached { limit: "items", .. } => TestCaseError::reject("ambiguous"),
        _ => TestCaseError::fail(format!("an error: {error}")),
    }
}

/// The tokens as the engine takes them.
pub(crate) fn vocabulary(tokens: &Tokens) -> Result<Arc<Vocabulary>, TestCaseError> {
    let text = |token: &Token| match token {
        Token::Text(bytes) => Some(bytes.clone()),
        Token::Special(_) | Token::Stop | Token::NoText => None,
    };
    let (mut special, mut stop) = (Vec::new(), Vec::new());
    for (id, token) in (0..).zip(&tokens.0) {
        match token {
            Token::Special(name) => special.push(((*name).to_owned(), id)),
            Token::Stop => stop.push(id),
            Token::Text(_) | Token::NoText => {}
        }
    }
    match Vocabulary::new(tokens.0.iter().map(text), special, stop) {
        Ok(vocabulary) => Ok(Arc::new(vocabulary)),
        Err(error) => Err(TestCaseError::reject(error.to_string())),
    }
}

/// The grammar compiled; nothing if the engine says that no text of these tokens can match.
pub(crate) fn compile(
    grammar: &Plain,
    vocabulary: &Arc<Vocabulary>,
    store: &Arc<Store>,
    limits: Limits,
) -> Result<Option<Arc<CompiledGrammar>>, TestCaseError> {
    let rules = stencilm::from_rules(grammar.build(), &mut Budget::default());
    compile_rules(rules, vocabulary, store, limits)
}

/// The same where a grammar of its own supplies each of the `chosen` rules to those that call it;
/// inside of it, the others are supplied again.
pub(crate) fn compile_in_parts(
    grammar: &Plain,
    chosen: &[usize],
    vocabulary: &Arc<Vocabulary>,
    store: &Arc<Store>,
    limits: Limits,
) -> Result<Option<Arc<CompiledGrammar>>, TestCaseError> {
    compile_rules(in_parts(grammar, chosen), vocabulary, store, limits)
}

fn in_parts(grammar: &Plain, chosen: &[usize]) -> Result<Grammar, Error> {
    let mut rules = grammar.build();
    for &rule in chosen {
        let others: Vec<usize> = chosen.iter().copied().filter(|&other| other != rule).collect();
        let part = Plain { start: rule, ..grammar.clone() };
        rules.rules[rule].1 = match in_parts(&part, &others) {
            Ok(part) => rules.supply(&part)?,
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                rules.exprs.nothing()
            }
            Err(error) => return Err(error),
        };
    }
    stencilm::from_rules(rules, &mut Budget::default())
}

fn compile_rules(
    rules: Result<Grammar, Error>,
    vocabulary: &Arc<Vocabulary>,
    store: &Arc<Store>,
    limits: Limits,
) -> Result<Option<Arc<CompiledGrammar>>, TestCaseError> {
    let is_complete = (0..=255).all(|byte| vocabulary.spellable().contains(byte));
    let compiled = rules
        .and_then(|rules| CompiledGrammar::new(&rules, vocabulary.clone(), store.clone(), limits));
    match compiled {
        Ok(compiled) => Ok(Some(Arc::new(compiled))),
        Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::Vocabulary { .. }) && !is_complete => {
            if error.to_string().contains("cannot spell any text") {
                return Ok(None);
            }
            fail(format!("small, but too much work: {error}"))
        }
        Err(error) => fail(format!("compiling: {error}")),
    }
}

/// A store of its own.
pub(crate) fn store() -> Arc<Store> {
    Arc::new(Store::new(16 << 20))
}

/// The mask as bits; an error if the words behind it are not cleared.
pub(crate) fn mask(matcher: &mut Matcher, tokens: &Tokens) -> Result<Vec<bool>, TestCaseError> {
    try_mask(matcher, tokens)?.map_err(unexpected)
}

/// The same where the engine may reach a limit.
pub(crate) fn try_mask(
    matcher: &mut Matcher,
    tokens: &Tokens,
) -> Result<Result<Vec<bool>, Error>, TestCaseError> {
    let mut words = vec![0xAAAA_AAAA_u32; tokens.0.len().div_ceil(32) + PADDING];
    if let Err(error) = matcher.fill_mask(&mut words) {
        let untouched = words.iter().all(|&word| word == 0xAAAA_AAAA);
        return if untouched { Ok(Err(error)) } else { fail("an error, but a mask was written") };
    }
    bits(&words, tokens).map(Ok)
}

/// Words as bits, one a token.
pub(crate) fn bits(words: &[u32], tokens: &Tokens) -> Result<Vec<bool>, TestCaseError> {
    let mut bits: Vec<bool> =
        words.iter().flat_map(|word| (0..32).map(move |at| word >> at & 1 == 1)).collect();
    if bits.split_off(tokens.0.len()).contains(&true) {
        return fail("a bit is set beyond the vocabulary");
    }
    Ok(bits)
}

/// That the engine's mask is the judge's.
pub(crate) fn same_mask(tokens: &Tokens, judged: &[bool], engine: &[bool], at: &str) -> Verdict {
    for (id, (judged, engine)) in judged.iter().zip(engine).enumerate() {
        if judged != engine {
            let says = if *engine { "allows" } else { "masks" };
            return fail(format!("{at}: the engine {says} {id}:{:?}", tokens.0[id]));
        }
    }
    Ok(())
}

/// A token's id as the engine takes it.
pub(crate) fn id_of(place: usize) -> u32 {
    u32::try_from(place).expect("few tokens")
}

/// Reads the texts of these tokens.
pub(crate) fn read(chart: &mut Chart<'_>, tokens: &Tokens, judge: &Judge, ids: &[usize]) {
    for &id in ids {
        chart.read(&symbols_of(tokens, judge, id));
    }
}

/// What the token adds to the text.
pub(crate) fn symbols_of(tokens: &Tokens, judge: &Judge, id: usize) -> Vec<Symbol> {
    tokens.symbols(judge, id).unwrap_or_default()
}
