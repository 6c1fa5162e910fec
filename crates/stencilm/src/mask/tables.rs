//! All that one grammar has learnt so far with one vocabulary.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::error::Error;
use crate::grammar::{ExprId, RuleId, Rules, TokenName};
use crate::limits::Limits;
use crate::mask::Mask;
use crate::mask::after::{First, Firsts};
use crate::mask::local::{Local, LocalId};
use crate::mask::store::Store;
use crate::mask::tries::{TrieId, Tries};
use crate::mask::view::{View, ViewId};
use crate::residual::Residuals;
use crate::residual::places::Places;
use crate::vocab::Vocabulary;

/// The local results of one expression, by what may come next after it.
type KnownLocals = SmallVec<[(First, LocalId); 1]>;

/// What the tables of a grammar hold, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// Local results: what one expression alone says of the tokens.
    pub locals: usize,
    /// Those among them that other grammars had left in the store.
    pub adopted: usize,
    /// Masks of states with one live alternative: an expression and what some token reaches below it.
    pub views: usize,
    /// Masks of states with several.
    pub unions: usize,
    /// Bytes of all of these.
    pub mask_bytes: usize,
}

/// The lazy tables of one grammar and one vocabulary. Everything in them is complete or not
/// there: nothing is written before it is known, and never changed after.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) residuals: Residuals,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(super) store: Arc<Store>,
    pub(super) tries: Tries,
    pub(super) firsts: Firsts,
    pub(super) locals: Vec<Local>,
    pub(super) local_ids: FxHashMap<(ExprId, TrieId, Places), KnownLocals>,
    pub(super) views: Vec<View>,
    pub(super) first_views: FxHashMap<(ExprId, Places), ViewId>,
    pub(super) next_views: FxHashMap<(ViewId, ExprId, Places), ViewId>,
    pub(super) unions: FxHashMap<Box<[ViewId]>, Arc<Mask>>,
    /// A bit for each token, all of them zero between two questions.
    pub(super) marks: Vec<u32>,
    /// Trie nodes that may still be walked for the mask in the making.
    pub(super) work: usize,
    /// Local results in the making, one inside the other.
    pub(super) depth: usize,
    /// Those among them that are made out of another one that they are like.
    pub(super) modelled: Vec<(ExprId, TrieId)>,
    pub(super) mask_bytes: usize,
    /// Where the dense parts of masks lie in memory.
    bases: FxHashSet<usize>,
    /// Local results that the store had.
    pub(super) adopted: usize,
}

impl Tables {
    pub(crate) fn new(
        rules: Arc<dyn Rules>,
        vocabulary: Arc<Vocabulary>,
        store: Arc<Store>,
        limits: Limits,
    ) -> Self {
        Self {
            residuals: Residuals::new(rules, limits, &vocabulary),
            tries: Tries::new(vocabulary.clone()),
            vocabulary,
            store,
            firsts: Firsts::default(),
            locals: Vec::new(),
            local_ids: FxHashMap::default(),
            views: Vec::new(),
            first_views: FxHashMap::default(),
            next_views: FxHashMap::default(),
            unions: FxHashMap::default(),
            marks: Vec::new(),
            work: 0,
            depth: 0,
            modelled: Vec::new(),
            mask_bytes: 0,
            bases: FxHashSet::default(),
            adopted: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.residuals.limits
    }

    /// The call of a grammar's start rule; `Nothing` if only the empty text matches.
    ///
    /// # Errors
    /// A limit, or the tokens can spell no text of it.
    pub(crate) fn start(&mut self, rule: RuleId) -> Result<ExprId, Error> {
        let body = self.residuals.body(rule)?;
        let nothing = self.residuals.exprs.nothing();
        if body == nothing {
            return Ok(nothing);
        }
        let start = self.residuals.exprs.call(rule);
        if self.residuals.check_start(start)? {
            return Ok(start);
        }
        if self.residuals.rules().accepts_empty() {
            return Ok(nothing);
        }
        Err(self.residuals.cannot_spell())
    }

    /// The ids of the tokens that the grammar names so.
    pub(crate) fn named_tokens(&self, name: TokenName) -> Vec<u32> {
        let named = self.vocabulary.named(self.residuals.exprs.token_name(name));
        named.map_or_else(|_| Vec::new(), |named| self.vocabulary.all_named(&named))
    }

    /// About how many bytes the tables hold.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.residuals.size_in_bytes()
            + self.tries.size_in_bytes()
            + self.mask_bytes
            + self.locals.len() * size_of::<Local>()
            + self.locals.len() * 16
            + self.local_ids.len() * 40
            + self.views.len() * size_of::<View>()
            + (self.first_views.len() + self.next_views.len()) * 24
    }

    /// Counts what a mask costs: its dense part the first time that it comes, wherever it was made,
    /// since these tables may be the last that hold it.
    pub(super) fn count_mask(&mut self, mask: &Mask) {
        self.mask_bytes += mask.size_in_bytes();
        if let Some(base) = mask.base()
            && self.bases.insert(base.as_ptr().addr())
        {
            self.mask_bytes += size_of_val(base);
        }
    }

    /// What was learnt so far, in numbers.
    pub(crate) fn learnt(&self) -> Learnt {
        Learnt {
            locals: self.locals.len(),
            adopted: self.adopted,
            views: self.views.len(),
            unions: self.unions.len(),
            mask_bytes: self.mask_bytes,
        }
    }
}
