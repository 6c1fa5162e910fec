//! Regular expressions mean what ECMA-262 says: random patterns against a naive matcher.

#[path = "support/language.rs"]
mod language;
#[path = "support/regex_judge.rs"]
mod regex_judge;

use std::{fmt::Write, time::Duration};

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use stencilm::frontend::regex::{self, Mode, RegexOptions};
use stencilm::grammar::{ExprId, Exprs, Spelling};
use stencilm::{Budget, Cancel, ErrorKind, Limits};

use language::matches;
use regex_judge::Re;

const ALPHABET: [char; 6] = ['a', 'b', '_', ' ', 'é', '\n'];

/// All texts over `letters` up to `longest` characters.
fn texts(letters: &[char], longest: usize) -> Vec<Vec<char>> {
    let mut texts = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let shorter = from..texts.len();
        from = texts.len();
        for place in shorter {
            for &letter in letters {
                let mut text = texts[place].clone();
                text.push(letter);
                texts.push(text);
            }
        }
    }
    texts
}

/// The ways in which JSON may spell a text, two of them mixed by the place of each character.
fn in_json(text: &[char], escapes_all: bool) -> String {
    let mut spelled = String::new();
    for (place, &c) in text.iter().enumerate() {
        match c {
            c if escapes_all && place % 2 == 0 => {
                let _ = write!(spelled, "\\u{:04X}", u32::from(c));
            }
            '\n' => spelled += "\\n",
            c => spelled.push(c),
        }
    }
    spelled
}

fn leaves() -> impl Strategy<Value = Re> {
    let letters = prop::sample::subsequence(ALPHABET.to_vec(), 1..4);
    prop_oneof![
        6 => prop::sample::select(&ALPHABET[..])
            .prop_map(|c| Re::Class { members: vec![c], is_negated: false }),
        2 => (letters, any::<bool>())
            .prop_map(|(members, is_negated)| Re::Class { members, is_negated }),
        4 => prop::sample::select(&["^", "$", "\\b", "\\B", ".", "\\w", "\\W", "\\s"][..])
            .prop_map(Re::Written),
        1 => prop::sample::select(&["(?m:^)", "(?m:$)", "(?s:.)", "(?i:[A\u{c9}])"][..])
            .prop_map(Re::Written),
        1 => Just(Re::Cat(Vec::new())),
    ]
}

fn patterns(depth: u32, size: u32) -> impl Strategy<Value = Re> {
    let counts = prop_oneof![
        4 => prop::sample::select(&[(0, None), (1, None), (0, Some(1))][..]),
        1 => prop::sample::select(&[(2, None), (2, Some(3)), (0, Some(4)), (4, Some(4))][..]),
        1 => prop::sample::select(&[(0, Some(9)), (1, Some(11)), (0, Some(0)), (3, None)][..]),
    ];
    leaves().prop_recursive(depth, size, 4, move |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(Re::Cat),
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Re::Alt),
            3 => (inner.clone(), counts.clone(), any::<bool>())
                .prop_map(|(body, (min, max), lazy)| Re::Rep(Box::new(body), min, max, lazy)),
            3 => (any::<bool>(), any::<bool>(), inner)
                .prop_map(|(ahead, negated, body)| Re::Look(ahead, negated, Box::new(body))),
        ]
    })
}

/// Look-around where it is hard: repeated, and inside one another.
fn hard_patterns() -> impl Strategy<Value = Re> {
    let look =
        |inner: &Re, ahead: bool, negated: bool| Re::Look(ahead, negated, Box::new(inner.clone()));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let counts = prop::sample::select(&[(0, None), (1, None), (0, Some(9)), (2, None)][..]);
    let small = || patterns(2, 4);
    (small(), small(), small(), leaves(), flags, counts).prop_map(
        move |(one, two, three, leaf, flags, (min, max))| {
            let inner = Re::Cat(vec![one, look(&two, flags.0, flags.1)]);
            let outer = look(&inner, flags.2, flags.3);
            let turn = Re::Cat(vec![outer, leaf]);
            Re::Cat(vec![Re::Rep(Box::new(turn), min, max, false), three])
        },
    )
}

/// Nothing where look-around has to tell too many situations apart: that is an honest answer.
fn compile_in_time(pattern: &str, spelling: Spelling, mode: Mode) -> Option<(Exprs, ExprId)> {
    let limits = Limits { compile_time: Duration::from_millis(500), ..Limits::default() };
    let mut budget = Budget::new(limits, Cancel::new());
    let regex = regex::parse(pattern, RegexOptions::default(), &mut budget).expect("a pattern");
    let mut exprs = Exprs::default();
    match regex.to_expr(&mut exprs, spelling, mode, &mut budget) {
        Ok(id) => Some((exprs, id)),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::LimitReached { .. } | ErrorKind::TimeIsUp { .. }
            ) =>
        {
            None
        }
        Err(error) => panic!("{pattern}: {error}"),
    }
}

/// The only place that compares with the naive matcher.
fn check_against_judge(re: &Re, letters: &[char]) {
    let pattern = re.to_string();
    for mode in [Mode::FullMatch, Mode::Search] {
        let expected = |text: &[char]| match mode {
            Mode::FullMatch => re.matches_all_of(text),
            Mode::Search => re.is_found_in(text),
        };
        let Some((exprs, id)) = compile_in_time(&pattern, Spelling::Text, mode) else {
            return;
        };
        for text in texts(letters, 5).into_iter().chain(texts(&ALPHABET, 3)) {
            let bytes: String = text.iter().collect();
            let found = matches(&exprs, id, bytes.as_bytes());
            assert_eq!(found, expected(&text), "{pattern} on {bytes:?}: {}", exprs.show(id));
        }
        for spelling in [Spelling::Json, Spelling::JsonCanonical, Spelling::JsonAscii] {
            let Some((exprs, id)) = compile_in_time(&pattern, spelling, mode) else {
                return;
            };
            for text in texts(letters, 3) {
                for escapes_all in [false, true] {
                    let bytes = in_json(&text, escapes_all);
                    let is_spelled = match (spelling, escapes_all) {
                        (Spelling::JsonCanonical, true) => text.is_empty(),
                        (Spelling::JsonAscii, _) => bytes.is_ascii(),
                        _ => true,
                    };
                    let found = matches(&exprs, id, bytes.as_bytes());
                    let right = is_spelled && expected(&text);
                    assert_eq!(found, right, "{pattern} on {bytes:?}: {}", exprs.show(id));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_patterns_mean_what_the_naive_matcher_says(
        re in patterns(5, 14),
        letters in prop::sample::subsequence(ALPHABET.to_vec(), 3),
    ) {
        check_against_judge(&re, &letters);
    }

    #[test]
    fn repeated_and_nested_look_around_is_exact(
        re in hard_patterns(),
        letters in prop::sample::subsequence(ALPHABET.to_vec(), 3),
    ) {
        check_against_judge(&re, &letters);
    }
}
