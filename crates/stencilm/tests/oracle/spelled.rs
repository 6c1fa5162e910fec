//! How characters are spelled in bytes: each spelling as a sequence of sets of bytes.

use regex_syntax::utf8::Utf8Sequences;
use stencilm::grammar::Spelling;

/// One byte out of these inclusive ranges.
pub(crate) type Step = Vec<(u8, u8)>;

/// The characters that JSON escapes with one letter.
const SHORT: [(char, u8); 8] = [
    ('"', b'"'),
    ('\\', b'\\'),
    ('/', b'/'),
    ('\u{8}', b'b'),
    ('\u{C}', b'f'),
    ('\n', b'n'),
    ('\r', b'r'),
    ('\t', b't'),
];

/// The characters that Python escapes with one letter.
const PYTHON: [(char, u8); 10] = [
    ('"', b'"'),
    ('\'', b'\''),
    ('\\', b'\\'),
    ('\u{7}', b'a'),
    ('\u{8}', b'b'),
    ('\u{C}', b'f'),
    ('\n', b'n'),
    ('\r', b'r'),
    ('\t', b't'),
    ('\u{B}', b'v'),
];

/// Every way to spell one character of `ranges`.
pub(crate) fn sequences(ranges: &[(char, char)], spelling: Spelling) -> Vec<Vec<Step>> {
    let parts = |low, high| clipped(ranges, low, high);
    match spelling {
        Spelling::Text => utf8(&parts(0, 0x10_FFFF)),
        Spelling::Json => {
            let mut found = raw(ranges, '"');
            for (c, letter) in SHORT {
                if is_in(ranges, c) {
                    found.push(literal(&[b'\\', letter]));
                }
            }
            for (low, high) in [parts(0, 0xD7FF), parts(0xE000, 0xFFFF)].concat() {
                found.extend(hex(low, high, 4).into_iter().map(|digits| unicode_escape(&digits)));
            }
            for (low, high) in parts(0x1_0000, 0x10_FFFF) {
                found.extend(surrogate_pairs(low, high));
            }
            found
        }
        Spelling::JsonAscii => {
            let mut found = sequences(ranges, Spelling::Json);
            found.retain(|steps| steps[0][0].0.is_ascii());
            found
        }
        Spelling::JsonAsciiCanonical => {
            let mut found = sequences(&below(ranges, '~'), Spelling::JsonCanonical);
            let beyond = parts(0x7F, 0x10_FFFF);
            let beyond = beyond.iter().map(|&(low, high)| (scalar(low), scalar(high)));
            let escaped = sequences(&beyond.collect::<Vec<_>>(), Spelling::JsonAscii);
            let escaped = escaped.into_iter().filter(|steps| steps[0][0].0 == b'\\');
            found.extend(escaped.map(lower));
            found
        }
        Spelling::SingleQuoted => python(ranges, '\''),
        Spelling::DoubleQuoted => python(ranges, '"'),
        Spelling::JsonCanonical => {
            let mut found = raw(ranges, '"');
            let escaped = ('\0'..'\u{20}').chain(['"', '\\']).filter(|&c| is_in(ranges, c));
            for c in escaped {
                let short = SHORT.iter().find(|&&(of, _)| of == c);
                found.push(match short {
                    Some(&(_, letter)) => literal(&[b'\\', letter]),
                    None => literal(format!("\\u{:04x}", u32::from(c)).as_bytes()),
                });
            }
            found
        }
    }
}

/// The characters up to `most`.
fn below(ranges: &[(char, char)], most: char) -> Vec<(char, char)> {
    ranges.iter().map(|&(a, b)| (a, b.min(most))).filter(|(a, b)| a <= b).collect()
}

fn scalar(code: u32) -> char {
    char::from_u32(code).expect("ranges end with scalar values")
}

/// The same without digits in upper case.
fn lower(mut steps: Vec<Step>) -> Vec<Step> {
    for step in &mut steps {
        step.retain(|(low, _)| !low.is_ascii_uppercase());
    }
    steps
}

