//! Items of arrays that are not written as JSON, read back: which came is remembered as JSON.

use std::borrow::Cow;
use std::fmt::Write;

use crate::frontend::json_schema::notation::{NOT_IN_BARE_NAMES, Notation};
use crate::grammar::TOKEN_IN_TEXT;

impl Notation {
    /// The JSON text of a value that was written in this notation, whose special tokens are
    /// `tokens`. The text is one that the rules allow.
    pub(crate) fn json_of<'t>(&self, text: &'t [u8], tokens: &[String]) -> Cow<'t, str> {
        match self {
            Self::Json => String::from_utf8_lossy(text),
            Self::Python => json_of_python(&String::from_utf8_lossy(text)).into(),
            Self::Bare { quote, .. } => {
                let mark = marked(quote, tokens);
                json_of_bare(text, &[quote.as_bytes(), &mark]).into()
            }
        }
    }
}

/// A text as a state keeps it, where special tokens have no bytes.
fn marked(text: &str, tokens: &[String]) -> Vec<u8> {
    let mut tokens: Vec<&String> = tokens.iter().filter(|token| !token.is_empty()).collect();
    tokens.sort_by_key(|token| std::cmp::Reverse(token.len()));
    let (mut mark, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, more)) = rest.split_first() {
        let token = tokens.iter().find(|token| rest.starts_with(token.as_bytes()));
        mark.push(token.map_or(byte, |_| TOKEN_IN_TEXT));
        rest = token.map_or(more, |token| &rest[token.len()..]);
    }
    mark
}

fn json_of_python(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut word = String::new();
    loop {
        let next = chars.next();
        if let Some(c) = next.filter(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-')) {
            word.push(c);
            continue;
        }
        json.push_str(match word.as_str() {
            "None" => "null",
            "True" => "true",
            "False" => "false",
            number => number,
        });
        word.clear();
        match next {
            None => return json,
            Some(quote @ ('\'' | '"')) => push_string(&mut json, &python_string(&mut chars, quote)),
            Some(c) => json.push(c),
        }
    }
}

/// A string behind its first quote, and up to its last one.
fn python_string(chars: &mut std::str::Chars<'_>, quote: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next().filter(|&c| c != quote) {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let kind = chars.next().unwrap_or_default();
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                text.push(match kind {
                    'a' => '\x07',
                    'b' => '\x08',
                    'f' => '\x0C',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\x0B',
                    other => other,
                });
                continue;
            }
        };
        let code = chars.by_ref().take(digits).fold(0, |code, digit| {
            16_u32.wrapping_mul(code).wrapping_add(digit.to_digit(16).unwrap_or_default())
        });
        text.extend(char::from_u32(code));
    }
    text
}

/// Names and values between signs; strings between marks, each of which is a quote.
fn json_of_bare(text: &[u8], quotes: &[&[u8]]) -> String {
    let mut json = String::with_capacity(text.len() + 16);
    let quote_at = |at: usize| {
        let found = quotes.iter().filter(|quote| text[at..].starts_with(quote));
        found.map(|quote| quote.len()).max().filter(|&len| len > 0)
    };
    let is_sign = |byte: u8| NOT_IN_BARE_NAMES.as_bytes().contains(&byte);
    let mut at = 0;
    while at < text.len() {
        let begin = at;
        if let Some(len) = quote_at(at) {
            at += len;
            let end = (at..text.len()).find(|&it| quote_at(it).is_some()).unwrap_or(text.len());
            push_string(&mut json, &String::from_utf8_lossy(&text[at..end]));
            at = end + quote_at(end.min(text.len() - 1)).unwrap_or_default();
        } else if is_sign(text[at]) {
            json.push(char::from(text[at]));
            at += 1;
        } else {
            while at < text.len() && !is_sign(text[at]) && quote_at(at).is_none() {
                at += 1;
            }
            let word = String::from_utf8_lossy(&text[begin..at]);
            match text.get(at) {
                Some(b':') => push_string(&mut json, word.trim()),
                _ => json.push_str(&word),
            }
        }
    }
    json
}

fn push_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            // Writing to a string cannot fail.
            '\0'..='\x1F' => drop(write!(json, "\\u{:04x}", u32::from(c))),
            _ => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::Notation;

    /// The only place in this module's tests that calls the API.
    #[track_caller]
    fn check(notation: &Notation, tokens: &[&str], text: &[u8], json: &str) {
        let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        assert_eq!(notation.json_of(text, &tokens), json);
    }

    #[test]
    fn values_of_python_become_json() {
        let json = r#"["a'\"\u000a", null, true, -1.5e+3, {"False": false}, "é\u0007"]"#;
        let text = r#"['a\'"\n', None, True, -1.5e+3, {"False": False}, '\xe9\a']"#;
        check(&Notation::Python, &[], text.as_bytes(), json);
        check(&Notation::Python, &[], br#""\u00e9\U0001F600'""#, "\"é😀'\"");
    }

    #[test]
    fn bare_values_become_json() {
        let notation = Notation::Bare { quote: "<|\"|>".to_owned(), excludes: Vec::new() };
        let json = r#"{"of it":[ 1 ,"a:{","",null] ,"b":{}}"#;
        let text = "{of it:[ 1 ,<|\"|>a:{<|\"|>,<|\"|><|\"|>,null] ,b : {}}";
        check(&notation, &[], text.as_bytes(), &json.replace(":{}}", ": {}}"));
        check(&notation, &["<|\"|>"], b"[\xFFa,\xFF,\xFF\xFF]", r#"["a,",""]"#);
        check(&notation, &["<|"], b"\xFF\"|>a\xFF\"|>", "\"a\"");
    }
}
