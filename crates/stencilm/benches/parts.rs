//! What the parts cost, one by one: the vocabulary, the front ends, a first mask, a known mask, a token.
//!
//! ```text
//! STENCILM_VOCABULARY=saved cargo bench -p stencilm    # a file that `Vocabulary::to_bytes` filled
//! cargo bench -p stencilm -- mask                      # with made-up words, some benchmarks only
//! ```

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use stencilm::frontend::json_schema::{self, JsonSchemaOptions};
use stencilm::frontend::lark::Meaning;
use stencilm::grammar::CharSet;
use stencilm::{Budget, CompiledGrammar, Grammar, Limits, Matcher, Store, Vocabulary};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 80},
        "email": {"type": "string", "format": "email"},
        "born": {"type": "string", "format": "date"},
        "role": {"enum": ["reader", "writer", "keeper"]},
        "score": {"type": "number", "minimum": 0, "maximum": 100},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z-]+$"}, "maxItems": 8}
    },
    "required": ["name", "role"],
    "additionalProperties": false
}"#;
const TEXT: &str = r#"{"name": "Maria Lopez", "email": "maria@example.org", "born": "1990-02-28",
 "role": "writer", "score": 87.5, "tags": ["essays", "short-stories"]}"#;
const PATTERN: &str = r"(?:[A-Z][a-z]{1,20} ){1,4}\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2})?";
const EBNF: &str = "root ::= sum\nsum ::= sum [+-] product | product\n\
                    product ::= product [*/] value | value\nvalue ::= [0-9]+ | \"(\" sum \")\"";
const LARK: &str = "start: sum\n?sum: product | sum /[+-]/ product\n\
                    ?product: value | product /[*\\/]/ value\nvalue: /[0-9]+/ | \"(\" sum \")\"";
const MADE_UP_WORDS: u64 = 32_000;

/// The tokens of a saved vocabulary, or bytes and made-up words.
fn vocabulary() -> Vocabulary {
    if let Ok(path) = std::env::var("STENCILM_VOCABULARY") {
        let saved = std::fs::read(&path).expect("STENCILM_VOCABULARY names a file");
        return Vocabulary::from_bytes(&saved).expect("a saved vocabulary");
    }
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let parts = ["a", "be", "co", "d", "er", "fi", "gh", "in", "lo", "mu", "on", "st", "\",", " {"];
    for number in 0..MADE_UP_WORDS {
        // Words of one to four parts, and every third one after a space.
        let mut word = if number % 3 == 0 { b" ".to_vec() } else { Vec::new() };
        let mut rest = number;
        while rest > 0 {
            let place = usize::try_from(rest % 14).expect("below fourteen");
            word.extend_from_slice(parts[place].as_bytes());
            rest /= 14;
        }
        tokens.push(word);
    }
    let stop = u32::try_from(tokens.len()).expect("few tokens");
    Vocabulary::new(tokens.iter().map(Some).chain([None]), [], [stop]).expect("tokens")
}

fn tokens_of(vocabulary: &Vocabulary) -> Vec<Option<Vec<u8>>> {
    (0..vocabulary.size()).map(|id| vocabulary.token_bytes(id).map(<[u8]>::to_vec)).collect()
}

fn schema() -> Grammar {
    json_schema::grammar(SCHEMA, &JsonSchemaOptions::default(), &mut Budget::default())
        .expect("a schema")
}

fn compile(grammar: &Grammar, vocabulary: &Arc<Vocabulary>, store: &Arc<Store>) -> Matcher {
    let compiled =
        CompiledGrammar::new(grammar, vocabulary.clone(), store.clone(), Limits::default());
    Matcher::new(Arc::new(compiled.expect("a grammar")))
}

fn new_store() -> Arc<Store> {
    Arc::new(Store::new(256 << 20))
}

/// The longest tokens that spell a text, from its beginning on.
fn spell(vocabulary: &Vocabulary, text: &str) -> Vec<u32> {
    let tokens = tokens_of(vocabulary);
    let mut rest = text.as_bytes();
    let mut spelled = Vec::new();
    while !rest.is_empty() {
        let fits = |text: &&[u8]| !text.is_empty() && rest.starts_with(text);
        let known = (0_u32..).zip(&tokens);
        let known = known.filter_map(|(id, text)| Some((id, text.as_deref().filter(fits)?)));
        let (id, text) = known.max_by_key(|(_, text)| text.len()).expect("every byte is a token");
        spelled.push(id);
        rest = &rest[text.len()..];
    }
    spelled
}

