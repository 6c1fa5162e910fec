//! Arguments that are not written as JSON: between names without quotes, as Python writes them, and
//! between marks that nest.

#[allow(dead_code, reason = "no masks are compared here")]
#[path = "support/masks.rs"]
mod masks;

use std::thread;

use stencilm::frontend::json_schema::JsonSchemaOptions;
use stencilm::{Budget, Error, ErrorKind, Grammar, Limits, Location, Matcher};

use masks::{compile_grammar, vocabulary};

fn read(members: &str) -> Result<Grammar, Error> {
    let tag = format!(r#"{{"type":"structural_tag","format":{{"type":"json_schema",{members}}}}}"#);
    stencilm::from_structural_tag(&tag, &JsonSchemaOptions::default(), &mut Budget::default())
}

fn format(style: &str, schema: &str) -> Result<Grammar, Error> {
    read(&format!(r#""style":"{style}","json_schema":{schema}"#))
}

fn accepts(grammar: &Grammar, text: &str) -> bool {
    let compiled = compile_grammar(grammar, &vocabulary(&[]), Limits::default()).expect("compiles");
    let mut matcher = Matcher::new(compiled);
    text.bytes().all(|byte| matcher.accept(byte.into()).expect("no limit")) && matcher.may_stop()
}

fn check(style: &str, schema: &str, good: &[&str], bad: &[&str]) {
    let grammar = format(style, schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
    for text in good {
        assert!(accepts(&grammar, text), "{style}: {text}");
    }
    for text in bad {
        assert!(!accepts(&grammar, text), "{style}: {text}");
    }
}

const SCHEMA: &str = r##"{"type":"object","properties":{
    "city":{"type":"string","maxLength":6},
    "days":{"type":"array","items":{"enum":[1,null,true,"a'b"]},"minItems":1},
    "more":{"$ref":"#/$defs/more"}},
    "required":["city"],"additionalProperties":false,
    "$defs":{"more":{"type":"object","properties":{"of it":{"$ref":"#/$defs/more"}},
        "additionalProperties":{"type":"number"}}}}"##;

#[test]
fn names_without_quotes() {
    check(
        "gemma",
        SCHEMA,
        &[
            r#"{city:<|"|>Oslo<|"|>}"#,
            r#"{city:<|"|>a"b\}{<|"|>,days:[1,null,true,<|"|>a'b<|"|>]}"#,
            "{ city : <|\"|><|\"|>,\n more : {} }",
            r#"{city:<|"|><|<|"|>,more:{of it:{of it:{}},x_1:2.5,é:3}}"#,
        ],
        &[
            r#"{city:"Oslo"}"#,
            r#"{city:<|"|>Reykjavik<|"|>}"#,
            r#"{"city":<|"|>Oslo<|"|>}"#,
            r#"{city:<|"|>Oslo<|"|>,}"#,
            "{days:[1]}",
            r#"{city:<|"|><|"|>,days:[]}"#,
            r#"{city:<|"|><|"|>,days:[None]}"#,
            r#"{city:<|"|><|"|>,more:{x:<|"|>1<|"|>}}"#,
            r#"{city:<|"|><|"|>,other:1}"#,
            "{city:<|\"|><|\"|>,more:{\u{2028}x:1}}",
        ],
    );
    check(
        "function_gemma",
        SCHEMA,
        &["{city:<escape>Oslo<escape>}"],
        &[r#"{city:<|"|>Oslo<|"|>}"#],
    );
}

#[test]
fn arguments_of_python() {
    check(
        "pythonic",
        SCHEMA,
        &[
            "city='Oslo'",
            " city = \"Oslo\" , days=[1, None, True, \"a'b\", 'a\\'b', 'a\\x27b']",
            r"city='\'\n\x41\u00e9\U0001F600\\'",
            "city='', more={}",
            "city='', more={'of it': {\"of\\x20it\": {}}, 'x\"': 2.5, \"\": -1e5}",
        ],
        &[
            "(city='Oslo')",
            "city=Oslo",
            "city='Oslo\"",
            "city='Reykjavik'",
            "'Oslo'",
            "city='Oslo',",
            "city='', city=''",
            "days=[1]",
            "city='', days=[null]",
            "city='', days=['a'b']",
            "city='', more={x: 1}",
            "city='', more={'x': 'y'}",
            "city='\n'",
            r"city='\/'",
            r"city='\ud83d'",
            r"city='\U00110000'",
            "city='', other=1",
        ],
    );
    let open = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;
    check(
        "pythonic",
        open,
        &["", "a=1", "a=1, _x9='y', b=None ", "b={}"],
        &["a='x'", "class=1", "9=1", "a=1.5", "a-b=1", "é=1", ",a=1"],
    );
}

#[test]
fn elements_with_the_names_of_their_members() {
    let schema = r##"{"type":"object","properties":{
        "q":{"type":"string"},
        "o":{"type":"object","properties":{"n":{"type":"integer"},"o":{"$ref":"#/properties/o"}}},
        "a":{"type":"array","items":{"anyOf":[{"type":"boolean"},
            {"type":"array","items":{"type":"null"}}]},"maxItems":2}},
        "required":["q"]}"##;
    let mark = |text: &str| text.replace('@', "]<]minimax[>[");
    let good = [
        "@<q>a < b@</q>",
        "\n@<q>@</q>\n@<o>@</o>\n",
        "@<q>@</q>@<o>@<n> 1 @</n> @<o>@<n>2@</n>@</o>@</o>",
        "@<q>@</q>@<a>@<item>true@</item>@<item>@<item>null@</item>@</item>@</a>",
        "@<q>@</q>@<a>@</a>",
    ];
    let bad = [
        "",
        "@<q>x@</o>",
        "@<q>@<q>@</q>",
        "@<q>@</q>@<x>1@</x>",
        "@<q>@</q>@<o>{}@</o>",
        "@<q>@</q>@<a>[true]@</a>",
        "@<q>@</q>@<a>@<item>1@</item>@</a>",
        "@<q>@</q>@<a>@<item>true@</item>@<item>true@</item>@<item>true@</item>@</a>",
    ];
    let (good, bad) = (good.map(mark), bad.map(mark));
    let (good, bad) = (good.each_ref().map(String::as_str), bad.each_ref().map(String::as_str));
    check("minimax_m3_xml", schema, &good, &bad);
}

#[test]
fn marks_with_a_blank() {
    let schema = r#"{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}}}"#;
    let arg = |name: &str, is_text: bool, value: &str| {
        format!(
            "<｜DSML｜ parameter name=\"{name}\" string=\"{is_text}\">{value}</｜DSML｜ parameter>"
        )
    };
    let good = [arg("q", true, "1") + "\n" + &arg("n", false, "1"), String::new()];
    let bad =
        [arg("n", true, "1"), arg("q", false, "1"), arg("q", true, "").replace("｜ p", "｜p")];
    let (good, bad) = (good.each_ref().map(String::as_str), bad.each_ref().map(String::as_str));
    check("deepseek_v4_1_xml", schema, &good, &bad);
}

#[test]
fn one_line_end_on_each_side_is_no_part_of_a_string() {
    let schema = r#"{"type":"object","properties":{"e":{"enum":["a","\nb","c\n"]},"s":{"type":"string"},"l":{"type":"string","maxLength":2}}}"#;
    let arg = |name: &str, value: &str| format!("<parameter={name}>{value}</parameter>");
    let good = [
        arg("e", "a"),
        arg("e", "\na\n"),
        arg("e", "\n\nb\n"),
        arg("e", "\nc\n\n"),
        arg("s", "\nx") + &arg("l", "xy"),
        arg("l", "\nxy\n"),
        arg("l", "\n\nx\n"),
    ];
    let bad =
        [arg("e", "\nb"), arg("e", "c\n"), arg("e", "\na"), arg("l", "\nxyz\n"), arg("l", "\nx")];
    let (good, bad) = (good.each_ref().map(String::as_str), bad.each_ref().map(String::as_str));
    check("qwen_xml", schema, &good, &bad);
    check("mimo_xml", schema, &[&arg("e", "\nb"), &arg("l", "\nx")], &[&arg("e", "\na\n")]);
}

#[test]
fn what_cannot_be_written_is_refused_at_its_place() {
    let mark = "]<]minimax[>[";
    for (style, schema, place) in [
        (
            "gemma",
            r#"{"properties":{"a":{"properties":{"b:c":{"type":"null"}}}}}"#,
            "/properties/a/properties/b:c",
        ),
        ("gemma", r#"{"properties":{"a":{"const":"<|\"|>"}}}"#, "/properties/a"),
        (
            "gemma",
            r#"{"properties":{"a":{"pattern":"<\\|\"\\|>","type":"string"}}}"#,
            "/properties/a",
        ),
        (
            "gemma",
            r#"{"properties":{"a":{"type":"array","uniqueItems":true}}}"#,
            "/properties/a/uniqueItems",
        ),
        ("gemma", r#"{"properties":{"a":{"type":"object","minProperties":1}}}"#, "/properties/a"),
        // What an item must not be is known before the first one comes.
        (
            "gemma",
            r#"{"properties":{"a":{"prefixItems":[{},{}],"minContains":0,"maxContains":1,
                "contains":{"type":"object","maxProperties":1}}}}"#,
            "",
        ),
        (
            "pythonic",
            r#"{"properties":{"a":{"prefixItems":[{"type":"integer"}],"minContains":0,"maxContains":1,
                "contains":{"type":"object","properties":{"q":{"type":"object","maxProperties":1}}}}}}"#,
            "",
        ),
        ("pythonic", r#"{"properties":{"from":{"type":"string"}}}"#, "/properties/from"),
        ("pythonic", r#"{"properties":{"größe":{"type":"string"}}}"#, "/properties/größe"),
        (
            "pythonic",
            r#"{"properties":{"a":{"type":"array","uniqueItems":true}}}"#,
            "/properties/a/uniqueItems",
        ),
        (
            "pythonic",
            r#"{"properties":{"a":{"type":"object","minProperties":1}}}"#,
            "/properties/a",
        ),
        ("pythonic", r#"{"type":"string"}"#, ""),
        (
            "minimax_m3_xml",
            r#"{"properties":{"a":{"properties":{"b>c":{"type":"null"}}}}}"#,
            "/properties/a/properties/b>c",
        ),
        (
            "minimax_m3_xml",
            &format!(r#"{{"properties":{{"a":{{"const":"{mark}"}}}}}}"#),
            "/properties/a",
        ),
        ("minimax_m3_xml", r#"{"properties":{"a":{"contains":{"const":1}}}}"#, "/properties/a"),
        ("minimax_m3_xml", r#"{"minProperties":1}"#, ""),
        ("qwen_xml", r#"{"minProperties":1}"#, ""),
        (
            "qwen_xml",
            r#"{"properties":{"a":{"type":"null"},"b":{"const":"</parameter>"}},"required":["a"]}"#,
            "/properties/b",
        ),
    ] {
        let error = format(style, schema).expect_err(schema);
        assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{schema}: {error}");
        let place = format!("/format/json_schema{place}");
        assert_eq!(error.location(), &Location::Pointer(place), "{style}: {error}");
    }
}

#[test]
fn marks_may_be_special_tokens() {
    let members = r#""style":"gemma","tokens":["<|\"|>"],"json_schema":
        {"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
    let grammar = read(members).expect("a tag");
    assert_eq!(grammar.rules.special_tokens(), ["<|\"|>"]);
    let refused = compile_grammar(&grammar, &vocabulary(&[]), Limits::default());
    assert!(refused.is_err(), "the vocabulary has no such token");
}

#[test]
fn deep_schemas_and_texts() {
    let work = || {
        for style in ["gemma", "pythonic", "minimax_m3_xml"] {
            let deep = format!(
                r#"{{"properties":{}{}}}"#,
                r#"{"a":{"type":"object","properties":"#.repeat(200),
                "{}".to_owned() + &"}}".repeat(200)
            );
            assert!(format(style, &deep).is_ok(), "{style}");
        }
        let lists = r##"{"properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}"##;
        let text = "[".repeat(50_000) + &"]".repeat(50_000);
        check("gemma", lists, &[&format!("{{a:{text}}}")], &[]);
        check("pythonic", lists, &[&format!("a={text}")], &[]);
    };
    let thread = thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn spellings_of_one_character_are_told_apart() {
    for (text, good, bad) in [
        (r"%json[\u4A00] & ~%canonical_ascii[\u4A00]", r"\u4A00", r"\u4a00"),
        (r"%single_quoted[A-C] & ~%json[A-C]", r"\x41", r"\u0041"),
        (r#"%single_quoted["'] & ~%double_quoted["']"#, "\"", r"\'"),
    ] {
        let mut budget = Budget::default();
        let grammar =
            stencilm::from_ebnf(&format!("root ::= {text}"), "root", &mut budget).expect(text);
        assert!(accepts(&grammar, good), "{text}: {good}");
        assert!(!accepts(&grammar, bad), "{text}: {bad}");
    }
}
