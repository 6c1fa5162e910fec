//! What llguidance adds to Lark's language: options, special tokens, substrings, rules with a
//! number.

use crate::error::{Error, Location};
use crate::frontend::json_schema::{Document, Node as JsonNode};
use crate::frontend::lark::parser::Parser;
use crate::frontend::lark::text::TokenKind;
use crate::frontend::lark::tree::{Argument, Bits, Comparison, Condition, Node};

/// How deep `and`, `or` and `not` nest.
const DEEPEST_CONDITION: usize = 50;

/// Names of comparisons, behind `bit_count_` too.
const COMPARISONS: &[(&str, Comparison)] = &[
    ("eq", Comparison::Equal),
    ("ne", Comparison::NotEqual),
    ("lt", Comparison::Less),
    ("le", Comparison::LessOrEqual),
    ("gt", Comparison::Greater),
    ("ge", Comparison::GreaterOrEqual),
];

impl Parser<'_> {
    /// `%llguidance {…}`, or `%grammar_options {…}` of another engine.
    pub(crate) fn options(&mut self) -> Result<(), Error> {
        self.next();
        let (document, offset) = self.json()?;
        let root = document.root();
        if !matches!(document.get(root), JsonNode::Object { .. }) {
            return Err(Error::syntax("the options are a JSON object", offset));
        }
        for (name, value) in document.members(root) {
            let flag = match document.get(value) {
                JsonNode::Bool(flag) => Some(flag),
                JsonNode::Null
                | JsonNode::Number(_)
                | JsonNode::String(_)
                | JsonNode::Array { .. }
                | JsonNode::Object { .. } => None,
            };
            let scope = &mut self.tree.scopes[self.scope];
            match (name, flag, document.as_str(value)) {
                // Nothing is ever forced here.
                ("no_forcing", Some(_), _) | ("allow_invalid_utf8", Some(false), _) => {}
                ("allow_invalid_utf8", Some(true), _) => {
                    let feature = "the option `allow_invalid_utf8`";
                    return Err(Error::unsupported(feature, Location::Offset(offset)));
                }
                ("allow_initial_skip", Some(flag), _) => scope.ignores_at_first = Some(flag),
                ("ignore_once", Some(flag), _) => scope.ignores_once = flag,
                ("skip_repetition", _, Some("once")) => scope.ignores_once = true,
                _ => {
                    let message = format!("there is no option `{name}` with this value");
                    return Err(Error::syntax(message, offset));
                }
            }
        }
        // In both dialects a text begins with a terminal.
        self.tree.scopes[self.scope].ignores_at_first.get_or_insert(false);
        Ok(())
    }

    /// The JSON text that comes next, and where it begins.
    fn json(&mut self) -> Result<(Document, usize), Error> {
        let offset = self.offset();
        let document = Document::parse(self.next()).map_err(|error| {
            let inside = match error.location() {
                Location::Offset(at) => *at,
                Location::Whole | Location::Pointer(_) => 0,
            };
            error.moved_to(Location::Offset(offset + inside))
        })?;
        Ok((document, offset))
    }

    /// `<|name|>`, `<name>` or `<[…]>`.
    pub(crate) fn special(&mut self) -> Result<Node, Error> {
        let (offset, written) = (self.offset(), self.next());
        if let Some(numbers) = written.strip_prefix("<[").and_then(|it| it.strip_suffix("]>")) {
            check_ranges(numbers, offset)?;
        }
        Ok(Node::Special(written.into()))
    }

    /// What stands behind `%regex`.
    pub(crate) fn substring(&mut self) -> Result<Node, Error> {
        let (document, offset) = self.json()?;
        let root = document.root();
        let mut fields = document.members(root);
        let (Some((name, value)), None) = (fields.next(), fields.next()) else {
            let message = "`%regex` has one field: `substring_chars`, `substring_words` or \
                           `substring_chunks`";
            return Err(Error::syntax(message, offset));
        };
        let text = document.as_str(value);
        let pieces: Option<Vec<Box<str>>> = match name {
            "substring_chars" => {
                text.map(|text| text.chars().map(|c| c.to_string().into()).collect())
            }
            "substring_words" => text.map(words),
            "substring_chunks" => {
                let items = document.items(value).iter();
                let is_list = matches!(document.get(value), JsonNode::Array { .. });
                let pieces = items.map(|&item| document.as_str(item).map(Box::from)).collect();
                if is_list { pieces } else { None }
            }
            _ => {
                let message = format!(
                    "there is no field `{name}`; there are `substring_chars`, `substring_words` \
                     and `substring_chunks`"
                );
                return Err(Error::syntax(message, offset));
            }
        };
        let Some(pieces) = pieces else {
            let kind = if name == "substring_chunks" { "a list of strings" } else { "a string" };
            return Err(Error::syntax(format!("`{name}` is {kind}"), offset));
        };
        Ok(Node::Substring(pieces.into()))
    }

    /// What a rule is called with, behind its `::`.
    pub(crate) fn argument(&mut self) -> Result<Argument, Error> {
        let offset = self.offset();
        if self.peek() == TokenKind::Number {
            return Ok(Argument::Number(self.number(u64::MAX)?));
        }
        if self.peek() != TokenKind::Name {
            return Err(self.unexpected("a number, `_` or a function, as in `name::incr(_)`,"));
        }
        let name = self.next();
        if name == "_" {
            return Ok(Argument::Same);
        }
        self.expect(b'(', "after the function of an argument")?;
        let argument = match name {
            "set_bit" => Argument::SetBit(self.bit(63)?),
            "clear_bit" => Argument::ClearBit(self.bit(63)?),
            "bit_and" => Argument::BitAnd(self.number(u64::MAX)?),
            "bit_or" => Argument::BitOr(self.number(u64::MAX)?),
            "incr" => Argument::Increment(self.bits()?),
            "decr" => Argument::Decrement(self.bits()?),
            _ => {
                let message = format!(
                    "there is no function `{name}` of a number; there are `set_bit`, \
                     `clear_bit`, `bit_and`, `bit_or`, `incr` and `decr`"
                );
                return Err(Error::syntax(message, offset));
            }
        };
        self.expect(b')', "after the argument of a function")?;
        Ok(argument)
    }

    /// What stands behind `%if`.
    pub(crate) fn condition(&mut self) -> Result<Condition, Error> {
        self.condition_within(0)
    }

    fn condition_within(&mut self, depth: usize) -> Result<Condition, Error> {
        let offset = self.offset();
        if depth > DEEPEST_CONDITION {
            let limit = Error::limit("nesting", DEEPEST_CONDITION);
            return Err(limit.moved_to(Location::Offset(offset)));
        }
        if self.peek() != TokenKind::Name {
            return Err(self.unexpected("a condition, as `bit_set(0)` or `lt([0:3], 5)`,"));
        }
        let name = self.next();
        if name == "true" {
            if self.take(b'(') {
                self.expect(b')', "after `true(`")?;
            }
            return Ok(Condition::True);
        }
        self.expect(b'(', "after the name of a condition")?;
        let count = name.strip_prefix("bit_count_");
        let comparison = COMPARISONS.iter().find(|it| it.0 == count.unwrap_or(name));
        let condition = match (name, comparison) {
            ("bit_set", _) => Condition::Bit(self.bit(63)?, true),
            ("bit_clear", _) => Condition::Bit(self.bit(63)?, false),
            ("is_ones", _) => Condition::All(self.bits()?, true),
            ("is_zeros", _) => Condition::All(self.bits()?, false),
            ("not", _) => Condition::Not(Box::new(self.condition_within(depth + 1)?)),
            ("and" | "or", _) => {
                let first = self.condition_within(depth + 1)?;
                self.expect(b',', "between two conditions")?;
                let both = Box::new([first, self.condition_within(depth + 1)?]);
                if name == "and" { Condition::And(both) } else { Condition::Or(both) }
            }
            (_, Some(&(_, comparison))) => {
                let bits = self.bits()?;
                self.expect(b',', "between the bits and a number")?;
                let number = self.number(u64::MAX)?;
                match count {
                    Some(_) => Condition::Count(bits, comparison, number),
                    None => Condition::Compare(bits, comparison, number),
                }
            }
            _ => return Err(Error::syntax(format!("there is no condition `{name}`"), offset)),
        };
        self.expect(b')', "after a condition")?;
        Ok(condition)
    }

    /// `_` or `[from:to]`.
    fn bits(&mut self) -> Result<Bits, Error> {
        if self.peek() == TokenKind::Name && self.written() == "_" {
            self.next();
            return Ok(Bits { from: 0, to: 64 });
        }
        let offset = self.offset();
        if !self.take(b'[') {
            return Err(self.unexpected("`_` or bits, as `[0:3]`,"));
        }
        let from = self.bit(63)?;
        self.expect(b':', "between the first bit and the end")?;
        let to = self.bit(64)?;
        self.expect(b']', "after the bits")?;
        if from >= to {
            let message = format!("there is no bit from {from} up to {to}");
            return Err(Error::syntax(message, offset));
        }
        Ok(Bits { from, to })
    }

    fn bit(&mut self, most: u32) -> Result<u32, Error> {
        self.number(most.into()).map(|bit| u32::try_from(bit).unwrap_or(most))
    }

    fn number(&mut self, most: u64) -> Result<u64, Error> {
        let offset = self.offset();
        if self.peek() != TokenKind::Number {
            return Err(self.unexpected("a number"));
        }
        let written = self.next();
        let number = match written.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => written.parse().ok(),
        };
        number.filter(|&number| number <= most).ok_or_else(|| {
            Error::syntax(format!("a number from 0 to {most} is wanted, not `{written}`"), offset)
        })
    }
}

