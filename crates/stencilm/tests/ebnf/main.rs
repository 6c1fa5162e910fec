//! The EBNF front end: what it accepts and refuses, its errors, and that what it prints it reads
//! back.

mod ahead;
mod macros;
mod spans;
mod w3c;
#[path = "../normalize/words.rs"]
mod words;

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use stencilm::{
    Budget, ErrorKind, Limits, Location, frontend::ebnf, grammar::RuleSet, normalize::normalize,
};

use crate::spans::accepts;
use crate::words::{words_of_bodies, words_of_set};

fn parse(grammar: &str) -> Result<RuleSet, stencilm::Error> {
    ebnf::parse(grammar, "root", &mut Budget::default())
}

/// The grammar's texts, before and after it is printed and read again.
#[track_caller]
fn check(grammar: &str, accepted: &[&str], refused: &[&str]) {
    let set = parse(grammar).unwrap_or_else(|error| panic!("{grammar}: {error}"));
    let printed = set.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("{grammar}\n{printed}: {error}"));
    assert_eq!(again.to_string(), printed, "printing {grammar} again");
    for set in [set, again] {
        for text in accepted {
            assert!(accepts(&set, text), "{grammar} must accept {text:?}; it reads as\n{set}");
        }
        for text in refused {
            assert!(!accepts(&set, text), "{grammar} must refuse {text:?}; it reads as\n{set}");
        }
    }
}

#[track_caller]
fn check_error(grammar: &str, offset: usize, message: &str) {
    let error = parse(grammar).expect_err(grammar);
    assert!(error.to_string().contains(message), "{grammar}: {error}");
    assert_eq!(error.location(), &Location::Offset(offset), "{grammar}: {error}");
}

#[track_caller]
fn check_refused(grammar: &str, offset: usize, feature: &str) {
    let error = parse(grammar).expect_err(grammar);
    let ErrorKind::Unsupported { feature: found } = error.kind() else {
        panic!("{grammar}: {error}");
    };
    assert!(found.contains(feature), "{grammar}: {error}");
    assert_eq!(error.location(), &Location::Offset(offset), "{grammar}: {error}");
}

