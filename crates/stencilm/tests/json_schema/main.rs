//! JSON Schema: what is valid is in the grammar, what is not is not.

#[path = "../support/rules_language.rs"]
mod rules_language;

mod arrays;
mod objects;
mod references;
mod strings;

use stencilm::frontend::json_schema::{
    JsonSchemaOptions, Numbers, Unsupported, Whitespace, grammar, report,
};
use stencilm::{Budget, ErrorKind, Location};

use rules_language::accepts;

/// The only place that compiles a schema to try texts.
#[track_caller]
fn check_with(options: &JsonSchemaOptions, schema: &str, valid: &[&str], invalid: &[&str]) {
    let grammar = grammar(schema, options, &mut Budget::default());
    let grammar = grammar.unwrap_or_else(|error| panic!("{schema}: {error}"));
    for text in valid {
        assert!(accepts(&grammar, text.as_bytes()), "{schema} must allow {text}");
    }
    for text in invalid {
        assert!(!accepts(&grammar, text.as_bytes()), "{schema} must not allow {text}");
    }
}

#[track_caller]
fn check(schema: &str, valid: &[&str], invalid: &[&str]) {
    check_with(&JsonSchemaOptions::default(), schema, valid, invalid);
}

#[track_caller]
fn error(schema: &str) -> (ErrorKind, Location) {
    let error = grammar(schema, &JsonSchemaOptions::default(), &mut Budget::default());
    let error = error.expect_err(schema);
    (error.kind().clone(), error.location().clone())
}

#[track_caller]
fn refused(schema: &str, feature: &str, pointer: &str) {
    let expected = ErrorKind::Unsupported { feature: feature.to_owned() };
    assert_eq!(error(schema), (expected, Location::Pointer(pointer.to_owned())), "{schema}");
}

