"""A ledger's head and entries as JSON, to be kept where its host cannot rewrite them."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection

from dpql.ledger.chain import name_of, read_head
from dpql.ledger.verify import entries
from grammar.exchange import SCHEMA

__all__ = ["export", "exported_head"]


def exported_head(connection: Connection) -> dict[str, Any]:
    """The ledger's name with the number and hash of its last entry."""
    head = read_head(connection)
    return {
        "schema": SCHEMA,
        "kind": "ledger_head",
        "ledger": name_of(connection),
        "seq": head.seq,
        "hash": head.hash,
    }


def export(connection: Connection) -> dict[str, Any]:
    """The head and every entry, in order."""
    return {
        "schema": SCHEMA,
        "kind": "ledger_export",
        "head": exported_head(connection),
        "entries": entries(connection),
    }
