//! The `format`s that are enforced, each as a regular expression over the decoded string.

/// A format. [`Format::is_exact`] says whether its language is that of its RFC or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Date,
    Time,
    DateTime,
    Duration,
    Email,
    IdnEmail,
    Hostname,
    IdnHostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
}

impl Format {
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "date-time" => Self::DateTime,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "idn-email" => Self::IdnEmail,
            "hostname" => Self::Hostname,
            "idn-hostname" => Self::IdnHostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uri-reference" => Self::UriReference,
            "iri" => Self::Iri,
            "iri-reference" => Self::IriReference,
            "uri-template" => Self::UriTemplate,
            "uuid" => Self::Uuid,
            "json-pointer" => Self::JsonPointer,
            "relative-json-pointer" => Self::RelativeJsonPointer,
            _ => return None,
        })
    }

    /// Whether the language is exactly the format's: that of its RFC's grammar.
    pub(crate) fn is_exact(self) -> bool {
        match self {
            Self::Date
            | Self::Duration
            | Self::Email
            | Self::Ipv4
            | Self::Ipv6
            | Self::Uri
            | Self::UriReference
            | Self::Uuid
            | Self::JsonPointer => true,
            // A leap second only where the offset says that it is UTC.
            Self::Time | Self::DateTime
            // No more than 16 labels, and fewer the longer they are: 253 bytes in all.
            | Self::Hostname | Self::IdnHostname | Self::IdnEmail
            // No private-use characters in the query.
            | Self::Iri | Self::IriReference
            // Only what may stand for itself in a URI outside of expressions.
            | Self::UriTemplate
            // No index manipulation.
            | Self::RelativeJsonPointer => false,
        }
    }

    /// What the language leaves out, for the report.
    pub(crate) fn narrowing(self) -> &'static str {
        match self {
            Self::Time | Self::DateTime => "a leap second comes only at 23:59:60 UTC",
            Self::Hostname | Self::IdnHostname | Self::IdnEmail => "no more than 16 labels",
            Self::Iri | Self::IriReference => "no private-use characters",
            Self::UriTemplate => "only URI characters outside of expressions",
            Self::RelativeJsonPointer => "no index manipulation",
            Self::Date
            | Self::Duration
            | Self::Email
            | Self::Ipv4
            | Self::Ipv6
            | Self::Uri
            | Self::UriReference
            | Self::Uuid
            | Self::JsonPointer => "",
        }
    }

    /// The whole string matches this.
    pub(crate) fn regex(self) -> String {
        match self {
            Self::Date => DATE.to_owned(),
            Self::Time => TIME.to_owned(),
            Self::DateTime => format!("(?:{DATE})[Tt](?:{TIME})"),
            Self::Duration => duration(),
            Self::Email => email(ATEXT, &host(LABEL_START, LABEL)),
            Self::IdnEmail => {
                email(&format!("{ATEXT}{UNICODE}"), &host(IDN_LABEL_START, IDN_LABEL))
            }
            Self::Hostname => host(LABEL_START, LABEL),
            Self::IdnHostname => host(IDN_LABEL_START, IDN_LABEL),
            Self::Ipv4 => ipv4(),
            Self::Ipv6 => ipv6(),
            Self::Uri => uri("", false),
            Self::UriReference => uri("", true),
            Self::Iri => uri(UNICODE, false),
            Self::IriReference => uri(UNICODE, true),
            Self::UriTemplate => uri_template(),
            Self::Uuid => {
                let hex = "[0-9A-Fa-f]";
                format!("{hex}{{8}}-{hex}{{4}}-{hex}{{4}}-{hex}{{4}}-{hex}{{12}}")
            }
            Self::JsonPointer => POINTER.to_owned(),
            Self::RelativeJsonPointer => format!("(?:0|[1-9][0-9]*)(?:#|{POINTER})"),
        }
    }
}

/// RFC 3339 section 5.6, `full-date`, with the days of the months and leap years.
const DATE: &str = "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
    |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))\
    |(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";

/// RFC 3339 section 5.6, `full-time`.
const TIME: &str = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?\
    (?:[Zz]|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])|23:59:60(?:\\.[0-9]+)?(?:[Zz]|[+\\-]00:00)";

