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
from planner.decode import Executable, RunnablePlan
from planner.mechanism import Query
from planner.spending import Token

__all__ = ["Progress", "RowsDiffer", "execute"]

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
class _Stats:
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


def execute(
    plan: RunnablePlan,
    sources: Mapping[str, Source],
    token: Token,
    sampler: Sampler,
    progress: Progress = lambda step: None,
) -> dict[str, Outcome]:
    """The outcome of every statement, by release name.

    Every row count is compared with the declared one before the first draw of noise. Nothing is
    handed out before the last draw. Raises `RowsDiffer`, or what a source raises.
    """
    with _open(plan, sources, token) as stats:
        for statement in plan.statements:
            progress(f"reading for {statement.name}")
            stats[statement.facts.source.dataset](
                statement.mechanism.query(statement.params, statement.facts)
            )
        outcomes = {}
        for statement in plan.statements:
            progress(f"releasing {statement.name}")
            outcomes[statement.name] = _run(
                statement, stats[statement.facts.source.dataset], sampler
            )
        return outcomes


def _run(statement: Executable, stats: _Stats, sampler: Sampler) -> Outcome:
    module = import_module(statement.mechanism.run)
    noise = StatementNoise(sampler, statement.loss)
    outcome: Outcome = module.run(statement.params, statement.facts, statement.loss, stats, noise)
    return outcome


@contextmanager
def _open(
    plan: RunnablePlan, sources: Mapping[str, Source], token: Token
) -> Iterator[dict[str, _Stats]]:
    used = dict.fromkeys(s.facts.source.dataset for s in plan.statements)
    opened: dict[str, _Stats] = {}
    try:
        for name in used:
            facts = plan.dataset(name)
            reader = sources[name].open(token, facts.unit, facts.max_rows)
            opened[name] = _Stats(name, facts.rows, reader)
        yield opened
    finally:
        for stats in opened.values():
            stats.reader.close()
