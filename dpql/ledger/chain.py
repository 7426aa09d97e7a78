"""The append-only chain of entries: each one's hash covers the hash before it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import CertificateRefused, LedgerDamaged
from dpql.ledger import schema
from dpql.ledger.plan_body import canonical, digest

__all__ = [
    "FIELDS",
    "GENESIS",
    "Chain",
    "Head",
    "Kind",
    "body_of",
    "entry_at",
    "entry_hash",
    "name_of",
    "read_head",
    "require_anchor",
]

Kind = Literal[
    "create", "open", "amend", "cap", "reserve", "start", "store", "settle", "release", "freeze",
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


_ENTRY = sa.select(schema.entry).where(schema.entry.c.seq == sa.bindparam("number"))
_HEAD = sa.select(schema.head.c.seq, schema.head.c.hash).where(schema.head.c.id == 1)
_HEAD_LOCKED = _HEAD.with_for_update()
_APPEND = schema.entry.insert()
_MOVE = (
    schema.head.update()
    .where(schema.head.c.id == 1, schema.head.c.hash == sa.bindparam("before"))
    .values(seq=sa.bindparam("new_seq"), hash=sa.bindparam("new_hash"))
)


def entry_hash(fields: Mapping[str, Any]) -> str:
    """sha256 over the RFC 8785 bytes of an entry's fields together with `prev_hash`."""
    covered = {name: fields[name] for name in (*FIELDS, "prev_hash")}
    return digest(canonical(covered))


def body_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an entry whose hash still holds; `LedgerDamaged` for any other."""
    try:
        if entry_hash(row) == row["hash"]:
            return dict(json.loads(row["body"]))
    except (CertificateRefused, ValueError, TypeError):
        pass
    raise LedgerDamaged(
        f"entry {row['seq']} is not what was written",
        help="`dpql ledger verify` names every entry that was changed",
    )


def entry_at(connection: Connection, seq: int) -> dict[str, Any]:
    """An entry's fields by its number, its hash not yet compared."""
    row = connection.execute(_ENTRY, {"number": seq}).mappings().one_or_none()
    if row is None:
        raise LedgerDamaged(f"the ledger has lost entry {seq}", help="`dpql ledger verify`")
    return {**row}


def name_of(connection: Connection) -> str:
    """The ledger's own name, from its first entry."""
    return str(body_of(entry_at(connection, 1)).get("ledger", ""))


def require_anchor(connection: Connection, anchor: Mapping[str, Any] | None) -> None:
    """Raise `LedgerDamaged` unless the chain still contains an exported head."""
    if anchor is None:
        return
    query = sa.select(schema.entry.c.hash).where(schema.entry.c.seq == anchor.get("seq"))
    found = connection.execute(query).scalar_one_or_none()
    if found is None or found != anchor.get("hash") or name_of(connection) != anchor.get("ledger"):
        raise LedgerDamaged(
            f"the ledger does not contain the head that was exported, entry {anchor.get('seq')}",
            note="a restored backup or another file would forget what was spent",
            help="find the newest copy of the ledger; `dpql ledger verify --head` compares",
        )


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """The head row; with `lock`, no other writer passes until this transaction ends."""
    row = connection.execute(_HEAD_LOCKED if lock else _HEAD).one_or_none()
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
        self._connection.execute(_APPEND, {**fields, "hash": new.hash})
        moved = self._connection.execute(
            _MOVE, {"before": self._head.hash, "new_seq": new.seq, "new_hash": new.hash}
        )
        if moved.rowcount != 1:
            raise LedgerDamaged("the ledger's head moved while it was locked")
        self._head = new
        return new.seq
