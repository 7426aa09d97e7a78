"""`RELEASE survival` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import pyarrow as pa

from executors.mechanisms.survival import MECHANISM
from suites.hazard_cases import HazardSuite, cases, extreme, random_table, source, unclamped
from suites.mechanism import Pair
from suites.trial import Case

ROWS = 9
NAMES = ("eps haar", "eps_delta haar", "rho haar", "mu haar", "mu sqrt")


class TestSurvival(HazardSuite):
    mechanism = MECHANISM
    after = "executors.mechanisms.survival.run.released"
    audits: ClassVar[dict[str, int]] = dict(zip(NAMES, (2800, 1000, 800, 800, 1400), strict=True))

    def cases(self) -> Iterable[Case]:
        return cases(MECHANISM, (source(ROWS),))

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return random_table(ROWS, rng)

    def worst(self, case: Case) -> Iterable[Pair]:
        return extreme(ROWS)

    def unclamped(self, case: Case) -> Iterable[Pair]:
        return unclamped(ROWS)
