//! A matcher of regular expressions by the definition: the set of places where a match that begins
//! at a place may end. It shares nothing with the crate, not even the syntax tree.

use std::fmt;

/// A regular expression over the texts of the tests.
#[derive(Clone, Debug)]
pub(crate) enum Re {
    /// One of these characters, or none of them.
    Class {
        /// The characters.
        members: Vec<char>,
        /// Whether it is all the others.
        is_negated: bool,
    },
    /// A class or anchor as it is written.
    Written(&'static str),
    /// One after the other.
    Cat(Vec<Re>),
    /// Any of these.
    Alt(Vec<Re>),
    /// Counted; `None` for no bound.
    Rep(Box<Re>, u32, Option<u32>, bool),
    /// Look-ahead or look-behind, the second if the first flag is false; the second flag negates.
    Look(bool, bool, Box<Re>),
}

impl Re {
    /// Whether a match lies somewhere in the text.
    pub(crate) fn is_found_in(&self, text: &[char]) -> bool {
        (0..=text.len()).any(|start| self.ends(text, start) != 0)
    }

    /// Whether the whole text is a match.
    pub(crate) fn matches_all_of(&self, text: &[char]) -> bool {
        self.ends(text, 0) >> text.len() & 1 == 1
    }

    fn ends(&self, text: &[char], at: usize) -> u64 {
        let if_holds = |holds: bool| if holds { 1 << at } else { 0 };
        let if_next = |accepts: &dyn Fn(char) -> bool| match text.get(at) {
            Some(&c) if accepts(c) => 1 << (at + 1),
            _ => 0,
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_break = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        let word_before = at > 0 && is_word(text[at - 1]);
        let word_after = at < text.len() && is_word(text[at]);
        match self {
            Self::Class { members, is_negated } => {
                if_next(&|c| members.contains(&c) != *is_negated)
            }
            Self::Written("^") => if_holds(at == 0),
            Self::Written("$") => if_holds(at == text.len()),
            Self::Written("\\b") => if_holds(word_before != word_after),
            Self::Written("\\B") => if_holds(word_before == word_after),
            Self::Written("(?m:^)") => if_holds(at == 0 || is_break(text[at - 1])),
            Self::Written("(?m:$)") => if_holds(at == text.len() || is_break(text[at])),
            Self::Written("(?s:.)") => if_next(&|_| true),
            Self::Written("(?i:[A\u{c9}])") => if_next(&|c| c == 'a' || c == '\u{e9}'),
            Self::Written(".") => if_next(&|c| !is_break(c)),
            Self::Written("\\w") => if_next(&is_word),
            Self::Written("\\W") => if_next(&|c| !is_word(c)),
            Self::Written("\\s") => if_next(&char::is_whitespace),
            Self::Written(other) => panic!("{other} is not in these tests"),
            Self::Cat(parts) => parts.iter().fold(1 << at, |starts, part| part.step(text, starts)),
            Self::Alt(parts) => parts.iter().fold(0, |ends, part| ends | part.ends(text, at)),
            Self::Rep(body, min, max, _) => {
                let mut now = (0..*min).fold(1 << at, |starts, _| body.step(text, starts));
                let mut ends = now;
                let mut left = max.map_or(64, |max| max - min);
                while left > 0 {
                    now = body.step(text, now);
                    ends |= now;
                    left -= 1;
                }
                ends
            }
            Self::Look(true, is_negated, body) => {
                if_holds((body.ends(text, at) != 0) != *is_negated)
            }
            Self::Look(false, is_negated, body) => {
                let found = (0..=at).any(|start| body.ends(text, start) >> at & 1 == 1);
                if_holds(found != *is_negated)
            }
        }
    }

    fn step(&self, text: &[char], starts: u64) -> u64 {
        (0..=text.len())
            .filter(|start| starts >> start & 1 == 1)
            .fold(0, |ends, start| ends | self.ends(text, start))
    }
}

impl fmt::Display for Re {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class { members, is_negated: false } if members.len() == 1 => {
                write!(f, "{}", members[0])
            }
            Self::Class { members, is_negated } => {
                let members: String = members.iter().collect();
                write!(f, "[{}{members}]", if *is_negated { "^" } else { "" })
            }
            Self::Written(text) => f.write_str(text),
            Self::Cat(parts) => {
                f.write_str("(?:")?;
                parts.iter().try_for_each(|part| write!(f, "{part}"))?;
                f.write_str(")")
            }
            Self::Alt(parts) => {
                let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
                write!(f, "({})", parts.join("|"))
            }
            Self::Rep(body, min, max, is_lazy) => {
                write!(f, "(?:{body})")?;
                match (min, max) {
                    (0, None) => f.write_str("*")?,
                    (1, None) => f.write_str("+")?,
                    (0, Some(1)) => f.write_str("?")?,
                    (min, None) => write!(f, "{{{min},}}")?,
                    (min, Some(max)) if min == max => write!(f, "{{{min}}}")?,
                    (min, Some(max)) => write!(f, "{{{min},{max}}}")?,
                }
                f.write_str(if *is_lazy { "?" } else { "" })
            }
            Self::Look(is_ahead, is_negated, body) => {
                let side = if *is_ahead { "" } else { "<" };
                write!(f, "(?{side}{}{body})", if *is_negated { "!" } else { "=" })
            }
        }
    }
}
