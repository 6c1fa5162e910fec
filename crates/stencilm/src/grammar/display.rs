//! Prints expressions as EBNF that the `ebnf` front end reads back.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::arena::Exprs;
use crate::grammar::byte_set::ByteSet;
use crate::grammar::expr::{Expr, ExprId, RuleId, Spelling, UNBOUNDED};
use crate::grammar::{Mark, RuleSet};
use crate::interner::index;

/// How tightly the printed text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    And,
    Seq,
    Atom,
}

impl Exprs {
    /// The expression as EBNF; rules print as `rule_7`.
    #[must_use]
    pub fn show(&self, id: ExprId) -> String {
        self.show_with(id, &|rule| format!("rule_{}", rule.0))
    }

    /// The expression as EBNF, with these names for rules.
    #[must_use]
    pub fn show_with(&self, id: ExprId, name: &dyn Fn(RuleId) -> String) -> String {
        let mut out = String::new();
        self.write(&mut out, id, Level::Choice, name);
        out
    }

    /// Expressions may nest deeper than the thread's stack: what is still to be printed is a stack
    /// of our own.
    fn write(&self, out: &mut String, id: ExprId, level: Level, name: &dyn Fn(RuleId) -> String) {
        let mut todo = vec![Piece::Expr(id, level)];
        // The texts of members, innermost last.
        let mut texts = vec![String::new()];
        while let Some(piece) = todo.pop() {
            let Some(text) = texts.last_mut() else {
                unreachable!("only members' own texts are taken off");
            };
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Counts(min, max) => write_counts(text, min, max),
                Piece::Begin => texts.push(String::new()),
                Piece::Join(count, between) => {
                    let mut members = texts.split_off(texts.len() - count);
                    members.sort_unstable();
                    if let Some(text) = texts.last_mut() {
                        text.push_str(&members.join(between));
                    }
                }
                Piece::Expr(id, level) => {
                    let own = match self.get(id) {
                        Expr::Choice(_) => Level::Choice,
                        Expr::And(_) | Expr::Not(_) => Level::And,
                        Expr::Seq(..) => Level::Seq,
                        _ => Level::Atom,
                    };
                    if own < level {
                        text.push('(');
                        todo.push(Piece::Text(")"));
                    }
                    self.write_expr(text, id, name, &mut todo);
                }
            }
        }
        out.extend(texts);
    }

    /// Writes the beginning of an expression; what follows it goes on top of `todo`.
    fn write_expr(
        &self,
        out: &mut String,
        id: ExprId,
        name: &dyn Fn(RuleId) -> String,
        todo: &mut Vec<Piece>,
    ) {
        match self.get(id) {
            Expr::Nothing => out.push_str("[]"),
            Expr::Empty => out.push_str("\"\""),
            Expr::Bytes { literal, from } => {
                write_literal(out, &self.literal(literal)[from as usize..]);
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                out.push_str(spelling_prefix(spelling));
                out.push('(');
                let run = &self.literal_ids(literals)[low as usize..high as usize];
                for (place, &literal) in run.iter().enumerate() {
                    if place > 0 {
                        out.push_str(" | ");
                    }
                    write_literal(out, &self.literal(literal)[depth as usize..]);
                }
                out.push(')');
            }
            Expr::Bytes1(set) => write_byte_set(out, &self.byte_set_of(set)),
            Expr::Chars { class, spelling } => {
                out.push_str(spelling_prefix(spelling));
                let _ = write!(out, "{}", self.class(class));
            }
            Expr::Partial { class, spelling, progress } => {
                let _ = write!(
                    out,
                    "%rest({}{}, {progress:?})",
                    spelling_prefix(spelling),
                    self.class(class)
                );
            }
            Expr::Number { set, state } => {
                let _ =
                    write!(out, "%number({}{})", self.number_set(set), self.number_state(state));
            }
            Expr::Token(token) => {
                out.push_str("%token(");
                write_literal(out, self.token_name(token).as_bytes());
                out.push(')');
            }
            Expr::Seq(..) => {
                for (place, part) in self.spine(id).into_iter().enumerate().rev() {
                    todo.push(Piece::Expr(part, Level::Atom));
                    if place > 0 {
                        todo.push(Piece::Text(" "));
                    }
                }
            }
            Expr::Choice(list) => push_members(todo, self.list(list), " | ", Level::And),
            Expr::And(list) => push_members(todo, self.list(list), " & ", Level::Seq),
            Expr::Not(body) => {
                out.push('~');
                todo.push(Piece::Expr(body, Level::Atom));
            }
            Expr::Repeat { body, min, max } => {
                todo.push(Piece::Counts(min, max));
                todo.push(Piece::Expr(body, Level::Atom));
            }
            Expr::Call(rule) => out.push_str(&name(rule)),
            Expr::OtherName(text) => {
                out.push_str("%name(");
                todo.push(Piece::Text(")"));
                todo.push(Piece::Expr(text, Level::Choice));
            }
            Expr::Names { state, low, high, depth, other } => {
                let others = if other { " or any other" } else { "" };
                let _ = write!(out, "%names({state}: {low}..{high} from {depth}{others})");
            }
        }
    }
}

