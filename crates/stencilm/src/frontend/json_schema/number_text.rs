//! Sets of numbers as texts: digit by digit along the digits of the bounds, no floating point.
//!
//! Plain spelling: no exponent where there is a bound, a divisor or a list; an integer may end in
//! `.0`. Numbers without any of these may have an exponent.

use std::cmp::Ordering;

use crate::frontend::json_schema::decimal::Decimal;
use crate::frontend::json_schema::multiples::{Step, zero_fraction};
use crate::frontend::json_schema::numbers::MOST_DIGITS;
use crate::frontend::json_schema::shape::{Bound, NumberShape, Whole};
use crate::grammar::{ByteSet, ExprId, Exprs, UNBOUNDED};

/// What is still asked of the digits to come, on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side<'d> {
    /// Nothing.
    Free,
    /// As much as these digits say, and more if `is_exclusive` (less, for an upper side).
    Tight { digits: &'d [u8], is_exclusive: bool },
}

/// An interval of numbers that are not negative, by the digits of its ends.
struct Range {
    low: Option<Ends>,
    high: Option<Ends>,
    whole: Whole,
    has_plain_integers: bool,
}

struct Ends {
    before: Vec<u8>,
    after: Vec<u8>,
    is_exclusive: bool,
}

/// The texts of a set of numbers.
pub(crate) fn number(exprs: &mut Exprs, shape: &NumberShape, has_plain_integers: bool) -> ExprId {
    if let Some(values) = &shape.values {
        return listed(exprs, values);
    }
    if shape.low.is_none() && shape.high.is_none() && shape.multiples.is_empty() {
        return unbounded(exprs, shape.whole, has_plain_integers);
    }
    let zero = Decimal::default();
    let range = |low: Option<&Bound>, high: Option<&Bound>, flip: bool| Range {
        low: low.map(|bound| Ends::of(bound, flip)),
        high: high.map(|bound| Ends::of(bound, flip)),
        whole: shape.whole,
        has_plain_integers,
    };
    let (low, high) = (shape.low.as_ref(), shape.high.as_ref());
    let mut signs = Vec::new();
    if high.is_none_or(|high| high.value > zero || (high.value == zero && !high.is_exclusive)) {
        let low = low.filter(|low| low.value > zero || (low.value == zero && low.is_exclusive));
        signs.push(range(low, high, false).expr(exprs));
    }
    if low.is_none_or(|low| low.value < zero || (low.value == zero && !low.is_exclusive)) {
        let high = high.filter(|h| h.value < zero || (h.value == zero && h.is_exclusive));
        let minus = exprs.bytes(b"-");
        let below = range(high, low, true).expr(exprs);
        signs.push(exprs.seq(&[minus, below]));
    }
    let all = exprs.choice(&signs);
    let mut parts = vec![all];
    for divisor in &shape.multiples {
        if let Some(step) = Step::of(divisor) {
            parts.push(step.expr(exprs));
        }
    }
    exprs.and(&parts)
}

/// Between `min` and `max` digits.
pub(crate) fn digits(exprs: &mut Exprs, min: u32, max: u32) -> ExprId {
    let digit = exprs.byte_set(&ByteSet::range(b'0', b'9'));
    exprs.repeat(digit, min, max)
}

/// `0`, or digits that do not begin with one.
fn whole_part(exprs: &mut Exprs) -> ExprId {
    let zero = exprs.bytes(b"0");
    let first = exprs.byte_set(&ByteSet::range(b'1', b'9'));
    let rest = digits(exprs, 0, UNBOUNDED);
    let other = exprs.seq(&[first, rest]);
    exprs.choice(&[zero, other])
}

fn unbounded(exprs: &mut Exprs, whole: Whole, has_plain_integers: bool) -> ExprId {
    let minus = exprs.bytes(b"-");
    let sign = exprs.optional(minus);
    let before = whole_part(exprs);
    match whole {
        Whole::Only if has_plain_integers => exprs.seq(&[sign, before]),
        Whole::Only => {
            let fraction = zero_fraction(exprs);
            exprs.seq(&[sign, before, fraction])
        }
        Whole::Never => {
            let point = exprs.bytes(b".");
            let fraction = positive(exprs);
            exprs.seq(&[sign, before, point, fraction])
        }
        Whole::Either => {
            let point = exprs.bytes(b".");
            let some = digits(exprs, 1, UNBOUNDED);
            let fraction = exprs.seq(&[point, some]);
            let fraction = exprs.optional(fraction);
            let letter = exprs.byte_set(&ByteSet::from_iter([b'e', b'E']));
            let exponent_sign = exprs.byte_set(&ByteSet::from_iter([b'+', b'-']));
            let exponent_sign = exprs.optional(exponent_sign);
            let exponent = exprs.seq(&[letter, exponent_sign, some]);
            let exponent = exprs.optional(exponent);
            exprs.seq(&[sign, before, fraction, exponent])
        }
    }
}

