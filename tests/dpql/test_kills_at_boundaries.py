"""`kill -9` between any two steps of a run: of each ledger, and of the folder that it writes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpql.api import RunResult, plan, run
from dpql.commands.ledger import cost_of
from dpql.errors import WrongState
from dpql.ledger import Ledger
from dpql.ledger.opening import key_facts
from suites.ledger_jobs import Killer

ROWS = {"a": 200, "b": 300}
COLUMNS = """COLUMNS (
  time DURATION IN [0, 10], event EVENT, arm BOOLEAN, age REAL IN [20, 80], bmi REAL IN [10, 50]
)
"""
ONE = f"DATASET a ROWS 200 {COLUMNS}"
SITES = f"DATASET t ROWS 500 SITES (a ROWS 200, b ROWS 300) {COLUMNS}"
WORLDS = {
    # A filter with many rounds, a second pass, tables and plots.
    "filter": ONE
    + "COVARIANCE pace COLUMNS (age, bmi, arm) rho=0.1 AS p\n"
    + "COVARIANCE adaptive COLUMNS (age, bmi) rho=0.1 AS s\n"
    + "RELEASE survival rho=0.1 AS c\nDERIVE h = heatmap(p)\n",
    # Shares, a cost that is looked for, and a certificate by a distribution.
    "shares": ONE.rstrip()
    + "BUDGET eps=3, delta=1e-6\n"
    + "TEST logrank group=arm 20% AS e\nRELEASE survival tree=haar eps=0.4 AS c\n"
    + "COVARIANCE ssp COLUMNS (age, bmi) auto AS s\nEXPECT s.precision >= 3\n",
    # Two datasets, two sites: two ledgers, which may stand apart at every moment.
    "datasets": f"DATASET a ROWS 200 {COLUMNS}DATASET b ROWS 300 {COLUMNS}"
    + "TEST hazard ON a VS b bins=4 BUDGET eps=1, delta=1e-6 AT a AND mu=0.4 AT b AS h\n",
    "sites": SITES + "TEST hazard ON a VS b bins=4 mu=0.4 AS h\n",
}


class World:
    """Data, a plan, and untouched ledgers to copy for each death."""

    def __init__(self, folder: Path, name: str) -> None:
        made = plan(WORLDS[name])
        assert made.ok, str(made)
        self.folder, self.plan = folder, made.json()
        self.fresh = folder / "fresh"
        self.fresh.mkdir()
        self.keys = [key["key"] for key in self.plan["keys"]]
        self.data = {key.split("/")[-1]: str(folder / f"{key[-1]}.parquet") for key in self.keys}
        for key, (source, place) in zip(self.keys, self.data.items(), strict=True):
            pq.write_table(table(ROWS[source]), place)
            ledger = Ledger.connect(str(self.fresh / f"{source}.db"), create=True)
            site = {"site": source, "sites": ROWS} if "/" in key else {}
            rows = ROWS[source]
            cap = cost_of("rho=9" if name == "filter" else "mu=9")
            ledger.open_key(key_facts(key.split("/")[0], rows, cap, data=[place], **site))
            ledger.close()

        self.whole = folder / "whole"
        shutil.copytree(self.fresh, self.whole)
        self.names = list(self.run(self.whole).releases)
        self.cost, self.files = self.spent(self.whole), files(self.whole).keys()

    @contextmanager
    def ledgers(self, place: Path) -> Iterator[dict[str, Ledger]]:
        with ExitStack() as stack:
            yield {
                key: stack.enter_context(_closing(str(place / f"{key[-1]}.db")))
                for key in self.keys
            }

    def run(self, place: Path, **how: Any) -> RunResult:
        with self.ledgers(place) as ledgers:
            return run(self.plan, self.data, ledgers, out=place / "out", **how)

    def spent(self, place: Path) -> dict[str, Fraction]:
        """What each key has spent or reserved; every ledger must be sound."""
        with self.ledgers(place) as ledgers:
            assert all(ledger.verify() == () for ledger in ledgers.values())
            balances = {key: ledger.remaining(key) for key, ledger in ledgers.items()}
        return {key: balance.spent + balance.reserved for key, balance in balances.items()}

    def states(self, place: Path) -> dict[str, str]:
        with self.ledgers(place) as ledgers:
            found = {key: ledger.find(self.plan["body"], [key]) for key, ledger in ledgers.items()}
        return {key: "NONE" if part is None else part.state for key, part in found.items()}

    def killed(self, place: Path, at: int | None, **how: Any) -> int:
        """Run in a child that dies at a boundary; without one, how many boundaries there are."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with self.ledgers(place) as ledgers:
                    killer = Boundaries(place, ledgers, at)
                    run(self.plan, self.data, ledgers, out=place / "out", **how)
                    os.write(into, str(killer.count).encode())
            finally:
                os._exit(0)
        os.close(into)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(out) as told:
            count = told.read()
        assert status == (0 if at is None else -signal.SIGKILL)
        return int(count or 0)


