"""What is wrong with single characters or tokens, in words; each function is one code.

E001 unreadable · E002 too large · E003 too many statements · E004 too deep · E005 hidden character
E006 mixed scripts · E007 unclosed comment · E008 unclosed quote · E009 malformed number
E010 number beyond the limits · E011 character or name that does not belong. What is wrong with
whole statements is said by grammar/expectations.py (E012 and up).
"""

from __future__ import annotations

from collections.abc import Sequence

from grammar import limits
from grammar.characters import describe
from grammar.diagnostics import Diagnostic, Severity
from grammar.source import Span

__all__ = [
    "doubtful_comment",
    "empty",
    "empty_name",
    "foreign_name",
    "given_twice",
    "hidden",
    "long_number",
    "malformed_number",
    "many_faults",
    "many_hidden",
    "mixed_scripts",
    "strange_character",
    "too_deep",
    "too_large",
    "too_long",
    "too_many",
    "unclosed_comment",
    "unclosed_quote",
    "unreadable",
]

_SHOWN = 40
_TYPED = {
    "\u00a0": "a plain space",
    "\u2007": "a plain space",
    "\u202f": "a plain space",
    "\u2018": "`'` for a string",
    "\u2019": "`'` for a string",
    "\u201c": "`\"` for a name, `'` for a string",
    "\u201d": "`\"` for a name, `'` for a string",
    "\u2212": "`-`",
    "\u2013": "`-` for a minus sign, `--` for a comment",
    "\u2014": "`-` for a minus sign, `--` for a comment",
    "\u00d7": "`*`",
    "\u2265": "`>=`",
    "\u2264": "`<=`",
    "\u223c": "`~`",
    "#": "`--` before a comment",
    "{": "`(` or `[`",
    "}": "`)` or `]`",
    "\\": "`/` for a quotient",
    "`": '`"` around a name',
    "&": "`AND`",
}


