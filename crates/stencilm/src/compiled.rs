//! A grammar compiled with a vocabulary: nothing is computed until a state is visited, and then
//! once, for all matchers.

use std::sync::{
    Arc, Mutex, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::error::Error;
use crate::grammar::{ExprId, Grammar, Rules};
use crate::limits::Limits;
use crate::mask::Tables;
use crate::mask::store::Store;
use crate::vocab::Vocabulary;

/// One arena of a compiled grammar. When it passes its limit a new one opens, and matchers move
/// over with what they still need.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) tables: RwLock<Tables>,
    /// The start rule's call; none if only the empty text matches.
    pub(crate) start: Option<ExprId>,
    is_retired: AtomicBool,
}

impl Generation {
    /// Whether a newer one is open.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
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
    names_special_tokens: bool,
    current: Mutex<Arc<Generation>>,
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
        let special = grammar.rules.special_tokens();
        for name in &special {
            if vocabulary.special_id(name).is_none() {
                let message = format!(
                    "the grammar names the token {name:?}, which is no special token of the vocabulary"
                );
                return Err(Error::vocabulary(message));
            }
        }
        let first = open(grammar, &vocabulary, &store, limits)?;
        Ok(Self {
            grammar: grammar.clone(),
            vocabulary,
            store,
            limits,
            names_special_tokens: !special.is_empty(),
            current: Mutex::new(Arc::new(first)),
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

    pub(crate) fn names_special_tokens(&self) -> bool {
        self.names_special_tokens
    }

    /// About how many bytes the open generation holds.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let generation = self.generation();
        let tables = generation.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.size_in_bytes()
    }

    /// How many generations were opened.
    #[must_use]
    pub fn generations(&self) -> u64 {
        self.generations.load(Ordering::Relaxed)
    }

    /// Begins a new generation, so that nothing a panic may have left behind is used again.
    pub fn retire(&self) {
        let old = self.generation();
        // A failure to open leaves the old one in use: its tables only ever hold whole entries.
        let _ = self.open_after(&old);
    }

    pub(crate) fn generation(&self) -> Arc<Generation> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a new generation if `old` is still the open one and has passed its limit.
    pub(crate) fn roll_over(&self, old: &Arc<Generation>, size: usize) -> Result<(), Error> {
        if size <= self.limits.grammar_bytes {
            return Ok(());
        }
        self.open_after(old)
    }

    fn open_after(&self, old: &Arc<Generation>) -> Result<(), Error> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, old) {
            *current = Arc::new(open(&self.grammar, &self.vocabulary, &self.store, self.limits)?);
            old.is_retired.store(true, Ordering::Relaxed);
            self.generations.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn open(
    grammar: &Grammar,
    vocabulary: &Arc<Vocabulary>,
    store: &Arc<Store>,
    limits: Limits,
) -> Result<Generation, Error> {
    let rules: Arc<dyn Rules> = grammar.rules.clone();
    let mut tables = Tables::new(rules, vocabulary.clone(), store.clone(), limits);
    let start = tables.start(grammar.start)?;
    let start = (start != tables.residuals.exprs.nothing()).then_some(start);
    Ok(Generation { tables: RwLock::new(tables), start, is_retired: AtomicBool::new(false) })
}
