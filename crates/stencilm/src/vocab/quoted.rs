//! Tokens with quotes, by the member names that may begin or end in them: `"id":`, `,"a`, `x":"`.

use std::collections::HashMap;

use crate::grammar::canonical_text;
use crate::vocab::indexed_trie::IndexedTrie;
use crate::vocab::texts::Texts;
use crate::vocab::trie::Trie;

/// An index of the tokens that have a quote.
#[derive(Debug)]
pub struct Quoted {
    tokens: IndexedTrie,
    names: IndexedTrie,
    opening: Box<[u32]>,
    reopening: Box<[u32]>,
    repeated: Box<[u32]>,
    rejoined: Box<[Rejoined]>,
}

/// A token that may end one name and has another, or the beginning of one, behind it.
#[derive(Debug)]
pub struct Rejoined {
    /// The token.
    pub token: u32,
    /// How many of its bytes belong to the first name.
    pub end: u32,
    /// Whether an escape is among these.
    pub has_escape: bool,
    /// The other name in its canonical spelling, as far as its characters are whole.
    pub name: Box<[u8]>,
    /// Whether the other name ends in the token, too.
    pub is_whole: bool,
}

/// A name, or the beginning of one, inside a token.
struct Name {
    /// The place of its first byte.
    start: usize,
    /// The place of its closing quote; none if the token ends before.
    end: Option<usize>,
}

impl Quoted {
    pub(super) fn of(texts: &Texts, order: &[u32]) -> Self {
        let mut by_name: Vec<(Box<[u8]>, u32)> = Vec::new();
        let mut with_quote: Vec<u32> = Vec::new();
        let (mut opening, mut reopening) = (Vec::new(), Vec::new());
        let (mut repeated, mut rejoined) = (Vec::new(), Vec::new());
        for &token in order {
            let text = texts.of(token);
            if !text.contains(&b'"') {
                continue;
            }
            with_quote.push(token);
            let names = names_in(text);
            for name in &names {
                // Whole names with their closing quote, others without.
                let end = name.end.map_or(text.len(), |end| end + 1);
                if end > name.start {
                    by_name.push((text[name.start..end].into(), token));
                }
            }
            if names.iter().any(|name| name.start == text.len()) {
                opening.push(token);
                if names.iter().any(|name| name.end.is_some()) {
                    reopening.push(token);
                }
            }
            if has_repeated(text, &names) {
                repeated.push(token);
            }
            for end in first_ends(text) {
                let later = names.iter().filter(|name| name.start > end + 1);
                rejoined.extend(later.filter_map(|name| {
                    let inside = &text[name.start..name.end.unwrap_or(text.len())];
                    let is_whole = name.end.is_some();
                    if inside.is_empty() && !is_whole {
                        return None;
                    }
                    Some(Rejoined {
                        token,
                        end: crate::vocab::trie_builder::to_u32(end),
                        has_escape: text[..end].contains(&b'\\'),
                        name: canonical_text(inside)?.0.into(),
                        is_whole,
                    })
                }));
            }
        }
        by_name.sort_unstable();
        by_name.dedup();
        Self {
            tokens: IndexedTrie::new(Trie::from_sorted(
                with_quote.iter().map(|&id| (texts.of(id), id)),
            )),
            names: IndexedTrie::new(Trie::from_sorted(
                by_name.iter().map(|(name, id)| (&**name, *id)),
            )),
            opening: opening.into(),
            reopening: reopening.into(),
            repeated: repeated.into(),
            rejoined: rejoined.into(),
        }
    }

    /// The tokens that have a quote.
    #[must_use]
    pub fn tokens(&self) -> &IndexedTrie {
        &self.tokens
    }

    /// The same tokens by what follows an opening quote in them, after `{`, `[`, `,`, white space or
    /// nothing: a whole name and its closing quote, or the beginning of a name.
    #[must_use]
    pub fn names(&self) -> &IndexedTrie {
        &self.names
    }

    /// The tokens that end with an opening quote.
    #[must_use]
    pub fn opening(&self) -> &[u32] {
        &self.opening
    }

    /// Those among them that have a whole name before.
    #[must_use]
    pub fn reopening(&self) -> &[u32] {
        &self.reopening
    }

    /// The tokens in which a name may come twice, or a beginning of it after it.
    #[must_use]
    pub fn repeated(&self) -> &[u32] {
        &self.repeated
    }

