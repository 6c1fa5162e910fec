//! Turns the bodies of rules and terminals into trees.
//!
//! Open brackets are a stack of our own, so that nesting costs no stack of the thread.

use crate::error::{Error, Location};
use crate::frontend::lark::literals::unescape;
use crate::frontend::lark::parser::{Parser, check_case, parse_tokens};
use crate::frontend::lark::text::{Token, TokenKind};
use crate::frontend::lark::tree::{Name, Node, NodeId, ScopeId};
use crate::grammar::UNBOUNDED;

/// How deep `%lark` nests.
const DEEPEST_INNER: usize = 30;

/// A rule's body or a bracket that is not closed yet.
#[derive(Debug, Default)]
struct Group {
    begin: usize,
    /// The bracket that closes it; 0 for a body.
    close: u8,
    alternatives: Vec<NodeId>,
    conjuncts: Vec<NodeId>,
    parts: Vec<NodeId>,
    /// Where the `~`s before the next part are.
    negations: Vec<usize>,
    /// Where the `&` before `parts` is.
    operator: Option<usize>,
}

impl Group {
    /// Whether nothing of it was read yet.
    fn is_new(&self) -> bool {
        self.alternatives.is_empty()
            && self.conjuncts.is_empty()
            && self.parts.is_empty()
            && self.negations.is_empty()
    }
}

