//! What a byte makes of a state.

use num_bigint::BigUint;

use crate::number::list::Listed;
use crate::number::set::{NumberSet, Point, power_of_ten};
use crate::number::state::{Compared, Digits, Exponent, FAR, Mantissa, NumberState, Phase};

impl NumberSet {
    /// The state after a byte; `None` if no number of the set goes on so.
    pub(crate) fn step(&self, state: &NumberState, byte: u8) -> Option<NumberState> {
        match (state, byte) {
            (&NumberState::Start { is_negative: false, is_far }, b'-') => {
                let is_alive = self.has_zero || !self.side(true).is_empty;
                is_alive.then_some(NumberState::Start { is_negative: true, is_far })
            }
            (&NumberState::Start { is_negative, is_far }, b'0'..=b'9') => {
                if let Some(list) = &self.list {
                    let listed = list.begin(is_negative);
                    return self.listed_digit(list, &listed, byte - b'0');
                }
                let mantissa = self.begin(is_negative, is_far);
                self.settled(self.with_digit(mantissa, byte - b'0'))
            }
            (NumberState::Mantissa(mantissa), b'0'..=b'9') => {
                if mantissa.is_zero && mantissa.phase == Phase::Whole {
                    return None;
                }
                self.settled(self.with_digit(mantissa.clone(), byte - b'0'))
            }
            (NumberState::Mantissa(mantissa), b'.') => {
                if mantissa.phase != Phase::Whole || self.point == Point::Never {
                    return None;
                }
                self.settled(Mantissa { phase: Phase::Point, ..mantissa.clone() })
            }
            (NumberState::Mantissa(mantissa), b'e' | b'E') => {
                if mantissa.phase == Phase::Point || !self.has_exponent {
                    return None;
                }
                let (low, high) = self.exponents(mantissa)?;
                let (low, high) = (low.max(-FAR), high.min(FAR));
                let (digits, only) = (Digits::Letter, Box::default());
                Some(NumberState::Exponent(Exponent { digits, low, high, only }))
            }
            (NumberState::Listed(listed), _) => self.step_listed(listed, byte),
            (NumberState::Exponent(exponent), b'0'..=b'9') => {
                exponent.with_digit(byte - b'0').map(NumberState::Exponent)
            }
            (NumberState::Exponent(exponent), b'+' | b'-') => {
                exponent.with_sign(byte == b'-').map(NumberState::Exponent)
            }
            _ => None,
        }
    }

    fn step_listed(&self, listed: &Listed, byte: u8) -> Option<NumberState> {
        let list = self.list.as_ref()?;
        match byte {
            b'0'..=b'9' => {
                let is_digit_left = !listed.is_zero() || listed.phase != Phase::Whole;
                is_digit_left.then(|| self.listed_digit(list, listed, byte - b'0'))?
            }
            b'.' if listed.phase == Phase::Whole => {
                Some(NumberState::Listed(Listed { phase: Phase::Point, ..listed.clone() }))
            }
            b'e' | b'E' if listed.phase != Phase::Point => {
                self.listed_exponent(list, listed).map(NumberState::Exponent)
            }
            _ => None,
        }
    }

    /// Whether the text may end here.
    pub(crate) fn is_complete(&self, state: &NumberState) -> bool {
        match state {
            NumberState::Start { .. } => false,
            NumberState::Mantissa(mantissa) => {
                self.ends(mantissa.phase)
                    && self.exponents(mantissa).is_some_and(|(low, high)| low <= 0 && 0 <= high)
            }
            NumberState::Listed(listed) => {
                let list = self.list.as_ref().filter(|_| self.ends(listed.phase));
                let exponent = list.and_then(|list| self.listed_exponent(list, listed));
                exponent.is_some_and(|exponent| exponent.allows(0))
            }
            NumberState::Exponent(exponent) => exponent.is_complete(),
        }
    }

    fn ends(&self, phase: Phase) -> bool {
        match phase {
            Phase::Whole => self.point != Point::Always,
            Phase::Point => false,
            Phase::Fraction => true,
        }
    }

    /// Before the first digit.
    pub(super) fn begin(&self, is_negative: bool, is_far: bool) -> Mantissa {
        let side = self.side(is_negative);
        let compared = |is_bounded| if is_bounded { Compared::Equal } else { Compared::Free };
        Mantissa {
            is_negative,
            phase: Phase::Whole,
            is_zero: true,
            lead: 0,
            fraction: 0,
            last: 0,
            near: compared(side.near.is_some()),
            far: compared(side.far.is_some()),
            rests: self.moduli.iter().map(|_| BigUint::default()).collect(),
            is_far,
        }
    }

