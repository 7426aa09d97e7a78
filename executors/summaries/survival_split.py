"""The groups of the first rows of a table beside those of the others.

The parameters are those of `survival_groups`, with `first`: how many rows belong to the first part.
Which part a record is in depends on its row number alone, so the source must have stable ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from executors.data.source import Reader
from executors.summaries.survival_groups import Layout, SurvivalGroups, gather
from executors.summaries.survival_records import Records, records
from planner.mechanism import Query

__all__ = ["SplitGroups", "summarise"]


@dataclass(frozen=True, slots=True, eq=False)
class SplitGroups:
    """Each part with its own risk sets."""

    first: SurvivalGroups
    others: SurvivalGroups

    @property
    def rows(self) -> int:
        """How many records were read."""
        return self.first.rows + self.others.rows


def summarise(query: Query, reader: Reader) -> SplitGroups:
    """Both parts, in one pass over the rows in row order."""
    parameters = dict(query.parameters)
    layout, wanted = Layout.of(parameters), parameters["first"]
    first: list[Records] = []

    def others() -> Iterator[Records]:
        seen = 0
        for batch in records(query, reader):
            size = len(batch.time)
            cut = min(max(wanted - seen, 0), size)
            seen += size
            if cut:
                first.append(batch.slice(0, cut))
            if cut < size:
                yield batch.slice(cut, size)

    rest = gather(others(), layout)
    return SplitGroups(gather(first, layout), rest)
