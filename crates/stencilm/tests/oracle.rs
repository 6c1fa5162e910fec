//! The oracle itself, against enumeration of all words and by hand.

#[path = "oracle/mod.rs"]
mod oracle;

use std::collections::BTreeSet;

use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use stencilm::grammar::Spelling;

use crate::oracle::chart::{Chart, Tail};
use crate::oracle::judge::{Judge, symbols};
use crate::oracle::nfa::{Symbol, TooBig};
use crate::oracle::plain::{Plain, Tree};
use crate::oracle::runner::{Verdict, for_all, too_big};
use crate::oracle::strategy::{SPECIAL, grammars, regular_grammars};
use crate::oracle::vocabulary::{Bytes, Case, cases, sparse_cases};

/// A grammar of one rule and what the judge says of some texts.
#[track_caller]
fn check(tree: Tree, sentences: &[&str], beginnings: &[&str], others: &[&str]) {
    let judge = Judge::of(&Plain { rules: vec![tree], start: 0 }).expect("small");
    let mut chart = Chart::new(&judge, Tail::Anything);
    let asked = [(sentences, (true, true)), (beginnings, (false, true)), (others, (false, false))];
    for (texts, expected) in asked {
        for text in texts {
            let symbols = symbols(text.as_bytes());
            let answers = (judge.accepts(&symbols), judge.prefix_viable(&symbols));
            assert_eq!(answers, expected, "{text:?}");
            chart.read(&symbols);
            assert_eq!((chart.accepts(), chart.is_live()), expected, "the chart on {text:?}");
            chart.truncate(0);
        }
    }
}

fn star(body: Tree) -> Tree {
    Tree::Repeat(Box::new(body), 0, None)
}

#[test]
fn balanced_parentheses_nest() {
    let nested = Tree::Seq(vec![Tree::text("("), star(Tree::Call(0)), Tree::text(")")]);
    check(nested, &["()", "(()(()))"], &["", "(", "(()", "((("], &[")", "())", "()(", "(a"]);
}

#[test]
fn a_left_recursive_ambiguous_rule_is_no_trouble() {
    let sum = Tree::Seq(vec![Tree::Call(0), Tree::text("+"), Tree::Call(0)]);
    let sum = Tree::Choice(vec![sum, Tree::text("1"), Tree::Call(0)]);
    check(sum, &["1", "1+1+1"], &["", "1+"], &["+", "11", "1++"]);
}

#[test]
fn a_rule_that_never_ends_has_no_beginning() {
    check(Tree::Seq(vec![Tree::text("a"), Tree::Call(0)]), &[], &[], &["", "a", "aa"]);
}

#[test]
fn minus_takes_out_whole_texts() {
    let name = star(Tree::Chars(vec![('a', 'z')], Spelling::Text));
    let keyword = Tree::OneOf(vec![b"if".to_vec(), b"in".to_vec()]);
    check(Tree::minus(name, keyword), &["", "i", "ifs", "x"], &["if", "in"], &["I", "if "]);
}

#[test]
fn a_conjunction_that_contradicts_itself_is_empty() {
    let both = vec![star(Tree::text("ab")), Tree::Repeat(Box::new(Tree::text("aba")), 1, Some(1))];
    check(Tree::And(both), &[], &[], &["", "a"]);
}

#[test]
fn counts_nest() {
    let inner = Tree::Repeat(Box::new(Tree::text("a")), 2, Some(3));
    let outer = Tree::Repeat(Box::new(inner), 2, Some(2));
    check(outer, &["aaaa", "aaaaaa"], &["", "aaa"], &["aaaaaaa"]);
}

