//! `Grammar`: what a text may be, before any vocabulary.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use stencilm::frontend::ebnf::{self, Notation};
use stencilm::frontend::json_schema::{
    self, Additional, Dialect, Escapes, Formats, JsonSchemaOptions, KeyOrder, Numbers, Unsupported,
    Whitespace,
};
use stencilm::frontend::lark::Meaning;
use stencilm::frontend::regex::{self, RegexOptions};
use stencilm::frontend::tags;

use crate::convert::{Cancel, Limits, budget, guarded, guarded_apart, vocabulary_error};

/// What a text may be; see `stencilm.Grammar`.
#[pyclass(frozen, subclass, module = "stencilm")]
pub(crate) struct Grammar(pub(crate) stencilm::Grammar);

#[pymethods]
impl Grammar {
    /// The texts of a JSON Schema, given as JSON text.
    #[staticmethod]
    #[pyo3(signature = (schema, options=None, limits=None, cancel=None))]
    fn json_schema(
        py: Python<'_>,
        schema: &str,
        options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Limits>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Self> {
        let options = schema_options(py, options)?;
        let mut budget = budget(limits, cancel);
        let grammar = guarded_apart(py, || json_schema::grammar(schema, &options, &mut budget))?;
        Ok(Self(grammar))
    }

    /// What a JSON Schema enforces: lists of (JSON Pointer, text).
    #[staticmethod]
    #[pyo3(signature = (schema, options=None, limits=None))]
    fn json_schema_report<'py>(
        py: Python<'py>,
        schema: &str,
        options: Option<&Bound<'py, PyDict>>,
        limits: Option<&Limits>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = schema_options(py, options)?;
        let mut budget = budget(limits, None);
        lists(py, guarded_apart(py, || json_schema::report(schema, &options, &mut budget))?)
    }

