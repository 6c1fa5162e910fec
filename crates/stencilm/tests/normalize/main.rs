//! Normalising keeps the language, takes out left recursion and orders the rules: hand-made and
//! random grammars against a naive recogniser.

mod pieces;
mod words;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use stencilm::{
    Budget, ErrorKind, Limits,
    frontend::ebnf,
    grammar::{Expr, ExprId, Exprs, RuleId, RuleSet, Rules, Spelling, UNBOUNDED},
    normalize::{Normalized, normalize},
};

use crate::pieces::{Piece, expr_of, rule_id, words_of_pieces};
use crate::words::{Words, words_of_bodies, words_of_set};

/// What a normal grammar must be, whatever it came from; its words.
#[track_caller]
fn check_normal(normal: &Normalized) -> Words {
    let (exprs, bodies) = bodies(normal, normal.len());
    for (rule, &body) in bodies.iter().enumerate() {
        let mut first = BTreeSet::new();
        assert!(!left_calls(&exprs, body, &mut first), "rule {rule} may be empty:\n{normal}");
        let rank = normal.rank(rule_id(rule));
        for callee in first {
            let later = normal.rank(RuleId(callee));
            assert!(rank < later, "rule {rule} comes before rule {callee}:\n{normal}");
        }
    }
    let words = words_of_bodies(&exprs, &bodies);
    let mut words = words[normal.start.0 as usize].clone();
    assert!(!words.list().contains(&String::new()));
    if normal.accepts_empty {
        words.join(&Words::empty_word());
    }
    words
}

/// A text grammar: the words before and after are the same.
#[track_caller]
fn check(grammar: &str) -> Normalized {
    let mut budget = Budget::default();
    let set = ebnf::parse(grammar, "S", &mut budget).expect("a grammar");
    let expected = words_of_set(&set)[set.start.0 as usize].clone();
    let normal = normalize(set, &mut budget).expect("can be normalised");
    let found = check_normal(&normal);
    assert_eq!(found.list(), expected.list(), "{grammar}\nbecame\n{normal}");
    normal
}

/// The same for rules written in pieces; the constructors are checked on the way.
fn check_pieces(rules: &[Piece]) {
    let expected = words_of_pieces(rules);
    let mut exprs = Exprs::default();
    let named = rules
        .iter()
        .enumerate()
        .map(|(rule, piece)| (format!("r{rule}"), expr_of(&mut exprs, piece)))
        .collect();
    let set = RuleSet::new(exprs, named, RuleId(0));
    let printed = set.to_string();
    assert_eq!(words_of_set(&set)[0].list(), expected[0].list(), "the constructors of\n{printed}");
    match normalize(set, &mut Budget::default()) {
        Ok(normal) => {
            let found = check_normal(&normal);
            assert_eq!(found.list(), expected[0].list(), "{printed}\nbecame\n{normal}");
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{error}\n{printed}");
            assert!(expected[0].list().is_empty(), "{printed}");
        }
    }
}

/// A normal grammar's bodies in one arena.
fn bodies(rules: &dyn Rules, count: usize) -> (Exprs, Vec<ExprId>) {
    let mut exprs = Exprs::default();
    let bodies = (0..count)
        .map(|rule| rules.body(rule_id(rule), &mut exprs).expect("no limit is near"))
        .collect();
    (exprs, bodies)
}

/// The rules that may come first in an expression, and whether it may be empty.
fn left_calls(exprs: &Exprs, id: ExprId, found: &mut BTreeSet<u32>) -> bool {
    match exprs.get(id) {
        Expr::Empty => true,
        Expr::OneOf { literals, low, depth, .. } => {
            exprs.literal(exprs.literal_ids(literals)[low as usize]).len() == depth as usize
        }
        Expr::Seq(a, b) => left_calls(exprs, a, found) && left_calls(exprs, b, found),
        Expr::Choice(list) => {
            // Each is looked at, whatever the others are.
            let members: Vec<bool> =
                exprs.list(list).iter().map(|&member| left_calls(exprs, member, found)).collect();
            members.contains(&true)
        }
        Expr::And(list) => {
            let members: Vec<bool> =
                exprs.list(list).iter().map(|&member| left_calls(exprs, member, found)).collect();
            !members.contains(&false)
        }
        Expr::Not(body) => !left_calls(exprs, body, found),
        Expr::Repeat { body, min, .. } => left_calls(exprs, body, found) || min == 0,
        Expr::Call(rule) => {
            found.insert(rule.0);
            false
        }
        _ => false,
    }
}

