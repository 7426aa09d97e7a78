"""Where one statement ends.

A statement begins at a statement word, except where a name is demanded on the same line (after
another statement word, AS, ON, VS, AT, BY, `=`, `.`, an operator) or after `(` or `,` inside
brackets. Only where such a bracket is never closed does a statement word at the head of a line
begin a statement all the same, so that a forgotten `)` does not hide what follows.
"""

from __future__ import annotations

import itertools

from grammar.scan import Token
from grammar.words import COST_WORDS, LOCAL_WORDS, RESERVED, STATEMENT_WORDS, VERBS

__all__ = ["classify", "demands_name", "split"]

_STARTS = frozenset(STATEMENT_WORDS)
_VERBS = frozenset(VERBS)
_OPERATORS = frozenset(
    ["PLUS", "MINUS", "STAR", "SLASH", "CARET", "COLON", "BAR", "TILDE", "COMPARE", "LESSEQUAL"]
)
_DEMANDING = _STARTS | _OPERATORS | frozenset(["AS", "ON", "VS", "AT", "BY", "EQUAL", "DOT"])
_BRACKETS = frozenset(["LPAR", "RPAR", "LSQB", "RSQB"])
_NOTED = _STARTS | _BRACKETS | {"SEMICOLON"}
_COSTS = frozenset(COST_WORDS)
_NO_WORDS: frozenset[str] = frozenset()
_NOTHING: Token = ("", "", 0, 0, True)


def split(tokens: list[Token]) -> list[list[Token]]:
    """The tokens of each statement; only the first, or one after `;`, may lack a statement word."""
    chunks: list[list[Token]] = []
    current: list[Token] = []
    # Every bracket has a number; `waiting` holds statement words that a bracket keeps inside.
    opened: list[int] = []
    closed: set[int] = set()
    waiting: list[tuple[int, int]] = []
    number = 0
    previous = _NOTHING
    for token in tokens:
        kind = token[0]
        if kind in _NOTED:
            if kind in _STARTS:
                demanded = not token[4] and previous[0] in _DEMANDING
                if not demanded and opened and previous[0] in ("LPAR", "COMMA"):
                    if token[4]:
                        waiting.append((len(current), opened[-1]))
                elif not demanded and current:
                    chunks += _pieces(current, waiting, closed)
                    current, opened, closed, waiting = [], [], set(), []
            elif kind == "LPAR" or kind == "LSQB":
                opened.append(number)
                number += 1
            elif kind == "SEMICOLON":
                if not opened:
                    if current:
                        chunks.append(current)
                        current, closed, waiting = [], set(), []
                    previous = _NOTHING
                    continue
            elif opened:
                closed.add(opened.pop())
        current.append(token)
        previous = token
    if current:
        chunks += _pieces(current, waiting, closed)
    return chunks


def demands_name(previous: Token) -> bool:
    """Whether a name must follow this token on its line, so that no statement can begin there."""
    return previous[0] in _DEMANDING


def _pieces(
    tokens: list[Token], waiting: list[tuple[int, int]], closed: set[int]
) -> list[list[Token]]:
    cuts = [index for index, bracket in waiting if bracket not in closed]
    if not cuts:
        return [tokens]
    bounds = [0, *cuts, len(tokens)]
    return [tokens[low:high] for low, high in itertools.pairwise(bounds)]


def classify(tokens: list[Token]) -> list[Token]:
    """The tokens of one statement as its grammar reads them.

    The word after a verb on the same line is a method. The words of DATASET and POLICY count in
    their own statement. `eps`, `delta`, `rho`, `mu` before `=` are costs, but for a comparison in
    EXPECT; the comma before `delta=` is optional everywhere and goes.
    """
    statement = tokens[0][0]
    local = LOCAL_WORDS.get(statement, _NO_WORDS)
    result: list[Token] = []
    add = result.append
    before = ""
    for token in tokens:
        kind = token[0]
        if before in _VERBS and not token[4] and (kind in RESERVED or kind in ("NAME", "AUTO")):
            token = ("METHOD", *token[1:])
        elif kind == "NAME":
            if local and token[1].upper() in local:
                token = (token[1].upper(), *token[1:])
        elif kind == "EQUAL" and before == "NAME" and statement != "EXPECT":
            word = result[-1][1].lower()
            if word in _COSTS:
                _cost(result, word)
        add(token)
        before = token[0]
    return result


def _cost(result: list[Token], word: str) -> None:
    kind = "DELTA" if word == "delta" else "COST"
    result[-1] = (kind, *result[-1][1:])
    if kind == "DELTA" and len(result) > 1 and result[-2][0] == "COMMA":
        del result[-2]
