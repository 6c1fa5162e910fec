//! xgrammar's macros, which look like calls and are put together of other pieces.
//!
//! | written | means |
//! |---|---|
//! | `Token(1, 2)` | one of these tokens, by their numbers |
//! | `ExcludeToken(1, 2)` | one token, none of these and no stop token |
//! | `Regex("p", json_string=true, flags="i")` | a regular expression; of unescaped characters |
//! | `Substring("a", "b")` | some of these texts, one after another, or none |
//! | `TagDispatch(("tag", rule), excludes=("x"))` | free text; after a tag comes its rule |
//! | `TokenTagDispatch((1, rule), excludes=(2))` | the same with tokens for tags |
//!
//! A dispatch goes on after each rule unless it says `loop_after_dispatch=false`.

use crate::error::{Error, Location};
use crate::frontend::ebnf::parser::Parser;
use crate::frontend::ebnf::tree::{Node, NodeId};
use crate::frontend::regex::{self, Dialect, RegexOptions};
use crate::grammar::{ByteSet, CharSet, Spelling, UNBOUNDED};

const MACROS: &[&str] =
    &["Token", "ExcludeToken", "Regex", "Substring", "TagDispatch", "TokenTagDispatch"];

/// One argument, and where it stands.
#[derive(Debug)]
struct Argument<'a> {
    /// `name` of `name=value`.
    name: Option<&'a str>,
    value: Value<'a>,
    offset: usize,
}

