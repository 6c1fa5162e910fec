//! Takes out of a grammar what a vocabulary cannot spell, so that no token leads to where none
//! goes on.

use crate::error::Error;
use crate::grammar::{ByteSet, CharSet, Expr, ExprId, LiteralsId, RuleId, Spelling};
use crate::residual::Residuals;
use crate::vocab::Vocabulary;

/// The bytes of UTF-8 that are no token of their own.
///
/// # Errors
/// Longer tokens have one of them, so that some texts with it can be spelled and others cannot; or
/// bytes that continue a character are among them: then its beginning might have no end.
pub(crate) fn missing_bytes(vocabulary: &Vocabulary) -> Result<ByteSet, Error> {
    // 0xC0, 0xC1 and what follows 0xF4 are never part of UTF-8 (RFC 3629 section 1).
    let used = ByteSet::range(0, 0xBF).union(&ByteSet::range(0xC2, 0xF4));
    let missing = used.difference(&vocabulary.spellable());
    if let Some(byte) = missing.intersection(&vocabulary.used_bytes()).iter().next() {
        let message = format!(
            "the byte 0x{byte:02X} occurs in tokens but is no token of its own, so which texts can be spelled is not known; add it as a token"
        );
        return Err(Error::vocabulary(message));
    }
    let continuation = ByteSet::range(0x80, 0xBF).intersection(&missing);
    let has_begun = vocabulary.spellable().intersection(&ByteSet::range(0xC2, 0xF4));
    if let Some(byte) = continuation.iter().next()
        && !has_begun.is_empty()
    {
        let message = format!(
            "the vocabulary has tokens that begin a character, but none for the byte 0x{byte:02X} that may continue it"
        );
        return Err(Error::vocabulary(message));
    }
    Ok(missing)
}

