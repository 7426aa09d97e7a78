"""`RELEASE hazard` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from executors.mechanisms.hazard_curve import MECHANISM
from suites.hazard_cases import HazardSuite, cases, extreme, random_table, source, unclamped
from suites.mechanism import Pair
from suites.trial import Case

ROWS = 9


class TestHazardCurve(HazardSuite):
    mechanism = MECHANISM
    after = "executors.mechanisms.hazard_curve.run.released"

    def cases(self) -> Iterable[Case]:
        return cases(MECHANISM, (source(ROWS),))

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return random_table(ROWS, rng)

    def worst(self, case: Case) -> Iterable[Pair]:
        return extreme(ROWS)

    def unclamped(self, case: Case) -> Iterable[Pair]:
        return unclamped(ROWS)
