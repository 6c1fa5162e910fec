//! Counted characters before a mark that they may not have inside: masks against a judge that reads a
//! text from its beginning.

#[path = "support/masks.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod masks;

use proptest::prelude::*;
use stencilm::Budget;

use masks::{compile_grammar, limits, vocabulary, walk};

/// These, and the beginnings of those that end with a character of several bytes.
fn with_cut_off(mut tokens: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_cut = |token: &&Vec<u8>| token.len() > 1 && !token.is_ascii();
    let cut = tokens.iter().filter(is_cut).map(|token| token[..token.len() - 1].to_vec());
    let cut: Vec<_> = cut.collect();
    tokens.extend(cut);
    tokens.sort();
    tokens.dedup();
    tokens
}

/// What the characters before the mark may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All but those of the mark.
    Plain,
    /// Anything without the mark inside.
    Free,
    /// The same, but no `b`.
    Narrow,
    /// The same, with no line end at the end.
    Line,
    /// The same, and no `b` either.
    NarrowLine,
    /// A line end before it and after it, or none at either place.
    Framed,
}

const KINDS: [Kind; 6] =
    [Kind::Plain, Kind::Free, Kind::Narrow, Kind::Line, Kind::NarrowLine, Kind::Framed];

const MARK: &str = "<|";

fn grammar(kind: Kind, min: usize, max: usize) -> String {
    let free = format!("- (.* \"{MARK}\" .*)");
    let text = match kind {
        Kind::Plain => format!("[^<|]{{{min},{max}}}"),
        Kind::Free => format!("(.{{{min},{max}}} {free})"),
        Kind::Narrow => format!("([^b]{{{min},{max}}} {free})"),
        Kind::Line => format!("(.{{{min},{max}}} {free} - (.* \"\\n\"))"),
        Kind::NarrowLine => format!("([^b]{{{min},{max}}} {free} - (.* \"\\n\"))"),
        Kind::Framed => {
            let text = format!("(.{{{min},{max}}} {free})");
            format!("(\"\\n\" {text} \"\\n\" | {text} - (\"\\n\" .* | .* \"\\n\"))")
        }
    };
    format!("root ::= {text} \"{MARK}\" \"z\"?")
}

/// Whether the characters before the mark may be these, how many may come beside them, and whether more
/// may come.
struct Judge {
    kind: Kind,
    min: usize,
    max: usize,
}

impl Judge {
    fn has_only(&self, text: &str) -> bool {
        match self.kind {
            Kind::Plain => !text.contains(['<', '|']),
            Kind::Narrow | Kind::NarrowLine => !text.contains(MARK) && !text.contains('b'),
            Kind::Free | Kind::Line | Kind::Framed => !text.contains(MARK),
        }
    }

    /// Whether this may stand before the mark.
    fn is_whole(&self, text: &str) -> bool {
        let is_counted = |text: &str| {
            (self.min..=self.max).contains(&text.chars().count()) && self.has_only(text)
        };
        match self.kind {
            Kind::Plain | Kind::Free | Kind::Narrow => is_counted(text),
            Kind::Line | Kind::NarrowLine => is_counted(text) && !text.ends_with('\n'),
            Kind::Framed => match text.strip_prefix('\n') {
                Some(rest) => rest.strip_suffix('\n').is_some_and(is_counted),
                None => is_counted(text) && !text.ends_with('\n'),
            },
        }
    }

    /// Whether something may stand before the mark that begins so.
    fn begins(&self, text: &str) -> bool {
        // Nothing speaks against an `a`, and a line end may be asked for.
        let most = self.max + 2;
        (0..=most.saturating_sub(text.chars().count()))
            .flat_map(|more| ["", "\n"].map(|end| format!("{text}{}{end}", "a".repeat(more))))
            .any(|longer| self.is_whole(&longer))
    }