class Boundaries(Killer):
    """Dies between two statements at any ledger, or two files opened or renamed in the folder."""

    def __init__(self, place: Path, ledgers: Mapping[str, Ledger], at: int | None) -> None:
        first, *others = {id(one): one for one in ledgers.values()}.values()
        super().__init__(first._database._engine, at)
        for one in others:
            self.watch(one._database._engine)
        out = str(place / "out")

        def file(event: str, details: tuple[Any, ...]) -> None:
            if event in ("open", "os.rename", "os.mkdir") and str(details[0]).startswith(out):
                self.boundary()

        sys.addaudithook(file)


@contextmanager
def _closing(path: str) -> Iterator[Ledger]:
    ledger = Ledger.connect(path)
    try:
        yield ledger
    finally:
        ledger.close()


def table(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    return pa.table(
        {
            "time": rng.exponential(4, rows),
            "event": rng.integers(0, 2, rows),
            "arm": rng.integers(0, 2, rows).astype(bool),
            "age": rng.normal(50, 10, rows),
            "bmi": rng.normal(25, 5, rows),
        }
    )


def files(place: Path) -> dict[str, bytes]:
    """The finished files that a run wrote, by name."""
    found = (place / "out").rglob("[!.]*")
    return {str(one.relative_to(place)): one.read_bytes() for one in found if one.is_file()}


def check_kill(world: World, place: Path, at: int, again: bool) -> str:
    """Die at one boundary, look at what is left, and run the plan again; where the run stood."""
    shutil.copytree(world.whole if again else world.fresh, place)
    before = world.spent(place)
    world.killed(place, at, again=again)
    states, spent, left = world.states(place), world.spent(place), files(place)
    if not again:
        assert spent == {key: (states[key] != "NONE") * world.cost[key] for key in states}
        assert {*states.values()} == {"SETTLED"} or not left
    try:
        done = world.run(place)
    except WrongState:
        assert (world.spent(place), files(place)) == (spent, left)
        assert "STARTED" in states.values() or (again and "RESERVED" in states.values())
        done = world.run(place, again=True)
        assert done.served is None
    else:
        assert "STARTED" not in states.values() or states[world.keys[0]] == "STORED"
        assert (done.served is None) == (states[world.keys[0]] in ("NONE", "RESERVED"))
    for key, paid in world.spent(place).items():
        is_paid = done.served is not None or states[key] == "RESERVED"
        assert paid == spent[key] + (0 if is_paid else world.cost[key])
        assert paid - before[key] in (world.cost[key], 2 * world.cost[key], 0 if again else paid)
    assert {*world.states(place).values()} == {"SETTLED"}
    shown = files(place)
    assert shown.keys() == world.files
    assert all(json.loads(shown[f"out/releases/{name}.json"]) == done[name] for name in world.names)
    assert done.served is None or again or left.items() <= shown.items()
    served = world.run(place)
    assert served.served is not None
    assert (served.releases, files(place)) == (done.releases, shown)
    return "-".join(states.values())


def kill_at(folder: Path, name: str, kills: int, again: bool) -> set[str]:
    """Die at so many boundaries, evenly spread over the run; the states that were found."""
    world = World(folder, name)
    counted = folder / "counted"
    shutil.copytree(world.whole if again else world.fresh, counted)
    boundaries = world.killed(counted, None, again=again)
    assert boundaries > 100
    found = set()
    for index in range(kills):
        at = 1 + (boundaries - 1) * index // (kills - 1)
        found.add(check_kill(world, folder / "killed", at, again))
        shutil.rmtree(folder / "killed")
    return found


@pytest.mark.parametrize(("name", "again"), [("filter", False), ("datasets", False)])
def test_a_run_that_dies_between_two_steps_is_neither_lost_nor_free(
    tmp_path: Path, name: str, again: bool
) -> None:
    assert len(kill_at(tmp_path, name, 5, again)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_deaths_all_over_a_run_are_neither_lost_nor_free(
    tmp_path: Path, name: str, again: bool
) -> None:
    assert len(kill_at(tmp_path, name, 40, again)) > 3


def raced(world: World, place: Path, gate: tuple[int, int]) -> int:
    """A process that runs the plan once the gate's other end is closed; its exit status.

    0: released, 1: was served, 2: came second, 3: failed.
    """
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.close(gate[1])
            os.read(gate[0], 1)
            code = 0 if world.run(place).served is None else 1
        except WrongState:
            code = 2
        finally:
            os._exit(code)
    return child


@pytest.mark.parametrize("name", ["datasets", "sites"])
def test_of_processes_with_one_plan_one_releases_and_each_key_pays_once(
    tmp_path: Path, name: str
) -> None:
    world = World(tmp_path, name)
    for index in range(8):
        place = tmp_path / f"race{index}"
        shutil.copytree(world.fresh, place)
        gate = os.pipe()
        children = [raced(world, place, gate) for _ in range(3)]
        os.close(gate[1])
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        os.close(gate[0])
        assert ends.count(0) == 1
        assert 3 not in ends
        assert world.spent(place) == world.cost
        assert {*world.states(place).values()} == {"SETTLED"}
