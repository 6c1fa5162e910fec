//! The grammars that `%import` knows, in Lark's own language.
//!
//! Names and languages are those of Lark's library, and so is which terminal uses which, since
//! `%override` and `%extend` of an imported one change the others. Where Lark writes a lazy quantifier or a
//! look-behind to find the shortest text, these are the shortest texts as a regular language.

/// The text of a grammar of the library.
pub(crate) fn text(path: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The paths of the library.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

const TEXTS: &[(&str, &str)] = &[("common", COMMON), ("python", PYTHON), ("unicode", UNICODE)];

const COMMON: &str = r#"
DIGIT: "0".."9"
HEXDIGIT: /[A-Fa-f]/ | DIGIT
INT: DIGIT+
SIGNED_INT: /[+-]/? INT
_EXP: /[eE]/ SIGNED_INT
DECIMAL: INT "." INT? | "." INT
FLOAT: INT _EXP | DECIMAL _EXP?
SIGNED_FLOAT: /[+-]/? FLOAT
NUMBER: FLOAT | INT
SIGNED_NUMBER: /[+-]/? NUMBER
_STRING_INNER: /.*/
_STRING_ESC_INNER: /(?:[^"\\\n]|\\[^\n])*/
ESCAPED_STRING: "\"" _STRING_ESC_INNER "\""
LCASE_LETTER: "a".."z"
UCASE_LETTER: "A".."Z"
LETTER: UCASE_LETTER | LCASE_LETTER
WORD: LETTER+
CNAME: ("_" | LETTER) ("_" | LETTER | DIGIT)*
WS_INLINE: /[ \t]+/
WS: /[ \t\f\r\n]+/
CR: /\r/
LF: /\n/
NEWLINE: (CR? LF)+
SH_COMMENT: /#[^\n]*/
CPP_COMMENT: /\/\/[^\n]*/
C_COMMENT: /\/\*(?:[^*]|\*+[^*\/])*\*+\//
SQL_COMMENT: /--[^\n]*/
"#;

const PYTHON: &str = r#"
NAME: /[\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_]*/
COMMENT: /#[^\n]*/
_NEWLINE: (/\r?\n[\t ]*/ | COMMENT)+
_PREFIX: /[ubf]?r?|r[ubf]/i
STRING: _PREFIX (/"(?:[^"\\\n]|\\[^\n])*"/ | /'(?:[^'\\\n]|\\[^\n])*'/)
LONG_STRING: _PREFIX (/"""(?:[^"\\]|\\[^]|"(?!""))*"""/ | /'''(?:[^'\\]|\\[^]|'(?!''))*'''/)
_SPECIAL_DEC: /[0-9](?:_?[0-9])*/
DEC_NUMBER: /[1-9](?:_?[0-9])*|0(?:_?0)*/
HEX_NUMBER.2: /0[xX](?:_?[0-9a-fA-F])+/
OCT_NUMBER.2: /0[oO](?:_?[0-7])+/
BIN_NUMBER.2: /0[bB](?:_?[01])+/
_EXP: /[eE][+-]?/ _SPECIAL_DEC
DECIMAL: "." _SPECIAL_DEC | _SPECIAL_DEC "." _SPECIAL_DEC?
FLOAT_NUMBER.2: _SPECIAL_DEC _EXP | DECIMAL _EXP?
IMAG_NUMBER.2: (_SPECIAL_DEC | FLOAT_NUMBER) /[jJ]/
SLASH: "/"
AWAIT: "await"
ASYNC: "async"
"#;

const UNICODE: &str = r"
WS_INLINE: /[ \t\u00a0]+/
WS: /[ \t\u00a0\f\r\n]+/
";
