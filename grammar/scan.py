"""The tokens of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from grammar import complaints
from grammar.characters import hidden, scripts
from grammar.diagnostics import Diagnostic
from grammar.source import Span
from grammar.tree import Comment
from grammar.words import RESERVED

__all__ = ["FAULT", "Scan", "Token", "scan"]

Token: TypeAlias = tuple[str, str, int, int, bool]
"""Kind, text as written, start, end, and whether it is the first on its line."""

FAULT = "FAULT"
"""The kind of what is no token; a finding says why."""

_PATTERN = re.compile(
    r"""[ \t]*+(?:
      (?P<WORD>[A-Za-z_][A-Za-z0-9_]*+(?!\w))
    | (?P<BREAK>[\r\n][ \t\r\n]*+)
    | (?P<NUMBER>(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+(?![\w.]))
    | (?P<COMMENT>--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)
    | (?P<OPEN>/\*)
    | (?P<MARK><=|>=|==|!=|[-+*/^()\[\],=.<>~:|%;])
    | (?P<STRING>'(?:[^'\r\n]++|'')*+')
    | (?P<QUOTED>"(?:[^"\r\n]++|"")*+")
    | (?P<FOREIGN>[^\W\d]\w*+)
    | (?P<MALFORMED>\.?[0-9][\w.]*+)
    | (?P<UNCLOSED>['"][^\r\n]*+)
    | (?P<END>\Z)
    | (?P<STRANGE>[\u2018\u201c\u00ab][^\u2019\u201d\u00bb\r\n]*+[\u2019\u201d\u00bb]?|.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_MARKS = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ".": "DOT",
    "=": "EQUAL",
    "<=": "LESSEQUAL",
    ">=": "COMPARE",
    "<": "COMPARE",
    ">": "COMPARE",
    "==": "COMPARE",
    "!=": "COMPARE",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "^": "CARET",
    ":": "COLON",
    "|": "BAR",
    "~": "TILDE",
    "%": "PERCENT",
    ";": "SEMICOLON",
}
_KINDS = {word: word for word in RESERVED} | {"AUTO": "AUTO"}
# Enough to correct a file; a hostile one does not fill the screen.
_MOST_HIDDEN = 100
_MOST_FAULTS = 1000


@dataclass(frozen=True, slots=True)
class Scan:
    """A text's tokens and comments in order, and what is wrong with its characters.

    `doubtful` holds each comment that begins like two minus signs before a value, with the number
    of tokens before it.
    """

    tokens: list[Token]
    comments: list[Comment]
    findings: list[Diagnostic]
    doubtful: list[tuple[int, Comment]]


def scan(text: str) -> Scan:
    """Cuts a text into tokens; the time is linear in its length.

    What cannot be read becomes a token of kind FAULT, so that its statement is not judged further.
    After an unclosed block comment nothing is read.
    """
    result = Scan([], [], _hidden(text), [])
    tokens, findings = result.tokens, result.findings
    add = tokens.append
    memory: dict[str, str] = {}
    first = True
    faults = 0
    for match in _PATTERN.finditer(text, 1 if text.startswith("\ufeff") else 0):
        group = match.lastgroup
        assert group is not None
        if group == "WORD":
            start, end = match.span(group)
            word = match[group]
            kind = memory.get(word)
            if kind is None:
                kind = memory[word] = _KINDS.get(word.upper(), "NAME")
            add((kind, word, start, end, first))
            first = False
        elif group == "BREAK":
            first = True
        elif group == "MARK":
            start, end = match.span(group)
            mark = match[group]
            add((_MARKS[mark], mark, start, end, first))
            first = False
        elif group == "NUMBER" or group == "STRING":
            start, end = match.span(group)
            add((group, match[group], start, end, first))
            first = False
        elif group == "COMMENT":
            first = _comment(match[group], match.start(group), first, result)
        elif group == "END":
            break
        elif group == "OPEN":
            start, end = match.span(group)
            findings.append(complaints.unclosed_comment(Span(start, end)))
            add((FAULT, match[group], start, end, first))
            break
        else:
            start, end = match.span(group)
            kind = FAULT
            if faults <= _MOST_FAULTS and not _goes_on(tokens, start):
                finding = _fault(group, match[group], Span(start, end))
                if finding is not None:
                    faults += 1
                    many = faults > _MOST_FAULTS
                    findings.append(complaints.many_faults(finding.span) if many else finding)
                elif group == "QUOTED":
                    kind = group
            add((kind, match[group], start, end, first))
            first = False
    return result


def _goes_on(tokens: list[Token], start: int) -> bool:
    """Whether what begins here only continues a fault that was told."""
    return bool(tokens) and tokens[-1][0] == FAULT and tokens[-1][3] == start


def _comment(text: str, start: int, first: bool, result: Scan) -> bool:
    """Keeps a comment; whether what follows stands on a new line."""
    line = text.startswith("--")
    kept = text.rstrip() if line else text
    comment = Comment(kept, first, Span(start, start + len(kept)))
    result.comments.append(comment)
    if line and not first and text[2:3] in _BEFORE_A_VALUE:
        result.doubtful.append((len(result.tokens), comment))
    return first or "\n" in text


_BEFORE_A_VALUE = frozenset("0123456789.(")


def _fault(group: str, text: str, span: Span) -> Diagnostic | None:
    """What is wrong with a rare token; None for a good name or a character reported already."""
    if group in ("QUOTED", "FOREIGN"):
        found = scripts(text)
        if len(found) > 1:
            return complaints.mixed_scripts(text, found, span)
        if group == "QUOTED":
            return complaints.empty_name(span) if text == '""' else None
        return complaints.foreign_name(text, span)
    if group == "MALFORMED":
        return complaints.malformed_number(text, span)
    if group == "UNCLOSED":
        return complaints.unclosed_quote(text, span)
    if next(hidden("x" + text), None) is not None:
        return None
    return complaints.strange_character(text, span)


def _hidden(text: str) -> list[Diagnostic]:
    findings = []
    for number, (start, end) in enumerate(hidden(text)):
        if number == _MOST_HIDDEN:
            findings.append(complaints.many_hidden(Span(start, end)))
            break
        findings.append(complaints.hidden(text[start:end], Span(start, end)))
    return findings
