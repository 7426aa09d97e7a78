"""`TEST cox` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction as F

import numpy as np

from executors.mechanisms.cox import MECHANISM
from suites.mechanism import Pair
from suites.survival_cases import COSTS, ball, case, facts, options, table, unit
from suites.survival_suite import InABall, RecordSuite
from suites.trial import Case


class TestCox(RecordSuite):
    """Without a riskfloor the sensitivity is attained, so nearly every error shows."""

    mechanism = MECHANISM
    attains = 0.99
    audit_runs = 1200

    def cases(self) -> Iterator[Case]:
        exact = {"riskfloor": F(0), "shrink": F(1)}
        for cost in COSTS:
            yield case("box", options([0, 0], [1, 0.5], **exact), facts(60, unit("x", "z")), cost)


class TestCoxInABall(InABall, TestCox):
    """With a riskfloor, a null that is not 0 and a ball inside the box."""

    attains = 0.3
    audit_runs = 200

    def cases(self) -> Iterator[Case]:
        columns, norm = ball("x", "z")
        params = options([0, 0.5], [0.6, 0.5], riskfloor=F(1, 10))
        for cost in COSTS:
            yield case("ball", params, facts(40, columns, norm), cost)

    def worst(self, case: Case) -> Iterable[Pair]:
        n = case.facts.rows
        time, seen = np.arange(1.0, n + 1), np.ones(n)
        low = {"x": np.full(n, -0.9), "z": np.full(n, -0.4)}
        low["x"][-1], low["z"][-1] = 0.9, 0.4
        base = table(time, seen, low)
        yield base, self.replaced(base, n - 1, table([0.5], [1.0], {"x": [0.9], "z": [0.4]}))

    def unclamped(self, case: Case) -> Iterable[Pair]:
        base, _ = next(iter(self.worst(case)))
        yield base, self.replaced(base, 0, table([50.5], [1.0], {"x": [60.0], "z": [9.0]}))
