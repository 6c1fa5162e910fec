//! Tokens in which one item of an array may end and another one begin: `},{"`, `1, -`.

use std::collections::BTreeMap;

use crate::vocab::texts::Texts;

/// An index of the tokens that have a comma and the beginning of a value behind it.
#[derive(Debug)]
pub struct Joints {
    joints: Box<[Joint]>,
}

/// The tokens that begin alike, up to such a comma.
#[derive(Debug)]
pub struct Joint {
    /// What they begin with, the comma included.
    pub until: Box<[u8]>,
    /// The tokens that go on in a value that is no string.
    pub others: Box<[u32]>,
    /// The tokens that go on in a string, or of which another notation than JSON has either item.
    pub strings: Box<[u32]>,
}

impl Joints {
    pub(super) fn of(texts: &Texts, order: &[u32]) -> Self {
        let mut joints: BTreeMap<&[u8], (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for &token in order {
            let text = texts.of(token);
            for (at, _) in text.iter().enumerate().filter(|&(_, &byte)| byte == b',') {
                let (before, after) = (&text[..at], &text[at + 1..]);
                if !may_end_json(before) && !may_end_other_string(before) {
                    continue;
                }
                if begins_string(after) || (may_begin_other(after) && !may_end_json(before)) {
                    joints.entry(&text[..=at]).or_default().1.push(token);
                } else if may_begin_other(after) {
                    joints.entry(&text[..=at]).or_default().0.push(token);
                }
            }
        }
        let joint = |(until, (others, strings)): (&[u8], (Vec<u32>, Vec<u32>))| Joint {
            until: until.into(),
            others: others.into(),
            strings: strings.into(),
        };
        Self { joints: joints.into_iter().map(joint).collect() }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Joint> {
        self.joints.iter()
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        let tokens = |it: &Joint| it.others.len() + it.strings.len();
        let joint = |it: &Joint| size_of::<Joint>() + it.until.len() + tokens(it) * 4;
        self.joints.iter().map(joint).sum()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a value of JSON may end here, before white space.
fn may_end_json(text: &[u8]) -> bool {
    let last = text.iter().rfind(|&&byte| !is_space(byte));
    last.is_none_or(|last| matches!(last, b'0'..=b'9' | b'"' | b']' | b'}' | b'e' | b'l'))
}

/// The same of a string in single quotes, or between marks.
fn may_end_other_string(text: &[u8]) -> bool {
    let last = text.iter().rfind(|&&byte| !is_space(byte));
    last.is_none_or(|last| matches!(last, b'\'' | b'>'))
}

/// Whether a string may begin here, after white space, or a word of Python.
fn begins_string(text: &[u8]) -> bool {
    let start = text.iter().position(|&byte| !is_space(byte));
    let text = start.map_or(&[][..], |start| &text[start..]);
    match text.first() {
        Some(b'"' | b'\'' | b'<') => true,
        Some(_) => [&b"True"[..], b"False", b"None"]
            .iter()
            .any(|word| word.starts_with(text) || text.starts_with(word)),
        None => false,
    }
}

/// Whether a value that is no string may begin here, after white space.
fn may_begin_other(text: &[u8]) -> bool {
    let start = text.iter().position(|&byte| !is_space(byte));
    let text = start.map_or(&[][..], |start| &text[start..]);
    match text.first() {
        Some(b'0'..=b'9' | b'-' | b'[' | b'{') => true,
        Some(b't' | b'f' | b'n') => [&b"true"[..], b"false", b"null"]
            .iter()
            .any(|word| word.starts_with(text) || text.starts_with(word)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::vocab::Vocabulary;

    #[test]
    fn tokens_are_found_by_what_comes_before_the_comma() {
        let tokens = [
            "},{", "} , [", "1,2,-", ",\"", ", ", ",tr", ",the", "(,1", ",0", "\n,null]", "', '",
            ">,1", "1, Tr", "a,'",
        ];
        let vocabulary = Vocabulary::new(tokens.iter().map(Some), [], []).expect("a vocabulary");
        let found: Vec<(&[u8], &[u32], &[u32])> =
            vocabulary.joints().iter().map(|it| (&*it.until, &*it.others, &*it.strings)).collect();
        let expected: [(&[u8], &[u32], &[u32]); 8] = [
            (b"\n,", &[9], &[]),
            (b"',", &[], &[10]),
            (b",", &[8, 5], &[3]),
            (b"1,", &[2], &[12]),
            (b"1,2,", &[2], &[]),
            (b">,", &[], &[11]),
            (b"} ,", &[1], &[]),
            (b"},", &[0], &[]),
        ];
        assert_eq!(found, expected);
    }
}