/// Digits that are not all zero.
fn positive(exprs: &mut Exprs) -> ExprId {
    let zero = exprs.bytes(b"0");
    let zeros = exprs.repeat(zero, 0, UNBOUNDED);
    let other = exprs.byte_set(&ByteSet::range(b'1', b'9'));
    let rest = digits(exprs, 0, UNBOUNDED);
    exprs.seq(&[zeros, other, rest])
}

/// A list of values: each by its shortest plain text, with any number of zeros behind.
fn listed(exprs: &mut Exprs, values: &[Decimal]) -> ExprId {
    let plain = |value: &&Decimal| value.plain_len() <= MOST_DIGITS;
    let (whole, fraction): (Vec<&Decimal>, Vec<&Decimal>) =
        values.iter().filter(plain).partition(|value| value.is_integer());
    let mut whole: Vec<String> = whole.into_iter().map(Decimal::plain).collect();
    if whole.iter().any(|text| text == "0") {
        whole.push("-0".to_owned());
    }
    let fraction: Vec<String> = fraction.into_iter().map(Decimal::plain).collect();
    let huge: Vec<String> =
        values.iter().filter(|value| !plain(value)).map(Decimal::scientific).collect();
    let whole = exprs.one_of(whole.iter().map(String::as_bytes));
    let behind = zero_fraction(exprs);
    let whole = exprs.seq(&[whole, behind]);
    let fraction = exprs.one_of(fraction.iter().map(String::as_bytes));
    let zero = exprs.bytes(b"0");
    let zeros = exprs.repeat(zero, 0, UNBOUNDED);
    let fraction = exprs.seq(&[fraction, zeros]);
    let huge = exprs.one_of(huge.iter().map(String::as_bytes));
    exprs.choice(&[whole, fraction, huge])
}

impl Ends {
    fn of(bound: &Bound, flip: bool) -> Self {
        let value = if flip { bound.value.negated() } else { bound.value.clone() };
        let (before, after) = value.parts();
        Self { before, after, is_exclusive: bound.is_exclusive }
    }

    /// What the digits behind the point are held to.
    fn side(&self) -> Side<'_> {
        Side::Tight { digits: &self.after, is_exclusive: self.is_exclusive }
    }
}

impl Range {
    fn expr(&self, exprs: &mut Exprs) -> ExprId {
        // A number below 1 has the one digit `0` before the point.
        let len = |ends: &Option<Ends>| ends.as_ref().map(|ends| ends.before.len().max(1));
        let low_len = len(&self.low).unwrap_or(1);
        let high_len = len(&self.high);
        let mut choices = Vec::new();
        let is_high = |at: usize| high_len == Some(at);
        if high_len.is_none_or(|high| low_len <= high) {
            choices.push(self.of_len(exprs, low_len, self.low.is_some(), is_high(low_len)));
        }
        let longer = low_len + 1;
        let free_end =
            high_len.map_or(UNBOUNDED, |high| u32::try_from(high - 1).unwrap_or(UNBOUNDED));
        let free_start = u32::try_from(longer).unwrap_or(UNBOUNDED);
        if free_start <= free_end {
            let first = exprs.byte_set(&ByteSet::range(b'1', b'9'));
            let most = if free_end == UNBOUNDED { UNBOUNDED } else { free_end - 1 };
            let rest = digits(exprs, free_start - 1, most);
            let fraction = self.fraction(exprs, Side::Free, Side::Free);
            choices.push(exprs.seq(&[first, rest, fraction]));
        }
        if let Some(high) = high_len
            && high > low_len
        {
            choices.push(self.of_len(exprs, high, false, true));
        }
        exprs.choice(&choices)
    }