#[test]
fn direct_left_recursion() {
    check("S ::= S 'a' | 'b'");
    check("S ::= S 'a' | S 'b' | 'c' | ''");
    check("S ::= S S | 'a'");
    check("S ::= S S S | 'a' | 'b'");
    check("S ::= S | 'a'");
    check("S ::= S 'a' S | 'b'");
    check("S ::= S 'a' S | S 'b' S | 'c'");
    check("S ::= S 'a' | 'a' S | 'b'");
    check("S ::= (S 'a' | 'b') (S | 'c')");
    check("S ::= S? 'a'");
    check("S ::= S* 'a'");
    check("S ::= S+ 'a' | 'b'");
    check("S ::= (S | 'a') (S | 'b')?");
}

#[test]
fn mutual_left_recursion() {
    check("S ::= A 'a' | 'c'\nA ::= S 'b' | 'b'");
    check("S ::= A\nA ::= B 'a' | 'a'\nB ::= A 'b' | 'b'");
    check("S ::= A | B\nA ::= B 'a' | S 'b'\nB ::= A 'c' | 'c'");
    check("S ::= A B\nA ::= B 'a' | S 'b' | 'a'\nB ::= A 'c' | 'c' | S");
    check("S ::= A\nA ::= B\nB ::= C\nC ::= A 'a' | B 'b' | 'c'");
    check("S ::= A 'a'\nA ::= S | B\nB ::= A 'b' | 'c'");
    check("S ::= A A\nA ::= S 'a' | B 'b' | 'c'\nB ::= S | A A");
    check("S ::= S 'a' A | 'b'\nA ::= A 'c' S | 'a'");
}

#[test]
fn hidden_left_recursion() {
    check("S ::= A S 'a' | 'b'\nA ::= 'c' | ''");
    check("S ::= A S | 'a'\nA ::= ''");
    check("S ::= A B S 'a' | 'b'\nA ::= 'a'?\nB ::= A 'c'?");
    check("S ::= A* S 'a' | 'b'\nA ::= 'c'");
    check("S ::= A S A | 'b'\nA ::= B | 'a'\nB ::= '' | S 'c'");
    check("S ::= A? B\nA ::= S | 'a'\nB ::= S? 'b'");
    check("S ::= (A? S){1,2} 'a' | 'b'\nA ::= 'c'");
    check("S ::= [bc]* S 'a' | ''");
}

#[test]
fn nullable_rules() {
    check("S ::= A A A\nA ::= 'a' | ''");
    check("S ::= A*\nA ::= 'a'? 'b'?");
    check("S ::= A{2,3} 'c'\nA ::= 'a' | ''");
    check("S ::= A{2}\nA ::= B B\nB ::= 'a' | 'b' | ''");
    check("S ::= ''");
    check("S ::= A\nA ::= B B\nB ::= ''");
    check("S ::= A 'a' | A\nA ::= A A | ''");
    check("S ::= (A | B)+ 'c'\nA ::= 'a'*\nB ::= A 'b' | A");
    check("S ::= S S | 'a' S 'b' | ''");
    check("S ::= A B C\nA ::= 'a'?\nB ::= 'b' A?\nC ::= (A | B)?");
    check("S ::= ('a'? 'b'?){2,3} S | ''");
}

#[test]
fn cycles_of_units_and_dead_rules() {
    check("S ::= A | 'a'\nA ::= S | A");
    check("S ::= A | 'a' B\nA ::= A 'a'\nB ::= 'b' | A");
    check("S ::= 'a' A? 'b'\nA ::= A | B\nB ::= 'c' A");
    check("S ::= A 'a' | S A | 'b'\nA ::= B A\nB ::= 'b'");
    check("S ::= S A | 'a'\nA ::= '' | 'b' D\nD ::= D");
    check("S ::= A* 'a'\nA ::= A");
}

