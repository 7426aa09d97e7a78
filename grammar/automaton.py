"""The LALR(1) machine that runs over a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from grammar.scan import Token
from grammar.table import END, Table

__all__ = ["Action", "Automaton", "Stuck"]

Action: TypeAlias = Callable[[list[Any], int, int], Any]
"""Makes a node of its children and of the start and end of what it stands for."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """Where the machine stopped: the index of the token that fits nothing, and what would fit.

    The index is the number of tokens where the text ended too early. `complete` tells that
    everything before this token is a statement.
    """

    index: int
    expected: frozenset[str]
    complete: bool


class Automaton:
    """Reads one statement's tokens; the work is linear and never recurses."""

    def __init__(self, table: Table, actions: Mapping[str, Action]) -> None:
        self._actions = table.actions
        self._moves = table.moves
        self._start = table.start
        self._end = table.end
        self._leaps: dict[tuple[int, str, str], int] = {}
        self._rules = tuple(
            (rule.length, rule.origin, actions[rule.action] if rule.action else None)
            for rule in table.productions
        )

    def read(self, tokens: Sequence[Token]) -> Any | Stuck:
        """The node of the statement, or where it went wrong."""
        actions, rules, leaps, accepting = self._actions, self._rules, self._leaps, self._end
        states = [self._start]
        values: list[Any] = []
        starts: list[int] = []
        end = tokens[0][2] if tokens else 0
        state = self._start
        for index, token in enumerate((*tokens, None)):
            kind = END if token is None else token[0]
            while True:
                step = actions[state].get(kind)
                if step is None:
                    return self._stuck(states, index)
                if token is not None and step >= 0:
                    state = step
                    states.append(state)
                    values.append(token)
                    starts.append(token[2])
                    end = token[3]
                    break
                length, origin, action = rules[-1 - step]
                if length == 1:
                    if action is not None:
                        values[-1] = action(values[-1:], starts[-1], end)
                    states.pop()
                elif length:
                    children = values[-length:]
                    del values[-length:], states[-length:]
                    if length > 1:
                        del starts[1 - length :]
                    values.append(
                        children[0] if action is None else action(children, starts[-1], end)
                    )
                else:
                    assert action is not None
                    values.append(action([], end, end))
                    starts.append(end)
                place = (states[-1], origin, kind)
                leap = leaps.get(place)
                state = self._leap(place) if leap is None else leap
                if state == accepting:
                    return values[-1]
                states.append(state)
        raise AssertionError("the end of the text is always a step or a stop")

    def _leap(self, place: tuple[int, str, str]) -> int:
        """The state after a rule, and after those of one symbol that only pass its node on."""
        base, origin, kind = place
        state = self._moves[base][origin]
        while state != self._end:
            step = self._actions[state].get(kind, 0)
            if step >= 0:
                break
            length, origin, action = self._rules[-1 - step]
            if length != 1 or action is not None:
                break
            state = self._moves[base][origin]
        self._leaps[place] = state
        return state

    def _stuck(self, states: list[int], index: int) -> Stuck:
        fits = frozenset(kind for kind in self._actions[states[-1]] if self._accepts(states, kind))
        return Stuck(index, fits - {END}, END in fits)

    def _accepts(self, states: list[int], kind: str) -> bool:
        """Whether a terminal could follow: reductions may turn out to lead nowhere."""
        trial = list(states)
        while True:
            step = self._actions[trial[-1]].get(kind)
            if step is None:
                return False
            if step >= 0:
                return True
            length, origin, _ = self._rules[-1 - step]
            if length:
                del trial[-length:]
            trial.append(self._moves[trial[-1]][origin])
            if trial[-1] == self._end:
                return True
