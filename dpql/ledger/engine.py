"""Work on the ledger's database in one transaction at a time, or not at all."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine, make_url

from dpql.errors import LedgerDamaged, LedgerError, LedgerUnavailable

__all__ = ["Database", "file_url"]

Result = TypeVar("Result")
_TROUBLE = (sa.exc.DBAPIError, sqlite3.Error)
_RETRY_STATES = {"40001", "40P01"}
_READ = "dpql_read_only"


def file_url(location: str) -> URL:
    """The database that a user's `--ledger` names: a path, or a `sqlite:///` URL."""
    try:
        url = make_url(location) if "://" in location else URL.create("sqlite", database=location)
    except sa.exc.ArgumentError as error:
        raise LedgerUnavailable(f"`{location}` is not the address of a ledger") from error
    if url.get_backend_name() != "sqlite" or not url.database or ":memory:" in url.database:
        raise LedgerUnavailable(
            f"a ledger cannot be kept at `{url.render_as_string()}`",
            note="this version keeps a ledger in an SQLite file on a local disk",
            help="give a path, such as `--ledger ledger.db`",
        )
    return url.set(database=str(Path(url.database).expanduser().absolute()))


class Database:
    """An engine whose every write is one serialised, durable transaction.

    `patience` is how many seconds a write waits for another writer before it is given up.
    """

    def __init__(self, url: URL, patience: float = 30.0) -> None:
        self.url = url
        self._patience = patience
        self._process = os.getpid()
        self._engine = _sqlite(url, min(patience, 1.0))

    @property
    def place(self) -> str:
        """The file, for messages."""
        return str(self.url.database)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work`, committed to disk; nothing of it is kept if anything fails.

        Retries while another writer holds the ledger. Raises `LedgerUnavailable` when the
        database is busy for too long, full or read-only, `LedgerDamaged` when it is corrupted.
        """
        return self._attempt(work, read=False)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work` on one consistent snapshot."""
        return self._attempt(work, read=True)

    def damage(self) -> tuple[str, ...]:
        """What SQLite's own check of the file's pages and indices finds."""
        said = self.read(
            lambda connection: connection.exec_driver_sql("pragma integrity_check(20)").fetchall()
        )
        return tuple(str(row[0]) for row in said if row[0] != "ok")

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose(close=os.getpid() == self._process)

    def _attempt(self, work: Callable[[Connection], Result], read: bool) -> Result:
        self._leave_parent()
        deadline = time.monotonic() + self._patience
        while True:
            try:
                with (
                    self._engine.connect().execution_options(**{_READ: read}) as connection,
                    connection.begin(),
                ):
                    return work(connection)
            except _TROUBLE as error:
                if not _is_passing(error) or time.monotonic() > deadline:
                    raise _explained(error, self.place) from error
            time.sleep(0.002 + secrets.randbelow(40) / 1000)

    def _leave_parent(self) -> None:
        """A forked child opens connections of its own; it must not touch its parent's."""
        if os.getpid() != self._process:
            self._engine.dispose(close=False)
            self._process = os.getpid()


def _sqlite(url: URL, wait: float) -> Engine:
    """SQLite with the driver's own transactions off, WAL, and a sync at every commit."""
    engine = sa.create_engine(url, connect_args={"timeout": wait, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None
        # A damaged text must reach the reader, who compares its hash, and not stop the query.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
            connection.execute("pragma journal_mode=wal")
        if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
            raise sqlite3.OperationalError("write-ahead logging is not possible here")
        for setting in (
            "synchronous=full",
            "fullfsync=on",
            "foreign_keys=on",
            "trusted_schema=off",
        ):
            connection.execute(f"pragma {setting}")
        record.info["file"] = _file(url)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # SQLite would go on writing to a file that is gone, where nobody sees the charge.
        if connection.connection.info["file"] != _file(url):
            connection.invalidate()
            raise LedgerUnavailable(
                f"the ledger `{url.database}` was deleted or replaced while it was open",
                note="nothing was charged by this step; what was written before is in the old file",
                help="put the old file back, and leave a ledger in its place while plans run",
            )
        is_read = connection.get_execution_options().get(_READ, False)
        connection.exec_driver_sql("BEGIN" if is_read else "BEGIN IMMEDIATE")

    return engine


def _file(url: URL) -> tuple[int, int] | None:
    """Which file lies at the ledger's path; None where there is none."""
    try:
        found = os.stat(str(url.database))
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _name(error: BaseException) -> str:
    """SQLite's name of what went wrong, or the SQLSTATE of another database."""
    origin = getattr(error, "orig", None) or error
    return str(getattr(origin, "sqlite_errorname", None) or getattr(origin, "sqlstate", None) or "")


def _is_passing(error: BaseException) -> bool:
    """Whether trying again may help: another writer was there first."""
    name = _name(error)
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or name in _RETRY_STATES


def _explained(error: BaseException, place: str) -> LedgerError:
    name = _name(error)
    nothing = "nothing was charged by this step"
    if _is_passing(error):
        return LedgerUnavailable(
            f"the ledger `{place}` is busy",
            note=f"another process kept writing to it; {nothing}",
            help="try again; if nobody is running, a stopped process may still hold the file",
        )
    if name.startswith("SQLITE_FULL"):
        return LedgerUnavailable(
            f"the disk of the ledger `{place}` is full", note=nothing, help="make room, try again"
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_MISMATCH")):
        return LedgerDamaged(
            f"`{place}` is not a ledger, or is damaged",
            note=f"the database reports {name}; {nothing}",
            help="check the path; `dpql ledger verify` on a copy tells how far it can be read",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_AUTH")):
        return LedgerUnavailable(
            f"the ledger `{place}` cannot be opened for writing",
            note=f"the database reports {name}; {nothing}",
            help="its folder must be there, and both must be writable: two files beside it belong "
            "to it",
        )
    if name.startswith("SQLITE_IOERR"):
        return LedgerUnavailable(
            f"the disk of the ledger `{place}` failed",
            note=f"the database reports {name}; the record says whether the step was completed",
            help="`dpql ledger show` lists the state of every run",
        )
    if isinstance(error, sa.exc.IntegrityError):
        return LedgerDamaged(
            f"the ledger `{place}` refused an entry that would contradict its record",
            note=f"the database reports {name}; {nothing}",
            help="`dpql ledger verify` names the entry that does not fit",
        )
    return LedgerDamaged(
        f"`{place}` is not a ledger of this version, or is damaged",
        note=f"the database reports {name or type(error).__name__}; {nothing}",
        help="`dpql ledger verify` tells what does not fit",
    )
