//! States that no token can tell apart, made alike: a large divisor has as many states as digits
//! may leave remainders, and for a mask only what one token reaches counts.

use num_bigint::BigUint;

use crate::number::set::{IsZero, Modulus, NumberSet, power_of_ten};
use crate::number::state::{Compared, Mantissa, NumberState, Phase};
use crate::number::step::shifted;

impl NumberSet {
    /// The state without what remains of the divisor, if no token makes a multiple of it: `reach`
    /// is the most digits that one token adds.
    pub(crate) fn clip(&self, state: &NumberState, reach: u32) -> Option<NumberState> {
        let divisor = self.divisor().filter(|_| self.moduli.len() == 1)?;
        // With exponents, zeros at the end are no matter of digits.
        let number = if self.has_exponent { &divisor.odd } else { &divisor.number };
        if *number <= power_of_ten(reach.into()) || (divisor.unit > 0 && !self.has_exponent) {
            return None;
        }
        match state {
            &NumberState::Start { is_negative, is_far: false } => {
                let mut signs = [false, true].into_iter().skip(usize::from(is_negative));
                let is_roomy = signs.all(|sign| {
                    self.side(sign).is_empty
                        || self.has_room(&self.begin(sign, false), divisor, reach)
                });
                is_roomy.then_some(NumberState::Start { is_negative, is_far: true })
            }
            NumberState::Mantissa(mantissa) if !mantissa.is_far => {
                let is_open = self.has_exponent || mantissa.phase == Phase::Whole;
                if !is_open || !self.has_room(mantissa, divisor, reach) {
                    return None;
                }
                let is_far = mantissa.is_zero || is_far(mantissa, number, reach);
                let forgotten = Mantissa {
                    is_far: true,
                    rests: Box::new([BigUint::default()]),
                    ..mantissa.clone()
                };
                is_far.then(|| NumberState::Mantissa(self.reduced(forgotten)))
            }
            _ => None,
        }
    }

    /// Whether the upper bound is so far that all digits of a token lead to a multiple below it.
    fn has_room(&self, mantissa: &Mantissa, divisor: &Modulus, reach: u32) -> bool {
        let side = self.side(mantissa.is_negative);
        if side.is_empty {
            return false;
        }
        let Some(far) = side.far.as_ref().filter(|_| mantissa.far != Compared::Free) else {
            return true;
        };
        let near = side.near.as_ref().filter(|_| mantissa.near != Compared::Free);
        let has_decade = near.is_none_or(|near| near.exponent + 2 <= far.exponent);
        let digits = far.exponent - 1 - mantissa.len() - i64::from(reach) + divisor.unit;
        has_decade && self.is_wide(divisor, digits)
    }
}

/// Whether no more than `reach` digits behind it make a multiple of `number`.
fn is_far(mantissa: &Mantissa, number: &BigUint, reach: u32) -> bool {
    let mut rest = shifted(&mantissa.rests[0], mantissa.zeros()) % number;
    let mut power = BigUint::from(1_u8);
    for _ in 0..=reach {
        let tail = if rest.is_zero() { BigUint::default() } else { number - &rest };
        if tail < power {
            return false;
        }
        rest = rest * 10_u8 % number;
        power *= 10_u8;
    }
    true
}
