//! Counters of characters, alone or beside a condition: the result without the counter, which many
//! counts share, and a walk over the few tokens for which the counter matters.

use std::sync::Arc;

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, Spelling, UNBOUNDED};
use crate::mask::after::After;
use crate::mask::local::Local;
use crate::mask::tries::TrieId;
use crate::mask::{MaskBuilder, Tables};
use crate::vocab::StringSigns;

/// How many times the tokens that are walked all tokens are at least; else a plain walk is as good.
const LEAST_GAIN: u32 = 2;

/// Of so few characters few tokens are made: a sieve is as good for a counter with a least number.
const FEW_CHARACTERS: u32 = 62;

/// Few tokens have more characters.
const MANY_CHARACTERS: u32 = 16;

/// Characters that are counted.
struct Counted {
    /// The same without the counter.
    alone: ExprId,
    min: u32,
    max: u32,
    /// After so many characters what remains can surely still be met in time.
    sure: u32,
    spelling: Spelling,
    /// The characters, if nothing else is asked of them.
    class: Option<Arc<CharSet>>,
}

impl Counted {
    fn is_narrow(&self) -> bool {
        self.min > 0 && self.class.as_ref().is_some_and(|class| class.len() <= FEW_CHARACTERS)
    }
}

impl Tables {
    /// The local result of an expression that begins with counted characters; none if it does not, or
    /// if this is no gain.
    ///
    /// Without a byte that can follow the counter no token leaves it. Such a token is allowed exactly if
    /// it is so without the counter, as long as it surely has few enough characters, and refused if it
    /// has too many of them. Of the others those with few characters may leave as they do without the
    /// counter, if that needs no least number.
    pub(super) fn counted_local(
        &mut self,
        id: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<Option<Local>, Error> {
        let Some(parted) = self.parted(trie) else { return Ok(None) };
        if self.residuals.is_over_tokens() {
            return Ok(None);
        }
        let (head, rest) = self.residuals.exprs.head_and_rest(id);
        let Some(counted) = self.counted(head) else { return Ok(None) };
        let first = if after.goes_on() { self.first_set(after.first) } else { ByteSet::EMPTY };
        let leaving = self.residuals.bytes_after(rest, &first)?;
        // Beyond ASCII a byte does not tell the character.
        if !leaving.iter().all(|byte| byte.is_ascii()) {
            return Ok(None);
        }
        let mut special = leaving;
        if counted.spelling != Spelling::Text {
            // An escape is one character, however long it is.
            special.insert(b'\\');
        }
        let is_open = after.goes_on() && self.residuals.exprs.is_nullable(rest);
        if counted.sure == counted.max
            && special.is_subset(&StringSigns::bytes())
            && (counted.min > 0 || counted.max < MANY_CHARACTERS)
        {
            let inside = self.counted_without_signs(&counted, rest, trie, after)?;
            let mut found = self.begin_held_back(after, inside, None);
            found.is_whole = !is_open;
            self.walk_string_signs(id, trie, &mut found)?;
            return self.finish_walk(found).map(Some);
        }
        if counted.is_narrow() {
            return Ok(None);
        }
        let Counted { alone, min, max, sure, .. } = counted;
        let vocabulary = self.vocabulary.clone();
        let mut changed = vocabulary.longer(parted, sure);
        let mut walked = changed.clone();
        walked.keep(&vocabulary.with_ascii(parted, &special));
        if sure < max {
            let longer = vocabulary.longer(parted, max);
            let mut unsure = changed;
            unsure.remove(&longer);
            // Tokens of characters that lead back to where they began leave no less to be met.
            if max - sure <= 1
                && self.residuals.exprs.is_nullable(alone)
                && let Some(lead) = self.residuals.way_back(alone)
            {
                unsure.keep_rest(&self.beginnings(parted, &lead.class));
            }
            walked.add(&unsure);
            changed = longer;
            changed.add(&unsure);
        }
        if min > 0 {
            let leaving = vocabulary.with_ascii(parted, &leaving);
            walked.add(&leaving);
            changed.add(&leaving);
        }
        let all = u32::try_from(vocabulary.trie().tokens().len()).unwrap_or(u32::MAX);
        if walked.count() > all / LEAST_GAIN {
            return Ok(None);
        }
        let alone = self.residuals.exprs.seq2(alone, rest);
        let local = self.local(alone, trie, after)?;
        let mut inside = MaskBuilder::default();
        inside.add_without(&local.inside, changed.numbers());
        let mut exits = Vec::new();
        // What leaves begins with a byte that can follow.
        if min == 0 {
            for &exit in local.exits.iter() {
                exits.extend(self.tries.without(exit, changed.numbers()));
            }
        }
        let mut found = self.begin_held_back(after, inside, Some(walked.ranks().into()));
        found.is_whole = (min > 0 || local.is_whole) && !is_open;
        found.add_exits(exits.iter().map(|&exit| self.tries.place(exit)));
        self.walk_all(id, trie, &mut found)?;
        self.finish_walk(found).map(Some)
    }

    /// The tokens without a quote or a backslash that end in counted characters before `rest`, if no
    /// others leave these: those that do so without the counter, if they are not too long.
    fn counted_without_signs(
        &mut self,
        counted: &Counted,
        rest: ExprId,
        trie: TrieId,
        after: After,
    ) -> Result<MaskBuilder, Error> {
        let parted = self.parted(trie).expect("it is asked only where there are sieves");
        let vocabulary = self.vocabulary.clone();
        let longer = vocabulary.longer(parted, counted.max);
        let left_out = longer.numbers().iter().zip(vocabulary.string_signs().tokens());
        let left_out: Vec<u32> = left_out.map(|(longer, signs)| longer | signs).collect();
        let mut inside = MaskBuilder::default();
        if let Some(class) = &counted.class {
            let pure = self.beginnings(parted, class);
            let kept = pure.pure().iter().zip(&left_out).map(|(pure, left_out)| pure & !left_out);
            inside.add_base(&kept.collect::<Arc<[u32]>>());
        } else {
            let alone = self.residuals.exprs.seq2(counted.alone, rest);
            let local = self.local(alone, trie, after)?;
            inside.add_without(&local.inside, &left_out);
        }
        Ok(inside)
    }

    /// Whether a sieve or another result tells of `id` without its counter.
    pub(super) fn is_counted(&mut self, id: ExprId) -> bool {
        let (head, _) = self.residuals.exprs.head_and_rest(id);
        self.counted(head).is_some_and(|counted| !counted.is_narrow())
    }

    /// What is counted at the beginning of an expression, if a sieve or another result tells of it without
    /// the counter.
    fn counted(&mut self, head: ExprId) -> Option<Counted> {
        match self.residuals.exprs.get(head) {
            Expr::Repeat { body, min, max } if max != UNBOUNDED => {
                let Expr::Chars { spelling, .. } = self.residuals.exprs.get(body) else {
                    return None;
                };
                let alone = self.residuals.exprs.repeat(body, 0, UNBOUNDED);
                let lead = self.residuals.leading_loop(alone)?;
                let class = Some(lead.class.clone());
                lead.is_wide.then_some(Counted { alone, min, max, sure: max, spelling, class })
            }
            Expr::And(list) => {
                let members = self.residuals.exprs.list(list).to_vec();
                self.counted_beside(&members)
            }
            _ => None,
        }
    }

    /// The same for a counter of any characters beside a condition.
    fn counted_beside(&mut self, members: &[ExprId]) -> Option<Counted> {
        let is_counted = |&member: &ExprId| self.residuals.is_counted(member);
        let place = members.iter().position(is_counted)?;
        let Expr::Repeat { body, min, max } = self.residuals.exprs.get(members[place]) else {
            return None;
        };
        // After one character it is the loop alone.
        if min <= 1 && max == UNBOUNDED {
            return None;
        }
        let Expr::Chars { spelling, .. } = self.residuals.exprs.get(body) else {
            return None;
        };
        let mut others = members.to_vec();
        others.remove(place);
        let bound = self.residuals.plain_bound(&others, body, min)?;
        others.push(self.residuals.exprs.repeat(body, 0, UNBOUNDED));
        let alone = self.residuals.exprs.and(&others);
        let sure = if max == UNBOUNDED { Some(max) } else { max.checked_sub(bound) };
        sure.map(|sure| Counted { alone, min, max, sure, spelling, class: None })
    }
}
