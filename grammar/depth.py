"""How deep a statement nests, measured before it is parsed so that nothing later can overflow."""

from __future__ import annotations

from collections.abc import Sequence

from grammar import complaints
from grammar.diagnostics import Diagnostic
from grammar.limits import CHAIN, NESTING
from grammar.scan import Token
from grammar.source import Span

__all__ = ["check"]

_SIGNS = frozenset(["PLUS", "MINUS"])
_BINARY = frozenset(["STAR", "SLASH", "COLON", "BAR"])
_OPENING = frozenset(["LPAR", "LSQB"])
_CLOSING = frozenset(["RPAR", "RSQB"])
_COUNTED = _SIGNS | _BINARY | _OPENING | {"CARET"}
_OPERANDS = frozenset(["NUMBER", "STRING", "NAME", "QUOTED", "AUTO", "RPAR", "RSQB", "FAULT"])


class _Level:
    """Inside one bracket: heights of the operand, the element and the whole that is being read."""

    __slots__ = ("height", "nested", "operators", "run", "tallest")

    def __init__(self) -> None:
        self.run = 0  # signs and powers of this operand
        self.nested = 0  # the tallest bracket of this operand
        self.height = 0  # the tallest finished operand of this element
        self.operators = 0  # between operands of this element
        self.tallest = 0  # the tallest finished element

    def element(self) -> int:
        return self.operators + max(self.height, self.run + self.nested)

    def next_operand(self) -> int:
        run, self.height = self.run, max(self.height, self.run + self.nested)
        self.run = self.nested = 0
        return run

    def next_element(self) -> int:
        self.tallest = max(self.tallest, self.element())
        run = self.next_operand()
        self.height = self.operators = 0
        return run


def check(tokens: Sequence[Token]) -> Diagnostic | None:
    """The place where brackets, signs, powers nest too deep, or a chain of operators is too long.

    What passes has a tree of at most NESTING + CHAIN nodes from root to leaf of an expression.
    """
    if len(tokens) <= NESTING or sum(token[0] in _COUNTED for token in tokens) <= NESTING:
        return None
    levels = [_Level()]
    depth = 0
    before = ""
    for kind, _, start, end, _ in tokens:
        level = levels[-1]
        if kind in _OPENING:
            levels.append(_Level())
            depth += 1
        elif kind in _CLOSING:
            if len(levels) > 1:
                depth -= level.next_element() + 1
                levels.pop()
                levels[-1].nested = max(levels[-1].nested, level.tallest + 1)
        elif kind in _BINARY or (kind in _SIGNS and before in _OPERANDS):
            depth -= level.next_operand()
            level.operators += 1
        elif kind in _SIGNS or kind == "CARET":
            level.run += 1
            depth += 1
        elif kind != "DOT" and (kind not in _OPERANDS or before in _OPERANDS):
            depth -= level.next_element()
        if depth > NESTING:
            return complaints.too_deep(Span(start, end))
        level = levels[-1]
        if level.operators > CHAIN or level.element() > NESTING + CHAIN:
            return complaints.too_long(Span(start, end))
        before = kind
    return None
