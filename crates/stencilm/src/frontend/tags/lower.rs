//! Formats as expressions.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::json_schema::{
    Document, JsonSchemaOptions, KeyOrder, NodeId, Report, Whitespace,
};
use crate::frontend::tags::Normal;
use crate::frontend::tags::fields::{Fields, Mark, Token, list, text, wrong};
use crate::frontend::tags::free::{early, free, tree};
use crate::grammar::{self, ExprId, Exprs, RuleId, RuleSet, UNBOUNDED};
use crate::interner::index;
use crate::limits::Budget;

/// A schema's text, style, order, white space, and excluded texts and special tokens.
pub(crate) type SchemaKey = (String, String, KeyOrder, Whitespace, (Vec<String>, Vec<String>));

/// The texts that end the nearest tag around.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'e> {
    /// All of them: none stands inside of free text.
    pub(crate) all: &'e [&'e str],
    /// Those that come behind the content.
    pub(crate) next: &'e [&'e str],
    /// The token that does.
    pub(crate) token: Option<Token<'e>>,
}

#[derive(Debug)]
pub(crate) struct Lowering<'a> {
    pub(crate) options: &'a JsonSchemaOptions,
    pub(crate) normal: Normal,
    pub(crate) budget: &'a mut Budget,
    pub(crate) rules: RuleSet,
    pub(crate) document: &'a Document,
    pub(crate) schemas: FxHashMap<SchemaKey, ExprId>,
    /// What becomes of the keywords of schemas, if that was asked for.
    pub(crate) report: Option<Report>,
}

/// What a format became.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lowered {
    pub(crate) expr: ExprId,
    /// Whether only what comes after it can say where it ends.
    pub(crate) is_open: bool,
}

/// A tag: its beginning, and everything behind that.
#[derive(Debug)]
pub(crate) struct Tag<'d> {
    pub(crate) begin: Mark<'d>,
    pub(crate) rest: ExprId,
}

/// How often something comes between free texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) at_least_one: bool,
    pub(crate) stop_after_first: bool,
}

impl Lowered {
    pub(crate) fn closed(expr: ExprId) -> Self {
        Self { expr, is_open: false }
    }
}

impl Loop {
    pub(crate) fn read(fields: Fields<'_>) -> Result<Self, Error> {
        Ok(Self {
            at_least_one: fields.flag("at_least_one", false)?,
            stop_after_first: fields.flag("stop_after_first", false)?,
        })
    }

    /// `once` by itself, or each way of it after free text of its own, and the free text at the end.
    /// If there must be one, it comes first.
    pub(crate) fn over(
        self,
        exprs: &mut Exprs,
        once: ExprId,
        ways: &[(ExprId, ExprId)],
        text: ExprId,
    ) -> Lowered {
        let expr = match (self.at_least_one, self.stop_after_first) {
            (true, true) => return Lowered::closed(once),
            (at_least_one, false) if ways.iter().all(|way| way.0 == text) => {
                // Free text first, so that a state in it begins with its loop.
                let more = exprs.seq2(once, text);
                let more = exprs.repeat(more, u32::from(at_least_one), UNBOUNDED);
                if at_least_one { more } else { exprs.seq2(text, more) }
            }
            (at_least_one, stop) => {
                let ways: Vec<ExprId> = ways.iter().map(|way| exprs.seq2(way.0, way.1)).collect();
                let with_text = exprs.choice(&ways);
                if stop {
                    exprs.choice(&[with_text, text])
                } else {
                    let more = exprs.repeat(with_text, 0, UNBOUNDED);
                    let first = if at_least_one { once } else { exprs.empty() };
                    exprs.seq(&[first, more, text])
                }
            }
        };
        Lowered { expr, is_open: true }
    }
}