#[derive(Debug)]
enum Value<'a> {
    Text(Box<[u8]>),
    /// A number, or `true`, `false` or the name of a rule.
    Word(&'a str),
    Tuple(Vec<Argument<'a>>),
}

/// What a dispatch is made of.
#[derive(Debug, Default)]
struct Dispatch<'a, T> {
    /// What brings about which rule, and where that stands.
    tags: Vec<(T, &'a str, usize)>,
    excludes: Vec<T>,
    ends_after_rule: bool,
}

impl<'a> Parser<'a> {
    /// What the macro `name` makes of its arguments, whose `(` comes next; nothing if there is no
    /// such macro.
    pub(crate) fn macro_call(&mut self, name: &str, offset: usize) -> Result<Option<Node>, Error> {
        if !MACROS.contains(&name) {
            return Ok(None);
        }
        let given = self.arguments(true)?;
        Ok(Some(match name {
            "Token" => Node::Token(format!("<[{}]>", tokens(&given, offset)?).into()),
            "ExcludeToken" => Node::Token(all_but(&tokens(&given, offset)?).into()),
            "Regex" => self.regex(&given, offset)?,
            "Substring" => self.substring_of(&given, offset)?,
            "TagDispatch" => self.tag_dispatch(given, offset)?,
            _ => self.token_dispatch(given, offset)?,
        }))
    }

    /// Reads `(…)`.
    fn arguments(&mut self, may_nest: bool) -> Result<Vec<Argument<'a>>, Error> {
        let begin = self.text.at;
        self.text.take("(");
        let mut arguments = Vec::new();
        loop {
            self.budget.tick()?;
            self.text.skip_blanks();
            if self.text.take(")") {
                return Ok(arguments);
            }
            arguments.push(self.argument(may_nest)?);
            self.text.skip_blanks();
            if !self.text.take(",") && self.text.peek() != Some(b')') {
                let at = if self.text.peek().is_none() { begin } else { self.text.at };
                return Err(Error::syntax("arguments are separated by `,` and end with `)`", at));
            }
        }
    }

    fn argument(&mut self, may_nest: bool) -> Result<Argument<'a>, Error> {
        let offset = self.text.at;
        let word = self.text.name();
        let mut name = None;
        if !word.is_empty() {
            self.text.at += word.len();
            self.text.is_line_start = false;
            self.text.skip_blanks();
            if !self.text.take("=") {
                return Ok(Argument { name, value: Value::Word(word), offset });
            }
            name = Some(word);
            self.text.skip_blanks();
        }
        let at = self.text.at;
        let word = self.text.name();
        let value = match self.text.peek() {
            Some(b'"' | b'\'') => Value::Text(self.text.literal(false)?),
            Some(b'(') if may_nest => Value::Tuple(self.arguments(false)?),
            _ if word.is_empty() => {
                let message = "an argument is a text, a number, a name, or several in `(…)`";
                return Err(Error::syntax(message, at));
            }
            _ => {
                self.text.at += word.len();
                Value::Word(word)
            }
        };
        Ok(Argument { name, value, offset })
    }

    fn regex(&mut self, arguments: &[Argument<'a>], offset: usize) -> Result<Node, Error> {
        let mut pattern = None;
        let mut is_in_json = false;
        let mut flags = None;
        for argument in arguments {
            match (argument.name, &argument.value) {
                (None, Value::Text(text)) if pattern.is_none() => {
                    pattern = Some(String::from_utf8_lossy(text).into_owned());
                }
                (Some("json_string"), _) => is_in_json = flag(argument)?,
                (Some("flags"), Value::Text(text)) => {
                    flags = Some(String::from_utf8_lossy(text).into_owned());
                }
                _ => return Err(unexpected(argument, "a pattern, `json_string` and `flags`")),
            }
        }
        let Some(pattern) = pattern else {
            return Err(Error::syntax("`Regex` needs a pattern", offset));
        };
        let letters = flags.as_deref().unwrap_or("s");
        let mut options = RegexOptions::with_flags(Dialect::Ecma, letters)
            .map_err(|reason| Error::syntax(reason, offset))?;
        // Without the flag `u` only ASCII letters have two cases.
        options.ascii = !letters.contains('u');
        options.names_with_p = true;
        let (pattern, ignores_case) = match pattern.strip_prefix("(?i)") {
            Some(rest) => (rest, true),
            None => (&*pattern, false),
        };
        options.ignore_case |= ignores_case;
        // An escape of the literal may be longer than what it stands for: the place is the macro's.
        let regex = regex::parse(pattern, options, self.budget)
            .map_err(|error| error.moved_to(Location::Offset(offset)))?;
        Ok(Node::Regex(Box::new(regex), is_in_json))
    }

    fn tag_dispatch(&mut self, arguments: Vec<Argument<'a>>, offset: usize) -> Result<Node, Error> {
        let dispatch = dispatch(arguments, |argument| match argument.value {
            Value::Text(text) if !text.is_empty() => Ok(text),
            _ => Err(Error::syntax("a tag is a text that is not empty", argument.offset)),
        })?;
        for (tag, _, at) in &dispatch.tags {
            if dispatch.excludes.iter().any(|exclude| tag.starts_with(exclude)) {
                let message = "a text is excluded with which this tag begins";
                return Err(Error::syntax(message, *at));
            }
        }
        let any = Node::Chars(Box::new(CharSet::any()), Spelling::Text);
        let any = self.tree.add(any, offset);
        let anything = self.tree.add(Node::Repeat(any, 0, UNBOUNDED), offset);
        let something = self.tree.add(Node::Repeat(any, 1, UNBOUNDED), offset);
        let mut of = |texts: Vec<&Box<[u8]>>| {
            let literals: Vec<NodeId> = texts
                .into_iter()
                .map(|text| self.tree.add(Node::Literal(text.clone()), offset))
                .collect();
            self.tree.add(Node::Choice(literals.into()), offset)
        };
        let excluded = of(dispatch.excludes.iter().collect());
        let tags = dispatch.tags.iter().map(|(tag, ..)| tag);
        let stops = of(tags.chain(&dispatch.excludes).collect());
        let mut no = |parts: [NodeId; 3]| {
            let texts = self.tree.add(Node::Seq(parts.into()), offset);
            self.tree.add(Node::Not(texts), offset)
        };
        let free = no([anything, stops, anything]);
        // The first tag that ends is the one that counts.
        let no_earlier = no([anything, stops, something]);
        let no_excluded = no([anything, excluded, anything]);
        let is_apart = are_apart(&dispatch);
        let allowed = self.budget.limits.alternatives;
        if !is_apart && dispatch.tags.len() > allowed {
            return Err(Error::limit("alternatives", allowed).moved_to(Location::Offset(offset)));
        }
        let mut ways = Vec::with_capacity(dispatch.tags.len());
        for (tag, rule, at) in &dispatch.tags {
            self.budget.tick()?;
            let mut tagged = self.tree.add(Node::Literal(tag.clone()), *at);
            if !is_apart {
                let ending = self.tree.add(Node::Seq([anything, tagged].into()), *at);
                let conditions = [ending, no_earlier, no_excluded];
                tagged = self.tree.add(Node::And(conditions.into()), *at);
            }
            ways.push(self.then_rule(tagged, rule, *at)?);
        }
        if is_apart {
            let tagged = self.tree.add(Node::Choice(ways.into()), offset);
            ways = vec![self.tree.add(Node::Seq([free, tagged].into()), offset)];
        }
        Ok(self.dispatched(ways, free, dispatch.ends_after_rule, offset))
    }

    fn token_dispatch(
        &mut self,
        arguments: Vec<Argument<'a>>,
        offset: usize,
    ) -> Result<Node, Error> {
        let dispatch = dispatch(arguments, |argument| token(&argument))?;
        let tags = dispatch.tags.iter().map(|(tag, ..)| tag);
        let stops: Vec<&str> = tags.chain(&dispatch.excludes).map(|tag| &**tag).collect();
        let free = self.tree.add(Node::Token(all_but(&stops.join(",")).into()), offset);
        let free = self.tree.add(Node::Repeat(free, 0, UNBOUNDED), offset);
        let mut ways = Vec::with_capacity(dispatch.tags.len());
        for (tag, rule, at) in &dispatch.tags {
            self.budget.tick()?;
            let tag = self.tree.add(Node::Token(format!("<[{tag}]>").into()), *at);
            let tagged = self.tree.add(Node::Seq([free, tag].into()), *at);
            ways.push(self.then_rule(tagged, rule, *at)?);
        }
        Ok(self.dispatched(ways, free, dispatch.ends_after_rule, offset))
    }

    fn then_rule(&mut self, tagged: NodeId, rule: &'a str, at: usize) -> Result<NodeId, Error> {
        let rule = self.rule_id(rule, at)?;
        let call = self.tree.add(Node::Call(rule), at);
        Ok(self.tree.add(Node::Seq([tagged, call].into()), at))
    }

    fn dispatched(
        &mut self,
        ways: Vec<NodeId>,
        free: NodeId,
        ends_after_rule: bool,
        offset: usize,
    ) -> Node {
        if ends_after_rule {
            return Node::Choice(ways.into_iter().chain([free]).collect());
        }
        let rounds = self.tree.add(Node::Choice(ways.into()), offset);
        let rounds = self.tree.add(Node::Repeat(rounds, 0, UNBOUNDED), offset);
        Node::Seq([rounds, free].into())
    }

    fn substring_of(&mut self, arguments: &[Argument<'a>], offset: usize) -> Result<Node, Error> {
        let mut chunks: Vec<&[u8]> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match (argument.name, &argument.value) {
                // An empty text changes nothing, wherever it stands.
                (None, Value::Text(text)) if text.is_empty() => {}
                (None, Value::Text(text)) => chunks.push(text),
                _ => return Err(unexpected(argument, "texts")),
            }
        }
        self.substring(&chunks, offset)
    }
}

