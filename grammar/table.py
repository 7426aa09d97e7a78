"""The LALR table of the grammar: shipped as JSON, rebuilt with `python -m grammar.table`.

The shipped table needs neither lark nor its cache when a file is read; lark is loaded only to
rebuild it. A conflict in the grammar stops the rebuild.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Production", "Table", "build", "load"]

HERE = Path(__file__).parent
GRAMMAR = HERE / "dpql.lark"
SHIPPED = HERE / "dpql.table.json"
END = "$END"


@dataclass(frozen=True, slots=True)
class Production:
    """One rule: what it yields, how many symbols it takes, and which function makes the node."""

    origin: str
    length: int
    action: str


@dataclass(frozen=True, slots=True)
class Table:
    """An LALR(1) automaton.

    `actions[state][terminal]` is the next state if not negative, else `-1 - production`;
    `moves[state][rule]` is the state after that rule. `end` is the state that accepts.
    """

    productions: tuple[Production, ...]
    actions: tuple[dict[str, int], ...]
    moves: tuple[dict[str, int], ...]
    start: int
    end: int


def load() -> Table:
    """The shipped table."""
    return _table(json.loads(SHIPPED.read_text("utf-8")))


def _table(form: dict[str, Any]) -> Table:
    return Table(
        tuple(Production(*row) for row in form["productions"]),
        tuple(form["actions"]),
        tuple(form["moves"]),
        form["start"],
        form["end"],
    )


def build() -> str:
    """A fresh table as the text of `dpql.table.json`; raises lark's GrammarError on a conflict."""
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        def __init__(self, conf: object) -> None:
            pass

        def lex(self, lexer_state: object, parser_state: object) -> Any:
            raise TypeError("the table is built without reading a text")

    grammar = Lark(
        GRAMMAR.read_text("utf-8"),
        parser="lalr",
        lexer=NoLexer,
        strict=True,
        maybe_placeholders=False,
        keep_all_tokens=True,
    )
    parsed: Any = grammar.parser.parser
    automaton = parsed._parse_table
    rules = sorted(
        grammar.rules, key=lambda rule: (rule.origin.name, [s.name for s in rule.expansion])
    )
    numbers = {rule: number for number, rule in enumerate(rules)}
    order = _order(automaton.states, automaton.start_states["start"], Shift)
    place = {state: index for index, state in enumerate(order)}
    actions: list[dict[str, int]] = []
    moves: list[dict[str, int]] = []
    for state in order:
        steps: dict[str, int] = {}
        leaps: dict[str, int] = {}
        for symbol, (action, argument) in automaton.states[state].items():
            if action is not Shift:
                steps[symbol] = -1 - numbers[argument]
            elif symbol.isupper():  # lark writes terminals in upper case, `$END` among them
                steps[symbol] = place[argument]
            else:
                leaps[symbol] = place[argument]
        actions.append(dict(sorted(steps.items())))
        moves.append(dict(sorted(leaps.items())))
    productions = [[r.origin.name, len(r.expansion), r.alias or ""] for r in rules]
    form = {
        "productions": productions,
        "actions": actions,
        "moves": moves,
        "start": place[automaton.start_states["start"]],
        "end": place[automaton.end_states["start"]],
    }
    return _text(form)


def _order(states: Any, start: Any, shift: Any) -> list[Any]:
    """The states breadth first, symbols by name: lark numbers them differently in every process."""
    order = [start]
    seen = {start}
    for state in order:
        for _, (action, target) in sorted(states[state].items()):
            if action is shift and target not in seen:
                seen.add(target)
                order.append(target)
    return order


def _text(form: dict[str, Any]) -> str:
    """JSON with one row a line, so that a change of the grammar shows as a small difference."""
    parts = []
    for key, value in form.items():
        if isinstance(value, list):
            rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in value)
            parts.append(f'"{key}": [\n{rows}\n]')
        else:
            parts.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    SHIPPED.write_text(build(), "utf-8")
