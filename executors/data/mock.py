"""Synthetic rows from a declared schema, to try a plan without data: NOT PRIVATE, NOT DATA.

The rows are drawn from the declared types and bounds alone, with a fixed seed. They say nothing
about anyone, so a run on them needs no ledger; its releases are marked as mock.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pyarrow as pa

from executors.data.admission import admit
from executors.data.arrow import reader_of
from executors.data.scan import TableReader
from executors.data.settings import Settings
from executors.data.source import Description
from planner.charge_token import Token
from planner.facts import Column, SourceFacts

__all__ = ["MockSource", "mock_source"]

_SEED = 20_261_130


def mock_source(facts: SourceFacts, settings: Settings | None = None) -> MockSource:
    """The made-up rows of one source, as many as it declares."""
    return MockSource(facts, settings or Settings())


@dataclass(frozen=True, slots=True)
class MockSource:
    """Rows made up for one source; only a mock token opens them."""

    facts: SourceFacts
    settings: Settings

    @property
    def location(self) -> str:
        """`mock:` and the name of the source; no ledger key guards it."""
        return f"mock:{self.facts.name}"

    def describe(self) -> Description:
        """The declared columns as they are made up."""
        columns = tuple((part.name, str(part.type)) for part in self._table(1).schema)
        return Description(columns, self.facts.rows, is_ordered=True)

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> TableReader:
        """A reader of the made-up rows."""
        admit(token, is_mock=True)
        return reader_of(self._table(self.facts.rows), self.settings, unit, max_rows)

    def _table(self, rows: int) -> pa.Table:
        facts = self.facts
        names, arrays = [], []
        for column in facts.columns:
            for name in _expanded(column):
                names.append(name)
                arrays.append(_column(column, name, rows, facts))
        if facts.unit is not None and facts.unit not in names:
            names.append(facts.unit)
            arrays.append(pa.array([row // facts.max_rows for row in range(rows)], pa.int64()))
        return pa.Table.from_arrays(arrays, names=names)


def _expanded(column: Column) -> list[str]:
    """The column's name; for a pattern, as many names as it has hypotheses (or three)."""
    if not column.pattern:
        return [column.name]
    count = 3 if column.hypotheses is None else column.hypotheses
    return [column.name.replace("*", str(index)).replace("?", "0") for index in range(count)]


def _column(column: Column, name: str, rows: int, facts: SourceFacts) -> pa.Array:
    draw = Random(" ".join([str(_SEED), *filter(None, [facts.site]), name]))
    if column.type == "id":
        return pa.array([f"{name}-{row}" for row in range(rows)], pa.string())
    if column.type == "site":
        sites = facts.sites if facts.site is None else ((facts.site, 1),)
        labels = [site for site, count in sites for _ in range(count)] or ["site"]
        return pa.array([labels[row % len(labels)] for row in range(rows)], pa.string())
    if column.type == "category":
        levels = column.levels or ("",)
        return pa.array([draw.choice(levels) for _ in range(rows)], pa.string())
    if column.type in ("boolean", "event"):
        return pa.array([draw.random() < 0.5 for _ in range(rows)], pa.bool_())
    if column.type == "genotype":
        return pa.array([draw.choice((0, 1, 2)) for _ in range(rows)], pa.int8())
    if column.type == "log_evalue":
        return pa.array([draw.gauss(-0.5, 1.0) for _ in range(rows)], pa.float64())
    lo, hi = column.bounds or (0, 1)
    drawn = [draw.uniform(float(lo), float(hi)) for _ in range(rows)]
    if column.type == "integer":
        return pa.array([round(value) for value in drawn], pa.int64())
    return pa.array(drawn, pa.float64())
