//! Look-ahead holds wherever what follows comes from.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use stencilm::{Budget, ErrorKind, Limits, Location, frontend::ebnf, normalize::normalize};

use crate::spans::accepts;
use crate::{check, check_refused, parse};

#[test]
fn what_follows_may_come_from_the_caller() {
    check("root ::= a [bc]\na ::= \"x\" (= \"b\")", &["xb"], &["xc", "x"]);
    check("root ::= a b c\na ::= [xy] (= \"bc\")\nb ::= [abc]\nc ::= [abc]", &["xbc"], &["xbb"]);
    let string = "root ::= \"[\" s (\",\" s)* \"]\"\ns ::= \"'\" [^']* \"'\" (= [ ]* [,\\]])";
    check(string, &["['a']", "['a','b']"], &["['a'", "['a';'b']"]);
    let nested = "root ::= e \"!\"\ne ::= \"(\" e \")\" (= \")\" | \"!\") | \"x\" e?";
    check(nested, &["(x)!", "((x))!", "xx(x)!"], &["(x)x!", "(x)"]);
}

#[test]
fn a_condition_holds_in_every_turn() {
    check("root ::= (\"a\" (= \"b\") | \"b\" | \"c\")*", &["", "abab", "cbb"], &["a", "aab", "ac"]);
    let counted = "root ::= (\"a\" (= \"ab\" | \"b\") | \"b\"){3,5} \"!\"";
    check(counted, &["aab!", "bbb!", "babbb!"], &["aaab!", "bba!", "ab!"]);
    check("root ::= (\"a\"? (= \"a\" | \"!\"))+ \"!\"", &["!", "aa!"], &["a", "b!"]);
    check("root ::= ((= [ab]) [a-c]){1000}", &[], &["c"]);
}

#[test]
fn conditions_meet() {
    check("root ::= \"x\" (= \"bc\") (= . [cd]) [a-d]*", &["xbc", "xbca"], &["xbd", "xb", "x"]);
    check("root ::= \"x\" (= \"b\") (= \"bc\" | \"d\") [a-d]+", &["xbc"], &["xb", "xbd", "xd"]);
    check("root ::= \"x\" (= \"\") \"y\"?", &["x", "xy"], &[]);
    check("root ::= \"x\" (= n \"px\")? .*\nn ::= [0-9]+", &["x1px", "xa"], &[]);
    check("root ::= x ([a-c]{2,3} | \"d\")\nx ::= \"x\" (= [ad])", &["xab", "xd"], &["xbb", "xa"]);
}

#[test]
fn what_no_text_brings_is_an_error() {
    for grammar in ["root ::= \"x\" (= \"b\")", "root ::= \"x\" (= \"b\") \"c\""] {
        let error = parse(grammar).expect_err(grammar);
        assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{error}");
        assert_eq!(error.location(), &Location::Offset(13), "{error}");
    }
    // An alternative of its own is left out.
    check("root ::= \"x\" (= \"b\") | \"c\"", &["c"], &["x"]);
}

#[test]
fn what_is_not_regular_is_refused() {
    check_refused("root ::= \"x\" (= r) r\nr ::= \"(\" r? \")\"", 31, "recursive rule `r`");
    check_refused("root ::= \"x\" (= (= \"a\") \"a\") .", 16, "another look-ahead");
    check_refused("root ::= ~(\"x\" (= \"a\"))", 15, "a look-ahead inside");
    check_refused("root ::= \"x\" (= <a>) <a>", 16, "a special token inside");
}

#[test]
fn conditions_cost_no_more_than_they_may() {
    let limits = Limits { alternatives: 50, ..Limits::default() };
    let mut budget = Budget::new(limits, stencilm::Cancel::new());
    // After each character it has to be known where a `c` came among the ten before it.
    let grammar = "root ::= ([ab] (= .* \"c\" .{9} \"d\"))* [a-d]*";
    let error = ebnf::parse(grammar, "root", &mut budget).expect_err("512 conditions");
    let is_limit = |kind: &ErrorKind| {
        matches!(kind, ErrorKind::LimitReached { .. } | ErrorKind::TimeIsUp { .. })
    };
    assert!(is_limit(error.kind()), "{error}");
    let deep =
        format!("root ::= {}(= \"a\"){} \"a\"", "(\"b\" | ".repeat(5_000), ")".repeat(5_000));
    let error = parse(&deep).expect_err("nested too deeply");
    assert!(error.to_string().contains("nesting"), "{error}");
    let mut many = String::from("root ::= r0\n");
    for n in 0..2_000 {
        let _ = writeln!(many, "r{n} ::= \"x\" (= \"x\" | \"y\") r{}", n + 1);
    }
    assert!(parse(&format!("{many}r2000 ::= \"y\"")).is_ok());
}