/// RFC 5322 section 3.2.3, `atext`, inside of a class.
const ATEXT: &str = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";

/// RFC 3987 section 2.2, `ucschar`, inside of a class.
const UNICODE: &str = "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}\
    \\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{E1000}-\\u{EFFFD}";

const LABEL_START: &str = "[A-Za-z0-9]";
const LABEL: &str = "[A-Za-z0-9\\-]";
const IDN_LABEL_START: &str = "[A-Za-z0-9\\p{Ll}\\p{Lo}\\p{Lm}\\p{Nd}]";
const IDN_LABEL: &str = "[A-Za-z0-9\\-\\p{Ll}\\p{Lo}\\p{Lm}\\p{Nd}\\p{Mn}\\p{Mc}]";

/// RFC 6901 section 3.
const POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

/// RFC 3339 appendix A.
fn duration() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let date = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)";
    format!("P(?:{date}(?:{time})?|{time}|[0-9]+W)")
}

/// RFC 1123 section 2.1: labels of at most 63 characters, 253 in all. The alternatives are such
/// that any of them keeps the total.
fn host(start: &str, inner: &str) -> String {
    let labels = |longest: u32, most: u32| {
        let label = format!("{start}(?:{inner}{{0,{}}}{start})?", longest - 2);
        format!("{label}(?:\\.{label}){{0,{}}}", most - 1)
    };
    format!("(?:{}|{}|{})", labels(63, 3), labels(30, 8), labels(14, 16))
}

/// RFC 5321 section 4.1.2, `Mailbox`.
fn email(atext: &str, host: &str) -> String {
    let quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\"";
    let (ipv4, ipv6) = (ipv4(), ipv6());
    format!("(?:[{atext}]+(?:\\.[{atext}]+)*|{quoted})@(?:{host}|\\[(?:{ipv4}|IPv6:{ipv6})\\])")
}

fn ipv4() -> String {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("(?:{byte}(?:\\.{byte}){{3}})")
}

/// RFC 3986 section 3.2.2, `IPv6address`, which is RFC 4291 section 2.2.
fn ipv6() -> String {
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

/// RFC 3986 appendix A, `URI` or `URI-reference`; with `unicode`, RFC 3987.
fn uri(unicode: &str, may_be_relative: bool) -> String {
    let escaped = "%[0-9A-Fa-f]{2}";
    let plain = format!("A-Za-z0-9._~!$&'()*+,;=\\-{unicode}");
    let segment = format!("(?:[{plain}:@]|{escaped})");
    let no_colon = format!("(?:[{plain}@]|{escaped})");
    let user = format!("(?:(?:[{plain}:]|{escaped})*@)?");
    let literal = format!("\\[(?:{}|[Vv][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:\\-]+)\\]", ipv6());
    let authority = format!("//{user}(?:{literal}|(?:[{plain}]|{escaped})*)(?::[0-9]*)?");
    let path = format!("(?:/{segment}*)*");
    let absolute = format!("/(?:{segment}+{path})?");
    let tail = format!("(?:\\?(?:[{plain}:@/?]|{escaped})*)?(?:#(?:[{plain}:@/?]|{escaped})*)?");
    let scheme = "[A-Za-z][A-Za-z0-9+.\\-]*:";
    let full = format!("{scheme}(?:{authority}{path}|{absolute}|{segment}+{path}|)");
    if may_be_relative {
        let relative = format!("(?:{authority}{path}|{absolute}|{no_colon}+{path}|)");
        format!("(?:{full}|{relative}){tail}")
    } else {
        format!("{full}{tail}")
    }
}

/// RFC 6570 section 2.
fn uri_template() -> String {
    let escaped = "%[0-9A-Fa-f]{2}";
    let letter = format!("(?:[A-Za-z0-9_]|{escaped})");
    let variable = format!("{letter}(?:\\.?{letter})*(?::[1-9][0-9]{{0,3}}|\\*)?");
    let expression = format!("\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}}");
    let literal = format!("[A-Za-z0-9._~!$&()*+,;=:@/?#\\[\\]\\-{UNICODE}]");
    format!("(?:{literal}|{escaped}|{expression})*")
}
