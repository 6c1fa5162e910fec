//! The kinds of expressions: what a grammar is made of, and what remains of it after a byte.

/// An expression of one [`Exprs`](crate::grammar::Exprs). Equal expressions have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub(crate) u32);

/// A named rule of one grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u32);

/// A special token that a grammar names; the vocabulary says later which id it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenName(pub(crate) u32);

/// An interned string of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LiteralId(pub(crate) u32);

/// An interned, sorted list of different strings of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LiteralsId(pub(crate) u32);

/// An interned set of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSetId(pub(crate) u32);

/// An interned set of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub(crate) u32);

/// An interned set of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumberSetId(pub(crate) u32);

/// What an interned text says of a number before it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumberStateId(pub(crate) u32);

/// A run of expression ids in the arena's pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// How the characters of a text are spelled in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spelling {
    /// UTF-8.
    Text,
    /// The inside of a JSON string, every legal spelling: raw UTF-8, short escapes, `\uXXXX` and
    /// surrogate pairs (RFC 8259 section 7).
    Json,
    /// The inside of a JSON string, one spelling a character: raw UTF-8, and an escape (short
    /// where there is one, else `\u00xx` in lower case) only where JSON needs it.
    JsonCanonical,
    /// The inside of a JSON string, every legal spelling made of ASCII.
    JsonAscii,
    /// The inside of a JSON string, one spelling a character, made of ASCII: as
    /// [`Spelling::JsonCanonical`], but all from U+007F on is escaped as well.
    JsonAsciiCanonical,
    /// The inside of a Python string in single quotes: raw UTF-8 but for control characters, short
    /// escapes, `\xXX`, `\uXXXX` and `\UXXXXXXXX`.
    SingleQuoted,
    /// The inside of a Python string in double quotes, spelled so too.
    DoubleQuoted,
}

impl Spelling {
    /// Whether a character may have several spellings.
    #[must_use]
    pub fn is_free(self) -> bool {
        matches!(self, Self::Json | Self::JsonAscii) || self.is_python()
    }

    /// Whether nothing but ASCII is written.
    #[must_use]
    pub fn is_ascii(self) -> bool {
        matches!(self, Self::JsonAscii | Self::JsonAsciiCanonical)
    }

    /// Whether escapes are those of Python.
    #[must_use]
    pub fn is_python(self) -> bool {
        matches!(self, Self::SingleQuoted | Self::DoubleQuoted)
    }
}

/// Where a byte stream stands inside the spelling of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// `left` continuation bytes of UTF-8 are missing; the code point so far is `bits`.
    Utf8 {
        /// Bytes still to come, 1 to 3.
        left: u8,
        /// The code point's leading bits.
        bits: u32,
    },
    /// After the backslash.
    Escape,
    /// After `\u` and `digits` hexadecimal digits (0 to 3) with this value.
    Hex {
        /// Digits read.
        digits: u8,
        /// Their value.
        value: u16,
    },
    /// After a high surrogate: its ten payload bits. The backslash must follow.
    LowBackslash {
        /// The ten bits.
        high: u16,
    },
    /// After a high surrogate and the backslash: the `u` must follow.
    LowU {
        /// The ten bits.
        high: u16,
    },
    /// After a high surrogate, `\u` and `digits` digits.
    LowHex {
        /// The ten bits.
        high: u16,
        /// Digits read.
        digits: u8,
        /// Their value.
        value: u16,
    },
    /// In a Python string after `\x`, `\u` or `\U`: `left` hexadecimal digits are missing.
    Code {
        /// Digits still to come, 1 to 8.
        left: u8,
        /// The value of those read.
        value: u32,
    },
}

/// Repetition without an upper bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// One expression. Made only by the constructors of [`Exprs`](crate::grammar::Exprs), which keep
/// the normal forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// No text at all.
    Nothing,
    /// The empty text.
    Empty,
    /// A literal from byte `from` on; at least one byte is left.
    Bytes {
        /// The whole literal.
        literal: LiteralId,
        /// Bytes already read.
        from: u32,
    },
    /// Any of a run of a sorted list of literals, each from byte `depth` on. They agree on the
    /// bytes before; the run has two at least. In a free spelling they are texts, of which
    /// `depth` bytes were spelled.
    OneOf {
        /// The list.
        literals: LiteralsId,
        /// First of the run.
        low: u32,
        /// One past the last of the run.
        high: u32,
        /// Bytes already read.
        depth: u32,
        /// How they are spelled: [`Spelling::Text`] for bytes as they are, or one of the free ones.
        spelling: Spelling,
    },
    /// One byte of a set, which is not empty.
    Bytes1(ByteSetId),
    /// One character of a class, spelled.
    Chars {
        /// The class, not empty.
        class: ClassId,
        /// How it is spelled.
        spelling: Spelling,
    },
    /// The rest of the spelling of one character of a class.
    Partial {
        /// The characters that can still come out, not empty.
        class: ClassId,
        /// How it is spelled.
        spelling: Spelling,
        /// Where in the spelling.
        progress: Progress,
    },
    /// The rest of a number of a set; there is one.
    Number {
        /// The set, and how its numbers may be spelled.
        set: NumberSetId,
        /// What was read of it.
        state: NumberStateId,
    },
    /// One special token.
    Token(TokenName),
    /// One after the other. The first is never a sequence.
    Seq(ExprId, ExprId),
    /// Any of these: sorted, different, none a choice, two at least.
    Choice(List),
    /// Between `min` and `max` times; not once, not zero times.
    Repeat {
        /// What is repeated: neither `Nothing` nor `Empty`.
        body: ExprId,
        /// At least so often; 0 where the body may be empty.
        min: u32,
        /// At most so often; [`UNBOUNDED`] for no bound.
        max: u32,
    },
    /// All of these at once: sorted, different, none an `And`, two at least.
    And(List),
    /// Any bytes but these. No front end makes it outside an `And`.
    Not(ExprId),
    /// A rule.
    Call(RuleId),
    /// A member name of an object: the declared names of `state` in the run `low..high` of its
    /// sorted names from byte `depth` on, each followed by what comes after it; with `other`,
    /// every other name too.
    Names {
        /// What the grammar's [`Rules`](crate::grammar::Rules) call the state of the object.
        state: u32,
        /// First of the run.
        low: u32,
        /// One past the last of the run.
        high: u32,
        /// Bytes already read.
        depth: u32,
        /// Whether names outside the list may come, too.
        other: bool,
    },
    /// The rest of a member name that its object does not list, and its closing quote. The name is
    /// remembered: none comes twice in one object.
    OtherName(ExprId),
}