/// Sorts the arguments of a dispatch.
fn dispatch<'a, T>(
    arguments: Vec<Argument<'a>>,
    tag: impl Fn(Argument<'a>) -> Result<T, Error>,
) -> Result<Dispatch<'a, T>, Error> {
    let mut found = Dispatch { tags: Vec::new(), excludes: Vec::new(), ends_after_rule: false };
    for argument in arguments {
        let offset = argument.offset;
        match (argument.name, argument.value) {
            (Some("loop_after_dispatch"), value) => {
                let argument = Argument { name: None, value, offset };
                found.ends_after_rule = !flag(&argument)?;
            }
            (Some("excludes"), Value::Tuple(excludes)) => {
                for exclude in excludes {
                    found.excludes.push(tag(exclude)?);
                }
            }
            (Some("excludes"), value) => {
                found.excludes.push(tag(Argument { name: None, value, offset })?);
            }
            (None, Value::Tuple(pair)) => {
                let Ok([first, second]) = <[Argument<'a>; 2]>::try_from(pair) else {
                    return Err(Error::syntax("a tag and its rule are two", offset));
                };
                let Value::Word(rule) = second.value else {
                    let message = "after a tag comes the name of a rule";
                    return Err(Error::syntax(message, second.offset));
                };
                found.tags.push((tag(first)?, rule, offset));
            }
            (name, value) => {
                let known = "`(tag, rule)`, `excludes` and `loop_after_dispatch`";
                return Err(unexpected(&Argument { name, value, offset }, known));
            }
        }
    }
    Ok(found)
}

/// Whether no tag and nothing excluded can begin inside of another one, and no tag with another: then
/// a tag after free text is the first one that ends.
fn are_apart(dispatch: &Dispatch<'_, Box<[u8]>>) -> bool {
    let mut tags: Vec<&[u8]> = dispatch.tags.iter().map(|(tag, ..)| &**tag).collect();
    tags.sort_unstable();
    let excludes = dispatch.excludes.iter().map(|exclude| &**exclude);
    let stops: Vec<&[u8]> = tags.iter().copied().chain(excludes).collect();
    let firsts: ByteSet = stops.iter().map(|stop| stop[0]).collect();
    let is_whole = |stop: &&[u8]| !stop[1..].iter().any(|&byte| firsts.contains(byte));
    stops.iter().all(is_whole) && !tags.windows(2).any(|pair| pair[1].starts_with(pair[0]))
}

/// The numbers of the tokens that are listed.
fn tokens(arguments: &[Argument<'_>], offset: usize) -> Result<String, Error> {
    if arguments.is_empty() {
        return Err(Error::syntax("at least one token has to be named", offset));
    }
    let listed: Result<Vec<String>, Error> = arguments.iter().map(token).collect();
    listed.map(|listed| listed.join(","))
}

fn token(argument: &Argument<'_>) -> Result<String, Error> {
    match (argument.name, &argument.value) {
        (None, Value::Word(word)) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok((*word).to_owned())
        }
        _ => Err(Error::syntax("a token is named by its number here", argument.offset)),
    }
}

/// The name of all tokens but these.
fn all_but(numbers: &str) -> String {
    if numbers.is_empty() { "<[*]>".to_owned() } else { format!("<[^{numbers}]>") }
}

fn flag(argument: &Argument<'_>) -> Result<bool, Error> {
    match argument.value {
        Value::Word("true") => Ok(true),
        Value::Word("false") => Ok(false),
        _ => Err(Error::syntax("this is `true` or `false`", argument.offset)),
    }
}

fn unexpected(argument: &Argument<'_>, known: &str) -> Error {
    let what = argument.name.map_or("this argument".to_owned(), |name| format!("`{name}`"));
    Error::syntax(format!("{what} is not known here: there are {known}"), argument.offset)
}
