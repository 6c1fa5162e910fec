//! The `format`s that are enforced: which there are, and how exact each is.

use crate::frontend::json_schema::{formats_net, formats_pattern, formats_time};

/// A format of strings, enforced as a regular expression over the decoded string.
/// [`Format::is_exact`] says whether its language is that of its RFC or a part of it.
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
    Regex,
    Base64,
    Base64Url,
}

/// How a language is narrower than its format, and the wider one that stands for it where it must
/// fail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference {
    pub(crate) leaves_out: &'static str,
    pub(crate) counts_too: &'static str,
    /// Matches every string of the format, and others.
    pub(crate) wider: fn() -> String,
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
            "regex" => Self::Regex,
            "base64" => Self::Base64,
            "base64url" => Self::Base64Url,
            _ => return None,
        })
    }

    /// How the language of a format differs from its RFC's grammar; none if it is exactly that.
    pub(crate) fn difference(self) -> Option<Difference> {
        Some(match self {
            Self::Time => Difference {
                leaves_out: "leap seconds only with offsets of whole and half hours",
                counts_too: "leap seconds count at any time of day",
                wider: formats_time::wider_time,
            },
            Self::DateTime => Difference {
                leaves_out: "leap seconds only at the end of June or December, with offsets of whole hours",
                counts_too: "leap seconds count at any time of day",
                wider: formats_time::wider_date_time,
            },
            Self::Hostname => Difference {
                leaves_out: "no label begins with `xn--`",
                counts_too: "every label that begins with `xn--` counts as one",
                wider: formats_net::wider_hostname,
            },
            Self::IdnHostname => Difference {
                leaves_out: "labels of LDH, or short ones of common scripts, none that begins with `xn--`",
                counts_too: "all characters beyond ASCII count as letters",
                wider: formats_net::wider_idn_hostname,
            },
            Self::IdnEmail => Difference {
                leaves_out: "domains as in `idn-hostname`",
                counts_too: "domains as in `idn-hostname`",
                wider: formats_net::wider_idn_email,
            },
            Self::RelativeJsonPointer => Difference {
                leaves_out: "no index manipulation",
                counts_too: "index manipulation counts too",
                wider: wider_relative_pointer,
            },
            Self::Regex => Difference {
                leaves_out: "no named groups, no back-references, groups at most 2 deep",
                counts_too: "whatever has no loose end (`\\`, `[`, `(?`, `*`) counts as one",
                wider: formats_pattern::wider_regex,
            },
            Self::Date
            | Self::Duration
            | Self::Email
            | Self::Ipv4
            | Self::Ipv6
            | Self::Uri
            | Self::UriReference
            | Self::Iri
            | Self::IriReference
            | Self::UriTemplate
            | Self::Uuid
            | Self::JsonPointer
            | Self::Base64
            | Self::Base64Url => return None,
        })
    }

    /// The whole string matches this, and has at most [`Self::longest`] characters.
    pub(crate) fn regex(self) -> String {
        match self {
            Self::Date => formats_time::DATE.to_owned(),
            Self::Time => formats_time::time(),
            Self::DateTime => formats_time::date_time(),
            Self::Duration => formats_time::duration(),
            Self::Email => formats_net::email(),
            Self::IdnEmail => formats_net::idn_email(),
            Self::Hostname => formats_net::hostname(),
            Self::IdnHostname => formats_net::idn_hostname(),
            Self::Ipv4 => formats_net::ipv4(),
            Self::Ipv6 => formats_net::ipv6(),
            Self::Uri => formats_net::uri("", "", false),
            Self::UriReference => formats_net::uri("", "", true),
            Self::Iri => formats_net::iri(false),
            Self::IriReference => formats_net::iri(true),
            Self::UriTemplate => formats_net::uri_template(),
            Self::Uuid => {
                let hex = "[0-9A-Fa-f]";
                format!("{hex}{{8}}-{hex}{{4}}-{hex}{{4}}-{hex}{{4}}-{hex}{{12}}")
            }
            Self::JsonPointer => POINTER.to_owned(),
            Self::RelativeJsonPointer => format!("(?:0|[1-9][0-9]*)(?:#|{POINTER})"),
            Self::Regex => formats_pattern::regex(),
            Self::Base64 => base64("+/"),
            Self::Base64Url => base64("\\-_"),
        }
    }

    /// The most characters that a string of this format has.
    pub(crate) fn longest(self) -> Option<u32> {
        match self {
            // RFC 1035 section 2.3.4: 255 bytes as they are sent, 253 as they are written.
            Self::Hostname | Self::IdnHostname => Some(253),
            _ => None,
        }
    }
}

/// The least and the greatest value of a format of integers, as the registry of `OpenAPI` has them.
pub(crate) fn integers(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "int8" => ("-128", "127"),
        "uint8" => ("0", "255"),
        "int16" => ("-32768", "32767"),
        "uint16" => ("0", "65535"),
        "int32" => ("-2147483648", "2147483647"),
        "uint32" => ("0", "4294967295"),
        "int64" => ("-9223372036854775808", "9223372036854775807"),
        "uint64" => ("0", "18446744073709551615"),
        _ => return None,
    })
}

/// Why a format is an annotation, where that is more than that nobody knows it.
pub(crate) fn annotation(name: &str) -> &'static str {
    match name {
        "float" | "double" => "says how a number is kept, not which",
        "password" => "says how a string is shown, not which",
        "binary" => "any bytes may stand in a string",
        _ => "is unknown",
    }
}

/// RFC 6901 section 3.
const POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

/// RFC 4648 sections 4 and 5, padded, with zeros where bits are left over.
fn base64(last: &str) -> String {
    let any = format!("[A-Za-z0-9{last}]");
    format!("(?:{any}{{4}})*(?:{any}[AQgw]==|{any}{{2}}[AEIMQUYcgkosw048]=)?")
}

/// draft-bhutton-relative-json-pointer-00 section 3.
fn wider_relative_pointer() -> String {
    format!("(?:0|[1-9][0-9]*)(?:[+\\-][1-9][0-9]*)?(?:#|{POINTER})")
}
