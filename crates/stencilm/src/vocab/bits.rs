//! Sets of small numbers as words of 32 bits, laid out like a token mask.

/// How many words hold `count` bits.
pub(crate) fn words_for(count: usize) -> usize {
    count.div_ceil(32)
}

/// No number of `0..count`.
pub(crate) fn none_of(count: usize) -> Vec<u32> {
    vec![0; words_for(count)]
}

/// Whether `at` is in the set. What lies beyond the words is not.
pub(crate) fn has(words: &[u32], at: u32) -> bool {
    words.get((at >> 5) as usize).is_some_and(|word| word >> (at & 31) & 1 == 1)
}

/// Adds `at`, for which there must be a word.
pub(crate) fn insert(words: &mut [u32], at: u32) {
    words[(at >> 5) as usize] |= 1 << (at & 31);
}

/// The first number of the set that is not below `from`; one that is larger than all if there is none.
#[inline]
pub(crate) fn first_from(words: &[u32], from: u32) -> u32 {
    let mut at = (from >> 5) as usize;
    let mut word = words.get(at).copied().unwrap_or(0) & (u32::MAX << (from & 31));
    while word == 0 {
        at += 1;
        match words.get(at) {
            Some(&next) => word = next,
            None => return u32::MAX,
        }
    }
    u32::try_from(at * 32).map_or(u32::MAX, |first| first + word.trailing_zeros())
}

/// How many numbers are in the set.
pub(crate) fn count(words: &[u32]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// The numbers of the set in `from..to`, rising.
pub(crate) fn ones(words: &[u32], from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        while at < to {
            let word = words.get((at >> 5) as usize)? >> (at & 31);
            if word == 0 {
                at = (at | 31) + 1;
                continue;
            }
            let found = at + word.trailing_zeros();
            at = found + 1;
            return (found < to).then_some(found);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use crate::vocab::bits;

    /// The only place in this module's tests that calls the API.
    #[track_caller]
    fn check(members: &[u32], from: u32, to: u32) {
        let mut words = bits::none_of(100);
        for &at in members {
            bits::insert(&mut words, at);
        }
        let expected: Vec<u32> =
            members.iter().copied().filter(|at| (from..to).contains(at)).collect();
        assert_eq!(bits::ones(&words, from, to).collect::<Vec<_>>(), expected);
        let first = members.iter().copied().find(|&at| at >= from).unwrap_or(u32::MAX);
        assert_eq!(bits::first_from(&words, from), first);
        assert_eq!(bits::count(&words) as usize, members.len());
        assert!((0..200).all(|at| bits::has(&words, at) == members.contains(&at)));
    }

    #[test]
    fn numbers_come_back_in_order() {
        check(&[0, 31, 32, 63, 64, 99], 0, 100);
    }

    #[test]
    fn a_range_cuts_both_ends() {
        check(&[0, 5, 40, 41, 95], 5, 41);
    }

    #[test]
    fn beyond_the_words_there_is_nothing() {
        check(&[1, 99], 2, 4_000);
    }
}
