//! Prints expressions as EBNF that the `ebnf` front end reads back.

use std::fmt::Write;

use crate::grammar::RuleSet;
use crate::grammar::arena::Exprs;
use crate::grammar::expr::{Expr, ExprId, RuleId, Spelling, UNBOUNDED};

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

    fn write(&self, out: &mut String, id: ExprId, level: Level, name: &dyn Fn(RuleId) -> String) {
        let expr = self.get(id);
        let own = match expr {
            Expr::Choice(_) => Level::Choice,
            Expr::And(_) | Expr::Not(_) => Level::And,
            Expr::Seq(..) => Level::Seq,
            _ => Level::Atom,
        };
        if own < level {
            out.push('(');
        }
        match expr {
            Expr::Nothing => out.push_str("[]"),
            Expr::Empty => out.push_str("\"\""),
            Expr::Bytes { literal, from } => {
                write_literal(out, &self.literal(literal)[from as usize..]);
            }
            Expr::OneOf { literals, low, high, depth } => {
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
            Expr::Bytes1(set) => {
                out.push_str("%bytes[");
                let set = self.byte_set_of(set);
                let mut bytes = set.iter().peekable();
                while let Some(first) = bytes.next() {
                    let mut last = first;
                    while let Some(next) = bytes.next_if(|&next| next == last.wrapping_add(1)) {
                        last = next;
                    }
                    let _ = write!(out, "\\x{first:02X}");
                    if last != first {
                        let _ = write!(out, "-\\x{last:02X}");
                    }
                }
                out.push(']');
            }
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
            Expr::Token(token) => {
                let _ = write!(out, "%token({:?})", self.token_name(token));
            }
            Expr::Seq(first, rest) => {
                self.write(out, first, Level::Atom, name);
                let mut at = rest;
                while let Expr::Seq(next, after) = self.get(at) {
                    out.push(' ');
                    self.write(out, next, Level::Atom, name);
                    at = after;
                }
                out.push(' ');
                self.write(out, at, Level::Atom, name);
            }
            Expr::Choice(list) => {
                for (place, &member) in self.list(list).iter().enumerate() {
                    if place > 0 {
                        out.push_str(" | ");
                    }
                    self.write(out, member, Level::And, name);
                }
            }
            Expr::And(list) => {
                for (place, &member) in self.list(list).iter().enumerate() {
                    if place > 0 {
                        out.push_str(" & ");
                    }
                    self.write(out, member, Level::Seq, name);
                }
            }
            Expr::Not(body) => {
                out.push('~');
                self.write(out, body, Level::Atom, name);
            }
            Expr::Repeat { body, min, max } => {
                self.write(out, body, Level::Atom, name);
                match (min, max) {
                    (0, UNBOUNDED) => out.push('*'),
                    (1, UNBOUNDED) => out.push('+'),
                    (0, 1) => out.push('?'),
                    (min, UNBOUNDED) => {
                        let _ = write!(out, "{{{min},}}");
                    }
                    (min, max) if min == max => {
                        let _ = write!(out, "{{{min}}}");
                    }
                    (min, max) => {
                        let _ = write!(out, "{{{min},{max}}}");
                    }
                }
            }
            Expr::Call(rule) => out.push_str(&name(rule)),
            Expr::Names { state, low, high, depth, other } => {
                let others = if other { " or any other" } else { "" };
                let _ = write!(out, "%names({state}: {low}..{high} from {depth}{others})");
            }
        }
        if own < level {
            out.push(')');
        }
    }
}

impl std::fmt::Display for RuleSet {
    /// One rule a line, the start rule first.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |rule: RuleId| self.rules[rule.0 as usize].0.clone();
        let start = self.start.0 as usize;
        let others = (0..self.rules.len()).filter(|&place| place != start);
        for place in std::iter::once(start).chain(others) {
            let (rule, body) = &self.rules[place];
            writeln!(f, "{rule} ::= {}", self.exprs.show_with(*body, &name))?;
        }
        Ok(())
    }
}

fn spelling_prefix(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::Text => "",
        Spelling::Json => "%json",
        Spelling::JsonCanonical => "%canonical",
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
