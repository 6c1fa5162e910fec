//! Lists of numbers in every spelling: a run of the sorted list has the digits so far.

use crate::number::decimal::Decimal;
use crate::number::set::{NumberSet, Point, Side};
use crate::number::state::{Digits, Exponent, FAR, NumberState, Phase};

/// The sizes of listed numbers: those of the positive ones and those of the negative ones, each
/// sorted by their digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct List([Box<[Decimal]>; 2]);

/// Digits that some numbers of a list begin with, zeros in front and the point left aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Listed {
    pub(super) is_negative: bool,
    pub(super) phase: Phase,
    /// Digits read, from the first one on that is not zero.
    pub(super) len: usize,
    /// Where the point stands: this many digits after the first one begins.
    pub(super) lead: i64,
    /// The run of the list.
    pub(super) low: usize,
    pub(super) high: usize,
}

impl NumberSet {
    /// The numbers of a list; `None` if it is empty.
    pub(crate) fn listed(values: &[Decimal], point: Point) -> Option<Self> {
        let side = |is_negative| {
            let of_side = |value: &&Decimal| !value.is_zero() && value.is_negative() == is_negative;
            let mut values: Vec<Decimal> = values.iter().filter(of_side).cloned().collect();
            values.sort_by(|a, b| (a.digits(), a.exponent()).cmp(&(b.digits(), b.exponent())));
            values.into_boxed_slice()
        };
        let list = [side(false), side(true)];
        let sides = [0, 1].map(|at| Side { is_empty: list[at].is_empty(), ..Side::default() });
        (!values.is_empty()).then(|| Self {
            sides,
            has_zero: values.iter().any(Decimal::is_zero),
            moduli: Box::default(),
            has_divisor: false,
            last_digit: 0,
            list: Some(List(list)),
            point,
            has_exponent: true,
        })
    }

    pub(super) fn listed_digit(&self, list: &List, at: &Listed, digit: u8) -> Option<NumberState> {
        let mut next = at.clone();
        if at.phase == Phase::Point {
            next.phase = Phase::Fraction;
        }
        let is_whole = at.phase == Phase::Whole;
        if at.len == 0 && digit == 0 {
            next.lead -= i64::from(!is_whole);
            let is_alive = self.has_zero || next.low < next.high;
            return is_alive.then_some(NumberState::Listed(next));
        }
        next.lead += i64::from(is_whole);
        next.len += 1;
        let values = &list.0[usize::from(at.is_negative)][at.low..at.high];
        let digit_of = |value: &Decimal| value.digits().get(at.len).copied().unwrap_or(0);
        next.high = at.low + values.partition_point(|value| digit_of(value) <= digit);
        next.low = at.low + values.partition_point(|value| digit_of(value) < digit);
        (next.low < next.high).then_some(NumberState::Listed(next))
    }

    /// The exponents that make a listed number of the digits.
    pub(super) fn listed_exponent(&self, list: &List, at: &Listed) -> Option<Exponent> {
        let digits = Digits::Letter;
        if at.len == 0 {
            let all = Exponent { digits, low: -FAR, high: FAR, only: Box::default() };
            return self.has_zero.then_some(all);
        }
        let values = &list.0[usize::from(at.is_negative)][at.low..at.high];
        // The shortest come first.
        let whole = values.partition_point(|value| value.digits().len() <= at.len);
        let only: Box<[i64]> = values[..whole].iter().map(|v| v.exponent() - at.lead).collect();
        let (low, high) = (*only.first()?, *only.last()?);
        Some(Exponent { digits, low, high, only })
    }
}

impl Listed {
    pub(super) fn is_zero(&self) -> bool {
        self.len == 0
    }
}

impl List {
    /// Before the first digit.
    pub(super) fn begin(&self, is_negative: bool) -> Listed {
        let high = self.0[usize::from(is_negative)].len();
        Listed { is_negative, phase: Phase::Whole, len: 0, lead: 0, low: 0, high }
    }

    /// About how many bytes it holds.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.0.iter().flatten().map(|value| 48 + value.digits().len()).sum()
    }
}
