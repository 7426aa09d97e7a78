"""The shared suite on `COVARIANCE ssp`: box, ball, private means, one column."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.ssp import MECHANISM
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, Norm, SourceFacts
from suites.mechanism import MechanismSuite, Pair, farthest
from suites.trial import Case, Trial

ROWS = 6
COSTS = (
    Cost("rho", Fraction(1, 2)),
    Cost("mu", Fraction(1)),
    Cost("eps_delta", Fraction(1), Fraction(1, 10)),
)
BOUNDS = ((0, 10), (-3, 5), (Fraction(1, 10), Fraction(7, 10)), (100, 260))


def facts(count: int, norm: bool = False, max_rows: int = 1) -> Facts:
    columns = tuple(
        Column(f"x{j}", "real", Fraction(lo), Fraction(hi))
        for j, (lo, hi) in enumerate(BOUNDS[:count])
    )
    ball = None
    if norm:
        columns = tuple(Column(f"x{j}", "real", Fraction(-9), Fraction(9)) for j in range(count))
        center = tuple(Fraction(j, 2) for j in range(count))
        ball = Norm(tuple(column.name for column in columns), Fraction(2), center)
    source = SourceFacts(
        "people", ROWS, columns, norm=ball, unit="id" if max_rows > 1 else None, max_rows=max_rows
    )
    return Facts((source,), columns)


def rows_of(case: Case, unit: np.ndarray) -> pa.Table:
    """A table of rows given in the unit box about the middle, or about the ball's centre."""
    ball = case.params.norm == "l2"
    names, arrays = [], []
    for j, column in enumerate(case.facts.columns):
        lo, hi = (float(bound) for bound in column.bounds or ())
        norm = case.facts.source.norm
        middle = float(norm.center[j]) if ball and norm else (lo + hi) / 2
        half = float(norm.bound) if ball and norm else (hi - lo) / 2
        names.append(column.name)
        arrays.append(pa.array(middle + half * unit[:, j]))
    return pa.table(dict(zip(names, arrays)))


class SspSuite(MechanismSuite):
    mechanism = MECHANISM
    options: dict[str, Any]
    count = 3
    max_rows = 1
    audit_runs = 1600

    def cases(self) -> Iterable[Case]:
        params = MECHANISM.params(**self.options)
        for cost in COSTS:
            yield Case(
                cost.unit,
                params,
                facts(self.count, self.options.get("norm") == "l2", self.max_rows),
                cost,
            )

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return rows_of(case, rng.uniform(-1.3, 1.3, (ROWS, len(case.facts.columns))))

    def far(self, count: int) -> tuple[list[float], list[float]]:
        """Two rows of the unit box that lie as far apart as rows can."""
        return [1.0] * count, [0.0] * count

    def corners(self, case: Case, value: float) -> Iterable[Pair]:
        """Rows of walls and of `value` against their mirror images."""
        count = len(case.facts.columns)
        rng = np.random.default_rng(7)
        for _ in range(8):
            unit = rng.choice([-1.0, value, 1.0], (ROWS, count))
            other = unit.copy()
            other[: self.max_rows] = rng.choice([-1.0, value, 1.0], (self.max_rows, count))
            yield rows_of(case, unit), rows_of(case, other)

    def worst(self, case: Case) -> Iterable[Pair]:
        first, second = self.far(len(case.facts.columns))
        rest = np.tile(np.linspace(-0.9, 0.8, ROWS)[:, None], (1, len(first)))
        one, other = rest.copy(), rest.copy()
        one[: self.max_rows], other[: self.max_rows] = first, second
        yield rows_of(case, one), rows_of(case, other)


class TestDefault(SspSuite):
    """Balanced about a private mean: rows that differ in signs move the constant's pairs too."""

    options = {}  # noqa: RUF012
    attains = 0.99

    def far(self, count: int) -> tuple[list[float], list[float]]:
        return [1.0] * count, [-1.0, *[-1.0] * (count // 2), *[1.0] * (count - 1 - count // 2)]


class TestBall(SspSuite):
    """Two orthogonal rows; the stated slack for flooring is below 0.01 %."""

    options = {"center": "midpoint", "norm": "l2"}  # noqa: RUF012
    attains = 0.999

    def far(self, count: int) -> tuple[list[float], list[float]]:
        return [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]

    def test_a_forgotten_clamp_is_caught(self) -> None:
        """Shortening and the test of the length stand for the clamp: without both, it shows."""

        def forgetful(rows: Any, center: Any, radius: float, unit: float, limit: int) -> Any:
            return np.clip(np.floor((rows - center[:, None]) / unit * 65536), -65536, 65536)

        for trial in self.trials():
            pairs = [
                (rows_of(trial.case, unit), rows_of(trial.case, other))
                for unit, other in [(np.eye(ROWS, 3), np.concatenate([[[1, 1, 1]], np.eye(5, 3)]))]
            ]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("executors.summaries.ball_moments.ball_rows", forgetful)
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, pairs)


class TestOneColumn(SspSuite):
    """A square with its mean: the joint constant is met at v = 1.2113."""

    options = {}  # noqa: RUF012
    count = 1
    attains = 0.999

    def far(self, count: int) -> tuple[list[float], list[float]]:
        return [1.0], [1.0 - 1.2113]


class Variant(SspSuite):
    """Examples whose neighbours alone are looked at; the rest of the suite runs above."""

    def __init__(
        self, options: dict[str, Any], least: float, far: tuple[list[float], list[float]]
    ) -> None:
        self.options, self.least, self.rows = options, least, far
        self.count = len(far[0])

    def far(self, count: int) -> tuple[list[float], list[float]]:
        return self.rows


MIDPOINT = {"center": "midpoint"}
VARIANTS = {
    "balanced": Variant(MIDPOINT, 0.998, ([1.0] * 4, [0.0] * 4)),
    "plain": Variant({**MIDPOINT, "weights": "plain"}, 0.9428, ([1.0, 1, 1], [1.0, -1, -1])),
    "plain, even": Variant({**MIDPOINT, "weights": "plain"}, 1.0, ([1.0, 1], [1.0, -1])),
    "frob": Variant({**MIDPOINT, "weights": "frob"}, 0.7071, ([1.0, 1], [1.0, -1])),
    "one": Variant(MIDPOINT, 1.0, ([1.0], [0.0])),
    # Half the radius as the constant column: the far rows have the cosine -1/4.
    "ball, private": Variant({"norm": "l2"}, 0.998, ([1.0, 0, 0], [-0.25, 15**0.5 / 4, 0])),
    "ball, one": Variant({"norm": "l2", **MIDPOINT}, 1.0, ([1.0], [0.0])),
    "constants": Variant({"center": (Fraction(0), Fraction(0))}, 0.998, ([1.0] * 2, [-1.0, -0.25])),
}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("max_rows", [1, 3])
def test_neighbours_come_near_the_sensitivity_and_never_pass_it(name: str, max_rows: int) -> None:
    suite = VARIANTS[name]
    suite.max_rows = max_rows
    case = next(iter(suite.cases()))
    trial = Trial(MECHANISM, case)
    assert farthest(trial, suite.worst(case)) >= suite.least
    others = suite.neighbours(case, np.random.default_rng(6))
    farthest(trial, (next(others) for _ in range(40)))
    farthest(trial, suite.hostile(case))
    for field in (-1.0, -0.5, 0.0, 0.5, 1.0):
        farthest(trial, suite.corners(case, field))
