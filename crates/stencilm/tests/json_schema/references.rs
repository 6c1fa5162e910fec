//! References between schemas: dialects, identifiers, other documents, dynamic scopes.

use stencilm::frontend::json_schema::{
    Dialect, Formats, JsonSchemaOptions, Unsupported, grammar, report,
};
use stencilm::{Budget, ErrorKind, Limits, Location};

use crate::rules_language::accepts;
use crate::{check, check_with};

fn with(resources: &[(&str, &str)]) -> JsonSchemaOptions {
    let resources = resources.iter().map(|&(uri, text)| (uri.to_owned(), text.to_owned()));
    JsonSchemaOptions { resources: resources.collect(), ..JsonSchemaOptions::default() }
}

/// The message and the pointer of the error.
#[track_caller]
fn error_with(options: &JsonSchemaOptions, schema: &str) -> (String, String) {
    let error = grammar(schema, options, &mut Budget::default()).expect_err(schema);
    let message = match error.kind() {
        ErrorKind::Syntax { message } => message.clone(),
        ErrorKind::Unsupported { feature } => feature.clone(),
        other => panic!("{schema}: {other:?}"),
    };
    match error.location() {
        Location::Pointer(pointer) => (message, pointer.clone()),
        other => panic!("{schema}: {other:?}"),
    }
}

#[track_caller]
fn names_nothing(schema: &str, reference: &str, pointer: &str) {
    let (message, at) = error_with(&JsonSchemaOptions::default(), schema);
    assert!(message.starts_with(&format!("`{reference}` names nothing")), "{schema}: {message}");
    assert_eq!(at, pointer, "{schema}");
}

