//! `minimum`, `maximum`, their exclusive flags and `multipleOf`, all exact.

use super::compile::Reader;
use super::failure::{Reason, Report, ValuePath};
use serde_json::Number;
use std::cmp::Ordering;
use std::fmt;

/// A JSON number that compares exactly, whatever its spelling.
#[derive(Clone, Copy, Debug)]
pub(super) enum Num {
    Integer(i128),
    Float(f64),
}

impl Num {
    pub fn of(number: &Number) -> Num {
        match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => Num::Integer(n.into()),
            (None, Some(n)) => Num::Integer(n.into()),
            (None, None) => Num::from(number.as_f64().unwrap_or_default()),
        }
    }

    /// Digits and a power of ten: 0.35 is (35, -2). The shortest decimal text that gives the float back is what its
    /// author wrote, which is why 0.3 is a multiple of 0.1 here. The sign is dropped.
    fn decimal(self) -> (u128, i32) {
        let (mut digits, mut power) = match self {
            Num::Integer(n) => (n.unsigned_abs(), 0),
            Num::Float(f) => {
                let text = format!("{:e}", f.abs());
                let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
                let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
                let digits = [whole, fraction].concat().parse().unwrap_or(0);
                (digits, power.parse::<i32>().unwrap_or(0) - fraction.len() as i32)
            }
        };
        while digits != 0 && digits % 10 == 0 {
            (digits, power) = (digits / 10, power + 1);
        }
        (digits, power)
    }

    /// Whether this is a whole multiple of `step`, in decimal arithmetic.
    fn is_multiple_of(self, step: Num) -> bool {
        let ((value, value_power), (step, step_power)) = (self.decimal(), step.decimal());
        match value_power.cmp(&step_power) {
            _ if value == 0 => true,
            _ if step == 0 => false,
            // The value has no trailing zeros in `value`, so a step that is coarser by more digits than the value
            // has cannot divide it; `checked_pow` fails only far beyond that.
            Ordering::Less => 10u128
                .checked_pow(step_power.abs_diff(value_power))
                .and_then(|shift| step.checked_mul(shift))
                .is_some_and(|step| value % step == 0),
            _ => mul_mod(value, pow10_mod(value_power.abs_diff(step_power), step), step) == 0,
        }
    }
}

/// Both factors stay below 2^64 (an i64, a u64 or the 17 digits of a float), so the product fits.
fn mul_mod(a: u128, b: u128, modulus: u128) -> u128 {
    (a % modulus) * (b % modulus) % modulus
}

fn pow10_mod(mut exponent: u32, modulus: u128) -> u128 {
    let (mut result, mut base) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul_mod(result, base, modulus);
        }
        base = mul_mod(base, base, modulus);
        exponent >>= 1;
    }
    result
}

impl From<f64> for Num {
    /// Whole floats become integers as long as a float holds every integer exactly.
    fn from(float: f64) -> Num {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if float.fract() == 0.0 && float.abs() <= EXACT { Num::Integer(float as i128) } else { Num::Float(float) }
    }
}

impl PartialEq for Num {
    fn eq(&self, other: &Num) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Num) -> Option<Ordering> {
        match (*self, *other) {
            (Num::Integer(a), Num::Integer(b)) => Some(a.cmp(&b)),
            (Num::Float(a), Num::Float(b)) => a.partial_cmp(&b),
            (Num::Integer(a), Num::Float(b)) => compare(a, b),
            (Num::Float(a), Num::Integer(b)) => compare(b, a).map(Ordering::reverse),
        }
    }
}

/// An integer against a float, without rounding the integer.
fn compare(integer: i128, float: f64) -> Option<Ordering> {
    if float.abs() >= 1e30 {
        return 0.0.partial_cmp(&float);
    }
    let rest = if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less };
    Some(integer.cmp(&(float.floor() as i128)).then(rest))
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Num::Integer(n) => n.fmt(f),
            Num::Float(n) => n.fmt(f),
        }
    }
}

/// The rules of a schema for a number.
#[derive(Debug, Default)]
pub(super) struct NumberRules {
    multiple_of: Option<Num>,
    minimum: Option<Bound>,
    maximum: Option<Bound>,
}

