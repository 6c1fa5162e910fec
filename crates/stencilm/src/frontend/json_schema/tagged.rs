//! Conditions on an object that depend on a tag, told apart by the tag.
//!
//! `if` and `then` over the same member make unions whose product has an alternative for each set of
//! tags, and the member that depends on the tag may come before it. One alternative a tag says the
//! same: whatever the tag decides is gone from it.

use crate::error::Error;
use crate::frontend::json_schema::constants::Constant;
use crate::frontend::json_schema::formula::{ANY_OBJECT, Formula, FormulaId, NO_OBJECT};
use crate::frontend::json_schema::schemas::Schemas;
use crate::frontend::json_schema::shape::{ANY, Member, NEVER, ObjectShape, TermId, TextId};

/// Tags that are told apart.
const MOST_TAGS: usize = 128;

/// What a tag says of a condition.
enum Says {
    Holds,
    Fails,
    Nothing,
}

impl Schemas {
    /// The objects of all these formulas, unions among them, as one alternative for each tag;
    /// `None` where no member tells the unions apart.
    ///
    /// # Errors
    /// A limit was reached.
    pub(crate) fn by_tag(
        &mut self,
        sides: &[FormulaId],
        unions: &[FormulaId],
        most: usize,
    ) -> Result<Option<FormulaId>, Error> {
        let Some((name, tags)) = self.tag_of(unions)? else {
            return Ok(None);
        };
        let mut values = Vec::with_capacity(tags.len() + 2);
        let mut constants = Vec::with_capacity(tags.len());
        for tag in tags {
            let tag = self.constants.id(Constant::Text(tag));
            constants.push(tag);
            values.push(self.constant(tag));
        }
        values.push(self.none_of(constants));
        values.push(NEVER);
        let mut alternatives = Vec::with_capacity(values.len());
        for value in values {
            let is_required = value != NEVER;
            let member = Member { name, value, is_required, is_declared: false };
            let tag = ObjectShape { members: vec![member], ..ObjectShape::default() };
            let tag = self.formulas.object(tag);
            let mut parts = sides.to_vec();
            parts.push(tag);
            let mut product = 1_usize;
            for &union in unions {
                let left = self.left_of(union, member)?;
                product = product.saturating_mul(self.formulas.alternatives(left).len());
                parts.push(left);
            }
            if product > most {
                return Ok(None);
            }
            let all = self.and_objects(&parts)?;
            alternatives.push(all);
        }
        Ok(Some(self.formulas.or(&alternatives)))
    }

    /// The member that the most unions ask about, and the strings that they ask for.
    fn tag_of(&mut self, unions: &[FormulaId]) -> Result<Option<(TextId, Vec<TextId>)>, Error> {
        let mut found: Vec<(TextId, usize, Vec<TextId>)> = Vec::new();
        for &union in unions {
            let mut own: Vec<(TextId, Vec<TextId>)> = Vec::new();
            for alternative in self.formulas.alternatives(union) {
                self.budget.tick()?;
                let Formula::Object(object) = self.formulas.get(alternative).clone() else {
                    continue;
                };
                for member in &object.members {
                    let tags = self.strings_told_apart(member.value)?;
                    match own.iter_mut().find(|(name, _)| *name == member.name) {
                        Some((_, known)) => known.extend(tags),
                        None => own.push((member.name, tags)),
                    }
                }
            }
            for (name, tags) in own.into_iter().filter(|(_, tags)| !tags.is_empty()) {
                match found.iter_mut().find(|(known, ..)| *known == name) {
                    Some((_, count, known)) => {
                        *count += 1;
                        known.extend(tags);
                    }
                    None => found.push((name, 1, tags)),
                }
            }
        }
        let most = found.into_iter().filter(|&(_, count, _)| count > 1);
        Ok(most.max_by_key(|&(_, count, _)| count).and_then(|(name, _, mut tags)| {
            tags.sort_unstable();
            tags.dedup();
            (tags.len() <= MOST_TAGS).then_some((name, tags))
        }))
    }

    /// The strings that a value is one of, or none of.
    fn strings_told_apart(&mut self, value: TermId) -> Result<Vec<TextId>, Error> {
        if matches!(value, ANY | NEVER) {
            return Ok(Vec::new());
        }
        let Some(shape) = self.try_evaluate(value)? else {
            return Ok(Vec::new());
        };
        let strings = &self.shape(shape).strings;
        let listed = strings.iter().flat_map(|string| match &string.values {
            Some(values) => values.iter(),
            None => string.except.iter(),
        });
        Ok(listed.copied().collect())
    }

    /// What is left of a union once the tag is known.
    fn left_of(&mut self, union: FormulaId, tag: Member) -> Result<FormulaId, Error> {
        let mut left = Vec::new();
        for alternative in self.formulas.alternatives(union) {
            self.budget.tick()?;
            let Formula::Object(object) = self.formulas.get(alternative).clone() else {
                left.push(alternative);
                continue;
            };
            let own = object.members.iter().find(|member| member.name == tag.name);
            let says = match own {
                Some(own) => self.says_of(tag, own)?,
                None => Says::Nothing,
            };
            match says {
                Says::Fails => {}
                // Without the member, its rules for other names would hold for this one.
                Says::Holds if object.rules.is_empty() => {
                    let mut rest = (*object).clone();
                    rest.members.retain(|member| member.name != tag.name);
                    let rest = self.formulas.object_or_none(rest.normal());
                    if rest == ANY_OBJECT {
                        return Ok(ANY_OBJECT);
                    }
                    left.push(rest);
                }
                Says::Holds | Says::Nothing => left.push(alternative),
            }
        }
        left.retain(|&alternative| alternative != NO_OBJECT);
        Ok(self.formulas.or(&left))
    }

    /// What a known tag says of what is asked of it.
    fn says_of(&mut self, tag: Member, asked: &Member) -> Result<Says, Error> {
        if tag.value == NEVER {
            return Ok(if asked.is_required { Says::Fails } else { Says::Holds });
        }
        let both = self.terms.and2(tag.value, asked.value);
        let (Some(both), Some(own)) = (self.try_evaluate(both)?, self.try_evaluate(tag.value)?)
        else {
            return Ok(Says::Nothing);
        };
        Ok(if both == own {
            Says::Holds
        } else if self.shape(both).is_never() {
            Says::Fails
        } else {
            Says::Nothing
        })
    }
}
