//! Splits all characters into the fewest sets that the classes of one pattern do not cut.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::grammar::CharSet;
use crate::limits::Budget;

/// The atoms of a pattern: all characters of one atom are alike to every class of the pattern, so
/// one of them speaks for all.
#[derive(Debug)]
pub(crate) struct Atoms {
    sets: Vec<CharSet>,
    // Invariant: the first character of each set.
    samples: Vec<char>,
}

impl Atoms {
    /// For a pattern without look-around, which never asks.
    pub(crate) fn none() -> Self {
        Self { sets: Vec::new(), samples: Vec::new() }
    }

    pub(crate) fn new(classes: &[&CharSet], budget: &mut Budget) -> Result<Self, Error> {
        // Where each class begins and ends, as (code point, class); toggling gives membership.
        let mut edges: Vec<(u32, usize)> = Vec::new();
        let mut numbers: FxHashMap<&CharSet, usize> = FxHashMap::default();
        for &class in classes {
            let number = numbers.len();
            if *numbers.entry(class).or_insert(number) == number {
                for &(low, high) in class.ranges() {
                    budget.tick()?;
                    edges.extend([(low, number), (high + 1, number)]);
                }
            }
        }
        edges.sort_unstable();
        let mut inside = vec![0_u64; numbers.len().div_ceil(64)];
        let mut found: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        let mut ranges: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut from = 0;
        let mut add = |inside: &[u64], low: u32, high: u32| {
            let number = *found.entry(inside.to_vec()).or_insert_with(|| {
                ranges.push(Vec::new());
                ranges.len() - 1
            });
            ranges[number].push((low, high));
        };
        for (at, class) in edges {
            budget.tick()?;
            if at > from {
                add(&inside, from, at - 1);
                from = at;
            }
            inside[class / 64] ^= 1 << (class % 64);
        }
        if from <= u32::from(char::MAX) {
            add(&inside, from, char::MAX.into());
        }
        let sets: Vec<CharSet> = ranges.into_iter().map(CharSet::from_code_points).collect();
        // The surrogates alone would be an atom without characters.
        let sets: Vec<CharSet> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        let samples = sets.iter().filter_map(|set| char::from_u32(set.ranges()[0].0)).collect();
        Ok(Self { sets, samples })
    }

    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// A character of the atom.
    pub(crate) fn sample(&self, atom: usize) -> char {
        self.samples[atom]
    }

    /// The atoms that make up a class of the pattern.
    pub(crate) fn of(&self, class: &CharSet) -> Vec<usize> {
        (0..self.len()).filter(|&atom| class.contains(self.samples[atom])).collect()
    }

    /// The characters of several atoms.
    pub(crate) fn union(&self, atoms: &[usize]) -> CharSet {
        CharSet::from_code_points(
            atoms.iter().flat_map(|&atom| self.sets[atom].ranges().iter().copied()),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::frontend::regex::atoms::Atoms;
    use crate::grammar::CharSet;
    use crate::limits::Budget;

    #[test]
    fn classes_are_cut_where_they_overlap() {
        let (low, high) = (CharSet::new([('a', 'm')]), CharSet::new([('h', 'z')]));
        let atoms = Atoms::new(&[&low, &high, &low], &mut Budget::default()).expect("no limit");
        assert_eq!(atoms.len(), 4, "only low, both, only high, neither");
        assert_eq!(atoms.union(&atoms.of(&low)), low);
        assert_eq!(atoms.union(&atoms.of(&high)), high);
    }

    #[test]
    fn no_classes_leave_one_atom() {
        let atoms = Atoms::new(&[], &mut Budget::default()).expect("no limit");
        assert_eq!(atoms.union(&[0]), CharSet::any());
    }
}
