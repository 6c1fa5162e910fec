//! Vocabularies against their plain definitions: random texts, random classes, damaged files.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, option, prelude::*, sample::select};
use stencilm::{
    grammar::{ByteSet, CharSet, HashKey},
    vocab::{Parted, Trie, Vocabulary},
};

type Tokens = Vec<Option<Vec<u8>>>;

/// Pieces of texts: ASCII, characters of each length, and parts of them.
const PIECES: [&[u8]; 18] = [
    b"a",
    b"b",
    b"\"",
    b"\\",
    b" ",
    b"\n",
    b"\x7F",
    b"0",
    "é".as_bytes(),
    "ß".as_bytes(),
    "\u{2028}".as_bytes(),
    "漢".as_bytes(),
    "😀".as_bytes(),
    b"\xC3",
    b"\xA9",
    b"\xF0\x9F",
    b"\x98\x80",
    b"\xFF",
];

/// Ends of the ranges of classes: around the characters above, and of UTF-8's lengths.
const ENDS: [char; 22] = [
    '\0',
    '\n',
    '\x1F',
    ' ',
    '!',
    '"',
    '0',
    '\\',
    'a',
    'b',
    '\x7E',
    '\x7F',
    '\u{80}',
    'ß',
    'é',
    '\u{7FF}',
    '\u{2028}',
    '漢',
    '\u{D7FF}',
    '\u{E000}',
    '😀',
    '\u{10FFFF}',
];

fn a_token() -> impl Strategy<Value = Vec<u8>> {
    let short = vec(select(&PIECES[..]), 0..6);
    let long = (vec(select(&PIECES[..]), 1..3), 20..70_usize)
        .prop_map(|(pieces, times)| pieces.repeat(times));
    prop_oneof![9 => short, 1 => long].prop_map(|pieces| pieces.concat())
}

/// At least one token has a text; texts may come repeatedly.
fn some_tokens() -> impl Strategy<Value = Tokens> {
    vec(option::weighted(0.9, a_token()), 0..100).prop_map(|mut tokens| {
        tokens.push(Some(b"a".to_vec()));
        tokens
    })
}

fn a_class() -> impl Strategy<Value = CharSet> {
    let ends = vec((select(&ENDS[..]), select(&ENDS[..])), 0..6);
    let class = ends.prop_map(|ends| CharSet::new(ends.into_iter().map(|(a, b)| (a, b.max(a)))));
    (class, any::<bool>()).prop_map(|(class, not)| if not { class.negate() } else { class })
}

fn named_class(name: &str) -> CharSet {
    match name {
        "[0]" => CharSet::of(['0']),
        "[ -~]" => CharSet::new([(' ', '~')]),
        "[a-z]" => CharSet::new([('a', 'z')]),
        "[^b]" => CharSet::of(['b']).negate(),
        _ => CharSet::new([('0', '9')]).negate(),
    }
}

fn a_vocabulary(tokens: &Tokens) -> Vocabulary {
    Vocabulary::new(tokens.iter().map(Option::as_deref), [], []).expect("the tokens are good")
}

/// Every token with text, in trie order.
fn pairs(tokens: &Tokens) -> BTreeSet<(Vec<u8>, u32)> {
    let texts = (0..).zip(tokens).filter_map(|(id, text)| Some((text.clone()?, id)));
    texts.filter(|(text, _)| !text.is_empty()).collect()
}

fn a_trie<'a>(pairs: impl IntoIterator<Item = &'a (Vec<u8>, u32)>) -> Trie {
    Trie::from_sorted(pairs.into_iter().map(|(text, id)| (text.as_slice(), *id)))
}

/// What is left of the texts that go on after `start`.
fn leftovers(pairs: &BTreeSet<(Vec<u8>, u32)>, start: &[u8]) -> BTreeSet<(Vec<u8>, u32)> {
    let rest = |(text, id): &(Vec<u8>, u32)| Some((text.strip_prefix(start)?.to_vec(), *id));
    pairs.iter().filter_map(rest).filter(|(rest, _)| !rest.is_empty()).collect()
}

