"""Processes that race for the last of a budget."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpql.ledger import Ledger
from suites.ledger import certificate, facts, plan
from suites.processes import Processes


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes("ledger_jobs") as running:
        yield running


def together(processes: Processes, folder: Path, jobs: list[tuple[str, tuple[Any, ...]]]) -> Any:
    """Run all jobs at once; what each reported."""
    go = folder / "go"
    go.unlink(missing_ok=True)
    outs = [folder / f"out{number}.json" for number in range(len(jobs))]
    pids = [
        processes.fork(name, args[0], str(out), *args[1:], str(go))
        for (name, args), out in zip(jobs, outs, strict=True)
    ]
    ready = [Path(f"{out}.ready") for out in outs]
    for _ in range(10_000):  # one that died before it was ready is told by its exit status
        if all(file.exists() for file in ready):
            break
        time.sleep(0.01)
    go.touch()
    assert [processes.wait(pid) for pid in pids] == [0] * len(pids)
    for file in ready:
        file.unlink()
    return [json.loads(out.read_text()) for out in outs]


def race(processes: Processes, folder: Path, workers: int, attempts: int, granted: int) -> None:
    """So many processes with so many plans each, of which exactly `granted` fit."""
    path = str(folder / "ledger.db")
    ledger = Ledger.connect(path, create=True)
    ledger.open_key(facts(cap="1"))
    jobs = [("race", (path, f"w{n}", attempts, f"1/{granted}")) for n in range(workers)]
    results = together(processes, folder, jobs)
    assert sum(result["granted"] for result in results) == granted
    assert sum(result["refused"] for result in results) == workers * attempts - granted
    balance = ledger.remaining("trial")
    assert (balance.reserved, balance.remaining) == (Fraction(1), Fraction(0))
    assert ledger.verify() == ()


def test_sixteen_processes_are_granted_exactly_the_cap(processes, tmp_path):
    race(processes, tmp_path, workers=16, attempts=125, granted=400)


@pytest.mark.slow
def test_many_more_attempts_are_granted_exactly_the_cap(processes, tmp_path):
    race(processes, tmp_path, workers=16, attempts=625, granted=6000)


def test_one_process_wins_the_token(processes, tmp_path):
    path = str(tmp_path / "ledger.db")
    ledger = Ledger.connect(path, create=True)
    ledger.open_key(facts())
    order = plan("0.1")
    rid = ledger.reserve(order, certificate(order)).rid
    results = together(processes, tmp_path, [("start_one", (path, rid))] * 8)
    assert sorted(result["won"] for result in results) == [False] * 7 + [True]
    assert {result["code"] for result in results if not result["won"]} == {"DPQL-E084"}


def test_a_release_that_races_a_start_loses_or_stops_it(processes, tmp_path):
    path = str(tmp_path / "ledger.db")
    ledger = Ledger.connect(path, create=True)
    ledger.open_key(facts(cap="100"))
    for number in range(6):
        order = plan("0.1", tag=str(number))
        before = ledger.remaining("trial").remaining
        rid = ledger.reserve(order, certificate(order)).rid
        started, released = together(
            processes, tmp_path, [("start_one", (path, rid)), ("release_one", (path, rid))]
        )
        assert started["won"] != released["won"]
        charged = before - ledger.remaining("trial").remaining
        assert charged == (Fraction(1, 10) if started["won"] else 0)
    assert ledger.verify() == ()


@pytest.mark.parametrize("trap", ["driver_transactions", "locked_not_updated"])
def test_the_race_catches_both_known_traps(processes, tmp_path, trap):
    """The same race against two ledgers that are wrong in the ways seen before: both overspend."""
    path = str(tmp_path / "trap.db")
    database = sqlite3.connect(path)
    database.execute("pragma journal_mode=wal")
    database.execute("create table budget (spent text)")
    database.execute("create table entry (amount text)")
    database.execute("insert into budget values ('0')")
    database.commit()
    results = together(processes, tmp_path, [(trap, (path, f"w{n}", 10, "1/10")) for n in range(8)])
    assert sum(result["granted"] for result in results) > 10


def test_without_its_lock_the_ledger_refuses_rather_than_overspends(processes, tmp_path):
    """The first trap inside the ledger: what guards each update turns the race into refusals."""
    path = str(tmp_path / "ledger.db")
    ledger = Ledger.connect(path, create=True)
    ledger.open_key(facts(cap="1"))
    results = together(
        processes, tmp_path, [("unlocked", (path, f"w{n}", 25, "1/50")) for n in range(8)]
    )
    assert sum(result["granted"] for result in results) <= 50
    assert sum(len(result["failed"]) for result in results) > 0
    assert ledger.verify() == ()
