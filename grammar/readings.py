"""Where `--` begins a comment that may have been meant as two signs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grammar import complaints
from grammar.diagnostics import Diagnostic
from grammar.scan import Token
from grammar.source import Span
from grammar.tree import Comment

__all__ = ["warn"]

_OPERATORS = frozenset(["PLUS", "MINUS", "STAR", "SLASH", "CARET", "COMPARE", "LESSEQUAL"])
_OPENS_VALUE = _OPERATORS | {"EQUAL", "LSQB", "VS"}
_FIRST_WORD = re.compile(r"[^\s,;]{1,20}")
_SHOWN = 20
_MOST = 1000


def warn(
    text: str, tokens: Sequence[Token], doubtful: Sequence[tuple[int, Comment]]
) -> list[Diagnostic]:
    """A warning for each doubtful comment that stands where a value could go on.

    `doubtful` holds comments behind code with the number of tokens before each.
    """
    if not doubtful:
        return []
    findings = []
    inside: list[bool] = []
    closed_value = False
    position = 0
    for count, comment in doubtful[:_MOST]:
        while position < count:
            kind = tokens[position][0]
            if kind == "LSQB":
                inside.append(True)
            elif kind == "LPAR":
                inside.append(_value_may_stand(tokens, position, inside))
            elif kind in ("RPAR", "RSQB"):
                closed_value = inside.pop() if inside else False
            position += 1
        kind = tokens[count - 1][0]
        operand = kind == "NUMBER" or (
            closed_value
            if kind in ("RPAR", "RSQB")
            else kind in ("NAME", "QUOTED") and _value_may_stand(tokens, count - 1, inside)
        )
        if operand or kind in _OPENS_VALUE or (kind in ("LPAR", "COMMA") and inside[-1:] == [True]):
            findings.append(_warning(text, tokens[count - 1], comment, operand))
    return findings


def _value_may_stand(tokens: Sequence[Token], position: int, inside: Sequence[bool]) -> bool:
    """Whether the token there begins an operand; for a bracket, also that of a call."""
    before = tokens[position - 1][0] if position else ""
    if before in ("LPAR", "COMMA"):
        return inside[-1:] == [True]
    if before == "NAME" and tokens[position][0] == "LPAR":
        return _value_may_stand(tokens, position - 1, inside)
    return before in _OPENS_VALUE


def _warning(text: str, previous: Token, comment: Comment, operand: bool) -> Diagnostic:
    _, _, start, end, _ = previous
    before = text[max(start, end - _SHOWN) : end]
    if not operand or previous[0] in ("RPAR", "RSQB"):
        before = text[max(0, end - _SHOWN) : end].rpartition("\n")[2].strip()
    match = _FIRST_WORD.match(comment.text, 2)
    after = match[0] if match else ""
    place = Span(comment.span.start, comment.span.start + 2)
    return complaints.doubtful_comment(before, after, operand, place)