impl<'a> Lowering<'a> {
    pub(crate) fn run(
        text: &str,
        options: &'a JsonSchemaOptions,
        normal: Normal,
        reports: bool,
        budget: &'a mut Budget,
    ) -> Result<(RuleSet, Report), Error> {
        let document = Document::parse(text)?;
        let rules = RuleSet::new(Exprs::default(), Vec::new(), RuleId(0));
        let schemas = FxHashMap::default();
        let report = reports.then(Report::default);
        let mut lowering =
            Lowering { options, normal, budget, rules, document: &document, schemas, report };
        let body = lowering.whole()?;
        lowering.rules.start = RuleId(index(lowering.rules.rules.len()));
        lowering.rules.rules.push(("root".to_owned(), body));
        Ok((lowering.rules, lowering.report.unwrap_or_default()))
    }

    fn whole(&mut self) -> Result<ExprId, Error> {
        let fields = Fields::of(self.document, self.document.root())?;
        if fields.find("type").is_some() && fields.text("type")? != "structural_tag" {
            return Err(fields.wrong("its type is `structural_tag`"));
        }
        fields.only("structural_tag", &["type", "format"])?;
        Ok(self.format(fields.need("format")?, Ends { all: &[], next: &[], token: None }, 0)?.expr)
    }

    fn check(&mut self, node: NodeId, depth: usize) -> Result<(), Error> {
        self.budget.tick()?;
        let limits = &self.budget.limits;
        if depth > limits.nesting {
            let at = crate::error::Location::Pointer(self.document.pointer(node));
            return Err(Error::limit("nesting", limits.nesting).moved_to(at));
        }
        if self.rules.exprs.len() > limits.expressions {
            return Err(Error::limit("expressions", limits.expressions));
        }
        Ok(())
    }

    /// A format inside a tag that one of `ends` ends.
    pub(crate) fn format(
        &mut self,
        node: NodeId,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        self.check(node, depth)?;
        let fields = Fields::of(self.document, node)?;
        let kind = match fields.find("type") {
            Some(kind) => text(self.document, kind)?,
            None => guessed(fields)?,
        };
        let known = FORMATS.iter().find(|(name, _)| *name == kind);
        let Some((kind, names)) = known else {
            return Err(fields.wrong(format!("there is no format of the type `{kind}`")));
        };
        fields.only(kind, names)?;
        let depth = depth + 1;
        match *kind {
            "const_string" => {
                let text = fields.text("value")?;
                Ok(Lowered::closed(self.rules.exprs.bytes(text.as_bytes())))
            }
            "json_schema" => self.json_schema(fields, None).map(Lowered::closed),
            "qwen_xml_parameter" => self.json_schema(fields, Some("qwen_xml")).map(Lowered::closed),
            "regex" => self.regex(fields).map(Lowered::closed),
            "grammar" => self.grammar(fields).map(Lowered::closed),
            "any_text" => self.any_text(fields, ends),
            "sequence" => self.sequence(fields, ends, depth),
            "or" => self.or(fields, ends, depth),
            "tag" => self.tag(fields, depth),
            "triggered_tags" => self.triggered_tags(fields, ends, depth),
            "tags_with_separator" => self.tags_with_separator(fields, depth),
            "dispatch" => self.dispatch(fields, ends, depth),
            "token" => self.token(fields),
            "exclude_token" => self.exclude_token(fields, ends),
            "any_tokens" => self.any_tokens(fields, ends),
            "token_triggered_tags" => self.token_triggered_tags(fields, ends, depth),
            "token_dispatch" => self.token_dispatch(fields, ends, depth),
            "optional" => self.repeated(fields, (0, 1), ends, depth),
            "plus" => self.repeated(fields, (1, UNBOUNDED), ends, depth),
            "star" => self.repeated(fields, (0, UNBOUNDED), ends, depth),
            "repeat" => {
                let counts = counts(fields)?;
                self.repeated(fields, counts, ends, depth)
            }
            _ => Err(fields.wrong(format!("there is no format of the type `{kind}`"))),
        }
    }

