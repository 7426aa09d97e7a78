"""`TEST logrank` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
import pyarrow as pa

from executors.mechanisms.logrank import MECHANISM
from executors.mechanisms.logrank.params import LogrankParams
from planner.facts import Column, Facts
from suites.survival_cases import COSTS, facts, likeliest, table
from suites.survival_suite import RecordSuite
from suites.trial import Case

GROUP = Column("arm", "boolean")


def two_groups(rows: int) -> Facts:
    """A table with a boolean column `arm`; the statement takes no COLUMNS."""
    return Facts(facts(rows, [GROUP]).sources, ())


class TestLogrank(RecordSuite):
    """Without a risk floor the score attains its sensitivity, so nearly every error shows."""

    mechanism = MECHANISM
    attains = 0.99
    audit_runs = 400
    audit_units = ("mu",)

    def cases(self) -> Iterator[Case]:
        for cost in COSTS:
            params = LogrankParams(group="arm", riskfloor=F(0), effect=F(1, 2))
            yield Case("plain", params, two_groups(60), cost)

    def names(self, case: Case) -> Sequence[str]:
        return [GROUP.name]

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        n = case.facts.rows
        arm = rng.integers(0, 2, n)
        return table(rng.integers(0, 130, n), rng.random(n) < 0.6, {"arm": arm})

    def score(self, *tapes: Any) -> float:
        return likeliest(*tapes)


class TestGehan(TestLogrank):
    """Every event weighed by the records at risk, with the largest variance assumed."""

    attains = 0.3
    audit_runs = 100
    audit_units = ("eps",)

    def cases(self) -> Iterator[Case]:
        for cost in COSTS:
            params = LogrankParams(group="arm", riskfloor=F(1), trace="bound")
            yield Case("gehan", params, two_groups(40), cost)

    def test_half_the_noise_is_caught(self) -> None:
        """The best known pair reaches less than half the bound here; the class above covers it."""
