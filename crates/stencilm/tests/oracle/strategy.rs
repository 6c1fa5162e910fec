//! Random grammars: ambiguous, nullable, recursive in every way, with And/Minus over regular
//! parts, nested counters, lists, classes in all spellings and special tokens.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use stencilm::grammar::Spelling;

use crate::oracle::plain::{Plain, Tree};

/// The special tokens that grammars name.
pub(crate) const SPECIAL: [&str; 2] = ["<x>", "<y>"];

const FRAGMENTS: [&str; 14] =
    ["a", "b", "c", "é", "a", "b", "ab", "ba", "abc", "aa", "ca", "bé", "éa", "aaa"];

/// One to five rules.
pub(crate) fn grammars() -> BoxedStrategy<Plain> {
    prop_oneof![3 => random(), 1 => altered()].boxed()
}

/// Loops over many characters, with all that may follow them: marks that are none of them or some of
/// them, what may be left out, and what waits in the rules that called.
pub(crate) fn looping_grammars() -> BoxedStrategy<Plain> {
    let rule =
        || prop_oneof![1 => row(), 1 => (row(), row()).prop_map(|(a, b)| Tree::Choice(vec![a, b]))];
    // Without an end in each rule most grammars have no sentence.
    let rule = move || (rule(), looping()).prop_map(|(tree, end)| Tree::Choice(vec![tree, end]));
    (vec(row(), 1..=2), vec(rule(), 1..=3))
        .prop_map(|(first, rules)| plain([first, rules].concat(), 0))
        .boxed()
}

/// A loop over many characters.
fn looping() -> impl Strategy<Value = Tree> {
    let classes = vec![
        vec![('a', 'z')],
        vec![('0', '9'), ('_', '_'), ('a', 'z')],
        vec![(' ', ' '), ('a', 'z')],
        vec![('\0', '%'), ('\'', ';'), ('=', char::MAX)],
        vec![('\0', '+'), ('-', char::MAX)],
        vec![('a', 'z'), ('à', 'ü')],
    ];
    let counts = prop_oneof![4 => Just((0, None)), 2 => Just((1, None)), 1 => Just((0, Some(3)))];
    let characters = |class| Tree::Chars(class, Spelling::Text);
    let looping = (select(classes.clone()), counts)
        .prop_map(move |(class, (min, max))| Tree::Repeat(Box::new(characters(class)), min, max));
    let begun = (select(classes), looping.clone())
        .prop_map(move |(class, looping)| Tree::Seq(vec![characters(class), looping]));
    // `-` and anything but a `-`, or one of those.
    let others = || characters(vec![('\0', ','), ('.', char::MAX)]);
    let dash = || Tree::Choice(vec![Tree::Empty, Tree::text("-")]);
    let apart = Just(Tree::Repeat(Box::new(Tree::Seq(vec![dash(), others()])), 0, None));
    prop_oneof![4 => looping, 3 => begun, 1 => apart]
}

/// Parts one after the other, most of which may be empty.
fn row() -> impl Strategy<Value = Tree> {
    let call = || any::<usize>().prop_map(Tree::Call);
    let mark = || select(vec![",", " ", "<", "-", ";", "a", " a", "<b", ", "]).prop_map(Tree::text);
    let marked = || (mark(), call()).prop_map(|(mark, call)| Tree::Seq(vec![mark, call]));
    let many = |max| move |tree| Tree::Repeat(Box::new(tree), 0, max);
    let part = prop_oneof![
        3 => looping(),
        3 => call(),
        2 => mark(),
        2 => prop_oneof![call().boxed(), mark().boxed(), marked().boxed()].prop_map(many(Some(1))),
        2 => marked().prop_map(many(None)),
    ];
    vec(part, 1..=4).prop_map(Tree::Seq)
}

/// One rule without calls and special tokens.
pub(crate) fn regular_grammars() -> BoxedStrategy<Plain> {
    regular(12).prop_map(|tree| Plain { rules: vec![tree], start: 0 }).boxed()
}

fn random() -> impl Strategy<Value = Plain> {
    (vec(body(), 1..=5), any::<usize>()).prop_map(|(rules, start)| plain(rules, start))
}

/// A grammar out of the books with one more alternative in one rule.
fn altered() -> impl Strategy<Value = Plain> {
    (select(classics()), option::of((any::<usize>(), tree()))).prop_map(|(mut grammar, more)| {
        if let Some((rule, more)) = more {
            let rule = rule % grammar.rules.len();
            let old = std::mem::replace(&mut grammar.rules[rule], Tree::Empty);
            grammar.rules[rule] = Tree::Choice(vec![old, more]);
        }
        plain(grammar.rules, grammar.start)
    })
}

