//! Values with a unit: sizes (`"16MiB"`) and durations (`"30s"`), and settings that `false` switches off.
//!
//! Units are part of the text, so no key carries one in its name. It does not know what any key means.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The default of settings that are on.
pub(crate) fn yes() -> bool {
    true
}

/// Units of sizes, smallest first, with their bytes.
const SIZES: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Units of durations, smallest first, with their milliseconds.
const DURATIONS: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The longest number before a unit; the largest value with the largest unit fits into 64 bits.
const DIGITS: usize = 9;

/// A number of bytes: `"320B"`, `"64KiB"`, `"16MiB"`, `"1GiB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

impl Size {
    /// A size of so many bytes.
    pub const fn bytes_of(bytes: u64) -> Size {
        Size(bytes)
    }

    /// A size of so many kibibytes.
    pub const fn kib(number: u64) -> Size {
        Size(number << 10)
    }

    /// A size of so many mebibytes.
    pub const fn mib(number: u64) -> Size {
        Size(number << 20)
    }

    /// Bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Bytes, as the standard library counts lengths.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &SIZES)
    }
}

/// A span of time: `"250ms"`, `"30s"`, `"5m"`, `"48h"`, `"14d"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(u64);

impl Duration {
    /// A duration of so many seconds.
    pub const fn seconds_of(number: u64) -> Duration {
        Duration(number * 1000)
    }

    /// A duration of so many days.
    pub const fn days(number: u64) -> Duration {
        Duration(number * 86_400_000)
    }

    /// As a duration of the standard library.
    pub const fn std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// Whole seconds.
    pub const fn seconds(self) -> u64 {
        self.0 / 1000
    }

    /// Whole seconds, as times are counted.
    pub fn seconds_signed(self) -> i64 {
        i64::try_from(self.seconds()).unwrap_or(i64::MAX)
    }

    /// Milliseconds.
    pub const fn milliseconds(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &DURATIONS)
    }
}

/// In the largest unit that leaves a whole number.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let whole = units.iter().rev().find(|(_, one)| value > 0 && value.is_multiple_of(*one));
    let (unit, one) = whole.or(units.first()).copied().unwrap_or(("", 1));
    write!(f, "{}{unit}", value / one)
}

fn read(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, one) = units.iter().find(|(name, _)| *name == unit)?;
    if digits > DIGITS {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(*one)
}

/// Both types are texts with a unit.
macro_rules! text_with_unit {
    ($type:ident, $units:ident, $format:literal, $example:literal) => {
        impl std::str::FromStr for $type {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                read(text, &$units).map($type).ok_or(())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a {} such as {:?}", $format, $example)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(|()| E::invalid_value(serde::de::Unexpected::Str(text), &self))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units = $units.map(|(name, _)| name).join("|");
                json_schema!({
                    "type": "string",
                    "format": $format,
                    "pattern": format!("^[0-9]{{1,{DIGITS}}}({units})$"),
                    "examples": [$example],
                })
            }
        }
    };
}

text_with_unit!(Size, SIZES, "size", "16MiB");
text_with_unit!(Duration, DURATIONS, "duration", "30s");

/// The formats of schemas that belong to types of this module, each with an example.
pub const FORMATS: [(&str, &str); 2] = [("size", "16MiB"), ("duration", "30s")];

/// A setting that `false` switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionalSetting<T>(pub Option<T>);

impl<T> OptionalSetting<T> {
    /// Switched off.
    pub const OFF: OptionalSetting<T> = OptionalSetting(None);

    /// Switched on with this value.
    pub const fn on(value: T) -> OptionalSetting<T> {
        OptionalSetting(Some(value))
    }

    /// The value, unless it is switched off.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T> Default for OptionalSetting<T> {
    fn default() -> Self {
        OptionalSetting::OFF
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for OptionalSetting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(false) => Ok(OptionalSetting::OFF),
            value => T::deserialize(value).map(OptionalSetting::on).map_err(D::Error::custom),
        }
    }
}

impl<T: Serialize> Serialize for OptionalSetting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_bool(false),
        }
    }
}

impl<T: JsonSchema> JsonSchema for OptionalSetting<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Optional{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"const": false}, generator.subschema_for::<T>()]})
    }
}
