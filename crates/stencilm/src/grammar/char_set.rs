//! Sets of Unicode scalar values: the one place that merges, negates and intersects ranges.
//!
//! In: ranges in any order, overlapping or not. Out: one canonical form, so that
//! equal sets compare equal and print the same.

use std::{fmt, sync::Arc};

const FIRST_SURROGATE: u32 = 0xD800;
const LAST_SURROGATE: u32 = 0xDFFF;
const LAST: u32 = 0x10_FFFF;

/// A set of Unicode scalar values (code points without surrogates).
///
/// ```
/// use stencilm::grammar::CharSet;
///
/// let digits = CharSet::new([('5', '9'), ('0', '6')]);
/// assert_eq!(digits.to_string(), "[0-9]");
/// assert!(!digits.negate().contains('7'));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CharSet {
    // Invariant: sorted, at least one code point lies between two neighbours, no surrogate
    // inside; a range that would span the surrogates is cut in two. Shared by clones: a pattern may
    // name the same property of Unicode a million times.
    ranges: Arc<[(u32, u32)]>,
}

impl CharSet {
    /// Collects inclusive ranges. A range with `low > high` is empty.
    pub fn new(ranges: impl IntoIterator<Item = (char, char)>) -> Self {
        Self::from_code_points(ranges.into_iter().map(|(low, high)| (low.into(), high.into())))
    }

    /// Collects inclusive ranges of code points; surrogates and what lies beyond Unicode are
    /// left out.
    pub fn from_code_points(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for (low, high) in ranges {
            let below = (low, high.min(FIRST_SURROGATE - 1));
            let above = (low.max(LAST_SURROGATE + 1), high.min(LAST));
            sorted.extend([below, above].into_iter().filter(|(low, high)| low <= high));
        }
        sorted.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match merged.last_mut() {
                Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self { ranges: merged.into() }
    }

    /// The set of these characters.
    pub fn of(characters: impl IntoIterator<Item = char>) -> Self {
        Self::new(characters.into_iter().map(|c| (c, c)))
    }

    /// Every scalar value.
    #[must_use]
    pub fn any() -> Self {
        Self::from_code_points([(0, LAST)])
    }

    /// Whether `c` is in the set.
    #[must_use]
    pub fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        let at = self.ranges.partition_point(|&(_, high)| high < c);
        self.ranges.get(at).is_some_and(|&(low, _)| low <= c)
    }

    /// Whether no character is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many characters there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(|&(low, high)| high - low + 1).sum()
    }

    /// The inclusive ranges, sorted, not touching each other.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// The set of all characters that are not in this one.
    #[must_use]
    pub fn negate(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.ranges.len() + 2);
        let mut next = 0;
        // The surrogates are in no set.
        let ends = self.ranges.iter().copied().chain([(LAST + 1, LAST + 1)]);
        for (low, high) in ends {
            let below = (next, (low.max(1) - 1).min(FIRST_SURROGATE - 1));
            let above = (next.max(LAST_SURROGATE + 1), low.max(1) - 1);
            gaps.extend([below, above].into_iter().filter(|(from, to)| from <= to && *from < low));
            next = high + 1;
        }
        Self { ranges: gaps.into() }
    }

    /// The characters of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::from_code_points(self.ranges.iter().chain(other.ranges.iter()).copied())
    }

    /// The characters of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (0, 0);
        let mut common = Vec::new();
        while let (Some(&a), Some(&b)) = (self.ranges.get(left), other.ranges.get(right)) {
            let both = (a.0.max(b.0), a.1.min(b.1));
            if both.0 <= both.1 {
                common.push(both);
            }
            if a.1 < b.1 {
                left += 1;
            } else {
                right += 1;
            }
        }
        // In order, and apart: neighbours are in one range of both.
        Self { ranges: common.into() }
    }

    /// The characters of this set that `other` lacks.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.negate())
    }

    /// Whether every character of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.intersection(other) == *self
    }

    /// The part of the set in `low..=high`, as code points.
    #[must_use]
    pub fn clamp(&self, low: u32, high: u32) -> Self {
        let from = self.ranges.partition_point(|&(_, last)| last < low);
        let parts = self.ranges[from..].iter().take_while(|&&(first, _)| first <= high);
        Self { ranges: parts.map(|&(a, b)| (a.max(low), b.min(high))).collect() }
    }

    /// Whether some code point of `low..=high` is in the set.
    #[must_use]
    pub(crate) fn meets(&self, low: u32, high: u32) -> bool {
        let at = self.ranges.partition_point(|&(_, last)| last < low);
        self.ranges.get(at).is_some_and(|&(first, _)| first <= high)
    }

    /// Whether every scalar value of `low..=high` is in the set.
    #[must_use]
    pub fn covers(&self, low: u32, high: u32) -> bool {
        let below = (low, high.min(FIRST_SURROGATE - 1));
        let above = (low.max(LAST_SURROGATE + 1), high.min(LAST));
        [below, above].iter().filter(|(low, high)| low <= high).all(|&(low, high)| {
            let at = self.ranges.partition_point(|&(_, last)| last < high);
            self.ranges.get(at).is_some_and(|&(first, _)| first <= low)
        })
    }
}

