//! The contextual meaning. What is expected here is what the `lark` package, version 1.3.1,
//! answered; `tests/test_lark.py` compares random grammars with it.

use stencilm::frontend::lark::Meaning;

use crate::Engine;

#[track_caller]
fn check(grammar: &str, accepted: &[&str], refused: &[&str]) {
    let engine = Engine::new(grammar, Meaning::Contextual)
        .unwrap_or_else(|error| panic!("{grammar}: {error}"));
    let texts = accepted.iter().map(|it| (it, true)).chain(refused.iter().map(|it| (it, false)));
    for (text, expected) in texts {
        assert_eq!(engine.accepts(text), expected, "{grammar} and {text:?}");
    }
}

#[track_caller]
fn check_error(grammar: &str, message: &str) {
    let error = Engine::new(grammar, Meaning::Contextual).err().expect(grammar);
    assert!(error.to_string().contains(message), "{grammar}: {error}");
}

#[test]
fn a_terminal_takes_all_that_it_matches() {
    check("start: A \"b\" | \"c\"\nA: /[ab]+/", &["c"], &["ab", "aab"]);
    check("start: A~2 \".\"\nA: /a+/\n%ignore \" \"", &["a aa.", " a a ."], &["aa.", "aaa."]);
    check("start: (\"=\" | \"==\" | \"+\")+", &["===", "=+=="], &["-"]);
    check("start: \"==\" \"=\" \"+\"", &["===+"], &["==+"]);
    check("start: \"=\" \"=\" | \"==\" \"+\"", &["==+"], &["=="]);
}

#[test]
fn keywords_are_no_names() {
    let grammar =
        "start: \"if\" NAME \"then\" NAME | NAME \"=\" NAME\nNAME: /[a-z]+/\n%ignore / +/";
    check(
        grammar,
        &["if a then b", "x=y", "iff = y", "then=a", "if if then b"],
        &["ifa then b", "if=x"],
    );
    // A keyword is one where the parser may read it, and a name elsewhere.
    check(
        "start: NAME \"is\" NAME\nNAME: /[a-z]+/\n%ignore \" \"",
        &["is is is"],
        &["isisis", "a is"],
    );
    check(
        "start: (NAME | IF)+\nIF: \"if\"i\nNAME: /[a-z]+/\n%ignore \" \"",
        &["if IF a"],
        &["iF2"],
    );
}

#[test]
fn priorities_come_first() {
    check(
        "start: A B | WORD \"!\"\nA.1: \"a\"\nB: \"b\"\nWORD: /[a-z]+/",
        &["ab", "b!"],
        &["ab!", "a!"],
    );
    check("start: A B | WORD \"!\"\nA: \"a\"\nB: \"b\"\nWORD: /[a-z]+/", &["ab!", "b!"], &["ab"]);
}

#[test]
fn the_order_of_choices_decides_how_far_a_terminal_goes() {
    check("start: A \"b\"\nA: /(?:a|ab)/", &["ab"], &["abb"]);
    check("start: A \"b\"\nA: /(?:ab|a)/", &["abb"], &["ab"]);
    check("start: A \"b\"\nA: \"a\" | \"ab\"", &["abb"], &["ab"]);
    check("start: S+\nS: /\".*?\"/", &["\"a\"\"b\""], &["\"a\"b\""]);
    check("start: S \"!\"\nS: /a+?b??/", &["a!"], &["aa!", "ab!"]);
    check("start: C \"*/\"?\n%import common.C_COMMENT -> C", &["/* a */", "/**/*/"], &["/* */ */"]);
}

#[test]
fn ignored_texts_are_lexed_like_others() {
    check("start: \"a\"+\n%ignore /#[^\\n]*/\n%ignore /\\s+/", &["a #x\n a"], &["#\nb", "#a"]);
    let grammar = "start: (A | \"1\")+\nA: /[a-z]+/\n%ignore \"ab\"";
    check(grammar, &["1abc1", "abab"], &["1ab1", "ab"]);
    check_error("start: (\"a\" \" \")+\n%ignore / +/", "matches nothing at all");
}

#[test]
fn conflicts() {
    // A shift wins over a reduction: the first `else` belongs to the last `if`.
    let grammar = "start: s\ns: \"i\" s | \"i\" s \"e\" s | \"x\"";
    check(grammar, &["ix", "iixex", "iixexex"], &["ixexex"]);
    check("start: e\ne: e \"+\" e | \"n\"", &["n+n+n"], &["n+"]);
    // Here it costs a text.
    check("start: a \"b\" | \"c\"\na: \"x\" | \"x\" \"b\"", &["xbb", "c"], &["xb"]);
    check_error(
        "start: a | b\na: \"x\"\nb: \"x\"",
        "cannot tell `a` from `b` before the end of the text",
    );
    check("start: a | b\na.2: \"x\"\nb.1: \"x\"", &["x"], &["y"]);
}

