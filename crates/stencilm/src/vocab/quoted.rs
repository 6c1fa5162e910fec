//! Tokens with quotes, by the member names that may begin or end in them: `"id":`, `,"a`, `x":"`.

use std::collections::HashMap;

use crate::vocab::texts::Texts;
use crate::vocab::trie::Trie;

/// An index of the tokens that have a quote.
#[derive(Debug)]
pub struct Quoted {
    tokens: IndexedTrie,
    names: IndexedTrie,
    repeated: Box<[u32]>,
    rejoined: Box<[Rejoined]>,
}

/// A trie whose root's children are found at once.
#[derive(Debug)]
pub struct IndexedTrie {
    trie: Trie,
    root: Box<[Option<u32>; 256]>,
}

impl IndexedTrie {
    pub(super) fn new(trie: Trie) -> Self {
        let mut root = Box::new([None; 256]);
        for child in trie.children(0) {
            root[usize::from(trie.byte(child))] = Some(child);
        }
        Self { trie, root }
    }

    /// The trie.
    #[must_use]
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The child of `node` that goes on with `byte`.
    #[must_use]
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 { self.root[usize::from(byte)] } else { self.trie.child(node, byte) }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.root) + self.trie.size_in_bytes()
    }
}

/// A token that may end one name and has another, or the beginning of one, behind it.
#[derive(Debug)]
pub struct Rejoined {
    /// The token.
    pub token: u32,
    /// How many of its bytes belong to the first name.
    pub end: u32,
    /// The other name's bytes, without quotes.
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
            if has_repeated(text, &names) {
                repeated.push(token);
            }
            for end in first_ends(text) {
                let later = names.iter().filter(|name| name.start > end + 1);
                rejoined.extend(later.filter_map(|name| {
                    let inside = &text[name.start..name.end.unwrap_or(text.len())];
                    let is_whole = name.end.is_some();
                    (is_whole || !inside.is_empty()).then(|| Rejoined {
                        token,
                        end: crate::vocab::trie_builder::to_u32(end),
                        name: inside.into(),
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
            repeated: repeated.into(),
            rejoined: rejoined.into(),
        }
    }

    /// The tokens that have a quote.
    #[must_use]
    pub fn tokens(&self) -> &IndexedTrie {
        &self.tokens
    }

    /// The same tokens by what follows an opening quote in them, after `{`, `,`, white space or
    /// nothing: a whole name and its closing quote, or the beginning of a name.
    #[must_use]
    pub fn names(&self) -> &IndexedTrie {
        &self.names
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
            + self.repeated.len() * 4
            + self.rejoined.iter().map(|it| size_of::<Rejoined>() + it.name.len()).sum::<usize>()
    }
}

/// All names that a quote in `text` may open.
fn names_in(text: &[u8]) -> Vec<Name> {
    let mut names = Vec::new();
    for at in (0..text.len()).filter(|&at| text[at] == b'"') {
        let before = at.checked_sub(1).map(|at| text[at]);
        if matches!(before, None | Some(b'{' | b',' | b' ' | b'\t' | b'\n' | b'\r')) {
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
    let mut first_end: HashMap<&[u8], usize> = HashMap::new();
    for name in names {
        match name.end {
            Some(end) => {
                let inside = &text[name.start..end];
                let first = *first_end.entry(inside).or_insert(end);
                if first + 1 < name.start {
                    return true;
                }
            }
            None => {
                let beginning = &text[name.start..];
                if !beginning.is_empty()
                    && first_end
                        .iter()
                        .any(|(whole, &end)| end + 1 < name.start && whole.starts_with(beginning))
                {
                    return true;
                }
            }
        }
    }
    false
}