/// A grammar text as a tree of its own.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Rule(usize),
    Ahead(Vec<String>),
    Seq(Vec<Piece>),
    Choice(Vec<Piece>),
    Repeat(Box<Piece>, usize, Option<usize>),
}

impl Piece {
    fn written(&self) -> String {
        let list = |parts: &[Piece], between: &str| {
            parts.iter().map(Piece::written).collect::<Vec<_>>().join(between)
        };
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::Rule(rule) => format!("r{rule}"),
            Self::Ahead(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                format!("(= {})", texts.join(" | "))
            }
            Self::Seq(parts) => format!("({})", list(parts, " ")),
            Self::Choice(parts) => format!("({})", list(parts, " | ")),
            Self::Repeat(part, min, None) => format!("({}){{{min},}}", part.written()),
            Self::Repeat(part, min, Some(max)) => format!("({}){{{min},{max}}}", part.written()),
        }
    }
}

/// Where matches end, straight from what the signs mean: conditions look at the text itself.
struct Judge<'a> {
    rules: &'a [Piece],
    text: &'a str,
    /// Where each rule ends that begins at a place, as far as it is known.
    known: Vec<Vec<BTreeSet<usize>>>,
}

impl Judge<'_> {
    fn accepts(rules: &[Piece], text: &str) -> bool {
        let known = vec![vec![BTreeSet::new(); text.len() + 1]; rules.len()];
        let mut judge = Judge { rules, text, known };
        loop {
            let before = judge.known.clone();
            for (rule, body) in rules.iter().enumerate() {
                for at in 0..=text.len() {
                    judge.known[rule][at] = judge.ends(body, at);
                }
            }
            if judge.known == before {
                return judge.known[0][0].contains(&text.len());
            }
        }
    }

    fn ends(&self, piece: &Piece, at: usize) -> BTreeSet<usize> {
        let rest = &self.text[at..];
        let after = |ends: &BTreeSet<usize>, piece: &Piece| -> BTreeSet<usize> {
            ends.iter().flat_map(|&end| self.ends(piece, end)).collect()
        };
        match piece {
            Piece::Text(text) => {
                rest.starts_with(text.as_str()).then_some(at + text.len()).into_iter().collect()
            }
            Piece::Rule(rule) => self.known[*rule % self.rules.len()][at].clone(),
            Piece::Ahead(texts) => texts
                .iter()
                .any(|text| rest.starts_with(text.as_str()))
                .then_some(at)
                .into_iter()
                .collect(),
            Piece::Seq(parts) => {
                parts.iter().fold(BTreeSet::from([at]), |ends, part| after(&ends, part))
            }
            Piece::Choice(parts) => parts.iter().flat_map(|part| self.ends(part, at)).collect(),
            Piece::Repeat(part, min, max) => {
                let mut ends = BTreeSet::from([at]);
                for _ in 0..*min {
                    ends = after(&ends, part);
                }
                // Longer than the text no more turns bring anything new.
                let mut all = ends.clone();
                for _ in *min..max.unwrap_or(min + self.text.len() + 1) {
                    ends = after(&ends, part);
                    all.extend(&ends);
                }
                all
            }
        }
    }
}

fn pieces() -> impl Strategy<Value = Piece> {
    let text = "[abc]{0,2}";
    let leaf = prop_oneof![
        4 => text.prop_map(Piece::Text),
        2 => (0..3_usize).prop_map(Piece::Rule),
        3 => prop::collection::vec("[abc]{1,3}", 1..3).prop_map(Piece::Ahead),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(Piece::Seq),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(Piece::Choice),
            1 => (inner, 0..3_usize, prop::option::of(0..3_usize)).prop_map(|(part, min, more)| {
                Piece::Repeat(Box::new(part), min, more.map(|more| min + more))
            }),
        ]
    })
}

fn texts() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while all[at].len() < 5 {
        for letter in ["a", "b", "c"] {
            all.push(format!("{}{letter}", all[at]));
        }
        at += 1;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn texts_are_those_that_meet_every_condition(rules in prop::collection::vec(pieces(), 3)) {
        let mut grammar = String::from("root ::= r0\n");
        for (rule, body) in rules.iter().enumerate() {
            let _ = writeln!(grammar, "r{rule} ::= {}", body.written());
        }
        let set = match parse(&grammar) {
            Ok(set) => Some(set),
            Err(error) => {
                prop_assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{error}");
                None
            }
        };
        for text in texts() {
            let expected = Judge::accepts(&rules, &text);
            let found = set.as_ref().is_some_and(|set| accepts(set, &text));
            prop_assert_eq!(found, expected, "{} {:?}", grammar, text);
        }
        if let Some(set) = set {
            let has_texts = texts().iter().any(|text| accepts(&set, text));
            let normal = normalize(set, &mut Budget::default());
            prop_assert!(normal.is_ok() || !has_texts);
        }
    }
}