fn of_vocabulary(criterion: &mut Criterion) {
    let vocabulary = vocabulary();
    let (tokens, saved) = (tokens_of(&vocabulary), vocabulary.to_bytes());
    let mut group = criterion.benchmark_group("vocabulary");
    group.sample_size(10);
    group.bench_function("build", |bencher| {
        bencher.iter(|| Vocabulary::new(tokens.iter().map(Option::as_ref), [], []));
    });
    group.bench_function("restore", |bencher| {
        bencher.iter(|| Vocabulary::from_bytes(&saved));
    });
    let letters = CharSet::new([('a', 'z')]);
    group.bench_function("sieve of letters, at most 16", |bencher| {
        bencher.iter(|| vocabulary.sieve(black_box(&letters), Some(16)));
    });
    group.finish();
}

fn of_front_ends(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("front end");
    group.bench_function("JSON Schema", |bencher| bencher.iter(schema));
    group.bench_function("regex", |bencher| {
        bencher.iter(|| stencilm::from_regex(black_box(PATTERN), &mut Budget::default()));
    });
    group.bench_function("EBNF", |bencher| {
        bencher.iter(|| stencilm::from_ebnf(black_box(EBNF), "root", &mut Budget::default()));
    });
    group.bench_function("Lark, contextual", |bencher| {
        let meaning = Meaning::Contextual;
        bencher.iter(|| stencilm::from_lark(LARK, "start", meaning, &mut Budget::default()));
    });
    group.finish();
}

fn of_masks(criterion: &mut Criterion) {
    let vocabulary = Arc::new(vocabulary());
    let (grammar, tokens) = (schema(), spell(&vocabulary, TEXT));
    let mut mask = vec![0_u32; vocabulary.words()];
    let mut group = criterion.benchmark_group("mask");
    let store = new_store();
    group.bench_function("first of a grammar", |bencher| {
        bencher.iter_batched(
            schema,
            |grammar| compile(&grammar, &vocabulary, &store).fill_mask(&mut mask),
            BatchSize::SmallInput,
        );
    });
    group.sample_size(20);
    group.bench_function("all of a text, with nothing known", |bencher| {
        bencher.iter_batched(
            || compile(&grammar, &vocabulary, &new_store()),
            |mut matcher| walk(&mut matcher, &tokens, &mut mask),
            BatchSize::LargeInput,
        );
    });
    let mut matcher = compile(&grammar, &vocabulary, &store);
    walk(&mut matcher, &tokens, &mut mask);
    group.bench_function("all of a text, known", |bencher| {
        bencher.iter(|| {
            matcher.reset();
            walk(&mut matcher, &tokens, &mut mask);
        });
    });
    matcher.reset();
    group.bench_function("one, known", |bencher| bencher.iter(|| matcher.fill_mask(&mut mask)));
    group.finish();
}

fn walk(matcher: &mut Matcher, tokens: &[u32], mask: &mut [u32]) {
    for &token in tokens {
        matcher.fill_mask(mask).expect("no limit");
        assert!(matcher.accept(token).expect("no limit"), "the text is valid");
    }
}

fn of_tokens(criterion: &mut Criterion) {
    let vocabulary = Arc::new(vocabulary());
    let tokens = spell(&vocabulary, TEXT);
    let mut matcher = compile(&schema(), &vocabulary, &new_store());
    let mut group = criterion.benchmark_group("matcher");
    group.bench_function("accept a text", |bencher| {
        bencher.iter(|| {
            matcher.reset();
            for &token in &tokens {
                assert!(matches!(matcher.accept(token), Ok(true)));
            }
        });
    });
    group.bench_function("accept its bytes", |bencher| {
        bencher.iter(|| {
            matcher.reset();
            matcher.accept_bytes(TEXT.as_bytes())
        });
    });
    matcher.reset();
    group.bench_function("validate a draft of eight", |bencher| {
        bencher.iter(|| matcher.validate(&tokens[..8]));
    });
    group.bench_function("accept and roll back", |bencher| {
        bencher.iter(|| {
            assert!(matches!(matcher.accept(tokens[0]), Ok(true)));
            matcher.rollback(1)
        });
    });
    group.bench_function("fork", |bencher| bencher.iter(|| matcher.fork()));
    group.finish();
}

criterion_group!(parts, of_vocabulary, of_front_ends, of_masks, of_tokens);
criterion_main!(parts);
