//! Flags of a group and of the whole pattern, and what they make unread: blanks and comments.

use crate::error::Error;
use crate::frontend::regex::parse::{Parser, unsupported};
use crate::frontend::regex::{Dialect, RegexOptions};

impl Dialect {
    /// What its users call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ecma => "ECMA-262",
            Self::Python => "Python",
        }
    }
}

impl RegexOptions {
    /// Turns the flag of a letter on or off; false if the dialect has no such flag.
    pub(crate) fn set(&mut self, letter: char, is_on: bool) -> bool {
        let is_python = self.dialect == Dialect::Python;
        match letter {
            'i' => self.ignore_case = is_on,
            'm' => self.multiline = is_on,
            's' => self.dot_all = is_on,
            'x' if is_python => self.verbose = is_on,
            'a' if is_python => self.ascii = is_on,
            // Without it a pattern would be another language: it is always on.
            'u' if !is_python => {}
            'u' => self.ascii = !is_on,
            _ => return false,
        }
        true
    }
}

impl Parser<'_> {
    /// `(?im)` at the beginning, which Python has for the whole pattern.
    pub(crate) fn global_flags(&mut self) -> Result<(), Error> {
        let mut seen = String::new();
        while self.is_python() {
            self.skip_unread()?;
            let start = self.at;
            let Some(letters) = self.flags_alone() else {
                break;
            };
            for letter in letters.chars() {
                self.set_flag(letter, true, &mut seen, start)?;
            }
            self.at += letters.len() + 3;
        }
        Ok(())
    }

    /// The letters of `(?im)`, if it comes next.
    fn flags_alone(&self) -> Option<String> {
        let inside = self.rest().strip_prefix("(?")?;
        let count = inside.bytes().take_while(u8::is_ascii_alphabetic).count();
        let is_alone = count > 0 && inside[count..].starts_with(')');
        is_alone.then(|| inside[..count].to_owned())
    }

    /// `i-m:`, the flags of one group.
    pub(crate) fn modifiers(&mut self, start: usize) -> Result<(), Error> {
        let mut is_on = true;
        let mut seen = String::new();
        loop {
            match self.next() {
                Some('-') if is_on => is_on = false,
                Some(':') if !seen.is_empty() => return Ok(()),
                Some(')') if !seen.is_empty() && self.is_python() => {
                    let message = "flags of the whole pattern stand at its beginning; for a part \
                                   of it write `(?i:…)`";
                    return Err(Error::syntax(message, start));
                }
                Some(')') if !seen.is_empty() => {
                    let written = &self.pattern[start..self.at];
                    let feature = format!("the inline flag `{written}`");
                    return Err(unsupported(&feature, start));
                }
                Some(letter) if letter.is_ascii_alphabetic() && !self.is_stray(letter, &seen) => {
                    self.set_flag(letter, is_on, &mut seen, start)?;
                }
                _ => return Err(self.unknown_group(start)),
            }
        }
    }

    /// Whether no flag is meant by a letter after `(?`.
    fn is_stray(&self, letter: char, seen: &str) -> bool {
        match self.flags.dialect {
            Dialect::Ecma => !matches!(letter, 'i' | 'm' | 's') || seen.contains(letter),
            Dialect::Python => !matches!(letter, 'a' | 'i' | 'L' | 'm' | 's' | 'u' | 'x'),
        }
    }

    fn set_flag(
        &mut self,
        letter: char,
        is_on: bool,
        seen: &mut String,
        start: usize,
    ) -> Result<(), Error> {
        // What was turned on is noted as it is, what was turned off in the other case.
        let note = |is_on: bool| if is_on { letter } else { letter.to_ascii_uppercase() };
        let wrong = |message: &str| Err(Error::syntax(message, start));
        match letter {
            'L' => return wrong("the flag `L` is for `bytes`, and a text is a `str`"),
            'a' | 'u' if !is_on => return wrong("the flags `a` and `u` cannot be turned off"),
            'a' if seen.contains('u') => return wrong("the flags `a` and `u` exclude each other"),
            'u' if seen.contains('a') => return wrong("the flags `a` and `u` exclude each other"),
            _ if seen.contains(note(!is_on)) => {
                return wrong("this flag is turned on and off in one group");
            }
            _ => {}
        }
        if !self.flags.set(letter, is_on) {
            return Err(Error::syntax(format!("there is no flag `{letter}`"), start));
        }
        if !seen.contains(note(is_on)) {
            seen.push(note(is_on));
        }
        Ok(())
    }

    fn unknown_group(&self, start: usize) -> Error {
        let message = match self.flags.dialect {
            Dialect::Ecma => {
                "after `(?` comes `:`, `=`, `!`, `<=`, `<!`, `<name>`, or flags (`i`, `m`, `s`) \
                 and `:`"
            }
            Dialect::Python => {
                "after `(?` comes `:`, `=`, `!`, `<=`, `<!`, `P<name>`, `#`, or flags (`a`, `i`, \
                 `m`, `s`, `u`, `x`) and `:`"
            }
        };
        Error::syntax(message, start)
    }

    /// Goes past what Python does not read: `(?#…)`, and blanks and comments under the flag `x`.
    pub(crate) fn skip_unread(&mut self) -> Result<(), Error> {
        while self.is_python() {
            let start = self.at;
            if self.take("(?#") {
                let Some(end) = self.rest().find(')') else {
                    return Err(Error::syntax("this comment has no closing `)`", start));
                };
                self.at += end + 1;
            } else if self.flags.verbose {
                let rest = self.rest();
                let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{B}' | '\u{C}');
                let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
                let after = &rest[blanks..];
                let comment = if after.starts_with('#') {
                    after.find('\n').unwrap_or(after.len())
                } else {
                    0
                };
                self.at += blanks + comment;
            }
            if self.at == start {
                break;
            }
        }
        Ok(())
    }
}
