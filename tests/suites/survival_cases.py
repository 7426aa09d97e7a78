"""Example statements and tables for tests of survival mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
import pyarrow as pa

from executors.mechanisms.cox.params import CoxParams
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, Norm, SourceFacts
from planner.mechanism import Versus
from suites.tape import Call, Tape
from suites.trial import Case

__all__ = ["COSTS", "ball", "case", "facts", "likeliest", "options", "table", "unit"]

COSTS = (
    Cost("eps", F(1)),
    Cost("eps_delta", F(1), F(1, 10**6)),
    Cost("rho", F(1, 2)),
    Cost("mu", F(1)),
)
"""One in each unit that the survival tests honour."""

HORIZON = 100


def facts(rows: int, covariates: Sequence[Column], norm: Norm | None = None) -> Facts:
    """A dataset `trial` with a duration `time` in [0, 100], an event `seen` and covariates."""
    columns = (Column("time", "duration", F(0), F(HORIZON)), Column("seen", "event"), *covariates)
    return Facts((SourceFacts("trial", rows, columns, norm=norm),), tuple(covariates))


def unit(*names: str) -> list[Column]:
    """Real columns in [0, 1]."""
    return [Column(name, "real", F(0), F(1)) for name in names]


def ball(*names: str) -> tuple[list[Column], Norm]:
    """Real columns in [-1, 1] inside the unit ball."""
    columns = [Column(name, "real", F(-1), F(1)) for name in names]
    return columns, Norm(tuple(names), F(1), (F(0),) * len(names))


def options(b0: Sequence[Any], b1: Sequence[Any], **more: Any) -> CoxParams:
    """The options with exact coefficients."""
    left, right = (tuple(F(str(value)) for value in side) for side in (b0, b1))
    return CoxParams(beta=Versus[Any](left=left, right=right), **more)


def case(name: str, params: CoxParams, where: Facts, cost: Cost) -> Case:
    """The statement as a case."""
    return Case(name, params, where, cost)


def table(time: Any, seen: Any, covariates: dict[str, Any]) -> pa.Table:
    """Columns of doubles; None and NaN stay as they are."""

    def column(values: Any) -> pa.Array:
        given = [None if v is None else float(v) for v in np.asarray(values, dtype=object)]
        return pa.array(given, type=pa.float64(), from_pandas=False)

    return pa.table(
        {
            "time": column(time),
            "seen": column(seen),
            **{name: column(values) for name, values in covariates.items()},
        }
    )


def likeliest(tape: Tape, outcome: Outcome, first: Tape, second: Tape) -> float:
    """A score of a run for telling two tables apart: each draw's log-likelihood ratio.

    Exact for Gaussian noise up to a constant; for Laplace and K-norm noise in its own norm.
    """
    total = 0.0
    for call, left, right in zip(tape.calls, first.calls, second.calls):
        answer = np.array(call.answer[0], dtype=float)
        ends = (np.array(side.values, dtype=float) for side in (left, right))
        near, far = (size_of(call, answer - end) / float(call.leaf.scale) for end in ends)
        total += (near**2 - far**2) / 2 if call.method == "gauss" else near - far
    return total


def size_of(call: Call, vector: np.ndarray) -> float:
    """The norm in which a call's noise falls off."""
    if call.public == ("linf",):
        return float(np.abs(vector).max())
    if call.method == "lap":
        return float(np.abs(vector).sum())
    return float(np.linalg.norm(vector))
