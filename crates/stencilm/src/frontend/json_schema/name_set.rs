//! Sets of member names: what patterns and `propertyNames` tell apart.

use std::sync::Arc;

use crate::error::Error;
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{PatternId, Refusal, StringShape, TermId, TextId};

/// A language that a name is in or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum NameAtom {
    /// A pattern of `patternProperties`.
    Pattern(PatternId),
    /// The strings that have the shape of a `propertyNames`.
    Strings(TermId),
}

/// The names that are in (or, for `false`, outside of) all of these languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NameSet(Option<Arc<[(NameAtom, bool)]>>);

impl NameSet {
    /// Every name.
    pub(crate) const EVERY: Self = Self(None);

    pub(crate) fn of(atoms: impl IntoIterator<Item = (NameAtom, bool)>) -> Self {
        let mut atoms: Vec<(NameAtom, bool)> = atoms.into_iter().collect();
        atoms.sort_unstable();
        atoms.dedup();
        Self((!atoms.is_empty()).then(|| atoms.into()))
    }

    pub(crate) fn is_every(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn atoms(&self) -> &[(NameAtom, bool)] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// The conditions on names that it is made of.
    pub(crate) fn terms(&self) -> impl Iterator<Item = TermId> {
        self.atoms().iter().filter_map(|&(atom, _)| match atom {
            NameAtom::Strings(term) => Some(term),
            NameAtom::Pattern(_) => None,
        })
    }

    /// Whether all names of a class, which tells all atoms of this set apart, are in the set.
    pub(crate) fn covers(&self, class: &Self) -> bool {
        self.atoms().iter().all(|atom| class.atoms().binary_search(atom).is_ok())
    }
}

impl Schemas {
    /// Whether a name is in a set.
    ///
    /// # Errors
    /// A limit was reached, the set depends on itself, or a format is not known well enough.
    pub(crate) fn is_named(&mut self, set: &NameSet, name: TextId) -> Result<bool, Error> {
        for &(atom, is_in) in set.atoms() {
            let has = match atom {
                NameAtom::Pattern(pattern) => {
                    self.patterns.has(pattern, name, &self.texts, &mut self.budget)?
                }
                NameAtom::Strings(term) => {
                    let mut has = Some(false);
                    for string in &self.strings_of(term)? {
                        has = match (has, self.string_has(string, name)?) {
                            (Some(true), _) | (_, Some(true)) => Some(true),
                            (Some(false), Some(false)) => Some(false),
                            (None, _) | (_, None) => None,
                        };
                    }
                    let Some(has) = has else {
                        let location = self.sources.location(self.names_place(term));
                        let feature =
                            format!("whether `{}` is of this format", self.texts.get(name));
                        return Err(Error::unsupported(feature, location));
                    };
                    has
                }
            };
            if has != is_in {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The classes of names that some atoms tell apart: each is in or outside of every atom, none
    /// is empty. With the strings of each.
    ///
    /// # Errors
    /// There are more than the limit allows.
    pub(crate) fn name_classes(
        &mut self,
        atoms: &[NameAtom],
    ) -> Result<Vec<(NameSet, Vec<StringShape>)>, Error> {
        let mut classes = vec![(Vec::new(), vec![StringShape::default()])];
        for &atom in atoms {
            let sides =
                [(true, self.atom_strings(atom, true)?), (false, self.atom_strings(atom, false)?)];
            let mut split = Vec::with_capacity(classes.len() * 2);
            for (signs, strings) in &classes {
                self.budget.check()?;
                for (is_in, side) in &sides {
                    let mut both: Vec<StringShape> = Vec::new();
                    for a in strings {
                        for b in side {
                            if let Some(string) = self.meet_strings(a, b)?
                                && self.is_string_possible(&string)?
                            {
                                both.push(string);
                            }
                        }
                    }
                    if !both.is_empty() {
                        let mut signs: Vec<(NameAtom, bool)> = Vec::clone(signs);
                        signs.push((atom, *is_in));
                        split.push((signs, both));
                    }
                }
            }
            self.check_count(split.len())?;
            classes = split;
        }
        Ok(classes.into_iter().map(|(signs, strings)| (NameSet::of(signs), strings)).collect())
    }

    /// The strings in or outside of an atom's language.
    fn atom_strings(&mut self, atom: NameAtom, is_in: bool) -> Result<Vec<StringShape>, Error> {
        Ok(match (atom, is_in) {
            (NameAtom::Pattern(pattern), _) => {
                vec![StringShape { patterns: vec![(pattern, is_in)], ..StringShape::default() }]
            }
            (NameAtom::Strings(term), true) => self.strings_of(term)?,
            (NameAtom::Strings(term), false) => {
                let strings = self.strings_of(term)?;
                self.strings_outside(&strings, Refusal::new("not", self.names_place(term)))?
            }
        })
    }

    /// The strings of a `propertyNames`.
    fn strings_of(&mut self, term: TermId) -> Result<Vec<StringShape>, Error> {
        match self.try_evaluate(term)? {
            Some(shape) => Ok(self.shape(shape).strings.clone()),
            None => Err(self.recursive_names(term)),
        }
    }
}