impl Residuals {
    /// That each rule of a grammar that is written down can be spelled, calls included.
    ///
    /// # Errors
    /// [`ErrorKind::Vocabulary`](crate::ErrorKind::Vocabulary) with the name of one that cannot.
    pub(crate) fn check_spelling(&mut self) -> Result<(), Error> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let count = self.rules().count().unwrap_or(0);
        let mut bodies = Vec::new();
        for rule in 0..count {
            bodies.push(self.body(RuleId(rule))?);
        }
        // The start of a grammar that matches only the empty text has nothing to spell.
        let nothing = self.exprs.nothing();
        let only_empty = |&body: &ExprId| body == nothing && self.rules().accepts_empty();
        let mut ends: Vec<bool> = bodies.iter().map(only_empty).collect();
        loop {
            let mut is_changed = false;
            for rule in 0..bodies.len() {
                if !ends[rule] && self.can_end(bodies[rule], &ends) {
                    (ends[rule], is_changed) = (true, true);
                }
            }
            if !is_changed {
                break;
            }
        }
        match (0..count).zip(ends).find(|(_, ends)| !ends) {
            None => Ok(()),
            Some((rule, _)) => Err(self.cannot_spell(&self.rules().name(RuleId(rule)))),
        }
    }

    /// Whether some text of `id` needs only rules that end.
    fn can_end(&self, id: ExprId, ends: &[bool]) -> bool {
        match self.exprs.get(id) {
            Expr::Nothing => false,
            Expr::Seq(..) => self.exprs.spine(id).into_iter().all(|part| self.can_end(part, ends)),
            Expr::Choice(list) => {
                self.exprs.list(list).iter().any(|&member| self.can_end(member, ends))
            }
            Expr::Repeat { body, min, .. } => min == 0 || self.can_end(body, ends),
            Expr::Call(rule) => ends.get(rule.0 as usize).copied().unwrap_or(true),
            Expr::Empty
            | Expr::Bytes { .. }
            | Expr::OneOf { .. }
            | Expr::Bytes1(_)
            | Expr::Chars { .. }
            | Expr::Partial { .. }
            | Expr::Token(_)
            | Expr::And(_)
            | Expr::Not(_)
            | Expr::Names { .. }
            | Expr::OtherName(_) => true,
        }
    }

    /// The body of a rule without texts that the vocabulary cannot spell.
    ///
    /// # Errors
    /// [`ErrorKind::Vocabulary`](crate::ErrorKind::Vocabulary) if no text is left.
    pub(super) fn spellable_body(&mut self, rule: RuleId, body: ExprId) -> Result<ExprId, Error> {
        if self.missing.is_empty() || body == self.exprs.nothing() {
            return Ok(body);
        }
        let spellable = self.spellable(body)?;
        if spellable == self.exprs.nothing() {
            return Err(self.cannot_spell(&self.rules().name(rule)));
        }
        Ok(spellable)
    }

    /// Refuses member names that the vocabulary cannot spell.
    pub(super) fn check_names(&self, names: LiteralsId) -> Result<(), Error> {
        if self.missing.is_empty() {
            return Ok(());
        }
        for &id in self.exprs.literal_ids(names) {
            if self.is_missing_in(self.exprs.literal(id)) {
                let name = String::from_utf8_lossy(self.exprs.literal(id)).into_owned();
                return Err(self.cannot_spell(&name));
            }
        }
        Ok(())
    }

    fn cannot_spell(&self, what: &str) -> Error {
        let bytes: Vec<String> =
            self.missing.iter().take(4).map(|byte| format!("0x{byte:02X}")).collect();
        let bytes = bytes.join(", ");
        Error::vocabulary(format!(
            "`{what}` cannot be spelled: the vocabulary has no token for bytes that it needs (among those it lacks: {bytes})"
        ))
    }

    fn is_missing_in(&self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.missing.contains(byte))
    }

    fn spellable(&mut self, id: ExprId) -> Result<ExprId, Error> {
        Ok(match self.exprs.get(id) {
            Expr::Bytes { literal, from } => {
                let rest = &self.exprs.literal(literal)[from as usize..];
                if self.is_missing_in(rest) { self.exprs.nothing() } else { id }
            }
            Expr::OneOf { literals, low, high, depth } => {
                let run = &self.exprs.literal_ids(literals)[low as usize..high as usize];
                let kept: Vec<Vec<u8>> = run
                    .iter()
                    .map(|&id| self.exprs.literal(id)[depth as usize..].to_vec())
                    .filter(|literal| !self.is_missing_in(literal))
                    .collect();
                if kept.len() == run.len() {
                    id
                } else {
                    self.exprs.one_of(kept.iter().map(Vec::as_slice))
                }
            }
            Expr::Bytes1(set) => {
                let kept = self.exprs.byte_set_of(set).difference(&self.missing);
                self.exprs.byte_set(&kept)
            }
            Expr::Chars { class, spelling } => {
                if spelling == Spelling::Json && !self.missing.contains(b'\\') {
                    // Any character has an escape, if escapes can be finished.
                    self.check_escapes()?;
                    return Ok(id);
                }
                if spelling == Spelling::JsonCanonical && class == self.exprs.any {
                    // There are others to choose from.
                    return Ok(id);
                }
                let kept = self.exprs.class(class).difference(&self.unspellable());
                self.exprs.chars(&kept, spelling)
            }
            Expr::Seq(..) => {
                let mut parts = self.exprs.spine(id);
                for part in &mut parts {
                    *part = self.spellable(*part)?;
                }
                self.exprs.seq(&parts)
            }
            Expr::Choice(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.spellable(*member)?;
                }
                self.exprs.choice(&members)
            }
            Expr::And(list) => {
                let mut members = self.exprs.list(list).to_vec();
                for member in &mut members {
                    *member = self.spellable(*member)?;
                }
                self.exprs.and(&members)
            }
            Expr::Repeat { body, min, max } => {
                let body = self.spellable(body)?;
                self.exprs.repeat(body, min, max)
            }
            Expr::OtherName(text) => {
                let text = self.spellable(text)?;
                if self.missing.contains(b'"') {
                    self.exprs.nothing()
                } else {
                    self.exprs.other_name(text)
                }
            }
            // What is refused may as well be refused unspelled.
            Expr::Not(_)
            | Expr::Nothing
            | Expr::Empty
            | Expr::Partial { .. }
            | Expr::Token(_)
            | Expr::Call(_)
            | Expr::Names { .. } => id,
        })
    }

    /// A vocabulary that has the backslash must be able to go on after it.
    fn check_escapes(&self) -> Result<(), Error> {
        let needed = b"\"\\/bfnrtu0123456789abcdefABCDEF";
        match needed.iter().find(|&&byte| self.missing.contains(byte)) {
            None => Ok(()),
            Some(&byte) => Err(Error::vocabulary(format!(
                "the vocabulary has the backslash, but not the byte 0x{byte:02X} that an escape in a JSON string may need"
            ))),
        }
    }

    /// The characters that need a missing byte.
    fn unspellable(&self) -> CharSet {
        let ranges = self.missing.iter().filter_map(|byte| match byte {
            0..0x80 => Some((u32::from(byte), u32::from(byte))),
            0xC2..=0xDF => Some(spanned(byte & 0x1F, 6, 0x80)),
            0xE0..=0xEF => Some(spanned(byte & 0x0F, 12, 0x800)),
            0xF0..=0xF4 => Some(spanned(byte & 0x07, 18, 0x1_0000)),
            _ => None,
        });
        CharSet::from_code_points(ranges)
    }
}

/// The code points whose leading bits are these.
fn spanned(bits: u8, shift: u32, shortest: u32) -> (u32, u32) {
    let low = u32::from(bits) << shift;
    (low.max(shortest), low | ((1 << shift) - 1))
}
