//! What remains of an expression after a byte: Brzozowski's derivatives ("Derivatives of Regular
//! Expressions", JACM 1964), one for each class of bytes, computed when first asked for.
//!
//! A state of the lazy automaton *is* an expression. Calls of rules are left standing: who steps
//! through them is the stack.

pub(crate) mod calls;
mod characters;
pub(crate) mod clip;
mod derive;
pub mod emptiness;
mod ends;
pub(crate) mod excess;
mod first;
mod free;
pub(crate) mod languages;
mod lengths;
mod liveness;
pub(crate) mod loops;
pub(crate) mod names;
mod partition;
pub(crate) mod places;
pub(crate) mod runs;
mod shortest;
pub(crate) mod spell;
pub(crate) mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Location};
use crate::grammar::{ByteSet, ExprId, Exprs, LiteralsId, Mark, RuleId, Rules, Spelling};
use crate::limits::{Budget, Limits};
use crate::residual::calls::{Callee, Closure};
use crate::residual::characters::Atoms;
use crate::residual::emptiness::Way;
use crate::residual::excess::Excess;
use crate::residual::first::First;
use crate::residual::lengths::Outcome;
use crate::residual::liveness::Liveness;
use crate::residual::loops::Loop;
use crate::residual::partition::{PartitionId, Partitions};
use crate::residual::shortest::Shape;
use crate::residual::words::Words;
use crate::vocab::Vocabulary;

const UNKNOWN: u32 = u32::MAX;

/// The steps out of one expression, as far as they are known.
#[derive(Clone, Copy, Debug)]
enum Steps {
    Unknown,
    /// Only `byte` leads on.
    One {
        byte: u8,
        target: ExprId,
    },
    /// A target for each class of the partition, from `base` on in `targets`.
    Table {
        partition: PartitionId,
        base: u32,
    },
}

/// Whether the language of an expression is known to be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alive {
    Unknown,
    Yes,
    No,
}

/// The loop that an expression begins with, as far as it was looked for.
#[derive(Clone, Debug)]
enum Lead {
    Unknown,
    None,
    Loop(Arc<Loop>),
}

/// What is known of one expression beyond its steps; each is found when first asked for.
#[derive(Clone, Debug)]
struct Known {
    partition: Option<PartitionId>,
    alive: Alive,
    clipped: Option<ExprId>,
    calls: Option<Arc<[(Callee, ExprId)]>>,
    closure: Option<Arc<Closure>>,
    lead: Lead,
    shape: Option<Shape>,
}

const NOTHING_KNOWN: Known = Known {
    partition: None,
    alive: Alive::Unknown,
    clipped: None,
    calls: None,
    closure: None,
    lead: Lead::Unknown,
    shape: None,
};

/// The lazy automaton of one grammar.
#[derive(Debug)]
pub(crate) struct Residuals {
    pub(crate) exprs: Exprs,
    pub(crate) limits: Limits,
    rules: Arc<dyn Rules>,
    marks: FxHashMap<RuleId, Mark>,
    bodies: FxHashMap<RuleId, ExprId>,
    names: FxHashMap<u32, LiteralsId>,
    name_spelling: Spelling,
    partitions: Partitions,
    steps: Vec<Steps>,
    targets: Vec<u32>,
    known: Vec<Known>,
    lengths: FxHashMap<ExprId, Outcome>,
    length_bounds: FxHashMap<ExprId, Option<u32>>,
    words: FxHashMap<(ExprId, bool), Words>,
    atoms: Atoms,
    /// Ways on which expressions came to their ends.
    known_ends: Vec<Arc<[Way]>>,
    firsts: FxHashMap<(ExprId, u32), First>,
    first_through_calls: FxHashMap<ExprId, ByteSet>,
    live_first: FxHashMap<ExprId, ByteSet>,
    lowered: FxHashMap<ExprId, (ExprId, Excess)>,
    raised: FxHashMap<(ExprId, Excess), ExprId>,
    /// The most characters, the most bytes, and the most digits in a number, of one token: counters
    /// and remainders beyond are clipped.
    longest: (u32, u32, u32),
    /// What tokens can complete; nothing where every byte is a token.
    liveness: Option<Box<Liveness>>,
}