impl Parser<'_> {
    /// A body, up to the next statement or the end.
    pub(crate) fn body(&mut self, is_numbered: bool) -> Result<NodeId, Error> {
        let mut open = vec![Group { begin: self.offset(), ..Group::default() }];
        loop {
            self.budget.tick()?;
            let offset = self.offset();
            let depth = open.len();
            let Some(group) = open.last_mut() else {
                unreachable!("the body's own group closes last, and ends the loop");
            };
            let is_end = self.peek() == TokenKind::End || self.begins_statement();
            if !is_end && depth == 1 && self.tokens[self.at].begins_line && !group.is_new() {
                self.goes_on()?;
            }
            let item = match self.peek() {
                _ if is_end && depth > 1 => {
                    let message =
                        format!("this `{}` is not closed", char::from(opened(group.close)));
                    return Err(Error::syntax(message, group.begin));
                }
                _ if is_end => return self.close(group),
                TokenKind::Mark(bracket @ (b'(' | b'[')) => {
                    self.next();
                    let close = if bracket == b'(' { b')' } else { b']' };
                    open.push(Group { begin: offset, close, ..Group::default() });
                    continue;
                }
                TokenKind::Mark(bracket @ (b')' | b']')) if group.close == bracket => {
                    self.next();
                    let inside = self.close(group)?;
                    open.pop();
                    self.tree.deepen(inside, 2);
                    if bracket == b']' {
                        self.tree.add(Node::Repeat(inside, 0, 1), offset)
                    } else {
                        inside
                    }
                }
                TokenKind::Mark(bracket @ (b')' | b']' | b'}')) => {
                    let message = match (depth, opened(group.close)) {
                        (1, _) => format!("this `{}` closes nothing", char::from(bracket)),
                        (_, at) => format!(
                            "`{}` is not what closes `{}`",
                            char::from(bracket),
                            char::from(at)
                        ),
                    };
                    return Err(Error::syntax(message, offset));
                }
                TokenKind::Mark(b'|') => {
                    self.next();
                    self.end_alternative(group)?;
                    continue;
                }
                TokenKind::Mark(b'&') => {
                    self.next();
                    self.end_conjunct(group, offset)?;
                    group.operator = Some(offset);
                    continue;
                }
                TokenKind::Mark(b'~') => {
                    self.next();
                    group.negations.push(offset);
                    continue;
                }
                TokenKind::Arrow => {
                    self.next();
                    if self.peek() != TokenKind::Name {
                        return Err(self.unexpected("the alias of this alternative"));
                    }
                    self.next();
                    if !self.ends_alternative() {
                        return Err(self.unexpected("`|` or the end of the rule, after an alias,"));
                    }
                    for &part in &group.parts {
                        self.tree.deepen(part, 1);
                    }
                    continue;
                }
                TokenKind::Directive if self.written() == "%if" => {
                    self.guard(group, depth == 1 && is_numbered)?;
                    continue;
                }
                _ => self.value()?,
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

    /// A line that goes on with the rule above it begins with `|`, or with `%if`.
    fn goes_on(&self) -> Result<(), Error> {
        let is_guard = self.peek() == TokenKind::Directive && self.written() == "%if";
        if is_guard || self.peek() == TokenKind::Mark(b'|') {
            return Ok(());
        }
        Err(self.unexpected("a line that begins with `|`, or `name: …`,"))
    }

    fn ends_alternative(&self) -> bool {
        matches!(self.peek(), TokenKind::End | TokenKind::Mark(b'|' | b')' | b']'))
            || self.begins_statement()
    }

    /// `%if` and its condition, at the end of an alternative.
    fn guard(&mut self, group: &mut Group, is_allowed: bool) -> Result<(), Error> {
        let offset = self.offset();
        if !is_allowed {
            let message = "`%if` stands at the end of an alternative of a rule with a number, \
                           `name::_: …`";
            return Err(Error::syntax(message, offset));
        }
        self.next();
        let condition = self.condition()?;
        if !self.ends_alternative() {
            return Err(self.unexpected("`|` or the end of the rule, after a condition,"));
        }
        let body = self.alternative(group)?;
        let guarded = self.tree.add(Node::If(body, Box::new(condition)), offset);
        group.parts.push(guarded);
        Ok(())
    }

    /// A value: whatever stands between operators.
    pub(crate) fn value(&mut self) -> Result<NodeId, Error> {
        let offset = self.offset();
        let node = match self.peek() {
            TokenKind::String => self.string()?,
            TokenKind::Pattern => self.pattern()?,
            TokenKind::Name => self.named()?,
            TokenKind::Angle => self.special()?,
            TokenKind::Directive => match self.next() {
                "%json" => {
                    let token = self.tokens[self.at];
                    self.next();
                    Node::Schema(token.at..token.end)
                }
                "%regex" => self.substring()?,
                "%lark" => Node::Inner(self.inner()?),
                other => {
                    let message = format!("`{other}` begins a line of its own");
                    return Err(Error::syntax(message, offset));
                }
            },
            TokenKind::Mark(b'@') => {
                let feature = "`@`, a grammar of another list,";
                return Err(Error::unsupported(feature, Location::Offset(offset)));
            }
            TokenKind::Mark(b'*' | b'+' | b'?' | b'{') => {
                return Err(Error::syntax("nothing comes before this repetition", offset));
            }
            TokenKind::Mark(b':') => {
                let message = "a `:` follows the name of a rule or a terminal at the beginning of \
                               a line";
                return Err(Error::syntax(message, offset));
            }
            _ => return Err(self.unexpected("a string, a regular expression or a name")),
        };
        Ok(self.tree.add(node, offset))
    }

    fn string(&mut self) -> Result<Node, Error> {
        let (offset, written) = (self.offset(), self.next());
        let ignores_case = written.ends_with('i');
        let inside = &written[1..written.len() - 1 - usize::from(ignores_case)];
        let text = unescape(inside, offset + 1)?;
        if self.peek() != TokenKind::Dots {
            return Ok(Node::Literal(text.into(), ignores_case));
        }
        self.next();
        let end_at = self.offset();
        if self.peek() != TokenKind::String {
            return Err(self.unexpected("the last character of the range, as in `\"a\"..\"z\"`,"));
        }
        if ignores_case || self.written().ends_with('i') {
            return Err(Error::syntax("the ends of a range have no flag `i`", offset));
        }
        let written = self.next();
        let last = unescape(written.trim_matches('"'), end_at + 1);
        let (Some(low), Some(high)) = (single(&text), single(&last?)) else {
            let message = "a range goes from one character to another, as `\"a\"..\"z\"`";
            return Err(Error::syntax(message, offset));
        };
        if low > high {
            let message = format!("the range from `{low}` to `{high}` is empty");
            return Err(Error::syntax(message, offset));
        }
        Ok(Node::Range(low, high))
    }

    fn pattern(&mut self) -> Result<Node, Error> {
        let written = self.next();
        let end = written.rfind('/').unwrap_or(0);
        if end == 1 {
            let message = "this regular expression is empty; the empty text is an alternative \
                           with nothing in it, or `\"\"`";
            return Err(Error::syntax(message, self.offset()));
        }
        Ok(Node::Pattern(written[1..end].into(), written[end + 1..].into()))
    }

    /// A rule, a terminal, a template with arguments, or a rule with a number.
    fn named(&mut self) -> Result<Node, Error> {
        let (offset, written) = (self.offset(), self.next());
        let name = self.name(written);
        check_case(&name, offset)?;
        if self.peek() == TokenKind::Colons {
            self.next();
            return Ok(Node::Numbered(name, self.argument()?));
        }
        let is_count =
            matches!(self.kind_at(self.at + 1), TokenKind::Number | TokenKind::Mark(b','));
        if self.peek() != TokenKind::Mark(b'{') || is_count {
            return Ok(Node::Name(name));
        }
        self.arguments(name)
    }

    /// `{a, "b", c{d}}`: templates inside are read without recursion.
    fn arguments(&mut self, name: Name) -> Result<Node, Error> {
        let mut open: Vec<(Name, usize, Vec<NodeId>)> = vec![(name, self.offset(), Vec::new())];
        self.next();
        loop {
            self.budget.tick()?;
            let offset = self.offset();
            let is_template = self.peek() == TokenKind::Name
                && self.kind_at(self.at + 1) == TokenKind::Mark(b'{');
            if is_template {
                let written = self.next();
                let name = self.name(written);
                self.next();
                open.push((name, offset, Vec::new()));
                continue;
            }
            let mut value = match self.peek() {
                TokenKind::String | TokenKind::Pattern | TokenKind::Name | TokenKind::Angle => {
                    self.value()?
                }
                _ => return Err(self.unexpected("an argument, a name or a literal,")),
            };
            loop {
                let Some((_, _, arguments)) = open.last_mut() else {
                    unreachable!("the template's own arguments close last");
                };
                arguments.push(value);
                if self.take(b',') {
                    break;
                }
                self.expect(b'}', "at the end of the arguments")?;
                let Some((name, at, arguments)) = open.pop() else {
                    unreachable!("one was pushed to");
                };
                let node = Node::Template(name, arguments.into());
                if open.is_empty() {
                    return Ok(node);
                }
                value = self.tree.add(node, at);
            }
        }
    }

    /// `{ … }` with a grammar of its own.
    fn inner(&mut self) -> Result<ScopeId, Error> {
        let begin = self.at;
        if self.peek() != TokenKind::Mark(b'{') {
            return Err(self.unexpected("`{` and a grammar"));
        }
        if self.depth >= DEEPEST_INNER {
            return Err(
                Error::limit("nesting", DEEPEST_INNER).moved_to(Location::Offset(self.offset()))
            );
        }
        let mut depth = 0_usize;
        let closes = self.tokens[begin..].iter().position(|token| {
            match token.kind {
                TokenKind::Mark(b'{') => depth += 1,
                TokenKind::Mark(b'}') => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(length) = closes else {
            return Err(Error::syntax("this `{` is not closed", self.offset()));
        };
        let mut inside: Vec<Token> = self.tokens[begin + 1..begin + length].to_vec();
        let close = self.tokens[begin + length];
        if let Some(first) = inside.first_mut() {
            first.begins_line = true;
        }
        inside.push(Token { kind: TokenKind::End, end: close.at, ..close });
        self.at = begin + length;
        self.next();
        parse_tokens(self.source, &inside, self.tree, self.depth + 1, self.budget)
    }

    /// The repetition after a part, if there is one.
    fn repeats(&mut self, item: NodeId, offset: usize) -> Result<NodeId, Error> {
        let Some((min, max)) = self.repetition()? else {
            return Ok(item);
        };
        let end = self.offset();
        if self.repetition()?.is_some() {
            let message = "a repetition is repeated here: put the part before it in parentheses";
            return Err(Error::syntax(message, end));
        }
        Ok(self.tree.add(Node::Repeat(item, min, max), offset))
    }

    /// How often what comes before this is repeated; none if that is not said.
    fn repetition(&mut self) -> Result<Option<(u32, u32)>, Error> {
        // `?name: …` on the next line is another rule.
        if self.begins_statement() || self.tokens[self.at].begins_line {
            return Ok(None);
        }
        let counts = match self.peek() {
            TokenKind::Mark(b'*') => (0, UNBOUNDED),
            TokenKind::Mark(b'+') => (1, UNBOUNDED),
            TokenKind::Mark(b'?') => (0, 1),
            TokenKind::Mark(b'~') if self.kind_at(self.at + 1) == TokenKind::Number => {
                self.next();
                let begin = self.offset();
                let min = self.count()?;
                if self.peek() != TokenKind::Dots {
                    return Ok(Some((min, min)));
                }
                self.next();
                let max = self.count()?;
                check_counts(min, max, begin)?;
                return Ok(Some((min, max)));
            }
            TokenKind::Mark(b'{') => self.braces()?,
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(counts))
    }

    /// `{n}`, `{n,}`, `{,m}` or `{n,m}`, up to the `}`.
    fn braces(&mut self) -> Result<(u32, u32), Error> {
        let begin = self.offset();
        self.next();
        let min = if self.peek() == TokenKind::Number { Some(self.count()?) } else { None };
        let is_range = self.take(b',');
        let max = match self.peek() {
            TokenKind::Number if is_range => Some(self.count()?),
            _ if is_range => None,
            _ => min,
        };
        if self.peek() != TokenKind::Mark(b'}') || (min.is_none() && max.is_none()) {
            let message = "a repetition is `{n}`, `{n,}`, `{,m}` or `{n,m}`";
            return Err(Error::syntax(message, begin));
        }
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(UNBOUNDED));
        check_counts(min, max, begin)?;
        Ok((min, max))
    }

    fn count(&mut self) -> Result<u32, Error> {
        let offset = self.offset();
        if self.peek() != TokenKind::Number {
            return Err(self.unexpected("a number"));
        }
        let written = self.next();
        if written.starts_with('-') {
            return Err(Error::syntax("a repetition counts from 0", offset));
        }
        let allowed = self.budget.limits.repeat;
        let count = written.parse().ok().filter(|&count: &u32| count < UNBOUNDED);
        count
            .filter(|&count| usize::try_from(count).is_ok_and(|count| count <= allowed))
            .ok_or_else(|| Error::limit("repeat", allowed).moved_to(Location::Offset(offset)))
    }

    /// Ends a group; what it is made of.
    fn close(&mut self, group: &mut Group) -> Result<NodeId, Error> {
        self.end_alternative(group)?;
        let alternatives = std::mem::take(&mut group.alternatives);
        Ok(self.one_or(alternatives, Node::Choice, group.begin))
    }

    fn end_alternative(&mut self, group: &mut Group) -> Result<(), Error> {
        let node = self.alternative(group)?;
        group.alternatives.push(node);
        Ok(())
    }

    fn alternative(&mut self, group: &mut Group) -> Result<NodeId, Error> {
        let Some(operator) = group.operator else {
            return self.sequence(group);
        };
        self.end_conjunct(group, operator)?;
        group.operator = None;
        let conjuncts = std::mem::take(&mut group.conjuncts);
        let begin = self.tree.offsets[conjuncts[0]];
        Ok(self.tree.add(Node::And(conjuncts.into()), begin))
    }

    fn end_conjunct(&mut self, group: &mut Group, operator: usize) -> Result<(), Error> {
        if group.parts.is_empty() && group.negations.is_empty() {
            let at = group.operator.unwrap_or(operator);
            return Err(Error::syntax("`&` needs something on both sides", at));
        }
        let operand = self.sequence(group)?;
        group.conjuncts.push(operand);
        Ok(())
    }

    fn sequence(&mut self, group: &mut Group) -> Result<NodeId, Error> {
        if let Some(&at) = group.negations.last() {
            return Err(Error::syntax("`~` needs something after it", at));
        }
        let parts = std::mem::take(&mut group.parts);
        let begin = parts.first().map_or(group.begin, |&part| self.tree.offsets[part]);
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

fn opened(close: u8) -> u8 {
    if close == b']' { b'[' } else { b'(' }
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn check_counts(min: u32, max: u32, offset: usize) -> Result<(), Error> {
    if min > max {
        let message = format!("from {min} to {max} times is never: the first is the smaller one");
        return Err(Error::syntax(message, offset));
    }
    Ok(())
}
