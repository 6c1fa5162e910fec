//! Formats of hosts, mail addresses and URIs.

/// RFC 5322 section 3.2.3, `atext`, inside of a class.
const ATEXT: &str = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";

/// RFC 3987 section 2.2, `ucschar`, inside of a class.
const UNICODE: &str = "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}\
    \\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}\
    \\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}\
    \\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}\\u{D0000}-\\u{DFFFD}\
    \\u{E1000}-\\u{EFFFD}";

/// RFC 3490 section 3.1: what ends a label.
const DOT: &str = "[.\\u{3002}\\u{FF0E}\\u{FF61}]";

/// The same, `iprivate`.
const PRIVATE: &str = "\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

/// RFC 1123 section 2.1: labels of at most 63 letters, digits and hyphens, 253 characters in all.
/// A label that begins with `xn--` is one only if it is Punycode (RFC 5890), which is not regular.
pub(crate) fn hostname() -> String {
    let (end, any) = ("[A-Za-z0-9]", "[A-Za-z0-9\\-]");
    let other = format!("[A-WYZa-wyz0-9](?:{any}{{0,61}}{end})?");
    let not_n = format!("[A-MO-Za-mo-z0-9\\-]{any}{{0,60}}{end}");
    let n = format!("[Nn](?:{end}(?:{any}{{0,59}}{end})?|-{end}(?:{any}{{0,58}}{end})?)");
    let label = format!("(?:{other}|[Xx](?:{end}|{not_n}|{n})?)");
    format!("{label}(?:\\.{label})*")
}

/// Every label that begins with `xn--` is taken for Punycode.
pub(crate) fn wider_hostname() -> String {
    let label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
    format!("{label}(?:\\.{label})*")
}

/// RFC 5890 section 2.3.2.3. Which labels with letters beyond ASCII are legal is not regular: those
/// of letters that always are, or that are beside such as are told here, so few of them that the
/// label is no longer than 63 bytes in Punycode. Three labels are never more than 253 bytes.
pub(crate) fn idn_hostname() -> String {
    format!("(?:{}|{}|{})", ldh_labels(), idn_labels(), right_to_left_labels())
}

/// Labels without hyphens in the third and the fourth place.
fn ldh_label() -> String {
    let (end, any) = ("[A-Za-z0-9]", "[A-Za-z0-9\\-]");
    let third = format!("{end}(?:{any}{{0,59}}{end})?");
    let fourth = format!("-{end}(?:{any}{{0,58}}{end})?");
    format!("{end}(?:{end}|{any}(?:{third}|{fourth}))?")
}

fn ldh_labels() -> String {
    let label = ldh_label();
    format!("{label}(?:\\.{label})*")
}

fn idn_labels() -> String {
    let near = "a-z0-9\\u{DF}-\\u{F6}\\u{F8}-\\u{FF}\\u{3AC}-\\u{3CE}\\u{430}-\\u{45F}";
    let far =
        "\\u{3041}-\\u{3096}\\u{30A1}-\\u{30FA}\\u{30FC}\\u{4E00}-\\u{9FA5}\\u{AC00}-\\u{D7A3}";
    let near = format!("[{near}](?:-?[{near}]){{0,13}}");
    let far = format!("[a-z0-9{far}](?:-?[a-z0-9{far}]){{0,9}}");
    let label = format!("(?:{}|{near}|{far}|{})", ldh_label(), labels_by_context().join("|"));
    format!("{label}(?:{DOT}{label}){{0,2}}")
}

/// RFC 5892 appendix A: characters that may only stand beside some others. And letters that are
/// exceptions (section 2.6), alone.
fn labels_by_context() -> [String; 6] {
    let (latin, greek) = ("[a-z0-9\\u{DF}-\\u{F6}\\u{F8}-\\u{FF}]", "[\\u{3AC}-\\u{3CE}]");
    let kana = "[\\u{3041}-\\u{3096}\\u{30A1}-\\u{30FA}\\u{4E00}-\\u{9FA5}]";
    let devanagari = "[\\u{915}-\\u{939}]";
    [
        format!("{latin}{{0,4}}l(?:\\u{{B7}}l){{1,2}}{latin}{{0,4}}"),
        format!("{greek}{{0,4}}(?:\\u{{375}}{greek}{{1,3}}){{1,2}}"),
        format!("{kana}{{0,2}}\\u{{30FB}}{kana}{{1,3}}"),
        // A virama before a joiner.
        format!("{devanagari}(?:\\u{{94D}}[\\u{{200C}}\\u{{200D}}]?{devanagari}){{1,3}}"),
        "[0-9\\u{6F0}-\\u{6F9}]{1,6}".to_owned(),
        "[\\u{DF}\\u{3C2}\\u{F0B}\\u{3007}]{1,6}".to_owned(),
    ]
}

/// RFC 5893: such labels may not stand beside those that begin with a digit, so here by themselves.
fn right_to_left_labels() -> String {
    let hebrew = "[\\u{5D0}-\\u{5EA}](?:[\\u{5F3}\\u{5F4}]?[\\u{5D0}-\\u{5EA}]){0,4}";
    let arabic = "\\u{628}-\\u{63A}\\u{641}-\\u{64A}\\u{6FD}\\u{6FE}";
    let digits = "\\u{660}-\\u{669}";
    // Between letters that join on both sides.
    let joining = "[\\u{628}\\u{62A}-\\u{62E}\\u{633}-\\u{63A}\\u{641}-\\u{647}\\u{649}\\u{64A}]";
    let arabic =
        format!("[{arabic}][{arabic}{digits}]{{0,8}}|{joining}{{1,4}}\\u{{200C}}{joining}{{1,4}}");
    let label = format!("(?:{hebrew}|{arabic})");
    format!("{label}(?:{DOT}{label}){{0,2}}")
}

