//! The derivative itself, one case for each kind of expression.

use crate::error::Error;
use crate::grammar::{ByteSet, Expr, ExprId, Progress, UNBOUNDED};
use crate::residual::partition::PartitionId;
use crate::residual::{Residuals, Steps, UNKNOWN, spell};

/// Characters left at which alternatives that need more are dropped from an intersection.
const NEAR_THE_END: u32 = 8;

impl Residuals {
    /// Makes room for the steps of `id`; fills them in where that costs little.
    pub(super) fn open_steps(&mut self, id: ExprId) -> Result<(), Error> {
        let at = id.0 as usize;
        if at >= self.steps.len() {
            self.steps.resize(self.exprs.len().max(at + 1), Steps::Unknown);
        }
        if !matches!(self.steps[at], Steps::Unknown) {
            return Ok(());
        }
        if let Expr::Bytes { literal, from } = self.exprs.get(id) {
            let byte = self.exprs.literal(literal)[from as usize];
            let target = self.exprs.bytes_from(literal, from + 1);
            self.steps[at] = Steps::One { byte, target };
            return Ok(());
        }
        let partition = self.partition(id)?;
        // The partition of a character fills the table in.
        if matches!(self.steps[at], Steps::Unknown) {
            let base = self.new_targets(self.partitions.count(partition));
            self.steps[at] = Steps::Table { partition, base };
        }
        Ok(())
    }

    /// The classes of bytes that `id` can tell apart.
    pub(super) fn partition(&mut self, id: ExprId) -> Result<PartitionId, Error> {
        if let Some(partition) = self.known(id).partition {
            return Ok(partition);
        }
        let partition = match self.exprs.get(id) {
            Expr::Nothing | Expr::Empty | Expr::Token(_) | Expr::Call(_) => self.partitions.whole(),
            Expr::Bytes { literal, from } => {
                let byte = self.exprs.literal(literal)[from as usize];
                self.partitions.single(byte)
            }
            Expr::OneOf { .. } => self.partition_of_run(id),
            Expr::Bytes1(set) => {
                let set = self.exprs.byte_set_of(set);
                self.partitions.set(&set)
            }
            Expr::Chars { .. } | Expr::Partial { .. } => self.partition_of_character(id),
            Expr::Seq(..) => {
                let mut at = id;
                let mut whole = self.partitions.whole();
                loop {
                    let (first, rest) = match self.exprs.get(at) {
                        Expr::Seq(first, rest) => (first, Some(rest)),
                        _ => (at, None),
                    };
                    let part = self.partition(first)?;
                    whole = self.partitions.product(whole, part);
                    match rest {
                        Some(rest) if self.exprs.is_nullable(first) => at = rest,
                        _ => break whole,
                    }
                }
            }
            Expr::Choice(list) | Expr::And(list) => {
                let members = self.exprs.list(list).to_vec();
                let mut whole = self.partitions.whole();
                for member in members {
                    let part = self.partition(member)?;
                    whole = self.partitions.product(whole, part);
                }
                whole
            }
            Expr::Repeat { body, .. } | Expr::Not(body) => self.partition(body)?,
            Expr::Number { .. } => {
                let of_number = |byte: &u8| b"0123456789-+.eE".contains(byte);
                self.partitions.by_label(|byte| Some(byte).filter(of_number))
            }
            Expr::Names { .. } => self.partition_of_names(id)?,
            Expr::OtherName(text) => {
                let text = self.partition(text)?;
                let quote = self.partitions.single(b'"');
                self.partitions.product(text, quote)
            }
        };
        self.known(id).partition = Some(partition);
        Ok(partition)
    }

    /// Characters know all their steps at once, and bytes with the same target share a class.
    fn partition_of_character(&mut self, id: ExprId) -> PartitionId {
        let (set, spelling, progress) =
            spell::character(&self.exprs, id).expect("the caller matched a character");
        let mut targets = [self.exprs.nothing(); 256];
        // The others lead nowhere.
        let bytes = match progress {
            None => 0..=u8::MAX,
            Some(Progress::Utf8 { .. }) => 0x80..=0xBF,
            Some(_) => 0..=0x7F,
        };
        let alike = if progress.is_none() { spell::leads_alike(&set) } else { ByteSet::EMPTY };
        for byte in bytes {
            if alike.contains(byte) {
                targets[usize::from(byte)] = targets[usize::from(byte) - 1];
                continue;
            }
            targets[usize::from(byte)] = match progress {
                None => spell::first_byte(&mut self.exprs, &set, spelling, byte),
                Some(at) => spell::next_byte(&mut self.exprs, &set, spelling, at, byte),
            };
        }
        let partition = self.partitions.by_label(|byte| targets[usize::from(byte)]);
        let base = self.new_targets(self.partitions.count(partition));
        for byte in 0..=u8::MAX {
            let class = self.partitions.class(partition, byte);
            self.targets[(base + class) as usize] = targets[usize::from(byte)].0;
        }
        if self.steps.len() < self.exprs.len() {
            self.steps.resize(self.exprs.len(), Steps::Unknown);
        }
        self.steps[id.0 as usize] = Steps::Table { partition, base };
        partition
    }