/// What is still to be printed.
#[derive(Clone, Copy)]
enum Piece {
    Text(&'static str),
    Expr(ExprId, Level),
    Counts(u32, u32),
    /// A member begins.
    Begin,
    /// So many members are done: they are joined.
    Join(usize, &'static str),
}

/// Members are printed in the order of their texts: their ids depend on the arena.
fn push_members(todo: &mut Vec<Piece>, members: &[ExprId], between: &'static str, level: Level) {
    todo.push(Piece::Join(members.len(), between));
    for &member in members {
        todo.push(Piece::Expr(member, level));
        todo.push(Piece::Begin);
    }
}

fn write_counts(out: &mut String, min: u32, max: u32) {
    let _ = match (min, max) {
        (0, UNBOUNDED) => write!(out, "*"),
        (1, UNBOUNDED) => write!(out, "+"),
        (0, 1) => write!(out, "?"),
        (min, UNBOUNDED) => write!(out, "{{{min},}}"),
        (min, max) if min == max => write!(out, "{{{min}}}"),
        (min, max) => write!(out, "{{{min},{max}}}"),
    };
}

fn write_byte_set(out: &mut String, set: &ByteSet) {
    out.push_str("%bytes[");
    let mut bytes = set.iter().peekable();
    while let Some(first) = bytes.next() {
        let mut last = first;
        while let Some(next) = bytes.next_if(|&next| Some(next) == last.checked_add(1)) {
            last = next;
        }
        let _ = write!(out, "\\x{first:02X}");
        if last != first {
            let _ = write!(out, "-\\x{last:02X}");
        }
    }
    out.push(']');
}

impl std::fmt::Display for RuleSet {
    /// One rule a line, the start rule first.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_rules(f, &self.exprs, &self.rules, &self.marks, self.start)
    }
}

/// One rule a line, the start rule first.
pub(crate) fn write_rules(
    f: &mut std::fmt::Formatter<'_>,
    exprs: &Exprs,
    rules: &[(String, ExprId)],
    marks: &[(RuleId, Mark)],
    start: RuleId,
) -> std::fmt::Result {
    let marks: FxHashMap<RuleId, &Mark> = marks.iter().map(|(rule, mark)| (*rule, mark)).collect();
    let names = printed_names(rules.iter().map(|(name, _)| name.as_str()));
    let name = |rule: RuleId| match names.get(rule.0 as usize) {
        Some(name) => name.clone(),
        None => format!("part.{}", rule.0),
    };
    let start = start.0 as usize;
    let others = (0..rules.len()).filter(|&place| place != start);
    for place in std::iter::once(start).chain(others) {
        let options = marks.get(&RuleId(index(place))).map(ToString::to_string);
        let options = options.unwrap_or_default();
        let body = exprs.show_with(rules[place].1, &name);
        writeln!(f, "{}{options} ::= {body}", names[place])?;
    }
    Ok(())
}

/// The names as EBNF can have them: other characters become `_`, and no name comes twice.
fn printed_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let mut printed = Vec::new();
    for (place, name) in names.enumerate() {
        let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mut name: String = name.chars().map(|c| if is_known(c) { c } else { '_' }).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            name.insert(0, '_');
        }
        while !taken.insert(name.clone()) {
            let _ = write!(name, "_{place}");
        }
        printed.push(name);
    }
    printed
}

fn spelling_prefix(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::Text => "",
        Spelling::Json => "%json",
        Spelling::JsonCanonical => "%canonical",
        Spelling::JsonAscii => "%ascii",
        Spelling::JsonAsciiCanonical => "%canonical_ascii",
        Spelling::SingleQuoted => "%single_quoted",
        Spelling::DoubleQuoted => "%double_quoted",
    }
}

/// A literal in quotes; `\xNN` only for bytes that are no UTF-8 text.
fn write_literal(out: &mut String, bytes: &[u8]) {
    if std::str::from_utf8(bytes).is_err() {
        out.push_str("%raw");
    }
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => {
                    let _ = write!(out, "\\u{:04X}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out.push('"');
}