/// Every character beyond ASCII is taken for one of a label, but for those that end one. No label
/// has more characters than it has bytes in Punycode.
pub(crate) fn wider_idn_hostname() -> String {
    let beyond = "\\u{80}-\\u{3001}\\u{3003}-\\u{FF0D}\\u{FF0F}-\\u{FF60}\\u{FF62}-\\u{10FFFF}";
    let (end, any) = (format!("[A-Za-z0-9{beyond}]"), format!("[A-Za-z0-9\\-{beyond}]"));
    let label = format!("{end}(?:{any}{{0,61}}{end})?");
    format!("{label}(?:{DOT}{label})*")
}

/// RFC 5321 section 4.1.2, `Mailbox`.
pub(crate) fn email() -> String {
    mailbox("", &wider_hostname())
}

/// RFC 6531 section 3.3.
pub(crate) fn idn_email() -> String {
    mailbox("\\u{80}-\\u{10FFFF}", &format!("(?:{}|{})", ldh_labels(), idn_labels()))
}

/// The same with more domains.
pub(crate) fn wider_idn_email() -> String {
    mailbox("\\u{80}-\\u{10FFFF}", &format!("(?:{})", wider_idn_hostname()))
}

fn mailbox(unicode: &str, host: &str) -> String {
    let atom = format!("[{ATEXT}{unicode}]+");
    let quoted = format!("\"(?:[ !#-\\[\\]-~{unicode}]|\\\\[ -~])*\"");
    let (ipv4, ipv6) = (ipv4(), ipv6());
    format!("(?:{atom}(?:\\.{atom})*|{quoted})@(?:{host}|\\[(?:{ipv4}|IPv6:{ipv6})\\])")
}

pub(crate) fn ipv4() -> String {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("(?:{byte}(?:\\.{byte}){{3}})")
}

/// RFC 3986 section 3.2.2, `IPv6address`, which is RFC 4291 section 2.2.
pub(crate) fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let last = format!("(?:{group}:{group}|{})", ipv4());
    let mut forms = vec![format!("(?:{group}:){{6}}{last}")];
    for before in 0..=5_u32 {
        let head = match before {
            0 => String::new(),
            _ => format!("(?:(?:{group}:){{0,{}}}{group})?", before - 1),
        };
        forms.push(format!("{head}::(?:{group}:){{{}}}{last}", 5 - before));
    }
    forms.push(format!("(?:(?:{group}:){{0,5}}{group})?::{group}"));
    forms.push(format!("(?:(?:{group}:){{0,6}}{group})?::"));
    format!("(?:{})", forms.join("|"))
}

/// RFC 3987 section 2.2, `IRI` or `IRI-reference`.
pub(crate) fn iri(may_be_relative: bool) -> String {
    uri(UNICODE, PRIVATE, may_be_relative)
}

/// RFC 3986 appendix A, `URI` or `URI-reference`; with `unicode` and `private`, RFC 3987.
pub(crate) fn uri(unicode: &str, private: &str, may_be_relative: bool) -> String {
    let escaped = "%[0-9A-Fa-f]{2}";
    let plain = format!("A-Za-z0-9._~!$&'()*+,;=\\-{unicode}");
    let segment = format!("(?:[{plain}:@]|{escaped})");
    let no_colon = format!("(?:[{plain}@]|{escaped})");
    let user = format!("(?:(?:[{plain}:]|{escaped})*@)?");
    let literal = format!("\\[(?:{}|[Vv][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:\\-]+)\\]", ipv6());
    let authority = format!("//{user}(?:{literal}|(?:[{plain}]|{escaped})*)(?::[0-9]*)?");
    let path = format!("(?:/{segment}*)*");
    let absolute = format!("/(?:{segment}+{path})?");
    let tail =
        format!("(?:\\?(?:[{plain}{private}:@/?]|{escaped})*)?(?:#(?:[{plain}:@/?]|{escaped})*)?");
    let scheme = "[A-Za-z][A-Za-z0-9+.\\-]*:";
    let full = format!("{scheme}(?:{authority}{path}|{absolute}|{segment}+{path}|)");
    if may_be_relative {
        let relative = format!("(?:{authority}{path}|{absolute}|{no_colon}+{path}|)");
        format!("(?:{full}|{relative}){tail}")
    } else {
        format!("{full}{tail}")
    }
}

/// RFC 6570 section 2, with erratum 6937: an apostrophe stands for itself.
pub(crate) fn uri_template() -> String {
    let escaped = "%[0-9A-Fa-f]{2}";
    let letter = format!("(?:[A-Za-z0-9_]|{escaped})");
    let variable = format!("{letter}(?:\\.?{letter})*(?::[1-9][0-9]{{0,3}}|\\*)?");
    let expression = format!("\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}}");
    let literal = format!("[A-Za-z0-9._~!$&'()*+,;=:@/?#\\[\\]\\-{UNICODE}{PRIVATE}]");
    format!("(?:{literal}|{escaped}|{expression})*")
}
