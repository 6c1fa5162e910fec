//! The notation of the W3C's standards.

use stencilm::frontend::ebnf::{self, Notation};
use stencilm::{Budget, Error, Location};

use crate::spans::accepts;

fn parse(grammar: &str) -> Result<stencilm::grammar::RuleSet, Error> {
    ebnf::parse_in(Notation::W3c, grammar, "A", &mut Budget::default())
}

#[track_caller]
fn check(grammar: &str, accepted: &[&str], refused: &[&str]) {
    let set = parse(grammar).unwrap_or_else(|error| panic!("{grammar}: {error}"));
    for text in accepted {
        assert!(accepts(&set, text), "{grammar} must accept {text:?}; it reads as\n{set}");
    }
    for text in refused {
        assert!(!accepts(&set, text), "{grammar} must refuse {text:?}; it reads as\n{set}");
    }
}

#[track_caller]
fn check_error(grammar: &str, offset: usize, message: &str) {
    let error = parse(grammar).map(|_| ()).expect_err(grammar);
    assert!(error.to_string().contains(message), "{grammar}: {error}");
    assert_eq!(error.location(), &Location::Offset(offset), "{grammar}: {error}");
}

#[test]
fn characters_are_numbers_and_backslashes_themselves() {
    check("A ::= #x41 '\\' [#x20-#x22\\]", &["A\\ ", "A\\\"", "A\\\\"], &["A\\#"]);
    check("A::=[^#x9#xA]", &["x"], &["\t", "\n"]);
    check("A ::= [#-%a]", &["#", "$", "a"], &["x"]);
}

#[test]
fn productions_have_numbers_and_comments() {
    let grammar = "/* one\n */ [1] A ::= B /* or */ | 'x'\n  [2a]   B ::= 'b'+\n";
    check(grammar, &["bb", "x"], &["", "xb"]);
}

/// The rules of comments and of processing instructions as XML 1.0 has them, sections 2.5 and 2.6.
#[test]
fn exceptions_are_those_of_xml() {
    let comment = "A ::= '<!--' ((Char - '-') | ('-' (Char - '-')))* '-->'\n\
                   Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]";
    check(comment, &["<!---->", "<!--a-b-->"], &["<!--a--b-->", "<!--->", "<!--a--->"]);
    let target = "A ::= Name - (('X' | 'x') ('M' | 'm') ('L' | 'l'))\nName ::= [a-zA-Z]+";
    check(target, &["xmlx", "xm"], &["xml", "XmL", ""]);
    let names = "A ::= (Char-'x')*\nChar ::= [a-z]";
    check(names, &["abc", ""], &["axc"]);
}

#[test]
fn what_is_not_of_this_notation_is_an_error() {
    check_error("A ::= 'a' 'b' - 'c'", 14, "between two items");
    check_error("A ::= 'a' - 'b' 'c'", 10, "between two items");
    check_error("A ::= 'a'{2}", 9, "no `{`");
    check_error("A ::= <x>", 6, "no `<`");
    check_error("A ::= 'a' /* b", 10, "no end `*/`");
    check_error("A ::= #xD800", 6, "`#x41`");
    check_error("A ::= 'a' # b", 10, "`#x41`");
    check_error("A ::= 'a' [ wfc: No B ]", 10, "the constraint `[ wfc: No B ]`");
}
