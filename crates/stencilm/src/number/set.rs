//! A set of numbers and how they may be spelled.

use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::error::Error;
use crate::number::decimal::Decimal;
use crate::number::list::List;

/// Numbers that must not be divisors, beside a divisor. Of 2ⁿ integers in a row one is a multiple
/// of none of n others greater than 1 (Kanold 1967), and up to n = 24 of fewer than 2¹⁰ (Hajdu and
/// Saradha, "Disproof of a conjecture of Jacobsthal", 2012).
const MOST_OTHERS: usize = 24;

/// Whether a text has a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Point {
    /// As the value needs it, and where it does no harm.
    #[default]
    Maybe,
    /// Neither a point nor an exponent: what draft-04 calls an integer.
    Never,
    /// A point or an exponent: what draft-04 does not call an integer.
    Always,
}

/// An end of an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) value: Decimal,
    pub(crate) is_exclusive: bool,
}

/// What a front end says of a set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Definition {
    pub(crate) low: Option<Bound>,
    pub(crate) high: Option<Bound>,
    /// Each number is a multiple of all of these, which are positive.
    pub(crate) multiples: Vec<Decimal>,
    /// No number is a multiple of one of these, which are positive.
    pub(crate) others: Vec<Decimal>,
    pub(crate) point: Point,
    /// Whether a text may have an exponent.
    pub(crate) has_exponent: bool,
}

/// A set of numbers and how they may be spelled, ready to be read digit by digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberSet {
    /// The sizes of positive and of negative numbers.
    pub(super) sides: [Side; 2],
    pub(super) has_zero: bool,
    /// The divisor, if there is one, before the numbers that must not be divisors.
    pub(super) moduli: Box<[Modulus]>,
    pub(super) has_divisor: bool,
    /// The most digits behind a point that the moduli tell apart.
    pub(super) last_digit: i64,
    /// The only numbers, if there is a list of them: then nothing else is asked.
    pub(super) list: Option<List>,
    pub(super) point: Point,
    pub(super) has_exponent: bool,
}

/// The sizes of the numbers of one sign, zero left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub(super) is_empty: bool,
    pub(super) near: Option<End>,
    pub(super) far: Option<End>,
}

/// An end of an interval of positive numbers: 0.d₁d₂… × 10^exponent, d₁ not zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(super) digits: Box<[u8]>,
    pub(super) exponent: i64,
    pub(super) is_exclusive: bool,
}

/// A divisor `number` × 10^−`unit`; ten does not divide `number`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Modulus {
    pub(super) number: BigUint,
    pub(super) unit: i64,
    /// 10^`tens` has all factors 2 and 5 of `number`.
    tens: u32,
    /// `number` without these factors.
    pub(super) odd: BigUint,
    /// Decimal digits of `number`.
    pub(super) len: i64,
}

