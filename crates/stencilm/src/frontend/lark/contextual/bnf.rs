//! Rules as plain productions, with the helper rules that Lark makes for repetitions: whether a
//! grammar has conflicts depends on them.

use rustc_hash::FxHashMap;

use crate::error::{Error, Location};
use crate::frontend::lark::rules::{Part, Rules};
use crate::grammar::UNBOUNDED;
use crate::limits::Budget;

/// From so many times on, a repetition is made of smaller ones, as in Lark.
const LONG_REPEAT: u32 = 50;
/// The largest factor of those.
const LARGEST_FACTOR: u32 = 5;

/// A terminal or a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// A place in [`Rules::terminals`].
    Terminal(usize),
    /// A place in [`Bnf::rules`].
    Rule(usize),
}

/// Alternatives of symbols.
type Alternatives = Vec<Vec<Symbol>>;

/// One way to make a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Production {
    /// The rule.
    pub(crate) rule: usize,
    /// What it is made of.
    pub(crate) symbols: Vec<Symbol>,
}

/// A grammar of productions.
#[derive(Debug, Default)]
pub(crate) struct Bnf {
    /// A name, a priority and the productions of each rule.
    pub(crate) rules: Vec<(String, i64, Vec<usize>)>,
    /// Every production.
    pub(crate) productions: Vec<Production>,
}

/// The productions of `rules`; `lexeme` says which terminals are the same.
pub(crate) fn bnf(rules: &Rules, lexeme: &[usize], budget: &mut Budget) -> Result<Bnf, Error> {
    let mut bnf = Bnf::default();
    for rule in &rules.list {
        bnf.rules.push((rule.name.clone(), rule.priority, Vec::new()));
    }
    let mut maker = Maker { bnf, repeated: FxHashMap::default(), symbols: 0, budget };
    let mut made: Vec<Alternatives> = Vec::with_capacity(rules.parts.len());
    for part in &rules.parts {
        let alternatives = maker.alternatives(part, &made, lexeme)?;
        made.push(alternatives);
    }
    for (place, rule) in rules.list.iter().enumerate() {
        for symbols in &made[rule.body] {
            maker.produce(place, symbols.clone());
        }
    }
    Ok(maker.bnf)
}

#[derive(Debug)]
struct Maker<'a> {
    bnf: Bnf,
    /// Helper rules by what they repeat.
    repeated: FxHashMap<(u32, u32, Alternatives, Alternatives, bool), usize>,
    /// How many symbols were written.
    symbols: usize,
    budget: &'a mut Budget,
}