    /// The numbers with so many digits before the point.
    fn of_len(&self, exprs: &mut Exprs, len: usize, has_low: bool, has_high: bool) -> ExprId {
        let pad = |ends: &Ends| {
            let mut digits = vec![0; len - ends.before.len()];
            digits.extend_from_slice(&ends.before);
            digits
        };
        let low = self.low.as_ref().filter(|_| has_low);
        let high = self.high.as_ref().filter(|_| has_high);
        let (low_digits, high_digits) = (low.map(pad), high.map(pad));
        // From the last digit to the first: what may follow when the digits so far are those of
        // both bounds, of the lower one, of the upper one, or of none.
        let behind = |exprs: &mut Exprs, low: Side, high: Side| self.fraction(exprs, low, high);
        let mut free = behind(exprs, Side::Free, Side::Free);
        let mut on_low = low.map(|low| behind(exprs, low.side(), Side::Free));
        let mut on_high = high.map(|high| behind(exprs, Side::Free, high.side()));
        let mut on_both = match (low, high) {
            (Some(low), Some(high)) => Some(behind(exprs, low.side(), high.side())),
            _ => None,
        };
        let free_fraction = free;
        for at in (0..len).rev() {
            // The first digit is zero only where it is the only one.
            let least = u8::from(at == 0 && len > 1);
            let low_digit = low_digits.as_ref().map(|digits| digits[at]);
            let high_digit = high_digits.as_ref().map(|digits| digits[at]);
            let step = |exprs: &mut Exprs,
                        low: Option<u8>,
                        high: Option<u8>,
                        same: Option<ExprId>,
                        lower: Option<ExprId>,
                        upper: Option<ExprId>| {
                let mut choices = Vec::new();
                let from = low.map_or(least, |digit| digit + 1);
                let to = high.map_or(10, |digit| digit);
                if from.max(least) < to {
                    let middle = digit_range(exprs, from.max(least), to - 1);
                    choices.push(exprs.seq(&[middle, free]));
                }
                let mut edge = |exprs: &mut Exprs, digit: u8, rest: Option<ExprId>| {
                    if let Some(rest) = rest
                        && digit >= least
                    {
                        let digit = digit_range(exprs, digit, digit);
                        choices.push(exprs.seq(&[digit, rest]));
                    }
                };
                match (low, high) {
                    (Some(low), Some(high)) if low == high => edge(exprs, low, same),
                    _ => {
                        if let Some(low) = low
                            && high.is_none_or(|high| low < high)
                        {
                            edge(exprs, low, lower);
                        }
                        if let Some(high) = high
                            && low.is_none_or(|low| low < high)
                        {
                            edge(exprs, high, upper);
                        }
                    }
                }
                exprs.choice(&choices)
            };
            on_both = match (low_digit, high_digit) {
                (Some(_), Some(_)) => {
                    Some(step(exprs, low_digit, high_digit, on_both, on_low, on_high))
                }
                _ => None,
            };
            let new_low = low_digit.map(|_| step(exprs, low_digit, None, None, on_low, None));
            let new_high = high_digit.map(|_| step(exprs, None, high_digit, None, None, on_high));
            (on_low, on_high) = (new_low, new_high);
            let rest = u32::try_from(len - at).unwrap_or(UNBOUNDED);
            free = digits(exprs, rest, rest);
            free = exprs.seq(&[free, free_fraction]);
        }
        if let Some(both) = on_both {
            return both;
        }
        if let Some(one) = on_low.or(on_high) {
            return one;
        }
        // No bound has this length, which is the shortest one.
        let zero = exprs.bytes(b"0");
        let first = exprs.byte_set(&ByteSet::range(u8::from(len > 1) + b'0', b'9'));
        let rest = u32::try_from(len - 1).unwrap_or(UNBOUNDED);
        let rest = digits(exprs, rest, rest);
        let other = exprs.seq(&[first, rest]);
        let digits = if len == 1 { exprs.choice(&[zero, other]) } else { other };
        exprs.seq(&[digits, free_fraction])
    }

    /// The point and what follows, or nothing, when the digits before it are those of the bounds
    /// whose side is tight.
    fn fraction(&self, exprs: &mut Exprs, low: Side, high: Side) -> ExprId {
        let mut choices = Vec::new();
        let above = !matches!(low, Side::Tight { digits: [_, ..], .. })
            && !matches!(low, Side::Tight { digits: [], is_exclusive: true });
        let below = !matches!(high, Side::Tight { digits: [], is_exclusive: true });
        if above && below && self.whole != Whole::Never {
            choices.push(exprs.empty());
        }
        let has_fraction = self.whole != Whole::Only || !self.has_plain_integers;
        if has_fraction {
            let digits = match self.whole {
                Whole::Only if above && below => {
                    let zero = exprs.bytes(b"0");
                    exprs.repeat(zero, 1, UNBOUNDED)
                }
                Whole::Only => exprs.nothing(),
                Whole::Either => tail(exprs, low, high),
                Whole::Never => {
                    let some = positive(exprs);
                    let range = tail(exprs, low, high);
                    exprs.and(&[some, range])
                }
            };
            let point = exprs.bytes(b".");
            choices.push(exprs.seq(&[point, digits]));
        }
        exprs.choice(&choices)
    }
}

