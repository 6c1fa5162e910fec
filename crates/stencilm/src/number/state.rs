//! What a text says of a number before it is complete.

use num_bigint::BigUint;

/// Beyond every exponent that a bound has.
pub(super) const FAR: i64 = i64::MAX / 8;

/// A text that some number of a set begins with. Equal states have the same continuations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumberState {
    /// Nothing was read.
    Start,
    /// A minus sign.
    Minus,
    /// Digits, and maybe a point.
    Mantissa(Mantissa),
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
}

impl NumberState {
    /// About how many bytes it holds.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let rests = match self {
            Self::Mantissa(mantissa) => &*mantissa.rests,
            Self::Start | Self::Minus | Self::Exponent(_) => &[],
        };
        size_of::<Self>() + rests.iter().map(|rest| 32 + rest.bits() as usize / 8).sum::<usize>()
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

/// An exponent, of which all values from `low` to `high` give a number of the set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exponent {
    pub(super) digits: Digits,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Exponent {
    /// The state after a digit.
    pub(super) fn with_digit(&self, digit: u8) -> Option<Self> {
        let before = match self.digits {
            Digits::Letter | Digits::Sign => 0,
            Digits::Value(value) => value,
        };
        let value = before.saturating_mul(10).saturating_add(digit.into()).min(FAR);
        let low = self.low.max(0);
        let next = |value, low| Some(Self { digits: Digits::Value(value), low, high: self.high });
        if self.high < 0 {
            return None;
        }
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
        let (low, high) = if is_negative { (-self.high, -self.low) } else { (self.low, self.high) };
        let digits = Digits::Sign;
        (high >= 0).then_some(Self { digits, low: low.max(0), high })
    }

    /// Whether the text may end here.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.digits, Digits::Value(value) if self.low <= value && value <= self.high)
    }
}