impl Maker<'_> {
    fn produce(&mut self, rule: usize, symbols: Vec<Symbol>) {
        let production = Production { rule, symbols };
        if self.bnf.rules[rule].2.iter().any(|&it| self.bnf.productions[it] == production) {
            return;
        }
        self.bnf.rules[rule].2.push(self.bnf.productions.len());
        self.bnf.productions.push(production);
    }

    fn helper(&mut self, alternatives: Alternatives) -> usize {
        let rule = self.bnf.rules.len();
        self.bnf.rules.push((format!("__{rule}"), 0, Vec::new()));
        for symbols in alternatives {
            self.produce(rule, symbols);
        }
        rule
    }

    /// Counts what is written, which may grow as a product.
    fn count(&mut self, alternatives: &Alternatives) -> Result<(), Error> {
        self.budget.tick()?;
        self.symbols += alternatives.iter().map(|it| it.len() + 1).sum::<usize>();
        let allowed = self.budget.limits.expressions;
        if self.symbols > allowed { Err(Error::limit("expressions", allowed)) } else { Ok(()) }
    }

    fn alternatives(
        &mut self,
        part: &Part,
        made: &[Alternatives],
        lexeme: &[usize],
    ) -> Result<Alternatives, Error> {
        let found = match part {
            Part::Terminal(terminal) => vec![vec![Symbol::Terminal(lexeme[*terminal])]],
            Part::Rule(rule) => vec![vec![Symbol::Rule(*rule)]],
            Part::Inner { .. } | Part::Supplied(_) => {
                let feature = "`%lark` in the contextual meaning";
                return Err(Error::unsupported(feature, Location::Whole));
            }
            Part::Seq(parts) => self.product(parts.iter().map(|&part| &made[part]))?,
            Part::Choice(parts) => distinct(parts.iter().flat_map(|&part| made[part].clone())),
            Part::Repeat(part, min, max) => self.repeat(&made[*part], *min, *max)?,
        };
        self.count(&found)?;
        Ok(found)
    }

    fn product<'b>(
        &mut self,
        parts: impl Iterator<Item = &'b Alternatives>,
    ) -> Result<Alternatives, Error> {
        let mut all: Alternatives = vec![Vec::new()];
        for part in parts {
            let mut longer = Vec::with_capacity(all.len() * part.len());
            for before in &all {
                for after in part {
                    longer.push([&before[..], after].concat());
                }
                self.budget.tick()?;
            }
            all = longer;
            self.count(&all)?;
        }
        Ok(distinct(all))
    }

    fn repeat(&mut self, atom: &Alternatives, min: u32, max: u32) -> Result<Alternatives, Error> {
        match (min, max) {
            (0, 1) => Ok(distinct(atom.iter().cloned().chain([Vec::new()]))),
            (0, UNBOUNDED) => Ok(vec![vec![Symbol::Rule(self.some(atom)?)], Vec::new()]),
            (1, UNBOUNDED) => Ok(vec![vec![Symbol::Rule(self.some(atom)?)]]),
            (_, UNBOUNDED) => {
                let first = self.counted(atom, min, min)?;
                let more = vec![vec![Symbol::Rule(self.some(atom)?)], Vec::new()];
                self.product([&first, &more].into_iter())
            }
            _ => self.counted(atom, min, max),
        }
    }

    /// A rule for one time or more: `x: atom | x atom`.
    fn some(&mut self, atom: &Alternatives) -> Result<usize, Error> {
        let key = (0, 0, atom.clone(), Vec::new(), false);
        if let Some(&rule) = self.repeated.get(&key) {
            return Ok(rule);
        }
        let rule = self.helper(atom.clone());
        self.repeated.insert(key, rule);
        for symbols in atom {
            let longer = [&[Symbol::Rule(rule)][..], symbols].concat();
            self.produce(rule, longer);
        }
        self.count(atom)?;
        Ok(rule)
    }

    fn counted(&mut self, atom: &Alternatives, min: u32, max: u32) -> Result<Alternatives, Error> {
        if max < LONG_REPEAT {
            let mut all = Vec::new();
            for count in min..=max {
                all.extend(self.times(atom, count)?);
            }
            return Ok(distinct(all));
        }
        let mut least = atom.clone();
        for (a, b) in factors(min) {
            least = self.multiple(a, b, &least, atom)?;
        }
        if min == max {
            return Ok(least);
        }
        let mut target = atom.clone();
        let mut fewer: Alternatives = vec![Vec::new()];
        for (a, b) in factors(max - min + 1) {
            fewer = self.below(a, b, &target, &fewer, atom)?;
            target = self.multiple(a, b, &target, atom)?;
        }
        self.product([&least, &fewer].into_iter())
    }

    fn times(&mut self, atom: &Alternatives, count: u32) -> Result<Alternatives, Error> {
        self.product((0..count).map(|_| atom))
    }

    /// A rule for `a` times a target and `b` times an atom.
    fn multiple(
        &mut self,
        a: u32,
        b: u32,
        target: &Alternatives,
        atom: &Alternatives,
    ) -> Result<Alternatives, Error> {
        let key = (a, b, target.clone(), atom.clone(), false);
        if let Some(&rule) = self.repeated.get(&key) {
            return Ok(vec![vec![Symbol::Rule(rule)]]);
        }
        let (first, rest) = (self.times(target, a)?, self.times(atom, b)?);
        let all = self.product([&first, &rest].into_iter())?;
        let rule = self.helper(all);
        self.repeated.insert(key, rule);
        Ok(vec![vec![Symbol::Rule(rule)]])
    }

    /// A rule for fewer than `a` times a target and `b` times an atom.
    fn below(
        &mut self,
        a: u32,
        b: u32,
        target: &Alternatives,
        fewer: &Alternatives,
        atom: &Alternatives,
    ) -> Result<Alternatives, Error> {
        let mut all = Vec::new();
        for count in 0..a {
            let first = self.times(target, count)?;
            all.extend(self.product([&first, fewer].into_iter())?);
        }
        let most = self.times(target, a)?;
        for count in 0..b {
            let rest = self.times(atom, count)?;
            all.extend(self.product([&most, &rest].into_iter())?);
        }
        let rule = self.helper(distinct(all));
        Ok(vec![vec![Symbol::Rule(rule)]])
    }
}

/// Each once, in the order of their first coming.
fn distinct(all: impl IntoIterator<Item = Vec<Symbol>>) -> Alternatives {
    let mut seen = rustc_hash::FxHashSet::default();
    all.into_iter().filter(|symbols| seen.insert(symbols.clone())).collect()
}

/// Small numbers with `n = 1; n = n * a + b` for each of them.
fn factors(n: u32) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut n = n;
    while n > LARGEST_FACTOR {
        // One of them fits: `n = a * (n / a) + n % a`, and 2 leaves 1 at most.
        let fits = (2..=LARGEST_FACTOR).rev().find(|a| a + n % a <= LARGEST_FACTOR).unwrap_or(2);
        found.push((fits, n % fits));
        n /= fits;
    }
    found.push((n, 0));
    found.reverse();
    found
}