/// Most bodies get an alternative that ends, or few grammars would have a sentence.
fn body() -> impl Strategy<Value = Tree> {
    let call = || any::<usize>().prop_map(Tree::Call);
    prop_oneof![
        2 => tree(),
        2 => (tree(), leaf()).prop_map(|(tree, leaf)| Tree::Choice(vec![tree, leaf])),
        1 => (tree(), call()).prop_map(|(tree, call)| Tree::Seq(vec![tree, call])),
        2 => (call(), tree(), leaf()).prop_map(|(call, tree, leaf)| {
            Tree::Choice(vec![Tree::Seq(vec![call, tree]), leaf])
        }),
        1 => (tree(), call(), leaf()).prop_map(|(tree, call, leaf)| {
            Tree::Choice(vec![Tree::Seq(vec![tree, call]), leaf])
        }),
    ]
}

fn tree() -> BoxedStrategy<Tree> {
    let leaves = prop_oneof![
        7 => leaf(),
        6 => any::<usize>().prop_map(Tree::Call),
        1 => select(SPECIAL.to_vec()).prop_map(|name| Tree::Token(name.to_owned())),
    ];
    leaves
        .prop_recursive(3, 12, 3, |inner| prop_oneof![6 => combined(inner), 1 => regular(8)])
        .boxed()
}

fn regular(size: u32) -> BoxedStrategy<Tree> {
    leaf()
        .prop_recursive(3, size, 3, |inner| {
            prop_oneof![
                6 => combined(inner.clone()),
                1 => vec(inner.clone(), 1..=3).prop_map(Tree::And),
                2 => (inner.clone(), inner).prop_map(|(from, less)| Tree::minus(from, less)),
            ]
        })
        .boxed()
}

fn combined(inner: BoxedStrategy<Tree>) -> impl Strategy<Value = Tree> {
    let counts = prop_oneof![
        3 => Just((0, None)),
        1 => Just((1, None)),
        1 => Just((2, None)),
        2 => Just((0, Some(1))),
        4 => (0_u32..=3, 0_u32..=3).prop_map(|(min, more)| (min, Some(min + more))),
    ];
    prop_oneof![
        3 => vec(inner.clone(), 2..=4).prop_map(Tree::Seq),
        3 => vec(inner.clone(), 2..=4).prop_map(Tree::Choice),
        2 => (inner, counts)
            .prop_map(|(body, (min, max))| Tree::Repeat(Box::new(body), min, max)),
    ]
}

fn leaf() -> impl Strategy<Value = Tree> {
    let fragment = || select(FRAGMENTS.to_vec());
    let spelling = prop_oneof![
        8 => Just(Spelling::Text),
        1 => Just(Spelling::Json),
        1 => Just(Spelling::JsonCanonical),
        1 => Just(Spelling::JsonAscii),
        1 => Just(Spelling::JsonAsciiCanonical),
        1 => Just(Spelling::SingleQuoted),
        1 => Just(Spelling::DoubleQuoted),
    ];
    prop_oneof![
        12 => fragment().prop_map(Tree::text),
        6 => (select(classes()), spelling)
            .prop_map(|(class, spelling)| Tree::Chars(class, spelling)),
        2 => vec(prop_oneof![4 => fragment(), 1 => Just("")], 0..=5)
            .prop_map(|list| Tree::OneOf(list.iter().map(|text| text.as_bytes().into()).collect())),
        1 => vec(select(vec![b'a', b'b', b'c', 0xC3, 0xA9, 0xFF]), 1..=3).prop_map(Tree::Bytes),
        2 => Just(Tree::Empty),
        1 => prop_oneof![4 => Just(Tree::Literal(vec![0xC3])), 1 => Just(Tree::Nothing)],
    ]
}

fn classes() -> Vec<Vec<(char, char)>> {
    vec![
        vec![('a', 'a')],
        vec![('a', 'b')],
        vec![('a', 'c')],
        vec![('b', 'c')],
        vec![('é', 'é')],
        vec![('a', 'a'), ('é', 'é')],
        vec![('b', 'é')],
        vec![('\0', '`'), ('b', char::MAX)],
        vec![('\0', char::MAX)],
        vec![('"', '"'), ('\\', '\\'), ('a', 'a')],
        vec![('\n', '\n'), ('\u{1}', '\u{2}'), ('b', 'b')],
        vec![('à', 'ü'), ('\u{10000}', '\u{1F600}')],
    ]
}

