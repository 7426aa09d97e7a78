"""The shared suite on `COVARIANCE diagonal`, with neighbours of its variants."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.diagonal import MECHANISM
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts
from suites.mechanism import MechanismSuite, Pair, farthest
from suites.trial import Case, Trial

ROWS = 6
COSTS = (
    Cost("rho", Fraction(1, 2)),
    Cost("mu", Fraction(1)),
    Cost("eps_delta", Fraction(1), Fraction(1, 10)),
)
COLUMNS = (
    Column("a", "real", Fraction(0), Fraction(10)),
    Column("b", "integer", Fraction(-3), Fraction(5)),
    Column("c", "boolean"),
    Column("d", "real", Fraction(1, 10), Fraction(7, 10)),
)


class DiagonalSuite(MechanismSuite):
    mechanism = MECHANISM
    options: dict[str, Any]
    max_rows = 1
    audit_runs = 1600
    far: tuple[float, float]

    def cases(self) -> Iterable[Case]:
        unit = "id" if self.max_rows > 1 else None
        source = SourceFacts("people", ROWS, COLUMNS, unit=unit, max_rows=self.max_rows)
        params = MECHANISM.params(**self.options)
        for cost in COSTS:
            yield Case(cost.unit, params, Facts((source,), COLUMNS), cost)

    def rows_of(self, unit: np.ndarray) -> pa.Table:
        """A table of rows given in the unit box about the middle."""
        arrays = {}
        for j, column in enumerate(COLUMNS):
            lo, hi = (float(bound) for bound in column.bounds or ())
            arrays[column.name] = pa.array((lo + hi) / 2 + (hi - lo) / 2 * unit[:, j])
        return pa.table(arrays)

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        unit = rng.uniform(-1.3, 1.3, (ROWS, len(COLUMNS)))
        unit[:, 2] = np.sign(unit[:, 2])
        return self.rows_of(unit)

    def worst(self, case: Case) -> Iterable[Pair]:
        one = np.tile(np.linspace(-0.9, 0.8, ROWS)[:, None], (1, len(COLUMNS)))
        one[:, 2] = 1.0
        other = one.copy()
        one[: self.max_rows], other[: self.max_rows] = self.far
        other[: self.max_rows, 2] = -1.0
        yield self.rows_of(one), self.rows_of(other)


class TestPrivateMeans(DiagonalSuite):
    """Three columns at the joint worst case v = 1.2113, the boolean at v = 2 (4/3 of 1.402)."""

    options = {}  # noqa: RUF012
    far = (1.0, 1.0 - 1.2113)
    attains = 0.98


class TestMidpoint(DiagonalSuite):
    """Squares from 0 to 1; the boolean's square is public, so three columns are priced."""

    options = {"center": "midpoint"}  # noqa: RUF012
    far = (1.0, 0.0)
    attains = 0.999


@pytest.mark.parametrize("max_rows", [1, 3])
@pytest.mark.parametrize(
    ("options", "far", "least"),
    [
        ({}, (1.0, 1.0 - 1.2113), 0.98),
        ({"center": "midpoint"}, (1.0, 0.0), 0.999),
        # The published form measures the boolean too, whose square cannot move.
        ({"variant": "paper"}, (1.0, 0.0), 0.866),
        ({"variant": "paper", "center": "private"}, (1.0, 1.0 - 1.2113), 0.98),
        ({"center": (Fraction(0), Fraction(0), Fraction(0), Fraction(0))}, (1.0, -1.0), 0.85),
    ],
)
def test_neighbours_come_near_the_sensitivity_and_never_pass_it(
    options: dict[str, Any], far: tuple[float, float], least: float, max_rows: int
) -> None:
    suite = DiagonalSuite()
    suite.options, suite.far, suite.max_rows = options, far, max_rows
    case = next(iter(suite.cases()))
    trial = Trial(MECHANISM, case)
    assert farthest(trial, suite.worst(case)) >= least
    others = suite.neighbours(case, np.random.default_rng(6))
    farthest(trial, (next(others) for _ in range(40)))
    farthest(trial, suite.hostile(case))