/// Every way to spell a character in a Python string between these quotes.
fn python(ranges: &[(char, char)], quote: char) -> Vec<Vec<Step>> {
    let mut found = raw(ranges, quote);
    for (c, letter) in PYTHON {
        if is_in(ranges, c) {
            found.push(literal(&[b'\\', letter]));
        }
    }
    for (letter, digits, most) in [(b'x', 2, 0xFF), (b'u', 4, 0xFFFF), (b'U', 8, 0x10_FFFF)] {
        for (low, high) in [(0, 0xD7FF.min(most)), (0xE000, most)] {
            for (low, high) in clipped(ranges, low, high) {
                let codes = hex(low, high, digits).into_iter();
                found.extend(codes.map(|code| [&literal(&[b'\\', letter])[..], &code].concat()));
            }
        }
    }
    found
}

/// The characters that need no escape between these quotes, in UTF-8.
fn raw(ranges: &[(char, char)], quote: char) -> Vec<Vec<Step>> {
    let quote = u32::from(quote);
    [(0x20, quote - 1), (quote + 1, 0x5B), (0x5D, 0x10_FFFF)]
        .iter()
        .flat_map(|&(low, high)| utf8(&clipped(ranges, low, high)))
        .collect()
}

fn utf8(ranges: &[(u32, u32)]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for &(low, high) in ranges {
        for piece in [(low, high.min(0xD7FF)), (low.max(0xE000), high)] {
            if let (Some(low), Some(high)) = (char::from_u32(piece.0), char::from_u32(piece.1))
                && low <= high
            {
                for sequence in Utf8Sequences::new(low, high) {
                    let steps = sequence.as_slice().iter();
                    found.push(steps.map(|step| vec![(step.start, step.end)]).collect());
                }
            }
        }
    }
    found
}

/// Every pair of `\u` escapes for the code points `low..=high`, all beyond U+FFFF.
fn surrogate_pairs(low: u32, high: u32) -> Vec<Vec<Step>> {
    let (low, high) = (low - 0x1_0000, high - 0x1_0000);
    // For each high surrogate the low ones that may follow, then neighbours with the same ones.
    let lows_of = |top: u32| {
        let first = if top == low >> 10 { low & 0x3FF } else { 0 };
        let last = if top == high >> 10 { high & 0x3FF } else { 0x3FF };
        (first, last)
    };
    let tops: Vec<u32> = (low >> 10..=high >> 10).collect();
    let mut found = Vec::new();
    for run in tops.chunk_by(|&a, &b| lows_of(a) == lows_of(b)) {
        let lows = lows_of(run[0]);
        for first in hex(0xD800 + run[0], 0xD800 + run[run.len() - 1], 4) {
            for second in hex(0xDC00 + lows.0, 0xDC00 + lows.1, 4) {
                found.push([unicode_escape(&first), unicode_escape(&second)].concat());
            }
        }
    }
    found
}

fn unicode_escape(digits: &[Step]) -> Vec<Step> {
    [&literal(b"\\u")[..], digits].concat()
}

/// The numbers `low..=high` in `digits` hexadecimal digits of either case.
fn hex(low: u32, high: u32, digits: u32) -> Vec<Vec<Step>> {
    if digits == 0 {
        return vec![Vec::new()];
    }
    if low == 0 && u64::from(high) == 16_u64.pow(digits) - 1 {
        return vec![vec![vec![(b'0', b'9'), (b'a', b'f'), (b'A', b'F')]; digits as usize]];
    }
    let unit = 16_u32.pow(digits - 1);
    let mut found = Vec::new();
    for digit in low / unit..=high / unit {
        let from = low.max(digit * unit) - digit * unit;
        let to = high.min(digit * unit + unit - 1) - digit * unit;
        let lower = format!("{digit:x}").into_bytes()[0];
        let upper = lower.to_ascii_uppercase();
        for rest in hex(from, to, digits - 1) {
            found.push([vec![vec![(lower, lower), (upper, upper)]], rest].concat());
        }
    }
    found
}

fn literal(bytes: &[u8]) -> Vec<Step> {
    bytes.iter().map(|&byte| vec![(byte, byte)]).collect()
}

fn clipped(ranges: &[(char, char)], low: u32, high: u32) -> Vec<(u32, u32)> {
    let clip = |&(a, b): &(char, char)| (u32::from(a).max(low), u32::from(b).min(high));
    ranges.iter().map(clip).filter(|(a, b)| a <= b).collect()
}

fn is_in(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|&(low, high)| low <= c && c <= high)
}
