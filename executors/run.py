"""A started plan, to its releases; the only place that opens data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from executors.data.source import Reader, Source
from executors.noise import Sampler, StatementNoise
from executors.release import Outcome
from planner.charge_token import Token
from planner.decode import Executable, RunnablePlan
from planner.facts import SourceFacts
from planner.mechanism import Query

__all__ = ["Progress", "RowsDiffer", "Stats", "execute"]

Progress = Callable[[str], None]
"""Told the public name of each step before it begins."""


class Summary(Protocol):
    """Whatever a summary holds, it knows how many rows it has seen."""

    @property
    def rows(self) -> int:
        """Rows read."""


class RowsDiffer(Exception):
    """A source does not have the declared number of rows; carries the declared number only."""

    def __init__(self, dataset: str, declared: int) -> None:
        super().__init__(f"`{dataset}` does not have the {declared} rows that the plan declares")
        self.dataset = dataset
        self.declared = declared


@dataclass(slots=True)
class _Read:
    """Summaries of one source; the same question is read once."""

    name: str
    rows: int
    reader: Reader
    known: dict[Query, Any] = field(default_factory=dict)

    def __call__(self, query: Query) -> Any:
        if query not in self.known:
            module = import_module(f"executors.summaries.{query.summary}")
            summary: Summary = module.summarise(query, self.reader)
            if summary.rows != self.rows:
                raise RowsDiffer(self.name, self.rows)
            self.known[query] = summary
        return self.known[query]


@dataclass(frozen=True, slots=True)
class Stats:
    """The summaries that a statement may ask for; a call asks its first source."""

    sources: tuple[SourceFacts, ...]
    read: Mapping[str, _Read]

    def __call__(self, query: Query) -> Any:
        return self.at(self.sources[0])(query)

    def at(self, source: SourceFacts) -> Callable[[Query], Any]:
        """The summaries of one of the statement's sources."""
        if source not in self.sources:
            raise KeyError(source.name)
        return self.read[source.name]


def execute(
    plan: RunnablePlan,
    sources: Mapping[str, Source],
    token: Token,
    sampler: Sampler,
    progress: Progress = lambda step: None,
) -> dict[str, Outcome]:
    """The outcome of every statement, by release name; `sources` go by the names of the facts.

    Every row count is compared with the declared one before the first draw of noise. Nothing is
    handed out before the last draw. Raises `RowsDiffer`, or what a source raises.
    """
    with _open(plan, sources, token) as read:
        for statement in plan.statements:
            progress(f"reading for {statement.name}")
            for source in statement.facts.sources:
                read[source.name](statement.query_at(source))
        outcomes = {}
        for statement in plan.statements:
            progress(f"releasing {statement.name}")
            stats = Stats(statement.facts.sources, read)
            outcomes[statement.name] = _run(statement, stats, sampler)
        return outcomes


def _run(statement: Executable, stats: Stats, sampler: Sampler) -> Outcome:
    module = import_module(statement.mechanism.run)
    noise = StatementNoise(sampler, statement.loss)
    outcome: Outcome = module.run(statement.params, statement.facts, statement.loss, stats, noise)
    return outcome


@contextmanager
def _open(
    plan: RunnablePlan, sources: Mapping[str, Source], token: Token
) -> Iterator[dict[str, _Read]]:
    opened: dict[str, _Read] = {}
    try:
        for facts in plan.sources:
            reader = sources[facts.name].open(token, facts.unit, facts.max_rows)
            opened[facts.name] = _Read(facts.name, facts.rows, reader)
        yield opened
    finally:
        for read in opened.values():
            read.reader.close()
