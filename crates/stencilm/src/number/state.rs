//! What a text says of a number before it is complete.

use num_bigint::BigUint;

use crate::number::list::Listed;

/// Beyond every exponent that a bound has.
pub(super) const FAR: i64 = i64::MAX / 8;

/// A text that some number of a set begins with. Equal states have the same continuations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumberState {
    /// Nothing was read, or a minus sign.
    Start {
        is_negative: bool,
        /// As in [`Mantissa`].
        is_far: bool,
    },
    /// Digits, and maybe a point.
    Mantissa(Mantissa),
    /// Digits of a number of a list, and maybe a point.
    Listed(Listed),
    /// A letter `e`, and maybe more.
    Exponent(Exponent),
}

/// Where in the digits a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// Before a point.
    Whole,
    /// Right after it.
    Point,
    /// After digits behind it.
    Fraction,
}

/// How digits compare with as many of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compared {
    /// There is no bound, or it can't be passed any more.
    Free,
    Less,
    Equal,
    Greater,
}

/// Digits: the number so far is 0.d₁d₂…dₙ × 10^`lead` = U × 10^−`last`, d₁ not zero. What makes no
/// difference to what may follow is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mantissa {
    pub(super) is_negative: bool,
    pub(super) phase: Phase,
    /// No digit but zeros yet.
    pub(super) is_zero: bool,
    /// Where the point stands: this many digits after d₁ begins.
    pub(super) lead: i64,
    /// Digits behind the point.
    pub(super) fraction: i64,
    /// Where the last digit other than zero stands: this many digits behind the point.
    pub(super) last: i64,
    /// Against the bound that is nearer to zero, and the other one.
    pub(super) near: Compared,
    pub(super) far: Compared,
    /// What remains of U, for each of the moduli.
    pub(super) rests: Box<[BigUint]>,
    /// What remains was forgotten: no token makes a multiple of the divisor of it, and all digits
    /// lead to one. Only for masks.
    pub(super) is_far: bool,
}

impl NumberState {
    /// About how many bytes it holds.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let rests = match self {
            Self::Mantissa(mantissa) => &*mantissa.rests,
            Self::Start { .. } | Self::Listed(_) | Self::Exponent(_) => &[],
        };
        size_of::<Self>() + rests.iter().map(|rest| 32 + rest.to_bytes_le().len()).sum::<usize>()
    }
}

impl Mantissa {
    /// How many digits have been read from d₁ on.
    pub(super) fn len(&self) -> i64 {
        if self.is_zero { 0 } else { self.lead + self.fraction }
    }

    /// How many zeros stand at the end of the digits.
    pub(super) fn zeros(&self) -> i64 {
        self.fraction - self.last
    }
}

/// Where in the exponent a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Digits {
    /// After the letter.
    Letter,
    /// After the sign.
    Sign,
    /// After digits with this value.
    Value(i64),
}

/// An exponent, of which all values from `low` to `high` give a number of the set, or those of a
/// list, sorted, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exponent {
    pub(super) digits: Digits,
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) only: Box<[i64]>,
}

impl Exponent {
    /// The state after a digit.
    pub(super) fn with_digit(&self, digit: u8) -> Option<Self> {
        let before = match self.digits {
            Digits::Letter | Digits::Sign => 0,
            Digits::Value(value) => value,
        };
        let value = before.saturating_mul(10).saturating_add(digit.into()).min(FAR);
        if self.high < 0 {
            return None;
        }
        if !self.only.is_empty() {
            return self.kept(Digits::Value(value), |power| begins_with(power, value));
        }
        let low = self.low.max(0);
        let only = Box::default();
        let next =
            |value, low| Some(Self { digits: Digits::Value(value), low, high: self.high, only });
        if self.high == FAR && value >= low {
            return next(0, 0);
        }
        if value == 0 {
            return next(0, low);
        }
        let (mut least, mut most) = (value, value);
        while least <= self.high {
            if most >= low {
                return next(value, low);
            }
            least = least.saturating_mul(10).min(FAR);
            most = most.saturating_mul(10).saturating_add(9).min(FAR);
        }
        None
    }

    /// The state after a sign.
    pub(super) fn with_sign(&self, is_negative: bool) -> Option<Self> {
        if self.digits != Digits::Letter {
            return None;
        }
        if !self.only.is_empty() {
            let mut only = self.only.clone();
            if is_negative {
                only.reverse();
                only.iter_mut().for_each(|power| *power = -*power);
            }
            let signed = Self { only, ..self.clone() };
            return signed.kept(Digits::Sign, |power| power >= 0);
        }
        let (low, high) = if is_negative { (-self.high, -self.low) } else { (self.low, self.high) };
        let digits = Digits::Sign;
        (high >= 0).then_some(Self { digits, low: low.max(0), high, only: Box::default() })
    }

    /// Whether the text may end here.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.digits, Digits::Value(value) if self.allows(value))
    }

    pub(super) fn allows(&self, power: i64) -> bool {
        let is_listed = self.only.is_empty() || self.only.contains(&power);
        is_listed && self.low <= power && power <= self.high
    }

    /// The state with those of its list that are left.
    fn kept(&self, digits: Digits, is_left: impl Fn(i64) -> bool) -> Option<Self> {
        let only: Box<[i64]> = self.only.iter().copied().filter(|&power| is_left(power)).collect();
        let (low, high) = (*only.first()?, *only.last()?);
        Some(Self { digits, low, high, only })
    }
}

/// Whether `value`, and zeros in front, are the first digits of a number that is not negative.
fn begins_with(mut number: i64, value: i64) -> bool {
    while number > value && value > 0 {
        number /= 10;
    }
    number >= 0 && (value == 0 || number == value)
}
