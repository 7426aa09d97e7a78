"""What the processes of the ledger's race and kill tests do."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dpql import checker  # noqa: F401  (imported here so that forked jobs do not)
from dpql.errors import LedgerError, OverBalance
from dpql.ledger import Ledger
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, plan


def wait_for(go: str, out: str) -> None:
    """Let all racers begin at one moment: when each has said that it is ready."""
    Path(f"{out}.ready").touch()
    while not Path(go).exists():
        time.sleep(0.0005)


def report(out: str, **result: Any) -> None:
    Path(out).write_text(json.dumps(result))


def race(path: str, out: str, name: str, attempts: int, amount: str, go: str) -> None:
    """Ask for `amount` again and again with plans of its own; count what is granted."""
    orders = [plan(amount, tag=f"{name}-{number}") for number in range(attempts)]
    proofs = [certificate(order) for order in orders]
    ledger = Ledger.connect(path, patience=120.0)
    granted = refused = 0
    wait_for(go, out)
    for order, proof in zip(orders, proofs, strict=True):
        try:
            ledger.reserve(order, proof)
            granted += 1
        except OverBalance:
            refused += 1
    report(out, granted=granted, refused=refused)


def start_one(path: str, out: str, rid: str, go: str) -> None:
    """Race for the one token of a run."""
    ledger = Ledger.connect(path)
    wait_for(go, out)
    try:
        ledger.start(rid, OsSampler())
        report(out, won=True)
    except LedgerError as error:
        report(out, won=False, code=error.code)


def release_one(path: str, out: str, rid: str, go: str) -> None:
    """Race to give a reservation back."""
    ledger = Ledger.connect(path)
    wait_for(go, out)
    try:
        ledger.release(rid)
        report(out, won=True)
    except LedgerError as error:
        report(out, won=False, code=error.code)


def driver_transactions(
    path: str, out: str, name: str, attempts: int, amount: str, go: str
) -> None:
    """The first trap: the driver's own transaction begins only after the balance was read."""
    database = sqlite3.connect(path, timeout=60)
    granted = 0
    wait_for(go, out)
    for _ in range(attempts):
        spent = Fraction(database.execute("select spent from budget").fetchone()[0])
        time.sleep(0.002)
        if spent + Fraction(amount) <= 1:
            database.execute("insert into entry (amount) values (?)", (amount,))
            database.execute("update budget set spent = ?", (str(spent + Fraction(amount)),))
            database.commit()
            granted += 1
    report(out, granted=granted)


def locked_not_updated(path: str, out: str, name: str, attempts: int, amount: str, go: str) -> None:
    """The second trap: entries summed as of before the lock, the budget row never updated."""
    database = sqlite3.connect(path, timeout=60, isolation_level=None)
    granted = 0
    wait_for(go, out)
    for _ in range(attempts):
        rows = database.execute("select amount from entry").fetchall()
        database.execute("begin immediate")
        database.execute("select spent from budget").fetchone()
        if sum((Fraction(row[0]) for row in rows), Fraction(amount)) <= 1:
            database.execute("insert into entry (amount) values (?)", (amount,))
            granted += 1
        database.execute("commit")
        time.sleep(0.001)
    report(out, granted=granted)


def unlocked(path: str, out: str, name: str, attempts: int, amount: str, go: str) -> None:
    """The ledger itself with the driver's transactions: its guards must refuse, not overspend."""
    orders = [plan(amount, tag=f"{name}-{number}") for number in range(attempts)]
    proofs = [certificate(order) for order in orders]
    ledger = Ledger.connect(path, patience=120.0)
    engine = ledger._database._engine
    begin = next(iter(engine.dispatch.begin))
    sa.event.remove(engine, "begin", begin)

    @sa.event.listens_for(engine, "begin")
    def nothing(connection: sa.engine.Connection) -> None:
        connection.connection.dbapi_connection.isolation_level = ""  # type: ignore[union-attr]

    granted, failed = 0, []
    wait_for(go, out)
    for order, proof in zip(orders, proofs, strict=True):
        try:
            ledger.reserve(order, proof)
            granted += 1
        except OverBalance:
            pass
        except LedgerError as error:
            failed.append(error.code)
    report(out, granted=granted, failed=failed)


class Killer:
    """Kills its own process at one boundary between two statements of the ledger."""

    def __init__(self, engine: sa.Engine, at: int | None) -> None:
        self.count = 0
        self._at = at
        self.watch(engine)

    def watch(self, engine: sa.Engine) -> None:
        """Count the boundaries of this ledger too."""
        for name in ("before_cursor_execute", "after_cursor_execute", "commit", "checkin"):
            sa.event.listen(engine, name, self.boundary)

    def boundary(self, *_: Any) -> None:
        self.count += 1
        if self.count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def open_data(log: str, rid: str) -> None:
    """Leave a durable trace that the data was opened."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{rid}\n".encode())
    os.fsync(handle)
    os.close(handle)


def lifecycle(path: str, log: str, out: str, tag: str, at: int | None) -> None:
    """One run from reserve to settle, killed at boundary `at`; reports how many there were."""
    ledger = Ledger.connect(path)
    killer = Killer(ledger._database._engine, at)
    one_run(ledger, log, tag)
    report(out, boundaries=killer.count)


def one_run(ledger: Ledger, log: str, tag: str) -> None:
    order = plan("0.01", tag=tag)
    rid = ledger.reserve(order, certificate(order)).rid
    ledger.start(rid, OsSampler())
    open_data(log, rid)
    ledger.store(rid, [{"name": "m", "value": tag}, {"name": "k", "value": [1, 2, 3]}])
    ledger.settle(rid)


def runs_for_ever(path: str, log: str, tag: str) -> None:
    """Run after run, until it is killed."""
    ledger = Ledger.connect(path)
    number = 0
    while True:
        one_run(ledger, log, f"{tag}-{number}")
        number += 1