#[test]
fn look_ahead_sees_what_comes_after_a_terminal() {
    let words = "start: IF NAME | NAME\nIF.1: /if\\b/\nNAME: /[a-z]+/\n%ignore \" \"";
    check(words, &["if x", "ifx", "if if"], &["if"]);
    check("start: A \"b\" | A \"c\"\nA: /a+(?!c)/", &["ab", "aab"], &["ac", "aac"]);
    let calls = "start: CALL \"(\" \")\" | NAME\nCALL: /[a-z]+(?=\\()/\nNAME: /[a-z]+/";
    check(calls, &["f()", "f"], &["f("]);
    let names = "start: NAME \"(\" | IF NAME\nNAME: /(?!if\\b)[a-z]+/\nIF: \"if\"\n%ignore \" \"";
    check(names, &["f(", "if x", "iff("], &["if("]);
    // Through terminals that follow, as far as the line goes.
    let keys = "start: KEY+ \":\" \".\" | WORD+ \":\"\nKEY.1: /[a-z]+(?=.*:)/\nWORD: /[a-z]+/\n%ignore / |\\n/";
    check(keys, &["a b:.", "a b\n:", "a\nb:"], &["a b:"]);
    check("start: A B?\nA: /[a-z]+$/\nB: /\\n/", &["a", "a\n"], &["a\n\n"]);
    check_error("start: A \".\"\nA: /[a-z]+$/", "matches nothing at all");
    let comment = r#"start: C "!"
        C: /\/\*(?:(?!\*\/).)*\*\//"#;
    check(comment, &["/* a */!", "/**/!"], &["/* */ */!"]);
}

#[test]
fn look_behind_sees_what_came_before_a_terminal() {
    check("start: (A | B)+\nA: /(?<![0-9])a/\nB: /[0-9]/", &["a", "1", "a1", "aa"], &["1a"]);
    check("start: LINE+\nLINE: /(?m:^)[a-z]+\\n?/", &["a\nb\n", "ab\nc"], &["\n"]);
    check("start: (A | \"é\" | \"-\")+\nA: /\\bb/", &["b", "-b", "b-b", "é"], &["éb", "bb"]);
}

#[test]
fn what_a_lexer_does_not_know_is_refused() {
    check_error("start: A\nA: /a*/", "may be empty");
    check_error("start: <tool>", "special token");
    check_error("start: %json {}", "`%json` in the contextual meaning");
    check_error("start: /a(?<=(?=a)a)/", "look-ahead inside of look-behind");
    check_error("start: /a(?<=b|aa)/", "not of one length");
    check_error("start: A\nA: /a|b/ \"c\"", "without parentheses");
    check_error("start: /(a{1000}){1000}/", "search");
}

#[test]
fn programs_of_many_threads_end_in_a_limit() {
    // 65,536 situations of 1,000 threads each; the same after look-ahead; and classes of many bits.
    check_error("start: /a([ab]?){1000}c|[ab]*?a[ab]{16}/", "Limits::search");
    check_error("start: /a([ab]?){1000}c|[ab]*?a[ab]{16}(?=d)/", "Limits::search");
    check_error("start: /a{20000}(?<=a[ab]{5})\\b/", "Limits::search");
}

#[test]
fn a_small_language() {
    let grammar = r#"
        start: statement*
        statement: NAME "=" sum ";" | "print" sum ";"
        ?sum: product | sum ("+" | "-") product
        ?product: atom | product ("*" | "/" | "//") atom
        ?atom: NUMBER | NAME | STRING | "-" atom | "(" sum ")"
        %import common (CNAME, NUMBER, WS)
        %import common.ESCAPED_STRING -> STRING
        %import common.CPP_COMMENT
        NAME: CNAME
        %ignore WS
    "#;
    check(
        grammar,
        &["x = 1 + 2*(y - -3.5e2);", "print \"a\\\"b\" // 2;", "printer=1;x=print1;", ""],
        &["print = 1;", "x = 1 / / 2;", "x = 1", "print1;", "x = 2y;"],
    );
}

#[test]
fn names_decide_where_lengths_do_not() {
    // The deepest literal of a rule is named first, and `A` comes before `__ANON_0`.
    check("start: \"a\"i \"a\"", &["Aa", "aa"], &["aA"]);
    check("start: \"a\"i | \"a\" \"b\"", &["a", "A"], &["ab"]);
    check("start: \"a\"i | (\"a\") \"b\"", &["ab", "A"], &["a", "Ab"]);
    check("start: \"a\"i+ | [\"a\" \"b\"]", &["ab", "A"], &["a"]);
    check("start: \"a\"i \"a\"\n%extend start: \"a\" \"b\"", &["Aa", "ab"], &["aa"]);
    // Rules that nothing calls count too, and so do names that are taken.
    check("other: \"a\"\nstart: \"a\"i | \"a\" \"b\"", &["ab", "A"], &["a"]);
    check("start: \"a\"i | \"a\" \"b\" | A\nA: \"z\"", &["a", "A", "z"], &["ab"]);
    // The same for what a regular expression matches too.
    check(
        "start: \"if\"i \"!\" | \"if\" \"?\" | NAME\nNAME: /[a-z]+/i",
        &["if!", "IF!", "ifs"],
        &["if?", "if"],
    );
    check(
        "start: (\"if\") \"!\" | \"if\"i \"?\" | NAME\nNAME: /[a-z]+/i",
        &["if!", "iF?"],
        &["if?"],
    );
    // A terminal that is another name for a range is that range.
    check("start: \"a\"..\"c\" | X \"!\"\nX: Y\nY: \"a\"..\"c\"", &["b!"], &["a", "d"]);
}

#[test]
fn what_lark_refuses() {
    check_error("start: \"a\"\nA: A \"x\"", "the terminal `A` contains itself");
    check_error("start: \"a\"??", "is repeated here");
    check_error("start: \"a\"\n  \"b\"", "a line that begins with `|`");
    check_error("??start: \"a\"", "is wanted here");
    check_error("start: \"a\"\n%declare", "`%declare _INDENT`");
}
