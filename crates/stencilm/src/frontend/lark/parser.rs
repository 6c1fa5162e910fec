//! Turns a grammar text into a tree: its statements, with all that stands around a body.

use crate::error::{Error, Location};
use crate::frontend::lark::text::{Token, TokenKind, tokens};
use crate::frontend::lark::tree::{
    Attributes, Definition, Import, Mode, Name, Scope, ScopeId, Statement, Tree,
};
use crate::limits::Budget;

/// Directives that are values.
const VALUES: &[&str] = &["%json", "%regex", "%lark"];

/// Reads one grammar text into a tree.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    /// The text.
    pub(crate) source: &'a str,
    /// Its tokens, the last an end.
    pub(crate) tokens: &'a [Token],
    /// The token that comes next.
    pub(crate) at: usize,
    /// Where what is read goes.
    pub(crate) tree: &'a mut Tree,
    /// Which text this is.
    pub(crate) scope: ScopeId,
    /// How many texts this one is inside of.
    pub(crate) depth: usize,
    /// The limits and the clock.
    pub(crate) budget: &'a mut Budget,
}

/// Reads `source` as a new text of `tree`. Places of the main text are given as they are.
pub(crate) fn parse(source: &str, tree: &mut Tree, budget: &mut Budget) -> Result<ScopeId, Error> {
    let tokens = tokens(source, budget)?;
    parse_tokens(source, &tokens, tree, 0, budget)
}

pub(crate) fn parse_tokens(
    source: &str,
    tokens: &[Token],
    tree: &mut Tree,
    depth: usize,
    budget: &mut Budget,
) -> Result<ScopeId, Error> {
    let scope = tree.scopes.len();
    let end = tokens.last().map_or(0, |token| token.at);
    tree.scopes.push(Scope { end, ..Scope::default() });
    let mut parser = Parser { source, tokens, at: 0, tree, scope, depth, budget };
    while parser.peek() != TokenKind::End {
        parser.statement()?;
    }
    Ok(scope)
}

impl<'a> Parser<'a> {
    /// The kind of the next token.
    pub(crate) fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of a token further on; the end from there on.
    pub(crate) fn kind_at(&self, place: usize) -> TokenKind {
        self.tokens.get(place).map_or(TokenKind::End, |token| token.kind)
    }

    /// Where the next token begins.
    pub(crate) fn offset(&self) -> usize {
        self.tokens[self.at].at
    }

