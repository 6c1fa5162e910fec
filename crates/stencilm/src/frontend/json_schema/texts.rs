//! Texts and languages of strings, each kept once: member names, strings of an `enum`,
//! `pattern`s and `format`s.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::formats::{Difference, Format};
use crate::frontend::json_schema::shape::{PatternId, StringShape, TextId};
use crate::frontend::regex::{Kind, Mode, Node, Regex, RegexOptions, Side, parse};
use crate::grammar::{CharSet, ExprId, Exprs, Spelling};
use crate::interner::Interner;
use crate::limits::Budget;
use crate::residual::languages::Languages;

/// The table of texts.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Interner<Arc<str>>,
}

impl Texts {
    pub(crate) fn get(&self, id: TextId) -> &Arc<str> {
        self.texts.get(id.0)
    }

    pub(crate) fn id(&mut self, text: &str) -> TextId {
        TextId(self.texts.id_of(text, || text.into()))
    }
}

/// A language of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pattern {
    /// The strings with a match of this regular expression inside.
    Search(TextId),
    Format(Format),
    /// More than the format, which is known only more narrowly: what is not in this is not of it.
    Wider(Format),
}

/// The table of languages.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    list: Interner<Pattern>,
    parsed: Vec<Arc<Regex>>,
    /// Where questions about texts are answered; most schemas have none.
    languages: Option<Languages>,
    spelled: FxHashMap<PatternId, ExprId>,
    answers: FxHashMap<(PatternId, TextId), bool>,
}

impl Patterns {
    pub(crate) fn get(&self, id: PatternId) -> Pattern {
        *self.list.get(id.0)
    }

    /// The language of a `pattern`.
    ///
    /// # Errors
    /// The pattern's own, at an offset in it.
    pub(crate) fn search(
        &mut self,
        text: TextId,
        texts: &Texts,
        budget: &mut Budget,
    ) -> Result<PatternId, Error> {
        let key = Pattern::Search(text);
        if let Some(id) = self.list.find(&key) {
            return Ok(PatternId(id));
        }
        let regex = parse(texts.get(text), RegexOptions::default(), budget)?;
        Ok(self.add(key, regex))
    }

