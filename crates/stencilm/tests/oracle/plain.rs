//! Grammars as plain trees: no sharing, no normal form, nothing merged.

use stencilm::grammar::UNBOUNDED;
use stencilm::grammar::{ByteSet, CharSet, Expr, ExprId, Exprs, RuleId, RuleSet, Spelling};

/// What one part of a grammar matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// No text at all.
    Nothing,
    /// The empty text.
    Empty,
    /// These bytes.
    Literal(Vec<u8>),
    /// Any of these strings of bytes.
    OneOf(Vec<Vec<u8>>),
    /// One of these bytes.
    Bytes(Vec<u8>),
    /// One character of these inclusive ranges, spelled.
    Chars(Vec<(char, char)>, Spelling),
    /// A special token.
    Token(String),
    /// One after the other.
    Seq(Vec<Tree>),
    /// Any of these.
    Choice(Vec<Tree>),
    /// All of these at once; no calls inside.
    And(Vec<Tree>),
    /// Any bytes but these; no calls inside.
    Not(Box<Tree>),
    /// So often at least, and at most.
    Repeat(Box<Tree>, u32, Option<u32>),
    /// A rule.
    Call(usize),
}

/// A grammar.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    /// The bodies of the rules; rule 3 is called `r3`.
    pub(crate) rules: Vec<Tree>,
    /// The rule that a whole text matches.
    pub(crate) start: usize,
}

impl Plain {
    /// The grammar that the engine holds, as it stands there.
    pub(crate) fn read(set: &RuleSet) -> Self {
        let rules = set.rules.iter().map(|&(_, body)| Tree::read(&set.exprs, body)).collect();
        Self { rules, start: set.start.0 as usize }
    }

    /// The grammar as the engine takes it, made by the engine's constructors.
    pub(crate) fn build(&self) -> RuleSet {
        let mut exprs = Exprs::default();
        let bodies: Vec<ExprId> = self.rules.iter().map(|tree| tree.build(&mut exprs)).collect();
        let rules = bodies.into_iter().enumerate().map(|(at, body)| (format!("r{at}"), body));
        let rules = rules.collect();
        RuleSet::new(exprs, rules, rule_id(self.start))
    }
}

impl Tree {
    /// Every text of `from` that is none of `without`.
    pub(crate) fn minus(from: Self, without: Self) -> Self {
        Self::And(vec![from, Self::Not(Box::new(without))])
    }

    /// These characters.
    pub(crate) fn text(text: &str) -> Self {
        Self::Literal(text.as_bytes().to_vec())
    }

    fn read(exprs: &Exprs, id: ExprId) -> Self {
        let all = |ids: &[ExprId]| ids.iter().map(|&id| Self::read(exprs, id)).collect();
        match exprs.get(id) {
            Expr::Nothing => Self::Nothing,
            Expr::Empty => Self::Empty,
            Expr::Bytes { literal, from } => {
                Self::Literal(exprs.literal(literal)[from as usize..].to_vec())
            }
            Expr::OneOf { literals, low, high, depth, spelling } => {
                assert_eq!(spelling, Spelling::Text, "no grammar that a person writes has others");
                let run = &exprs.literal_ids(literals)[low as usize..high as usize];
                let rest = |&id| exprs.literal(id)[depth as usize..].to_vec();
                Self::OneOf(run.iter().map(rest).collect())
            }
            Expr::Bytes1(set) => Self::Bytes(exprs.byte_set_of(set).iter().collect()),
            Expr::Chars { class, spelling } => {
                let scalar = |code| char::from_u32(code).expect("classes hold scalar values");
                let ranges = exprs.class(class).ranges().iter();
                Self::Chars(ranges.map(|&(a, b)| (scalar(a), scalar(b))).collect(), spelling)
            }
            Expr::Token(name) => Self::Token(exprs.token_name(name).to_owned()),
            Expr::Seq(..) => Self::Seq(all(&exprs.spine(id))),
            Expr::Choice(list) => Self::Choice(all(exprs.list(list))),
            Expr::And(list) => Self::And(all(exprs.list(list))),
            Expr::Not(body) => Self::Not(Box::new(Self::read(exprs, body))),
            Expr::Repeat { body, min, max } => {
                let max = (max != UNBOUNDED).then_some(max);
                Self::Repeat(Box::new(Self::read(exprs, body)), min, max)
            }
            Expr::Call(rule) => Self::Call(rule.0 as usize),
            Expr::Partial { .. }
            | Expr::Number { .. }
            | Expr::Names { .. }
            | Expr::OtherName(_) => {
                panic!("no grammar that a person wrote has {}", exprs.show(id))
            }
        }
    }

    fn build(&self, exprs: &mut Exprs) -> ExprId {
        match self {
            Self::Nothing => exprs.nothing(),
            Self::Empty => exprs.empty(),
            Self::Literal(bytes) => exprs.bytes(bytes),
            Self::OneOf(list) => exprs.one_of(list.iter().map(Vec::as_slice)),
            Self::Bytes(bytes) => exprs.byte_set(&bytes.iter().copied().collect::<ByteSet>()),
            Self::Chars(ranges, spelling) => {
                exprs.chars(&CharSet::new(ranges.iter().copied()), *spelling)
            }
            Self::Token(name) => exprs.token(name),
            Self::Seq(parts) => {
                let parts = Self::build_all(parts, exprs);
                exprs.seq(&parts)
            }
            Self::Choice(parts) => {
                let parts = Self::build_all(parts, exprs);
                exprs.choice(&parts)
            }
            Self::And(parts) => {
                let parts = Self::build_all(parts, exprs);
                exprs.and(&parts)
            }
            Self::Not(body) => {
                let body = body.build(exprs);
                exprs.not(body)
            }
            Self::Repeat(body, min, max) => {
                let body = body.build(exprs);
                exprs.repeat(body, *min, max.unwrap_or(UNBOUNDED))
            }
            Self::Call(rule) => exprs.call(rule_id(*rule)),
        }
    }

    fn build_all(parts: &[Self], exprs: &mut Exprs) -> Vec<ExprId> {
        parts.iter().map(|part| part.build(exprs)).collect()
    }
}

fn rule_id(rule: usize) -> RuleId {
    RuleId(u32::try_from(rule).expect("few rules"))
}