#[test]
fn other_recursion_stays() {
    check("S ::= 'a' S 'b' | ''");
    check("S ::= 'a' S 'a' | 'b' S 'b' | 'c'");
    check("S ::= 'a' S | 'b'");
    check("S ::= 'a' A\nA ::= 'b' S | 'c'");
    check("S ::= ('a' S){2} | 'b'");
    check("S ::= 'a' S 'b' S | ''");
}

#[test]
fn conjunctions() {
    check("S ::= S A | 'a'\nA ::= [abc]{1,3} & ~('b' | 'bb') & [bc]*");
    check("S ::= A S 'c' | 'b'\nA ::= [abc]{0,2} - 'ab'");
    check("S ::= A A\nA ::= ~([ab]* 'c' [abc]*) & [abc]*");
    check("S ::= A\nA ::= ('a'* & ('aa')*)");
}

/// Large terms become rules of their own, long nullable sequences are cut.
#[test]
fn large_rules() {
    let tails = |letters: [&str; 3]| {
        let tails: Vec<String> = (0..27)
            .map(|at| {
                let letter = format!("'{}'", letters[at % 3]);
                let part = |at: usize| ["X", "Y?", &letter][at / 3 % 3].to_owned();
                format!("'{}' {} {}", letters[at % 3], part(at), part(at / 2))
            })
            .collect();
        format!("({})?", tails.join(" | "))
    };
    let rest = "\nX ::= 'a' X 'b' | 'c'\nY ::= X Y | 'b'";
    let (a, b, c) = (tails(["a", "b", "c"]), tails(["b", "c", "a"]), tails(["c", "a", "b"]));
    let normal = check(&format!(
        "S ::= A {a} | S {b} | 'a'\nA ::= B {b} | S {c} | 'b'\nB ::= S {a} | A {c} | B {b}{rest}"
    ));
    assert!(normal.to_string().contains(".part"), "{normal}");
    let long = "X? 'a'? ".repeat(40);
    let normal = check(&format!("S ::= {long}{rest}"));
    assert!(normal.to_string().contains("rest ::="), "{normal}");
    check(&format!("S ::= {long} S 'b' | 'c'{rest}"));
    check(&format!("S ::= X T\nT ::= {} | 'c' S{rest}", "'b'? 'a'? ".repeat(40)));
}

#[test]
fn the_printed_result_is_small() {
    let normal = check("S ::= S 'a' T | T\nT ::= T 'b' F | F\nF ::= 'c' S 'c' | 'a'");
    assert_eq!(normal.len(), 3, "{normal}");
    let normal = check("S ::= S 'a' F | F\nF ::= N 'b' | 'c'\nN ::= F | 'a' | 'c' S 'c'");
    assert_eq!(
        normal.to_string(),
        "S ::= F (\"a\" F)*\nF ::= \"c\" | N \"b\"\nN ::= (\"a\" | \"c\" (\"\" | S \"c\")) \"b\"*\n"
    );
    let normal = check("S ::= A\nA ::= B\nB ::= 'a' A 'b' | ''");
    assert!(normal.accepts_empty);
    assert_eq!(normal.len(), 2, "{normal}");
    let normal = check("S ::= W 'a' W\nW ::= [bc]*");
    assert_eq!(normal.to_string(), "S ::= [b-c]* \"a\" [b-c]*\n");
}

#[test]
fn a_start_without_a_text_is_refused_by_name() {
    for grammar in ["S ::= S", "S ::= 'a' S", "S ::= A 'b'\nA ::= B\nB ::= 'a' A", "S ::= []"] {
        let mut budget = Budget::default();
        let set = ebnf::parse(grammar, "S", &mut budget).expect("a grammar");
        let error = normalize(set, &mut budget).expect_err("has no text");
        assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{error}");
        assert!(error.to_string().contains("`S`"), "{error}");
    }
}

