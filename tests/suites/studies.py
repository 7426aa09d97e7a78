"""A small study with real files, a ledger and keys, for tests of whole runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpql.api import PlanResult, plan
from dpql.commands.ledger import cost_of
from dpql.ledger import Ledger
from dpql.ledger.facts import KeyFacts, Reviewer, SensitivityFact, TableFacts
from dpql.ledger.opening import compile_cap

__all__ = ["SURVIVAL", "Spy", "Study", "TRIAL", "survival_table"]

TRIAL = """\
DATASET trial
  ROWS 200
  COLUMNS (
    time  DURATION IN [0, 10],
    event EVENT,
    arm   BOOLEAN,
    age   REAL IN [20, 80]
  )
"""
SURVIVAL = (
    TRIAL
    + """\
{budget}
TEST cox beta=[0, 0] VS [-0.5, 0.02] shrink=0.5 {cox} AS effect
COVARIANCE ssp COLUMNS (age, arm) {ssp} AS sigma
COVARIANCE diagonal COLUMNS (age) {diagonal} AS spread
"""
)


def query(
    cox: str = "eps=1", ssp: str = "mu=0.3", diagonal: str = "mu=0.2", budget: str = ""
) -> str:
    """The study's text with these costs."""
    money = f"  BUDGET {budget}\n" if budget else ""
    return SURVIVAL.format(cox=cox, ssp=ssp, diagonal=diagonal, budget=money)


def survival_table(seed: int = 1, rows: int = 200) -> pa.Table:
    """Made-up records of the study."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "time": np.round(rng.exponential(4, rows), 3),
            "event": rng.integers(0, 2, rows),
            "arm": rng.integers(0, 2, rows).astype(bool),
            "age": rng.normal(50, 10, rows),
        }
    )


class Spy:
    """A source that tells on everyone who touches it."""

    def __init__(self) -> None:
        self.touches: list[str] = []

    @property
    def location(self) -> str:
        self.touches.append("location")
        raise AssertionError("the data was looked at")

    def describe(self) -> Any:
        self.touches.append("describe")
        raise AssertionError("the data was described")

    def open(self, *_: Any, **__: Any) -> Any:
        self.touches.append("open")
        raise AssertionError("the data was opened")


@dataclass
class Study:
    """A folder with data, a ledger with one key, and a plan."""

    folder: Path
    text: str = field(default_factory=query)
    cap: str = "mu=2"
    required: int = 0
    reviewers: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    table: pa.Table = field(default_factory=survival_table)
    format: str = "parquet"

    def __post_init__(self) -> None:
        self.data = self.folder / f"trial.{self.format}"
        self.ledger_path = self.folder / "ledger.db"
        self.write(self.table)
        with self.ledger(create=True) as ledger:
            ledger.open_key(self.key_facts())

    def write(self, table: pa.Table) -> None:
        """Put other rows where the data lies."""
        if self.format == "parquet":
            pq.write_table(table, self.data)
        else:
            import pyarrow.csv as csv

            csv.write_csv(table, self.data)

    def key_facts(self) -> KeyFacts:
        """What the custodian records; `facts` overrides parts."""
        facts = {"dataset": "trial", "rows": 200, "data": (str(self.data),), **self.facts}
        return KeyFacts(
            population=facts.pop("population", None),
            tables=(TableFacts(**facts),),
            cap=compile_cap(cost_of(self.cap)),
            required=self.required,
            reviewers=tuple(
                Reviewer(name=name, public_key=key) for name, key in self.reviewers.items()
            ),
        )

    @contextmanager
    def ledger(self, create: bool = False) -> Iterator[Ledger]:
        """The study's ledger."""
        opened = Ledger.connect(str(self.ledger_path), create=create)
        try:
            yield opened
        finally:
            opened.close()

    @property
    def plan(self) -> PlanResult:
        """The plan of the study's text."""
        made = plan(self.text)
        assert made.ok, str(made)
        return made

    def run(self, made: Any = None, **options: Any) -> Any:
        """Run the plan on the study's data."""
        from dpql.api import run

        options = {"data": {"trial": str(self.data)}, "ledger": str(self.ledger_path), **options}
        return run(self.plan if made is None else made, **options)

    @property
    def spent(self) -> Any:
        """What the key has spent or reserved, in what adds up."""
        with self.ledger() as ledger:
            balance = ledger.remaining("trial")
        return balance.spent + balance.reserved


def evalue_facts(rows: int, sensitivity: str, data: str) -> TableFacts:
    """The facts of a table of log e-values."""
    return TableFacts(
        dataset="hits",
        rows=rows,
        sensitivities=(SensitivityFact(column="log_e", sensitivity=sensitivity),),
        data=(data,),
    )
