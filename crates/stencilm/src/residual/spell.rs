//! How one character of a class goes out byte by byte: UTF-8 (RFC 3629), the inside of JSON strings
//! (RFC 8259 section 7), and of Python's.

use crate::grammar::{ByteSet, CharSet, Expr, ExprId, Exprs, Progress, SHORT_ESCAPES, Spelling};

/// What follows the backslash of a short escape in Python, and the character.
const PYTHON_ESCAPES: [(u8, char); 10] = [
    (b'"', '"'),
    (b'\'', '\''),
    (b'\\', '\\'),
    (b'a', '\u{7}'),
    (b'b', '\u{8}'),
    (b'f', '\u{C}'),
    (b'n', '\n'),
    (b'r', '\r'),
    (b't', '\t'),
    (b'v', '\u{B}'),
];

/// What needs an escape between these quotes.
fn needs_escape(quote: char) -> CharSet {
    CharSet::new([('\0', '\u{1F}'), (quote, quote), ('\\', '\\')])
}

/// What remains of one character of `set` after the first `byte` of its spelling.
pub(crate) fn first_byte(exprs: &mut Exprs, set: &CharSet, spelling: Spelling, byte: u8) -> ExprId {
    match byte {
        b'\\' if spelling != Spelling::Text => {
            let escaped = escapable(set, spelling);
            exprs.partial(&escaped, spelling, Progress::Escape)
        }
        0..0x80 => {
            let c = char::from(byte);
            let is_here = set.contains(c) && stands_raw(c, spelling);
            if is_here { exprs.empty() } else { exprs.nothing() }
        }
        0x80.. if spelling.is_ascii() => exprs.nothing(),
        0xC2..=0xDF => utf8(exprs, set, spelling, 1, u32::from(byte & 0x1F)),
        0xE0..=0xEF => utf8(exprs, set, spelling, 2, u32::from(byte & 0x0F)),
        0xF0..=0xF4 => utf8(exprs, set, spelling, 3, u32::from(byte & 0x07)),
        _ => exprs.nothing(),
    }
}

/// First bytes of characters that leave the same of a class which has all that begin with one of them, or
/// none, and these characters.
const LEADS: [(u8, u8, u32, u32); 4] = [
    (0xC2, 0xDF, 0x80, 0x7FF),
    (0xE1, 0xEC, 0x1000, 0xCFFF),
    (0xEE, 0xEF, 0xE000, 0xFFFF),
    (0xF1, 0xF3, 0x4_0000, 0xF_FFFF),
];

/// The bytes after the first that leave the same as the one before, at the beginning of a character of
/// `set`.
pub(crate) fn leads_alike(set: &CharSet) -> ByteSet {
    let is_alike =
        |&(_, _, low, high): &(u8, u8, u32, u32)| set.covers(low, high) || !set.meets(low, high);
    let alike = LEADS.iter().filter(|lead| is_alike(lead));
    alike.flat_map(|&(first, last, ..)| first + 1..=last).collect()
}

/// What remains after one more `byte`.
pub(crate) fn next_byte(
    exprs: &mut Exprs,
    set: &CharSet,
    spelling: Spelling,
    progress: Progress,
    byte: u8,
) -> ExprId {
    let nothing = exprs.nothing();
    match progress {
        Progress::Utf8 { left, bits } => {
            if byte & 0xC0 != 0x80 {
                return nothing;
            }
            utf8(exprs, set, spelling, left - 1, bits << 6 | u32::from(byte & 0x3F))
        }
        Progress::Escape if spelling.is_python() => {
            if let Some(digits) = code_digits(byte) {
                return code(exprs, set, spelling, digits, 0);
            }
            let short = PYTHON_ESCAPES.iter().find(|(escape, _)| *escape == byte);
            if short.is_some_and(|&(_, c)| set.contains(c)) { exprs.empty() } else { nothing }
        }
        Progress::Code { left, value } => match hex_digit(byte, spelling) {
            Some(digit) => code(exprs, set, spelling, left - 1, value << 4 | u32::from(digit)),
            None => nothing,
        },
        Progress::Escape => {
            if byte == b'u' {
                let set = if spelling.is_free() { set.clone() } else { long_escaped(set) };
                return hex(exprs, &set, spelling, 0, 0);
            }
            let short = SHORT_ESCAPES.iter().find(|(escape, _)| *escape == byte);
            let is_here =
                short.is_some_and(|&(_, c)| set.contains(c) && (spelling.is_free() || c != '/'));
            if is_here { exprs.empty() } else { nothing }
        }
        Progress::Hex { digits, value } => match hex_digit(byte, spelling) {
            Some(digit) => hex(exprs, set, spelling, digits + 1, value << 4 | digit),
            None => nothing,
        },
        Progress::LowBackslash { high } => match byte {
            b'\\' => exprs.partial(set, spelling, Progress::LowU { high }),
            _ => nothing,
        },
        Progress::LowU { high } => match byte {
            b'u' => low_hex(exprs, set, spelling, high, 0, 0),
            _ => nothing,
        },
        Progress::LowHex { high, digits, value } => match hex_digit(byte, spelling) {
            Some(digit) => low_hex(exprs, set, spelling, high, digits + 1, value << 4 | digit),
            None => nothing,
        },
    }
}