    fn new_targets(&mut self, count: u32) -> u32 {
        let base = u32::try_from(self.targets.len()).expect("limits keep arenas small");
        self.targets.resize(self.targets.len() + count as usize, UNKNOWN);
        base
    }

    pub(super) fn derive(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        let nothing = self.exprs.nothing();
        Ok(match self.exprs.get(id) {
            Expr::Nothing | Expr::Empty | Expr::Token(_) | Expr::Call(_) => nothing,
            Expr::Bytes { literal, from } => {
                if self.exprs.literal(literal)[from as usize] == byte {
                    self.exprs.bytes_from(literal, from + 1)
                } else {
                    nothing
                }
            }
            Expr::OneOf { .. } => self.derive_run(id, byte),
            Expr::Bytes1(set) => {
                let is_in = self.exprs.byte_set_of(set).contains(byte);
                if is_in { self.exprs.empty() } else { nothing }
            }
            Expr::Chars { .. } | Expr::Partial { .. } => {
                unreachable!("`open_steps` fills in all steps of a character")
            }
            Expr::Seq(..) => self.derive_sequence(id, byte)?,
            Expr::Choice(list) => {
                let members = self.exprs.list(list).to_vec();
                let mut rests = Vec::with_capacity(members.len());
                for member in members {
                    rests.push(self.step(member, byte)?);
                }
                self.exprs.choice(&rests)
            }
            Expr::Repeat { body, min, max } => {
                let rest = self.step(body, byte)?;
                if rest == nothing {
                    return Ok(nothing);
                }
                let less = if max == UNBOUNDED { max } else { max - 1 };
                let again = self.exprs.repeat(body, min.saturating_sub(1), less);
                self.exprs.seq2(rest, again)
            }
            Expr::And(list) => {
                let met = self.derive_and(list, byte)?;
                if self.is_alive(met)? { met } else { nothing }
            }
            Expr::Not(body) => {
                let rest = self.step(body, byte)?;
                self.exprs.not(rest)
            }
            Expr::Number { set, state } => self.exprs.after_number_byte(set, state, byte),
            Expr::Names { .. } => self.derive_names(id, byte)?,
            Expr::OtherName(text) => {
                let is_complete = byte == b'"' && self.exprs.is_nullable(text);
                let rest = self.step(text, byte)?;
                let rest = self.exprs.other_name(rest);
                if is_complete { self.exprs.optional(rest) } else { rest }
            }
        })
    }

    fn derive_sequence(&mut self, id: ExprId, byte: u8) -> Result<ExprId, Error> {
        let nothing = self.exprs.nothing();
        let mut rests = Vec::new();
        let mut at = id;
        while let Expr::Seq(first, rest) = self.exprs.get(at) {
            let after = self.step(first, byte)?;
            if after != nothing {
                rests.push(self.exprs.seq2(after, rest));
            }
            if !self.exprs.is_nullable(first) {
                return Ok(self.exprs.choice(&rests));
            }
            at = rest;
        }
        rests.push(self.step(at, byte)?);
        Ok(self.exprs.choice(&rests))
    }

    /// The intersection of the members' derivatives, without asking whether it is empty.
    pub(super) fn derive_and(
        &mut self,
        list: crate::grammar::List,
        byte: u8,
    ) -> Result<ExprId, Error> {
        let nothing = self.exprs.nothing();
        let members = self.exprs.list(list).to_vec();
        let mut rests = Vec::with_capacity(members.len());
        for member in members {
            let rest = self.step(member, byte)?;
            if rest == nothing {
                return Ok(nothing);
            }
            rests.push(rest);
        }
        // Near the end of a counter what cannot end in time would be searched in vain.
        let most = rests.iter().map(|&rest| self.shape(rest).longest).min().unwrap_or(u32::MAX);
        if most <= NEAR_THE_END {
            for rest in &mut rests {
                *rest = self.cut(*rest, most);
            }
        }
        Ok(self.exprs.and(&rests))
    }
}