impl NumberSet {
    /// The set of a definition; `None` if no number is in it.
    ///
    /// # Errors
    /// Bounds beside divisors have more than `most` digits; too many numbers that must not be
    /// divisors.
    pub(crate) fn new(definition: &Definition, most: usize) -> Result<Option<Self>, Error> {
        let mut multiples = definition.multiples.clone();
        if definition.point == Point::Never {
            multiples.push(Decimal::one());
        }
        let divisor = Modulus::least_common(&multiples, most)?;
        let mut others: Vec<&Decimal> = definition.others.iter().collect();
        // What is no multiple of 2 is no multiple of 6 either.
        let all = others.clone();
        others
            .retain(|other| !all.iter().any(|rival| rival != other && other.is_multiple_of(rival)));
        others.sort_unstable();
        others.dedup();
        let has_divisor = divisor.is_some();
        if let Some(divisor) = &divisor {
            let value = divisor.value();
            if others.iter().any(|other| value.is_multiple_of(other)) {
                return Ok(None);
            }
            if others.len() > MOST_OTHERS {
                let feature = "more than 24 numbers that must not divide, beside a multipleOf";
                return Err(Error::unsupported(feature, crate::error::Location::Whole));
            }
        }
        let mut moduli: Vec<Modulus> = divisor.into_iter().collect();
        for other in &others {
            moduli.push(Modulus::new(other, most)?);
        }
        let (low, high) = (&definition.low, &definition.high);
        if !moduli.is_empty() {
            for bound in [low, high].into_iter().flatten() {
                if bound.value.digits().len() > most {
                    return Err(Error::limit("number_digits", most));
                }
            }
        }
        let zero = Decimal::default();
        let is_in = |bound: &Bound, side| {
            bound.value.cmp(&zero) == side || (bound.value == zero && !bound.is_exclusive)
        };
        let has_low = low.as_ref().is_none_or(|low| is_in(low, Ordering::Less));
        let has_high = high.as_ref().is_none_or(|high| is_in(high, Ordering::Greater));
        let mut set = Self {
            sides: [
                Side::positive(low.as_ref(), high.as_ref()),
                Side::negative(low.as_ref(), high.as_ref()),
            ],
            has_zero: has_low && has_high && others.is_empty(),
            last_digit: moduli.iter().map(|modulus| modulus.unit).max().unwrap_or(0),
            moduli: moduli.into(),
            has_divisor,
            list: None,
            point: definition.point,
            has_exponent: definition.has_exponent && definition.point != Point::Never,
        };
        for is_negative in [false, true] {
            let side = usize::from(is_negative);
            if !set.has_below(is_negative, None) {
                set.sides[side] = Side { is_empty: true, ..Side::default() };
            }
        }
        let is_empty = set.sides.iter().all(|side| side.is_empty) && !set.has_zero;
        Ok((!is_empty).then_some(set))
    }

    pub(super) fn side(&self, is_negative: bool) -> &Side {
        &self.sides[usize::from(is_negative)]
    }

    pub(super) fn divisor(&self) -> Option<&Modulus> {
        self.moduli.first().filter(|_| self.has_divisor)
    }

    /// What must not divide, each with its place in `moduli`.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, &Modulus)> {
        self.moduli.iter().enumerate().skip(usize::from(self.has_divisor))
    }

    /// Multiples of the divisor in a row of which one at least is no multiple of the others.
    pub(super) fn tries(&self) -> u32 {
        1 << self.others().count().min(10)
    }

    /// Whether among 10^(`digits` − 1) neighbours one is in the set, bounds left aside.
    pub(super) fn is_wide(&self, divisor: &Modulus, digits: i64) -> bool {
        digits > divisor.len + 1 + i64::from(self.tries().ilog2())
    }

    /// About how many bytes it holds.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let ends = self.sides.iter().flat_map(|side| [&side.near, &side.far]).flatten();
        let moduli =
            self.moduli.iter().map(|modulus| 96 + usize::try_from(modulus.len).unwrap_or(0));
        let list = self.list.as_ref().map_or(0, List::size_in_bytes);
        160 + list + ends.map(|end| end.digits.len()).sum::<usize>() + moduli.sum::<usize>()
    }

    /// Whether some number of the side is smaller than 10^`below`, or any at all.
    pub(super) fn has_below(&self, is_negative: bool, below: Option<i64>) -> bool {
        let side = self.side(is_negative);
        if side.is_empty {
            return false;
        }
        let near = side.near.as_ref();
        if let (Some(near), Some(below)) = (near, below)
            && near.exponent > below
        {
            return false;
        }
        let far = side.far.as_ref().filter(|far| below.is_none_or(|below| far.exponent <= below));
        if let (Some(near), Some(far)) = (near, far)
            && near.is_at(far)
        {
            let divides = |modulus: &Modulus| modulus.divides_digits(&near.digits, near.exponent);
            return self.divisor().is_none_or(divides) && !self.others().any(|(_, m)| divides(m));
        }
        let Some(divisor) = self.divisor() else {
            return true;
        };
        if far.is_none() && below.is_none() {
            return true;
        }
        let unit = divisor.unit;
        if let Some(far) = far {
            // A place of the point such that the bounds differ before it.
            let room =
                near.map_or(far.exponent - 1, |near| near.exponent - near.len().max(far.len()));
            if self.is_wide(divisor, room + unit) {
                return true;
            }
        }
        let first = match near {
            None => BigUint::from(1_u8),
            Some(near) => {
                let (whole, has_rest) = near.tail(0, near.exponent + unit);
                let is_hit =
                    !has_rest && !near.is_exclusive && (&whole % &divisor.number).is_zero();
                whole / &divisor.number + u8::from(!is_hit)
            }
        };
        let last = match (far, below) {
            (Some(far), _) => {
                let (whole, has_rest) = far.tail(0, far.exponent + unit);
                let is_left_out = !has_rest && far.is_exclusive;
                match less_one_if(whole, is_left_out) {
                    Some(most) => most / &divisor.number,
                    None => return false,
                }
            }
            (None, below) => {
                let digits = below.unwrap_or(0) + unit;
                if digits <= 0 {
                    return false;
                }
                (power_of_ten(digits) - 1_u8) / &divisor.number
            }
        };
        let mut value = first * &divisor.number;
        let last = last * &divisor.number;
        for _ in 0..self.tries() {
            if value > last {
                return false;
            }
            let (number, zeros) = without_zeros(value.clone());
            let is_in = self.others().all(|(_, other)| {
                let rest = &number % &other.number;
                !other.divides(&rest, zeros - unit)
            });
            if is_in {
                return true;
            }
            value += &divisor.number;
        }
        false
    }
}

