//! The Lark front end: what it accepts and refuses, its errors, and what the `lark` package and
//! llguidance answered.

mod cases;
mod contextual;
#[path = "../ebnf/spans.rs"]
mod spans;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use stencilm::frontend::lark::{self, Meaning};
use stencilm::{
    Budget, CompiledGrammar, Error, ErrorKind, Limits, Location, Matcher, Store, Vocabulary,
};

use crate::spans::accepts;

/// A grammar as the engine runs it, over single bytes.
pub(crate) struct Engine(Arc<CompiledGrammar>);

impl Engine {
    pub(crate) fn new(text: &str, meaning: Meaning) -> Result<Self, Error> {
        let grammar = stencilm::from_lark(text, "start", meaning, &mut Budget::default())?;
        let bytes: Vec<[u8; 1]> = (0..=u8::MAX).map(|byte| [byte]).collect();
        let vocabulary = Vocabulary::new(bytes.iter().map(Some).chain([None]), [], [256])?;
        let store = Arc::new(Store::new(16 << 20));
        let limits = Limits::default();
        Ok(Self(Arc::new(CompiledGrammar::new(&grammar, Arc::new(vocabulary), store, limits)?)))
    }

    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut matcher = Matcher::new(self.0.clone());
        let tokens = text.bytes().map(u32::from).chain([256]);
        tokens.into_iter().all(|token| matcher.accept(token).expect("no limit"))
    }
}

/// The grammar's texts, as the engine sees them and by a textbook algorithm.
#[track_caller]
fn check(grammar: &str, accepted: &[&str], refused: &[&str]) {
    let set = lark::parse(grammar, "start", Meaning::Cfg, &mut Budget::default())
        .unwrap_or_else(|error| panic!("{grammar}: {error}"));
    let engine =
        Engine::new(grammar, Meaning::Cfg).unwrap_or_else(|error| panic!("{grammar}: {error}"));
    let texts = accepted.iter().map(|it| (it, true)).chain(refused.iter().map(|it| (it, false)));
    for (text, expected) in texts {
        assert_eq!(accepts(&set, text), expected, "{grammar} and {text:?}: it reads as\n{set}");
        assert_eq!(engine.accepts(text), expected, "{grammar} and {text:?}");
    }
}

/// The same for what embeds other grammars.
#[track_caller]
fn check_engine(grammar: &str, accepted: &[&str], refused: &[&str]) {
    let engine =
        Engine::new(grammar, Meaning::Cfg).unwrap_or_else(|error| panic!("{grammar}: {error}"));
    let texts = accepted.iter().map(|it| (it, true)).chain(refused.iter().map(|it| (it, false)));
    for (text, expected) in texts {
        assert_eq!(engine.accepts(text), expected, "{grammar} and {text:?}");
    }
}

#[track_caller]
fn check_error(grammar: &str, offset: usize, message: &str) {
    let error = stencilm::from_lark(grammar, "start", Meaning::Cfg, &mut Budget::default())
        .expect_err(grammar);
    assert!(error.to_string().contains(message), "{grammar}: {error}");
    assert_eq!(error.location(), &Location::Offset(offset), "{grammar}: {error}");
}

#[test]
fn rules_and_terminals() {
    check(
        "start: \"a\" b\nb: /[xy]+/ | C~2\nC: \"c\" D?\nD: \"d\"",
        &["axy", "acdc"],
        &["a", "ac"],
    );
    check("start: a | \"b\"\n  | \"c\"\n\na: \"x\"", &["x", "b", "c"], &["", "xb"]);
    check("start: (\"a\" | \"b\")~2..3 [\"c\"]", &["ab", "bbac"], &["a", "aaaa", "abcc"]);
    check("start: \"a\"{2} \"b\"{,1} \"c\"{1,}", &["aac", "aabccc"], &["ac", "aabb", "aa"]);
    check("start: \"a\"..\"c\" \"\\u03b1\"..\"ω\"", &["bλ"], &["dλ", "bx"]);
    check("start: \"ab\"i \"c\"", &["aBc", "ABc"], &["abC"]);
    check("!start: _x | y -> z\n_x: \"1\"\n?y.2: \"2\"", &["1", "2"], &["3"]);
    check("start: start \"+\" start | \"n\" // left\n# and right", &["n+n+n"], &["n+", "+n"]);
    check("start: a? | \"b\"\na: ", &["", "b"], &["a"]);
    check("start: X y-z\nX.-2: \"x\"\ny-z: \"y\"->w", &["xy"], &["x"]);
    check("\u{FEFF}start: \\\n  \"a\"", &["a"], &[""]);
    check("start:\n  \"a\"\n  | \"b\"", &["a", "b"], &["ab"]);
}