#[test]
fn any_schema_is_any_json() {
    let valid = [
        "null",
        "true",
        "-12.5e+3",
        r#""a\u00e9\n""#,
        "[]",
        "[1, [2], {}]",
        "{}",
        r#"{"a": {"b": [null]}, "c": 1}"#,
    ];
    check("true", &valid, &["", "nul", "01", "[1,]", r#"{"a"}"#, r#""a"#, "[1 2]", "1 "]);
    check("{}", &valid, &["tru"]);
}

#[test]
fn members_come_in_their_order() {
    let schema = r#"{"type": "object", "properties": {"b": {"type": "integer"},
        "a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}"#;
    let valid = [r#"{"b": 1, "a": "x"}"#, r#"{"a":""}"#, r#"{ "b" : -0 , "a" : "" }"#];
    let invalid = [r#"{"a": "x", "b": 1}"#, "{}", r#"{"b": 1}"#, r#"{"b": 1, "a": "x", "c": 2}"#];
    check(schema, &valid, &invalid);
}

#[test]
fn other_names_come_once_nothing_is_missing() {
    let schema = r#"{"properties": {"a": {"type": "null"}, "b": {"type": "null"}},
        "required": ["a"], "additionalProperties": {"type": "integer"}, "type": "object"}"#;
    let valid = [r#"{"a": null, "x": 1, "b": null, "y": 2}"#, r#"{"a": null}"#];
    let invalid = [r#"{"x": 1, "a": null}"#, r#"{"a": null, "x": null}"#, r#"{"a": null, "a": 1}"#];
    check(schema, &valid, &invalid);
}

#[test]
fn pattern_properties_and_properties_overlap() {
    let schema = r#"{"type": "object", "properties": {"ab": {"type": "integer"}},
        "patternProperties": {"^a": {"minimum": 3}, "b$": {"maximum": 5}},
        "additionalProperties": {"type": "boolean"}}"#;
    let valid =
        [r#"{"ab": 4}"#, r#"{"a": 9}"#, r#"{"a": "s"}"#, r#"{"b": 2}"#, r#"{"axb": 4, "c": true}"#];
    let invalid = [
        r#"{"ab": 2}"#,
        r#"{"ab": 6}"#,
        r#"{"a": 2}"#,
        r#"{"b": 6}"#,
        r#"{"axb": 6}"#,
        r#"{"c": 1}"#,
    ];
    check(schema, &valid, &invalid);
}

#[test]
fn property_names_are_strings_of_their_schema() {
    let schema = r#"{"type": "object", "propertyNames": {"maxLength": 2}, "properties":
        {"abc": true, "ab": {"type": "null"}}}"#;
    check(
        schema,
        &[r#"{"ab": null}"#, r#"{"x": 1}"#],
        &[r#"{"abc": 1}"#, r#"{"ab": 1}"#, r#"{"xyz": 1}"#],
    );
}

#[test]
fn members_are_counted() {
    let closed = r#"{"type": "object", "properties": {"a": true, "b": true, "c": true},
        "additionalProperties": false, "minProperties": 2, "maxProperties": 2}"#;
    let invalid = [r#"{"a": 1}"#, r#"{"a": 1, "b": 1, "c": 1}"#, "{}"];
    check(closed, &[r#"{"a": 1, "b": 1}"#, r#"{"b": 1, "c": 1}"#], &invalid);
    let open = r#"{"type": "object", "minProperties": 1, "maxProperties": 2}"#;
    let invalid = ["{}", r#"{"a": 1, "b": 1, "c": 1}"#];
    check(open, &[r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#], &invalid);
}

#[test]
fn arrays_have_items_and_lengths() {
    let schema = r#"{"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}"#;
    check(schema, &["[1]", "[1, 2, 3]", "[ 1 ]"], &["[]", "[1, 2, 3, 4]", r#"["a"]"#]);
    let tuple = r#"{"type": "array", "prefixItems": [{"type": "null"}, {"type": "integer"}],
        "items": {"type": "boolean"}}"#;
    let valid = ["[]", "[null]", "[null, 1]", "[null, 1, true]", "[null,1,true,false]"];
    check(tuple, &valid, &["[1]", "[null, null]", "[null, 1, 1]"]);
    let old = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "array",
        "items": [{"type": "null"}], "additionalItems": false}"#;
    check(old, &["[]", "[null]"], &["[null, 1]", "[1]"]);
}

#[test]
fn strings_have_lengths_and_patterns() {
    let schema = r#"{"type": "string", "minLength": 2, "maxLength": 3}"#;
    check(schema, &[r#""ab""#, r#""\n\u00e9x""#, r#""𝄞𝄞""#], &[r#""a""#, r#""abcd""#]);
    let schema = r#"{"type": "string", "pattern": "b+"}"#;
    check(schema, &[r#""abc""#, r#""\u0062""#], &[r#""ac""#]);
    let schema = r#"{"type": "string", "pattern": "^a*$", "minLength": 2}"#;
    check(schema, &[r#""aa""#, r#""aaaaa""#], &[r#""a""#, r#""aab""#]);
}

#[test]
fn numbers_have_bounds() {
    let schema = r#"{"type": "integer", "minimum": -3, "maximum": 12}"#;
    let valid = ["-3", "-1", "0", "-0", "9", "10", "12", "12.0"];
    check(schema, &valid, &["-4", "13", "100", "1.5", "-10", "12.5"]);
    let schema = r#"{"type": "number", "exclusiveMinimum": 0.25, "maximum": 10.5}"#;
    let valid = ["0.26", "0.2500001", "1", "9.99", "10.5", "10.500", "10.49999"];
    check(schema, &valid, &["0.25", "0.2", "0.250", "0", "-1", "10.51", "10.5001", "11", "100"]);
    let schema = r#"{"type": "number", "maximum": -0.5}"#;
    check(schema, &["-0.5", "-0.51", "-7", "-123.4"], &["-0.49", "0", "1", "-0.4"]);
    let draft4 = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "number",
        "minimum": 5, "exclusiveMinimum": true}"#;
    check(draft4, &["5.1", "6", "60"], &["5", "5.0", "4.9", "-6"]);
}

#[test]
fn divisors_of_powers_of_ten_are_exact() {
    check(r#"{"type": "number", "multipleOf": 0.01}"#, &["1.25", "-3", "0.1", "4.500"], &["1.255"]);
    check(
        r#"{"type": "integer", "multipleOf": 5, "minimum": 7}"#,
        &["10", "15"],
        &["5", "12", "7"],
    );
    check(
        r#"{"multipleOf": 2.5, "type": "number"}"#,
        &["0", "2.5", "5", "12.50"],
        &["1", "2.55", "3.5"],
    );
    check(r#"{"multipleOf": 100, "type": "integer"}"#, &["0", "100", "-300"], &["10", "150"]);
}

#[test]
fn listed_values_are_filtered() {
    let schema = r#"{"enum": ["a", 1, null, {"x": [1, "y"]}, "b", 2.50], "not": {"const": "b"}}"#;
    let valid = [r#""a""#, "1", "1.0", "null", r#"{"x": [1, "y"]}"#, r#"{ "x":[1,"y"] }"#, "2.5"];
    check(schema, &valid, &[r#""b""#, "2", r#"{"x": [1]}"#, "{}"]);
    check(
        r#"{"enum": ["ab", "b", 3], "type": "string", "pattern": "^a"}"#,
        &[r#""ab""#],
        &[r#""b""#, "3"],
    );
}

#[test]
fn conjunctions_meet() {
    let schema = r#"{"allOf": [{"type": ["integer", "string"], "minimum": 2}, {"maximum": 4},
        {"type": ["number", "null"]}]}"#;
    check(schema, &["2", "3", "4"], &["1", "5", "null", r#""a""#]);
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#;
    check(
        schema,
        &[r#"{"a": 1}"#, r#"{"b": 1}"#, r#"{"a": 1, "b": 2}"#],
        &["{}", r#"{"a": "x"}"#, r#"{"c": 1}"#],
    );
}

#[test]
fn exactly_one_branch_holds() {
    let schema = r#"{"oneOf": [{"type": "integer"}, {"minimum": 2, "type": "number"}]}"#;
    check(schema, &["1", "2.5"], &["2", "3", "1.5"]);
    let schema = r#"{"type": "object", "oneOf": [
        {"properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k"]},
        {"properties": {"k": {"const": "b"}, "x": {"type": "string"}}, "required": ["k"]}]}"#;
    let valid = [r#"{"k": "a", "x": 1}"#, r#"{"k": "b", "x": "s"}"#];
    check(schema, &valid, &[r#"{"k": "a", "x": "s"}"#, "{}", r#"{"k": "c"}"#]);
    let schema = r#"{"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#;
    check(schema, &[r#"{"a": 1}"#, r#"{"b": 1}"#], &["{}", r#"{"a": 1, "b": 2}"#]);
}

#[test]
fn conditions_and_dependencies() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": true},
        "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}}"#;
    check(schema, &["{}", r#"{"a": 2}"#, r#"{"a": 1, "b": 0}"#], &[r#"{"a": 1}"#]);
    let schema = r#"{"type": "object", "dependentRequired": {"a": ["b"]}}"#;
    check(schema, &["{}", r#"{"b": 1}"#, r#"{"a": 1, "b": 1}"#], &[r#"{"a": 1}"#]);
}

#[test]
fn negations_are_exact() {
    check(r#"{"not": {"type": ["string", "object"]}}"#, &["1", "[]"], &[r#""a""#, "{}"]);
    check(
        r#"{"type": "object", "not": {"required": ["a"]}}"#,
        &["{}", r#"{"b": 1}"#],
        &[r#"{"a": 1}"#],
    );
    check(r#"{"type": "string", "not": {"pattern": "^a"}}"#, &[r#""b""#, r#""""#], &[r#""ab""#]);
    check(
        r#"{"type": "object", "not": {"additionalProperties": false}}"#,
        &[r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#],
        &["{}", "1"],
    );
}

#[test]
fn references_recur() {
    let schema = r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties":
        {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "required": ["v"], "additionalProperties": false}}}"##;
    check(
        schema,
        &[r#"{"v": 1, "kids": [{"v": 2}, {"v": 3, "kids": []}]}"#],
        &[r#"{"kids": []}"#, r#"{"v": 1, "kids": [{}]}"#],
    );
    let anchored = r#"{"$id": "http://x.y/root", "items": {"$ref": "item#num"}, "type": "array",
        "$defs": {"i": {"$id": "item", "$defs": {"n": {"$anchor": "num", "type": "integer"}}}}}"#;
    check(anchored, &["[1]"], &[r#"["a"]"#]);
    let (kind, at) = error(r##"{"$ref": "#"}"##);
    assert!(matches!(kind, ErrorKind::Syntax { .. }), "{kind:?} {at:?}");
    let (kind, at) = error(r##"{"properties": {"a": {"$ref": "#/nope"}}}"##);
    assert!(matches!(kind, ErrorKind::Syntax { .. }));
    assert_eq!(at, Location::Pointer("/properties/a".to_owned()));
}

#[test]
fn what_cannot_be_fulfilled_is_found_or_left_out() {
    let unsatisfiable = [
        "false",
        r#"{"type": "object", "required": ["a"], "additionalProperties": false}"#,
        r##"{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}"##,
        r#"{"type": "string", "pattern": "^a{3}$", "maxLength": 2}"#,
        r#"{"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}"#,
        r#"{"type": "integer", "multipleOf": 10, "minimum": 11, "maximum": 19}"#,
    ];
    for schema in unsatisfiable {
        let (kind, _) = error(schema);
        assert!(matches!(kind, ErrorKind::Unsatisfiable { .. }), "{schema}: {kind:?}");
    }
    let schema = r#"{"type": "object", "properties": {"a": false, "b": {"type": "null"}}}"#;
    check(schema, &["{}", r#"{"b": null}"#], &[r#"{"a": 1}"#]);
    let schema = r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}, "minItems": 1},
        {"type": "null"}]}"##;
    check(schema, &["null", "[null]", "[[null]]"], &["[]"]);
}

#[test]
fn assertions_that_cannot_be_enforced_are_refused_by_name() {
    let counted = r#"{"type": "array", "contains": {"const": 1}, "not": {"uniqueItems": true}}"#;
    refused(counted, "not", "/not");
    refused(&format!(r#"{{"properties": {{"a": {counted}}}}}"#), "not", "/properties/a/not");
    // Nobody counts how many there are.
    refused(
        r#"{"properties": {"a": {"type": "array", "uniqueItems": true, "items":
            {"minimum": 0, "maximum": 9999999, "multipleOf": 6, "allOf": [{"multipleOf": 4}],
             "type": "number"}}}}"#,
        "uniqueItems",
        "/properties/a/uniqueItems",
    );
    check(
        r#"{"type": "string", "not": {"type": "array", "uniqueItems": true}}"#,
        &[r#""a""#],
        &["[]"],
    );
}

#[test]
fn formats_are_enforced() {
    let check = |format: &str, valid: &[&str], invalid: &[&str]| {
        let quote = |text: &&str| format!("\"{text}\"");
        let (valid, invalid): (Vec<String>, Vec<String>) =
            (valid.iter().map(quote).collect(), invalid.iter().map(quote).collect());
        let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
        let invalid: Vec<&str> = invalid.iter().map(String::as_str).collect();
        check(&format!(r#"{{"type": "string", "format": "{format}"}}"#), &valid, &invalid);
    };
    check(
        "date",
        &["2024-02-29", "1999-12-31", "2000-02-29"],
        &["2023-02-29", "1900-02-29", "2024-04-31", "2024-1-1"],
    );
    check(
        "time",
        &["12:00:00Z", "23:59:60Z", "00:00:00.5+01:30"],
        &["24:00:00Z", "12:00:00", "12:00:60Z"],
    );
    check("date-time", &["2024-01-31T12:00:00Z"], &["2024-01-32T12:00:00Z", "2024-01-31"]);
    check(
        "duration",
        &["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"],
        &["P", "PT", "P1YT", "P1Y2W", "1D"],
    );
    check("email", &["a.b@c.de", "joe@[127.0.0.1]"], &["a", "@b", ".a@b", "a..b@c"]);
    check("hostname", &["a", "www.example.com", "a-b.c"], &["-a", "a-", "a..b", ""]);
    check("ipv4", &["127.0.0.1", "255.255.255.255"], &["256.0.0.1", "1.2.3", "01.2.3.4"]);
    check(
        "ipv6",
        &["::", "::1", "1:2:3:4:5:6:7:8", "fe80::a:b", "::ffff:1.2.3.4"],
        &["1:2:3", ":::", "12345::", "1::2::3"],
    );
    check(
        "uri",
        &["http://a.b/c?d#e", "urn:x:y", "http://[::1]:80/"],
        &["/a", "a b", "http://a b"],
    );
    check("uri-reference", &["/a", "", "#x", "http://a"], &["\\\\a", "a b"]);
    check("uuid", &["2EB8AA08-AA98-11EA-B4AA-73B441D16380"], &["2EB8AA08AA9811EAB4AA73B441D16380"]);
    check("json-pointer", &["", "/a/~0~1"], &["a", "/~"]);
    check("unknown", &["x"], &[]);
}

#[test]
fn white_space_follows_the_option() {
    let schema = r#"{"type": "array", "items": {"type": "object", "properties": {"a": true}}}"#;
    let with = |whitespace| JsonSchemaOptions { whitespace, ..JsonSchemaOptions::default() };
    let indented = "[\n  {\n    \"a\": [\n      1\n    ]\n  },\n  {}\n]";
    let one_line = r#"[{"a": [1]}, {}]"#;
    let compact = r#"[{"a":[1]},{}]"#;
    check_with(&with(Whitespace::Compact), schema, &[compact, "[]"], &[one_line, indented]);
    let separators = Whitespace::Separators { item: ", ".to_owned(), key: ": ".to_owned() };
    check_with(&with(separators), schema, &[one_line, "[]"], &[compact, indented]);
    let lines = |item: &str, key: &str| {
        with(Whitespace::Lines { width: 2, item: item.to_owned(), key: key.to_owned() })
    };
    check_with(&lines(",", ": "), schema, &[indented, "[]"], &[one_line, compact]);
    let tight = "[\n  {\n    \"a\":[\n      1\n    ]\n  } ,\n  {}\n]";
    check_with(&lines(" ,", ":"), schema, &[tight, "[]"], &[indented, one_line]);
    let any = Whitespace::Any { cap: 7 };
    check_with(&with(any), schema, &[one_line, compact, indented], &["[        ]"]);
}

#[test]
fn schemas_may_nest_and_be_large() {
    let deep = format!("{}true{}", r#"{"items": "#.repeat(10_000), "}".repeat(10_000));
    grammar(&deep, &JsonSchemaOptions::default(), &mut Budget::default()).expect("deep items");
    let deep = format!("{}true{}", r#"{"allOf": ["#.repeat(10_000), "]}".repeat(10_000));
    grammar(&deep, &JsonSchemaOptions::default(), &mut Budget::default()).expect("deep allOf");
    let deep =
        format!("{}{{\"type\":\"null\"}}{}", r#"{"not": "#.repeat(10_000), "}".repeat(10_000));
    check(&deep, &["null"], &["1"]);
}

#[test]
fn the_report_says_what_becomes_of_each_keyword() {
    let options =
        JsonSchemaOptions { unsupported: Unsupported::Widen, ..JsonSchemaOptions::default() };
    let schema = r#"{"type": "array", "not": {"uniqueItems": true}, "x-order": 3, "items":
        {"type": "string", "format": "hostname", "description": "d"}, "contains": {"const": "b"}}"#;
    let report = report(schema, &options, &mut Budget::default()).expect("a report");
    let pointers = |list: &[(String, String)]| {
        list.iter().map(|(pointer, _)| pointer.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pointers(&report.enforced), "/type /items /contains /not/uniqueItems /items/type");
    assert_eq!(pointers(&report.narrower), "/items/format /contains/const");
    assert_eq!(pointers(&report.annotations), "/x-order /items/description");
    assert_eq!(pointers(&report.widened), "/not");
    check_with(&options, schema, &[r#"["a", "b"]"#], &[r#"["-"]"#, "{}"]);
}

#[test]
fn closed_values_have_what_is_described() {
    let closed = JsonSchemaOptions { closed: true, ..JsonSchemaOptions::default() };
    let check = |schema: &str, valid: &[&str], invalid: &[&str]| {
        check_with(&closed, schema, valid, invalid);
    };
    check(
        r#"{"properties": {"a": {"properties": {"b": true}}, "c": {"type": "object"}}}"#,
        &["{}", r#"{"a": {"b": 1}}"#, r#"{"c": {"d": 1}}"#, r#"{"a": {}, "c": {}}"#, "[1]"],
        &[r#"{"x": 1}"#, r#"{"a": {"c": 1}}"#],
    );
    check(r#"{"type": "object"}"#, &[r#"{"x": 1}"#], &[]);
    check(r#"{"prefixItems": [{"type": "integer"}]}"#, &["[]", "[1]"], &["[1, 2]"]);
    check(r#"{"type": "array", "minItems": 1}"#, &["[1, 2]"], &["[]"]);
    // What is said of others counts.
    check(
        r#"{"properties": {"a": true}, "additionalProperties": {"type": "null"}}"#,
        &[r#"{"x": null}"#],
        &[r#"{"x": 1}"#],
    );
    check(
        r#"{"properties": {"a": true}, "unevaluatedProperties": true}"#,
        &[r#"{"x": null}"#],
        &[],
    );
    // All parts of a schema describe.
    check(
        r##"{"allOf": [{"properties": {"a": true}}, {"$ref": "#/$defs/B"}],
            "$defs": {"B": {"properties": {"b": true}}}}"##,
        &[r#"{"a": 1, "b": 2}"#],
        &[r#"{"a": 1, "c": 2}"#],
    );
    check(
        r#"{"anyOf": [{"type": "array", "prefixItems": [{}]}, {"type": "object"}]}"#,
        &["[1]", r#"{"x": 1}"#],
        &["3", "[1, 2]"],
    );
    check(
        r#"{"properties": {"k": {"enum": [1, 2]}}, "required": ["k"],
            "if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"x": true}}}"#,
        &[r#"{"k": 1, "x": 0}"#, r#"{"k": 2}"#],
        &[r#"{"k": 2, "x": 0}"#, r#"{"k": 1, "y": 0}"#],
    );
    // A closed condition would let more through.
    check(
        r#"{"properties": {"a": {"not": {"properties": {"b": {"const": 1}}, "required": ["b"]}}}}"#,
        &[r#"{"a": {"b": 2, "c": 3}}"#, r#"{"a": {"c": 3}}"#],
        &[r#"{"a": {"b": 1, "c": 3}}"#, r#"{"a": 3}"#],
    );
    let draft7 =
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": true}}"#;
    check(draft7, &[r#"{"a": 1}"#], &[r#"{"b": 1}"#]);
    let recursive = r##"{"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}}"##;
    check(recursive, &[r#"{"next": {"v": 1}}"#], &[r#"{"next": {"w": 1}}"#]);
}

#[test]
fn integers_by_their_digits() {
    let digits = JsonSchemaOptions { numbers: Numbers::Digits, ..JsonSchemaOptions::default() };
    check_with(&digits, r#"{"type": "integer"}"#, &["1", "-20", "0"], &["1.0", "1e3", "01"]);
    check_with(&digits, r#"{"type": "number"}"#, &["1", "1.5", "1e3", "1.0"], &["."]);
    check_with(&digits, r#"{"enum": [1, 2.5]}"#, &["1", "2.5"], &["1.0", "1e0"]);
    check_with(
        &digits,
        r#"{"type": "integer", "minimum": 3, "maximum": 3}"#,
        &["3"],
        &["3.0", "4"],
    );
}
