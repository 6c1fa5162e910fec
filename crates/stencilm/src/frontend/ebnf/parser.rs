//! Turns a grammar text into a tree.
//!
//! Open parentheses are a stack of our own, so that nesting costs no stack of the thread.

use std::collections::HashMap;

use crate::error::{Error, Location};
use crate::frontend::ebnf::text::{Text, name_at};
use crate::frontend::ebnf::tree::{NamedRule, Node, NodeId, Tree};
use crate::grammar::{CharSet, Spelling, UNBOUNDED};
use crate::limits::Budget;

/// xgrammar's macros, which look like calls.
const MACROS: &[&str] =
    &["TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken", "Regex", "Substring"];

/// Reads one grammar text.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    text: Text<'a>,
    budget: &'a mut Budget,
    tree: Tree,
    rules: HashMap<&'a str, usize>,
}

/// A rule's body or a parenthesis that is not closed yet.
#[derive(Debug, Default)]
struct Group {
    begin: usize,
    alternatives: Vec<NodeId>,
    conjuncts: Vec<NodeId>,
    parts: Vec<NodeId>,
    /// Where the `~`s before the next part are.
    negations: Vec<usize>,
    /// The `&` or `-` before `parts`, and where it is.
    operator: Option<(u8, usize)>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, budget: &'a mut Budget) -> Self {
        Self { text: Text::new(text), budget, tree: Tree::default(), rules: HashMap::new() }
    }

    /// Reads every rule.
    pub(crate) fn run(mut self) -> Result<Tree, Error> {
        self.text.skip_blanks();
        while self.text.peek().is_some() {
            self.rule()?;
        }
        Ok(self.tree)
    }

    fn rule(&mut self) -> Result<(), Error> {
        let offset = self.text.at;
        self.refuse_rule_options()?;
        let Some(name) = self.text.defined_name() else {
            let name = self.text.name();
            let expected = if name.is_empty() {
                "a rule begins here: `name ::= …`".to_owned()
            } else {
                format!("`::=` must follow the name `{name}` of a rule")
            };
            return Err(Error::syntax(expected, offset + name.len()));
        };
        let rule = self.rule_id(name, offset)?;
        if self.tree.rules[rule].body.is_some() {
            return Err(Error::syntax(format!("the rule `{name}` is defined twice"), offset));
        }
        self.text.at += name.len();
        self.text.skip_blanks();
        self.text.take("::=");
        let body = self.body()?;
        self.tree.rules[rule].body = Some(body);
        self.tree.rules[rule].offset = offset;
        Ok(())
    }

    /// A rule's body, up to the next rule or the end.
    fn body(&mut self) -> Result<NodeId, Error> {
        let mut open = vec![Group { begin: self.text.at, ..Group::default() }];
        loop {
            self.budget.tick()?;
            self.text.skip_blanks();
            let offset = self.text.at;
            let depth = open.len();
            let Some(group) = open.last_mut() else {
                unreachable!("the body's own group closes last, and ends the loop");
            };
            let is_end =
                self.text.peek().is_none() || (self.text.is_line_start && self.begins_rule()?);
            let item = match self.text.peek() {
                _ if is_end && depth > 1 => {
                    return Err(Error::syntax("this `(` is not closed", group.begin));
                }
                _ if is_end => return self.close(group),
                None => unreachable!("the end of the text is an end"),
                Some(b'(') => {
                    if self.text.rest().starts_with("(=") {
                        return Err(unsupported("look-ahead `(= …)`", offset));
                    }
                    self.text.take("(");
                    open.push(Group { begin: offset, ..Group::default() });
                    continue;
                }
                Some(b')') if depth == 1 => {
                    return Err(Error::syntax("this `)` closes nothing", offset));
                }
                Some(b')') => {
                    self.text.take(")");
                    let inside = self.close(group)?;
                    open.pop();
                    inside
                }
                Some(b'|') => {
                    self.text.take("|");
                    self.end_alternative(group)?;
                    continue;
                }
                Some(operator @ (b'&' | b'-')) => {
                    self.text.at += 1;
                    self.text.is_line_start = false;
                    self.end_conjunct(group, Some((operator, offset)))?;
                    group.operator = Some((operator, offset));
                    continue;
                }
                Some(b'~') => {
                    self.text.take("~");
                    group.negations.push(offset);
                    continue;
                }
                Some(_) => self.element()?,
            };
            let repeated = self.repeats(item, offset)?;
            let Some(group) = open.last_mut() else {
                unreachable!("only a group inside another one was closed");
            };
            let mut part = repeated;
            while let Some(at) = group.negations.pop() {
                part = self.tree.add(Node::Not(part), at);
            }
            group.parts.push(part);
        }
    }

    /// A literal, a class, a rule or one of the extensions.
    fn element(&mut self) -> Result<NodeId, Error> {
        let offset = self.text.at;
        let node = match self.text.peek() {
            Some(b'"' | b'\'') => Node::Literal(self.text.literal(false)?),
            Some(b'[') => Node::Chars(Box::new(self.text.class()?), Spelling::Text),
            Some(b'.') => {
                self.text.take(".");
                Node::Chars(Box::new(CharSet::any()), Spelling::Text)
            }
            Some(b'%') => self.extension()?,
            Some(b'<') => Node::Token(self.angle_token()?),
            Some(b'!') if self.text.rest().starts_with("!<") => {
                return Err(unsupported("any token but one, `!<…>`,", offset));
            }
            Some(b'*' | b'+' | b'?' | b'{') => {
                return Err(Error::syntax("nothing comes before this repetition", offset));
            }
            _ => self.call()?,
        };
        Ok(self.tree.add(node, offset))
    }

    fn call(&mut self) -> Result<Node, Error> {
        let offset = self.text.at;
        let name = self.text.name();
        if name.is_empty() {
            let found = self.text.peek_char().unwrap_or(' ');
            let hint = if self.text.rest().starts_with("//") || self.text.rest().starts_with("/*") {
                "; a comment begins with `#`"
            } else {
                ""
            };
            return Err(Error::syntax(format!("unexpected `{found}`{hint}"), offset));
        }
        if self.text.defined_name().is_some() {
            let message = format!("the rule `{name}` must begin on a line of its own");
            return Err(Error::syntax(message, offset));
        }
        let id = self.rule_id(name, offset)?;
        self.text.at += name.len();
        self.text.is_line_start = false;
        if MACROS.contains(&name) && self.text.peek() == Some(b'(') {
            return Err(unsupported(format!("the macro `{name}`"), offset));
        }
        Ok(Node::Call(id))
    }

    /// `%name` and what belongs to it.
    fn extension(&mut self) -> Result<Node, Error> {
        let offset = self.text.at;
        let name = name_at(&self.text.rest()[1..]);
        let after = self.text.rest().as_bytes().get(1 + name.len()).copied();
        self.text.at += 1 + name.len();
        match (name, after) {
            ("json" | "canonical" | "ascii" | "canonical_ascii", Some(b'[')) => {
                let spelling = match name {
                    "json" => Spelling::Json,
                    "canonical" => Spelling::JsonCanonical,
                    "ascii" => Spelling::JsonAscii,
                    _ => Spelling::JsonAsciiCanonical,
                };
                Ok(Node::Chars(Box::new(self.text.class()?), spelling))
            }
            ("bytes", Some(b'[')) => Ok(Node::Bytes(Box::new(self.text.byte_class()?))),
            ("raw", Some(b'"' | b'\'')) => Ok(Node::Literal(self.text.literal(true)?)),
            ("token", Some(b'(')) => {
                self.text.at += 1;
                self.text.skip_blanks();
                if !matches!(self.text.peek(), Some(b'"' | b'\'')) {
                    let message = "`%token` needs the token's text in quotes";
                    return Err(Error::syntax(message, self.text.at));
                }
                let bytes = self.text.literal(false)?;
                self.text.skip_blanks();
                if !self.text.take(")") {
                    return Err(Error::syntax("`)` must end this `%token(`", self.text.at));
                }
                Ok(Node::Token(String::from_utf8_lossy(&bytes).into()))
            }
            _ => Err(Error::syntax(
                "`%` begins `%token(\"…\")`, `%bytes[…]`, `%raw\"…\"`, `%json[…]` or `%canonical[…]`",
                offset,
            )),
        }
    }

    /// llama.cpp's `<think>`: a token by its text, which has the angle brackets.
    fn angle_token(&mut self) -> Result<Box<str>, Error> {
        let offset = self.text.at;
        let rest = self.text.rest();
        if rest.starts_with("<[") {
            return Err(unsupported("a token by its number, `<[…]>`,", offset));
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let Some(end) = line.find('>').filter(|&end| end > 1) else {
            return Err(Error::syntax("this `<` begins no `<token>`", offset));
        };
        self.text.at += end + 1;
        self.text.is_line_start = false;
        Ok(rest[..=end].into())
    }

    /// The repetitions after a part.
    fn repeats(&mut self, item: NodeId, offset: usize) -> Result<NodeId, Error> {
        let mut item = item;
        loop {
            self.budget.tick()?;
            self.text.skip_blanks();
            let (min, max) = match self.text.peek() {
                Some(b'*') => (0, UNBOUNDED),
                Some(b'+') => (1, UNBOUNDED),
                Some(b'?') => (0, 1),
                Some(b'{') => self.counts()?,
                _ => return Ok(item),
            };
            self.text.at += 1;
            self.text.is_line_start = false;
            item = self.tree.add(Node::Repeat(item, min, max), offset);
        }
    }

    /// `{n}`, `{n,}`, `{,m}` or `{n,m}`, up to the `}`.
    fn counts(&mut self) -> Result<(u32, u32), Error> {
        let begin = self.text.at;
        self.text.take("{");
        let min = self.count()?;
        self.text.skip_blanks();
        let is_range = self.text.take(",");
        let max = if is_range { self.count()? } else { min };
        self.text.skip_blanks();
        if self.text.peek() != Some(b'}') || (min.is_none() && max.is_none()) {
            let message = "a repetition is `{n}`, `{n,}`, `{,m}` or `{n,m}`";
            return Err(Error::syntax(message, begin));
        }
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(UNBOUNDED));
        if min > max {
            let message = format!("`{{{min},{max}}}` is empty: at least {min} and at most {max}");
            return Err(Error::syntax(message, begin));
        }
        Ok((min, max))
    }

    fn count(&mut self) -> Result<Option<u32>, Error> {
        self.text.skip_blanks();
        let begin = self.text.at;
        let rest = self.text.rest();
        let digits = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 {
            return Ok(None);
        }
        self.text.at += digits;
        let allowed = self.budget.limits.repeat;
        let value = rest[..digits].parse().ok().filter(|&count: &u32| count < UNBOUNDED);
        match value.filter(|&count| usize::try_from(count).is_ok_and(|count| count <= allowed)) {
            Some(count) => Ok(Some(count)),
            None => Err(Error::limit("repeat", allowed).moved_to(Location::Offset(begin))),
        }
    }

    /// Whether a definition begins here.
    fn begins_rule(&self) -> Result<bool, Error> {
        self.refuse_rule_options()?;
        Ok(self.text.defined_name().is_some())
    }

    fn refuse_rule_options(&self) -> Result<(), Error> {
        match self.text.rule_options() {
            Some(options) => {
                Err(unsupported(format!("the rule options `[{options}]`"), self.text.at))
            }
            None => Ok(()),
        }
    }

    fn rule_id(&mut self, name: &'a str, offset: usize) -> Result<usize, Error> {
        if let Some(&id) = self.rules.get(name) {
            return Ok(id);
        }
        let id = self.tree.rules.len();
        if id >= self.budget.limits.rules {
            return Err(Error::limit("rules", self.budget.limits.rules));
        }
        self.tree.rules.push(NamedRule { name: name.into(), body: None, offset });
        self.rules.insert(name, id);
        Ok(id)
    }

    /// Ends a group; what it is made of.
    fn close(&mut self, group: &mut Group) -> Result<NodeId, Error> {
        self.end_alternative(group)?;
        let alternatives = std::mem::take(&mut group.alternatives);
        Ok(self.one_or(alternatives, Node::Choice, group.begin))
    }

    fn end_alternative(&mut self, group: &mut Group) -> Result<(), Error> {
        if group.operator.is_some() {
            self.end_conjunct(group, group.operator)?;
            let conjuncts = std::mem::take(&mut group.conjuncts);
            let begin = self.tree.offsets[conjuncts[0]];
            let node = self.tree.add(Node::And(conjuncts.into()), begin);
            group.alternatives.push(node);
            group.operator = None;
        } else {
            let node = self.sequence(group)?;
            group.alternatives.push(node);
        }
        Ok(())
    }

    /// Ends an operand of `&` or `-`; `needed_by` is the operator at its end, else the one before.
    fn end_conjunct(
        &mut self,
        group: &mut Group,
        needed_by: Option<(u8, usize)>,
    ) -> Result<(), Error> {
        if let (true, Some((operator, at))) =
            (group.parts.is_empty() && group.negations.is_empty(), group.operator.or(needed_by))
        {
            let message = format!("`{}` needs something on both sides", char::from(operator));
            return Err(Error::syntax(message, at));
        }
        let mut operand = self.sequence(group)?;
        if let Some((b'-', at)) = group.operator {
            operand = self.tree.add(Node::Not(operand), at);
        }
        group.conjuncts.push(operand);
        Ok(())
    }

    fn sequence(&mut self, group: &mut Group) -> Result<NodeId, Error> {
        if let Some(&at) = group.negations.last() {
            return Err(Error::syntax("`~` needs something after it", at));
        }
        let parts = std::mem::take(&mut group.parts);
        if parts.is_empty() {
            return Ok(self.tree.add(Node::Literal(Box::default()), group.begin));
        }
        let begin = self.tree.offsets[parts[0]];
        Ok(self.one_or(parts, Node::Seq, begin))
    }

    fn one_or(
        &mut self,
        parts: Vec<NodeId>,
        wrap: fn(Box<[NodeId]>) -> Node,
        offset: usize,
    ) -> NodeId {
        match parts[..] {
            [one] => one,
            _ => self.tree.add(wrap(parts.into()), offset),
        }
    }
}

fn unsupported(feature: impl Into<String>, offset: usize) -> Error {
    Error::unsupported(feature, Location::Offset(offset))
}
