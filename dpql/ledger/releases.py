"""Texts that a ledger keeps: plans and certificates by their hash, and a run's releases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import LedgerDamaged, RunFailed
from dpql.ledger import schema
from dpql.ledger.plan_body import digest, digest_text

__all__ = ["Stored", "keep", "read_releases", "write_releases"]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a run released, when it was stored, and when it was settled."""

    rid: str
    plan_hash: str
    releases: tuple[dict[str, Any], ...]
    stored: str
    settled: str


_KEEP = schema.document.insert().from_select(
    ["hash", "value"],
    sa.select(sa.bindparam("name", type_=sa.Text), sa.bindparam("text", type_=sa.Text)).where(
        ~sa.exists().where(schema.document.c.hash == sa.bindparam("name", type_=sa.Text))
    ),
)


def keep(connection: Connection, data: bytes) -> str:
    """Keep a text under its sha256, once."""
    name = digest(data)
    connection.execute(_KEEP, {"name": name, "text": data.decode()})
    return name


def write_releases(
    connection: Connection, lead: str, values: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Write a run's releases; return name and sha256 of each, for the chain."""
    index = []
    for position, value in enumerate(values):
        text = _text(value)
        connection.execute(schema.release.insert().values(lead=lead, position=position, value=text))
        index.append({"name": str(value.get("name", "")), "sha256": digest_text(text)})
    return index


def _text(value: Mapping[str, Any]) -> str:
    """One line of JSON in the order and with the numbers of `value`, of any size.

    So the files of a run that is served are, byte for byte, those of the first time; RFC 8785
    would sort the columns of tables, write -0.0 as 0, and refuse integers above 2^53.
    """
    try:
        return json.dumps(dict(value), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        pass
    # Raised here, outside: the error above quotes a value.
    raise RunFailed("what the run released is no plain JSON", note="the run was charged")


def read_releases(
    connection: Connection, lead: str, index: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], ...]:
    """A run's releases, each compared with the hash in the chain."""
    query = (
        sa.select(schema.release.c.value)
        .where(schema.release.c.lead == lead)
        .order_by(schema.release.c.position)
    )
    texts = list(connection.execute(query).scalars())
    found = [digest_text(text) for text in texts]
    if found != [item["sha256"] for item in index]:
        raise LedgerDamaged(
            f"the releases of run `{lead[:12]}` are not what was stored",
            help="`dpql ledger verify` names the rows that were changed",
        )
    return tuple(json.loads(text) for text in texts)