    /// The language of a `format`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn format(
        &mut self,
        format: Format,
        budget: &mut Budget,
    ) -> Result<PatternId, Error> {
        self.language_of(Pattern::Format(format), &format.regex(), budget)
    }

    /// What speaks for a language under a negation: the strings that are surely outside of a format
    /// are those outside of more than it.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn twin(&mut self, id: PatternId, budget: &mut Budget) -> Result<PatternId, Error> {
        match self.get(id) {
            Pattern::Format(format) => match format.difference() {
                Some(Difference { wider, .. }) => {
                    self.language_of(Pattern::Wider(format), &wider(), budget)
                }
                None => Ok(id),
            },
            Pattern::Wider(format) => self.format(format, budget),
            Pattern::Search(_) => Ok(id),
        }
    }

    /// Whether some string had to be outside of a format that is known only more narrowly.
    pub(crate) fn is_widened(&self, format: Format) -> bool {
        self.list.find(&Pattern::Wider(format)).is_some()
    }

    fn language_of(
        &mut self,
        key: Pattern,
        regex: &str,
        budget: &mut Budget,
    ) -> Result<PatternId, Error> {
        if let Some(id) = self.list.find(&key) {
            return Ok(PatternId(id));
        }
        let regex = parse(regex, RegexOptions::default(), budget)?;
        Ok(self.add(key, regex))
    }

    fn add(&mut self, key: Pattern, regex: Regex) -> PatternId {
        self.parsed.push(Arc::new(regex));
        PatternId(self.list.id(key))
    }

    /// The strings of a language, spelled.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn expr(
        &self,
        id: PatternId,
        exprs: &mut Exprs,
        spelling: Spelling,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let mode = match self.get(id) {
            Pattern::Search(_) => Mode::Search,
            Pattern::Format(_) | Pattern::Wider(_) => Mode::FullMatch,
        };
        self.parsed[id.0 as usize].to_expr(exprs, spelling, mode, budget)
    }

    /// Whether a text is in a language.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn has(
        &mut self,
        id: PatternId,
        text: TextId,
        texts: &Texts,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        if let Some(&answer) = self.answers.get(&(id, text)) {
            return Ok(answer);
        }
        self.make_room(budget);
        let language = self.spelled(id, budget)?;
        let answer = self.languages(budget).has(language, texts.get(text).as_bytes())?;
        self.answers.insert((id, text), answer);
        Ok(answer)
    }

    /// Whether no text has a shape.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn is_empty(
        &mut self,
        string: &StringShape,
        texts: &Texts,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        self.make_room(budget);
        let language = self.language(string, texts, budget)?;
        self.languages(budget).is_empty(language)
    }

    /// The texts that have a shape, if there are no more than `most`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn few(
        &mut self,
        string: &StringShape,
        most: usize,
        texts: &Texts,
        budget: &mut Budget,
    ) -> Result<Option<Vec<String>>, Error> {
        self.make_room(budget);
        let language = self.language(string, texts, budget)?;
        let words = self.languages(budget).few(language, most)?;
        Ok(words
            .and_then(|words| words.into_iter().map(|word| String::from_utf8(word).ok()).collect()))
    }

    /// How many texts have one of some shapes and are none of the excepted ones, counted up to
    /// `most`.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn count<'a>(
        &mut self,
        strings: impl IntoIterator<Item = &'a StringShape>,
        (except, texts): (&[TextId], &Texts),
        most: u32,
        budget: &mut Budget,
    ) -> Result<u32, Error> {
        self.make_room(budget);
        let mut parts = Vec::new();
        for string in strings {
            parts.push(self.language(string, texts, budget)?);
        }
        let languages = self.languages(budget);
        let exprs = languages.exprs();
        let any = exprs.choice(&parts);
        let except = exprs.one_of(except.iter().map(|&text| texts.get(text).as_bytes()));
        let others = exprs.minus(any, except);
        languages.count(others, most)
    }

    /// The texts that have a shape.
    fn language(
        &mut self,
        string: &StringShape,
        texts: &Texts,
        budget: &mut Budget,
    ) -> Result<ExprId, Error> {
        let mut parts = Vec::with_capacity(string.patterns.len() + 2);
        for &(id, is_in) in &string.patterns {
            parts.push((self.spelled(id, budget)?, is_in));
        }
        let exprs = self.languages(budget).exprs();
        if let Some(values) = &string.values {
            return Ok(exprs.one_of(values.iter().map(|&text| texts.get(text).as_bytes())));
        }
        let mut parts: Vec<ExprId> = parts
            .into_iter()
            .map(|(language, is_in)| if is_in { language } else { exprs.not(language) })
            .collect();
        let any = exprs.chars(&CharSet::any(), Spelling::Text);
        parts.push(exprs.repeat(any, string.min, string.max));
        if !string.except.is_empty() {
            let except = exprs.one_of(string.except.iter().map(|&text| texts.get(text).as_bytes()));
            parts.push(exprs.not(except));
        }
        Ok(exprs.and(&parts))
    }

    /// Whether it is plain to see that some text is in a language: nothing but `^` in front and
    /// `$` behind looks around.
    pub(crate) fn is_plain(&self, id: PatternId) -> bool {
        match self.get(id) {
            Pattern::Format(_) | Pattern::Wider(_) => true,
            Pattern::Search(_) => is_plain(self.parsed[id.0 as usize].root()),
        }
    }

    fn languages(&mut self, budget: &Budget) -> &mut Languages {
        self.languages.get_or_insert_with(|| Languages::new(budget.limits))
    }

    /// Between two questions: begins anew where the answers so far fill their place.
    fn make_room(&mut self, budget: &Budget) {
        if self.languages(budget).is_full() {
            self.languages = None;
            self.spelled.clear();
        }
    }

    /// A language among those that questions are asked about.
    fn spelled(&mut self, id: PatternId, budget: &mut Budget) -> Result<ExprId, Error> {
        if let Some(&known) = self.spelled.get(&id) {
            return Ok(known);
        }
        let mut languages = self.languages.take().unwrap_or_else(|| Languages::new(budget.limits));
        let expr = self.expr(id, languages.exprs(), Spelling::Text, budget);
        self.languages = Some(languages);
        self.spelled.insert(id, expr.clone()?);
        expr
    }
}

fn is_plain(node: &Node) -> bool {
    let is_start = |node: &Node| is_edge(node, Side::Behind);
    let is_end = |node: &Node| is_edge(node, Side::Ahead);
    match node.kind() {
        Kind::Seq(parts) => {
            let parts = match &parts[..] {
                [first, rest @ ..] if is_start(first) => rest,
                all => all,
            };
            let parts = match parts {
                [rest @ .., last] if is_end(last) => rest,
                all => all,
            };
            parts.iter().all(is_matched)
        }
        Kind::Choice(parts) => parts.iter().any(is_plain),
        Kind::Look(_) => is_start(node) || is_end(node),
        Kind::Empty | Kind::Chars(_) | Kind::Repeat { .. } => is_matched(node),
    }
}

/// Whether a piece without look-around matches some text.
fn is_matched(node: &Node) -> bool {
    match node.kind() {
        Kind::Empty => true,
        Kind::Chars(set) => !set.is_empty(),
        Kind::Seq(parts) => parts.iter().all(is_matched),
        Kind::Choice(parts) => parts.iter().any(is_matched),
        Kind::Repeat { body, min, max } => min <= max && (*min == 0 || is_matched(body)),
        Kind::Look(_) => false,
    }
}

/// Whether a piece is `^` or `$`: no character on that side.
fn is_edge(node: &Node, side: Side) -> bool {
    match node.kind() {
        Kind::Look(look) => {
            let any = matches!(look.body.kind(), Kind::Chars(set) if *set == CharSet::any());
            look.side == side && look.is_negative && any
        }
        _ => false,
    }
}