    fn any_text(&mut self, fields: Fields<'_>, ends: Ends<'_>) -> Result<Lowered, Error> {
        let excludes = fields.marks("excludes")?;
        let mut most = fields.count("max_chars", 0)?.and_then(|most| u32::try_from(most).ok());
        let mut max_tokens = None;
        match fields.count("max_tokens", 0)? {
            None => {}
            // No token is no text.
            Some(0) => most = Some(0),
            Some(tokens) => max_tokens = u32::try_from(tokens).ok(),
        }
        let marks: Vec<&str> = excludes.iter().chain(ends.all).copied().collect();
        let mut expr = free(&mut self.rules.exprs, &marks, ends.next, most);
        if let Some(most) = max_tokens {
            expr = self.of_tokens(expr, most)?;
        }
        Ok(Lowered { expr, is_open: excludes.is_empty() })
    }

    /// A rule of so many tokens.
    fn of_tokens(&mut self, body: ExprId, most: u32) -> Result<ExprId, Error> {
        let rule = RuleId(index(self.rules.rules.len()));
        if self.rules.rules.len() >= self.budget.limits.rules {
            return Err(Error::limit("rules", self.budget.limits.rules));
        }
        self.rules.rules.push((format!("text_{}", rule.0), body));
        let mark = grammar::Mark { max_tokens: Some(most), ..grammar::Mark::default() };
        self.rules.marks.push((rule, mark));
        Ok(self.rules.exprs.call(rule))
    }

    fn sequence(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let mut parts = Vec::new();
        let mut is_open = false;
        for &element in fields.items("elements")? {
            let part = self.format(element, ends, depth)?;
            parts.push(part.expr);
            is_open = part.is_open;
        }
        Ok(Lowered { expr: self.rules.exprs.seq(&parts), is_open })
    }

    fn or(&mut self, fields: Fields<'_>, ends: Ends<'_>, depth: usize) -> Result<Lowered, Error> {
        let mut ways = Vec::new();
        let mut is_open = false;
        for &element in fields.items("elements")? {
            let way = self.format(element, ends, depth)?;
            ways.push(way.expr);
            is_open |= way.is_open;
        }
        Ok(Lowered { expr: self.rules.exprs.choice(&ways), is_open })
    }

    fn repeated(
        &mut self,
        fields: Fields<'_>,
        (min, max): (u32, u32),
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let content = self.format(fields.need("content")?, ends, depth)?;
        let expr = self.rules.exprs.repeat(content.expr, min, max);
        Ok(Lowered { expr, ..content })
    }

    fn tag(&mut self, fields: Fields<'_>, depth: usize) -> Result<Lowered, Error> {
        let tag = self.tag_parts(fields.node, depth)?;
        let begin = match tag.begin {
            Mark::Text(text) => self.rules.exprs.bytes(text.as_bytes()),
            Mark::Token(token) => self.token_expr(token),
        };
        Ok(Lowered::closed(self.rules.exprs.seq2(begin, tag.rest)))
    }