/// Whether `c` may stand for itself.
pub(crate) fn stands_raw(c: char, spelling: Spelling) -> bool {
    let most = match spelling {
        Spelling::Text => return true,
        Spelling::JsonAscii => '\u{7F}',
        Spelling::JsonAsciiCanonical => '~',
        _ => char::MAX,
    };
    c >= ' ' && c <= most && c != quote(spelling) && c != '\\'
}

/// What ends a string in this spelling.
fn quote(spelling: Spelling) -> char {
    if spelling == Spelling::SingleQuoted { '\'' } else { '"' }
}

/// The characters of `set` that may stand for themselves.
pub(crate) fn raw_part(set: &CharSet, spelling: Spelling) -> CharSet {
    let set = match spelling {
        Spelling::Text => return set.clone(),
        Spelling::JsonAscii => &set.clamp(0, 0x7F),
        Spelling::JsonAsciiCanonical => &set.clamp(0, 0x7E),
        _ => set,
    };
    set.difference(&needs_escape(quote(spelling)))
}

/// The characters of `set` that a backslash can begin.
fn escapable(set: &CharSet, spelling: Spelling) -> CharSet {
    match spelling {
        Spelling::Text => CharSet::new([]),
        Spelling::JsonCanonical | Spelling::JsonAsciiCanonical => {
            set.difference(&raw_part(set, spelling))
        }
        _ => set.clone(),
    }
}

/// The characters out of `set`, whose canonical spelling is an escape, that have no short one.
fn long_escaped(set: &CharSet) -> CharSet {
    set.difference(&CharSet::of(SHORT_ESCAPES.map(|(_, c)| c)))
}

fn hex_digit(byte: u8, spelling: Spelling) -> Option<u16> {
    let digit = char::from(byte).to_digit(16)?;
    let is_upper = byte.is_ascii_uppercase();
    (spelling.is_free() || !is_upper)
        .then(|| u16::try_from(digit).expect("a hexadecimal digit is below 16"))
}

/// After `left` bytes are missing with these leading bits: only characters that the bytes still
/// reach are kept, so that classes which differ elsewhere give the same expression.
fn utf8(exprs: &mut Exprs, set: &CharSet, spelling: Spelling, left: u8, bits: u32) -> ExprId {
    let shift = u32::from(left) * 6;
    let (low, high) = (bits << shift, (bits << shift) | ((1 << shift) - 1));
    if left == 0 {
        let c = char::from_u32(bits);
        let is_here = c.is_some_and(|c| set.contains(c));
        return if is_here { exprs.empty() } else { exprs.nothing() };
    }
    // The shortest form is the only legal one (RFC 3629 section 3).
    let shortest = match (left, bits) {
        (1, 0..0x20) => 0x80,
        (2, 0..0x10) => 0x800,
        (3, _) => 0x1_0000,
        _ => 0,
    };
    if !set.meets(low.max(shortest), high) {
        return exprs.nothing();
    }
    let is_scalar = high <= 0x10_FFFF && !(low <= 0xDFFF && high >= 0xD800);
    if is_scalar && low >= shortest && set.covers(low, high) {
        let continuation = exprs.byte_set(&ByteSet::range(0x80, 0xBF));
        return exprs.repeat(continuation, left.into(), left.into());
    }
    let reached = set.clamp(low.max(shortest), high);
    exprs.partial(&reached, spelling, Progress::Utf8 { left, bits })
}

/// The digits of a long escape of Python.
fn code_digits(byte: u8) -> Option<u8> {
    match byte {
        b'x' => Some(2),
        b'u' => Some(4),
        b'U' => Some(8),
        _ => None,
    }
}

/// In a long escape of Python, of which `left` digits are missing.
fn code(exprs: &mut Exprs, set: &CharSet, spelling: Spelling, left: u8, value: u32) -> ExprId {
    if left == 0 {
        let is_here = char::from_u32(value).is_some_and(|c| set.contains(c));
        return if is_here { exprs.empty() } else { exprs.nothing() };
    }
    let (low, high) = codes(left, value);
    exprs.partial(&set.clamp(low, high), spelling, Progress::Code { left, value })
}

/// The code points that begin with `value`, of which `left` digits are missing.
fn codes(left: u8, value: u32) -> (u32, u32) {
    let shift = u32::from(left) * 4;
    let rest = 1_u32.checked_shl(shift).map_or(u32::MAX, |end| end - 1);
    (value.checked_shl(shift).unwrap_or(0), value.checked_shl(shift).unwrap_or(0) | rest)
}

