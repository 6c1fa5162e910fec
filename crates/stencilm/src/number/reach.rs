//! Whether digits lead to a number of the set, and with which exponents they are one.

use num_bigint::BigUint;

use crate::number::set::{
    End, IsZero, Modulus, NumberSet, less_one_if, power_of_ten, without_zeros,
};
use crate::number::state::{Compared, FAR, Mantissa, Phase};
use crate::number::step::shifted;

impl NumberSet {
    /// The exponents with which these digits and no more are a number of the set.
    pub(super) fn exponents(&self, mantissa: &Mantissa) -> Option<(i64, i64)> {
        if mantissa.is_zero {
            return self.has_zero.then_some((-FAR, FAR));
        }
        let side = self.side(mantissa.is_negative);
        if side.is_empty || mantissa.is_far {
            return None;
        }
        let (mut low, mut high) = (-FAR, FAR);
        let len = mantissa.len();
        if let (Some(near), false) = (&side.near, mantissa.near == Compared::Free) {
            let is_in = match mantissa.near {
                Compared::Equal => !near.is_exclusive && !near.goes_on(len),
                compared => compared == Compared::Greater,
            };
            low = near.exponent - mantissa.lead + i64::from(!is_in);
        }
        if let (Some(far), false) = (&side.far, mantissa.far == Compared::Free) {
            let is_in = match mantissa.far {
                Compared::Equal => !far.is_exclusive || far.goes_on(len),
                compared => compared == Compared::Less,
            };
            high = far.exponent - mantissa.lead - i64::from(!is_in);
        }
        if let Some(divisor) = self.divisor() {
            let zeros = divisor.zeros(&mantissa.rests[0])?;
            low = low.max(zeros - divisor.unit + mantissa.last);
        }
        for (at, other) in self.others() {
            if let Some(zeros) = other.zeros(&mantissa.rests[at]) {
                high = high.min(zeros - other.unit + mantissa.last - 1);
            }
        }
        (low <= high).then_some((low, high))
    }

    /// Whether some text that begins so is a number of the set.
    pub(super) fn is_alive(&self, mantissa: &Mantissa) -> bool {
        if mantissa.is_zero {
            let below = match mantissa.phase {
                _ if self.has_exponent => None,
                Phase::Whole | Phase::Point | Phase::Fraction => Some(-mantissa.fraction),
            };
            return self.has_zero || self.has_below(mantissa.is_negative, below);
        }
        let side = self.side(mantissa.is_negative);
        if side.is_empty {
            return false;
        }
        // Where the point may stand, from where it stands now: digits before it or an exponent
        // may come.
        let (mut low, mut high) = match mantissa.phase {
            _ if self.has_exponent => (-FAR, FAR),
            Phase::Whole => (0, FAR),
            Phase::Point | Phase::Fraction => (0, 0),
        };
        let near = side.near.as_ref().filter(|_| mantissa.near != Compared::Free);
        let near = near.map(|end| Edge { end, at: end.exponent - mantissa.lead });
        let far = side.far.as_ref().filter(|_| mantissa.far != Compared::Free);
        let far = far.map(|end| Edge { end, at: end.exponent - mantissa.lead });
        if let Some(near) = &near {
            low = low.max(near.at + i64::from(mantissa.near == Compared::Less));
        }
        if let Some(far) = &far {
            high = high.min(far.at - i64::from(mantissa.far == Compared::Greater));
        }
        if low > high {
            return false;
        }
        if mantissa.is_far {
            return self.has_exponent || mantissa.phase == Phase::Whole;
        }
        if self.exponents(mantissa).is_some_and(|(least, most)| least <= high && low <= most) {
            return true;
        }
        let near = near.filter(|_| mantissa.near == Compared::Equal);
        let far = far.filter(|_| mantissa.far == Compared::Equal);
        let Some(divisor) = self.divisor() else {
            return dense(mantissa.len(), low, high, near.as_ref(), far.as_ref());
        };
        if high == FAR {
            return true;
        }
        let mut at = high;
        while at >= low {
            let digits = at - mantissa.fraction + divisor.unit;
            if digits <= 0 {
                // No more digits: the exponents said it.
                return false;
            }
            let near = near.as_ref().filter(|edge| edge.at == at);
            let far = far.as_ref().filter(|edge| edge.at == at);
            // Places that the bounds' digits reach; behind them are enough numbers in a row.
            let ends = [near, far].into_iter().flatten();
            let reach = ends.map(|edge| edge.end.len() - mantissa.len()).max().unwrap_or(0).max(0);
            let is_found = if self.is_wide(divisor, digits - reach) {
                near.is_some() || far.is_none_or(|far| far.end.goes_on(mantissa.len()))
            } else {
                self.has_multiple(mantissa, divisor, digits, near, far)
            };
            if is_found {
                return true;
            }
            at -= 1;
        }
        false
    }

    /// Whether there is a number with `digits` more digits down to the divisor's last one.
    fn has_multiple(
        &self,
        mantissa: &Mantissa,
        divisor: &Modulus,
        digits: i64,
        near: Option<&Edge<'_>>,
        far: Option<&Edge<'_>>,
    ) -> bool {
        let number = &divisor.number;
        let least = near.map_or_else(BigUint::default, |near| {
            let (tail, has_rest) = near.end.tail(mantissa.len(), digits);
            tail + u8::from(has_rest || near.end.is_exclusive)
        });
        let most = match far {
            None => Some(power_of_ten(digits) - 1_u8),
            Some(far) => {
                let (tail, has_rest) = far.end.tail(mantissa.len(), digits);
                less_one_if(tail, !has_rest && far.end.is_exclusive)
            }
        };
        let Some(most) = most else {
            return false;
        };
        let zeros = mantissa.zeros() + digits;
        let rest = (shifted(&mantissa.rests[0], zeros) + &least) % number;
        let mut tail = if rest.is_zero() { least } else { least + (number - rest) };
        for _ in 0..self.tries() {
            if tail > most {
                return false;
            }
            if self.others().all(|(at, other)| {
                let (rest, exponent) = if tail.is_zero() {
                    (mantissa.rests[at].clone(), zeros)
                } else {
                    let (last, end) = without_zeros(tail.clone());
                    let rest = shifted(&mantissa.rests[at], zeros - end) + last;
                    (rest % &other.number, end)
                };
                !other.divides(&rest, exponent - divisor.unit)
            }) {
                return true;
            }
            tail += number;
        }
        false
    }
}

/// A bound that the digits so far agree with, and where the point must stand to meet it.
#[derive(Clone, Copy)]
struct Edge<'s> {
    end: &'s End,
    at: i64,
}

/// Whether digits go on to a number between two bounds, where every digit may come: those that
/// are complete were asked before.
fn dense(len: i64, low: i64, high: i64, near: Option<&Edge<'_>>, far: Option<&Edge<'_>>) -> bool {
    let is_edge = |edge: Option<&Edge<'_>>, at: i64| edge.is_some_and(|edge| edge.at == at);
    // Below the highest place of the point no upper bound is left.
    if !is_edge(far, high) || high > low {
        return true;
    }
    // Both bounds agree with the digits, or there is room below the upper one.
    is_edge(near, high) || far.is_some_and(|far| far.end.goes_on(len))
}