/// `1,5-7`, `^1`, `*`.
fn check_ranges(numbers: &str, offset: usize) -> Result<(), Error> {
    let wrong = |what: &str| {
        let message =
            format!("{what}; tokens by number are written `<[1,5-7]>`, `<[^1]>`, `<[*]>`");
        Err(Error::syntax(message, offset))
    };
    if numbers == "*" {
        return Ok(());
    }
    for range in numbers.trim_start_matches('^').split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        match (low.parse::<u32>(), high.parse::<u32>()) {
            (Ok(low), Ok(high)) if low <= high => {}
            (Ok(_), Ok(_)) => return wrong("this range of tokens is empty"),
            _ => return wrong(&format!("`{range}` is no range of tokens")),
        }
    }
    Ok(())
}

/// Runs of letters and digits, of white space, and of anything else.
fn words(text: &str) -> Vec<Box<str>> {
    let kind = |c: char| match c {
        _ if c.is_whitespace() => 0,
        _ if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if last == Some(kind(c)) => word.push(c),
            _ => words.push(c.to_string()),
        }
        last = Some(kind(c));
    }
    words.into_iter().map(String::into_boxed_str).collect()
}

/// The part of a number that some of its bits make.
fn part(number: u64, bits: Bits) -> u64 {
    let width = bits.to - bits.from;
    (number >> bits.from) & (u64::MAX >> (64 - width))
}