    /// The tokens that may end a name and have another behind it.
    #[must_use]
    pub fn rejoined(&self) -> &[Rejoined] {
        &self.rejoined
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.tokens.size_in_bytes()
            + self.names.size_in_bytes()
            + (self.opening.len() + self.reopening.len() + self.repeated.len()) * 4
            + self.rejoined.iter().map(|it| size_of::<Rejoined>() + it.name.len()).sum::<usize>()
    }
}

/// All names that a quote in `text` may open.
fn names_in(text: &[u8]) -> Vec<Name> {
    let mut names = Vec::new();
    for at in (0..text.len()).filter(|&at| text[at] == b'"') {
        let before = at.checked_sub(1).map(|at| text[at]);
        if matches!(before, None | Some(b'{' | b'[' | b',' | b' ' | b'\t' | b'\n' | b'\r')) {
            names.push(Name { start: at + 1, end: closing_quote(text, at + 1, false) });
        }
    }
    names
}

/// The first quote from `from` on that is not escaped.
fn closing_quote(text: &[u8], from: usize, mut is_escaped: bool) -> Option<usize> {
    for (at, &byte) in text.iter().enumerate().skip(from) {
        if byte == b'"' && !is_escaped {
            return Some(at);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    None
}

/// Where a name may end that began before the token.
fn first_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    let plain = closing_quote(text, 0, false);
    let escaped = closing_quote(text, 0, true);
    plain.into_iter().chain(escaped.filter(|_| escaped != plain))
}

/// Whether a whole name comes a second time behind it, or a beginning of it does.
fn has_repeated(text: &[u8], names: &[Name]) -> bool {
    let mut first_end: HashMap<Vec<u8>, usize> = HashMap::new();
    for name in names {
        // However they are spelled: what is no name in JSON is none that came.
        if let Some(end) = name.end {
            let Some((whole, _)) = canonical_text(&text[name.start..end]) else { continue };
            let first = *first_end.entry(whole).or_insert(end);
            if first + 1 < name.start {
                return true;
            }
            continue;
        }
        let Some((beginning, is_cut)) = canonical_text(&text[name.start..]) else { continue };
        let is_beginning = |(whole, &end): (&Vec<u8>, &usize)| {
            end + 1 < name.start && whole.starts_with(&beginning)
        };
        if (is_cut || !beginning.is_empty()) && first_end.iter().any(is_beginning) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::vocab::Vocabulary;

    fn index(tokens: &[&str]) -> Vocabulary {
        Vocabulary::new(tokens.iter().map(Some), [], []).expect("a vocabulary")
    }

    #[test]
    fn tokens_are_found_by_the_names_in_them() {
        let tokens = [
            "a",
            "\"",
            "\"id\":",
            ",\"id\":1,\"a",
            "x\"id\"",
            "{ \"\\\"\"",
            "[\"id\"]",
            "\"i\\",
            "",
        ];
        let vocabulary = index(&tokens);
        let quoted = vocabulary.quoted();
        let mut found: Vec<(&[u8], Vec<u32>)> = Vec::new();
        for text in [&b"id\""[..], b"a", b"\\\"\"", b"i\\", b"\"", b""] {
            let node = quoted.names().trie().find(text);
            found
                .push((text, node.map_or(vec![], |at| quoted.names().trie().tokens_at(at).into())));
        }
        let expected: Vec<(&[u8], Vec<u32>)> = vec![
            (b"id\"", vec![2, 3, 6]),
            (b"a", vec![3]),
            (b"\\\"\"", vec![5]),
            (b"i\\", vec![7]),
            (b"\"", vec![]),
            (b"", vec![]),
        ];
        assert_eq!(found, expected);
        let mut all = quoted.tokens().trie().tokens().to_vec();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn tokens_that_may_have_a_name_twice_are_known() {
        let tokens = [
            "{\"a\":1,\"a\":",
            "{\"ab\":1,\"a",
            "{\"a\":1,\"ab",
            "{\"a\":1,\"",
            "\" \" \"",
            "{\"a\":\"a\"",
            "b\":1,\"b\"",
            "{\"a\":1,\"\\u0061\":",
            "{\"a\":1,\"\\u00",
            "{\"a\":1,\"\\u0062\":",
        ];
        let vocabulary = index(&tokens);
        let mut repeated = vocabulary.quoted().repeated().to_vec();
        repeated.sort_unstable();
        assert_eq!(repeated, [0, 1, 7, 8]);
        let rejoined = vocabulary.quoted().rejoined().iter();
        let last = rejoined.filter(|it| it.token == 6).map(|it| (it.end, &*it.name, it.is_whole));
        assert_eq!(last.collect::<Vec<_>>(), [(1, &b"b"[..], true)]);
    }
}
