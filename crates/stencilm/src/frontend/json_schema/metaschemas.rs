//! The metaschemas of the five dialects: a schema may refer to them, and nothing is fetched.

/// The text of the metaschema with this URI.
pub(crate) fn text(uri: &str) -> Option<&'static str> {
    let at = TEXTS.iter().position(|&(known, _)| known == uri)?;
    Some(TEXTS[at].1)
}

const TEXTS: [(&str, &str); 19] = [
    ("http://json-schema.org/draft-04/schema", include_str!("metaschemas/draft-04.json")),
    ("http://json-schema.org/draft-06/schema", include_str!("metaschemas/draft-06.json")),
    ("http://json-schema.org/draft-07/schema", include_str!("metaschemas/draft-07.json")),
    (
        "https://json-schema.org/draft/2019-09/schema",
        include_str!("metaschemas/2019-09-schema.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/applicator",
        include_str!("metaschemas/2019-09-applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/content",
        include_str!("metaschemas/2019-09-content.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/core",
        include_str!("metaschemas/2019-09-core.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/format",
        include_str!("metaschemas/2019-09-format.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/meta-data",
        include_str!("metaschemas/2019-09-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/validation",
        include_str!("metaschemas/2019-09-validation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/schema",
        include_str!("metaschemas/2020-12-schema.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        include_str!("metaschemas/2020-12-applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/content",
        include_str!("metaschemas/2020-12-content.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/core",
        include_str!("metaschemas/2020-12-core.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("metaschemas/2020-12-format-annotation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("metaschemas/2020-12-format-assertion.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("metaschemas/2020-12-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("metaschemas/2020-12-unevaluated.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        include_str!("metaschemas/2020-12-validation.json"),
    ),
];
