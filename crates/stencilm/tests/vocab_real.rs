//! Vocabularies of real models, where the machine has them: `--nocapture` shows the times.

use std::{
    collections::HashMap,
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use stencilm::{
    grammar::CharSet,
    vocab::{Trie, Vocabulary},
};

/// The byte that each character of a byte-level tokenizer's table stands for: printable ones
/// for themselves, the others moved beyond Latin-1.
fn byte_level() -> HashMap<char, u8> {
    let is_kept = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let kept = (0..=u8::MAX).filter(is_kept).map(|byte| (byte.into(), byte));
    let moved = (0..=u8::MAX).filter(|byte| !is_kept(byte)).zip('\u{100}'..);
    kept.chain(moved.map(|(byte, c)| (c, byte))).collect()
}

/// The tokens of a `tokenizer.json`, as far as this test needs them; `None` if it isn't here.
fn tokens_of(model: &str) -> Option<Vec<Option<Vec<u8>>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tokenizers");
    let text = fs::read(root.join(model).join("tokenizer.json")).ok()?;
    let json: Value = serde_json::from_slice(&text).expect("tokenizer.json is JSON");
    let table = json["model"]["vocab"].as_object().expect("it has a vocabulary");
    let added = json["added_tokens"].as_array().expect("it has added tokens");
    let id_of = |id: &Value| usize::try_from(id.as_u64().expect("ids are numbers")).expect("small");
    let is_byte_level = json["model"]["byte_fallback"] != Value::Bool(true);
    let bytes = byte_level();
    let mut tokens = vec![None; table.len() + added.len()];
    for (spelling, id) in table {
        let text = if is_byte_level {
            spelling.chars().map(|c| bytes.get(&c).copied()).collect()
        } else if let Some(hex) = spelling.strip_prefix("<0x").and_then(|it| it.strip_suffix('>')) {
            u8::from_str_radix(hex, 16).ok().map(|byte| vec![byte])
        } else {
            Some(spelling.replace('\u{2581}', " ").into_bytes())
        };
        tokens[id_of(id)] = text;
    }
    for token in added {
        tokens[id_of(&token["id"])] = None;
    }
    while tokens.last().is_some_and(Option::is_none) {
        tokens.pop();
    }
    Some(tokens)
}

/// The shortest of a few runs.
fn best_of<T>(runs: usize, work: impl Fn() -> T) -> (T, Duration) {
    let run = || {
        let start = Instant::now();
        let made = work();
        (made, start.elapsed())
    };
    (1..runs).fold(run(), |best, _| [best, run()].into_iter().min_by_key(|it| it.1).expect("two"))
}

fn check(model: &str) {
    let Some(tokens) = tokens_of(model) else {
        println!("{model}: skipped, its tokenizer.json is not here");
        return;
    };
    let build = || Vocabulary::new(tokens.iter().map(Option::as_ref), [], []).expect("it is good");
    let (vocabulary, built) = best_of(5, build);
    let saved = vocabulary.to_bytes();
    let (again, loaded) = best_of(5, || Vocabulary::from_bytes(&saved).expect("it was saved"));
    assert_eq!(again.trie(), vocabulary.trie());
    let trie = vocabulary.trie();
    println!(
        "{model}: {} tokens, {} nodes, {} bytes ({} in a file), longest {} bytes; built in {built:?}, loaded in {loaded:?}",
        vocabulary.size(),
        trie.len(),
        vocabulary.size_in_bytes(),
        saved.len(),
        vocabulary.longest_bytes(),
    );
    let known = (0..trie.len()).filter(|&node| vocabulary.below(node).is_some()).count();
    println!("  {known} nodes know what is below");
    let classes = [
        ("a JSON string", CharSet::of(('\0'..' ').chain(['"', '\\', '\x7F'])).negate(), None),
        (
            "at most 5 of them",
            CharSet::of(('\0'..' ').chain(['"', '\\', '\x7F'])).negate(),
            Some(5),
        ),
        ("[a-z0-9_]", CharSet::new([('a', 'z'), ('0', '9'), ('_', '_')]), None),
        ("vowels", CharSet::of("aeiouyAEIOUY".chars()), None),
        ("ASCII and Cyrillic", CharSet::new([('\0', '\x7F'), ('\u{400}', '\u{4FF}')]), None),
        (
            "every other character",
            CharSet::from_code_points((0..0x8000).map(|code| (2 * code, 2 * code))),
            None,
        ),
        ("nothing", CharSet::of([]), None),
        ("anything", CharSet::any(), None),
    ];
    for (name, class, max_chars) in classes {
        let (sieve, time) = best_of(20, || vocabulary.sieve(&class, max_chars));
        for rank in 0..trie.tokens().len() {
            let id = trie.tokens()[rank];
            let text = vocabulary.token_bytes(id).expect("it is in the trie");
            let is_pure = std::str::from_utf8(text).is_ok_and(|text| {
                text.chars().all(|c| class.contains(c))
                    && max_chars.is_none_or(|most| text.chars().count() <= most as usize)
            });
            let has = |words: &[u32], at: usize| words[at / 32] >> (at % 32) & 1 == 1;
            assert_eq!(has(sieve.pure(), id as usize), is_pure, "{model}, {name}, token {id}");
            assert_eq!(has(sieve.rest(), rank), !is_pure, "{model}, {name}, token {id}");
        }
        println!("  {name}: {time:?}, rest {}", sieve.rest_count());
    }
    let quoted: Vec<(&Trie, u32)> = (0..trie.len())
        .filter(|&node| trie.byte(node) == b'"' && trie.end(node) > node + 1)
        .map(|node| (trie, node))
        .collect();
    let (merged, merging) = best_of(10, || Trie::merge(&quoted));
    println!("  {} subtrees after a quote: {} nodes in {merging:?}", quoted.len(), merged.len());
    let (_, hashing) = best_of(10, || black_box(merged.content_hash(vocabulary.key())));
    println!("  its hash in {hashing:?}, {} bytes", merged.size_in_bytes());
}

#[test]
fn llama_has_a_sound_vocabulary() {
    check("llama3.1");
}

#[test]
fn gemma_has_a_sound_vocabulary() {
    check("gemma3");
}
