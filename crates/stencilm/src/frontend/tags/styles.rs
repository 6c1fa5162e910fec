//! How models write the arguments of a call: the marks around names and values.

use crate::frontend::json_schema::{Nested, Parameters};

/// The marks of a style: before a name, before a string, before any other value, and the end.
const STYLES: &[(&str, [&str; 4])] = &[
    ("qwen_xml", ["<parameter=", ">", ">", "</parameter>"]),
    ("minimax_xml", ["<parameter name=\"", "\">", "\">", "</parameter>"]),
    (
        "deepseek_xml",
        [
            "<｜DSML｜parameter name=\"",
            "\" string=\"true\">",
            "\" string=\"false\">",
            "</｜DSML｜parameter>",
        ],
    ),
    ("glm_xml", ["<arg_key>", "</arg_key><arg_value>", "</arg_key><arg_value>", "</arg_value>"]),
    (
        "cohere_xml",
        ["<cofl:value name=\"", "\" type=\"raw\">", "\" type=\"json\">", "</cofl:value>"],
    ),
];

/// The style of this name, if there is one beside JSON.
pub(crate) fn style(name: &str, excludes: &[&str]) -> Option<Parameters> {
    let excludes = excludes.iter().map(ToString::to_string).collect();
    if name == "kimi_k3_xml" {
        let types = ["number", "boolean", "null", "object", "array"];
        return Some(Parameters {
            before_name: "<|open|>argument key=\"".to_owned(),
            before_string: "\" type=\"string\"<|sep|>".to_owned(),
            before_json: types.map(|kind| format!("\" type=\"{kind}\"<|sep|>")),
            end: "<|close|>argument<|sep|>".to_owned(),
            excludes,
            escapes_names: true,
            before_integer: Some("\" type=\"integer\"<|sep|>".to_owned()),
            nested: None,
        });
    }
    let &(_, [before_name, before_string, before_json, end]) =
        STYLES.iter().find(|(known, _)| *known == name)?;
    Some(Parameters {
        before_name: before_name.to_owned(),
        before_string: before_string.to_owned(),
        before_json: std::array::from_fn(|_| before_json.to_owned()),
        end: end.to_owned(),
        excludes,
        escapes_names: false,
        before_integer: None,
        nested: (name == "cohere_xml").then(|| Nested {
            before_members: "\" type=\"dict\">".to_owned(),
            before_items: "\" type=\"list\">".to_owned(),
            before_item: "<cofl:value".to_owned(),
        }),
    })
}