    fn with_digit(&self, mut mantissa: Mantissa, digit: u8) -> Mantissa {
        if mantissa.phase == Phase::Point {
            mantissa.phase = Phase::Fraction;
        }
        let is_whole = mantissa.phase == Phase::Whole;
        if mantissa.is_zero && digit == 0 {
            if !is_whole {
                mantissa.fraction += 1;
                mantissa.lead = -mantissa.fraction;
            }
            return mantissa;
        }
        let side = self.side(mantissa.is_negative);
        let at = mantissa.len();
        for (compared, end) in [(&mut mantissa.near, &side.near), (&mut mantissa.far, &side.far)] {
            if let (Compared::Equal, Some(end)) = (*compared, end) {
                *compared = match digit.cmp(&end.digit(at)) {
                    std::cmp::Ordering::Less => Compared::Less,
                    std::cmp::Ordering::Equal => Compared::Equal,
                    std::cmp::Ordering::Greater => Compared::Greater,
                };
            }
        }
        let before = mantissa.last;
        if is_whole {
            mantissa.lead += 1;
            mantissa.last -= 1;
        } else {
            if mantissa.is_zero {
                mantissa.lead = -mantissa.fraction;
            }
            mantissa.fraction += 1;
        }
        if digit != 0 {
            let before = if is_whole { before - 1 } else { before };
            let shift = mantissa.fraction - before;
            mantissa.last = mantissa.fraction;
            let known = if mantissa.is_far { &[] } else { &self.moduli[..] };
            for (rest, modulus) in mantissa.rests.iter_mut().zip(known) {
                // Where the number was zero, so is what remained of it.
                let moved =
                    if mantissa.is_zero { BigUint::default() } else { shifted(rest, shift) };
                *rest = (moved + digit) % &modulus.number;
            }
            mantissa.is_zero = false;
        }
        mantissa
    }

    /// The state, if it leads anywhere, without what makes no difference.
    fn settled(&self, mantissa: Mantissa) -> Option<NumberState> {
        let is_free = mantissa.near == Compared::Free && mantissa.far == Compared::Free;
        let is_any = is_free && self.moduli.is_empty() && !self.side(mantissa.is_negative).is_empty;
        let is_sure = is_any && !mantissa.is_zero;
        if !is_sure && !self.is_alive(&mantissa) {
            return None;
        }
        Some(NumberState::Mantissa(self.reduced(mantissa)))
    }

    pub(super) fn reduced(&self, mut mantissa: Mantissa) -> Mantissa {
        if !self.has_exponent {
            self.reduce_bounds(&mut mantissa);
            self.reduce_rests(&mut mantissa);
        }
        let is_bounded = mantissa.near != Compared::Free || mantissa.far != Compared::Free;
        let is_behind = mantissa.phase != Phase::Whole;
        let is_empty = self.side(mantissa.is_negative).is_empty;
        let is_open = !is_bounded && !is_empty && self.has_zero && self.moduli.is_empty();
        if is_behind && is_open {
            mantissa.is_zero = false;
        }
        if !is_bounded {
            mantissa.lead = 0;
        }
        if self.moduli.is_empty() || mantissa.is_far {
            mantissa.last = 0;
            let compares = [mantissa.near, mantissa.far].contains(&Compared::Equal);
            if !compares && (!mantissa.is_zero || !is_bounded) {
                mantissa.fraction = 0;
            }
        }
        let is_same = !is_bounded && !mantissa.is_zero && !self.sides[0].is_empty;
        if is_same || self.sides[0] == self.sides[1] {
            mantissa.is_negative = false;
        }
        mantissa
    }

    /// Bounds that no text can pass any more, where the number is what its digits say.
    fn reduce_bounds(&self, mantissa: &mut Mantissa) {
        let side = self.side(mantissa.is_negative);
        let is_whole = mantissa.phase == Phase::Whole;
        if let (Some(near), false) = (&side.near, mantissa.is_zero) {
            let is_above = match mantissa.near {
                Compared::Greater => mantissa.lead >= near.exponent,
                Compared::Equal if !is_whole && mantissa.lead == near.exponent => {
                    !near.is_exclusive && !near.goes_on(mantissa.len())
                }
                _ => false,
            };
            if is_above || mantissa.lead > near.exponent {
                mantissa.near = Compared::Free;
            }
        }
        if let (Some(far), false) = (&side.far, is_whole) {
            let lead = if mantissa.is_zero { -mantissa.fraction } else { mantissa.lead };
            if lead < far.exponent || (lead == far.exponent && mantissa.far == Compared::Less) {
                mantissa.far = Compared::Free;
            }
        }
    }

    /// Zeros and digits that no modulus tells apart, where the number is what its digits say.
    fn reduce_rests(&self, mantissa: &mut Mantissa) {
        if self.moduli.is_empty() || mantissa.is_far {
            return;
        }
        if mantissa.phase == Phase::Whole {
            let least = self.moduli.iter().map(|modulus| -modulus.unit).max().unwrap_or(0).max(0);
            let more = mantissa.zeros() - least;
            if more > 0 {
                for (rest, modulus) in mantissa.rests.iter_mut().zip(&self.moduli) {
                    *rest = shifted(rest, more) % &modulus.number;
                }
                mantissa.last = -least;
            }
            return;
        }
        let end = self.last_digit.max(0) + 1;
        if mantissa.last >= end {
            mantissa.last = end;
            mantissa.rests.iter_mut().for_each(|rest| *rest = BigUint::default());
        }
        if ![mantissa.near, mantissa.far].contains(&Compared::Equal) {
            mantissa.fraction = mantissa.fraction.min(end);
        }
    }
}

pub(super) fn shifted(rest: &BigUint, zeros: i64) -> BigUint {
    match zeros {
        0 => rest.clone(),
        zeros if rest.bits() == 0 || zeros < 0 => rest.clone(),
        zeros => rest * power_of_ten(zeros),
    }
}
