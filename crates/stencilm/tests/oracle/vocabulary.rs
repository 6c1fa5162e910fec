//! Random vocabularies that fit a grammar, and random walks through both.

use std::collections::BTreeSet;
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use stencilm::grammar::Spelling;

use crate::oracle::chart::{Chart, Tail};
use crate::oracle::judge::{Judge, symbols};
use crate::oracle::nfa::Symbol;
use crate::oracle::plain::{Plain, Tree};
use crate::oracle::strategy::SPECIAL;

/// Bytes of the longest tokens: more than any counter of a random grammar.
const LONGEST: usize = 40;

/// A grammar, how to make a vocabulary for it, and what chooses the tokens of a walk.
#[derive(Clone)]
pub(crate) struct Case {
    /// The grammar.
    pub(crate) grammar: Plain,
    /// Which bytes are tokens.
    pub(crate) bytes: Bytes,
    /// Further tokens.
    pub(crate) recipes: Vec<Recipe>,
    /// For each step of a walk a number that chooses among what is allowed.
    pub(crate) choices: Vec<u16>,
}

/// Which single bytes are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// All 256.
    All,
    /// Those that the grammar mentions.
    Used,
    /// About half of those that the grammar mentions; the number decides which. What begins and
    /// what continues characters is there as a whole or not at all.
    Some(u16),
    /// Most of those that the grammar mentions, and characters may be torn; the number decides
    /// which.
    Most(u16),
}

/// One more token.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// A part of one of three random sentences: which, from where, how long.
    Cut(u8, u8, u8),
    /// A part of two words of the alphabet, in any order.
    Words(&'static str, &'static str),
    /// Any bytes.
    Raw(Vec<u8>),
    /// One word so often.
    Long(&'static str, u8),
    /// Spells what an earlier token spells.
    Again(u8),
    /// An id without text.
    NoText,
}

/// What a token is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// Text.
    Text(Vec<u8>),
    /// A special token, by its name.
    Special(&'static str),
    /// Ends the text.
    Stop,
    /// Nothing.
    NoText,
}

/// The tokens, by id.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tokens(pub(crate) Vec<Token>);

/// Grammars with vocabularies in which every byte is a token, and walks of at most `steps`.
pub(crate) fn cases(
    grammars: impl Strategy<Value = Plain>,
    steps: usize,
) -> impl Strategy<Value = Case> {
    cases_with(grammars, Just(Bytes::All), steps)
}

/// The same with vocabularies that may lack bytes: liveness is over what the tokens spell.
pub(crate) fn sparse_cases(
    grammars: impl Strategy<Value = Plain>,
    steps: usize,
) -> impl Strategy<Value = Case> {
    let bytes = prop_oneof![
        1 => Just(Bytes::Used),
        2 => any::<u16>().prop_map(Bytes::Some),
        3 => (any::<u16>(), any::<u16>()).prop_map(|(a, b)| Bytes::Most(a | b)),
    ];
    cases_with(grammars, bytes, steps)
}

/// The same with more tokens that go through several parts of a text.
pub(crate) fn marked_cases(
    grammars: impl Strategy<Value = Plain>,
    steps: usize,
) -> impl Strategy<Value = Case> {
    let byte = select(b"aab  ,;<-&.z".to_vec());
    let recipes = vec(vec(byte, 2..=5).prop_map(Recipe::Raw), 10..=60);
    (cases(grammars, steps), recipes).prop_map(|(mut case, recipes)| {
        case.recipes.extend(recipes);
        case
    })
}

fn cases_with(
    grammars: impl Strategy<Value = Plain>,
    bytes: impl Strategy<Value = Bytes>,
    steps: usize,
) -> impl Strategy<Value = Case> {
    let words = || select(vec!["", "a", "b", "c", "é", "ab", "ca", "aab", "\\u00", "\"", "bcé"]);
    let recipe = prop_oneof![
        8 => (any::<u8>(), any::<u8>(), 2_u8..=6).prop_map(|(a, b, c)| Recipe::Cut(a, b, c)),
        3 => (words(), words()).prop_map(|(a, b)| Recipe::Words(a, b)),
        1 => vec(select(vec![b'a', b'b', 0xC3, 0xA9, 0xE9, 0xF0]), 2..=3).prop_map(Recipe::Raw),
        1 => (words(), 5_u8..60).prop_map(|(word, times)| Recipe::Long(word, times)),
        1 => any::<u8>().prop_map(Recipe::Again),
        1 => Just(Recipe::NoText),
    ];
    (grammars, bytes, vec(recipe, 0..=20), vec(any::<u16>(), 1..=steps))
        .prop_map(|(grammar, bytes, recipes, choices)| Case { grammar, bytes, recipes, choices })
}

