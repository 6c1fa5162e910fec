//! Conditions on strings: many at once, and names of which there are only so many.

use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
use stencilm::{Budget, Cancel, Limits};

use crate::check;

/// Strings with all these texts inside, in any order.
fn containing(texts: &[&str], keywords: &str) -> String {
    let patterns: Vec<String> =
        texts.iter().map(|text| format!(r#"{{"pattern": "{text}"}}"#)).collect();
    format!(r#"{{"type": "string", "allOf": [{}]{keywords}}}"#, patterns.join(", "))
}

const TWELVE: [&str; 12] = ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9", "j0", "k1", "l2"];

#[test]
fn a_text_that_fulfils_many_patterns_is_soon_found() {
    let schema = containing(&TWELVE, r#", "minLength": 30, "maxLength": 200"#);
    let limits = Limits { search: 2_000, ..Limits::default() };
    let mut budget = Budget::new(limits, Cancel::new());
    grammar(&schema, &JsonSchemaOptions::default(), &mut budget).expect("a text is there");
}

#[test]
fn many_patterns_hold_together() {
    let all = r#""k1j0 i9h8 g7f6 e5d4 c3b2 a1l2""#;
    let one_less = r#""k1j0 i9h8 g7f6 e5d4 c3b2 a1 l""#;
    check(&containing(&TWELVE, ""), &[all], &[one_less, r#""a1""#]);
    check(&containing(&TWELVE[..3], r#", "maxLength": 6"#), &[r#""b2a1c3""#], &[r#""b2a1 c3""#]);
}

#[test]
fn names_run_out_whichever_way_they_are_told() {
    // Two characters of one, two and four bytes, and a pair of them less one that is listed.
    check(
        r#"{"type": "object", "patternProperties": {"^[aé😀]{1,2}$": {}}, "properties": {"aa": false},
            "additionalProperties": false, "minProperties": 11}"#,
        &[r#"{"a":1,"é":1,"😀":1,"aé":1,"a😀":1,"éa":1,"éé":1,"é😀":1,"😀a":1,"😀é":1,"😀😀":1}"#],
        &[r#"{"a":1,"é":1,"😀":1,"aé":1,"a😀":1,"éa":1,"éé":1,"é😀":1,"😀a":1,"😀é":1}"#],
    );
}

#[test]
fn what_can_only_be_escaped_is_found_in_an_intersection() {
    // Conditions that only control characters, quotes and backslashes fulfil.
    let only = r#"{"type": "string", "allOf": [{"pattern": "^[\\u0000-\\u001f\"\\\\]+$"},
        {"pattern": "\\n.*[^\\n]"}, {"pattern": "\"$"}], "maxLength": 3}"#;
    check(only, &[r#""\n\t\"""#, r#""\u000a\"""#], &[r#""\n\t""#, r#""\n\t\t\"""#, r#""\na\"""#]);
    let none = r#"{"type": "string", "allOf": [{"pattern": "^[\\u0000-\\u001f]+$"},
        {"not": {"pattern": "[\\u0000-\\u0010]"}}, {"pattern": "\\n"}]}"#;
    let budget = &mut Budget::new(Limits::default(), Cancel::new());
    let refused = grammar(none, &JsonSchemaOptions::default(), budget);
    assert!(refused.is_err(), "no text has all of these");
}

#[test]
fn names_without_end_never_run_out() {
    let names = r#"{"type": "object", "propertyNames": {"allOf": [{"pattern": "a"}, {"pattern": "[^a]b"},
        {"not": {"pattern": "^.{1,3}$"}}]}, "minProperties": 2}"#;
    check(names, &[r#"{"xbba":1,"xbbba":2}"#], &[r#"{"xbba":1}"#, r#"{"xba":1,"xbbba":2}"#]);
}
