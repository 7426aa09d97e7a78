"""One run of `COVARIANCE pace` on an array, both passes over the rows included."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import resolve
from executors.mechanisms.pace.run import run
from executors.noise import StatementNoise
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.facts import Facts
from suites.covariance_tables import ArrayReader, facts_of, loss_of
from suites.samplers import FastSampler

__all__ = ["RHO", "released"]

RHO = Cost("rho", Fraction(1, 10))


def released(
    rows: np.ndarray,
    cost: Cost = RHO,
    sampler: Any = 1,
    facts: Facts | None = None,
    batch: int = 65_536,
    **options: Any,
) -> Outcome:
    facts = facts_of(len(rows), [(-1, 1)] * rows.shape[1]) if facts is None else facts
    params = resolve(MECHANISM.params(**options), facts, cost)
    loss = loss_of(MECHANISM, params, facts, cost)

    def stats(query: Any) -> Any:
        module = import_module(f"executors.summaries.{query.summary}")
        return module.summarise(query, ArrayReader(rows, batch))

    sampler = FastSampler(sampler) if isinstance(sampler, int) else sampler
    return run(params, facts, loss, stats, StatementNoise(sampler, loss))