#[test]
fn literals_and_escapes() {
    check(r#"root ::= "a" 'b' "''" '""'"#, &["ab''\"\""], &["ab", ""]);
    check(r#"root ::= "\n\r\t\\\"\'\/\?\[\]\-\^""#, &["\n\r\t\\\"'/?[]-^"], &[]);
    check(r#"root ::= "\x41\u00e9\U0001F600\u{1F600}\u{a}\0""#, &["Aé😀😀\n\0"], &[]);
    check(r#"root ::= "\xE9" "é😀""#, &["éé😀"], &["\u{9}"]);
    check(r#"root ::= "\a\b\e\f\v""#, &["\u{7}\u{8}\u{1b}\u{c}\u{b}"], &[]);
    check("root ::= \"# no comment\" # a comment", &["# no comment"], &[]);
    check("root ::= \"\"", &[""], &["a"]);
}

#[test]
fn classes() {
    check("root ::= [a-c_]+", &["a_c"], &["d", ""]);
    check("root ::= [^a-c]", &["d", "é", "\n"], &["a", ""]);
    check("root ::= [α-ω]", &["λ"], &["Ω"]);
    check(r"root ::= [\]\[\-\^\\]+", &[r"][-^\"], &["a"]);
    check("root ::= [-a]+ [b-]", &["-a-b", "a-"], &["c"]);
    check("root ::= [a^[\"']+", &["a^[\"'"], &["b"]);
    check(r"root ::= [\x41-\u0043\t]+", &["ABC\t"], &["D"]);
    check("root ::= . [^]", &["é😀", "\n\n"], &["a", "abc"]);
    check("root ::= ... \"x\"", &["abcx"], &["abx"]);
    check("root ::= [] | \"a\"", &["a"], &[""]);
    check(r"root ::= [^\x00-\x7F]", &["é"], &["a"]);
    check("root ::= [#]", &["#"], &[]);
}

#[test]
fn repetitions() {
    check("root ::= \"a\"*", &["", "aaa"], &["b"]);
    check("root ::= \"a\"+ 'b'?", &["a", "aab"], &["", "b"]);
    check("root ::= \"a\"{2}", &["aa"], &["a", "aaa"]);
    check("root ::= \"a\"{ 2 , }", &["aa", "aaaa"], &["a"]);
    check("root ::= \"a\"{,2}", &["", "aa"], &["aaa"]);
    check("root ::= \"a\"{1,2}", &["a", "aa"], &["", "aaa"]);
    check("root ::= \"a\"{0}", &[""], &["a"]);
    check("root ::= \"a\"{2}{3}", &["aaaaaa"], &["aa", "aaaaa"]);
    check("root ::= \"a\"{2}*", &["", "aa", "aaaa"], &["a", "aaa"]);
    check("root ::= (\"a\" \"b\")  *", &["abab"], &["aab"]);
    check("root ::= \"a\"{0,2000000000}", &["", "aa"], &["b"]);
    check("root ::= \"ab\"+", &["abab"], &["abb"]);
}

#[test]
fn choices_and_groups() {
    check("root ::= \"a\" | \"b\" \"c\"", &["a", "bc"], &["ac", "b"]);
    check("root ::= (\"a\" | \"b\") \"c\"", &["ac", "bc"], &["a"]);
    check("root ::= \"a\" |", &["a", ""], &["b"]);
    check("root ::= | \"a\"", &["a", ""], &["b"]);
    check("root ::=", &[""], &["a"]);
    check("root ::= ()", &[""], &["a"]);
    check("root ::= (\"a\" | ) \"b\"", &["ab", "b"], &["a"]);
}

#[test]
fn rules_and_lines() {
    check("root ::= a\na ::= \"x\"", &["x"], &[""]);
    check("a ::= \"x\"\nroot ::= a a", &["xx"], &["x"]);
    check("root ::= \"a\"\n  | \"b\"\n\n  \"c\"", &["a", "bc"], &["b"]);
    check("root ::= a\n  b\na ::= \"x\"\nb ::= \"y\"", &["xy"], &["x"]);
    check("  root ::=\n    \"a\"\r\n  x ::= \"b\"\r\n", &["a"], &["ab"]);
    check("# one\nroot ::= \"a\" # two\n# three", &["a"], &[]);
    check("root ::= a-b.c_1 2x\na-b.c_1 ::= \"x\"\n2x ::= \"y\"", &["xy"], &[]);
    check("root::=\"a\"", &["a"], &[]);
    check("root ::= (\n  \"a\" # first\n  \"b\"\n)", &["ab"], &[]);
    check("\u{FEFF}root ::= \"a\"", &["a"], &[]);
    check("root ::= root \"a\" | \"b\"", &["b", "baa"], &["a"]);
}

#[test]
fn conjunctions() {
    check("root ::= [a-z]+ & ~\"if\"", &["i", "iff"], &["if", ""]);
    check("root ::= [a-z]+ - \"if\" - \"else\"", &["els", "x"], &["if", "else"]);
    check("root ::= ~(\"a\" | \"b\")", &["", "ab", "é"], &["a", "b"]);
    check("root ::= \"x\" ~\"a\" \"y\"", &["xy", "xby"], &["xay"]);
    check("root ::= ~\"a\"*", &["b", "ab"], &["", "aa"]);
    check("root ::= ~~\"a\"", &["a"], &["", "b"]);
    check("root ::= ~\"a\" & ~\"b\"", &["", "c", "ab"], &["a", "b"]);
    check("root ::= \"a\" | [ab] & ~\"b\" | \"c\"", &["a", "c"], &["b"]);
    check(
        "root ::= (word - key) \"!\"\nword ::= l+\nl ::= [a-z]\nkey ::= \"if\" | \"do\"",
        &["a!"],
        &["if!"],
    );
    check(
        "root ::= a & b\na ::= x* \"b\"\nx ::= \"a\" | b\nb ::= [ab]{3}",
        &["aab"],
        &["ab", "aaa", "bbb"],
    );
    check("root ::= ([ab]* & ([ab]{2})*) - \"\"", &["ab"], &["", "a"]);
    check("root ::= a \"a\" | x\na ::= root | \"b\"\nx ::= \"c\" - \"d\"", &["c", "ba"], &["d"]);
}

#[test]
fn extensions_print_and_parse() {
    for grammar in [
        "root ::= %token(\"<|x|>\") \"a\"\n",
        "root ::= %bytes[\\x00-\\x7F\\xFF]\n",
        "root ::= %raw\"a\\xFF\\n\\u0001é\"\n",
        "root ::= %json[a-z]+ %canonical[\\\"a-z]*\n",
        "root ::= []\n",
    ] {
        let printed = parse(grammar).expect(grammar).to_string();
        assert_eq!(parse(&printed).expect(&printed).to_string(), printed);
        assert_eq!(printed.replace("\"a-z", "\\\"a-z"), grammar);
    }
    let token = parse("root ::= <think> | %token( '<a\\\">' )").expect("tokens").to_string();
    assert_eq!(token, "root ::= %token(\"<a\\\">\") | %token(\"<think>\")\n");
    check("root ::= %bytes[^\\x00-\\x60\\x62-\\xFF]", &["a"], &["b"]);
}

#[test]
fn errors_say_what_and_where() {
    check_error("", 0, "there is no rule `root`");
    check_error("start ::= \"x\"", 13, "there is no rule `root`");
    check_error("root ::= foo \"x\"", 9, "unknown rule `foo`");
    check_error("root ::= nubmer\nnumber ::= \"1\"", 9, "is `number` meant?");
    check_error("Root ::= \"1\"", 12, "is `Root` meant?");
    check_error("root ::= <[12-]>", 9, "`<[1-5,7]>`");
    check_error("root[slow] ::= \"a\"", 5, "no rule option `slow`");
    check_error("root ::= a.b\na ::= \"x\"", 9, "put blanks around `.` and `-`");
    check_error("root ::= \"a\"\nroot ::= \"b\"", 13, "`root` is defined twice");
    check_error("root ::= \"abc\nb ::= \"x\"", 9, "literal is not closed");
    check_error("root ::= \"abc", 9, "literal is not closed");
    check_error("root ::= [abc", 9, "class is not closed");
    check_error(r#"root ::= "a\q""#, 11, r"unknown escape `\q`");
    check_error(r"root ::= [\d]", 10, "write the class out");
    check_error(r#"root ::= "\x4""#, 10, "needs 2 hexadecimal digits");
    check_error(r#"root ::= "\u12é""#, 10, "needs 4 hexadecimal digits");
    check_error(r#"root ::= "\u+123""#, 10, "needs 4 hexadecimal digits");
    check_error(r#"root ::= "\u{}""#, 10, "one to six");
    check_error(r#"root ::= "\uD83D\uDE00""#, 10, "half of a surrogate pair");
    check_error(r#"root ::= "\U00110000""#, 10, "is no Unicode code point");
    check_error("root ::= [z-a]", 10, "`z-a` is empty");
    check_error("root ::= (\"a\"", 9, "`(` is not closed");
    check_error("root ::= (\"a\"\nb ::= \"c\")", 9, "`(` is not closed");
    check_error("root ::= \"a\")", 12, "`)` closes nothing");
    check_error("root ::= *", 9, "nothing comes before");
    check_error("root ::= \"a\"{}", 12, "a repetition is");
    check_error("root ::= \"a\"{1 2}", 12, "a repetition is");
    check_error("root ::= \"a\"{3,2}", 12, "`{3,2}` is empty");
    check_error("root ::= \"a\"{0,2000000001}", 15, "Limits::repeat = 2000000000");
    check_error("root ::= \"a\"{99999999999999999999}", 13, "Limits::repeat");
    check_error("root ::= & \"a\"", 9, "`&` needs something on both sides");
    check_error("root ::= \"a\" - ", 13, "`-` needs something on both sides");
    check_error("root ::= \"a\" & | \"b\"", 13, "`&` needs something on both sides");
    check_error("root ::= ~", 9, "`~` needs something after it");
    check_error("root = \"a\"", 4, "`::=` must follow the name `root`");
    check_error("\"a\"", 0, "a rule begins here");
    check_error("root ::= \"a\" b ::= \"c\"", 13, "must begin on a line of its own");
    check_error("root ::= \"a\" // no", 13, "a comment begins with `#`");
    check_error("root ::= \"a\" ;", 13, "unexpected `;`");
    check_error("root ::= %foo", 9, "`%` begins");
    check_error("root ::= %bytes[é-\\u0100]", 15, "at most `\\xFF`");
    check_error("root ::= %token(x)", 16, "in quotes");
    check_error("root ::= <", 9, "begins no `<token>`");
}

#[test]
fn what_is_understood_but_not_exact_is_refused_by_name() {
    check_refused("root ::= ~b\nb[capture] ::= \"a\"", 10, "the rule `b`, whose options");
    check_refused("root[lazy] ::= b\nb[max_tokens=2] ::= \"a\"", 15, "the rule `b`, whose options");
    check_refused("root[lazy] ::= root \"a\" | \"b\"", 15, "recursive rule `root`");
    check_refused("root ::= Regex(\"(a)\\\\1\")", 9, "back-reference");
    check_refused("root ::= ~root \"a\"", 10, "recursive rule `root`");
    check_refused("root ::= a & \"x\"\na ::= \"x\" b\nb ::= a?", 35, "recursive rule `a`");
    check_refused("root ::= \"a\" | \"b\" & root", 21, "recursive rule `root`");
    check_refused("root ::= \"a\" - <think>", 15, "a special token inside");
}

#[test]
fn limits_are_kept() {
    let nested = |depth: usize| format!("root ::= {}\"a\"{}", "(".repeat(depth), ")".repeat(depth));
    // Parentheses alone cost nothing; choices and repetitions in each other do.
    assert!(parse(&nested(100_000)).is_ok());
    let tower = |depth: usize| {
        format!(
            "root ::= {}\"c\"{}",
            "\"a\" (\"b\" \"x\"* | ".repeat(depth),
            ")* \"d\"".repeat(depth)
        )
    };
    let compile = |text: &str| stencilm::from_ebnf(text, "root", &mut Budget::default());
    assert!(compile(&tower(60)).is_ok());
    for depth in [300, 20_000] {
        let error = compile(&tower(depth)).expect_err("too deep").to_string();
        assert!(error.contains("Limits::nesting = 250"), "{error}");
    }

    let limits = Limits { source_bytes: 10, rules: 2, expressions: 8, ..Limits::default() };
    let refused = |grammar: &str, limits: Limits| {
        let mut budget = Budget::new(limits, stencilm::Cancel::default());
        ebnf::parse(grammar, "root", &mut budget).expect_err(grammar).to_string()
    };
    assert!(refused("root ::= \"abc\"", limits).contains("source_bytes = 10"));
    let limits = Limits { source_bytes: 1_000, ..limits };
    assert!(refused("root ::= a b\na ::= \"\"\nb ::= \"\"", limits).contains("rules = 2"));
    let many = "root ::= 'a' 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' 'j' 'k' 'l'";
    assert!(refused(many, limits).contains("expressions = 8"));
}

#[test]
fn hostile_texts_end_quickly() {
    let mebibytes = 16 << 20;
    let rule = |at: usize| format!("a{at} ::= 'x{at}' | a{}", (at * 7) % 300_000);
    let chain: Vec<String> = (0..300_000).map(rule).collect();
    let texts = [
        format!("root ::= \"{}\"", "x".repeat(mebibytes - 20)),
        format!("root ::= {}", "x ".repeat(mebibytes / 4)) + "\nx ::= \"a\"",
        format!("root ::= {}", "~".repeat(mebibytes / 4)) + "\"a\"",
        format!("root ::= \"a\"{}", "*".repeat(mebibytes / 4)),
        format!("root ::= \"a\"{}", "{1,2}".repeat(mebibytes / 40)),
        format!("root ::= {}", "|".repeat(mebibytes / 4)),
        format!("root ::= {}\"a\"", "\"a\" | ".repeat(mebibytes / 20)),
        format!("root ::= {}\"b\"", "[a-b]-".repeat(mebibytes / 20)),
        format!("root ::= {}", "(".repeat(mebibytes / 2)),
        "\n".repeat(mebibytes),
        "# ".repeat(mebibytes / 2),
        "a ".repeat(mebibytes / 2),
        format!("root ::= [{}]", "a-z".repeat(mebibytes / 4)),
        chain.join("\n"),
    ];
    for text in texts {
        let begin = Instant::now();
        let result = parse(&text).map(|set| set.rules.len());
        let took = begin.elapsed();
        println!("{:<40.40} {took:?} {result:?}", text.replace('\n', " "));
        assert!(took < Duration::from_secs(30), "{text:.60} took {took:?}");
    }
}

/// The cases that other engines' tests and bug reports gave, where they are there.
#[test]
fn cases_of_other_engines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let mut tried = 0;
    for name in ["cases-dev.jsonl.gz", "cases-llamacpp-dev.jsonl.gz"] {
        let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(folder.join(name)).output() else {
            return;
        };
        for line in String::from_utf8_lossy(&unpacked.stdout).lines() {
            if line.contains("\"format\": \"ebnf\"") {
                check_case(&serde_json::from_str(line).expect("JSON lines"));
                tried += 1;
            }
        }
    }
    println!("{tried} cases");
}

fn check_case(case: &serde_json::Value) {
    let (id, note) = (&case["id"], case["note"].as_str().unwrap_or(""));
    let grammar = case["grammar"].as_str().expect("a text");
    let mut budget = Budget::default();
    let set = ebnf::parse(grammar, "root", &mut budget);
    if note.contains("[MUST-ERROR]") {
        let result = set.and_then(|set| normalize(set, &mut budget));
        assert!(result.is_err(), "{id} must be refused");
        return;
    }
    let is_deep = grammar.contains(&"(".repeat(1_000));
    let set = match set {
        Err(error) if is_deep => {
            return assert!(error.to_string().contains("nesting"), "{id}: {error}");
        }
        set => set.unwrap_or_else(|error| panic!("{id}: {error}")),
    };
    let texts = |key: &str| -> Vec<String> {
        let texts = case[key].as_array().expect("a list").iter();
        let texts = texts.map(|text| text.as_str().expect("a text").to_owned());
        // The recogniser is cubic.
        texts.filter(|text| text.len() <= 60).collect()
    };
    for text in texts("accept") {
        assert!(accepts(&set, &text), "{id} must accept {text:?}");
    }
    for text in texts("reject") {
        assert!(!accepts(&set, &text), "{id} must refuse {text:?}");
    }
    normalize(set, &mut budget).unwrap_or_else(|error| panic!("{id}: {error}"));
}

#[test]
fn odd_rule_names_print_as_names() {
    let mut set = parse("root ::= a b\na ::= \"x\"\nb ::= \"y\"").expect("a grammar");
    set.rules[1].0 = "a b/é".to_owned();
    set.rules[2].0 = "a_b__".to_owned();
    assert_eq!(set.to_string(), "root ::= a_b__ a_b___2\na_b__ ::= \"x\"\na_b___2 ::= \"y\"\n");
}

/// Grammar texts of random rules over a, b, c.
fn grammars() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => "[abc]{1,3}".prop_map(|text| format!("\"{text}\"")),
        2 => prop_oneof![Just("[a-b]"), Just("[^a]"), Just("."), Just("[]"), Just("\"\"")]
            .prop_map(str::to_owned),
        3 => prop_oneof![Just("root"), Just("x"), Just("y-1")].prop_map(str::to_owned),
        1 => prop_oneof![Just("[abc]+ - \"ab\""), Just("([ab]* & ~(\"a\" | \"bb\"))"), Just("~\"b\"")]
            .prop_map(|text| format!("({text})")),
    ];
    let body = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 2..4);
        let suffix =
            prop_oneof![Just("*"), Just("+"), Just("?"), Just("{2}"), Just("{1,3}"), Just("{2,}")];
        prop_oneof![
            3 => list.clone().prop_map(|parts| parts.join(" ")),
            3 => list.prop_map(|parts| format!("({})", parts.join(" | "))),
            2 => (inner, suffix).prop_map(|(body, suffix)| format!("({body}){suffix}")),
        ]
    });
    proptest::collection::vec(body, 3..=3).prop_map(|bodies| {
        format!("root ::= {}\nx ::= {}\ny-1 ::= {}\n", bodies[0], bodies[1], bodies[2])
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_printed_reads_back(grammar in grammars()) {
        let first = parse(&grammar).expect("a grammar");
        let printed = first.to_string();
        let second = parse(&printed).expect(&printed);
        prop_assert_eq!(second.to_string(), printed, "{}", grammar);
        prop_assert!(words_of_set(&first) == words_of_set(&second), "{}\n{}", grammar, second);
    }

    #[test]
    fn no_text_panics(text in "([a-c]|::=|root|\n|[ \"'\\[\\](){}|&~%.<>!#*+?^\\\\-]|\\\\[xuU]|[0-9]|é){0,40}") {
        let _ = parse(&text);
        let _ = parse(&format!("root ::= {text}"));
    }
}

#[test]
fn the_printed_normal_grammar_reads_back() {
    let mut budget = Budget::default();
    let set = parse("root ::= root 'a' | x\nx ::= 'b' root? 'c' x").expect("a grammar");
    assert!(normalize(set, &mut budget).is_err());
    let set = parse("root ::= root 'a' | x\nx ::= 'b' root? 'c' | x x").expect("a grammar");
    let before = words_of_set(&set)[0].list();
    let printed = normalize(set, &mut budget).expect("can be").to_string();
    let again = parse(&printed).expect(&printed);
    let bodies: Vec<_> = again.rules.iter().map(|&(_, body)| body).collect();
    assert_eq!(words_of_bodies(&again.exprs, &bodies)[0].list(), before, "{printed}");
}
