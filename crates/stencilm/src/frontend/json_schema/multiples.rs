//! `multipleOf` where it is a rule about a number's last digits: divisors such as 5, 100, 0.01 or
//! 2.5, which divide a power of ten.

use crate::frontend::json_schema::decimal::Decimal;
use crate::frontend::json_schema::number_text::digits;
use crate::grammar::{ExprId, Exprs, UNBOUNDED};

/// More last digits than this are not told apart.
const MOST_BLOCKS: u64 = 2_000;

/// Zeros before or behind the point of a divisor.
const MOST_SHIFT: i64 = 60;

/// A divisor: `factor` × 10^`shift`, where `factor` divides 10^`digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    factor: u64,
    shift: i64,
    digits: u32,
}

impl Step {
    pub(crate) fn of(divisor: &Decimal) -> Option<Self> {
        if divisor.digits().len() > 7 {
            return None;
        }
        let factor = divisor.digits().iter().fold(0_u64, |n, &d| n * 10 + u64::from(d));
        let len = i64::try_from(divisor.digits().len()).ok()?;
        let shift = divisor.exponent() - len;
        if factor == 0 || shift.abs() > MOST_SHIFT {
            return None;
        }
        let digits = (0..=7).find(|&digits| 10_u64.pow(digits).is_multiple_of(factor))?;
        let is_small = 10_u64.pow(digits) / factor <= MOST_BLOCKS;
        is_small.then_some(Self { factor, shift, digits })
    }

    /// Signs, digits and points of which the value is a multiple; leading zeros are not excluded.
    pub(crate) fn expr(self, exprs: &mut Exprs) -> ExprId {
        let sign = exprs.bytes(b"-");
        let sign = exprs.optional(sign);
        let number = match u32::try_from(-self.shift) {
            Ok(fraction) if self.shift < 0 => self.with_fraction(exprs, fraction),
            _ => self.whole(exprs),
        };
        exprs.seq(&[sign, number])
    }

    /// The last digits that a multiple may have.
    fn blocks(self) -> impl Iterator<Item = String> {
        let width = self.digits as usize;
        let count = 10_u64.pow(self.digits) / self.factor;
        (0..count).map(move |n| match width {
            0 => String::new(),
            _ => format!("{:0width$}", n * self.factor),
        })
    }

    fn whole(self, exprs: &mut Exprs) -> ExprId {
        let zeros = "0".repeat(usize::try_from(self.shift).unwrap_or(0));
        let tails: Vec<String> = self.blocks().map(|block| block + &zeros).collect();
        let short: Vec<String> = tails.iter().map(|tail| without_zeros(tail)).collect();
        let tails = exprs.one_of(tails.iter().map(String::as_bytes));
        let any = digits(exprs, 0, UNBOUNDED);
        let long = exprs.seq(&[any, tails]);
        let short = exprs.one_of(short.iter().map(String::as_bytes));
        let number = exprs.choice(&[long, short]);
        let fraction = zero_fraction(exprs);
        exprs.seq(&[number, fraction])
    }

    /// With `fraction` digits behind the point that count.
    fn with_fraction(self, exprs: &mut Exprs, fraction: u32) -> ExprId {
        let any_whole = digits(exprs, 1, UNBOUNDED);
        let free = fraction.saturating_sub(self.digits);
        let before = usize::try_from(self.digits.saturating_sub(fraction)).unwrap_or(0);
        let mut choices = Vec::new();
        for block in self.blocks() {
            let (whole, behind) = block.split_at(before);
            let whole = if before == 0 {
                any_whole
            } else {
                let tail = exprs.bytes(whole.as_bytes());
                let any = digits(exprs, 0, UNBOUNDED);
                let long = exprs.seq(&[any, tail]);
                let short = exprs.bytes(without_zeros(whole).as_bytes());
                exprs.choice(&[long, short])
            };
            let zeros = exprs.bytes(b"0");
            let zeros = exprs.repeat(zeros, 0, UNBOUNDED);
            let free_digits = digits(exprs, free, free);
            let shortest = behind.trim_end_matches('0').len();
            let mut tails = Vec::new();
            for len in shortest..=behind.len() {
                if free == 0 && len == 0 {
                    continue;
                }
                let digits = exprs.bytes(&behind.as_bytes()[..len]);
                let point = exprs.bytes(b".");
                tails.push(exprs.seq(&[point, free_digits, digits, zeros]));
            }
            if shortest == 0 {
                tails.push(exprs.empty());
                let point = exprs.bytes(b".");
                let fewer = if free > 0 {
                    digits(exprs, 1, free)
                } else {
                    let zero = exprs.bytes(b"0");
                    exprs.repeat(zero, 1, UNBOUNDED)
                };
                tails.push(exprs.seq(&[point, fewer]));
            }
            let tails = exprs.choice(&tails);
            choices.push(exprs.seq(&[whole, tails]));
        }
        exprs.choice(&choices)
    }
}

/// `.0`, with any number of zeros, or nothing.
pub(crate) fn zero_fraction(exprs: &mut Exprs) -> ExprId {
    let zero = exprs.bytes(b"0");
    let zeros = exprs.repeat(zero, 1, UNBOUNDED);
    let point = exprs.bytes(b".");
    let fraction = exprs.seq(&[point, zeros]);
    exprs.optional(fraction)
}

fn without_zeros(digits: &str) -> String {
    let short = digits.trim_start_matches('0');
    if short.is_empty() { "0".to_owned() } else { short.to_owned() }
}