impl Side {
    fn positive(low: Option<&Bound>, high: Option<&Bound>) -> Self {
        let zero = Decimal::default();
        let near = low.filter(|low| low.value > zero).map(End::new);
        let is_empty = high.is_some_and(|high| high.value <= zero);
        let far = high.filter(|_| !is_empty).map(End::new);
        let is_empty = is_empty
            || match (low, high) {
                (Some(low), Some(high)) => match low.value.cmp(&high.value) {
                    Ordering::Less => false,
                    Ordering::Equal => low.is_exclusive || high.is_exclusive,
                    Ordering::Greater => true,
                },
                _ => false,
            };
        Self { is_empty, near, far }
    }

    fn negative(low: Option<&Bound>, high: Option<&Bound>) -> Self {
        let mirror = |bound: &Bound| Bound { value: bound.value.negated(), ..*bound };
        Self::positive(high.map(mirror).as_ref(), low.map(mirror).as_ref())
    }
}

impl End {
    fn new(bound: &Bound) -> Self {
        let (digits, exponent) = (bound.value.digits().into(), bound.value.exponent());
        Self { digits, exponent, is_exclusive: bound.is_exclusive }
    }

    pub(super) fn len(&self) -> i64 {
        len_of(&self.digits)
    }

    fn is_at(&self, other: &Self) -> bool {
        self.digits == other.digits && self.exponent == other.exponent
    }

    /// The digit at a place, from 0 on.
    pub(super) fn digit(&self, at: i64) -> u8 {
        usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(0)
    }

    /// Whether it has digits other than zero from a place on.
    pub(super) fn goes_on(&self, at: i64) -> bool {
        usize::try_from(at).is_ok_and(|at| at < self.digits.len())
    }

    /// `count` digits from a place on, and whether others than zeros follow.
    pub(super) fn tail(&self, from: i64, count: i64) -> (BigUint, bool) {
        let count = count.max(0);
        let digits: Vec<u8> = (from..from + count).map(|at| self.digit(at)).collect();
        (BigUint::from_radix_be(&digits, 10).unwrap_or_default(), self.goes_on(from + count))
    }
}

impl Modulus {
    fn new(value: &Decimal, most: usize) -> Result<Self, Error> {
        check_len(value, most)?;
        let number = BigUint::from_radix_be(value.digits(), 10).unwrap_or_default();
        Ok(Self::of(number, len_of(value.digits()) - value.exponent()))
    }

