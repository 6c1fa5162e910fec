//! Strings and member names of a shape as expressions.

use crate::error::{Error, Location};
use crate::frontend::json_schema::object_table::NameClass;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{PatternId, StringShape, TextId};
use crate::grammar::{CharSet, ExprId, Exprs, Spelling, UNBOUNDED};
use crate::limits::Budget;
use crate::residual::emptiness;

/// A string with its quotes, spelled as the options say.
pub(crate) fn string(
    schemas: &Schemas,
    shape: &StringShape,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let escapes = schemas.options.escapes;
    let spelling = if shape.values.is_some() { escapes.listed() } else { escapes.others() };
    let inside = content(schemas, shape, spelling, exprs, budget)?;
    let quote = exprs.bytes(b"\"");
    Ok(exprs.seq(&[quote, inside, quote]))
}

/// The strings of some shapes, spelled, without quotes.
pub(crate) fn strings(
    schemas: &Schemas,
    shapes: &[StringShape],
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut texts = Vec::with_capacity(shapes.len());
    for shape in shapes {
        texts.push(content(schemas, shape, spelling, exprs, budget)?);
    }
    Ok(exprs.choice(&texts))
}

/// A string as it stands, without what would end it, and without other marks.
///
/// # Errors
/// No string is left, or a limit was reached.
pub(crate) fn plain(
    schemas: &Schemas,
    shape: &StringShape,
    end: &str,
    excludes: &[String],
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let text = content(schemas, shape, Spelling::Text, exprs, budget)?;
    let marks = std::iter::once(end).chain(excludes.iter().map(String::as_str));
    let text = exprs.without(text, marks.map(str::as_bytes));
    if emptiness::is_empty(exprs, text, budget)? {
        let feature = format!("a string that must have `{end}` inside");
        return Err(Error::unsupported(feature, Location::Pointer(String::new())));
    }
    Ok(text)
}

/// A member name of a class that is not one of those listed, spelled, without its quotes.
pub(crate) fn other_name(
    schemas: &Schemas,
    class: &NameClass,
    listed: &[TextId],
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let name = strings(schemas, &class.strings, spelling, exprs, budget)?;
    let listed = texts(schemas, listed, spelling, exprs);
    Ok(exprs.minus(name, listed))
}

/// The inside of a string.
pub(crate) fn content(
    schemas: &Schemas,
    shape: &StringShape,
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    if let Some(values) = &shape.values {
        return Ok(texts(schemas, values, spelling, exprs));
    }
    let any = exprs.chars(&CharSet::any(), spelling);
    let length = exprs.repeat(any, shape.min, shape.max);
    let mut parts = Vec::new();
    if !shape.patterns.is_empty() {
        parts.push(all_of(schemas, &shape.patterns, spelling, exprs, budget)?);
    }
    if parts.is_empty() || (shape.min, shape.max) != (0, UNBOUNDED) {
        parts.push(length);
    }
    let mut all = exprs.and(&parts);
    if !shape.except.is_empty() {
        let except = texts(schemas, &shape.except, spelling, exprs);
        all = exprs.minus(all, except);
    }
    Ok(all)
}

/// The texts that are in all the languages, or outside of those marked `false`.
fn all_of(
    schemas: &Schemas,
    list: &[(PatternId, bool)],
    spelling: Spelling,
    exprs: &mut Exprs,
    budget: &mut Budget,
) -> Result<ExprId, Error> {
    let mut parts = Vec::with_capacity(list.len() + 1);
    if list.iter().all(|&(_, is_in)| !is_in) {
        // A complement is one within the legal spellings.
        parts.push(exprs.any_text(spelling));
    }
    for &(pattern, is_in) in list {
        let language = schemas.patterns.expr(pattern, exprs, spelling, budget)?;
        parts.push(if is_in { language } else { exprs.not(language) });
    }
    Ok(exprs.and(&parts))
}

fn texts(schemas: &Schemas, texts: &[TextId], spelling: Spelling, exprs: &mut Exprs) -> ExprId {
    exprs.one_of_texts(texts.iter().map(|&text| &**schemas.texts.get(text)), spelling)
}
