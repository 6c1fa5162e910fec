//! A place in a set of names as a text reaches it, in whatever spelling: the set has the canonical
//! one of each name.

use crate::grammar::{Escaped, Progress, after_byte, canonical};
use crate::stack::name::NameSoFar;
use crate::stack::seen::{Place, Seen};

/// The bytes that an escape may go on with, rising.
const ESCAPE_BYTES: &[u8] = b"\"/0123456789ABCDEF\\abcdefnrtu";

/// A beginning that some names have, and the escape that a text is inside of behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpelledPlace<'a> {
    place: Place<'a>,
    escape: Option<Progress>,
    /// Whether texts have the canonical spelling, too: then an escape comes only where a name has it.
    is_plain: bool,
}

/// A place that leads to names.
pub(crate) trait NamePlace: Copy {
    /// Whether the beginning is a name itself.
    fn is_name(self) -> bool;

    /// The bytes, rising, that a text may have next which becomes one of the names, and the places
    /// after them; inside an escape maybe more.
    fn nexts(self) -> impl Iterator<Item = (u8, Self)>;
}

/// Where names and texts are in the canonical spelling, and no escape has begun.
impl NamePlace for Place<'_> {
    #[inline]
    fn is_name(self) -> bool {
        Place::is_name(self)
    }

    #[inline]
    fn nexts(self) -> impl Iterator<Item = (u8, Self)> {
        Place::nexts(self)
    }
}

/// The steps out of a place, by what it is.
enum Nexts<A, B, C> {
    Plain(A),
    Spelled(B),
    InEscape(C),
}

impl<'a> SpelledPlace<'a> {
    /// The place of the empty beginning.
    pub(crate) fn start(seen: &'a Seen, is_plain: bool) -> Self {
        Self { place: seen.start(), escape: None, is_plain }
    }

    /// The place of a name that has begun, if some name begins so; `bytes` are its bytes so far.
    pub(crate) fn find(
        seen: &'a Seen,
        name: &NameSoFar,
        bytes: &[u8],
        is_plain: bool,
    ) -> Option<Self> {
        Some(Self { place: seen.find(bytes)?, escape: name.escape(), is_plain })
    }

    /// The escape that the text is inside of.
    pub(crate) fn escape(self) -> Option<Progress> {
        self.escape
    }

    /// The place before that escape.
    pub(crate) fn place(self) -> Place<'a> {
        self.place
    }

    fn after_escape(self, progress: Progress, byte: u8) -> Option<Self> {
        match after_byte(progress, byte) {
            Escaped::Inside(next) => Some(Self { escape: Some(next), ..self }),
            Escaped::Char(c) => {
                Some(Self { place: self.place.after(&canonical(c))?, escape: None, ..self })
            }
            Escaped::Wrong => None,
        }
    }
}

impl NamePlace for SpelledPlace<'_> {
    fn is_name(self) -> bool {
        self.escape.is_none() && self.place.is_name()
    }

    fn nexts(self) -> impl Iterator<Item = (u8, Self)> {
        let begun = Self { escape: Some(Progress::Escape), ..self };
        let after = move |(byte, place)| match byte {
            b'\\' => (byte, begun),
            _ => (byte, Self { place, ..self }),
        };
        if let Some(progress) = self.escape {
            let nexts = ESCAPE_BYTES.iter();
            Nexts::InEscape(
                nexts.filter_map(move |&byte| Some((byte, self.after_escape(progress, byte)?))),
            )
        } else if self.is_plain {
            Nexts::Plain(self.place.nexts().map(after))
        } else {
            let below = self.place.nexts().filter(|&(byte, _)| byte < b'\\').map(after);
            let above = self.place.nexts().filter(|&(byte, _)| byte > b'\\').map(after);
            Nexts::Spelled(below.chain([(b'\\', begun)]).chain(above))
        }
    }
}

impl<T, A, B, C> Iterator for Nexts<A, B, C>
where
    A: Iterator<Item = T>,
    B: Iterator<Item = T>,
    C: Iterator<Item = T>,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            Self::Plain(nexts) => nexts.next(),
            Self::Spelled(nexts) => nexts.next(),
            Self::InEscape(nexts) => nexts.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::grammar::HashKey;
    use crate::stack::seen::Seen;
    use crate::stack::spelled_place::{NamePlace, SpelledPlace};

    #[test]
    fn every_spelling_of_a_name_leads_to_it() {
        let key = HashKey::random();
        let names = ["ab", "a\\n", "\\u0001", "é", "😀b", "/"];
        let seen = Seen::one(&key, b"a");
        let seen = names.iter().fold(seen, |seen, name| seen.with(&key, name.as_bytes()));
        let reach = |text: &str| {
            text.bytes().try_fold(SpelledPlace::start(&seen, false), |at, byte| {
                let nexts: Vec<(u8, SpelledPlace<'_>)> = at.nexts().collect();
                assert!(nexts.windows(2).all(|pair| pair[0].0 < pair[1].0), "they rise");
                nexts.into_iter().find(|(next, _)| *next == byte).map(|(_, place)| place)
            })
        };
        for text in [
            "a",
            "\\u0061",
            "\\u0061b",
            "a\\n",
            "a\\u000A",
            "\\u0061\\u000a",
            "\\u0001",
            "é",
            "\\u00E9",
            "\\uD83d\\ude00b",
            "\\/",
        ] {
            assert!(reach(text).is_some_and(SpelledPlace::is_name), "{text}");
        }
        for text in ["", "\\", "\\u00", "😀", "\\ud83d", "\\uD83D\\u"] {
            assert!(reach(text).is_some_and(|place| !place.is_name()), "{text}");
        }
        for text in ["b", "\\u0062", "\\n", "\\ud83d\\ude01", "\\ud83da", "\n"] {
            assert!(reach(text).is_none(), "{text}");
        }
    }
}