#[test]
fn every_spelling_of_json_counts() {
    let class = vec![('a', 'a'), ('/', '/'), ('é', 'é'), ('\n', '\n'), ('😀', '😀')];
    let sentences = [
        "a",
        "\\u0061",
        "/",
        "\\/",
        "\\u002F",
        "\\u002f",
        "é",
        "\\u00E9",
        "\\u00e9",
        "\\n",
        "\\u000a",
        "😀",
        "\\uD83D\\uDE00",
        "\\ud83d\\ude00",
    ];
    let others = ["\n", "b", "\\a", "\\u0062", "\\U0061", "\\uD83D\\uDE01", "\\uD83Dx", "\\uDE"];
    let beginnings = ["", "\\", "\\u", "\\uD83D", "\\uD83D\\u", "\\u00"];
    check(Tree::Chars(class, Spelling::Json), &sentences, &beginnings, &others);
}

#[test]
fn canonical_json_has_one_spelling() {
    let class = vec![('a', 'a'), ('/', '/'), ('"', '"'), ('\n', '\n'), ('\u{1}', '\u{1}')];
    let sentences = ["a", "/", "\\\"", "\\n", "\\u0001"];
    let others = ["\\/", "\"", "\n", "\\u0061", "\\u000a", "\\u0002", "\u{1}"];
    check(Tree::Chars(class, Spelling::JsonCanonical), &sentences, &["", "\\", "\\u00"], &others);
}

#[test]
fn json_may_be_written_in_ascii() {
    let class = vec![('a', 'a'), ('é', 'é'), ('\n', '\n'), ('\u{7f}', '\u{7f}'), ('😀', '😀')];
    let sentences =
        ["a", "\\u0061", "\\n", "\\u00e9", "\\u00E9", "\u{7f}", "\\u007F", "\\ud83D\\uDe00"];
    let others = ["é", "😀", "\\u00ea", "\n"];
    let beginnings = ["", "\\", "\\u00", "\\uD83D\\"];
    check(Tree::Chars(class.clone(), Spelling::JsonAscii), &sentences, &beginnings, &others);
    let sentences = ["a", "\\n", "\\u00e9", "\\u007f", "\\ud83d\\ude00"];
    let others = ["é", "\u{7f}", "\\u0061", "\\u000a", "\\u00E9", "\\uD83D", "\\ud83d\\uDE00"];
    check(Tree::Chars(class, Spelling::JsonAsciiCanonical), &sentences, &beginnings[..3], &others);
}

#[test]
fn special_tokens_are_no_text() {
    let tree = Tree::Seq(vec![Tree::text("a"), Tree::Token("<x>".to_owned())]);
    let judge = Judge::of(&Plain { rules: vec![tree], start: 0 }).expect("small");
    let token = judge.symbol("<x>").expect("named");
    assert!(judge.accepts(&[97, token]) && judge.prefix_viable(&[97]));
    assert!(!judge.prefix_viable(&symbols(b"a<")) && !judge.prefix_viable(&[token]));
    assert_eq!(judge.symbol("<y>"), None);
}

#[test]
fn tokens_that_cannot_spell_the_end_are_dead() {
    // "a" then "bc" or "d"; the tokens are a, ab, c and ac.
    let rest = Tree::Choice(vec![Tree::text("bc"), Tree::text("d")]);
    let tree = Tree::Seq(vec![Tree::text("a"), rest]);
    let judge = Judge::of(&Plain { rules: vec![tree], start: 0 }).expect("small");
    let tokens = [b"a".as_slice(), b"ab", b"c", b"ac"].map(symbols).to_vec();
    assert_eq!(judge.mask(&[], &tokens), [false, true, false, false]);
    assert!(judge.prefix_viable(&symbols(b"a")) && !judge.live_with(&tokens, &symbols(b"a")));
}