    /// The tag at `node`, in its parts.
    pub(crate) fn tag_parts(&mut self, node: NodeId, depth: usize) -> Result<Tag<'a>, Error> {
        let document = self.document;
        let fields = Fields::of(document, node)?;
        if fields.find("type").is_some_and(|kind| document.as_str(kind) != Some("tag")) {
            return Err(fields.wrong("its type is `tag`"));
        }
        fields.only("tag", TAG)?;
        let begin = fields.mark(fields.need("begin")?)?;
        let end = fields.need("end")?;
        let end = match document.items(end) {
            [] => vec![fields.mark(end)?],
            items => items
                .iter()
                .map(|&item| Ok(Mark::Text(text(document, item)?)))
                .collect::<Result<_, Error>>()?,
        };
        let ends: Vec<&str> = end
            .iter()
            .filter_map(|mark| match mark {
                Mark::Text(text) if !text.is_empty() => Some(*text),
                _ => None,
            })
            .collect();
        let node = fields.need("content")?;
        // Free text is the same before all ends, unless some of them overlap, or excluded texts do.
        let is_same = ends.iter().all(|end| early(&ends, &[end]).is_empty())
            && (ends.len() < 2 || !fields.excludes_inside(node));
        let mut content = Vec::with_capacity(end.len());
        for mark in &end {
            let (next, token): (&[&str], _) = match mark {
                Mark::Text(text) if !text.is_empty() => (std::slice::from_ref(text), None),
                Mark::Text(_) => (&[], None),
                Mark::Token(token) => (&[], Some(*token)),
            };
            let ends = Ends { all: &ends, next: if is_same { &ends } else { next }, token };
            let made = match content.first() {
                Some(&made) if is_same => made,
                _ => self.format(node, ends, depth)?,
            };
            if made.is_open && matches!(mark, Mark::Text("")) {
                return Err(fields.wrong("its content ends nowhere: `end` must not be empty"));
            }
            content.push(made);
        }
        let mut ways = Vec::with_capacity(end.len());
        for (mark, content) in end.iter().zip(&content) {
            let end = match mark {
                Mark::Text(text) => self.rules.exprs.bytes(text.as_bytes()),
                Mark::Token(token) => self.token_expr(*token),
            };
            ways.push((content.expr, end));
        }
        let exprs = &mut self.rules.exprs;
        // What all have in common stands once.
        let rest = if is_same && let Some(&(content, _)) = ways.first() {
            let ends: Vec<ExprId> = ways.iter().map(|way| way.1).collect();
            let end = exprs.choice(&ends);
            exprs.seq2(content, end)
        } else {
            let ways: Vec<ExprId> = ways.iter().map(|way| exprs.seq2(way.0, way.1)).collect();
            exprs.choice(&ways)
        };
        Ok(Tag { begin, rest })
    }

    fn triggered_tags(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let triggers = fields.marks("triggers")?;
        if triggers.is_empty() {
            return Err(fields.wrong("`triggers` is missing or empty"));
        }
        let mut tags: Vec<Vec<(&str, ExprId)>> = vec![Vec::new(); triggers.len()];
        for &node in fields.items("tags")? {
            let tag = self.tag_parts(node, depth)?;
            let Mark::Text(begin) = tag.begin else {
                return Err(wrong(self.document, node, "it must begin with a text"));
            };
            let mut found = (0..triggers.len()).filter(|&at| begin.starts_with(triggers[at]));
            match (found.next(), found.next()) {
                (Some(at), None) => tags[at].push((&begin[triggers[at].len()..], tag.rest)),
                (Some(_), Some(_)) => {
                    return Err(wrong(self.document, node, "it begins with two triggers"));
                }
                (None, _) => {
                    return Err(wrong(self.document, node, "it begins with none of the triggers"));
                }
            }
        }
        let exprs = &mut self.rules.exprs;
        let ways: Vec<(&str, ExprId)> = triggers
            .iter()
            .zip(&mut tags)
            .map(|(&trigger, tags)| (trigger, tree(exprs, tags)))
            .collect();
        let excludes = fields.marks("excludes")?;
        Ok(self.between_texts(&ways, &excludes, ends, Loop::read(fields)?))
    }

    fn dispatch(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let mut ways = Vec::new();
        for &rule in fields.items("rules")? {
            let &[pattern, format] = list(self.document, rule)? else {
                return Err(wrong(self.document, rule, "a text and a format are expected here"));
            };
            let begin = text(self.document, pattern)?;
            if begin.is_empty() {
                return Err(wrong(self.document, pattern, "the text is empty"));
            }
            ways.push((begin, self.format(format, ends, depth)?.expr));
        }
        let excludes = fields.marks("excludes")?;
        let turns = Loop { at_least_one: false, stop_after_first: !fields.flag("loop", true)? };
        Ok(self.between_texts(&ways, &excludes, ends, turns))
    }

    /// Free text until one of some texts, then what follows that.
    fn between_texts(
        &mut self,
        ways: &[(&str, ExprId)],
        excludes: &[&str],
        ends: Ends<'_>,
        turns: Loop,
    ) -> Lowered {
        let exprs = &mut self.rules.exprs;
        let begins = ways.iter().map(|&(begin, _)| begin);
        let marks: Vec<&str> =
            begins.chain(excludes.iter().copied()).chain(ends.all.iter().copied()).collect();
        let (mut once, mut with_text) = (Vec::new(), Vec::new());
        for &(begin, rest) in ways {
            let text = free(exprs, &marks, &[begin], None);
            let begin = exprs.bytes(begin.as_bytes());
            let tag = exprs.seq2(begin, rest);
            once.push(tag);
            with_text.push((text, tag));
        }
        let once = exprs.choice(&once);
        let text = free(exprs, &marks, ends.next, None);
        turns.over(exprs, once, &with_text, text)
    }

    fn tags_with_separator(&mut self, fields: Fields<'_>, depth: usize) -> Result<Lowered, Error> {
        let mut ways = Vec::new();
        for &node in fields.items("tags")? {
            let fields = Fields::of(self.document, node)?;
            ways.push(self.tag(fields, depth)?.expr);
        }
        let separator = fields.text("separator")?;
        let turns = Loop::read(fields)?;
        let exprs = &mut self.rules.exprs;
        let tag = exprs.choice(&ways);
        let mut expr = tag;
        if !turns.stop_after_first {
            let separator = exprs.bytes(separator.as_bytes());
            let more = exprs.seq2(separator, tag);
            let more = exprs.repeat(more, 0, UNBOUNDED);
            expr = exprs.seq2(tag, more);
        }
        if !turns.at_least_one {
            expr = exprs.optional(expr);
        }
        Ok(Lowered { expr, is_open: !turns.stop_after_first })
    }
}

