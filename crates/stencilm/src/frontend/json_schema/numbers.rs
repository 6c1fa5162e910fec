//! Sets of numbers: intervals, integers or not, multiples, or a list of values.

use std::cmp::Ordering;

use crate::frontend::json_schema::decimal::Decimal;
use crate::frontend::json_schema::multiples::Step;
use crate::frontend::json_schema::shape::{Bound, NumberShape, Refusal, Whole};

/// Bounds with more digits than this are not written out. The largest double has 309 digits,
/// the smallest 1,075.
pub(crate) const MOST_DIGITS: u64 = 1_200;

impl NumberShape {
    /// Leaves out what is below a bound.
    pub(crate) fn raise(&mut self, bound: Bound) {
        let is_stricter = self.low.as_ref().is_none_or(|low| match bound.value.cmp(&low.value) {
            Ordering::Greater => true,
            Ordering::Equal => bound.is_exclusive,
            Ordering::Less => false,
        });
        if is_stricter {
            self.low = Some(bound);
        }
    }

    /// Leaves out what is above a bound.
    pub(crate) fn lower(&mut self, bound: Bound) {
        let is_stricter =
            self.high.as_ref().is_none_or(|high| match bound.value.cmp(&high.value) {
                Ordering::Less => true,
                Ordering::Equal => bound.is_exclusive,
                Ordering::Greater => false,
            });
        if is_stricter {
            self.high = Some(bound);
        }
    }

    /// Whether the digits of the bounds can be written out.
    pub(crate) fn is_small(&self) -> bool {
        [&self.low, &self.high]
            .into_iter()
            .flatten()
            .all(|bound| bound.value.plain_len() <= MOST_DIGITS)
    }

    /// Whether "multiple of" can be written out as digits.
    pub(crate) fn has_simple_multiples(&self) -> bool {
        self.multiples.iter().all(|divisor| Step::of(divisor).is_some())
    }

    /// The normal form; `None` if it is plain to see that there is no such number.
    pub(crate) fn normal(mut self) -> Option<Self> {
        if self.values.is_some() {
            return Some(self);
        }
        self.multiples.sort_unstable();
        self.multiples.dedup();
        if self.whole == Whole::Only && self.is_small() {
            // The nearest integers are inclusive bounds.
            self.low = self.low.take().map(|low| {
                let least = low.value.ceil();
                let value = if low.is_exclusive && least == low.value {
                    least.next_integer()
                } else {
                    least
                };
                Bound { value, is_exclusive: false }
            });
            self.high = self.high.take().map(|high| {
                let most = high.value.floor();
                let value = if high.is_exclusive && most == high.value {
                    most.previous_integer()
                } else {
                    most
                };
                Bound { value, is_exclusive: false }
            });
        }
        if let (Some(low), Some(high)) = (&self.low, &self.high) {
            match low.value.cmp(&high.value) {
                Ordering::Greater => return None,
                Ordering::Equal => {
                    let is_hit = !low.is_exclusive && !high.is_exclusive;
                    let is_whole = low.value.is_integer();
                    let fits = match self.whole {
                        Whole::Either => true,
                        Whole::Only => is_whole,
                        Whole::Never => !is_whole,
                    };
                    let divides = |m: &Decimal| low.value.is_multiple_of(m).unwrap_or(true);
                    if !is_hit || !fits || !self.multiples.iter().all(divides) {
                        return None;
                    }
                }
                Ordering::Less => {}
            }
        }
        Some(self)
    }

    /// Whether a number is in the set; multiples that are too much work count as in.
    pub(crate) fn has(&self, value: &Decimal) -> bool {
        if let Some(values) = &self.values {
            return values.binary_search(value).is_ok();
        }
        let above = self.low.as_ref().is_none_or(|low| match value.cmp(&low.value) {
            Ordering::Greater => true,
            Ordering::Equal => !low.is_exclusive,
            Ordering::Less => false,
        });
        let below = self.high.as_ref().is_none_or(|high| match value.cmp(&high.value) {
            Ordering::Less => true,
            Ordering::Equal => !high.is_exclusive,
            Ordering::Greater => false,
        });
        let fits = match self.whole {
            Whole::Either => true,
            Whole::Only => value.is_integer(),
            Whole::Never => !value.is_integer(),
        };
        let divides = |m: &Decimal| value.is_multiple_of(m).unwrap_or(true);
        above && below && fits && self.multiples.iter().all(divides)
    }

    /// The numbers of both sets.
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let mut refusal = self.refusal.or(other.refusal);
        for (one, rest) in [(self, other), (other, self)] {
            if let Some(values) = &one.values {
                let kept: Vec<Decimal> =
                    values.iter().filter(|value| rest.has(value)).cloned().collect();
                let known = |value: &Decimal| {
                    rest.multiples.iter().all(|m| value.is_multiple_of(m).is_some())
                };
                if kept.iter().all(known) {
                    // Each value was tried: nothing is left to enforce.
                    refusal = None;
                }
                let values = Some(kept.into());
                let number = Self { values, refusal, ..Self::default() };
                return number.values.as_ref().is_some_and(|v| !v.is_empty()).then_some(number);
            }
        }
        let whole = match (self.whole, other.whole) {
            (Whole::Either, whole) | (whole, Whole::Either) => whole,
            (Whole::Only, Whole::Only) => Whole::Only,
            (Whole::Never, Whole::Never) => Whole::Never,
            (Whole::Only, Whole::Never) | (Whole::Never, Whole::Only) => return None,
        };
        let mut both = Self { whole, refusal, ..self.clone() };
        both.multiples.extend(other.multiples.iter().cloned());
        other.low.iter().for_each(|low| both.raise(low.clone()));
        other.high.iter().for_each(|high| both.lower(high.clone()));
        both.normal()
    }

    /// The numbers outside the set; `refusal` goes with what cannot be said.
    pub(crate) fn complement(&self, refusal: Refusal) -> Vec<Self> {
        if let Some(values) = &self.values {
            let bound = |value: &Decimal| Some(Bound { value: value.clone(), is_exclusive: true });
            let lows = std::iter::once(None).chain(values.iter().map(bound));
            let highs = values.iter().map(bound).chain(std::iter::once(None));
            return lows
                .zip(highs)
                .map(|(low, high)| Self { low, high, ..Self::default() })
                .collect();
        }
        let mut outside = Vec::new();
        if let Some(low) = &self.low {
            let high = Bound { value: low.value.clone(), is_exclusive: !low.is_exclusive };
            outside.push(Self { high: Some(high), ..Self::default() });
        }
        if let Some(high) = &self.high {
            let low = Bound { value: high.value.clone(), is_exclusive: !high.is_exclusive };
            outside.push(Self { low: Some(low), ..Self::default() });
        }
        match self.whole {
            Whole::Either => {}
            Whole::Only => outside.push(Self { whole: Whole::Never, ..Self::default() }),
            Whole::Never => outside.push(Self { whole: Whole::Only, ..Self::default() }),
        }
        if !self.multiples.is_empty() || self.refusal.is_some() {
            outside.push(Self { refusal: Some(refusal), ..Self::default() });
        }
        outside
    }
}