impl Residuals {
    /// An automaton without a state.
    pub(crate) fn new(rules: Arc<dyn Rules>, limits: Limits, vocabulary: &Arc<Vocabulary>) -> Self {
        let longest =
            (vocabulary.longest_chars(), vocabulary.longest_bytes(), vocabulary.most_digits());
        let liveness = Liveness::of(vocabulary);
        let exprs = Exprs::new(*vocabulary.key());
        Self { liveness, ..Self::over(exprs, rules, limits, longest) }
    }

    /// The automaton of expressions that exist already.
    fn over(
        mut exprs: Exprs,
        rules: Arc<dyn Rules>,
        limits: Limits,
        longest: (u32, u32, u32),
    ) -> Self {
        let name_spelling = rules.name_spelling().unwrap_or(Spelling::JsonCanonical);
        exprs.has_plain_names = name_spelling == Spelling::JsonCanonical;
        Self {
            exprs,
            limits,
            marks: rules.marks().into_iter().collect(),
            rules,
            bodies: FxHashMap::default(),
            names: FxHashMap::default(),
            name_spelling,
            partitions: Partitions::default(),
            steps: Vec::new(),
            targets: Vec::new(),
            known: Vec::new(),
            lengths: FxHashMap::default(),
            length_bounds: FxHashMap::default(),
            words: FxHashMap::default(),
            atoms: Atoms::default(),
            known_ends: Vec::new(),
            firsts: FxHashMap::default(),
            first_through_calls: FxHashMap::default(),
            live_first: FxHashMap::default(),
            lowered: FxHashMap::default(),
            raised: FxHashMap::default(),
            longest,
            liveness: None,
        }
    }

    /// Lends expressions without calls to an automaton, for a question that has nothing to do with a
    /// vocabulary.
    fn lent<T>(
        exprs: &mut Exprs,
        budget: &Budget,
        ask: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let arena = std::mem::take(exprs);
        let mut residuals = Self::over(arena, Arc::new(NoRules), budget.limits, (0, 0, 0));
        let answer = ask(&mut residuals);
        *exprs = residuals.exprs;
        answer
    }

    pub(crate) fn rules(&self) -> &Arc<dyn Rules> {
        &self.rules
    }

    /// Whether some rule asks for something beside its texts.
    #[inline]
    pub(crate) fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// What a rule asks for beside its texts.
    #[inline]
    pub(crate) fn mark(&self, rule: RuleId) -> Option<&Mark> {
        if self.marks.is_empty() { None } else { self.marks.get(&rule) }
    }

    /// How member names are spelled.
    pub(crate) fn name_spelling(&self) -> Spelling {
        self.name_spelling
    }

    /// What remains of `id` after `byte`, if that was found before. `Nothing` if no text goes on.
    #[inline]
    pub(crate) fn known_step(&self, id: ExprId, byte: u8) -> Option<ExprId> {
        match *self.steps.get(id.0 as usize)? {
            Steps::Unknown => None,
            Steps::One { byte: only, target } => {
                Some(if byte == only { target } else { self.exprs.nothing() })
            }
            Steps::Table { partition, base } => {
                let class = self.partitions.class(partition, byte);
                match self.targets[(base + class) as usize] {
                    UNKNOWN => None,
                    target => Some(ExprId(target)),
                }
            }
        }
    }

    /// What remains of `id` after `byte`.
    ///
    /// # Errors
    /// A limit; nothing is memoised then.
    #[inline]
    pub(crate) fn step(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        match self.known_step(id, byte) {
            Some(target) => Ok(target),
            None => self.find_step(id, byte),
        }
    }

    #[cold]
    fn find_step(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        self.check_size()?;
        self.open_steps(id)?;
        if let Some(target) = self.known_step(id, byte) {
            return Ok(target);
        }
        let target = self.derive(id, byte)?;
        if let Steps::Table { partition, base } = self.steps[id.0 as usize] {
            let class = self.partitions.class(partition, byte);
            self.targets[(base + class) as usize] = target.0;
        }
        Ok(target)
    }