def shown(text: str) -> str:
    """The user's words in backticks, shortened."""
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 3] + '...'}`"


def unreadable(message: str, help: str, span: Span | None = None) -> Diagnostic:
    """E001: the file is no UTF-8 text."""
    return Diagnostic("DPQL-E001", message, span, help=help)


def too_large() -> Diagnostic:
    """E002: the file has more than 1 MiB."""
    return Diagnostic(
        "DPQL-E002",
        "the file is larger than 1 MiB",
        note="nothing in it was read",
        help="split it into several files; rows of data do not belong into a query",
    )


def too_many(span: Span) -> Diagnostic:
    """E003: more than 10,000 statements."""
    return Diagnostic(
        "DPQL-E003",
        f"more than {limits.STATEMENTS:,} statements in one file",
        span,
        note="what follows here was not read",
        help="split it into several files",
    )


def too_deep(span: Span) -> Diagnostic:
    """E004: brackets, signs or powers stand too deep in each other."""
    return Diagnostic(
        "DPQL-E004",
        f"brackets, signs or powers stand more than {limits.NESTING} deep in each other",
        span,
        help="name a part of the expression with LET and use the name",
    )


def too_long(span: Span) -> Diagnostic:
    """E004: one expression has too many operators."""
    return Diagnostic(
        "DPQL-E004",
        f"more than {limits.CHAIN} operators in one expression",
        span,
        help="name a part of the expression with LET and use the name",
    )


def hidden(characters: str, span: Span) -> Diagnostic:
    """E005: what a reader cannot see."""
    more = f" and {len(characters) - 1} more" if len(characters) > 1 else ""
    return Diagnostic(
        "DPQL-E005",
        f"an invisible or direction-changing character: {describe(characters[0])}{more}",
        span,
        note="a reviewer would see another text than the one that is read, "
        "so these are refused in strings and comments too",
        help="save the file with line ends LF or CRLF" if characters[0] == "\r" else "delete it",
    )


def many_hidden(span: Span) -> Diagnostic:
    """E005: too many to list."""
    return Diagnostic(
        "DPQL-E005",
        "more invisible or direction-changing characters follow",
        span,
        help="was this file made by a word processor? save it as plain text",
    )


def mixed_scripts(name: str, found: Sequence[str], span: Span) -> Diagnostic:
    """E006: letters of several scripts in one name."""
    return Diagnostic(
        "DPQL-E006",
        f"the name {shown(name)} mixes {' and '.join(found[:3])} letters",
        span,
        note="letters of different scripts can look alike, and two names must not",
        help="type the whole name in one script",
    )


def unclosed_comment(span: Span) -> Diagnostic:
    """E007: `/*` without `*/`."""
    return Diagnostic(
        "DPQL-E007",
        "the comment that begins here is never closed",
        span,
        note="nothing after it was read",
        help="end it with `*/`",
    )


def unclosed_quote(text: str, span: Span) -> Diagnostic:
    """E008: a string or a quoted name that does not end on its line."""
    what, mark = ("string", "'") if text[0] == "'" else ("quoted name", '"')
    return Diagnostic(
        "DPQL-E008",
        f"the {what} is not closed on its line",
        span,
        note=f"a {what} cannot cross the end of a line",
        help=f"end it with `{mark}`; write `{mark}{mark}` for this mark inside it",
    )


def empty_name(span: Span) -> Diagnostic:
    """E011: `""`."""
    return Diagnostic(
        "DPQL-E011", 'the quoted name `""` is empty', span, help="strings stand in `'...'`"
    )


def malformed_number(text: str, span: Span) -> Diagnostic:
    """E009: `1_000`, `5x`, `0x10`, `1.2.3`, `1e`."""
    plain = text.replace("_", "")
    if "_" in text and plain.isdecimal():
        help = f"write {shown(plain)}"
    elif text[:2].lower() in ("0x", "0b", "0o"):
        help = "write it with decimal digits"
    else:
        help = "a number is written `5`, `0.5` or `1e-6`; a name begins with a letter"
    return Diagnostic("DPQL-E009", f"{shown(text)} is not a number", span, help=help)


def long_number(text: str, reason: str, span: Span) -> Diagnostic:
    """E010: too many digits, or an exponent out of range."""
    return Diagnostic("DPQL-E010", f"the number {shown(text)} is out of range", span, note=reason)


def foreign_name(text: str, span: Span) -> Diagnostic:
    """E011: a bare name with letters beyond A to Z."""
    return Diagnostic(
        "DPQL-E011",
        f"the name {shown(text)} has letters beyond `A` to `Z`",
        span,
        help=f'write it in quotes: `"{text[:_SHOWN]}"`',
    )


def given_twice(word: str, span: Span) -> Diagnostic:
    """E018: the same detail of a column twice."""
    return Diagnostic("DPQL-E018", f"`{word}` is given twice for one column", span)


def strange_character(character: str, span: Span) -> Diagnostic:
    """E011: a character that the language does not use."""
    what = f"`{character}`"
    if not character.isascii():
        what = f"the character {describe(character[0])}"
    typed = _TYPED.get(character[0])
    return Diagnostic(
        "DPQL-E011",
        f"{what} has no meaning outside quotes",
        span,
        help=f"type {typed}" if typed else "",
    )


def many_faults(span: Span | None) -> Diagnostic:
    """E011: too many to list."""
    return Diagnostic("DPQL-E011", "more that does not belong here follows", span)


def doubtful_comment(before: str, after: str, operand: bool, span: Span) -> Diagnostic:
    """W201: `0.5--0.2` reads as `0.5` with a comment, and may be meant as `0.5 - -0.2`."""
    other = f"{before} - -{after}"
    ending = (
        f"and the value is {shown(before)}" if operand else f"and nothing follows {shown(before)}"
    )
    return Diagnostic(
        "DPQL-W201",
        f"`--` begins a comment here, {ending}",
        span,
        Severity.WARNING,
        note=f"with a space between the signs it is read as {shown(other)}",
        help=f"write {shown(other)} for two signs, or a space after `--` for a comment",
    )


def empty(span: Span) -> Diagnostic:
    """W202: nothing to do."""
    return Diagnostic(
        "DPQL-W202",
        "the file has no statements",
        span,
        Severity.WARNING,
        help="begin with `DATASET name ROWS n COLUMNS (...)`",
    )