fn counts(fields: Fields<'_>) -> Result<(u32, u32), Error> {
    let number = |name| {
        let count = fields.count(name, if name == "max" { -1 } else { 0 })?;
        count.ok_or_else(|| fields.wrong(format!("`{name}` is missing")))
    };
    let (min, max) = (number("min")?, number("max")?);
    let max = u32::try_from(max).unwrap_or(UNBOUNDED);
    let min = u32::try_from(min).unwrap_or(0);
    if min > max {
        return Err(fields.wrong("`max` is less than `min`"));
    }
    Ok((min, max))
}

const TAG: &[&str] = &["type", "begin", "content", "end"];

/// The types of formats, and the members that each may have.
const FORMATS: &[(&str, &[&str])] = &[
    ("const_string", &["type", "value"]),
    (
        "json_schema",
        &["type", "json_schema", "style", "any_order", "max_whitespace_cnt", "excludes", "tokens"],
    ),
    ("qwen_xml_parameter", &["type", "json_schema"]),
    ("regex", &["type", "pattern", "excludes"]),
    ("grammar", &["type", "grammar", "syntax"]),
    ("any_text", &["type", "excludes", "max_tokens", "max_chars"]),
    ("sequence", &["type", "elements"]),
    ("or", &["type", "elements"]),
    ("tag", TAG),
    (
        "triggered_tags",
        &["type", "triggers", "tags", "at_least_one", "stop_after_first", "excludes"],
    ),
    ("tags_with_separator", &["type", "tags", "separator", "at_least_one", "stop_after_first"]),
    ("dispatch", &["type", "rules", "loop", "excludes"]),
    ("token", &["type", "token"]),
    ("exclude_token", &["type", "exclude_tokens"]),
    ("any_tokens", &["type", "exclude_tokens", "max_tokens"]),
    (
        "token_triggered_tags",
        &["type", "trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"],
    ),
    ("token_dispatch", &["type", "rules", "loop", "exclude_tokens"]),
    ("optional", &["type", "content"]),
    ("plus", &["type", "content"]),
    ("star", &["type", "content"]),
    ("repeat", &["type", "min", "max", "content"]),
];

/// The type of a format that does not say it, by a member that only this one must have.
fn guessed(fields: Fields<'_>) -> Result<&'static str, Error> {
    const SIGNS: &[(&str, &str)] = &[
        ("value", "const_string"),
        ("json_schema", "json_schema"),
        ("begin", "tag"),
        ("triggers", "triggered_tags"),
        ("trigger_tokens", "token_triggered_tags"),
        ("separator", "tags_with_separator"),
        ("elements", "sequence"),
    ];
    let found = SIGNS.iter().find(|(name, _)| fields.find(name).is_some());
    found.map(|&(_, kind)| kind).ok_or_else(|| fields.wrong("`type` is missing"))
}
