"""The shipped table is the grammar's, and runs as lark would run it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer

from grammar.automaton import Automaton, Stuck
from grammar.build import Builder
from grammar.scan import scan
from grammar.split import classify, split
from grammar.table import GRAMMAR, SHIPPED, build, load

CORPUS = Path(__file__).parents[1] / "corpus"


class Given(Lexer):
    """Hands lark the tokens as they are."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, tokens: Any) -> Any:
        return iter(tokens)


def test_the_shipped_table_equals_a_fresh_build() -> None:
    assert SHIPPED.read_text("utf-8") == build()


def test_our_automaton_accepts_exactly_what_lark_accepts() -> None:
    lark = Lark(GRAMMAR.read_text("utf-8"), parser="lalr", lexer=Given)
    ours = Automaton(load(), Builder().actions())
    rng = random.Random(3)
    statements = [
        classify(chunk)
        for path in sorted((CORPUS / "ok").glob("*.dpql"))
        for chunk in split(scan(path.read_text("utf-8")).tokens)
    ]
    kinds = sorted({token for statement in statements for token in statement})
    tried = {True: 0, False: 0}
    for _ in range(3000):
        tokens = list(rng.choice(statements))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(tokens))
            tokens[at : at + rng.randrange(3)] = rng.sample(kinds, rng.randrange(2))
            tokens = tokens or [kinds[0]]
        result = ours.read(tokens)
        try:
            lark.parse([Token(token[0], token[1]) for token in tokens])
            accepted = True
        except UnexpectedInput:
            accepted = False
        assert accepted == (not isinstance(result, Stuck))
        tried[accepted] += 1
    assert min(tried.values()) > 500
