//! Enums whose values have names.

/// An enum whose values are written with their names: `ALL` of them, the name of one, and the one of a name.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $seen:vis enum $kind:ident {
        $($(#[$note:meta])* $value:ident = $name:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $seen enum $kind {
            $($(#[$note])* $value,)+
        }

        #[allow(dead_code, reason = "not every enum is read by its names")]
        impl $kind {
            /// Every value, in the order of their definition.
            pub const ALL: [$kind; [$($name),+].len()] = [$($kind::$value),+];

            /// The name of the value.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($kind::$value => $name,)+
                }
            }

            /// The value of this name.
            pub fn parse(name: &str) -> Option<$kind> {
                $kind::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }
    };
}