    fn of(number: BigUint, unit: i64) -> Self {
        let count = |factor: u8| {
            let mut odd = number.clone();
            let mut count = 0;
            while (&odd % factor).is_zero() {
                odd /= factor;
                count += 1;
            }
            (odd, count)
        };
        let ((without_2, twos), (without_5, fives)) = (count(2), count(5));
        // Ten does not divide: one of the two has nothing to take out.
        let odd = without_2.min(without_5);
        let len = len_of(&number.to_radix_be(10));
        Self { number, unit, tens: twos.max(fives), odd, len }
    }

    /// The least common multiple; `None` of nothing.
    fn least_common(values: &[Decimal], most: usize) -> Result<Option<Self>, Error> {
        let Some(unit) = values.iter().map(|v| len_of(v.digits()) - v.exponent()).max() else {
            return Ok(None);
        };
        let mut common = BigUint::from(1_u8);
        for value in values {
            check_len(value, most)?;
            let zeros = unit - (len_of(value.digits()) - value.exponent());
            let number = BigUint::from_radix_be(value.digits(), 10).unwrap_or_default();
            let number = number * power_of_ten(zeros);
            common = &common / gcd(common.clone(), number.clone()) * number;
            // A decimal digit has less than 4 bits.
            if common.bits() > 4 * most as u64 {
                return Err(Error::limit("number_digits", most));
            }
        }
        let (number, zeros) = without_zeros(common);
        Ok(Some(Self::of(number, unit - zeros)))
    }

    fn value(&self) -> Decimal {
        Decimal::of_digits(&self.number.to_radix_be(10), self.len - self.unit)
    }

    /// How many zeros `rest` must have behind it to be a multiple of `number`, which ten does not
    /// divide; `rest` is what remains of some number divided by it.
    pub(super) fn zeros(&self, rest: &BigUint) -> Option<i64> {
        if !(rest % &self.odd).is_zero() {
            return None;
        }
        let mut rest = rest.clone();
        for zeros in 0..self.tens {
            if rest.is_zero() {
                return Some(zeros.into());
            }
            rest = rest * 10_u8 % &self.number;
        }
        Some(self.tens.into())
    }

    /// Whether `V` × 10^`exponent` is a multiple, where ten does not divide V and `rest` is what
    /// remains of V.
    pub(super) fn divides(&self, rest: &BigUint, exponent: i64) -> bool {
        self.zeros(rest).is_some_and(|zeros| exponent + self.unit >= zeros)
    }

    fn divides_digits(&self, digits: &[u8], exponent: i64) -> bool {
        let number = BigUint::from_radix_be(digits, 10).unwrap_or_default();
        self.divides(&(number % &self.number), exponent - len_of(digits))
    }
}

fn check_len(value: &Decimal, most: usize) -> Result<(), Error> {
    if value.plain_len() > most as u64 {
        return Err(Error::limit("number_digits", most));
    }
    Ok(())
}

fn len_of(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

/// A number without the zeros at its end, and how many they were. Not for zero.
pub(super) fn without_zeros(number: BigUint) -> (BigUint, i64) {
    let digits = number.to_radix_be(10);
    let len = digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
    let zeros = digits.len() - len;
    if zeros == 0 {
        return (number, 0);
    }
    let number = BigUint::from_radix_be(&digits[..len], 10).unwrap_or_default();
    (number, i64::try_from(zeros).unwrap_or(i64::MAX))
}

pub(super) fn power_of_ten(exponent: i64) -> BigUint {
    BigUint::from(10_u8).pow(u32::try_from(exponent.max(0)).unwrap_or(u32::MAX))
}

/// One less if asked for; `None` below zero.
pub(super) fn less_one_if(number: BigUint, is_less: bool) -> Option<BigUint> {
    match (is_less, number.is_zero()) {
        (false, _) => Some(number),
        (true, true) => None,
        (true, false) => Some(number - 1_u8),
    }
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Zero without another crate's trait.
pub(super) trait IsZero {
    fn is_zero(&self) -> bool;
}

impl IsZero for BigUint {
    fn is_zero(&self) -> bool {
        self.bits() == 0
    }
}