impl Argument {
    /// The number that is meant in a rule with the number `of`.
    pub(crate) fn of(self, of: u64) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Same => of,
            Self::SetBit(bit) => of | 1 << bit,
            Self::ClearBit(bit) => of & !(1 << bit),
            Self::BitAnd(mask) => of & mask,
            Self::BitOr(mask) => of | mask,
            Self::Increment(bits) if part(!of, bits) == 0 => of,
            Self::Increment(bits) => of + (1 << bits.from),
            Self::Decrement(bits) if part(of, bits) == 0 => of,
            Self::Decrement(bits) => of - (1 << bits.from),
        }
    }
}

impl Condition {
    /// Whether `number` fulfils it.
    pub(crate) fn holds(&self, number: u64) -> bool {
        match self {
            Self::True => true,
            Self::Bit(bit, is_set) => (number >> bit & 1 == 1) == *is_set,
            Self::All(bits, are_set) => part(if *are_set { !number } else { number }, *bits) == 0,
            Self::Compare(bits, comparison, other) => comparison.holds(part(number, *bits), *other),
            Self::Count(bits, comparison, other) => {
                comparison.holds(part(number, *bits).count_ones().into(), *other)
            }
            Self::And(both) => both.iter().all(|it| it.holds(number)),
            Self::Or(any) => any.iter().any(|it| it.holds(number)),
            Self::Not(inner) => !inner.holds(number),
        }
    }
}

impl Comparison {
    fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}