impl Case {
    /// The vocabulary: always the same one for the same case.
    pub(crate) fn tokens(&self, judge: &Judge) -> Tokens {
        let mut used = BTreeSet::from(*b"abc");
        for tree in &self.grammar.rules {
            collect_bytes(tree, &mut used);
        }
        if used.iter().any(|&byte| byte >= 0x80) {
            used.extend(0x80..=0xBF);
        }
        // Liveness over tokens that don't spell all bytes costs the judge states times tokens.
        let states: usize = judge.rules.iter().map(|rule| rule.edges.len()).sum();
        let is_costly = states > 120;
        let is_sparse = matches!(self.bytes, Bytes::Some(_) | Bytes::Most(_));
        let most = if is_sparse && !is_costly { 8 } else { LONGEST };
        let singles: Vec<u8> = match self.bytes {
            Bytes::All => (0..=255).collect(),
            Bytes::Used => used.iter().copied().collect(),
            Bytes::Some(_) | Bytes::Most(_) if is_costly => used.iter().copied().collect(),
            Bytes::Most(chosen) => {
                used.iter().copied().filter(|&byte| chosen >> (byte % 15) & 1 == 1).collect()
            }
            Bytes::Some(chosen) => {
                let place = |byte: u8| if byte < 0x80 { byte % 15 } else { 15 };
                used.iter().copied().filter(|&byte| chosen >> place(byte) & 1 == 1).collect()
            }
        };
        let sentences: Vec<Vec<u8>> =
            (1..=3).map(|seed| sentence(judge, &used, seed * 0x1E37_79B9)).collect();
        let mut tokens: Vec<Token> = singles.iter().map(|&byte| Token::Text(vec![byte])).collect();
        for recipe in &self.recipes {
            tokens.push(match recipe {
                &Recipe::Cut(which, from, len) => {
                    let text = &sentences[usize::from(which) % sentences.len()];
                    let from = usize::from(from) % text.len().max(1);
                    text_token(text.iter().skip(from).take(len.into()).copied().collect())
                }
                Recipe::Words(first, second) => {
                    text_token([first.as_bytes(), second.as_bytes()].concat())
                }
                Recipe::Raw(bytes) => text_token(bytes.clone()),
                Recipe::Long(word, times) => {
                    let mut bytes = word.repeat((*times).into()).into_bytes();
                    bytes.truncate(most);
                    text_token(bytes)
                }
                Recipe::Again(which) if !tokens.is_empty() => {
                    tokens[usize::from(*which) % tokens.len()].clone()
                }
                Recipe::Again(_) | Recipe::NoText => Token::NoText,
            });
        }
        tokens.extend(SPECIAL.map(Token::Special));
        tokens.extend([Token::Stop, Token::NoText, Token::Stop]);
        // Ids in no order; the same tokens give the same order.
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|at| (at * 7_919 + 13) % 509);
        Tokens(order.into_iter().map(|at| tokens[at].clone()).collect())
    }

    /// The text of the first tokens of the walk, for people.
    pub(crate) fn text(&self, judge: &Judge, steps: usize) -> String {
        let tokens = self.tokens(judge);
        let mut chart = Chart::new(judge, tokens.tail(judge));
        let mut text = Vec::new();
        for &choice in &self.choices[..steps] {
            let mask = tokens.mask(judge, &mut chart);
            let Some(id) = tokens.choose(&mask, choice) else {
                break;
            };
            chart.read(&tokens.symbols(judge, id).unwrap_or_default());
            text.push(&tokens.0[id]);
        }
        format!("{text:?}")
    }
}

impl Tokens {
    /// What a token adds to the text; nothing for those that add none.
    pub(crate) fn symbols(&self, judge: &Judge, id: usize) -> Option<Vec<Symbol>> {
        match &self.0[id] {
            Token::Text(bytes) => Some(symbols(bytes)),
            Token::Special(name) => judge.symbol(name).map(|symbol| vec![symbol]),
            Token::Stop | Token::NoText => None,
        }
    }

    /// Whether the token ends the text.
    pub(crate) fn is_stop(&self, id: usize) -> bool {
        self.0[id] == Token::Stop
    }

    /// Whether every byte is a token.
    pub(crate) fn is_complete(&self) -> bool {
        (0..=255).all(|byte| self.0.contains(&Token::Text(vec![byte])))
    }

