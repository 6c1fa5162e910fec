//! Cases of the `lark` package and of llguidance, where they are at hand.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use stencilm::frontend::lark::Meaning;

use crate::Engine;

/// Cases that are not as their authors say, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("llg-lark-5ea5b4d5", "separators that make no JSON"),
    ("llg-lark-b7ffd419", "separators that make no JSON"),
    (
        "llg-lark-9420df2c",
        "separators with white space around them that may be longer: refused by name",
    ),
    (
        "llg-lark-7ab5b01c",
        "separators with white space around them that may be longer: refused by name",
    ),
    ("llg-lark-f3079cc4", "separators that are regular expressions"),
    ("llg-lark-3f4b1675", "names come in their shortest spelling"),
    ("llg-lark-ffdbbd8d", "where every spelling is asked for, a constant has every one too"),
    ("llg-lark-e53514bf", "every legal spelling of a string is one"),
    ("llg-lark-978c4d7f", "every legal spelling of a string is one"),
    ("llg-lark-96e982d4", "json_allowed_escapes is refused by name"),
    ("lark_contextual-806e03f2", "the package refuses it too: a reduce/reduce conflict"),
    ("lark_contextual-fdde370a", "its texts are those of a parser that goes on after errors"),
    ("lark_contextual-332d1588", "a conditional group is refused by name"),
    ("lark_cfg-332d1588", "a conditional group is refused by name"),
];

#[test]
fn cases_of_others() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let (mut right, mut wrong) = (0, Vec::new());
    for name in ["cases-dev.jsonl.gz", "cases-llguidance-dev.jsonl.gz", "cases-lark-dev.jsonl.gz"] {
        let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(folder.join(name)).output() else {
            println!("skipped: no gzip");
            return;
        };
        for line in String::from_utf8_lossy(&unpacked.stdout).lines() {
            if !line.contains("\"format\": \"lark") {
                continue;
            }
            let case: Value = serde_json::from_str(line).expect("JSON lines");
            let meaning = match case["format"].as_str() {
                Some("lark" | "lark_cfg") => Meaning::Cfg,
                Some("lark_contextual") => Meaning::Contextual,
                _ => continue,
            };
            let id = case["id"].as_str().unwrap_or("");
            match judge(&case, meaning) {
                Ok(()) if OTHERWISE.iter().any(|(known, _)| *known == id) => {
                    wrong.push(format!("{id}: right now, and listed"));
                }
                Ok(()) => right += 1,
                Err(_) if OTHERWISE.iter().any(|(known, _)| *known == id) => {}
                Err(why) => wrong.push(format!("{id}: {why}")),
            }
        }
    }
    if right == 0 {
        println!("skipped: no cases beside the project");
    }
    assert!(wrong.is_empty(), "{right} are right, {} are not:\n{}", wrong.len(), wrong.join("\n"));
}

fn judge(case: &Value, meaning: Meaning) -> Result<(), String> {
    let grammar = case["grammar"].as_str().expect("a text");
    let engine = Engine::new(grammar, meaning);
    if case["note"].as_str().is_some_and(|note| note.starts_with("[MUST-ERROR]")) {
        return if engine.is_err() { Ok(()) } else { Err("must be refused".to_owned()) };
    }
    let engine = engine.map_err(|error| error.to_string())?;
    for (key, expected) in [("accept", true), ("reject", false)] {
        for text in case[key].as_array().into_iter().flatten() {
            let text = text.as_str().expect("a text");
            if engine.accepts(text) != expected {
                return Err(format!("{key} {:?}", text.chars().take(60).collect::<String>()));
            }
        }
    }
    Ok(())
}
