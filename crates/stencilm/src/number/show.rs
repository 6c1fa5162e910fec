//! Sets of numbers and their states in words, for people.

use std::fmt;

use crate::number::set::{End, NumberSet, Point, Side};
use crate::number::state::{Digits, NumberState, Phase};

impl fmt::Display for NumberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [positive, negative] = &self.sides;
        write!(f, "+{positive} -{negative}")?;
        if self.has_zero {
            f.write_str(" 0")?;
        }
        if self.list.is_some() {
            f.write_str(", listed")?;
        }
        for (at, modulus) in self.moduli.iter().enumerate() {
            let not = if at == 0 && self.has_divisor { "" } else { "not " };
            write!(f, ", {not}multiple of {}e{}", modulus.number, -modulus.unit)?;
        }
        match self.point {
            Point::Maybe => {}
            Point::Never => f.write_str(", no point")?,
            Point::Always => f.write_str(", a point")?,
        }
        f.write_str(if self.has_exponent { ", exponents" } else { "" })
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty {
            return f.write_str("[]");
        }
        f.write_str(if self.near.as_ref().is_some_and(|end| !end.is_exclusive) {
            "["
        } else {
            "("
        })?;
        write_end(f, self.near.as_ref(), "0")?;
        f.write_str(", ")?;
        write_end(f, self.far.as_ref(), "∞")?;
        f.write_str(if self.far.as_ref().is_some_and(|end| !end.is_exclusive) { "]" } else { ")" })
    }
}

fn write_end(f: &mut fmt::Formatter<'_>, end: Option<&End>, none: &str) -> fmt::Result {
    let Some(end) = end else {
        return f.write_str(none);
    };
    f.write_str("0.")?;
    end.digits.iter().try_for_each(|digit| write!(f, "{digit}"))?;
    write!(f, "e{}", end.exponent)
}

impl fmt::Display for NumberState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { is_negative: false, .. } => Ok(()),
            Self::Start { is_negative: true, .. } => f.write_str("; after a minus sign"),
            Self::Mantissa(mantissa) => {
                f.write_str(match mantissa.phase {
                    Phase::Whole => "; after digits",
                    Phase::Point => "; after the point",
                    Phase::Fraction => "; after digits behind the point",
                })?;
                write!(f, ", {mantissa:?}")
            }
            Self::Listed(listed) => write!(f, "; after digits, {listed:?}"),
            Self::Exponent(exponent) => {
                match exponent.digits {
                    Digits::Letter => f.write_str("; after the letter of the exponent")?,
                    Digits::Sign => f.write_str("; after the sign of the exponent")?,
                    Digits::Value(value) => write!(f, "; after the exponent {value}")?,
                }
                write!(f, ", {} to {}", exponent.low, exponent.high)?;
                if exponent.only.is_empty() { Ok(()) } else { write!(f, ", {:?}", exponent.only) }
            }
        }
    }
}