/// The nodes of a trie and their texts.
fn nodes(trie: &Trie) -> Vec<(u32, Vec<u8>)> {
    let mut path: Vec<(u32, u8)> = Vec::new();
    let text = |node: u32| {
        path.retain(|(end, _)| *end > node);
        path.extend((node > 0).then(|| (trie.end(node), trie.byte(node))));
        (node, path.iter().map(|(_, byte)| *byte).collect())
    };
    (0..trie.len()).map(text).collect()
}

fn touched_chars(text: &[u8]) -> u32 {
    let begins = |byte: &&u8| !(0x80..0xC0).contains(*byte);
    let goes_on = text.first().is_some_and(|byte| !begins(&byte));
    u32::try_from(text.iter().filter(begins).count()).expect("short") + u32::from(goes_on)
}

fn set_bits(words: &[u32]) -> BTreeSet<u32> {
    let bits = (0..).zip(words).flat_map(|(at, word)| {
        (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 32 + bit)
    });
    bits.collect()
}

/// Whether a character of the class begins so.
fn begins_one_of(begun: &[u8], class: &CharSet) -> bool {
    match std::str::from_utf8(begun) {
        Ok(text) => text.chars().all(|c| class.contains(c)),
        Err(error) if error.error_len().is_none() => {
            (0x80..0xC0).any(|byte| begins_one_of(&[begun, &[byte]].concat(), class))
        }
        Err(_) => false,
    }
}