    /// The same of the JSON Schemas inside of a structural tag.
    #[staticmethod]
    #[pyo3(signature = (tag, options=None, limits=None))]
    fn structural_tag_report<'py>(
        py: Python<'py>,
        tag: &str,
        options: Option<&Bound<'py, PyDict>>,
        limits: Option<&Limits>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = schema_options(py, options)?;
        let mut budget = budget(limits, None);
        let made = || tags::report(tag, &options, stencilm::from_rules, &mut budget);
        lists(py, guarded_apart(py, made)?)
    }

    /// The texts that match a regular expression, from end to end or somewhere inside.
    #[staticmethod]
    #[pyo3(signature = (pattern, dialect="ecma", mode="full", flags="", limits=None, cancel=None))]
    fn regex(
        py: Python<'_>,
        pattern: &str,
        dialect: &str,
        mode: &str,
        flags: &str,
        limits: Option<&Limits>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Self> {
        let wrong = |what, value| PyValueError::new_err(format!("{what} cannot be {value:?}"));
        let dialect = match dialect {
            "ecma" => regex::Dialect::Ecma,
            "python" => regex::Dialect::Python,
            other => return Err(wrong("dialect", other)),
        };
        let mode = match mode {
            "full" => regex::Mode::FullMatch,
            "search" => regex::Mode::Search,
            other => return Err(wrong("mode", other)),
        };
        let options = RegexOptions::with_flags(dialect, flags).map_err(PyValueError::new_err)?;
        let mut budget = budget(limits, cancel);
        Ok(Self(guarded_apart(py, || {
            stencilm::from_rules(regex::grammar(pattern, options, mode, &mut budget)?, &mut budget)
        })?))
    }

    /// The texts of a grammar in EBNF or GBNF.
    #[staticmethod]
    #[pyo3(signature = (text, start="root", notation="gbnf", limits=None, cancel=None))]
    fn ebnf(
        py: Python<'_>,
        text: &str,
        start: &str,
        notation: &str,
        limits: Option<&Limits>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Self> {
        let notation = notation_named(notation)?;
        let mut budget = budget(limits, cancel);
        Ok(Self(guarded_apart(py, || {
            stencilm::from_rules(ebnf::parse_in(notation, text, start, &mut budget)?, &mut budget)
        })?))
    }

    /// The texts of a grammar in Lark's language.
    #[staticmethod]
    #[pyo3(signature = (text, start="start", meaning="cfg", limits=None, cancel=None))]
    fn lark(
        py: Python<'_>,
        text: &str,
        start: &str,
        meaning: &str,
        limits: Option<&Limits>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Self> {
        let meaning = match meaning {
            "cfg" => Meaning::Cfg,
            "xgrammar" => Meaning::XGrammar,
            "contextual" => Meaning::Contextual,
            other => {
                let message = format!("the meaning cannot be {other}");
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
        };
        let mut budget = budget(limits, cancel);
        Ok(Self(guarded_apart(py, || stencilm::from_lark(text, start, meaning, &mut budget))?))
    }

    /// The names of the rules of a grammar in EBNF that its start does not need.
    #[staticmethod]
    #[pyo3(signature = (text, start="root", notation="gbnf"))]
    fn ebnf_unused(
        py: Python<'_>,
        text: &str,
        start: &str,
        notation: &str,
    ) -> PyResult<Vec<String>> {
        let notation = notation_named(notation)?;
        let mut budget = budget(None, None);
        guarded_apart(py, || ebnf::unused_rules(notation, text, start, &mut budget))
    }

    /// One of these texts.
    #[staticmethod]
    #[pyo3(signature = (texts, limits=None))]
    #[allow(clippy::needless_pass_by_value)]
    fn choice(py: Python<'_>, texts: Vec<String>, limits: Option<&Limits>) -> PyResult<Self> {
        let mut budget = budget(limits, None);
        let made = guarded_apart(py, || stencilm::from_choice(&texts, &mut budget))?;
        Ok(Self(made))
    }

    /// The texts of a structural tag, given as JSON text.
    #[staticmethod]
    #[pyo3(signature = (tag, options=None, limits=None, cancel=None))]
    fn structural_tag(
        py: Python<'_>,
        tag: &str,
        options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Limits>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Self> {
        let options = schema_options(py, options)?;
        let mut budget = budget(limits, cancel);
        let made = guarded_apart(py, || stencilm::from_structural_tag(tag, &options, &mut budget))?;
        Ok(Self(made))
    }

    /// Texts of all of these, one after the other.
    #[staticmethod]
    #[pyo3(signature = (grammars, limits=None))]
    #[allow(clippy::needless_pass_by_value)]
    fn sequence(
        py: Python<'_>,
        grammars: Vec<PyRef<'_, Self>>,
        limits: Option<&Limits>,
    ) -> PyResult<Self> {
        let parts: Vec<stencilm::Grammar> = grammars.iter().map(|part| part.0.clone()).collect();
        let mut budget = budget(limits, None);
        Ok(Self(guarded_apart(py, || stencilm::from_sequence(&parts, &mut budget))?))
    }

    /// Texts of any of these.
    #[staticmethod]
    #[pyo3(signature = (grammars, limits=None))]
    #[allow(clippy::needless_pass_by_value)]
    fn any_of(
        py: Python<'_>,
        grammars: Vec<PyRef<'_, Self>>,
        limits: Option<&Limits>,
    ) -> PyResult<Self> {
        let parts: Vec<stencilm::Grammar> = grammars.iter().map(|part| part.0.clone()).collect();
        let mut budget = budget(limits, None);
        Ok(Self(guarded_apart(py, || stencilm::from_any_of(&parts, &mut budget))?))
    }

    /// So many texts of this one; without a bound if `max` is not given.
    #[pyo3(signature = (min, max=None, limits=None))]
    fn repeat(
        &self,
        py: Python<'_>,
        min: u32,
        max: Option<u32>,
        limits: Option<&Limits>,
    ) -> PyResult<Self> {
        let (part, max) = (self.0.clone(), max.unwrap_or(stencilm::grammar::UNBOUNDED));
        let mut budget = budget(limits, None);
        Ok(Self(guarded_apart(py, || stencilm::from_repeat(&part, min, max, &mut budget))?))
    }

    /// The same texts, as a rule with options.
    #[pyo3(signature = (capture=None, max_tokens=None, temperature=None, limits=None))]
    fn rule(
        &self,
        py: Python<'_>,
        capture: Option<&str>,
        max_tokens: Option<u32>,
        temperature: Option<f32>,
        limits: Option<&Limits>,
    ) -> PyResult<Self> {
        let mark =
            stencilm::grammar::Mark { capture: capture.map(Into::into), max_tokens, temperature };
        let (part, mut budget) = (self.0.clone(), budget(limits, None));
        Ok(Self(guarded_apart(py, || stencilm::from_marked(&part, mark, &mut budget))?))
    }

    /// Everything that stands somewhere in a text.
    #[staticmethod]
    #[pyo3(signature = (text, limits=None))]
    fn substrings(py: Python<'_>, text: &str, limits: Option<&Limits>) -> PyResult<Self> {
        let mut budget = budget(limits, None);
        Ok(Self(guarded_apart(py, || stencilm::from_substrings(text, &mut budget))?))
    }

    /// The tokens that it names, by name or by number.
    #[getter]
    fn tokens(&self) -> Vec<String> {
        self.0.rules.special_tokens()
    }

    /// The rules that the start needs, at most `most`, as EBNF.
    #[pyo3(signature = (most=200))]
    fn show(&self, py: Python<'_>, most: usize) -> PyResult<String> {
        guarded(py, || self.0.show(most))
    }
}

/// A report as Python has it.
fn lists(py: Python<'_>, report: json_schema::Report) -> PyResult<Bound<'_, PyDict>> {
    let lists = PyDict::new(py);
    lists.set_item("enforced", report.enforced)?;
    lists.set_item("narrower", report.narrower)?;
    lists.set_item("annotations", report.annotations)?;
    lists.set_item("widened", report.widened)?;
    Ok(lists)
}

fn notation_named(name: &str) -> PyResult<Notation> {
    match name {
        "gbnf" => Ok(Notation::Gbnf),
        "w3c" => Ok(Notation::W3c),
        other => Err(PyValueError::new_err(format!("notation cannot be {other:?}"))),
    }
}

fn schema_options(
    py: Python<'_>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<JsonSchemaOptions> {
    let mut options = JsonSchemaOptions::default();
    let Some(given) = given else {
        return Ok(options);
    };
    let mut width: Option<u32> = None;
    let mut separators: Option<(String, String)> = None;
    for (name, value) in given.iter() {
        let name: String = name.extract()?;
        let wrong = |value: &str| {
            Err(pyo3::exceptions::PyValueError::new_err(format!(
                "the option {name} cannot be {value}"
            )))
        };
        match name.as_str() {
            "whitespace" => match value.extract::<String>()?.as_str() {
                "any" => options.whitespace = Whitespace::default(),
                "compact" => options.whitespace = Whitespace::Compact,
                other => return wrong(other),
            },
            "whitespace_cap" => options.whitespace = Whitespace::Any { cap: value.extract()? },
            "indent" => width = Some(value.extract()?),
            "separators" => separators = Some(value.extract()?),
            "key_order" => match value.extract::<String>()?.as_str() {
                "declared" => options.key_order = KeyOrder::Declared,
                "any" => options.key_order = KeyOrder::Any,
                other => return wrong(other),
            },
            "additional" => match value.extract::<String>()?.as_str() {
                "after_required" => options.additional = Additional::AfterRequired,
                "anywhere" => options.additional = Additional::Anywhere,
                "last" => options.additional = Additional::Last,
                other => return wrong(other),
            },
            "numbers" => match value.extract::<String>()?.as_str() {
                "plain" => options.numbers = Numbers::Plain,
                "digits" => options.numbers = Numbers::Digits,
                "any" => options.numbers = Numbers::Any,
                other => return wrong(other),
            },
            "escapes" => match value.extract::<String>()?.as_str() {
                "plain" => options.escapes = Escapes::Plain,
                "any" => options.escapes = Escapes::Any,
                "ascii" => options.escapes = Escapes::Ascii,
                other => return wrong(other),
            },
            "formats" => {
                let is_enforced: bool = value.extract()?;
                options.formats = if is_enforced { Formats::Enforced } else { Formats::Ignored };
            }
            "nullable" => options.nullable = value.extract()?,
            "closed" => options.closed = value.extract()?,
            "unsupported" => match value.extract::<String>()?.as_str() {
                "refuse" => options.unsupported = Unsupported::Refuse,
                "widen" => options.unsupported = Unsupported::Widen,
                other => return wrong(other),
            },
            "dialect" => match value.extract::<String>()?.as_str() {
                "draft4" => options.dialect = Dialect::Draft4,
                "draft6" => options.dialect = Dialect::Draft6,
                "draft7" => options.dialect = Dialect::Draft7,
                "draft2019-09" => options.dialect = Dialect::Draft2019,
                "draft2020-12" => options.dialect = Dialect::Draft2020,
                other => return wrong(other),
            },
            "resources" => options.resources = value.extract()?,
            other => {
                return Err(vocabulary_error(py, format!("there is no option {other}")));
            }
        }
    }
    let of_lines = || (",".to_owned(), ": ".to_owned());
    if let Some(width) = width {
        let (item, key) = separators.unwrap_or_else(of_lines);
        options.whitespace = Whitespace::Lines { width, item, key };
    } else if let Some((item, key)) = separators {
        options.whitespace = Whitespace::Separators { item, key };
    }
    Ok(options)
}
