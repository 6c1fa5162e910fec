//! The inside of JSON strings (RFC 8259 section 7): how the bytes of an escape become a character,
//! and how a character is spelled where there is one spelling.

use smallvec::SmallVec;

use crate::grammar::expr::Progress;

/// What follows the backslash of a short escape, and the character.
pub(crate) const SHORT_ESCAPES: [(u8, char); 8] = [
    (b'"', '"'),
    (b'\\', '\\'),
    (b'/', '/'),
    (b'b', '\u{8}'),
    (b'f', '\u{C}'),
    (b'n', '\n'),
    (b'r', '\r'),
    (b't', '\t'),
];

/// The bytes of one character.
pub(crate) type Spelled = SmallVec<[u8; 12]>;

/// What a byte of an escape leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escaped {
    /// The escape goes on.
    Inside(Progress),
    /// It has ended.
    Char(char),
    /// No escape goes on so.
    Wrong,
}

/// After one more byte of an escape.
pub(crate) fn after_byte(progress: Progress, byte: u8) -> Escaped {
    let digit = || char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
    match progress {
        Progress::Escape if byte == b'u' => Escaped::Inside(Progress::Hex { digits: 0, value: 0 }),
        Progress::Escape => {
            let short = SHORT_ESCAPES.iter().find(|(escape, _)| *escape == byte);
            short.map_or(Escaped::Wrong, |&(_, c)| Escaped::Char(c))
        }
        Progress::Hex { digits, value } => {
            let Some(digit) = digit() else { return Escaped::Wrong };
            let (digits, value) = (digits + 1, value << 4 | digit);
            match value {
                _ if digits < 4 => Escaped::Inside(Progress::Hex { digits, value }),
                0xD800..=0xDBFF => Escaped::Inside(Progress::LowBackslash { high: value - 0xD800 }),
                _ => char::from_u32(value.into()).map_or(Escaped::Wrong, Escaped::Char),
            }
        }
        Progress::LowBackslash { high } if byte == b'\\' => {
            Escaped::Inside(Progress::LowU { high })
        }
        Progress::LowU { high } if byte == b'u' => {
            Escaped::Inside(Progress::LowHex { high, digits: 0, value: 0 })
        }
        Progress::LowHex { high, digits, value } => {
            let Some(digit) = digit() else { return Escaped::Wrong };
            let (digits, value) = (digits + 1, value << 4 | digit);
            if digits < 4 {
                return Escaped::Inside(Progress::LowHex { high, digits, value });
            }
            let low = u32::from(value).checked_sub(0xDC00).filter(|&low| low < 0x400);
            let code = low.map(|low| 0x1_0000 + (u32::from(high) << 10) + low);
            code.and_then(char::from_u32).map_or(Escaped::Wrong, Escaped::Char)
        }
        Progress::LowBackslash { .. }
        | Progress::LowU { .. }
        | Progress::Utf8 { .. }
        | Progress::Code { .. } => Escaped::Wrong,
    }
}

/// The ways to end an escape so that `c` comes out, in lower case; the short one first.
pub(crate) fn ends_with(progress: Progress, c: char) -> impl Iterator<Item = Spelled> {
    let short = (progress == Progress::Escape)
        .then(|| SHORT_ESCAPES.iter().find(|(_, of)| *of == c))
        .flatten()
        .map(|&(byte, _)| Spelled::from_slice(&[byte]));
    let long = long_escape(c);
    // What was read is a beginning of the long escape, or `c` does not come out.
    let mut at = Some(Progress::Escape);
    let mut read = 1;
    while at.is_some() && at != Some(progress) {
        at = match long.get(read).map(|&byte| after_byte(at.unwrap_or(progress), byte)) {
            Some(Escaped::Inside(next)) => Some(next),
            _ => None,
        };
        read += 1;
    }
    let long = at.map(|_| Spelled::from_slice(&long[read..]));
    short.into_iter().chain(long)
}

