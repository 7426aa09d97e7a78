"""`TEST cox` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction as F
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.cox import MECHANISM
from executors.summaries import survival_records
from suites.mechanism import MechanismSuite, Pair, farthest
from suites.survival_cases import COSTS, ball, case, facts, options, table, unit
from suites.trial import Case


class TestCox(MechanismSuite):
    """Without a riskfloor the sensitivity is attained, so nearly every error shows."""

    mechanism = MECHANISM
    attains = 0.99
    audit_runs = 1200

    def cases(self) -> Iterator[Case]:
        exact = {"riskfloor": F(0), "shrink": F(1)}
        for cost in COSTS:
            yield case("box", options([0, 0], [1, 0.5], **exact), facts(60, unit("x", "z")), cost)

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        n = case.facts.rows
        names = [column.name for column in case.facts.columns]
        values = {name: rng.uniform(-0.3, 1.3, n) for name in names}
        return table(rng.integers(0, 130, n), rng.random(n) < 0.6, values)

    def worst(self, case: Case) -> Iterable[Pair]:
        n = case.facts.rows
        time, seen = np.arange(1.0, n + 1), np.ones(n)
        names = [column.name for column in case.facts.columns]

        def with_high(row: int) -> pa.Table:
            values = np.zeros(n)
            values[row] = 1.0
            return time_ordered(values)

        def time_ordered(values: Any) -> pa.Table:
            return table(time, seen, dict.fromkeys(names, values))

        # The last record's covariates are high, or it is exchanged for an early event with them.
        base = with_high(n - 1)
        early = table([0.5], [1.0], {name: [1.0] for name in names})
        yield base, self.replaced(base, n - 1, early)
        yield self.replaced(base, n - 1, early), base

    def unclamped(self, case: Case) -> Iterable[Pair]:
        base, _ = next(iter(self.worst(case)))
        names = [column.name for column in case.facts.columns]
        far = table([50.5], [1.0], {name: [40.0] for name in names})
        yield base, self.replaced(base, 0, far)


class TestCoxInABall(TestCox):
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

    def test_a_forgotten_clamp_is_caught(self) -> None:
        """The ball holds what the box let through; only without both is there no bound."""
        for trial in self.trials(clamps=False):
            farthest(trial, self.unclamped(trial.case))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(survival_records, "_radius", lambda domain: None)
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, self.unclamped(trial.case))

    def test_half_the_noise_is_caught(self) -> None:
        """The best known pair reaches less than half the bound here; the class above covers it."""
