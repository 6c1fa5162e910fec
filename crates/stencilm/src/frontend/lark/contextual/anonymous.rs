//! How Lark names the literals and regular expressions of rules: where the lexer's order does not
//! tell two terminals apart, their names do.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

use crate::error::Error;
use crate::frontend::lark::contextual::lexemes::{Pattern, pattern};
use crate::frontend::lark::names::Names;
use crate::frontend::lark::tree::{Node, NodeId, ScopeId, Tree};
use crate::limits::Budget;

/// Literals with names of their own.
const NAMED: &[(&str, &str)] = &[
    (".", "DOT"),
    (",", "COMMA"),
    (":", "COLON"),
    (";", "SEMICOLON"),
    ("+", "PLUS"),
    ("-", "MINUS"),
    ("*", "STAR"),
    ("/", "SLASH"),
    ("\\", "BACKSLASH"),
    ("|", "VBAR"),
    ("?", "QMARK"),
    ("!", "BANG"),
    ("@", "AT"),
    ("#", "HASH"),
    ("$", "DOLLAR"),
    ("%", "PERCENT"),
    ("^", "CIRCUMFLEX"),
    ("&", "AMPERSAND"),
    ("_", "UNDERSCORE"),
    ("<", "LESSTHAN"),
    (">", "MORETHAN"),
    ("=", "EQUAL"),
    ("\"", "DBLQUOTE"),
    ("'", "QUOTE"),
    ("`", "BACKQUOTE"),
    ("~", "TILDE"),
    ("(", "LPAR"),
    (")", "RPAR"),
    ("{", "LBRACE"),
    ("}", "RBRACE"),
    ("[", "LSQB"),
    ("]", "RSQB"),
    ("\n", "NEWLINE"),
    ("\r\n", "CRLF"),
    ("\t", "TAB"),
    (" ", "SPACE"),
];

/// The names of what rules say without a name; `is_named` has what is a named terminal.
pub(crate) fn names_of_patterns(
    tree: &Tree,
    names: &Names,
    main: ScopeId,
    is_named: impl Fn(&Pattern) -> bool,
    budget: &mut Budget,
) -> Result<FxHashMap<Pattern, String>, Error> {
    let own = || names.definitions.iter().filter(|it| it.name.scope == main);
    let mut taken: FxHashSet<String> =
        own().filter(|it| it.name.is_terminal()).map(|it| it.name.text.to_string()).collect();
    let mut found: FxHashMap<Pattern, String> = FxHashMap::default();
    let mut anonymous = 0;
    // Templates are filled in when the rules are done.
    for is_template in [false, true] {
        let rules = own().filter(|it| !it.name.is_terminal());
        for rule in rules.filter(|it| it.parameters.is_empty() != is_template) {
            let Some(body) = rule.body else {
                continue;
            };
            for pattern in patterns(tree, body, budget)? {
                if is_named(&pattern) || found.contains_key(&pattern) {
                    continue;
                }
                let name = indicative(&pattern).filter(|name| !taken.contains(name));
                let name = name.unwrap_or_else(|| {
                    anonymous += 1;
                    format!("__ANON_{}", anonymous - 1)
                });
                taken.insert(name.clone());
                found.insert(pattern, name);
            }
        }
    }
    Ok(found)
}

/// What a rule says without a name, in the order in which Lark comes to it: what is deeper inside
/// of its tree first.
fn patterns(tree: &Tree, body: NodeId, budget: &mut Budget) -> Result<Vec<Pattern>, Error> {
    let mut found: Vec<(u64, Pattern)> = Vec::new();
    let mut todo = vec![(body, 0)];
    while let Some((node, depth)) = todo.pop() {
        budget.tick()?;
        let depth = depth + tree.levels.get(&node).copied().unwrap_or(0);
        if let Some(pattern) = pattern(tree, node) {
            found.push((depth, pattern));
        }
        let below = match &tree.nodes[node] {
            Node::Repeat(..) => 1,
            Node::Template(..) => 2,
            _ => 0,
        };
        todo.extend(tree.parts(node).iter().rev().map(|&part| (part, depth + below)));
    }
    found.sort_by_key(|&(depth, _)| Reverse(depth));
    Ok(found.into_iter().map(|(_, pattern)| pattern).collect())
}

/// The name that a literal's text gives it.
fn indicative(pattern: &Pattern) -> Option<String> {
    let Pattern::Literal(text, _) = pattern else {
        return None;
    };
    if let Some((_, name)) = NAMED.iter().find(|(known, _)| **known == **text) {
        return Some((*name).to_owned());
    }
    let mut letters = text.chars();
    let is_start = letters.next().is_some_and(|first| first == '_' || first.is_alphabetic());
    let is_word = is_start && letters.all(|letter| letter == '_' || letter.is_alphanumeric());
    is_word.then(|| text.to_uppercase())
}
