"""The append-only chain of entries: each one's hash covers the hash before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import LedgerDamaged
from dpql.ledger import schema
from dpql.ledger.plan_body import canonical, digest

__all__ = ["FIELDS", "GENESIS", "Chain", "Head", "Kind", "entry_hash", "read_head"]

Kind = Literal[
    "create", "open", "table", "cap", "reserve", "start", "store", "settle", "release", "freeze",
    "thaw",
]  # fmt: skip

GENESIS = "0" * 64
FIELDS = (
    "seq",
    "utc",
    "actor",
    "role",
    "ledger_key",
    "kind",
    "rid",
    "units",
    "plan_hash",
    "certificate_hash",
    "policy_version",
    "body",
)


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain: its number and its hash."""

    seq: int
    hash: str


def entry_hash(fields: Mapping[str, Any]) -> str:
    """sha256 over the RFC 8785 bytes of an entry's fields together with `prev_hash`."""
    covered = {name: fields[name] for name in (*FIELDS, "prev_hash")}
    return digest(canonical(covered))


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """The head row; with `lock`, no other writer passes until this transaction ends."""
    query = sa.select(schema.head.c.seq, schema.head.c.hash).where(schema.head.c.id == 1)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise LedgerDamaged("the ledger has lost its head row", help="`dpql ledger verify`")
    return Head(row.seq, row.hash)


class Chain:
    """The end of the chain, held for one transaction."""

    def __init__(self, connection: Connection, utc: str, actor: str, role: str) -> None:
        self._connection = connection
        self._head = read_head(connection, lock=True)
        self._utc = utc
        self._actor = actor
        self._role = role

    def append(
        self,
        kind: Kind,
        body: Mapping[str, Any],
        *,
        ledger_key: str = "",
        rid: str = "",
        units: str = "",
        plan_hash: str = "",
        certificate_hash: str = "",
        policy_version: str = "",
    ) -> int:
        """Write one entry, move the head to it, return its number."""
        fields: dict[str, Any] = {
            "seq": self._head.seq + 1,
            "utc": self._utc,
            "actor": self._actor,
            "role": self._role,
            "ledger_key": ledger_key,
            "kind": kind,
            "rid": rid,
            "units": units,
            "plan_hash": plan_hash,
            "certificate_hash": certificate_hash,
            "policy_version": policy_version,
            "body": canonical(dict(body)).decode(),
            "prev_hash": self._head.hash,
        }
        new = Head(fields["seq"], entry_hash(fields))
        self._connection.execute(schema.entry.insert().values(**fields, hash=new.hash))
        moved = self._connection.execute(
            schema.head.update()
            .where(schema.head.c.id == 1, schema.head.c.hash == self._head.hash)
            .values(seq=new.seq, hash=new.hash)
        )
        if moved.rowcount != 1:
            raise LedgerDamaged("the ledger's head moved while it was locked")
        self._head = new
        return new.seq
