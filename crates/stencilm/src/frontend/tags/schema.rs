//! The JSON Schemas, patterns and grammars inside a structural tag.

use crate::error::{Error, Location};
use crate::frontend::ebnf;
use crate::frontend::json_schema::{self, JsonSchemaOptions, KeyOrder, Node, Report, Whitespace};
use crate::frontend::lark;
use crate::frontend::regex::{self, Mode, RegexOptions};
use crate::frontend::tags::fields::Fields;
use crate::frontend::tags::lower::Lowering;
use crate::frontend::tags::styles::{Style, style};
use crate::frontend::tags::written::written;
use crate::grammar::{ExprId, Spelling};

impl Lowering<'_> {
    pub(crate) fn json_schema(
        &mut self,
        fields: Fields<'_>,
        style_name: Option<&str>,
    ) -> Result<ExprId, Error> {
        let node = fields.need("json_schema")?;
        let name = match style_name {
            Some(name) => name,
            None => fields.find("style").map_or(Ok("json"), |_| fields.text("style"))?,
        };
        let excludes = fields.marks("excludes")?;
        let mut options: JsonSchemaOptions = self.options.clone();
        if matches!(name, "json" | "pythonic") && !excludes.is_empty() {
            return Err(fields.refused(format!("`excludes` in the style `{name}`")));
        }
        if name != "json" {
            match style(name, &excludes) {
                Some(Style::Marks(marks)) => options.parameters = Some(*marks),
                Some(Style::Notation(notation)) => options.notation = notation,
                None => return Err(fields.wrong(format!("there is no style `{name}`"))),
            }
            options.tokens = fields.marks("tokens")?.iter().map(ToString::to_string).collect();
        }
        if fields.flag("any_order", false)? {
            options.key_order = KeyOrder::Any;
        }
        if let Some(cap) = fields.count("max_whitespace_cnt", 0)? {
            options.whitespace = Whitespace::Any { cap: u32::try_from(cap).unwrap_or(0) };
        }
        if !matches!(fields.document.get(node), Node::Object { .. } | Node::Bool(_)) {
            return Err(fields.wrong("`json_schema` is an object, true or false"));
        }
        let text = written(fields.document, node);
        let key = (text, name.to_owned(), options.key_order, options.whitespace.clone(), {
            let excludes: Vec<String> = excludes.iter().map(ToString::to_string).collect();
            (excludes, options.tokens.clone())
        });
        if let Some(&known) = self.schemas.get(&key) {
            return Ok(known);
        }
        let place = fields.document.pointer(node);
        let grammar = json_schema::grammar(&key.0, &options, self.budget)
            .map_err(|error| inside(error, &place))?;
        let call = self.rules.supply(&grammar).map_err(|error| inside(error, &place))?;
        self.describe(&key.0, &options, &place)?;
        self.schemas.insert(key, call);
        Ok(call)
    }

    fn describe(
        &mut self,
        text: &str,
        options: &JsonSchemaOptions,
        place: &str,
    ) -> Result<(), Error> {
        let Some(all) = &mut self.report else {
            return Ok(());
        };
        let report = json_schema::report(text, options, self.budget)?;
        let Report { enforced, narrower, annotations, widened } = report;
        for (all, lines) in [
            (&mut all.enforced, enforced),
            (&mut all.narrower, narrower),
            (&mut all.annotations, annotations),
            (&mut all.widened, widened),
        ] {
            all.extend(lines.into_iter().map(|(at, line)| (format!("{place}{at}"), line)));
        }
        Ok(())
    }

    pub(crate) fn regex(&mut self, fields: Fields<'_>) -> Result<ExprId, Error> {
        if !fields.marks("excludes")?.is_empty() {
            return Err(fields.refused("`excludes` of a pattern"));
        }
        let pattern = fields.text("pattern")?;
        let place = fields.document.pointer(fields.need("pattern")?);
        let exprs = &mut self.rules.exprs;
        let made = regex::parse(pattern, RegexOptions::default(), self.budget)
            .and_then(|regex| regex.to_expr(exprs, Spelling::Text, Mode::FullMatch, self.budget));
        made.map_err(|error| inside(error, &place))
    }

    pub(crate) fn grammar(&mut self, fields: Fields<'_>) -> Result<ExprId, Error> {
        let text = fields.text("grammar")?;
        let place = fields.document.pointer(fields.need("grammar")?);
        let read = match fields.find("syntax").map_or(Ok("ebnf"), |_| fields.text("syntax"))? {
            "ebnf" => ebnf::parse(text, "root", self.budget),
            "lark" => lark::parse(text, "start", lark::Meaning::XGrammar, self.budget),
            _ => return Err(fields.wrong("`syntax` is `ebnf` or `lark`")),
        };
        let made = read.and_then(|rules| (self.normal)(rules, self.budget));
        let grammar = made.map_err(|error| inside(error, &place))?;
        self.rules.supply(&grammar).map_err(|error| inside(error, &place))
    }
}

/// The error of a source that stands at `place`.
fn inside(error: Error, place: &str) -> Error {
    let at = match error.location() {
        Location::Pointer(inner) => Location::Pointer(format!("{place}{inner}")),
        Location::Offset(_) | Location::Whole => Location::Pointer(place.to_owned()),
    };
    error.moved_to(at)
}
