"""The second pass over the rows: what it asks, and what happens where the rows have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpql.api import plan
from executors.registry import REGISTRY
from executors.run import RowsDiffer, execute
from planner.charge_token import Token
from planner.decode import decode
from suites.covariance_tables import ArrayReader
from suites.samplers import FastSampler

TEXT = """\
DATASET t ROWS 500 COLUMNS (a REAL IN [-1, 1], b REAL IN [-1, 1], c REAL IN [-1, 1])
COVARIANCE pace strategy=dense rho=0.5 AS s
"""


@dataclass
class Changing:
    """A place whose second reading has `later` rows."""

    rows: np.ndarray
    later: int
    readings: list[int] = field(default_factory=list)

    def open(self, token: Token, unit: str | None, max_rows: int) -> Changing:
        return self

    def batches(
        self, columns: Sequence[Any], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        seen = self.rows if not self.readings else self.rows[: self.later]
        self.readings.append(len(seen))
        yield from ArrayReader(seen).batches(columns, order_by, rows)

    def close(self) -> None:
        """Nothing to close."""


def ran(source: Changing) -> Any:
    made = plan(TEXT)
    assert made.ok, str(made)
    runnable = decode(made.json()["body"], REGISTRY)
    return execute(
        runnable,
        {"t": source},
        Token("r", runnable.hash, ("t",)),
        FastSampler(1),  # type: ignore[dict-item]
    )


def rows() -> np.ndarray:
    return np.random.default_rng(1).uniform(-0.9, 0.9, (500, 3))


def test_the_rows_are_read_twice() -> None:
    source = Changing(rows(), 500)
    outcome = ran(source)["s"]
    assert source.readings == [500, 500]
    assert outcome.value["branch"] == "dense"


def test_another_number_of_rows_the_second_time_stops_the_run_with_the_declared_number() -> None:
    with pytest.raises(RowsDiffer) as refused:
        ran(Changing(rows(), 499))
    assert "500" in str(refused.value)
    assert "499" not in str(refused.value)


def test_the_row_map_is_made_of_released_numbers_only() -> None:
    """Two tables that were given the same answers are asked the same second question."""
    from executors.mechanisms.pace import MECHANISM
    from executors.mechanisms.pace.run import run
    from executors.noise import StatementNoise
    from planner.calculus.cost import Cost
    from suites.covariance_tables import facts_of, loss_of
    from suites.samplers import ScriptedSampler
    from suites.tape import Tape

    facts, cost = facts_of(500), Cost("rho", Fraction(1, 2))
    params = MECHANISM.params(strategy="dense")
    loss = loss_of(MECHANISM, params, facts, cost)
    asked: list[list[Any]] = []
    tape: Tape | None = None
    for table in (rows(), rows()[:, ::-1] * 0.5):
        queries: list[Any] = []

        def stats(query: Any, table: np.ndarray = table, queries: list[Any] = queries) -> Any:
            from importlib import import_module

            queries.append(query)
            module = import_module(f"executors.summaries.{query.summary}")
            return module.summarise(query, ArrayReader(table))

        noise = Tape(StatementNoise(ScriptedSampler(), loss), tape)
        run(params, facts, loss, stats, noise)
        tape = tape or noise
        asked.append(queries)
    assert asked[0] == asked[1]
    assert [query.summary for query in asked[0]] == ["moments", "ball_moments"]
