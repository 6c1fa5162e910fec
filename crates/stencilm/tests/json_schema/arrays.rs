//! Arrays of which more than their length counts: items with a value, and different items.

use crate::{check, error};
use stencilm::frontend::json_schema::{JsonSchemaOptions, grammar};
use stencilm::{Budget, ErrorKind};

#[test]
fn items_with_a_value_are_counted() {
    check(
        r#"{"type": "array", "contains": {"const": 1}}"#,
        &["[1]", r#"["a", 1, 2]"#, "[1, 1]"],
        &["[]", r#"["a"]"#, "[2]"],
    );
    check(
        r#"{"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 3}"#,
        &["[1, 1]", "[1, 2, 1, 1]"],
        &["[1]", "[1, 1, 1, 1]", "[1, 2, 1, 1, 3, 1]"],
    );
    check(
        r#"{"type": "array", "items": {"enum": [1, 2]}, "contains": {"const": 1},
            "maxItems": 2}"#,
        &["[1]", "[2, 1]", "[1, 2]"],
        &["[2, 2]", "[2]", "[]", "[2, 2, 1]"],
    );
    let never = r#"{"type": "array", "items": {"const": 2}, "contains": {"const": 1}}"#;
    assert!(matches!(error(never).0, ErrorKind::Unsatisfiable { .. }));
}

#[test]
fn negations_of_arrays() {
    check(
        r#"{"type": "array", "not": {"items": {"type": "integer"}}}"#,
        &[r#"["a"]"#, r#"[1, "a"]"#],
        &["[]", "[1]", "[1, 2]"],
    );
    check(
        r#"{"type": "array", "not": {"contains": {"type": "integer"}}}"#,
        &["[]", r#"["a"]"#],
        &["[1]", r#"["a", 1]"#],
    );
    check(
        r#"{"type": "array", "oneOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]}"#,
        &["[1]", "[2]", "[1, 3]"],
        &["[]", "[1, 2]", "[3]"],
    );
}

#[test]
fn unevaluated_items_are_those_that_nothing_looks_at() {
    check(
        r#"{"type": "array", "prefixItems": [true],
            "anyOf": [{"prefixItems": [true, {"const": 1}], "minItems": 2}, true],
            "unevaluatedItems": {"type": "null"}}"#,
        &["[]", "[5]", "[5, 1]", "[5, 1, null]", "[5, null]"],
        &["[5, 2]", "[5, 1, 1]"],
    );
    check(
        r#"{"type": "array", "contains": {"type": "string"}, "unevaluatedItems": {"const": 0}}"#,
        &[r#"["a"]"#, r#"["a", 0]"#, r#"[0, "a", "b"]"#],
        &["[]", "[0]", r#"["a", 1]"#],
    );
}

#[test]
fn different_items_that_hold_the_array_again_need_no_deep_stack() {
    // Listing the values of an array asks for those of its items.
    for count in ["0", "1"] {
        let schema = r##"{"$ref": "#/$defs/p", "$defs": {"p": {"type": ["array", "object"],
            "uniqueItems": true, "minItems": COUNT, "prefixItems": [{"$ref": "#"}]}}}"##;
        let schema = schema.replace("COUNT", count);
        grammar(&schema, &JsonSchemaOptions::default(), &mut Budget::default()).expect(&schema);
    }
}

#[test]
fn items_that_cannot_be_told_from_those_that_came_are_refused_before_the_first() {
    let twice = r#"{"type": "array", "not": {"uniqueItems": true}}"#;
    let deep = format!(r#"{{"properties": {{"a": {{"anyOf": [{{"type": "null"}}, {twice}]}}}}}}"#);
    for items in [twice, &deep] {
        for schema in [
            format!(r#"{{"uniqueItems": true, "items": {items}}}"#),
            format!(r#"{{"type": "array", "not": {{"uniqueItems": true}}, "items": {items}}}"#),
        ] {
            let ErrorKind::Unsupported { feature } = error(&schema).0 else { panic!("{schema}") };
            assert!(feature.contains("two items must be equal"), "{feature}");
        }
    }
}