#[test]
fn calls_in_conjunctions_are_refused() {
    let mut exprs = Exprs::default();
    let (call, text) = (exprs.call(RuleId(0)), exprs.text("a", Spelling::Text));
    let body = exprs.minus(call, text);
    let set = RuleSet::new(exprs, vec![("S".to_owned(), body)], RuleId(0));
    let error = normalize(set, &mut Budget::default()).expect_err("cannot be exact");
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
}

/// Normalises within a few seconds, on a stack of 512 KiB.
#[track_caller]
fn check_large(grammar: String, limits: Limits) -> Result<usize, String> {
    let work = move || {
        // The machines that run the tests may be busy.
        let limits = Limits { compile_time: Duration::from_secs(100), ..limits };
        let mut budget = Budget::new(limits, stencilm::Cancel::default());
        let begin = Instant::now();
        let set = ebnf::parse(&grammar, "r0", &mut budget);
        let parsed = begin.elapsed();
        let normal = set.and_then(|set| normalize(set, &mut budget));
        println!(
            "{:<30.30} parsed {parsed:?}, all {:?}",
            grammar.replace('\n', " "),
            begin.elapsed()
        );
        let result = normal.map(|normal| {
            let (exprs, bodies) = bodies(&normal, normal.len());
            assert!(bodies.iter().all(|&body| !exprs.is_nullable(body)));
            normal.len()
        });
        result.map_err(|error| error.to_string())
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work);
    thread.expect("a thread").join().expect("no panic")
}

fn large(count: usize, rule: impl Fn(usize) -> String) -> String {
    let rules: Vec<String> = (0..count).map(|at| format!("r{at} ::= {}", rule(at))).collect();
    rules.join("\n")
}

#[test]
fn long_chains_of_rules() {
    let last = |at: usize, rule: String| if at == 99_999 { "'x'".to_owned() } else { rule };
    let units = large(100_000, |at| last(at, format!("r{}", at + 1)));
    assert_eq!(check_large(units, Limits::default()), Ok(1));
    let rights = large(100_000, |at| last(at, format!("'a' r{} | 'b'", at + 1)));
    let count = check_large(rights, Limits::default());
    assert!(count.as_ref().is_ok_and(|&rules| rules > 1_000), "{count:?}");
    let lefts = large(100_000, |at| last(at, format!("r{}? 'a' | ''", at + 1)));
    let count = check_large(lefts, Limits::default());
    assert!(count.as_ref().is_ok_and(|&rules| rules > 1_000), "{count:?}");
    let nested = large(100_000, |at| last(at, format!("'(' r{} ')' | 'b'", at + 1)));
    let count = check_large(nested, Limits::default());
    assert!(count.as_ref().is_ok_and(|&rules| rules > 1_000), "{count:?}");
}

#[test]
fn long_rings_of_left_recursion() {
    let ring = large(20_000, |at| format!("r{} 'a' | 'b'", (at + 1) % 20_000));
    let count = check_large(ring, Limits::default());
    assert!(count.as_ref().is_ok_and(|&rules| rules > 1_000), "{count:?}");
    let ring = large(20_000, |at| format!("r{} 'a'? | 'b'", (at + 19_999) % 20_000));
    let count = check_large(ring, Limits::default());
    assert!(count.as_ref().is_ok_and(|&rules| rules > 1_000), "{count:?}");
    let dense = large(60, |at| {
        let calls: Vec<String> = (0..60).map(|to| format!("r{to} '{at}:{to}'")).collect();
        format!("{} | 'x'", calls.join(" | "))
    });
    assert_eq!(check_large(dense, Limits::default()).err(), None);
}

#[test]
fn wide_rules_and_long_sequences() {
    let wide = large(50_000, |at| match at {
        0 => (1..50_000).map(|to| format!("r{to}")).collect::<Vec<_>>().join(" | "),
        _ => format!("'a' r0 'b{at}' | 'c'"),
    });
    assert_eq!(check_large(wide, Limits::default()).err(), None);
    let long = format!("r0 ::= {}'x'", "'a'? r1 ".repeat(20_000)) + "\nr1 ::= 'b' r0 | ''";
    assert_eq!(check_large(long, Limits::default()).err(), None);
    let optional = format!("r0 ::= {}", "r1? ".repeat(5_000)) + "\nr1 ::= 'b' r0";
    assert_eq!(check_large(optional, Limits::default()).err(), None);
}

