//! The rules of ARCHITECTURE.md that a machine can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which module may name which others. A module stands below all that it uses, so the table has no
/// cycle; what it allows is really used, so it is no wider than the code.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("limits", &["error"]),
    ("interner", &[]),
    ("number", &["error"]),
    ("grammar", &["error", "interner", "number"]),
    ("vocab", &["error", "grammar"]),
    ("residual", &["error", "limits", "interner", "grammar", "vocab"]),
    ("mask", &["error", "limits", "interner", "grammar", "vocab", "residual"]),
    ("stack", &["error", "grammar", "residual", "mask"]),
    ("compiled", &["error", "limits", "grammar", "vocab", "mask"]),
    ("matcher", &["error", "grammar", "vocab", "mask", "stack", "compiled"]),
    ("normalize", &["error", "limits", "grammar"]),
    ("frontend", &["error", "limits", "interner", "number", "grammar", "residual"]),
];

/// The same for the front ends: none knows of another, except for the patterns in schemas and in
/// grammars, for the JSON inside of grammars, and for the parts of a text.
const FRONT_ENDS: &[(&str, &[&str])] = &[
    ("regex", &[]),
    ("automaton", &[]),
    ("substrings", &[]),
    ("marks", &[]),
    ("combine", &["marks"]),
    ("ebnf", &["automaton", "regex", "substrings", "marks"]),
    ("json_schema", &["regex"]),
    ("lark", &["automaton", "regex", "json_schema", "substrings", "marks"]),
    ("tags", &["regex", "ebnf", "json_schema", "lark"]),
];

/// The core computes and nothing else; only its caller talks to the world.
const CLOSED: &[&str] = &[
    "print!",
    "println!",
    "dbg!",
    "todo!",
    "unimplemented!",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "static mut",
    "thread_local!",
    "LazyLock",
    "super::",
];

/// What only one file may name.
const OWNED: &[(&str, &str)] = &[("Instant", "limits.rs"), ("RandomState", "grammar/hash.rs")];

/// The only file of the binding that may have `unsafe`.
const UNSAFE_FILE: &str = "buffers.rs";

const LONGEST_FILE: usize = 600;

#[test]
fn modules_use_only_what_they_may() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in core_files() {
        let module = first_part(&file.name);
        if module == "lib" {
            continue;
        }
        for path in crate_paths(&file.code) {
            let name = first_segment(&path);
            if name != module {
                let allowed = row(MAY_USE, &module);
                assert!(
                    allowed.contains(&name.as_str()),
                    "{}: `{module}` must not use `crate::{name}`",
                    file.name
                );
                used.entry(module.clone()).or_default().insert(name);
            }
        }
    }
    assert_no_wider(MAY_USE, &used);
}

#[test]
fn front_ends_use_only_what_they_may() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in core_files() {
        let Some(inside) = file.name.strip_prefix("frontend/").filter(|name| *name != "mod.rs")
        else {
            continue;
        };
        let language = first_part(inside);
        for path in crate_paths(&file.code) {
            let Some(name) = path.strip_prefix("frontend::").map(first_segment) else {
                continue;
            };
            if name != language {
                let allowed = row(FRONT_ENDS, &language);
                assert!(
                    allowed.contains(&name.as_str()),
                    "{}: `{language}` must not use the front end `{name}`",
                    file.name
                );
                used.entry(language.clone()).or_default().insert(name);
            }
        }
    }
    assert_no_wider(FRONT_ENDS, &used);
}

#[test]
fn the_tables_have_no_cycle() {
    for table in [MAY_USE, FRONT_ENDS] {
        for (at, (module, allowed)) in table.iter().enumerate() {
            for name in *allowed {
                let is_below = table[..at].iter().any(|(other, _)| other == name);
                assert!(is_below, "`{name}` must stand above `{module}` in the table");
            }
        }
    }
}

#[test]
fn the_table_in_the_document_is_this_one() {
    let text = architecture();
    for (module, allowed) in MAY_USE {
        let uses = match allowed {
            [] => "–".to_owned(),
            _ => allowed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let row = format!("| `{module}` | {uses} |");
        assert!(text.contains(&row), "ARCHITECTURE.md has no row that begins `{row}`");
    }
}

#[test]
fn the_tests_that_the_document_names_exist() {
    let text = architecture();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let named = text.split('`').filter_map(|piece| piece.split_once(".rs::"));
    let mut count = 0;
    for (file, test) in named {
        let path = tests.join(format!("{file}.rs"));
        let code = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("ARCHITECTURE.md names {}: {error}", path.display()));
        assert!(code.contains(&format!("fn {test}(")), "{file}.rs has no test `{test}`");
        count += 1;
    }
    assert!(count > 0, "each invariant names its test");
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for file in core_files().into_iter().chain(binding_files()) {
        let lines = file.text.lines().count();
        assert!(lines <= LONGEST_FILE, "{}: {lines} lines, at most {LONGEST_FILE}", file.name);
        assert!(file.text.starts_with("//! "), "{}: no module doc on line 1", file.name);
    }
}

