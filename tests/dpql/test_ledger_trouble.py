"""A database that is missing, full, locked, read-only or no database: a coded refusal."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dpql.errors import LedgerDamaged, LedgerError, LedgerUnavailable
from dpql.ledger import Ledger
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan
from suites.processes import ROOT

READ_ONLY = """
import os, sys
import sqlalchemy.dialects.sqlite.pysqlite
from dpql import checker
from dpql.errors import LedgerError
from dpql.ledger import Ledger
from suites.ledger import certificate, plan
order = plan("0.1")
proof = certificate(order)
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Ledger.connect(sys.argv[1], patience=1.0).reserve(order, proof)
except LedgerError as error:
    print(error.code, error.message)
"""
LIMITED = """
import resource, signal, sys
from dpql.errors import LedgerError
from dpql.ledger import Ledger
from suites.ledger import certificate, plan
ledger = Ledger.connect(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
granted = 0
try:
    while True:
        order = plan("0.0001", tag=f"{sys.argv[2]}-{granted}")
        ledger.reserve(order, certificate(order))
        granted += 1
except LedgerError as error:
    print(granted, error.code, error.message)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "ledger.db"
    ledger = Ledger.connect(str(made), create=True)
    ledger.open_key(facts(cap="1"))
    ledger.close()
    return made


def python(code: str, *args: str) -> str:
    """What a script prints; it must end without an exception."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env=env, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def refused(action: Callable[[], Any], kind: type[LedgerError], message: str) -> LedgerError:
    with pytest.raises(kind, match=message) as error:
        action()
    assert error.value.code.startswith("DPQL-E08")
    assert error.value.help
    return error.value


def test_a_missing_ledger_is_not_made_by_mistake(tmp_path):
    place = tmp_path / "typo.db"
    refused(lambda: Ledger.connect(str(place)), LedgerUnavailable, "there is no ledger at")
    assert not place.exists()
    refused(
        lambda: Ledger.connect(str(tmp_path / "no" / "folder.db"), create=True),
        LedgerUnavailable,
        "cannot be opened for writing",
    )


@pytest.mark.parametrize(
    "address",
    [":memory:", "sqlite://", "postgresql://host/db", "mysql://x/y", "nonsense://", "://"],
)
def test_addresses_that_keep_no_ledger_are_refused(address):
    with pytest.raises(LedgerUnavailable):
        Ledger.connect(address, create=True)


@pytest.mark.parametrize("content", [b"", b"not a database\n" * 100, os.urandom(8192)])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path, content):
    place = tmp_path / "data.csv"
    place.write_bytes(content)
    refused(lambda: Ledger.connect(str(place)), LedgerDamaged, "is not a ledger")
    if content:
        refused(lambda: Ledger.connect(str(place), create=True), LedgerDamaged, "is not a ledger")
        assert place.read_bytes() == content


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    place = tmp_path / "other.db"
    other = sqlite3.connect(place)
    other.execute("create table people (name text)")
    other.commit()
    other.close()
    for create in (False, True):
        refused(
            lambda create=create: Ledger.connect(str(place), create=create),
            LedgerDamaged,
            "is not a ledger",
        )
    kept = sqlite3.connect(place).execute("select name from sqlite_master").fetchall()
    assert kept == [("people",)]


def test_a_folder_is_no_ledger(tmp_path):
    refused(lambda: Ledger.connect(str(tmp_path)), LedgerUnavailable, "cannot be opened")


def test_a_locked_ledger_fails_closed_after_its_patience(path):
    ledger = Ledger.connect(str(path), patience=0.3)
    order = plan("0.1")
    proof = certificate(order)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    error = refused(lambda: ledger.reserve(order, proof), LedgerUnavailable, "is busy")
    assert "nothing was charged" in error.note
    assert ledger.remaining("trial").remaining == 1
    other.execute("rollback")
    ledger.reserve(order, proof)


def test_a_lock_that_is_given_up_in_time_is_waited_for(path):
    ledger = Ledger.connect(str(path), patience=20.0)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    timer = threading.Timer(0.5, lambda: other.execute("rollback"))
    timer.start()
    order = plan("0.1")
    assert ledger.reserve(order, certificate(order)).state == "RESERVED"
    timer.join()


def test_a_full_database_charges_nothing_that_was_not_started(path):
    ledger = Ledger.connect(str(path))
    waiting = plan("0.5", tag="x" * 200_000)
    kept = plan("0.1")
    rid = ledger.reserve(kept, certificate(kept)).rid

    @sa.event.listens_for(ledger._database._engine, "checkout")
    def limit(connection: Any, *_: Any) -> None:
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count={pages}")

    refused(
        lambda: ledger.reserve(waiting, certificate(waiting)),
        LedgerUnavailable,
        "the disk of the ledger .* is full",
    )
    ledger.start(rid, OsSampler())
    refused(
        lambda: ledger.store(rid, [{"name": "m", "value": "x" * 200_000}]),
        LedgerUnavailable,
        "is full",
    )
    whole = Ledger.connect(str(path))
    balance = whole.remaining("trial")
    assert (balance.reserved, float(balance.spent)) == (0, 0.1)
    assert whole.verify() == ()
    whole.store(rid, [{"name": "m", "value": 1}])


def test_a_disk_that_refuses_to_grow_ends_in_a_code(path):
    """The limit on file sizes stands in for a full disk: the system refuses the write."""
    granted = 0
    for room in (100_000, 200_000):
        words = python(LIMITED, str(path), str(room)).split()
        assert words[1] == "DPQL-E087", words
        granted += int(words[0])
        ledger = Ledger.connect(str(path))
        assert ledger.remaining("trial").reserved * 10_000 == granted
        assert ledger.verify() == ()
        ledger.close()


def test_a_read_only_ledger_says_so(path):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(shutil.copy(path, folder))
        place.chmod(0o444)
        Path(folder).chmod(0o555)
        said = python(READ_ONLY, str(place))
        Path(folder).chmod(0o755)
    assert said.startswith("DPQL-E087"), said
    assert "cannot be opened for writing" in said


def test_errors_survive_a_trip_through_json_and_pickle():
    import pickle

    error = LedgerUnavailable("it is busy", note="why", help="wait")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.note, again.help) == (
        "DPQL-E087",
        "it is busy",
        "why",
        "wait",
    )
    assert json.loads(json.dumps(error.json()))["code"] == "DPQL-E087"
    assert str(error) == "DPQL-E087: it is busy\nnote: why\nhelp: wait"


def test_only_a_ledger_loads_the_database_library():
    code = (
        "import sys, dpql, dpql.errors, dpql.approvals, dpql.ledger, dpql.ledger.facts\n"
        "import dpql.ledger.opening, dpql.ledger.plan_body\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "dpql.ledger.Ledger\n"
        "assert 'sqlalchemy' in sys.modules and 'opendp.prelude' not in sys.modules\n"
        "assert not {'numpy', 'duckdb', 'pyarrow'} & set(sys.modules)\n"
    )
    python(code)