#[test]
fn shared_beginnings_and_long_stars() {
    let rest = "\nx ::= 'x' r0 | 'b'\ny ::= 'y' | 'z' y";
    let common = "x y ".repeat(10_000);
    let twice = format!("r0 ::= {common} '1' | {common} '2'{rest}");
    assert_eq!(check_large(twice, Limits::default()), Ok(3));
    let star = format!("r0 ::= ({})* 'a'{rest}", "x? y? ".repeat(10_000));
    assert_eq!(check_large(star, Limits::default()), Ok(3));
    let growing: Vec<String> = (0..600).map(|count| "x y ".repeat(count)).collect();
    let growing = format!("r0 ::= {}{rest}", growing.join(" | "));
    assert_eq!(check_large(growing, Limits::default()), Ok(3));
}

#[test]
fn limits_end_the_work() {
    let limits = Limits { expressions: 1_000, ..Limits::default() };
    let rights = large(10_000, |at| format!("'a' r{} | 'b'", (at + 1) % 10_000));
    let error = check_large(rights, limits).expect_err("is too much");
    assert!(error.contains("expressions"), "{error}");
}

fn letters() -> impl Strategy<Value = Piece> {
    prop_oneof![
        3 => "[abc]{1,2}".prop_map(Piece::Text),
        1 => proptest::collection::btree_set(prop_oneof![Just('a'), Just('b'), Just('c')], 1..3)
            .prop_map(Piece::Class),
        1 => Just(Piece::Empty),
    ]
}

fn nested(
    leaf: impl Strategy<Value = Piece> + 'static,
    counts: fn(u32, u32) -> (u32, u32),
) -> impl Strategy<Value = Piece> {
    leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 2..4).prop_map(Piece::Seq),
            3 => proptest::collection::vec(inner.clone(), 2..4).prop_map(Piece::Choice),
            2 => (inner, 0..4_u32, 0..4_u32).prop_map(move |(body, min, more)| {
                let (min, max) = counts(min, more);
                Piece::Repeat(Box::new(body), min, max)
            }),
        ]
    })
}

fn counts(min: u32, more: u32) -> (u32, u32) {
    (min, if more == 3 { UNBOUNDED } else { min + more })
}

/// A regular expression with conjunctions.
fn regular() -> impl Strategy<Value = Piece> {
    (nested(letters(), counts), nested(letters(), counts), any::<bool>()).prop_map(
        |(a, b, is_and)| {
            if is_and { Piece::And(a.into(), b.into()) } else { Piece::Minus(a.into(), b.into()) }
        },
    )
}

fn grammar(rules: usize) -> impl Strategy<Value = Vec<Piece>> {
    let leaf = prop_oneof![
        8 => letters(),
        8 => (0..rules).prop_map(Piece::Call),
        1 => Just(Piece::Nothing),
        1 => regular(),
    ];
    proptest::collection::vec(nested(leaf, counts), rules..=rules)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn random_grammars_of_one_rule(rules in grammar(1)) {
        check_pieces(&rules);
    }

    #[test]
    fn random_grammars_of_three_rules(rules in grammar(3)) {
        check_pieces(&rules);
    }

    #[test]
    fn random_grammars_of_five_rules(rules in grammar(5)) {
        check_pieces(&rules);
    }
}

#[test]
fn the_oracle_knows_its_words() {
    let rules = [Piece::Choice(vec![
        Piece::Seq(vec![Piece::Text("a".into()), Piece::Call(0), Piece::Text("b".into())]),
        Piece::Repeat(Box::new(Piece::Text("c".into())), 0, 1),
    ])];
    let words = words_of_pieces(&rules)[0].list();
    assert_eq!(words, ["", "c", "ab", "acb", "aabb", "aacbb", "aaabbb"]);
}
