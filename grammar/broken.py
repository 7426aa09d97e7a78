"""What a statement that cannot be read would have defined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from grammar.scan import Token
from grammar.source import Span
from grammar.tree import Broken
from grammar.words import STATEMENT_WORDS, VERBS

__all__ = ["remains"]


def remains(tokens: Sequence[Token]) -> Broken:
    """The statement word, the method and the names that `tokens` seem to define.

    These are the name behind the statement word, that behind AS, and the sites of a dataset.
    """
    word = tokens[0][0] if tokens[0][0] in STATEMENT_WORDS else ""
    names: list[str] = []
    method = ""
    if word in VERBS and len(tokens) > 1:
        method = tokens[1][1].lower()
    elif word and len(tokens) > 1:
        names += _plain(tokens[1])
    for index, (before, token) in enumerate(pairwise(tokens)):
        after = tokens[index + 2][1].upper() if index + 2 < len(tokens) else ""
        if before[0] == "AS" or (after == "ROWS" and before[1] in ("(", ",")):
            names += _plain(token)
    return Broken(word, tuple(names), method, Span(tokens[0][2], tokens[-1][3]))


def _plain(token: Token) -> list[str]:
    if token[0] == "QUOTED":
        return [token[1][1:-1].replace('""', '"')]
    return [token[1]] if token[1].isidentifier() else []