/// Digits behind the point, one at least. From the last digit of the bounds to the first.
fn tail(exprs: &mut Exprs, low: Side, high: Side) -> ExprId {
    let (low_digits, low_exclusive) = parts(low);
    let (high_digits, high_exclusive) = parts(high);
    let (has_low, has_high) = (low != Side::Free, high != Side::Free);
    let len = low_digits.len().max(high_digits.len());
    let zero = exprs.bytes(b"0");
    let zeros = exprs.repeat(zero, 0, UNBOUNDED);
    let any = digits(exprs, 0, UNBOUNDED);
    let some = positive(exprs);
    // After all digits of a bound, with nothing or more digits to come.
    let mut on_low = if low_exclusive { some } else { any };
    let mut on_high = if high_exclusive { exprs.nothing() } else { zeros };
    let mut on_both = exprs.and(&[on_low, on_high]);
    if !has_low && !has_high {
        return digits(exprs, 1, UNBOUNDED);
    }
    if len == 0 {
        // At least one digit: all of these go on with zeros.
        let digit = digits(exprs, 1, UNBOUNDED);
        let rest = match (has_low, has_high) {
            (true, true) => on_both,
            (true, false) => on_low,
            _ => on_high,
        };
        return exprs.and(&[digit, rest]);
    }
    for at in (0..len).rev() {
        let low_digit = low_digits.get(at).copied().unwrap_or(0);
        let high_digit = high_digits.get(at).copied().unwrap_or(0);
        // The bound's digits may end here, if what is left of them says nothing more: a text that
        // ends is one that goes on with zeros.
        let low_ends = at > 0 && low_digits.len() <= at && !low_exclusive;
        let high_ends = at > 0 && (low_rest(high_digits, at) || !high_exclusive);
        let after = |exprs: &mut Exprs, from: u8, to: u8| {
            if from > to {
                return exprs.nothing();
            }
            let digit = digit_range(exprs, from, to);
            exprs.seq(&[digit, any])
        };
        let edge = |exprs: &mut Exprs, digit: u8, rest: ExprId| {
            let digit = digit_range(exprs, digit, digit);
            exprs.seq(&[digit, rest])
        };
        let end = |exprs: &Exprs, may: bool| if may { exprs.empty() } else { exprs.nothing() };
        let both = match low_digit.cmp(&high_digit) {
            Ordering::Equal => edge(exprs, low_digit, on_both),
            Ordering::Less => {
                let middle = after(exprs, low_digit + 1, high_digit - 1);
                let first = edge(exprs, low_digit, on_low);
                let last = edge(exprs, high_digit, on_high);
                exprs.choice(&[middle, first, last])
            }
            Ordering::Greater => exprs.nothing(),
        };
        let both_end = end(exprs, low_ends && high_ends);
        let more = after(exprs, low_digit + 1, 9);
        let same = edge(exprs, low_digit, on_low);
        let low_end = end(exprs, low_ends);
        let less = if high_digit == 0 { exprs.nothing() } else { after(exprs, 0, high_digit - 1) };
        let equal = edge(exprs, high_digit, on_high);
        let high_end = end(exprs, high_ends);
        on_both = exprs.choice(&[both, both_end]);
        on_low = exprs.choice(&[more, same, low_end]);
        on_high = exprs.choice(&[less, equal, high_end]);
    }
    match (has_low, has_high) {
        (true, true) => on_both,
        (true, false) => on_low,
        _ => on_high,
    }
}

/// Whether digits are left from `at` on.
fn low_rest(digits: &[u8], at: usize) -> bool {
    digits.len() > at
}

fn parts(side: Side<'_>) -> (&[u8], bool) {
    match side {
        Side::Free => (&[], false),
        Side::Tight { digits, is_exclusive } => (digits, is_exclusive),
    }
}

fn digit_range(exprs: &mut Exprs, from: u8, to: u8) -> ExprId {
    exprs.byte_set(&ByteSet::range(b'0' + from, b'0' + to))
}