#[test]
fn the_core_is_closed() {
    for file in core_files() {
        for word in CLOSED {
            assert!(!names(&file.code, word), "{}: `{word}`", file.name);
        }
        for (word, owner) in OWNED {
            let is_owner = file.name == *owner;
            assert!(
                is_owner || !names(&file.code, word),
                "{}: only {owner} has `{word}`",
                file.name
            );
        }
        if file.name == "lib.rs" {
            assert!(file.code.contains("#![forbid(unsafe_code)]"), "the core forbids unsafe code");
        }
    }
}

#[test]
fn one_file_of_the_binding_is_unsafe() {
    for file in binding_files() {
        let is_unsafe = file.code.contains("unsafe {") || file.code.contains("allow(unsafe_code)");
        assert_eq!(is_unsafe, file.name == UNSAFE_FILE, "{}: unsafe code", file.name);
    }
}

#[test]
fn paths_are_read_from_every_form_of_use() {
    let code = "use crate::{a::B, c::{self, d::E}, f};\nuse crate::g::H;\nfn x(y: crate::i::J) {}\n\
                pub(crate) use k;";
    let expected = ["a::B", "c", "c::d::E", "f", "g::H", "i::J"];
    let found: Vec<String> = crate_paths(code).into_iter().collect();
    assert_eq!(found, expected);
}

fn architecture() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    fs::read_to_string(path).expect("ARCHITECTURE.md lies at the root")
}

/// A source file.
struct File {
    /// The path below `src`.
    name: String,
    text: String,
    /// The text without comments (links may point anywhere) and without unit tests.
    code: String,
}

fn core_files() -> Vec<File> {
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn binding_files() -> Vec<File> {
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../stencilm-py/src"))
}

fn files_below(root: &Path) -> Vec<File> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("sources are readable") {
            let path = entry.expect("sources are readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                let inside = path.strip_prefix(root).expect("it was found there");
                let name = inside.to_str().expect("names are UTF-8").replace('\\', "/");
                found.push(File { name, code: code_of(&text), text });
            }
        }
    }
    assert!(!found.is_empty(), "found no sources in {}", root.display());
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn code_of(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// `frontend/regex/mod.rs` belongs to `frontend`, `matcher.rs` to `matcher`.
fn first_part(name: &str) -> String {
    let first = name.split('/').next().unwrap_or_default();
    first.trim_end_matches(".rs").to_owned()
}

fn first_segment(path: &str) -> String {
    path.split("::").next().unwrap_or_default().to_owned()
}

fn row<'t>(table: &'t [(&str, &[&str])], module: &str) -> &'t [&'t str] {
    let found = table.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("`{module}` is missing from the table")).1
}

fn assert_no_wider(table: &[(&str, &[&str])], used: &BTreeMap<String, BTreeSet<String>>) {
    for (module, allowed) in table {
        for name in *allowed {
            let is_used = used.get(*module).is_some_and(|names| names.contains(*name));
            assert!(is_used, "`{module}` uses `{name}` no more: take it out of the table");
        }
    }
}

/// Whether `word` stands in the code and is not the end of a longer word.
fn names(code: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(is_word))
}

/// All paths from the root of the crate, those in groups and the heads of groups included.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, sign) in code.match_indices("crate::") {
        read_paths(&code[at + sign.len()..], "", &mut found);
    }
    found
}

/// Reads the path, or the group of paths, that `text` begins with; gives what follows it.
fn read_paths<'t>(text: &'t str, prefix: &str, found: &mut BTreeSet<String>) -> &'t str {
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = read_paths(rest.trim_start(), prefix, found).trim_start();
            match rest.strip_prefix(',').map(str::trim_start) {
                Some(more) if more.starts_with('}') => return &more[1..],
                Some(more) => rest = more,
                None => return rest.strip_prefix('}').expect("a group of paths is closed"),
            }
        }
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let path = match (prefix, name) {
        (_, "self" | "") => prefix.to_owned(),
        ("", _) => name.to_owned(),
        _ => format!("{prefix}::{name}"),
    };
    if let Some(more) = rest.strip_prefix("::") {
        return read_paths(more, &path, found);
    }
    found.insert(path);
    match rest.strip_prefix(" as ") {
        Some(alias) => alias.trim_start_matches(is_name),
        None => rest,
    }
}