/// Grammars that are known to be hard.
fn classics() -> Vec<Plain> {
    let call = Tree::Call;
    let text = Tree::text;
    let seq = |parts: &[Tree]| Tree::Seq(parts.to_vec());
    let any = |parts: &[Tree]| Tree::Choice(parts.to_vec());
    let many = |body: &Tree| Tree::Repeat(Box::new(body.clone()), 0, None);
    let up_to = |body: &Tree, max| Tree::Repeat(Box::new(body.clone()), 0, Some(max));
    let (zero, one, two, three) = (call(0), call(1), call(2), call(3));
    let (a, b, c) = (text("a"), text("b"), text("c"));
    let grammars = vec![
        // Ambiguous without bound.
        vec![any(&[seq(&[zero.clone(), zero.clone(), zero.clone()]), a.clone()])],
        vec![any(&[seq(&[zero.clone(), zero.clone()]), a.clone(), Tree::Empty])],
        vec![any(&[seq(&[zero.clone(), any(&[b.clone(), c.clone()]), zero.clone()]), a.clone()])],
        // The dangling else.
        vec![any(&[
            seq(&[a.clone(), zero.clone(), up_to(&seq(&[b.clone(), zero.clone()]), 1)]),
            c.clone(),
        ])],
        // Palindromes.
        vec![any(&[
            seq(&[a.clone(), zero.clone(), a.clone()]),
            seq(&[b.clone(), zero.clone(), b.clone()]),
            any(&[a.clone(), b.clone(), Tree::Empty]),
        ])],
        // Hidden left recursion behind a nullable rule.
        vec![
            any(&[seq(&[one.clone(), zero.clone(), b.clone()]), c.clone()]),
            any(&[Tree::Empty, a.clone()]),
        ],
        // Mutual left recursion.
        vec![
            any(&[seq(&[one.clone(), a.clone()]), b.clone()]),
            any(&[seq(&[two.clone(), b.clone()]), zero.clone()]),
            any(&[seq(&[zero.clone(), c.clone()]), one.clone(), a.clone()]),
        ],
        // A cycle of rules that are all nullable.
        vec![
            any(&[seq(&[one.clone(), two.clone()]), a.clone()]),
            any(&[seq(&[two.clone(), zero.clone()]), Tree::Empty]),
            any(&[seq(&[zero.clone(), one.clone()]), b.clone(), Tree::Empty]),
        ],
        // Right recursion, and a list with separators.
        vec![seq(&[a.clone(), up_to(&zero, 1)])],
        vec![
            seq(&[text("("), up_to(&seq(&[one.clone(), many(&seq(&[b.clone(), one])), c]), 1)]),
            any(&[a.clone(), zero.clone()]),
        ],
        // Operators with levels, by left recursion.
        vec![
            any(&[seq(&[zero.clone(), text("+"), call(1)]), call(1)]),
            any(&[seq(&[call(1), text("*"), two.clone()]), two]),
            any(&[seq(&[text("("), zero.clone(), text(")")]), text("-a"), a.clone()]),
        ],
        // Counters inside counters, one of them around a rule.
        vec![up_to(&up_to(&seq(&[a.clone(), up_to(&b, 6)]), 6), 6), many(&up_to(&call(0), 4))],
        // Strings of JSON.
        vec![seq(&[
            text("\""),
            Tree::minus(
                up_to(&Tree::Chars(vec![('\0', char::MAX)], Spelling::Json), 6),
                many(&Tree::Chars(vec![('a', 'b')], Spelling::Json)),
            ),
            text("\""),
            many(&three),
        ])],
    ];
    grammars.into_iter().map(|rules| Plain { rules, start: 0 }).collect()
}

/// Makes all calls calls of rules that are there.
fn plain(mut rules: Vec<Tree>, start: usize) -> Plain {
    let len = rules.len();
    for tree in &mut rules {
        renumber(tree, len);
    }
    Plain { rules, start: start % len }
}

fn renumber(tree: &mut Tree, rules: usize) {
    match tree {
        Tree::Call(rule) => *rule %= rules,
        Tree::Seq(parts) | Tree::Choice(parts) | Tree::And(parts) => {
            for part in parts {
                renumber(part, rules);
            }
        }
        Tree::Not(body) | Tree::Repeat(body, ..) => renumber(body, rules),
        Tree::Nothing
        | Tree::Empty
        | Tree::Literal(_)
        | Tree::OneOf(_)
        | Tree::Bytes(_)
        | Tree::Chars(..)
        | Tree::Token(_) => {}
    }
}
