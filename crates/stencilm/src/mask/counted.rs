//! A condition beside a counter of characters: the condition's own result, which many counts
//! share, and a walk over the few tokens long enough for the counter to matter.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{Expr, ExprId};
use crate::mask::after::After;
use crate::mask::local::Local;
use crate::mask::tries::{FULL, TrieId};
use crate::mask::{MaskBuilder, Tables, has};
use crate::vocab::Parted;

/// With fewer characters to go, most tokens matter: a plain walk is as good.
const FEWEST: u32 = 4;

impl Tables {
    /// The local result of `first` (a condition and at most so many characters) and then `rest`;
    /// none if `first` is something else.
    ///
    /// A token that stays within the count less the condition's worst case is allowed exactly if
    /// the condition alone allows it, as long as no least number of characters is missing.
    pub(super) fn counted_local(
        &mut self,
        id: ExprId,
        first: ExprId,
        rest: ExprId,
        after: After,
    ) -> Result<Option<Local>, Error> {
        let Some((condition, sure)) = self.counted(first) else {
            return Ok(None);
        };
        if sure < FEWEST {
            return Ok(None);
        }
        let alone = self.residuals.exprs.seq2(condition, rest);
        let local = self.local(alone, FULL, after)?;
        // Few different counts, so that their sieves are shared.
        let sure = 1 << sure.ilog2();
        let any = self.residuals.exprs.any;
        let any = self.residuals.exprs.class(any).clone();
        let (store, vocabulary) = (self.store.clone(), self.vocabulary.clone());
        let short = store.sieve(&vocabulary, Parted::Whole, &any, Some(sure));
        let mut inside = MaskBuilder::default();
        if let Some(base) = local.inside.base() {
            let both = base.iter().zip(short.pure().iter()).map(|(base, short)| base & short);
            inside.add_base(&both.collect::<Arc<[u32]>>());
        }
        inside.remove(local.inside.cuts());
        let singles = local.inside.singles().iter().copied();
        inside.adds().extend(singles.filter(|&token| has(short.pure(), token)));
        let long: Vec<u32> = short.pure().iter().map(|word| !word).collect();
        let exits: Vec<TrieId> =
            local.exits.iter().filter_map(|&exit| self.tries.without(exit, &long)).collect();
        let mut found = self.begin_sieved(after, inside, &[short]);
        found.is_whole = local.is_whole;
        found.add_exits(exits.iter().map(|&exit| self.tries.place(exit)));
        self.walk_all(id, FULL, &mut found)?;
        self.finish_walk(found).map(Some)
    }

    /// The condition beside a counter of any characters, and the most characters after which it
    /// can surely still be met in time.
    fn counted(&mut self, id: ExprId) -> Option<(ExprId, u32)> {
        let Expr::And(list) = self.residuals.exprs.get(id) else {
            return None;
        };
        let &[a, b] = self.residuals.exprs.list(list) else {
            return None;
        };
        let (counter, condition) = if self.residuals.is_any_counted(a) { (a, b) } else { (b, a) };
        let Expr::Repeat { min: 0, max, .. } = self.residuals.exprs.get(counter) else {
            return None;
        };
        let shape = self.residuals.shape(condition);
        if !self.residuals.is_any_counted(counter) || !shape.is_exact {
            return None;
        }
        Some((condition, max.checked_sub(shape.worst)?))
    }
}
