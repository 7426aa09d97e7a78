"""`TEST hazard` against the suite that every mechanism must pass, one record of either source."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from executors.mechanisms.hazard import MECHANISM
from suites.hazard_cases import HazardSuite, cases, extreme, random_table, source, unclamped
from suites.mechanism import Pair
from suites.trial import Case

SITES = (("north", 8), ("south", 11))
SOURCES = tuple(source(rows, "trial", site, sites=SITES) for site, rows in SITES)


class TestHazard(HazardSuite):
    mechanism = MECHANISM
    after = "executors.mechanisms.hazard.run.combine"

    def cases(self) -> Iterable[Case]:
        return cases(MECHANISM, SOURCES)

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return pa.concat_tables([random_table(rows, rng) for _, rows in SITES])

    def worst(self, case: Case) -> Iterable[Pair]:
        (first, second), rest = next(iter(extreme(8))), next(iter(extreme(11)))[0]
        yield pa.concat_tables([first, rest]), pa.concat_tables([second, rest])
        for one, other in extreme(11):
            yield pa.concat_tables([first, one]), pa.concat_tables([first, other])

    def unclamped(self, case: Case) -> Iterable[Pair]:
        for one, other in unclamped(8):
            yield (
                pa.concat_tables([one, *unclamped_rest()]),
                pa.concat_tables([other, *unclamped_rest()]),
            )


def unclamped_rest() -> list[pa.Table]:
    """The rows of the second source."""
    return [next(iter(extreme(11)))[0]]
