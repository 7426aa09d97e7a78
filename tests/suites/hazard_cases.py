"""Small survival tables and statements about their hazard, for several test files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction as F
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from executors.pricing.survival_domain import box
from executors.release import Outcome
from executors.summaries.survival_groups import SurvivalGroups, summarise
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts
from planner.mechanism import Mechanism, Query
from suites.audit import claimed
from suites.mechanism import MechanismSuite, Pair, loss_seen
from suites.table_reader import TableReader
from suites.tape import Tape
from suites.trial import Case, Trial

__all__ = [
    "COLUMNS",
    "COSTS",
    "HazardSuite",
    "cases",
    "extreme",
    "groups",
    "rows",
    "source",
    "unclamped",
]

COLUMNS = (Column("time", "duration", F(0), F(8)), Column("event", "event"))
COSTS = {
    "eps": Cost("eps", F(3)),
    "eps_delta": Cost("eps_delta", F(1), F(1, 10)),
    "rho": Cost("rho", F(1, 2)),
    "mu": Cost("mu", F(1)),
}


class HazardSuite(MechanismSuite):
    """The suite, with audits that leave out what is computed from the noisy numbers alone.

    The extreme pair attains the bound under haar; under sqrt it reaches about four fifths.
    """

    attains = 0.75
    audits: ClassVar[Mapping[str, int]] = {"mu haar": 800}
    """Which cases are audited, with how many runs: the three methods measure in one way."""
    after: ClassVar[str]
    """The import path of that computation."""

    def test_the_loss_seen_stays_below_the_claim(self) -> None:
        for trial, seen in self._audited(11, most=500):
            assert seen <= claimed(trial.case.cost)

    def test_half_the_noise_is_caught(self) -> None:
        for trial, seen in self._audited(12, half_noise=True):
            assert seen > claimed(trial.case.cost)

    def _audited(
        self, seed: int, half_noise: bool = False, most: int = 10_000
    ) -> Iterator[tuple[Trial, float]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.after, lambda *_: Outcome({}, {}, ()))
            for trial in self.trials():
                runs = min(most, self.audits.get(trial.case.name, 0))
                if runs:
                    pair = next(iter(self.worst(trial.case)))
                    yield trial, loss_seen(trial, pair, runs, seed, self.score, half_noise)

    def score(self, tape: Tape, outcome: Outcome, first: Tape, second: Tape) -> float:
        """The logarithm of the likelihood ratio, each leaf by its own law and scale."""
        total = 0.0
        for call, left, right in zip(tape.calls, first.calls, second.calls, strict=True):
            drawn = np.array(call.answer[0], dtype=float)
            here, there = (np.array(c.values, dtype=float) for c in (left, right))
            scale = float(call.leaf.scale)
            if call.method == "lap":
                total += float((np.abs(drawn - here) - np.abs(drawn - there)).sum()) / scale
            else:
                total += float(np.dot(drawn, there - here)) / scale**2
        return total


def source(rows: int, dataset: str = "people", site: str | None = None, **more: Any) -> SourceFacts:
    """The facts of one table of times and events."""
    return SourceFacts(dataset, rows, COLUMNS, site=site, **more)


def rows(time: Any, event: Any) -> pa.Table:
    """A table of times and events, both as doubles."""
    return pa.table(
        {
            "time": pa.array(np.asarray(time, dtype=float), pa.float64(), from_pandas=False),
            "event": pa.array(np.asarray(event, dtype=float), pa.float64(), from_pandas=False),
        }
    )


def groups(time: Any, event: Any) -> SurvivalGroups:
    """The summary of these records."""
    query = Query("survival_groups", COLUMNS, (("domain", box((), ())), ("parts", ())))
    return summarise(query, TableReader(rows(time, event)))


def cases(mechanism: Mechanism, sources: tuple[SourceFacts, ...]) -> Iterator[Case]:
    """One case a unit, with `tree=haar`, whose bound is attained; under mu `tree=sqrt` too."""
    for unit, cost in COSTS.items():
        for tree in ("haar", "sqrt") if unit == "mu" else ("haar",):
            params = mechanism.params(bins=2 if unit == "eps" else 4, tree=tree, floor=F(1))
            yield Case(f"{unit} {tree}", params, Facts(sources, ()), cost)


def random_table(n: int, rng: np.random.Generator) -> pa.Table:
    """Times in and out of range with ties, events that are 0 or 1."""
    return rows(np.round(rng.uniform(-1.0, 10.0, n), 1), rng.random(n) < 0.6)


def extreme(n: int, row: int = 0) -> Iterator[Pair]:
    """With floor=1 every event counts 1/n: one is moved from the first bin to the last, or out."""
    time, event = np.full(n, 5.0), np.zeros(n)
    base = rows(time, event)
    for first, second in (((0.5, 1.0), (7.5, 1.0)), ((0.5, 1.0), (8.0, 0.0))):
        yield _with(base, row, *first), _with(base, row, *second)


def unclamped(n: int) -> Iterator[Pair]:
    """An event that is neither 0 nor 1."""
    base = rows(np.full(n, 5.0), np.zeros(n))
    yield base, _with(base, 0, 0.5, 40.0)


def _with(table: pa.Table, row: int, time: float, event: float) -> pa.Table:
    after = table.slice(row + 1)
    return pa.concat_tables([table.slice(0, row), rows([time], [event]), after])
