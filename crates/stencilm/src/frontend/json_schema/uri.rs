//! URI references (RFC 3986): as much of them as references between schemas need.

use std::borrow::Cow;

/// The URI that `reference` names from `base` (section 5.2).
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if scheme(reference).is_some() || base.is_empty() {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or("");
    if reference.is_empty() || reference.starts_with('#') {
        return format!("{base}{reference}");
    }
    let authority = scheme(base).map_or(0, |scheme| {
        let rest = &base[scheme.len() + 1..];
        let name =
            rest.strip_prefix("//").map_or(0, |name| 2 + name.find('/').unwrap_or(name.len()));
        scheme.len() + 1 + name
    });
    if reference.starts_with("//") {
        let scheme = scheme(base).map_or(String::new(), |scheme| format!("{scheme}:"));
        return format!("{scheme}{reference}");
    }
    let (head, path) = base.split_at(authority);
    let path = path.split('?').next().unwrap_or("");
    let end = reference.find(['?', '#']).unwrap_or(reference.len());
    let (target, tail) = reference.split_at(end);
    let joined = if target.starts_with('/') {
        target.to_owned()
    } else if target.is_empty() {
        path.to_owned()
    } else {
        match path.rfind('/') {
            Some(slash) => format!("{}{target}", &path[..=slash]),
            None if authority > 0 && head.contains("//") => format!("/{target}"),
            None => target.to_owned(),
        }
    };
    format!("{head}{}{tail}", without_dots(&joined))
}

/// The text with `%XX` decoded; `None` if that is no UTF-8.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let byte = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let starts = scheme.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    (starts && scheme.bytes().all(is_legal)).then_some(scheme)
}

/// The path without its `.` and `..` steps (section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let steps: Vec<&str> = path.split('/').collect();
    for (place, &step) in steps.iter().enumerate() {
        let is_last = place + 1 == steps.len();
        match step {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                if kept.len() > 1 {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(step),
        }
    }
    kept.join("/")
}
