//! Turns a grammar text into a tree.
//!
//! Open parentheses are a stack of our own, so that nesting costs no stack of the thread.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{Error, Location};
use crate::frontend::ebnf::text::{Text, name_at};
use crate::frontend::ebnf::tree::{NamedRule, Node, NodeId, Tree};
use crate::grammar::{CharSet, Mark, Spelling, UNBOUNDED};
use crate::limits::Budget;

/// Reads one grammar text.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) budget: &'a mut Budget,
    pub(crate) tree: Tree,
    rules: HashMap<Cow<'a, str>, usize>,
}

/// A rule's body or a parenthesis that is not closed yet.
#[derive(Debug, Default)]
struct Group {
    begin: usize,
    /// Whether it is a look-ahead, `(= …)`.
    is_ahead: bool,
    alternatives: Vec<NodeId>,
    conjuncts: Vec<NodeId>,
    parts: Vec<NodeId>,
    /// Where the `~`s before the next part are.
    negations: Vec<usize>,
    /// The `&` or `-` before `parts`, and where it is.
    operator: Option<(u8, usize)>,
}

/// In the notation of the W3C `-` binds tighter than a sequence, here looser: both agree about two
/// items alone.
const ONE_ITEM: &str = "`-` stands between two items: put parentheses around more";

impl Group {
    fn is_one_item(&self) -> bool {
        self.parts.len() == 1 && self.operator.is_none()
    }
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: Text<'a>, budget: &'a mut Budget) -> Self {
        Self { text, budget, tree: Tree::default(), rules: HashMap::new() }
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
        self.text.skip_number();
        let offset = self.text.at;
        let options = self.text.rule_options();
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
        let wishes = match options {
            Some(written) => self.read_options(rule, written)?,
            None => Vec::new(),
        };
        self.text.skip_blanks();
        self.text.take("::=");
        let body = self.body()?;
        let body = self.with_options(body, &wishes, offset);
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
                self.text.peek().is_none() || (self.text.is_line_start && self.text.begins_rule());
            let next = self.text.peek();
            if let Some(sign) = next.filter(|sign| self.text.is_foreign(*sign)) {
                let message = format!("the notation of the W3C has no `{}`", char::from(sign));
                return Err(Error::syntax(message, offset));
            }
            let item = match next {
                _ if is_end && depth > 1 => {
                    return Err(Error::syntax("this `(` is not closed", group.begin));
                }
                _ if is_end => return self.close(group),
                None => unreachable!("the end of the text is an end"),
                Some(b'(') => {
                    self.text.take("(");
                    let is_ahead = !self.text.is_w3c() && self.text.take("=");
                    open.push(Group { begin: offset, is_ahead, ..Group::default() });
                    continue;
                }
                Some(b')') if depth == 1 => {
                    return Err(Error::syntax("this `)` closes nothing", offset));
                }
                Some(b')') => {
                    self.text.take(")");
                    let (begin, is_ahead) = (group.begin, group.is_ahead);
                    let inside = self.close(group)?;
                    open.pop();
                    if is_ahead { self.tree.add(Node::Ahead(inside), begin) } else { inside }
                }
                Some(b'|') => {
                    self.text.take("|");
                    self.end_alternative(group)?;
                    continue;
                }
                Some(b'-') if self.text.is_w3c() && !group.is_one_item() => {
                    return Err(Error::syntax(ONE_ITEM, offset));
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
                self.text.take("!");
                let token = self.angle_token()?;
                Node::Token(format!("!{token}").into())
            }
            Some(b'#') => self.hex_character()?,
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
            let hint = self.text.comment_hint();
            return Err(Error::syntax(format!("unexpected `{found}`{hint}"), offset));
        }
        if self.text.defined_name().is_some() {
            let message = format!("the rule `{name}` must begin on a line of its own");
            return Err(Error::syntax(message, offset));
        }
        self.text.at += name.len();
        self.text.is_line_start = false;
        if self.text.peek() == Some(b'(')
            && let Some(node) = self.macro_call(name, offset)?
        {
            return Ok(node);
        }
        Ok(Node::Call(self.rule_id(name, offset)?))
    }

    /// `%name` and what belongs to it.
    fn extension(&mut self) -> Result<Node, Error> {
        let offset = self.text.at;
        let name = name_at(&self.text.rest()[1..]);
        let after = self.text.rest().as_bytes().get(1 + name.len()).copied();
        self.text.at += 1 + name.len();
        match (name, after) {
            (
                "json" | "canonical" | "ascii" | "canonical_ascii" | "single_quoted"
                | "double_quoted",
                Some(b'['),
            ) => {
                let spelling = match name {
                    "json" => Spelling::Json,
                    "canonical" => Spelling::JsonCanonical,
                    "ascii" => Spelling::JsonAscii,
                    "single_quoted" => Spelling::SingleQuoted,
                    "double_quoted" => Spelling::DoubleQuoted,
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

    /// `#x41`, a character of the W3C's notation.
    fn hex_character(&mut self) -> Result<Node, Error> {
        let c = self.text.hex_character()?;
        Ok(Node::Literal(c.to_string().into_bytes().into()))
    }

    /// llama.cpp's `<think>`: a token by its text, which has the angle brackets.
    fn angle_token(&mut self) -> Result<Box<str>, Error> {
        let offset = self.text.at;
        let rest = self.text.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        if let Some(inside) = line.strip_prefix("<[") {
            let numbers = inside.split_once("]>").map_or("", |(numbers, _)| numbers);
            if !is_list_of_numbers(numbers) {
                let message = "tokens by number are written `<[42]>`, `<[1-5,7]>` or `<[^42]>`";
                return Err(Error::syntax(message, offset));
            }
            self.text.at += numbers.len() + 4;
            self.text.is_line_start = false;
            return Ok(format!("<[{numbers}]>").into());
        }
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
                Some(b'{') if !self.text.is_w3c() => self.counts()?,
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
        self.text.skip_blanks();
        // `{2,-1}` is how xgrammar prints `{2,}`.
        let max = if is_range && self.text.take("-1") {
            None
        } else if is_range {
            self.count()?
        } else {
            min
        };
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

    /// The rule of this name, called or defined at `offset`.
    pub(crate) fn rule_id(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        offset: usize,
    ) -> Result<usize, Error> {
        let name = name.into();
        if let Some(&id) = self.rules.get(&name) {
            return Ok(id);
        }
        let id = self.tree.rules.len();
        if id >= self.budget.limits.rules {
            return Err(Error::limit("rules", self.budget.limits.rules));
        }
        self.tree.rules.push(NamedRule {
            name: (*name).into(),
            body: None,
            mark: Mark::default(),
            offset,
        });
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
        if self.text.is_w3c() && group.parts.len() > 1 {
            return Err(Error::syntax(ONE_ITEM, group.operator.map_or(group.begin, |(_, at)| at)));
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

/// `42`, `1-5,7`, `^42` or `*`.
fn is_list_of_numbers(text: &str) -> bool {
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_range = |range: &str| match range.split_once('-') {
        Some((low, high)) => is_number(low) && is_number(high),
        None => is_number(range),
    };
    text == "*" || text.strip_prefix('^').unwrap_or(text).split(',').all(is_range)
}