/// After `\u` and `digits` digits.
fn hex(exprs: &mut Exprs, set: &CharSet, spelling: Spelling, digits: u8, value: u16) -> ExprId {
    let shift = u32::from(4 - digits) * 4;
    let (low, high) = (u32::from(value) << shift, (u32::from(value) << shift) | ((1 << shift) - 1));
    if digits < 4 {
        let mut reached = set.clamp(low, high);
        if low <= 0xDBFF && high >= 0xD800 {
            // A high surrogate begins a pair: 1,024 characters beyond the first plane each.
            let first = low.max(0xD800) - 0xD800;
            let last = high.min(0xDBFF) - 0xD800;
            let pairs = set.clamp(0x1_0000 + (first << 10), 0x1_0000 + (last << 10) + 0x3FF);
            reached = reached.union(&pairs);
        }
        return exprs.partial(&reached, spelling, Progress::Hex { digits, value });
    }
    if (0xD800..=0xDBFF).contains(&value) {
        let high = value - 0xD800;
        let low = 0x1_0000 + (u32::from(high) << 10);
        let reached = set.clamp(low, low + 0x3FF);
        return exprs.partial(&reached, spelling, Progress::LowBackslash { high });
    }
    let is_here = char::from_u32(u32::from(value)).is_some_and(|c| set.contains(c));
    if is_here { exprs.empty() } else { exprs.nothing() }
}

/// After a high surrogate, `\u` and `digits` digits of the low one.
fn low_hex(
    exprs: &mut Exprs,
    set: &CharSet,
    spelling: Spelling,
    high: u16,
    digits: u8,
    value: u16,
) -> ExprId {
    let shift = u32::from(4 - digits) * 4;
    let first = (u32::from(value) << shift).max(0xDC00);
    let last = ((u32::from(value) << shift) | ((1 << shift) - 1)).min(0xDFFF);
    if first > last {
        return exprs.nothing();
    }
    let base = 0x1_0000 + (u32::from(high) << 10);
    let reached = set.clamp(base + (first - 0xDC00), base + (last - 0xDC00));
    if reached.is_empty() {
        return exprs.nothing();
    }
    if digits == 4 {
        return exprs.empty();
    }
    exprs.partial(&reached, spelling, Progress::LowHex { high, digits, value })
}

/// An expression that the same bytes complete, for the rest of an escape: if every character that
/// it can still reach is in the class, which of them it is makes no difference.
pub(crate) fn alike(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let Expr::Partial { class, spelling, progress } = exprs.get(id) else {
        return id;
    };
    let class = exprs.class(class).clone();
    let pairs_of = |first: u32, last: u32| (0x1_0000 + (first << 10), 0x1_03FF + (last << 10));
    let (first, last, alike) = match progress {
        Progress::Hex { digits, value } if digits > 0 => {
            let shift = u32::from(4 - digits) * 4;
            let low = u32::from(value) << shift;
            let high = low | ((1 << shift) - 1);
            if high < 0xD800 || low > 0xDFFF {
                (low, high, Progress::Hex { digits, value: 0 })
            } else if low >= 0xD800 && high <= 0xDBFF {
                let (first, last) = pairs_of(low - 0xD800, high - 0xD800);
                let value = 0xD800_u16 >> shift;
                (first, last, Progress::Hex { digits, value })
            } else {
                return id;
            }
        }
        Progress::LowBackslash { high } => {
            let (first, last) = pairs_of(high.into(), high.into());
            (first, last, Progress::LowBackslash { high: 0 })
        }
        Progress::LowU { high } => {
            let (first, last) = pairs_of(high.into(), high.into());
            (first, last, Progress::LowU { high: 0 })
        }
        Progress::LowHex { high, digits, value } => {
            let (first, last) = pairs_of(high.into(), high.into());
            (first, last, Progress::LowHex { high: 0, digits, value })
        }
        Progress::Code { left, value } if left < 4 => {
            let (low, high) = codes(left, value);
            if low <= 0xDFFF && high >= 0xD800 {
                return id;
            }
            (low, high, Progress::Code { left, value: 0 })
        }
        Progress::Hex { .. } | Progress::Utf8 { .. } | Progress::Escape | Progress::Code { .. } => {
            return id;
        }
    };
    let reach = |progress| match progress {
        // Only what the digits so far leave is in the class.
        Progress::LowHex { high, digits, value } => {
            let shift = u32::from(4 - digits) * 4;
            let from = (u32::from(value) << shift).max(0xDC00) - 0xDC00;
            let to = ((u32::from(value) << shift) | ((1 << shift) - 1)).min(0xDFFF) - 0xDC00;
            let base = 0x1_0000 + (u32::from(high) << 10);
            (base + from, base + to)
        }
        _ => (first, last),
    };
    let (first, last) = reach(progress);
    if !class.covers(first, last) {
        return id;
    }
    exprs.partial(&CharSet::any(), spelling, alike)
}

/// The class, spelling and progress of an expression that is one character or the rest of one.
pub(crate) fn character(
    exprs: &Exprs,
    id: ExprId,
) -> Option<(std::sync::Arc<CharSet>, Spelling, Option<Progress>)> {
    match exprs.get(id) {
        Expr::Chars { class, spelling } => Some((exprs.class(class).clone(), spelling, None)),
        Expr::Partial { class, spelling, progress } => {
            Some((exprs.class(class).clone(), spelling, Some(progress)))
        }
        _ => None,
    }
}