#[test]
fn escapes() {
    check(r#"start: "\"\\\n" "\x41\u00e9\U0001F600" "\d""#, &["\"\\\nAé😀\\d"], &[]);
    check(r"start: /\// /\U0001F600/ /[^\\\/]/", &["/😀a"], &["/😀/"]);
    check("start: /  a # one\n  [ #] b /x", &["a b", "a#b"], &["ab"]);
    check("start: /a.b/s /A/i", &["a\nba"], &["abA"]);
}

#[test]
fn ignored_texts_come_between_terminals() {
    let list = "start: \"[\" WORD (\",\" WORD)* \"]\"\nWORD: \"a\"..\"z\"+\n%ignore \" \"\n%ignore /#.*\\n/";
    let list = list.replace("\"z\"+", "\"z\"");
    check(&list, &["[a,b]", "  [ a  , b ] ", "[a #x\n,b]#\n"], &["[a b]", "[a,b] #"]);
    check("start: AB\nAB: \"a\" \"b\"\n%ignore \" \"", &["ab", " ab "], &["a b"]);
    check("start: (\"a\"?)~2\n%ignore \"-\"", &["", "-", "-a--a-"], &["aaa"]);
    check(
        "%llguidance {\"ignore_once\": true}\nstart: \"a\" \"b\"\n%ignore \" \"",
        &["a b"],
        &["a  b", " ab"],
    );
    check("%grammar_options {}\nstart: \"a\"\n%ignore \" \"", &["a "], &[" a"]);
    let options = "{\"allow_initial_skip\": true}\n%llguidance {}";
    check(&format!("start: \"a\"\n%ignore \" \"\n%grammar_options {options}"), &[" a"], &["b"]);
    check(
        "%llguidance {\"allow_initial_skip\": false}\nstart: \"a\" \"b\"\n%ignore \" \"",
        &["a b "],
        &[" ab"],
    );
}

#[test]
fn templates() {
    let list =
        "start: \"[\" _sep{NUMBER, \",\"} \"]\"\n_sep{item, by}: item (by item)*\nNUMBER: /\\d+/";
    check(list, &["[1,23]"], &["[]", "[1,]"]);
    check("start: a{b}\na{t}: t{\"a\"}\nb{x}: x \"!\"", &["a!"], &["a"]);
    check("start: p{p{\"x\"}}\np{x}: \"(\" x \")\"", &["((x))"], &["(x)"]);
    check("start: l{\"a\"} l{B}\nl{x}: x | x l{x}\nB: \"b\"", &["aabb"], &["a", "ba"]);
}

#[test]
fn the_library() {
    let number = "%import common.SIGNED_NUMBER -> N\nstart: N\nDIGIT: \"x\"";
    check(number, &["1", "-1.5e+3", ".5", "+1."], &["e5", "x", "."]);
    check(
        "%import common (ESCAPED_STRING, WS)\nstart: ESCAPED_STRING+\n%ignore WS",
        &["\"a\\\"b\" \"\""],
        &["\"a\"b\"", "\"\\\"", "\"\n\""],
    );
    check("start: C\n%import common.C_COMMENT -> C", &["/**/", "/* * / **/"], &["/*/", "/**/*/"]);
    let binary = "start: INT\n%import common (INT, DIGIT)\n%override DIGIT: \"0\" | \"1\"";
    check(binary, &["0110"], &["12"]);
    let octal = "start: INT\n%import common (INT, DIGIT)\n%extend DIGIT: \"x\"";
    check(octal, &["12x"], &["a"]);
    check(
        "%import python (LONG_STRING, DEC_NUMBER)\nstart: LONG_STRING | DEC_NUMBER",
        &["r\"\"\"a\"\"b\n\\\"\"\"\"", "1_000", "0_0"],
        &["01", "\"\"\"a\"\"\"\"", "1_"],
    );
    check(
        "start: a\na: \"x\"\n%extend a: \"y\"\n%override a: \"z\" | a \"!\"",
        &["z!"],
        &["x", "y"],
    );
}

#[test]
fn conjunctions_and_complements() {
    check("start: A\nA: /[a-z]+/ & ~(/.*/ \"x\" /.*/)", &["abc"], &["axb", "", "A"]);
    check("start: /[ab]+/ & ~\"ab\" | \"c\"", &["a", "c"], &["ab", "d"]);
    check_error("start: a & \"b\"\na: \"b\"", 7, "the rule `a` inside");
}

#[test]
fn lazy_rules_end_as_soon_as_they_can() {
    check("start: a \"x\"\na[lazy]: /[^;]*;+/", &["ab;x"], &["ab;;x", "abx"]);
    check(
        "start: a b\na[suffix=\"<end>\"]: /(?:.|\\n)*/\nb: /.*/",
        &["<end>", "a<end>b<end>"],
        &["a<en"],
    );
    check("start: a \"!\"\na[stop=\"<end>\"]: /.*/", &["a<en!", "!"], &["a<end>!"]);
    check("start: a\na[stop=\"\"]: /.*/", &["", "abc"], &["\n"]);
    check_error("start: a\na[stop=/b+/]: /.*/", 16, "a `stop` that is more");
    check_error(
        "start: a\na[stop=\"x\", stop_capture=\"m\"]: /.*/",
        21,
        "the attribute `stop_capture`",
    );
    check_error("start: a\na[capture, capture]: /.*/", 20, "comes twice");
    check_error("start: a\na[capture=\"a b\"]: /.*/", 11, "the name of a capture");
    check_error("start: a\na[max_tokens=0]: /.*/", 11, "1 at least");
    check_error("start: a\na[temperature=\"x\"]: /.*/", 23, "a number, as the value");
    check_error("start: a\na[temperature=0.]: /.*/", 25, "a number, as the value");
    check_error("start: a\na[stop=\"x\", suffix=\"y\"]: /.*/", 21, "one `stop` or one `suffix`");
    check_error("start: a\na[stop=\"x\", stop=\"y\"]: /.*/", 21, "`stop` comes twice");
    check_error("start: a\na[suffix=\"\"]: /.*/", 11, "an empty `suffix`");
    check_error("start: A\nA[lazy]: /a+/", 10, "this is a terminal");
    check_error("start: \"a\"i..\"z\"", 7, "have no flag");
    check_error("start: \"a\"..\"z\"i", 7, "have no flag");
}

#[test]
fn rules_may_be_bounded() {
    check(
        "start: a \"b\"\na[max_chars=3]: /[é-]/+ \"!\"?",
        &["éb", "éé!b", "---b"],
        &["ééé!b", "----b", "b"],
    );
    check(
        "start: a+\na[suffix=\".\", max_chars=3]: /[a-z]*/\n%ignore \" \"",
        &["ab.", "ab. . "],
        &["abc.", "a b."],
    );
    check_error("start: a\na[max_chars=3]: \"x\"+\n%ignore \" \"", 9, "several terminals");
    check_error("start: a\na[max_chars=3]: b\nb: \"x\"", 25, "the rule `b` inside");
    check_error("start: a\na[max_chars=x]: \"x\"", 21, "a number");
}

#[test]
fn runs_of_pieces() {
    let words = r#"start: "<" %regex {"substring_words": "one two, one three"} ">""#;
    check(words, &["<>", "<two, one>", "< three>"], &["<wo>", "<one,>", "<one one>"]);
    check(
        r#"start: %regex {"substring_chars": "abcbc"}"#,
        &["", "bcb", "cbc", "abcbc"],
        &["ac", "cc"],
    );
    check(
        r#"start: A
A: %regex {"substring_chunks": ["aa", "", "b", "aa"]}"#,
        &["aab", "baa", "aa"],
        &["a", "aaaa"],
    );
    // Below `&`, `~` and in lazy rules too; llguidance answers the same.
    check(
        "start: A\nA: (%regex {\"substring_chars\": \"abc\"} /a?/) & /[a-c]{2}/",
        &["aa", "ab", "bc", "ca"],
        &["a", "abc", "ac", "cb"],
    );
    check(
        "start: ~A & /[ab]+/\nA: %regex {\"substring_words\": \"a b\"}",
        &["aa", "ab"],
        &["a", "b"],
    );
    check(
        "start: r /[a-d]/\nr[suffix=\"b\"]: %regex {\"substring_chars\": \"abcb\"}",
        &["ba", "abc", "cbd", "aba"],
        &["abcba", "ab", "bbb"],
    );
}

#[test]
fn rules_with_numbers() {
    let permutations = "start: p::0x0\np::_: \"\" %if is_ones([0:3])\n | \"a\" p::set_bit(0) %if bit_clear(0)\n \
                        | \"b\" p::set_bit(1) %if bit_clear(1)\n | \"c\" p::set_bit(2) %if bit_clear(2)";
    check(permutations, &["abc", "cab"], &["", "ab", "aab", "abca"]);
    let counted = "start: a::3\na::_: \"x\" a::decr(_) %if gt(_, 0)\n | \"!\" %if or(is_zeros(_), not(lt(_, 3)))";
    check(counted, &["xxx!", "!"], &["x!", "xxxx!"]);
}

/// A list with at most `most` of each letter, some of which end only at a certain count.
fn counted(most: u64, end: &str) -> String {
    format!(
        "start: list::0\nlist::_: \"a\" list::incr([0:8]) %if lt([0:8], {most})\n\
         | \"b\" list::incr([8:16]) %if lt([8:16], {most})\n\
         | pair list::incr([16:24]) %if lt([16:24], {most})\n\
         | dead::_ \"x\"\n | {end}\n\
         pair: \"(\" pair? \")\"\ndead::_: \"d\" dead::_ | \"e\" dead::decr(_)"
    )
}

#[test]
fn of_many_numbers_only_those_that_come_up_are_rules() {
    let end = "\"!\" %if ge([0:8], 2) | \"\" %if eq([8:16], 3)";
    let texts = [
        ("aa!", true),
        ("a(())a()!", true),
        ("bbb", true),
        ("babab", true),
        ("bbba", true),
        ("a!", false),
        ("", false),
        ("bb", false),
        ("bbbb", false),
        ("dx", false),
        ("aae", false),
        ("(a)aa!", false),
    ];
    for most in [5, 9, 40, 250] {
        let grammar = counted(most, end);
        let engine = Engine::new(&grammar, Meaning::Cfg).expect(&grammar);
        for (text, expected) in texts {
            assert_eq!(engine.accepts(text), expected, "{most}: {text:?}");
        }
        let long = |count: u64| "a".repeat(usize::try_from(count).expect("few")) + "!";
        assert!(engine.accepts(&long(most)));
        assert!(!engine.accepts(&long(most + 1)));
    }
    let ignoring = counted(100, end) + "\n%ignore \" \"";
    check_engine(&ignoring, &[" a  a ! ", "b b b "], &["a !", "d"]);
    // Seven counters have 50^7 numbers.
    let letters = ["a", "b", "c", "d", "e", "f", "g"];
    let alternatives: Vec<String> = letters
        .iter()
        .enumerate()
        .map(|(at, letter)| {
            let bits = format!("[{}:{}]", 8 * at, 8 * at + 8);
            format!("\"{letter}\" list::incr({bits}) %if lt({bits}, 50)")
        })
        .collect();
    let seven = format!("start: list::0\nlist::_: {} | \"X\"", alternatives.join(" | "));
    let all = letters.join("").repeat(50);
    check_engine(&seven, &[&format!("{all}X"), "X"], &[&all, &format!("{all}aX")]);
    // A start without texts, one that has none but the empty one, and what calls itself first.
    let never = "start: \"s\" a::0 | \"t\"\na::_: \"x\" a::incr(_) %if lt(_, 5000)";
    check_engine(never, &["t"], &["s", "sx"]);
    let empty =
        "start: \"s\" a::0 \"u\"\na::_: \"x\" a::incr(_) %if lt(_, 5000) | \"\" %if is_zeros(_)";
    check_engine(empty, &["su"], &["s", "sxu"]);
    let left = "start: a::2000\na::_: a::decr(_) \"x\" %if gt(_, 0) | \"y\" %if is_zeros(_)";
    check_engine(left, &[&format!("y{}", "x".repeat(2000))], &["y", "yx"]);
}

#[test]
fn grammars_inside() {
    check(
        "start: \"a\" b \"c\"\nb: %lark {\n start: A+\n A: \"x\" \"y\"\n %ignore \"-\"\n}\n%ignore \" \"",
        &["a-xy-xy-  c", "axyc"],
        &["axy -c", "a- xyc"],
    );
    check("start: %lark { start: \"foo\" | \"Bar\" }", &["foo", "Bar"], &["bar"]);
}

#[test]
fn schemas_inside() {
    let call = "start: \"f(\" json \")\"\njson: %json {\"type\": \"array\", \"items\": {\"type\": \"integer\"}}";
    check_engine(call, &["f([])", "f([1, 2])"], &["f()", "f([1,])", "f({})"]);
    let two = "start: (%json {\"const\": {\"a\": 1}} | %json {\"const\": [2]})+\n%ignore \" \"";
    check_engine(two, &["{\"a\":1} [2][2]"], &["{\"a\":2}"]);
    let compact =
        "start: %json {\"type\": \"array\", \"x-guidance\": {\"whitespace_flexible\": false}}";
    check_engine(compact, &["[1,[]]"], &["[1, 2]"]);
    let names = "start: %json {\"properties\": {\"\u{e9}\": {\"type\": \"null\"}}, \"type\": \"object\", \
                 \"x-guidance\": {\"json_allow_general_unicode_escapes\": true}}";
    check_engine(names, &["{\"\\u00e9\":null}", "{\"\u{e9}\":null}"], &["{\"\\u00e9\":1}"]);
    check_error("start: %json {\"type\": 3}", 13, "in this schema at `/type`");
    check_error("start: %json {a}", 14, "");
    check_error("start: %json {\"x-guidance\": {\"foo\": 1}}", 13, "there is no option `foo`");
}

#[test]
fn tokens_by_number() {
    check_engine("start: <[97-98,120]> \"c\"", &["ac", "xc"], &["cc", "a"]);
    check_engine("start: (<[^97]> | \"aa\")+", &["bc", "aab"], &["a", "ba"]);
    check_engine("start: <[*]> \"!\"", &["a!", "!!"], &["!", "ab!"]);
}

#[test]
fn errors_say_what_would_be_right() {
    check_error("start: nmae\nname: \"a\"", 7, "unknown rule `nmae`; did you mean `name`?");
    check_error("start: NUM", 7, "unknown terminal `NUM`");
    check_error("start: \"a\"\nstart: \"b\"", 11, "the rule `start` is defined twice");
    check_error("begin: \"a\"", 10, "there is no rule `start`");
    check_error("start: (\"a\"\nb: \"x\"", 7, "this `(` is not closed");
    check_error("start: \"a\")", 10, "this `)` closes nothing");
    check_error("start: (\"a\"]", 11, "`]` is not what closes `(`");
    check_error("start: \"a", 7, "this string is not closed");
    check_error("start: /a", 7, "this regular expression is not closed");
    check_error("start: 'a'", 7, "double quotes");
    check_error("start: \"a\"~3..2", 11, "from 3 to 2 times is never");
    check_error("start: * \"a\"", 7, "nothing comes before");
    check_error("start: a:\n", 8, "a `:` follows the name");
    check_error("start \"a\"", 6, "`:` after the name");
    check_error("Start: \"a\"", 0, "in both cases");
    check_error("start: A\nA: b\nb: \"x\"", 12, "the rule `b` inside of the terminal `A`");
    check_error("start: A\nA: B\nB: \"x\" A", 21, "the terminal `A` contains itself");
    check_error("start: a{\"x\"}\na{x, y}: x y", 7, "has 2 parameters");
    check_error("%import common.WROD\nstart: \"a\"", 15, "did you mean `WORD`?");
    check_error("%import comon.WORD\nstart: \"a\"", 0, "there is no grammar `comon`");
    check_error("%import .file.WORD\nstart: \"a\"", 8, "importing from a file");
    check_error("start: _INDENT\n%declare _INDENT", 24, "which is declared");
    check_error("start: /(?<=a/", 8, "");
    check_error("start: /a/l", 7, "locale");
    check_error("%extend a: \"b\"\nstart: \"a\"", 8, "there is no rule `a` before this");
    check_error("start: @other", 7, "`@`");
    check_error("start: a\na[foo=1]: /b/", 11, "there is no attribute `foo`");
    check_error("start: <[1-2-3]>", 7, "is no range of tokens");
    check_error("start: <[2-1]>", 7, "empty");
    check_error("start: a\na::_: \"b\"", 7, "has a number");
    check_error("start: \"a\" %if true", 11, "`%if` stands at the end");
    check_error("start: %json {\"a\": 1", 13, "inside this JSON");
}

#[test]
fn a_language_without_texts_is_an_error() {
    for grammar in ["start: start \"a\"", "start: A\nA: \"a\" & \"b\""] {
        let error = stencilm::from_lark(grammar, "start", Meaning::Cfg, &mut Budget::default())
            .expect_err(grammar);
        assert!(matches!(error.kind(), ErrorKind::Unsatisfiable { .. }), "{grammar}: {error}");
    }
}

/// Runs `work` on the smallest stack that the crate promises to need.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn hostile_grammars_are_errors_or_cheap() {
    on_a_small_stack(|| {
        let deep = 100_000;
        let many: Vec<String> = (0..20_000).map(|n| format!("r{n}: r{} \"a\"", n + 1)).collect();
        let terminals: Vec<String> =
            (0..2_000).map(|n| format!("T{n}: T{} \"a\"", n + 1)).collect();
        let names: Vec<String> = (0..40_000).map(|n| format!("T{n}: T{}", n + 1)).collect();
        // Each may be empty and calls the next one twice.
        let chain: Vec<String> =
            (0..60).map(|n| format!("s{n}::_: s{0}::_ s{0}::incr(_) \"c\"?", n + 1)).collect();
        let sources = [
            (format!("start: {}\"a\"{}", "(".repeat(deep), ")".repeat(deep)), ""),
            (format!("start: {}\"a\"{}", "[".repeat(deep), "]".repeat(deep)), ""),
            (format!("start: {}", "(".repeat(deep)), "is not closed"),
            (format!("start: {}\"a\"", "~".repeat(deep)), "nesting"),
            (format!("start: \"a\"{}", "?*+".repeat(deep)), "is repeated here"),
            (format!("start: \"{}\"", "\\x41".repeat(deep)), ""),
            (format!("start: /{}/", "(a".repeat(deep)), "nesting"),
            (format!("start: {}", "\"a\" | ".repeat(deep)), ""),
            (format!("start: a{}{}\na{{x}}: x", "{a".repeat(deep), "}".repeat(deep)), "rules"),
            (format!("start: {}", "%lark { start: ".repeat(deep)), "is not closed"),
            (format!("start: %json {}", "[".repeat(deep)), "ends inside this JSON"),
            (format!("start: r::0\nr::_: \"a\" %if {}true", "not(".repeat(deep)), "nesting"),
            (format!("start: r0\n{}\nr20000: \"b\"", many.join("\n")), ""),
            (format!("start: T0\n{}\nT2000: \"b\"", terminals.join("\n")), ""),
            (format!("start: T0\n{}\nT40000: \"b\"", names.join("\n")), ""),
            ("start: a{b}\na{x}: a{a{x}} | \"a\"\nb: \"b\"".to_owned(), "rules"),
            ("start: r::0\nr::_: \"a\" r::incr(_) | \"b\"".to_owned(), ""),
            ("start: r::0\nr::_: \"a\" r::incr(_) | \"b\" r::set_bit(60)".to_owned(), "rules"),
            ("start: r::0\nr::_: r::incr(_) \"a\" | \"b\"".to_owned(), "rules"),
            // Two hundred alternatives, each with a number of its own, and none ends.
            (
                format!(
                    "start: r::0\nr::_: {}\"b\" r::incr(_)",
                    "\"a\" r::incr([1:60]) | ".repeat(200)
                ),
                "expressions",
            ),
            (
                format!(
                    "start: r::0\nr::_: \"a\" r::incr(_) | s0::_\n{}\ns60::_: \"b\"?",
                    chain.join("\n")
                ),
                "",
            ),
            // As many numbers as there are sets of forty.
            (
                format!(
                    "start: r::0\nr::_: \"a\" r::incr(_) | s0::_\n{}s40::_: \"b\"?",
                    (0..40)
                        .map(|n| format!("s{n}::_: s{0}::_ s{0}::set_bit({n}) \"c\"?\n", n + 1))
                        .collect::<Vec<_>>()
                        .concat()
                ),
                "rules",
            ),
            ("start: \"a\"~0..2000000000".to_owned(), ""),
            ("start: \"a\"~0..99999999999999999999".to_owned(), "repeat"),
            (format!("start: %regex {{\"substring_chars\": \"{}\"}}", "abcab".repeat(5_000)), ""),
            ("%".repeat(deep), "unexpected"),
            ("start: \u{0}".to_owned(), "unexpected"),
        ];
        for (source, expected) in sources {
            let limits = Limits { expressions: 500_000, rules: 100_000, ..Limits::default() };
            let mut budget = Budget::new(limits, stencilm::Cancel::new());
            let made = stencilm::from_lark(&source, "start", Meaning::Cfg, &mut budget);
            let found = made.err().map_or_else(String::new, |error| error.to_string());
            let shown: String = source.chars().take(60).collect();
            assert!(found.contains(expected), "{shown}: {found:?}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{shown}: {found:?}");
            // Whatever the other answer is: it comes.
            let limits = Limits { compile_time: Duration::from_secs(2), ..limits };
            let mut budget = Budget::new(limits, stencilm::Cancel::new());
            let _ = stencilm::from_lark(&source, "start", Meaning::Contextual, &mut budget);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_panics(text in "([a-c]|[A-C]|: |start|\n|%ignore|%import common\\.|%json|%lark|%regex|%if|[ \"/'\\[\\](){}|&~.<>!#*+?,=@-]|\\\\[xuU]|->|::_|[0-9]|é){0,40}") {
        let limits = Limits { compile_time: std::time::Duration::from_secs(1), ..Limits::default() };
        for text in [text.clone(), format!("start: {text}\na: \"a\"\nB: \"b\"")] {
            for meaning in [Meaning::Cfg, Meaning::Contextual] {
                let mut budget = Budget::new(limits, stencilm::Cancel::new());
                let _ = stencilm::from_lark(&text, "start", meaning, &mut budget);
            }
        }
    }
}
