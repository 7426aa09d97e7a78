"""Tables of numbers and their private covariances, for tests of several methods."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from executors.noise import StatementNoise
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.calculus.leaves import Loss
from planner.facts import Column, Facts, Norm, SourceFacts
from planner.mechanism import Mechanism
from suites.samplers import FastSampler

__all__ = [
    "ArrayReader",
    "facts_of",
    "factors",
    "loss_of",
    "pairs_of_columns",
    "release",
    "released",
    "releases",
    "standardised",
    "stats_of",
    "stored_release",
    "summary_of",
]


@dataclass
class ArrayReader:
    """Clamped columns of an array of shape (n, d), `batch` rows at a time."""

    rows: np.ndarray
    batch: int = 65_536

    def batches(
        self, columns: Sequence[Any], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        names = [selection.name for selection in columns]
        size = min(rows, self.batch)
        for start in range(0, len(self.rows), size):
            part = self.rows[start : start + size]
            arrays = []
            for j, selection in enumerate(columns):
                lo, hi = getattr(selection, "lo", 0.0), getattr(selection, "hi", 1.0)
                values = np.where(np.isfinite(part[:, j]), part[:, j], selection.fill)
                arrays.append(pa.array(np.clip(values, lo, hi)))
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def close(self) -> None:
        """Nothing to close."""


def facts_of(
    rows: int,
    bounds: Sequence[tuple[Any, Any]] = ((-1, 1), (-1, 1), (-1, 1)),
    norm: Norm | None = None,
    max_rows: int = 1,
) -> Facts:
    """Public facts of REAL columns x0, x1, ... with these bounds."""
    columns = tuple(
        Column(f"x{j}", "real", Fraction(lo), Fraction(hi)) for j, (lo, hi) in enumerate(bounds)
    )
    return Facts((SourceFacts("t", rows, columns, norm=norm, max_rows=max_rows),), columns)


def loss_of(mechanism: Mechanism, params: Any, facts: Facts, cost: Cost) -> Loss:
    """The price of the statement."""
    needs = mechanism.need(params, facts, {facts.source.name: cost.unit})
    return solve(needs, cost, facts.source.max_rows)


def summary_of(mechanism: Mechanism, params: Any, facts: Facts, reader: Any) -> Any:
    """The exact summary that a run would ask for."""
    query = mechanism.query(params, facts)
    return importlib.import_module(f"executors.summaries.{query.summary}").summarise(query, reader)


def release(
    mechanism: Mechanism, params: Any, facts: Facts, cost: Cost, summary: Any, sampler: Any = 1
) -> Outcome:
    """One run on a summary; an integer sampler is the seed of a fast one."""
    return releases(mechanism, params, facts, cost, summary, [sampler])[0]


def releases(
    mechanism: Mechanism,
    params: Any,
    facts: Facts,
    cost: Cost,
    summary: Any,
    samplers: Iterable[Any],
) -> list[Outcome]:
    """One run with each sampler, priced once."""
    loss = loss_of(mechanism, params, facts, cost)
    module = importlib.import_module(mechanism.run)
    outcomes = []
    for sampler in samplers:
        noise = StatementNoise(FastSampler(sampler) if isinstance(sampler, int) else sampler, loss)
        outcomes.append(module.run(params, facts, loss, lambda query: summary, noise))
    return outcomes


def stored_release(
    mechanism: Mechanism, rows: np.ndarray, cost: Cost, sampler: Any, bound: Any = 1, **options: Any
) -> dict[str, Any]:
    """A release of rows in [-bound, bound] as it comes back from a ledger."""
    params, facts = (
        mechanism.params(**options),
        facts_of(len(rows), [(-bound, bound)] * len(rows.T)),
    )
    stats = stats_of(rows)
    outcome = released(mechanism, params, facts, cost, stats, sampler)
    kept = {"value": dict(outcome.value), "uncertainty": dict(outcome.uncertainty)}
    back: dict[str, Any] = json.loads(json.dumps(kept, allow_nan=False))
    return back


def stats_of(rows: np.ndarray) -> Callable[[Any], Any]:
    """What a run asks for summaries: any query, read from an array."""

    def answer(query: Any) -> Any:
        module = importlib.import_module(f"executors.summaries.{query.summary}")
        return module.summarise(query, ArrayReader(rows))

    return answer


def released(
    mechanism: Mechanism,
    params: Any,
    facts: Facts,
    cost: Cost,
    stats: Callable[[Any], Any],
    sampler: Any,
) -> Outcome:
    """One run that may ask for several summaries; an integer sampler is the seed of a fast one."""
    params = importlib.import_module(mechanism.forecast).resolve(params, facts, cost)
    loss = loss_of(mechanism, params, facts, cost)
    noise = StatementNoise(FastSampler(sampler) if isinstance(sampler, int) else sampler, loss)
    outcome: Outcome = importlib.import_module(mechanism.run).run(params, facts, loss, stats, noise)
    return outcome


def standardised(x: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and standard deviation 1/3, clipped to [-1, 1]; constant ones dropped."""
    x = x[:, x.std(axis=0) > 1e-9]
    return np.clip((x - x.mean(axis=0)) / x.std(axis=0) / 3.0, -1.0, 1.0)


def factors(rows: int = 20_000, columns: int = 100) -> np.ndarray:
    """Three factors, each loaded on a tenth of the columns, with unit noise."""
    rng = np.random.default_rng(7)
    loadings = np.zeros((columns, 3))
    for k in range(3):
        j = rng.choice(columns, 10, replace=False)
        loadings[j, k] = rng.normal(0, 1, 10)
    return standardised(rng.normal(size=(rows, 3)) @ loadings.T + rng.normal(size=(rows, columns)))


def pairs_of_columns(rows: int = 4000, columns: int = 260) -> np.ndarray:
    """Independent columns but for 32 pairs of correlation 0.8."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(rows, columns))
    for i in range(32):
        x[:, 2 * i + 1] = 0.8 * x[:, 2 * i] + 0.6 * x[:, 2 * i + 1]
    return standardised(x)