impl fmt::Display for CharSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for &(low, high) in self.ranges.iter() {
            write_char(f, low)?;
            if low != high {
                f.write_str("-")?;
                write_char(f, high)?;
            }
        }
        f.write_str("]")
    }
}

/// One character of a class, escaped where a class gives it a meaning of its own.
fn write_char(f: &mut fmt::Formatter<'_>, code: u32) -> fmt::Result {
    match char::from_u32(code) {
        Some(c @ ('\\' | ']' | '[' | '^' | '-')) => write!(f, "\\{c}"),
        Some(c) if c.is_ascii_graphic() || c == ' ' => write!(f, "{c}"),
        Some(_) if code < 0x100 => write!(f, "\\x{code:02X}"),
        Some(_) if code < 0x1_0000 => write!(f, "\\u{code:04X}"),
        _ => write!(f, "\\U{code:08X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::CharSet;

    /// The only place in this module's tests that calls the API.
    #[track_caller]
    fn check(ranges: &[(char, char)], printed: &str) {
        let set = CharSet::new(ranges.iter().copied());
        assert_eq!(set.to_string(), printed);
        assert_eq!(set.negate().negate(), set, "negating twice must change nothing");
        assert!(set.intersection(&set.negate()).is_empty());
        assert_eq!(set.union(&set.negate()), CharSet::any());
    }

    #[test]
    fn overlapping_ranges_merge() {
        check(&[('k', 'z'), ('a', 'm')], "[a-z]");
    }

    #[test]
    fn touching_ranges_merge() {
        check(&[('a', 'b'), ('c', 'd')], "[a-d]");
    }

    #[test]
    fn surrogates_are_left_out() {
        check(&[('\0', char::MAX)], r"[\x00-\uD7FF\uE000-\U0010FFFF]");
    }

    #[test]
    fn the_empty_set_prints() {
        check(&[('z', 'a')], "[]");
    }

    #[test]
    fn a_clamp_keeps_only_what_lies_inside() {
        let set = CharSet::new([('a', 'f'), ('p', 'z')]);
        assert_eq!(set.clamp('e'.into(), 'q'.into()), CharSet::new([('e', 'f'), ('p', 'q')]));
        assert!(set.covers('b'.into(), 'c'.into()) && !set.covers('f'.into(), 'p'.into()));
    }

    #[test]
    fn surrogates_are_no_gap() {
        let any = CharSet::any();
        assert!(any.covers(0xD000, 0xE000) && any.covers(0xD800, 0xDFFF));
        assert!(!CharSet::new([('\0', '\u{D7FF}')]).covers(0xD7FF, 0xE000));
        for set in [any, CharSet::new([]), CharSet::of(['\0', '\u{D7FF}', '\u{E000}', char::MAX])] {
            let gaps =
                (0..=char::MAX.into()).filter_map(char::from_u32).filter(|&c| !set.contains(c));
            assert_eq!(set.negate(), CharSet::of(gaps));
        }
    }
}