#[derive(Clone, Copy, Debug)]
struct Bound {
    at: Num,
    exclusive: bool,
}

impl NumberRules {
    pub fn read(reader: &mut Reader<'_, '_>) -> Self {
        let mut bound = |key: &str, flag: &str| {
            let (at, exclusive) = (reader.number(key), reader.flag(flag));
            if at.is_none() && exclusive.is_some() {
                reader.problem(flag, format!("{flag} says something about {key}, which is absent"), None);
            }
            at.map(|at| Bound { at, exclusive: exclusive.unwrap_or(false) })
        };
        let minimum = bound("minimum", "exclusiveMinimum");
        let maximum = bound("maximum", "exclusiveMaximum");
        if let (Some(low), Some(high)) = (minimum, maximum)
            && (low.at > high.at || (low.at == high.at && (low.exclusive || high.exclusive)))
        {
            reader.problem("minimum", "No number lies between minimum and maximum".into(), None);
        }
        let multiple_of = reader.number("multipleOf");
        if multiple_of.is_some_and(|step| step <= Num::Integer(0)) {
            reader.problem("multipleOf", "multipleOf has to be above 0".into(), None);
        }
        NumberRules { multiple_of, minimum, maximum }
    }

    pub fn check<R: Report>(&self, place: &ValuePath<'_>, number: &Number) -> Result<(), R> {
        let number = Num::of(number);
        if let Some(step) = self.multiple_of.filter(|step| !number.is_multiple_of(*step)) {
            return Err(R::at(place, Reason::Multiple, || format!("is not a multiple of {step}")));
        }
        if let Some(bound) = self.minimum.filter(|low| number < low.at || (low.exclusive && number == low.at)) {
            let word = if bound.exclusive { "has to be above" } else { "may not be below" };
            return Err(R::at(place, Reason::Bounds, || format!("{word} {}", bound.at)));
        }
        if let Some(bound) = self.maximum.filter(|high| number > high.at || (high.exclusive && number == high.at)) {
            let word = if bound.exclusive { "has to be below" } else { "may not be above" };
            return Err(R::at(place, Reason::Bounds, || format!("{word} {}", bound.at)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn num(value: &Value) -> Num {
        Num::of(value.as_number().expect("rows are numbers"))
    }

    #[test]
    fn multiples_are_decimal() {
        let rows = [
            (json!(0.3), json!(0.1), true),
            (json!(0.35), json!(0.1), false),
            (json!(-0.3), json!(0.1), true),
            (json!(0), json!(7), true),
            (json!(1.1), json!(0.01), true),
            (json!(19.99), json!(0.01), true),
            (json!(4.5), json!(1.5), true),
            (json!(1e300), json!(7), false),
            (json!(7e300), json!(7), true),
            (json!(1e300), json!(1e-300), true),
            (json!(1e-300), json!(1e300), false),
            (json!(10), json!(100), false),
            (json!(1000), json!(100), true),
            (json!(9007199254740993i64), json!(2), false),
            (json!(i64::MIN), json!(2), true),
            (json!(u64::MAX), json!(u64::MAX), true),
            (json!(u64::MAX - 1), json!(u64::MAX), false),
            (json!(0.5), json!(1), false),
        ];
        for (value, step, expected) in rows {
            assert_eq!(num(&value).is_multiple_of(num(&step)), expected, "{value} of {step}");
        }
    }

    #[test]
    fn comparison_does_not_round() {
        assert!(num(&json!(9007199254740993i64)) > num(&json!(9007199254740992.0)));
        assert!(num(&json!(2)) < num(&json!(2.5)) && num(&json!(3)) > num(&json!(2.5)));
        assert!(num(&json!(-3)) < num(&json!(-2.5)) && num(&json!(-2)) > num(&json!(-2.5)));
        assert!(num(&json!(i64::MAX)) < num(&json!(1e300)) && num(&json!(i64::MIN)) > num(&json!(-1e300)));
        assert!(num(&json!(1)) == num(&json!(1.0)));
        assert!(num(&json!(1i64 << 60)) == num(&json!((1i64 << 60) as f64)));
    }
}