    /// One byte of each class that `id` can tell apart.
    pub(crate) fn first_bytes(&mut self, id: ExprId) -> Result<Vec<u8>, Error> {
        let partition = self.partition(id)?;
        Ok(self.partitions.representatives(partition))
    }

    /// The bytes that some text of `id` begins with.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn live_first_bytes(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        if let Some(&known) = self.live_first.get(&id) {
            return Ok(known);
        }
        let bytes = self.find_live_first_bytes(id)?;
        self.live_first.insert(id, bytes);
        Ok(bytes)
    }

    fn find_live_first_bytes(&mut self, id: ExprId) -> Result<ByteSet, Error> {
        self.check_size()?;
        self.open_steps(id)?;
        let (partition, base) = match self.steps[id.0 as usize] {
            Steps::One { byte, .. } => return Ok(std::iter::once(byte).collect()),
            Steps::Table { partition, base } => (partition, base),
            Steps::Unknown => unreachable!("they were opened"),
        };
        let nothing = self.exprs.nothing();
        let mut is_live = [false; 256];
        for byte in self.partitions.representatives(partition) {
            let class = self.partitions.class(partition, byte);
            let target = match self.targets[(base + class) as usize] {
                UNKNOWN => self.find_step(id, byte)?,
                target => ExprId(target),
            };
            is_live[class as usize] = target != nothing;
        }
        Ok(self.partitions.bytes_of(partition, &is_live))
    }

    /// The body of a rule, without the parts that cannot match.
    pub(crate) fn body(&mut self, rule: RuleId) -> Result<ExprId, Error> {
        if let Some(&body) = self.bodies.get(&rule) {
            return Ok(body);
        }
        if self.bodies.len() >= self.limits.rules {
            return Err(Error::limit("rules", self.limits.rules));
        }
        let rules = self.rules.clone();
        let body = rules.body(rule, &mut self.exprs)?;
        self.check_size()?;
        if self.exprs.depth(body) > self.limits.nesting {
            return Err(Error::limit("nesting", self.limits.nesting));
        }
        let body = self.without_empty_parts(body)?;
        self.bodies.insert(rule, body);
        Ok(body)
    }

    /// The body of a rule, if it was asked for before.
    pub(crate) fn known_body(&self, rule: RuleId) -> Option<ExprId> {
        self.bodies.get(&rule).copied()
    }

    /// About how many bytes the tables hold.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.exprs.size_in_bytes()
            + self.partitions.size_in_bytes()
            + self.steps.capacity() * size_of::<Steps>()
            + self.targets.capacity() * 4
            + self.known.capacity() * size_of::<Known>()
            + self.bodies.len() * 24
            + self.liveness.as_ref().map_or(0, |liveness| liveness.size_in_bytes())
            + (self.words.len() + self.lowered.len() + self.raised.len()) * 24
            + (self.firsts.len() + self.first_through_calls.len() + self.live_first.len()) * 56
            + self.atoms.bytes
    }

    fn check_size(&self) -> Result<(), Error> {
        if self.exprs.len() > self.limits.expressions {
            return Err(Error::limit("expressions", self.limits.expressions));
        }
        Ok(())
    }

    fn known(&mut self, id: ExprId) -> &mut Known {
        let at = id.0 as usize;
        if at >= self.known.len() {
            self.known.resize(self.exprs.len().max(at + 1), NOTHING_KNOWN);
        }
        &mut self.known[at]
    }
}

/// The rules of expressions that call none.
#[derive(Debug)]
pub(crate) struct NoRules;

impl Rules for NoRules {
    fn body(&self, _: RuleId, _: &mut Exprs) -> Result<ExprId, Error> {
        let feature = "a rule inside an intersection".to_owned();
        Err(Error::new(ErrorKind::Unsupported { feature }, Location::Whole))
    }

    fn name(&self, rule: RuleId) -> String {
        format!("rule_{}", rule.0)
    }

    fn rank(&self, rule: RuleId) -> u32 {
        rule.0
    }

    fn numbers(&self) -> u32 {
        0
    }
}
