//! The format `regex`: patterns of ECMA-262 with the `u` flag, as far as they are regular.

/// Groups that are one inside the other.
const DEPTH: usize = 2;

/// Of `{n,m}` what is in order for sure: `m` has more digits, or both have one.
const BOUNDS: &str = "[0-9]+,?|[0-9],[1-9][0-9]+|[1-9][0-9],[1-9][0-9]{2,}|0,[0-9]|1,[1-9]|2,[2-9]\
    |3,[3-9]|4,[4-9]|5,[5-9]|6,[6-9]|7,[7-9]|8,[89]|9,9";

/// One code point or a class of them, in and out of brackets.
const ESCAPE: &str = "\\\\(?:[dDsSwWfnrtv^$\\\\.*+?()\\[\\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}\
    |u(?:[0-9A-Fa-f]{4}|\\{[0-9A-Fa-f]{1,5}\\})\
    |[pP]\\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\\})";

pub(crate) fn regex() -> String {
    let class = class();
    let quantifier = format!("(?:(?:[*+?]|\\{{(?:{BOUNDS})\\}})\\??)?");
    let mut alternatives = String::new();
    for depth in 0..=DEPTH {
        let group =
            if depth == 0 { String::new() } else { format!("|\\((?:\\?:)?{alternatives}\\)") };
        let atom = format!("(?:[^\\^$\\\\.*+?()\\[\\]{{}}|]|\\.|{ESCAPE}|{class}{group})");
        let look = match depth {
            DEPTH => format!("|\\(\\?<?[=!]{alternatives}\\)"),
            _ => String::new(),
        };
        let term = format!("(?:[\\^$]|\\\\[bB]|{atom}{quantifier}{look}");
        alternatives = format!("{term})*(?:\\|{term})*)*");
    }
    alternatives
}

/// What every pattern is like, whatever its flags: nothing is left open but groups, nothing is
/// repeated where there is nothing, and what closes groups comes only where some are open.
pub(crate) fn wider_regex() -> String {
    let class = "\\[(?:[^\\]\\\\]|\\\\[^])*\\]";
    let plain = format!("(?:[^\\[\\\\()*+?|]|\\\\[^]|{class})(?:[*+?]\\??)?|\\|");
    let open = "\\((?:\\?(?:[:=!]|<[=!]|<[^>]+>|[a-z]*-?[a-z]*:))?";
    let close = "\\)(?:[*+?]\\??)?";
    format!("(?:{plain})*(?:{open}(?:{plain}|{open}|{close})*{close}(?:{plain})*)?")
}

/// Characters, escapes and ranges in brackets. A range of digits or of letters of one case is in
/// order if it begins with the first or ends with the last of them.
fn class() -> String {
    let ranges = "0-[0-9]|[0-9]-9|a-[a-z]|[a-z]-z|A-[A-Z]|[A-Z]-Z";
    let item = format!("[^\\^\\\\\\[\\]\\-]|{ESCAPE}|\\\\-|\\\\b|{ranges}");
    format!("\\[\\^?(?:{item})*\\]")
}
