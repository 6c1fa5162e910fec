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

/// How many characters the regular expression has that Lark makes of a terminal of its library: a
/// lexer tries the longest first.
pub(crate) fn length(path: &str, name: &str) -> Option<usize> {
    let lengths = match path {
        "common" => COMMON_LENGTHS,
        "python" => PYTHON_LENGTHS,
        _ => UNICODE_LENGTHS,
    };
    lengths.iter().find(|(known, _)| *known == name).map(|&(_, length)| length)
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
NAME: /[^\W\d]\w*/
COMMENT: /#[^\n]*/
_NEWLINE: (/\r?\n[\t ]*/ | COMMENT)+
_PREFIX: /[ubf]?r?|r[ubf]/i
STRING: _PREFIX (/"(?:[^"\\\n]|\\[^\n])*"/ | /'(?:[^'\\\n]|\\[^\n])*'/)
LONG_STRING: _PREFIX (/"""(?:"?"?(?:[^"\\]|\\[\s\S]))*"""/ | /'''(?:'?'?(?:[^'\\]|\\[\s\S]))*'''/)
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

const COMMON_LENGTHS: &[(&str, usize)] = &[
    ("DIGIT", 5),
    ("HEXDIGIT", 21),
    ("INT", 10),
    ("SIGNED_INT", 24),
    ("_EXP", 31),
    ("DECIMAL", 44),
    ("FLOAT", 126),
    ("SIGNED_FLOAT", 140),
    ("NUMBER", 141),
    ("SIGNED_NUMBER", 155),
    ("_STRING_INNER", 3),
    ("_STRING_ESC_INNER", 18),
    ("ESCAPED_STRING", 20),
    ("LCASE_LETTER", 5),
    ("UCASE_LETTER", 5),
    ("LETTER", 15),
    ("WORD", 20),
    ("CNAME", 53),
    ("WS_INLINE", 13),
    ("WS", 12),
    ("CR", 1),
    ("LF", 1),
    ("NEWLINE", 12),
    ("SH_COMMENT", 6),
    ("CPP_COMMENT", 9),
    ("C_COMMENT", 13),
    ("SQL_COMMENT", 7),
];

const PYTHON_LENGTHS: &[(&str, usize)] = &[
    ("NAME", 10),
    ("COMMENT", 6),
    ("_NEWLINE", 24),
    ("STRING", 72),
    ("LONG_STRING", 68),
    ("_SPECIAL_DEC", 21),
    ("DEC_NUMBER", 48),
    ("HEX_NUMBER", 40),
    ("OCT_NUMBER", 24),
    ("BIN_NUMBER", 24),
    ("_EXP", 42),
    ("DECIMAL", 77),
    ("FLOAT_NUMBER", 192),
    ("IMAG_NUMBER", 225),
];

const UNICODE_LENGTHS: &[(&str, usize)] = &[("WS_INLINE", 10), ("WS", 13)];
