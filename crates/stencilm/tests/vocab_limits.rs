//! Vocabularies that nobody should have made: an error with a reason, or just as good as others.

use std::time::Instant;

use stencilm::{
    ErrorKind,
    grammar::CharSet,
    vocab::{Sieve, Trie, Vocabulary},
};

/// The only place in this file that expects an error.
#[track_caller]
fn check_refused(
    tokens: &[Option<Vec<u8>>],
    special: &[(&str, u32)],
    stop: &[u32],
    expected: &str,
) {
    let special = special.iter().map(|(name, id)| ((*name).to_owned(), *id));
    let made = Vocabulary::new(tokens.iter().map(Option::as_ref), special, stop.iter().copied());
    let Err(error) = made else { panic!("it must be refused: {expected}") };
    assert!(matches!(error.kind(), ErrorKind::Vocabulary { .. }));
    assert_eq!(error.to_string(), expected);
}

fn one_token() -> [Option<Vec<u8>>; 1] {
    [Some(b"a".to_vec())]
}

#[test]
fn vocabularies_are_shared_by_threads() {
    fn shareable<T: Send + Sync>() {}
    shareable::<Vocabulary>();
    shareable::<Trie>();
    shareable::<Sieve>();
}

#[test]
fn no_token_is_too_few() {
    check_refused(&[], &[], &[], "no token of the vocabulary has a text");
}

#[test]
fn no_text_is_too_few() {
    let nothing = [None, Some(Vec::new()), None];
    check_refused(&nothing, &[("<end>", 0)], &[0], "no token of the vocabulary has a text");
}

#[test]
fn one_token_is_enough() {
    let vocabulary = Vocabulary::new(one_token(), [], []).expect("it has a text");
    assert_eq!((vocabulary.size(), vocabulary.words()), (1, 1));
    assert_eq!(vocabulary.sieve(&CharSet::any(), None).pure()[..], [1]);
    assert_eq!(vocabulary.token_bytes(1), None);
    assert_eq!(vocabulary.token_chars(1), 0);
}

#[test]
fn a_special_token_must_exist() {
    check_refused(
        &one_token(),
        &[("<end>", 1)],
        &[],
        "the special token `<end>` is number 1, but the vocabulary has 1",
    );
}

#[test]
fn a_name_belongs_to_one_token() {
    check_refused(
        &[one_token(), one_token()].concat(),
        &[("<end>", 1), ("<pad>", 0), ("<end>", 0)],
        &[],
        "two special tokens have the name `<end>`",
    );
}

#[test]
fn a_stop_token_must_exist() {
    check_refused(
        &one_token(),
        &[],
        &[0, 7],
        "the stop token is number 7, but the vocabulary has 1",
    );
}

#[test]
fn a_token_of_100_000_bytes_is_too_long() {
    let long = [Some(b"a".to_vec()), Some(vec![b'x'; 100_000])];
    check_refused(&long, &[], &[], "token 1 has 100000 bytes, and at most 65535 are allowed");
}

#[test]
fn too_many_bytes_are_refused() {
    let long = vec![Some(vec![b'x'; 65_535]); 600];
    check_refused(&long, &[], &[], "the tokens have more than 33554432 bytes together");
}

#[test]
fn too_many_tokens_are_refused() {
    let many = std::iter::repeat_n(Some("a"), (1 << 22) + 1);
    let error = Vocabulary::new(many, [], []).expect_err("there are too many");
    assert_eq!(error.to_string(), "the vocabulary has more than 4194304 tokens");
}

#[test]
fn the_longest_tokens_need_no_deep_stack() {
    let mut tokens: Vec<Option<Vec<u8>>> = Vec::new();
    for last in 0..20 {
        tokens.push(Some([vec![b'x'; 65_534], vec![last]].concat()));
    }
    let vocabulary = Vocabulary::new(tokens, [], []).expect("they are just short enough");
    let trie = vocabulary.trie();
    assert_eq!(trie.len(), 1 + 65_534 + 20);
    assert_eq!((vocabulary.longest_bytes(), vocabulary.longest_chars()), (65_535, 65_535));
    let merged = Trie::merge(&[(trie, 1), (trie, 2), (trie, 3)]);
    assert_eq!(merged.tokens().len(), 60);
    assert_eq!(trie.without(0, &[1]).tokens().len(), 19);
    let sieve = vocabulary.sieve(&CharSet::any(), Some(65_534));
    assert_eq!(sieve.rest_count(), 20);
    let again = Vocabulary::from_bytes(&vocabulary.to_bytes()).expect("it was saved");
    assert_eq!(again.trie(), trie);
}

#[test]
fn a_million_tokens_are_indexed() {
    let start = Instant::now();
    let tokens = (0..1_000_000_u32).map(|id| Some(format!("{:x}é", id.wrapping_mul(0x9E37_79B9))));
    let vocabulary = Vocabulary::new(tokens, [], [999_999]).expect("they are few enough");
    assert_eq!(vocabulary.trie().tokens().len(), 1_000_000);
    let sieve = vocabulary.sieve(&CharSet::new([('0', '9')]), None);
    assert_eq!(sieve.rest_count(), 1_000_000);
    println!("a million tokens: {:?}, {} bytes", start.elapsed(), vocabulary.size_in_bytes());
}

#[test]
#[should_panic(expected = "sorted")]
fn a_trie_of_unsorted_texts_is_a_bug() {
    let _ = Trie::from_sorted([(b"b".as_slice(), 0), (b"a".as_slice(), 1)]);
}
