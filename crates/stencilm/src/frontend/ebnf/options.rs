//! Options of a rule, xgrammar's: `name[lazy, max_chars=5] ::= …`.
//!
//! They say something about the text of the rule alone, so that they are exact where that is
//! regular. Those that say something else (how to sample, what to keep) are refused.

use crate::error::Error;
use crate::frontend::ebnf::parser::{Parser, unsupported};
use crate::frontend::ebnf::tree::{Node, NodeId};
use crate::grammar::{CharSet, Spelling, UNBOUNDED};

/// What an option asks of the texts of its rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    /// None of them goes on after it could have ended.
    Lazy,
    /// They have no more characters.
    MaxChars(u32),
}

impl Parser<'_> {
    /// Reads what stands between the brackets, `[` of which comes next, and goes past them.
    pub(crate) fn read_options(&mut self, written: &str) -> Result<Vec<Wish>, Error> {
        let mut wishes = Vec::new();
        self.text.at += 1;
        let begin = self.text.at;
        let mut offset = begin;
        for option in written.split(',') {
            self.budget.tick()?;
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match (name.trim(), value.trim()) {
                ("lazy", "") => wishes.push(Wish::Lazy),
                ("max_chars", digits) => {
                    let most = digits.parse().ok().filter(|&most: &u32| most < UNBOUNDED);
                    let Some(most) = most else {
                        return Err(Error::syntax("`max_chars` needs a number", offset));
                    };
                    wishes.push(Wish::MaxChars(most));
                }
                (name @ ("max_tokens" | "temperature" | "capture"), _) => {
                    return Err(unsupported(format!("the rule option `{name}`"), offset));
                }
                (name, _) => {
                    let message = format!(
                        "there is no rule option `{name}`; there are `lazy` and `max_chars=N`"
                    );
                    return Err(Error::syntax(message, offset));
                }
            }
            offset += option.len() + 1;
        }
        self.text.at = begin + written.len() + 1;
        Ok(wishes)
    }

    /// The body of a rule with these options, which begins at `offset`.
    pub(crate) fn with_options(&mut self, body: NodeId, wishes: &[Wish], offset: usize) -> NodeId {
        let mut conditions = vec![body];
        for wish in wishes {
            let any = Node::Chars(Box::new(CharSet::any()), Spelling::Text);
            let any = self.tree.add(any, offset);
            match *wish {
                Wish::Lazy => {
                    let more = self.tree.add(Node::Repeat(any, 1, UNBOUNDED), offset);
                    let longer = self.tree.add(Node::Seq([body, more].into()), offset);
                    conditions.push(self.tree.add(Node::Not(longer), offset));
                }
                Wish::MaxChars(most) => {
                    conditions.push(self.tree.add(Node::Repeat(any, 0, most), offset));
                }
            }
        }
        match conditions[..] {
            [only] => only,
            _ => self.tree.add(Node::And(conditions.into()), offset),
        }
    }
}
