//! Objects whose rules are told apart member by member: negations, overlapping alternatives,
//! members that must exist whatever their name, any order.

use std::time::Duration;

use stencilm::frontend::json_schema::{JsonSchemaOptions, KeyOrder, grammar};
use stencilm::{Budget, Cancel, ErrorKind, Limits};

use crate::{check, check_with, error};

#[track_caller]
fn check_any_order(schema: &str, valid: &[&str], invalid: &[&str]) {
    let options = JsonSchemaOptions { key_order: KeyOrder::Any, ..JsonSchemaOptions::default() };
    check_with(&options, schema, valid, invalid);
}

#[test]
fn a_negation_asks_for_a_member_that_breaks_a_rule() {
    check(
        r#"{"type": "object", "not": {"properties": {"a": {"type": "integer"}},
            "additionalProperties": {"type": "string"}}}"#,
        &[r#"{"a": "s"}"#, r#"{"b": 1}"#, r#"{"a": 1, "b": "s", "c": 1}"#],
        &["{}", r#"{"a": 1}"#, r#"{"a": 1, "b": "s"}"#],
    );
    check(
        r#"{"type": "object", "not": {"patternProperties": {"^x": {"type": "integer"}}}}"#,
        &[r#"{"x": "s"}"#, r#"{"a": "s", "xy": null}"#],
        &["{}", r#"{"x": 1}"#, r#"{"a": "s"}"#],
    );
    check(
        r#"{"type": "object", "not": {"propertyNames": {"maxLength": 2}}}"#,
        &[r#"{"abc": 1}"#, r#"{"a": 1, "abc": 1}"#],
        &["{}", r#"{"ab": 1}"#],
    );
    check(
        r#"{"type": "object", "not": {"not": {"additionalProperties": {"type": "integer"}}}}"#,
        &["{}", r#"{"a": 1}"#],
        &[r#"{"a": "s"}"#],
    );
}

#[test]
fn a_member_that_must_exist_takes_room() {
    let schema = r#"{"type": "object", "required": ["a"], "maxProperties": 2,
        "not": {"additionalProperties": {"type": "integer"}}}"#;
    // `a` itself, or the other member, is no integer.
    check(
        schema,
        &[r#"{"a": "s"}"#, r#"{"a": 1, "b": "s"}"#],
        &[r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, r#"{"a": "s", "b": 2, "c": 3}"#],
    );
    let unsatisfiable = r#"{"type": "object", "required": ["a"], "maxProperties": 1,
        "properties": {"a": {"type": "integer"}},
        "not": {"additionalProperties": {"type": "integer"}, "properties": {"a": true}}}"#;
    assert!(matches!(error(unsatisfiable).0, ErrorKind::Unsatisfiable { .. }));
}

#[test]
fn counts_of_alternatives_that_exclude_each_other_are_no_way_out() {
    // Both branches hold for every object, so that none fulfils exactly one.
    let unsatisfiable = r#"{"type": "object", "additionalProperties": {"type": "number"},
        "maxProperties": 2, "dependentRequired": {"a": ["b"]}, "oneOf": [{}, true]}"#;
    assert!(matches!(error(unsatisfiable).0, ErrorKind::Unsatisfiable { .. }));
    // Names with `c` have objects as values, or there are three members, `ab` among them, in which
    // case there are no such names.
    check_any_order(
        r#"{"if": {"maxProperties": 2}, "unevaluatedProperties": {"type": "object"},
            "else": {"dependentSchemas": {"ab": {
                "patternProperties": {"c": false, "^.$": true}}}}}"#,
        &[r#"{"bc": {}, "ab": {}}"#, r#"{"d": 1, "ab": {}, "xy": {}}"#],
        &[r#"{"bc": 1, "ab": {}, "d": 1}"#, r#"{"bc": 1}"#],
    );
}

#[test]
fn exactly_one_of_overlapping_branches() {
    let schema = r#"{"oneOf": [
        {"properties": {"a": {"type": "integer"}}, "type": "object"},
        {"properties": {"b": {"type": "integer"}}, "type": "object"}]}"#;
    check(
        schema,
        &[r#"{"a": 1, "b": "s"}"#, r#"{"a": "s"}"#, r#"{"b": "s"}"#, r#"{"a": "s", "b": 1}"#],
        &["{}", r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#, r#"{"a": "s", "b": "s"}"#],
    );
    let closed = r#"{"type": "object", "oneOf": [
        {"additionalProperties": false, "properties": {"a": true, "b": true}},
        {"additionalProperties": false, "properties": {"b": true, "c": true}}]}"#;
    check(
        closed,
        &[r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#, r#"{"c": 1}"#],
        &["{}", r#"{"b": 1}"#, r#"{"a": 1, "c": 1}"#],
    );
}

#[test]
fn one_closed_object_within_another_is_not_the_other() {
    let schema = r#"{"type": "object", "additionalProperties": false,
        "properties": {"id": true, "site": true, "app": true},
        "not": {"allOf": [{"required": ["site"]}, {"required": ["app"]}]}}"#;
    check(
        schema,
        &["{}", r#"{"id": 1, "site": 1}"#, r#"{"id": 1, "app": 1}"#],
        &[r#"{"site": 1, "app": 1}"#],
    );
}

#[test]
fn choices_inside_of_choices_need_no_deep_stack() {
    let open: Vec<String> = (0..20_000)
        .map(|at| format!(r#"{{"oneOf": [{{"required": ["a{at}"]}}, true], "allOf": ["#))
        .collect();
    let schema = format!("{}true{}", open.concat(), "]}".repeat(20_000));
    let limits = Limits { compile_time: Duration::from_secs(1), ..Limits::default() };
    let mut budget = Budget::new(limits, Cancel::new());
    let error = grammar(&schema, &JsonSchemaOptions::default(), &mut budget);
    let error = error.expect_err("more than can be told apart in a second");
    let is_limit = |kind: &ErrorKind| {
        matches!(kind, ErrorKind::LimitReached { .. } | ErrorKind::TimeIsUp { .. })
    };
    assert!(is_limit(error.kind()), "{error}");
}

#[test]
fn many_conditions_do_not_multiply() {
    let names: Vec<String> = (0..60).map(|at| format!("p{at}")).collect();
    let properties: Vec<String> = names.iter().map(|name| format!(r#""{name}": {{}}"#)).collect();
    let depend: Vec<String> = (0..59).map(|at| format!(r#""p{at}": ["p{}"]"#, at + 1)).collect();
    let schema = format!(
        r#"{{"type": "object", "additionalProperties": false, "properties": {{{}}},
            "dependentRequired": {{{}}}}}"#,
        properties.join(", "),
        depend.join(", ")
    );
    check(
        &schema,
        &["{}", r#"{"p59": 1}"#, r#"{"p58": 1, "p59": 1}"#, r#"{"p57": 1, "p58": 1, "p59": 1}"#],
        &[r#"{"p58": 1}"#, r#"{"p57": 1, "p59": 1}"#, r#"{"p0": 1}"#],
    );
}

#[test]
fn any_order_is_exact() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"},
        "b": {"type": "string"}}, "required": ["a", "c"], "maxProperties": 3,
        "additionalProperties": {"type": "null"}}"#;
    check_any_order(
        schema,
        &[
            r#"{"c": null, "a": 1}"#,
            r#"{"a": 1, "c": null}"#,
            r#"{"x": null, "c": null, "a": 1}"#,
            r#"{"b": "s", "c": null, "a": 1}"#,
        ],
        &[
            r#"{"a": 1}"#,
            r#"{"a": 1, "a": 1, "c": null}"#,
            r#"{"b": "s", "x": null, "a": 1, "c": null}"#,
            r#"{"c": 1, "a": 1}"#,
        ],
    );
    let dependent = r#"{"type": "object", "dependentRequired": {"a": ["b"]},
        "if": {"required": ["c"], "properties": {"c": {"const": 1}}},
        "then": {"required": ["d"]}}"#;
    check_any_order(
        dependent,
        &[r#"{"b": 1, "a": 1}"#, r#"{"a": 1, "b": 1}"#, r#"{"d": 1, "c": 1}"#, r#"{"c": 2}"#],
        &[r#"{"a": 1}"#, r#"{"c": 1}"#],
    );
}

#[test]
fn unevaluated_members_are_those_that_nothing_looks_at() {
    let schema = r#"{"type": "object", "properties": {"a": true},
        "allOf": [{"properties": {"b": true}}],
        "anyOf": [{"properties": {"c": {"type": "integer"}}, "required": ["c"]}, true],
        "unevaluatedProperties": false}"#;
    check(
        schema,
        &["{}", r#"{"a": 1, "b": 1}"#, r#"{"a": 1, "b": 1, "c": 1}"#, r#"{"c": 1}"#],
        &[r#"{"c": "s"}"#, r#"{"d": 1}"#],
    );
    let conditional = r#"{"type": "object", "properties": {"k": true}, "required": ["k"],
        "if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"x": true}},
        "else": {"patternProperties": {"^y": true}},
        "unevaluatedProperties": {"type": "null"}}"#;
    check(
        conditional,
        &[
            r#"{"k": 1, "x": 1}"#,
            r#"{"k": 2, "y1": 1}"#,
            r#"{"k": 2, "x": null}"#,
            r#"{"k": 1, "z": null}"#,
        ],
        &[r#"{"k": 2, "x": 1}"#, r#"{"k": 1, "y1": 1}"#, r#"{"k": 1, "z": 1}"#],
    );
}

#[test]
fn many_patterns_are_one_partition() {
    let patterns: Vec<String> =
        (0..12).map(|at| format!(r#""^n{at}_": {{"const": {at}}}"#)).collect();
    let schema = format!(
        r#"{{"type": "object", "patternProperties": {{{}}}, "additionalProperties": false}}"#,
        patterns.join(", ")
    );
    check(
        &schema,
        &["{}", r#"{"n0_a": 0}"#, r#"{"n11_": 11, "n3_x": 3}"#],
        &[r#"{"n0_a": 1}"#, r#"{"n12_": 12}"#, r#"{"x": 1}"#],
    );
}
