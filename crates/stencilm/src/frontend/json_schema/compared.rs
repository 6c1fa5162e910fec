//! Items that are compared: what may be asked of them beside.

use crate::error::Error;
use crate::frontend::json_schema::formula::{Formula, FormulaId};
use crate::frontend::json_schema::notation::Notation;
use crate::frontend::json_schema::notation_checks::Marks;
use crate::frontend::json_schema::options::Unsupported;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ArrayShape, Place, Shape, StringShape};
use crate::frontend::json_schema::text_exprs;
use crate::grammar::{Exprs, Spelling};
use crate::residual::emptiness;

impl Schemas {
    /// Notes which items of a shape's arrays are compared.
    pub(crate) fn note_compared(&mut self, shape: &Shape) {
        if self.reach.is_compared {
            return;
        }
        for array in &shape.arrays {
            let Some(place) = array.compared_at() else { continue };
            let items = array.prefix.iter().chain([&array.items]);
            self.reach.compared.extend(items.map(|&item| (item, place)));
        }
    }

    /// Looks at what items that are compared may be.
    ///
    /// # Errors
    /// What is left of them when some came cannot be told; or they are not written as JSON, and a text
    /// does not say by itself whether two of them are equal, or how many there are is not known.
    pub(crate) fn check_compared(&mut self) -> Result<(), Error> {
        while let Some((term, place)) = self.reach.compared.pop() {
            self.budget.tick()?;
            if !self.reach.comparable.insert(term) {
                continue;
            }
            let Some(shape) = self.live_shape(term)? else { continue };
            let shape = self.shape(shape).clone();
            let is_exact = self.options.unsupported == Unsupported::Refuse;
            if is_exact && shape.arrays.iter().any(ArrayShape::has_repeats) {
                let feature = "different items that are arrays of which two items must be equal";
                return Err(Error::unsupported(feature, self.sources.location(place)));
            }
            if self.options.notation != Notation::Json {
                self.check_written(&shape, place)?;
            }
            let mut parts = Vec::new();
            for formula in self.formulas.alternatives(shape.objects) {
                self.push_members_of_all(formula, &mut parts)?;
            }
            for array in &shape.arrays {
                parts.extend_from_slice(&array.prefix);
                parts.push(array.items);
            }
            self.reach.compared.extend(parts.into_iter().map(|part| (part, place)));
        }
        self.reach.is_compared = true;
        Ok(())
    }

    /// # Errors
    /// A text does not say by itself whether two items are equal, or how many there are is not known.
    fn check_written(&self, shape: &Shape, place: Place) -> Result<(), Error> {
        if !self.formulas.alternatives(shape.objects).iter().all(|&part| self.is_closed(part)) {
            let feature = "different items with names that are not listed, which may come twice";
            return Err(Error::unsupported(feature, self.sources.location(place)));
        }
        if let Some(marks) = self.marks()
            && !self.are_strings_counted(&shape.strings, &marks)?
        {
            let feature = format!("different strings, some with `{}` inside", marks.0);
            return Err(Error::unsupported(feature, self.sources.location(place)));
        }
        Ok(())
    }

    fn is_closed(&self, formula: FormulaId) -> bool {
        self.formulas.conjuncts(formula).iter().any(|&part| match self.formulas.get(part) {
            Formula::Object(object) => object.is_closed(),
            Formula::Never => true,
            _ => false,
        })
    }

    /// Whether there are as many strings as can be written. Of those that have no pattern there are
    /// enough in any case.
    fn are_strings_counted(
        &self,
        strings: &[StringShape],
        (end, excludes): &Marks,
    ) -> Result<bool, Error> {
        let mut budget = self.budget.clone();
        for string in strings.iter().filter(|it| it.values.is_some() || !it.patterns.is_empty()) {
            let exprs = &mut Exprs::default();
            let all = text_exprs::content(self, string, Spelling::Text, exprs, &mut budget)?;
            let marks = std::iter::once(end).chain(excludes);
            let written = exprs.without(all, marks.map(String::as_bytes));
            let others = exprs.minus(all, written);
            if !exprs.is_endless(written) && !emptiness::is_empty(exprs, others, &budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
