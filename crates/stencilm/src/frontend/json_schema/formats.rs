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

    /// Whether every string that the format allows is in [`Format::regex`].
    pub(crate) fn is_exact(self) -> bool {
        match self {
            Self::Date
            | Self::Duration
            | Self::Ipv4
            | Self::Ipv6
            | Self::Uuid
            | Self::JsonPointer
            | Self::RelativeJsonPointer => true,
            Self::Time
            | Self::DateTime
            | Self::Email
            | Self::IdnEmail
            | Self::Hostname
            | Self::IdnHostname
            | Self::Uri
            | Self::UriReference
            | Self::Iri
            | Self::IriReference
            | Self::UriTemplate => false,
        }
    }

    /// The whole string matches this.
    pub(crate) fn regex(self) -> &'static str {
        match self {
            Self::Uuid => {
                "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
            }
            _ => "TODO",
        }
    }
}
