"""What every survival test with covariates must pass, on tables of its extreme records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pytest

from executors.summaries import survival_records
from suites.mechanism import MechanismSuite, Pair, farthest
from suites.survival_cases import table
from suites.trial import Case

__all__ = ["InABall", "RecordSuite"]


class RecordSuite(MechanismSuite):
    """Tables whose records lie at the ends of their ranges, `low` and `high`."""

    low, high = 0.0, 1.0
    reach = (-0.3, 1.3)
    """Between which numbers random covariates lie: beyond the declared ranges on both sides."""
    far = 40.0
    """A covariate that only a clamp holds."""

    def names(self, case: Case) -> Sequence[str]:
        """The covariates."""
        return [column.name for column in case.facts.columns]

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        n = case.facts.rows
        values = {name: rng.uniform(*self.reach, n) for name in self.names(case)}
        return table(rng.integers(0, 130, n), rng.random(n) < 0.6, values)

    def worst(self, case: Case) -> Iterable[Pair]:
        """All low and events; the last one high, or exchanged for an early event that is high."""
        n, names = case.facts.rows, self.names(case)
        values = np.full(n, self.low)
        values[-1] = self.high
        base = table(np.arange(1.0, n + 1), np.ones(n), dict.fromkeys(names, values))
        early = table([0.5], [1.0], {name: [self.high] for name in names})
        yield base, self.replaced(base, n - 1, early)
        yield self.replaced(base, n - 1, early), base

    def unclamped(self, case: Case) -> Iterable[Pair]:
        base, _ = next(iter(self.worst(case)))
        far = table([50.5], [1.0], {name: [self.far] for name in self.names(case)})
        yield base, self.replaced(base, 0, far)


class InABall:
    """For a suite whose covariates lie in a ball inside the box of their ranges."""

    def test_a_forgotten_clamp_is_caught(self) -> None:
        """The ball holds what the box let through; only without both is there no bound."""
        for trial in self.trials(clamps=False):
            farthest(trial, self.unclamped(trial.case))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(survival_records, "_radius", lambda domain: None)
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, self.unclamped(trial.case))

    def test_half_the_noise_is_caught(self) -> None:
        """The best known pair reaches less than half the bound in a ball; the box covers it."""
