//! Prints the rules that a grammar's start needs, as a person would write them down.

use std::collections::VecDeque;
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::grammar::arena::Exprs;
use crate::grammar::expr::{Expr, ExprId, RuleId};
use crate::grammar::{Grammar, Mark};

impl Grammar {
    /// The start rule and the rules that it needs, breadth first, at most `most` of them, as EBNF.
    ///
    /// # Errors
    /// A limit was reached while bodies were made.
    pub fn show(&self, most: usize) -> Result<String, Error> {
        let mut exprs = Exprs::default();
        let mut out = String::new();
        let mut seen: FxHashSet<RuleId> = FxHashSet::default();
        let mut todo = VecDeque::from([self.start]);
        seen.insert(self.start);
        let marks: FxHashMap<RuleId, Mark> = self.rules.marks().into_iter().collect();
        let mut shown = 0;
        while let Some(rule) = todo.pop_front() {
            if shown == most {
                let _ = writeln!(out, "# … and more: {} rules are not shown", todo.len() + 1);
                break;
            }
            shown += 1;
            let body = self.rules.body(rule, &mut exprs)?;
            let name = |rule| self.rules.name(rule);
            let options = marks.get(&rule).map(ToString::to_string).unwrap_or_default();
            let shown_body = exprs.show_with(body, &name);
            let _ = writeln!(out, "{}{options} ::= {shown_body}", name(rule));
            for callee in self.callees(&mut exprs, body)? {
                if seen.insert(callee) {
                    todo.push_back(callee);
                }
            }
        }
        if self.rules.accepts_empty() {
            let _ = writeln!(out, "# the empty text matches, too");
        }
        Ok(out)
    }

    /// The rules called anywhere in `id`, member values included.
    fn callees(&self, exprs: &mut Exprs, id: ExprId) -> Result<Vec<RuleId>, Error> {
        let mut callees = Vec::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut todo = vec![id];
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            match exprs.get(at) {
                Expr::Call(rule) => callees.push(rule),
                Expr::Names { state, low, high, other, .. } => {
                    let mut from = low;
                    while let Some(name) = self.rules.next_name(state, from, high)? {
                        todo.push(self.rules.after_name(state, name, exprs)?);
                        from = name + 1;
                    }
                    if other {
                        todo.push(self.rules.after_other_name(state, exprs)?);
                    }
                }
                _ => todo.extend(exprs.parts(at)),
            }
        }
        Ok(callees)
    }
}