proptest! {
    #[test]
    fn a_trie_finds_what_a_map_finds(tokens in some_tokens()) {
        let vocabulary = a_vocabulary(&tokens);
        let trie = vocabulary.trie();
        let mut map: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for (text, id) in pairs(&tokens) {
            for end in 0..text.len() {
                map.entry(text[..end].to_vec()).or_default();
            }
            map.entry(text).or_default().push(id);
        }
        let found = nodes(trie);
        prop_assert_eq!(found.len(), map.len());
        for ((node, text), (expected, ids)) in found.iter().zip(&map) {
            prop_assert_eq!(text, expected);
            prop_assert_eq!(trie.tokens_at(*node), ids.as_slice());
            prop_assert_eq!(trie.find(text), Some(*node));
            let below = map.range(text.clone()..).take_while(|(longer, _)| longer.starts_with(text));
            let below: Vec<u32> = below.flat_map(|(_, ids)| ids).copied().collect();
            prop_assert_eq!(trie.tokens_below(*node), below);
            for byte in 0..=u8::MAX {
                let longer = [text.as_slice(), &[byte]].concat();
                prop_assert_eq!(trie.child(*node, byte).is_some(), map.contains_key(&longer));
            }
        }
        for byte in 0..=u8::MAX {
            prop_assert_eq!(vocabulary.root_child(byte), trie.child(0, byte));
        }
    }

    #[test]
    fn a_merge_is_the_union_of_leftovers(
        first in some_tokens(),
        second in some_tokens(),
        picks in vec((any::<bool>(), any::<prop::sample::Index>()), 0..6),
    ) {
        let both = [pairs(&first), pairs(&second)];
        let tries = [a_trie(&both[0]), a_trie(&both[1])];
        let mut sources = Vec::new();
        let mut expected = BTreeSet::new();
        for (which, index) in picks {
            let which = usize::from(which);
            let all = nodes(&tries[which]);
            let (node, text) = &all[index.index(all.len())];
            sources.push((&tries[which], *node));
            expected.append(&mut leftovers(&both[which], text));
        }
        let merged = Trie::merge(&sources);
        prop_assert_eq!(&merged, &a_trie(&expected));
        let key = HashKey::random();
        prop_assert_eq!(merged.content_hash(&key), a_trie(&expected).content_hash(&key));
    }

    #[test]
    fn tokens_can_be_taken_out(
        tokens in some_tokens(),
        removed in vec(any::<u32>(), 0..5),
        index in any::<prop::sample::Index>(),
    ) {
        let pairs = pairs(&tokens);
        let trie = a_trie(&pairs);
        let all = nodes(&trie);
        let (node, text) = &all[index.index(all.len())];
        let mut expected = leftovers(&pairs, text);
        expected.retain(|(_, id)| !set_bits(&removed).contains(id));
        prop_assert_eq!(trie.without(*node, &removed), a_trie(&expected));
    }

    #[test]
    fn a_sieve_is_exact(
        tokens in some_tokens(),
        class in a_class(),
        max_chars in option::of(prop_oneof![0..8_u32, 13..20_u32, 55..75_u32]),
    ) {
        let vocabulary = a_vocabulary(&tokens);
        let is_pure = |text: &[u8]| {
            std::str::from_utf8(text).is_ok_and(|text| {
                text.chars().all(|c| class.contains(c))
                    && max_chars.is_none_or(|most| text.chars().count() <= most as usize)
            })
        };
        let (pure, rest): (BTreeSet<_>, BTreeSet<_>) =
            pairs(&tokens).into_iter().partition(|(text, _)| is_pure(text));
        let sieve = vocabulary.sieve(&class, max_chars);
        let pure: BTreeSet<u32> = pure.iter().map(|(_, id)| *id).collect();
        prop_assert_eq!(sieve.pure().len(), vocabulary.words());
        prop_assert_eq!(set_bits(sieve.pure()), pure);
        let ranks = vocabulary.trie().tokens();
        let found = set_bits(sieve.rest()).into_iter().map(|rank| ranks[rank as usize]);
        let ids: Vec<u32> = rest.iter().map(|(_, id)| *id).collect();
        prop_assert_eq!(found.collect::<Vec<_>>(), ids);
        prop_assert_eq!(sieve.rest_count() as usize, rest.len());
    }

    #[test]
    fn a_sieve_of_what_comes_after_a_space_is_exact(
        tokens in some_tokens(),
        spaced in vec(vec(select(b" ab"), 0..5), 0..20),
        class in a_class(),
        max_chars in option::of(0..4_u32),
    ) {
        let spaced = spaced.into_iter().map(|text| Some([b" ", &text[..]].concat()));
        let tokens: Tokens = tokens.into_iter().chain(spaced).collect();
        let vocabulary = a_vocabulary(&tokens);
        let is_pure = |text: &[u8]| {
            std::str::from_utf8(&text[1..]).is_ok_and(|text| {
                text.chars().all(|c| class.contains(c))
                    && max_chars.is_none_or(|most| text.chars().count() <= most as usize)
            })
        };
        let (pure, rest): (BTreeSet<_>, BTreeSet<_>) = pairs(&tokens)
            .into_iter()
            .filter(|(text, _)| text.starts_with(b" ") && text.len() > 1)
            .partition(|(text, _)| is_pure(text));
        let sieve = vocabulary.sieve_of(Parted::AfterSpace, &class, max_chars);
        prop_assert_eq!(set_bits(sieve.pure()), pure.iter().map(|(_, id)| *id).collect());
        let ranks = vocabulary.trie().tokens();
        let found = set_bits(sieve.rest()).into_iter().map(|rank| ranks[rank as usize]);
        let ids: Vec<u32> = rest.iter().map(|(_, id)| *id).collect();
        prop_assert_eq!(found.collect::<Vec<_>>(), ids);
    }

    #[test]
    fn a_sieve_of_beginnings_is_exact(
        tokens in some_tokens(),
        cut in vec(("[a é€\u{1F600}]{0,3}", "[é€яא\u{1F600}\u{10FFFF}]", 1..4_usize), 0..12),
        class in a_class(),
        is_spaced in any::<bool>(),
    ) {
        let cut = cut.into_iter().map(|(text, last, length)| {
            let last = &last.as_bytes()[..length.min(last.len() - 1)];
            Some([text.as_bytes(), last].concat())
        });
        let tokens: Tokens = tokens.into_iter().chain(cut).collect();
        let vocabulary = a_vocabulary(&tokens);
        let is_pure = |text: &[u8]| {
            (0..=text.len()).any(|at| {
                let (whole, begun) = text.split_at(at);
                std::str::from_utf8(whole).is_ok_and(|whole| whole.chars().all(|c| class.contains(c)))
                    && (begun.is_empty() || begins_one_of(begun, &class))
            })
        };
        let (parted, from) = if is_spaced { (Parted::AfterSpace, 1) } else { (Parted::Whole, 0) };
        let (pure, rest): (BTreeSet<_>, BTreeSet<_>) = pairs(&tokens)
            .into_iter()
            .filter(|(text, _)| !is_spaced || text.starts_with(b" ") && text.len() > 1)
            .partition(|(text, _)| is_pure(&text[from..]));
        let sieve = vocabulary.sieve_of_beginnings(parted, &class);
        prop_assert_eq!(set_bits(sieve.pure()), pure.iter().map(|(_, id)| *id).collect());
        let ranks = vocabulary.trie().tokens();
        let found = set_bits(sieve.rest()).into_iter().map(|rank| ranks[rank as usize]);
        let ids: Vec<u32> = rest.iter().map(|(_, id)| *id).collect();
        prop_assert_eq!(found.collect::<Vec<_>>(), ids);
    }

    #[test]
    fn a_sieve_of_many_tokens_is_exact(
        class in prop_oneof![a_class(), select(&["[0]", "[ -~]", "[a-z]", "[^b]", "[^0-9]"][..])
            .prop_map(named_class)],
        max_chars in option::of(1..4_u32),
    ) {
        // So many that they are laid into a mask by rows, and not one by one.
        let mut tokens: Tokens = Vec::new();
        let mut words = vec![String::new()];
        for _ in 0..4 {
            let longer = |word: &String| "abB0 -é\n".chars().map(move |c| format!("{word}{c}")).collect::<Vec<_>>();
            words = words.iter().flat_map(longer).collect();
            tokens.extend(words.iter().map(|word| Some(word.clone().into_bytes())));
        }
        let vocabulary = a_vocabulary(&tokens);
        let ranks = vocabulary.trie().tokens();
        for (parted, from) in [(Parted::Whole, 0), (Parted::AfterSpace, 1)] {
            let is_pure = |id: u32| {
                let text = std::str::from_utf8(tokens[id as usize].as_deref().expect("it has a text"));
                let text = &text.expect("it is UTF-8")[from..];
                text.chars().all(|c| class.contains(c))
                    && max_chars.is_none_or(|most| text.chars().count() <= most as usize)
            };
            let part = ranks.iter().copied().filter(|&id| {
                let text = tokens[id as usize].as_deref().expect("it has a text");
                from == 0 || text.starts_with(b" ") && text.len() > 1
            });
            let (pure, rest): (Vec<u32>, Vec<u32>) = part.partition(|&id| is_pure(id));
            let sieve = vocabulary.sieve_of(parted, &class, max_chars);
            prop_assert_eq!(set_bits(sieve.pure()), pure.into_iter().collect());
            let found = set_bits(sieve.rest()).into_iter().map(|rank| ranks[rank as usize]);
            prop_assert_eq!(found.collect::<Vec<_>>(), rest);
        }
    }

    #[test]
    fn facts_hold_below_every_node(tokens in some_tokens()) {
        let vocabulary = a_vocabulary(&tokens);
        let pairs = pairs(&tokens);
        for (node, start) in nodes(vocabulary.trie()) {
            let rests = leftovers(&pairs, &start);
            let Some(below) = vocabulary.below(node) else {
                prop_assert!(rests.len() < 8);
                continue;
            };
            let bytes: ByteSet = rests.iter().flat_map(|(rest, _)| rest).copied().collect();
            prop_assert_eq!(below.bytes, bytes);
            let begun = |rest: &[u8]| {
                let goes_on = !start.is_empty() && (0x80..0xC0).contains(&rest[0]);
                touched_chars(rest) - u32::from(goes_on)
            };
            let chars = rests.iter().map(|(rest, _)| begun(rest)).max().unwrap_or(0);
            prop_assert_eq!(below.chars, chars);
            prop_assert_eq!(
                below.has_partial,
                rests.iter().any(|(_, id)| vocabulary.is_partial(*id))
            );
        }
    }

    #[test]
    fn tokens_know_their_characters(tokens in some_tokens()) {
        let vocabulary = a_vocabulary(&tokens);
        let mut longest = (0, 0);
        for (id, text) in (0..).zip(&tokens) {
            prop_assert_eq!(vocabulary.token_bytes(id), text.as_deref());
            let text = text.as_deref().unwrap_or_default();
            prop_assert_eq!(vocabulary.token_chars(id), touched_chars(text));
            prop_assert_eq!(vocabulary.is_partial(id), std::str::from_utf8(text).is_err());
            longest = (longest.0.max(text.len()), longest.1.max(touched_chars(text)));
        }
        prop_assert_eq!(vocabulary.longest_bytes() as usize, longest.0);
        prop_assert_eq!(vocabulary.longest_chars(), longest.1);
        let single = tokens.iter().flatten().filter(|text| text.len() == 1).map(|text| text[0]);
        prop_assert_eq!(vocabulary.spellable(), single.collect::<ByteSet>());
        prop_assert!(!vocabulary.is_byte_complete());
    }

    #[test]
    fn a_file_gives_the_vocabulary_back(tokens in some_tokens(), names in vec("[a-z]{0,3}", 0..4)) {
        let names: BTreeSet<String> = names.into_iter().collect();
        let special: Vec<(String, u32)> = names.into_iter().map(|name| (name, 0)).collect();
        let texts = tokens.iter().map(Option::as_deref);
        let saved = Vocabulary::new(texts, special.clone(), [0]).expect("it is good").to_bytes();
        let vocabulary = Vocabulary::from_bytes(&saved).expect("it was saved");
        prop_assert_eq!(vocabulary.size() as usize, tokens.len());
        for (id, text) in (0..).zip(&tokens) {
            prop_assert_eq!(vocabulary.token_bytes(id), text.as_deref());
        }
        prop_assert_eq!(vocabulary.special(), special);
        prop_assert_eq!(vocabulary.stop_ids(), [0]);
        prop_assert_eq!(vocabulary.trie(), &a_trie(&pairs(&tokens)));
        prop_assert_eq!(vocabulary.to_bytes(), saved);
    }

    #[test]
    fn a_damaged_file_is_an_error(
        tokens in some_tokens(),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut saved = a_vocabulary(&tokens).to_bytes();
        let at = at.index(saved.len());
        if cut {
            saved.truncate(at);
        } else {
            prop_assume!(saved[at] != to);
            saved[at] = to;
        }
        prop_assert!(Vocabulary::from_bytes(&saved).is_err());
    }

    #[test]
    fn a_forged_file_is_an_error_or_sound(
        tokens in some_tokens(),
        forgeries in vec((any::<prop::sample::Index>(), prop_oneof![Just(0), Just(1), Just(0xFF), any::<u8>()]), 1..4),
        class in a_class(),
    ) {
        let mut saved = a_vocabulary(&tokens).to_bytes();
        let length = saved.len() - HEADER;
        for (at, to) in forgeries {
            // The counts are few among the bytes, so aim at them now and then.
            let within = if to == 1 { 20 } else { length };
            saved[HEADER + at.index(within)] = to;
        }
        let sum = checksum(&saved[HEADER..]).to_le_bytes();
        saved[HEADER - 8..HEADER].copy_from_slice(&sum);
        if let Ok(vocabulary) = Vocabulary::from_bytes(&saved) {
            let sieve = vocabulary.sieve(&class, Some(3));
            let _ = set_bits(sieve.rest());
            let texts: Tokens =
                (0..vocabulary.size()).map(|id| vocabulary.token_bytes(id).map(<[u8]>::to_vec)).collect();
            prop_assert_eq!(vocabulary.trie(), &a_trie(&pairs(&texts)));
        }
    }

    #[test]
    fn any_bytes_are_an_error(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(Vocabulary::from_bytes(&bytes).is_err());
    }
}

/// The bytes before the content: magic, version, length, checksum.
const HEADER: usize = 8 + 4 + 8 + 8;

/// The checksum of a file, written down a second time to forge with.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        ((sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)).rotate_left(29)
    })
}
