//! Classes in brackets.

use crate::error::Error;
use crate::frontend::regex::ast::Node;
use crate::frontend::regex::escape::{Escaped, of_code};
use crate::frontend::regex::parse::{Parser, unsupported};
use crate::grammar::CharSet;

impl Parser<'_> {
    /// What follows a `[`.
    pub(crate) fn bracket(&mut self, start: usize) -> Result<Node, Error> {
        let is_negative = self.take("^");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        loop {
            if self.take("]") {
                break;
            }
            let item_at = self.at;
            let first = self.item(start)?;
            // A `-` before the `]` is itself.
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                add(&mut ranges, &first);
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
                // `[\w-.]`: the `-` is itself (Annex B.1.2).
                _ => {
                    add(&mut ranges, &first);
                    add(&mut ranges, &Escaped::One('-'.into()));
                    add(&mut ranges, &last);
                }
            }
        }
        let set = self.fold(&CharSet::from_code_points(ranges));
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
                Some(digit @ '1'..='9') => {
                    let feature = format!("the octal escape `\\{digit}` in a class");
                    Err(unsupported(&feature, start))
                }
                _ => self.character_escape(start),
            },
            Some(c) => Ok(Escaped::One(c.into())),
        }
    }
}

fn add(ranges: &mut Vec<(u32, u32)>, item: &Escaped) {
    match item {
        Escaped::One(code) => ranges.extend(of_code(*code, *code).ranges()),
        Escaped::Set(set) => ranges.extend(set.ranges()),
    }
}
