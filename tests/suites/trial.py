"""One priced statement that a test can run on any table with any sampler."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from executors.noise import StatementNoise
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.calculus.leaves import Loss
from planner.calculus.need import Need
from planner.facts import Facts, SourceFacts
from planner.mechanism import Mechanism, Params
from suites.table_reader import TableReader
from suites.tape import Tape

__all__ = ["Case", "Trial", "written"]


@dataclass(frozen=True)
class Case:
    """An example statement: options as written, public facts, one cost that every source pays."""

    name: str
    params: Params
    facts: Facts
    cost: Cost


def written(outcome: Outcome) -> str:
    """The outcome as strict JSON text; NaN and infinities are refused."""
    notes = [[note.law, note.scale, note.role] for note in outcome.noise]
    tables = {name: {k: list(v) for k, v in t.items()} for name, t in outcome.tables.items()}
    content = [dict(outcome.value), dict(outcome.uncertainty), notes, list(outcome.notes), tables]
    return json.dumps(content, sort_keys=True, allow_nan=False)


@dataclass(frozen=True)
class Answer:
    """The summaries of one source; each query is read once."""

    reader: TableReader
    rows: int
    known: dict[Any, Any] = field(default_factory=dict)

    def __call__(self, query: Any) -> Any:
        if query not in self.known:
            module = importlib.import_module(f"executors.summaries.{query.summary}")
            summary = module.summarise(query, self.reader)
            if summary.rows != self.rows:
                raise AssertionError("the summary lost or invented rows")
            self.known[query] = summary
        return self.known[query]


@dataclass(frozen=True)
class Answers:
    """The summaries of a statement's sources; a call asks the first."""

    sources: tuple[SourceFacts, ...]
    parts: dict[str, Answer]

    def __call__(self, query: Any) -> Any:
        return self.at(self.sources[0])(query)

    def at(self, source: SourceFacts) -> Answer:
        return self.parts[source.name]


@dataclass(frozen=True)
class Trial:
    """A case with its price; `wrong` multiplies every sensitivity (a mutant), `clamps` too."""

    mechanism: Mechanism
    case: Case
    wrong: Fraction = Fraction(1)
    clamps: bool = True

    @cached_property
    def params(self) -> Any:
        """The options with every `auto` replaced."""
        forecast = importlib.import_module(self.mechanism.forecast)
        return forecast.resolve(self.case.params, self.case.facts, self.case.cost)

    def price(self, params: Any, cost: Cost) -> Loss:
        """The leaves of all sources, solved for this cost."""
        units = {source.name: cost.unit for source in self.case.facts.sources}
        needs = self.mechanism.need(params, self.case.facts, units)
        leaves: list[Any] = []
        for (dataset, site), group in groupby(needs, lambda need: (need.dataset, need.site)):
            source = self._source(dataset, site)
            mine = tuple(self._mutated(need) for need in group)
            if self.mechanism.solve is not None:
                loss = self.mechanism.solve(params, self.case.facts, mine, cost)
            else:
                loss = solve(mine, cost, source.max_rows)
            leaves.extend(loss.leaves)
        return Loss(tuple(leaves))

    def _source(self, dataset: str, site: str | None) -> SourceFacts:
        """The named source; a need that names none means the only one."""
        sources = self.case.facts.sources
        if not dataset and len(sources) == 1:
            return sources[0]
        return next(s for s in sources if (s.dataset, s.site) == (dataset, site))

    def _mutated(self, need: Need) -> Need:
        if self.wrong == 1 or need.sensitivity is None:
            return need
        honest = need.sensitivity
        return replace(need, sensitivity=lambda: self.wrong * honest())

    @cached_property
    def loss(self) -> Loss:
        """The price of the case."""
        return self.price(self.params, self.case.cost)

    def stats(self, table: pa.Table) -> Answers:
        """What `run` asks for summaries; the table holds the rows of each source in turn."""
        start, parts = 0, {}
        for source in self.case.facts.sources:
            part = table.slice(start, source.rows)
            parts[source.name] = Answer(TableReader(part, self.clamps), source.rows)
            start += source.rows
        if table.num_rows != start:
            raise AssertionError("the table does not hold the rows of the sources")
        return Answers(self.case.facts.sources, parts)

    def run(
        self, stats: Callable[[Any], Any], sampler: Any, replay: Tape | None = None
    ) -> tuple[Tape, Outcome]:
        """The outcome, with the tape of all noise."""
        module = importlib.import_module(self.mechanism.run)
        tape = Tape(StatementNoise(sampler, self.loss), replay)
        return tape, module.run(self.params, self.case.facts, self.loss, stats, tape)