    /// What is written at the next token.
    pub(crate) fn written(&self) -> &'a str {
        let token = self.tokens[self.at];
        &self.source[token.at..token.end]
    }

    /// Goes past the next token; what is written there.
    pub(crate) fn next(&mut self) -> &'a str {
        let written = self.written();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        written
    }

    /// Goes past a mark if it comes next.
    pub(crate) fn take(&mut self, mark: u8) -> bool {
        let found = self.peek() == TokenKind::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    /// Goes past a mark that must come next.
    pub(crate) fn expect(&mut self, mark: u8, why: &str) -> Result<(), Error> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}` {why}", char::from(mark))))
    }

    /// An error at the next token: something else should have come.
    pub(crate) fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.peek() {
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", self.written().chars().take(30).collect::<String>()),
        };
        Error::syntax(format!("{wanted} is wanted here, not {found}"), self.offset())
    }

    pub(crate) fn name(&mut self, text: &str) -> Name {
        Name { scope: self.scope, text: text.into() }
    }

    fn statement(&mut self) -> Result<(), Error> {
        self.budget.tick()?;
        let offset = self.offset();
        let statement = match self.peek() {
            TokenKind::Directive => match self.written() {
                "%ignore" => {
                    self.next();
                    Statement::Ignore(self.body(false)?)
                }
                "%import" => {
                    self.next();
                    self.import(offset)?
                }
                "%declare" => return self.declare(),
                "%override" => {
                    self.next();
                    Statement::Define(self.definition()?, Mode::Override)
                }
                "%extend" => {
                    self.next();
                    Statement::Define(self.definition()?, Mode::Extend)
                }
                "%llguidance" | "%grammar_options" => return self.options(),
                other => {
                    let message = format!(
                        "`{other}` is no statement; there are `%ignore`, `%import`, `%declare`, \
                         `%override`, `%extend`, `%llguidance` and `%grammar_options`"
                    );
                    return Err(Error::syntax(message, offset));
                }
            },
            _ => Statement::Define(self.definition()?, Mode::New),
        };
        self.tree.scopes[self.scope].statements.push(statement);
        Ok(())
    }

    /// `name: …`, with all that may stand around the name.
    fn definition(&mut self) -> Result<Definition, Error> {
        // `?`, `!`, and both, in either order.
        if self.take(b'!') {
            self.take(b'?');
        } else if self.take(b'?') {
            self.take(b'!');
        }
        let offset = self.offset();
        if self.peek() != TokenKind::Name {
            return Err(self.unexpected("a rule, a terminal or a statement, as `name: …`,"));
        }
        let written = self.next();
        let name = self.name(written);
        check_case(&name, offset)?;
        let mut parameters = Vec::new();
        if self.take(b'{') {
            loop {
                if self.peek() != TokenKind::Name {
                    return Err(self.unexpected("the name of a parameter"));
                }
                let parameter = self.next();
                parameters.push(self.name(parameter));
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b'}', "at the end of the parameters")?;
        }
        let is_numbered = self.peek() == TokenKind::Colons;
        if is_numbered {
            self.next();
            if self.written() != "_" {
                return Err(self.unexpected("`_`, as in `name::_: …`,"));
            }
            self.next();
        }
        let mut attributes = Attributes::default();
        if self.peek() == TokenKind::Mark(b'[') {
            if name.is_terminal() {
                let message = "attributes are for rules, and this is a terminal";
                return Err(Error::syntax(message, self.offset()));
            }
            attributes = self.attributes(&name)?;
        }
        let mut priority = 0;
        if self.take(b'.') {
            if self.peek() != TokenKind::Number {
                return Err(self.unexpected("a priority, as in `NAME.2: …`,"));
            }
            let written = self.next();
            // Beyond what fits, only the order counts.
            let most = if written.starts_with('-') { i64::MIN } else { i64::MAX };
            priority = written.parse().unwrap_or(most);
        }
        self.expect(b':', &format!("after the name `{written}` of a rule or a terminal"))?;
        let body = Some(self.body(is_numbered)?);
        Ok(Definition {
            name,
            parameters,
            is_numbered,
            priority,
            length: None,
            attributes,
            body,
            offset,
        })
    }

    /// `common.WORD -> W` or `common (WORD, INT)`.
    fn import(&mut self, offset: usize) -> Result<Statement, Error> {
        if self.peek() == TokenKind::Mark(b'.') {
            let feature = "importing from a file, `%import .…`,";
            return Err(Error::unsupported(feature, Location::Offset(self.offset())));
        }
        let mut path = Vec::new();
        loop {
            if self.peek() != TokenKind::Name {
                return Err(self.unexpected("a name of the library, as `common.WORD`,"));
            }
            path.push((self.offset(), self.next()));
            if !self.take(b'.') {
                break;
            }
        }
        let mut names: Vec<(Box<str>, Box<str>, usize)> = Vec::new();
        if self.take(b'(') {
            loop {
                let at = self.offset();
                if self.peek() != TokenKind::Name {
                    return Err(self.unexpected("a name to import"));
                }
                let name = self.next();
                names.push((name.into(), name.into(), at));
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b')', "at the end of the names")?;
        } else {
            let (at, name) = path.pop().unwrap_or((offset, ""));
            if path.is_empty() {
                let message = format!(
                    "`%import {name}` imports nothing: write `%import {name}.NAME` or \
                     `%import {name} (NAME)`"
                );
                return Err(Error::syntax(message, at));
            }
            let mut here = name;
            if self.peek() == TokenKind::Arrow {
                self.next();
                if self.peek() != TokenKind::Name {
                    return Err(self.unexpected("the name here"));
                }
                here = self.next();
            }
            names.push((name.into(), here.into(), at));
        }
        let path: Vec<&str> = path.into_iter().map(|(_, name)| name).collect();
        Ok(Statement::Import(Import { path: path.join("."), names, offset }))
    }

    /// `%declare _INDENT _DEDENT`.
    fn declare(&mut self) -> Result<(), Error> {
        self.next();
        if self.peek() != TokenKind::Name {
            return Err(self.unexpected("a name, as in `%declare _INDENT`,"));
        }
        while self.peek() == TokenKind::Name && !self.begins_statement() {
            let offset = self.offset();
            let written = self.next();
            let definition = Definition {
                name: self.name(written),
                parameters: Vec::new(),
                is_numbered: false,
                priority: 0,
                length: None,
                attributes: Attributes::default(),
                body: None,
                offset,
            };
            let statement = Statement::Define(definition, Mode::New);
            self.tree.scopes[self.scope].statements.push(statement);
        }
        Ok(())
    }

    /// Whether the next token is the first of its line and begins a statement.
    pub(crate) fn begins_statement(&self) -> bool {
        if !self.tokens[self.at].begins_line {
            return false;
        }
        if self.peek() == TokenKind::Directive {
            return !VALUES.contains(&self.written()) && self.written() != "%if";
        }
        let mut place = self.at;
        while matches!(self.kind_at(place), TokenKind::Mark(b'!' | b'?')) {
            place += 1;
        }
        if self.kind_at(place) != TokenKind::Name {
            return false;
        }
        place += 1;
        for (open, close) in [(b'{', b'}'), (b'[', b']')] {
            if self.kind_at(place) == TokenKind::Colons
                && self.kind_at(place + 1) == TokenKind::Name
            {
                place += 2;
            }
            if self.kind_at(place) == TokenKind::Mark(open) {
                let is_close = |token: &Token| token.kind == TokenKind::Mark(close);
                let Some(length) = self.tokens[place..].iter().position(is_close) else {
                    return false;
                };
                place += length + 1;
            }
        }
        if self.kind_at(place) == TokenKind::Mark(b'.') {
            place += 2;
        }
        self.kind_at(place) == TokenKind::Mark(b':')
    }
}

/// Rules have lower case names, terminals upper case.
pub(crate) fn check_case(name: &Name, offset: usize) -> Result<(), Error> {
    let mut letters = name.text.bytes().filter(u8::is_ascii_alphabetic);
    let is_upper = name.is_terminal();
    if letters.all(|letter| letter.is_ascii_uppercase() == is_upper) {
        return Ok(());
    }
    let message = format!(
        "`{}` is in both cases: a rule has a name in lower case, a terminal in upper case",
        name.text
    );
    Err(Error::syntax(message, offset))
}
