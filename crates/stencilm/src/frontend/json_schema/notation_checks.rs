//! What cannot be written in a notation or between marks is refused before the first token.

use crate::error::{Error, Location};
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::object_table::{Leaf, ObjectTable};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{NEVER, Place, Shape, ShapeId, StringShape, TermId};
use crate::frontend::json_schema::terms::Term;
use crate::frontend::json_schema::text_exprs;
use crate::grammar::Exprs;

/// What strings end with and what they may not have inside, where nothing escapes it.
pub(crate) type Marks = (String, Vec<String>);

impl Schemas {
    /// Whether objects inside of other values are written otherwise than as JSON.
    pub(crate) fn is_written_otherwise(&self) -> bool {
        let style = self.options.parameters.as_ref();
        let is_nested = style.is_some_and(|style| style.nested.is_some());
        self.options.notation != Notation::Json || is_nested
    }

    /// Looks at a shape that a value, or a part of it, may have.
    ///
    /// # Errors
    /// It has something that cannot be written.
    pub(crate) fn check_notation(&mut self, term: TermId, shape: &Shape) -> Result<(), Error> {
        if !self.is_written_otherwise() {
            return Ok(());
        }
        let style = self.options.parameters.as_ref();
        let counts_items = shape.arrays.iter().any(|array| !array.is_plain());
        if counts_items && style.is_some_and(|style| style.after_end.is_some()) {
            let feature = "items that are counted, and not written as JSON";
            return Err(Error::unsupported(feature, self.location_of(term)));
        }
        for formula in self.formulas.alternatives(shape.objects) {
            self.check_counts(term, formula)?;
            self.check_written_names(formula, false)?;
        }
        match self.marks() {
            Some(marks) => self.check_strings(term, &shape.strings, &marks),
            None => Ok(()),
        }
    }

    /// Looks at the members of the outermost object, where those inside are written as JSON, and at
    /// the names of arguments.
    ///
    /// # Errors
    /// It has something that cannot be written.
    pub(crate) fn check_outermost(&mut self, table: &ObjectTable) -> Result<(), Error> {
        self.check_written_names(table.formula, true)?;
        let Some(style) = self.options.parameters.clone().filter(|style| style.nested.is_none())
        else {
            return Ok(());
        };
        if self.counts_others(table.formula) {
            return Err(Error::unsupported(OTHERS, Location::Pointer(String::new())));
        }
        let marks = (style.end, style.excludes);
        for leaf in table.leaves.values() {
            let Leaf::Rules { values, .. } = leaf else { continue };
            for &value in values {
                if let Some(shape) = self.live_shape(value)? {
                    let shape: ShapeId = shape;
                    let strings = self.shape(shape).strings.clone();
                    self.check_strings(value, &strings, &marks)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn marks(&self) -> Option<Marks> {
        match (&self.options.notation, &self.options.parameters) {
            (Notation::Bare { quote, excludes }, _) => Some((quote.clone(), excludes.clone())),
            (_, Some(style)) => Some((style.end.clone(), style.excludes.clone())),
            _ => None,
        }
    }

    /// Whether a name can be written: as the name of an argument, if `is_argument`.
    pub(crate) fn can_write(&self, name: &str, is_argument: bool) -> bool {
        let style = self.options.parameters.as_ref();
        self.options.notation.can_write(name, is_argument)
            && style.is_none_or(|style| style.can_write(name))
    }

    fn check_written_names(&self, formula: FormulaId, is_argument: bool) -> Result<(), Error> {
        let mut todo = vec![formula];
        while let Some(formula) = todo.pop() {
            match self.formulas.get(formula) {
                Formula::And(parts) | Formula::Or(parts) => todo.extend(parts.iter()),
                Formula::Object(object) => {
                    for member in object.members.iter().filter(|member| member.value != NEVER) {
                        let name = self.texts.get(member.name);
                        if !self.can_write(name, is_argument) {
                            return Err(Error::unsupported(
                                format!("the name `{name}`, which nothing quotes"),
                                self.location_of(member.value),
                            ));
                        }
                    }
                }
                Formula::Never | Formula::Any | Formula::Except(_) | Formula::Exists(_) => {}
            }
        }
        Ok(())
    }

    fn check_counts(&self, term: TermId, formula: FormulaId) -> Result<(), Error> {
        if self.counts_others(formula) {
            return Err(Error::unsupported(OTHERS, self.location_of(term)));
        }
        Ok(())
    }

    /// Whether a name that is not listed could fulfil a part of a formula: since it may come twice,
    /// and the last one counts, the text would not say whether it does.
    fn counts_others(&self, formula: FormulaId) -> bool {
        let parts = self.formulas.conjuncts(formula);
        let is_closed = parts.iter().any(|&part| {
            matches!(self.formulas.get(part), Formula::Object(object) if object.is_closed())
        });
        let mut todo = parts;
        while let Some(part) = todo.pop() {
            match self.formulas.get(part) {
                Formula::And(inner) | Formula::Or(inner) => todo.extend(inner.iter()),
                Formula::Object(object) if object.min > 0 && !object.is_closed() => {
                    return !is_closed;
                }
                Formula::Exists(_) => return !is_closed,
                Formula::Never | Formula::Any | Formula::Except(_) | Formula::Object(_) => {}
            }
        }
        false
    }

    /// Whether items may be asked to differ, or two of them to be equal: which came is read back,
    /// between two commas.
    ///
    /// # Errors
    /// They may not.
    pub(crate) fn check_unique(&self, place: Place) -> Result<(), Error> {
        let style = self.options.parameters.as_ref();
        if style.is_none_or(|style| style.after_end.is_none()) {
            return Ok(());
        }
        let feature = "different items that stand in elements";
        Err(Error::unsupported(feature, self.sources.location(place)))
    }

    fn check_strings(
        &self,
        term: TermId,
        strings: &[StringShape],
        (end, excludes): &Marks,
    ) -> Result<(), Error> {
        for string in strings.iter().filter(|it| it.values.is_some() || !it.patterns.is_empty()) {
            let mut budget = self.budget.clone();
            text_exprs::plain(self, string, end, excludes, &mut Exprs::default(), &mut budget)
                .map_err(|error| error.moved_to(self.location_of(term)))?;
        }
        Ok(())
    }

    /// Where the schema of a term stands, if it is one.
    fn location_of(&self, term: TermId) -> Location {
        match *self.terms.get(term) {
            Term::Schema(place) | Term::Value(place) => self.sources.location(place),
            _ => Location::Pointer(String::new()),
        }
    }
}

const OTHERS: &str = "a count of names that are not listed, where one may come twice";