/// One character where there is one spelling: an escape, short if there is one, only where JSON
/// needs it.
pub(crate) fn canonical(c: char) -> Spelled {
    match short_escape(c) {
        Some(letter) => Spelled::from_slice(&[b'\\', letter]),
        None if c < ' ' => long_escape(c),
        None => Spelled::from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// The same in ASCII, as `json.dumps` writes it: what is not printable is escaped.
pub(crate) fn canonical_ascii(c: char) -> Spelled {
    if c < '\u{7F}' { canonical(c) } else { long_escape(c) }
}

/// Whole characters in any spelling, each in its canonical one, and whether an escape is not yet
/// complete. `None` if there is an escape that is none.
pub(crate) fn canonical_text(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut escape = None;
    for &byte in bytes {
        match escape {
            None if byte == b'\\' => escape = Some(Progress::Escape),
            None => text.push(byte),
            Some(progress) => match after_byte(progress, byte) {
                Escaped::Inside(next) => escape = Some(next),
                Escaped::Char(c) => {
                    escape = None;
                    text.extend_from_slice(&canonical(c));
                }
                Escaped::Wrong => return None,
            },
        }
    }
    Some((text, escape.is_some()))
}

/// The letter of the short escape that JSON needs.
fn short_escape(c: char) -> Option<u8> {
    SHORT_ESCAPES.iter().find(|&&(_, of)| of == c && c != '/').map(|&(letter, _)| letter)
}

fn long_escape(c: char) -> Spelled {
    let mut units = [0; 2];
    let mut spelled = Spelled::new();
    for unit in c.encode_utf16(&mut units) {
        spelled.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
    }
    spelled
}

#[cfg(test)]
mod tests {
    use crate::grammar::expr::Progress;
    use crate::grammar::json_text::{canonical, canonical_ascii, canonical_text, ends_with};

    #[test]
    fn every_spelling_of_a_text_has_one_canonical_one() {
        let text = r"\u0061\/\u00e9é\uD83D\uDE00\u000a\n\u0022";
        let (canonical, is_cut) = canonical_text(text.as_bytes()).expect("it is JSON");
        assert_eq!(String::from_utf8_lossy(&canonical), "a/éé😀\\n\\n\\\"");
        assert!(!is_cut);
        assert_eq!(canonical_text(b"a\\u00"), Some((b"a".to_vec(), true)));
        assert_eq!(canonical_text(b"\\uD83D\\u0041"), None);
        assert_eq!(canonical_text(b"\\x"), None);
    }

    #[test]
    fn one_character_has_one_canonical_spelling() {
        let spelled = |c| String::from_utf8_lossy(&canonical(c)).into_owned();
        assert_eq!(['a', '/', 'é', '"', '\u{1f}', '\u{7f}'].map(spelled).concat(), {
            "a/é\\\"\\u001f\u{7f}"
        });
        let spelled = |c| String::from_utf8_lossy(&canonical_ascii(c)).into_owned();
        assert_eq!(['a', 'é', '\n', '\u{7f}', '😀'].map(spelled).concat(), {
            "a\\u00e9\\n\\u007f\\ud83d\\ude00"
        });
    }

    #[test]
    fn an_escape_is_ended_for_a_character() {
        let ends = |progress, c| -> Vec<String> {
            ends_with(progress, c).map(|end| String::from_utf8_lossy(&end).into_owned()).collect()
        };
        assert_eq!(ends(Progress::Escape, '\n'), ["n", "u000a"]);
        assert_eq!(ends(Progress::Hex { digits: 2, value: 0 }, 'a'), ["61"]);
        assert_eq!(ends(Progress::Hex { digits: 2, value: 1 }, 'a'), [""; 0]);
        let high = 0xD83D - 0xD800;
        assert_eq!(ends(Progress::LowU { high }, '😀'), ["ude00"]);
        assert_eq!(ends(Progress::LowU { high: 0 }, '😀'), [""; 0]);
    }
}
