//! Sets of numbers: intervals, multiples and their complements, or a list of values.

use std::cmp::Ordering;

use crate::frontend::json_schema::shape::NumberShape;
use crate::number::{Bound, Decimal, Definition, Point};

/// Bounds with more digits than this are left as they are: to round them would write them out.
const MOST_DIGITS: u64 = 1_200;

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

    /// The set without its list of values.
    pub(crate) fn definition(&self, has_exponent: bool) -> Definition {
        Definition {
            low: self.low.clone(),
            high: self.high.clone(),
            multiples: self.multiples.clone(),
            others: self.others.clone(),
            point: self.point,
            has_exponent,
        }
    }

    /// Whether it is plain to see that all of them are integers.
    pub(crate) fn are_integers(&self) -> bool {
        self.point == Point::Never || self.multiples.contains(&Decimal::one())
    }

    /// The normal form; `None` if it is plain to see that there is no such number.
    pub(crate) fn normal(mut self) -> Option<Self> {
        if let Some(values) = &self.values {
            if self.point == Point::Never {
                self.values = Some(values.iter().filter(|v| v.is_integer()).cloned().collect());
            }
            let has_values = self.values.as_ref().is_some_and(|values| !values.is_empty());
            return has_values.then_some(self);
        }
        for divisors in [&mut self.multiples, &mut self.others] {
            divisors.sort_unstable();
            divisors.dedup();
        }
        let mut multiples = self.multiples.iter();
        if multiples.any(|m| self.others.iter().any(|other| m.is_multiple_of(other))) {
            return None;
        }
        if self.are_integers() {
            // The nearest integers are inclusive bounds.
            let is_small = |bound: &Bound| bound.value.plain_len() <= MOST_DIGITS;
            self.low =
                self.low.take().map(|low| if is_small(&low) { least_integer(&low) } else { low });
            self.high = self.high.take().map(|high| {
                let mirror = |b: Bound| Bound { value: b.value.negated(), ..b };
                if is_small(&high) { mirror(least_integer(&mirror(high))) } else { high }
            });
        }
        if let (Some(low), Some(high)) = (&self.low, &self.high) {
            match low.value.cmp(&high.value) {
                Ordering::Greater => return None,
                Ordering::Equal if !self.has(&low.value) => return None,
                Ordering::Equal | Ordering::Less => {}
            }
        }
        Some(self)
    }

    /// Whether a number is in the set, in some spelling.
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
        above
            && below
            && (self.point != Point::Never || value.is_integer())
            && self.multiples.iter().all(|divisor| value.is_multiple_of(divisor))
            && !self.others.iter().any(|other| value.is_multiple_of(other))
    }

    /// The numbers of both sets.
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let point = match (self.point, other.point) {
            (Point::Maybe, point) | (point, Point::Maybe) => point,
            (one, two) if one == two => one,
            _ => return None,
        };
        for (one, rest) in [(self, other), (other, self)] {
            if let Some(values) = &one.values {
                let kept = values.iter().filter(|value| rest.has(value)).cloned().collect();
                return Self { values: Some(kept), point, ..Self::default() }.normal();
            }
        }
        let mut both = Self { point, ..self.clone() };
        both.multiples.extend(other.multiples.iter().cloned());
        both.others.extend(other.others.iter().cloned());
        other.low.iter().for_each(|low| both.raise(low.clone()));
        other.high.iter().for_each(|high| both.lower(high.clone()));
        both.normal()
    }

    /// The numbers outside the set.
    pub(crate) fn complement(&self) -> Vec<Self> {
        let mut outside = Vec::new();
        match self.point {
            Point::Maybe => {}
            Point::Never => outside.push(Self { point: Point::Always, ..Self::default() }),
            Point::Always => outside.push(Self { point: Point::Never, ..Self::default() }),
        }
        if let Some(values) = &self.values {
            let bound = |value: &Decimal| Some(Bound { value: value.clone(), is_exclusive: true });
            let lows = std::iter::once(None).chain(values.iter().map(bound));
            let highs = values.iter().map(bound).chain(std::iter::once(None));
            let between = lows.zip(highs);
            outside.extend(between.map(|(low, high)| Self { low, high, ..Self::default() }));
            return outside;
        }
        if let Some(low) = &self.low {
            let high = Bound { value: low.value.clone(), is_exclusive: !low.is_exclusive };
            outside.push(Self { high: Some(high), ..Self::default() });
        }
        if let Some(high) = &self.high {
            let low = Bound { value: high.value.clone(), is_exclusive: !high.is_exclusive };
            outside.push(Self { low: Some(low), ..Self::default() });
        }
        for divisor in &self.multiples {
            outside.push(Self { others: vec![divisor.clone()], ..Self::default() });
        }
        for other in &self.others {
            outside.push(Self { multiples: vec![other.clone()], ..Self::default() });
        }
        outside
    }
}

/// The least integer above a lower bound, as a bound.
fn least_integer(low: &Bound) -> Bound {
    let least = low.value.ceil();
    let is_next = low.is_exclusive && least == low.value;
    let value = if is_next { least.next_integer() } else { least };
    Bound { value, is_exclusive: false }
}