    /// What may follow a text if only these tokens may. A token whose bytes are tokens adds
    /// nothing to that.
    pub(crate) fn tail(&self, judge: &Judge) -> Tail {
        if self.is_complete() {
            return Tail::Anything;
        }
        let all = (0..self.0.len()).filter_map(|id| self.symbols(judge, id));
        let all: BTreeSet<Vec<Symbol>> = all.collect();
        let is_spelled = |token: &&Vec<Symbol>| {
            token.len() > 1 && token.iter().all(|&symbol| all.contains(&vec![symbol]))
        };
        Tail::Tokens(all.iter().filter(|token| !is_spelled(token)).cloned().collect())
    }

    /// The mask by the judge: a stop token where the text may end, others that can be completed.
    pub(crate) fn mask(&self, judge: &Judge, chart: &mut Chart<'_>) -> Vec<bool> {
        let allowed = |id| match self.symbols(judge, id) {
            Some(symbols) => chart.may_come(&symbols),
            None => self.is_stop(id) && chart.accepts(),
        };
        (0..self.0.len()).map(allowed).collect()
    }

    /// The next token of a walk, no stop token: two in three times one of more than one byte.
    pub(crate) fn choose(&self, mask: &[bool], choice: u16) -> Option<usize> {
        let open = (0..mask.len()).filter(|&id| mask[id] && !self.is_stop(id));
        let open: Vec<usize> = open.collect();
        let is_long = |id: &usize| matches!(&self.0[*id], Token::Text(bytes) if bytes.len() > 1);
        let long: Vec<usize> = open.iter().copied().filter(is_long).collect();
        let from = if matches!(choice % 3, 1 | 2) && !long.is_empty() { long } else { open };
        from.get(usize::from(choice / 3) % from.len().max(1)).copied()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "grammar as made:\n{}", self.grammar)?;
        writeln!(f, "grammar as normalised by the constructors:\n{}", self.grammar.build())?;
        if let Ok(judge) = Judge::of(&self.grammar) {
            writeln!(f, "tokens ({:?}): {:?}", self.bytes, self.tokens(&judge))?;
        }
        write!(f, "choices: {:?}", self.choices)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Self::Special(name) => f.write_str(name),
            Self::Stop => f.write_str("stop"),
            Self::NoText => f.write_str("-"),
        }
    }
}

/// The ids and the texts, without the single bytes where all are there.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |token: &Token| {
            self.is_complete() && matches!(token, Token::Text(bytes) if bytes.len() == 1)
        };
        for (id, token) in self.0.iter().enumerate().filter(|(_, token)| !hidden(token)) {
            write!(f, "{id}:{token:?} ")?;
        }
        f.write_str(if self.is_complete() { "and all single bytes" } else { "" })
    }
}

fn text_token(bytes: Vec<u8>) -> Token {
    if bytes.is_empty() { Token::NoText } else { Token::Text(bytes) }
}

/// The bytes of a random sentence, or of the beginning of one.
fn sentence(judge: &Judge, used: &BTreeSet<u8>, seed: u32) -> Vec<u8> {
    let mut chart = Chart::new(judge, Tail::Anything);
    let specials = SPECIAL.iter().filter_map(|name| judge.symbol(name));
    let alphabet: Vec<Symbol> = used.iter().map(|&byte| byte.into()).chain(specials).collect();
    let (mut text, mut random) = (Vec::new(), seed);
    for _ in 0..14 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let open: Vec<Symbol> =
            alphabet.iter().copied().filter(|&symbol| chart.may_come(&[symbol])).collect();
        if open.is_empty() {
            break;
        }
        let symbol = open[(random >> 16) as usize % open.len()];
        chart.push(symbol);
        text.extend(u8::try_from(symbol));
    }
    text
}

/// The bytes that a part of a grammar mentions; of classes the ends of their ranges.
fn collect_bytes(tree: &Tree, used: &mut BTreeSet<u8>) {
    match tree {
        Tree::Literal(bytes) | Tree::Bytes(bytes) => used.extend(bytes),
        Tree::OneOf(list) => list.iter().for_each(|bytes| used.extend(bytes)),
        Tree::Chars(ranges, spelling) => {
            for c in ranges.iter().flat_map(|&(low, high)| [low, high]) {
                used.extend(c.to_string().as_bytes());
            }
            if *spelling != Spelling::Text {
                used.extend(b"\"'\\unt/0169aeD8CxU");
            }
        }
        Tree::Seq(parts) | Tree::Choice(parts) | Tree::And(parts) => {
            for part in parts {
                collect_bytes(part, used);
            }
        }
        Tree::Not(body) | Tree::Repeat(body, ..) => collect_bytes(body, used),
        Tree::Nothing | Tree::Empty | Tree::Token(_) | Tree::Call(_) => {}
    }
}
