"""Going on behind a fault in DATASET or POLICY, at the next column or clause."""

from __future__ import annotations

from collections.abc import Sequence

from grammar.scan import Token
from grammar.words import DATASET_CLAUSES, POLICY_CLAUSES

__all__ = ["without"]

_CLAUSES = DATASET_CLAUSES | POLICY_CLAUSES
_OPENING = frozenset(["LPAR", "LSQB"])
_CLOSING = frozenset(["RPAR", "RSQB"])


def without(tokens: Sequence[Token], index: int) -> tuple[list[Token], int] | None:
    """The statement less the column or clause around the token at `index`, and where that was.

    None where no such part has a clear end, as behind a bracket that is never closed.
    """
    depth = _depths(tokens)
    if index >= len(tokens):
        return None
    if depth[index] > 0:
        part = _element(tokens, depth, index)
        if part is not None:
            return _cut(tokens, *part)
    start = index
    while start > 1 and not (depth[start] == 0 and tokens[start][0] in _CLAUSES):
        start -= 1
    end = index + 1 if start < index else index
    while end < len(tokens) and not (depth[end] == 0 and tokens[end][0] in _CLAUSES):
        end += 1
    return _cut(tokens, max(start, 2), end) if 2 <= max(start, 2) < end < len(tokens) else None


def _depths(tokens: Sequence[Token]) -> list[int]:
    """How many brackets are open around each token; a bracket itself lies outside."""
    result = []
    depth = 0
    for token in tokens:
        if token[0] in _CLOSING:
            depth = max(0, depth - 1)
        result.append(depth)
        if token[0] in _OPENING:
            depth += 1
    return result


def _element(tokens: Sequence[Token], depth: Sequence[int], index: int) -> tuple[int, int] | None:
    """The part of a list around a token, with one of its commas."""
    start = index
    while start > 0 and depth[start - 1] >= 1 and not _is_comma(tokens, depth, start - 1):
        start -= 1
    end = index
    while end < len(tokens) and depth[end] >= 1 and not _is_comma(tokens, depth, end):
        end += 1
    if end == len(tokens):
        return None
    if _is_comma(tokens, depth, end):
        return start, end + 1
    return (start - 1, end) if _is_comma(tokens, depth, start - 1) else None


def _is_comma(tokens: Sequence[Token], depth: Sequence[int], index: int) -> bool:
    return tokens[index][0] == "COMMA" and depth[index] == 1


def _cut(tokens: Sequence[Token], start: int, end: int) -> tuple[list[Token], int]:
    return [*tokens[:start], *tokens[end:]], start
