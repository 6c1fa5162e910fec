//! Cuts a grammar text into tokens.

use crate::error::Error;
use crate::limits::Budget;

/// A token of a grammar text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where it begins.
    pub(crate) at: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Whether it is the first of its line.
    pub(crate) begins_line: bool,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Letters, digits, `_` and `-`.
    Name,
    /// Digits, with a sign or `0x`.
    Number,
    /// `"…"`, with `i` if either case matches.
    String,
    /// `/…/` with flags.
    Pattern,
    /// `<…>`.
    Angle,
    /// `%name`.
    Directive,
    /// What stands behind `%json` and its like.
    Json,
    /// `->`
    Arrow,
    /// `..`
    Dots,
    /// `::`
    Colons,
    /// Any other character.
    Mark(u8),
    /// The end of the text.
    End,
}

/// Directives that a JSON text follows.
const BEFORE_JSON: &[&str] = &["%json", "%regex", "%llguidance", "%grammar_options"];

/// The tokens of `source`; the last is an end.
pub(crate) fn tokens(source: &str, budget: &mut Budget) -> Result<Vec<Token>, Error> {
    // A byte order mark at the very beginning belongs to the file, not to the grammar.
    let at = if source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut text = Text { source, at, begins_line: true };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        budget.tick()?;
        text.skip_blanks();
        let (at, begins_line) = (text.at, text.begins_line);
        let last = tokens.last().filter(|it| it.kind == TokenKind::Directive);
        let is_json = last.is_some_and(|it| BEFORE_JSON.contains(&&source[it.at..it.end]));
        let kind = if is_json { text.json()? } else { text.token()? };
        text.begins_line = false;
        tokens.push(Token { kind, at, end: text.at, begins_line });
        if kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

#[derive(Debug)]
struct Text<'a> {
    source: &'a str,
    at: usize,
    begins_line: bool,
}

impl Text<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    /// Goes past what `is` takes.
    fn take_while(&mut self, is: fn(u8) -> bool) {
        let taken = self.rest().bytes().position(|byte| !is(byte));
        self.at += taken.unwrap_or(self.rest().len());
    }

    /// Goes past blanks, line ends, comments, and a backslash at the end of a line.
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => self.begins_line = true,
                b' ' | b'\t' | b'\r' | b'\x0C' => {}
                b'#' => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.rest().starts_with("//") => {
                    self.skip_line();
                    continue;
                }
                b'\\' if self.rest()[1..].trim_start_matches(' ').starts_with('\n') => {
                    self.skip_line();
                    self.at += 1;
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn token(&mut self) -> Result<TokenKind, Error> {
        let begin = self.at;
        let Some(byte) = self.peek() else {
            return Ok(TokenKind::End);
        };
        let next = self.source.as_bytes().get(begin + 1).copied().unwrap_or(0);
        let kind = match byte {
            b'"' => self.quoted(b'"')?,
            b'/' => self.quoted(b'/')?,
            b'<' => self.angle()?,
            b'%' if next.is_ascii_alphabetic() => {
                self.at += 1;
                self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                TokenKind::Directive
            }
            b'-' if next == b'>' => {
                self.at += 2;
                TokenKind::Arrow
            }
            b'.' if next == b'.' => {
                self.at += 2;
                TokenKind::Dots
            }
            b':' if next == b':' => {
                self.at += 2;
                TokenKind::Colons
            }
            b'0'..=b'9' => self.number(),
            b'-' if next.is_ascii_digit() => {
                self.at += 1;
                self.number()
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.name(),
            b'\'' => {
                let message = "a string stands in double quotes: `\"…\"`";
                return Err(Error::syntax(message, begin));
            }
            b':' | b'|' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'*' | b'+' | b'?' | b'!'
            | b'~' | b'&' | b'=' | b'@' | b',' | b'.' => {
                self.at += 1;
                TokenKind::Mark(byte)
            }
            _ => {
                let found = self.rest().chars().next().unwrap_or(' ');
                return Err(Error::syntax(format!("unexpected `{found}`"), begin));
            }
        };
        Ok(kind)
    }

    fn name(&mut self) -> TokenKind {
        loop {
            self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let after = self.source.as_bytes().get(self.at + 1).copied().unwrap_or(0);
            // `a-b` is a name, and `a->b` a name and an alias.
            if self.peek() != Some(b'-') || !(after.is_ascii_alphanumeric() || after == b'_') {
                return TokenKind::Name;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.take("0x") {
            self.take_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.take_while(|byte| byte.is_ascii_digit());
        }
        TokenKind::Number
    }

    /// `"…"` or `/…/`, with what stands behind it.
    fn quoted(&mut self, quote: u8) -> Result<TokenKind, Error> {
        let begin = self.at;
        let mut escaped = false;
        let mut has_line_end = false;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(not_closed(quote, begin)),
                Some(b'\n') if quote == b'"' => return Err(not_closed(quote, begin)),
                Some(byte) if byte == quote && !escaped => break,
                Some(byte) => {
                    has_line_end |= byte == b'\n';
                    escaped = byte == b'\\' && !escaped;
                }
            }
            self.at += 1;
        }
        self.at += 1;
        if quote == b'"' {
            self.take("i");
            return Ok(TokenKind::String);
        }
        let flags = self.at;
        self.take_while(|byte| b"imslux".contains(&byte));
        if has_line_end && !self.source[flags..self.at].contains('x') {
            let message = "a regular expression over several lines needs the flag `x`: `/…/x`; \
                           a line end in the text is `\\n`, a `/` is `\\/`";
            return Err(Error::syntax(message, begin));
        }
        Ok(TokenKind::Pattern)
    }

    /// `<…>`, `<|…|>` or `<[…]>`.
    fn angle(&mut self) -> Result<TokenKind, Error> {
        let begin = self.at;
        let close = match self.source.as_bytes().get(begin + 1) {
            Some(b'|') => "|>",
            Some(b'[') => "]>",
            _ => ">",
        };
        let line = &self.rest()[..self.rest().find('\n').unwrap_or(self.rest().len())];
        if let Some(length) = line.get(2..).and_then(|line| line.find(close)) {
            self.at += 2 + length + close.len();
            return Ok(TokenKind::Angle);
        }
        let message = format!("this `<` is not closed on its line: `{close}` is missing");
        Err(Error::syntax(message, begin))
    }

    /// A JSON text, up to the bracket that closes it.
    fn json(&mut self) -> Result<TokenKind, Error> {
        let begin = self.at;
        let mut depth = 0_usize;
        let mut in_string = false;
        loop {
            let Some(byte) = self.peek() else {
                return Err(Error::syntax("the text ends inside this JSON", begin));
            };
            self.at += 1;
            match byte {
                b'\\' if in_string => self.at = (self.at + 1).min(self.source.len()),
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'\n' if depth == 0 => break,
                _ => {}
            }
            if depth == 0 && !in_string && matches!(byte, b'}' | b']') {
                break;
            }
        }
        while !self.source.is_char_boundary(self.at) {
            self.at += 1;
        }
        Ok(TokenKind::Json)
    }
}

fn not_closed(quote: u8, begin: usize) -> Error {
    let message = match quote {
        b'"' => "this string is not closed on its line; a line end is `\\n`, a quote `\\\"`",
        _ => "this regular expression is not closed; a `/` inside is `\\/`",
    };
    Error::syntax(message, begin)
}
