"""The tables of a ledger, and what guards them."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import LedgerDamaged

__all__ = [
    "APPEND_ONLY",
    "VERSION",
    "birth",
    "budget",
    "build",
    "document",
    "entry",
    "head",
    "is_empty",
    "release",
    "require_version",
    "run",
    "version",
]

VERSION = 1
metadata = sa.MetaData()


def _text(name: str, *, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=primary_key, nullable=False)


def _count(name: str, *, primary_key: bool = False) -> sa.Column[int]:
    return sa.Column(
        name, sa.BigInteger, primary_key=primary_key, nullable=False, autoincrement=False
    )


version = sa.Table("ledger_version", metadata, _count("version", primary_key=True))

head = sa.Table("head", metadata, _count("id", primary_key=True), _count("seq"), _text("hash"))

entry = sa.Table(
    "entry",
    metadata,
    _count("seq", primary_key=True),
    _text("utc"),
    _text("actor"),
    _text("role"),
    _text("ledger_key"),
    _text("kind"),
    _text("rid"),
    _text("units"),
    _text("plan_hash"),
    _text("certificate_hash"),
    _text("policy_version"),
    _text("body"),
    _text("prev_hash"),
    _text("hash"),
)
_ONCE = sa.text("kind in ('start', 'store', 'settle')")
sa.Index(
    "entry_once",
    entry.c.rid,
    entry.c.kind,
    unique=True,
    sqlite_where=_ONCE,
    postgresql_where=_ONCE,
)

budget = sa.Table(
    "budget",
    metadata,
    _text("ledger_key", primary_key=True),
    _text("unit"),
    _text("cap"),
    _text("spent"),
    _count("frozen"),
    _count("facts_seq"),
)

run = sa.Table(
    "run",
    metadata,
    _text("rid", primary_key=True),
    _text("lead"),
    _text("ledger_key"),
    _text("plan_hash"),
    _count("number"),
    _text("amount"),
    _text("state"),
    _text("expires"),
    _count("reserve_seq"),
    _count("last_seq"),
)
sa.Index("run_of_plan", run.c.plan_hash, run.c.ledger_key, run.c.number, unique=True)
sa.Index("run_of_lead", run.c.lead)
sa.Index("run_of_key", run.c.ledger_key, run.c.state)

release = sa.Table(
    "release",
    metadata,
    _text("lead", primary_key=True),
    _count("position", primary_key=True),
    _text("value"),
    quote=True,
)

document = sa.Table("document", metadata, _text("hash", primary_key=True), _text("value"))

APPEND_ONLY = (entry, release, document, version)

_SQLITE_TRIGGER = """
create trigger {table}_{verb}_refused before {verb} on "{table}"
begin select raise(abort, 'rows of {table} are never changed'); end
"""


def _protect(table: sa.Table) -> None:
    for verb in ("update", "delete"):
        text = _SQLITE_TRIGGER.format(table=table.name, verb=verb)
        statement = sa.DDL(text)  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it bare
        sa.event.listen(table, "after_create", statement.execute_if(dialect="sqlite"))


for _table in APPEND_ONLY:
    _protect(_table)


def build(connection: Connection) -> None:
    """Create the tables, their triggers and the version row in an empty database."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(version.insert().values(version=VERSION))


def is_empty(connection: Connection) -> bool:
    """Whether the database has no table yet."""
    return not sa.inspect(connection).get_table_names()


def birth() -> dict[str, Any]:
    """What the first entry says: the version, and a name that no other ledger has."""
    return {"version": VERSION, "ledger": secrets.token_hex(16)}


def require_version(connection: Connection, place: str) -> None:
    """Raise `LedgerDamaged` unless this is a ledger that this release can read."""
    if not sa.inspect(connection).has_table(version.name):
        raise LedgerDamaged(
            f"`{place}` is not a ledger", help="check the path; `dpql ledger open` makes a ledger"
        )
    found = connection.execute(sa.select(version.c.version)).scalars().all()
    if list(found) != [VERSION]:
        raise LedgerDamaged(
            f"`{place}` is a ledger of version {', '.join(map(str, found)) or 'none'}",
            note=f"this release of DPQL reads version {VERSION}",
            help="install the release of DPQL that wrote it",
        )