/// All words of up to `most` symbols.
fn words(alphabet: &[Symbol], most: usize) -> Vec<Vec<Symbol>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..most {
        let longer = |word: &Vec<Symbol>| {
            let word = word.clone();
            alphabet.iter().map(move |&symbol| [&word[..], &[symbol]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// All words of up to `most` symbols of a tree, where `rules` has those of the rules.
///
/// The definition of each part in sets of words. Nothing here knows an automaton.
fn language(
    tree: &Tree,
    rules: &[BTreeSet<Vec<Symbol>>],
    judge: &Judge,
    all: &[Vec<Symbol>],
) -> BTreeSet<Vec<Symbol>> {
    let most = all[all.len() - 1].len();
    let of = |tree: &Tree| language(tree, rules, judge, all);
    let join = |a: &BTreeSet<Vec<Symbol>>, b: &BTreeSet<Vec<Symbol>>| -> BTreeSet<Vec<Symbol>> {
        let pairs = a.iter().flat_map(|x| b.iter().map(move |y| [&x[..], y].concat()));
        pairs.filter(|word| word.len() <= most).collect()
    };
    let empty = || BTreeSet::from([Vec::new()]);
    match tree {
        Tree::Nothing => BTreeSet::new(),
        Tree::Empty => empty(),
        Tree::Literal(bytes) => BTreeSet::from([symbols(bytes)]),
        Tree::OneOf(list) => list.iter().map(|bytes| symbols(bytes)).collect(),
        Tree::Bytes(bytes) => bytes.iter().map(|&byte| vec![byte.into()]).collect(),
        Tree::Chars(ranges, spelling) => {
            assert_eq!(*spelling, Spelling::Text, "others are tested by hand");
            let is_char = |word: &&Vec<Symbol>| {
                let bytes: Option<Vec<u8>> =
                    word.iter().map(|&symbol| u8::try_from(symbol).ok()).collect();
                let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                let mut chars = text.iter().flat_map(|text| text.chars());
                match (chars.next(), chars.next()) {
                    (Some(c), None) => ranges.iter().any(|&(a, b)| a <= c && c <= b),
                    _ => false,
                }
            };
            all.iter().filter(is_char).cloned().collect()
        }
        Tree::Token(name) => BTreeSet::from([vec![judge.symbol(name).expect("named")]]),
        Tree::Seq(parts) => parts.iter().fold(empty(), |head, part| join(&head, &of(part))),
        Tree::Choice(parts) => parts.iter().flat_map(of).collect(),
        Tree::And(parts) => {
            let sets: Vec<_> = parts.iter().map(of).collect();
            let in_all = |word: &&Vec<Symbol>| {
                word.iter().all(|&symbol| symbol < 256)
                    && sets.iter().all(|set| set.contains(*word))
            };
            all.iter().filter(in_all).cloned().collect()
        }
        Tree::Not(body) => {
            let set = of(body);
            all.iter().filter(|word| !set.contains(*word)).cloned().collect()
        }
        Tree::Repeat(body, min, max) => {
            let body = of(body);
            let mut power = (0..*min).fold(empty(), |power, _| join(&power, &body));
            let mut sum = power.clone();
            // Past `most` rounds nothing new comes: each adds a symbol or only the empty word.
            let most = u32::try_from(most).expect("short words") + 1;
            for _ in 0..max.map_or(most, |max| most.min(max - min)) {
                power = join(&power, &body);
                sum.extend(power.iter().cloned());
            }
            sum
        }
        Tree::Call(rule) => rules[*rule].clone(),
    }
}

/// The words of the start rule up to the length of those in `all`, by rounds.
fn sentences(grammar: &Plain, judge: &Judge, all: &[Vec<Symbol>]) -> BTreeSet<Vec<Symbol>> {
    let most = all[all.len() - 1].len();
    let mut rules = vec![BTreeSet::new(); grammar.rules.len()];
    loop {
        let round = grammar.rules.iter().map(|tree| {
            let mut words = language(tree, &rules, judge, all);
            words.retain(|word| word.len() <= most);
            words
        });
        let round: Vec<_> = round.collect();
        if round == rules {
            return rules.swap_remove(grammar.start);
        }
        rules = round;
    }
}

fn is_plain_text(tree: &Tree) -> bool {
    match tree {
        Tree::Chars(_, spelling) => *spelling == Spelling::Text,
        Tree::Seq(parts) | Tree::Choice(parts) | Tree::And(parts) => {
            parts.iter().all(is_plain_text)
        }
        Tree::Not(body) | Tree::Repeat(body, ..) => is_plain_text(body),
        Tree::Nothing
        | Tree::Empty
        | Tree::Literal(_)
        | Tree::OneOf(_)
        | Tree::Bytes(_)
        | Tree::Token(_)
        | Tree::Call(_) => true,
    }
}

/// The judge's sentences are those of the definition; what begins a sentence is viable.
fn agrees_with_enumeration(grammar: &Plain) -> Verdict {
    let judge = Judge::of(grammar).map_err(too_big)?;
    let mut alphabet = symbols("abcé".as_bytes());
    alphabet.extend(SPECIAL.iter().filter_map(|name| judge.symbol(name)));
    let all = words(&alphabet, if alphabet.len() > 5 { 3 } else { 4 });
    let sentences = sentences(grammar, &judge, &all);
    let mut chart = Chart::new(&judge, Tail::Anything);
    for word in &all {
        let fail = |what: &str| Err(TestCaseError::fail(format!("{what}: {word:?}")));
        chart.read(word);
        if chart.accepts() != sentences.contains(word) {
            return fail("the chart is wrong about");
        }
        let begins = sentences.iter().any(|sentence| sentence.starts_with(word));
        if begins && !chart.is_live() {
            return fail("a beginning was called dead");
        }
        chart.truncate(0);
    }
    // The slow judge is asked about a few.
    for word in all.iter().step_by(all.len() / 40 + 1) {
        if judge.accepts(word) != sentences.contains(word) {
            return Err(TestCaseError::fail(format!("the judge is wrong about {word:?}")));
        }
    }
    Ok(())
}

#[test]
fn random_grammars_agree_with_enumeration() {
    let small = |grammar: &Plain| grammar.rules.iter().all(is_plain_text);
    let strategy = grammars().prop_filter("spelled", small);
    for_all(2_000.0, &strategy, |grammar| agrees_with_enumeration(&grammar));
}

#[test]
fn random_regular_grammars_agree_with_enumeration() {
    let small = |grammar: &Plain| grammar.rules.iter().all(is_plain_text);
    let strategy = regular_grammars().prop_filter("spelled", small);
    for_all(2_000.0, &strategy, |grammar| agrees_with_enumeration(&grammar));
}

/// Whether something completes a prefix: the chart must say what the fixpoint says.
fn chart_agrees(case: &Case) -> Verdict {
    let judge = Judge::of(&case.grammar).map_err(too_big)?;
    let states: usize = judge.rules.iter().map(|rule| rule.edges.len()).sum();
    if states > 100 {
        return Err(too_big(TooBig));
    }
    let tokens = case.tokens(&judge);
    let texts: Vec<Vec<Symbol>> =
        (0..tokens.0.len()).filter_map(|id| tokens.symbols(&judge, id)).collect();
    let mut chart = Chart::new(&judge, tokens.tail(&judge));
    let mut prefix = Vec::new();
    for &choice in &case.choices {
        let mask = tokens.mask(&judge, &mut chart);
        // Any token, allowed or not: the walk ends after one that is not.
        let id = usize::from(choice / 2) % mask.len();
        let id = if choice % 2 == 0 { tokens.choose(&mask, choice / 2).unwrap_or(id) } else { id };
        let Some(symbols) = tokens.symbols(&judge, id) else {
            continue;
        };
        prefix.extend_from_slice(&symbols);
        let live = match case.bytes {
            Bytes::All => judge.prefix_viable(&prefix),
            Bytes::Used | Bytes::Some(_) | Bytes::Most(_) => judge.live_with(&texts, &prefix),
        };
        let fail = |what: &str| Err(TestCaseError::fail(format!("{what} after {prefix:?}")));
        if live != mask[id] {
            return fail("whether it lives differs");
        }
        chart.read(&symbols);
        if chart.accepts() != judge.accepts(&prefix) {
            return fail("whether it is a sentence differs");
        }
        if !live {
            break;
        }
    }
    Ok(())
}

#[test]
fn the_chart_says_what_the_fixpoint_says() {
    for_all(60.0, &cases(grammars(), 5), |case| chart_agrees(&case));
    for_all(100.0, &sparse_cases(grammars(), 5), |case| chart_agrees(&case));
}
