//! How models write the arguments of a call: between marks around names and values, or in a
//! notation that is not JSON.

use crate::frontend::json_schema::{Nested, Notation, Parameters};

/// The marks of a style: before a name, before a string, before any other value, and the end.
const STYLES: &[(&str, [&str; 4])] = &[
    ("qwen_xml", ["<parameter=", ">", ">", "</parameter>"]),
    ("mimo_xml", ["<parameter=", ">", ">", "</parameter>"]),
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
    (
        "deepseek_v4_1_xml",
        [
            "<｜DSML｜ parameter name=\"",
            "\" string=\"true\">",
            "\" string=\"false\">",
            "</｜DSML｜ parameter>",
        ],
    ),
    ("glm_xml", ["<arg_key>", "<arg_value>", "<arg_value>", "</arg_value>"]),
    (
        "cohere_xml",
        ["<cofl:value name=\"", "\" type=\"raw\">", "\" type=\"json\">", "</cofl:value>"],
    ),
    ("minimax_m3_xml", ["]<]minimax[>[<", ">", ">", "]<]minimax[>[</"]),
];

/// What is before and after a string where names have no quotes.
const QUOTES: &[(&str, &str)] = &[("gemma", "<|\"|>"), ("function_gemma", "<escape>")];

/// How a style writes an object.
#[derive(Clone, Debug)]
pub(crate) enum Style {
    Marks(Box<Parameters>),
    Notation(Notation),
}

/// The style of this name, if there is one beside JSON.
pub(crate) fn style(name: &str, excludes: &[&str]) -> Option<Style> {
    let excludes = excludes.iter().map(ToString::to_string).collect();
    if name == "pythonic" {
        return Some(Style::Notation(Notation::Python));
    }
    if let Some((_, quote)) = QUOTES.iter().find(|(known, _)| *known == name) {
        return Some(Style::Notation(Notation::Bare { quote: (*quote).to_owned(), excludes }));
    }
    marks(name, excludes).map(|marks| Style::Marks(Box::new(marks)))
}

fn marks(name: &str, mut excludes: Vec<String>) -> Option<Parameters> {
    if name == "kimi_k3_xml" {
        let types = ["number", "boolean", "null", "object", "array"];
        return Some(Parameters {
            before_name: "<|open|>argument key=\"".to_owned(),
            after_name: String::new(),
            before_string: "\" type=\"string\"<|sep|>".to_owned(),
            before_json: types.map(|kind| format!("\" type=\"{kind}\"<|sep|>")),
            end: "<|close|>argument<|sep|>".to_owned(),
            after_end: None,
            excludes,
            has_lines: false,
            escapes_names: true,
            before_integer: Some("\" type=\"integer\"<|sep|>".to_owned()),
            nested: None,
        });
    }
    let &(_, [before_name, before_string, before_json, end]) =
        STYLES.iter().find(|(known, _)| *known == name)?;
    let nested = match name {
        "cohere_xml" => Some(Nested {
            before_members: "\" type=\"dict\">".to_owned(),
            before_items: "\" type=\"list\">".to_owned(),
            before_item: "<cofl:value".to_owned(),
            item: String::new(),
        }),
        "minimax_m3_xml" => {
            excludes.push("]<]minimax[>[".to_owned());
            Some(Nested {
                before_members: ">".to_owned(),
                before_items: ">".to_owned(),
                before_item: "]<]minimax[>[<item>".to_owned(),
                item: "item".to_owned(),
            })
        }
        _ => None,
    };
    Some(Parameters {
        before_name: before_name.to_owned(),
        after_name: if name == "glm_xml" { "</arg_key>".to_owned() } else { String::new() },
        before_string: before_string.to_owned(),
        before_json: std::array::from_fn(|_| before_json.to_owned()),
        end: end.to_owned(),
        after_end: (name == "minimax_m3_xml").then(|| ">".to_owned()),
        excludes,
        has_lines: name == "qwen_xml",
        escapes_names: false,
        before_integer: None,
        nested,
    })
}
