//! Classes in brackets.

use crate::error::Error;
use crate::frontend::regex::Dialect;
use crate::frontend::regex::ast::Node;
use crate::frontend::regex::escape::Escaped;
use crate::frontend::regex::parse::{Parser, unsupported};
use crate::grammar::CharSet;

impl Parser<'_> {
    /// What follows a `[`.
    pub(crate) fn bracket(&mut self, start: usize) -> Result<Node, Error> {
        let is_negative = self.take("^");
        // In Python a `]` that comes first is itself: there is no empty class.
        let mut may_end = !self.is_python();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut sets: Vec<(u32, u32)> = Vec::new();
        loop {
            if may_end && self.take("]") {
                break;
            }
            may_end = true;
            let item_at = self.at;
            let first = self.item(start)?;
            // A `-` before the `]` is itself.
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                add(&mut ranges, &mut sets, &first);
                continue;
            }
            self.take("-");
            let last = self.item(start)?;
            match (&first, &last) {
                (Escaped::One(low), Escaped::One(high)) if low <= high => {
                    ranges.push((*low, *high));
                }
                (Escaped::One(_), Escaped::One(_)) => {
                    return Err(Error::syntax("this range is out of order", item_at));
                }
                _ if self.is_python() => {
                    let message = "a range goes from one character to another, no class of them";
                    return Err(Error::syntax(message, item_at));
                }
                // `[\w-.]`: the `-` is itself (Annex B.1.2).
                _ => {
                    add(&mut ranges, &mut sets, &first);
                    ranges.push(('-'.into(), '-'.into()));
                    add(&mut ranges, &mut sets, &last);
                }
            }
        }
        let (ranges, sets) = (CharSet::from_code_points(ranges), CharSet::from_code_points(sets));
        // ECMA-262 asks for a member that is equal to the character (22.2.2.7.1), Python looks up
        // the character's lower case.
        let set = match self.flags.dialect {
            Dialect::Ecma => self.fold(&ranges.union(&sets)),
            Dialect::Python => self.fold(&ranges).union(&sets),
        };
        Ok(self.chars(if is_negative { set.negate() } else { set }, start))
    }

    /// One character or escape of the class that `opened` at an offset.
    fn item(&mut self, opened: usize) -> Result<Escaped, Error> {
        let start = self.at;
        match self.next() {
            None => Err(Error::syntax("this class has no closing `]`", opened)),
            Some('\\') => match self.peek() {
                Some('b') => {
                    self.next();
                    Ok(Escaped::One(8))
                }
                Some(digit @ '1'..='9') if !self.is_python() => {
                    let feature = format!("the octal escape `\\{digit}` in a class");
                    Err(unsupported(&feature, start))
                }
                _ => self.character_escape(start),
            },
            Some(c) => Ok(Escaped::One(c.into())),
        }
    }
}

fn add(ranges: &mut Vec<(u32, u32)>, sets: &mut Vec<(u32, u32)>, item: &Escaped) {
    match item {
        Escaped::One(code) => ranges.push((*code, *code)),
        Escaped::Set(set) => sets.extend(set.ranges()),
    }
}
