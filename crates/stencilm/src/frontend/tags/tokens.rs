//! Formats over special tokens. Free text between them is text: special tokens that are not named
//! never come in it.

use crate::error::Error;
use crate::frontend::tags::fields::{Fields, Mark, list};
use crate::frontend::tags::free::free;
use crate::frontend::tags::lower::{Ends, Loop, Lowered, Lowering};

impl Lowering<'_> {
    pub(crate) fn token(&mut self, fields: Fields<'_>) -> Result<Lowered, Error> {
        let name = fields.token(fields.need("token")?)?;
        Ok(Lowered::closed(self.rules.exprs.token(name)))
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
        no_excluded_tokens(fields)?;
        let mut ways = Vec::new();
        for &node in fields.items("tags")? {
            let tag = self.tag_parts(node, depth)?;
            let Mark::Token(name) = tag.begin else {
                return Err(Fields { node, ..fields }.wrong("it must begin with a token"));
            };
            if !triggers.contains(&name) {
                return Err(Fields { node, ..fields }.wrong("it begins with none of the triggers"));
            }
            let begin = self.rules.exprs.token(name);
            ways.push(self.rules.exprs.seq2(begin, tag.rest));
        }
        let exprs = &mut self.rules.exprs;
        let once = exprs.choice(&ways);
        let text = free(exprs, ends.all, ends.next, None);
        let turns = Loop::read(fields)?;
        Ok(turns.over(exprs, once, &[(text, once)], text))
    }

    pub(crate) fn token_dispatch(
        &mut self,
        fields: Fields<'_>,
        ends: Ends<'_>,
        depth: usize,
    ) -> Result<Lowered, Error> {
        no_excluded_tokens(fields)?;
        let mut ways = Vec::new();
        for &rule in fields.items("rules")? {
            let &[token, format] = list(fields.document, rule)? else {
                return Err(Fields { node: rule, ..fields }.wrong("a token and a format"));
            };
            let begin = self.rules.exprs.token(fields.token(token)?);
            let content = self.format(format, ends, depth)?;
            ways.push(self.rules.exprs.seq2(begin, content.expr));
        }
        let exprs = &mut self.rules.exprs;
        let once = exprs.choice(&ways);
        let text = free(exprs, ends.all, ends.next, None);
        let turns = Loop { at_least_one: false, stop_after_first: !fields.flag("loop", true)? };
        Ok(turns.over(exprs, once, &[(text, once)], text))
    }
}

fn no_excluded_tokens(fields: Fields<'_>) -> Result<(), Error> {
    if fields.find("exclude_tokens").is_some_and(|node| !fields.document.items(node).is_empty()) {
        return Err(fields.refused("`exclude_tokens`"));
    }
    Ok(())
}
