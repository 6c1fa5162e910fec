//! Decimal numbers of any size, as JSON writes them: compared by value, never rounded.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

/// Digits that numbers may be apart where they are written out to be divided.
const MOST_APART: u32 = 5_000;

/// A decimal number: ±0.d₁d₂… × 10^exponent.
///
/// Invariant: the first and the last digit are not zero; zero has no digits, is not negative and
/// has the exponent 0. So equal numbers are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Decimal {
    is_negative: bool,
    digits: Box<[u8]>,
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number. `None` if its exponent is beyond all use (past ±10¹⁵).
    pub(crate) fn parse(literal: &str) -> Option<Self> {
        let (is_negative, rest) = match literal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, literal),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, read_power(power)),
            None => (rest, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|b| b - b'0').collect();
        let zeros = digits.iter().take_while(|&&d| d == 0).count();
        if zeros == digits.len() {
            return Some(Self::default());
        }
        let end = digits.iter().rposition(|&d| d != 0).map_or(0, |last| last + 1);
        let shift = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        Some(Self { is_negative, digits: digits[zeros..end].into(), exponent: power? + shift })
    }

    /// 0.d₁d₂… × 10^`exponent`, where the first and the last digit are not zero.
    pub(crate) fn of_digits(digits: &[u8], exponent: i64) -> Self {
        Self { is_negative: false, digits: digits.into(), exponent }
    }

    pub(crate) fn one() -> Self {
        Self::of_digits(&[1], 1)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// The significant digits.
    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// Where the point stands: this many digits after the start of the significant ones.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    pub(crate) fn negated(&self) -> Self {
        Self { is_negative: !self.is_negative && !self.is_zero(), ..self.clone() }
    }

    pub(crate) fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|len| len <= self.exponent.max(0))
    }

    /// How many digits it has when written without an exponent.
    pub(crate) fn plain_len(&self) -> u64 {
        let len = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        let fraction = len.saturating_sub(self.exponent).max(0);
        self.exponent.max(1).unsigned_abs() + fraction.unsigned_abs()
    }

    /// The digits before the point (none for a number below 1) and behind it, without zeros at
    /// the outer ends. Only for numbers whose `plain_len` is small.
    pub(crate) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let whole = usize::try_from(self.exponent.max(0)).unwrap_or(0);
        let zeros = usize::try_from((-self.exponent).max(0)).unwrap_or(0);
        let mut before: Vec<u8> = self.digits.iter().copied().take(whole).collect();
        let after = std::iter::repeat_n(0, if self.is_zero() { 0 } else { zeros });
        let after = after.chain(self.digits.iter().copied().skip(whole)).collect();
        before.resize(if self.is_zero() { 0 } else { whole }, 0);
        (before, after)
    }

    /// The shortest plain text.
    pub(crate) fn plain(&self) -> String {
        let (before, after) = self.parts();
        let mut text = String::with_capacity(before.len() + after.len() + 3);
        if self.is_negative {
            text.push('-');
        }
        text.extend(before.iter().map(|d| char::from(b'0' + d)));
        if before.is_empty() {
            text.push('0');
        }
        if !after.is_empty() {
            text.push('.');
            text.extend(after.iter().map(|d| char::from(b'0' + d)));
        }
        text
    }

    /// The text with an exponent, as `json.dumps` writes a float.
    pub(crate) fn scientific(&self) -> String {
        let mut text = String::from(if self.is_negative { "-" } else { "" });
        let mut digits = self.digits.iter().map(|d| char::from(b'0' + d));
        text.extend(digits.next());
        let rest: String = digits.collect();
        if !rest.is_empty() {
            text.push('.');
            text.push_str(&rest);
        }
        let power = self.exponent - 1;
        let sign = if power < 0 { '-' } else { '+' };
        format!("{text}e{sign}{:02}", power.unsigned_abs())
    }

    /// The greatest integer that is not above it. Only where `plain_len` is small.
    pub(crate) fn floor(&self) -> Self {
        let (before, after) = self.parts();
        let text: String = before.iter().map(|d| char::from(b'0' + d)).collect();
        let truncated = Self::parse(&format!("0{text}")).unwrap_or_default();
        match (self.is_negative, after.is_empty()) {
            (false, _) => truncated,
            (true, true) => truncated.negated(),
            (true, false) => truncated.next_integer().negated(),
        }
    }

    /// The least integer that is not below it. Only where `plain_len` is small.
    pub(crate) fn ceil(&self) -> Self {
        self.negated().floor().negated()
    }

    /// An integer plus one.
    pub(crate) fn next_integer(&self) -> Self {
        let (mut digits, _) = self.parts();
        if self.is_negative {
            // −n + 1 = −(n − 1)
            for digit in digits.iter_mut().rev() {
                if *digit > 0 {
                    *digit -= 1;
                    break;
                }
                *digit = 9;
            }
        } else {
            let mut carries = true;
            for digit in digits.iter_mut().rev() {
                carries = *digit == 9;
                *digit = if carries { 0 } else { *digit + 1 };
                if !carries {
                    break;
                }
            }
            if carries {
                digits.insert(0, 1);
            }
        }
        let text: String = digits.iter().map(|d| char::from(b'0' + d)).collect();
        let value = Self::parse(&format!("0{text}")).unwrap_or_default();
        if self.is_negative { value.negated() } else { value }
    }

    /// The significant digits as an integer.
    fn significand(&self) -> BigUint {
        BigUint::from_radix_be(&self.digits, 10).unwrap_or_default()
    }

    /// The power of ten of the last significant digit.
    fn last_power(&self) -> i64 {
        self.exponent - i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    /// The least and the greatest integer that give, times this positive number, one from `low` to
    /// `high`; the least is greater than the other if there is none. `None` if the numbers are too
    /// far apart to be written out.
    pub(crate) fn multiples_between(&self, low: &Self, high: &Self) -> Option<(BigInt, BigInt)> {
        let last = [self, low, high].map(Self::last_power).into_iter().min()?;
        let whole = |number: &Self| {
            let shift = u32::try_from(number.last_power() - last).ok()?;
            let sign = if number.is_negative { Sign::Minus } else { Sign::Plus };
            let power = (shift <= MOST_APART).then(|| BigUint::from(10_u8).pow(shift))?;
            Some(BigInt::from_biguint(sign, number.significand() * power))
        };
        let (step, low, high) = (whole(self)?, whole(low)?, whole(high)?);
        let floor = |number: &BigInt| {
            let is_cut = (number % &step).sign() == Sign::Minus;
            number / &step - i32::from(is_cut)
        };
        Some((-floor(&-low), floor(&high)))
    }

    /// This number times an integer.
    pub(crate) fn times(&self, count: &BigInt) -> Self {
        let sign = if self.is_negative { Sign::Minus } else { Sign::Plus };
        let product = BigInt::from_biguint(sign, self.significand()) * count;
        Self::parse(&format!("{product}e{}", self.last_power())).unwrap_or_default()
    }

    /// Whether it is `divisor`, a positive number, times an integer.
    pub(crate) fn is_multiple_of(&self, divisor: &Self) -> bool {
        if self.is_zero() {
            return true;
        }
        let shift = self.last_power() - divisor.last_power();
        let (value, modulus) = (self.significand(), divisor.significand());
        match u32::try_from(-shift) {
            // The last digit of `self` lies below the last of the divisor.
            Ok(zeros) if shift < 0 => {
                // A number of so few bits has no such factor.
                u64::from(zeros) <= value.bits()
                    && (value % (modulus * BigUint::from(10_u8).pow(zeros))).bits() == 0
            }
            _ if shift < 0 => false,
            _ => {
                let ten = BigUint::from(10_u8);
                let power = ten.modpow(&BigUint::from(shift.unsigned_abs()), &modulus);
                (value * power % modulus).bits() == 0
            }
        }
    }
}

fn read_power(power: &str) -> Option<i64> {
    let (is_negative, digits) = match power.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let value = digits.iter().try_fold(0_i64, |n, &b| {
        n.checked_mul(10)?.checked_add((b - b'0').into()).filter(|&n| n < 1_000_000_000_000_000)
    })?;
    Some(if is_negative { -value } else { value })
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |decimal: &Self| match (decimal.is_zero(), decimal.is_negative) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => -1,
        };
        let size = || (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
        match sign(self).cmp(&sign(other)) {
            Ordering::Equal if self.is_negative => size().reverse(),
            Ordering::Equal => size(),
            unequal => unequal,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