    fn is_live(&self, text: &[u8]) -> bool {
        let within = match std::str::from_utf8(text) {
            Ok(text) => self.begins(text),
            // Any character that begins so will do.
            Err(error) if error.error_len().is_none() => {
                let (whole, _) = text.split_at(error.valid_up_to());
                self.begins(&format!("{}é", std::str::from_utf8(whole).expect("it is valid")))
            }
            Err(_) => false,
        };
        within || self.after_text(text).any(|rest| !rest.is_empty() && b"<|z".starts_with(rest))
    }

    fn is_sentence(&self, text: &[u8]) -> bool {
        self.after_text(text).any(|rest| rest == b"<|" || rest == b"<|z")
    }

    /// What is left behind each text that may stand before the mark.
    fn after_text<'a>(&self, text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        (0..=text.len()).map(|at| text.split_at(at)).filter_map(|(before, rest)| {
            let before = std::str::from_utf8(before).ok()?;
            self.is_whole(before).then_some(rest)
        })
    }
}

fn text() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof!["a", "b", " ", "é", "\n", "<", "|", "<|", "<|z", "aaaa", "\u{1F600}", "a\n"];
    proptest::collection::vec(piece, 1..7).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn masks_before_a_mark_are_those_of_a_reader(
        which in 0..KINDS.len(),
        min in 0_usize..6,
        more in 0_usize..12,
        texts in proptest::collection::vec(text(), 60),
        choices in proptest::collection::vec(0_usize..1_000, 12),
        is_small in proptest::bool::ANY,
    ) {
        let (kind, max) = (KINDS[which], (min + more).max(1));
        let judge = Judge { kind, min, max };
        let grammar = grammar(kind, min, max);
        let grammar = stencilm::from_ebnf(&grammar, "root", &mut Budget::default());
        let tokens = with_cut_off(vocabulary(&texts));
        let compiled = compile_grammar(&grammar.expect("it is a grammar"), &tokens, limits(is_small))?;
        walk(
            &tokens,
            &compiled,
            &|text| judge.is_live(text),
            &|text| judge.is_sentence(text),
            &choices,
        )?;
    }

    #[test]
    fn the_end_of_a_counted_character_may_be_missing(
        (min, more) in (0_usize..3, 0_usize..3),
        last in prop_oneof!["", "δ", "δε", "x", "я"],
        cuts in proptest::collection::vec((0_usize..1_000, 0_usize..8, 2_usize..9), 40),
        choices in proptest::collection::vec(0_usize..1_000, 6),
        is_small in proptest::bool::ANY,
    ) {
        let max = (min + more).max(1);
        let class = "αβγ€ø";
        let mut texts = vec![String::new()];
        for length in 0..max {
            let from = texts.iter().position(|text| text.chars().count() == length);
            for at in from.expect("some text is as long")..texts.len() {
                texts.extend(class.chars().map(|c| format!("{}{c}", texts[at])).collect::<Vec<_>>());
            }
        }
        texts.retain(|text| text.chars().count() >= min);
        let mut sentences: Vec<Vec<u8>> = texts.iter().map(|text| text.clone().into_bytes()).collect();
        sentences.extend(texts.iter().map(|text| format!("{text}{last}").into_bytes()));
        sentences.sort();
        let begins = |text: &[u8]| {
            let at = sentences.partition_point(|sentence| sentence.as_slice() < text);
            sentences.get(at).is_some_and(|sentence| sentence.starts_with(text))
        };
        let mut tokens = vocabulary(&[]);
        for (which, start, length) in cuts {
            let sentence = &sentences[which % sentences.len()];
            let start = start.min(sentence.len());
            tokens.push(sentence[start..sentence.len().min(start + length)].to_vec());
        }
        tokens.retain(|token| !token.is_empty());
        tokens.sort();
        tokens.dedup();
        let grammar = format!("root ::= [{class}]{{{min},{max}}} ({last:?})?");
        let grammar = stencilm::from_ebnf(&grammar, "root", &mut Budget::default());
        let compiled = compile_grammar(&grammar.expect("it is a grammar"), &tokens, limits(is_small))?;
        let is_sentence = |text: &[u8]| sentences.iter().any(|sentence| sentence == text);
        walk(&tokens, &compiled, &begins, &is_sentence, &choices)?;
    }
}
