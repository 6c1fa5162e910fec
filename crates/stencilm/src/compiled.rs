//! A grammar compiled with a vocabulary: nothing is computed until a state is visited, and then
//! once, for all matchers.

use std::sync::{
    Arc, Mutex, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use crate::error::Error;
use crate::grammar::{ExprId, Grammar, Marks, RuleId, Rules};
use crate::limits::Limits;
use crate::mask::store::Store;
use crate::mask::{Learnt, Tables};
use crate::vocab::{NamedTokens, Vocabulary};

/// One arena of a compiled grammar. When it passes its limit a new one opens, and matchers move
/// over with what they still need.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) tables: RwLock<Tables>,
    /// The start rule's call; none if only the empty text matches.
    pub(crate) start: Option<ExprId>,
    is_retired: AtomicBool,
    /// Bytes of the tables, as they were after the last piece of learning.
    size: AtomicUsize,
}

impl Generation {
    /// Takes note of what the tables take now.
    pub(crate) fn has_size(&self, size: usize) {
        self.size.store(size, Ordering::Relaxed);
    }

    /// Whether a newer one is open.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
    }
}

/// Generations over the same rules. A matcher stays with its rules; new ones begin with new rules
/// when those of the open lineage hold too much.
#[derive(Debug)]
pub(crate) struct Lineage {
    rules: Arc<dyn Rules>,
    current: Mutex<Arc<Generation>>,
}

impl Lineage {
    pub(crate) fn generation(&self) -> Arc<Generation> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A grammar and a vocabulary, with all that was learnt of them so far. Shared by threads: put it
/// into an [`Arc`].
///
/// ```
/// use std::sync::Arc;
/// use stencilm::{CompiledGrammar, Limits, Matcher, Store, Vocabulary};
///
/// let tokens = [Some("a"), Some("ab"), Some("b"), None];
/// let vocabulary = Arc::new(Vocabulary::new(tokens, [], [3])?);
/// let grammar = stencilm::from_regex("ab?", &mut stencilm::Budget::default())?;
/// let store = Arc::new(Store::new(1 << 20));
/// let compiled = CompiledGrammar::new(&grammar, vocabulary, store, Limits::default())?;
/// let mut matcher = Matcher::new(Arc::new(compiled));
/// let mut mask = [0];
/// matcher.fill_mask(&mut mask)?;
/// assert_eq!(mask, [0b0011]);
/// # Ok::<(), stencilm::Error>(())
/// ```
#[derive(Debug)]
pub struct CompiledGrammar {
    grammar: Grammar,
    vocabulary: Arc<Vocabulary>,
    store: Arc<Store>,
    limits: Limits,
    /// The tokens that the grammar names, by name or by number.
    named: Vec<NamedTokens>,
    /// By their rules.
    marks: Marks,
    lineage: Mutex<Arc<Lineage>>,
    generations: AtomicU64,
}

impl CompiledGrammar {
    /// Compiles: looks at the start rule, and at nothing else yet.
    ///
    /// # Errors
    /// The start rule matches no text ([`ErrorKind::Unsatisfiable`](crate::ErrorKind)), the tokens
    /// cannot spell any of its texts or it names a special token that the vocabulary lacks
    /// ([`ErrorKind::Vocabulary`](crate::ErrorKind)), or a limit was reached.
    pub fn new(
        grammar: &Grammar,
        vocabulary: Arc<Vocabulary>,
        store: Arc<Store>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let names = grammar.rules.special_tokens();
        let named: Result<Vec<NamedTokens>, String> =
            names.iter().map(|name| vocabulary.named(name)).collect();
        let named = named.map_err(Error::vocabulary)?;
        let first = open(&grammar.rules, grammar.start, &vocabulary, &store, limits)?;
        let mut marks = grammar.rules.marks();
        marks.sort_by_key(|&(rule, _)| rule);
        let current = Mutex::new(Arc::new(first));
        let lineage = Lineage { rules: grammar.rules.clone(), current };
        Ok(Self {
            grammar: grammar.clone(),
            vocabulary,
            store,
            limits,
            named,
            marks,
            lineage: Mutex::new(Arc::new(lineage)),
            generations: AtomicU64::new(1),
        })
    }

