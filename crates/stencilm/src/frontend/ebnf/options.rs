//! Options of a rule, xgrammar's: `name[lazy, max_chars=5] ::= …`.
//!
//! `lazy` and `max_chars` say something about the texts of the rule, so that they are exact where those are
//! regular. The others are [marks](Mark): they change no text of the grammar.

use crate::error::Error;
use crate::frontend::ebnf::parser::Parser;
use crate::frontend::ebnf::tree::{NamedRule, Node, NodeId};
use crate::frontend::marks;
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
    pub(crate) fn read_options(&mut self, rule: usize, written: &str) -> Result<Vec<Wish>, Error> {
        let mut wishes = Vec::new();
        self.text.at += 1;
        let begin = self.text.at;
        let mut offset = begin;
        let mut names: Vec<&str> = Vec::new();
        for option in written.split(',') {
            self.budget.tick()?;
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let (name, value) = (name.trim(), value.trim());
            if names.contains(&name) {
                return Err(Error::syntax(format!("the option `{name}` comes twice"), offset));
            }
            names.push(name);
            let NamedRule { name: rule_name, mark, .. } = &mut self.tree.rules[rule];
            match name {
                "lazy" if value.is_empty() => wishes.push(Wish::Lazy),
                "max_chars" => wishes.push(Wish::MaxChars(number(name, value, offset)?)),
                "max_tokens" => {
                    let most = number(name, value, offset)?;
                    mark.max_tokens = Some(marks::max_tokens(most, offset)?);
                }
                "temperature" => {
                    mark.temperature = Some(marks::temperature(value, offset)?);
                }
                "capture" if !option.contains('=') => {
                    mark.capture = Some((**rule_name).into());
                }
                "capture" => {
                    let quoted = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                    mark.capture = Some(marks::capture(quoted.unwrap_or_default(), offset)?);
                }
                _ => {
                    let message = format!(
                        "there is no rule option `{option}`; there are `lazy`, `max_chars=N`, \
                         `max_tokens=N`, `capture`, `capture=\"name\"` and `temperature=N`"
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

fn number(name: &str, value: &str, offset: usize) -> Result<u32, Error> {
    let number = value.parse().ok().filter(|&most: &u32| most < UNBOUNDED);
    number.ok_or_else(|| Error::syntax(format!("`{name}` needs a number"), offset))
}
