//! What the dialects mean by `.`, `\d`, `\s`, `\w`, `\p{…}` and the case of letters.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frontend::regex::classes::{
    digits, ignoring_case, line_terminators, property, python_space, space, word,
};
use crate::frontend::regex::parse::Parser;
use crate::frontend::regex::{Dialect, RegexOptions};
use crate::grammar::CharSet;

/// The sets that escapes of this pattern stand for, each made once and shared.
#[derive(Debug, Default)]
pub(crate) struct Meanings(FxHashMap<Key, CharSet>);

/// An escape and the flags that it depends on.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    is_negative: bool,
    is_ascii: bool,
    ignore_case: bool,
}

impl RegexOptions {
    /// What `.` leaves out, and where lines end for `^` and `$`.
    pub(crate) fn line_terminators(self) -> CharSet {
        match self.dialect {
            Dialect::Ecma => line_terminators(),
            Dialect::Python => CharSet::of(['\n']),
        }
    }

    /// The characters that are equal to one of `set` when case is ignored.
    pub(crate) fn ignoring_case(self, set: &CharSet) -> CharSet {
        match self.dialect {
            _ if self.ascii => {
                let letters = set.ranges().iter().flat_map(|&(low, high)| {
                    // ASCII letters differ from their other case in one bit.
                    let part = |first: char, last: char| {
                        let (low, high) = (low.max(first.into()), high.min(last.into()));
                        (low <= high).then_some((low ^ 0x20, high ^ 0x20))
                    };
                    [part('A', 'Z'), part('a', 'z')].into_iter().flatten()
                });
                set.union(&CharSet::from_code_points(letters))
            }
            Dialect::Ecma => ignoring_case(set),
            Dialect::Python => {
                // Python compares lower-case letters, of which simple folding knows nothing: `İ`
                // and `I` have the same, and `ı` has the same upper-case letter.
                let dots = CharSet::of(['I', 'i', '\u{130}', '\u{131}']);
                let folded = ignoring_case(set);
                let has_dots = !set.intersection(&dots).is_empty();
                if has_dots { folded.union(&dots) } else { folded }
            }
        }
    }
}

impl Parser<'_> {
    /// What `\d`, `\s` or `\w` stands for, or the same letter in upper case for all others.
    pub(crate) fn class(&mut self, letter: char) -> CharSet {
        let RegexOptions { ascii, ignore_case, .. } = self.flags;
        let name = letter.to_string();
        let key = Key { name, is_negative: false, is_ascii: ascii, ignore_case };
        if let Some(known) = self.meanings.0.get(&key) {
            return known.clone();
        }
        let set = match letter.to_ascii_lowercase() {
            'd' => self.digits(),
            's' => self.space(),
            _ => self.letters(),
        };
        let set = if letter.is_ascii_uppercase() { set.negate() } else { set };
        self.meanings.0.insert(key, set.clone());
        set
    }

    fn digits(&self) -> CharSet {
        if self.is_python() && !self.flags.ascii { unicode(&["gc=Nd"]) } else { digits() }
    }

    fn space(&self) -> CharSet {
        match self.flags.dialect {
            Dialect::Ecma => space(),
            Dialect::Python if self.flags.ascii => CharSet::new([('\t', '\r'), (' ', ' ')]),
            Dialect::Python => python_space(),
        }
    }

    /// In ECMA-262 what is equal to a letter of `\w` belongs to it.
    fn letters(&self) -> CharSet {
        match self.flags.dialect {
            Dialect::Ecma => self.fold(&word()),
            Dialect::Python if self.flags.ascii => word(),
            Dialect::Python => unicode(&["gc=L", "gc=N"]).union(&CharSet::of(['_'])),
        }
    }

    /// What `\p{name}` stands for, or `\P{name}`, under the flag `i` in either case.
    pub(crate) fn property(
        &mut self,
        name: &str,
        is_negative: bool,
        offset: usize,
    ) -> Result<CharSet, Error> {
        let ignore_case = self.flags.ignore_case;
        let key = Key { name: format!("{{{name}}}"), is_negative, is_ascii: false, ignore_case };
        if let Some(known) = self.meanings.0.get(&key) {
            return Ok(known.clone());
        }
        let set = property(name, offset)?;
        let set = self.fold(&if is_negative { set.negate() } else { set });
        self.meanings.0.insert(key, set.clone());
        Ok(set)
    }
}

fn unicode(properties: &[&str]) -> CharSet {
    let sets = properties.iter().filter_map(|name| property(name, 0).ok());
    sets.fold(CharSet::of([]), |all, set| all.union(&set))
}