    /// The vocabulary it was compiled with.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The limits it works under.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The grammar it was compiled from.
    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether some rule asks for something beside its texts.
    pub(crate) fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Whether what some rule takes is kept.
    pub(crate) fn has_captures(&self) -> bool {
        self.marks.iter().any(|(_, mark)| mark.capture.is_some())
    }

    /// The name of what a rule takes, if that is kept.
    pub(crate) fn capture(&self, rule: RuleId) -> Option<Arc<str>> {
        let place = self.marks.binary_search_by_key(&rule, |&(rule, _)| rule).ok()?;
        self.marks[place].1.capture.clone()
    }

    /// Whether the grammar means this token somewhere, whatever text it has.
    pub(crate) fn names_token(&self, token: u32) -> bool {
        self.named.iter().any(|named| self.vocabulary.is_among(named, token))
    }

    /// About how many bytes the open generation holds, and what texts have left behind in the rules.
    /// Waits for nobody who learns.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let lineage = self.lineage();
        lineage.generation().size.load(Ordering::Relaxed) + lineage.rules.left_behind()
    }

    /// What the open generation has learnt, in numbers.
    #[must_use]
    pub fn learnt(&self) -> Learnt {
        let generation = self.lineage().generation();
        let tables = generation.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.learnt()
    }

    /// How many generations were opened.
    #[must_use]
    pub fn generations(&self) -> u64 {
        self.generations.load(Ordering::Relaxed)
    }

    /// Begins a new generation, so that nothing a panic may have left behind is used again.
    pub fn retire(&self) {
        let lineage = self.lineage();
        let old = lineage.generation();
        // A failure to open leaves the old one in use: its tables only ever hold whole entries.
        let _ = self.open_after(&lineage, &old);
    }

    /// Where a new matcher begins.
    pub(crate) fn lineage(&self) -> Arc<Lineage> {
        let mut lineage = self.lineage.lock().unwrap_or_else(PoisonError::into_inner);
        if lineage.rules.left_behind() > self.limits.grammar_bytes
            && let Ok(Some(new)) = self.renewed(&lineage)
        {
            *lineage = Arc::new(new);
            self.generations.fetch_add(1, Ordering::Relaxed);
        }
        lineage.clone()
    }

    /// The same with rules that no text has left anything in. An error leaves the old ones in use.
    fn renewed(&self, old: &Lineage) -> Result<Option<Lineage>, Error> {
        let Some(rules) = old.rules.renewed()? else {
            return Ok(None);
        };
        let (start, limits) = (self.grammar.start, self.limits);
        let first = open(&rules, start, &self.vocabulary, &self.store, limits)?;
        Ok(Some(Lineage { rules, current: Mutex::new(Arc::new(first)) }))
    }

    /// Opens a new generation if `old` is still the open one and has passed its limit.
    pub(crate) fn roll_over(
        &self,
        lineage: &Lineage,
        old: &Arc<Generation>,
        size: usize,
    ) -> Result<(), Error> {
        if size <= self.limits.grammar_bytes {
            return Ok(());
        }
        self.open_after(lineage, old)
    }

    fn open_after(&self, lineage: &Lineage, old: &Arc<Generation>) -> Result<(), Error> {
        let mut current = lineage.current.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, old) {
            let (start, limits) = (self.grammar.start, self.limits);
            let next = open(&lineage.rules, start, &self.vocabulary, &self.store, limits)?;
            *current = Arc::new(next);
            old.is_retired.store(true, Ordering::Relaxed);
            self.generations.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn open(
    rules: &Arc<dyn Rules>,
    start: RuleId,
    vocabulary: &Arc<Vocabulary>,
    store: &Arc<Store>,
    limits: Limits,
) -> Result<Generation, Error> {
    let mut tables = Tables::new(rules.clone(), vocabulary.clone(), store.clone(), limits);
    let start = tables.start(start)?;
    let start = (start != tables.residuals.exprs.nothing()).then_some(start);
    let size = AtomicUsize::new(tables.size_in_bytes());
    let is_retired = AtomicBool::new(false);
    Ok(Generation { tables: RwLock::new(tables), start, is_retired, size })
}