#[test]
fn what_stands_beside_a_reference_counts_since_2019() {
    let rest = r##""properties": {"a": {"$ref": "#/definitions/a", "maxLength": 1}},
        "definitions": {"a": {"type": "string"}}}"##;
    for uri in ["http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema"]
    {
        check(&format!(r#"{{"$schema": "{uri}", {rest}"#), &[r#"{"a": "xy"}"#], &[r#"{"a": 1}"#]);
    }
    let new = format!(r#"{{"$schema": "https://json-schema.org/draft/2019-09/schema", {rest}"#);
    check(&new, &[r#"{"a": "x"}"#], &[r#"{"a": "xy"}"#, r#"{"a": 1}"#]);
}

#[test]
fn an_embedded_resource_has_a_dialect_of_its_own() {
    let schema = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema",
        "prefixItems": [{"$ref": "http://x/old"}, {"const": 1}],
        "$defs": {"old": {"$schema": "http://json-schema.org/draft-04/schema#",
            "$id": "http://x/old", "type": "integer", "const": 3, "minimum": 1,
            "exclusiveMinimum": true}}}"#;
    check(schema, &["[2, 1]", "[3, 1]"], &["[1, 1]", "[2, 2]"]);
    // Without a URI of its own it is no resource, and the report says so.
    let schema = r#"{"items": {"$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://x/old", "type": "integer", "const": 3}}"#;
    check(schema, &["[3]"], &["[2]"]);
    let report = report(schema, &JsonSchemaOptions::default(), &mut Budget::default()).unwrap();
    assert_eq!(report.annotations[0].0, "/items/$schema");
    assert!(report.annotations[0].1.contains("means nothing here"), "{:?}", report.annotations);
}

#[test]
fn an_unknown_dialect_is_reported_and_may_be_chosen() {
    let schema = r#"{"$schema": "http://json-schema.org/schema#", "const": 1}"#;
    let read = |dialect| {
        let options = JsonSchemaOptions { dialect, ..JsonSchemaOptions::default() };
        let report = report(schema, &options, &mut Budget::default()).unwrap();
        let grammar = grammar(schema, &options, &mut Budget::default()).unwrap();
        (report.annotations[0].clone(), accepts(&grammar, b"2"))
    };
    let text = |name: &str| {
        "$schema: `http://json-schema.org/schema#` is unknown: the option `dialect` says how to \
         read it; read as "
            .to_owned()
            + name
    };
    let place = "/$schema".to_owned();
    assert_eq!(read(Dialect::Draft2020), ((place.clone(), text("2020-12")), false));
    assert_eq!(read(Dialect::Draft4), ((place, text("draft-04")), true));
}

#[test]
fn pointers_are_followed_through_everything() {
    let schema = |reference: &str| {
        format!(
            r##"{{"items": {{"$ref": "#{reference}"}}, "unknown": [{{}}, {{"type": "null"}}],
            "$defs": {{"a/b~c %d": {{"type": "null"}}, "": {{"type": "null"}},
                "ü": {{"not": {{"not": {{"type": "null"}}}}}}}}}}"##
        )
    };
    let references = [
        "/$defs/a~1b~0c%20%25d",
        "%2F$defs%2Fa~1b~0c %25d",
        "/$defs/",
        "/$defs/%C3%BC",
        "/$defs/ü/not/not",
        "/unknown/1",
    ];
    for reference in references {
        check(&schema(reference), &["[null]"], &["[1]"]);
    }
    for reference in
        ["/unknown/01", "/unknown/2", "/unknown/-", "/$defs/%FF", "/$defs/a", "x", "/unknown/+1"]
    {
        names_nothing(&schema(reference), &format!("#{reference}"), "/items");
    }
    let (message, place) =
        error_with(&JsonSchemaOptions::default(), &schema("/$defs/ü/not/not/type"));
    assert_eq!(message, "a schema is an object or a boolean");
    assert_eq!(place, "/$defs/ü/not/not/type");
}

#[test]
fn identifiers_stand_only_where_schemas_do() {
    let schema = r#"{"$id": "http://x/root", "items": {"$ref": "other#here"},
        "const": [], "enum": [{"$id": "other", "$anchor": "here", "type": "null"}],
        "unknown": {"$id": "other", "$anchor": "here", "type": "null"},
        "$defs": {"a": {"$id": "other", "$defs": {"b": {"$anchor": "here", "type": "string"}}}}}"#;
    let schema = schema.replace(r#""const": [], "enum""#, r#""examples""#);
    check(&schema, &[r#"["a"]"#], &["[null]"]);
    // A property may have the name of a keyword.
    let schema = r##"{"properties": {"$id": {"type": "integer"}, "$ref": {"type": "null"},
        "x": {"$ref": "#/properties/$id"}}}"##;
    check(schema, &[r#"{"$id": 1, "$ref": null, "x": 2}"#], &[r#"{"x": null}"#]);
    // Before 2019-09, what stands beside `$ref` names nothing, and a fragment is an anchor.
    let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://x/",
        "items": [{"$ref": "#a"}, {"$ref": "b"}],
        "definitions": {"a": {"$id": "#a", "type": "null"}, "b": {"$id": "b", "$ref": "#a"}}}"##;
    names_nothing(schema, "b", "/items/1");
}

#[test]
fn references_go_to_the_documents_that_are_given() {
    let options = with(&[
        ("http://x/a/one", r#"{"$ref": "../b/two#/$defs/t"}"#),
        (
            "http://x/b/two",
            r##"{"$defs": {"t": {"$ref": "#u"}, "u": {"$anchor": "u", "type": "null"}}}"##,
        ),
        (
            "file",
            r#"{"$id": "urn:named", "$defs": {"x": {"$id": "http://y/inner", "type": "string"}}}"#,
        ),
    ]);
    let schema = r#"{"$id": "http://x/", "prefixItems": [{"$ref": "a/one"}, {"$ref": "//y/inner"},
        {"$ref": "urn:named#/$defs/x"}]}"#;
    check_with(&options, schema, &[r#"[null, "a", "b"]"#], &["[1]", "[null, null]"]);
    // They are in the dialect of the main document.
    let options = with(&[(
        "one",
        r##"{"$ref": "#/definitions/a", "maxLength": 1,
        "definitions": {"a": {"type": "string"}}}"##,
    )]);
    let schema = r#"{"$schema": "http://json-schema.org/draft-06/schema#", "$ref": "one"}"#;
    check_with(&options, schema, &[r#""xy""#], &["1"]);
    let options = with(&[("broken", "{")]);
    let (message, place) = error_with(&options, r#"{"items": {"$ref": "broken"}}"#);
    assert!(message.starts_with("the document `broken`: at byte 1"), "{message}");
    assert_eq!(place, "/items");
    let options = with(&[("wrong", r#"{"items": {"minItems": -1}}"#)]);
    assert_eq!(error_with(&options, r#"{"$ref": "wrong"}"#).1, "wrong#/items/minItems");
}

/// `uniqueItems` may be refused, references may not.
#[test]
fn the_metaschemas_are_at_hand() {
    let options =
        JsonSchemaOptions { unsupported: Unsupported::Widen, ..JsonSchemaOptions::default() };
    for uri in [
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let valid = [r#"{"type": "string"}"#, r#"{"items": {"minLength": 3}}"#];
        let invalid = [r#"{"items": {"minLength": -3}}"#, r#"{"not": {"type": 1}}"#, "1"];
        check_with(&options, &format!(r#"{{"$ref": "{uri}"}}"#), &valid, &invalid);
    }
}

#[test]
fn a_dynamic_reference_names_the_outermost_anchor() {
    let list = r##"{"$id": "http://x/list", "items": {"$dynamicRef": "#item"},
        "$defs": {"item": {"$dynamicAnchor": "item", "type": "boolean"}}}"##;
    let options = with(&[("http://x/list", list)]);
    let schema = r#"{"prefixItems": [{"$ref": "http://x/list"},
            {"$id": "http://x/numbers", "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "number"}}},
            {"$id": "http://x/strings", "$ref": "list", "type": "array",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}}}]}"#;
    let invalid = ["[[1]]", "[[true], [true]]", r"[[], [], [1]]", r"[[], [], [true]]"];
    check_with(&options, schema, &[r#"[[true], [1], ["a"]]"#], &invalid);
    // Without a dynamic anchor where it leads, it is a plain reference.
    let plain = list.replace(r#""$dynamicAnchor": "item""#, r#""$anchor": "item""#);
    check_with(&with(&[("http://x/list", &plain)]), schema, &["[[], [true]]"], &["[[], [1]]"]);
}

#[test]
fn a_recursive_reference_names_the_outermost_root() {
    let tree = r##"{"$id": "http://x/tree", "$recursiveAnchor": true, "type": "object",
        "properties": {"data": true, "nodes": {"items": {"$recursiveRef": "#"}}}}"##;
    let strict = r#"{"$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "http://x/strict", "$recursiveAnchor": true, "$ref": "tree", "maxProperties": 1}"#;
    let options = with(&[("http://x/tree", tree)]);
    let invalid = [r#"{"data": 1, "nodes": []}"#, r#"{"nodes": [{"data": 1, "nodes": []}]}"#];
    check_with(&options, strict, &[r#"{"nodes": [{"nodes": []}]}"#], &invalid);
    let loose = strict.replace(r#""$recursiveAnchor": true, "#, "");
    check_with(&options, &loose, &[invalid[1]], &[invalid[0]]);
}

#[test]
fn a_metaschema_says_which_keywords_count() {
    let metaschema = |vocabularies: &str| {
        format!(
            r#"{{"$schema": "https://json-schema.org/draft/2020-12/schema",
            "$vocabulary": {{{vocabularies}}}}}"#
        )
    };
    let applicator = r#""https://json-schema.org/draft/2020-12/vocab/applicator": true"#;
    let options = with(&[("http://x/meta", &metaschema(applicator))]);
    let schema = r#"{"$schema": "http://x/meta", "type": "null", "items": {"minimum": 3},
        "prefixItems": [false]}"#;
    check_with(&options, schema, &["1", "[]"], &["[1]"]);
    let report = report(schema, &options, &mut Budget::default()).unwrap();
    let expected = "type: not in the vocabularies of the metaschema";
    assert!(report.annotations.contains(&("/type".to_owned(), expected.to_owned())));

    let validation = r#""https://json-schema.org/draft/2020-12/vocab/validation": true,
        "https://json-schema.org/draft/2020-12/vocab/format-assertion": false, "http://x/v": false"#;
    let options = JsonSchemaOptions {
        formats: Formats::Ignored,
        ..with(&[("http://x/meta", &metaschema(validation))])
    };
    let schema =
        r#"{"$schema": "http://x/meta#", "type": "string", "format": "ipv4", "not": true}"#;
    check_with(&options, schema, &[r#""1.2.3.4""#], &["1", r#""x""#]);

    let options = with(&[("http://x/meta", &metaschema(r#""http://x/v": true"#))]);
    let (feature, place) = error_with(&options, schema);
    assert_eq!(feature, "the vocabulary `http://x/v`");
    assert_eq!(place, "/$schema");
}

#[test]
fn a_schema_that_needs_itself_is_an_error() {
    let schemas = [
        r##"{"$ref": "#"}"##,
        r##"{"items": {"not": {"$ref": "#/items"}}}"##,
        r##"{"allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}}"##,
        r##"{"$dynamicAnchor": "a", "if": {"$dynamicRef": "#a"}, "then": false}"##,
    ];
    for schema in schemas {
        let (message, _) = error_with(&JsonSchemaOptions::default(), schema);
        let expected = "the schema leads back to itself without a step into a member or an item";
        assert_eq!(message, expected, "{schema}");
    }
}

/// Each resource may be met before or after each other one, which makes another scope.
#[test]
fn scopes_without_bound_are_a_limit() {
    let count = 14;
    let any: Vec<String> = (0..count).map(|i| format!(r#"{{"$ref": "http://x/{i}"}}"#)).collect();
    let resources: Vec<(String, String)> = (0..count)
        .map(|i| {
            let text = format!(
                r##"{{"$id": "http://x/{i}", "prefixItems": [{{"$dynamicRef": "#a{i}"}}, {}],
                "$defs": {{"a": {{"$dynamicAnchor": "a{i}", "const": {i}}}}}}}"##,
                any.join(",")
            );
            (format!("http://x/{i}"), text)
        })
        .collect();
    let options = JsonSchemaOptions { resources, ..JsonSchemaOptions::default() };
    let schema = format!(r#"{{"prefixItems": [{}]}}"#, any.join(","));
    let limits = Limits { alternatives: 500, ..Limits::default() };
    let mut budget = Budget::new(limits, stencilm::Cancel::new());
    let error = grammar(&schema, &options, &mut budget).expect_err("there are 2^14 scopes");
    let expected = ErrorKind::LimitReached { limit: "alternatives", allowed: 500 };
    assert_eq!(error.kind(), &expected);
}

/// Relative identifiers, one inside the other: each has all the outer ones in its URI.
#[test]
fn uris_that_grow_without_bound_are_a_limit() {
    let depth = 10_000;
    let schema = r#"{"$id": "x/", "items": "#.repeat(depth) + "true" + &"}".repeat(depth);
    let options = JsonSchemaOptions::default();
    let error = grammar(&schema, &options, &mut Budget::default()).expect_err("200 MB of URIs");
    let allowed = Limits::default().source_bytes;
    assert_eq!(error.kind(), &ErrorKind::LimitReached { limit: "source_bytes", allowed });
}
