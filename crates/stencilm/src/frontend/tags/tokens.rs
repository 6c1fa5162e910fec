//! Formats over tokens.
//!
//! A special token by its name is no text, and what stands between such tokens is text: special
//! tokens that are not named never come in it. A token by its number may have a text too, so that
//! between those come any other tokens.

use crate::error::Error;
use crate::frontend::tags::fields::{Fields, Mark, Token, list};
use crate::frontend::tags::free::free;
use crate::frontend::tags::lower::{Ends, Loop, Lowered, Lowering};
use crate::grammar::{ExprId, UNBOUNDED};

impl Lowering<'_> {
    pub(crate) fn token_expr(&mut self, token: Token<'_>) -> ExprId {
        match token {
            Token::Named(name) => self.rules.exprs.token(name),
            Token::Number(number) => self.rules.exprs.token(&format!("<[{number}]>")),
        }
    }

    pub(crate) fn token(&mut self, fields: Fields<'_>) -> Result<Lowered, Error> {
        let token = fields.token(fields.need("token")?)?;
        Ok(Lowered::closed(self.token_expr(token)))
    }

    pub(crate) fn exclude_token(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
    ) -> Result<Lowered, Error> {
        let excluded = fields.tokens("exclude_tokens")?;
        Ok(Lowered::closed(self.any_but(fields, &excluded, ends)?))
    }

    pub(crate) fn any_tokens(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
    ) -> Result<Lowered, Error> {
        let excluded = fields.tokens("exclude_tokens")?;
        let one = self.any_but(fields, &excluded, ends)?;
        let most = fields.count("max_tokens", 0)?.and_then(|most| u32::try_from(most).ok());
        let expr = self.rules.exprs.repeat(one, 0, most.unwrap_or(UNBOUNDED));
        Ok(Lowered { expr, is_open: excluded.is_empty() })
    }

    /// One token but these, the end of the tag around it, and those that end a text.
    fn any_but(
        &mut self,
        fields: Fields<'_>,
        excluded: &[Token<'_>],
        ends: Ends<'_>,
    ) -> Result<ExprId, Error> {
        if !ends.all.is_empty() {
            return Err(fields.wrong("tokens stand in a tag that a token ends, and no text"));
        }
        let mut numbers = Vec::with_capacity(excluded.len() + 1);
        for token in excluded.iter().chain(ends.token.as_ref()) {
            match token {
                Token::Number(number) => numbers.push(number.to_string()),
                Token::Named(name) => {
                    let feature = format!("all tokens but `{name}` (give its number)");
                    return Err(fields.refused(feature));
                }
            }
        }
        let name = if numbers.is_empty() {
            "<[*]>".to_owned()
        } else {
            format!("<[^{}]>", numbers.join(","))
        };
        Ok(self.rules.exprs.token(&name))
    }

    pub(crate) fn token_triggered_tags(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let triggers = fields.tokens("trigger_tokens")?;
        if triggers.is_empty() {
            return Err(fields.wrong("`trigger_tokens` is missing or empty"));
        }
        let mut ways = Vec::new();
        for &node in fields.items("tags")? {
            let tag = self.tag_parts(node, depth)?;
            let Mark::Token(token) = tag.begin else {
                return Err(Fields { node, ..fields }.wrong("it must begin with a token"));
            };
            if !triggers.contains(&token) {
                return Err(Fields { node, ..fields }.wrong("it begins with none of the triggers"));
            }
            let begin = self.token_expr(token);
            ways.push(self.rules.exprs.seq2(begin, tag.rest));
        }
        let text = self.between_tokens(fields, triggers, ends)?;
        let once = self.rules.exprs.choice(&ways);
        let turns = Loop::read(fields)?;
        Ok(turns.over(&mut self.rules.exprs, once, &[(text, once)], text))
    }

    pub(crate) fn token_dispatch(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        let mut ways = Vec::new();
        let mut triggers = Vec::new();
        for &rule in fields.items("rules")? {
            let &[token, format] = list(fields.document, rule)? else {
                return Err(Fields { node: rule, ..fields }.wrong("a token and a format"));
            };
            let token = fields.token(token)?;
            triggers.push(token);
            let begin = self.token_expr(token);
            let content = self.format(format, ends, depth)?;
            ways.push(self.rules.exprs.seq2(begin, content.expr));
        }
        let text = self.between_tokens(fields, triggers, ends)?;
        let once = self.rules.exprs.choice(&ways);
        let turns = Loop { at_least_one: false, stop_after_first: !fields.flag("loop", true)? };
        Ok(turns.over(&mut self.rules.exprs, once, &[(text, once)], text))
    }

    /// What comes before and after a trigger: text where all triggers have names, else any other
    /// tokens.
    fn between_tokens(
        &mut self,
        fields: Fields<'_>,
        triggers: Vec<Token<'_>>,
        ends: Ends<'_>,
    ) -> Result<ExprId, Error> {
        let excluded = fields.tokens("exclude_tokens")?;
        let has_names = triggers.iter().all(|token| matches!(token, Token::Named(_)));
        if has_names && excluded.is_empty() {
            return Ok(free(&mut self.rules.exprs, ends.all, ends.next, None));
        }
        let stops: Vec<Token<'_>> = triggers.into_iter().chain(excluded).collect();
        let one = self.any_but(fields, &stops, ends)?;
        Ok(self.rules.exprs.repeat(one, 0, UNBOUNDED))
    }
}
